#!/usr/bin/env python3
"""Recordings: of a program with known behaviour, compared with perf's for the same command line, and as perf reads them."""
import collections
import ctypes
import glob
import os
import platform
import re
import select
import shutil
import signal
import struct
import sys
import time

from suite import process, recorder
from suite.perf import need_recording, need_reference, reference
from suite.process import NOBODY
from suite.recording import header_features
from suite.settings import PERFUSE, SHAPE_SOURCE
from suite.tests import Skip, by_samples, need, need_root, run_in_folder


class Context:
    def __init__(self, work):
        self.work = work

    def run(self, *command, **more):
        return process.run(*command, cwd=self.work, **more)

    def record(self, *options, program=PERFUSE, output="perf.data"):
        return self.run(program, "record", "-o", output, *options)

    def tracepoints(self):
        if self.record("-e", "raw_syscalls:sys_enter", "--", "true").returncode != 0:
            raise Skip("this user may not open tracepoints")


SUMMARY = re.compile(r"\[ perf record: Woken up \d+ times to write data \]\n"
                     r"\[ perf record: Captured and wrote \d+\.\d{3} MB \S+( \(\d+ samples\)|, compressed \(.*\))? \]\n")


def test_summary(c):
    """the two lines of the summary have the form that tools read"""
    result = c.record("--", "./shape", "--ms", "50")
    need(SUMMARY.fullmatch(result.stderr), "stderr is %r" % result.stderr)


@by_samples
def test_truth(c):
    """a profile of the known program shows its shares"""
    c.record("-e", "task-clock:u", "-F", "1000", "--", "./shape", "--ms", "1000")
    lines = c.run(PERFUSE, "script", "-F", "comm,ip,sym").stdout.splitlines()
    seen, threads = collections.Counter(), collections.Counter()
    for line in lines:
        words = line.split()
        if len(words) >= 3:
            seen[words[0], words[2]] += 1
            threads[words[0]] += 1
    truth = [line.split("\t") for line in c.run("./shape", "--truth").stdout.splitlines() if line[0] != "#"]
    for thread, function, percent, _, _ in truth:
        if int(percent) == 0:
            need(threads[thread] <= 10, "%s sleeps, but has %d samples" % (thread, threads[thread]))
            continue
        need(threads[thread] > 200, "%s has %d samples" % (thread, threads[thread]))
        share = 100 * seen[thread, function] / threads[thread]
        need(abs(share - int(percent)) < 6, "%s of %s has %.1f percent, not %s" % (function, thread, share, percent))


def test_threads_folder(c):
    """--threads makes a folder with a file for each ring, which reads as one recording"""
    for option in ("--threads", "--threads=core", "--threads=numa", "--threads=0-4095/0"):
        shutil.rmtree(os.path.join(c.work, "folder"), ignore_errors=True)
        result = c.record(option, "-e", "task-clock:u", "-F", "1000", "--", "./shape", "--ms", "200", output="folder")
        need(result.returncode == 0, result.stderr)
        files = sorted(os.listdir(os.path.join(c.work, "folder")))
        need("data" in files and "data.0" in files, "%s has made %s" % (option, files))
        seen = len(c.run(PERFUSE, "script", "-i", "folder", "-F", "ip").stdout.split())
        need(seen > 50, "%d samples were read" % seen)
        need("(%d samples)" % seen in result.stderr, "%d samples were read: %s" % (seen, result.stderr))
        ours = c.run(PERFUSE, "script", "-i", "folder").stdout
        need(ours == c.run(need_reference(), "script", "-i", "folder").stdout, "perf reads it otherwise")
    c.record("-e", "task-clock:u", "--", "./shape", "--ms", "50", output="folder")
    need(os.path.isdir(os.path.join(c.work, "folder.old")) and os.path.isfile(os.path.join(c.work, "folder")), "the older one is gone")
    c.record("--threads", "-e", "task-clock:u", "--", "./shape", "--ms", "50", output="folder")
    need(os.path.isfile(os.path.join(c.work, "folder.old")) and os.path.isdir(os.path.join(c.work, "folder")), "the older one is gone")
    need(c.record("--threads", "--switch-output=1s", "true").returncode != 0, "it starts files anew")


def test_switch_event(c):
    """--switch-output-event begins a new file when its event happens"""
    c.tracepoints()
    # two events at once may begin one file
    wait = "i=0; until [ $(ls %s/turns.2* 2>/dev/null | wc -l) -ge %%d ] || [ $i = 300 ]; do sleep 0.1; i=$((i+1)); done" % c.work
    result = c.record("-e", "task-clock:u", "--switch-output-event", "syscalls:sys_enter_chdir", "--", "sh", "-c",
                      "./shape --ms 100; cd /; %s; cd /tmp; %s" % (wait % 1, wait % 2), output="turns")
    files = sorted(glob.glob(os.path.join(c.work, "turns.*")))
    need(result.returncode == 0 and len(files) >= 3, "%d files: %s" % (len(files), result.stderr))
    seen = sum(len(c.run(PERFUSE, "script", "-F", "ip", "-i", file).stdout.split()) for file in files)
    need(seen > 20, "%d samples in all" % seen)


class Control:
    """A recording that takes commands, by a pair of FIFOs or of descriptors."""

    def __init__(self, c, program, how, name, command):
        self.c, self.folder = c, os.path.join(c.work, name)
        os.makedirs(self.folder)
        fifos = [os.path.join(self.folder, end) for end in ("commands", "answers")]
        if how == "fifo":
            for path in fifos:
                os.mkfifo(path)
            self.commands, self.answers, ends = os.open(fifos[0], os.O_RDWR), os.open(fifos[1], os.O_RDWR), ()
            text = "fifo:%s,%s" % tuple(fifos)
        else:
            (theirs, self.commands), (self.answers, answering) = os.pipe(), os.pipe()
            ends, text = (theirs, answering), "fd:%d,%d" % (theirs, answering)
        self.recorder = process.start(program, "record", "-o", "perf.data", "-D", "-1", "--control", text, "-e", "cpu-clock:u", "-e",
                                      "{faults,context-switches}", "--", *command, cwd=self.folder, pass_fds=ends,
                                      stderr=process.PIPE, stdout=process.DEVNULL, text=True)
        for end in ends:
            os.close(end)

    def answer(self, command, limit=60):
        """The answer to a command; "" if none arrives in time."""
        os.write(self.commands, command.encode() + b"\n")
        ready = select.select([self.answers], [], [], limit)[0]
        return os.read(self.answers, 100) if ready else b""

    def end(self):
        text = self.recorder.communicate(timeout=120)[1]
        os.close(self.commands)
        os.close(self.answers)
        return [line for line in text.splitlines() if not line.startswith("[ perf record: ")]

    def samples(self):
        return len(self.c.run(PERFUSE, "script", "-i", os.path.join(self.folder, "perf.data"), "-F", "ip").stdout.splitlines())


def test_control(c):
    """--control takes every command by FIFOs and by descriptors, answers and prints as perf does"""
    commands = ["ping", "enable", "disable", "enable cpu-clock:u", "disable cpu-clock:u", "evlist", "evlist -v", "evlist -g", "evlist -F",
                "snapshot", "enable nosuch", "stop"]
    for how in ("fifo", "fd"):
        seen = []
        for who, program in (("perf", need_reference()), ("perfuse", PERFUSE)):
            control = Control(c, program, how, "control-%s-%s" % (how, who), ["sleep", "30"])
            answers = [control.answer(command) for command in commands]
            seen.append((answers, control.end()))
        need(set(seen[1][0]) == {b"ack\n\0"}, "answers are %s" % seen[1][0])
        need(seen[0] == seen[1], "perf: %s\nperfuse: %s" % tuple(seen))
    control = Control(c, PERFUSE, "fifo", "control-unknown", ["sleep", "30"])
    need(control.answer("bogus", 0.5) == b"" and control.answer("stop") == b"ack\n\0", "an unknown command is answered")
    control.end()


