#!/usr/bin/env python3
"""bench switch: every way and model, what the numbers mean, and the same time as perf's `bench sched pipe`."""
import concurrent.futures
import json
import os
import re
import signal
import statistics
import sys
import time

from suite import process
from suite.perf import need_reference
from suite.settings import PERFUSE
from suite.tests import Skip, by_samples, need, need_root, run_tests, tests_of

WAYS = {"yield": ("threads", "coroutines"), "sleep": ("threads",), "futex": ("threads", "coroutines"),
        "pipe": ("threads", "epoll", "io_uring", "coroutines"), "eventfd": ("threads", "epoll", "io_uring", "coroutines"),
        "socketpair": ("threads", "epoll", "io_uring", "coroutines"), "socket": ("threads", "epoll", "io_uring", "coroutines")}


def rows(*words):
    done = process.run(PERFUSE, "bench", "switch", *words, "--format=json")
    need(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["tables"][0]["rows"]


def test_ways():
    """each way runs in each model that can wait in it, and takes the turns of its plan"""
    for way, models in WAYS.items():
        for model in models:
            (row,) = rows(way, "-m", model, "-n", "2", "-l", "50", "--sleep", "1000")
            ends = 2 if way in ("yield", "sleep") else 4
            need(row["turns"] == 50 * ends, "%s %s: %s" % (way, model, row))
            need(row["latency_min"] <= row["latency_median"] <= row["latency_max"], str(row))


def test_waits():
    """coroutines never wait; two threads on one CPU wait once in each turn"""
    for way in ("pipe", "yield"):
        (row,) = rows(way, "-m", "coroutines", "-n", "3", "-l", "20000")
        need(row["voluntary_switches"] == 0, str(row))
    (row,) = rows("pipe", "-C", "0", "-l", "5000")
    need(10000 * 0.9 <= row["voluntary_switches"] + row["involuntary_switches"], str(row))


@by_samples
def test_sweep():
    """a sweep has a row for each value and repetition, and touched memory makes turns longer"""
    found = rows("futex", "-C", "0", "-l", "3000", "--sweep", "set=0,4M", "-r", "2")
    need([row.get("set") for row in found] == [None, None, 4 << 20, 4 << 20], str(found))
    need(min(row["per_turn"] for row in found[2:]) > max(row["per_turn"] for row in found[:2]), str(found))


def bench(*words):
    done = process.run(PERFUSE, "bench", *words)
    need(done.returncode == 0 and not done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))
    return done.stdout


COLLECTED = ["sched messaging -g 1 -l 3", "sched messaging -g 1 -l 3 -t -p", "sched pipe -l 50", "sched pipe -T -l 50", "sched seccomp-notify -l 50", "sched seccomp-notify -s -l 50", "syscall basic -l 100",
             "syscall getpgid -l 100", "syscall fork -l 3", "syscall execve -l 3", "futex wake -t 3", "futex wake -s -t 3 -w 2 -S",
             "futex requeue -t 3", "futex requeue -s -t 3 -B", "futex wake-parallel -t 4 -w 2", "futex wake-parallel -s -t 2",
             "futex lock-pi -r 1 -t 2", "futex lock-pi -r 1 -t 2 -s -M", "epoll wait -r 1 -t 2 -f 4", "epoll ctl -r 1 -t 1 -f 8",
             "futex hash -r 1 -t 2 -f 16", "futex hash -r 1 -s -t 1", "mem memset -f default -s 64KB -l 2000", "mem memcpy -f default -s 2MB",
             "breakpoint thread -b 2 -p 2 -t 3", "breakpoint thread", "breakpoint enable -p 2 -a 1", "internals synthesize -i 2",
             "internals kallsyms-parse -i 2", "internals inject-build-id -i 2 -m 5 -n 4", "internals evlist-open-close -i 2 -n 3",
             "internals evlist-open-close -i 2 -e cpu-clock,dummy -n 2", "mem find_bit -i 2 -j 50", "uprobe baseline -l 3"]


