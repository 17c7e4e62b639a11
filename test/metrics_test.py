#!/usr/bin/env python3
# sanitized: damaged JSON files
"""Events and metrics of vendors' JSON files: names give the attributes of their raw encodings, values of metrics are those that Python
computes from the same expressions, damaged files give one sentence each and the other counters."""
import json
import math
import os
import re
import shutil
import sys
import tempfile
import time
from random import Random

from attributes import grammar
from attributes_test import events_of
from suite import process
from suite.perf import reference
from suite.process import environment
from suite.settings import PERFUSE, SANITIZED, SHORT, TEST
from suite.tests import Skip, need, need_root, run_tests

CPU = "GenuineIntel-6-8F-8"
SOURCE = "/usr/src/linux-source-6.12.tar.xz"
# A processor whose counters are the software clock: each event counts, whatever its code is.
TREE = {"software/type": "1", "tracepoint/type": "2", "breakpoint/type": "5", "cpu/type": "1", "msr/type": "1"}
FORMATS = {"event": "config1:0-7", "umask": "config1:8-15", "inv": "config1:23", "cmask": "config1:24-31", "edge": "config1:18",
           "offcore_rsp": "config2:0-63", "ldlat": "config1:40-50", "frontend": "config1:51-60"}
TREE.update({"cpu/format/" + name: bits for name, bits in FORMATS.items()})
for number in range(2):
    TREE.update({"uncore_imc_%d/type" % number: "1", "uncore_imc_%d/cpumask" % number: "0"})
    TREE.update({"uncore_imc_%d/format/%s" % (number, name): FORMATS[name] for name in ("event", "umask", "edge", "inv")})
EVENTS = [
    ({"EventName": "A.SIMPLE", "EventCode": "0x51", "UMask": "0x20"}, "cpu/event=0x51,umask=0x20/"),
    ({"EventName": "A.DECIMAL", "EventCode": "81", "UMask": "32"}, "cpu/event=81,umask=32/"),
    ({"EventName": "A.LOADS", "EventCode": "0xcd", "UMask": "0x1", "MSRIndex": "0x3F6", "MSRValue": "0x80"},
     "cpu/event=0xcd,umask=1,ldlat=0x80/"),
    ({"EventName": "A.OCR", "EventCode": "0x2A,0x2B", "UMask": "0x1", "MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x3F3FFC4477"},
     "cpu/event=0x2a,umask=1,offcore_rsp=0x3f3ffc4477/"),
    ({"EventName": "A.FRONT", "EventCode": "0xc6", "MSRIndex": "0x3F7", "MSRValue": "0x11", "EdgeDetect": "1", "Invert": "1",
      "CounterMask": "3"}, "cpu/event=0xc6,frontend=0x11,edge,inv,cmask=3/"),
    ({"EventName": "A.PERIOD", "EventCode": "0x3", "SampleAfterValue": "20011"}, "cpu/event=3,period=20011/"),
    ({"EventName": "INST_RETIRED.ANY", "EventCode": "0x0", "UMask": "0x1"}, "cpu/event=0xc0,period=2000003/"),
    ({"EventName": "UNC_M_CAS", "EventCode": "0x05", "UMask": "0xcf", "Unit": "iMC", "PerPkg": "1"}, "uncore_imc/event=5,umask=0xcf/"),
]