def test_control_effect(c):
    """samples are taken between `enable` and `disable` alone, and `stop` ends the recording before its command"""
    control = Control(c, PERFUSE, "fd", "control-effect", ["./../shape", "--ms", "20000"])
    started = time.time()
    for command, seconds in (("ping", 0.3), ("enable cpu-clock:u", 0.5), ("disable cpu-clock:u", 0.3), ("stop", 0)):
        need(control.answer(command) == b"ack\n\0", "%s is not answered" % command)
        time.sleep(seconds)
    control.end()
    need(time.time() - started < 15, "it ends with its command")
    need(control.samples() > 100, "%d samples while enabled" % control.samples())
    control = Control(c, PERFUSE, "fd", "control-off", ["./../shape", "--ms", "20000"])
    time.sleep(0.5)
    control.answer("stop")
    control.end()
    need(control.samples() == 0, "%d samples while disabled" % control.samples())


def burning_thread(c):
    """A program whose second thread waits for a line, then starts a third one that computes; and the second one's id."""
    source = r"""
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *child(void *p) { for (volatile long i = 0; i < 300000000; i++); return p; }
static void *second(void *p)
{
    pthread_t t;
    printf("%ld\n", syscall(SYS_gettid));
    fflush(stdout);
    getchar();
    pthread_create(&t, 0, child, 0);
    pthread_join(t, 0);
    return p;
}
int main(void) { pthread_t t; pthread_create(&t, 0, second, 0); pthread_join(t, 0); return 0; }
"""
    path = os.path.join(c.work, "burning")
    if not os.path.exists(path):
        process.must("cc", "-O1", "-pthread", "-o", path, "-x", "c", "-", input=source)
    started = process.start(path, stdin=process.PIPE)
    return started, int(started.stdout.readline())


def test_inherit(c):
    """-t records that thread alone, with --inherit the threads that it starts too"""
    for options, some in (([], False), (["--inherit"], True)):
        program, tid = burning_thread(c)
        recording = recorder.start("-o", "thread.data", "-e", "cpu-clock:u", "-t", str(tid), *options, cwd=c.work)
        program.communicate("\n")
        text = recording.communicate(timeout=120)[1]
        need(recording.returncode == 0, "exit code %d: %s" % (recording.returncode, text))
        tids = [int(line) for line in c.run(PERFUSE, "script", "-i", "thread.data", "-F", "tid").stdout.split()]
        need(all(number != tid or not some for number in tids[20:]) and (len(tids) > 100) == some,
             "%d samples of %s with %s" % (len(tids), set(tids), options))


def test_sample_filter(c):
    """--filter on samples records those that meet the condition, and counts the others"""
    need_root("only root may load BPF programs everywhere")
    numbers = lambda field: [int(word.strip("[]")) for word in c.run(PERFUSE, "script", "-i", "filtered", "-F", field).stdout.split()]
    def filtered(condition, *options):
        for _ in range(10):
            result = c.record("-v", "-e", "cpu-clock", "-F", "2000", "--filter", condition, *options, "--", "./shape", "--ms", "300", output="filtered")
            need(result.returncode == 0, result.stderr)
            perfs = c.run(need_reference(), "script", "-i", "filtered", "-F", "ip")
            if not re.search(r"failed to process type: 1[78] ", perfs.stderr): # perf fails at some BPF programs that others load meanwhile
                break
        dropped = re.search(r"(\d+) samples were dropped by --filter", result.stderr)
        count = int(dropped.group(1)) if dropped else 0
        stats = re.search(r"LOST_SAMPLES \(BPF\) events: +(\d+)", c.run(PERFUSE, "report", "--stats", "-i", "filtered").stdout)
        need((int(stats.group(1)) if stats else 0) == count, "%s dropped, the recording says %s" % (count, stats))
        need(perfs.returncode == 0 and len(perfs.stdout.split()) == len(numbers("pid")), "perf reads it otherwise: " + perfs.stderr)
        return count
    need(filtered("cpu == 0", "-a") > 0 and set(numbers("cpu")) <= {0}, "other CPUs are recorded: %s" % set(numbers("cpu")))
    need(filtered("ip < 0x8000000000000000") >= 0, "")
    ips = [int(word, 16) for word in c.run(PERFUSE, "script", "-i", "filtered", "-F", "ip").stdout.split()]
    need(len(ips) > 100 and max(ips) < 1 << 63, "%d samples, up to %#x" % (len(ips), max(ips)))
    need(filtered("period == 1 || tid == 1") > 100 and not numbers("pid"), "samples are recorded: %d" % len(numbers("pid")))
    need(filtered("uid == %d && gid == %d" % (os.getuid(), os.getgid())) == 0 and len(numbers("pid")) > 100, "samples are dropped")
    need(filtered("pid == 1, cpu == 0 || cpu != 0", "--sample-cpu") > 100 and not numbers("pid"), "a comma is no conjunction")
    for condition, code, words in (("phys_addr == 1", 255, "PERF_SAMPLE_PHYS_ADDR"), ("period", 129, "an operator is expected"),
                                   ("period > 1 || cpu > 0", 255, "PERF_SAMPLE_CPU"), ("code_pgsz > 1", 255, "PERF_SAMPLE_CODE_PAGE_SIZE")):
        result = c.record("-e", "cpu-clock", "--filter", condition, "--", "true")
        need(result.returncode == code and words in result.stderr, "%s: %d, %s" % (condition, result.returncode, result.stderr))


FAULTS = ["-e", "page-faults", "-c", "1", "-d", "-W", "--phys-data", "--data-page-size", "--code-page-size", "--sample-identifier", "--transaction"]


def test_sample_data_filter(c):
    """--filter compares what the kernel has of a sample beyond its context: addresses, page sizes, weights, memory accesses, ids, times"""
    need_root("only root may load BPF programs everywhere")
    fields = "ip,data_page_size,code_page_size,phys_addr,weight,time"
    lines = lambda: c.run(PERFUSE, "script", "-i", "faults", "--ns", "-F", fields).stdout.split("\n")[:-1]
    def count(condition):
        result = c.record(*FAULTS, *(["--filter", condition] if condition else []), "--", "./shape", "--ms", "20", output="faults")
        if "before Linux 6.3" in result.stderr:
            raise Skip("this kernel's BPF programs cannot read samples")
        need(result.returncode == 0, "%s: %s" % (condition, result.stderr))
        return len(lines())
    every = count("")
    small = [line for line in lines() if "4K" in line.split()[-2:]]
    need(every > 50 and small, "%d faults, %d with a page" % (every, len(small)))
    for true, false in (("weight == 0", "weight > 0"), ("mem_op == na", "mem_op & store"), ("ins_lat == 0", "weight3 != 0"), ("txn == 0", "txn & 1"),
                        ("id > 0", "id == 0"), ("time > 1", "time < 1"), ("data_pgsz < 4096 || data_pgsz >= 4096", "mem_hops == hops3"),
                        ("phys_addr == 0 || phys_addr != 0", "phys_addr == 1 && phys_addr == 2"), ("mem_snoop != fwd", "mem_snoop & hitm")):
        need(abs(count(true) - every) < every / 4, "%s: %d of %d" % (true, len(lines()), every))
        need(count(false) == 0, "%s: %d" % (false, len(lines())))
    need(0 < count("data_pgsz == 4096") < every, "%d of %d faults have pages of 4 KB" % (len(lines()), every))
    need(count("data_pgsz == 8192") == 0, "pages of 8 KB")


