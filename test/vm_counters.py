#!/usr/bin/env python3
"""Boots an aarch64 machine in which each instruction takes a nanosecond, and counts there a program whose instructions are known: the
PMU counts them. Groups, multiplexing, samples, intervals, recordings of counts, comparisons."""
import json
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.machine import cross, virtual_machine
from suite.perf import reference
from suite.process import environment
from suite.settings import PERFUSE, TEST, TOP
from suite.tests import need, need_tools, remark, run_tests, tests_of

TURNS = 10000000
INSTRUCTIONS = 2 * TURNS
OTHERS = INSTRUCTIONS // 1000
# One CPU: qemu counts the instructions of all CPUs on each of them.
GUEST = r"""
cd /tmp
run() { echo "== $1"; shift; "$@" 2>&1; echo "exit code $?"; }
N=10000000
run once perfuse stat -x, -e instructions:u counted $N
run less perfuse stat -x, -e instructions:u counted 0
run more perfuse stat -x, -e instructions:u counted 10200000
run both perfuse stat -x, -e instructions:u,instructions:k,instructions:uk counted 1000
run group perfuse stat -x, -e '{instructions:u,cycles:u,r8:u}' counted $N
run many perfuse stat -x, -e instructions:u,cycles:u,r8:u,r11:u,r8:u,r11:u,r8:u,r11:u,r8:u,r11:u counted 50000000
run large perfuse stat -x, -e '{r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u}' counted 1000
run repeated perfuse stat -r 5 -e instructions:u counted $N
run intervals perfuse stat -x, -I 10 -e instructions:u counted $N
run cpus perfuse stat -x, -A -a -e instructions:u counted $N
run json perfuse stat -j -e instructions:u,cycles:u,branches:u counted $N
run defaults perfuse stat counted $N
run recorded perfuse stat record -e instructions:u,cycles:u -o /mnt/stat.data counted $N
run reported perfuse stat report -i /mnt/stat.data
run sampled perfuse record -e instructions:u -c 1000000 -o x counted 100000000
run samples perfuse script -F ip -i x
run grouped perfuse record -e '{instructions:u,cycles:u}:S' -c 1000000 -o y counted 100000000
run values perfuse script -F event,period -i y
run planted perfuse compare -n 20 -e instructions:u --format=json -- counted $N -- counted 10200000
run equal perfuse compare -n 20 -e instructions:u --format=json -- counted $N -- counted $N
run turns perfuse bench switch pipe -l 500 --counters --format=json
perfuse record -q --switch-events -c 20000 -e cpu-clock,cycles:u,instructions:u,r8:u -o z -- perfuse bench switch pipe -l 1000 -w 50000 >/dev/null 2>&1
run blocking perfuse blocking -i z --format=json
perfuse stat record -I 2 -e instructions:u -o a counted $N 2>/dev/null
perfuse stat record -I 2 -e instructions:u -o b counted $N 2>/dev/null
run recordings perfuse compare --format=json a b
"""


class Context:
    """What each step printed, by its name."""
    def __init__(self):
        need_tools("aarch64-linux-gnu-gcc", "qemu-system-aarch64")
        build = os.path.join(TOP, "build-aarch64")
        need(cross("aarch64", build, "perfuse") == 0, "tools/cross aarch64 fails")
        self.folder = tempfile.mkdtemp(prefix="perfuse-counters-")
        counted = os.path.join(self.folder, "counted")
        process.must("aarch64-linux-gnu-gcc", "-static", "-nostdlib", "-o", counted, os.path.join(TEST, "vm/counted.S"))
        done = virtual_machine("--arch", "aarch64", "--icount", "--cpus", "1", "--share", self.folder, "--program", os.path.join(build, "perfuse"),
                               "--program", counted, "--timeout", "900", "--", "sh", "-c", GUEST)
        self.steps = dict(re.findall(r"(?ms)^== (\w+)\r?\n(.*?)(?=^== |\Z)", done.stdout.replace("\r", "")))
        self.whole = done.stdout[-3000:] + done.stderr[-1000:]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def text(self, step):
        need(step in self.steps and self.steps[step].endswith("exit code 0\n"), "%s: %s" % (step, self.steps.get(step, self.whole)))
        return self.steps[step][:-len("exit code 0\n")]

    def fields(self, step):
        return [line.split(",") for line in self.text(step).splitlines() if line]

    def counts(self, step):
        return [int(row[0]) for row in self.fields(step)]


def near(count, wanted, what):
    need(wanted <= count <= wanted + OTHERS, "%s: %d, not %d to %d" % (what, count, wanted, wanted + OTHERS))


