#!/usr/bin/env python3
"""The receiver over HTTP, the same on SQLite and PostgreSQL: what it takes, what it refuses, and that nobody's misbehaviour harms others.

usage: suite.py SERVER LOAD GPUCHECK MACHINE sqlite|postgres
"""
import base64
import contextlib
import gzip
import json
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from harness import ENVELOPE, REPORT, Made, Maker, Postgres, Server, Sqlite, new_id, wait_until

SERVER, LOAD, GPUCHECK, MACHINE, WHICH = sys.argv[1:6]
PROBLEMS = []


def expect(name, got, wanted):
    good = got == wanted
    print(("ok   " if good else "FAIL ") + name + ("" if good else f": {got!r}, wanted {wanted!r}"))
    if not good:
        PROBLEMS.append(name)


def digest(token):
    return sha256(token.encode()).hexdigest()


def tokens_file(folder, name, tokens=(), enrolment=()):
    path = folder / name
    path.write_text(json.dumps({"tokens": list(tokens), "enrolment": list(enrolment)}))
    path.chmod(0o600)
    return path


def taking(database, maker):
    """Stored before it is acknowledged, once, as it came."""
    options = database.fresh()
    first, second = maker.many(2, "a")
    plain = maker.one(None, "gpu-2")
    with Server(SERVER, *options) as server:
        expect("a new report is stored", server.deliver(first)[0], 201)
        expect("the same again is known", server.deliver(first)[0], 200)
        expect("the same without gzip is known", server.deliver(first, packed=False)[0], 200)
        expect("another one under its id is refused", server.deliver(first.changed(duration_s=7))[0], 409)
        expect("an unsigned one is stored", server.deliver(plain, packed=False)[0], 201)
        status, headers, body = server.request("GET", f"/v1/reports/{first.id}")
        expect("it is given back as it came", (status, body, headers["Content-Type"], headers["Gpucheck-Verified"]), (200, first.body, ENVELOPE, "false"))
        rows = [server.deliver(each)[0] and database.run("SELECT COUNT(*) FROM reports")[0][0] for each in maker.many(3, "a")]
        expect("somebody else who looks in sees each at once", [int(row) for row in rows], [3, 4, 5])
        server.kill()  # what was acknowledged needs no goodbye
    with Server(SERVER, *options) as server:
        expect("a killed receiver has it", server.deliver(first)[0], 200)
        expect("and what came after somebody looked in", len(server.get("/v1/reports")[1]["reports"]), 5)
        expect("and the unsigned one", server.request("GET", f"/v1/reports/{plain.id}")[2], plain.body)
        expect("another one is new", server.deliver(second)[0], 201)
        expect("none is there twice", database.run("SELECT report_id, COUNT(*) FROM reports GROUP BY report_id HAVING COUNT(*) > 1"), [])
        expect("it ends well", server.stop(), 0)