def test_user_with_command(c):
    """-u of the user who starts a command records the command, too"""
    done = c.run(PERFUSE, "record", "-B", "-e", "task-clock:u", "-u", str(os.getuid()), "-o", "of_user", "--", "./shape", "--ms", "100")
    need(done.returncode == 0, done)
    text = c.run(PERFUSE, "script", "-i", "of_user", "-F", "comm").stdout
    need(text.count("shape") > 10, "%d samples of the command" % text.count("shape"))


def test_shared_filter(c):
    """--setup-filter pin lets users without rights filter samples, unpin ends that, and neither records"""
    need_root("only root may load BPF programs everywhere")
    if c.run("unshare", "-m", "mount", "-t", "bpf", "bpf", "/sys/fs/bpf").returncode:
        raise Skip("the BPF file system cannot be mounted")
    as_user = "setpriv --reuid %d --regid %d --clear-groups " % (NOBODY, NOBODY)
    os.chmod(c.work, 0o755)
    os.mkdir(os.path.join(c.work, "users"))
    os.chmod(os.path.join(c.work, "users"), 0o777)
    script = """mount -t bpf -o mode=700 bpf /sys/fs/bpf
        record() { $user %s record -B -N -v -e task-clock:u -F 2000 -o "users/$1" --filter "$2" -- ./shape --ms 300; echo "$1 $?"; }
        user="%s"
        record before "ip > 0"
        %s record --setup-filter pin; echo "pin $?"
        record none "ip < 0x10"
        record every "ip > 0x10"
        chmod 755 /sys/fs/bpf
        %s record --setup-filter unpin; echo "unpin $?"
        record after "ip > 0"
        %s record --setup-filter other; echo "other $?"
    """ % (PERFUSE, as_user, PERFUSE, PERFUSE, PERFUSE)
    result = c.run("unshare", "-m", "sh", "-c", script)
    codes = dict(line.split() for line in result.stdout.splitlines() if len(line.split()) == 2 and line.split()[1].isdigit())
    need(codes == {"before": "255", "pin": "0", "none": "0", "every": "0", "unpin": "0", "after": "255", "other": "234"},
         "%s %s" % (codes, result.stderr))
    count = lambda name: len(c.run(PERFUSE, "script", "-f", "-i", "users/" + name, "-F", "ip").stdout.split())
    need(count("none") == 0 and count("every") > 100, "%d and %d samples" % (count("none"), count("every")))
    need(result.stderr.count("root can prepare filters") == 2, result.stderr)


def test_urgency(c):
    """a recorder gets a real-time priority, of frequent samples once it came late to a full ring, unless the user chose one; its command does not"""
    need_root("only root gets a real-time priority")
    if os.nice(0) != 0:
        raise Skip("the tests run with a priority that a user chose")
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        raise Skip("root gets no real-time priority here")
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    # the command stops the recorder until the ring is full; column 41 is the scheduling policy (1: SCHED_FIFO)
    late = ("kill -STOP $PPID; dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null; kill -CONT $PPID; i=0; while "
            "policy=$(awk '{ print $41 }' /proc/$PPID/stat); [ $policy = 0 ] && [ $i -lt %d ]; do i=$((i+1)); sleep 0.05; done; "
            "echo $policy $(awk '{ print $41 }' /proc/self/stat)")
    recorded = ("record", "-o", "late.data", "-m", "8", "-e", "raw_syscalls:sys_enter")
    with open("/proc/sys/kernel/perf_event_max_sample_rate") as limit:
        frequent = ("-e", "cpu-clock/freq=10001/") if int(limit.read()) > 10000 else ()
    for words, more, tries, expected in (((), frequent, 400, ["1", "0"]), (("nice", "-n", "5"), (), 20, ["0", "0"])):
        result = c.run(*words, PERFUSE, *recorded, *more, "--", "sh", "-c", late % tries)
        need(result.stdout.split() == expected, "%s: %s: %s" % (" ".join(words), result.stdout.split(), result.stderr))
    readers = late.replace("awk '{ print $41 }' /proc/$PPID/stat", "cat /proc/$PPID/task/*/stat | awk '{ print $41 }' | sort -n | tail -n 1")
    if frequent:
        result = c.run(PERFUSE, *recorded, *frequent, "--threads", "--", "sh", "-c", readers % 400)
        need(result.stdout.split() == ["1", "0"], "--threads: %s: %s" % (result.stdout.split(), result.stderr))
    # the first thread of the recorder, then those with SCHED_FIFO: a thread of --threads may begin after the command
    threads = ("i=0; while n=$(cat /proc/$PPID/task/*/stat | awk '$41 == 1' | wc -l); [ $n = 0 ] && [ $i -lt 400 ]; do i=$((i+1)); sleep 0.05; done; "
               "echo $(awk '{ print $41 }' /proc/$PPID/stat) $((n > 0))")
    for more, expected in (((), "1 1"), (("--threads",), "0 1"), (("--call-graph", "unwind"), "1 1")):
        result = c.run(PERFUSE, *recorded, *more, "--", "sh", "-c", threads)
        need(result.stdout.strip() == expected, "%s: %s: %s" % (" ".join(more), result.stdout, result.stderr))


def test_priority(c):
    """while it reads rings, a recorder of root has a higher priority than others, its command and a priority that the user chose are unchanged"""
    need_root("only root may raise priorities")
    nice = "sleep 0.2; awk '{ print $19 }' /proc/$PPID/stat /proc/self/stat"
    own = os.nice(0)  # a run of the tests with a lower priority is a user's choice, too
    for before, expected in ((0, ["-10", "0"] if own == 0 else [str(own)] * 2), (5, [str(min(own + 5, 19))] * 2)):
        result = c.run("nice", "-n", str(before), PERFUSE, "record", "-o", "nice.data", "-e", "task-clock", "--", "sh", "-c", nice)
        need(result.stdout.split() == expected, "%s with nice %d: %s" % (result.stdout.split(), before, result.stderr))


def test_threads_ends(c):
    """--threads -p ends with the recorded process, and --threads --overwrite writes what the rings hold at the end"""
    program = process.start("sh", "-c", "read go; exec ./shape --ms 200", cwd=c.work, stdin=process.PIPE)
    recording = recorder.start("--threads", "-e", "task-clock:u", "-F", "1000", "-p", str(program.pid), "-o", "ended", cwd=c.work)
    program.communicate("\n")
    need(recording.wait(120) == 0, "the recorder fails")
    seen = len(c.run(PERFUSE, "script", "-i", "ended", "-F", "ip").stdout.split())
    need(seen > 50, "%d samples" % seen)
    for options in ([], ["--call-graph", "unwind"]):
        result = c.record("--threads", "--overwrite", *options, "-e", "task-clock:u", "-F", "1000", "--", "./shape", "--ms", "300",
                          output="overwritten")
        need(result.returncode == 0, "exit code %d: %s" % (result.returncode, result.stderr))
        seen = len(c.run(PERFUSE, "script", "-i", "overwritten", "-F", "event").stdout.split())
        need(seen > 50, "%d samples with %s" % (seen, options))


