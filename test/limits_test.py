#!/usr/bin/env python3
"""Files that cost memory and time, or change while they are read. Each test has a limit of memory; time is
judged as growth: four times the size may take about four times as long."""
import math
import os
import resource
import shutil
import struct
import sys
import threading
import time
import zlib
from golden import recordings
from limits import make
from limits.make import comm, fork, mmap2, sample

from suite import elf, process, recording, zstd
from suite.elf import CODE, Elf
from suite.process import NOBODY, environment
from suite.recording import KERNEL
from suite.settings import PERFUSE, SANITIZED
from suite.tests import Skip, need, run_in_folder

SECONDS_MAX = 60
RACE_SECONDS = 4
CRASHES = (-4, -6, -7, -8, -11, 132, 134, 135, 136, 139)


class Result:
    def __init__(self, code, usage, out, err):
        self.code, self.out, self.err = code, out, err
        self.seconds = usage.ru_utime + usage.ru_stime
        self.bytes = usage.ru_maxrss << 10


class Context:
    def __init__(self, work):
        self.work = work
        self.made = 0

    def path(self, name):
        return os.path.join(self.work, name)

    def run(self, *words, memory=None, out=None, group=None):
        """memory: the limit of the address space. group: the control group in which it runs."""
        def limit():
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            if group:
                with open(os.path.join(group, "cgroup.procs"), "w") as members:
                    members.write(str(os.getpid()))
        with open(self.path("out"), "wb") as stdout, open(self.path("err"), "wb") as stderr:
            child = process.start(PERFUSE, *words, stdout=out or stdout, stderr=stderr, cwd=self.work,
                                  env=environment(self.work, TMPDIR=self.work), before=limit)
            timer = threading.Timer(SECONDS_MAX * (5 if SANITIZED else 1), child.kill)
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        with open(self.path("err"), errors="replace") as stderr:
            err = stderr.read()
        need(child.returncode not in CRASHES and "Sanitizer" not in err, "%s ended with %d: %s" % (words[0], child.returncode, err[-500:]))
        need(child.returncode != -9, "%s is killed: it takes all memory of its group, or more than %d seconds" % (words[0], SECONDS_MAX))
        return Result(child.returncode, usage, self.path("out"), err)

    def next_path(self):
        """Of a recording; the last two remain."""
        self.made += 1
        return self.path("perf%d.data" % (self.made % 2))

    def recording(self, *arguments, writes=make.recorded, **more):
        path = self.next_path()
        writes(path, *arguments, **more)
        return path

    def growth(self, records, count, *commands, bytes_each, writes=make.recorded, **features):
        """Runs the commands on recordings of count and of four times as many; bytes_each: memory that one more may take."""
        paths = [self.recording(records(n), writes=writes, **{key: value(n) for key, value in features.items()}) for n in (count, 4 * count)]
        for command in commands:
            seconds, more = math.inf, math.inf
            for _ in range(3):  # CPU time has noise: the least of up to three runs
                small, large = (self.run(*command, "-i", path) for path in paths)
                seconds, more = min(seconds, small.seconds), min(more, large.seconds)
                if more < 9 * seconds + 0.1:
                    break
            need(more < 9 * seconds + 0.1, "%s: %d take %.2f s, four times as many %.2f s" % (command[0], count, seconds, more))
            each = (large.bytes - small.bytes) / (3 * count)
            need(SANITIZED or each < bytes_each, "%s: one more takes %d bytes" % (command[0], each))


REPORT, SCRIPT, FLAMEGRAPH = ("report", "--stdio"), ("script",), ("flamegraph", "-o", "/dev/null")


def in_rounds(shape, count):
    """The records of a shape, as a recorder writes them: what was read is no longer needed."""
    return [record for i in range(count) for record in shape(i) + ([] if i % 4096 else [make.finished_round()])]


