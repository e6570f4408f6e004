#!/usr/bin/env python3
"""Reports on their way, through the real binary: runs, report send, flush, list, show, verify, the config, and planted secrets.

usage: commands.py GPUCHECK MACHINE
"""
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from receiver import Receiver, Tool, report_of

GPUCHECK, MACHINE = str(Path(sys.argv[1]).resolve()), sys.argv[2]
PROBLEMS = []
SECRETS = ["s3cr3t-t0ken-of-the-receiver", "s3cr3t-in-the-query"]


def expect(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"))
    if not ok:
        PROBLEMS.append(name)


def run_options(*more):
    return ("run", "--machine", MACHINE, "--format", "json", *more)


def delivered_and_kept(folder):
    receiver = Receiver(remember=True)
    tool = Tool(GPUCHECK, folder / "a", [{"url": receiver.url}])
    status, out, err = tool.run(*run_options())
    report = json.loads(out)
    expect("a run's status is its verdict's", status == 2 and report["verdict"] == "unknown" and not err, f"{status} {err}")
    headers, body = receiver.requests[0]
    sent = report_of(headers, body)
    expect("what arrives is what was printed", sent == report)
    expect("nothing is left where it was delivered", not tool.waiting() and tool.run("report", "list")[1] == "nothing waits\n")
    expect("flush with nothing to do", tool.run("report", "flush")[0] == 0)

    receiver.behave = lambda headers: 503
    status, out, err = tool.run(*run_options())
    expect("a receiver that is down does not change the status", status == 2 and "503" in err, f"{status} {err}")
    again = json.loads(tool.run("report", "list", "--json")[1])
    expect("list tells when it is tried again", again["waiting"][0]["next_try"] in tool.run("report", "list")[1], again)
    expect("list shows what waits", [w["report_id"] for w in again["waiting"]] == [json.loads(out)["report_id"]]
           and again["waiting"][0]["last"] == "503" and again["waiting"][0]["receiver"] == receiver.url, again)
    status, text, _ = tool.run("report", "show", again["waiting"][0]["report_id"][:20])
    expect("show prints the report", status == 0 and json.loads(text) == json.loads(out), status)
    count = len(receiver.requests)
    status, text, _ = tool.run("report", "flush")
    expect("flush before its time knocks nowhere and exits with 75", status == 75 and len(receiver.requests) == count, status)
    receiver.behave = lambda headers: 201
    status, text, _ = tool.run("report", "flush", "--now")
    expect("flush delivers", status == 0 and "1 delivered" in text and json.loads(out)["report_id"] in receiver.accepted, f"{status} {text}")

    receiver.behave = lambda headers: 403
    tool.run(*run_options())
    status, text, _ = tool.run("report", "list")
    expect("a refused report is shown", "Refused" in text and "403" in text and "never" in text, text)
    expect("and not sent again", tool.run("report", "flush", "--now")[0] == 0)
    receiver.behave = lambda headers: 201
    expect("but when asked", tool.run("report", "flush", "--rejected")[0] == 0 and tool.run("report", "list")[1] == "nothing waits\n")

    count = len(receiver.requests)
    status, out, err = tool.run(*run_options("--no-deliver"))
    expect("--no-deliver: judged, delivered to nobody, kept for nobody", status == 2 and json.loads(out) and not err
           and len(receiver.requests) == count and not tool.waiting(), f"{status} {err}")
    receiver.behave = lambda headers: 503
    tool.run(*run_options())
    count, receiver.behave = len(receiver.requests), lambda headers: 201
    tool.run(*run_options("--no-deliver"))
    expect("--no-deliver: nor is what waits", len(receiver.requests) == count and len(tool.waiting()) == 1, tool.waiting())
    expect("which stays", tool.run("report", "flush", "--now")[0] == 0 and not tool.waiting())
    status, _, err = tool.run(*run_options("--no-deliver", "--report-to", receiver.url))
    expect("--no-deliver and a receiver contradict each other", status == 64 and "--report-to" in err, f"{status} {err}")
    receiver.close()


def late_reports(folder):
    """A run that is out of time tells that too."""
    receiver = Receiver()
    tool = Tool(GPUCHECK, folder / "late", [{"url": receiver.url}])
    for attempt in range(40):
        process = subprocess.Popen(tool.command(*run_options("--budget", "0.3")), stdout=subprocess.PIPE, env=tool.env)
        stop_children(process)
        out = process.communicate()[0]
        expect("a run tells one story", out.count(b'"report_id"') <= 1, out[-300:])
        told = [f["code"] for f in json.loads(out)["findings"]] if out.endswith(b"}\n") else []
        if "run.out_of_time" in told:
            break
    expect("the report of a run out of time arrives", "run.out_of_time" in told and json.loads(out)["report_id"] in receiver.accepted, told)
    receiver.close()


def without_a_disk(folder):
    """A state folder that takes nothing: delivered all the same, whatever the run's budget has left."""
    for name, answers in (("nodisk", 201), ("silent", "silent")):
        receiver = Receiver(lambda headers, answers=answers: answers)
        tool = Tool(GPUCHECK, folder / "a", [{"url": receiver.url}], state_folder="/proc/gpucheck")
        code, out, err = tool.run(*run_options())
        expect(f"{name}: one report is printed", out.count('"report_id"') == 1, err)
        delivered = json.loads(out)["report_id"] in receiver.accepted
        expect(f"{name}: what no disk takes is delivered or called lost", delivered == (answers == 201) and ("lost" in err) != delivered, err)
        receiver.close()
    receiver = Receiver()
    env = {"PATH": "/usr/bin:/bin", "HOME": "", "XDG_STATE_HOME": ""}
    if os.geteuid() != 0:
        done = subprocess.run([GPUCHECK, *run_options(), "--report-to", receiver.url], capture_output=True, env=env)
        expect("no home: judged and delivered", json.loads(done.stdout)["report_id"] in receiver.accepted, done.stderr)
    expect("nothing is left in memory", not list(Path("/dev/shm").glob("gpucheck-*")))
    receiver.close()


def stop_children(parent):
    """Each child that works is stopped; the one that delivers comes after the report was printed and is not."""
    end = time.monotonic() + 0.25
    while parent.poll() is None and time.monotonic() < end:
        try:
            children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
            if select.select([parent.stdout], [], [], 0)[0]:
                return
            for child in children:
                os.kill(int(child), signal.SIGSTOP)
        except OSError:
            continue


def sending(folder):
    receiver = Receiver()
    tool = Tool(GPUCHECK, folder / "b", [{"url": receiver.url}])
    report = subprocess.run([GPUCHECK, *run_options()], capture_output=True, env=tool.env).stdout
    file = folder / "report.json"
    file.write_bytes(report)
    identity = json.loads(report)["report_id"]
    status, out, err = tool.run("report", "send", file)
    expect("send delivers a file", status == 0 and identity in receiver.accepted, f"{status} {err}")
    expect("and standard input", tool.run("report", "send", "-", stdin=report)[0] == 0)
    expect("the same report again is no second one", len(receiver.accepted) == 1 and not receiver.conflicts)
    receiver.behave = lambda headers: "reset"
    status, _, err = tool.run("report", "send", file)
    expect("send exits with 75 when it is kept", status == 75 and "kept" in err, f"{status} {err}")
    for name, text in [("nothing", ""), ("no JSON", "{"), ("no report", "{}"), ("no id", '{"report_id":"../../x","created":"2026-11-30T10:00:00Z","verdict":"pass"}'),
                       ("an array", "[1]"), ("a foreign envelope", '{"payloadType":"x","payload":"e30=","signatures":[]}')]:
        status, _, err = tool.run("report", "send", "-", stdin=text.encode())
        expect(f"send refuses {name}", status == 64 and err, f"{status} {err}")
    receiver.behave = lambda headers: 201
    requests = len(receiver.accepted)
    for key in ("/dev/null", folder / "no-key"):
        status, _, err = tool.run("report", "send", "-", "--key", key, stdin=report)
        expect(f"send refuses the key {Path(key).name}", status == 64 and err and len(receiver.accepted) == requests, f"{status} {err}")
    bare = Tool(GPUCHECK, folder / "c", [])
    expect("send without a receiver says so", bare.run("report", "send", file)[0] == 64)
    status, out, err = Tool(GPUCHECK, folder / "d", [{"url": receiver.url}]).run(*run_options("--key", "/dev/null"))
    expect("a run refuses a key that is none", status == 64 and "--key" in err, f"{status} {err}")
    receiver.close()


def token_of_the_tags(folder):
    """Which file DigitalOcean's token is read from: the configured one, systemd's credential, the default one."""
    tool = Tool(GPUCHECK, folder / "tags", [])
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    finding = {"code": "gpu.count.missing", "check": "gpu.count", "verdict": "fail", "scope": "host", "subject": "host"}
    report = json.dumps({"schema_version": "1.0", "report_id": "0199f3a0-0000-7000-8000-000000000001", "created": "2026-11-30T10:00:00Z", "boot_id": boot,
                         "simulated": False, "injected": None, "verdict": "fail", "instance": {"provider": "digitalocean"}, "gpus": [], "findings": [finding]})
    credentials = folder / "tags" / "credentials"
    credentials.mkdir()
    tool.env = tool.env | {"CREDENTIALS_DIRECTORY": str(credentials)}

    def told():
        status, _, err = tool.run("report", "send", "-", "--to", "do-tag", "--dry-run", stdin=report.encode())
        return err if status == 75 else f"status {status}: {err}"
    default = "/etc/gpucheck/digitalocean-token"
    if not Path(default).exists():
        expect("without any token the default path is named", "not sent: DigitalOcean's token: " + default in told(), told())
    (credentials / "digitalocean-token").write_text("two words")
    expect("the credential before the default", f"{credentials}/digitalocean-token: holds" in told(), told())
    configured = folder / "tags" / "token"
    configured.write_text("once\n")
    configured.chmod(0o644)
    tool.write([], provider_token_file=str(configured))
    expect("the configured file before the credential, and not when others may read it", f"{configured}: others than its owner" in told(), told())


def verifying(folder):
    receiver = Receiver()
    receiver.behave = lambda headers: 500
    tool = Tool(GPUCHECK, folder / "e", [{"url": receiver.url}])
    out = tool.run(*run_options())[1]
    identity = json.loads(out)["report_id"]
    public, other, envelope, changed = (folder / n for n in ("public.pem", "other.pem", "envelope.json", "changed.json"))
    public.write_text(tool.run("report", "show", "--public-key")[1])
    other.write_text(Tool(GPUCHECK, folder / "f", []).run("report", "show", "--public-key")[1])
    envelope.write_text(tool.run("report", "show", identity, "--envelope")[1])
    key_id = tool.run("report", "show", "--key-id")[1].strip()

    def verify(file, key, text=None):
        done = subprocess.run([GPUCHECK, "report", "verify", str(file), "--key", str(key)], capture_output=True, input=text, env=tool.env)
        return done.returncode, (done.stdout + done.stderr).decode()
    status, text = verify(envelope, public)
    expect("verify tells report and key", status == 0 and identity in text and re.fullmatch("[0-9a-f]{64}", key_id) and key_id in text, text)
    document = json.loads(envelope.read_text())
    payload = document["payload"]
    changed.write_text(json.dumps(document | {"payload": payload[:100] + ("B" if payload[100] != "B" else "C") + payload[101:]}))
    told = {"changed": verify(changed, public), "another key": verify(envelope, other),
            "cut off": verify("-", public, envelope.read_bytes()[:-20]), "another type": verify("-", public, json.dumps(document | {"payloadType": "x/y"}).encode()),
            "unsigned": verify("-", public, json.dumps(document | {"signatures": []}).encode()), "a bare report": verify("-", public, out.encode())}
    for name, (status, text) in told.items():
        expect(f"verify refuses: {name}", status == 1 and "not verified" in text, f"{status} {text}")
    expect("and tells them apart", len({text.split("not verified")[1][:30] for _, text in told.values()}) == len(told), told)
    status, text = verify("-", public, envelope.read_bytes().replace(b'"payload":', b'"payload":"e30=","payload":', 1))
    expect("verify refuses a payload that is named twice", status == 1 and "not verified" in text and "twice" in text, f"{status} {text}")
    expect("a private key is no public key", verify(envelope, tool.state / "key.pem")[0] == 64)
    expect("a file that is not there", verify(folder / "none", public)[0] == 64 and verify(envelope, folder / "none")[0] == 64)
    if Path("/usr/bin/openssl").exists():
        made = folder / "own.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", made], check=True, capture_output=True)
        made.chmod(0o600)
        theirs = subprocess.run(["openssl", "pkey", "-in", made, "-pubout"], check=True, capture_output=True).stdout
        tool.write([{"url": receiver.url}], key_file=str(made))
        expect("openssl's key and ours agree", tool.run("report", "show", "--public-key")[1].encode() == theirs)
    receiver.close()


