#!/usr/bin/env python3
# sanitized: recordings of others
"""diff: byte for byte as perf's over recordings of others and recordings made here; bad input."""
import functools
import json
import os
import re
import sys

from suite import branches, process
from suite.perf import first_difference, need_reference
from suite.process import environment, must
from suite.settings import CORPUS, PERFUSE, SHAPE, TEST
from suite.tests import Skip, by_samples, need, need_tools, remark, run_in_folder

# perf itself runs with each of these; --symfs of an empty folder hides this machine's files
OPTIONS = """
-b
-p
-F
-c delta
-c ratio
-c ratio -p -F
-c ratio -o 0
-c wdiff:1,2
-c wdiff:3,1 -F -p
-s dso
-s sym
-s comm,dso,symbol
-s pid,sym
-s cpu
-s addr
-s symoff
-s time
-s parent
-s +comm
-s trace
-t ,
-t , -F -p
-q
-o 0
-b -F
--percentage relative
-d [kernel.kallsyms]
-d [kernel.kallsyms] --percentage relative -F
--time 10%/1
--time 0%-50% -F
"""
PAIRS = """
autofdo.lbr.data piq.data
quipper.hw_and_sw-3.4.data quipper.lost_samples-4.4.data
quipper.group_desc-4.14.data quipper.hybrid_topology.data
quipper.raw-3.4.data quipper.callgraph-3.8.data
grtrace.callchain.data openroad.callchain.data
linuxtracepoints.data linuxtracepoints.data
quipper.systemwide.1-3.8.data quipper.callgraph-3.8.data piq.data
"""


class Context:
    def __init__(self, folder):
        self.folder = folder
        self.empty = os.path.join(folder, "empty")
        os.mkdir(self.empty)

    def run(self, program, *words):
        return process.run(program, "diff", *words, cwd=self.folder, env=environment(self.folder))

    def diff(self, *words):
        return self.run(PERFUSE, *words)

    def record(self, name, *words):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            done = process.perfuse("record", "-q", "-e", "cpu-clock:u,task-clock:u", "-F", "5000", "-o", path, "--", *(words or (SHAPE, "--ms", "200")),
                                   env=environment(self.folder))
            need(done.returncode == 0, done.stderr)
        return path

    @functools.cached_property
    def pair(self):
        return self.record("old.data"), self.record("new.data")

    def agree(self, *words):
        theirs, ours = self.run(need_reference(), *words), self.diff(*words)
        need(theirs.returncode == ours.returncode, "%s: exit codes %d and %d: %s" % (
            words, theirs.returncode, ours.returncode, ours.stderr[:200]))
        for one, other in zip(theirs.stdout.split("\n"), ours.stdout.split("\n")):
            need(one == other, "%s:\n%s\n%s" % (words, one, other))
        need(theirs.stdout == ours.stdout, "%s: one has more lines" % (words,))


def test_others(c):
    """the recordings of others are compared as perf compares them, with every option"""
    folder = os.path.join(CORPUS, "perfdata")
    if not os.path.isdir(folder):
        raise Skip("no recordings of others (PERFUSE_CORPUS)")
    for pair in PAIRS.strip().split("\n"):
        files = [os.path.join(folder, name) for name in pair.split()]
        for options in OPTIONS.split("\n"):
            c.agree("-f", "--symfs", c.empty, *options.split(), *files)
    c.agree("-f", "--symfs", c.empty, "-D", *(os.path.join(folder, name) for name in ("quipper.callgraph-3.8.data", "quipper.weight_struct.data")))


def test_own(c):
    """recordings made here are compared as perf compares them, with symbols and two events"""
    for options in OPTIONS.split("\n"):
        c.agree("-f", *options.split(), *c.pair)
    c.agree(c.pair[0], c.pair[1], c.pair[0])
    c.agree("-S", "main", *c.pair)
    c.agree("-C", "shape", *c.pair)


