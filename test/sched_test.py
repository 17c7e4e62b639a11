#!/usr/bin/env python3
"""`sched`: the text of perf byte for byte on recordings of both programs, true times of threads with known turns, sums that close, lost
events, and what runs now."""
import collections
import functools
import json
import os
import re
import struct
import sys
import tempfile

from golden import recordings
from suite import process, recording
from suite.perf import first_difference, need_reference
from suite.process import perfuse
from suite.settings import PERFUSE, TOP
from suite.switches import doubts
from suite.tests import Skip, by_samples, need, need_root, remark, run_tests, tests_of

LOAD = "for i in 1 2 3 4 5 6; do ls -R /etc >/dev/null 2>&1; sleep 0.01; done"
EXIT, THROTTLE = 4, 5


@functools.lru_cache(None)
def folder():
    made = tempfile.TemporaryDirectory(prefix="perfuse-sched-")
    folder.kept = made
    return made.name


def run_sched(program, *words, text=False):
    return process.run(program, "sched", *words, cwd=folder(), text=text)


@functools.lru_cache(None)
def recorded(by, *options):
    """A recording of a shell script by one of the programs."""
    path = os.path.join(folder(), "%s%d.data" % (by, len(options)))
    record_whole(PERFUSE if by == "perfuse" else need_reference(), path, *options, "--", "sh", "-c", LOAD)
    return path


def record_whole(program, path, *words):
    """Records without lost events, which a busy machine may need several attempts for."""
    for _ in range(3):
        done = run_sched(program, "record", "-o", path, *words, text=True)
        if done.returncode:
            raise Skip("the scheduler's events cannot be recorded here: " + done.stderr.strip()[-150:])
        if not results("timehist", "-s", "-i", path)["facts"]["lost_events"]:
            return done
    raise Skip("events were lost in three attempts")


def without_exits(path):
    """A copy in which no task ends: perf forgets tasks at the record of their exit."""
    with open(path, "rb") as source:
        data = bytearray(source.read())
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == EXIT:
            struct.pack_into("<I", data, at, THROTTLE)
        at += length
    with open(path + ".noexit", "wb") as out:
        out.write(data)
    return path + ".noexit"


def agree(path, *words):
    ours, perfs = run_sched(PERFUSE, *words, "-i", path), run_sched(need_reference(), *words, "-i", path)
    need(ours.returncode == perfs.returncode, "%s: exit code %d, perf's %d: %s" % (words, ours.returncode, perfs.returncode, ours.stderr))
    return ours.stdout, perfs.stdout


def differing(ours, perfs):
    """The pairs of lines that differ. For perf, a thread that has ended is -1 when it leaves its CPU."""
    return [(a, b) for a, b in zip(ours, perfs) if a != b and b":-1[" not in b]


def results(*words):
    done = run_sched(PERFUSE, *words, "--format=json", text=True)
    need(done.returncode == 0, "%s: %s" % (words, done.stderr))
    return json.loads(done.stdout)


def test_latency_and_map():
    """latency and map have perf's text, byte for byte, on recordings of both programs; only rows with a missing switch differ"""
    need_reference()
    for path in (recorded("perf"), recorded("perfuse")):
        gaps = results("latency", "-i", path)["facts"]["gaps"]
        for words in (["latency"], ["lat", "-p"], ["latency", "-s", "max"], ["latency", "-s", "runtime,switch"], ["latency", "-C", "1"], ["map"],
                      ["map", "-v"], ["map", "--compact"], ["map", "--cpus", "1"], ["map", "--task-name", "sleep,sh"], ["script"]):
            ours, perfs = agree(path, *words)
            different = sum((collections.Counter(ours.splitlines()) - collections.Counter(perfs.splitlines())).values())
            # a row each, and the sum of all; a task that was not seen to arrive leaves in two lines in one of perf
            latencies = words[0].startswith("lat")
            allowed = gaps + 1 if gaps and latencies else gaps if "--task-name" in words else 0
            # means that differ by less than the text shows order rows that have the same text
            similar = 0 < different <= allowed or gaps and latencies and not different and len(ours) == len(perfs)
            # a busy machine may run all of it on another CPU
            need(len(perfs) > (0 if "--cpus" in words else 500) and (ours == perfs or similar), "%s: %d missing switches, %d lines differ, %s" %
                 (words, gaps, different, first_difference(ours, perfs)))
            means = [float(mean) for mean in re.findall(rb"avg: *([\d.]+) ms", ours)] if latencies and "-s" not in words else []
            need(means == sorted(means, reverse=True), "%s: rows are not in the order of their mean delay: %s" % (words, means))


