#!/usr/bin/env python3
"""`record --off-cpu` and `offcpu`: blocked time by BPF, of a program that knows how long it waits in which function (test/offcpu/sleeper.c)."""
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time

from suite import bpf, process
from suite.perf import need_reference
from suite.process import perfuse
from suite.settings import PERFUSE, TEST
from suite.tests import Skip, by_samples, need, need_root, run_tests, tests_of

WAITERS = {"long_naps": "sleeper", "short_naps": "sleeper", "wait_for_lock": "locked", "wait_for_byte": "reader"}


class Context:
    def __init__(self, work):
        self.work = work
        self.data = os.path.join(work, "off.data")

    def sleeper(self):
        """The program, without frame pointers."""
        path = os.path.join(self.work, "sleeper")
        if not os.path.exists(path):
            need_root("BPF programs")
            process.must("cc", "-O2", "-fomit-frame-pointer", "-pthread", "-o", path, os.path.join(TEST, "offcpu/sleeper.c"), cwd=self.work,
                         env=process.compilers())
        return path

    def known(self):
        """Function → ns, of the recorded run."""
        if not hasattr(self, "waits"):
            done = perfuse("record", "--off-cpu", "-e", "dummy:u", "-o", self.data, "--", self.sleeper(), cwd=self.work)
            if "lets this user" in done.stderr or "does not publish" in done.stderr or "not supported" in done.stderr:
                raise Skip(done.stderr.splitlines()[0])
            need(done.returncode == 0, done.stderr)
            self.waits = {name: int(ns) for name, ns in re.findall(r"(?m)^(\w+) (\d+)$", done.stdout)}
            need(set(self.waits) == set(WAITERS), done.stdout)
        return self.waits

    def forget(self):
        """The recorded run."""
        self.__dict__.pop("waits", None)

    def samples(self):
        """(comm, time in s, period, functions) of each sample."""
        self.known()
        text = process.must(PERFUSE, "script", "-i", self.data, "-F", "comm,time,period,event,ip,sym", cwd=self.work)
        found = []
        for block in re.split(r"\n\n+", text.strip()):
            head = re.match(r" *(\S+) +([\d.]+): +(\d+) +offcpu-time:", block)
            if head:
                found.append((head.group(1), float(head.group(2)), int(head.group(3)), re.findall(r"(?m)^\s+[0-9a-f]+ (\w+)", block)))
        return found


@by_samples
def test_sums(context):
    """the blocked time of each function is what the program measured, within 2 %, and has all callers and the thread's name"""
    known = context.known()
    for function, comm in WAITERS.items():
        samples = [sample for sample in context.samples() if function in sample[3]]
        total = sum(sample[2] for sample in samples)
        need(abs(total / known[function] - 1) < 0.02, "%s: %d ns of %d" % (function, total, known[function]))
        outermost = "main" if comm == "sleeper" else "start_thread"
        need(all(sample[0] == comm and outermost in sample[3] for sample in samples), "%s: %s" % (function, samples))


@by_samples
def test_kernel(context):
    """the call chains have the kernel's frames, which give the reason of the wait"""
    for function, expected in (("long_naps", "do_nanosleep"), ("wait_for_lock", "futex_wait"), ("wait_for_byte", "pipe_read")):
        chains = [" ".join(sample[3]) for sample in context.samples() if function in sample[3]]
        need(any(expected in chain for chain in chains), "%s: %s" % (function, chains))


def test_times(context):
    """samples have times of the recording"""
    samples = context.samples()
    with open("/proc/uptime") as uptime:
        now = float(uptime.read().split()[0])
    need(all(now - 600 < sample[1] < now + 1 for sample in samples), str([sample[1] for sample in samples]))


@by_samples
def test_perf(context):
    """perf reads the recording, with the same sum; it may only warn of samples that are older than the round before, as their times are true"""
    perf, known = need_reference(), context.known()
    done = process.run(perf, "report", "-i", context.data, "--stdio", "--no-children", "-s", "comm", "-g", "none", cwd=context.work)
    count = re.search(r"event 'offcpu-time'\n# Event count \(approx\.\): (\d+)", done.stdout)
    warnings = [line for line in done.stderr.splitlines() if line.strip() not in ("", "Warning:") and "out of order events recorded" not in line]
    need(count and not warnings, done.stdout[:500] + done.stderr[-300:])
    need(int(count.group(1)) == sum(sample[2] for sample in context.samples()), count.group(1))
    need(int(count.group(1)) > 0.98 * sum(known.values()), count.group(1))


