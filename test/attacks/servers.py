"""Malicious and broken debuginfod servers, each a real one over HTTP. Their answers are bounded, and only the build that was
requested is used."""
import ctypes.util
import http.server
import os
import shutil
import socketserver
import threading
import time

from suite import process
from suite.process import NOBODY
from suite.tests import Skip, need, need_root

SECRET = "function_that_only_debug_information_knows"
LIMIT_S, MAXSIZE = 2, 16 << 20


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):  # pylint: disable=invalid-name
        self.server.asked.append(self.path)
        try:
            getattr(self, self.server.mode)()
        except OSError:
            self.close_connection = True

    def answer(self, code, length=None, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def pour(self, chunked):
        block = b"A" * (1 << 20)
        while True:
            self.wfile.write((b"%x\r\n" % len(block) if chunked else b"") + block + (b"\r\n" if chunked else b""))

    def good(self):
        self.answer(200, len(self.server.content))
        self.wfile.write(self.server.content)

    def endless(self):
        self.answer(200)
        self.pour(True)

    def claims_much(self):
        self.answer(200, 1 << 45)
        self.pour(False)

    def drip(self):
        self.answer(200, 1 << 30)
        while True:
            self.wfile.write(b"A" * 512)
            time.sleep(0.1)

    def silent(self):
        time.sleep(60)

    def headers_without_end(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.wfile.write(b"X-DEBUGINFOD-A: " + b"B" * 60000 + b"\r\n")

    def redirects_to_file(self):
        self.answer(302, 0, Location="file://" + self.server.file)

    def redirects_to_itself(self):
        self.answer(302, 0, Location=self.path)

    def escapes(self):
        self.answer(200, 5, X_DEBUGINFOD_FILE="\x1b]0;owned\x07", X_DEBUGINFOD_SIZE="\x1b[31m")
        self.wfile.write(b"\x1b[31m")

    def breaks_off(self):
        self.answer(200, len(self.server.content))
        self.wfile.write(self.server.content[:1000])
        self.close_connection = True


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def __init__(self, mode, content=b"", file=""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.mode, self.content, self.file, self.asked = mode, content, file, []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass

    def url(self):
        return "http://127.0.0.1:%d" % self.server_address[1]


class Bench:
    """A program without symbols, a recording of it, and its debug file, which only a server has."""
    def __init__(self, c):
        if not ctypes.util.find_library("debuginfod") and not os.path.exists("/usr/lib/x86_64-linux-gnu/libdebuginfod.so.1"):
            raise Skip("there is no libdebuginfod.so.1")
        self.c = c
        self.folder = c.path("servers")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        self.debug = self.build(SECRET, "program")
        self.other = self.build("function_of_another_build", "other")
        self.data = os.path.join(self.folder, "perf.data")
        self.must(c.program, "record", "-N", "-e", "cpu-clock:u", "-o", self.data, "--", self.folder + "/program")

    def must(self, *command, text=None):
        process.must(*command, input=text, cwd=self.folder, env=self.c.environment())

    def build(self, function, name):
        source = "static __attribute__((noinline)) void %s(void) { for (volatile long i = 0; i < 100000000; i++); } " \
            "int main(void) { %s(); }" % (function, function)
        self.must("cc", "-g", "-O1", "-Wl,--build-id", "-x", "c", "-o", name, "-", text=source)
        self.must("objcopy", "--only-keep-debug", name, name + ".debug")
        self.must("strip", name)
        with open(os.path.join(self.folder, name + ".debug"), "rb") as file:
            return file.read()

    def report(self, server, cache=None, data=None, **more):
        """(what it printed, seconds, most kB of memory, bytes of its cache)"""
        cache = cache or os.path.join(self.folder, "cache")
        env = self.c.environment(DEBUGINFOD_URLS=server.url(), DEBUGINFOD_CACHE_PATH=cache, DEBUGINFOD_TIMEOUT=str(LIMIT_S),
                                 DEBUGINFOD_MAXSIZE=str(MAXSIZE), DEBUGINFOD_PROGRESS="1", **more)
        began, disk = time.monotonic(), 0
        with open(os.path.join(self.folder, "out"), "w+") as out:
            child = process.start(self.c.program, "report", "--stdio", "-s", "sym,srcline", "--percent-limit", "5", "-i", data or self.data,
                                  stdout=out, stderr=out, env=env, cwd=self.folder)
            while True:
                pid, _, usage = os.wait4(child.pid, os.WNOHANG)
                disk = max([disk] + [sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())
                                     for folder, _, _ in os.walk(cache)])
                if pid:
                    break
                if time.monotonic() - began > 20 * LIMIT_S or disk > 16 * MAXSIZE:
                    child.kill()
                    child.wait()
                    need(False, "%s: it does not end; %d bytes on the disk" % (server.mode, disk))
                time.sleep(0.02)
            child.returncode = 0
            out.seek(0)
            text = out.read()
        return text, time.monotonic() - began, usage.ru_maxrss, disk


def test_good(c):
    """a debuginfod server's file gives names"""
    b = Bench(c)
    with Server("good", b.debug) as server:
        text, *_ = b.report(server)
        need(SECRET in text, text)


def test_bounds(c):
    """a server's answer is bounded in time, memory and disk: endless, with a wrong size, slow, silent, with endless headers, with circular redirections"""
    b = Bench(c)
    for mode in ("endless", "claims_much", "drip", "silent", "headers_without_end", "redirects_to_itself", "breaks_off"):
        with Server(mode, b.debug) as server:
            shutil.rmtree(os.path.join(b.folder, "cache"), ignore_errors=True)
            text, seconds, memory, disk = b.report(server)
            need(server.asked, "%s: it was not asked" % mode)
            need("Overhead" in text and SECRET not in text, "%s: %s" % (mode, text))
            need(seconds < 8 * LIMIT_S, "%s: %.1f s" % (mode, seconds))
            need(memory < 400 << 10, "%s: %d kB of memory" % (mode, memory))
            need(disk < 6 * MAXSIZE, "%s: %d bytes on the disk" % (mode, disk))


def test_content(c):
    """a file of another build, or one of this machine that a server refers to, is not used; no text of a server reaches the terminal"""
    b = Bench(c)
    with open(os.path.join(b.folder, "secret.debug"), "wb") as file:
        file.write(b.debug)
    for mode, content in (("good", b.other), ("good", b"\x7fELF" + b"\xff" * 5000), ("redirects_to_file", b""), ("escapes", b"")):
        with Server(mode, content, file.name) as server:
            shutil.rmtree(os.path.join(b.folder, "cache"), ignore_errors=True)
            text, *_ = b.report(server)
            need(server.asked and "Overhead" in text, "%s: %s" % (mode, text))
            need(SECRET not in text and "another_build" not in text and "\x1b" not in text, "%s: %r" % (mode, text))


def test_given_up(c):
    """a server that does not answer is not asked again in that run, which is reported"""
    b = Bench(c)
    both = os.path.join(b.folder, "both.data")
    b.must(c.program, "record", "-N", "-e", "cpu-clock:u", "-o", both, "--", "sh", "-c", "./program; ./other")
    with Server("silent") as server:
        text, *_ = b.report(server, data=both)
        need("were not asked any more" in text, text)


def test_cache_of_others(c):
    """no server is asked where another user could change the folder that its files are stored in"""
    need_root("only root can make folders of another user")
    b = Bench(c)
    theirs, target = os.path.join(b.folder, "theirs"), os.path.join(b.folder, "target")
    for path in (theirs, target):
        os.mkdir(path)
    os.mkdir(os.path.join(theirs, "ours"))  # of root, in a folder of the other user
    os.symlink(target, os.path.join(theirs, "link"))
    os.chown(theirs, NOBODY, NOBODY)
    os.mkdir(os.path.join(b.folder, "open"))
    os.chmod(os.path.join(b.folder, "open"), 0o777)
    for cache in (theirs, theirs + "/ours", theirs + "/new/folder", theirs + "/link", b.folder + "/open"):
        with Server("good", b.debug) as server:
            text, *_ = b.report(server, cache)
            need(not server.asked and "are not asked" in text, "%s: %s %s" % (cache, server.asked, text))
    need(not os.listdir(target) and sorted(os.listdir(theirs)) == ["link", "ours"], "something was written")
    with Server("good", b.debug) as server:  # a sticky folder is safe: only the owner can remove a file
        os.chmod(os.path.join(b.folder, "open"), 0o1777)
        text, *_ = b.report(server, b.folder + "/open/cache")
        need(SECRET in text, text)