def test_failed_start(c):
    """a start that fails leaves neither a file nor a folder, and the older recording in its place"""
    starts = [["-e", "cpu-clock", "--", "/nonexistent"], ["--threads", "-e", "cpu-clock", "--", "/nonexistent"],
              ["-e", "cpu-clock", "-p", "999999999"], ["-e", "nosuch", "--", "true"], ["-C", "99999", "-e", "cpu-clock", "--", "true"],
              ["-e", "cpu-clock", "-m", "1G", "-z", "--max-size", "nonsense", "--", "true"], ["-S", "-e", "cpu-clock", "--", "true"],
              ["--switch-output", "-e", "cpu-clock", "--", "/nonexistent"], ["-r", "1000", "-e", "cpu-clock", "--", "true"]]
    for options in starts:
        need(c.record(*options, output="none.data").returncode != 0, "%s succeeds" % options)
        left = glob.glob(os.path.join(c.work, "none.data*"))
        need(not left, "%s leaves %s" % (options, left))
    with open(os.path.join(c.work, "none.data"), "w") as file:
        file.write("older")
    for options in starts:
        c.record(*options, output="none.data")
        left = sorted(os.listdir(c.work))
        need(open(os.path.join(c.work, "none.data")).read() == "older" and "none.data.old" not in left, "%s replaces the older one" % options)


def test_affinity(c):
    """--affinity and --aio record"""
    for option in ("--affinity=cpu", "--affinity=node", "--aio", "--aio=2"):
        result = c.record(option, "-e", "task-clock:u", "--", "./shape", "--ms", "50")
        need(SUMMARY.fullmatch(result.stderr), "stderr is %r" % result.stderr)


def cpus_of_recorder(pid):
    """where the process may run, once it executes the program"""
    status = open("/proc/%d/status" % pid).read()
    return re.findall(r"Cpus_allowed_list:\s*(\S+)", status) if status.startswith("Name:\t%s\n" % os.path.basename(PERFUSE)[:15]) else []


def test_affinity_effect(c):
    """with --affinity=cpu the reader runs on the CPU of the ring that it reads, with node on the CPUs of its node, else where it was started"""
    need_root("it records all CPUs")
    online = sorted(os.sched_getaffinity(0))
    whole = open("/sys/devices/system/cpu/online").read().strip()
    if len(online) < 2 or os.path.exists("/sys/devices/system/node/node1"):
        raise Skip("a machine with one node and several CPUs is needed")
    first = str(online[0])

    def seen(*words):
        lists = set()
        with process.start("taskset", "-c", first, PERFUSE, "record", "-q", "-a", "-F", "500", "-e", "cpu-clock", "-o", "affinity.data", *words,
                           "sleep", "60", cwd=c.work) as running:
            try:
                end = time.monotonic() + 20
                while time.monotonic() < end and not wanted <= lists:
                    lists.update(cpus_of_recorder(running.pid))
                    time.sleep(0.002)
            finally:
                running.send_signal(signal.SIGINT)
                running.wait()
        return lists
    wanted = {str(cpu) for cpu in online}
    need(wanted <= seen("--affinity=cpu"), "--affinity=cpu")
    wanted = {first, whole}
    need(seen("--affinity=node") == {first, whole}, "--affinity=node")
    wanted = {first}
    need(seen("--affinity=sys") == {first} and seen() == {first}, "without --affinity")


def test_map_timeout(c):
    """--proc-map-timeout ends the reading of very many mappings, and says of how many processes"""
    pages = ("import mmap, time\nkept = [mmap.mmap(-1, 4096, prot=mmap.PROT_READ | (i % 2) * mmap.PROT_EXEC) for i in range(40000)]\n"
             "print(len(kept), flush=True)\ntime.sleep(600)")
    with process.start(sys.executable, "-c", pages) as running:
        try:
            need(running.stdout.readline() == "40000\n", "the mappings are not made")
            found = {}
            for limit in "1", "60000":
                result = c.record("--proc-map-timeout", limit, "-d", "-p", str(running.pid), "--", "true")
                text = c.run(PERFUSE, "script", "--show-mmap-events").stdout
                found[limit] = text.count("PERF_RECORD_MMAP"), "the mappings of 1 processes took too long" in result.stderr
        finally:
            running.kill()
    need(found["60000"][0] > 40000 and not found["60000"][1], str(found))
    need(found["1"][0] < 40000 and found["1"][1], str(found))


def test_depth(c):
    """a deep recursion has its frames"""
    c.record("-g", "-e", "task-clock:u", "-F", "500", "--", "./shape", "--ms", "200", "--depth", "40")
    text = c.run(PERFUSE, "script", "--comm", "shape-deep", "-F", "ip,sym").stdout
    depths = [stack.count("shape_descend") for stack in text.split("\n\n") if "shape_bottom" in stack]
    need(depths and max(depths) == 41, "the deepest has %s frames" % (max(depths) if depths else "no"))


LINES = (
    ("-e", "cpu-clock"), ("-e", "cpu-clock:u", "-g"), ("-e", "faults,cs:u"), ("-e", "{cpu-clock,faults}:S"), ("-e", "cpu-clock:ppp"),
    ("-e", "cpu-clock/period=100000,name=x/"), ("-e", "mem:0x1000:rw"), ("-d",), ("-s",), ("-c", "100000"), ("-F", "99", "-g"),
    ("--call-graph", "dwarf,4096"), ("--per-thread",), ("-i",), ("-k", "mono"), ("--switch-events",), ("--namespaces",),
    ("-D", "1"), ("--user-regs=ax,ip",) if os.uname().machine == "x86_64" else ("-T",), ("-a",), ("-C", "0", "-g"), ("-n",), ("-R",),
)


def test_attributes(c):
    """events are opened as by perf"""
    wrong = []
    for line in LINES:
        listed = []
        for program in (need_reference(), PERFUSE):
            result = c.record(*line, "--", "true", program=program)
            text = c.run(need_reference(), "evlist", "-v").stdout if result.returncode == 0 else ""
            listed.append(text)
        if listed[0] != listed[1]:
            wrong.append(" ".join(line))
    need(not wrong, "others than perf's with: " + "; ".join(wrong))


def version_of(c, perf):
    return tuple(int(part) for part in re.search(r"version (\d+)\.(\d+)", c.run(perf, "version").stdout + "version 0.0").groups())


def test_readers(c):
    """perf reads recordings without a warning"""
    # perf before 6.3 knows a smaller attribute, and refuses recordings of later perfs, too
    perfs = {need_reference(), *(perf for perf in glob.glob("/usr/bin/perf") if version_of(c, perf) >= (6, 3))}
    made = (("-g", "--", "./shape", "--ms", "50"), ("-z", "--", "./shape", "--ms", "50"), ("-a", "-g", "--", "sleep", "0.1"),
            ("-e", "{cpu-clock,faults}:S", "--", "./shape", "--ms", "50"), ("-d", "-k", "mono", "--", "./shape", "--ms", "50"))
    for line in made:
        if c.record(*line).returncode != 0:
            continue
        for perf in perfs:
            for command in (("script",), ("report", "--stdio"), ("evlist", "-v"), ("report", "--header-only"), ("buildid-list",)):
                result = c.run(perf, *command)
                need(result.returncode == 0 and not result.stderr, "%s %s after %s: %s" % (
                    perf, " ".join(command), " ".join(line), result.stderr[:200]))