def test_defaults(c):
    """without names of files the recording before the last is the baseline, and the configuration sets order and method"""
    folder = os.path.join(c.folder, "here")
    os.mkdir(folder)
    os.link(c.pair[0], os.path.join(folder, "perf.data.old"))
    os.link(c.pair[1], os.path.join(folder, "perf.data"))
    config = os.path.join(folder, "config")
    with open(config, "w") as file:
        file.write("[diff]\norder = 0\ncompute = ratio\n")
    named = c.diff(*c.pair).stdout
    need("Delta Abs" in named, named)
    run = functools.partial(process.run, PERFUSE, cwd=folder, seconds=20)
    need(run("diff", env=environment(c.folder)).stdout == named, "the default files differ from the named ones")
    need(run("diff", c.pair[1], env=environment(c.folder)).stdout == named, "one file is not compared with perf.data.old")
    set_so = run("diff", env=environment(c.folder, PERF_CONFIG=config)).stdout
    need(set_so == c.diff("-o", "0", "-c", "ratio", *c.pair).stdout, "the configuration is not used: " + set_so)


def test_moved(c):
    """functions of two builds are one row though their addresses differ"""
    source = os.path.join(c.folder, "moved.c")
    with open(source, "w") as file:
        file.write("""#ifdef MOVED
__attribute__((noinline, used)) int before(int n) { volatile int x = n; for (int i = 0; i < 100; i++) x += i * n; return x; }
#endif
__attribute__((noinline)) int hot(int n) { volatile int x = n; for (int i = 0; i < 1000; i++) x += i; return x; }
int main(void) { int s = 0; for (int i = 0; i < 200000; i++) s += hot(i); return s == 1; }
""")
    paths = []
    for name, flags in (("one", []), ("two", ["-DMOVED"])):
        program = os.path.join(c.folder, name, "moved")
        os.mkdir(os.path.dirname(program))
        process.must("cc", "-O1", *flags, "-o", program, source, env=process.compilers())
        paths.append(c.record("moved-%s.data" % name, program))
    rows = [line.split() for line in c.diff(*paths).stdout.split("\n") if line.endswith("] hot")]
    need(rows and all(row[0].endswith("%") and row[1][0] in "+-" for row in rows), rows)


SHARE = """
#include <stdlib.h>
__attribute__((noinline)) static unsigned one(unsigned n, unsigned x) { while (n--) x = x * 1664525u + 1013904223u; return x; }
__attribute__((noinline)) static unsigned other(unsigned n, unsigned x) { while (n--) x = x * 1664525u + 1013904223u; return x; }
int main(int argc, char **argv)
{
	unsigned share = (unsigned)atoi(argv[1]), rounds = (unsigned)atoi(argv[2]), x = 1;
	for (unsigned i = 0; i < rounds; i++)
		x = other((1000 - share) * 20, one(share * 20, x));
	return x == 0;
}
"""


def share_recording(c, name, share, rounds=6000):
    """Of a program whose function `one` has this share, per mille, of its work. 6000 rounds give some 800 samples."""
    program = os.path.join(c.folder, "share")
    if not os.path.exists(program):
        with open(program + ".c", "w") as file:
            file.write(SHARE)
        process.must("cc", "-O1", "-o", program, program + ".c", env=process.compilers())
    return c.record(name, program, str(share), str(rounds))


@by_samples
def test_changes(c):
    """--stats marks a share that was changed by ten points, with the right size, and --fail-above decides the exit code"""
    for name in ("share-300.data", "share-400.data"):
        if os.path.exists(os.path.join(c.folder, name)):
            os.unlink(os.path.join(c.folder, name))
    old, new = share_recording(c, "share-300.data", 300, 36000), share_recording(c, "share-400.data", 400, 36000)
    done = c.diff("--stats", "--fail-above", "5%", "--format=json", old, new)
    need(done.returncode == 2, "exit code %d: %s" % (done.returncode, done.stderr))
    rows = {row["symbol"]["symbol"]: row for row in json.loads(done.stdout)["tables"][0]["rows"]}
    one, other = rows["one"], rows["other"]
    need(one["changed"] and other["changed"], rows)
    need(6 < one["delta"] < 14 and -14 < other["delta"] < -6, (one, other))  # four times what chance makes of so many samples
    need(one["low"] < one["delta"] < one["high"] and one["p"] < 0.05, one)
    text = c.diff("--stats", old, new).stdout
    need(all(any(line.split()[-1] == name and " * " in line for line in text.split("\n") if line) for name in ("one", "other")), text)
    need(c.diff("--stats", "--fail-above", "50", old, new).returncode == 0, "a change of ten points is above 50")
    need("| Changed |" in c.diff("--stats", "--format=markdown", old, new).stdout, "no Markdown")