def hostile_bodies(server, maker):
    good = maker.one(None, "hostile")
    for name, report, status in [
            ("no JSON", b"\x00\xff\x01", 400), ("an empty object", b"{}", 400), ("a list", b"[]", 400), ("deep nesting", b"[" * 100_000, 400),
            ("deep nesting inside", good.changed(gpus=None).body.replace(b'"findings"', b'"x": ' + b"[" * 5000 + b"]" * 5000 + b', "findings"', 1), 400),
            ("cut off", good.body[:-9], 400), ("no UTF-8", good.body.replace(b"hostile", b"\xff\xfe"), 400),
            ("a member twice", good.body.replace(b'"verdict"', b'"verdict": "pass", "verdict"', 1), 400),
            ("a future version", good.changed(schema_version="2.0").body, 400), ("no verdict", good.changed(verdict=None).body, 400),
            ("an unknown verdict", good.changed(verdict="great").body, 400), ("no findings", good.changed(findings=None).body, 400),
            ("findings that are none", good.changed(findings={}).body, 400), ("simulated is a number", good.changed(simulated=1).body, 400),
            ("no time", good.changed(created="yesterday").body, 400), ("GPUs that are none", good.changed(gpus=7).body, 400),
            ("no machine", good.changed(host=None, instance=None, boot_id=None).body, 400)]:
        answer = server.request("POST", "/v1/reports", report, {"Content-Type": REPORT, "Idempotency-Key": good.id})
        expect(f"{name} is no report", (answer[0], answer[1]["Content-Type"], json.loads(answer[2])["status"]), (status, "application/problem+json", status))
    wrong = {"Content_Type": "application/json"}, {"Content_Encoding": "br"}
    expect("another media type", server.deliver(good, **wrong[0])[0], 415)
    expect("another encoding", server.deliver(good, **wrong[1])[0], 415)
    expect("no key", server.deliver(good, Idempotency_Key=None)[0], 400)
    expect("a key that is none", server.deliver(good, Idempotency_Key="../../etc/passwd")[0], 400)
    server.raw(b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/vnd.gpucheck.report+json\r\nIdempotency-Key: \x1b[31m\x91\r\nContent-Length: 2\r\n\r\n{}")
    expect("no stranger writes into the log", [line for line in server.log().splitlines() if not line.isprintable() or "passwd" in line], [])
    expect("another report's key", server.deliver(good, Idempotency_Key=new_id())[0], 400)
    expect("another event's id", server.deliver(good, ce_id=new_id())[0], 400)
    packed = gzip.compress(good.body)
    bomb = gzip.compress(b" " * (64 << 20), 9)
    for name, body, status in [("a cut stream", packed[:-9], 400), ("bytes behind it", packed + b"x", 400), ("no gzip", good.body, 400), ("a bomb", bomb, 413),
                               ("a bomb in JSON", gzip.compress(good.body[:-2] + b" " * (64 << 20) + b"}"), 413)]:
        answer = server.request("POST", "/v1/reports", body, {"Content-Type": REPORT, "Content-Encoding": "gzip", "Idempotency-Key": good.id})
        expect(f"gzip: {name}", answer[0], status)
    for name, envelope, status in [("no base64", {"payload": "*"}, 400), ("another payload", {"payloadType": "text/plain"}, 400), ("no signatures", {"signatures": 1}, 400),
                                   ("a hundred signatures", {"signatures": [{"keyid": "", "sig": ""}] * 100}, 400), ("an envelope in an envelope", {"payload": base64.b64encode(b"{}").decode()}, 400)]:
        body = {"payloadType": REPORT, "payload": base64.b64encode(good.body).decode(), "signatures": []} | envelope
        answer = server.request("POST", "/v1/reports", json.dumps(body), {"Content-Type": ENVELOPE, "Idempotency-Key": good.id})
        expect(f"an envelope: {name}", answer[0], status)
    odd = maker.one(None, "odd").changed(host={"hostname": "a\u0000b\u001b[31m<script>", "kernel": None, "os": None, "drivers": None})
    expect("a name with control characters harms no database", server.deliver(odd)[0] in (201, 400), True)
    expect("and the good one is still taken", server.deliver(good)[0], 201)


def hostile_requests(server, maker):
    head = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/vnd.gpucheck.report+json\r\n"
    for name, request, status in [
            ("binary", bytes(range(256)) * 40 + b"\r\n\r\n", 400), ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400), ("no host", b"GET /healthz HTTP/1.1\r\n\r\n", 400),
            ("a proxy's target", b"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("a long target", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
            ("a large head", b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 60_000 + b"\r\n\r\n", 431),
            ("a head without end", b"GET / HTTP/1.1\r\nA: " + b"a" * 200_000, 431),
            ("many headers", b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"h%d: 1\r\n" % i for i in range(200)) + b"\r\n", 431),
            ("two keys", head + b"Idempotency-Key: 1\r\nIdempotency-Key: 2\r\nContent-Length: 2\r\n\r\n{}", 400),
            ("two lengths", head + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400), ("a negative length", head + b"Content-Length: -2\r\n\r\n{}", 400),
            ("length and chunks", head + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400),
            ("chunks", head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 411), ("no length", head + b"\r\n{}", 411),
            ("a folded header", head + b"A: b\r\n c: d\r\nContent-Length: 2\r\n\r\n{}", 400), ("a space before a colon", head + b"Content-Length : 2\r\n\r\n{}", 400),
            ("a huge length", head + b"Content-Length: 99999999999\r\n\r\n", 413), ("a length beyond 64 bits", head + b"Content-Length: 99999999999999999999999\r\n\r\n", 400),
            ("other expectations", head + b"Expect: wonders\r\nContent-Length: 2\r\n\r\n{}", 417)]:
        answer = server.raw(request)
        expect(f"a request: {name}", answer[9:12], str(status).encode())
    for method, path, status in [("GET", "/nothing", 404), ("GET", "/v1/reports/", 404), ("GET", "/v1/reports/..%2f", 404), ("PUT", "/v1/reports", 405), ("DELETE", "/", 405),
                                 ("POST", "/healthz", 405), ("OPTIONS", "/v1/reports", 405), ("GET", "/v1/reports?limit=0", 400), ("GET", "/v1/reports?limit=1001", 400),
                                 ("GET", "/v1/reports?nodes=x", 400), ("GET", "/v1/reports?node=a&node=b", 400), ("GET", "/v1/reports?since=1", 400),
                                 ("GET", "/v1/reports?verdict=good", 400), ("GET", "/v1/reports?cursor=x", 400), ("GET", "/v1/reports?node=%zz", 400), ("GET", "/v1/reports?node=%00", 400)]:
        expect(f"{method} {path}", server.request(method, path)[0], status)
    expect("405 says what is allowed", server.request("PUT", "/v1/reports")[1]["Allow"], "GET, HEAD, POST")
    head_only = server.request("HEAD", "/healthz")
    expect("HEAD has the length and no body", (head_only[0], head_only[1]["Content-Length"], head_only[2]), (200, "3", b""))
    late = maker.one(None, "late")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
        slow.sendall(head + f"Idempotency-Key: {late.id}\r\nExpect: 100-continue\r\nContent-Length: {len(late.body)}\r\n\r\n".encode())
        expect("100-continue is answered", slow.recv(4096)[:12], b"HTTP/1.1 100")
        slow.sendall(late.body)
        expect("and the report taken", slow.recv(4096)[:12], b"HTTP/1.1 201")
    two = [Made(m.body) for m in maker.many(2, None, "pipelined")]
    piped = b"".join(head + f"Idempotency-Key: {m.id}\r\nContent-Length: {len(m.body)}\r\n\r\n".encode() + m.body for m in two)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as both:
        both.sendall(piped)
        answer = b""
        while answer.count(b"HTTP/1.1 201") < 2:
            more = both.recv(4096)
            if not more:
                break
            answer += more
        expect("two requests in one go are both answered", answer.count(b"HTTP/1.1 201"), 2)


def signatures(database, maker, folder):
    keys = folder / "keys"
    keys.mkdir()
    (keys / "trusted.pem").write_bytes(maker.public("trusted"))
    (keys / "bound.pem").write_bytes(b"machine: gpu-7\n" + maker.public("bound"))
    with Server(SERVER, *database.fresh(), "--keys", keys) as server:
        good, unknown, forged = maker.one("trusted"), maker.one("stranger", "gpu-3"), maker.one("trusted")
        expect("a trusted key's report is stored", server.deliver(good)[0], 201)
        expect("as verified", server.request("GET", f"/v1/reports/{good.id}")[1]["Gpucheck-Verified"], "true")
        expect("a stranger's report is stored", server.deliver(unknown)[0], 201)
        expect("as not verified", server.request("GET", f"/v1/reports/{unknown.id}")[1]["Gpucheck-Verified"], "false")
        envelope = json.loads(forged.body)
        better = dict(forged.json, verdict="pass")
        envelope["payload"] = base64.b64encode(json.dumps(better).encode()).decode()
        expect("a changed report is forged", server.deliver(Made(json.dumps(envelope).encode()))[0], 403)
        theirs = json.loads(unknown.body)["signatures"][0]
        mine = json.loads(forged.body)
        mine["signatures"][0]["sig"] = theirs["sig"]
        expect("a stolen signature is forged", server.deliver(Made(json.dumps(mine).encode()))[0], 403)
        mine["signatures"][0] |= {"sig": base64.b64encode(bytes(64)).decode(), "public_key": theirs["public_key"]}
        expect("another public key beside a known keyid is forged", server.deliver(Made(json.dumps(mine).encode()))[0], 403)
        expect("a stranger speaks for no machine that is known by key", server.deliver(maker.one("stranger"))[0], 403)
        stranger = json.loads(maker.one("stranger").body)
        stranger["signatures"][0]["keyid"] = "0" * 64
        expect("a keyid that is not its public key's is forged", server.deliver(Made(json.dumps(stranger).encode()))[0], 403)
        expect("a machine's own key speaks for it", server.deliver(maker.one("bound", "gpu-7"))[0], 201)
        expect("and for no other", server.deliver(maker.one("bound", "gpu-8"))[0], 403)
        expect("a forged one left nothing", server.request("GET", f"/v1/reports/{forged.id}")[0], 404)
    with Server(SERVER, *database.fresh(), "--keys", keys, "--refuse-unverified") as server:
        expect("a stranger is refused where it is asked for", server.deliver(maker.one("stranger"))[0], 403)
        expect("and who did not sign", server.deliver(maker.one(None))[0], 403)
        expect("and not who is known", server.deliver(maker.one("trusted"))[0], 201)


def token_rules(database, maker, folder):
    file = tokens_file(folder, "tokens", [
        {"name": "fleet", "sha256": digest("fleet-token"), "may": ["report"], "reports_per_minute": 60000},
        {"name": "slow", "sha256": digest("slow-token"), "may": ["report"], "reports_per_minute": 1, "burst": 2},
        {"name": "small", "sha256": digest("small-token"), "may": ["report"], "max_bytes": 100},
        {"name": "one", "sha256": digest("one-token"), "may": ["report"], "machine": "gpu-7"},
        {"name": "reader", "sha256": digest("read-token"), "may": ["read"]}])
    bearer = lambda token: {"Authorization": f"Bearer {token}"}
    with Server(SERVER, *database.fresh(), "--tokens", file) as server:
        report = maker.one("a")
        expect("no token", server.deliver(report)[0], 401)
        expect("a wrong token", server.deliver(report, **bearer("x"))[0], 401)
        expect("a token's digest is no token", server.deliver(report, **bearer(digest("fleet-token")))[0], 401)
        expect("a reader's token may not report", server.deliver(report, **bearer("read-token"))[0], 403)
        expect("the right one", server.deliver(report, **bearer("fleet-token"))[0], 201)
        expect("a reporter's token may not read", server.request("GET", "/v1/reports", headers=bearer("fleet-token"))[0], 403)
        expect("reading needs a token", server.request("GET", "/")[0], 401)
        expect("a browser is told to ask", server.request("GET", "/")[1]["WWW-Authenticate"][:5], "Basic")
        basic = base64.b64encode(b"anybody:read-token").decode()
        expect("and a password is one", server.request("GET", "/", headers={"Authorization": f"Basic {basic}"})[0], 200)
        expect("health needs none", server.request("GET", "/healthz")[0], 200)
        rows = server.get("/v1/reports", Authorization="Bearer read-token")[1]["reports"]
        expect("the token's name is kept", [row["token"] for row in rows], ["fleet"])
        statuses = [server.deliver(each, **bearer("slow-token")) for each in maker.many(3)]
        expect("a token has a rate", [s[0] for s in statuses], [201, 201, 429])
        expect("429 says when", 1 <= int(statuses[2][1]["Retry-After"]) <= 60, True)
        expect("another token is not slowed", server.deliver(maker.one(), **bearer("fleet-token"))[0], 201)
        expect("a token has a size", server.deliver(maker.one(), **bearer("small-token"))[0], 413)
        expect("a token has a machine", [server.deliver(maker.one(None, n), **bearer("one-token"))[0] for n in ("gpu-7", "gpu-8")], [201, 403])
        file.write_text("{")
        server.signal(signal.SIGHUP)
        wait_until(lambda: "stays in force" in server.log())
        expect("a broken file changes nothing", server.deliver(maker.one(), **bearer("fleet-token"))[0], 201)
        tokens_file(folder, "tokens", [{"name": "new", "sha256": digest("new-token"), "may": ["report"]}])
        server.signal(signal.SIGHUP)
        wait_until(lambda: "again" in server.log())
        expect("a token that is gone opens nothing", [server.deliver(maker.one(), **bearer(t))[0] for t in ("fleet-token", "new-token")], [401, 201])
        log = server.log()
        expect("no token is in the log", [t for t in ("fleet-token", "read-token", "new-token") if t in log], [])


def enrolment(database, maker, folder):
    file = tokens_file(folder, "enrolment", enrolment=[
        {"sha256": digest("first")}, {"sha256": digest("second")}, {"sha256": digest("again"), "machine": "gpu-1"},
        {"sha256": digest("for-9"), "machine": "gpu-9"}, {"sha256": digest("old"), "expires": "2020-01-01T00:00:00Z"}, {"sha256": digest("race")}])
    token = lambda value: {"Gpucheck-Identity-Kind": "enrolment-token", "Gpucheck-Identity": value}
    with Server(SERVER, *database.fresh(), "--tokens", file, "--refuse-unverified") as server:
        say = lambda key, node, value=None: server.deliver(maker.one(key, node), **(token(value) if value else {}))[0]
        expect("a stranger is refused", say("a", "gpu-1"), 403)
        expect("a wrong token enrols nobody", say("a", "gpu-1", "wrong"), 403)
        expect("an old token enrols nobody", say("a", "gpu-1", "old"), 403)
        expect("another machine's token enrols nobody", say("a", "gpu-1", "for-9"), 403)
        unsigned = server.deliver(maker.one(None, "gpu-1"), **token("first"))[0]
        expect("who does not sign is not enrolled", unsigned, 403)
        expect("a token binds the first key", say("a", "gpu-1", "first"), 201)
        expect("its later reports need none", say("a", "gpu-1"), 201)
        expect("and may carry it", say("a", "gpu-1", "first"), 201)
        expect("another key cannot use it", [say("b", "gpu-2", "first"), say("b", "gpu-1", "first")], [403, 403])
        expect("the key speaks for no other machine", say("a", "gpu-2"), 403)
        expect("nobody else speaks for the machine", [say("b", "gpu-1"), say(None, "gpu-1")], [403, 403])
        expect("nor takes it over with a token for anybody", say("b", "gpu-1", "second"), 403)
        expect("a token for this machine replaces its key", say("c", "gpu-1", "again"), 201)
        expect("the old key is over", [say("a", "gpu-1"), say("c", "gpu-1")], [403, 201])
        many = [(f"racer-{n}", f"gpu-2{n}") for n in range(8)]
        made = [maker.one(*each) for each in many]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda report: server.deliver(report, **token("race"))[0], made))
        expect("of eight at once one is enrolled", sorted(answers), [201] + [403] * 7)
        server.kill()
    with Server(SERVER, *["--db", *server.command[server.command.index("--db") + 1:]]) as server:
        expect("enrolled keys outlive the receiver", [say("c", "gpu-1"), say("a", "gpu-1")], [201, 403])