def test_timehist():
    """timehist has perf's lines; only those differ whose switch is missing, and whose run time perf invents"""
    need_reference()
    for path in (recorded("perf"), recorded("perfuse")):
        path = without_exits(path)
        gaps = results("latency", "-i", path)["facts"]["gaps"]
        for words in ([], ["-w"], ["-n"], ["-M"], ["-V"], ["--state"], ["--show-prio"], ["-wnMV", "--state", "--show-prio"], ["-C", "0"],
                      ["--prio", "120"], ["-I"]):
            ours, perfs = agree(path, "timehist", *words)
            ours, perfs = ours.splitlines(), perfs.splitlines()
            if gaps and "--prio" in words: # the priority of a task that was not seen to come is unknown, so that a line of it may be left out
                at = [{tuple(line.split()[:2]): line for line in lines} for lines in (ours, perfs)] # by time and CPU
                need(len(at[0].keys() ^ at[1].keys()) <= 2 * gaps, "%s: %d missing switches, other lines: %s" % (
                    words, gaps, at[0].keys() ^ at[1].keys()))
                both = [key for key in at[0] if key in at[1]]
                ours, perfs = [at[0][key] for key in both], [at[1][key] for key in both]
            need(len(ours) == len(perfs) > 2, "%s: %d lines, perf has %d" % (words, len(ours), len(perfs)))
            pairs = differing(ours, perfs)
            if "--prio" in words:  # perf forgets now and then when a task left its CPU, and has a wait of 0; without --prio it does not
                split = [(a, b, a.split(), b.split()) for a, b in pairs]
                pairs = [(a, b) for a, b, x, y in split if x[:-3] != y[:-3] or x[-1] != y[-1] or x[-3] == b"0.000" or y[-3] != b"0.000"]
            # a line that only one has changes the next line of its task and of its CPU
            need(len(pairs) <= (4 if "--prio" in words else 2) * gaps, "%s: %d of %d lines differ, with %d missing switches: %s" % (
                words, len(pairs), len(ours), gaps, pairs[:20]))


def test_kernel_chains():
    """timehist shows the kernel's functions of call chains as perf does"""
    need_reference()
    path = without_exits(recorded("perf", "-g", "--kernel-callchains"))
    gaps = results("latency", "-i", path)["facts"]["gaps"]
    for words in ([], ["--max-stack", "2"], ["--no-call-graph"], ["-n"]):
        ours, perfs = agree(path, "timehist", *words)
        different = len(differing(ours.splitlines(), perfs.splitlines()))
        need(len(ours.splitlines()) == len(perfs.splitlines()) and different <= 2 * gaps,
             "%s: %d lines differ, with %d missing switches: %s" % (words, different, gaps, first_difference(ours, perfs)))
    reasons = {row["wait_reason"] for row in results("timehist", "-i", path)["tables"][0]["rows"]}
    need({"timer", "child"} <= reasons, "reasons of waits: %s" % reasons)


