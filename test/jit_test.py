#!/usr/bin/env python3
# sanitized: damaged dumps
"""JIT-compiled code: names from dumps and perf maps, over time, compared with perf's; and `inject` compared with perf's."""
import collections
import glob
import os
import platform
import re
import shutil
import sys
import tempfile

from suite import process
from suite.perf import need_recording, need_reference
from suite.settings import PERFUSE, TEST
from suite.tests import Failure, Skip, by_samples, need, run_in_folder


class Context:
    def __init__(self, work):
        self.work = work

    def run(self, *command, **more):
        return process.run(*command, cwd=self.work, **more)

    def record(self, output, *options):
        result = self.run(PERFUSE, "record", "-o", output, "-F", "2000", *options)
        need(result.returncode == 0, "record fails: " + result.stderr[-200:])

    def forget(self):
        """Removes what was recorded here, and its perf maps."""
        pids = set()
        for data in glob.glob(os.path.join(self.work, "*.data")):
            pids.update(re.findall(r"PERF_RECORD_COMM exec: (?:compiler|node):(\d+)/",
                                   self.run(PERFUSE, "script", "-i", data, "--show-task-events").stdout))
        for pid in pids:
            path = "/tmp/perf-%s.map" % pid
            if os.path.exists(path):
                os.unlink(path)
        for data in glob.glob(os.path.join(self.work, "*.data")):
            os.unlink(data)

    close = forget

    def compiled(self, kind="dump", clock=("-k", "mono"), ms="150"):
        """A recording of the small compiler, made once for each kind."""
        name = "%s-%s.data" % (kind, "".join(clock[1:]))
        if not os.path.exists(os.path.join(self.work, name)):
            self.record(name, *clock, "-e", "cpu-clock:u", "-g", "--", "./compiler", kind, ms)
        return name


def names(text):
    """Samples by name, from the lines of -F ip,sym without a chain."""
    return collections.Counter(line.split(None, 1)[1] if " " in line.strip() else "?" for line in text.splitlines() if line.strip())


def stacks(c, program, data):
    """The names of each sample's functions, innermost first."""
    shown = c.run(program, "script", "-i", data, "--no-inline", "-F", "ip,sym").stdout
    return [[line.split(None, 1)[1] for line in stack.splitlines()] for stack in re.split("\n\n+", shown.strip("\n"))]


def script(c, program, data, *options):
    result = c.run(program, "script", "-i", data, "-G", "-F", "ip,sym", *options)
    need(result.returncode == 0, "script -i %s fails: %s" % (data, result.stderr[:200]))
    return names(result.stdout)


@by_samples
def test_truth(c):
    """code has the name that it had at the time of the sample, also if it was replaced or moved"""
    data = c.compiled()
    seen = script(c, PERFUSE, data)
    need(seen["first"] > 60 and 1.5 < seen["first"] / max(seen["second"], 1) < 2.7, "samples are %s" % seen.most_common(4))
    unknown = seen["[unknown]"]
    need(unknown * 50 < sum(seen.values()), "%d of %d have no name" % (unknown, sum(seen.values())))


def test_inject_agrees(c):
    """names from the dump are those of perf after its inject --jit, with the same counts"""
    data, perf = c.compiled(), need_reference()
    need(c.run(perf, "inject", "--jit", "-i", data, "-o", "perf-injected").returncode == 0, "perf inject fails")
    for fields in ("ip,sym", "ip,sym,symoff", "ip,sym,insn"):
        ours = c.run(PERFUSE, "script", "-i", data, "-F", fields).stdout
        theirs = c.run(perf, "script", "-i", "perf-injected", "-F", fields).stdout
        need(ours == theirs, "script -F %s differs" % fields)
    shown = [c.run(program, "report", "-i", name, "--stdio", "-g", "none", "--no-children", "-F", "sample,sym").stdout
             for program, name in ((PERFUSE, data), (perf, "perf-injected"))]
    rows = [sorted(line.rstrip() for line in text.splitlines() if line and line[0] != "#") for text in shown]
    need(rows[0] == rows[1] and len(rows[0]) > 1, "report differs")


