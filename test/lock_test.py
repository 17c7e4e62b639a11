#!/usr/bin/env python3
"""`lock`: recordings as perf prints them, and measurements by BPF against a program whose waits and owner are known (test/lock/hammer.c)."""
import json
import os
import re
import shutil
import signal
import struct
import sys
import tempfile

from suite import bpf, process
from suite.cgroup import new_cgroup
from suite.perf import first_difference, need_recording, need_reference
from suite.process import perfuse
from suite.settings import PERFUSE, TEST
from suite.tests import Skip, by_samples, need, need_root, run_tests, tests_of

FORMS = ("contention", "contention -l", "contention -F wait_min,avg_wait -k wait_max", "contention -x,", "contention -l -x;", "contention -S futex",
         "contention -Y mutex,rwsem:W", "contention --max-stack 3", "contention --stack-skip 2", "contention -E 3", "contention -E 0", "contention -q",
         "contention -k bad", "contention -F bad,wait_max", "contention -L ffff", "report", "report -k wait_max", "report -F contended", "report -c",
         "report -E 2", "info -m", "contention -k avg_wait -x,")
ROUNDS, HOLD_MS = 10, 40
CONTEXT_USER = struct.pack("<q", -512)


class Context:
    def __init__(self, work):
        self.work = work

    def recordings(self):
        """Recordings of perf and of perfuse with waits."""
        if not hasattr(self, "made"):
            perf = need_reference()
            need_root("tracepoints of the kernel")
            need_recording(self.work, "-e", "lock:contention_begin")
            self.made = [os.path.join(self.work, name) for name in ("ours.data", "perfs.data")]
            storm = (perf, "bench", "sched", "messaging", "-g", "4", "-l", "60")
            process.must(PERFUSE, "lock", "record", "-o", self.made[0], "--", *storm, cwd=self.work)
            process.must(perf, "lock", "record", "-a", "-o", self.made[1], "--", *storm, "-t", cwd=self.work)
        return self.made

    def damaged(self):
        """A copy of a recording in which every third stack of a program goes on at an unknown marker."""
        with open(self.recordings()[0], "rb") as source:
            data = bytearray(source.read())
        at, found = data.find(CONTEXT_USER), 0
        while at >= 0:
            if 5 << 44 < struct.unpack_from("<Q", data, at + 8)[0] < 1 << 48:  # the address of a library or of a program
                found += 1
                if found % 3 == 0:
                    struct.pack_into("<q", data, at + 8, -1)
            at = data.find(CONTEXT_USER, at + 8)
        need(found > 10, "%d stacks of programs" % found)
        path = os.path.join(self.work, "damaged.data")
        with open(path, "wb") as out:
            out.write(data)
        return path

    def hammer(self):
        """The program, compiled."""
        path = os.path.join(self.work, "hammer")
        if not os.path.exists(path):
            need_root("BPF programs and userfaultfd")
            process.must("cc", "-O2", "-pthread", "-o", path, os.path.join(TEST, "lock/hammer.c"), cwd=self.work, env=process.compilers())
            if process.run(path, "1", "1").returncode == 77:
                raise Skip("the kernel has no userfaultfd")
        return path

    def contention(self, *options, command=None):
        """(text of the result, numbers that the program printed)"""
        out = os.path.join(self.work, "result")
        done = perfuse("lock", "contention", "-b", "--output", out, *options, "--", *(command or (self.hammer(), str(ROUNDS), str(HOLD_MS))),
                       cwd=self.work)
        if "lets this user" in done.stderr or "does not publish" in done.stderr or "has no tracepoint" in done.stderr:
            raise Skip(done.stderr.splitlines()[0])
        need(done.returncode == 0, done.stderr)
        with open(out) as result:
            return result.read(), {key: int(value) for key, value in re.findall(r"^(\w+) (\d+)$", done.stdout, re.M)}


def test_agreement(context):
    """the result of each recording and option is that of perf, with its exit code, also where call chains are damaged"""
    perf, problems = need_reference(), []
    for path in (*context.recordings(), context.damaged()):
        for form in FORMS:
            words = ("lock", "-i", path, *form.split())
            theirs, ours = process.run(perf, *words, cwd=context.work), perfuse(*words, cwd=context.work)
            # rows whose value of the order is equal may be in another order
            if (theirs.returncode, sorted(theirs.stderr.splitlines()), theirs.stdout) != (ours.returncode, sorted(ours.stderr.splitlines()), ours.stdout):
                problems.append("%s: exit %d and %d: %s" % (form, ours.returncode, theirs.returncode, first_difference(ours.stderr, theirs.stderr)))
    need(not problems, "\n".join(problems))