def test_replay():
    """replay makes the steps of perf, and repeats them"""
    need_reference()
    path = recorded("perf")
    runs = [run_sched(program, "replay", "-r", "2", "-i", path, text=True) for program in (PERFUSE, need_reference())]
    if runs[1].returncode:
        raise Skip("perf cannot replay what ran here meanwhile: " + runs[1].stderr.strip()[-150:])
    texts = [re.split(r"^-+$", run.stdout, flags=re.M) for run in runs]
    steps = [text[0].split("\n", 4)[4] for text in texts]  # without the calibration
    need(len(steps[1]) > 500 and steps[0] == steps[1], first_difference(*steps))
    need(re.fullmatch(r"\s#1  : [\d.]+, ravg: [\d.]+, cpu: [\d.]+ / [\d.]+\s#2  : [\d.]+, ravg: [\d.]+, cpu: [\d.]+ / [\d.]+\s", texts[0][1]), texts[0][1])
    without = run_sched(PERFUSE, "replay", text=True)
    need(without.returncode == 255 and "perf.data" in without.stderr, without.stderr)


def runs_of(path):
    """The runs of tasks, from the text of `script`: (in, out, cpu, pid, tid, comm)."""
    switch = re.compile(r"^\s*(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):.* prev_pid=(\d+) .*==> next_comm=(.*) next_pid=(\d+) next_prio=")
    running, runs = {}, []
    for line in perfuse("script", "--ns", "-F", "pid,tid,cpu,time,trace", "-i", path).stdout.splitlines():
        found = switch.match(line)
        if not found:
            continue
        pid, _, cpu, seconds, ns, before, comm, after = found.groups()
        time = int(seconds) * 10 ** 9 + int(ns)
        tid, begin, name = running.get(cpu, (None, 0, ""))
        if tid == before and tid != "0":
            runs.append((begin, time, cpu.lstrip("0") or "0", pid, tid, name))
        running[cpu] = (after, time, comm)
    return runs


@by_samples  # the kernel leaves out a switch now and then
def test_task_analyzer():
    """script report task-analyzer has each run that the switches show, with the times since the run before, and their sums"""
    path, csv, sums = (os.path.join(folder(), "analyzer" + end) for end in (".data", ".csv", ".sums"))
    done = perfuse("script", "record", "task-analyzer", "-m", "2M", "-o", path, "-a", "--", "sh", "-c", LOAD)
    if done.returncode:
        raise Skip("switches cannot be recorded here: " + done.stderr[-200:])
    done = perfuse("script", "-i", path, "report", "task-analyzer", "--ns", "--extended-times", "--csv", csv, "--csv-summary", sums)
    need(done.returncode == 0 and "generating csv at " + csv in done.stdout, done.stderr)
    expected, last, lengths = [], {}, collections.defaultdict(list)
    for begin, end, cpu, pid, tid, comm in runs_of(path):
        gaps = [begin - last[tid][1], end - last[tid][1], begin - last[tid][0], end - last[tid][0]] if tid in last else [-1] * 4
        last[tid] = (begin, end)
        lengths[tid].append(end - begin)
        expected.append(["%d.%09d" % divmod(begin, 10 ** 9), "%d.%09d" % divmod(end, 10 ** 9), cpu, pid, tid, comm, str(end - begin)] + list(map(str, gaps)))
    with open(csv) as text:
        rows = [line.split(";") for line in text.read().splitlines()]
    need(len(expected) > 20 and rows[0][-1] == "Time In-Out", (len(expected), rows[:1]))
    without_pid = [row[:3] + row[4:] for row in rows[1:]]  # a task that has ended has none in its samples
    need(without_pid == [row[:3] + row[4:] for row in expected], next((pair for pair in zip(rows[1:], expected) if pair[0] != pair[1]), "the numbers of runs differ"))
    need(all(row[3] == want[3] for row, want in zip(rows[1:], expected) if want[3] != "-1"), "process ids differ")
    with open(sums) as text:
        found = {row.split(";")[1]: row.split(";") for row in text.read().splitlines()[1:]}
    need({tid: [len(of), sum(of), min(of), max(of)] for tid, of in lengths.items()} ==
         {tid: [int(row[3]), int(row[4]), int(row[7]), int(row[8])] for tid, row in found.items()}, "the sums differ from those of the runs")
    wrong = perfuse("script", "-i", path, "report", "task-analyzer", "--csv", csv, "--summary-only")
    need(wrong.returncode and "--summary-only" in wrong.stderr, wrong.stderr)


