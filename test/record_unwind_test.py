#!/usr/bin/env python3
"""Recordings whose stacks the recorder unwinds (--call-graph unwind): of programs without frame pointers whose call paths are known,
as perf reads them, and compared with perf's own unwinding of copied stacks."""
import collections
import json
import os
import platform
import re
import shutil
import sys

from suite import process
from suite.perf import need_recording, need_reference, reference, without_tip
from suite.process import environment
from suite.settings import PERFUSE, SANITIZED, TEST
from suite.tests import Skip, by_samples, need, need_tools, run_in_folder

HERE = os.path.join(TEST, "record_unwind")

EVENT = ("-e", "task-clock:u", "-F", "2000")
ALL_FRAMES = ("--max-stack", "1024")
USER_MARKER = "fffffffffffffe00"


class Context:
    def __init__(self, work):
        self.work = work

    def run(self, *command, **more):
        return process.run(*command, cwd=self.work, seconds=300, **more)

    def record(self, *command, options=EVENT, output="unwind.data"):
        result = self.run(PERFUSE, "record", "-o", output, *options, "--call-graph", "unwind", "--", *command)
        need(result.returncode == 0, "record fails: %s" % result.stderr)
        return result.stderr

    def chains(self, reader=PERFUSE, data="unwind.data", options=()):
        """Call chains as tuples of (comm, outermost, …, innermost), and how often each was seen."""
        result = self.run(reader, "script", "--no-inline", "-F", "comm,ip,sym", *ALL_FRAMES, *options, "-i", data)
        need(result.returncode == 0, "script fails: %s" % result.stderr)
        seen = collections.Counter()
        for block in result.stdout.split("\n\n"):
            lines = [line for line in block.splitlines() if line.strip()]
            if lines:
                seen[(lines[0].split()[0],) + tuple(line.split(None, 1)[1] for line in reversed(lines[1:]) if len(line.split()) > 1)] += 1
        return seen


def between(chain, first):
    """The chain from its first frame named `first`; None if it has no such frame."""
    names = chain[1:]
    return names[names.index(first):] if first in names else None


def share(chains, wanted):
    """The share of the samples in leaf() whose chain, from the first function of the wanted path on, is that path."""
    inside = collections.Counter()
    for chain, count in chains.items():
        if "leaf" in chain[-2:]:
            inside[between(chain, wanted[0]) == wanted] += count
    return inside[True] / max(1, sum(inside.values()))


def expect(c, wanted, chains, least=0.95):
    part = share(chains, wanted)
    need(part >= least, "%.0f%% of the samples in leaf() came by %s: %s" % (100 * part, " → ".join(wanted), chains.most_common(3)))


def both(c, *command, wanted, judge=True):
    """Our chains and perf's, of the same program; judge: perf can unwind it itself."""
    c.record("./chains", *command)
    expect(c, wanted, c.chains())
    if not reference():
        return
    expect(c, wanted, c.chains(reference()))
    if not judge:
        return
    result = c.run(reference(), "record", "-o", "dwarf.data", *EVENT, "--call-graph", "dwarf", "--", "./chains", *command)
    if result.returncode == 0:
        expect(c, wanted, c.chains(reference(), "dwarf.data"), 0.9)


@by_samples
def test_plain(c):
    """a program without frame pointers has whole chains, as perf's own unwinding has"""
    both(c, "plain", "400", wanted=("main", "outer", "middle", "leaf"))
    need(all("_start" in chain[1] for chain in c.chains() if "leaf" in chain), "chains do not begin where programs begin")


@by_samples
def test_threads(c):
    """chains of threads reach the start of the thread"""
    both(c, "threads", "400", wanted=("Worker::run", "outer", "middle", "leaf"))
    need(any(chain[1].startswith(("clone", "__clone", "thread_start")) for chain in c.chains() if "leaf" in chain),
         "no chain begins in clone: %s" % c.chains().most_common(2))


@by_samples
def test_never_returns(c):
    """the caller of a function that never returns is named, not the function after it in memory, whose rules begin there"""
    if platform.machine() != "x86_64":
        raise Skip("the program is of x86-64")
    c.record("./behind", "300")
    chains = {chain: count for chain, count in c.chains().items() if "never_returns" in chain}
    need(sum(chains.values()) > 50, "the function was sampled %d times" % sum(chains.values()))
    wrong = [chain for chain in chains if between(chain, "main")[:3] != ("main", "calls_last", "never_returns")]
    need(not wrong, "%d of %d chains are wrong: %s" % (sum(chains[w] for w in wrong), sum(chains.values()), wrong[:2]))


