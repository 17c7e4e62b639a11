#!/usr/bin/env python3
"""Folded text of the flame graph, compared with perf's output for the same recording, and with itself for every option."""
import collections
import os
import re
import struct
import sys

from suite import process
from suite.perf import need_reference, reference
from suite.settings import PERFUSE, SHAPE_SOURCE
from suite.tests import Skip, need, run_in_folder


def run(work, *command, stdin=None, cores=None):
    return process.run(*command, cwd=work, text=False, before=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
                       **({"stdin": stdin} if stdin else {}))


class Context:
    def __init__(self, work):
        self.work = work
        self.data = os.path.join(work, "perf.data")

    def folded(self, *options, **more):
        """{stack: weight} and the lines; of self.data unless options name another."""
        if "-i" not in options:
            options = ("-i", self.data, *options)
        result = run(self.work, PERFUSE, "flamegraph", "--folded", *options, **more)
        need(result.returncode == 0, "exit code %d: %s" % (result.returncode, result.stderr.decode(errors="replace")[:200]))
        lines = result.stdout.decode().splitlines()
        return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}, lines


def record(c, output, *options):
    program = [os.path.join(c.work, "shape"), "--ms", "300"]
    for recorder in filter(None, (PERFUSE, reference())):
        result = run(c.work, recorder, "record", "-o", output, *options, "--", *program)
        if result.returncode == 0 and os.path.exists(os.path.join(c.work, output)):
            return True
    return False


def collapse(text):
    """perf script's default output as folded text without the first element; of the event that comes first."""
    stacks, stack, period, chosen, wanted = collections.Counter(), [], 1, None, True
    for line in text.split("\n"):
        if not line:
            if stack and wanted:
                stacks[";".join(reversed(stack))] += period
            stack = []
        elif line[0] != "\t":
            head = re.search(r":\s+(\d+)\s+(\S+):\s*$", line)
            if head:
                chosen = chosen or head.group(2)
                period, wanted = int(head.group(1)), head.group(2) == chosen
        else:
            found = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            name, module = re.sub(r"\+0x[0-9a-f]+$", "", found.group(1)), found.group(2)
            if name == "[unknown]":
                name = "[%s]" % (module.rsplit("/", 1)[-1] if module != "[unknown]" else "unknown")
            name = name.replace(";", ":")
            if not re.search(r"\.\(.*\)\.", name):
                name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
            stack.append(name.translate({34: None, 39: None}))
    return stacks


def test_agreement(c):
    """folded text equals the folded output of perf script"""
    perf = need_reference()
    printed = run(c.work, perf, "script", "-i", c.data).stdout.decode(errors="replace")
    want = collapse(printed + "\n\n")
    if not want:
        raise Skip("perf script prints nothing here")
    # perf script shows no inlined functions of recorded chains; a library's debug information may be installed
    got, _ = c.folded("--by", "none", "--no-inline")
    wrong = [s for s in set(got) | set(want) if got.get(s) != want.get(s)]
    need(not wrong, "%d of %d stacks differ, such as %s: %s, perf %s" % (
        len(wrong), len(want), wrong[0] if wrong else "", got.get(wrong[0]) if wrong else "", want.get(wrong[0]) if wrong else ""))


def test_order(c):
    """lines are sorted as bytes, and the same on one core and on all"""
    _, lines = c.folded()
    need(lines == sorted(lines, key=lambda line: line.rsplit(" ", 1)[0].encode()), "not sorted")
    _, alone = c.folded(cores={min(os.sched_getaffinity(0))})
    need(lines == alone, "one core gives other lines")


def test_pipe(c):
    """a recording read from stdin folds to the same"""
    with open(c.data, "rb") as data:
        _, lines = c.folded("-i", "-", stdin=data)
    need(lines == c.folded()[1], "other lines")