def test_collections():
    """benchmarks of perf's collections print perf's text, measured numbers aside"""
    programs = need_reference(), PERFUSE

    def texts_of(line):
        return [[process.run(program, "bench", *style, *line.split()).stdout for program in programs] for style in ([], ["-f", "simple"])]
    # most wait, some for a second: several run side by side, except those of breakpoints, of which a machine has few
    found = {line: texts_of(line) for line in COLLECTED if line.startswith("breakpoint")}
    others = [line for line in COLLECTED if line not in found]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found.update(zip(others, pool.map(texts_of, others)))
    for line in COLLECTED:
        for texts in found[line]:
            masked = [re.sub(r"(function '[^']*') .*", r"\1", text) for text in texts] # each program describes functions in its own words
            masked = [re.sub(r"0x[0-9a-f]+|\d+\.\d+|\[PID \d+\]|\b\d+(?= ops| operations| ops[;\]]| ADD| MOD| DEL)|\+- ?[\d.]+", "N", text) for text in masked]
            masked = [re.sub(r"(Total time: |^)\d+( usecs|$)", r"\1N\2", text, flags=re.M) for text in masked]
            masked = [re.sub(r"\b\d+ KB|\bN KB", "N KB", re.sub(" +", " ", text)) for text in masked]
            masked = [re.sub(r"\b[KMG]?B/sec", "B/sec", text) for text in masked]
            need(masked[0] == masked[1] and masked[0], "%s: %s\nperf: %s" % (line, texts[1], texts[0]))


def test_counted():
    """what a benchmark says it did is what the kernel counts: the tasks of messaging, the processes of fork, the names of its tasks"""
    done = process.run(PERFUSE, "record", "-q", "-o", "-", "-e", "cpu-clock", "--", PERFUSE, "bench", "sched", "messaging", "-g", "2", "-l", "2",
                       text=False)
    tasks = process.run(PERFUSE, "script", "-i", "-", "--show-task-events", input=done.stdout, text=False).stdout.decode()
    forks = re.findall(r"PERF_RECORD_FORK\((\d+):", tasks)
    need(len(set(forks)) >= 80 and "sched-messaging" in tasks, "%d tasks" % len(set(forks)))
    # of ten runs, and their mean
    latencies = re.findall(r"threads\) in ([\d.]+) ms", bench("futex", "wake-parallel", "-t", "4", "-w", "2"))
    need(len(latencies) == 11 and all(0 < float(ms) < 10000 for ms in latencies), str(latencies))


def test_huge_pages():
    """numa mem asks for huge pages or refuses them as its option says, without it neither"""
    need_root("system calls are traced")
    for words, wanted in ((), set()), (("-H", "1"), {"HUGEPAGE"}), (("-H", "-1"), {"NOHUGEPAGE"}):
        done = process.run(PERFUSE, "trace", "-e", "madvise", PERFUSE, "bench", "numa", "mem", "-p", "1", "-t", "1", "-P", "1", "-l", "1", *words)
        need(done.returncode == 0 and "runtime" in done.stdout, "%r" % done)
        need(set(re.findall(r"MADV_(\w*HUGEPAGE)", done.stderr)) == wanted, "%s: %s" % (words, done.stderr))


NUMA = ["-p 2 -t 2 -G 4 -P 16 -T 8 -L 2 -l 3", "-q -p 2 -t 1 -P 4 -l 2 -z", "-p 1 -t 1 -P 4 -l 2 -C 0 -M 0 -Z",
        "-p 1 -t 2 -G 0 -T 2.5 -l 3 -B -R -I"]


def test_numa():
    """numa mem prints perf's text, measured numbers aside, and as many bytes as its loops access"""
    for line in NUMA:
        texts = []
        for program in need_reference(), PERFUSE:
            done = process.run(program, "bench", "numa", "mem", *line.split())
            need(done.returncode == 0 and not done.stderr, "%s: %r" % (line, done))
            texts.append(done.stdout)
        sums = [re.search(r"([\d.]+),? GB[^\n]*total", text).group(1) for text in texts]
        need(sums[0] == sums[1], "%s: perf %s GB, perfuse %s GB" % (line, *sums))
        # perf counts the progress of its threads in a line that depends on their speed
        masked = [re.sub(r" *\d+\.\d+", " N", re.sub(r'"perf(use)? ', '"perf ', re.sub(r"\r? # +[\d.]+% +\[.*\n", "", text))) for text in texts]
        need(masked[0] == masked[1], "%s: perf %r, perfuse %r" % (line, *masked))
        need("-q" in line or float(re.search(r"threads initialized in ([\d.]+) seconds", texts[1]).group(1)) < 60, texts[1])
    for words in (["-p", "0"], ["-C", "99999"], ["-M", "99999"], ["-P", "x"], ["-P", "1", "-L", "2"], ["-p", "70000", "-t", "70000"]):
        done = process.run(PERFUSE, "bench", "numa", "mem", "-l", "1", *words)
        need(done.returncode == 129 and done.stderr.strip(), "%s: %r" % (words, done))
    # a process that is killed ends the others, and so does the end of the program
    for own in False, True:
        with process.start(PERFUSE, "bench", "numa", "mem", "-d", "-p", "2", "-t", "2", "-s", "60", stderr=process.PIPE) as running:
            pids = []
            while len(pids) < 2:
                pids += [int(pid) for pid in re.findall(r"PID (\d+)", running.stdout.readline())]
            os.kill(running.pid if own else pids[0], signal.SIGKILL)
            need(running.wait(30) == (-9 if own else 1), str(running.returncode))
            need(own or "was ended" in running.stderr.read(), "no sentence")
            for _ in range(300):
                if not any(os.path.exists("/proc/%d" % pid) for pid in pids):
                    break
                time.sleep(0.1)
            need(not any(os.path.exists("/proc/%d" % pid) for pid in pids), "processes remain: %s" % pids)
    # without a limit of loops, the time ends it
    seconds = float(re.search(r"([\d.]+), secs, +runtime-min", bench("numa", "mem", "-p", "2", "-t", "2", "-s", "1")).group(1))
    need(seconds >= 0.9, "a thread ended after %.3f s of 1 s" % seconds)