def recorded_apart(c, records, **more):
    """Makes a recording in another process: what this one takes counts for its children until they run another program."""
    path = c.next_path()
    child = os.fork()
    if not child:
        make.recorded(path, records(), **more)
        os._exit(0)
    need(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the recording is not made")
    return path


def limited(c, name, path, command, limit):
    """Checks that the command's memory is the limit and what the program itself takes, parts of files that it reads included."""
    done = c.run(*command, "--memory", "%dM" % limit, "-i", path)
    need(done.code == 0, "%s of %s: exit code %d: %s" % (command[0], name, done.code, done.err[-300:]))
    need(done.bytes < (limit + 20) << 20, "%s of %s takes %d MiB" % (command[0], name, done.bytes >> 20))
    need(done.err.count("samples are left out: memory reached its limit of %d MiB" % limit) < 2, done.err[-500:])
    return done


def test_memory_limit(c):
    """with --memory, recordings of many threads, mappings, names or stacks are read as far as memory reaches, and one sentence says so"""
    if SANITIZED:
        raise Skip("the sanitizers' allocator does not tell what is in use")
    count, limit = 150000, 32
    report = REPORT + ("-s", "comm,dso,sym")
    shapes = {
        "threads": lambda i: [fork(100 + i, 100 + i // 2, i + 1), sample(100 + i, 0x1000, i + 1)],
        "names": lambda i: [comm(7, "n%d" % i, i + 1), sample(7, 0x1000, i + 1)],
        "mappings": lambda i: [mmap2(7, 0x10000 * (i + 1), 0x1000, "/lib/%d" % i, time=i + 1), sample(7, 0x10000 * (i + 1), i + 1)],
        "places": lambda i: [sample(7, 0x1000 + 64 * i, i + 1), sample(7, 0x9000000 + 64 * i, i + 1)],
    }
    for name, shape in shapes.items():
        path = recorded_apart(c, lambda: in_rounds(shape, count))
        for command in (report, FLAMEGRAPH, SCRIPT):
            done = limited(c, name, path, command, limit)
            need(command != report or "samples are left out" in done.err, "report of %s: %s" % (name, done.err[-300:]))
    done = c.run(*REPORT, "--memory", "1M", "-i", path)
    need(done.code != 0 and "at least 16 MiB" in done.err, "a limit of 1 MiB is accepted")


def test_memory_limit_events(c):
    """with --memory, events of a file or a stream that do not fit are left out, and one sentence says so; very many are read in time"""
    if SANITIZED:
        raise Skip("the sanitizers' allocator does not tell what is in use")
    limit, count, fit = 32, 60000, (32 << 20) // 4 // (2048 + 64)
    path = recorded_apart(c, lambda: [sample(7, 0x1000, i + 1) for i in range(100)], events=count)
    for command in (REPORT, FLAMEGRAPH, SCRIPT):
        done = limited(c, "events", path, command, limit)
        need("%d events are left out, with 0 samples" % (count - fit) in done.err, "%s: %s" % (command[0], done.err[-300:]))
    with open(c.path("stream"), "wb") as stream:
        need(c.run("inject", "-i", path, "-o", "-", out=stream).code == 0, "inject fails")
    done = limited(c, "events of a stream", c.path("stream"), REPORT, limit)
    need("%d events are left out, with 0 samples" % (count - fit) in done.err, "stream: %s" % done.err[-300:])
    for recording in (path, c.path("stream")):
        done = c.run(*REPORT, "--memory", "1G", "-i", recording)
        need(done.code == 0 and "left out" not in done.err, "events are left out without need: %s" % done.err)


def test_memory_limit_chains(c):
    """with --memory, names with many places and deep stacks are read as far as memory reaches, and trees of call chains are left out"""
    if SANITIZED:
        raise Skip("the sanitizers' allocator does not tell what is in use")
    limit, null = 32, open(os.devnull, "wb")
    deep = lambda i, frames: make.chain_sample(7, [0x1000 + 16 * ((i * 104729 + k * 7919) % 60013) for k in range(frames)], i + 1)
    wide = lambda i: [comm(7, "n%d" % (i // 8), i + 1),
                      make.chain_sample(7, [0x1000 + 16 * ((i // 8 * 31 + k * (1 + i % 8)) % 4096) for k in range(40)], i + 1)]
    path = recorded_apart(c, lambda: in_rounds(wide, 20000), chains=True)
    for command in (REPORT, FLAMEGRAPH):
        done = limited(c, "names and places", path, command, limit)
        need(command != REPORT or "samples are left out" in done.err, "report leaves out nothing: %s" % done.err)
    path = recorded_apart(c, lambda: in_rounds(lambda i: [deep(i, 2000)], 600), chains=True)
    for command in (REPORT + ("--max-stack", "2000", "-g", "caller,5"), FLAMEGRAPH + ("--max-stack", "2000"), SCRIPT):
        done = limited(c, "deep stacks", path, command, limit)
        need(command == SCRIPT or "samples are left out" in done.err, "%s leaves out nothing: %s" % (command[0], done.err))
    path = recorded_apart(c, lambda: [deep(i, 1500) for i in range(12)], chains=True)
    done = c.run(*REPORT, "--max-stack", "2000", "--memory", "%dM" % limit, "-i", path, out=null)
    need(done.code == 0 and done.bytes < (limit + 20) << 20, "the trees of call chains take %d MiB" % (done.bytes >> 20))
    need("call chains of" in done.err and "--max-stack" in done.err, "no sentence: %s" % done.err)
    null.close()


def test_memory_limit_inject(c):
    """with --memory before the command, inject writes the rest unchanged or says why it cannot, and buildid-list reads as far as memory reaches"""
    if SANITIZED:
        raise Skip("the sanitizers' allocator does not tell what is in use")
    limit, count = 32, 200000
    shape = lambda i: [fork(100 + i, 1, i + 1), comm(100 + i, "n%d" % i, i + 1), sample(100 + i, 0x1000, i + 1)]
    path, samples = recorded_apart(c, lambda: in_rounds(shape, count)), b" SAMPLE events: %10d" % count
    for words, code, sentence in ((("inject", "-b", "-o", "built"), 0, "records are written unchanged: memory reached its limit of 32 MiB"),
                                  (("inject", "-j", "-o", "built"), 0, "records are written unchanged: memory reached its limit of 32 MiB"),
                                  (("inject", "-s", "-o", "none"), 255, "memory reached its limit of 32 MiB after "),
                                  (("inject", "--compact", "-o", "none"), 255, "the recording cannot be compacted"),
                                  (("buildid-list",), 0, "samples are left out: memory reached its limit of 32 MiB")):
        done = c.run("--memory", "%dM" % limit, *words, "-i", path)
        need(done.code == code and done.err.count(sentence) == 1, "%s: exit code %d: %s" % (" ".join(words), done.code, done.err[-300:]))
        need("'perfuse --memory SIZE " in done.err, "%s does not say how the limit is raised: %s" % (" ".join(words), done.err))
        need(done.bytes < (limit + 24) << 20, "%s takes %d MiB" % (" ".join(words), done.bytes >> 20))
        if "built" not in words:
            continue
        with open(c.run("report", "--stats", "-i", "built").out, "rb") as out:
            need(samples in out.read(), "%s does not write all samples" % " ".join(words))
    need(not os.path.exists(c.path("none")), "an incomplete recording remains")


def children(count):
    """Threads that map 8 files and end; one of 50 is sampled."""
    for i in range(count):
        tid, at = 100 + i, 20 * i + 1
        yield fork(tid, 7, at)
        yield comm(tid, "child%d" % (i % 100), at + 1)
        for j in range(8):
            yield mmap2(tid, 0x100000 * (j + 1), 0x1000, "/usr/lib/lib%d.so" % j, time=at + 2)
        if i % 50 == 0:
            yield sample(tid, 0x100010, at + 3)
        yield make.leave(tid, at + 4)
        if i % 1000 == 999:
            yield make.finished_round()


def test_compact_memory(c):
    """inject --compact takes memory for the threads that live, not for those that have ended, and drops those without samples"""
    if SANITIZED:
        raise Skip("the sanitizers' allocator does not tell what is in use")
    taken = []
    for count in (24000, 72000):
        path = recorded_apart(c, lambda n=count: list(children(n)))
        done = c.run("inject", "--compact", "-i", path, "-o", "small")
        need(done.code == 0, done.err)
        taken.append(done.bytes)
        need(os.path.getsize(c.path("small")) * 20 < os.path.getsize(path), "the recording is not much smaller")
    texts = [open(c.run("script", "-F", "comm,tid,ip,dso", "-i", recording).out, "rb").read() for recording in (path, "small")]
    need(texts[0].count(b"\n") == 72000 // 50 and texts[0] == texts[1], "script differs")
    need(taken[1] < taken[0] + (8 << 20), "three times the threads take %d MiB instead of %d" % (taken[1] >> 20, taken[0] >> 20))


def switches(count):
    """A chain of threads, each of which runs once."""
    for i in range(count):
        before, after = 1000 + i, 1001 + i
        yield ("sched_switch", before, 0, 1000 * (i + 1), b"p%-15d" % before + struct.pack("<iiq", before, 120, 1) + b"p%-15d" % after +
               struct.pack("<ii", after, 120))


def contentions(count):
    for i in range(count):
        yield "contention_begin", 1000 + i, 0, 1000 * i + 1, struct.pack("<QI", 0xffff888000000000 + 64 * i, 1)
        yield "contention_end", 1000 + i, 0, 1000 * i + 500, struct.pack("<Qi", 0xffff888000000000 + 64 * i, 0)


def test_memory_limit_tasks(c):
    """with --memory before the command, sched, timechart and lock read as far as memory reaches; replay starts no more threads than fit"""
    if SANITIZED:
        raise Skip("the sanitizers' allocator does not tell what is in use")
    limit, count = 32, 150000
    for system, events, commands in (("sched", switches, (("sched", "latency"), ("sched", "timehist", "-s"), ("sched", "map"), ("timechart", "-o", "/dev/null"))),
                                     ("lock", contentions, (("lock", "contention"), ("lock", "contention", "-l"), ("lock", "contention", "-t")))):
        child = os.fork()
        if not child:
            recordings.write_points(c.work, system + ".data", system, events(count))
            os._exit(0)
        need(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the recording is not made")
        for command in commands:
            done = c.run("--memory", "%dM" % limit, *command, "-i", system + ".data")
            need(done.code == 0 and done.bytes < (limit + 24) << 20,
                 "%s: exit code %d, %d MiB: %s" % (" ".join(command), done.code, done.bytes >> 20, done.err[-300:]))
            need(done.err.count("samples are left out: memory reached its limit of 32 MiB") == 1, "%s: %s" % (" ".join(command), done.err[-300:]))
    done = c.run("--memory", "%dM" % limit, "sched", "replay", "-r", "1", "-i", "sched.data")
    need(done.code == 255 and "threads need about" in done.err, "replay: exit code %d: %s" % (done.code, done.err[-300:]))


def test_memory_limit_rounds(c):
    """with --memory, a large recording without FINISHED_ROUND takes no more memory, and the part behind the limit takes none"""
    if SANITIZED:
        raise Skip("the sanitizers' allocator does not tell what is in use")
    rings, count, frames, limit = 4, 24000, 400, 32
    chain = lambda i: [0x1000 + 16 * ((i * 7919 + k * 104729) % 1000003) for k in range(frames)]
    path = recorded_apart(c, lambda: (make.chain_sample(7, chain(i), rings * i + ring + 1) for ring in range(rings)
                                      for i in range(count // rings)), chains=True)
    need(os.path.getsize(path) > (limit + 40) << 20, "the recording is too small to show anything")
    for command in (REPORT + ("--max-stack", "400"), FLAMEGRAPH + ("--max-stack", "400")):
        done = limited(c, "a recording without rounds", path, command, limit)
        need("samples are left out" in done.err, "%s leaves out nothing: %s" % (command[0], done.err[-300:]))


def test_address_space(c):
    """in a limited address space a large recording leaves less for its analysis: samples are left out, no command runs out of memory"""
    if SANITIZED:
        raise Skip("the sanitizers need more address space than this limit")
    shape = lambda i: [fork(100 + i, 7, i + 1), comm(100 + i, "p%d" % i, i + 1), sample(100 + i, 0x1000 + 16 * (i % 4096), i + 1)] + \
        [make.mmap2(100 + i, 0x10000 * (k + 1), 0x8000, "/lib/%d" % k, time=i + 1) for k in range(6)]
    path = recorded_apart(c, lambda: in_rounds(shape, 150000))
    size = os.path.getsize(path)
    need(size > 80 << 20, "the recording is too small to show anything")
    # 130: glibc's reservations for threads that allocate at the same time, of 64 MiB each, do not fit
    for command, more in ((REPORT, 160), (FLAMEGRAPH, 160), (SCRIPT, 160), *[(FLAMEGRAPH, 130)] * 5):
        done = c.run(*command, "-i", path, memory=size + (more << 20))
        need(done.code == 0, "%s: exit code %d: %s" % (command[0], done.code, done.err[-300:]))
        need("samples are left out" in done.err, "%s leaves out nothing: %s" % (command[0], done.err[-300:]))


def make_group(size):
    """A control group with so many bytes of memory."""
    for above, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = os.path.join(above, "perfuse-limits-%d" % os.getpid())
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            with open(os.path.join(group, limit), "r+") as out:
                out.write(str(size))
            return group
        except OSError:
            os.rmdir(group)
    raise Skip("there is no group for control of memory in which this user may make one")


def test_control_group(c):
    """in a control group of 64 MB no recording gets a command killed: neither many events, nor processes, nor deep stacks; a sentence says so"""
    if SANITIZED:
        raise Skip("the sanitizers need more memory than this group has")
    group = make_group(64 << 20)
    left_out = "left out: memory reached its limit of 32 MiB"
    try:
        path = recorded_apart(c, lambda: [sample(7, 0x1000, i + 1) for i in range(100)], events=200000)
        for command in (REPORT, ("evlist",), ("buildid-list",), ("stat", "report"), ("report", "--stats")):
            done = c.run(*command, "-i", path, group=group)
            need("events are left out" in done.err, "%s: %s" % (command, done.err[-300:]))
        done = c.run("inject", "-i", path, "-o", c.path("injected"), group=group)
        need(done.code != 0 and "events do not fit" in done.err and "--memory SIZE inject" in done.err, "inject: %s" % done.err[-300:])
        shapes = {
            "processes": (100000, lambda i: [fork(100 + i, 7, i + 1), comm(100 + i, "p%d" % i, i + 1), sample(100 + i, 0x1000, i + 1)]),
            "stacks": (600, lambda i: [make.chain_sample(7, [0x1000 + 16 * ((i * 104729 + k * 7919) % 1000003) for k in range(8000)], i + 1)]),
        }
        for name, (count, shape) in shapes.items():
            path = recorded_apart(c, lambda: in_rounds(shape, count), chains=name == "stacks")
            for command in (REPORT + ("-g", "none", "--max-stack", "8000"), SCRIPT, FLAMEGRAPH + ("--max-stack", "8000"), ("buildid-list",),
                            ("inject", "-b", "-o", c.path("injected"))):
                done = c.run(*command, "-i", path, group=group)
                need(done.code == 0, "%s of %s: exit code %d: %s" % (command[0], name, done.code, done.err[-300:]))
                need(command[0] not in ("report", "flamegraph") or left_out in done.err.replace("samples are ", ""),
                     "%s of %s leaves out nothing: %s" % (command[0], name, done.err[-300:]))
    finally:
        os.rmdir(group)


def test_inodes(c):
    """one path with very many inodes takes time and memory in proportion"""
    c.growth(lambda n: [mmap2(10, CODE + i * 4096, 4096, "/none", i + 1, i % 5) for i in range(n)] + [sample(10, CODE)], 20000, REPORT, SCRIPT,
             bytes_each=4096)


def test_kernel_modules(c):
    """30,000 kernel modules with build-ids take time and memory in proportion"""
    name = "/lib/modules/6.1/m%d.ko"
    c.growth(lambda n: [make.kernel_module(0xffffffffc0000000 + i * 4096, 4096, name % i) for i in range(n)] +
             [sample(10, 0xffffffffc0000010, misc=KERNEL)], 8000, REPORT, SCRIPT, bytes_each=4096,
             features=lambda n: [(recording.BUILD_ID, b"".join(make.build_id_row(name % i, b"\1\2", KERNEL) for i in range(n)))])


def test_modules_without_file(c):
    """a module without a file takes less than 6 KB in a flame graph"""
    c.growth(lambda n: [mmap2(10, CODE + i * 4096, 4096, "/none%d" % i, i + 1) for i in range(n)] +
             [sample(10, CODE + i * 4096) for i in range(n)], 20000, FLAMEGRAPH, REPORT, bytes_each=6000)


def test_fork_chain(c):
    """the tasks of a chain of 20,000 forks are printed in a few megabytes, those of an ordinary depth as in perf"""
    path = c.recording([fork(i + 2, i + 1) for i in range(20000)])
    result = c.run("report", "--tasks", "-i", path)
    need(os.path.getsize(result.out) < 20000 * 320, "%d bytes" % os.path.getsize(result.out))
    with open(result.out) as out:
        lines = out.read().splitlines()
    need(len(lines) > 20000, "%d lines" % len(lines))
    need(lines[102].split("|")[1] == " " * 101 + ":101", "line 102 is %r" % lines[102])


TRACE = ("script", "--itrace=bxpe")
TRACE_BEGINS = b"\x02\x82" * 8 + b"\x02\x23"


def test_trace_queues(c):
    """the number of queues of a hardware trace is bounded, as each has a decoder"""
    c.growth(lambda n: [make.trace_info()] + [make.trace_piece(i, 10, TRACE_BEGINS + b"\0" * 6) for i in range(n)], 20000, TRACE,
             bytes_each=1000, kind=lambda n: make.TRACE_KIND)


def test_trace_outside_of_file(c):
    """a trace that leads behind the end of a mapped file takes time and memory in proportion"""
    def records(n):
        jumps = b"".join(b"\xd1" + struct.pack("<Q", CODE + (256 << 20) + i) + b"\x06" for i in range(n))
        piece = TRACE_BEGINS + jumps
        return [make.trace_info(), comm(10, "c"), mmap2(10, CODE, 1 << 30, PERFUSE), make.trace_piece(0, 10, piece.ljust(-(-len(piece) // 8) * 8, b"\0"))]
    c.growth(records, 10000, TRACE, bytes_each=400, kind=lambda n: make.TRACE_KIND)


def test_trace_chains(c):
    """samples of a hardware trace with long call chains take bounded memory"""
    file = Elf()
    file.add(".text", b"\xe8\x01\0\0\0\xc3\x74\xf8".ljust(4096, b"\x90"), flags=6, address=CODE)  # call 1f; ret; 1: je to the call
    with open(c.path("calls"), "wb") as out:
        out.write(file.bytes())
    piece = TRACE_BEGINS + b"\xd1" + struct.pack("<Q", CODE) + b"\xfe" * 4096
    load = file.bytes().index(b"\xe8\x01\0\0\0\xc3")
    path = c.recording([make.trace_info(), comm(10, "c"), mmap2(10, CODE - load, 8192, c.path("calls")),
                        make.trace_piece(0, 10, piece.ljust(-(-len(piece) // 8) * 8, b"\0"))], kind=make.TRACE_KIND)
    result = c.run("script", "--itrace=i1ig", "-F", "ip", "-i", path)
    with open(result.out) as out:
        longest = max((len(block.split()) for block in out.read().split("\n\n")), default=0)
    need(longest > 4000, "the longest chain has %d addresses" % longest)
    need(SANITIZED or result.bytes < 600 << 20, "%d MB" % (result.bytes >> 20))


def test_comms(c):
    """a thread that changes its name a million times takes time and memory in proportion"""
    c.growth(lambda n: [comm(10, "c%d" % i, 1 + i) for i in range(n)] + [sample(10, CODE, 1 + i) for i in range(100)], 60000, REPORT, SCRIPT,
             bytes_each=500)


def test_namespaces(c):
    """very many namespaces take time and memory in proportion"""
    c.growth(lambda n: [make.namespaces(10) for i in range(n)] + [sample(10, CODE)], 60000, REPORT, bytes_each=1000)


def test_events(c):
    """100,000 events in the header take time and memory in proportion"""
    c.growth(lambda n: [sample(10, CODE)], 15000, REPORT, SCRIPT, ("evlist",), bytes_each=2000, events=lambda n: n)


def test_streamed_events(c):
    """a stream that describes another event before each record takes time and memory in proportion"""
    c.growth(lambda n: [record for i in range(n) for record in (make.event(i + 1), comm(10, "t"))] + [sample(10, CODE)], 15000, REPORT, SCRIPT,
             FLAMEGRAPH, ("annotate", "--stdio"), ("sched", "latency"), ("timechart", "-o", "/dev/null"), bytes_each=3000, writes=make.streamed)


def test_collisions(c):
    """samples at addresses that a table without a secret could not tell apart take time in proportion"""
    c.growth(lambda n: [sample(10, address) for address in make.alike(n)], 30000, REPORT, SCRIPT, FLAMEGRAPH, bytes_each=2000)


def test_build_ids(c):
    """very many build-ids of one file take time and memory in proportion"""
    c.growth(lambda n: [mmap2(10, CODE, 4096, "/none"), sample(10, CODE)], 50000, REPORT, ("buildid-list",), bytes_each=500,
             features=lambda n: [(recording.BUILD_ID, b"".join(make.build_id_row("/none", struct.pack("<I", i + 1)) for i in range(n)))])


def test_threads(c):
    """very many threads, and processes with separate mappings, take time and memory in proportion"""
    c.growth(lambda n: [comm(1, "t"), mmap2(1, CODE, 4096, "/none")] + [fork(i + 2, 1) for i in range(n)] +
             [mmap2(i + 2, CODE + 8192, 4096, "/none") for i in range(n)] + [sample(i + 2, CODE) for i in range(n)], 20000, REPORT, SCRIPT,
             ("report", "--mmaps"), bytes_each=4096)


def test_claims(c):
    """header features that claim 2^63 bytes, or hold impossible sizes, take no time or memory"""
    sizes = struct.pack("<I", 2 ** 31 - 1) * 3 + struct.pack("<Q", 2 ** 62) * 20
    for claims in (None, 2 ** 63, 2 ** 40, 2 ** 32 - 1):
        path = c.recording([sample(10, CODE)], features=[(bit, sizes) for bit in range(2, 31)], claims=claims)
        for command in (("report", "--stdio", "-I", "--header"), ("script", "--header"), ("evlist", "-v")):
            result = c.run(*command, "-i", path)
            need(SANITIZED or result.bytes < 200 << 20, "%s takes %d bytes" % (command[0], result.bytes))


def test_sparse_recording(c):
    """a sparse recording of a terabyte ends at its first hole, with a sentence"""
    path = c.recording([sample(10, CODE)], data_size=1 << 40)
    try:
        os.truncate(path, 1 << 40)
    except OSError:
        raise Skip("the file system has no files of a terabyte")
    for command in (REPORT, SCRIPT):
        result = c.run(*command, "-i", path)
        need(SANITIZED or result.bytes < 200 << 20, "%d bytes" % result.bytes)
        need("claims 0 bytes" in result.err, "stderr is %r" % result.err)


def test_mappings(c):
    """mappings whose history takes more than the budget are left out, which is reported once; earlier mappings and all samples are shown"""
    if SANITIZED:
        raise Skip("the sanitizer needs more address space than this limits")
    count = 400000
    spread = [mmap2(10, 0x10000000 + (i * 7919 % count) * 0x10000, 0x10800, "/none") for i in range(count)]
    modules = [make.kernel_module(0xffffffffa0000000 + i * 0x1000, 0x1800, "[m%d]" % i) for i in range(300)]
    # report: changes without a sample between them are one version
    spread, modules = ([one for record in records for one in (record, sample(10, CODE))] for records in (spread, modules * 1200))
    for records, seconds in (([comm(10, "t")] + spread, 30), (modules, 60)):
        path = c.recording(records)
        result = c.run(*REPORT, "-i", path, memory=1 << 28)
        need(result.code == 0 and result.bytes < 800 << 20 and result.seconds < seconds, "%d, %d bytes, %.0f s: %s" %
             (result.code, result.bytes, result.seconds, result.err))
        need(result.err.count("left out, as the history of all others") == 1, "stderr is %r" % result.err)
        with open(result.out) as stream:
            need("100.00%" in stream.read(), "the samples are missing")
        for option in ("-b", "--mmap2-buildids"):
            result = c.run("inject", option, "-i", path, "-o", c.path("injected"), memory=1 << 30)
            need(result.code == 0 and result.bytes < 800 << 20, "inject %s: %d, %d bytes: %s" % (option, result.code, result.bytes, result.err))
            need(result.err.count("left out, as the history of all others") == 1, "stderr is %r" % result.err)


def test_fork_chain_injected(c):
    """a sample of each mapping at the end of a chain of forks takes inject time in proportion"""
    c.growth(lambda n: [mmap2(1, CODE + i * 4096, 4096, "/none") for i in range(n)] + [fork(i + 2, i + 1) for i in range(n)] +
             [sample(n + 1, CODE + i * 4096) for i in range(n)], 6000, ("inject", "--mmap2-buildids", "-o", "/dev/null"), bytes_each=8192)


def jit_dump(path, *pieces):
    """pieces: bytes, or the size of a hole"""
    with open(path, "wb") as out:
        out.write(struct.pack("<IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, 1, 0, 0))
        for piece in pieces:
            out.seek(piece, 1) if isinstance(piece, int) else out.write(piece)
        out.truncate()


def jit_load(index, address):
    name = b"f%06d\0" % index
    return struct.pack("<IIQIIQQQQ", 0, 64 + len(name), 1, 1, 1, address, address, 8, index) + name + b"\x90" * 8


def test_jit_dumps(c):
    """JIT dumps whose functions take more than the budget are read no further, which is reported"""
    if SANITIZED:
        raise Skip("the sanitizer needs more address space than this limits")
    jit_dump(c.path("jit-1.dump"), b"".join(jit_load(i, CODE + 16 * i) for i in range(100000)))
    paths = [c.path("jit-%d.dump" % i) for i in range(1, 100)]
    for path in paths[1:]:
        os.link(paths[0], path)
    data = c.recording([mmap2(i + 1, CODE << 20, 4096, path) for i, path in enumerate(paths)] + [sample(1, CODE + 16), sample(99, CODE + 16)])
    result = c.run(*REPORT, "-f", "-i", data, memory=1 << 30)
    need(result.code == 0 and result.bytes < 900 << 20, "%d, %d bytes: %s" % (result.code, result.bytes, result.err))
    need("left out" in result.err, "stderr is %r" % result.err)
    with open(result.out) as out:
        need("f000001" in out.read(), "the first dump's functions have no names")


def test_jit_lines(c):
    """a sparse JIT dump that claims gigabytes of source lines takes no long time"""
    size = 16 << 20
    lines = struct.pack("<IIQQQ", 2, size, 1, CODE, size)
    pieces = [[lines, size - len(lines), jit_load(i, CODE + 16 * i)] for i in range(2000)]
    try:
        jit_dump(c.path("jit-1.dump"), *sum(pieces, []))
    except OSError:
        raise Skip("the file system has no files of 32 GB")
    data = c.recording([mmap2(1, CODE << 20, 4096, c.path("jit-1.dump")), sample(1, CODE + 16)])
    result = c.run(*REPORT, "-f", "-i", data)
    need(result.seconds < (100 if SANITIZED else 15), "%.1f s" % result.seconds)
    with open(result.out) as out:
        need("f000001" in out.read(), "the functions have no names")


def bomb(c, total):
    """A recording of few kilobytes whose records inflate to so many bytes, and never finish a round."""
    part = 32 << 20
    packed = zstd.packed(sample(10, CODE) * (part // len(sample(10, CODE))))
    pieces = [recording.record(recording.COMPRESSED, packed[i:i + 60000]) for i in range(0, len(packed), 60000)]
    return c.recording(pieces * (total // part), features=[(recording.COMPRESSION, struct.pack("<IIIII", 1, 1, 1, 10, 4 << 20))])


def test_compressed_records(c):
    """compressed records that inflate to gigabytes stay within the budget, and the missing order is reported"""
    if SANITIZED:
        raise Skip("the sanitizer needs more address space than this limits")
    path = bomb(c, 1 << 30)
    need(os.path.getsize(path) < 1 << 20, "the file has %d bytes" % os.path.getsize(path))
    result = c.run(*REPORT, "-i", path, memory=1 << 30)
    need(result.code == 0 and result.bytes < 600 << 20, "%d, %d bytes: %s" % (result.code, result.bytes, result.err))
    need("not in the order of" in result.err, "stderr is %r" % result.err)
    result = c.run("inject", "-b", "-i", path, "-o", c.path("injected"), memory=1 << 30)
    need(result.code == 0 and result.bytes < 600 << 20, "inject: %d, %d bytes: %s" % (result.code, result.bytes, result.err))
    need("not in the order of" in result.err, "stderr is %r" % result.err)
    os.unlink(c.path("injected"))


def elf_of(sections=(), names=(("f", CODE, 64),), **more):
    file = Elf(**more)
    file.add(".text", b"\x90" * 4096, flags=6, address=CODE)
    for name, data, flags in sections:
        file.add(name, data, flags=flags)
    table, strings = elf.symbols(names)
    file.add(".symtab", table, kind=2, link=file.add(".strtab", strings, kind=3), entry=24)
    return file.bytes()


DEBUG = (".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr", ".debug_ranges",
         ".debug_rnglists", ".debug_aranges")


def packed_files(c, count, size):
    sections = [(name, struct.pack("<IIQQ", 2, 0, size, 1) + zstd.zeros(size), 0x800) for name in DEBUG]
    records = []
    for i in range(count):
        with open(c.path("packed%d" % i), "wb") as out:
            out.write(elf_of(sections))
        records += [mmap2(10, CODE + i * 0x10000, 0x10000, c.path("packed%d" % i)), sample(10, CODE + i * 0x10000 + 1)]
    return c.recording(records)


def test_packed_sections(c):
    """sections of some kilobytes that claim gigabytes are not inflated"""
    result = c.run(*FLAMEGRAPH, "-i", packed_files(c, 4, 200 << 20))
    need(result.code == 0, "exit code %d: %s" % (result.code, result.err))
    need(SANITIZED or result.bytes < 200 << 20, "%d bytes" % result.bytes)


def test_packed_sections_of_many(c):
    """files whose sections inflate to more than the budget have no further source lines, which is reported once"""
    if SANITIZED:
        raise Skip("the sanitizer needs more address space than this limits")
    path = packed_files(c, 30, 4 << 20)
    result = c.run(*FLAMEGRAPH, "-i", path, memory=1 << 30)
    need(result.code == 0 and result.bytes < 700 << 20, "%d, %d bytes: %s" % (result.code, result.bytes, result.err))
    need(result.err.count("are left out") == 1, "stderr is %r" % result.err)
    need("are left out" not in c.run(*FLAMEGRAPH, "-i", packed_files(c, 2, 4 << 20)).err, "reported although all fits")


def test_line_rows(c):
    """a line table whose rows take more than the budget is left out, which is reported once"""
    if SANITIZED:
        raise Skip("the sanitizer needs more address space than this limits")
    rows = b"\0\x09\2" + struct.pack("<Q", CODE) + b"\x20" * 36000000 + b"\2\x80\x20\0\1\1"
    header = struct.pack("<BBBbBB", 1, 1, 1, -5, 14, 13) + b"\0\1\1\1\1\0\0\0\1\0\0\1" + b"\0a.c\0\0\0\0\0"
    program = struct.pack("<HI", 4, len(header)) + header + rows
    unit = struct.pack("<HIBB", 4, 0, 8, 1) + struct.pack("<QQI", CODE, 4096, 0) + b"\0"
    with open(c.path("rows"), "wb") as out:
        out.write(elf_of([(".debug_abbrev", b"\1\x11\0\x11\1\x12\7\x10\x17\0\0\0", 0),
                          (".debug_info", struct.pack("<I", len(unit)) + unit, 0), (".debug_line", struct.pack("<I", len(program)) + program, 0)]))
    path = c.recording([mmap2(10, CODE, 0x10000, c.path("rows")), sample(10, CODE + 1)])
    result = c.run("script", "-F", "+srcline", "-i", path, memory=1 << 30)
    need(result.code == 0 and result.bytes < 900 << 20, "%d, %d bytes: %s" % (result.code, result.bytes, result.err))
    need(result.err.count("left out") == 1, "stderr is %r" % result.err)


def test_symbol_tables(c):
    """symbol tables that take more than the budget are left out, which is reported once"""
    if SANITIZED:
        raise Skip("the sanitizer needs more address space than this limits")
    data = elf_of(names=[(1, CODE + 2 * i, 2) for i in range(1 << 20)])
    with open(c.path("names"), "wb") as out:
        out.write(data)
    records = []
    for i in range(30):
        os.link(c.path("names"), c.path("names%d" % i))
        records += [mmap2(10, CODE + i * 0x10000, 0x10000, c.path("names%d" % i)), sample(10, CODE + i * 0x10000 + 1)]
    result = c.run(*REPORT, "-i", c.recording(records), memory=2 << 30)
    need(result.code == 0 and result.bytes < 1500 << 20, "%d, %d bytes: %s" % (result.code, result.bytes, result.err))
    need(result.err.count("are left out") == 1, "stderr is %r" % result.err)


def crc_of_zeros(sum_before, count):
    block = bytes(1 << 20)
    for _ in range(count >> 20):
        sum_before = zlib.crc32(block, sum_before)
    return zlib.crc32(bytes(count & (1 << 20) - 1), sum_before)


def test_debug_link(c):
    """a debug link to a sparse file of 300 GB costs no time, and one to the right sparse file gives its names"""
    debug = elf_of(names=[("from_the_debug_file", CODE, 64)])
    small = 64 << 20
    for size, meant in ((small, True), (300 << 30, False)):
        link = b"sparse.debug".ljust(16, b"\0") + struct.pack("<I", crc_of_zeros(zlib.crc32(debug), small - len(debug)))
        file = Elf()
        file.add(".text", b"\x90" * 4096, flags=6, address=CODE)
        file.add(".gnu_debuglink", link)
        with open(c.path("linked"), "wb") as out:
            out.write(file.bytes())
        with open(c.path("sparse.debug"), "wb") as out:
            out.write(debug)
        try:
            os.truncate(c.path("sparse.debug"), size)
        except OSError:
            raise Skip("the file system has no files of 300 GB")
        path = c.recording([mmap2(10, CODE, 0x10000, c.path("linked")), sample(10, CODE + 1)])
        result = c.run(*REPORT, "-i", path)
        need(result.seconds < (20 if SANITIZED else 5), "%d bytes take %.1f s" % (size, result.seconds))
        need(SANITIZED or result.bytes < 200 << 20, "%d bytes take %d" % (size, result.bytes))
        with open(result.out) as out:
            need(("from_the_debug_file" in out.read()) == meant, "of %d bytes: %s" % (size, result.err))


def test_sections(c):
    """an ELF file of 65,000 sections and a recording of all its symbols are read at once"""
    file = Elf()
    file.add(".text", b"\x90" * 4096, flags=6, address=CODE)
    table, strings = elf.symbols([("f%d" % i, CODE + i % 4096, 1) for i in range(60000)])
    file.add(".symtab", table, kind=2, link=file.add(".strtab", strings, kind=3), entry=24)
    for i in range(65000):
        file.add("", b"", kind=18, link=i)
    with open(c.path("sections"), "wb") as out:
        out.write(file.bytes())
    path = c.recording([mmap2(10, CODE, 0x10000, c.path("sections"))] + [sample(10, CODE + i) for i in range(4096)])
    for command in (REPORT, FLAMEGRAPH, ("report", "--stdio", "-s", "srcline")):
        result = c.run(*command, "-i", path)
        need(result.seconds < (60 if SANITIZED else 5), "%s takes %.1f s" % (command[-1], result.seconds))
        need(SANITIZED or result.bytes < 300 << 20, "%s takes %d bytes" % (command[-1], result.bytes))


def test_names(c):
    """names of megabytes, and names that nest 5,000 times, take time and memory in proportion"""
    deep = 5000
    nested = ["_Z" + "1fI" * deep + "E" * deep + "v", "_Z1f" + "P" * deep + "i", "_Z1fI" + "N1aI" * deep, "_Z1fDpT_" + "S_" * deep,
              "_RNv" + "B_" * deep, "_R" + "INvC1a1f" * deep, "_D1a" + "Q" * 11 + "b" * deep, "_Z1fI" + "XadL_Z" * deep,
              "_Z1f" + "F" * deep + "v", "_ZN" + "4a$u7e$" * deep + "17h0123456789abcdefE", "caml" + "A__" * deep]
    long = [("_ZN" + "1a" * (1 << 19), CODE + 2048, 64)] + [(1 + i, CODE + 2048 + i % 64, 64) for i in range(4000)]
    with open(c.path("names"), "wb") as out:
        out.write(elf_of(names=long + [(name, CODE + 16 * i, 16) for i, name in enumerate(nested)]))
    path = c.recording([mmap2(10, CODE, 0x10000, c.path("names"))] + [sample(10, CODE + i) for i in range(2500)])
    for command in (REPORT, SCRIPT, FLAMEGRAPH):
        result = c.run(*command, "-i", path)
        need(result.seconds < (60 if SANITIZED else 6), "%s takes %.1f s" % (command[0], result.seconds))
        need(SANITIZED or result.bytes < 300 << 20, "%s takes %d bytes" % (command[0], result.bytes))


def test_perf_map(c):
    """a perf map of overlapping entries takes time and memory in proportion"""
    pid = 4100000 + os.getpid() % 50000
    path = "/tmp/perf-%d.map" % pid
    results = []
    try:
        for n in (100000, 400000):
            with open(path, "w") as out:
                out.writelines("%x %x f%d\n" % (i * 7919 % n * 16, 16 * (1 + i % 50), i) for i in range(n))
            data = c.recording([mmap2(pid, 0, n * 16, "//anon")] + [sample(pid, i * n // 100 * 16) for i in range(100)])
            runs = [c.run(*REPORT, "-i", data) for _ in range(3)]
            results.append((min(run.seconds for run in runs), max(run.bytes for run in runs)))
    finally:
        os.unlink(path)
    (seconds, _), (more, large) = results
    need(more < 9 * seconds + 0.1, "%.2f s, then %.2f s" % (seconds, more))
    need(SANITIZED or large < 300 << 20, "%d bytes" % large)


CHANGER = """
import mmap, os, random, sys
random.seed(1)
file = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0)
end = len(file) - 1
last = file[end]
print("ready", flush=True)
while True:
    file[end] = 0x41
    at = random.randrange(len(file))
    byte = file[at]
    if at >= 64:
        file[at] = random.choice((0, 1, 0x41, 0x7f, 0x80, 0xff, byte ^ 1 << random.randrange(8)))
    file[end] = last
    if at >= 64:
        file[at] = byte
"""


class Changing:
    """A process of another user that continuously changes the file."""

    def __init__(self, path):
        user = NOBODY if os.geteuid() == 0 else None
        if user:
            os.chown(path, user, user)
        python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable  # root's own may be closed to others
        self.child = process.start(python, "-c", CHANGER, path, user=user)

    def __enter__(self):
        need(self.child.stdout.readline() == "ready\n", "the process that changes files does not start")
        return self

    def __exit__(self, *_):
        self.child.__exit__()


def changing_elf(path, count):
    """A third of the names end at the end of the string table, which is the end of the file's last page."""
    names = b"\0" + b"".join(b"camlName%04d\0" % i for i in range(count)) + b"_ZN" + b"9abcdefghi" * 20 + b"\0"
    offsets = [1 + 13 * i if i % 3 else len(names) - 2 - i % 100 for i in range(count)]
    table = b"\0" * 24 + b"".join(struct.pack("<IBBHQQ", offsets[i], 0x12, 0, 1, CODE + 16 * i, 16) for i in range(count))
    file = Elf()
    file.add(".text", b"\x90" * (16 * count), flags=6, address=CODE)
    file.add(".gnu_debuglink", b"none.debug\0\0" + b"\0" * 4)
    link = len(file.sections) + 1
    file.add(".symtab", table, kind=2, link=link, entry=24)
    file.add(".strtab", b"", kind=3)
    data = file.bytes()
    at = len(data) + -(len(data) + len(names)) % 4096
    data = bytearray(data.ljust(at, b"\0") + names)
    struct.pack_into("<QQ", data, struct.unpack_from("<Q", data, 40)[0] + 64 * link + 24, at, len(names))
    with open(path, "wb") as out:
        out.write(data)


def race(c, path, changed, commands):
    """-f: the recording may be of another user."""
    until = time.monotonic() + RACE_SECONDS
    runs = 0
    with Changing(changed):
        while time.monotonic() < until or runs < len(commands):
            command = commands[runs % len(commands)]
            c.run(*command, "-f", "-i", path)
            runs += 1


def test_changing_elf(c):
    """an ELF file whose owner keeps on changing it, the end of its strings above all, crashes no command"""
    count = 1000
    changing_elf(c.path("changing"), count)
    records = [mmap2(10, CODE, 0x10000, c.path("changing"))] + [sample(10, CODE + 16 * i) for i in range(count)]
    path = c.recording(records)
    race(c, path, c.path("changing"), [REPORT, SCRIPT, FLAMEGRAPH, ("report", "--stdio", "-s", "sym,srcline")])


def test_changing_program(c):
    """a program with debug information whose owner keeps on changing it crashes no command"""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise Skip("there is no compiler")
    source = c.path("program.c")
    with open(source, "w") as out:
        out.write("".join("static inline int i%d(int x) { return x * %d + 1; }\nint f%d(int x) { return i%d(x) + i%d(x + 1); }\n" %
                          (i, i + 2, i, i, i) for i in range(300)) + "int main(void) { return f0(1); }\n")
    process.must(compiler, "-O2", "-g", "-o", c.path("program"), source)
    path = c.recording([mmap2(10, 0x10000, 0x100000, c.path("program"))] + [sample(10, 0x10000 + 0x1000 + 4 * i) for i in range(2000)])
    race(c, path, c.path("program"), [("report", "--stdio", "-s", "sym,srcline"), ("script", "-F", "+srcline"), FLAMEGRAPH])


def test_changing_recording(c):
    """a recording whose owner keeps on changing it crashes no command"""
    records = [comm(10, "name"), mmap2(10, CODE, 0x10000, "/none")]
    records += [sample(10, CODE + i % 65536, 2 + i) if i % 50 else comm(10, "name%d" % i, 2 + i) for i in range(180000)]
    path = c.recording(records)
    need(os.path.getsize(path) > 5 << 20, "too small to be mapped")
    race(c, path, path, [REPORT, SCRIPT, ("evlist",), FLAMEGRAPH])


if __name__ == "__main__":
    sys.exit(run_in_folder("limits", Context, globals(), "/tmp"))  # another user has to reach it
