"""A receiver under test, its database, reports for it, and raw connections to it."""
import base64
import contextlib
import glob
import gzip
import http.client
import json
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

ENVELOPE, REPORT = "application/vnd.dsse.envelope.v1+json", "application/vnd.gpucheck.report+json"


class Server:
    def __init__(self, program, *options, listen="127.0.0.1:0", first=None):
        self.command = [program, "--listen", listen, *map(str, options)]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=self.errors, preexec_fn=first)
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(r"listening on (https?)://\S*:(\d+)\n", line)
        if not found:
            raise RuntimeError(f"it does not listen: {line!r} {self.log()!r}, status {self.process.wait(30)}")
        self.scheme, self.port = found[1], int(found[2])

    def log(self):
        self.errors.seek(0)
        return self.errors.read().decode()

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self, timeout=30):
        self.signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

    def request(self, method, path, body=None, headers=None, tls=None, timeout=60):
        """(status, headers, body); 0 where the connection broke."""
        connection = (http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=tls) if tls
                      else http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout))
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        status, _, body = self.request("GET", path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        return status, json.loads(body) if body else None

    def deliver(self, report, packed=True, tls=None, **more):
        """Delivers as gpucheck does; `more` are headers, None leaves one out."""
        headers = {"Content-Type": ENVELOPE if b'"payloadType"' in report.body[:64] else REPORT, "Idempotency-Key": report.id, "ce-id": report.id}
        if packed:
            headers["Content-Encoding"] = "gzip"
        headers |= {k.replace("_", "-"): v for k, v in more.items()}
        headers = {k: v for k, v in headers.items() if v is not None}
        return self.request("POST", "/v1/reports", gzip.compress(report.body, 1) if packed else report.body, headers, tls)

    def raw(self, data, wait=20):
        """What is answered to these bytes, until the other side closes or is silent for a moment."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as connection:
            connection.sendall(data)
            answer = b""
            with contextlib.suppress(OSError):
                while b"\r\n\r\n" not in answer:
                    more = connection.recv(65536)
                    if not more:
                        break
                    answer += more
            return answer


class Made:
    def __init__(self, body):
        self.body = body
        document = json.loads(body)
        self.json = json.loads(base64.b64decode(document["payload"])) if "payload" in document else document
        self.id = self.json["report_id"]

    def changed(self, **members):
        """The same report, unsigned, with other members; None leaves one out."""
        report = {k: v for k, v in (self.json | members).items() if v is not None or k not in members}
        return Made(json.dumps(report).encode())


class Maker:
    """Reports like gpucheck's, signed by keys of openssl's."""

    def __init__(self, load, template, folder):
        self.load, self.template, self.folder = load, template, folder

    def key(self, name):
        path = self.folder / f"{name}.key"
        if not path.exists():
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, capture_output=True)
        return path

    def public(self, name):
        return subprocess.run(["openssl", "pkey", "-in", self.key(name), "-pubout"], check=True, capture_output=True).stdout

    def many(self, count, key=None, node="gpu-1"):
        made = subprocess.run([self.load, "make", self.template, self.key(key) if key else "-", str(count), node], check=True, capture_output=True).stdout
        return [Made(line) for line in made.splitlines()]

    def one(self, key=None, node="gpu-1"):
        return self.many(1, key, node)[0]


class Sqlite:
    name = "sqlite"

    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def fresh(self):
        """Options for a database that is empty."""
        self.count += 1
        self.file = self.folder / f"reports-{self.count}.db"
        return ["--db", self.file]

    def run(self, statement):
        with contextlib.closing(sqlite3.connect(self.file, timeout=30)) as connection:
            rows = connection.execute(statement).fetchall()
            connection.commit()
            return rows

    def close(self):
        pass


class Postgres:
    """A private cluster that only this test knows; an unprivileged user's when we are root, as PostgreSQL demands."""
    name = "postgres"
    password = "s3cret/of:the@test"

    @staticmethod
    def programs():
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda p: int(p.split("/")[4]))
        return Path(found[-1]).parent if found else Path(shutil.which("initdb")).parent if shutil.which("initdb") else None

    def __init__(self, folder):
        self.programs, self.count = self.programs(), 0
        self.home = Path(tempfile.mkdtemp(prefix="gpucheck-pg-"))
        self.user = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.home, nobody.pw_uid, nobody.pw_gid)
            self.user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self.password_file = folder / "password"
        self.password_file.write_text(self.password + "\n")
        self.password_file.chmod(0o600)
        given = self.home / "given"
        given.write_text(self.password)
        given.chmod(0o644)
        self.command("initdb", "-D", self.home / "data", "-U", "fleet", "-A", "scram-sha-256", f"--pwfile={given}", "-E", "UTF8", "--no-locale", "-N")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def command(self, program, *arguments):
        subprocess.run([self.programs / program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.home, **self.user)

    def start(self):
        self.command("pg_ctl", "-D", self.home / "data", "-w", "-l", self.home / "log", "-o",
                     f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self.home}", "start")

    def stop(self):
        self.command("pg_ctl", "-D", self.home / "data", "-w", "-m", "fast", "stop")

    def fresh(self):
        self.count += 1
        self.database = f"fleet_{self.count}"
        self.psql("postgres", f"CREATE DATABASE {self.database}")
        return ["--db", f"postgresql://fleet@127.0.0.1:{self.port}/{self.database}", "--db-password-file", self.password_file]

    def psql(self, database, statement):
        done = subprocess.run([self.programs / "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "fleet", "-d", database, "-AtqF", "\t", "-c", statement],
                              check=True, capture_output=True, env={"PGPASSWORD": self.password})
        return [tuple(line.split("\t")) for line in done.stdout.decode().splitlines()]

    def run(self, statement):
        return self.psql(self.database, statement)

    def close(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self.home, ignore_errors=True)


def new_id():
    """A UUID of version 7 (RFC 9562, 5.7)."""
    bits = int(time.time() * 1000) << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    return str(uuid.UUID(int=bits))


def wait_until(what, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False
