#!/usr/bin/env python3
"""`stat`: command lines compared with perf, the values masked; counts of a program that knows them; what is refused; cost."""
import json
import os
import re
import shlex
import statistics
import sys
import tempfile
import time

from suite import process
from suite.perf import need_reference
from suite.settings import PERFUSE, SANITIZED
from suite.tests import Skip, need, need_root, run_tests, tests_of

PMU_LINE = "This machine or kernel has no PMU"
# what perf says on processors of Intel without a PMU about the metrics that it counts by default
OWN_ERROR = re.compile(r"event syntax error: 'topdown-retiring.*\n.*\n\nUnable to find PMU or event on a PMU of 'topdown-retiring'\n")

LINES = """-e task-clock,page-faults true
-a -C 0 -e page-faults true
-a --per-node --per-die --per-socket -e page-faults true
-a --per-core --per-cache --per-cluster -e page-faults true
-a -A --per-core --per-node -e page-faults true
-e page-faults true
-e cs,migrations,faults,cpu-clock -x: true
-e task-clock,page-faults -A -a sleep 0.01
-e task-clock,page-faults --no-merge -a sleep 0.01
-e task-clock,page-faults --per-core -a sleep 0.01
-e task-clock,cycles --per-socket -a sleep 0.01
-e task-clock,page-faults --per-die -a sleep 0.01
-e task-clock,page-faults --per-cluster -a sleep 0.01
-e task-clock,page-faults --per-cache -a sleep 0.01
-e task-clock,page-faults --per-node -a sleep 0.01
-x, -e task-clock,cycles -A -a sleep 0.01
-x, -e task-clock,cycles --per-core -a sleep 0.01
-x, -e task-clock,cycles --per-socket -a sleep 0.01
-x, -e task-clock,cycles --per-die -a sleep 0.01
-x, -e task-clock,cycles --per-cluster -a sleep 0.01
-x, -e task-clock,cycles --per-cache -a sleep 0.01
-x, -e task-clock,cycles --per-node -a sleep 0.01
-j -e task-clock,cycles -A -a sleep 0.01
-j -e task-clock,cycles --per-core -a sleep 0.01
-j -e task-clock,cycles --per-socket -a sleep 0.01
-j -e task-clock,cycles --per-die -a sleep 0.01
-j -e task-clock,cycles --per-node -a sleep 0.01
-I 20 --interval-count 1 -e task-clock,cycles -A -a
-I 20 --interval-count 1 -e task-clock,cycles --per-core -a
-I 20 --interval-count 1 -e task-clock,cycles --per-socket -a
-I 20 --interval-count 1 -e task-clock,cycles --per-die -a
-I 20 --interval-count 1 -e task-clock,cycles --per-cluster -a
-I 20 --interval-count 1 -e task-clock,cycles --per-cache -a
-I 20 --interval-count 1 -e task-clock,cycles --per-node -a
-x, -I 20 --interval-count 1 -e task-clock,cycles --per-core -a
-j -I 20 --interval-count 1 -e task-clock,cycles --per-node -a
-I 20 --interval-count 2 -e task-clock,cycles -a
-x, -I 20 --interval-count 2 -e task-clock,cycles -a
-n true
-n -x, true
-x, true
-j true
-d -x, true
-dd -j true
-ddd -x, true
-r 3 -x, -e task-clock,page-faults,cycles true
-r 3 -j -e task-clock,page-faults,cycles true
-n -r 3 sleep 0.01
-x, --summary -I 50 --interval-count 1 -e task-clock,cycles sleep 0.1
-x, --summary --no-csv-summary -I 50 --interval-count 1 -e task-clock,cycles sleep 0.1
--summary -I 50 --interval-count 1 -e task-clock,cycles sleep 0.1
-j --summary -I 50 --interval-count 1 -e task-clock,cycles sleep 0.1
--timeout 200 -e page-faults sleep 2
-D 20 -e page-faults sleep 0.05
-x, -e duration_time true
-d -e page-faults true
-e {page-faults,cycles} true
-e {task-clock,page-faults}:u true
-e instructions:u,cycles:u true
-a -e page-faults --no-big-num sleep 0.01
-C 0 -e task-clock,page-faults sleep 0.02
-C 0 -x; -e task-clock,page-faults sleep 0.02
-x \\t -e task-clock true
-o OUT -e page-faults true
-x, -o OUT -e page-faults true
-j -o OUT -e page-faults true
-o OUT --append -e page-faults true
--log-fd 1 -e page-faults true
--no-scale -e page-faults true
--all-user -e page-faults true
--all-kernel -e task-clock true
-i -e page-faults,minor-faults,major-faults true
-e sched:sched_switch -A -a sleep 0.01
-a --for-each-cgroup / -e page-faults sleep 0.01
-x, -a --for-each-cgroup / -e page-faults sleep 0.01
-x, -a --for-each-cgroup / sleep 0.01
-x; -e dummy,dummy -a -G /,/ sleep 0.01
-a --per-core --for-each-cgroup /, -e page-faults,cs sleep 0.01
-p 1 -a -e page-faults sleep 0.01
-t 1 -C 0 -e page-faults sleep 0.01
-a -e page-faults -G / sleep 0.01
--pre true --post true -e page-faults true
--quiet true
-e task-clock,{page-faults,cs} true
-e task-clock,page-faults:u true
--cputype cpu -e cycles,page-faults true
--hybrid-merge -e page-faults true
--percore-show-thread -A -a -e cpu-clock sleep 0.01
--record-tpebs -e page-faults true
-r 3 -a --per-core -e cpu-clock,cs true
-x, --summary -e page-faults true
-n --per-core -a sleep 0.01
-x; --metric-only --per-node -a -e task-clock,page-faults sleep 0.01
-x; --metric-only --per-node -I 50 --interval-count 1 -a -e task-clock,page-faults sleep 0.1
-x; --metric-only --per-core -I 50 --interval-count 1 --summary -a -e task-clock,page-faults sleep 0.1
-x; --metric-only -I 50 --interval-count 1 --summary -a -e task-clock,page-faults sleep 0.1
-p 1 --per-thread -e page-faults,task-clock sleep 0.01
-p 1 --per-thread -j -e page-faults,task-clock sleep 0.01
-t 1 --per-thread -I 20 --interval-count 1 -e page-faults,task-clock
nonexistent
/etc/passwd""".splitlines()