def questions(database, maker, failing):
    with Server(SERVER, *database.fresh(), "--page-every", "1") as server:
        made = [report for node in ("n1", "n2", "n3") for report in failing.many(1, None, node) + maker.many(2, None, node)]
        for report in made:
            server.deliver(report)
        rows = server.get("/v1/reports")[1]
        expect("newest first", [r["report_id"] for r in rows["reports"]], [m.id for m in reversed(made)])
        seen, path = [], "/v1/reports?limit=4"
        while path:
            page = server.get(path)[1]
            seen += [r["report_id"] for r in page["reports"]]
            path = f"/v1/reports?limit=4&cursor={page['next']}" if "next" in page else None
        expect("pages miss none and repeat none", seen, [m.id for m in reversed(made)])
        expect("by node", [r["node"] for r in server.get("/v1/reports?node=n2")[1]["reports"]], ["n2"] * 3)
        expect("by verdict", len(server.get("/v1/reports?verdict=fail")[1]["reports"]), 3)
        expect("by time", [len(server.get(f"/v1/reports?since={t}")[1]["reports"]) for t in ("2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z")], [9, 0])
        nodes = server.get("/v1/nodes?limit=2")[1]
        more = server.get(f"/v1/nodes?limit=2&cursor={nodes['next']}")[1]
        expect("each node once, with its newest", [(n["node"], n["report_id"]) for n in nodes["nodes"] + more["nodes"]], [(f"n{i + 1}", made[3 * i + 2].id) for i in range(3)])
        future = made[1].changed(report_id=new_id(), created="2099-01-01T00:00:00Z")
        expect("a clock may be ahead", server.deliver(future)[0], 201)
        last = made[1].changed(report_id=new_id(), created=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2)))
        time.sleep(2.1)
        expect("and another right", server.deliver(last)[0], 201)
        expect("a clock that is ahead is not the newest for ever", server.get("/v1/nodes?limit=1")[1]["nodes"][0]["report_id"], last.id)
        status, headers, body = server.request("GET", "/")
        expect("the page", (status, headers["Content-Type"][:9], b"n1" in body, "default-src 'none'" in headers["Content-Security-Policy"]), (200, "text/html", True, True))
        summary = server.get("/v1/summary")[1]
        expect("the summary has the nodes", sorted(n["node"] for n in summary["nodes"]), ["n1", "n2", "n3"])
        server.deliver(maker.one(None, "n4"))
        time.sleep(1.1)
        expect("a later look sees a new one", len(server.get("/v1/summary")[1]["nodes"]), 4)
        expect("a name that leads here is not enough to read", server.request("GET", "/v1/reports", headers={"Host": "evil.example"})[0], 401)
        hosts = ["[::1].evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1:80.evil.example", "localhost", "LocalHost:8126", "127.0.0.1", "[::1]:80"]
        expect("nor one that begins like this machine's", [server.request("GET", "/v1/reports", headers={"Host": h})[0] for h in hosts], [401] * 4 + [200] * 4)
        metrics = server.request("GET", "/metrics")[2].decode()
        expect("metrics count", 'gpucheck_fleet_reports{verdict="fail"} 3' in metrics, True)
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True)
            expect("promtool has no objection", (checked.returncode, checked.stdout + checked.stderr), (0, ""))