@by_samples
def test_alarms(c):
    """of 100 comparisons of recordings of one program at most five show a change"""
    for name in os.listdir(c.folder):
        if name.startswith("same-"):
            os.unlink(os.path.join(c.folder, name))
    files = [share_recording(c, "same-%d.data" % i, 300) for i in range(15)]
    pairs = [(a, b) for i, a in enumerate(files) for b in files[i + 1:]][:100]
    alarms = [pair for pair in pairs if c.diff("--fail-above", "0", *pair).returncode]
    remark("%d false alarms in %d comparisons" % (len(alarms), len(pairs)))
    need(len(alarms) <= 5, c.diff("--stats", *alarms[0]).stdout if alarms else "")


def test_bad(c):
    """files that are no recordings, damaged and missing ones, and impossible options have a sentence and a code"""
    text = os.path.join(c.folder, "text")
    with open(text, "w") as file:
        file.write("no recording\n" * 100)
    cut = os.path.join(c.folder, "cut.data")
    with open(c.pair[0], "rb") as whole, open(cut, "wb") as part:
        part.write(whole.read()[:-3000])
    old = c.pair[0]
    for words, code in (([old, text], 255), ([text, old], 255), ([old, "absent"], 255), ([old, cut], 255), (["-o", "2", old, old], 255),
                        (["-c", "none", old, old], 129), (["-c", "wdiff", old, old], 129), (["-c", "delta:1", old, old], 129),
                        (["-s", "none", old, old], 129), (["--cycles-hist", old, old], 129), (["-c", "cycles", old, old], 255),
                        (["--stream", old, old], 255), (["-t", ".", old, old], 255), (["--time", "a", old, old], 234),
                        (["--percentage", "x", old, old], 129), (["--fail-above", "x", old, old], 129)):
        done = c.diff(*words)
        need(done.returncode == code, "%s: exit code %d instead of %d: %s" % (words, done.returncode, code, done.stderr))
        need(done.stderr.strip(), "%s says nothing" % words)


def test_unknown_key(c):
    """an unknown key is named, and the usage lists the known ones"""
    done = c.diff("-s", "none", c.pair[0], c.pair[0])
    need("Unknown --sort key: `none'" in done.stderr and " keys that distinguish rows " in done.stderr, done.stderr)


def test_empty(c):
    """a recording without samples is a table without rows of its side"""
    empty = os.path.join(c.folder, "empty.data")
    process.perfuse("record", "-q", "-e", "cpu-clock:u", "-c", "4000000000", "-o", empty, "--", "/bin/true", env=environment(c.folder))
    done = c.diff(c.pair[0], empty)
    need(done.returncode == 0 and "Baseline" in done.stdout, done.stdout + done.stderr)
    need("empty.data has no samples" in done.stderr, done.stderr)
    need(c.diff(empty, c.pair[0]).returncode == 0, "a baseline without samples")


def test_events(c):
    """an event that only the baseline has is a table without changes, and a sentence"""
    other = os.path.join(c.folder, "faults.data")
    process.perfuse("record", "-q", "-e", "page-faults", "-c", "1", "-o", other, "--", "/bin/true", env=environment(c.folder))
    done = c.diff(c.pair[0], other)
    need(done.returncode == 0 and "faults.data has no event 'cpu-clock:u', which the baseline has" in done.stderr, done.stderr)
    change = re.compile(r"^ *[\d.]+% +[+-]\d+\.\d+%", re.M)  # names of C++ have such characters, too
    need(change.search(c.diff(*c.pair).stdout), "no change between two recordings")
    need("%" in done.stdout and not change.search(done.stdout), done.stdout)


