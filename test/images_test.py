#!/usr/bin/env python3
# sanitized: damaged files
"""Files of modules: a program is recorded once, its symbols are put into one place after the other, and `report` finds the names there,
lists with -v the places it tried, and uses no file of another build and none outside of --symfs. The build-id cache, archives and kernel
symbols are compared with perf's."""
import functools
import glob
import io
import os
import re
import shlex
import shutil
import stat
import signal
import socket
import struct
import sys
import tarfile
import tempfile
import time

from suite import process
from suite.perf import need_reference
from suite.process import build_id, environment
from suite.settings import PERFUSE, SANITIZED, TEST
from suite.tests import Skip, need, need_tools, run_tests

HERE = os.path.join(TEST, "images")

SOURCE = """
volatile unsigned long sink;
__attribute__((noinline)) void deep_work(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i ^ sink >> 3; }
static inline __attribute__((always_inline)) void inlined_work(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink ^= i * 7; }
#ifdef OTHER
__attribute__((noinline)) void other_work(void) { sink++; }
#endif
int main(int c, char **v) { for (int i = 0; i < (c > 1 ? 40000 : 40); i++) { deep_work(700000); inlined_work(300000); } return c > 5; }
"""


class Box:
    """A folder with the program, its recording, and separate roots for --symfs."""

    def __init__(self):
        self.work = tempfile.mkdtemp(prefix="perfuse-images-")
        self.env = environment(os.path.join(self.work, "home"))
        os.mkdir(self.env["HOME"])
        self.program = os.path.join(self.work, "bin", "prog")
        self.full = os.path.join(self.work, "prog.full")

    def run(self, *command, env=None, stdin=None, cwd=None):
        return process.run(*command, cwd=cwd or self.work, env={**self.env, **(env or {})}, input=stdin, seconds=300)

    def must(self, *command, **more):
        done = self.run(*command, **more)
        need(done.returncode == 0, "%s: %s" % (" ".join(command), done.stderr[-500:]))
        return done

    def perfuse(self, *words, **more):
        return self.run(PERFUSE, *words, **more)

    def perf(self, *words, **more):
        return self.run(need_reference(), *words, **more)

    def compile(self, *options, output=None, source="prog.c"):
        self.must("gcc", "-O1", "-g", *options, "-o", output or self.full, source)

    def build(self):
        os.makedirs(os.path.dirname(self.program))
        open(os.path.join(self.work, "prog.c"), "w").write(SOURCE)
        self.compile()
        self.must("strip", "-o", self.program, self.full)
        done = self.perfuse("record", "-N", "-e", "cpu-clock:u", "-c", "300000", "-o", "p.data", "--", self.program)
        if done.returncode != 0:
            raise Skip("perf_event_open is refused here")
        self.build_id = build_id(self.program)

    def tree(self, **files):
        """A new root for --symfs: place -> file of the work folder; places name DIR (the program's folder) and ID."""
        root = tempfile.mkdtemp(prefix="root-", dir=self.work)
        for place, content in files.items():
            self.put(root, place, content)
        return root

    def put(self, root, place, content):
        path = root + "/" + place.replace("DIR", os.path.dirname(self.program).lstrip("/")).replace(
            "ID", self.build_id[:2] + "/" + self.build_id[2:])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(os.path.join(self.work, content), path)
        return path

    def report(self, *options, data="p.data", **more):
        done = self.perfuse("report", "--stdio", "-v", "-i", data, "-s", "sym", *options, **more)
        need(done.returncode == 0, "report fails: " + done.stderr[-300:])
        return done

    def named(self, *options, **more):
        done = self.report(*options, **more)
        return "deep_work" in done.stdout, done.stderr