def test_events():
    """record asks the kernel for the events that perf asks for"""
    need_reference()
    ours, perfs = (perfuse("evlist", "-v", "-i", recorded(by)).stdout for by in ("perfuse", "perf"))
    ids = re.compile(r" id = \{[^}]*\},")
    need(ids.sub("", ours) == ids.sub("", perfs) and "sched:sched_switch" in ours, first_difference(ids.sub("", ours), ids.sub("", perfs)))


@functools.lru_cache(None)
def turns():
    program, path = os.path.join(folder(), "turns"), os.path.join(folder(), "turns.data")
    process.must("cc", "-O2", "-o", program, os.path.join(TOP, "test/sched/turns.c"), "-lpthread")
    done = record_whole(PERFUSE, path, "--", program, "4", "40", "2000", "5000")
    threads = {int(tid): (int(run), int(slept)) for tid, run, slept in re.findall(r"^(\d+)\t(\d+)\t(\d+)$", done.stdout, re.M)}
    need(len(threads) == 4, done.stdout)
    return path, threads


def close_to(value, truth, share=0.01):
    return abs(value - truth) <= share * truth


class Recorded:
    """The threads with known turns, recorded again for another attempt."""
    forget = staticmethod(turns.cache_clear)


@by_samples  # the kernel leaves out a switch now and then
def need_truth(_):
    path, threads = turns()
    rows = {row["tid"]: row for row in results("timehist", "-s", "-i", path)["tables"][0]["rows"]}
    doubtful, judged = doubts(path), 0
    for tid, (run, slept) in threads.items():
        row, doubt = rows[tid], doubtful[str(tid)]
        remark("thread %d: run %.3f of %.3f ms (%.3f in doubt), slept %.3f of %.3f ms" %
               (tid, row["run"] / 1e6, run / 1e6, doubt / 1e6, row["sleep"] / 1e6, slept / 1e6))
        if doubt > 0.01 * run:
            continue
        need(close_to(row["run"], run), "thread %d ran %d ns, not %d" % (tid, run, row["run"]))
        # between the two readings of its clock, a thread may also be preempted
        most = row["sleep"] + row["preempted"] + row["uninterruptible"]
        need(row["sleep"] <= 1.01 * slept and most >= 0.99 * slept, "thread %d slept %d ns, not %d to %d" % (tid, slept, row["sleep"], most))
        judged += 1
    need(judged, "the kernel's events of each thread contradict each other")


def test_truth():
    """run times and waits of threads with known turns are within 1 %"""
    need_truth(Recorded)


@by_samples  # the kernel leaves out a switch now and then
def need_sums(_):
    path, _ = turns()
    gaps = results("latency", "-i", path)["facts"]["gaps"] # then the turns of a CPU overlap, or leave something out, by microseconds
    for words in ([], ["--time", "%d%%-%d%%" % (20, 60)]):
        found = results("timehist", "-s", "-i", path, *words)
        facts, cpus = found["facts"], [row for row in found["tables"][1]["rows"] if row["run"]]
        whole = len(cpus) * facts["span"]
        more = abs(facts["run"] + facts["idle"] + facts["unknown"] - whole)
        need(more == 0 or (gaps and more < 0.001 * whole), "%s of %d, %d missing switches" % (facts, whole, gaps))
        need(facts["unknown"] < 0.01 * whole, "%.2f %% is unknown" % (100 * facts["unknown"] / whole))
        need(sum(row["run"] for row in found["tables"][0]["rows"]) == facts["run"], "the tasks ran for another time")
    text = run_sched(PERFUSE, "timehist", "-s", "-i", path, text=True).stdout
    sums = [float(re.search(r"Total %s time \(msec\): +([\d.]+)" % word, text)[1]) for word in ("run", "idle", "unknown", "scheduling")]
    need(abs(sum(sums[:3]) - len(cpus) * sums[3]) < 0.01, "%s" % sums)