def test_counts(c):
    """a program that does the same each time has the same records as in perf's recording"""
    c.tracepoints()
    found = []
    for program in (need_reference(), PERFUSE):
        c.record("-e", "raw_syscalls:sys_enter", "-c", "1", "--", "true", program=program)
        text = c.run(need_reference(), "report", "--stats").stdout
        found.append({kind: int(n) for kind, n in re.findall(r"(\w+) events:\s+(\d+)", text)
                      if kind in ("SAMPLE", "MMAP", "MMAP2", "COMM", "EXIT", "FORK", "LOST")})
    need(found[0] == found[1], "perf %s, perfuse %s" % (found[0], found[1]))


# features that describe the machine: name, processors, memory, nodes, PMUs, caches, blocks of memory, hybrid cores, capabilities of PMUs
MACHINE = {3: "HOSTNAME", 4: "OSRELEASE", 6: "ARCH", 7: "NRCPUS", 8: "CPUDESC", 9: "CPUID", 10: "TOTAL_MEM", 13: "CPU_TOPOLOGY", 14: "NUMA_TOPOLOGY",
           16: "PMU_MAPPINGS", 20: "CACHE", 22: "MEM_TOPOLOGY", 28: "CPU_PMU_CAPS", 30: "HYBRID_TOPOLOGY", 31: "PMU_CAPS"}


def machine_of(c, program, options, before=()):
    """{name: bytes} of the features that describe the machine; of a node's memory, what is free at that moment is left out. before: the words of a
    program that starts the recorder."""
    result = c.run(*before, program, "record", "-o", "machine.data", "-q", "-e", "dummy", *options, "--", "true")
    need(result.returncode == 0, "%s cannot record: %s" % (program, result.stderr[:200]))
    with open(os.path.join(c.work, "machine.data"), "rb") as file:
        features = header_features(file.read())
    found = {name: features[bit] for bit, name in MACHINE.items() if bit in features}
    nodes = bytearray(found.get("NUMA_TOPOLOGY", struct.pack("<I", 0)))
    at = 4
    for _ in range(struct.unpack_from("<I", nodes)[0]): # number, total and free memory, the CPUs as a text with its size
        nodes[at + 12:at + 20] = bytes(8)
        at += 24 + struct.unpack_from("<I", nodes, at + 20)[0]
    return dict(found, NUMA_TOPOLOGY=bytes(nodes))


def same_machine(c, options, before=()):
    """What both programs write, if it is the same. A kernel that adds a node's memory only when it is used changes the node's size between two
    recordings: perf writes before and after perfuse, until it writes the same twice."""
    for _ in range(20):
        theirs, ours, after = (machine_of(c, program, options, before) for program in (need_reference(), PERFUSE, need_reference()))
        if theirs == after:
            break
    need(theirs == after, "perf writes this at one time and that at another: %s and %s" % (theirs, after))
    need({"NRCPUS", "CPU_TOPOLOGY", "CACHE", "MEM_TOPOLOGY"} <= set(theirs), "perf writes %s alone" % sorted(theirs))
    need(set(theirs) == set(ours), "perf writes %s, perfuse %s" % (sorted(theirs), sorted(ours)))
    for name, data in theirs.items():
        need(ours[name] == data, "%s %s: perf writes %s, perfuse %s" % (" ".join(options), name, data.hex(), ours[name].hex()))
    return ours


def test_machine(c):
    """the header describes this machine by the bytes that perf writes: processors, caches, nodes, memory, PMUs"""
    for options in ([], ["-a"]):
        same_machine(c, options)


def large_machine(cpus):
    """{path below /sys/devices/system: text} of a machine of three nodes, the second one without memory, the third one without CPUs, of two
    packages with two dies each, and of caches that are shared in different ways. CPUs take turns."""
    def text_of(numbers):
        return ",".join(map(str, numbers)) + "\n"

    def sharers(cpu, ways):
        return text_of(other for other in range(cpus) if other % ways == cpu % ways)
    nodes = (("0-%d" % (cpus - 1) if cpus == 1 else "0", 64 << 10, (0, 1, 33)), ("1-%d" % (cpus - 1) if cpus > 1 else "", 0, ()), ("", 32 << 10, (70,)))
    files = {"node/online": "0-2\n", "node/possible": "0-2\n", "memory/block_size_bytes": "8000000\n"}
    for node, (own, kilobytes, blocks) in enumerate(nodes):
        files["node/node%d/cpulist" % node] = own + "\n"
        files["node/node%d/meminfo" % node] = "".join("Node %d %s: %14d kB\n" % (node, key, kilobytes) for key in ("MemTotal", "MemFree", "MemUsed"))
        files.update(("node/node%d/memory%d/state" % (node, block), "online\n") for block in blocks)
    for name in ("online", "possible", "present"):
        files["cpu/" + name] = "0-%d\n" % (cpus - 1) if cpus > 1 else "0\n"
    for cpu in range(cpus):
        topology = {"core_id": str(cpu // 4), "physical_package_id": str(cpu % 2), "die_id": str(cpu // 2 % 2), "core_cpus_list": sharers(cpu, 8),
                    "thread_siblings_list": sharers(cpu, 8), "die_cpus_list": sharers(cpu, 4), "package_cpus_list": sharers(cpu, 2),
                    "core_siblings_list": sharers(cpu, 2)}
        files.update(("cpu/cpu%d/topology/%s" % (cpu, name), text) for name, text in topology.items())
        files["cpu/cpu%d/online" % cpu] = "1\n"
        caches = (1, "Data", "48K", 8), (1, "Instruction", "32K", 8), (2, "Unified", "1280K", 4), (3, "Unified", "%dK" % (1000 + cpu % 2), 2)
        for index, (level, kind, size, ways) in enumerate(caches):
            cache = {"level": level, "type": kind, "size": size, "shared_cpu_list": sharers(cpu, ways).strip(), "coherency_line_size": 64,
                     "number_of_sets": 64 << index, "ways_of_associativity": 8 + level, "physical_line_partition": 1}
            files.update(("cpu/cpu%d/cache/index%d/%s" % (cpu, index, name), "%s\n" % value) for name, value in cache.items())
    return files


def test_large_machine(c):
    """the header describes a machine of several nodes, packages, dies and caches, which is planted in sysfs, by the bytes that perf writes"""
    folder, files = os.path.join(c.work, "large"), large_machine(os.cpu_count())
    with open("/sys/devices/system/cpu/online", encoding="ascii") as online:
        if platform.machine() != "x86_64" or online.read() != files["cpu/online"]:
            raise Skip("needs a x86-64 machine all of whose CPUs are online")
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="ascii") as file:
            file.write(text)
    script = "; ".join("mount --bind '%s/%s' /sys/devices/system/%s" % (folder, name, name) for name in ("cpu", "node", "memory"))
    before = ("unshare", "-m", "bash", "-c", "set -e; %s; exec \"$@\"" % script, "bash")
    if c.run(*before, "true").returncode:
        raise Skip("needs root, mounts of its own, and CPUs, nodes and memory in /sys/devices/system")
    found = same_machine(c, [], before)
    need(struct.unpack_from("<I", found["NUMA_TOPOLOGY"])[0] == 3, "it has %s" % found["NUMA_TOPOLOGY"].hex())
    need(struct.unpack_from("<QQQ", found["MEM_TOPOLOGY"])[1:2] == (0x8000000,), "it has %s" % found["MEM_TOPOLOGY"].hex())