def test_roots(c):
    """--by changes the root of the stacks, and nothing else"""
    plain, _ = c.folded("--by", "none")
    forms = {"comm": r"shape[^;/]*", "pid": r"shape[^;/]*-\d+", "tid": r"shape[^;/]*-\d+/\d+"}
    for word, form in forms.items():
        stacks, _ = c.folded("--by", word)
        bare = collections.Counter()
        for stack, weight in stacks.items():
            root, _, rest = stack.partition(";")
            need(re.fullmatch(form, root) or not root.startswith("shape"), "--by %s has the root %s" % (word, root))
            bare[rest] += weight
        need(bare == plain, "--by %s has other stacks" % word)


def test_filters(c):
    """filters by command, thread and module pass all samples of the names, and no others"""
    whole, _ = c.folded()
    comms = {stack.split(";")[0] for stack in whole}
    kept = {}
    for comm in comms:
        part, _ = c.folded("--comm", comm)
        need(all(s.split(";")[0] == comm for s in part), "--comm %s passes others" % comm)
        kept.update(part)
    need(kept == whole, "--comm loses samples")
    for option, form in (("--tid", r"/(\d+)"), ("--pid", r"-(\d+)/")):
        stacks, _ = c.folded("--by", "tid")
        ids = {re.search(form, s.split(";")[0]).group(1) for s in stacks}
        need(sum(sum(c.folded(option, i)[0].values()) for i in ids) == sum(whole.values()), option + " loses samples")
    inside, _ = c.folded("--dso", "shape")
    ends = {s.rsplit(";", 1)[-1] for s in inside}
    strange = [e for e in ends if not e.endswith("@plt") and not e.startswith(("shape_", "run_", "thread_cpu", "[shape]", "main", "_"))]
    need(ends and not strange, "--dso passes %s" % strange)


def test_cpus(c):
    """--cpu passes the samples of a CPU, and is an error if the samples have no CPU"""
    code = run(c.work, PERFUSE, "flamegraph", "--folded", "-C", "0", "-i", c.data).returncode
    need(code == 1, "exit code %d for samples without a CPU" % code)
    if not record(c, "cpu.data", "-e", "cpu-clock", "-c", "1000000", "-g", "--sample-cpu"):
        raise Skip("CPUs cannot be recorded here")
    whole, _ = c.folded("-i", "cpu.data")
    parts = [sum(c.folded("-i", "cpu.data", "--cpu", str(cpu))[0].values()) for cpu in range(os.cpu_count())]
    need(sum(parts) == sum(whole.values()), "the CPUs have %s of %d" % (parts, sum(whole.values())))


def test_time(c):
    """slices of time add up to the whole"""
    whole, _ = c.folded("--weight", "samples")
    tenths = [sum(c.folded("--weight", "samples", "--time", "10%%/%d" % i)[0].values()) for i in range(1, 11)]
    need(abs(sum(tenths) - sum(whole.values())) <= 10, "%d of %d samples" % (sum(tenths), sum(whole.values())))
    need(0 < tenths[4] < sum(whole.values()), "a tenth holds %d samples" % tenths[4])


def test_reverse(c):
    """--reverse reverses every stack"""
    whole, _ = c.folded()
    turned, _ = c.folded("--reverse")
    need({";".join(reversed(s.split(";"))): w for s, w in turned.items()} == whole, "not the same stacks")


def test_weights(c):
    """weights: each sample counts one, a clock's periods are nanoseconds, time is the time between the samples of a thread"""
    samples = sum(c.folded("--weight", "samples")[0].values())
    period = sum(c.folded()[0].values())
    need(period == samples * 1000000, "%d for %d samples each of 1000000" % (period, samples))
    passed = sum(c.folded("--weight", "time")[0].values())
    need(0.2e9 < passed < 60e9, "%.3f s passed in all threads" % (passed / 1e9))


def test_depth(c):
    """--max-stack shows the innermost frames"""
    whole, _ = c.folded()
    short, _ = c.folded("--max-stack", "3")
    need(max(s.count(";") for s in short) == 3, "deeper than three frames")
    want = collections.Counter()
    for stack, weight in whole.items():
        parts = stack.split(";")
        want[";".join(parts[:1] + parts[1:][-3:])] += weight
    need(short == want, "other frames than the innermost three")