def retention(database, maker):
    options = database.fresh()
    with Server(SERVER, *options) as server:
        for report in maker.many(5):
            server.deliver(report)
        server.stop()
    time.sleep(0.5)
    with Server(SERVER, *options, "--retention-days", "0.000001") as server:
        expect("old reports go", wait_until(lambda: database.run("SELECT COUNT(*) FROM reports")[0][0] in (0, "0")), True)
        expect("an empty fleet has a summary", server.get("/v1/summary")[1]["decision"], "no_evidence")
        expect("and new ones are taken", server.deliver(maker.one())[0], 201)


def refuses_to_start(database, folder):
    options = database.fresh()
    open_file = folder / "open"
    open_file.write_text("{}")
    open_file.chmod(0o644)
    for name, more, status in [("an open address", ["--listen", "0.0.0.0:0"], 64), ("no port", ["--listen", "127.0.0.1"], 64), ("a name", ["--listen", "localhost:0"], 64),
                               ("tokens that others may read", ["--tokens", open_file], 64), ("no tokens file", ["--tokens", folder / "none"], 64), ("no keys", ["--keys", folder / "none"], 64),
                               ("a certificate without a key", ["--tls-cert", open_file], 64), ("no certificate", ["--tls-cert", open_file, "--tls-key", open_file], 64),
                               ("a password in the URL", ["--db", "postgresql://u:secret@h/d"], 64), ("a password parameter", ["--db", "postgresql://h/d?password=secret"], 64),
                               ("a password behind a percent sign", ["--db", "postgresql://u%3Asecret@h/d"], 64), ("a parameter behind a percent sign", ["--db", "postgresql://h/d?p%61ssword=secret"], 64),
                               ("a connection string", ["--db", "host=h user=u password=secret"], 64), ("one without a password", ["--db", "host=h user=u"], 64), ("no folder", ["--db", folder / "none/reports.db"], 70), ("no server", ["--db", "postgresql://fleet@127.0.0.1:9/d"], 70)]:
        command = [SERVER, "--listen", "127.0.0.1:0", *map(str, [] if "--db" in more else options), *map(str, more)]
        done = subprocess.run(command, capture_output=True, timeout=60)
        expect(f"refuses to start with {name}", (done.returncode, b"secret" in done.stderr, len(done.stderr.splitlines())), (status, False, 1))
    with Server(SERVER, *options) as server:
        server.stop()
    database.run("INSERT INTO gpucheck_fleet_schema (version) VALUES (999)")
    done = subprocess.run([SERVER, "--listen", "127.0.0.1:0", *map(str, options)], capture_output=True, timeout=60)
    expect("refuses a newer program's database", (done.returncode, b"newer" in done.stderr), (70, True))