def test_boundary(c):
    """the header has the times of the first and the last sample; with --buildid-all only if --timestamp-boundary asks for them"""
    for words, known in ([], True), (["--buildid-all"], False), (["--buildid-all", "--timestamp-boundary"], True):
        c.record("-e", "task-clock", *words, "--", "./shape", "--ms", "50")
        times = [line.split()[-1] for line in c.run(PERFUSE, "report", "--header-only").stdout.splitlines() if "time of" in line]
        samples = [time.rstrip(":") for time in c.run(PERFUSE, "script", "-F", "time").stdout.split()]
        need(times == ([samples[0], samples[-1]] if known else ["0.000000"] * 2), "%s: %s" % (words, times))


def test_no_buffering(c):
    """with --no-buffering a sample wakes the recorder at once"""
    c.record("-e", "task-clock", "--no-buffering", "--", "./shape", "--ms", "20")
    text = c.run(PERFUSE, "evlist", "-v").stdout.strip()
    need("{ wakeup_events, wakeup_watermark }: 1," in text + ",", text)


def test_stream(c):
    """a stream through a pipe holds what a file holds"""
    with process.start(PERFUSE, "record", "-o", "-", "--", "./shape", "--ms", "100", cwd=c.work) as recorder:
        reader = c.run(PERFUSE, "script", "-i", "-", "-F", "comm", stdin=recorder.stdout)
    need(reader.stdout.count("shape-skewed") > 20, "%d samples: %s" % (reader.stdout.count("shape-skewed"), reader.stderr[:200]))


def test_exit(c):
    """the recorder ends with the command's exit code or signal"""
    need(c.record("--", "sh", "-c", "exit 7").returncode == 7, "the exit code was lost")
    need(c.record("--", "sh", "-c", "kill -9 $$").returncode == -signal.SIGKILL, "the signal was lost")
    result = c.record("--", "./no-such-program")
    need(result.returncode == 255 and "No such file" in result.stderr, "%d: %s" % (result.returncode, result.stderr))


def test_interrupt(c):
    """an interrupt ends the recording, which is complete"""
    started = os.path.join(c.work, "started")
    with process.start(PERFUSE, "record", "-o", "perf.data", "--", "sh", "-c", "touch started; exec sleep 30", stderr=process.PIPE,
                       cwd=c.work) as child:
        process.wait_until(lambda: os.path.exists(started), "the command does not start")
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, text = child.communicate(timeout=30)
    need(child.returncode == -signal.SIGINT and SUMMARY.search(text), "%d: %s" % (child.returncode, text))
    need(c.run(PERFUSE, "evlist").returncode == 0, "the recording cannot be read")


def records_of(path):
    """The types of the records of a file, in their order; also if the recorder could not finish its header."""
    with open(path, "rb") as file:
        data = file.read()
    at, size = struct.unpack_from("<QQ", data, 40)
    end, types = at + size if size else len(data), []
    while at + 8 <= end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if length < 8 or at + length > end:
            break
        types.append(kind)
        at += length
    return types


MMAP2, SAMPLE = 10, 9


def test_switch_forms(c):
    """--switch-output begins a file at a signal, at a size and after a time, of which each has samples"""
    spin = ("sh", "-c", "exec timeout 60 sh -c 'while :; do :; done'")
    for words, signals in (["--switch-output"], 2), (["--switch-output=signal"], 2), (["--switch-output=24K"], 0), (["--switch-output=1s"], 0):
        for name in glob.glob(os.path.join(c.work, "form.data*")):
            os.unlink(name)
        finished = lambda: sorted(glob.glob(os.path.join(c.work, "form.data.2*")))
        # BPF programs that other tests load would add to the size
        with process.start(PERFUSE, "record", "-m", "2", "-e", "task-clock", "-F", "2000", "--no-bpf-event", *words, "-o", "form.data", "--", *spin,
                           cwd=c.work, stderr=process.PIPE, text=True) as child:
            current = os.path.join(c.work, "form.data")
            for n in range(2):
                # the file has samples before the signal
                process.wait_until(lambda: len(finished()) > n or os.path.exists(current) and SAMPLE in records_of(current), "no samples")
                if signals:
                    child.send_signal(signal.SIGUSR2)
                process.wait_until(lambda: len(finished()) > n, "%s makes no file" % words)
            child.send_signal(signal.SIGTERM)
            text = child.communicate(timeout=60)[1]
        names = finished()
        need(len(names) >= 3 and (not signals or len(names) == 3), "%s makes %s: %s" % (words, names, text))
        for name in names[:-1]:
            kinds, size = records_of(name), os.path.getsize(name)
            need(SAMPLE in kinds and MMAP2 in kinds, "%s: %s has no samples or no mappings" % (words, name))
            need("24K" not in words[0] or 24 << 10 <= size < 200 << 10, "%s: %s has %d bytes" % (words, name, size))


def test_tail_synthesis(c):
    """--tail-synthesize puts the mappings of running processes behind all samples, where perf puts them"""
    with process.start("sh", "-c", "while :; do :; done") as target:
        try:
            for program in (PERFUSE, need_reference()):
                for words, ahead in ([], True), (["--tail-synthesize"], False):
                    result = c.record("-e", "task-clock", *words, "-p", str(target.pid), "--", *process.until_used(target.pid, 100), program=program)
                    kinds = records_of(os.path.join(c.work, "perf.data"))
                    need(SAMPLE in kinds and MMAP2 in kinds, "%s %s: %s" % (program, words, result.stderr))
                    first = len(kinds) - 1 - kinds[::-1].index(SAMPLE) if not ahead else kinds.index(SAMPLE)
                    placed = [at for at, kind in enumerate(kinds) if kind == MMAP2]
                    need(all((at < first) == ahead for at in placed), "%s %s: mappings at %s, sample at %d" % (program, words, placed, first))
            counts = []
            for words in [], ["--tail-synthesize"]: # the unwinding reads them first, but they are written once
                c.record("-e", "task-clock", "--call-graph", "unwind", *words, "-p", str(target.pid), "--", "sleep", "0.1")
                counts.append(records_of(os.path.join(c.work, "perf.data")).count(MMAP2))
            need(counts[0] == counts[1] > 0, "mappings: %s" % counts)
        finally:
            target.kill()


def test_killed(c):
    """what was read of the rings until SIGKILL is in the file, also unwound stacks of few samples"""
    # rings of one page fill quickly; unwound records of 30 samples a second would fill a buffer after a minute
    often, unwind = ("-m", "1", "-F", "4000"), ("--call-graph", "unwind", "-F", "30")
    for n, words in enumerate([often, (*often, "-z"), (*often, "--threads"), unwind, (*unwind, "--threads")]):
        out = os.path.join(c.work, "killed.%d" % n)
        with process.start(PERFUSE, "record", "-e", "task-clock", *words, "-o", out, "--", "timeout", "40", "sh", "-c",
                           "while :; do :; done", cwd=c.work, stderr=process.PIPE) as child:
            samples = lambda: os.path.exists(out) and len(c.run(PERFUSE, "script", "-i", out, "-F", "event").stdout.splitlines())
            try:
                process.wait_until(lambda: samples() >= 3, "%s: no samples are in the file" % (words,))
                need(child.poll() is None, "%s: the recording ended before" % (words,))
            finally:
                command = c.run("ps", "-o", "pid=", "--ppid", str(child.pid)).stdout.split()
                child.kill()
                for pid in command:
                    os.kill(int(pid), signal.SIGTERM)
        need(samples() >= 3, "%s: samples are lost" % (words,))