def check_places(box):
    """Each place alone has the names; -v lists it as used."""
    box.must("objcopy", "--only-keep-debug", box.full, "prog.debug")
    box.must("objcopy", "--add-gnu-debuglink=prog.debug", box.program, "prog.linked")
    places = [
        ("the file itself", {"DIR/prog": "prog.full"}, "/bin/prog: used"),
        ("the debug link, beside", {"DIR/prog": "prog.linked", "DIR/prog.debug": "prog.debug"}, "/bin/prog.debug: used"),
        ("the debug link, in .debug", {"DIR/prog": "prog.linked", "DIR/.debug/prog.debug": "prog.debug"}, "/.debug/prog.debug: used"),
        ("the debug link, in /usr/lib/debug", {"DIR/prog": "prog.linked", "usr/lib/debug/DIR/prog.debug": "prog.debug"},
         "bin/prog.debug: used"),
        ("/usr/lib/debug by build-id", {"DIR/prog": "bin/prog", "usr/lib/debug/.build-id/ID.debug": "prog.debug"}, ".debug: used"),
        ("/usr/lib/debug by path", {"DIR/prog": "bin/prog", "usr/lib/debug/DIR/prog": "prog.debug"}, "/bin/prog: used"),
        ("the build-id cache", {".debug/.build-id/ID/elf": "prog.full"}, "/elf: used"),
        ("the debug file of the build-id cache", {".debug/.build-id/ID/elf": "bin/prog", ".debug/.build-id/ID/debug": "prog.debug"},
         "/debug: used"),
    ]
    for name, files, line in places:
        named, trail = box.named("--symfs", box.tree(**files))
        need(named, "no names from %s: %s" % (name, trail))
        need(line in trail, "-v does not list %s: %s" % (name, trail))
    named, trail = box.named("--symfs", box.tree(**{"DIR/prog": "bin/prog"}))
    need(not named and "not there" in trail, "names from nowhere, or no trail: " + trail)


def check_debugdata(box):
    need_tools("xz", "objcopy")
    box.must("objcopy", "--only-keep-debug", box.full, "mini")
    box.must("objcopy", "-S", "--remove-section=.comment", "--keep-symbol=deep_work", "--keep-symbol=main", "mini", "mini.debug")
    if "deep_work" not in box.must("nm", "mini.debug").stdout:
        raise Skip("this objcopy keeps no symbols of a debug file")
    box.must("xz", "-k", "-f", "mini.debug")
    box.must("objcopy", "--add-section", ".gnu_debugdata=mini.debug.xz", box.program, "prog.mini")
    named, trail = box.named("--symfs", box.tree(**{"DIR/prog": "prog.mini"}))
    need(named and "(.gnu_debugdata): used" in trail, trail)


def check_dwz(box):
    need_tools("dwz")
    box.compile("-gdwarf-4", output="one")
    box.compile("-gdwarf-4", "-DOTHER", output="two")
    for name in ("one", "two"):
        shutil.copy(os.path.join(box.work, name), os.path.join(box.work, name + ".dwz"))
    done = box.run("dwz", "-m", "common.dwz", "-M", "/usr/lib/debug/.dwz/common", "one.dwz", "two.dwz")
    if done.returncode != 0 or not os.path.exists(os.path.join(box.work, "common.dwz")):
        raise Skip("dwz finds nothing in common: " + done.stderr.strip()[-100:])
    box.must("./one")
    root = box.tree(**{"usr/lib/debug/.dwz/common": "common.dwz"})
    box.put(root, "DIR/prog", "one.dwz")
    data = record_as(box, "one")
    done = box.report("-s", "sym,srcline", "--symfs", root, data=data)
    need("deep_work" in done.stdout and re.search(r"prog\.c:\d+", done.stdout), "no lines from a dwz'ed file: " + done.stdout[-600:])


def record_as(box, built):
    """Records another build under the program's path; the data file."""
    shutil.copy(os.path.join(box.work, built), box.program + ".new")
    os.rename(box.program, box.program + ".old")
    os.rename(box.program + ".new", box.program)
    try:
        box.must(PERFUSE, "record", "-N", "-e", "cpu-clock:u", "-c", "300000", "-o", built + ".data", "--", box.program)
    finally:
        os.rename(box.program + ".old", box.program)
    return built + ".data"