def test_frames(c):
    """stacks continue through code whose dump has call frame information, as with perf after its inject --jit"""
    if platform.machine() != "x86_64":
        raise Skip("the small compiler writes call frame information for x86-64 only")
    c.record("frames.data", "-k", "mono", "-e", "cpu-clock:u", "--call-graph", "dwarf,4096", "--", "./compiler", "frames", "150")
    ours = stacks(c, PERFUSE, "frames.data")
    inside = [stack for stack in ours if stack[0] in ("first", "second")]
    through = [stack for stack in inside if "main" in stack and stack[-1] == "_start"]
    need(len(inside) > 60 and len(through) == len(inside), "%d of %d stacks go on to _start: %s" % (
        len(through), len(inside), next((stack for stack in inside if stack not in through), inside[:1])))
    perf = need_reference()
    need(c.run(perf, "inject", "--jit", "-i", "frames.data", "-o", "frames-injected").returncode == 0, "perf inject fails")
    theirs = stacks(c, perf, "frames-injected")
    # perf does not find them where the code was moved
    need(len(ours) == len(theirs) and all(its == own[:len(its)] for own, its in zip(ours, theirs)), "perf's are others")
    need(sum("first" in own and own == its for own, its in zip(ours, theirs)) > 30, "perf's all end there")


def test_frames_recorded(c):
    """stacks that the recorder unwinds continue through compiled code by the dump so far; the reader unwinds those through later code"""
    if platform.machine() != "x86_64":
        raise Skip("the small compiler writes call frame information for x86-64 only")
    others = set(glob.glob(os.path.join(c.work, "jit-*.dump")))
    for kind in "frames", "late":
        for clock in ("-k", "mono"), ():
            data = "recorded-%s.data" % kind
            printed = c.run(PERFUSE, "record", "-o", data, "-F", "2000", *clock, "-e", "cpu-clock:u", "--call-graph", "unwind,4096", "--",
                         "./compiler", kind, "150").stderr
            copied = re.search(r"(\d+) .*by the dumps of just-in-time compilers", printed)
            need(bool(copied) or kind == "frames", "late: record says %r" % printed)
            found = stacks(c, PERFUSE, data)
            inside = [stack for stack in found if stack[0] in ("first", "second")]
            through = [stack for stack in inside if "main" in stack and stack[-1] == "_start"]
            need(len(inside) > 60 and len(through) == len(inside), "%s %s: %d of %d stacks go on to _start: %s" % (
                kind, clock, len(through), len(inside), next((stack for stack in inside if stack not in through), inside[:1])))
            # a sample may precede the entry of its function by a moment
            need(kind == "late" or not copied or int(copied.group(1)) < len(inside) / 4, "most stacks are not unwound: %r" % printed)
    for dump in set(glob.glob(os.path.join(c.work, "jit-*.dump"))) - others:
        os.unlink(dump)
    kept = c.run(PERFUSE, "script", "-i", "recorded-frames.data", "--no-inline", "-F", "ip,sym").stdout.count("_start")
    need(kept > len(inside) / 2, "without the dump, %d of %d recorded stacks are whole" % (kept, len(inside)))
    printed = c.run(PERFUSE, "record", "-o", "shell.data", "-F", "2000", "-e", "cpu-clock:u", "--call-graph", "unwind,4096", "--", "sh", "-c",
                 "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").stderr
    need("Unwound" in printed and "dumps" not in printed, "record says %r" % printed)