def test_sums():
    """run time, idle time and unknown time are the time of all CPUs, in JSON and in the text; of a whole recording little is unknown"""
    need_sums(Recorded)


def test_lost_events():
    """after lost events times are unknown, not invented, and the sums say how much"""
    path = os.path.join(folder(), "lost.data")
    # the recorder is stopped for some moments, and empties its rings between them: events are lost amid others
    storm = ("for i in 1 2 3 4; do (for j in $(seq 300); do /bin/true; done) & done; "
             "for i in 1 2 3; do sleep 0.1; kill -STOP $PPID; sleep 0.2; kill -CONT $PPID; done; wait")
    for _ in range(5):  # what is lost last is followed by no turn
        done = run_sched(PERFUSE, "record", "-m", "1", "-o", path, "--", "sh", "-c", storm, text=True)
        if done.returncode:
            raise Skip("the scheduler's events cannot be recorded here: " + done.stderr.strip()[-150:])
        facts = results("timehist", "-s", "-i", path)["facts"]
        rows = results("timehist", "-i", path)["tables"][0]["rows"]
        unknown = any(row["kind"] == "turn" and row["run"] is None and row["wait"] is None for row in rows[100:])
        if facts["lost_events"] and unknown and facts["unknown"]:  # turns that overlap where a switch is missing hide unknown time
            break
    need(facts["lost_events"] and any(row["kind"] == "lost" for row in rows), "%d events are lost, or no row has them" % facts["lost_events"])
    need(unknown, "no turn is unknown")
    text = run_sched(PERFUSE, "timehist", "-i", path, text=True).stdout
    need(re.search(r" lost \d+ events on cpu \d", text) and re.search(r" \? +\? +\? $", text, re.M), "no time is unknown in the text")
    need(facts["unknown"] > 0, "%s" % facts)


def test_storm():
    """of a storm of switches with stacks each one is recorded or counted as lost, with large rings and with small ones"""
    need_root("the scheduler's events")
    name = "storm-%d" % os.getpid()  # other tests run the same program
    program, path = os.path.join(folder(), name), os.path.join(folder(), "storm.data")
    process.must("cc", "-O2", "-pthread", "-o", program, os.path.join(TOP, "test/waits/pingpong.c"), cwd=folder(), env=process.compilers())
    counted = ("import resource, subprocess\nsubprocess.run(['%s', '20000'])\nused = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
               "print('switches', used.ru_nvcsw + used.ru_nivcsw)\n" % program)
    for pages in ("1024", "2"):
        done = process.run(PERFUSE, "record", "-e", "sched:sched_switch", "-a", "-g", "-m", pages, "-o", path, "--", "python3", "-c", counted, cwd=folder())
        if done.returncode:
            raise Skip("the scheduler's events cannot be recorded here: " + done.stderr.strip()[-150:])
        switches = int(re.search(r"switches (\d+)", done.stdout)[1])
        lines = process.must(PERFUSE, "script", "-G", "-F", "comm,trace", "-i", path, cwd=folder())
        recorded = len(re.findall(r"prev_comm=%s " % name, lines))
        stats = process.must(PERFUSE, "report", "--stats", "-i", path, cwd=folder())
        lost = results("timehist", "-s", "-i", path)["facts"]["lost_events"]
        remark("-m %s: %d switches, %d recorded, %d events lost" % (pages, switches, recorded, lost))
        # each thread leaves its CPU once more at its end; the kernel counts no switch for the first one
        need(recorded <= switches + 4 and switches <= recorded + lost + 4, "%d switches, %d recorded, %d lost\n%s" % (switches, recorded, lost, stats))