def check_split(box):
    """Units in .dwo files, beside and as stored, and in a package; lines come from them."""
    need_tools("dwp")
    box.compile("-gsplit-dwarf", "-gdwarf-5", output="split")
    dwo = glob.glob(os.path.join(box.work, "*.dwo"))
    need(dwo, "the compiler splits nothing")
    data = record_as(box, "split")
    for name, files in (("beside", {"DIR/prog": "split", "DIR/" + os.path.basename(dwo[0]): os.path.basename(dwo[0])}),
                        ("as stored", {"DIR/prog": "split", "DIR/../" + os.path.basename(dwo[0]): os.path.basename(dwo[0])})):
        done = box.report("-s", "sym,srcline", "--symfs", box.tree(**files), data=data)
        need(re.search(r"prog\.c:\d+", done.stdout), "no lines with the .dwo %s: %s" % (name, done.stdout[-500:]))
    box.compile("-gsplit-dwarf", "-gdwarf-4", output="split4")
    if box.run("dwp", "-e", "split4", "-o", "split4.dwp").returncode != 0:
        raise Skip("this dwp packs nothing")
    data = record_as(box, "split4")
    done = box.report("-s", "sym,srcline", "--symfs", box.tree(**{"DIR/prog": "split4", "DIR/prog.dwp": "split4.dwp"}), data=data)
    need(re.search(r"prog\.c:\d+", done.stdout), "no lines with a package: " + done.stdout[-500:])
    need("/prog.dwp: used" in done.stderr, "-v does not list the package: " + done.stderr)


def check_container(box):
    """A program that only its own mount namespace has, read while it lives there."""
    need_tools("unshare", "nsenter")
    inside = os.path.join(box.work, "inside")
    os.mkdir(inside)
    os.mkdir(os.path.join(box.work, "home-outside"))
    used = shlex.join(process.until_used("PID", 100)).replace("PID", "$app")
    script = """mount -t tmpfs none {inside} && cp {full} {inside}/app && cd / || exit
        {inside}/app on & app=$!
        {perfuse} record -N -e cpu-clock:u -c 300000 -o {work}/c.data -p $app -- {used} >&2
        HOME={work}/home-outside nsenter -m -t $PPID {perfuse} record -e cpu-clock:u -c 300000 -o {work}/o.data -p $app -- {used} >&2
        kill -STOP $app
        echo $app
        exec sleep 120""".format(inside=inside, full=box.full, perfuse=PERFUSE, work=box.work, used=used)
    with process.start("unshare", "-m", "sh", "-c", script, env=box.env) as shell:
        app = shell.stdout.readline().strip()
        if not app:
            raise Skip("no mount namespaces for this user")
        need(not os.path.exists(inside + "/app"), "the mount is seen from outside")
        named, trail = box.named(data="c.data")
        need(named and "/proc/%s/root%s/app: used" % (app, inside) in trail, "no names through /proc/PID/root: " + trail)
        os.utime(os.path.join(box.work, "c.data"), (1000000000, 1000000000))
        named, trail = box.named(data="c.data")
        need(not named and "/proc/%s/" % app not in trail, "a process that is younger than the recording counts: " + trail)
        os.utime(os.path.join(box.work, "c.data"))
        stored = glob.glob(box.work + "/home-outside/.debug" + inside + "/app/*/elf")
        need(stored, "record from outside stores no copy of the file")
        home = os.path.join(box.work, "home-target")
        os.mkdir(home)
        done = box.perfuse("buildid-cache", "--target-ns", app, "-a", inside + "/app", env={"HOME": home})
        need(glob.glob(home + "/.debug" + inside + "/app/*/elf"), "--target-ns adds nothing: " + done.stderr)
        os.kill(int(app), signal.SIGKILL)
        shell.kill()
        shell.wait()
        process.wait_until(lambda: not os.path.exists("/proc/%s/root/" % app), "the program of the mount namespace has ended")
        named, trail = box.named(data="c.data")
        need(not named, "names of a file that no longer exists")
        named, trail = box.named(data="c.data", env={"HOME": home})
        need(named, "no names from the file that --target-ns stored: " + trail)