def test_attached(context):
    """a running process is recorded"""
    data = os.path.join(context.work, "attached.data")
    other = process.start("sh", "-c", "read line; exec %s" % context.sleeper(), cwd=context.work, stdin=process.PIPE, stdout=process.PIPE)
    ours = process.start(PERFUSE, "record", "--off-cpu", "-e", "dummy:u", "-o", data, "-p", str(other.pid), cwd=context.work)
    try:
        bpf.wait_attached(ours.pid)
        known = dict(re.findall(r"(?m)^(\w+) (\d+)$", other.communicate("\n")[0]))
        ours.wait(60)
    finally:
        for child in (other, ours):
            child.kill()
            child.wait()
    text = process.must(PERFUSE, "report", "-i", data, "--stdio", "--no-children", "-g", "caller", cwd=context.work)
    need(known and "offcpu-time" in text and "long_naps" in text and " locked " in text, text[:500])


def rows(context, *options):
    """The rows of `offcpu`."""
    context.known()
    return json.loads(process.must(PERFUSE, "offcpu", "--format=json", "-i", context.data, *options, cwd=context.work))["tables"][0]["rows"]


@by_samples
def test_reasons(context):
    """`offcpu` shows the reason and the place of each wait, and the same time by call chain, thread and reason"""
    by_stack, by_thread, by_reason = rows(context), rows(context, "--by", "thread"), rows(context, "--by", "reason")
    for function, reason in (("long_naps", "timer"), ("wait_for_lock", "futex"), ("wait_for_byte", "pipe")):
        found = [row for row in by_stack if function in row["where"]]
        need(found and all(row["reason"] == reason for row in found), "%s: %s" % (function, found))
    totals = {sum(row["time"] for row in table) for table in (by_stack, by_thread, by_reason)}
    need(len(totals) == 1, str(totals))
    need({row["comm"] for row in by_thread} == set(WAITERS.values()), str(by_thread))


@by_samples
def test_measured(context):
    """`offcpu` measures a command: number of waits, states and wakers; its recording is removed"""
    context.known()
    temporary = tempfile.mkdtemp(dir=context.work)
    done = perfuse("offcpu", "-w", "--format=json", "--", context.sleeper(), cwd=context.work,
                   env={**process.environment(context.work), "TMPDIR": temporary})
    found = json.loads(done.stdout[done.stdout.index("{"):])["tables"][0]["rows"]
    naps = [row for row in found if "nap < long_naps" in row["where"]]
    need(sum(row["waits"] for row in naps) == 10 and all(row["state"] == "S" for row in naps), str(naps))
    need(sum(row["waits"] for row in naps if row["waker"] == "[interrupt]") >= 8, str(naps))
    need([row["waker"] for row in found if "wait_for_lock" in row["where"]] == ["sleeper"], str(found))
    need(os.listdir(temporary) == [], str(os.listdir(temporary)))


def test_left(context):
    """no recording is left behind by a command that cannot write its result"""
    context.known()
    temporary = tempfile.mkdtemp(dir=context.work)
    done = perfuse("lock", "contention", "--user", "--output", "/no/such/folder/x", "--", "sleep", "0.1", cwd=context.work,
                   env={**process.environment(context.work), "TMPDIR": temporary})
    need(done.returncode == 255 and os.listdir(temporary) == [], "exit %d: %s" % (done.returncode, os.listdir(temporary)))


@by_samples
def test_waker_stacks(context):
    """the flame graph of wakers has the waker's functions in user code, too, without frame pointers"""
    context.known()
    folded = process.must(PERFUSE, "offcpu", "-w", "--folded", "--", context.sleeper(), cwd=context.work)
    for comm, waits, wakes in (("reader", "wait_for_byte", "write"), ("locked", "wait_for_lock", "unlock")):
        lines = [line for line in folded.splitlines() if line.startswith(comm + ";") and waits in line and "-- woken by --" in line]
        after = [line.rsplit(" ", 1)[0].split("-- woken by --;")[1].split(";") for line in lines]
        need(any("main" in frames and any(wakes in frame for frame in frames[:frames.index("main")]) and frames[-1] == "sleeper"
                 for frames in after), "%s: %s" % (comm, folded))


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as stream:
        return stream.read().split()


