"""Just enough of W3C WebDriver, over chromedriver and the standard library, to look at a page as a user does."""
import base64
import json
import os
import shutil
import socket
import tempfile
import time
import urllib.error
import urllib.request

from suite import process

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")


class Missing(Exception):
    """What the browser needs is not on this machine."""


def programs():
    chromium = next((p for p in CHROMIUM if os.access(p, os.X_OK)), None)
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        raise Missing("Debian packages chromium and chromium-driver are not installed")
    try:
        socket.gethostbyname("localhost")  # chromedriver talks to the browser by that name
    except OSError:
        raise Missing("localhost has no address here: /etc/hosts is missing")
    return chromium, driver


class Browser:
    def __init__(self, width=1200, height=900):
        chromium, driver = programs()
        self.folder = tempfile.mkdtemp(prefix="perfuse-browser-")
        log = open(os.path.join(self.folder, "driver.log"), "w+")
        self.driver = process.start(driver, "--port=0", stdout=log, stderr=process.STDOUT, env=os.environ)
        try:
            self.base = "http://127.0.0.1:%d" % self._port(log.name)
            arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                         "--window-size=%d,%d" % (width, height), "--user-data-dir=" + os.path.join(self.folder, "profile")]
            answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"binary": chromium, "args": arguments}}}})
            self.session = "/session/" + answer["sessionId"]
        except BaseException:
            self.close()
            raise

    def _port(self, path):
        for _ in range(1200):
            with open(path) as f:
                for line in f:
                    if "started successfully on port" in line:
                        return int(line.split("port")[1].strip(" .\n"))
            if self.driver.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("chromedriver did not start")

    def _send(self, method, path, body=None):
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError("%s %s: %s" % (method, path, json.load(error)["value"].get("message", "")[:400])) from None

    def close(self):
        try:
            if getattr(self, "session", None):
                self._send("DELETE", self.session)
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def open(self, url):
        self._send("POST", self.session + "/url", {"url": url})

    def url(self):
        return self._send("GET", self.session + "/url")

    def back(self):
        self._send("POST", self.session + "/back")

    def script(self, code, *arguments):
        return self._send("POST", self.session + "/execute/sync", {"script": code, "args": list(arguments)})

    def resize(self, width, height):
        self._send("POST", self.session + "/window/rect", {"width": width, "height": height})

    def prefer(self, scheme):
        """Pages see a user who prefers "dark" or "light" ones."""
        self._send("POST", self.session + "/goog/cdp/execute", {
            "cmd": "Emulation.setEmulatedMedia", "params": {"features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self._send("GET", self.session + "/screenshot")))

    def console(self):
        """Messages since the last call: [(level, text)]."""
        return [(m["level"], m["message"]) for m in self._send("POST", self.session + "/se/log", {"type": "browser"})]

    def find(self, css):
        return self._send("POST", self.session + "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self._send("POST", "%s/element/%s/click" % (self.session, self.find(css)))

    def type(self, css, text):
        self._send("POST", "%s/element/%s/value" % (self.session, self.find(css)), {"text": text})

    def pointer(self, x, y, click=False):
        """A real mouse: moves to a place in the window, and presses there."""
        actions = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}]
        if click:
            actions += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._send("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def keys(self, *keys):
        """Presses keys together, as in keys(CONTROL, "f")."""
        actions = [{"type": "keyDown", "value": k} for k in keys] + [{"type": "keyUp", "value": k} for k in reversed(keys)]
        self._send("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})


CONTROL, ESCAPE, ENTER, BACKSPACE = "\ue009", "\ue00c", "\ue007", "\ue003"
UP, DOWN, LEFT, RIGHT = "\ue013", "\ue015", "\ue012", "\ue014"