def check_debuginfod(box):
    need_tools("debuginfod")
    served = os.path.join(box.work, "served")
    os.mkdir(served)
    box.must("objcopy", "--only-keep-debug", box.full, os.path.join(served, "prog.debug"))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = process.start("debuginfod", "-F", "-p", str(port), "-d", ":memory:", "-t", "0", served, stdout=process.DEVNULL, env=box.env)
    url = "http://127.0.0.1:%d" % port
    try:
        env = {"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH": os.path.join(box.work, "fetched")}
        named, trail = box.named()
        need(not named and "debuginfod" not in trail, "asked unasked: " + trail)
        for _ in range(240):
            shutil.rmtree(env["DEBUGINFOD_CACHE_PATH"], ignore_errors=True)
            named, trail = box.named(env=env)
            if named:
                break
            time.sleep(0.25)
        need(named and "/debuginfo: used" in trail, "no names from the server: " + trail)
        named, trail = box.named("--symfs", box.tree(**{"DIR/prog": "bin/prog"}), env=env)
        need(not named, "--symfs asks the server")
        done = box.perfuse("record", "--debuginfod=" + url, "-e", "cpu-clock:u", "-c", "300000", "-o", "d.data", "--", box.program,
                           env={"DEBUGINFOD_CACHE_PATH": env["DEBUGINFOD_CACHE_PATH"]})
        need(done.returncode == 0, "record --debuginfod: " + done.stderr)
        stored = glob.glob(box.env["HOME"] + "/.debug" + box.program + "/*/debug")
        need(len(stored) == 1, "the debug file is not in the cache")
        named, trail = box.named()
        need(named and "/debug: used" in trail, "the cache's debug file is not used: " + trail)
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(box.env["HOME"] + "/.debug", ignore_errors=True)


def check_outside(box):
    """Links out of --symfs are not followed; links within it are, absolute ones too."""
    outside = os.path.join(box.work, "outside")
    shutil.copy(box.full, outside)
    place = os.path.dirname(box.program)
    for target in (outside, "../" * 30 + outside.lstrip("/")):
        root = box.tree()
        os.makedirs(root + place)
        os.symlink(target, root + place + "/prog")
        named, trail = box.named("--symfs", root)
        need(not named, "a link to %s is followed out of --symfs" % target)
    for target in (outside, "../" * 30 + outside.lstrip("/")):
        root = box.tree()
        os.makedirs(root + place)
        os.makedirs(os.path.dirname(root + outside), exist_ok=True)
        shutil.copy(box.full, root + outside)
        os.symlink(target, root + place + "/prog")
        named, trail = box.named("--symfs", root)
        need(named, "a link to %s is not followed within --symfs: %s" % (target, trail))
    root = box.tree()
    os.makedirs(os.path.dirname(root + place))
    os.symlink(place, root + place)
    named, trail = box.named("--symfs", root)
    need(not named, "a folder's link to itself")


def check_other_build(box):
    box.compile("-DOTHER", output="prog.other")
    root = box.tree(**{"DIR/prog": "prog.other"})
    done = box.report("--symfs", root)
    need("deep_work" not in done.stdout, "names of another build are used")
    need(re.search(r"/bin/prog: another build \([0-9a-f]{40}\)", done.stderr), "-v does not list the other build: " + done.stderr)
    done = box.perfuse("report", "--stdio", "-i", "p.data", "--symfs", root)
    need(done.stderr.count("of another build than the recorded one") == 1, "it is not reported once: " + done.stderr)
    done = box.perfuse("report", "-q", "--stdio", "-i", "p.data", "--symfs", root)
    need("recorded" not in done.stderr, "-q is not quiet")
    open(os.path.join(box.work, "garbage"), "w").write("\x7fELF\x02\x01\x01" + "x" * 5000)
    done = box.report("--symfs", box.tree(**{"DIR/prog": "garbage"}))
    need("deep_work" not in done.stdout and "no symbols" not in done.stdout, "names of garbage")