def test_killed(context):
    """a killed measurement leaves no file and no BPF program behind: the recording has no name, and its process ends with its reader"""
    context.known()
    temporary = tempfile.mkdtemp(dir=context.work)
    run = process.start(PERFUSE, "offcpu", "--", "sleep", "60", cwd=context.work, env={**process.environment(context.work), "TMPDIR": temporary})
    try:
        found = []
        process.wait_until(lambda: found.extend(filter(bpf.attached, children(run.pid))) or found, "a BPF program is attached", 60)
        child = found[0]
    finally:
        run.kill()
        run.wait()
    process.wait_until(lambda: not os.path.exists("/proc/" + child), "the process with the programs ends", 60)
    need(os.listdir(temporary) == [], str(os.listdir(temporary)))


def test_killed_recorder(context):
    """after SIGKILL no program and no link of `record --off-cpu` is left in the kernel, and what was recorded until then can be read"""
    context.known()
    path = os.path.join(context.work, "killed.data")
    run = process.start(PERFUSE, "record", "--off-cpu", "-e", "task-clock", "-o", path, "--", "sleep", "60", cwd=context.work)
    try:
        bpf.wait_attached(run.pid)
        found = bpf.attached(run.pid)
        need(len(found) >= 4 and all(bpf.exists(*one) for one in found), str(found))
    finally:
        run.kill()
        run.wait()
    process.wait_until(lambda: not any(bpf.exists(*one) for one in found), "the kernel has none of %s" % found, 60)
    done = perfuse("report", "--stdio", "-i", path, cwd=context.work)
    need(done.returncode == 255 and "the recorder did not finish the file" in done.stderr, "exit %d: %s" % (done.returncode, done.stderr))


def test_begun(context):
    """a wait that began before the measurement is not counted, one that has not ended is, up to the end"""
    context.known()
    path = os.path.join(context.work, "begun.data")
    waiter = process.start("sh", "-c", "read line; exec sleep 60", cwd=context.work, stdin=process.PIPE)
    time.sleep(1)
    run = process.start(PERFUSE, "record", "--off-cpu", "-e", "dummy:u", "-o", path, "-p", str(waiter.pid), cwd=context.work)
    try:
        bpf.wait_attached(run.pid)
        start = time.monotonic()
        waiter.stdin.write("\n")
        waiter.stdin.flush()
        process.wait_until(lambda: open("/proc/%d/comm" % waiter.pid).read() == "sleep\n", "the shell has become sleep")
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        need(run.wait(60) in (0, -signal.SIGINT), "exit %d" % run.returncode)
        longest = (time.monotonic() - start) * 1e9
    finally:
        for child in (run, waiter):
            child.kill()
            child.wait()
    text = process.must(PERFUSE, "script", "-i", path, "-F", "comm,period", cwd=context.work)
    found = {comm: int(period) for comm, period in re.findall(r"(?m)^ *(\S+) +(\d+) ", text)}
    need(0.4e9 < found.get("sleep", 0) <= longest, "the last wait: " + text)
    need(found.get("sh", 0) < 0.9e9, "the wait of the shell began before: " + text)


@by_samples
def test_threshold(context):
    """`--off-cpu-thresh` gives each long wait a sample with its own time; the sums of the others come after all, with the names of threads"""
    context.known()
    path = os.path.join(context.work, "threshold.data")
    waits = process.must(PERFUSE, "record", "-q", "--off-cpu", "--off-cpu-thresh", "25", "-e", "dummy:u", "-o", path, "--", context.sleeper(),
                         cwd=context.work)
    known = {name: int(ns) for name, ns in re.findall(r"(?m)^(\w+) (\d+)$", waits)}
    text = process.must(PERFUSE, "script", "-i", path, "-F", "comm,time,period,event,ip,sym", cwd=context.work)
    found = re.findall(r"(?m)^ *(\S+) +(\d+)\.(\d+): +(\d+) +offcpu-time: *((?:\n\t.*)*)", text)
    with open("/proc/uptime") as uptime:
        now = float(uptime.read().split()[0])
    sums = [one for one in found if one[1] == "18446744069"]
    alone = found[:len(found) - len(sums)]
    need(sums and sums == found[len(alone):] and any("nap" in one[4] for one in sums), text)
    need(all(int(one[3]) >= 25000000 and now - 600 < int(one[1]) < now + 1 for one in alone), str(alone))
    long_naps = [one for one in alone if "long_naps" in one[4]]
    need(len(long_naps) > 5 and len({one[1:3] for one in long_naps}) == len(long_naps), text)
    need(not any(":" in one[0] for one in found), str(found))
    for function, ns in known.items():
        total = sum(int(one[3]) for one in found if function in one[4])
        need(abs(total / ns - 1) < 0.02, "%s: %d of %d ns" % (function, total, ns))
    times = re.search(r"time of last sample : (\d+)", process.must(PERFUSE, "report", "--header-only", "-i", path, cwd=context.work))
    need(int(times.group(1)) < now + 1, times.group())
    piped = process.run("sh", "-c", "%s record --off-cpu --off-cpu-thresh 25 -e dummy:u -o - -- %s 2>/dev/null | %s script -i - -F event,ip,sym"
                        % (PERFUSE, context.sleeper(), PERFUSE), cwd=context.work).stdout
    need("short_naps" in piped, piped)