def test_missing_tracepoints():
    """a tracepoint that the kernel lacks is named with what is unknown without it, and the rest is recorded; without sched_switch nothing is"""
    need_root("mounts, to hide tracepoints")
    hidden = 'mount -t tmpfs none "/sys/kernel/tracing/events/sched/$1" && shift && exec "$@"'

    def hide(name, *words):
        done = process.run("unshare", "-m", "sh", "-c", hidden, "sh", name, PERFUSE, "sched", *words, cwd=folder())
        if "unshare" in done.stderr or "mount:" in done.stderr:
            raise Skip(done.stderr.strip()[-150:])
        return done

    path = os.path.join(folder(), "missing.data")
    for name, missing in (("sched_stat_runtime", "what runs after a lost switch is unknown"), ("sched_migrate_task", "migrations are unknown")):
        done = hide(name, "record", "-o", path, "--", "sleep", "0.1")
        need(done.returncode == 0 and "the kernel has no tracepoint sched:%s: %s" % (name, missing) in done.stderr, done.stderr)
        need(name not in process.must(PERFUSE, "evlist", "-i", path, cwd=folder()), "it is recorded")
        need(results("timehist", "-s", "-i", path)["facts"]["run"], "nothing ran")
    done = hide("sched_waking", "record", "-o", path, "--", "sleep", "0.1")
    need(done.returncode == 0 and "no tracepoint" not in done.stderr, done.stderr)
    need("sched:sched_wakeup\n" in process.must(PERFUSE, "evlist", "-i", path, cwd=folder()), "no wake-ups are recorded")
    done = hide("sched_switch", "record", "-o", path, "--", "true")
    need(done.returncode == 129 and "sched_switch" in done.stderr, done.stderr)


def test_pid_namespace():
    """a recording from a PID namespace has the thread ids and names of sched_switch, those of ended tasks and of tasks outside included"""
    need_root("only root makes a PID namespace")
    path = os.path.join(folder(), "namespace.data")
    with process.start("sh", "-c", "while :; do sleep 0.02; done") as outside:
        done = process.run("unshare", "-p", "-f", PERFUSE, "sched", "record", "-q", "-o", path, "--", "sh", "-c", "sleep 0.3; sleep 0.01", text=True)
        outside.kill()
    if done.returncode:
        raise Skip("no recording in a PID namespace: " + done.stderr.strip()[-150:])
    names = collections.defaultdict(set)
    for line in run_sched(PERFUSE, "timehist", "-s", "-i", path, text=True).stdout.splitlines():
        if found := re.match(r" +(\S.*)\[(\d+)(?:/\d+)?\] +(\S+) +\d+ ", line):
            names[found[2]].add(found[1])
    need(names and not any(name.startswith(":") for found in names.values() for name in found), "%s" % dict(names))
    need(str(outside.pid) in names and names[str(outside.pid)] == {"sh"}, "%d: %s" % (outside.pid, dict(names)))


@by_samples  # rings overrun on a busy machine, and the kernel leaves out a switch now and then
def need_live_row(task, *command):
    """latency shows the task while its command runs."""
    found = json.loads(run_sched(PERFUSE, "latency", "-p", "--format=json", "--", *command, text=True).stdout)
    rows = [row for row in found["tables"][0]["rows"] if row["task"] == task]
    need(any(row["count"] for row in rows), "no delay of %s: %s, %s" % (task, rows, found["facts"]))


@by_samples
def need_live_text(command, script, *texts):
    """The command shows the texts of what a script does, whose output is on stderr."""
    done = run_sched(PERFUSE, *command, "--", "sh", "-c", script, text=True)
    if done.returncode and not done.stdout:
        raise Skip("the scheduler's events cannot be opened here: " + done.stderr.strip()[-150:])
    need("out" in done.stderr.split() and all(text in done.stdout for text in texts), done.stdout + done.stderr)