# what `stat record` records, in files and in pipes, and how `stat report` prints it
RECORDED = """true
-d true
-n true
-e page-faults,task-clock,cycles true
-e {page-faults,task-clock},{cs,cycles} true
-e instructions:u,page-faults:u true
-I 20 -e page-faults,task-clock,cycles sleep 0.07
-I 20 -a -e page-faults,cpu-clock,cycles sleep 0.07
-I 20 --per-core -a -e page-faults,cpu-clock sleep 0.07
-I 20 --summary -e page-faults sleep 0.05
-a -e cpu-clock,page-faults,cycles sleep 0.03
-A -a -e cpu-clock,cycles,cs sleep 0.03
--per-core -a -e cpu-clock,cycles,cs sleep 0.03
--per-socket -a -e cpu-clock,cycles,cs sleep 0.03
--per-cache -a -e cpu-clock,cycles,cs sleep 0.03
--per-node -a -e cpu-clock,cycles,cs sleep 0.03
--per-thread -p 1 -e task-clock,page-faults sleep 0.03
-C 0 -e cpu-clock,faults sleep 0.02
-D 10 -e faults sleep 0.03
-a -e page-faults --for-each-cgroup / sleep 0.01""".splitlines()
REPORTED = ["report", "report -A", "-x, report", "-j report", "report --per-core", "-x, report --per-socket", "-j report --per-die",
            "report --per-cluster", "report --per-cache", "-x, report --per-cache=L1", "report --per-node", "report --per-thread"]

# refused with a sentence and the usage, whose texts are each program's own
REFUSED = """--timeout 5 true
--interval-count 2 true
-r -5 true
--log-fd 77 true
--log-fd 1 -o x true
-o /nonexistent/x true
--per-core true
--table true
-a -e page-faults -G / --for-each-cgroup / true
-a -e page-faults --for-each-cgroup / -G / true
-I -5 -e page-faults true
--timeout -5 true
-a --per-thread -C 0 true
--interval-clear -I 20 -e page-faults sleep 0.05
-C foo -e page-faults true
-t foo true
-a -e page-faults -G nonexistent sleep 0.01
-a -e page-faults --for-each-cgroup nonexistent sleep 0.01
-a -e page-faults --for-each-cgroup none.*such sleep 0.01
--control fd: true
record -r 2 true
record -o /nonexistent/x true
-B -x, true
--per-thread sleep 0.01
-T true
--smi-cost true
--iostat true
--iostat=list
--cputype core true
-e cycles --cputype cpu true
-M '' true
-M , true
-p '' true
-t '' true
--control fifo:/tmp/nofifo/x true
--per-cache=L9 -a true
--per-cache=9 -a true
-p 999999 true
-t 999999 true""".splitlines()


class Context:
    def __init__(self, work):
        self.work = work

    def stat(self, program, words):
        out = os.path.join(self.work, "out")
        if "--append" in words:
            with open(out, "w", encoding="utf-8") as file:
                file.write("earlier\n")
        done = process.run(program, "stat", *[out if word == "OUT" else word for word in words], cwd=self.work)
        text = ""
        if "OUT" in words:
            with open(out, encoding="utf-8") as file:
                text = file.read()
            os.unlink(out)
        done.stderr = OWN_ERROR.sub("", done.stderr)
        return done, text


def masked(text, values_alone):
    """Values become N, of the width of what is left of them, as widths are part of a table's layout."""
    text = "".join(line for line in text.splitlines(True) if PMU_LINE not in line)
    text = re.sub("# started on .*", "# started on", text)
    # a counter of an idle CPU or task may have run or not
    text = re.sub(r"<not counted>", lambda found: "0".rjust(13), text) if not values_alone else text
    text = re.sub(r"[KMG]/sec", "/sec", text) if values_alone else re.sub(r"([KMG]/sec|/sec )", "/sec ", text)
    if values_alone:
        return re.sub(r"[0-9][0-9.]*", "N", text)
    # errors that are not zero, and counters that did not run all the time: whether there are any is chance
    text = re.sub(r" *\(( \+-|[0-9.]*%).*", "", text)
    text = re.sub(r"(?m)^.* seconds", "N seconds", text)
    return re.sub(r"(?m) +$", "", re.sub(r" *[0-9][0-9.]*", lambda found: "N".rjust(len(found.group(0))), text))


def need_counters(c):
    done, _ = c.stat(PERFUSE, ["-x,", "-e", "page-faults", "true"])
    if done.returncode or "not" in done.stderr:
        raise Skip("nothing can be counted here: " + done.stderr.strip()[-150:])


def disagreement(c, line):
    values_alone = any(word.startswith(("-x", "-j")) for word in line.split())
    seen = []
    for program in (need_reference(), PERFUSE):
        done, text = c.stat(program, line.split())
        seen.append((done.returncode, masked(done.stdout + done.stderr + text, values_alone)))
    return None if seen[0] == seen[1] else "%s: perf %r, perfuse %r" % (line, *seen)


def test_layouts(c):
    """text, -x and -j are perf's on %d command lines, values aside"""
    need_counters(c)
    need_reference()
    wrong = []
    for line in LINES:
        # perf may lose a race with a short command; a difference of layout remains
        if all(disagreement(c, line) for _ in range(3)):
            wrong.append(disagreement(c, line) or line)
    need(not wrong, "%d of %d differ:\n%s" % (len(wrong), len(LINES), "\n".join(wrong)))