def check_cut(box):
    """A file that is cut short while it is mapped is reported, without a crash."""
    if SANITIZED:
        raise Skip("a sanitizer cannot be preloaded over")
    shim = os.path.join(box.work, "cut.so")
    box.must("cc", "-O1", "-shared", "-fPIC", "-o", shim, os.path.join(HERE, "cut.c"))
    for at in (0, 4096, 8192):
        root = box.tree()
        path = box.put(root, "DIR/prog", "prog.full")
        done = box.perfuse("report", "--stdio", "-i", "p.data", "--symfs", root, env={"LD_PRELOAD": shim, "CUT_FILE": path, "CUT_AT": str(at)})
        need(done.returncode == 0 and "[.]" in done.stdout, "cut at %d it ends with %d: %s" % (at, done.returncode, done.stderr[-300:]))
        need("was cut short" in done.stderr, "cut at %d, nothing is reported: %s" % (at, done.stderr))
    box.must(PERFUSE, "record", "-N", "--call-graph=dwarf", "-e", "cpu-clock:u", "-c", "300000", "-o", "big.data", "--", "sh", "-c",
             "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do %s; done" % box.program)
    size = os.path.getsize(os.path.join(box.work, "big.data"))
    need(size > 5 << 20, "only files that are mapped can be hurt: the recording has %d bytes" % size)
    for at in (0, 4096, size // 2 & ~4095):
        path = os.path.join(box.work, "cut.data")
        shutil.copy(os.path.join(box.work, "big.data"), path)
        done = box.perfuse("report", "--stdio", "-i", path, env={"LD_PRELOAD": shim, "CUT_FILE": path, "CUT_AT": str(at)})
        need(done.returncode >= 0 and "was cut short" in done.stderr, "a recording cut at %d: %d %s" % (at, done.returncode, done.stderr[-300:]))


CACHE_WORDS = (
    "-l", "", "-v", "-a PROG", "-a PROG", "-v -a PROG,/bin/ls,/nonexistent", "-l", "-u /bin/ls", "-v -u /bin/cat", "-r /bin/cat", "-r /bin/cat",
    "-r /etc/passwd", "-a /etc/passwd", "-l", "-p /bin/ls", "-p /bin/ls", "-l", "-M p.data", "-M absent.data -a /bin/cat", "-l",
    "foo", "-l foo", "-l -a PROG", "-P -a /bin/true", "-l", "-a file://LIST", "-l", "--target-ns abc -a /bin/ls", "-a", "--list-opts", "-x", "-M p.data",
    "-P", "-l")


def tree_of(home):
    lines = []
    for folder, names, files in os.walk(home):
        for name in names + files:
            path = os.path.join(folder, name)
            if name != "probes": # perf keeps a file of markers there
                lines.append("%s %s" % (os.path.relpath(path, home), os.readlink(path) if os.path.islink(path) else ""))
    return sorted(lines)


def check_cache(box):
    """buildid-cache against perf: standard output, exit codes, and what is in the cache after each step."""
    open(os.path.join(box.work, "list"), "w").write("/bin/ls\n/bin/cat\n")
    homes = [os.path.join(box.work, name) for name in ("home-perf", "home-perfuse")]
    for home in homes:
        os.mkdir(home)
    for words in CACHE_WORDS:
        words = words.replace("PROG", box.program).replace("LIST", os.path.join(box.work, "list")).split()
        theirs = box.perf("buildid-cache", *words, env={"HOME": homes[0]})
        ours = box.perfuse("buildid-cache", *words, env={"HOME": homes[1]})
        need((theirs.returncode, theirs.stdout) == (ours.returncode, ours.stdout),
             "buildid-cache %s: %r, perf %r" % (" ".join(words), (ours.returncode, ours.stdout), (theirs.returncode, theirs.stdout)))
        need(tree_of(homes[0]) == tree_of(homes[1]), "after buildid-cache %s: %s, perf %s" % (
            " ".join(words), set(tree_of(homes[1])) - set(tree_of(homes[0])), set(tree_of(homes[0])) - set(tree_of(homes[1]))))


def mode(folder, name):
    return stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)