def test_live():
    """latency, map and timehist analyse what runs now, until the command ends"""
    need_live_text(["timehist", "-s"], "sleep 0.2; echo out", "Runtime summary", "sleep[")
    need_live_row("sleep", "sh", "-c", "for i in 1 2 3 4 5; do sleep 0.1; done")
    need_live_text(["map"], "sleep 0.2; echo out", " secs ")
    need(not os.path.exists(os.path.join(folder(), "perf.data")), "a file was written")


def test_live_filters():
    """timehist of what runs now takes -C and --time, refuses wrong ones, and a span without switches has no share"""
    cpus = os.cpu_count()
    cpu = min(os.sched_getaffinity(0))
    one = run_sched(PERFUSE, "timehist", "-C", str(cpu), "--", "taskset", "-c", str(cpu), "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 0.02; done", text=True)
    if one.returncode and not one.stdout:
        raise Skip("the scheduler's events cannot be opened here: " + one.stderr.strip()[-150:])
    found = set(re.findall(r"(?m)^ *\d+\.\d+ \[(\d+)\]", one.stdout))
    need(found == {"%04d" % cpu}, "CPUs %s" % found)
    none = run_sched(PERFUSE, "timehist", "-s", "--time", "1,2", "--", "sleep", "0.1", text=True)
    need(none.returncode == 0 and "nan" not in none.stdout and "sleep[" not in none.stdout, none.stdout + none.stderr)
    for words, text in ((["-C", str(cpus + 5000)], "no CPU"), (["--time", "10%"], "Invalid time string"), (["--time", "x"], "Invalid time string")):
        done = run_sched(PERFUSE, "timehist", *words, "--", "true", text=True)
        need(done.returncode == 234 and text in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))


def test_pipe():
    """a recording through a pipe has the results of the file"""
    path = recorded("perfuse")
    for words in ("latency", "timehist -s --format=csv", "map"):
        script = '"$0" inject -i "$1" | "$0" sched %s -i -' % words
        piped = process.run("sh", "-c", script, PERFUSE, path, cwd=folder())
        whole = run_sched(PERFUSE, *words.split(), "-i", path, text=True)
        need(piped.returncode == 0 and piped.stdout == whole.stdout, "%s: %s %s" % (words, first_difference(piped.stdout, whole.stdout), piped.stderr))


def schedstat_file(name, version, moments):
    path = os.path.join(folder(), name)
    recordings.write_schedstats(path, version, moments)
    return path