def test_uprobe():
    """uprobe all prints perf's lines with the differences to the first and the previous benchmark; its programs run at each call"""
    need_root("BPF programs need root")
    if process.run(PERFUSE, "bench", "uprobe", "empty", "-l", "1").returncode:
        raise Skip("probes with BPF programs are not available here")
    text = bench("uprobe", "all", "-l", "20")
    totals = [int(us) for us in re.findall(r"Total time: (\d+) usecs", text)]
    need(len(totals) == 5 and min(totals) >= 20000, text)
    need([int(us) for us in re.findall(r"([+-]\d+) to baseline", text)] == [us - totals[0] for us in totals[1:]], text)
    need([int(us) for us in re.findall(r"([+-]\d+) to previous", text)] == [us - before for before, us in zip(totals[1:], totals[2:])], text)
    each = [float(us) for us in re.findall(r"^ ([\d.]+) usecs/op", text, re.M)]
    need(each == [us / 20 for us in totals], text)
    for benchmark in ("trace_printk", "trace_printk_ret"):
        done = process.run(PERFUSE, "stat", "-a", "-x,", "-e", "bpf_trace:bpf_trace_printk", PERFUSE, "bench", "uprobe", benchmark, "-l", "20")
        printed = int(done.stderr.split(",")[0]) if done.returncode == 0 and done.stderr[:1].isdigit() else None
        if printed is None:
            raise Skip("bpf_trace_printk cannot be counted here: " + done.stderr[-200:])
        need(printed >= 20, "%s: the program ran %d times" % (benchmark, printed))


def test_pmu_scan():
    """internals pmu-scan prints perf's messages"""
    runs = [process.run(program, "bench", "internals", "pmu-scan", "-i", "2") for program in (need_reference(), PERFUSE)]
    theirs, ours = (re.sub(r"\d+\.\d+", "N", run.stderr).splitlines() for run in runs)
    need(runs[1].returncode == 0 and "2 times" in runs[1].stderr and len(ours) == 3, str(runs[1]))
    if runs[0].returncode < 0: # perf 6.12 breaks its heap where no core PMU exists; the C library then adds a line
        theirs = theirs[:-1]
        ours = ours[:len(theirs)]
    need(theirs and theirs == ours, "%s\n%s" % tuple(runs))


def test_threads_counted():
    """breakpoint thread starts as many threads as its numbers say"""
    done = process.run(PERFUSE, "record", "-q", "-o", "-", "-e", "cpu-clock", "--", PERFUSE, "bench", "-r", "3", "breakpoint", "thread", "-b", "0", "-p", "2",
                       "-t", "4", text=False)
    tasks = process.run(PERFUSE, "script", "-i", "-", "--show-task-events", input=done.stdout, text=False).stdout.decode()
    forks = set(re.findall(r"PERF_RECORD_FORK\((\d+:\d+)\)", tasks))
    need(len(forks) == 2 + 3 * 4, "%d tasks" % len(forks))


