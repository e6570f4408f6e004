"""A headless Chromium over its debugging pipe: no package but Debian's chromium, no port, no network."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        # Ubuntu's chromium-browser starts a snap, which sees neither our files nor our pipes.
        if path and not os.path.realpath(path).startswith("/usr/bin/snap") and b"snap" not in open(path, "rb").read(4096):
            return path
    return None


class Browser:
    def __init__(self, path):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        # Chromium reads commands from 3 and writes answers to 4 (--remote-debugging-pipe).
        def pipes():
            low = os.dup(to_browser), os.dup(from_browser)
            os.dup2(low[0], 3)
            os.dup2(low[1], 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
             "--user-data-dir=" + self.folder.name, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pipes)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events = b"", 0, []

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_end], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.read_end, 1 << 20)
            if not part:
                raise EOFError("the browser ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, timeout_s=60, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout_s
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def close(self):
        try:
            self.send("Browser.close", timeout_s=10)
        except (OSError, EOFError, TimeoutError):
            pass
        os.close(self.write_end)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        self.folder.cleanup()


class Page:
    """One tab; its console messages, errors and requests are in `faults` and `requests`."""

    def __init__(self, browser, width=1400, height=900, dark=False):
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.size(width, height)
        self.dark(dark)

    def send(self, method, **parameters):
        return self.browser.send(method, session=self.session, **parameters)

    def size(self, width, height=900, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def dark(self, on):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def run(self, script):
        """The value of a JavaScript expression; a promise is waited for."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:600] + " in " + script)
        return answer["result"].get("value")

    def wait(self, script, timeout_s=30):
        deadline = time.monotonic() + timeout_s
        while not self.run(script):
            if time.monotonic() > deadline:
                raise TimeoutError("never true: " + script)
            time.sleep(0.02)

    def open(self, url):
        """Milliseconds from the start of the navigation to the first page of nodes drawn, and to the whole page."""
        # Observed from inside, before any script of the page runs.
        self.send("Page.addScriptToEvaluateOnNewDocument", source="""
            window.seen = {};
            new MutationObserver(() => {
                if (!seen.rows && document.querySelector('#node-table tbody tr'))
                    requestAnimationFrame(() => requestAnimationFrame(() => { seen.rows ??= performance.now(); }));
                if (!seen.whole && document.documentElement?.dataset.ready) seen.whole = performance.now();
            }).observe(document, {childList: true, subtree: true, attributes: true});""")
        self.send("Page.navigate", url=url)
        self.wait("document.documentElement?.dataset.ready === 'yes' && window.seen?.rows > 0")
        return self.run("seen.rows"), self.run("seen.whole")

    def key(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}
        parameters = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if text or len(key) == 1 or key == "Enter":
            parameters["text"] = text or {"Enter": "\r"}.get(key, key)
        self.send("Input.dispatchKeyEvent", type="keyDown", **parameters)
        parameters.pop("text", None)
        self.send("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def type(self, text):
        for character in text:
            self.key(character)

    def picture(self, file, whole=False):
        parameters = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 9000), "scale": 1}
        file.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", **parameters)["data"]))

    def paper(self, file):
        data = base64.b64decode(self.send("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])
        file.write_bytes(data)
        return data

    def faults(self):
        out = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            kind, about = event["method"], event["params"]
            if kind == "Runtime.exceptionThrown":
                details = about["exceptionDetails"]
                out.append(details.get("exception", {}).get("description", details["text"]))
            elif kind == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
                out.append(json.dumps(about["args"])[:400])
            elif kind == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                out.append(about["entry"]["text"])
        return out

    def requests(self):
        urls = [event["params"]["request"]["url"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")]

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