def test_own_inject(c):
    """perf reads the output of our inject --jit like that of its own: names, mappings, and files except their build-ids"""
    data, perf = c.compiled(), need_reference()
    made = {}
    for program in (perf, PERFUSE):
        result = c.run(program, "inject", "--jit", "-i", data, "-o", "injected")
        need(result.returncode == 0, "inject fails: " + result.stderr[:200])
        text = c.run(perf, "script", "-i", "injected", "--show-mmap-events").stdout
        need("jitted-" in text, "no function was mapped")
        images = {}
        for path in sorted(glob.glob(os.path.join(c.work, "jitted-*.so"))):
            with open(path, "rb") as file:
                image = file.read()
            at = image.find(b"GNU\0") + 4
            text_size = int.from_bytes(image[64 + 32:64 + 40], "little")
            images[os.path.basename(path)] = image[128:128 + text_size]
            need(image[:4] == b"\x7fELF" and at > 4, "%s is no ELF file with a build-id" % path)
        made[program] = (re.sub(r" [0-9a-f]+:[0-9a-f]+ \d+ 1\]", "]", text), images)
    need(made[perf][0] == made[PERFUSE][0], "what perf script shows differs")
    need(made[perf][1] == made[PERFUSE][1] and made[perf][1], "code in the files differs")


def test_lines(c):
    """source lines of the dump are shown, and are in the files that inject --jit makes"""
    text = c.run(PERFUSE, "script", "-i", c.compiled(), "-G", "-F", "ip,sym,srcline").stdout
    for name, line in (("first", 10), ("second", 20)):
        need(re.search(r" %s\s+source.jit:%d\n" % (name, line), text), "%s is not at line %d: %s" % (name, line, text[:300]))
    need(c.run(PERFUSE, "inject", "-j", "-i", c.compiled(), "-o", "lines.injected").returncode == 0, "inject fails")
    text = c.run(PERFUSE, "script", "-i", "lines.injected", "-G", "-F", "ip,sym,srcline").stdout
    for name, line in (("first", 10), ("second", 20)):
        need(re.search(r" %s\s+source.jit:%d\n" % (name, line), text), "from the files, %s is not at line %d: %s" % (name, line, text[:300]))
    if not shutil.which("readelf"):
        raise Skip("readelf is not there (package binutils)")
    for path in glob.glob(os.path.join(c.work, "jitted-*-2.so")):
        text = c.run("readelf", "-w", "--debug-dump=decodedline", path).stdout
        need(re.search(r"source.jit\s+20\s+0x80\s", text), "line 20 at 0x80 is not in " + text[-300:])
        return
    raise Failure("no file was made")


def test_off(c):
    """with --no-jit, and without the dump, the output is perf's for the plain recording"""
    data, perf = c.compiled(), need_reference()
    folder = tempfile.mkdtemp(dir=c.work)
    for fields in (("-F", "ip,sym,dso"), ("-F", "comm,tid,ip,sym,symoff,dso")):
        theirs = c.run(perf, "script", "-i", data, *fields).stdout
        need(c.run(PERFUSE, "script", "-i", data, "--no-jit", *fields).stdout == theirs, "script --no-jit %s differs" % fields[1])
        theirs = c.run(perf, "script", "-i", data, "--symfs", folder, *fields).stdout
        need(c.run(PERFUSE, "script", "-i", data, "--symfs", folder, *fields).stdout == theirs, "script --symfs %s differs" % fields[1])


@by_samples
def test_clock(c):
    """without -k mono names are those at the end, with one warning; inject --jit is an error, as in perf"""
    data = c.compiled(clock=())
    result = c.run(PERFUSE, "script", "-i", data, "-G", "-F", "ip,sym")
    need(result.stderr.count("-k mono") == 1, "stderr is %r" % result.stderr)
    seen = names(result.stdout)
    need(seen["second"] > 1.4 * seen["first"] and seen["first"] > 20, "samples are %s" % seen.most_common(4))
    for program in (need_reference(), PERFUSE):
        result = c.run(program, "inject", "-j", "-i", data, "-o", "refused")
        own = "must be sampled with %s record -k 1" % os.path.basename(program)
        need(result.returncode == 255 and own in result.stderr, "%s: %d %s" % (
            program, result.returncode, result.stderr))