def store_that_fails(database, maker):
    """503 while the store is away, and nothing lost or repeated when it is back."""
    with Server(SERVER, *database.fresh()) as server:
        before, during = maker.many(2, "a")
        server.deliver(before)
        if WHICH == "postgres":
            database.stop()
            answers = [server.deliver(during), server.request("GET", "/healthz")]
            database.start()
        else:
            other = sqlite3.connect(database.file, isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
            with ThreadPoolExecutor(2) as pool:  # both wait for the lock
                answers = list(pool.map(lambda ask: ask(), [lambda: server.deliver(during), lambda: server.request("GET", "/healthz")]))
            other.execute("ROLLBACK")
            other.close()
        expect("a store that is away is told", [a[0] for a in answers], [503, 503])
        expect("and when to come back", all(int(a[1]["Retry-After"]) > 0 for a in answers), True)
        expect("it comes back by itself", wait_until(lambda: server.request("GET", "/healthz")[0] == 200), True)
        expect("and takes what it could not", [server.deliver(during)[0], server.deliver(before)[0]], [201, 200])


def full_disk(database, maker):
    """What fits is there, what does not is told to come back, and the database is sound."""
    if WHICH != "sqlite":
        return
    options, most = database.fresh(), 2 << 20
    with Server(SERVER, *options, first=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))) as server:
        answers = {report.id: server.deliver(report)[0] for report in maker.many(400, "a")}
        expect("a full disk is told", set(answers.values()), {201, 503})
        expect("health knows", server.request("GET", "/healthz")[0], 503)
        expect("reading goes on", server.get("/v1/reports?limit=1")[0], 200)
        expect("it ends well", server.stop(), 0)
    with Server(SERVER, *options) as server:
        expect("all that it took is there", {row[0] for row in database.run("SELECT report_id FROM reports")}, {i for i, status in answers.items() if status == 201})
        expect("with room again it takes the rest", server.deliver(maker.one())[0], 201)
        expect("the database is sound", database.run("PRAGMA integrity_check"), [("ok",)])


def crowds(database, maker):
    """A thousand idle connections, and more than there is room for, keep nobody out."""
    for name, options in [("a thousand idle connections", []), ("more connections than there is room for", ["--max-connections", "64"])]:
        with Server(SERVER, *database.fresh(), *options) as server:
            idle = []
            for _ in range(1000 if not options else 300):
                idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=20))
            half = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(100)]
            for each in half:
                each.sendall(b"POST /v1/reports HTTP/1.1\r\nHo")
            expect(f"{name}: reports are taken", {server.deliver(m)[0] for m in maker.many(20)}, {201})
            expect(f"{name}: it ends at once", server.stop(10), 0)
            for each in idle + half:
                each.close()


def slow_clients(server, maker, done):
    """Each is cut off, none is waited for: started early, looked at late."""
    begun = time.monotonic()
    head = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/vnd.gpucheck.report+json\r\nContent-Length: 5000\r\n\r\n"
    drips = {"a head": [b"POST /v1/reports HTTP/1.1\r\n"] + [b"a"] * 60, "a body": [head] + [b"a"] * 60}

    def drip(pieces):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as slow:
            try:
                for piece in pieces:
                    slow.sendall(piece)
                    time.sleep(0.5)
                    slow.setblocking(False)
                    try:
                        if slow.recv(4096) == b"":
                            break
                    except BlockingIOError:
                        pass
                    slow.setblocking(True)
            except OSError:
                pass
        return time.monotonic() - begun

    with ThreadPoolExecutor(2) as pool:
        for name, took in zip(drips, pool.map(drip, drips.values())):
            done.append((f"{name} that comes a byte at a time is cut off", 5 < took < 28, True))


def real_program(database, folder):
    """gpucheck itself: a run that delivers, an outage, a flush."""
    options = database.fresh()
    state, config = folder / "state", folder / "config.json"
    enrol = folder / "token"
    enrol.write_text("welcome")
    enrol.chmod(0o600)
    file = tokens_file(folder, "real-tokens", [{"name": "nodes", "sha256": digest("bearer"), "may": ["report"]}, {"name": "me", "sha256": digest("me"), "may": ["read"]}],
                       [{"sha256": digest("welcome")}])
    bearer = folder / "bearer"
    bearer.write_text("bearer")
    bearer.chmod(0o600)
    more = ["--tokens", file, "--refuse-unverified"]
    server = Server(SERVER, *options, *more)
    config.write_text(json.dumps({"state_folder": str(state), "sinks": [{"url": f"http://127.0.0.1:{server.port}/v1/reports", "token_file": str(bearer),
                                                                         "prove_identity": True, "enrolment_token_file": str(enrol)}]}))
    run = lambda *words: subprocess.run([GPUCHECK, *words, "--config", config], capture_output=True, timeout=120)
    waiting = lambda: len(list(state.glob("spool/pending/*.report")))
    run("run", "--machine", MACHINE, "--format", "json")
    rows = lambda: server.get("/v1/reports", Authorization="Bearer me")[1]["reports"]
    expect("a run delivers, signed and enrolled", (waiting(), [(r["verified"], r["simulated"]) for r in rows()]), (0, [(True, True)]))
    server.stop()
    for _ in range(2):
        run("run", "--machine", MACHINE, "--format", "json")
    expect("without a receiver reports wait", waiting(), 2)
    server = Server(SERVER, *options, *more, listen=f"127.0.0.1:{server.port}")
    flushed = wait_until(lambda: run("report", "flush").returncode == 0 and waiting() == 0, 60)
    expect("a flush delivers them", (flushed, [r["verified"] for r in rows()]), (True, [True] * 3))
    server.stop()