def test_annotations(c):
    """--annotate marks kernel functions and nothing of the program"""
    stacks, _ = c.folded("--annotate")
    frames = {f for s in stacks for f in s.split(";")[1:]}
    need(not any(f.startswith("shape_") and "_[" in f for f in frames), "the program's functions are marked")
    if not any(f.endswith("_[k]") for f in frames):
        raise Skip("this recording has no kernel frame")


JIT = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	static const unsigned char loop[] = { 0xb9, 0, 0, 0, 0x10, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	unsigned char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	memcpy(code, loop, sizeof loop);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(path, "w");
	fprintf(map, "%lx %x made_at_runtime;(int)\n", (unsigned long)code, (unsigned)sizeof loop);
	fclose(map);
	puts(path);
	fflush(stdout);
	((void (*)(void))code)();
	return 0;
}
"""


DROPPED = r"""
static volatile unsigned long sink;
__attribute__((noinline)) static unsigned long hidden(unsigned long x)
{
	for (int i = 0; i < 100000; i++)
		x = x * 77 + 5;
	return x;
}
__attribute__((noinline)) static unsigned long middle(unsigned long x)
{
	x = hidden(x);
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}
int main(void)
{
	for (int i = 0; i < 3000; i++)
		sink += middle(sink);
	return 0;
}
"""


def test_dropped(c):
    """functions that the linker left out of the symbol table have the names of the debug information"""
    with open(os.path.join(c.work, "dropped.c"), "w") as out:
        out.write(DROPPED)
    need(run(c.work, "cc", "-O1", "-g", "-Wl,--discard-all", "-o", "dropped", "dropped.c").returncode == 0, "it does not compile")
    result = run(c.work, PERFUSE, "record", "-q", "-e", "cpu-clock:u", "--call-graph", "dwarf,4096", "-o", "dropped.data", "--",
                 os.path.join(c.work, "dropped"))
    if result.returncode != 0:
        raise Skip("it cannot be recorded here")
    stacks, _ = c.folded("-i", "dropped.data", "--annotate")
    need(any(s.endswith(";main;middle;hidden") for s in stacks), "no such frames: %s" % sorted(stacks)[:3])
    need(not any("hidden" in s for s in c.folded("-i", "dropped.data", "--no-inline")[0]), "debug information is read unasked")


def test_jit(c):
    """code made at run time has its name from the perf map, and is marked"""
    if os.uname().machine != "x86_64":
        raise Skip("its code is for x86-64")
    with open(os.path.join(c.work, "jit.c"), "w") as out:
        out.write(JIT)
    need(run(c.work, "cc", "-O1", "-fno-omit-frame-pointer", "-o", "jit", "jit.c").returncode == 0, "it does not compile")
    for recorder in filter(None, (PERFUSE, reference())):
        result = run(c.work, recorder, "record", "-q", "-e", "cpu-clock", "-g", "-o", "jit.data", "--", os.path.join(c.work, "jit"))
        if result.returncode == 0:
            break
    maps = re.findall(rb"^/tmp/perf-\d+\.map$", result.stdout, re.M)
    if result.returncode != 0 or not maps:
        raise Skip("it cannot be recorded here")
    try:
        stacks, _ = c.folded("-i", "jit.data", "--annotate")
        need(any(s.endswith(";made_at_runtime:_[j]") for s in stacks), "no such frame: %s" % sorted(stacks)[:3])
        need(run(c.work, PERFUSE, "flamegraph", "-i", "jit.data", "-o", "jit.svg").returncode == 0, "the picture fails")
        with open(os.path.join(c.work, "jit.svg")) as picture:
            need(">JIT</text>" in picture.read(), "the legend lacks JIT")
    finally:
        os.unlink(maps[0])


def test_events(c):
    """-e selects an event; the error for an unknown one lists the events"""
    if not record(c, "two.data", "-e", "cpu-clock,page-faults", "-c", "1000000", "-g"):
        raise Skip("two events cannot be recorded here")
    clock, _ = c.folded("-i", "two.data", "-e", "cpu-clock", "--weight", "samples")
    default, _ = c.folded("-i", "two.data", "--weight", "samples")
    need(clock == default and clock, "the first event is not what is drawn")
    wrong = run(c.work, PERFUSE, "flamegraph", "--folded", "-i", "two.data", "-e", "cycles")
    need(wrong.returncode == 1 and b"page-faults" in wrong.stderr, "exit code %d: %s" % (wrong.returncode, wrong.stderr[:200]))


def test_cut(c):
    """the whole part of a recording that is cut is drawn, and the cut is reported"""
    whole, _ = c.folded()
    path = os.path.join(c.work, "cut.data")
    with open(c.data, "rb") as data, open(path, "wb") as cut:
        header = data.read(56)
        start, size = struct.unpack_from("<QQ", header, 40) # of the records: behind them are features of the header
        cut.write(header + data.read(start + size * 2 // 3 - len(header)))
    result = run(c.work, PERFUSE, "flamegraph", "-i", path, "-o", "cut.svg")
    need(result.returncode == 255, "exit code %d" % result.returncode)
    need(path.encode() in result.stderr, "it says %r" % result.stderr)
    with open(os.path.join(c.work, "cut.svg")) as picture:
        text = picture.read()
    need(text.endswith("</svg>\n") and "shape_" in text, "the picture is not whole")
    need("recording incomplete" in text, "the picture does not say so")
    need(whole, "")


def test_piped_in(c):
    """without -i, a recording that is piped in is drawn"""
    recorded = run(c.work, PERFUSE, "record", "-o", "-", "-e", "cpu-clock", "-g", "--", os.path.join(c.work, "shape"), "--ms", "100")
    if not recorded.stdout.startswith(b"PERFILE2"):
        raise Skip("nothing can be recorded to a pipe here")
    with open(os.path.join(c.work, "piped.data"), "wb") as data:
        data.write(recorded.stdout)
    whole, _ = c.folded("-i", "piped.data")
    os.mkdir(os.path.join(c.work, "empty"))
    drawn = process.perfuse("flamegraph", "--folded", input=recorded.stdout, text=False, cwd=os.path.join(c.work, "empty"))
    need(drawn.returncode == 0, "exit code %d: %s" % (drawn.returncode, drawn.stderr[:200]))
    need({line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in drawn.stdout.decode().splitlines()} == whole,
         "other stacks than with -i")


def test_recursion(c):
    """--fold-recursion draws 64 equal frames as one, and adds up to the same"""
    plain, folded = c.folded("--comm", "shape-deep")[0], c.folded("--comm", "shape-deep", "--fold-recursion")[0]
    need(sum(plain.values()) == sum(folded.values()) > 0, "other sums")
    need(any(stack.count("shape_descend") >= 60 for stack in plain), "no recursion is recorded")
    need(all(stack.split(";").count("shape_descend") <= 1 for stack in folded), "recursion is left")


def test_by_cpu(c):
    """--by cpu has a root for each CPU, and needs recorded CPUs"""
    if not record(c, "cpus.data", "-g", "--sample-cpu"):
        raise Skip("nothing can be recorded here")
    stacks = c.folded("-i", "cpus.data", "--by", "cpu")[0]
    need(stacks and all(re.match(r"CPU_\d+;", stack) for stack in stacks), list(stacks)[:3])
    need(run(c.work, PERFUSE, "flamegraph", "-i", c.data, "--by", "cpu", "-o", "none.svg").returncode == 1, "CPUs were not recorded")
    need(c.folded("--by", "thread") == c.folded("--by", "tid"), "thread is not tid")


def test_comparison(c):
    """--diff has both recordings' stacks with both sums; of a recording and itself, no frame has changed"""
    need(record(c, "other.data", "-e", "cpu-clock", "-c", "1000000", "-g"), "nothing was recorded")
    result = run(c.work, PERFUSE, "flamegraph", "--folded", "--diff", "other.data", "-i", c.data)
    need(result.returncode == 0, result.stderr)
    sides = [collections.Counter(), collections.Counter()]
    for line in result.stdout.decode().splitlines():
        stack, before, after = line.rsplit(" ", 2)
        sides[0][stack] += int(before)
        sides[1][stack] += int(after)
    for side, stacks in zip(sides, (c.folded("-i", "other.data")[0], c.folded()[0])):
        need({stack: weight for stack, weight in side.items() if weight} == stacks, "other stacks than without --diff")
    for widths in ("both", "old", "new"):
        svg = run(c.work, PERFUSE, "flamegraph", "--diff", c.data, "-i", c.data, "--widths", widths, "-o", "-").stdout.decode()
        need('class="c"' in svg and not re.search(r'<rect class="[lm]\d" x="[\d.]+%"', svg), "a frame has changed")
    for files, code in ((("absent", c.data), 255), ((c.data, "absent"), 255)):
        need(run(c.work, PERFUSE, "flamegraph", "--diff", files[0], "-i", files[1], "-o", "never.svg").returncode == code, files)
    run(c.work, PERFUSE, "record", "-q", "-e", "page-faults", "-c", "1", "-o", "faults.data", "--", os.path.join(c.work, "shape"), "--ms", "10")
    done = run(c.work, PERFUSE, "flamegraph", "--diff", "faults.data", "-i", c.data, "-o", "never.svg")
    need(done.returncode == 1 and b"different events" in done.stderr, done.stderr)
    done = run(c.work, PERFUSE, "flamegraph", "--diff", c.data, "-i", c.data, "--comm", "absent", "-o", "never.svg")
    need(done.returncode == 1 and b"no sample to compare" in done.stderr, done.stderr)