@by_samples
def test_live(c):
    """a stream that is read while the program runs has the names that the dump has at that time"""
    with process.start(PERFUSE, "record", "-k", "mono", "-F", "2000", "-e", "cpu-clock:u", "-o", "-", "--", "./compiler", "dump", "400",
                       cwd=c.work) as recorder:
        seen = names(c.run(PERFUSE, "script", "-i", "-", "-G", "-F", "ip,sym", stdin=recorder.stdout).stdout)
    need(seen["first"] > 60 and 1.5 < seen["first"] / max(seen["second"], 1) < 2.7, "samples are %s" % seen.most_common(4))


def test_perf_map(c):
    """names from a perf map are those that perf shows"""
    data, perf = c.compiled("map"), need_reference()
    ours, theirs = (script(c, program, data) for program in (PERFUSE, perf))
    need(ours == theirs and sum(ours.values()) > 60, "%s is not %s" % (ours.most_common(4), theirs.most_common(4)))
    need(ours["first"] or ours["second"], "no function has its name: %s" % ours.most_common(4))


def map_of(c, data):
    """The path of the perf map of the compiler of a recording."""
    tasks = c.run(PERFUSE, "script", "-i", data, "--show-task-events").stdout
    return "/tmp/perf-%s.map" % re.search(r"PERF_RECORD_COMM exec: compiler:(\d+)/", tasks).group(1)


@by_samples
def test_map_gone(c):
    """a perf map that is removed or replaced after the recording still names its code; perf reads the recording, inject retains the map"""
    c.record("gone.data", "-e", "cpu-clock:u", "--", "./compiler", "map", "150")
    path = map_of(c, "gone.data")
    before = script(c, PERFUSE, "gone.data")
    need(before["first"] > 30, "samples are %s" % before.most_common(4))
    os.unlink(path)
    need(script(c, PERFUSE, "gone.data") == before, "names are lost with the map")
    with open(path, "w") as file:
        file.write("0 ffffffffffffffff wrong\n")
    need(script(c, PERFUSE, "gone.data") == before, "names come from a later file")
    for options in (["-b"], ["--index"]):
        need(c.run(PERFUSE, "inject", *options, "-i", "gone.data", "-o", "again.data").returncode == 0, "inject %s fails" % options)
        need(script(c, PERFUSE, "again.data") == before, "inject %s drops the map" % options)
    need(c.run(need_reference(), "script", "-i", "gone.data", "-F", "ip,sym").stdout.count("wrong") > 30, "perf does not read the recording")
    os.unlink(path)


@by_samples
def test_map_without_build_ids(c):
    """a perf map is stored with a recording of a command without build-ids (-B), and of a process that ran before"""
    c.record("without.data", "-B", "-e", "cpu-clock:u", "--", "./compiler", "map", "150")
    os.unlink(map_of(c, "without.data"))
    need(script(c, PERFUSE, "without.data")["first"] > 30, "the command: %s" % script(c, PERFUSE, "without.data").most_common(4))
    done = c.run(need_reference(), "inject", "-i", "without.data", "-o", "by-perf.data")
    need(done.returncode == 0, "perf's inject gives %d: %s" % (done.returncode, done.stderr))
    running = process.start("./compiler", "map", "400", cwd=c.work)
    path = "/tmp/perf-%d.map" % running.pid
    process.wait_until(lambda: os.path.exists(path), "perf map")
    c.record("before.data", "-B", "-e", "cpu-clock:u", "-p", str(running.pid))
    running.wait()
    os.unlink(path)
    need(script(c, PERFUSE, "before.data")["first"] > 30, "the process: %s" % script(c, PERFUSE, "before.data").most_common(4))