def tls(database, maker, folder):
    def certificate(name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "tls.key", "-out", folder / "tls.pem"], check=True, capture_output=True)
        return ssl.create_default_context(cafile=folder / "tls.pem")

    trusted = certificate("one")
    file = tokens_file(folder, "tls-tokens", [{"name": "n", "sha256": digest("t"), "may": ["report"]}])
    with Server(SERVER, *database.fresh(), "--tokens", file, "--tls-cert", folder / "tls.pem", "--tls-key", folder / "tls.key", listen="0.0.0.0:0") as server:
        bearer = {"Authorization": "Bearer t"}
        expect("over TLS it may listen on every address", (server.scheme, server.deliver(maker.one(), tls=trusted, **bearer)[0]), ("https", 201))
        expect("reading from afar needs a reader's token", server.request("GET", "/", headers={"Host": "10.1.1.1"}, tls=trusted)[0], 401)
        expect("plain HTTP is no TLS", server.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")[:5] != b"HTTP/", True)
        old = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"], input=b"", capture_output=True)
        new = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_2"], input=b"", capture_output=True)
        expect("TLS 1.2 and not 1.1", (old.returncode != 0, new.returncode), (True, 0))
        renewed = certificate("two")
        server.signal(signal.SIGHUP)
        wait_until(lambda: "again" in server.log())
        expect("a renewed certificate is used", server.deliver(maker.one(), tls=renewed, **bearer)[0], 201)
        with socket.create_connection(("127.0.0.1", server.port), timeout=20):  # says nothing, not even hello
            expect("it ends well", server.stop(), 0)


def ends_gracefully(database, maker, folder):
    """SIGTERM under load: every request that was answered is there."""
    options = database.fresh()
    reports = maker.many(400, "a")
    with Server(SERVER, *options) as server:
        taken = []

        def send(some):
            for report in some:
                try:
                    if server.deliver(report)[0] == 201:
                        taken.append(report.id)
                except OSError:
                    return

        threads = [threading.Thread(target=send, args=(reports[i::4],)) for i in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(taken) > 40)
        begun = time.monotonic()
        status = server.stop()
        for thread in threads:
            thread.join()
        expect("it stops under load", (status, time.monotonic() - begun < 15), (0, True))
    rows = {row[0] for row in database.run("SELECT report_id FROM reports")}
    expect("with all that it acknowledged", set(taken) - rows, set())


def secrets(database, folder):
    if WHICH != "postgres":
        return
    with Server(SERVER, *database.fresh()) as server:
        proc = Path(f"/proc/{server.process.pid}")
        expect("the database's password is in no argument and no environment", [name for name in ("cmdline", "environ") if database.password.encode() in (proc / name).read_bytes()], [])
        database.stop()
        server.request("GET", "/healthz")
        server.request("GET", "/metrics")
        database.start()
        expect("nor in the log", [part for part in (database.password, "s3cret") if part in server.log()], [])


def replaced_files(database, maker):
    """A database that is replaced or removed under the receiver takes nothing any more, and says so."""
    if WHICH != "sqlite":
        return
    for name, suffix, again in [("replaced", "", b""), ("removed", "", None), ("log removed", "-wal", None), ("index removed", "-shm", None)]:
        options = database.fresh()
        with Server(SERVER, *options) as server:
            first, second, third = maker.many(3, "a")
            server.deliver(first)
            path, away = Path(f"{database.file}{suffix}"), Path(f"{database.file}.away")
            path.rename(away)
            if again is not None:
                path.write_bytes(again)
            answer = server.deliver(second)
            expect(f"{name}: nothing is acknowledged", (answer[0], int(answer[1]["Retry-After"]) > 0), (503, True))
            health = server.request("GET", "/healthz")
            expect(f"{name}: health says so", (health[0], b"replaced" in health[2]), (503, True))
            expect(f"{name}: metrics say so", b'store_fault{kind="replaced"} 1' in server.request("GET", "/metrics")[2], True)
            expect(f"{name}: the log says so", "was re" in server.log(), True)
            expect(f"{name}: nothing is read from it", server.get("/v1/reports")[0], 503)
            away.rename(path)
            expect(f"{name}: the same file back in its place is taken", wait_until(lambda: server.request("GET", "/healthz")[0] == 200), True)
            expect(f"{name}: with what was there", [server.deliver(r)[0] for r in (first, second, third)], [200, 201, 201])


def damaged(database, maker):
    """A damaged database is the store's fault and not the report's."""
    if WHICH != "sqlite":
        return
    options = database.fresh()
    with Server(SERVER, *options) as server:
        for report in maker.many(20, "a"):
            server.deliver(report)
        server.stop()
    roots, size = database.run("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'reports'"), database.run("PRAGMA page_size")[0][0]
    with open(database.file, "r+b") as file:
        for (page,) in roots:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
    with Server(SERVER, *options) as server:
        answer = server.deliver(maker.one("a"))
        expect("a damaged database is told as one", (answer[0], answer[1]["Retry-After"] is not None), (503, True))
        health = server.request("GET", "/healthz")
        expect("health knows of the damage", (health[0], b"corrupted" in health[2]), (503, True))
        expect("reading it is no fault of the reader's", server.get("/v1/reports")[0], 503)
        expect("metrics know of the damage", b'store_fault{kind="corrupted"} 1' in server.request("GET", "/metrics")[2], True)
        expect("the log names it", "malformed" in server.log() or "damaged" in server.log(), True)
        expect("and it never acknowledges", server.deliver(maker.one("b"))[0], 503)


def modes(database, maker, folder):
    """Others read no database, and the documented backup works each night."""
    if WHICH != "sqlite":
        return
    options = database.fresh()
    seen = lambda: {oct(p.stat().st_mode & 0o777) for p in database.folder.glob(database.file.name + "*")}
    with Server(SERVER, *options, first=lambda: os.umask(0)) as server:
        server.deliver(maker.one())
        expect("its files are its own", seen(), {"0o600"})
        server.stop()
    database.file.chmod(0o644)
    with Server(SERVER, *options) as server:
        server.deliver(maker.one())
        expect("an open one is closed", (seen(), "others could read it" in server.log()), ({"0o600"}, True))
        if shutil.which("sqlite3"):
            text = (Path(__file__).parents[3] / "docs/fleet-serve.md").read_text()
            command = re.search(r"<!-- backup -->\n```\n(.*?)```", text, re.S)[1]
            backup = folder / "backup"
            backup.mkdir()
            command = command.replace("/var/lib/gpucheck-fleet/reports.db", str(database.file)).replace("/backup", str(backup))
            for night in range(2):
                done = subprocess.run(["sh", "-e", "-c", command], capture_output=True)
                expect(f"the documented backup works in night {night + 1}", (done.returncode, done.stderr), (0, b""))
            made = backup / "reports.db"
            expect("it is one file that others cannot read", ([p.name for p in backup.iterdir()], oct(made.stat().st_mode & 0o777)), (["reports.db"], "0o600"))
            with sqlite3.connect(made) as copy:
                expect("and whole", copy.execute("SELECT COUNT(*) FROM reports").fetchall(), [(2,)])


def identities(database, maker, folder):
    """Who is known by key is spoken for by that key alone, also when he does not know his own id."""

    def signed(report, key, **members):
        body = json.dumps(dict(report.json, report_id=new_id(), **members)).encode()
        message = b"DSSEv1 %d %s %d %s" % (len(REPORT), REPORT.encode(), len(body), body)
        (folder / "message").write_bytes(message)
        subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", maker.key(key), "-in", folder / "message", "-out", folder / "signature"], check=True, capture_output=True)
        der = subprocess.run(["openssl", "pkey", "-in", maker.key(key), "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
        theirs = json.loads(maker.one(key).body)["signatures"][0]
        envelope = {"payloadType": REPORT, "payload": base64.b64encode(body).decode(),
                    "signatures": [theirs | {"sig": base64.b64encode((folder / "signature").read_bytes()).decode()}]}
        return Made(json.dumps(envelope).encode())

    plain = maker.one(None, "host-1")
    at = lambda which: dict(plain.json["instance"] or {}, provider="aws", id=which)
    file = tokens_file(folder, "id-tokens", [{"name": "r", "sha256": digest("r"), "may": ["report"]}, {"name": "one", "sha256": digest("one"), "may": ["report"], "machine": "aws/i-7"},
                                             {"name": "reader", "sha256": digest("read"), "may": ["read"]}],
                       [{"sha256": digest("welcome")}, {"sha256": digest("named"), "machine": "aws/i-9"}])
    keys = folder / "id-keys"
    keys.mkdir()
    (keys / "folder.pem").write_bytes(b"machine: aws/i-folder\n" + maker.public("folder"))
    (keys / "fleet.pem").write_bytes(maker.public("fleet"))
    with Server(SERVER, *database.fresh(), "--tokens", file, "--keys", keys, "--page-every", "1") as server:
        def say(key, instance, token="r", enrol=None, **members):
            report = signed(plain, key, instance=instance, **members) if key else plain.changed(report_id=new_id(), instance=instance, **members)
            more = {"Gpucheck-Identity-Kind": "enrolment-token", "Gpucheck-Identity": enrol} if enrol else {}
            return server.deliver(report, Authorization=f"Bearer {token}", **more)[0]
        none, nothing = at(None), dict(at(None), provider=None)
        expect("a claim before anybody signed is stored", say(None, at("i-0abc")), 201)
        expect("a key is bound to an id", say("a", at("i-0abc"), enrol="welcome"), 201)
        expect("it speaks for it when the id is away", [say("a", none), say("a", nothing)], [201, 201])
        expect("and for no other id", say("a", at("i-1")), 403)
        expect("and for its own again", say("a", at("i-0abc")), 201)
        expect("nobody else speaks for it", [say(None, at("i-0abc")), say("b", at("i-0abc"))], [403, 403])
        expect("a token for a machine binds it where the id is away", [say("n", none, enrol="named"), say("n", at("i-9")), say("n", at("i-8"))], [201, 201, 403])
        expect("a key of the folder has its machine", [say("folder", none), say("folder", at("i-folder")), say("folder", at("i-1")), say(None, at("i-folder"))], [201, 201, 403, 403])
        expect("who is known by a key for all is spoken for by keys", [say("fleet", at("i-3")), say(None, at("i-3")), say(None, at("i-4"))], [201, 403, 201])
        expect("a token that has a machine speaks for it", [say(None, none, "one"), say(None, at("i-7"), "one"), say(None, at("i-6"), "one")], [201, 201, 403])
        expect("a host name is a claim of its own", say(None, nothing), 201)
        expect("a host name that looks like an id is a name of its own", say(None, nothing, host=dict(plain.json["host"], hostname="aws/i-0abc")), 201)
        read = lambda path: server.get(path, Authorization="Bearer read")[1]
        rows = {n["machine"]: n["verified"] for n in read("/v1/nodes")["nodes"]}
        wanted = {"aws/i-0abc": True, "aws/i-9": True, "aws/i-folder": True, "aws/i-3": True, "aws/i-4": False, "aws/i-7": False, "aws%2Fi-0abc": False, "host-1": False}
        expect("each machine has its row, and only its own key fills it", rows, wanted)
        paged, path = [], "/v1/nodes?limit=2"
        while path:
            page = read(path)
            paged += [n["machine"] for n in page["nodes"]]
            path = f"/v1/nodes?limit=2&cursor={quote(page['next'])}" if "next" in page else None
        expect("pages of machines with one host name miss none", paged, sorted(wanted))
        summary = read("/v1/summary")
        expect("the summary has as many nodes", len(summary["nodes"]), len(wanted))


def slow_bodies(database, maker):
    """Two hundred bodies that never end, announced large, keep nobody out: neither by memory nor by number."""
    head = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/vnd.gpucheck.report+json\r\nIdempotency-Key: x\r\nContent-Length: 16000000\r\n\r\n"
    for name, options, size in [("announced", [], 1), ("begun", ["--max-memory", 8 << 20], 100_000), ("more than there is room for", ["--max-connections", 64], 1)]:
        with Server(SERVER, *database.fresh(), *options) as server:
            slow = []
            for _ in range(200):
                slow.append(socket.create_connection(("127.0.0.1", server.port), timeout=20))
                with contextlib.suppress(OSError):
                    slow[-1].sendall(head + b" " * size)
            made = maker.many(20)
            def honest(report):
                for _ in range(20):  # as gpucheck does: again
                    with contextlib.suppress(OSError):
                        if server.deliver(report)[0] == 201:
                            return True
                    time.sleep(0.05)
                return False
            expect(f"slow bodies, {name}: reports are taken", [honest(m) for m in made], [True] * 20)
            expect(f"slow bodies, {name}: health answers", server.request("GET", "/healthz")[0], 200)
            for each in slow:
                each.close()
            expect(f"slow bodies, {name}: their memory is given back", wait_until(lambda: b"bodies_bytes 0\n" in server.request("GET", "/metrics")[2]), True)


def all_or_nothing(database, maker, folder):
    """A reload of which one file is broken changes nothing of the others."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=x", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", folder / "all.key", "-out", folder / "all.pem"], check=True, capture_output=True)
    trusted, good = ssl.create_default_context(cafile=folder / "all.pem"), (folder / "all.pem").read_bytes()
    keys = folder / "all-keys"
    keys.mkdir()
    name = lambda token: tokens_file(folder, "all-tokens", [{"name": "n", "sha256": digest(token), "may": ["report"]}])
    file = name("old")
    with Server(SERVER, *database.fresh(), "--tokens", file, "--keys", keys, "--tls-cert", folder / "all.pem", "--tls-key", folder / "all.key", listen="0.0.0.0:0") as server:
        say = lambda token: server.deliver(maker.one(), tls=trusted, Authorization=f"Bearer {token}")[0]

        def reload(count):
            server.signal(signal.SIGHUP)
            return wait_until(lambda: server.log().count("stays in force") + server.log().count("certificate again") == count)

        name("new")
        (folder / "all.pem").write_text("broken")
        expect("a broken certificate is told", reload(1), True)
        expect("and the tokens stay as they were", [say("old"), say("new")], [201, 401])
        (folder / "all.pem").write_bytes(good)
        (keys / "broken.pem").write_text("broken")
        expect("a broken key is told", reload(2), True)
        expect("and the tokens still stay", [say("old"), say("new")], [201, 401])
        (keys / "broken.pem").unlink()
        tokens_file(folder, "all-tokens", [{"name": "n", "sha256": digest("new"), "may": ["read"]}])
        expect("tokens by which nobody may report are told", reload(3), True)
        expect("and lock nobody out", say("old"), 201)
        name("new")
        expect("whole files are read", reload(4), True)
        expect("and all of them used", [say("old"), say("new")], [401, 201])


def timed(what, *arguments):
    begun = time.monotonic()
    what(*arguments)
    print(f"     {what.__name__}: {time.monotonic() - begun:.1f} s")


def main():
    if WHICH == "postgres" and Postgres.programs() is None:
        print("skipped: no PostgreSQL on this machine (Debian: postgresql)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = folder / "template.json"
        template.write_bytes(subprocess.run([GPUCHECK, "--machine", MACHINE, "--format", "json"], capture_output=True).stdout)
        maker = Maker(LOAD, template, folder)
        failing = folder / "failing.json"
        failing.write_bytes(subprocess.run([GPUCHECK, "--machine", Path(MACHINE).parent / "h100-x8-one-missing", "--expect", "gpu_count=8", "--format", "json"], capture_output=True).stdout)
        failing = Maker(LOAD, failing, folder)
        database = {"sqlite": Sqlite, "postgres": Postgres}[WHICH](folder)
        slow = []
        try:
            with Server(SERVER, *database.fresh()) as hard:
                dripping = threading.Thread(target=slow_clients, args=(hard, maker, slow))
                dripping.start()
                timed(hostile_bodies, hard, maker)
                timed(hostile_requests, hard, maker)
                timed(taking, database, maker)
                timed(signatures, database, maker, folder)
                timed(token_rules, database, maker, folder)
                timed(enrolment, database, maker, folder)
                timed(questions, database, maker, failing)
                timed(refuses_to_start, database, folder)
                timed(real_program, database, folder)
                timed(retention, database, maker)
                dripping.join()
                for row in slow:
                    expect(*row)
                expect("slow clients were both seen", len(slow), 2)
                expect("after all that it is well", (hard.request("GET", "/healthz")[0], hard.stop()), (200, 0))
            timed(ends_gracefully, database, maker, folder)
            timed(crowds, database, maker)
            timed(tls, database, maker, folder)
            timed(full_disk, database, maker)
            timed(store_that_fails, database, maker)
            timed(secrets, database, folder)
            timed(replaced_files, database, maker)
            timed(damaged, database, maker)
            timed(modes, database, maker, folder)
            timed(identities, database, maker, folder)
            timed(slow_bodies, database, maker)
            timed(all_or_nothing, database, maker, folder)
        finally:
            database.close()
    print(f"{len(PROBLEMS)} problems" + "".join(f"\n  {p}" for p in PROBLEMS))
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