def test_width(c):
    """--width is the width of the graph, from the least to the largest that is taken"""
    for width in (200, 1000, 100000):
        done = run(c.work, PERFUSE, "flamegraph", "-i", c.data, "-o", "-", "--width", str(width))
        need(done.returncode == 0 and b'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="%d"' % width in done.stdout,
             "%d: %s %s" % (width, done.stderr, done.stdout[:300]))
    for width in (199, 100001):
        need(run(c.work, PERFUSE, "flamegraph", "-i", c.data, "-o", "never.svg", "--width", str(width)).returncode == 129, width)


def test_bad_options(c):
    """invalid options are rejected with 129"""
    for options in (["--by", "x"], ["--widths", "x"], ["--colors", "x"], ["--weight", "x"], ["--min-width", "-1"], ["--min-width", "x"],
                    ["--width", "10"], ["--max-stack", "0"], ["word"]):
        code = run(c.work, PERFUSE, "flamegraph", "-i", c.data, "-o", "never.svg", *options).returncode
        need(code == 129, "%s: exit code %d" % (" ".join(options), code))
    need(not os.path.exists(os.path.join(c.work, "never.svg")), "something was written")


def test_full_disk(c):
    """a graph that cannot be written is an error"""
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full")
    need(run(c.work, PERFUSE, "flamegraph", "-i", c.data, "-o", "/dev/full").returncode == 1, "no error")
    need(run(c.work, PERFUSE, "flamegraph", "-i", c.data, "-o", "/nowhere/x.svg").returncode == 1, "no error")


def prepare(work):
    c = Context(work)
    process.must("cc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", "shape", SHAPE_SOURCE, "-lm", "-lpthread", cwd=work)
    if not record(c, "perf.data", "-e", "cpu-clock", "-c", "1000000", "-g"):
        raise Skip("no recording can be made here (kernel.perf_event_paranoid, seccomp?)")
    return c


if __name__ == "__main__":
    sys.exit(run_in_folder("folded text", prepare, globals()))