def configs(folder):
    def status_of(text, *args):
        file = folder / "config.json"
        file.write_bytes(text)
        done = subprocess.run([GPUCHECK, *(args or run_options()), "--config", str(file)], capture_output=True)
        return done.returncode, done.stderr.decode()
    for name, text, word in [("unknown key", b'{"sinkz":[]}', '"sinks"'), ("bad JSON", b"{", "line 1"), ("wrong type", b'{"sinks":7}', "sinks"), ("key twice", b'{"sinks":[],"sinks":[]}', "twice"),
                             ("plain http", b'{"sinks":[{"url":"http://example.org/"}]}', "https"), ("binary", b"\xff\0\1", "config.json"),
                             ("expectation", b'{"expect":{"gpu_cuont":8}}', "gpu_cuont")]:
        status, err = status_of(text)
        expect(f"config refused: {name}", status == 64 and word in err, f"{status} {err}")
    status, err = status_of(b'{"expect":{"gpu_count":8}}')
    expect("a named config's promise is judged", status == 1, f"{status} {err}")
    os.mkfifo(folder / "fifo")
    for name in ("none", "fifo", ""):
        done = subprocess.run([GPUCHECK, "report", "list", "--config", str(folder / name)], capture_output=True, timeout=20)
        expect(f"config {name or 'folder'}: status 64", done.returncode == 64 and done.stderr, done)
    done = subprocess.run([GPUCHECK, *run_options("--report-to", "ftp://x/")], capture_output=True)
    expect("--report-to takes no other scheme", done.returncode == 64)