@by_samples
def test_map_in_each_file(c):
    """each file of record --switch-output has the perf map: the functions until its end"""
    folder = os.path.join(c.work, "switched")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    c.record("switched/part", "--switch-output=1s", "-e", "cpu-clock:u", "--", "./compiler", "map", "800")
    files = sorted(os.listdir(folder))
    os.unlink(map_of(c, "switched/" + files[0]))
    need(len(files) > 2, "the files are %s" % files)
    for file in files[:2]: # the code that runs at the end has no line
        names = script(c, PERFUSE, "switched/" + file)
        need(names["first"] + names["second"] > 30, "%s: %s" % (file, names.most_common(4)))
    for file in files:
        with open(os.path.join(folder, file), "rb") as opened:
            data = opened.read()
        need(data.count(b" first\n") == 1 and data.count(b" second\n") <= 1, "%s has no map, or two" % file)
    need(b" second\n" in data, "the last file has the map of the beginning")


def test_map_of_others(c):
    """a link or a file of another user at the path of a process's perf map is not stored with the recording"""
    secret = os.path.join(c.work, "secret")
    with open(secret, "w") as file:
        file.write("SECRET\n")
    code = "import mmap, os, sys, time\npath = '/tmp/perf-%d.map' % os.getpid()\n" \
           "if os.path.lexists(path): os.unlink(path) # of an earlier process\n" \
           "os.symlink(sys.argv[1], path) if sys.argv[2] == 'link' else os.link(sys.argv[1], path)\n" \
           "m = mmap.mmap(-1, 4096, prot=7)\nt = time.time()\nwhile time.time() < t + 0.3: pass\nos.unlink(path)"
    for kind in ("link", "name"):
        c.record("other.data", "-e", "cpu-clock:u", "--", sys.executable, "-S", "-c", code, secret, kind)
        with open(os.path.join(c.work, "other.data"), "rb") as file:
            need(b"SECRET" not in file.read(), "%s: a foreign file is in the recording" % kind)


@by_samples
def test_both(c):
    """names of a dump precede those of a perf map"""
    seen = script(c, PERFUSE, c.compiled("both"))
    need(seen["first"] > 60 and 1.5 < seen["first"] / max(seen["second"], 1) < 2.7, "samples are %s" % seen.most_common(4))


def test_hostile(c):
    """a link, a FIFO, a folder or another user's file at the dump's path is not read, and does not block; nothing is written through links"""
    data = "hostile.data"
    c.record(data, "-k", "mono", "-e", "cpu-clock:u", "--", "./compiler", "dump", "100")
    marker = re.search(r"\S+/jit-\d+\.dump", c.run(PERFUSE, "script", "-i", data, "--show-mmap-events").stdout).group(0)
    need(script(c, PERFUSE, data)["first"] > 20, "the dump is not read at all")
    os.rename(marker, marker + ".kept")

    def check(what, force=False):
        options = ("-f",) if force else ()
        seen = names(c.run(PERFUSE, "script", "-i", data, "-G", "-F", "ip,sym", *options, seconds=20).stdout)
        need(not seen["first"], what + " was read")
        result = c.run(PERFUSE, "inject", "-j", "-i", data, "-o", "hostile.out", *options, seconds=20)
        need(result.returncode == 255, "inject of %s gives %d" % (what, result.returncode))
        need(not os.path.exists(os.path.join(c.work, "hostile.out")), "inject of %s leaves a file" % what)

    os.symlink(marker + ".kept", marker)
    check("a link", force=True)
    os.unlink(marker)
    os.mkfifo(marker)
    check("a FIFO", force=True)
    os.unlink(marker)
    os.mkdir(marker)
    check("a folder", force=True)
    os.rmdir(marker)
    shutil.copy(marker + ".kept", marker)
    if os.geteuid() == 0:
        os.chown(marker, 12345, 12345)
        check("another user's file")
        need(script(c, PERFUSE, data, "-f")["first"] > 20, "with -f it is not read")
        os.chown(marker, 0, 0)
    victim = os.path.join(c.work, "victim")
    with open(victim, "w") as file:
        file.write("untouched")
    pid = re.search(r"jit-(\d+)", marker).group(1)
    for index in (1, 2):
        link = os.path.join(c.work, "jitted-%s-%d.so" % (pid, index))
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(victim, link)
    need(c.run(PERFUSE, "inject", "-j", "-i", data, "-o", "hostile.out").returncode == 0, "inject fails")
    with open(victim) as file:
        need(file.read() == "untouched", "a link was written through")