@by_samples
def test_fork(c):
    """a child that executes a program is unwound with the mappings of that program"""
    both(c, "fork", "400", wanted=("main", "outer", "middle", "leaf"), judge=False)  # perf loses the parent's stacks


@by_samples
def test_dlopen(c):
    """a library that is loaded while the recording runs is unwound from the next sample on"""
    c.record("./chains", "dlopen", "./plugin.so", "400")
    wanted = ("main", "plugin_call", "plugin_inner", "middle", "leaf")
    seen = collections.Counter({chain: count for chain, count in c.chains().items() if "middle" in chain})
    need(sum(seen.values()) > 10, "nothing was seen in the library")
    expect(c, wanted, seen)


@by_samples
def test_deep(c):
    """stacks deeper than their copy are joined to earlier samples of their thread"""
    printed = c.record("./chains", "deep", "150", "1500", options=("-e", "task-clock:u", "-F", "4000"))
    joined = float(re.search(r"([\d.]+)% joined", printed).group(1))
    chains = c.chains()
    total = sum(chains.values())
    whole = sum(count for chain, count in chains.items() if "main" in chain)
    deepest = max(chain.count("recurse") for chain in chains)
    need(joined > 30, printed)
    need(whole > 0.7 * total, "%d of %d samples reach main: %s" % (whole, total, printed))
    need(deepest <= 151, "a chain has %d frames of a function that is called 151 times" % deepest)


@by_samples
def test_separate_stack(c):
    """of stacks that end where a separate one begins, a hint says so; not of those that are deep"""
    printed = c.record("./aside")
    need(float(re.search(r"([\d.]+)% cut", printed).group(1)) > 90 and "those of signal handlers" in printed, printed)
    printed = c.record("./chains", "deep", "1100", "700", options=(*EVENT, "--no-join-stacks"))
    need("signal handlers" not in printed, printed)


def joined_names(c, chains):
    """How many of these chains, lists of addresses and markers, have each function behind their second marker of user code."""
    listed = c.run(PERFUSE, "script", "--no-inline", "-F", "ip,sym", *ALL_FRAMES, "-i", "unwind.data").stdout
    names = dict(line.split(None, 1) for line in listed.splitlines() if line.strip())
    seen = collections.Counter()
    for chain in chains:
        behind = chain[::-1][:chain[::-1].index(USER_MARKER)]
        seen.update({names[address.lstrip("0")] for address in behind})
    return seen