def test_names(context):
    """threads that ended have their names, where perf prints their numbers, and the same sums"""
    perf = need_reference()
    for path in context.recordings():
        for form in ("contention -t", "report -t", "info -t"):
            words = ("lock", "-i", path, *form.split())
            theirs, ours = process.run(perf, *words, cwd=context.work).stderr, perfuse(*words, cwd=context.work).stderr
            nameless = re.compile(r"(?m)(: |   ):\d+ *$|^ *:\d+ ")  # some that no record of the machine describes
            need(len(nameless.findall(ours)) <= len(nameless.findall(theirs)) / 10, form + ours[:300])
            need(re.findall(r"[\d.]+ [num]?s", ours) == re.findall(r"[\d.]+ [num]?s", theirs), form)
            need(ours.count("\n") == theirs.count("\n"), form)


def test_pipe(context):
    """a recording from a pipe has the result of the file"""
    path = context.recordings()[0]
    piped = process.run("sh", "-c", "%s lock record -o - -- true | %s lock contention -i - -x,; %s lock -i - contention -E1 <%s"
                        % (PERFUSE, PERFUSE, PERFUSE, path), cwd=context.work)
    need(piped.stderr.count("# output: contended, total wait, max wait, avg wait, type, caller\n") == 1, piped.stderr)
    need(perfuse("lock", "-i", path, "contention", "-E1", cwd=context.work).stderr in piped.stderr, piped.stderr)


def test_formats(context):
    """JSON has the rows and values of the text"""
    path = context.recordings()[0]
    text = perfuse("lock", "-i", path, "contention", "-lx,", cwd=context.work).stderr
    rows = json.loads(perfuse("lock", "-i", path, "contention", "-l", "--format=json", cwd=context.work).stdout)["tables"][0]["rows"]
    got = [(row["contended"], row["wait_total"], row["wait_max"], row["avg_wait"]) for row in rows if row["wait_total"]]
    need(got == [tuple(map(int, line.split(", ")[:4])) for line in text.splitlines() if line[0].isdigit()], text[:500])


def values(text):
    """The numbers and names of -x, rows, by the last column."""
    return [line.split(", ") for line in text.splitlines() if not line.startswith("#")]


@by_samples
def test_waits(context):
    """each wait of a thread with known waits is counted, and their sum is what the thread measured, within 2 %"""
    text, known = context.contention("-t", "-x,", "-Y", "rwsem")
    row = [row for row in values(text) if row[4] == str(known["waiter"])]
    need(row and row[0][0] == str(ROUNDS) and row[0][5] == "waiter", text)
    need(abs(int(row[0][1]) / known["waited"] - 1) < 0.02, "%s ns of %d" % (row[0][1], known["waited"]))


@by_samples
def test_owner(context):
    """the thread that holds the lock is the owner of all waits"""
    text, known = context.contention("-o", "-x,", "-Y", "rwsem")
    row = [row for row in values(text) if row[4] == str(known["owner"])]
    need(row and int(row[0][0]) == ROUNDS and row[0][5] == "holder", text)


@by_samples
def test_owner_stacks(context):
    """with -v the owner's call chain has the waits, too: it waits for the page that the program gives it"""
    text, known = context.contention("-o", "-v", "-Y", "rwsem")
    first, second = text.split("\n=== owner stack trace ===\n\n")
    need(re.search(r"(?m)^ +%d .* %d   holder$" % (ROUNDS, known["owner"]), first), text)
    if "need Linux 6.2" in text:
        raise Skip("the kernel gives no call chains of owners")
    need(re.search(r"(?m)^ +%d .* rwsem:W   \w*userfault\w*\+0x\w+\n\t\t\t0x\w+  \w*userfault" % ROUNDS, second), text)
    need("\t\t\t" not in first and "histogram of failure reasons" in second, text)


@by_samples
def test_address(context):
    """one lock has all waits; a filter by its kind keeps it, a filter by another address drops it"""
    text, known = context.contention("-l", "-x,", "-k", "wait_total")
    row = values(text)[0]
    need(int(row[0]) == ROUNDS and row[6] == "rwsem" and int(row[1]) > 0.9 * known["waited"], text)
    need(values(context.contention("-l", "-x,", "-L", "123abc")[0]) == [], "a wait has the address 123abc")


