#!/usr/bin/env python3
# alone: it compares times
"""blocking: what waiting costs `bench switch` is what the same program without waiting does not need; the walk-through of docs/examples."""
import csv
import io
import json
import os
import re
import signal
import struct
import sys
import tarfile
import tempfile
import time

from suite import process, recording as r
from suite.process import perfuse
from suite.settings import CORPUS, PERFUSE, SANITIZED, SHORT, TOP
from suite.tests import Skip, by_samples, need, remark, run_tests, tests_of

ROUNDS = "15000" if SHORT else "40000"
WAITS = ("wait and switch", "wake-up", "system calls that wait or wake")
WORKS = ("0", "5000") if SHORT else ("0", "2000", "10000")
WAYS = ("pipe",) if SHORT else ("pipe", "futex", "eventfd", "socketpair", "socket")


def rounds_of(work):
    """Enough for the samples that a share within 3 points needs: short turns take less time."""
    return ROUNDS if SHORT or int(work) >= 10000 else "100000"


def cpu_of(text):
    (row,) = json.loads(text)["tables"][0]["rows"]
    return (row["user"] + row["system"]) / row["turns"]


def cpu_per_turn(way, model, work):
    done = process.run(PERFUSE, "bench", "switch", way, "-m", model, "-C", "0", "-l", rounds_of(work), "-w", work, "--format=json")
    need(done.returncode == 0, done.stderr)
    return cpu_of(done.stdout)


def tables(*words):
    done = perfuse("blocking", "--format=json", *words)
    need(done.returncode == 0, done.stderr)
    text = done.stdout
    return {table["name"]: table for table in json.loads(text[text.index('{"schema"') if '{"schema"' in text else text.index("{"):])["tables"]}


def measured(way, work, own=os.devnull):
    """The tables of a run of bench switch, whose own table goes to the file `own`."""
    return tables("--", "sh", "-c", "exec %s bench switch %s -C 0 -l %s -w %s --format=json > %s" % (PERFUSE, way, rounds_of(work), work, own))


def direct(found):
    return sum(row["share"] or 0 for row in found["parts"]["rows"] if row["part"] in WAITS)


def need_program_as_users_have():
    if SANITIZED:
        raise Skip("the measured program is perfuse, and sanitizers take most of its time; make check without them runs it")


def direct_of_ends(found):
    """The direct share of the two threads that exchange turns (the others start and calibrate), and half its 95 % interval."""
    ends = sorted(found["threads"]["rows"], key=lambda row: -row["time"])[:2]
    time_ns = sum(row["time"] for row in ends)
    share, all_ns = sum(row["direct"] for row in ends) / time_ns, sum(row["time"] for row in found["threads"]["rows"])
    return share, 1.96 * (share * (1 - share) / (found["parts"]["facts"]["samples"] * time_ns / all_ns)) ** 0.5