def umask():
    now = os.umask(0o77)
    os.umask(now)
    return now


def check_archive(box):
    """An archive is unpacked below another home, which then has the names."""
    home = os.path.join(box.work, "home-archive")
    os.mkdir(home)
    shutil.copy(box.full, box.program + ".kept")
    os.rename(box.program, box.program + ".moved")
    os.rename(box.program + ".kept", box.program)
    try:
        done = box.must(PERFUSE, "archive", "p.data")
        need("archive --unpack" in done.stdout, done.stdout)
        listed = box.must("tar", "tjf", "p.data.tar.bz2").stdout.split()
        need("%s/%s/elf" % (box.program.lstrip("/"), box.build_id) in listed, "tar sees %s" % listed)
    finally:
        os.rename(box.program + ".moved", box.program)
    done = box.must(PERFUSE, "archive", "--unpack", "p.data.tar.bz2", env={"HOME": home})
    need(done.stdout.split() == listed, "unpacked is %s" % done.stdout)
    named, trail = box.named(env={"HOME": home})
    need(named and "/elf: used" in trail, "no names from an unpacked archive: " + trail)
    done = box.must(PERFUSE, "archive", "--all", "p.data")
    found = glob.glob(os.path.join(box.work, "perf.all-*.tar.bz2"))
    need(len(found) == 1, "--all makes %s" % found)
    need(mode(box.work, "p.data") == mode(box.work, "p.data.tar.bz2") == mode(box.work, found[0]) == 0o600, "others can read the archives")
    os.chmod(os.path.join(box.work, "p.data"), 0o644)
    os.unlink(os.path.join(box.work, "p.data.tar.bz2"))
    box.must(PERFUSE, "archive", "p.data")
    need(mode(box.work, "p.data.tar.bz2") == 0o644 & ~umask(), "the archive of a public recording is not public")
    os.chmod(os.path.join(box.work, "p.data"), 0o600)
    there = os.path.join(box.work, "there")
    os.mkdir(there)
    shutil.copy(found[0], there)
    done = box.must(PERFUSE, "archive", "--unpack", cwd=there, env={"HOME": there})
    need(os.path.exists(there + "/p.data") and os.path.isdir(there + "/.debug/.build-id"), "--unpack of --all: " + done.stdout)
    done = box.run(PERFUSE, "archive", "--unpack", os.path.basename(found[0]), cwd=there, env={"HOME": there}, stdin="n\n")
    need(done.returncode == 1 and "already exist" in done.stdout, "it does not ask: " + done.stdout)
    done = box.perfuse("archive", "absent.data")
    need(done.returncode == 1 and "no build-ids found" in done.stdout, done.stdout)
    done = box.perfuse("archive", "--unpack", "absent.tar.bz2")
    need(done.returncode == 1 and "does not exist" in done.stdout, done.stdout)