def test_full(context):
    """waits for which the map of sums has no room are counted: they and the recorded ones are all"""
    context.known()
    threads, room = 17000, 16384
    script = ("import threading, time\nfor i in range(%d):\n  t = threading.Thread(target=time.sleep, args=(1e-6,)); t.start(); t.join()\n" % threads)
    path = os.path.join(context.work, "full.data")
    done = perfuse("record", "--off-cpu", "-e", "dummy:u", "-o", path, "--", "python3", "-c", script, cwd=context.work, seconds=200)
    lost = re.search(r"--off-cpu: (\d+) waits were not counted, as the BPF map of sums is full", done.stderr)
    need(done.returncode == 0 and lost, done.stderr)
    tids = process.must(PERFUSE, "script", "-i", path, "-F", "tid,period", cwd=context.work).split("\n")
    found = len({line.split()[0] for line in tids if re.match(r" *\d+ +\d+ ", line)})
    need(found <= room and found + int(lost.group(1)) >= threads, "%d threads have waits, and %s waits are lost, of %d" % (found, lost.group(1), threads))


def test_failed(context):
    """a measurement that fails does not show an earlier recording in its place"""
    context.known()
    output = os.path.join(context.work, "earlier.data")
    shutil.copy(context.data, output)
    done = perfuse("offcpu", "-o", output, "--", "/no/such/command", cwd=context.work)
    need(done.returncode != 0 and not done.stdout, "exit %d: %s" % (done.returncode, done.stdout))


@by_samples
def test_flamegraph(context):
    """folded text has the blocked ns of each function, and the picture its frames; what runs is beside it on request"""
    known = context.known()
    folded = process.must(PERFUSE, "offcpu", "-i", context.data, "--folded", "--flamegraph", "off.svg", cwd=context.work)
    naps = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines() if ";long_naps;nap;" in line)
    need(abs(naps / known["long_naps"] - 1) < 0.02, folded)
    with open(os.path.join(context.work, "off.svg")) as picture:
        need("wait_for_byte" in picture.read(), "no frame wait_for_byte")
    both = process.must(PERFUSE, "offcpu", "--on-cpu", "--folded", "--", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.1",
                        cwd=context.work)
    need("[on CPU];" in both and re.search(r"(?m)^sleep;\[off CPU\];.* [1-9]\d{8,}$", both), both[-2000:])


def test_refused(context):
    """a recording without blocked time is refused"""
    context.known()
    other = os.path.join(context.work, "clock.data")
    process.must(PERFUSE, "record", "-q", "-e", "cpu-clock", "-o", other, "--", "true", cwd=context.work)
    done = perfuse("offcpu", "-i", other, cwd=context.work)
    need(done.returncode == 255 and "has no blocked time" in done.stderr, done.stderr)


def test_pipe(context):
    """a recording that goes to a pipe has the samples at its end"""
    text = process.run("sh", "-c", "%s record --off-cpu -e dummy:u -o - -- %s 2>/dev/null | %s script -i - -F comm,period,event,ip,sym"
                       % (PERFUSE, context.sleeper(), PERFUSE), cwd=context.work).stdout
    need("offcpu-time" in text and "wait_for_byte" in text, text[:500])


def main():
    work = tempfile.mkdtemp(prefix="perfuse-offcpu-")
    context = Context(work)
    try:
        return run_tests(tests_of(globals(), context))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