@by_samples
def test_joined_marks(c):
    """a joined chain has a marker where it was joined: readers skip it, and report prints the number of joined chains and their functions"""
    printed = c.record("./chains", "deep", "150", "700", options=("-e", "task-clock:u", "-F", "4000"))
    total = int(re.search(r"Unwound (\d+) stacks", printed).group(1))
    joined = round(float(re.search(r"([\d.]+)% joined", printed).group(1)) * total / 100)
    need(joined > 0, printed)
    marked = []
    for sample in c.run(PERFUSE, "script", "-D", "-i", "unwind.data").stdout.split("PERF_RECORD_SAMPLE")[1:]:
        chain = re.findall(r"^\.+ +\d+: ([0-9a-f]{16})$", sample, re.M)
        marks = [i for i, address in enumerate(chain) if address == USER_MARKER]
        need(len(marks) <= 2 and (len(marks) < 2 or marks[1] > marks[0] + 1), "a chain is marked at %s" % marks)
        marked += [chain] if len(marks) == 2 else []
    need(abs(len(marked) - joined) <= total // 1000 + 1, "%d chains are marked, %d were joined" % (len(marked), joined))
    result = c.run(PERFUSE, "report", "--stdio", "-i", "unwind.data")
    need("%d of " % len(marked) in result.stderr and "joined" in result.stderr, "report says %r" % result.stderr)
    wanted = joined_names(c, marked)
    listed = re.findall(r"^  (\S+) in \S+: (\d+) stacks", result.stderr, re.M)
    need({name: int(count) for name, count in listed} == wanted, "joined are %s, report says %r" % (wanted, result.stderr))
    results = json.loads(c.run(PERFUSE, "report", "--format=json", "-i", "unwind.data").stdout)
    tables = [table for table in results["tables"] if table["name"] == "joined"]
    need(len(tables) == 1 and tables[0]["facts"] == {"samples": len(marked)}, "the tables are %s" % tables)
    need({row["symbol"]: row["samples"] for row in tables[0]["rows"]} == wanted, "joined are %s, the table is %s" % (wanted, tables[0]["rows"]))
    need("main" in wanted and "leaf" not in wanted and "middle" not in wanted, "joined are %s" % wanted)
    need(not any("[unknown]" == name for chain in c.chains() if "main" in chain for name in between(chain, "main")), "a frame is no function")
    ours = c.run(PERFUSE, "script", "--no-inline", "-F", "comm,tid,time,ip,sym", *ALL_FRAMES, "-i", "unwind.data").stdout
    need(c.run(need_reference(), "script", "-F", "comm,tid,time,ip,sym", *ALL_FRAMES, "-i", "unwind.data").stdout == ours, "perf reads it otherwise")


@by_samples
def test_overwrite(c):
    """the content of overwritten rings is unwound with the mappings of its time, which are also in the file"""
    printed = c.record("./chains", "threads", "700", options=(*EVENT, "--overwrite", "-m", "32"))
    stacks = int(re.search(r"Unwound (\d+) stacks", printed).group(1))
    need(0 < stacks < 700, "rings of 32 pages hold %d stacks: %s" % (stacks, printed))
    expect(c, ("Worker::run", "outer", "middle", "leaf"), c.chains())
    if reference():
        expect(c, ("Worker::run", "outer", "middle", "leaf"), c.chains(reference()))
    # of processes that have ended since: each of them a program of its own
    script = "for i in 1 2 3 4 5 6; do ./chains plain 60; done"
    c.record("sh", "-c", script, options=(*EVENT, "--overwrite", "-m", "64"))
    expect(c, ("main", "outer", "middle", "leaf"), c.chains())


@by_samples
def test_overwrite_dumps(c):
    """a dump of overwritten rings (--switch-output) has whole chains, and recording continues"""
    for name in os.listdir(c.work):
        if name.startswith("dump.data"):
            os.remove(os.path.join(c.work, name))
    script = "for i in 1 2 3; do ./chains plain 200; kill -USR2 $PPID; sleep 0.3; done; ./chains plain 100"
    c.record("sh", "-c", script, options=(*EVENT, "--overwrite", "-m", "64", "--switch-output=signal"), output="dump.data")
    files = sorted(name for name in os.listdir(c.work) if name.startswith("dump.data"))
    need(len(files) == 4, "there are %s" % files)
    for name in files:
        expect(c, ("main", "outer", "middle", "leaf"), c.chains(data=name))


@by_samples
def test_streams(c):
    """with --threads each ring has a separate file, compressed or not, and chains are the same"""
    for options in ((), ("-z",)):
        shutil.rmtree(os.path.join(c.work, "folder.data"), ignore_errors=True)
        c.record("./chains", "threads", "500", options=(*EVENT, "--threads", *options), output="folder.data")
        need(os.path.exists(os.path.join(c.work, "folder.data", "data.0")), "there is no folder")
        expect(c, ("Worker::run", "outer", "middle", "leaf"), c.chains(data="folder.data"))
        if reference():
            expect(c, ("Worker::run", "outer", "middle", "leaf"), c.chains(reference(), "folder.data"))


def without_file(c, *arguments):
    """A recording of a program whose file is absent from its path before the first sample."""
    if os.geteuid() != 0:
        raise Skip("only root may open what others have mapped")
    shutil.copy(os.path.join(c.work, "chains"), os.path.join(c.work, "lost"))
    with process.start("./lost", *arguments, "100000", cwd=c.work, stdout=process.DEVNULL) as program:
        wanted = os.stat(os.path.join(c.work, "chains")).st_size
        executable = "/proc/%d/exe" % program.pid

        def is_without_file():
            return os.readlink(executable).endswith("(deleted)") and os.stat(executable).st_size == wanted
        process.wait_until(is_without_file, "the program does not lose its file")
        result = c.run(PERFUSE, "record", "-o", "unwind.data", *EVENT, "--call-graph", "unwind", "-p", str(program.pid), "--",
                       *process.until_used(program.pid, 500))
    need(result.returncode == 0, "record fails: %s" % result.stderr)
    need(sum(c.chains().values()) > 20, "nothing was recorded")
    expect(c, ("main", "outer", "middle", "leaf"), c.chains())
    if reference():
        expect(c, ("main", "outer", "middle", "leaf"), c.chains(reference()))


@by_samples
def test_gone(c):
    """a deleted program is unwound, and has its names, while it runs"""
    without_file(c, "gone")


@by_samples
def test_replaced(c):
    """a program that was replaced by another build is unwound with the tables of the build that runs"""
    other = "int main(int n, char **v) { volatile char room[4000]; room[n & 63] = 1; return room[3] + v[0][0]; }\n"
    process.must("cc", "-O1", "-o", "other", "-x", "c", "-", cwd=c.work, input=other)
    without_file(c, "replaced", "./other")


@by_samples
def test_memory_file(c):
    """a program in a memory file is unwound, and has its names"""
    without_file(c, "memory")


@by_samples
def test_namespace(c):
    """a program in a separate mount namespace is unwound while it runs, even with few samples"""
    if os.geteuid() != 0 or c.run("unshare", "-m", "true").returncode != 0:
        raise Skip("this user may not make a mount namespace")
    os.makedirs(os.path.join(c.work, "inside"), exist_ok=True)
    os.makedirs(os.path.join(c.work, "seen"), exist_ok=True)
    shutil.copy(os.path.join(c.work, "chains"), os.path.join(c.work, "inside", "hidden"))
    printed = c.record("unshare", "-m", "sh", "-c", "mount --bind inside seen && exec seen/hidden plain 2000",
                    options=("-e", "task-clock:u", "-F", "50"))
    stacks, whole = re.search(r"Unwound (\d+) stacks: ([\d.]+)% complete", printed).groups()
    need(int(stacks) > 20 and float(whole) > 90, printed)


@by_samples
def test_exec_again(c):
    """a process that executes several programs is unwound with the mappings of each"""
    script = "exec ./chains plain 100"
    for i in range(4):
        script = "./chains plain 60; exec sh -c '%s'" % script.replace("'", "'\\''")
    c.record("sh", "-c", script)
    expect(c, ("main", "outer", "middle", "leaf"), c.chains())


FAULTS = 1500
COPIED = ("-e", "page-faults:u", "-c", "1", "--per-thread", "-m", "128M", "--call-graph", "unwind,65528")


def record_copies(c, options, output):
    """A recording of page faults below functions of a plug-in whose call frame information is not read before more samples arrive than may wait
    for it: 64 MB. All fits into the ring, 94 MB of it in samples with stacks of 50 KB: however fast this machine is, none is lost and some are copies."""
    if SANITIZED:
        raise Skip("a library cannot be preloaded before a sanitizer's")
    command = '"%s" record -o %s %s %s -- ./chains faults ./plugin.so %d %s' % (
        PERFUSE, "-" if output.startswith("pipe") else output, " ".join(COPIED), options, FAULTS, "> " + output if output.startswith("pipe") else "")
    held = {"LD_PRELOAD": os.path.join(c.work, "held.so"), "HELD_FILE": os.path.realpath(os.path.join(c.work, "plugin.so")),
            "HELD_OUTPUT": os.path.join(c.work, output)}
    if os.path.exists(os.path.join(c.work, output)):
        os.remove(os.path.join(c.work, output))
    result = c.run("sh", "-c", "export %s; %s" % (" ".join("%s='%s'" % pair for pair in held.items()), command))
    if "mlock" in result.stderr or "Permission" in result.stderr:
        raise Skip("this user may not have rings of 128 MB")
    need(result.returncode == 0, "record fails: %s" % result.stderr)
    need("lost" not in result.stderr, result.stderr)
    found = re.search(r"Wrote (\d+) stacks as copies", result.stderr)
    need(found and "Unwound" in result.stderr, "no stack was written as a copy: %s" % result.stderr)
    return int(found.group(1))


def test_copies(c):
    """samples that find no room to wait for call frame information are written with a stack copy; all readers have the whole chain of each"""
    for options, output in (("", "copies.data"), ("", "pipe.copies"), ("--overwrite", "backward.data"), ("--user-regs=sp", "registers.data")):
        copies = record_copies(c, options, output)
        total = 0
        for chain, count in c.chains(data=output, options=("--no-inline",)).items():
            if chain[-1] == "touch":
                total += count
                need(between(chain, "main") == ("main", "faults_in_plugin", "plugin_call", "plugin_inner", "touch"), "a chain is %s" % (chain,))
        need(total >= FAULTS, "%s: %d of %d page faults" % (output, total, FAULTS))
        dump = c.run(PERFUSE, "script", "-D", "-i", output).stdout
        sizes = collections.Counter(int(size) > 0 for size in re.findall(r"^\.\.\. ustack: size (\d+)", dump, re.M))
        need(sizes[True] == copies and sizes[False] > 0, "%s: %s, %d copies were reported" % (output, sizes, copies))
        result = c.run(PERFUSE, "report", "--stdio", "-g", "caller", "-i", output)
        need(result.returncode == 0 and not result.stderr.strip(), "report says %r" % result.stderr)
        if not reference():
            continue
        for command in (("script", "--no-inline", "-F", "comm,tid,time,ip,sym", *ALL_FRAMES), ("report", "--no-inline", "--stdio", "-g", "caller"),
                        ("evlist", "-v")):
            ours, perfs = (c.run(reader, *command, "-i", output) for reader in (PERFUSE, reference()))
            need(not perfs.stderr.strip(), "perf %s says %r" % (command[0], perfs.stderr))
            need(without_tip(ours.stdout) == without_tip(perfs.stdout), "%s: perf's %s is another" % (output, command[0]))


def test_no_warnings(c):
    """perf reads the recording without a warning"""
    c.record("./chains", "threads", "200")
    result = c.run(need_reference(), "script", "-i", "unwind.data")
    need(result.returncode == 0 and not result.stderr.strip(), "perf script says %r" % result.stderr)
    result = c.run(need_reference(), "evlist", "-v", "-i", "unwind.data")
    need("CALLCHAIN" in result.stdout and "exclude_callchain_user" not in result.stdout, result.stdout)
    need("REGS_USER|STACK_USER" in result.stdout and re.search("sample_stack_user: (8192|33552)", result.stdout), result.stdout)
    dump = c.run(PERFUSE, "script", "-D", "-i", "unwind.data").stdout
    need(set(re.findall(r"^\.\.\. ustack: size (\d+)", dump, re.M)) == {"0"} and "user regs" not in dump, "a stack was copied")


def test_pipe(c):
    """a pipe carries the same chains, compressed or not"""
    for options in ("", "-z", "--overwrite -m 64"):
        result = c.run("sh", "-c", '"%s" record -o - %s --call-graph unwind %s -- ./chains plain 300 > pipe.data' %
                       (PERFUSE, " ".join(EVENT), options))
        need(result.returncode == 0, result.stderr)
        expect(c, ("main", "outer", "middle", "leaf"), c.chains(data="pipe.data"))


def test_config(c):
    """call-graph.record-mode and the term of an event select the mode, too"""
    with open(os.path.join(c.work, "config"), "w") as file:
        file.write("[call-graph]\n\trecord-mode = unwind,4096\n")
    result = c.run(PERFUSE, "record", "-g", "-o", "config.data", *EVENT, "--", "./chains", "plain", "200",
                   env=environment(c.work, PERF_CONFIG=os.path.join(c.work, "config")))
    need("Unwound" in result.stderr, result.stderr)
    result = c.run(PERFUSE, "record", "-o", "term.data", "-e", "task-clock/call-graph=unwind/u", "-F", "2000", "--", "./chains", "plain", "200")
    need("Unwound" in result.stderr, result.stderr)
    expect(c, ("main", "outer", "middle", "leaf"), c.chains(data="term.data"))


def test_kernel_part(c):
    """chains of the kernel precede those of its caller, with their context markers"""
    options = ("-e", "raw_syscalls:sys_enter", "-c", "1")
    if c.run(PERFUSE, "record", "-o", "x.data", *options, "true").returncode != 0:
        raise Skip("this user may not open tracepoints")
    c.record("./chains", "fork", "100", options=options)
    chains = c.chains()
    need(any("main" in chain and any("syscall" in name for name in chain) for chain in chains), str(chains.most_common(3)))


def test_hint(c):
    """a recording with short user stacks is reported once on standard error, by record and by report"""
    result = c.run(PERFUSE, "record", "-v", "-g", "-o", "short.data", *EVENT, "--", "./chains", "plain", "500")
    need(result.stderr.count("Hint:") == 1 and "--call-graph unwind" in result.stderr, "record says %r" % result.stderr)
    result = c.run(PERFUSE, "report", "-v", "--stdio", "-i", "short.data")
    need(result.stderr.count("Hint:") == 1 and "Hint:" not in result.stdout, "report says %r" % result.stderr)
    need("Hint:" not in c.record("./chains", "plain", "500"), "record says so of whole stacks")
    need("Hint:" not in c.run(PERFUSE, "report", "-v", "--stdio", "-i", "unwind.data").stderr, "report says so of whole stacks")
    need("Hint:" not in c.run(PERFUSE, "report", "-q", "--stdio", "-i", "short.data").stderr, "report -q says so")


def test_memory(c):
    """a recorder's memory does not grow with the number of processes that it sees"""
    if SANITIZED:
        raise Skip("sanitizers retain freed memory")

    def peak(count):
        script = 'ulimit -c 0; "%s" record -o many.data -e task-clock:u -F 199 --call-graph unwind -- sh -c ' \
            '\'i=0; while [ $i -lt %d ]; do /bin/true; i=$((i+1)); done\'' % (PERFUSE, count)
        result = c.run(sys.executable, "-c", "import resource,subprocess,sys\n"
                       "subprocess.run(['sh', '-c', sys.argv[1]], stderr=subprocess.DEVNULL)\n"
                       "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", script)
        return int(result.stdout)
    few, many = peak(200), peak(2000)
    need(many < few + 16 * 1024, "%d KB after 200 processes, %d KB after 2000" % (few, many))


MANY = """
import os, shutil, subprocess, sys
def memory():
    return [int(line.split()[1]) for line in open("/proc/%d/status" % os.getppid()) if line.startswith("VmRSS")][0]
started = 0
for count in (300, 700):
    for i in range(started, started + count):
        shutil.copy("large", "many/%d" % i)
        subprocess.run(["many/%d" % i], check=True)
        if i >= 100:
            os.remove("many/%d" % (i - 100))
    started += count
    print(memory(), file=sys.stderr, flush=True)
"""


def test_many_programs(c):
    """a recorder that sees many different programs does not retain the tables of each"""
    if SANITIZED:
        raise Skip("sanitizers retain freed memory")
    os.makedirs(os.path.join(c.work, "many"), exist_ok=True)
    with open(os.path.join(c.work, "large.c"), "w") as file:
        file.write("static volatile int on;\n")
        for i in range(4000):
            file.write("int f%d(int x) { volatile char room[%d]; room[x & 7] = (char)x; return on ? f%d(x) + room[0] : 0; }\n" %
                       (i, 64 + 16 * (i % 97), i - 1) if i else "int f0(int x) { return x; }\n")
        file.write("int main(void) { return f3999(1); }\n")
    process.must("cc", "-O1", "-o", "large", "large.c", cwd=c.work)
    # every page fault is a sample: each program is met, however fast the machine is
    result = c.run("sh", "-c", '"%s" record -o - -e page-faults:u -c 1 --call-graph unwind -- "%s" -c "$0" >/dev/null' %
                   (PERFUSE, sys.executable), MANY)
    need(result.returncode == 0, result.stderr)
    warm, end = [int(line) for line in result.stderr.splitlines() if line.isdigit()]
    need(end < warm + 24 * 1024, "%d KB after 300 programs, %d KB after 1000" % (warm, end))


def build(work):
    for command in (["c++", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-g", "-o", "chains",
                     os.path.join(HERE, "chains.cc"), "-ldl", "-lpthread"],
                    ["cc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-o", "plugin.so",
                     os.path.join(HERE, "plugin.c")],
                    ["cc", "-O1", "-shared", "-fPIC", "-o", "held.so", os.path.join(HERE, "held.c")],
                    ["cc", "-O2", "-o", "aside", os.path.join(HERE, "aside.c")],
                    *([["cc", "-O2", "-o", "behind", os.path.join(HERE, "behind.c")]] if platform.machine() == "x86_64" else [])):
        need_tools(command[0])
        process.must(*command, cwd=work)


def prepare(work):
    build(work)
    need_recording(work, *EVENT, "--call-graph", "unwind")
    return Context(work)


if __name__ == "__main__":
    sys.exit(run_in_folder("stacks that are unwound while recording", prepare, globals()))