def test_cycles(c):
    """-c cycles: the blocks of branch stacks and the change of their cycles are perf's, with source lines and without"""
    need_tools("gcc", "objdump")
    for debug in ("-g", "-g0"):
        program = os.path.join(c.folder, "blocks" + debug)
        must("gcc", "-O2", debug, "-fno-pie", "-no-pie", "-o", program, os.path.join(TEST, "annotate", "loops.c"), env=process.compilers())
        paths = [os.path.join(c.folder, "%d%s.data" % (i, debug)) for i in range(4)]
        for i, path in enumerate(paths):
            branches.write(path, program, ["hot", "hot", "main"], i, (40, 60, 4, 3)[i], (400, 400, 60, 30)[i])
        for old, new in ((0, 1), (1, 2), (2, 3), (3, 0)):
            for options in ([], ["-b"], ["-s", "sym"], ["-s", "comm,dso,sym"], ["-p"], ["--cycles-hist"], ["--cycles-hist", "-F"]):
                words = ["-c", "cycles", *options, paths[old], paths[new]]
                ours, perfs = c.diff(*words).stdout, c.run(need_reference(), *words).stdout
                need("main" in ours and ("loops.c:" in ours) == (debug == "-g"), ours)
                need(ours == perfs, "%s: %s" % (words, first_difference(ours, perfs)))


def test_streams(c):
    """--stream: the hottest chains of branches of two recordings are perf's, those of both and those of one"""
    perfdata = os.path.join(CORPUS, "perfdata")
    names = [os.path.join(perfdata, name + ".data") for name in ("autofdo.lbr", "quipper.branch_stack_hw_index")]
    if not all(os.path.exists(name) for name in names):
        raise Skip("no such folder: %s (PERFUSE_CORPUS names another)" % perfdata)
    for old, new in ((0, 0), (1, 1), (0, 1)):
        words = ["--stream", names[old], names[new]]
        ours, perfs = c.diff(*words).stdout, c.run(need_reference(), *words).stdout
        need(ours == perfs, "%s: %s" % (words, first_difference(ours, perfs)))


def test_streams_of_lines(c):
    """--stream: a recording has all streams in common with itself; other branches are other streams"""
    need_tools("gcc", "objdump")
    program = os.path.join(c.folder, "streams")
    must("gcc", "-O2", "-g", "-fno-pie", "-no-pie", "-o", program, os.path.join(TEST, "annotate", "loops.c"), env=process.compilers())
    paths = [os.path.join(c.folder, "streams%d.data" % i) for i in range(2)]
    for i, path in enumerate(paths):
        branches.write(path, program, [("hot", "main")[i]], i, 12, 4)
    text = c.diff("--stream", paths[0], paths[0]).stdout
    need("hot chain pair 1" in text and "hot chain 1" not in text and "hot loops.c:" in text, text)
    shares = [float(share) for share in re.findall(r"hits: ([0-9.]+)%\t", text)]
    need(abs(sum(shares) - 100) < 0.1, "the shares of the streams are not the whole: %s" % shares)
    text = c.diff("--stream", *paths).stdout
    need("hot chain pair" not in text and text.count("hot chain 1:") == 2, text)


def test_cycles_of_rows(c):
    """-c cycles of different programs: rows of one recording, and functions without blocks, are as in perf"""
    truth = os.path.join(CORPUS, "pt", "truth")
    if not os.path.exists(truth):
        raise Skip("no such folder: %s (PERFUSE_CORPUS names another)" % truth)
    symfs = os.path.join(c.folder, "symfs")
    os.mkdir(symfs)
    must("tar", "-C", symfs, "-xf", os.path.join(truth, "symfs.tar.xz"))
    for old, new in (("mix", "pp"), ("pp", "mix"), ("mix", "mix")):
        for options in ([], ["-b"], ["-p"], ["-s", "dso,sym,comm"]):
            words = ["-c", "cycles", *options, "--symfs", symfs, *(os.path.join(truth, name + ".lbr.data") for name in (old, new))]
            # perf reads lines of libraries outside of --symfs
            ours, perfs = (re.sub(" +", " ", re.sub(r"\[[^]]*->[^]]*\]", "RANGE", done.stdout)) for done in
                           (c.diff(*words), c.run(need_reference(), *words)))
            need(ours.count("\n") > 6 and ours == perfs, "%s: %s" % (words, first_difference(ours, perfs)))



if __name__ == "__main__":
    sys.exit(run_in_folder("comparisons of recordings", Context, globals()))