def test_old(c):
    """the previous recording is renamed to perf.data.old, but not by a recording that fails"""
    c.record("--", "true")
    first = os.stat(os.path.join(c.work, "perf.data")).st_ino
    c.record("--", "true")
    need(os.stat(os.path.join(c.work, "perf.data.old")).st_ino == first, "it is not")
    second = os.stat(os.path.join(c.work, "perf.data")).st_ino
    failed = c.record("-e", "cpu-clock", "--", os.path.join(c.work, "missing"))
    need(failed.returncode != 0 and "Failed to collect" in failed.stderr, "a command that is missing runs: %s" % failed.stderr)
    need(os.stat(os.path.join(c.work, "perf.data")).st_ino == second, "a failure took it away")


def test_attach(c):
    """a running process is recorded with its names and mappings"""
    with process.start("./shape", "--ms", "60000", stdout=process.DEVNULL, cwd=c.work) as child:
        process.wait_until(lambda: len(os.listdir("/proc/%d/task" % child.pid)) > 1, "the program starts no thread")
        result = c.record("-p", str(child.pid), "--", *process.until_used(child.pid, 500))
        need(result.returncode == 0, result.stderr)
        text = c.run(PERFUSE, "script", "-F", "comm,sym,ip").stdout
        need("shape-skewed" in text and "shape_seventy" in text, "names or mappings are missing")


def test_switch(c):
    """--switch-output makes readable files, and removes all but --switch-max-files of them"""
    result = c.record("--switch-output=1s", "--switch-max-files", "1", "-F", "500", "--", "sleep", "3.2", output="s.data")
    files = glob.glob(os.path.join(c.work, "s.data.*"))
    need(result.returncode == 0 and len(files) == 1, "%d files: %s" % (len(files), result.stderr))
    for path in files:
        need(c.run(PERFUSE, "evlist", "-i", path).returncode == 0, "%s cannot be read" % path)


def data_bytes(path):
    """Of the records: the header's size depends on the BPF programs that other processes have loaded."""
    folder = os.path.isdir(path)
    with open(os.path.join(path, "data") if folder else path, "rb") as file:
        first = struct.unpack("<Q", file.read(56)[48:])[0]
    others = [name for name in os.listdir(path) if name != "data"] if folder else []
    return first + sum(os.path.getsize(os.path.join(path, name)) for name in others)


def test_switch_limits(c):
    """--switch-max-files counts the last file too, --max-size stops before a ring is full, a time in the name is reported"""
    spin = ("sh", "-c", "while :; do :; done")
    result = c.record("--switch-output=1s", "--switch-max-files=2", "-F", "500", "--", "timeout", "3.4", *spin, output="two.data")
    names = sorted(glob.glob(os.path.join(c.work, "two.data.2*")))
    dumped = re.findall(r"\[ perf record: Dump (\S+) \]", result.stderr)
    need(len(dumped) > 2 and [os.path.basename(n) for n in names] == dumped[-2:], "%s of %s" % (names, dumped))
    for name in names:
        places = c.run(PERFUSE, "script", "-i", name, "-F", "comm,ip,dso").stdout
        need("(%s)" % os.path.realpath("/bin/sh") in places, "%s has no mappings of the command's child: %s" % (name, places[:200]))
    for more in ((), ("--threads",)):
        # small rings: what they hold when the recorder runs again is above the limit
        result = c.record("-m", "2", "-e", "cpu-clock", "-F", "2000", "--max-size", "40K", *more, "--", "timeout", "20", *spin, output="small.data")
        found = re.search(r"\[ perf record: perf size limit reached \((\d+) KB\), stopping session \]", result.stderr)
        need(found and 40 <= int(found[1]) < 90, "%s: %s" % (more, result.stderr))
        size = data_bytes(os.path.join(c.work, "small.data"))
        need(39 << 10 <= size < 120 << 10, "%s: %d bytes" % (more, size))
    result = c.record("--timestamp-filename", "--", "true", output="timed.data")
    name, = glob.glob(os.path.join(c.work, "timed.data.2*"))
    need("[ perf record: Dump %s ]\n" % os.path.basename(name) in result.stderr and " timed.data.<timestamp>" in result.stderr, result.stderr)


def test_exit_codes(c):
    """options with invalid values end it with perf's exit codes"""
    for words, code in ((["-F", "abc"], 234), (["--switch-output=bogus"], 234), (["--switch-output=5"], 234), (["-p", "abc"], 244),
                        (["-p", "999999999"], 244), (["-t", "abc"], 129), (["-t", "999999999"], 255), (["-C", "abc"], 129), (["-C", "9999"], 237),
                        (["--max-size=0"], 129), (["--max-size=abc"], 129), (["--mmap-flush=abc"], 0), (["--vmlinux", "/nonexistent"], 234),
                        (["--threads=bogus"], 234), (["-r", "1000"], 255), (["-e", "cycles:q"], 129), (["--synth=bogus"], 129),
                        (["--control=bogus"], 129), (["-D", "abc"], 129), (["-I", "bogus"], 255), (["--intr-regs=bogus"], 129),
                        (["--call-graph", "bogus"], 129), (["-k", "bogus"], 129), (["-j", "bogus"], 129), (["-m", "abc"], 129),
                        (["--filter", "x"], 129), (["--affinity=bogus"], 0), (["--proc-map-timeout", "abc"], 129),
                        (["--num-thread-synthesize", "abc"], 129), (["-F", "100000000", "--strict-freq"], 234)):
        result = c.record(*words, "--", "true", output="codes.data")
        need(result.returncode == code, "%s: exit code %d, expected %d: %s" % (words, result.returncode, code, result.stderr[:200]))
        if reference():
            theirs = c.record(*words, "--", "true", output="codes.data", program=reference())
            need(theirs.returncode == code, "perf %s: %d, expected %d" % (words, theirs.returncode, code))


def test_refused(c):
    """missing permission is reported with the sysctl, its value and the command that changes it"""
    need_root("only root can become a user without privileges")
    if int(open("/proc/sys/kernel/perf_event_paranoid").read()) < 1:
        raise Skip("every user has permission here")
    os.chmod(c.work, 0o755)
    program = shutil.copy(PERFUSE, os.path.join(c.work, "for-all"))
    os.chmod(program, 0o755)
    result = c.run(program, "record", "-a", "-o", "/dev/null", "--", "true", user=NOBODY)
    need(result.returncode == 255 and "kernel.perf_event_paranoid is" in result.stderr and "sysctl" in result.stderr,
         "%d: %s" % (result.returncode, result.stderr))


def test_unknown(c):
    """an unknown event is shown at its position and exits with 129"""
    result = c.record("-e", "cpu-clock,nosuchthing", "--", "true")
    need(result.returncode == 129 and "\\___ Bad event name" in result.stderr, "%d: %s" % (result.returncode, result.stderr))


def test_inject_keeps(c):
    """inject -b caches the files that samples hit, as perf's does"""
    cache = os.path.join(c.work, ".debug")
    c.record("-q", "-N", "-B", "-e", "task-clock:u", "--", "./shape", "--ms", "100")
    kept = []
    for program in (need_reference(), PERFUSE):
        shutil.rmtree(cache, ignore_errors=True)
        need(c.run(program, "inject", "-b", "-i", "perf.data", "-o", "injected").returncode == 0, "inject -b fails")
        kept.append(sorted(os.path.relpath(path, cache) for path in glob.glob(cache + "/**/elf", recursive=True)))
    need(kept[0] == kept[1] and kept[0], "perf caches %r, perfuse %r" % tuple(kept))