test_layouts.__doc__ %= len(LINES)


def test_refusals(c):
    """what perf refuses is refused with the same exit code and first sentence"""
    need_reference()
    # sentences with more in them, or of our own
    of_own = ("-t 999999 true", "-p 999999 true", "-C foo -e page-faults true", "-t foo true", "-a -e page-faults -G nonexistent sleep 0.01",
              "-a -e page-faults --for-each-cgroup nonexistent sleep 0.01", "--control fd: true", "record -r 2 true",
              "record -o /nonexistent/x true", "-p '' true", "-t '' true")
    of_processor = ("-T true", "--topdown true")  # perf has metrics for some processors built in
    for line in REFUSED:
        perfs, ours = (c.stat(program, shlex.split(line))[0] for program in (need_reference(), PERFUSE))
        if line in of_processor and perfs.returncode == 0:
            continue
        need(ours.returncode == perfs.returncode, "%s: exit code %d, perf's is %d" % (line, ours.returncode, perfs.returncode))
        need(line in of_own or ours.stderr.splitlines()[0].strip() == perfs.stderr.splitlines()[0].strip(), "%s: %s" % (line, ours.stderr[:200]))


def test_offline_cpu(c):
    """a CPU that is not online is named, with those that are, before the sentence that newer versions of perf have"""
    done, _ = c.stat(PERFUSE, "-C 4000 -e page-faults true".split())
    said = done.stderr.splitlines()
    need(done.returncode == 255 and said[0].startswith("CPU 4000 of '4000' is not online: there are 0") and
         said[1:] == ["No supported events found."], "%d %s" % (done.returncode, said))


def test_outside_cgroups(c):
    """a folder outside the file system of cgroups is no cgroup"""
    done, _ = c.stat(PERFUSE, "-a -e page-faults -G ../../../.. sleep 0.01".split())
    need(done.returncode == 129 and "no cgroup" in done.stderr, "%d %s" % (done.returncode, done.stderr))


def disagreements(c, recorder, line):
    """The reports of a recording, as file and from a pipe, that differ between perf and perfuse."""
    perf, wrong = need_reference(), []
    process.run(recorder, "stat", "record", "-o", "counts", *line.split(), cwd=c.work)
    pipe = process.run(recorder, "stat", "record", "-o", "-", *line.split(), cwd=c.work, text=False).stdout
    with open(os.path.join(c.work, "counts.pipe"), "wb") as file:
        file.write(pipe)
    for form in REPORTED:
        for name in ("counts", "counts.pipe"):
            seen = []
            for program in (perf, PERFUSE):
                with open(os.path.join(c.work, name), "rb") as file:
                    words = form.split() + ["-i", "-" if name != "counts" else name]
                    done = process.run(program, "stat", *words, cwd=c.work, stdin=file if name != "counts" else process.DEVNULL)
                seen.append((done.returncode, done.stdout, done.stderr))
            if seen[0] != seen[1]:
                wrong.append("record %s, %s of %s: perf %r, perfuse %r" % (line, form, name, *seen))
    os.unlink(os.path.join(c.work, "counts"))
    return wrong


def test_perfs_recordings(c):
    """`stat report` prints perf's recordings of counts byte for byte: %d recordings, %d forms each, as file and as pipe"""
    need_counters(c)
    wrong = [text for line in RECORDED for text in disagreements(c, need_reference(), line)]
    need(not wrong, "%d differ:\n%s" % (len(wrong), "\n".join(wrong[:20])))


def test_own_recordings(c):
    """perf's `stat report` prints our recordings of counts, byte for byte as ours does: %d recordings, %d forms each, as file and as pipe"""
    need_counters(c)
    wrong = [text for line in RECORDED for text in disagreements(c, PERFUSE, line)]
    need(not wrong, "%d differ:\n%s" % (len(wrong), "\n".join(wrong[:20])))


for recorded_test in (test_perfs_recordings, test_own_recordings):
    recorded_test.__doc__ %= len(RECORDED), len(REPORTED)