def test_exact(c):
    """the instructions of a program are counted within a thousandth, and so is a difference of two hundredths"""
    once, less, more = (c.counts(step)[0] for step in ("once", "less", "more"))
    near(once, INSTRUCTIONS, "once")
    near(less, 0, "no turn")
    need(abs(more - once - INSTRUCTIONS // 50) <= OTHERS, "2 %% more are %d more" % (more - once))


def test_modes(c):
    """user and kernel instructions are counted apart, and together"""
    user, kernel, both = c.counts("both")
    near(user, 2000, "user")
    need(kernel > 1000 and abs(both - user - kernel) < 100, "%d and %d are not %d" % (user, kernel, both))


def test_groups(c):
    """events of a group have counted over the same time; a group larger than the PMU is not counted, which is not 0"""
    rows = c.fields("group")
    need(len({row[3] for row in rows}) == 1 and len({row[0] for row in rows}) == 1, rows)
    near(int(rows[0][0]), INSTRUCTIONS, "the group")
    need(all(row[0] in ("<not counted>", "<not supported>") for row in c.fields("large")), c.fields("large"))


def test_multiplexing(c):
    """more events than counters share them: scaled counts are within five hundredths, and each row has its share of the time"""
    rows = c.fields("many")
    need(len(rows) == 10 and any(float(row[4]) < 99 for row in rows), rows)
    for row in rows:
        need(float(row[4]) > 5 and abs(int(row[0]) - 100000000) < 5000000, "%s" % row)


def test_repetition(c):
    """repeated runs deviate by less than a thousandth, and intervals add up"""
    need(re.search(r"\n +200\d{5} +instructions:u +(\( \+-  0\.0\d% \))?\n", c.text("repeated")), c.text("repeated"))
    counts = [int(row[1]) for row in c.fields("intervals") if row[1].isdigit()]
    need(len(counts) > 1, counts)
    near(sum(counts), INSTRUCTIONS, "the sum of intervals")


def test_cpus(c):
    """-a counts what else runs, too"""
    counts = {row[0]: int(row[1]) for row in c.fields("cpus")}
    need(INSTRUCTIONS <= counts["CPU0"] < INSTRUCTIONS + 500000, counts)


def test_layouts(c):
    """-j has valid objects, and the default rows what this PMU has and lacks"""
    rows = [json.loads(line) for line in c.text("json").splitlines()]
    need([row["event"] for row in rows] == ["instructions:u", "cycles:u", "branches:u"], rows)
    near(int(float(rows[0]["counter-value"])), INSTRUCTIONS, "-j")
    need(rows[0]["metric-unit"] == "insn per cycle" and float(rows[0]["metric-value"]) == 1, rows[0])
    need(rows[2]["counter-value"] == "<not supported>", rows[2])
    for pattern in (r"\n +\d+ +cycles +# +[\d.]+ GHz", r"\n +\d+ +instructions +# +1\.00 +insn per cycle", r"\n +<not supported> +branches +\n"):
        need(re.search(pattern, c.text("defaults")), "%s: %s" % (pattern, c.text("defaults")))


def test_recording(c):
    """recorded counts are reported there, here, and by perf 6.12 here, with the same text"""
    c.text("recorded")
    need(re.search(r"\n +200\d{5} +instructions:u ", c.text("reported")), c.text("reported"))
    words = ("stat", "report", "-i", os.path.join(c.folder, "stat.data"))
    ours = process.run(PERFUSE, *words, env=environment(c.folder))
    need(ours.returncode == 0 and ours.stderr.strip() == c.text("reported").strip(), "here: %s" % ours.stderr)
    if reference():
        theirs = process.run(reference(), *words, env=environment(c.folder))
        need(theirs.stderr == ours.stderr, "perf: %s, not %s" % (theirs.stderr, ours.stderr))


def compared(c, step):
    """The rows of a comparison, by counter. Messages precede the JSON."""
    text = c.text(step)
    return {row["counter"]: row for row in json.loads(text[text.index("{"):])["tables"][0]["rows"]}


def test_planted(c):
    """`compare` finds two hundredths more instructions in 20 runs a side, with their size, and none between equal commands"""
    row, equal = compared(c, "planted")["instructions:u"], compared(c, "equal")["instructions:u"]
    remark("two hundredths more: %.3f %% [%.3f, %.3f], p %.4f; equal: %.4f %%" % (
        row["change"], row["low"], row["high"], row["p"], equal["change"]))
    near(int(row["median_a"]), INSTRUCTIONS, "A")
    need(row["changed"] and row["runs_a"] == row["runs_b"] == 20 and row["low"] <= row["change"] <= row["high"], row)
    need(abs(row["change"] - 2) < 0.1, row)
    need(not equal["changed"] and abs(equal["change"]) < 0.1, equal)


def test_compared_recordings(c):
    """`compare` has a value for each interval of a recording"""
    row = compared(c, "recordings")["instructions:u"]
    need(row["runs_a"] >= 6 and row["runs_b"] >= 6 and not row["changed"], row)


def test_samples(c):
    """interrupts of the PMU make samples, nearly all in the loop; a group's other counts are in them"""
    places = c.text("samples").split()
    inside = [place for place in places if int(place, 16) < 1 << 32]
    need(len(places) >= 10 and len(inside) >= 0.8 * len(places), places)
    rows = [line.split() for line in c.text("values").splitlines()]
    need({row[1] for row in rows} == {"instructions:u:", "cycles:u:"} and len(rows) >= 20, rows[:10])
    pairs = list(zip(rows[::2], rows[1::2]))
    need(all(a[0] == b[0] for a, b in pairs), "a nanosecond an instruction: %s" % pairs[:4])


def test_turns(c):
    """bench switch counts the instructions and cycles of its turns, in the kernel, too; blocking compares events after switches and elsewhere"""
    (row,) = json.loads(c.text("turns"))["tables"][0]["rows"]
    need(500 * 2 * 1000 < row["instructions"] < 500 * 2 * 100000, row)
    need(abs(row["cycles"] - row["instructions"]) < row["instructions"] / 5, row)
    found = {table["name"]: table["rows"] for table in json.loads(c.text("blocking"))["tables"]}
    lost = next(row for row in found["parts"] if row["part"] == "user work lost after switches")
    need(lost["how"] == "measured by counters" and lost["low"] <= 0.05, lost)
    (event,) = found["events"]  # each instruction is an event
    need(event["event"] == "r8:u" and event["after"] > 0 and event["elsewhere"] > 1000000, event)
    need(abs(event["elsewhere_rate"] - 1000) < 50 and event["low"] < event["extra"] < event["high"], event)


def main():
    context = Context()
    try:
        return run_tests(tests_of(globals(), context))
    finally:
        context.close()


if __name__ == "__main__":
    sys.exit(main())