def load_program():
    """A BPF program of two instructions, and its type information; the descriptors that hold it."""
    strings = b"\0int\0loaded_one\0"
    types = struct.pack("<IIII", 1, 1 << 24, 4, 32 | 1 << 24) + struct.pack("<III", 0, 13 << 24, 1) + struct.pack("<III", 5, 12 << 24, 2)
    blob = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) + types + strings
    code = struct.pack("<BBhi", 0xb7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)
    functions = struct.pack("<II", 0, 3)
    kept = [ctypes.create_string_buffer(b) for b in (blob, code, b"GPL", functions)]
    at = [ctypes.addressof(b) for b in kept]

    def bpf(command, attr):
        buffer = ctypes.create_string_buffer(attr.ljust(144, b"\0"))
        fd = ctypes.CDLL(None, use_errno=True).syscall(321, command, buffer, len(buffer))
        if fd < 0:
            raise Skip("no BPF program can be loaded here: " + os.strerror(ctypes.get_errno()))
        return fd
    BTF_LOAD, PROG_LOAD, SOCKET_FILTER = 18, 5, 1
    types_fd = bpf(BTF_LOAD, struct.pack("<QQII", at[0], 0, len(blob), 0))
    attr = struct.pack("<IIQQIIQII16sIIIIQI", SOCKET_FILTER, 2, at[1], at[2], 0, 0, 0, 0, 0, b"loaded_one", 0, 0, types_fd, 8, at[3], 1)
    return [types_fd, bpf(PROG_LOAD, attr)]


BPF_PROG_INFO, BPF_BTF = 25, 26  # header features


def program_features(path):
    """The entries of BPF_PROG_INFO (size, arrays, info and machine code; perf pads arrays with uninitialised bytes), the types of BPF_BTF,
    and the number of bytes of each behind them: perf has some if a program is loaded while it records."""
    with open(path, "rb") as file:
        data = file.read()
    features = header_features(data)
    infos, types = features[BPF_PROG_INFO], features[BPF_BTF]
    at, programs = 4, []
    for _ in range(struct.unpack_from("<I", infos)[0]):
        info_size, size, arrays = struct.unpack_from("<IIQ", infos, at)
        info, at = infos[at + 16:at + 16 + info_size], at + 16 + info_size
        programs.append((size, arrays, info, infos[at:at + struct.unpack_from("<I", info, 16)[0]]))
        at += size
    surplus = len(infos) - at
    at, found = 4, []
    for _ in range(struct.unpack_from("<I", types)[0]):
        size = struct.unpack_from("<II", types, at)[1]
        found.append(types[at:at + 8 + size])
        at += 8 + size
    return programs, found, surplus, len(types) - at


def programs_of(c, recorder):
    """What a recording of `recorder` has of loaded BPF programs: for each program, which its number identifies, the records, and the lines of the
    header; program_features; the records of trampolines and dispatchers."""
    need(c.record("-q", "-e", "cpu-clock", "--", "true", program=recorder).returncode == 0, "cannot record")
    dump = c.run(PERFUSE, "report", "-D", "-i", "perf.data").stdout
    records = "\n".join(re.findall(r"PERF_RECORD_(?:KSYMBOL|BPF_EVENT) .*", dump))
    programs = re.findall(r"(?m)(?:^PERF_RECORD_KSYMBOL .*\n)+PERF_RECORD_BPF_EVENT .*", records)
    header = re.findall(r"(?m)^# (?:bpf_prog_info.*(?:\n# \tsub_prog.*)*|btf info.*)", c.run(PERFUSE, "report", "--header-only", "-I").stdout)
    images = re.findall(r".* bpf_(?:trampoline|dispatcher)_.*", records)
    return (programs, header, *program_features(os.path.join(c.work, "perf.data")), images)


def found_of(before, here, after):
    """What perf recorded before and after, and what of it was recorded here: other tests load and unload programs meanwhile."""
    common = [one for one in before if one in after]
    return common, [one for one in here if one in common]


def test_programs(c):
    """loaded BPF programs are code with a name, and are listed in the header, as in perf's recordings"""
    if platform.machine() != "x86_64":
        raise Skip("the system call's number is another one here")
    kept = load_program()
    try:
        for _ in range(5): # a trampoline has no number: it may be gone here, and another one may have its place and name afterwards
            recordings = [programs_of(c, program) for program in (need_reference(), PERFUSE, need_reference())]
            theirs, ours = recordings[:2]
            need(ours[4:6] == (0, 0), "%d bytes are behind BPF_PROG_INFO, %d behind BPF_BTF" % ours[4:6])
            need(any("_loaded_one" in one for one in theirs[0]), "perf has no such record: %r" % (theirs[0],))
            for what, each in zip(("records", "header", "BPF_PROG_INFO", "BPF_BTF"), zip(*recordings)):
                common, found = found_of(*each)
                need(common and found == common, "%s: %r, perf has %r" % (what, found[:3], common[:3]))
            common, found = found_of(*(each[6] for each in recordings))
            if found == common:
                return
        raise AssertionError("trampolines: %r, perf has %r" % (found, common))
    finally:
        for fd in kept:
            os.close(fd)


def test_programs_gone(c):
    """a BPF program that is loaded and unloaded during the recording is in the header, also without build-ids, of one program, in a pipe"""
    if platform.machine() != "x86_64":
        raise Skip("the system call's number is another one here")
    need_root("only root may read BPF programs")
    for options in ("-a", "-o", "gone.data"), ("-B", "-N", "-o", "gone.data"), ("--threads", "-o", "gone.data"), ("-o", "-"):
        # the program is gone before the command ends: the recorder has some time to see it
        listed = ""
        for seconds in (0.5, 2, 8):
            listed = listed if "loaded_one" in listed else gone_program(c, options, seconds)
        need("loaded_one" in listed, "%s: the header has no program: %s" % (" ".join(options), listed))


def gone_program(c, options, seconds):
    """The header's lines about a BPF program that is loaded for so long while a command is recorded."""
    for name in ("started", "gone"):
        os.path.exists(os.path.join(c.work, name)) and os.unlink(os.path.join(c.work, name))
    command = ("sh", "-c", "touch started; while ! test -e gone; do sleep 0.05; done")
    with open(os.path.join(c.work, "piped.data"), "wb") as piped:
        with process.start(PERFUSE, "record", "-q", "-e", "cpu-clock", *options, "--", *command, cwd=c.work, stdout=piped) as run:
            process.wait_until(lambda: os.path.exists(os.path.join(c.work, "started")), "the recording starts")
            kept = load_program()
            time.sleep(seconds)
            for fd in kept:
                os.close(fd)
            open(os.path.join(c.work, "gone"), "w").close()
            run.wait()
    data = "piped.data" if options[-1] == "-" else "gone.data"
    listed = c.run(PERFUSE, "report", "-i", data, "--header-only" if data != "piped.data" else "--header", "-I").stdout
    shutil.rmtree(os.path.join(c.work, "gone.data"), ignore_errors=True)
    return "\n".join(re.findall(r"(?m)^# bpf_prog.*", listed))


def prepare(work):
    flags = ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-inline"]
    process.must("cc", *flags, "-o", "shape", SHAPE_SOURCE, "-lpthread", cwd=work)
    need_recording(work)
    return Context(work)


if __name__ == "__main__":
    sys.exit(run_in_folder("recordings", prepare, globals()))