def test_bracket(c):
    """the predicted saving brackets the difference of blocking threads and coroutines, and the direct share is within 3 points of it"""
    need_program_as_users_have()
    missed, own = [], os.path.join(c, "own.json")
    for way in WAYS:
        for work in WORKS:
            @by_samples
            def one():
                """one"""
                coroutines = [cpu_per_turn(way, "coroutines", work)]
                found = measured(way, work, own)
                coroutines.append(cpu_per_turn(way, "coroutines", work))
                facts, (share, half) = found["parts"]["facts"], direct_of_ends(found)
                saved = 1 - sum(coroutines) / 2 / cpu_per_turn(way, "threads", work)
                # a switch costs more in one run than in another, by a third: the direct share is that of its run
                with open(own) as file:
                    saved_there = 1 - sum(coroutines) / 2 / cpu_of(file.read())
                remark("%s, %s ns of work: %.1f %% saved, predicted %.1f (with fewer system calls %.1f) to %.1f; %.1f in the same run, direct %.1f" % (
                    way, work, 100 * saved, 100 * facts["saved_low"], 100 * facts["saved_low_without_calls"], 100 * facts["saved_high"],
                    100 * saved_there, 100 * share))
                need(facts["saved_low"] <= min(saved, saved_there) and max(saved, saved_there) <= facts["saved_high"],
                     "%s %s: not in the range" % (way, work))
                need(facts["saved_low"] <= facts["saved_low_without_calls"] <= facts["saved_high"], str(facts))
                need(abs(share - saved_there) <= max(0.03, half), "%s %s: direct %.1f, saved %.1f" % (way, work, 100 * share, 100 * saved_there))
            try:
                one()
            except Exception as why:  # pylint: disable=broad-except
                missed.append(str(why))
    need(len(missed) <= len(WAYS) * len(WORKS) // 5, "; ".join(missed))


def test_parts(_):
    """the parts add up to the CPU time, and a program that computes has hardly any cost of waiting"""
    found = tables("--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
    rows = found["parts"]["rows"]
    need(abs(sum(row["share"] or 0 for row in rows) - 1) < 1e-3, str(rows))
    need(all(row["low"] <= (row["share"] or 0) <= row["high"] for row in rows), str(rows))
    need(direct(found) < 0.1, str(rows))
    need(found["parts"]["facts"]["saved_low"] < 0.1, str(found["parts"]["facts"]))


@by_samples
def test_sites(_):
    """the function that waits, and its system call, are the first row"""
    need_program_as_users_have()
    site = measured("pipe", "0")["sites"]["rows"][0]
    need(site["site"] in ("ask", "answer") and site["call"] in ("read", "write"), str(site))


def test_recording(c):
    """a recording is analysed later; without the number of switches the user work is the bound"""
    path = os.path.join(c, "kept.data")
    perfuse("blocking", "-o", path, "--", PERFUSE, "bench", "switch", "pipe", "-C", "0", "-l", ROUNDS)
    facts = tables("-i", path)["parts"]["facts"]
    need(facts["switches"] is None and facts["saved_high"] > facts["saved_low"], str(facts))
    process.must(PERFUSE, "record", "-q", "--switch-events", "-e", "cpu-clock", "-g", "-o", path, "--", PERFUSE, "bench", "switch", "pipe", "-C",
                 "0", "-l", "2000")
    need(4000 <= tables("-i", path)["parts"]["facts"]["switches"] < 8000, "the recorded switches are not counted")
    need(perfuse("blocking", "-i", path, "true").returncode == 129, "a command beside -i is accepted")


def test_no_samples(c):
    """a recording of other events has nothing to show, and says which are needed"""
    path = os.path.join(c, "other.data")
    done = perfuse("record", "-q", "-e", "page-faults", "-o", path, "--", "true")
    need(done.returncode == 0, done.stderr)
    done = perfuse("blocking", "-i", path)
    need(done.returncode == 255 and "no sample of cpu-clock or task-clock" in done.stderr, done.stderr)
    need("runtime error" not in done.stderr, done.stderr)


@by_samples
def test_process(_):
    """of a running process the switches are known, too"""
    with process.start(PERFUSE, "bench", "switch", "pipe", "-C", "0", "-l", "10000000", stdout=process.DEVNULL) as running:
        process.wait_until(lambda: len(os.listdir("/proc/%d/task" % running.pid)) == 3, "the threads")
        with process.start(PERFUSE, "blocking", "--format=json", "-p", str(running.pid)) as measuring:
            time.sleep(1)
            measuring.send_signal(signal.SIGINT)
            facts = json.loads(measuring.communicate()[0])["tables"][0]["facts"]
    need(facts["samples"] and facts["switches"] > 100, str(facts))


def test_clocks(c):
    """of several clocks, each shows all of the time that it samples: the times of a recording are their mean"""
    path, kind = os.path.join(c, "clocks.data"), r.SAMPLE_IDENTIFIER | r.SAMPLE_IP | r.SAMPLE_TID | r.SAMPLE_TIME
    user, kernel, no_user, no_kernel = r.USER, r.KERNEL, 1 << 4, 1 << 5
    # the flags of two clocks with periods of 1000 and 2000 ns, the clock and the mode of each sample, user work and kernel in all
    for flags, samples, times in (((0, 0), ((1, user), (2, user), (1, kernel), (1, kernel), (2, kernel)), (1500, 2000)),
                                  ((no_kernel, no_user), ((1, user), (2, kernel), (2, kernel)), (1000, 4000)),
                                  ((no_user, 0), ((2, user), (1, kernel), (2, kernel)), (2000, 1500))):
        clocks = [r.attribute(kind, r.FLAG_SAMPLE_ID_ALL | r.FLAG_COMM | flag, period=1000 * number) for number, flag in zip((1, 2), flags)]
        records = [r.comm(10, 10, "two", end=struct.pack("<IIQQ", 10, 10, 1, 1))]
        for time_ns, (clock, mode) in enumerate(samples, 100):
            ip = 0xffffffff81000000 if mode == kernel else 0x400000
            records.append(r.record(r.SAMPLE, struct.pack("<QQIIQ", clock, ip, 10, 10, time_ns), mode))
        r.write(path, records, clocks, ids=(1, 2))
        rows = {row["part"]: row["time"] or 0 for row in tables("-i", path)["parts"]["rows"]}
        need((rows["user work"], sum(rows.values()) - rows["user work"]) == times, "%s: %s" % (flags, rows))


def test_many_threads(c):
    """the text shows the first threads, and how many more there are; -E shows as many as requested; the other formats have all"""
    path = os.path.join(c, "many.data")
    records = [r.comm(tid, tid, "one", end=r.trailer(tid, tid, 1)) for tid in range(101, 126)]
    records += [r.record(r.SAMPLE, struct.pack("<QIIQ", 0x400000, tid, tid, 100 + tid), r.USER) for tid in range(101, 126)]
    r.write(path, records, [r.attribute(r.SAMPLE_IP | r.SAMPLE_TID | r.SAMPLE_TIME, r.FLAG_SAMPLE_ID_ALL | r.FLAG_COMM, period=1000)])
    for words, shown, more in (((), 20, "# 5 more rows: -E"), (("-E", "3"), 3, "# 22 more rows: -E"), (("-E", "0"), 25, None)):
        lines = perfuse("blocking", "-i", path, *words).stdout.splitlines()
        need(sum(line.startswith("one ") for line in lines) == shown and (more in lines if more else "more rows" not in str(lines)), str(lines))
    need(len(tables("-i", path)["threads"]["rows"]) == 25, "another number of threads in JSON")


def test_stopped(_):
    """of a process that does not run nothing is sampled, which the message says"""
    with process.start("sleep", "60") as sleeper:
        try:
            sleeper.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
            done = perfuse("blocking", "-p", str(sleeper.pid), "--", "true")
        finally:
            sleeper.kill()
    need(done.returncode == 255 and "nothing was sampled" in done.stderr and "/proc" not in done.stderr, done.stderr)


def test_spread(_):
    """the samples of CPUs are of clocks with different periods, and as many as requested"""
    need_program_as_users_have()
    facts = tables("--", "sh", "-c", "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done")["parts"]
    time_ns, samples = sum(row["time"] or 0 for row in facts["rows"]), facts["facts"]["samples"]
    need(0.8 < samples / (time_ns / 1e9 * 1999) < 1.25, "%d samples of %d ns" % (samples, time_ns))


LATE_FAULTS = """
import mmap, time
for _ in range(150):
    pages = mmap.mmap(-1, 40 * 4096)
    time.sleep(0.001)
    end = time.perf_counter() + 0.002
    while time.perf_counter() < end: pass
    for page in range(40): pages[page * 4096] = 1
    pages.close()
"""


@by_samples
def test_counters(c):
    """what one event does less after switches is lost work: of a program whose page faults begin 2 ms after each switch, the first 1 ms"""
    path = os.path.join(c, "counted.data")
    events = "cpu-clock/period=100000/", "page-faults/period=1/u"
    process.must(PERFUSE, "record", "-q", "--switch-events", "-e", events[0], "-e", events[1], "-g", "-o", path, sys.executable, "-c", LATE_FAULTS)
    rows = {row["part"]: row for row in tables("-i", path, "--counters", ",".join(events), "--window", "1000000")["parts"]["rows"]}
    lost, user = rows["user work lost after switches"], rows["user work"]
    need(lost["how"] == "measured by counters" and lost["low"] <= lost["share"] <= lost["high"], str(lost))
    need(0.15 < lost["share"] / user["share"] < 0.7, "%s of %s" % (lost, user))
    need("bounded" in tables("-i", path)["parts"]["rows"][-1]["how"], "without the events' names, nothing is measured")
    need(perfuse("blocking", "-i", path, "--counters", "cycles").returncode == 129, "one event is not enough")


EARLY_FAULTS = """
import mmap, time
for _ in range(150):
    pages = mmap.mmap(-1, 40 * 4096)
    time.sleep(0.001)
    for page in range(40): pages[page * 4096] = 1
    end = time.perf_counter() + 0.003
    while time.perf_counter() < end: pass
    pages.close()
"""


@by_samples
def test_events(c):
    """events that a program has more often after switches are counted: 40 page faults after each of 150 switches"""
    path = os.path.join(c, "events.data")
    clocks = "task-clock/period=100000/u", "cpu-clock/period=100000/u"
    process.must(PERFUSE, "record", "-q", "--switch-events", "-e", clocks[0], "-e", clocks[1], "-e", "page-faults/period=1/u", "-o", path,
                 sys.executable, "-c", EARLY_FAULTS)
    found = tables("-i", path, "--counters", ",".join(clocks), "--window", "1000000")
    (row,) = found["events"]["rows"]
    need(row["event"] == "page-faults/period=1/u", str(row))
    need(row["after"] >= 6000 and row["after_rate"] > 3 * row["elsewhere_rate"], str(row))
    need(row["low"] < row["extra"] < row["high"] and row["high"] - row["low"] < 0.3 * row["extra"], str(row))
    need(5000 < row["extra"] <= row["after"], str(row))
    need(tables("-i", path)["events"]["rows"][0]["extra"] is None, "without instructions, nothing can be compared")


def trace_of(c, *words):
    truth = os.path.join(CORPUS, "pt", "truth")
    if not os.path.isdir(truth):
        raise Skip("no such folder: %s (PERFUSE_CORPUS names another)" % truth)
    symfs = os.path.join(c, "symfs")
    if not os.path.isdir(symfs):
        with tarfile.open(os.path.join(truth, "symfs.tar.xz")) as files:
            files.extractall(symfs)
    return [*words, "--symfs", symfs, "-i", os.path.join(truth, "pp.cpu2_cyc.data")]


def listed(c, *words):
    done = perfuse(*trace_of(c, "ipc", "--by", "thread", "--format=csv", *words))
    need(done.returncode == 0, done.stderr)
    return [{key: int(value) if re.fullmatch(r"-?\d+", value or "") else value for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(done.stdout))]


def instructions_up_to(ranges, cycle):
    done = 0
    for row in ranges:
        end = row["from_cycle"] + row["cycles"]
        if end > cycle:
            return done + row["instructions"] * max(0, cycle - row["from_cycle"]) / row["cycles"]
        done += row["instructions"]
    return done


def cycle_at(ranges, ns):
    row = next((row for row in ranges if row["to_ns"] >= ns), ranges[-1])
    share = (ns - row["from_ns"]) / (row["to_ns"] - row["from_ns"]) if row["to_ns"] > row["from_ns"] else 0
    return row["from_cycle"] + min(max(share, 0), 1) * row["cycles"]


def test_trace(c):
    """the times of a trace, and the work that is lost after switches, are what its events and timed ranges show"""
    window = 5000
    rows = {row["part"]: row for row in tables(*trace_of(c, "--window", str(window)))["parts"]["rows"]}
    events, ranges = listed(c, "--events"), listed(c, "--ranges")
    user = sum(row["length"] or 0 for row in events if row["event"] == "user")
    need(rows["user work"]["time"] == user, "%s, not %d" % (rows["user work"], user))
    need(abs(sum(row["share"] or 0 for part, row in rows.items() if "lost" not in part) - 1) < 1e-4, str(rows))
    sums = {"after": [0, 0], "other": [0, 0], "rest": [0, 0]}
    for tid in {row["tid"] for row in events}:
        own, first, switched = [row for row in ranges if row["tid"] == tid], True, False
        for row in (row for row in events if row["tid"] == tid):
            switched = switched or row["event"] in ("switch", "off-cpu")
            if row["event"] != "user":
                continue
            start, end = row["from_cycle"], row["from_cycle"] + (row["cycles"] or 0)
            limit = start if first else min(max(cycle_at(own, row["from_ns"] + window), start), end)
            for kind, low, high in (("after" if switched else "other", start, limit), ("rest", limit, end)):
                sums[kind][0] += high - low
                sums[kind][1] += instructions_up_to(own, high) - instructions_up_to(own, low)
            first = switched = False
    rate = sums["rest"][1] / sums["rest"][0]
    for kind, part in (("after", "switches"), ("other", "other returns")):
        want = max(0, (sums[kind][0] - sums[kind][1] / rate) / sum(cycles for cycles, _ in sums.values())) * rows["user work"]["share"]
        row = rows["user work lost after " + part]
        need(row["how"] == "measured by the trace" and row["low"] <= row["share"] <= row["high"], str(row))
        need(abs(row["share"] - want) < 0.005, "%s, not %.4f" % (row, want))
    need(rows["user work lost after switches"]["share"] > 0.01, "nothing is lost: %s" % rows)


def test_walk(_):
    """docs/examples/blocking-or-async.md: its commands run and show what it says"""
    with open(os.path.join(TOP, "docs/examples/blocking-or-async.md")) as page:
        commands = [line.strip() for line in page if line.startswith("    perf ")]
    need(len(commands) == 3, str(commands))
    for command in commands:
        words = [word if word != "perf" else PERFUSE for word in re.sub(r"-l \d+", "-l 10000", command).split()]
        done = process.run(*words)
        need(done.returncode == 0, "%s: %s" % (command, done.stderr))
        if "blocking" in words:
            need(re.search(r"Without blocking, at least [\d.]+ % and at most [\d.]+ %", done.stdout), done.stdout)


def main():
    with tempfile.TemporaryDirectory(prefix="perfuse-blocking-") as work:
        return run_tests(tests_of(globals(), work))


if __name__ == "__main__":
    sys.exit(main())