@by_samples
def test_caller(context):
    """the caller is the function that writes to the file, with its call chain at -v, and a filter finds it"""
    text, _ = context.contention("-v", "-Y", "rwsem")
    row = [line for line in text.splitlines() if re.match(r" +%d " % ROUNDS, line)]
    need(row and re.search(r"rwsem:W +\w*file_write_iter", row[0]), text)
    need(re.search(r"\t\t\t0x\w+  \w*pwrite64", text), text)
    need("histogram of failure reasons" in text, text)
    text, _ = context.contention("-x,", "-S", "file_write_iter")
    need(values(text)[0][0] == str(ROUNDS), text)
    text, _ = context.contention("-x,", "-S", "no_such_function")
    need(values(text) == [], text)


@by_samples
def test_full(context):
    """waits for which the map has no room are counted: of two locks one has its sum, and all waits for the other are lost"""
    two = ("sh", "-c", "for i in 1 2; do %s %d 20 & done; wait" % (context.hammer(), ROUNDS))
    text, _ = context.contention("-l", "-M", "1", "-Y", "rwsem", command=two)
    found, lost = [int(row) for row in re.findall(r"(?m)^ +(\d+) .*\(rwsem\)$", text)], re.search(r"(?m)^ +data: (\d+)$", text)
    need(len(found) == 1 and lost and int(lost.group(1)) > 0, text)
    need(found[0] + int(lost.group(1)) >= 2 * ROUNDS, text)


@by_samples
def test_attach(context):
    """a running process is measured with the threads that it starts later, until a signal"""
    hammer = context.hammer()
    other = process.start("sh", "-c", "read line; exec %s %d %d" % (hammer, ROUNDS, HOLD_MS), cwd=context.work, stdin=process.PIPE, stdout=process.PIPE)
    out = os.path.join(context.work, "attached")
    ours = process.start(PERFUSE, "lock", "contention", "-b", "-t", "-x,", "--output", out, "-p", str(other.pid), cwd=context.work)
    try:
        bpf.wait_attached(ours.pid)
        known = int(re.search(r"waiter (\d+)", other.communicate("\n")[0]).group(1))
        ours.send_signal(signal.SIGINT)
        ours.wait(60)
        with open(out) as result:
            rows = [row for row in values(result.read()) if row[4] == str(known)]
        need(rows and int(rows[0][0]) >= ROUNDS, str(rows))
    finally:
        for child in (other, ours):
            child.kill()
            child.wait()


def test_attach_ends(context):
    """a measurement of processes ends with them, without a signal"""
    context.hammer()
    other = process.start("sleep", "60", cwd=context.work)
    ours = process.start(PERFUSE, "lock", "contention", "-b", "--output", os.path.join(context.work, "ended"), "-p", str(other.pid), cwd=context.work)
    try:
        process.wait_until(lambda: bpf.attached(ours.pid), "a BPF program is attached", 60)
        other.kill()
        other.wait()
        need(ours.wait(60) == 0, "exit %d" % ours.returncode)
    finally:
        for child in (other, ours):
            child.kill()
            child.wait()


def test_full_stderr(context):
    """a result that standard error does not take is an error"""
    with open("/dev/full", "wb") as full:
        ours = process.start(PERFUSE, "lock", "contention", "-i", context.recordings()[0], cwd=context.work, stderr=full)
    need(ours.wait(30) == 1, "exit %d" % ours.returncode)


@by_samples
def test_user(context):
    """a mutex of a program has its variable's name, its holder, its waiter and the known time"""
    sleeper = os.path.join(context.work, "sleeper")
    need_root("BPF programs")
    process.must("cc", "-O2", "-fomit-frame-pointer", "-pthread", "-o", sleeper, os.path.join(TEST, "offcpu/sleeper.c"), cwd=context.work,
                 env=process.compilers())
    done = perfuse("lock", "contention", "--user", "--format=json", "--", sleeper, cwd=context.work)
    if "lets this user" in done.stderr or "does not publish" in done.stderr or "not supported" in done.stderr:
        raise Skip(done.stderr.splitlines()[0])
    known = int(re.search(r"wait_for_lock (\d+)", done.stdout).group(1))
    rows = json.loads(done.stdout[done.stdout.index("{"):])["tables"][0]["rows"]
    row = [row for row in rows if row["symbol"] == "table_lock"]
    need(len(row) == 1 and row[0]["holder_comm"] == "sleeper" and row[0]["comm"] == "locked" and row[0]["reason"] == "futex", "%s %s" % (rows, done.stderr))
    need(abs(row[0]["time"] / known - 1) < 0.02, "%d ns of %d" % (row[0]["time"], known))
    need("start_thread;locked;wait_for_lock;" in row[0]["stack"], row[0]["stack"])
    text = perfuse("lock", "contention", "--user", "--", sleeper, cwd=context.work).stderr
    need(re.search(r" sleeper +locked +table_lock \(wait_for_lock < locked\)$", text, re.M), text)