def test_cut(c):
    """a dump that is cut or damaged anywhere gives the names of its whole records, without a crash"""
    data = "cut.data"
    c.record(data, "-k", "mono", "-e", "cpu-clock:u", "--", "./compiler", "dump", "40")
    marker = re.search(r"\S+/jit-\d+\.dump", c.run(PERFUSE, "script", "-i", data, "--show-mmap-events").stdout).group(0)
    with open(marker, "rb") as file:
        whole = file.read()
    for size in list(range(0, len(whole), max(1, len(whole) // 23))):
        with open(marker, "wb") as file:
            file.write(whole[:size])
        need(c.run(PERFUSE, "script", "-i", data).returncode == 0, "script fails where %d bytes are left" % size)
    for at in range(0, len(whole), max(1, len(whole) // 37)):
        with open(marker, "wb") as file:
            file.write(whole[:at] + b"\xff" * 8 + whole[at + 8:])
        need(c.run(PERFUSE, "script", "-i", data).returncode == 0, "script fails with nonsense at %d" % at)
        need(c.run(PERFUSE, "inject", "-j", "-i", data, "-o", "cut.out").returncode in (0, 255), "inject fails with nonsense at %d" % at)


def test_node(c):
    """node --perf-prof: the same functions with the same counts as perf shows after its inject --jit"""
    node, perf = shutil.which("node"), need_reference()
    if not node:
        raise Skip("node is not there (package nodejs)")
    with open(os.path.join(c.work, "x.js"), "w") as file:
        file.write("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
                   "function mix(a) { let s = 0; for (let i = 0; i < a.length; i++) s = (s * 31 + a[i]) | 0; return s; }\n"
                   "const a = Array.from({ length: 5000 }, (_, i) => i % 13);\n"
                   "for (let r = 0, t = Date.now(); Date.now() - t < 400;) { r += fib(18); r += mix(a); }\n")
    c.record("node.data", "-k", "mono", "-e", "cpu-clock", "-g", "--", node, "--perf-prof", "x.js")
    need(c.run(perf, "inject", "--jit", "-i", "node.data", "-o", "node.injected").returncode == 0, "perf inject fails")
    ours = c.run(PERFUSE, "script", "-i", "node.data", "-F", "ip,sym").stdout
    need(ours == c.run(perf, "script", "-i", "node.injected", "-F", "ip,sym").stdout, "script differs")
    need(re.search(r"\bfib\b.*x\.js", ours), "fib has no name")
    folded = c.run(PERFUSE, "flamegraph", "-i", "node.data", "--folded", "-o", "-").stdout
    need(re.search(r"\bfib\b.*x\.js", folded), "fib is not in the flame graph")


def test_node_map(c):
    """node --perf-basic-prof: the names of the perf map, as in perf"""
    node, perf = shutil.which("node"), need_reference()
    if not node:
        raise Skip("node is not there (package nodejs)")
    with open(os.path.join(c.work, "y.js"), "w") as file:
        file.write("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nfor (let t = Date.now(); Date.now() - t < 300;) fib(18);\n")
    c.record("map.data", "-e", "cpu-clock", "-g", "--", node, "--perf-basic-prof", "y.js")
    ours = c.run(PERFUSE, "script", "-i", "map.data", "-F", "ip,sym,dso").stdout
    need(ours == c.run(perf, "script", "-i", "map.data", "-F", "ip,sym,dso").stdout and "fib" in ours, "script differs")


@by_samples
def test_namespaces(c):
    """dumps and perf maps are found in the /tmp of a running process's mount namespace, under its pid there"""
    if os.geteuid() != 0 or c.run("unshare", "--mount", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "none", "/tmp").returncode:
        raise Skip("no namespaces can be made here (not root?)")
    with tempfile.TemporaryDirectory(prefix="perfuse-jit-", dir="/var/tmp") as beside:
        shutil.copy(os.path.join(c.work, "compiler"), os.path.join(beside, "inside"))
        for kind in ("dump", "map"):
            inside = "mount -t tmpfs none /tmp && mkdir /tmp/w && cd /tmp/w && exec %s/inside %s 500" % (beside, kind)
            with process.start("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", inside, stdout=None) as child:
                c.record("inside.data", "-k", "mono", "-a", "-e", "cpu-clock:u", "--", "sleep", "1")
                need(child.poll() is None, "the compiler has ended too early")
                seen = script(c, PERFUSE, "inside.data", "--comm", "inside")
                need(seen["first"] > 20, "%s: samples are %s" % (kind, seen.most_common(4)))
                child.wait()
                later = script(c, PERFUSE, "inside.data", "--comm", "inside")
                need(kind == "dump" or later == seen, "names are lost with the namespace: %s" % later.most_common(4))


def inject_pair(c, data, options):
    """What perf prints for both outputs of inject: (command, perf's, ours)."""
    for program, output in ((need_reference(), "inject.perf"), (PERFUSE, "inject.ours")):
        result = c.run(program, "inject", *options, "-i", data, "-o", output)
        need(result.returncode == 0, "%s inject %s gives %d: %s" % (program, " ".join(options), result.returncode, result.stderr[:200]))
    for command in (("script", "--show-mmap-events", "--show-task-events"), ("report", "--stdio", "-s", "comm,dso,sym"), ("buildid-list",),
                    ("evlist", "-v"), ("report", "--header-only")):
        texts = [c.run(need_reference(), *command, "-i", output).stdout for output in ("inject.perf", "inject.ours")]
        yield " ".join(command), *("\n".join(line for line in text.splitlines() if not re.match(
            r"# \(Tip|# captured on|# cmdline|# data offset|# data size|# feat offset", line)) for text in texts)


MODES = ((), ("-b",), ("-B",), ("--buildid-all",), ("--mmap2-buildid-all",), ("-s",), ("-j",), ("-b", "--buildid-all"))


def plain(c):
    """A recording without code of a compiler; made once."""
    if not os.path.exists(os.path.join(c.work, "plain.data")):
        c.record("plain.data", "-k", "mono", "-e", "cpu-clock", "-g", "--", "sh", "-c", "ls -R /usr/share/doc >/dev/null; true")
    return "plain.data"


def test_inject(c):
    """perf prints the same for the output of both injects, in each mode"""
    data = plain(c)
    wrong = []
    for options in MODES:
        for command, theirs, ours in inject_pair(c, data, options):
            if theirs != ours:
                wrong.append("%s after inject %s: %s" % (command, " ".join(options), sorted(set(theirs.split("\n")) ^ set(ours.split("\n")))[:3]))
    need(not wrong, "; ".join(wrong))


def test_known_build_ids(c):
    """build-ids given by the user are those of the new recording, as with perf"""
    data, path = "known.data", os.path.realpath(shutil.which("sh"))
    c.record(data, "-e", "cpu-clock:u", "--", path, "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
    given = "%s %s" % ("0123456789abcdef" * 2 + "01234567", path)
    for command, theirs, ours in inject_pair(c, data, ("-b", "--known-build-ids", given)):
        need(theirs == ours, command + " differs")
        need(command != "buildid-list" or "0123456789abcdef" in ours, "the id is not listed: " + ours)


def test_streams(c):
    """inject reads and writes streams: the records of one are perf's, and a file made of one has its header"""
    perf = need_reference()
    data = plain(c)
    with open(os.path.join(c.work, "stream.data"), "wb") as out:
        c.run(PERFUSE, "record", "-e", "cpu-clock", "-g", "-o", "-", "--", "sh", "-c", "ls -R /usr/share/doc >/dev/null; true", stdout=out)
    for options in ((), ("-b",), ("--buildid-all",)):
        shown = []
        for program in (perf, PERFUSE):
            with open(os.path.join(c.work, "stream.data"), "rb") as stream, open(os.path.join(c.work, "out.data"), "wb") as out:
                done = c.run(program, "inject", *options, stdin=stream, stdout=out)
            need(done.returncode == 0, "inject of a stream gives %d" % done.returncode)
            with open(os.path.join(c.work, "out.data")) as stream:
                shown.append(c.run(perf, "script", "-i", "-", stdin=stream).stdout)
        need(shown[0] == shown[1] and shown[0], "script of the stream differs after inject %s" % " ".join(options))
    need(c.run(PERFUSE, "inject", "-i", "stream.data", "-o", "file.data").returncode == 0, "a stream does not become a file")
    need("# hostname :" in c.run(perf, "report", "--header-only", "-i", "file.data").stdout, "the file has no header")
    whole, direct = (c.run(perf, "script", "-i", name).stdout for name in ("stream.data", "file.data"))
    need(whole == direct, "script of the file differs")
    for options in ((), ("-b",)):
        shown = []
        for program in (perf, PERFUSE):
            with open(os.path.join(c.work, "out.data"), "wb") as out:
                c.run(program, "inject", *options, "-i", data, stdout=out)
            with open(os.path.join(c.work, "out.data")) as stream:
                shown.append(c.run(perf, "script", "-i", "-", stdin=stream).stdout)
        need(shown[0] == shown[1] and shown[0], "script of a file become stream differs")


def test_compressed(c):
    """a compressed recording is written uncompressed, with the same samples"""
    result = c.run(PERFUSE, "record", "-o", "zipped.data", "-z", "-e", "cpu-clock:u", "--", "./compiler", "map", "60")
    if result.returncode != 0:
        raise Skip("compression is not there")
    need(c.run(PERFUSE, "inject", "-b", "-i", "zipped.data", "-o", "unzipped.data").returncode == 0, "inject fails")
    perf = need_reference()
    texts = [c.run(perf, "script", "-i", name).stdout for name in ("zipped.data", "unzipped.data")]
    need(texts[0] == texts[1] and texts[0], "script differs")


@by_samples
def test_sched_stat(c):
    """--sched-stat: as many events, with the same stacks and times, as perf's"""
    events = "sched:sched_switch,sched:sched_process_exit,sched:sched_stat_*"
    result = c.run(need_reference(), "record", "-q", "-o", "sched.data", "-g", "-e", events, "-a", "--", "sleep", "0.2")
    if result.returncode != 0:
        raise Skip("this user may not open these tracepoints")
    for command, theirs, ours in inject_pair(c, "sched.data", ("-s",)):
        if command.startswith("script"):
            # perf writes over the first bytes of each switch's own data
            theirs, ours = (re.sub(r"(sched_switch:).*", r"\1", text) for text in (theirs, ours))
        need(theirs == ours, command + " differs")


def test_errors(c):
    """exit codes of errors are perf's, 129 and 255; an inject that fails leaves the existing file unchanged"""
    for line in (("inject", "word"), ("inject", "--nonsense"), ("inject", "--strip", "-i", "plain.data"), ("inject", "-i", "nothing")):
        codes = [c.run(program, *line).returncode for program in (need_reference(), PERFUSE)]
        need(codes[0] == codes[1], "%s gives %d, perf %d" % (" ".join(line), codes[1], codes[0]))
    with open(os.path.join(c.work, "precious"), "w") as file:
        file.write("kept")
    data = c.compiled(clock=())
    need(c.run(PERFUSE, "inject", "-j", "-i", data, "-o", "precious").returncode == 255, "inject succeeds")
    with open(os.path.join(c.work, "precious")) as file:
        need(file.read() == "kept", "the older file is gone")


def prepare(work):
    process.must("cc", "-O1", "-g", "-o", "compiler", os.path.join(TEST, "jit", "compiler.c"), cwd=work)
    need_recording(work)
    return Context(work)


if __name__ == "__main__":
    sys.exit(run_in_folder("JIT-compiled code", prepare, globals()))
