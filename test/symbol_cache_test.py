#!/usr/bin/env python3
# sanitized: damaged caches
"""The cache of the running kernel's symbols: a second run reads it instead of /proc/kallsyms and prints the
same; a damaged one, one of another user or of another state of the kernel is not read. Recordings are made here, with addresses of
this machine's kernel."""
import os
import re
import shutil
import stat
import sys

from names import kernel_recording
from suite import process
from suite.perf import without_tip
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import Skip, need, need_root, run_in_folder

PLACES, ENOUGH = 400, 100
CACHED = ".cache/perfuse/kernel-symbols"
ADDED_BY_STATE = slice(8, 16)


def visible():
    """(address, name) of functions of this kernel, in order."""
    found = []
    with open("/proc/kallsyms") as stream:
        for line in stream:
            address, kind, name = line.split()[:3]
            if kind in "tT" and "[" not in line:
                found.append((int(address, 16), name))
    return sorted(found)


class Context:
    def __init__(self, work):
        self.work = work
        functions = visible()
        if len(functions) < ENOUGH or functions[-1][0] == 0:
            raise Skip("the kernel hides its addresses from this user")
        text = {name: address for address, name in functions if name in ("_text", "_stext")}
        if "_text" not in text:
            raise Skip("the kernel lists no _text")
        inside = [address for address, _ in functions if address >= text["_text"]]
        step = max(1, len(inside) // PLACES)
        self.addresses = [address + 1 for address in inside[::step]]
        self.start, self.size = text["_text"], inside[-1] + 0x1000 - text["_text"]
        self.recorded("one.data", self.start, "_text", 0)

    def recorded(self, name, start, mark, moved):
        path = os.path.join(self.work, name)
        kernel_recording.write(path, [kernel_recording.mapping(start, self.size, start, "[kernel.kallsyms]" + mark)] +
                               [kernel_recording.sample(address + moved) for address in self.addresses])

    def home(self, name):
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def start_script(self, home, *options, data="one.data", **more):
        return process.start(PERFUSE, "script", "-i", data, "-F", "ip,sym,symoff", *options, stderr=process.PIPE, cwd=self.work,
                             env=environment(home, **more))

    def script(self, home, *options, **more):
        """(output, whether the cache was read, stderr)."""
        script = self.start_script(home, "-v", *options, **more)
        out, err = script.communicate(timeout=600)
        need(script.returncode == 0, "exit code %d: %s" % (script.returncode, err[-300:]))
        return out, re.search(r"perfuse/kernel-symbols: used$", err, re.M) is not None, err

    def cached(self, home):
        return os.path.join(home, CACHED)

    def plain(self):
        """The output without a cache."""
        out, used, _ = self.script(process.NO_HOME)
        need(not used and len(re.findall(r"\+0x", out)) >= ENOUGH, "names are missing: " + out[:300])
        return out


def test_second_run(c):
    """a second run reads the list that the first stored, and prints the same"""
    home, want = c.home("second"), c.plain()
    first, used, _ = c.script(home)
    need(first == want and not used, "the first run differs")
    info = os.stat(c.cached(home))
    need(stat.S_IMODE(info.st_mode) == 0o600 and stat.S_IMODE(os.stat(os.path.dirname(c.cached(home))).st_mode) == 0o700, "its mode is wrong")
    second, used, _ = c.script(home)
    need(second == want and used, "the second run differs, or does not read the cache")
    need(os.stat(c.cached(home)).st_ino == info.st_ino, "it was written again")


def test_report(c):
    """report and flamegraph print the same with the cache"""
    home = c.home("report")
    for least, command in ((1000, ["report", "--stdio", "-i", "one.data"]), (1000, ["flamegraph", "--folded", "-i", "one.data", "-o", "-"]),
                           (100, ["report", "--stdio", "-i", "one.data", "-s", "dso_size,dso"])):
        texts = []
        for where in (process.NO_HOME, home, home):
            texts.append(without_tip(process.must(PERFUSE, *command, cwd=c.work, env=environment(where))))
        need(texts[0] == texts[1] == texts[2] and len(texts[0]) > least, "%s differs" % command[0])
    need(os.path.exists(c.cached(home)), "nothing was stored")


def test_moved_kernel(c):
    """a recording of another boot, with the kernel at another address, has the cached names"""
    home, moved = c.home("moved"), 0x2400000
    c.recorded("moved.data", c.start + moved, "_text", moved)
    want = c.script(process.NO_HOME, data="moved.data")[0]
    c.script(home)
    got, used, _ = c.script(home, data="moved.data")
    need(got == want and used and len(re.findall(r"\+0x", got)) >= ENOUGH, "the names differ")


def test_other_mark(c):
    """a recording that gives the kernel's address by another function does not use the cache"""
    home = c.home("mark")
    name = next(n for _, n in visible()[ENOUGH:] if re.fullmatch(r"[a-z]\w{8,}", n))
    c.recorded("mark.data", c.start, name, 0)
    want = c.script(process.NO_HOME, data="mark.data")[0]
    c.script(home)
    got, used, _ = c.script(home, data="mark.data")
    need(got == want and not used, "the cache was read, which has no address of %s" % name)


def test_other_state(c):
    """a list of another state of the kernel (a boot, its modules, its visible addresses) is not used, and replaced"""
    home, want = c.home("state"), c.plain()
    c.script(home)
    with open(c.cached(home), "r+b") as stream:
        whole = bytearray(stream.read())
        whole[ADDED_BY_STATE] = bytes(b ^ 1 for b in whole[ADDED_BY_STATE])
        stream.seek(0)
        stream.write(whole)
    got, used, err = c.script(home)
    need(got == want and not used and "kernel-symbols: out of date" in err, "it was used for this state")
    got, used, _ = c.script(home)
    need(got == want and used and os.listdir(os.path.dirname(c.cached(home))) == ["kernel-symbols"], "it was not replaced")


def test_damaged(c):
    """a list that is cut or changed is not used, and replaced"""
    home, want = c.home("damaged"), c.plain()
    c.script(home)
    size = os.path.getsize(c.cached(home))
    for at in (0, 1, 20, 40, 47, 48, size // 3, size // 2, size - 9, size - 1):
        for cut in (False, True):
            with open(c.cached(home), "r+b") as stream:
                stream.seek(at)
                byte = stream.read(1)
                stream.seek(at)
                stream.write(bytes([byte[0] ^ 0x40]))
                if cut:
                    stream.truncate(at)
            got, used, _ = c.script(home)
            need(got == want and not used, "%s at %d: it was read" % ("cut" if cut else "changed", at))
            got, used, _ = c.script(home)
            need(got == want and used, "%s at %d: it was not replaced" % ("cut" if cut else "changed", at))


def test_unsafe(c):
    """a list that is a link, that others can write, or in a folder that they can write, is not read"""
    home, want = c.home("unsafe"), c.plain()
    c.script(home)
    cached = c.cached(home)
    os.chmod(cached, 0o620)
    got, used, err = c.script(home)
    need(got == want and not used and "kernel-symbols: cannot be read" in err, "it was read, though others can write it")
    need(c.script(home)[1], "it was not replaced")
    os.rename(cached, cached + ".elsewhere")
    os.symlink(cached + ".elsewhere", cached)
    got, used, _ = c.script(home)
    need(got == want and not used and not os.path.islink(cached), "a link was followed, or stays")
    os.chmod(os.path.dirname(cached), 0o777)
    os.unlink(cached)
    got, used, err = c.script(home)
    need(got == want and not os.path.exists(cached) and "kernel-symbols: cannot be written" in err, "a folder that others can write is used")


def test_other_owner(c):
    """a list of another user is not read, and nothing is created in another user's home, as with sudo"""
    need_root("only root can give files away")
    home, want = c.home("owner"), c.plain()
    c.script(home)
    os.chown(c.cached(home), 12345, 12345)
    got, used, _ = c.script(home)
    need(got == want and not used, "another's file was read")
    os.chown(os.path.dirname(c.cached(home)), 12345, 12345)
    got, used, _ = c.script(home)
    need(got == want and not used, "a file in another's folder was read")
    home = c.home("sudo")
    os.chown(home, 12345, 12345)
    got, used, _ = c.script(home)
    need(got == want and os.listdir(home) == [], "something was made in another's home")


def test_at_once(c):
    """simultaneous runs print the same and leave one list"""
    home, want = c.home("once"), c.plain()
    for _ in range(3):
        shutil.rmtree(os.path.join(home, ".cache"), ignore_errors=True)
        for script in [c.start_script(home) for _ in range(4)]:
            out, err = script.communicate(timeout=600)
            need(script.returncode == 0 and out == want and err == "", "one differs: " + err[:300])
        got, used, _ = c.script(home)
        need(got == want and used and os.listdir(os.path.dirname(c.cached(home))) == ["kernel-symbols"], "there is more than one list")


def test_switched_off(c):
    """perfuse.cache = false, --kallsyms, --symfs and an unwritable home store nothing, without a message"""
    home, want = c.home("off"), c.plain()
    settings = os.path.join(c.work, "settings")
    with open(settings, "w") as out:
        out.write("[perfuse]\n\tcache = false\n")
    for options, more in (((), {"PERF_CONFIG": settings}), (("--kallsyms=/proc/kallsyms",), {}), (("--symfs", home), {})):
        script = c.start_script(home, *options, **more)
        out, err = script.communicate(timeout=600)
        need(script.returncode == 0 and os.listdir(home) == [], "%r %r: something was stored" % (options, more))
        need(options[:1] == ("--symfs",) or (out == want and err == ""), "%r %r: the output differs" % (options, more))
    blocked = os.path.join(home, ".cache")
    with open(blocked, "w"):
        pass
    out, err = c.start_script(home).communicate(timeout=600)
    need(out == want and err == "", "an unwritable home is reported: " + err[:200])


def test_places(c):
    """lists are stored below XDG_CACHE_HOME"""
    home, other, want = c.home("places"), c.home("xdg"), c.plain()
    for i in range(2):
        got, used, _ = c.script(home, XDG_CACHE_HOME=other)
        need(got == want and used == bool(i), "run %d differs" % i)
    need(os.listdir(home) == [] and os.listdir(other) == ["perfuse"], "it is stored elsewhere")


if __name__ == "__main__":
    sys.exit(run_in_folder("the cache of the kernel's symbols", Context, globals()))