def processes(parent):
    found = [parent]
    for pid in found:
        try:
            found += [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            continue
    return found


def found_in(text):
    return [s for s in SECRETS if s.encode() in text]


def dumped(command, env, cwd, ready):
    """Whether SIGABRT made a core file of the process, and what its proc files held."""
    process = subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))
    end = time.monotonic() + 20
    while not ready() and time.monotonic() < end:
        time.sleep(0.01)
    seen = b""
    for pid in processes(process.pid):
        for name in ("cmdline", "environ", "comm"):
            try:
                seen += Path(f"/proc/{pid}/{name}").read_bytes()
            except OSError:
                continue
    process.send_signal(signal.SIGABRT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -1
    return os.WCOREDUMP(status), seen


def secrets(folder):
    receiver = Receiver(remember=True)
    token = folder / "token"
    token.write_text(SECRETS[0] + "\n")
    token.chmod(0o600)
    tool = Tool(GPUCHECK, folder / "g", [{"url": receiver.url + "?key=" + SECRETS[1], "token_file": str(token), "timeout_s": 20}])
    said = b""
    for answer in (201, 500, 401, 307, "reset", "dies"):
        receiver.behave = lambda headers: answer
        for args in (run_options(), ("report", "flush", "--now"), ("report", "list"), ("report", "list", "--json")):
            done = subprocess.run(tool.command(*args)[:1] + ["--log-level", "debug"] + tool.command(*args)[1:], capture_output=True, env=tool.env)
            said += done.stdout + done.stderr
    expect("the token was sent", all(h["authorization"] == "Bearer " + SECRETS[0] for h, _ in receiver.requests) and receiver.requests)
    expect("no secret is printed", not found_in(said), found_in(said))
    names = b"".join(str(p).encode() for p in tool.state.rglob("*"))
    kept = names + b"".join(p.read_bytes() for p in tool.state.rglob("*") if p.is_file())
    expect("no token on disk, in the spool or in a name", SECRETS[0].encode() not in kept and SECRETS[1].encode() not in names)
    bodies = b"".join(json.dumps(report_of(h, b)).encode() for h, b in receiver.requests)
    expect("no secret in a report", not found_in(bodies), found_in(bodies))
    modes = {oct(p.stat().st_mode & 0o077) for p in [tool.state, *tool.state.rglob("*")]}
    expect("the state is its owner's alone", modes == {"0o0"}, modes)
    token.chmod(0o644)
    expect("a token that others may read is told", "others than its owner" in tool.run("report", "flush", "--now")[2])

    receiver.behave = lambda headers: "silent"
    before = len(receiver.requests)
    core, seen = dumped(tool.command("report", "flush", "--now"), tool.env, folder, lambda: len(receiver.requests) > before)
    expect("it was asked while we looked", len(receiver.requests) > before)
    expect("no secret in an argument list or an environment", seen and not found_in(seen), found_in(seen))
    control, _ = dumped(["/bin/sleep", "60"], tool.env, folder, lambda: True)
    if control:
        expect("no core file", not core)
    else:
        print("skip core files: this machine writes none")
    start = time.monotonic()
    status, out, err = tool.run(*run_options())
    expect("a receiver that never answers costs a run no report and not for ever", status == 2 and json.loads(out)["report_id"] in " ".join(tool.waiting())
           and time.monotonic() - start < 60, err)
    receiver.close()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for letter in ["a", "b", "c", "d", "e", "f", "g", "late", "tags"]:
            (folder / letter).mkdir()
        delivered_and_kept(folder)
        late_reports(folder)
        without_a_disk(folder)
        sending(folder)
        token_of_the_tags(folder)
        verifying(folder)
        configs(folder)
        secrets(folder)
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