def hostile(path, members):
    with tarfile.open(path, "w:bz2") as tar:
        for name, kind, target in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = target or ""
            content = b"evil" if kind == tarfile.REGTYPE else b""
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def check_hostile_archive(box):
    """Members that lead out of the cache are rejected."""
    file, link, hard = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
    cases = [
        [("../evil", file, None)], [("a/../../evil", file, None)], [("/tmp/perfuse-evil", file, None)], [("a", link, "/etc"), ("a/evil", file, None)],
        [("a", link, "../evil-there"), ("a/evil", file, None)], [("a/b", link, "../../evil")], [("a/b", link, "../x/../../evil")],
        [("d/l", link, ".."), ("m", link, "d/l/../evil")], [("a", hard, "/etc/passwd")], [("a", hard, "../evil")], [("a", tarfile.CHRTYPE, None)],
        [("a", tarfile.FIFOTYPE, None)], [("x" * 300 + "/../../evil", file, None)], [("b", link, "c"), ("b/evil", file, None)],
    ]
    for index, members in enumerate(cases):
        home = tempfile.mkdtemp(prefix="hostile-", dir=box.work)
        hostile(os.path.join(home, "perf.data.tar.bz2"), members)
        os.mkdir(home + "/evil-there")
        done = box.perfuse("archive", "--unpack", "perf.data.tar.bz2", cwd=home, env={"HOME": home})
        escaped = [p for p in glob.glob(home + "/**/evil", recursive=True)] + glob.glob("/tmp/perfuse-evil") + glob.glob("/etc/evil")
        need(not escaped, "case %d leaves %s" % (index, escaped))
        need(done.returncode == 1 and done.stderr.strip(), "case %d ends with %d: %s" % (index, done.returncode, done.stdout))
    home = tempfile.mkdtemp(prefix="hostile-", dir=box.work)
    for content in (b"", b"BZh9", b"BZh91AY&SY" + b"\0" * 100, b"no archive at all" * 100):
        open(home + "/perf.x.tar.bz2", "wb").write(content)
        done = box.perfuse("archive", "--unpack", cwd=home, env={"HOME": home})
        need(done.returncode in (0, 1) and (done.returncode == 0) == (content == b""), "garbage ends with %d %s" % (done.returncode, done.stderr))