def test_all():
    """the word all runs each benchmark of a collection with the same options, and unknown words are refused as in perf"""
    text = bench("syscall", "all", "-l", "5")
    need(text.count("# Executed 5 ") == 4 and text.count("# Running syscall/") == 4, text)
    with process.start(PERFUSE, "bench", "all") as running: # as a collection it takes minutes
        first = running.stdout.readline()
        running.terminate()
    need(first == "# Running sched/messaging benchmark...\n", first)
    for words, sentence in ((["sched", "x"], "Unknown benchmark: 'x' for collection 'sched'"), (["y"], "Unknown collection: 'y'")):
        done = process.run(PERFUSE, "bench", *words)
        need(done.returncode == 1 and sentence in done.stderr, "%d %s" % (done.returncode, done.stderr))
    for words in (["sched", "messaging", "-g", "0"], ["mem", "memcpy", "-s", "0"], ["mem", "memcpy", "-s", "99999999999G"], ["mem", "memset", "-f", "x"],
                  ["futex", "wake", "-t", "9999999"], ["futex", "hash", "-f", "0"], ["futex", "wake-parallel", "-t", "4", "-w", "3"],
                  ["epoll", "wait", "-r", "0"], ["epoll", "ctl", "-f", "99999999"], ["-f", "json", "sched", "pipe"],
                  ["breakpoint", "thread", "-t", "0"], ["breakpoint", "thread", "-b", "1000"], ["breakpoint", "enable", "-a", "99999"],
                  ["internals", "evlist-open-close", "-n", "0"], ["internals", "evlist-open-close", "-e", "nonsense"],
                  ["internals", "evlist-open-close", "-p", "999999999"], ["uprobe", "empty", "-l", "0"]):
        done = process.run(PERFUSE, "bench", *words)
        need(done.returncode in (1, 129, 255) and done.stderr, "%s: %d" % (words, done.returncode))


def test_repeat():
    """a benchmark that would run no time is refused"""
    done = process.run(PERFUSE, "bench", "switch", "pipe", "-r", "0")
    need(done.returncode == 129 and "-r" in done.stderr and not done.stdout, "%d %s" % (done.returncode, done.stderr))


def test_bars():
    """the histogram counts each round once, and the plot of a sweep has a bar for each run, the longest for the slowest"""
    words = ("pipe", "-m", "coroutines", "-l", "3000", "--sweep", "work=0,20000", "--histogram")
    done = process.run(PERFUSE, "bench", "switch", *words)
    bars = re.findall(r"^ *(\d+) +[\d.]+ +(#+)$", done.stdout, re.M)
    need([value for value, _ in bars] == ["0", "20000"] and len(bars[0][1]) < len(bars[1][1]) == 50, done.stdout)
    done = process.run(PERFUSE, "bench", "switch", *words, "--format=json")
    table = json.loads(done.stdout)["tables"][1]
    for run in (1, 2):
        need(sum(row["rounds"] for row in table["rows"] if row["run"] == run) == 3000, str(table))
    need(all(row["from"] < row["to"] for row in table["rows"]), str(table))


def test_counters():
    """counters are columns, absent where the machine has none, and only on request"""
    names = ("cycles", "instructions", "cache_misses", "dtlb_load_misses")
    (row,) = rows("pipe", "-l", "100")
    need(all(row[name] is None for name in names), str(row))
    (row,) = rows("pipe", "-l", "2000", "--counters")
    need(all(row[name] is None or row[name] > 0 for name in names), str(row))
    need(row["instructions"] is None or row["instructions"] > 2000 * 500, str(row))


@by_samples
def test_perf():
    """a turn of pipe takes the time that perf's bench sched pipe measures"""
    reference, ours, theirs = need_reference(), [], []
    for _ in range(7):
        (row,) = rows("pipe", "-l", "20000", "-C", "0")
        ours.append(row["wall"] / 20000)
        text = process.run("taskset", "-c", "0", reference, "bench", "sched", "pipe", "-T", "-l", "20000").stdout
        theirs.append(float(re.search(r"([\d.]+) usecs/op", text).group(1)) * 1000)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print("# a round takes %.0f ns, perf's %.0f: ratio %.3f" % (statistics.median(ours), statistics.median(theirs), ratio))
    need(0.8 < ratio < 1.25, "ratio %.3f" % ratio)


def test_refusals():
    """what cannot run is refused in one sentence, with exit code 129"""
    for words, text in ((["pipes"], "no benchmark 'switch pipes'"), (["futex", "-m", "epoll"], "futex"), (["pipe", "-b", "0"], "1 to 4096"),
                        (["eventfd", "-b", "4"], "8 bytes"), (["pipe", "--sweep", "size=1"], "--sweep"), (["pipe", "-n", "9999999"], "pairs"),
                        (["pipe", "-m", "fibres"], "--model"), (["pipe", "--sweep", "set=1,x"], "'x'")):
        done = process.run(PERFUSE, "bench", "switch", *words)
        need(done.returncode == 129 and text in done.stderr, "%s: %d %s" % (words, done.returncode, done.stderr))


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