class Context:
    events_of = staticmethod(events_of)

    def __init__(self, work):
        self.work = work
        self.library = os.path.join(work, "opened.so")
        self.tree = os.path.join(work, "devices")
        for name, content in TREE.items():
            path = os.path.join(self.tree, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(content + "\n")

    def folder(self, **files):
        """A folder with JSON files: values that are text are written as they are."""
        folder = tempfile.mkdtemp(dir=self.work)
        for name, content in files.items():
            with open(os.path.join(folder, name + ".json"), "w") as file:
                file.write(content if isinstance(content, str) else json.dumps(content))
        return folder

    def run(self, folder, *words, program=PERFUSE, planted=False):
        env = environment(self.work, PERFUSE_EVENTS=folder, PERF_CPUID=CPU)
        # the events of uncore_imc count on one CPU
        words = [*(["taskset", "-c", "0"] if planted and 0 in os.sched_getaffinity(0) else []), program, *words]
        return process.run(*(grammar.planted(self.tree, words) if planted else words), env=env)


def check_planting():
    need_root("this user may not mount; as root it runs")
    if not grammar.can_plant():
        raise Skip("a tree cannot be bound over /sys here")


def opened(c, folder, text):
    log = os.path.join(c.work, "log")
    if os.path.exists(log):
        os.unlink(log)
    env = environment(c.work, PERFUSE_EVENTS=folder, PERF_CPUID=CPU)
    words = ["env", "LD_PRELOAD=" + c.library, "OPENED=" + log, "OPENED_ANY=1", PERFUSE, "record", "--no-bpf-event", "-o", os.path.join(c.work, "perf.data"), "-e", text, "--", "true"]
    done = process.run(*grammar.planted(c.tree, words), env=env)
    need(done.returncode == 0, "%s: exit code %d: %s" % (text, done.returncode, done.stderr[:300]))
    return events_of(log)[0]


def test_names(c):
    """names of vendors' events give the attributes of their raw encodings, alone, with modifiers, in groups and with terms"""
    check_planting()
    if SANITIZED:
        raise Skip("a sanitizer cannot be preloaded over")
    process.must("cc", "-O1", "-shared", "-fPIC", "-o", c.library, os.path.join(TEST, "attributes", "opened.c"), "-ldl")
    folder = c.folder(cache=[event for event, _ in EVENTS])
    for event, raw in EVENTS:
        name = event["EventName"]
        for mine, other in ((name, raw), (name.lower() + ":u", raw + "u"), ("{%s,cs}:k" % name, "{%s,cs}:k" % raw)):
            got, want = opened(c, folder, mine), opened(c, folder, other)
            need(want and got == want, "%s: %s\n%s: %s" % (mine, got, other, want))
    got, want = opened(c, folder, "cpu/A.SIMPLE,cmask=2/"), opened(c, folder, "cpu/event=0x51,umask=0x20,cmask=2/")
    need(got == want, "%s, not %s" % (got, want))


def kernel_files(c):
    """The JSON files of the kernel's source for the planted processor, from which perf's tables are made."""
    check_planting()
    if SHORT:
        raise Skip("unpacking the kernel's source takes long; without PERFUSE_SHORT it runs")
    if not reference() or not os.path.exists(SOURCE):
        raise Skip("perf or the kernel's source is not installed")
    folder, part = os.path.join(c.work, "kernel"), "linux-source-6.12/tools/perf/pmu-events/arch/x86/"
    if not os.path.exists(folder):
        os.mkdir(folder)
        process.must("tar", "xJf", SOURCE, "-C", folder, part + "sapphirerapids", part + "mapfile.csv", seconds=600)
    return os.path.join(folder, part)


def test_list_as_perf(c):
    """lists of the kernel's own JSON files are those that perf makes of its tables"""
    folder = kernel_files(c)
    for words in (["pmu"], ["--details", "pmu"], ["-v", "pmu"], ["-j", "pmu"], ["--no-desc", "pmu"], ["--deprecated", "pmu"],
                  ["TopdownL1"], ["--details", "TopdownL2"], ["unc_m"]):
        perf, mine = (c.run(folder, "list", *words, program=program, planted=True) for program in (reference(), PERFUSE))
        need(len(perf.stdout) > 300 and perf.stdout == mine.stdout, "list %s differs" % " ".join(words))


# Of the metrics those whose values are no negative numbers, as perf leaves these out of -x.
LINES = """-M cpi|-M cpi -x,|-M cpi -j|-M cpi,tma_info_thread_ipc,tma_info_thread_cpi|-M cpi:u,cpi -x,|-M cpi,cpi -j|-M cpi -r 2|-M cpi -r 2 -x,
-M cpi -r 2 -j|-M cpi -a -A|-M cpi -a -A -x,|-M cpi -a -A -j|-M cpi -a --per-core|-M cpi -a --per-core -x,|-M cpi -a --per-core -j
-M cpi -a --per-socket|-M cpi -a --per-node -j|-M cpi --metric-only|-M cpi --metric-only -x,|-M cpi --metric-only -j|-M cpi --metric-only -a -A
-M cpi --metric-only -a -A -x,|-M cpi --metric-only -a -A -j|-M cpi --metric-only -a --per-core|-M cpi --metric-only -a --per-core -x,
-M cpi --metric-only -a --per-core -j|-M cpi --metric-only -a --per-socket|-M cpi -I 60|-M cpi -I 60 -x,|-M cpi -I 60 -j
-M cpi --metric-only -I 60|-M cpi --metric-only -I 60 -x,|-M cpi --metric-only -I 60 -j|-M cpi --metric-only -I 60 -a -A
-M memory_bandwidth_total|-M memory_bandwidth_total -x,|-M uncore_nothing|-M cpi --metric-only -r 2|-M cpi,tma_info_thread_ipc --metric-no-merge -j
-M cpi:k,cpi:u -j|-M cpi --for-each-cgroup / -e cycles -a -x,|-M cpi -e page-faults|-M memory_bandwidth_total,cpi"""


def masked(done):
    """The exit code, and what was printed without numbers and widths."""
    text = re.sub(r"\d+\.\d+|-?nan", "N", done.stderr)
    return done.returncode, re.sub(r"  +", " ", re.sub(r"\d{2,}", "N", text))


def test_stat_as_perf(c):
    """metrics of the kernel's own JSON files are printed as perf prints those of its tables, on 43 command lines"""
    folder = kernel_files(c)
    lines, different = LINES.replace("\n", "|").split("|"), []
    for line in lines:
        words = ["stat", *line.split(), "sleep", "0.07"]
        for _ in range(3):
            perf, mine = (masked(c.run(folder, *words, program=program, planted=True)) for program in (reference(), PERFUSE))
            if perf == mine:
                break
        else:
            different.append("%s\nperf: %s\nperfuse: %s" % (line, perf, mine))
    need(len(lines) == 43 and not different, "%d of %d differ: %s" % (len(different), len(lines), "\n".join(different[:3])))


HOSTILE = {
    "deep": "[" * 5000,
    "open": '[{"EventName":"x"',
    "number": '[{"EventName":"x","EventCode":"0xfffffffffffffffff"}]',
    "kind": '{"Other": 3}',
    "entry": "[1]",
    "bytes": "\\x00\\xff",
    "empty": "",
    "metric": '[{"MetricName":"x"}]',
    "standard": '[{"ArchStdEvent":"NO_SUCH"}]',
}


def test_hostile(c):
    """a damaged file gives one sentence, and the events of the others are counted"""
    for name, text in HOSTILE.items():
        folder = c.folder(**{name: text, "good": [{"MetricName": "m", "MetricExpr": "1"}]})
        done = c.run(folder, "stat", "-e", "no_such_event", "true")
        lines = [line for line in done.stderr.splitlines() if "/%s.json" % name in line]
        need(len(lines) == 1 and done.returncode == 129, "%s: %s" % (name, done.stderr[:500]))
        done = c.run(folder, "stat", "-x,", "-e", "page-faults", "true")
        need(done.returncode == 0 and ",page-faults," in done.stderr, "%s: %s" % (name, done.stderr[:300]))
    folder = c.folder()
    os.symlink("/dev/zero", os.path.join(folder, "device.json"))
    os.mkfifo(os.path.join(folder, "fifo.json"))
    with open(os.path.join(folder, "large.json"), "w") as file:
        file.truncate(1 << 32)
    done = c.run(folder, "stat", "-e", "no_such_event", "true")
    need(len(re.findall(r"(device|fifo|large)\.json", done.stderr)) == 3, done.stderr[:600])


VARIABLES = {"page-faults": 1, "minor-faults": 1, "context-switches": 1, "task-clock": 1e6, "duration_time": 1e-9}  # to the metric's unit
GENERATED = 400


def whole(value):
    """As a signed number of 64 bits."""
    return 0 if math.isnan(value) else max(-2 ** 63, min(2 ** 63 - 1, int(value) if not math.isinf(value) else int(math.copysign(2 ** 63, value))))


def modulo(a, b):
    b = whole(b)
    return math.nan if b == 0 else float(math.fmod(whole(a), b)) if abs(whole(a)) < 2 ** 53 else math.copysign(abs(whole(a)) % abs(b), whole(a))


OPERATORS = {
    "|": (0, lambda a, b: float(whole(a) | whole(b))), "^": (1, lambda a, b: float(whole(a) ^ whole(b))),
    "&": (2, lambda a, b: float(whole(a) & whole(b))), "<": (3, lambda a, b: float(a < b)), ">": (3, lambda a, b: float(a > b)),
    "-": (4, lambda a, b: a - b), "+": (4, lambda a, b: a + b), "*": (5, lambda a, b: a * b),
    "/": (5, lambda a, b: math.nan if b == 0 else a / b), "%": (5, modulo),
}
FUNCTIONS = {"min": lambda a, b: a if a < b else b, "max": lambda a, b: a if a > b else b,
             "d_ratio": lambda a, b: 0.0 if b == 0 else a / b}
HIGHEST = 6


def generate(random, depth):
    """(text, how tightly its last operator binds, a function of the variables that gives its value)"""
    kind = random.randrange(10) if depth else random.randrange(3)
    if kind == 0:
        number = random.choice(["0", "1", "2", "3", "7", "0.5", "1e3", "2.5e-1", "64", "1e9"])
        return number, HIGHEST, lambda v: float(number)
    if kind == 1:
        name = random.choice(list(VARIABLES))
        return name.replace("-", "\\-"), HIGHEST, lambda v: v[name]
    if kind == 2:
        return "#num_cpus_online", HIGHEST, lambda v: float(os.sysconf("SC_NPROCESSORS_ONLN"))
    if kind == 3:
        text, level, value = generate(random, depth - 1)
        return "-" + (text if level == HIGHEST else "(%s)" % text), HIGHEST, lambda v: -value(v)
    if kind == 4:
        name = random.choice(list(FUNCTIONS))
        (a, _, x), (b, _, y) = generate(random, depth - 1), generate(random, depth - 1)
        return "%s(%s, %s)" % (name, a, b), HIGHEST, lambda v: FUNCTIONS[name](x(v), y(v))
    if kind == 5:
        (a, i, x), (b, j, y), (c, _, z) = (generate(random, depth - 1) for _ in range(3))
        a, b = (text if level >= 0 else "(%s)" % text for text, level in ((a, i), (b, j)))
        return "%s if %s else %s" % (a, b, c), -1, lambda v: x(v) if y(v) != 0 else z(v)
    sign = random.choice(list(OPERATORS))
    level, operate = OPERATORS[sign]
    (a, i, x), (b, j, y) = generate(random, depth - 1), generate(random, depth - 1)
    a = a if i >= level else "(%s)" % a
    b = b if j > level else "(%s)" % b
    return "%s %s %s" % (a, sign, b), level, lambda v: operate(x(v), y(v))


def test_values(c):
    """the values of several hundred generated expressions are those that Python computes"""
    random = Random(12)
    made = [generate(random, 5) for _ in range(GENERATED)]
    made = [row for row in made if len(row[0]) < 3000]
    folder = c.folder(metrics=[{"MetricName": "m%d" % i, "MetricExpr": text, "MetricGroup": "T"} for i, (text, _, _) in enumerate(made)])
    done = c.run(folder, "stat", "-j", "--metric-no-group", "-M", "T", "--", "sh", "-c", "true; true")
    need(done.returncode == 0, done.stderr[:500])
    rows = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    variables = {name: float(row["counter-value"]) * scale for row in rows for name, scale in VARIABLES.items() if row.get("event") == name}
    values = {row["metric-unit"]: float(row["metric-value"]) for row in rows}
    need(len(variables) == len(VARIABLES), "counted: %s" % variables)
    wrong, judged = [], 0
    for i, (text, _, value) in enumerate(made):
        want, got = value(variables), values.get("m%d" % i)
        if got is None:
            wrong.append("%s: absent" % text)
        elif not (math.isnan(want) and math.isnan(got)) and not math.isclose(want, got, rel_tol=1e-6, abs_tol=2e-6):
            wrong.append("%s is %r, not %r with %s" % (text, got, want, variables))
        judged += not math.isnan(want)
    need(not wrong, "%d of %d differ: %s" % (len(wrong), len(made), "\n".join(wrong[:3])))
    need(judged > GENERATED / 2, "only %d are numbers" % judged)


def test_layouts(c):
    """a metric over software events is printed as text, with -x and with -j, and alone"""
    folder = c.folder(metrics=[
        {"MetricName": "faults_m", "MetricExpr": "page\\-faults * 2", "MetricGroup": "G", "ScaleUnit": "100%"},
        {"MetricName": "none", "MetricExpr": "page\\-faults / 0", "MetricGroup": "G"}])
    text = c.run(folder, "stat", "-M", "G", "true").stderr
    need(re.search(r"^ +\d+ +page-faults  +# +\d+\.\d %  faults_m +$", text, re.M) and re.search(r"^ {50}# +nan none +$", text, re.M), text)
    faults = int(re.search(r"^(\d+),,page-faults", c.run(folder, "stat", "-x,", "-M", "G", "true").stderr, re.M).group(1))
    need(faults > 10, "%d faults" % faults)
    lines = c.run(folder, "stat", "-x,", "-M", "faults_m", "true").stderr.splitlines()
    need(re.fullmatch(r"(\d+),,page-faults,\d+,100\.00,(\d+)\.0,%  faults_m", lines[0]), lines[0])
    first, second = re.match(r"(\d+),.*,(\d+)\.0,%  faults_m", lines[0]).groups()
    need(int(second) == 200 * int(first), lines[0])
    lines = c.run(folder, "stat", "-x,", "--metric-only", "-M", "G", "true").stderr.splitlines()
    need(lines[0] == "%  faults_m,none," and re.fullmatch(r"\d+\.0,,", lines[1]), "\n".join(lines))
    alone = json.loads(c.run(folder, "stat", "-j", "--metric-only", "-M", "G", "true").stderr)
    need(list(alone) == ["%  faults_m"], alone)
    rows = [json.loads(line) for line in c.run(folder, "stat", "-j", "-M", "G", "true").stderr.splitlines()]
    need([row["metric-unit"] for row in rows] == ["%  faults_m", "none"] and "event" not in rows[1], rows)


WRONG = [
    ({"MetricName": "a", "MetricExpr": "b + 1"}, {"MetricName": "b", "MetricExpr": "1 / a"}, 255, "failed: recursion detected for a"),
    ({"MetricName": "a", "MetricExpr": "page\\-faults +"}, None, 1, "an operand is missing at the end of the expression, offset 14"),
    ({"MetricName": "a", "MetricExpr": "no_such_event"}, None, 1, "the metric a needs the event no_such_event: Bad event name"),
    ({"MetricName": "a", "MetricExpr": "(" * 9999}, None, 1, "more levels than are supported"),
    ({"MetricName": "b", "MetricExpr": "1"}, None, 234, "Cannot find metric or group `a'"),
]


def test_wrong(c):
    """a metric that refers to itself, is wrong or needs what the machine does not have gives one sentence, with its place"""
    for first, second, code, sentence in WRONG:
        folder = c.folder(metrics=[row for row in (first, second) if row])
        done = c.run(folder, "stat", "-M", "a", "true")
        need(done.returncode == code and sentence in done.stderr, "%s: %d %s" % (first, done.returncode, done.stderr[:300]))
        need(len(done.stderr.strip().splitlines()) <= 2, done.stderr[:600])


# what each file of metrics plants, and the sentence about the metric a
BOMBS = [
    ([("a", "m0")] + [("m%d" % i, "m%d + 1" % (i + 1)) for i in range(9999)], "more metrics refer to each other than are supported"),
    ([("a", "m0")] + [("m%d" % i, "m%d + m%d" % (i + 1, i + 1)) for i in range(60)] + [("m60", "1")], "more metrics refer to each other"),
    ([("a", " + ".join("m%d" % i for i in range(4000)))] + [("m%d" % i, "1") for i in range(4000)], "more levels than are supported"),
    ([("a", "-" * 50000 + "1")], "more levels than are supported"),
    ([("a", "1 if 1 else " * 4000 + "1")], "more levels than are supported"),
    ([("a", "(" * 70000 + "1" + ")" * 70000)], "the metric a has no MetricExpr of 1 to 65535 bytes"),
]


def test_bombs(c):
    """metrics that grow with each reference, deep ones and long ones end with a sentence within seconds; other counters are printed"""
    for rows, sentence in BOMBS:
        folder = c.folder(metrics=[{"MetricName": name, "MetricExpr": expression} for name, expression in rows])
        began = time.monotonic()
        done = c.run(folder, "stat", "-M", "a", "true")
        need(done.returncode in (1, 234) and sentence in done.stderr, "%s: %d %s" % (rows[0][1][:40], done.returncode, done.stderr[:300]))
        need(time.monotonic() - began < 60, "%s takes %.1f s" % (rows[0][1][:40], time.monotonic() - began))
        done = c.run(folder, "stat", "-x,", "-e", "page-faults", "true")
        need(done.returncode == 0 and ",page-faults," in done.stderr, done.stderr[:300])


def test_zero(c):
    """a division by zero is no number, and the metrics beside it have theirs"""
    folder = c.folder(metrics=[{"MetricName": "a", "MetricExpr": "1 / 0", "MetricGroup": "g"},
                               {"MetricName": "b", "MetricExpr": "6 / 4", "MetricGroup": "g"}])
    done = c.run(folder, "stat", "-M", "g", "true")
    need(done.returncode == 0 and re.search(r"nan a\b", done.stderr) and re.search(r"1\.50? b\b", done.stderr), done.stderr)


def test_libpfm(c):
    """a name of libpfm4 has the code of the processor that it is for"""
    if SANITIZED:
        raise Skip("a sanitizer cannot be preloaded over")
    log = os.path.join(c.work, "log")
    process.must("cc", "-O1", "-shared", "-fPIC", "-o", c.library, os.path.join(TEST, "attributes", "opened.c"), "-ldl")
    env = environment(c.work, LIBPFM_FORCE_PMU="skl", LD_PRELOAD=c.library, OPENED=log, OPENED_ANY="1")
    done = process.run(PERFUSE, "record", "--no-bpf-event", "-o", os.path.join(c.work, "perf.data"), "-e",
                       "INST_RETIRED:ANY_P:u,L1D:REPLACEMENT", "--", "true", env=env)
    if done.returncode and "unknown tracepoint" in done.stderr:
        raise Skip("libpfm4 is not installed")
    words = " ".join(row[0] for row in events_of(log)[0])
    need("config=0x5300c0" in words or "config=0xc0" in words, words)
    need("config=0x530151" in words or "config=0x151" in words, words)


def test_libpfm_absent(c):
    """a name that libpfm4 does not know, or any name without the library, ends each command that takes one with a sentence and 129"""
    for words, command in (["record", "-o", os.path.join(c.work, "perf.data")], ["true"]), (["stat"], ["true"]), (["top", "--stdio"], []):
        done = process.run(PERFUSE, *words, "--pfm-events", "nosuch", *command, env=environment(c.work))
        need(done.returncode == 129 and re.match(r"failed to parse event nosuch|.*libpfm4", done.stderr), "%r" % done)


def main():
    work = tempfile.mkdtemp()
    try:
        context = Context(work)
        return run_tests([(test.__doc__, lambda test=test: test(context)) for name, test in sorted(globals().items())
                          if name.startswith("test_")])
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