def check_kallsyms(box):
    lines = open("/proc/kallsyms").read().splitlines()
    if not lines or not int(lines[0].split()[0], 16):
        raise Skip("the kernel hides its addresses")
    names = [line.split()[2] for line in lines[::max(1, len(lines) // 1500)]] + ["no_such_symbol", "schedule"]
    theirs, ours = box.perf("kallsyms", *names), box.perfuse("kallsyms", *names)
    need((theirs.returncode, theirs.stdout) == (ours.returncode, ours.stdout), "of %d names some differ" % len(names))
    need(box.perf("kallsyms").returncode == box.perfuse("kallsyms").returncode == 129, "without a name")


def fake_kernel(box, address):
    """A root whose kernel has one page of text, at the address, and one of a module."""
    root = os.path.join(box.work, "kernel")
    os.makedirs(root + "/proc")
    os.makedirs(root + "/sys/kernel")
    page = address & ~0xfff
    places = ((0xffffffffc0000000, b"\xc3"), (page, b"\x90"))
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(places), 0, 0, 0)
    loads = b"".join(struct.pack("<IIQQQQQQ", 1, 7, 0x1000 * (i + 1), at, 0, 0x1000, 0x1000, 0x1000) for i, (at, _) in enumerate(places))
    open(root + "/proc/kcore", "wb").write((header + loads).ljust(0x1000, b"\0") + b"".join(byte * 0x1000 for _, byte in places))
    text = [line for line in open("/proc/kallsyms") if line.endswith(" _text\n")]
    open(root + "/proc/kallsyms", "w").write("".join(text) + "%016x T _stext\n%016x T renamed_kernel\n%016x T _etext\n%016x t inside\t[some]\n" % (
        page, page, page + 0xfff, places[0][0]))
    open(root + "/proc/modules", "w").write("some 4096 0 - Live 0x%x\n" % places[0][0])
    open(root + "/sys/kernel/notes", "wb").write(struct.pack("<III", 4, 20, 3) + b"GNU\0" + bytes(range(20)))
    return root


def check_kcore(box):
    """A kernel's code is copied into the cache as by perf, and read from a recording that contains it."""
    box.must(PERFUSE, "record", "-N", "-e", "cpu-clock:k", "-c", "100000", "-o", "k.data", "--", "ls", "-R", "/usr/share/doc")
    addresses = [int(line, 16) for line in box.must(PERFUSE, "script", "-i", "k.data", "-F", "ip").stdout.split()]
    if not addresses or not addresses[0]:
        raise Skip("no samples of the kernel")
    root = fake_kernel(box, addresses[0])
    homes = [os.path.join(box.work, name) for name in ("home-kcore-perf", "home-kcore")]
    for home, run in zip(homes, (box.perf, box.perfuse)):
        os.mkdir(home)
        done = run("buildid-cache", "-k", root + "/proc/kcore", env={"HOME": home})
        done = run("buildid-cache", "-v", "-k", root + "/proc/kcore", env={"HOME": home})
        need(done.returncode == 0 and "same kcore found" in done.stderr, "the existing copy is not reported: " + done.stderr)
    for name in ("kcore", "kallsyms", "modules"):
        found = [glob.glob(home + "/.debug/[[]kernel.kcore]/*/*/" + name) for home in homes]
        need(len(found[0]) == len(found[1]) == 1, "copies of %s: %s" % (name, found))
        need(open(found[0][0], "rb").read() == open(found[1][0], "rb").read(), name + " differs from perf's copy")
    folder = os.path.join(box.work, "kernel.data")
    os.mkdir(folder)
    shutil.copy(os.path.join(box.work, "k.data"), folder + "/data")
    shutil.copytree(root + "/proc", folder + "/kcore_dir")
    words = ("script", "-i", folder, "-F", "ip,sym,insn")
    theirs, ours = box.perf(*words), box.perfuse(*words)
    need("renamed_kernel insn: 90" in ours.stdout, "the recording's own kernel is not read: " + ours.stdout[:300])
    graph = box.perfuse("flamegraph", "--folded", "-i", folder)
    need("renamed_kernel" in graph.stdout, "flamegraph does not read the recording's own kernel: " + graph.stdout[:300] + graph.stderr)
    within = ["%013x" % (addresses[0] >> 12) in line for line in theirs.stdout.splitlines()] # the copy holds no more
    theirs, ours = ([line for line, counts in zip(done.stdout.splitlines(), within) if counts] for done in (theirs, ours))
    need(theirs == ours, "of %d samples some differ from perf: %s" % (len(theirs), ours[:3]))
    if os.access("/proc/kcore", os.R_OK):
        box.must(PERFUSE, "record", "--kcore", "-N", "-o", "own.data", "--", "true")
        need(os.path.getsize(os.path.join(box.work, "own.data/kcore_dir/kcore")) > 1 << 20, "record --kcore copies nothing")
    else:
        done = box.perfuse("record", "--kcore", "-o", "own.data", "--", "true")
        need(done.returncode == 255 and "kcore is not readable" in done.stderr, "record --kcore ends with %d" % done.returncode)


CHECKS = (
    ("names are found in every place, and -v lists the places", check_places),
    ("names are found in .gnu_debugdata", check_debugdata),
    ("lines are found in a file that dwz compressed", check_dwz),
    ("lines are found in split units and packages", check_split),
    ("names are found below the root of a process in a mount namespace, unless it started after the recording", check_container),
    ("names are fetched from a debuginfod server if one is given", check_debuginfod),
    ("no link leads out of --symfs", check_outside),
    ("a file of another build is not used, and reported once", check_other_build),
    ("a file that is cut short while it is read does not end the program", check_cut),
    ("the build-id cache has perf's layout", check_cache),
    ("an archive is read on another machine", check_archive),
    ("an archive unpacks nothing outside", check_hostile_archive),
    ("a kernel's code is stored with the recording", check_kcore),
    ("kernel symbols are where perf finds them", check_kallsyms),
)


def main():
    box = Box()
    try:
        need_tools("gcc", "strip", "objcopy", "readelf", "nm")
        box.build()
        return run_tests((name, functools.partial(check, box)) for name, check in CHECKS)
    except Skip as why:
        print("skip files of modules: %s" % why)
        return 0
    finally:
        shutil.rmtree(box.work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
