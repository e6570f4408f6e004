"""A receiver of reports on 127.0.0.1 that follows docs/openapi.yaml, and misbehaves when it is told to."""
import base64
import gzip
import json
import os
import random
import socket
import struct
import subprocess
import threading


def report_of(headers, body):
    """The JSON report in one delivery, unverified."""
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    document = json.loads(body)
    if headers["content-type"] == "application/vnd.dsse.envelope.v1+json":
        document = json.loads(base64.b64decode(document["payload"]))
    return document


class Receiver:
    """behave(headers) names what happens to a request: a status, "reset", "dies" (takes the report, then answers nothing),
    "silent" (neither takes nor answers), or a (status, headers) pair. Only a 2xx and "dies" take a report."""

    def __init__(self, behave=lambda headers: 201, remember=False, port=0):
        self.behave = behave
        self.lock = threading.Lock()
        self.accepted = {}       # key -> body, the first time
        self.deliveries = 0      # requests that took a report or found it taken
        self.conflicts = []      # keys that came with another body
        self.requests = [] if remember else None
        self.answers = {}
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", port))
        self.socket.listen(128)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1/reports"
        self.connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # or the thread that accepts keeps it open
        except OSError:
            pass
        self.socket.close()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        have = b""
        try:
            while True:
                while b"\r\n\r\n" not in have:
                    more = connection.recv(65536)
                    if not more:
                        return
                    have += more
                head, have = have.split(b"\r\n\r\n", 1)
                lines = head.decode("latin-1").split("\r\n")
                headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
                headers[":request"] = lines[0]
                length = int(headers.get("content-length", 0))
                while len(have) < length:
                    more = connection.recv(1 << 20)
                    if not more:
                        return
                    have += more
                body, have = have[:length], have[length:]
                if not self.answer(connection, headers, body):
                    return
        except OSError:
            return
        finally:
            connection.close()

    def take(self, key, body):
        """True: new. False: had it."""
        self.deliveries += 1
        if key not in self.accepted:
            self.accepted[key] = body
            return True
        if self.accepted[key] != body:
            self.conflicts.append(key)
        return False

    def answer(self, connection, headers, body):
        action = self.behave(headers)
        extra = {}
        if isinstance(action, tuple):
            action, extra = action
        with self.lock:
            self.answers[action] = self.answers.get(action, 0) + 1
            if self.requests is not None:
                self.requests.append((headers, body))
            key = headers.get("idempotency-key")
            taken = self.take(key, body) if action == "dies" or (isinstance(action, int) and action < 300) else None
        if action == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if action == "dies":
            return False
        if action == "silent":
            threading.Event().wait(30)
            return False
        if taken is False:
            action = 200  # had it already
        lines = [f"HTTP/1.1 {action} -", "Content-Length: 0"] + [f"{k}: {v}" for k, v in extra.items()]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return True


class Tool:
    """gpucheck with a state folder and a config of its own."""

    def __init__(self, gpucheck, folder, sinks, **more):
        self.gpucheck, self.folder = gpucheck, folder
        self.state = folder / "state"
        self.config = folder / "config.json"
        self.write(sinks, **more)
        self.env = {"PATH": "/usr/bin:/bin"} | {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}

    def write(self, sinks, **more):
        self.config.write_text(json.dumps({"state_folder": str(self.state), "sinks": sinks} | more))

    def command(self, *args):
        return [self.gpucheck, *map(str, args), "--config", str(self.config)]

    def run(self, *args, stdin=None, timeout=120):
        done = subprocess.run(self.command(*args), capture_output=True, timeout=timeout, env=self.env, input=stdin)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def waiting(self):
        return sorted(p.name for p in (self.state / "spool/pending").glob("*.report"))