def test_stats():
    """sched stats shows what was counted between two moments in perf's layout, of each version of schedstat, and compares recordings"""
    for version in (15, 16, 17):
        path = schedstat_file("stats%d.data" % version, version, ((1000, 1), (1100, 11)))
        done = run_sched(PERFUSE, "stats", "report", "-i", path, text=True)
        need(done.returncode == 0, done.stderr)
        name = "MC" if version == 17 else "0"
        first, second = ("idle", "busy") if version == 15 else ("busy", "idle")
        interval = "  $        0.91 $"
        lines = done.stdout.split("\n")
        for line in ("Time elapsed (in jiffies)".ljust(65) + ":         100", "CPU <ALL CPUS SUMMARY>", "CPU 1, DOMAIN %s CPUS 0-1" % name,
                     "yld_count".ljust(65) + ":          10", "sched_goidle".ljust(65) + ":          40  (   133.33% )",
                     "run_delay".ljust(65) + ":          80  (   114.29% )", ("%s_lb_count" % first).ljust(65) + ":          10  $       10.00 $",
                     ("%s_lb_nobusyg" % first).ljust(65) + ":%12d%s" % ((110, interval) if version == 17 else (80, "  $        1.25 $")),
                     "ttwu_move_balance".ljust(65) + ":%12d" % (450 if version == 17 else 360),
                     "---------------------------------- <Wakeup Info> ----------------------------------".center(100, "-")):
            need(line in lines, "%d: no line %r in\n%s" % (version, line, done.stdout[:4000]))
        need(done.stdout.index("<Category %s>" % first) < done.stdout.index("<Category %s>" % second), "order of version %d" % version)
        one = run_sched(PERFUSE, "stats", "report", "-C", "1", "-i", path, text=True).stdout
        need("CPU 1\n" in one and "CPU 0\n" not in one, one[:1000])
        rows = results("stats", "report", "-i", path)["tables"][0]["rows"]
        need({"cpu": 1, "domain": 0, "counter": "ttwu_move_affine", "count": 440 if version == 17 else 350}.items() <=
             [row for row in rows if row["counter"] == "ttwu_move_affine"][-1].items(), rows[-5:])
    after = schedstat_file("after.data", 17, ((1000, 1), (1200, 6)))
    done = run_sched(PERFUSE, "stats", "diff", path, after, text=True)
    for line in ("Time elapsed (in jiffies)".ljust(65) + ":         100,        200", "sched_count".ljust(65) + ":          30,         15  |   -50.00% |",
                 "busy_lb_count".ljust(65) + ":          10,          5  |   -50.00% |  $       10.00,       40.00 $"):
        need(line in done.stdout.split("\n"), done.stdout[:4000])
    need("CPU 0" not in done.stdout, done.stdout)


def test_stats_refusals():
    """sched stats refuses recordings without counters, of two versions, cut ones, and a kernel that does not count, with a sentence"""
    path = schedstat_file("whole.data", 17, ((1000, 1), (1100, 11)))
    once, older = schedstat_file("once.data", 17, ((1000, 1),)), schedstat_file("older.data", 15, ((1000, 1), (1100, 2)))
    for words, text in ((["report", "-i", recorded("perfuse")], "has no counters of the scheduler"), (["report", "-i", once], "counters of two moments"),
                        (["diff", path, older], "of the versions 17 and 15"), (["diff", path, path + "x"], "whole.datax")):
        done = run_sched(PERFUSE, "stats", *words, text=True)
        need(done.returncode == 255 and text in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))
    if not os.path.exists("/proc/schedstat"):
        done = run_sched(PERFUSE, "stats", "true", text=True)
        need(done.returncode == 255 and "CONFIG_SCHEDSTATS" in done.stderr, done.stderr)


def test_impossible_cpus():
    """events of a CPU that no machine has are left out, counted, and exit with 255"""
    with open(recorded("perfuse"), "rb") as source:
        data = bytearray(source.read())
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == recording.SAMPLE:
            struct.pack_into("<I", data, at + 40, 1 << 30)  # behind the identifier, the address, the thread and the time
        at += length
    path = os.path.join(folder(), "cpus.data")
    with open(path, "wb") as out:
        out.write(data)
    for words in (("sched", "latency"), ("sched", "map"), ("sched", "timehist"), ("timechart", "-o", "/dev/null")):
        done = perfuse(*words, "-i", path, cwd=folder())
        need(done.returncode == 255 and " scheduler events are damaged and left out" in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))


def test_refusals():
    """what cannot be analysed is refused with a sentence"""
    other = os.path.join(folder(), "other.data")
    perfuse("record", "-e", "cpu-clock:u", "-o", other, "--", "true", cwd=folder())
    for words, code, text in ((["timehist", "-i", other], 255, "No sched_switch events found"), (["timehist", "-s", "-w", "-i", other], 234, "mutually exclusive"),
                              (["timehist", "--prio", "140", "-i", other], 255, "Invalid prio string"), (["latency", "-s", "size"], 129, "Unknown --sort key"),
                              (["map", "--cpus", "x", "-i", other], 255, "failed to get cpus map"), (["nothing"], 129, "Usage")):
        done = run_sched(PERFUSE, *words, text=True)
        need(done.returncode == code and text in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