def test_killed(context):
    """after SIGKILL no program and no link of `contention -ab` is left in the kernel"""
    need_root("BPF programs")
    ours = process.start(PERFUSE, "lock", "contention", "-ab", "--", "sleep", "60", cwd=context.work)
    try:
        def is_attached():
            if ours.poll() is not None:
                raise Skip("BPF programs cannot be attached here")
            return bpf.attached(ours.pid)
        process.wait_until(is_attached, "a BPF program is attached", 60)
        bpf.wait_attached(ours.pid)
        found = bpf.attached(ours.pid)
        need(len(found) >= 4 and all(bpf.exists(*one) for one in found), str(found))
    finally:
        ours.kill()
        ours.wait()
    process.wait_until(lambda: not any(bpf.exists(*one) for one in found), "the kernel has none of %s" % found, 60)


def test_refused_programs(context):
    """a user without the right to load BPF programs learns which one it is, and on a kernel without types the user learns what works without"""
    need_root("another user, and mounts")
    copy = os.path.join(context.work, "perfuse")
    shutil.copy(PERFUSE, copy)
    os.chmod(context.work, 0o755)
    done = process.run(copy, "lock", "contention", "-ab", "--", "true", cwd="/", user=process.NOBODY)
    need(done.returncode == 255 and "does not let this user load BPF programs" in done.stderr and "CAP_BPF" in done.stderr, done.stderr)
    done = process.run("unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys/kernel/btf && exec %s lock contention -ab -- true" % copy, cwd=context.work)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        raise Skip(done.stderr.strip()[-150:])
    need(done.returncode == 255 and "does not publish them" in done.stderr and "lock record`" in done.stderr, done.stderr)


@by_samples
def test_cgroups(context):
    """waits are added up by cgroup (version 2), and those of others are left out"""
    hammer = context.hammer()
    with new_cgroup() as (group, name):
        inside = ("sh", "-c", "echo $$ >%s/cgroup.procs; exec %s %d %d" % (group, hammer, ROUNDS, HOLD_MS))
        text, known = context.contention("--lock-cgroup", "-x,", "-Y", "rwsem", command=inside)
        row = [row for row in values(text) if row[4] == name]
        need(row and int(row[0][0]) == ROUNDS and abs(int(row[0][1]) / known["waited"] - 1) < 0.02, text)
        text, _ = context.contention("--lock-cgroup", "-x,", "-Y", "rwsem", "-G", name, command=inside)
        need([row[4] for row in values(text)] == [name], text)
        text, _ = context.contention("--lock-cgroup", "-x,", "-Y", "rwsem", "-G", name)
        need(values(text) == [], "waits outside of the cgroup: " + text)
        done = perfuse("lock", "contention", "-ab", "-G", "/no/such/group", "--", "true", cwd=context.work)
        need(done.returncode == 129 and "Failed to read cgroup id for /no/such/group" in done.stderr, done.stderr)


def test_conflicts(context):
    """options that exclude each other are refused with perf's sentence"""
    for words, sentence in (("-tl", "Cannot use thread and addr mode together"), ("-o", "Lock owners are available only with BPF"),
                            ("-bol", "Cannot use owner and addr mode together"), ("-x:", "Cannot use the separator that is already used"),
                            ("--lock-cgroup", "Cgroups are available only with BPF")):
        done = perfuse("lock", "contention", words, cwd=context.work)
        need(done.returncode == 255 and done.stderr.startswith(sentence + "\n"), words + done.stderr)


def test_foreign(context):
    """a recording without events of locks, a damaged one and a missing one are refused"""
    other = os.path.join(context.work, "clock.data")
    need_recording(context.work)
    process.must(PERFUSE, "record", "-e", "cpu-clock", "-o", other, "--", "true", cwd=context.work)
    done = perfuse("lock", "-i", other, "contention", cwd=context.work)
    need(done.returncode == 234 and done.stderr.startswith("No trace sample to read. Did you call '"), done.stderr)
    need(perfuse("lock", "-i", "/nowhere", "report", cwd=context.work).returncode == 255, "a missing file")


def main():
    work = tempfile.mkdtemp(prefix="perfuse-lock-")
    context = Context(work)
    try:
        return run_tests(tests_of(globals(), context))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