def test_damaged_recordings(c):
    """a recording of counts that ends early or has wrong bytes is reported in sentences, and never crashes"""
    need_counters(c)
    path = os.path.join(c.work, "counts")
    process.run(PERFUSE, "stat", "record", "-o", path, "-a", "-I", "10", "-e", "page-faults,cpu-clock", "sleep", "0.03", cwd=c.work)
    with open(path, "rb") as file:
        whole = file.read()
    begin = int.from_bytes(whole[40:48], sys.byteorder)
    size = int.from_bytes(whole[48:56], sys.byteorder)
    for at in range(begin, begin + size, 3):
        with open(path, "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ (0x80 if at % 2 else 0x11)]) + whole[at + 1:])
        done = process.run(PERFUSE, "stat", "report", "-i", path, cwd=c.work)
        need(done.returncode in (0, 1, 234, 255), "byte %d: exit code %d, %s" % (at, done.returncode, done.stderr[-300:]))
        need(done.returncode == 0 or done.stderr.strip(), "byte %d: no sentence" % at)
    done = process.run(PERFUSE, "stat", "report", "-i", os.path.join(c.work, "absent"), cwd=c.work)
    need(done.returncode == 255 and "absent" in done.stderr, "%d: %s" % (done.returncode, done.stderr))


# makes 1000 page faults, and ends with its parent
FAULTS_AND_WAITS = """import mmap, os, time
parent = os.getppid()
memory = mmap.mmap(-1, 4096 * 1000)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(1000):
    memory[4096 * i] = 1
while os.getppid() == parent:
    time.sleep(0.05)"""


def test_killed(c):
    """the recording of a killed `stat record` has the counts up to the kill, by intervals or as one round, and its report says that it is not
    finished"""
    need_counters(c)
    path = os.path.join(c.work, "killed")
    for words, column in (["-I", "20"], 1), ([], 0):
        line = ["stat", "record", *words, "-o", path, "-e", "page-faults:u", sys.executable, "-S", "-c", FAULTS_AND_WAITS]
        with process.start(PERFUSE, *line, cwd=c.work) as running:
            for _ in range(600):
                time.sleep(0.1)
                report = process.run(PERFUSE, "stat", "-x,", "report", "-i", path, cwd=c.work)
                rows = [row.split(",") for row in report.stderr.splitlines() if ",page-faults:u" in row]
                if sum(int(row[column]) for row in rows) >= 1000:
                    break
            running.kill()
        report = process.run(PERFUSE, "stat", "-x,", "report", "-i", path, cwd=c.work)
        rows = [row.split(",") for row in report.stderr.splitlines() if ",page-faults:u" in row]
        need(sum(int(row[column]) for row in rows) >= 1000, "%s: %r" % (words, rows[-3:]))
        need(len(rows) > 1 if words else len(rows) == 1, "%s: %d rounds" % (words, len(rows)))
        need(report.returncode == 255 and "did not finish" in report.stderr, "%s: %s" % (words, report.stderr[-300:]))
        os.unlink(path)
        # the rounds that were replaced leave nothing in a recording that ends
        done = process.run(PERFUSE, "stat", "record", *words, "-o", path, "-e", "page-faults:u", "sleep", "0.5", cwd=c.work)
        report = process.run(PERFUSE, "stat", "-x,", "report", "-i", path, cwd=c.work)
        need(done.returncode == 0 and report.returncode == 0, "%r %r" % (done, report))
        rows = [row for row in report.stderr.splitlines() if ",page-faults:u" in row]
        need(len(rows) > 1 if words else len(rows) == 1, "%s: %d rounds of a whole recording" % (words, len(rows)))
        os.unlink(path)


def counts_of(c, *words):
    """The rows by event, and what the command printed."""
    done, _ = c.stat(PERFUSE, ["-x,", *words])
    rows = [line.split(",") for line in done.stderr.splitlines() if "," in line]
    return {row[2]: row for row in rows}, done.stdout


def test_page_faults(c):
    """a program that touches 1000 more pages has 1000 more page faults"""
    need_counters(c)
    code = "import mmap\nm = mmap.mmap(-1, 4096 * 2000, flags=mmap.MAP_PRIVATE)\nm.madvise(mmap.MADV_NOHUGEPAGE)\n" \
           "for i in range(%d):\n    m[4096 * i] = 1"
    faults = [statistics.median(int(counts_of(c, "-e", "page-faults:u", sys.executable, "-S", "-c", code % pages)[0]["page-faults:u"][0])
                                for _ in range(5)) for pages in (500, 1500)]
    need(abs(faults[1] - faults[0] - 1000) <= 10, "%d and %d page faults" % tuple(faults))


def test_context_switches(c):
    """a program that sleeps 50 times has 50 context switches, and hardly any task-clock"""
    need_counters(c)
    own = "\nimport resource\nused = resource.getrusage(resource.RUSAGE_SELF)\nprint(used.ru_nvcsw + used.ru_nivcsw, time.process_time() * 1e3)"
    code = "import time\nfor i in range(50):\n    time.sleep(0.002)" + own
    rows, printed = counts_of(c, "-e", "context-switches,task-clock,duration_time", sys.executable, "-S", "-c", code)
    switches, ms = map(float, printed.split())
    # its own count begins before the program, and ends before its end
    counted = int(rows["context-switches"][0])
    need(counted >= 50 and switches - 10 <= counted <= switches + 20, "context switches: %d of %d" % (counted, switches))
    need(0.7 * ms - 5 <= float(rows["task-clock"][0]) <= 1.5 * ms + 20 and int(rows["duration_time"][0]) > 100e6, "times: %s, %.1f ms" % (rows, ms))


def test_clock(c):
    """a program that computes for 200 ms of CPU time has them as task-clock"""
    need_counters(c)
    code = "import time\nwhile time.process_time() < 0.2:\n    pass\nprint(time.process_time() * 1e3)"
    rows, printed = counts_of(c, "-e", "task-clock", sys.executable, "-S", "-c", code)
    ms = float(rows["task-clock"][0])
    need(0.95 * float(printed) <= ms <= float(printed) + 30, "%.2f ms of %s" % (ms, printed))  # its own time begins before the program


def test_exit_codes(c):
    """the exit code is the command's, and a signal that ends the command is named"""
    need_counters(c)
    need(c.stat(PERFUSE, ["-e", "page-faults", "sh", "-c", "exit 7"])[0].returncode == 7, "not 7")
    done, _ = c.stat(PERFUSE, ["-e", "page-faults", "sh", "-c", "kill -9 $$"])
    need(done.returncode == 0 and "sh: Killed" in done.stderr and "page-faults" in done.stderr, done.stderr)


def test_intervals(c):
    """the sum of the intervals is the count"""
    need_counters(c)
    done, _ = c.stat(PERFUSE, ["-x,", "-I", "30", "--summary", "-e", "page-faults", "sh", "-c", "for i in 1 2 3 4; do sleep 0.03; done"])
    rows = [line.split(",") for line in done.stderr.splitlines()]
    parts = [int(row[1]) for row in rows if row[0] != "summary" and row[1].isdigit()]
    whole = [int(row[1]) for row in rows if row[0] == "summary"]
    need(len(parts) >= 3 and [sum(parts)] == whole, "%s are not %s" % (parts, whole))


def test_idle_threads(c):
    """-a --per-thread: a thread that computes has its own name, id and counts in text, CSV, JSON and intervals; sleeping threads have no row"""
    need_counters(c)
    with process.start("sleep", "60") as idle, process.start(sys.executable, "-S", "-c", "while True:\n    pass") as busy:
        for words in ([], ["-x,"], ["-j"], ["-x,", "-I", "500", "--interval-count", "3"]):
            done, _ = c.stat(PERFUSE, ["-a", "--per-thread", "-e", "task-clock,cs", *words, "sleep", "2" if "-I" in words else "0.5"])
            rows = [line for line in done.stderr.splitlines() if re.search(r"-%d\b" % busy.pid, line) and "task-clock" in line]
            need(len(rows) == (3 if "-I" in words else 1), "%s: %s" % (words, done.stderr))
            need(all("python" in row for row in rows) and not re.search(r"-%d\b" % idle.pid, done.stderr), "%s: %s" % (words, done.stderr))
        idle.kill()
        busy.kill()


TASK_WORKER = """import mmap, os, signal, sys, time
sys.stdin.readline()
for _ in range(100):
    time.sleep(0.0001)
memory = mmap.mmap(-1, 4096 * 500)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for page in range(500):
    memory[page * 4096] = 1
for _ in range(20):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
for cpu in sorted(os.sched_getaffinity(0)) * 4:
    os.sched_setaffinity(0, [cpu])
os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_tasks_without_counters(c):
    """-a --per-thread: what programs count at task switches is what counters of the same thread count: children, faults, switches, migrations"""
    need_root("programs at task switches")
    need_counters(c)
    events = "page-faults,minor-faults,major-faults,cs,migrations,task-clock"
    fifo = os.path.join(c.work, "go")
    os.mkfifo(fifo)
    with process.start(PERFUSE, "stat", "-a", "-I", "100", "-x,", "-e", "migrations", "sleep", "60", stderr=process.PIPE) as holder:
        holder.stderr.readline()
        # a counter of migrations is open: the kernel adds one to a task that moved while the machine had none
        with process.start("sh", "-c", 'exec "$0" -S -c "$1" < "$2"', sys.executable, TASK_WORKER, fifo) as worker:
            # events with modifiers have counters, which are read within the time of the other events, which have none
            go = "echo > '%s'; until grep -q '^State:.[TZ]' /proc/%d/status; do sleep 0.05; done; sleep 0.2" % (fifo, worker.pid)
            inner = shlex.join([str(PERFUSE), "stat", "-a", "--per-thread", "-x,", "-o", "counters", "-e", events.replace(",", ":uk,") + ":uk", "sh", "-c", go])
            done, _ = c.stat(PERFUSE, ["-a", "--per-thread", "-x,", "-o", "tasks", "-e", events, "sh", "-c", inner])
            need(done.returncode == 0, done)
            worker.kill()
    found = {}
    for name in ("counters", "tasks"):
        with open(os.path.join(c.work, name), encoding="utf-8") as file:
            rows = [line.split(",") for line in file if re.match(r"[^,]*-%d," % worker.pid, line)]
        found[name] = {row[3].removesuffix(":uk"): float(row[1]) for row in rows if row[1][0].isdigit()}
    counters, tasks = found["counters"], found["tasks"]
    # some kernels do not report each switch, and say of how much time it is unknown who ran
    lost = re.search(r"did not report (\d+) switches.* counts of ([\d.]+) ms", done.stderr)
    missed, unsure = (int(lost.group(1)), float(lost.group(2))) if lost else (0, 0)
    # older kernels count switches of a task that ends for longer than the programs
    same_end = tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) >= (6, 16)
    for event in "page-faults", "minor-faults", "major-faults":
        need(tasks.get(event, 0) == counters.get(event, 0), "%s: %s" % (event, found))
    need(tasks["page-faults"] >= 500 and tasks["cs"] >= 120 - missed, found)
    need(abs(tasks.get("migrations", 0) - counters.get("migrations", 0)) <= missed or not same_end, "%d missed: %s" % (missed, found))
    need(abs(tasks["cs"] - counters["cs"]) <= 1 + missed or not same_end, found)  # the last one, if the counters end in front of it
    need(tasks["task-clock"] >= counters["task-clock"] * 0.99 - unsure, found)  # more by the switches themselves


def test_no_pmu(c):
    """without a PMU, the default events are those that count, and one line names the others"""
    need_counters(c)
    if "not supported" not in c.stat(PERFUSE, ["-x,", "-e", "cycles", "true"])[0].stderr:
        raise Skip("this machine counts cycles")
    text = c.stat(PERFUSE, ["true"])[0].stderr
    need("not supported" not in text and text.count(PMU_LINE) == 1 and "page-faults" in text, text)
    need(not c.stat(PERFUSE, ["--quiet", "true"])[0].stderr, "--quiet prints")


def test_absent_events(c):
    """a named event that no PMU counts has perf's row; a terminal shows the reason below it, a file and -x do not; record gives it, too"""
    need_counters(c)
    words = ["-e", "r1a8,page-faults"]
    if "not supported" not in c.stat(PERFUSE, ["-x,", *words, "true"])[0].stderr:
        raise Skip("this machine has a PMU")
    for options, expected in ([], 1), (["-x,"], 0), (["-j"], 0):
        shown = process.on_terminal(PERFUSE, "stat", *options, *words, "true", cwd=c.work).stdout.decode()
        need("r1a8" in shown and shown.count("no PMU of this machine counts it") == expected, "%s: %r" % (options, shown))
        need("no PMU" not in c.stat(PERFUSE, [*options, *words, "true"])[0].stderr, options)
    done = process.perfuse("record", "-o", "absent", "-e", "r1a8", "true", cwd=c.work)
    need(done.returncode == 255 and "The r1a8 event is not supported.\nno PMU of this machine counts it" in done.stderr, done)


def test_ends(c):
    """a task that ends, and a cgroup that is removed, while they are counted: their counts are printed, or that there are none"""
    need_counters(c)
    code = "import time\ninput()\nwhile time.process_time() < 0.2: pass"
    with process.start(sys.executable, "-S", "-c", code, stdin=process.PIPE) as task, \
            process.start(PERFUSE, "stat", "-x,", "-e", "task-clock", "-p", str(task.pid), cwd=c.work, stderr=process.PIPE) as running:
        wait_for_counters(running.pid)
        task.communicate("\n")
        text = running.stderr.read()
        need(running.wait(60) == 0 and float(text.split(",")[0]) > 1, text)
    name = "perfuse-stat-test-%d" % os.getpid()
    group = next((os.path.join(path, name) for path in ("/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup")
                  if os.path.exists(os.path.join(path, "cgroup.procs"))), None)
    try:
        os.mkdir(group)
    except (OSError, TypeError) as error:
        raise Skip("no cgroup can be made: %s" % error) from None
    with process.start(PERFUSE, "stat", "-a", "-x,", "-e", "page-faults", "-G", name, "sleep", "0.6", cwd=c.work,
                       stderr=process.PIPE) as running:
        wait_for_counters(running.pid)
        os.rmdir(group)
        text = running.stderr.read()
        need(running.wait(60) == 0 and "page-faults," + name in text, text)


def test_robust(c):
    """--stats robust: medians of the runs, and an interval around each, also if one run is an outlier"""
    need_counters(c)
    script = "n=$(cat runs 2>/dev/null || echo 0); echo $((n+1)) > runs; [ $n != 3 ] || sleep 0.4"
    done, _ = c.stat(PERFUSE, ["-r", "9", "--stats", "robust", "-j", "-e", "duration_time,page-faults", "sh", "-c", script])
    rows = {row["event"]: row for row in (json.loads(line) for line in done.stderr.splitlines() if line.startswith("{"))}
    for row in rows.values():
        low, value, high = (float(row[key]) for key in ("interval-low", "counter-value", "interval-high"))
        need(low <= value <= high and float(row["mad"]) >= 0, "%s" % row)
    need(float(rows["duration_time"]["counter-value"]) < 200e6, "the outlier moved the median: %s" % rows)
    text = c.stat(PERFUSE, ["-r", "5", "--stats", "robust", "-e", "page-faults", "true"])[0].stderr
    need(re.search(r"page-faults .*\( MAD +[0-9.]+%, 95%: [0-9]+ \.\. [0-9]+ \)\n", text) and "elapsed, median  ( MAD" in text, text)


def test_tracefs(c):
    """where tracefs is not mounted, root lists and counts tracepoints all the same, as with perf"""
    need_counters(c)
    need_root("only root mounts it")
    script = 'umount -a -t tracefs,debugfs; ! mountpoint -q /sys/kernel/tracing && "$0" list sched:sched_switch && ' \
             '"$0" stat -x, -e sched:sched_switch true && mountpoint -q /sys/kernel/tracing'
    done = process.run("unshare", "-m", "sh", "-c", script, PERFUSE, text=True)
    need(done.returncode == 0 and "sched:sched_switch" in done.stdout and ",,sched:sched_switch," in done.stderr, done.stdout + done.stderr)


def test_latencies(c):
    """an event with the modifier R counts as 0, as by perf; with --record-tpebs it has a mean latency, or a line says why it has none"""
    need_counters(c)
    for words in ["-e", "page-faults,cache-misses:R"], ["-e", "{page-faults,cache-misses:R}"], ["-a", "-A", "-e", "cycles:R"]:
        done, _ = c.stat(PERFUSE, ["-x,", *words, "true"])
        rows = [row.split(",") for row in done.stderr.splitlines() if ":R" in row]
        at = 1 if "-A" in words else 0
        need(done.returncode == 0 and rows and all(float(row[at]) == 0 for row in rows), "%s: %r" % (words, done))
    for event, asked in ("page-faults", False), ("page-faults,cache-misses:R", True):
        done, _ = c.stat(PERFUSE, ["--record-tpebs", "-x,", "-e", event, "true"])
        rows = {row.split(",")[2]: row.split(",")[0] for row in done.stderr.splitlines() if row.count(",") > 4}
        why = "does not sample retire latencies" in done.stderr
        need(done.returncode == 0 and int(rows["page-faults"]) > 0, "%s: %r" % (event, done))
        need(why == (rows.get("cache-misses:R") == "<not supported>") and ("cache-misses:R" in rows) == asked, "%s: %r" % (event, done))
    done = process.run(PERFUSE, "stat", "record", "--record-tpebs", "-o", os.path.join(c.work, "latencies"), "-e", "cycles:R", "true", cwd=c.work)
    need(done.returncode == 255 and "modifier R" in done.stderr, "%r" % done)


TOUCHES = """import mmap, os, resource, sys
for child in range(3):
    if os.fork() == 0:
        m = mmap.mmap(-1, 4096 * 5000, flags=mmap.MAP_PRIVATE)
        m.madvise(mmap.MADV_NOHUGEPAGE)
        for i in range(5000):
            m[4096 * i] = 1
        os._exit(0)
for child in range(3):
    os.wait()
print("faults", *(u.ru_minflt + u.ru_majflt for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))), file=sys.stderr,
    flush=True)
os._exit(0)"""


def with_shared_counters(c, script, *words):
    """What a shell script prints to standard error where counters can be shared; $0: perfuse, $1: python, $2: a program that touches pages,
    $3 and so on: the words."""
    need_counters(c)
    need_root("only root loads BPF programs")
    setup = 'mount -t bpf bpf /sys/fs/bpf || exit 77; "$0" stat --bpf-counters -x, -e page-faults true 2>/dev/null || exit 77; '
    for _ in range(8): # some kernels do not report each switch, of which perfuse warns
        done = process.run("unshare", "-m", "sh", "-c", setup + script, PERFUSE, sys.executable, TOUCHES, *words, text=True, cwd=c.work)
        if done.returncode == 77:
            raise Skip("the BPF file system cannot be mounted, or the kernel does not run the programs")
        if "did not report" not in done.stderr:
            return done
    raise Skip("in each of 8 runs, the kernel did not report some switches between threads")


def faults_of(text, event="page-faults"):
    """Of each row with a count; in an interval in which the task sleeps, there is none."""
    rows = [row.split(",") for row in text.splitlines()]
    return [int(row[-7]) for row in rows if row[-5:-4] in ([event], [event + " [software]"]) and row[-7].isdigit()]


def test_shared_counts(c):
    """--bpf-counters and the modifier b count the children of a command, as counters without them do; nothing remains pinned"""
    script = '''
        for words in "" "--bpf-counters" "-i" "--bpf-counters -i" "--bpf-counters -I 50"; do
            echo "== $words" >&2
            "$0" stat $words -x, -e page-faults:u,task-clock -- "$1" -S -c "$2"
        done
        echo "== b" >&2; "$0" stat -x, -e page-faults:ub -- "$1" -S -c "$2"
        ls /sys/fs/bpf'''
    done = with_shared_counters(c, script)
    parts = re.split(r"(?m)^== (.*)\n", done.stderr)
    texts = dict(zip(parts[1::2], parts[2::2]))
    sums = {words: sum(faults_of(text, "page-faults:ub" if words == "b" else "page-faults:u")) for words, text in texts.items()}
    need(len(sums) == 6 and sums[""] > 15000 > 5000 > sums["-i"], "%s %s" % (sums, done.stderr))
    # a kernel that reclaims pages makes more faults in some runs: what each run counts is compared with what its program says of itself
    more = {}
    for words, text in texts.items():
        own, children = (int(number) for number in re.search(r"(?m)^faults (\d+) (\d+)$", text).groups())
        more[words] = sums[words] - own - (0 if "-i" in words.split() else children)
    for shared, plain in ("--bpf-counters", ""), ("--bpf-counters -I 50", ""), ("b", ""), ("--bpf-counters -i", "-i"):
        need(abs(more[shared] - more[plain]) <= 200, "%s: %s, beyond those of the program: %s" % (shared, sums, more))
    clock = {words: sum(int(row.split(",")[-4]) for row in text.splitlines() if ",task-clock," in row) for words, text in texts.items()}
    need(clock["--bpf-counters"] > clock["--bpf-counters -i"] > 0, "%s" % clock)
    need("perfuse_counters" not in done.stdout, done.stdout)


def test_shared_attached(c):
    """--bpf-counters counts a running process and its threads with their children, and each CPU, in runs that share counters at the same time"""
    script = '''
        rm -f go of-*; mkfifo go
        "$1" -S -c "open('go').read()
$2" & running=$!
        for words in "-p $running" "-t $running" "--per-thread -p $running" "-a -A"; do
            file=$(echo "of$words" | tr -d " 0-9")
            "$0" stat --bpf-counters --bpf-attr-map /sys/fs/bpf/other $words -x, -I 100 -e page-faults:u -o "$file" &
            last=$!
            i=0; until grep -q page-faults "$file" || [ $i = 600 ]; do sleep 0.1; i=$((i+1)); done
        done
        test -e /sys/fs/bpf/other && echo pinned
        echo >go; wait $running; kill -INT $last; wait
        test -e /sys/fs/bpf/other || echo removed
        for file in of-*; do echo "== $file"; cat -- $file; done >&2'''
    done = with_shared_counters(c, script)
    need(done.stdout.split() == ["pinned", "removed"], "%r" % done)
    parts = re.split(r"(?m)^== (.*)\n", done.stderr)
    sums = {name: sum(faults_of(text, "page-faults:u")) for name, text in zip(parts[1::2], parts[2::2])}
    own = sum(int(number) for number in re.search(r"(?m)^faults (\d+) (\d+)$", done.stderr).groups()) # of the program
    need(len(sums) == 4 and all(15000 <= count <= own + 700 for name, count in sums.items() if name != "of-a-A"), "%s %d" % (sums, own))
    need(sums["of-a-A"] >= 15000, "%s" % sums)


def test_attached_children(c):
    """-p and -t count what an attached process starts from then on, unless -i is given"""
    need_counters(c)
    for words, inherits in (["-p"], True), (["-t"], True), (["-i", "-p"], False), (["-i", "-t"], False):
        go = os.path.join(c.work, "attached")
        with process.start(sys.executable, "-S", "-c", "import sys\nsys.stdin.read()\n" + TOUCHES, stdin=process.PIPE, stderr=process.PIPE) as child:
            counting = process.start(PERFUSE, "stat", "-x,", "-e", "page-faults:u", "-o", go, "-I", "100", words[0], *words[1:], str(child.pid), cwd=c.work)
            with counting:
                process.wait_until(lambda go=go: os.path.exists(go) and "page-faults" in text_of(go), "%s: it does not count" % words)
                child.communicate("")
                process.wait_until(lambda counting=counting: counting.poll() is not None, "%s: it does not end" % words)
        count = sum(faults_of(text_of(go), "page-faults:u"))
        need(count >= 15000 if inherits else count < 5000, "%s: %d page faults" % (words, count))
        os.unlink(go)


def test_programs(c):
    """-b counts while a BPF program runs, or says why not; ids of no program and words are refused"""
    need_counters(c)
    need_root("only root loads BPF programs")
    for words, expected in (("4294967295", "there is no BPF program with the id 4294967295"), ("0", "needs the ids"), ("1,,2", "needs the ids"),
                            ("x", "needs the ids"), ("", "needs the ids"), ("99999999999", "needs the ids")):
        done, _ = c.stat(PERFUSE, ["-b", words, "-e", "task-clock", "true"])
        need(done.returncode in (234, 255) and (expected in done.stderr or "publish" in done.stderr), "%s: %r" % (words, done))
    with process.start(PERFUSE, "trace", "-o", os.devnull, "-e", "getppid", "sleep", "60", cwd=c.work) as tracer:
        try:
            ids = []
            for _ in range(100):
                ids = re.findall(r"prog_id:\s*(\d+)", "".join(text_of(path) for path in folder_of("/proc/%d/fdinfo" % tracer.pid)))
                if ids or tracer.poll() is not None:
                    break
                time.sleep(0.1)
            if not ids:
                raise Skip("the kernel does not run BPF programs")
            done, _ = c.stat(PERFUSE, ["-b", ",".join(ids[:2]), "-e", "task-clock", "-x,", "sh", "-c", "exit 7"])
            need((done.returncode == 7 and "task-clock" in done.stderr) or
                 (done.returncode == 255 and ("does not let this user attach programs" in done.stderr or "no types" in done.stderr)), "%r" % done)
        finally:
            tracer.kill()


def text_of(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def folder_of(path):
    try:
        return [os.path.join(path, name) for name in os.listdir(path)]
    except OSError:
        return []


def test_control(c):
    """--control: commands through descriptors and FIFOs start and stop the counters, and are acknowledged"""
    need_counters(c)
    orders = [os.path.join(c.work, name) for name in ("orders", "answers")]
    for name in orders:
        os.mkfifo(name)
    with process.start(PERFUSE, "stat", "-D", "-1", "-a", "-e", "cpu-clock", "-x,", "--control", "fifo:%s,%s" % tuple(orders),
                       cwd=c.work, stderr=process.PIPE) as running:
        counted, since = 0, 0
        with open(orders[0], "w", encoding="utf-8") as send, open(orders[1], encoding="utf-8") as receive:
            for order, seconds in (("enable", 0.2), ("disable", 0.3), ("enable cpu-clock", 0.2), ("disable", 0), ("ping", 0), ("stop", 0)):
                before = time.monotonic()
                send.write(order + "\n")
                send.flush()
                need(receive.readline().lstrip("\0") == "ack\n", "no answer to %s" % order)
                since = before if order.startswith("enable") else since
                counted += time.monotonic() - since if order == "disable" else 0
                time.sleep(seconds)
        running.send_signal(2)
        rows = [line.split(",") for line in running.stderr.read().splitlines() if "," in line]
        need(running.wait(60) == -2 and len(rows) == 1, "%s" % rows)
        share = float(rows[0][0]) / 1e3 / os.cpu_count()
        need(0.38 <= share <= counted + 0.05, "%.3f s of %.3f s were counted" % (share, counted))


def test_control_of_one(c):
    """--control "enable NAME" starts that event alone, also of software events that are otherwise read together"""
    need_counters(c)
    orders = [os.path.join(c.work, name) for name in ("orders-one", "answers-one")]
    for name in orders:
        os.mkfifo(name)
    with process.start(PERFUSE, "stat", "-D", "-1", "-a", "-e", "task-clock,cpu-clock", "-x,", "--control", "fifo:%s,%s" % tuple(orders),
                       cwd=c.work, stderr=process.PIPE) as running:
        with open(orders[0], "w", encoding="utf-8") as send, open(orders[1], encoding="utf-8") as receive:
            for order in ("enable task-clock", "ping"):
                send.write(order + "\n")
                send.flush()
                need(receive.readline().lstrip("\0") == "ack\n", "no answer to %s" % order)
        running.send_signal(2)
        rows = [line.split(",") for line in running.stderr.read().splitlines() if "," in line]
        need(running.wait(60) == -2 and len(rows) == 2, "%s" % rows)
        need(float(rows[0][0]) > 0 and rows[1][0] == "<not counted>", "%s" % rows)


def wait_for_counters(pid):
    """Until the process blocks SIGINT, and a little longer."""
    for _ in range(600):
        with open("/proc/%d/status" % pid, encoding="utf-8") as file:
            if int(re.search(r"SigBlk:\s*([0-9a-f]+)", file.read()).group(1), 16) & 2:
                break
        time.sleep(0.1)
    time.sleep(0.2)


def test_interrupted(c):
    """SIGINT ends the count of all CPUs: the counts are printed, and the signal is the end"""
    need_counters(c)
    with process.start(PERFUSE, "stat", "-a", "-e", "page-faults", cwd=c.work, stderr=process.PIPE) as running:
        wait_for_counters(running.pid)
        running.send_signal(2)
        text = running.stderr.read()
        need(running.wait(60) == -2 and "page-faults" in text and "seconds time elapsed" in text, text)


def test_cost(c):
    """`stat true` takes at most 0.6 of perf's time"""
    need_counters(c)
    if SANITIZED:
        raise Skip("sanitizers cost time")
    attempts = [cost(c) for _ in range(3)]
    print("# stat true: perfuse and perf, ms: %s" % ", ".join("%.1f and %.1f" % attempt for attempt in attempts))
    need(any(ours <= 0.6 * perfs for ours, perfs in attempts), "more in each of three attempts")


def cost(c):
    """The medians in ms of `stat true`, perfuse and perf by turns."""
    times = {need_reference(): [], PERFUSE: []}
    quiet = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    for _ in range(25):
        for program, taken in times.items():
            before = time.monotonic()
            os.waitpid(os.posix_spawn(program, [program, "stat", "true"], process.environment(c.work), file_actions=quiet), 0)
            taken.append(time.monotonic() - before)
    perfs, ours = (statistics.median(taken) * 1e3 for taken in times.values())
    return ours, perfs


def main():
    with tempfile.TemporaryDirectory() as work:
        return run_tests(tests_of(globals(), Context(work)))


if __name__ == "__main__":
    sys.exit(main())
