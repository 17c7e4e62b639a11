#!/usr/bin/env python3
"""`trace`: the lines and sums of programs that know their own calls, arguments, results and errors."""
import errno
import os
import re
import shutil
import signal
import sys
import tempfile

from suite import bpf, process
from suite.cgroup import new_cgroup
from suite.perf import need_reference
from suite.settings import PERFUSE, SHORT
from suite.tests import Skip, need, need_root, need_tools, run_tests, tests_of

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = ("openat,write,lseek,read,dup,ftruncate,close,fchmod,unlinkat,faccessat,fcntl,mmap,mprotect,madvise,munmap,socket,connect,kill,tgkill,"
         "prlimit64,nanosleep,prctl,getrandom,flock,umask,setpgid")
LINE = re.compile(r"^ *([0-9.]+|\?) \((?: *([0-9.]+) ms| +)\): (.+?)/(\d+) (.*)$")


class Work:
    def __init__(self, source=None):
        need_root("BPF programs")
        self.folder = tempfile.mkdtemp(prefix="perfuse-trace-")
        if source:
            need_tools("gcc")
            process.must("gcc", "-O1", "-pthread", "-o", self.path("calls"), source)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as out:
            out.write(text)
        return self.path(name)

    def trace(self, *words, **how):
        """The run, and the lines of its file."""
        out = self.path("out")
        ran = process.run(PERFUSE, "trace", "-o", out, *words, **how)
        if "tracepoints, without strings" in ran.stderr:
            raise Skip("the kernel refuses BPF programs")
        return ran, open(out, errors="replace").read().splitlines() if os.path.exists(out) else []


def parsed(lines):
    """(time, duration, comm, tid, text) of each line; "name(...) = result" with one space before the result."""
    found = [LINE.match(line) for line in lines]
    need(all(found), "a line has another form: %r" % [line for line, one in zip(lines, found) if not one][:1])
    return [(one[1], one[2], one[3], int(one[4]), re.sub(r"\) += ", ") = ", one[5], count=1)) for one in found]


def joined(rows):
    """Calls in order of their entry; an interrupted one has the result of its continuation."""
    texts, waiting = [], {}
    for _, _, _, tid, text in rows:
        if text.endswith(" ..."):
            waiting[tid] = len(texts)
            texts.append(text[:-4].rstrip())
        elif text.lstrip().startswith("... [continued]: "):
            if tid in waiting:
                texts[waiting.pop(tid)] += text[text.rindex(") = ") + 1:]
        else:
            texts.append(text)
    return texts


def own_part(texts):
    """Of a program that calls umask first of its own calls."""
    first = next(i for i, text in enumerate(texts) if text.startswith("umask(mask: 18)"))
    return [text for text in texts[first + 1:]]


def test_known_calls():
    """every call of a program is shown with the arguments, the result and the error that the program knows"""
    with Work(os.path.join(HERE, "trace/calls.c")) as work:
        ran, lines = work.trace(work.path("calls"), work.folder)
        need(ran.returncode == 3, "exit status %d, not the program's: %s" % (ran.returncode, ran.stderr))
        expected, shown = ran.stdout.splitlines(), own_part(joined(parsed(lines)))
        shown = [text for text in shown if text.split("(")[0] in CALLS.split(",")]
        at = 0
        for line in expected:
            try:
                at = shown.index(line, at) + 1
            except ValueError:
                raise AssertionError("missing: %s\nshown: %s" % (line, "\n".join(shown[at:at + 4]))) from None
        need(len(expected) > 35, len(expected))
        between = [text for text in shown[:shown.index(expected[-12])] if text not in expected]
        need(not between, "calls that the program did not make: %s" % between[:3])


# The differences from perf 6.12 in docs/differences.md that the calls of trace/calls.c show: (call, argument or None for the result, perf's
# text, perfuse's). Addresses instead of texts and names of files and processes are compared by `agrees`.
DIFFERENCES = (
    ("clone", "clone_flags", r"\W*CHILD_CLEARTID\|CHILD_SETTID", r"CHILD_CLEARTID\|CHILD_SETTID\|SIGCHLD"),
    ("fcntl", None, "CLOEXEC", "0"),
    ("write", "buf", "", r"\S.*"),
)


def by_task(lines):
    """The texts of each task's calls, tasks in order of their first line, and the ids of tasks."""
    rows = parsed(lines)
    tasks = list(dict.fromkeys(row[3] for row in rows))
    return [joined([row for row in rows if row[3] == tid]) for tid in tasks], tasks


def same_machine(text, tasks):
    """A text without what differs from run to run: addresses, names of files and of processes, ids of processes."""
    text = re.sub(r"<[^>]*>", "", text)
    text = re.sub(r"\b(%s)\b(?: \([^()]*\))?" % "|".join(map(str, tasks)), "PID", text)
    return re.sub(r"^(\d+) \([^()]*\)$", "PID", re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text))


def agrees(call, name, perfs, ours):
    if perfs == ours or perfs == "ADDRESS" and re.match(r'"|\{ |\((struct |sigset_t)', ours):
        return True
    return any((call, name) == row[:2] and re.fullmatch(row[2], perfs) and re.fullmatch(row[3], ours, re.S) for row in DIFFERENCES)


def disagreement(perfs, ours):
    """What differs in the texts of one call; None if they agree. No value has the text of a result or, in perf's, of an argument's name."""
    (perfs_call, _, perfs_result), (our_call, _, our_result) = perfs.partition(") = "), ours.partition(") = ")
    call, _, arguments = perfs_call.partition("(")
    names = re.findall(r"(?:^|, )(\w+):", arguments)
    form = ", ".join(r"%s: ?(.*)" % name for name in names) + r"\)?"
    values = re.fullmatch(form, arguments, re.S), re.fullmatch(re.escape(call + "(") + form, our_call, re.S)
    right = all(values) and all(agrees(call, *row) for row in zip(names + [None], values[0].groups() + (perfs_result,),
                                                                 values[1].groups() + (our_result,)))
    return None if right else "%s: perf has %s" % (ours, perfs)


def test_as_perf():
    """lines have the calls, names, values and errors of perf's, but for the differences that are listed"""
    with Work(os.path.join(HERE, "trace/calls.c")) as work:
        def calls_of(tracer, name):
            ran = process.run(tracer, "trace", "-o", work.path(name), work.path("calls"), work.folder)
            need(ran.returncode in (0, 3), "%s: %s" % (tracer, ran.stderr))
            lists, tasks = by_task(open(work.path(name), errors="replace").read().splitlines())
            first = lists[0].index("umask(mask: 18) = 18")
            parent = re.search(r"getppid\(\) = (\d+)", "\n".join(lists[0]))[1]
            lists[0] = lists[0][first:]
            last = max(i for i, text in enumerate(lists[0]) if text.startswith("getppid"))
            lists[0] = lists[0][:last + 1]
            # whether a thread waits for another by futex depends on which is faster, and which of the others comes first, too
            lists = [[same_machine(text, tasks + [parent]) for text in texts if not text.startswith("futex(")] for texts in lists]
            return [lists[0], *sorted(lists[1:], key=lambda texts: [text.split("(")[0] for text in texts])]
        ours = calls_of(PERFUSE, "perfuse")
        for _ in range(5):
            perfs = calls_of(need_reference(), "perf")
            names = [[[text.split("(")[0] for text in texts] for texts in lists] for lists in (perfs, ours)]
            if names[0] == names[1]:
                break  # else perf may have lost calls: the machine is loaded
        need(names[0] == names[1], "perf has %s, not %s" % tuple(names))
        wrong = [disagreement(*pair) for texts in zip(perfs, ours) for pair in zip(*texts)]
        need(not any(wrong), "\n".join(text for text in wrong if text))
        need(len(ours) == 3 and len(wrong) > 60, "%d tasks, %d calls" % (len(ours), len(wrong)))


def counts(lines):
    rows = [line.split() for line in lines if re.match(r"^   \w+ +\d+ +\d+ +[0-9.]+ ", line)]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows}


def test_sums():
    """sums have every call and every error, of threads that ended too, as a program counts them"""
    with Work() as work:
        program = work.write("p.py", "import os, threading\n"
                             "def work(n):\n for i in range(n):\n  try: os.stat('/no/such')\n  except OSError: pass\n  os.getppid()\n"
                             "threads = [threading.Thread(target=work, args=(n,)) for n in (100, 250, 3000)]\n"
                             "[t.start() for t in threads]\n[t.join() for t in threads]\nif os.fork() == 0: work(70); os._exit(0)\nos.wait()\n")
        for option in ("-s", "-S"):
            _, lines = work.trace(option, "--errno-summary", "-e", "getppid,newfstatat,stat", "python3", "-S", program)
            need(not any("LOST" in line for line in lines), "records were lost")
            calls = [int(m[1]) for line in lines for m in [re.match(r"^   getppid +(\d+) ", line)] if m]
            need(sorted(calls) == [70, 100, 250, 3000], calls)
            errors = [int(m[1]) for line in lines for m in [re.match(r"\t\t\t\tENOENT: (\d+)$", line)] if m]
            need(sorted(errors)[-4:][:3] and 3000 in errors and 250 in errors and 100 in errors, errors)


def test_total():
    """sums in total are those of the threads together; --max-summary shows the longest calls"""
    with Work() as work:
        program = work.write("p.py", "import os, threading\n"
                             "def work(n):\n for i in range(n):\n  os.getppid()\n"
                             "threads = [threading.Thread(target=work, args=(n,)) for n in (100, 250)]\n"
                             "[t.start() for t in threads]\n[t.join() for t in threads]\n")
        for option in ("-s", "-S"):
            _, lines = work.trace(option, "--summary-mode=total", "--bpf-summary", "-e", "getppid,mmap", "python3", "-S", program)
            need(counts(lines)["getppid"] == (350, 0), lines)
            need(len([line for line in lines if re.match(r" total, \d+ events$", line)]) == 1, lines)
            need(not any("(" in line and "events" in line for line in lines), lines)
        _, lines = work.trace("-s", "--max-summary", "1", "-e", "clock_nanosleep,mmap", "sleep", "0.01")
        need(counts(lines) == {"clock_nanosleep": (1, 0)}, lines)


def test_cgroups():
    """sums by cgroup have the calls of the threads in each"""
    with Work() as work, new_cgroup() as (group, name):
        shell = "for i in 1 2 3; do sh -c 'kill -0 $$; :'; done; echo $$ >%s/cgroup.procs; exec sh -c 'umask 1; umask 2'" % group
        for option in ("-s", "-S"):
            _, lines = work.trace(option, "--summary-mode=cgroup", "-e", "kill,umask", "sh", "-c", shell)
            heads = [line for line in lines if line.startswith(" cgroup ")]
            at = [i for i, line in enumerate(lines) if line.startswith(" cgroup %s, " % name)]
            need(len(heads) == 2 and len(at) == 1, lines)
            other = next(i for i, line in enumerate(lines) if line in heads and i != at[0])
            parts = {here: counts(lines[here:max(at[0], other) if here < max(at[0], other) else None]) for here in (at[0], other)}
            need(parts[at[0]].get("umask", (0,))[0] >= 2 and "kill" not in parts[at[0]], lines)
            need(parts[other].get("kill") == (3, 0) and "umask" not in parts[other], lines)
        done = process.run(PERFUSE, "trace", "-s", "--summary-mode=cgroup", "-F", "all", "true")
        need(done.returncode == 255 and "sums system calls alone" in done.stderr, done.stderr)


def test_of_a_cgroup():
    """-a -G NAME prints calls and tracepoints of the threads in that cgroup alone"""
    with Work() as work, new_cgroup() as (group, name):
        script = work.write("inside", "echo $$ >%s/cgroup.procs; umask 1; exec true\n" % group)
        _, lines = work.trace("-a", "-G", name.lstrip("/"), "-e", "umask,kill,sched:sched_process_exit",
                              "sh", "-c", "kill -0 $$; sh %s; sh -c 'kill -0 $$; :'" % script)
        need(any("umask(mask: 1)" in line for line in lines) and not any("kill(" in line for line in lines), lines)
        need(sum("sched_process_exit" in line for line in lines) == 1, lines)


def test_storm():
    """two million calls of a storm are all counted by -s, and all printed by -o"""
    with Work() as work:
        dd = ("dd", "bs=1", "count=300000", "if=/dev/zero", "of=/dev/null")
        _, lines = work.trace("-s", *dd)
        need(counts(lines)["write"][0] == 300003, counts(lines))  # with the three lines of its report
        _, lines = work.trace("-m", "64M", "-e", "write,close", *dd)
        lost = sum(int(line.split()[1]) for line in lines if line.startswith("LOST"))
        writes = sum(" write(fd: 1</dev/null>" in line for line in lines)
        need(lost or writes == 300000, writes)
        need(writes + lost >= 300000, "%d lines, %d lost" % (writes, lost))


CALLS_OF_FOUR_THREADS = """
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static void *work(void *argument) { for (int i = 0; i < 5000; i++) syscall(SYS_getppid); return argument; }
int main(void) {
	pthread_t threads[4];
	for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
	return 0;
}
"""


STRUCTURES = """
#define _GNU_SOURCE
#include <mqueue.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int main(void) {
	struct itimerval timer = { { 0, 0 }, { 3600, 250000 } }, before;
	struct pollfd file = { 99, POLLIN, 0 };
	struct timespec bad = { 1, -5 };
	long attributes[8] = { 0, 3, 128, 0, 0, 0, 0, 0 };
	setitimer(ITIMER_VIRTUAL, &timer, &before);
	syscall(SYS_ppoll, &file, 1, &bad, NULL, 8L);
	syscall(SYS_nanosleep, &bad, NULL);
	syscall(SYS_mq_open, "", 0100, 0600, attributes);
	syscall(SYS_nanosleep, -1L, NULL);
	return 0;
}
"""


def test_kernel_types():
    """structures and arrays that a call reads are printed by the kernel's types, with --force-btf all of them; what cannot be read, as addresses"""
    with Work() as work:
        need_tools("gcc")
        if not os.path.exists("/sys/kernel/btf/vmlinux"):
            raise Skip("the kernel does not publish its types")
        process.must("gcc", "-o", work.path("structures"), work.write("structures.c", STRUCTURES))
        rows = parsed(work.trace("--force-btf", "-e", "setitimer,ppoll,nanosleep,mq_open", work.path("structures"))[1])
        texts, bad = joined(rows), "(struct __kernel_timespec){.tv_sec = (__kernel_time64_t)1,.tv_nsec = (long long int)-5,}"
        need(re.match(r"setitimer\(which: VIRTUAL, value: \(struct __kernel_old_itimerval\)\{\.it_value = \(struct __kernel_old_timeval\)\{"
                      r"\.tv_sec = \(__kernel_long_t\)3600,\.tv_usec = \(__kernel_long_t\)250000,\},\}, ovalue: 0x[0-9a-f]+\) = 0$", texts[0]), texts)
        need("ufds: [(struct pollfd){.fd = (int)99,.events = (short int)1,}], " in texts[1] and "tsp: " + bad in texts[1], texts)
        need(texts[2] == "nanosleep(rqtp: %s) = -1 EINVAL (Invalid argument)" % bad, texts)
        need(".mq_maxmsg = (__kernel_long_t)3,.mq_msgsize = (__kernel_long_t)128,}" in texts[3], texts)
        plain = joined(parsed(work.trace("-e", "setitimer,ppoll,nanosleep,mq_open", work.path("structures"))[1]))
        need(plain[0].split(", ovalue")[0] == texts[0].split(", ovalue")[0] and plain[3] == texts[3], plain)
        need(plain[1] == texts[1].replace("(short int)1", "(short int)IN"), plain)
        need(plain[2] == "nanosleep(rqtp: { .tv_sec: 1, .tv_nsec: -5 }) = -1 EINVAL (Invalid argument)", plain)
        need(texts[4] == "nanosleep(rqtp: 0xffffffffffffffff) = -1 EFAULT (Bad address)" and len(texts) == 5, texts)


def test_sorted_events():
    """--sort-events shows every call of threads on several CPUs, in order of their returns, also among other events"""
    with Work() as work:
        need_tools("gcc")
        process.must("gcc", "-pthread", "-o", work.path("threads"), work.write("threads.c", CALLS_OF_FOUR_THREADS))
        for others in ([], ["-e", "sched:sched_process_exit"]):
            _, lines = work.trace("--sort-events", "-m", "64M", *others, "-e", "getppid", work.path("threads"))
            rows = [row for row in parsed([line for line in lines if " getppid(" in line]) if not row[4].endswith(" ...")]
            need(len(rows) == 20000, "%d calls" % len(rows))
            need(not others or sum("sched_process_exit" in line for line in lines) >= 5, lines[-5:])
            returns = [float(row[0]) + float(row[1]) for row in rows]
            wrong = [(a, b) for a, b in zip(returns, returns[1:]) if b < a - 0.0021]  # two times and a duration, rounded
            need(not wrong, wrong[:3])


def test_strings_are_read_later():
    """a string that is not in memory at the entry of its call is shown all the same"""
    with Work() as work:
        _, lines = work.trace("-e", "openat", "cat", "/etc/hostname")
        need(lines and all("filename: \"" in line for line in lines), lines)
        _, lines = work.trace("sh", "-c", "echo x >&2")
        need(any(re.search(r" write\(fd: [12]<pipe:\[\d+\]>, buf: x\\10, count: 2\) += 2$", line) for line in lines), lines)


def test_lists_of_strings():
    """execve has the arguments of the program, up to fifteen"""
    with Work() as work:
        for count in (0, 1, 14, 15):
            words = ["%d\n" % i for i in range(count)]
            rows = parsed(work.trace("-e", "execve", "sh", "-c", '/bin/echo "$@"; exit 0', "sh", *words)[1])
            shown = ", ".join('"%s"' % word.replace("\n", "\\012") for word in ["/bin/echo"] + words[:14]) + (", ..." if count == 15 else "")
            need(rows[-1][4].startswith('execve(filename: "/bin/echo", argv: [%s], envp: 0x' % shown), (count, rows))


def test_targets():
    """-p follows the threads and children of a process, and ends with it; -t, --filter-pids, -C and --no-inherit choose"""
    with Work() as work:
        script = "while [ ! -e %s ]; do cat /etc/hostname >/dev/null; sleep 0.02; done" % work.path("stop")
        with process.start("sh", "-c", script) as shell:
            try:
                rows = parsed(work.trace("-p", str(shell.pid), "--max-events", "600")[1])
                need({row[2] for row in rows} >= {"sh", "cat", "sleep"}, {row[2] for row in rows})
                rows = parsed(work.trace("-t", str(shell.pid), "--no-inherit", "--max-events", "10")[1])
                need({row[3] for row in rows} == {shell.pid}, rows)
                rows = parsed(work.trace("-a", "--filter-pids", str(shell.pid), "-e", "wait4,clone,openat", "--max-events", "30")[1])
                need(shell.pid not in {row[3] for row in rows} and os.getpid() not in {row[3] for row in rows}, rows)
                tracer = process.start(PERFUSE, "trace", "-o", work.path("end"), "-p", str(shell.pid))
                bpf.wait_attached(tracer.pid)
                work.write("stop", "")
                need(tracer.wait(timeout=60) == 0, "trace -p does not end with its process")
            finally:
                shell.kill()


def test_filters():
    """-e takes names, patterns, groups and all but a list; --failure and --duration leave out calls"""
    with Work() as work:
        names = {row[4].split("(")[0] for row in parsed(work.trace("-e", "open*,file", "cat", "/etc/hostname")[1])}
        need("openat" in names and "read" in names and "mmap" not in names, names)
        names = {row[4].split("(")[0] for row in parsed(work.trace("-e", "!mmap,read", "cat", "/etc/hostname")[1])}
        need("openat" in names and not names & {"mmap", "read"}, names)
        rows = parsed(work.trace("--failure", "ls", "/no/such")[1])
        need(rows and all(" = -1 E" in row[4] for row in rows), rows)
        rows = parsed(work.trace("--duration", "20", "sleep", "0.05")[1])
        need(len(rows) == 1 and "clock_nanosleep(rqtp: { .tv_sec: 0, .tv_nsec: 50000000 }" in rows[0][4], rows)
        need(float(rows[0][1]) >= 50, rows)
        need(process.run(PERFUSE, "trace", "-e", "nosuchcall", "true").returncode == 129, "an unknown call is refused")


def test_exit_status():
    """the exit status is the command's, also when a signal ends it, or it cannot be started"""
    with Work() as work:
        need(work.trace("sh", "-c", "exit 9")[0].returncode == 9, "exit status of the command")
        need(work.trace("sh", "-c", "kill -9 $$")[0].returncode == 137, "a signal")
        need(work.trace("--max-events", "1", "sleep", "60")[0].returncode == 0, "--max-events")
        for way in (["-e", "openat"], ["-s"], ["-e", "sched:sched_process_exec"], ["--call-graph", "fp"]):
            with process.start(PERFUSE, "trace", "-o", work.path("ended"), *way, "sh", "-c", "echo started; exec sleep 60",
                               start_new_session=True) as ended:
                ended.stdout.readline()
                os.killpg(ended.pid, signal.SIGINT)
                need(ended.wait(60) == 0, "%s after Ctrl-C: %s" % (way, ended.returncode))
        ran = work.trace("/no/such/program")[0]
        need(ran.returncode == 255 and "No such file" in ran.stderr, ran)


# Calls that end, stop or copy the process, or disturb the machine, whatever their arguments
HARMFUL = {"exit", "exit_group", "fork", "vfork", "pause", "rt_sigreturn", "sync", "uretprobe", "vhangup"}
NO_PROCESS = "0x7ffffff0L, 0L"
ARGUMENTS = {"kill": NO_PROCESS, "tkill": NO_PROCESS, "tgkill": "0x7ffffff0L, " + NO_PROCESS}


class EveryCall:
    """A program that makes each system call once, in order of numbers, with arguments that most refuse, and prints the results."""

    def __init__(self, work):
        need_tools("gcc")
        text = process.must("gcc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null")
        numbers = sorted((int(value), name) for name, value in re.findall(r"^#define __NR_(\w+) (\d+)$", text, re.M))
        tried = [(number, name) for number, name in numbers if name not in HARMFUL]
        self.names, self.program = [name for _, name in tried], work.path("all")
        calls = "".join("\tCALL(%dL, %s);\n" % (number, ARGUMENTS.get(name, "-1L, -1L, -1L, -1L, -1L, -1L")) for number, name in tried)
        source = work.write("all.c", "#define _GNU_SOURCE\n#include <errno.h>\n#include <stdio.h>\n#include <unistd.h>\n"
                            "#define CALL(...) (errno = 0, results[n] = syscall(__VA_ARGS__), errors[n++] = errno)\n"
                            "int main(void) {\n\tstatic long results[%d], errors[%d], n;\n%s\tfor (long i = 0; i < n; i++)\n"
                            '\t\tprintf("%%ld %%ld\\n", results[i], errors[i]);\n\treturn 0;\n}\n' % (len(tried), len(tried), calls))
        process.must("gcc", "-o", self.program, source)

    def traced(self, work, *words):
        """The texts of the calls that are shown, and the program's own results: (result, error) of each call."""
        ran, lines = work.trace(*words, self.program)
        need(ran.returncode == 0, "exit status %d: %s" % (ran.returncode, ran.stderr))
        results = [tuple(int(word) for word in line.split()) for line in ran.stdout.splitlines()]
        need(len(results) == len(self.names), "%d of %d results" % (len(results), len(self.names)))
        return joined(parsed(lines)), results


def shows_result(text, result, error):
    shown = text.rpartition(") = ")[2]
    if error:
        parts = re.fullmatch(r"-1 (\w+) \((.*)\)", shown)
        return bool(parts) and getattr(errno, parts[1], None) == error and parts[2] == os.strerror(error)
    return re.fullmatch(r"-?\d+|0x[0-9a-f]+", shown.split()[0]) and int(shown.split()[0], 0) % 2**64 == result % 2**64


def test_every_call():
    """each of this machine's system calls is shown by its name in the C library's headers, with the result and the error that it has"""
    with Work() as work:
        every = EveryCall(work)
        texts, results = every.traced(work)
        names = [text.split("(")[0] for text in texts]
        start = next(i for i in range(len(names)) if names[i:i + 3] == every.names[:3])
        shown = texts[start:start + len(results)]
        wrong = [(name, text) for name, text in zip(every.names, shown) if text.split("(")[0] != name]
        need(len(shown) == len(results) and not wrong, "%d of %d: %s" % (len(shown), len(results), wrong[:3]))
        wrong = [(text, *result) for text, result in zip(shown, results) if not shows_result(text, *result)]
        need(not wrong, wrong)


def test_every_call_alone():
    """-e of each system call shows the calls of this name and no others, the program's with its result and its error"""
    with Work() as work:
        every = EveryCall(work)
        names = [text.split("(")[0] for text in every.traced(work)[0]]
        start = next(i for i in range(len(names)) if names[i:i + 3] == every.names[:3])
        step = 16 if SHORT else 1
        for at in range(0, len(every.names), step):
            name = every.names[at]
            texts, results = every.traced(work, "-e", name)
            others = [text for text in texts if text.split("(")[0] != name]
            need(not others and len(texts) == names.count(name), "-e %s: %d lines, not %d; %s" % (name, len(texts), names.count(name), others[:2]))
            own = texts[names[:start].count(name)]
            need(shows_result(own, *results[at]), "%s: the program has %d, errno %d" % (own, *results[at]))


# What an argument of a call is named in the kernel's headers: (call, the other arguments with %s for this one, names)
HEADERS = """sys/types.h fcntl.h sched.h signal.h sys/ipc.h sys/mman.h sys/msg.h sys/prctl.h sys/ptrace.h sys/reboot.h sys/resource.h sys/sem.h
    sys/shm.h sys/socket.h sys/wait.h sys/personality.h netinet/in.h netinet/tcp.h linux/bpf.h linux/capability.h linux/close_range.h
    linux/falloc.h sys/fanotify.h linux/fs.h linux/futex.h linux/if_packet.h sys/inotify.h linux/reboot.h linux/io_uring.h linux/kexec.h linux/keyctl.h
    linux/landlock.h linux/loop.h linux/membarrier.h linux/mempolicy.h linux/module.h linux/mount.h linux/netlink.h linux/nsfs.h linux/rtc.h
    linux/seccomp.h linux/sockios.h linux/swap.h linux/udp.h linux/userfaultfd.h linux/xattr.h sys/timerfd.h sys/ioctl.h""".split()
NAMES = (
    ("bpf", "%s, -1L, -1L", "BPF_MAP_LOOKUP_ELEM BPF_PROG_LOAD BPF_BTF_LOAD BPF_LINK_CREATE BPF_PROG_BIND_MAP"),
    ("close_range", "-1L, -1L, %s", "CLOSE_RANGE_UNSHARE CLOSE_RANGE_CLOEXEC"),
    ("delete_module", "-1L, %s", "O_NONBLOCK O_TRUNC"),
    ("execveat", "-1L, -1L, 0L, 0L, %s", "AT_EMPTY_PATH AT_SYMLINK_NOFOLLOW"),
    ("fadvise64", "-1L, 0L, 0L, %s", "POSIX_FADV_RANDOM POSIX_FADV_SEQUENTIAL POSIX_FADV_WILLNEED POSIX_FADV_DONTNEED POSIX_FADV_NOREUSE"),
    ("fallocate", "-1L, %s, 0L, 1L", "FALLOC_FL_KEEP_SIZE FALLOC_FL_PUNCH_HOLE FALLOC_FL_NO_HIDE_STALE FALLOC_FL_COLLAPSE_RANGE"
     " FALLOC_FL_ZERO_RANGE FALLOC_FL_INSERT_RANGE FALLOC_FL_UNSHARE_RANGE"),
    ("fanotify_init", "%s, 1L << 30", "FAN_CLOEXEC FAN_NONBLOCK FAN_CLASS_CONTENT FAN_CLASS_PRE_CONTENT FAN_UNLIMITED_QUEUE FAN_UNLIMITED_MARKS"
     " FAN_ENABLE_AUDIT FAN_REPORT_PIDFD FAN_REPORT_TID FAN_REPORT_FID FAN_REPORT_DIR_FID FAN_REPORT_NAME FAN_REPORT_TARGET_FID"),
    ("fanotify_mark", "-1L, %s, 0L, -1L, 0L", "FAN_MARK_ADD FAN_MARK_REMOVE FAN_MARK_DONT_FOLLOW FAN_MARK_ONLYDIR FAN_MARK_MOUNT"
     " FAN_MARK_IGNORED_MASK FAN_MARK_IGNORED_SURV_MODIFY FAN_MARK_FLUSH FAN_MARK_FILESYSTEM FAN_MARK_EVICTABLE FAN_MARK_IGNORE"),
    ("fanotify_mark", "-1L, 0L, %s, -1L, 0L", "FAN_ACCESS FAN_MODIFY FAN_ATTRIB FAN_CLOSE_WRITE FAN_CLOSE_NOWRITE FAN_OPEN FAN_MOVED_FROM"
     " FAN_MOVED_TO FAN_CREATE FAN_DELETE FAN_DELETE_SELF FAN_MOVE_SELF FAN_OPEN_EXEC FAN_Q_OVERFLOW FAN_FS_ERROR FAN_OPEN_PERM"
     " FAN_ACCESS_PERM FAN_OPEN_EXEC_PERM FAN_EVENT_ON_CHILD FAN_RENAME FAN_ONDIR"),
    ("fchmodat2", "-1L, -1L, 0L, %s", "AT_SYMLINK_NOFOLLOW AT_EMPTY_PATH"),
    ("fchownat", "-1L, -1L, 0L, 0L, %s", "AT_SYMLINK_NOFOLLOW AT_EMPTY_PATH"),
    ("fcntl", "-1L, %s, 0L", "F_GETFD F_SETFD F_GETFL F_SETFL F_GETLK F_SETLK F_SETLKW F_SETOWN F_GETOWN F_SETSIG F_GETSIG F_OFD_GETLK"
     " F_OFD_SETLK F_OFD_SETLKW F_SETLEASE F_GETLEASE F_NOTIFY F_DUPFD_CLOEXEC F_SETPIPE_SZ F_GETPIPE_SZ F_ADD_SEALS F_GET_SEALS"),
    ("fcntl", "-1L, F_ADD_SEALS, %s", "F_SEAL_SEAL F_SEAL_SHRINK F_SEAL_GROW F_SEAL_WRITE F_SEAL_FUTURE_WRITE"),
    ("fcntl", "-1L, F_NOTIFY, %s", "DN_ACCESS DN_MODIFY DN_CREATE DN_DELETE DN_RENAME DN_ATTRIB"),
    ("fcntl", "-1L, F_SETSIG, %s", "SIGIO SIGUSR1"),
    ("finit_module", "-1L, -1L, %s", "MODULE_INIT_IGNORE_MODVERSIONS MODULE_INIT_IGNORE_VERMAGIC MODULE_INIT_COMPRESSED_FILE"),
    ("fsetxattr", "-1L, -1L, -1L, 0L, %s", "XATTR_CREATE XATTR_REPLACE"),
    ("fsopen", "-1L, %s", "FSOPEN_CLOEXEC"),
    ("get_mempolicy", "-1L, -1L, -1L, -1L, %s", "MPOL_F_NODE MPOL_F_ADDR MPOL_F_MEMS_ALLOWED"),
    ("getrusage", "%s, -1L", "RUSAGE_CHILDREN RUSAGE_THREAD"),
    ("inotify_add_watch", "-1L, -1L, %s", "IN_ACCESS IN_MODIFY IN_ATTRIB IN_CLOSE_WRITE IN_CLOSE_NOWRITE IN_OPEN IN_MOVED_FROM IN_MOVED_TO"
     " IN_CREATE IN_DELETE IN_DELETE_SELF IN_MOVE_SELF IN_UNMOUNT IN_Q_OVERFLOW IN_IGNORED IN_ONLYDIR IN_DONT_FOLLOW IN_EXCL_UNLINK"
     " IN_MASK_CREATE IN_MASK_ADD IN_ISDIR IN_ONESHOT"),
    ("io_uring_enter", "-1L, 0L, 0L, %s, 0L, 0L", "IORING_ENTER_GETEVENTS IORING_ENTER_SQ_WAKEUP IORING_ENTER_SQ_WAIT IORING_ENTER_EXT_ARG"
     " IORING_ENTER_REGISTERED_RING"),
    ("io_uring_register", "-1L, %s, 0L, 0L", "IORING_UNREGISTER_BUFFERS IORING_REGISTER_FILES IORING_REGISTER_PROBE IORING_UNREGISTER_PERSONALITY"
     " IORING_REGISTER_IOWQ_AFF IORING_REGISTER_PBUF_RING IORING_REGISTER_FILE_ALLOC_RANGE"),
    ("ioctl", "-1L, %s, 0L", "TIOCGWINSZ FIONREAD BLKGETSIZE64 BLKROGET BLKDISCARD BLKZEROOUT SIOCGIFCONF SIOCGIFINDEX SIOCGIFMTU FICLONE"
     " FIDEDUPERANGE FS_IOC_GETFLAGS LOOP_SET_FD LOOP_CONFIGURE LOOP_CTL_GET_FREE UFFDIO_API UFFDIO_COPY NS_GET_USERNS NS_GET_OWNER_UID"
     " RTC_RD_TIME SECCOMP_IOCTL_NOTIF_RECV SECCOMP_IOCTL_NOTIF_ADDFD"),
    ("kexec_file_load", "-1L, -1L, 0L, 0L, %s", "KEXEC_FILE_UNLOAD KEXEC_FILE_ON_CRASH KEXEC_FILE_NO_INITRAMFS"),
    ("keyctl", "%s, 0x7fffffffL, 0L, 0L, 0L", "KEYCTL_UPDATE KEYCTL_DESCRIBE KEYCTL_LINK KEYCTL_READ KEYCTL_DH_COMPUTE KEYCTL_RESTRICT_KEYRING"
     " KEYCTL_MOVE KEYCTL_CAPABILITIES KEYCTL_WATCH_KEY"),
    ("add_key", "-1L, -1L, 0L, 0L, %s", "KEY_SPEC_THREAD_KEYRING KEY_SPEC_PROCESS_KEYRING KEY_SPEC_SESSION_KEYRING KEY_SPEC_USER_KEYRING"),
    ("landlock_create_ruleset", "-1L, 1L << 30, %s", "LANDLOCK_CREATE_RULESET_VERSION"),
    ("madvise", "1L, 0L, %s", "MADV_RANDOM MADV_DONTNEED MADV_FREE MADV_HUGEPAGE MADV_COLD MADV_PAGEOUT MADV_COLLAPSE"),
    ("mbind", "1L, 0L, %s, 0L, 0L, 0L", "MPOL_PREFERRED MPOL_BIND MPOL_INTERLEAVE MPOL_LOCAL MPOL_PREFERRED_MANY"),
    ("mbind", "1L, 0L, 0L, 0L, 0L, %s", "MPOL_MF_STRICT MPOL_MF_MOVE MPOL_MF_MOVE_ALL"),
    ("membarrier", "%s, 1L << 30, 0L", "MEMBARRIER_CMD_GLOBAL MEMBARRIER_CMD_GLOBAL_EXPEDITED MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED"
     " MEMBARRIER_CMD_PRIVATE_EXPEDITED MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE"
     " MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ"),
    ("mlock2", "1L, 0L, %s", "MLOCK_ONFAULT"),
    ("mlockall", "%s | 64", "MCL_CURRENT MCL_FUTURE MCL_ONFAULT"),
    ("msgctl", "-1L, %s, 0L", "IPC_SET IPC_STAT MSG_STAT MSG_STAT_ANY"),
    ("msgrcv", "-1L, 0L, 0L, 0L, %s", "IPC_NOWAIT MSG_NOERROR MSG_EXCEPT MSG_COPY"),
    ("semctl", "-1L, 0L, %s, 0L", "IPC_SET IPC_STAT GETPID GETVAL GETALL GETNCNT GETZCNT SETVAL SETALL SEM_STAT SEM_STAT_ANY"),
    ("semget", "1L, -1L, %s", "IPC_CREAT IPC_EXCL"),
    ("shmctl", "-1L, %s, 0L", "IPC_SET IPC_STAT SHM_LOCK SHM_UNLOCK SHM_STAT SHM_STAT_ANY"),
    ("shmget", "1L, -1L, %s", "IPC_CREAT IPC_EXCL SHM_HUGETLB SHM_NORESERVE"),
    ("shmat", "-1L, 0L, %s", "SHM_RDONLY SHM_RND SHM_REMAP SHM_EXEC"),
    ("open_tree", "-1L, -1L, %s", "OPEN_TREE_CLONE OPEN_TREE_CLOEXEC AT_RECURSIVE AT_EMPTY_PATH"),
    ("personality", "0xffff0000L | %s", "ADDR_NO_RANDOMIZE MMAP_PAGE_ZERO ADDR_LIMIT_3GB"),
    ("pidfd_open", "-1L, %s", "PIDFD_NONBLOCK"),
    ("pidfd_send_signal", "-1L, %s, 0L, 0L", "SIGUSR1 SIGKILL"),
    ("prctl", "%s, -1L, -1L, -1L, -1L", "PR_SET_PDEATHSIG PR_SET_NAME PR_SET_SECUREBITS PR_SET_NO_NEW_PRIVS PR_CAP_AMBIENT PR_SET_VMA"
     " PR_SET_IO_FLUSHER PR_SCHED_CORE PR_SET_MDWE"),
    ("prctl", "PR_SET_PDEATHSIG, %s", "SIGTERM SIGHUP"),
    ("prctl", "PR_CAPBSET_READ, %s", "CAP_DAC_OVERRIDE CAP_SYS_ADMIN CAP_PERFMON CAP_BPF CAP_CHECKPOINT_RESTORE"),
    ("preadv2", "-1L, 0L, 0L, 0L, 0L, %s", "RWF_HIPRI RWF_DSYNC RWF_SYNC RWF_NOWAIT RWF_APPEND"),
    ("ptrace", "%s, 0x7ffffff0L, 0L, 0L", "PTRACE_PEEKTEXT PTRACE_CONT PTRACE_KILL PTRACE_GETREGS PTRACE_ATTACH PTRACE_DETACH PTRACE_SYSCALL"
     " PTRACE_SETOPTIONS PTRACE_GETREGSET PTRACE_SEIZE PTRACE_INTERRUPT PTRACE_LISTEN PTRACE_GET_SYSCALL_INFO"),
    ("reboot", "-1L, -1L, %s, 0L", "LINUX_REBOOT_CMD_RESTART LINUX_REBOOT_CMD_HALT LINUX_REBOOT_CMD_POWER_OFF LINUX_REBOOT_CMD_KEXEC"),
    ("seccomp", "%s, -1L, -1L", "SECCOMP_SET_MODE_FILTER SECCOMP_GET_ACTION_AVAIL SECCOMP_GET_NOTIF_SIZES"),
    ("seccomp", "-1L, %s, -1L", "SECCOMP_FILTER_FLAG_TSYNC SECCOMP_FILTER_FLAG_LOG SECCOMP_FILTER_FLAG_SPEC_ALLOW"
     " SECCOMP_FILTER_FLAG_NEW_LISTENER SECCOMP_FILTER_FLAG_TSYNC_ESRCH SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"),
    ("setpriority", "%s, 0x7ffffff0L, 0L", "PRIO_PGRP PRIO_USER"),
    ("setsockopt", "-1L, (long)SOL_SOCKET, %s, 0L, 0L", "SO_REUSEADDR SO_TYPE SO_SNDBUF SO_KEEPALIVE SO_LINGER SO_REUSEPORT SO_PASSCRED"
     " SO_RCVLOWAT SO_BINDTODEVICE SO_ATTACH_FILTER SO_MARK SO_BUSY_POLL SO_INCOMING_CPU SO_ATTACH_BPF SO_COOKIE SO_ZEROCOPY SO_TXTIME"
     " SO_PREFER_BUSY_POLL SO_RESERVE_MEM SO_TXREHASH"),
    ("setsockopt", "-1L, (long)SOL_TCP, %s, 0L, 0L", "TCP_NODELAY TCP_CORK TCP_KEEPIDLE TCP_USER_TIMEOUT TCP_FASTOPEN TCP_NOTSENT_LOWAT TCP_ULP"
     " TCP_ZEROCOPY_RECEIVE TCP_INQ TCP_TX_DELAY"),
    ("setsockopt", "-1L, (long)SOL_IP, %s, 0L, 0L", "IP_TOS IP_TTL IP_PKTINFO IP_RECVERR IP_FREEBIND IP_TRANSPARENT IP_MULTICAST_IF"
     " IP_ADD_MEMBERSHIP IP_MULTICAST_ALL IP_UNICAST_IF IP_BIND_ADDRESS_NO_PORT"),
    ("setsockopt", "-1L, (long)SOL_IPV6, %s, 0L, 0L", "IPV6_UNICAST_HOPS IPV6_MULTICAST_IF IPV6_V6ONLY IPV6_RECVPKTINFO IPV6_PKTINFO"
     " IPV6_HOPLIMIT IPV6_RTHDR IPV6_RECVPATHMTU IPV6_PATHMTU IPV6_DONTFRAG IPV6_RECVTCLASS IPV6_TCLASS IPV6_ADDR_PREFERENCES"
     " IPV6_MINHOPCOUNT IPV6_TRANSPARENT IPV6_RECVFRAGSIZE IPV6_FREEBIND"),
    ("setsockopt", "-1L, 17L, %s, 0L, 0L", "UDP_CORK UDP_ENCAP UDP_NO_CHECK6_TX UDP_SEGMENT UDP_GRO"),
    ("setsockopt", "-1L, (long)SOL_NETLINK, %s, 0L, 0L", "NETLINK_ADD_MEMBERSHIP NETLINK_PKTINFO NETLINK_NO_ENOBUFS NETLINK_EXT_ACK"),
    ("setsockopt", "-1L, (long)SOL_PACKET, %s, 0L, 0L", "PACKET_ADD_MEMBERSHIP PACKET_RX_RING PACKET_AUXDATA PACKET_VERSION PACKET_TX_RING"
     " PACKET_FANOUT PACKET_QDISC_BYPASS PACKET_IGNORE_OUTGOING"),
    ("splice", "-1L, 0L, -1L, 0L, 0L, %s", "SPLICE_F_MOVE SPLICE_F_NONBLOCK SPLICE_F_MORE SPLICE_F_GIFT"),
    ("swapon", "-1L, %s", "SWAP_FLAG_PREFER SWAP_FLAG_DISCARD SWAP_FLAG_DISCARD_ONCE SWAP_FLAG_DISCARD_PAGES"),
    ("umount2", "-1L, %s", "MNT_FORCE MNT_DETACH MNT_EXPIRE UMOUNT_NOFOLLOW"),
    ("userfaultfd", "1L << 30 | %s", "O_NONBLOCK O_CLOEXEC UFFD_USER_MODE_ONLY"),
    ("waitid", "%s, -1L, 0L, 1L << 30, 0L", "P_PID P_PGID P_PIDFD"),
    ("wait4", "0x7ffffff0L, 0L, %s | WNOHANG, 0L", "WUNTRACED WCONTINUED __WALL __WCLONE"),
)


def test_names_of_the_headers():
    """flags, commands and options have the names by which the kernel's headers define them, with trace.show_prefix whole"""
    with Work() as work:
        need_tools("gcc")
        headers = "".join("#if __has_include(<%s>)\n#include <%s>\n#endif\n" % (header, header) for header in HEADERS)
        asked = sorted({name for _, _, names in NAMES for name in names.split()})
        source = work.write("asked.c", headers + "".join("long v_%s = (long)%s;\n" % (name, name) for name in asked))
        unknown = set(re.findall(r"'(\w+)' undeclared", process.run("gcc", "-w", "-D_GNU_SOURCE", "-fsyntax-only", source).stderr))
        need(len(unknown) < len(asked) / 10, "the headers lack %s" % sorted(unknown))
        body = "".join("#ifdef __NR_%s\n%s#endif\n" % (call, "".join(
            "\tputs(\"%s %s\"), syscall(__NR_%s, %s);\n" % (call, name, call, others % ("(long)(%s)" % name))
            for name in names.split() if name not in unknown)) for call, others, names in NAMES)
        program = work.path("names")
        source = work.write("names.c", "#include <stdio.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n%sint main(void) {\n%s\treturn 0;\n}\n" %
                            (headers, body))
        process.must("gcc", "-w", "-D_GNU_SOURCE", "-o", program, source)
        calls = sorted({call for call, _, _ in NAMES})
        ran, lines = work.trace("-e", ",".join(calls), program, env=dict(os.environ, PERF_CONFIG=work.write(
            "config", "[trace]\n\tshow_prefix = yes\n")))
        need(ran.returncode == 0, ran.stderr)
        expected = [line.split() for line in ran.stdout.splitlines()]
        texts = joined(parsed(lines))
        need(len(texts) >= len(expected) > 350, (len(texts), len(expected)))
        wrong = [(name, text) for (call, name), text in zip(expected, texts[-len(expected):])
                 if text.split("(")[0] != call or not re.search(r"[ |(]%s\b" % re.escape(name), text)]
        need(not wrong, "%d wrong: %s" % (len(wrong), wrong))


CALLS_OF_32_BITS = """
static long call(long n, long a) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(0L) : "memory"); return r; }
void _start(void) { call(20, 0); call(33, (long)"/no/such"); call(1, 0); } /* getpid, access, exit */
"""


def test_calls_of_32_bits():
    """a 32-bit call is shown by its own name, with its own registers, and a call of the x32 interface by its name"""
    if os.uname().machine != "x86_64":
        raise Skip("only x86-64 has such calls here")
    with Work() as work:
        need_tools("gcc")
        source = work.write("call.c", 'int main(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory"); return r <= 0; }\n')
        process.must("gcc", "-o", work.path("call"), source)  # 20: getpid; of 64-bit programs writev
        if process.run(work.path("call")).returncode:
            raise Skip("the kernel has no 32-bit calls")
        rows = parsed(work.trace("-e", "getpid,fsync,sync,uname", work.path("call"))[1])  # more calls than have tracepoints of their own
        need([row[4] for row in rows] == ["getpid() = %d (call)" % rows[0][3]], rows)
        source = work.write("x32.c", "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"%ld\\n\", syscall(0x40000000L + 39)); return 0; }\n")
        process.must("gcc", "-w", "-o", work.path("x32"), source)  # 39: getpid
        ran, lines = work.trace("-e", "getpid,fsync,sync,uname", work.path("x32"))
        shown = parsed(lines)[0][4]
        need(shown.startswith("getpid() = -1 ENOSYS" if ran.stdout == "-1\n" else "getpid() = %s " % ran.stdout.strip()), (shown, ran.stdout))
        program = ("gcc", "-m32", "-O1", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-o", work.path("short"))
        process.must(*program, work.write("short.c", CALLS_OF_32_BITS))
        for calls in ("getpid,access", "getpid,access,fsync,sync"):
            rows = parsed(work.trace("-e", calls, work.path("short"))[1])
            need([row[4].split(" =")[0] for row in rows] == ["getpid()", 'access(filename: "/no/such")'], rows)
        again = "while [ ! -e %s ]; do %s; grep -q /no/such %s && : > %s; done" % (
            work.path("seen"), work.path("short"), work.path("out"), work.path("seen"))
        ran, lines = work.trace("-e", "access", "sh", "-c", again)
        need(any("short/" in line and '"/no/such"' in line for line in lines), lines)
        need("the first calls of a 32-bit program are missing" in ran.stderr, ran.stderr)


def test_events_and_faults():
    """other events, page faults and call chains are shown among the calls"""
    with Work() as work:
        _, lines = work.trace("-e", "sched:sched_process_exec,openat", "cat", "/etc/hostname")
        need(any("sched:sched_process_exec(filename: \"" in line for line in lines), lines)
        need(any(" openat(dfd: CWD, filename: \"/etc/hostname\"" in line for line in lines), lines)
        times = [float(line.split()[0]) for line in lines]
        need(times == sorted(times), "events and calls are not in order of time: %s" % times)
        _, lines = work.trace("-F", "all", "true")
        need(len(lines) > 10 and all(re.search(r"(min|maj)fault \[.*\] => .* \(.[k.]\)$", line) for line in lines), lines[:2])
        _, lines = work.trace("--call-graph", "fp", "-e", "openat", "true")
        need(any(re.match(r"^ {39}\S.* \(.*\)$", line) for line in lines), lines)


def test_enumerations():
    """an enumeration among the fields of an event has its name, also for the value 0"""
    if not os.path.exists("/sys/kernel/btf/vmlinux") or not os.path.exists("/sys/kernel/tracing/events/timer/hrtimer_start"):
        raise Skip("no types of the kernel, or no event timer:hrtimer_start")
    with Work() as work:
        _, lines = work.trace("-e", "timer:hrtimer_start", "sleep", "0.1")
        need(lines and all(re.search(r", mode: HRTIMER_MODE_[A-Z_]+(, was_armed: 1)?\)$", line) for line in lines), lines[:5])


def test_others_see_calls():
    """a traced call is counted by others, too"""
    with Work() as work:
        calls = "import os\nfor i in range(1000): os.getpgid(0)"
        count = (PERFUSE, "stat", "-x,", "-o", work.path("count"), "-e", "syscalls:sys_enter_getpgid", "--", sys.executable, "-c", calls)
        _, lines = work.trace("-e", "getpgid", *count)
        with open(work.path("count")) as counted:
            need(len(lines) >= 1000 and int(re.search(r"^(\d+),,syscalls:", counted.read(), re.M).group(1)) >= 1000, "%d lines" % len(lines))


CALLS_OF_TWO_FUNCTIONS = """
#include <sys/syscall.h>
#include <unistd.h>
static int three[3];
#define CALLER(name, ...) \\
	__attribute__((noinline)) static void inner_##name(int n) { syscall(__VA_ARGS__); three[n]++; } \\
	__attribute__((noinline)) static void name(int n) { inner_##name(n); three[n]++; }
CALLER(by_path, SYS_faccessat, -100, "/no/such", 0)
CALLER(by_number, SYS_getpgid, 0)
int main(void) { for (int i = 0; i < 60; i++) by_path(i % 3), by_number(i % 3), by_number(i % 3); return 0; }
"""


def test_call_chains():
    """each call has its own call chain, and its strings; --min-stack leaves out calls with fewer frames"""
    with Work() as work:
        need_tools("gcc")
        source = work.write("two.c", CALLS_OF_TWO_FUNCTIONS)
        process.must("gcc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", work.path("two"), source)
        for mode in ("fp", "dwarf"):
            _, lines = work.trace("--call-graph", mode, "-e", "faccessat,getpgid", work.path("two"))
            calls = "\n".join(lines) + "\n"
            chains = re.findall(r"(faccessat|getpgid)\((.*?)\) += (.*)\n((?: {39}.*\n)+)", calls)
            need(len(chains) == 180, (mode, len(chains), lines[:8]))
            wrong = [chain for chain in chains if ("by_path" if chain[0] == "faccessat" else "by_number") not in chain[3] or
                     (chain[0] == "faccessat") != ('"/no/such"' in chain[1])]
            need(not wrong, (mode, len(wrong), wrong[:2]))
        _, lines = work.trace("--call-graph", "dwarf", "--min-stack", "60", "-e", "faccessat,getpgid", work.path("two"))
        need(lines == [], lines[:4])


def test_parts_of_a_run():
    """--delay and --switch-on leave out the calls before, and show the strings of those behind"""
    with Work() as work:
        shell = "cat /etc/hostname >&2; while ! grep -q traces %s; do sleep 0.1; done; cat /etc/passwd >&2"
        beside = work.write("state", "")
        with process.start(PERFUSE, "trace", "-D", "1500", "-o", work.path("delayed"), "sh", "-c", shell % beside) as ran:
            process.wait_until(lambda: os.path.exists(work.path("delayed")) and os.path.getsize(work.path("delayed")), "the first call")
            work.write("state", "traces")
            need(ran.wait(60) == 0, ran.returncode)
        lines = open(work.path("delayed")).read()
        need('"/etc/passwd"' in lines and '"/etc/hostname"' not in lines, lines[:300])
        _, lines = work.trace("--switch-on", "sched:sched_process_fork", "-e", "openat,sched:sched_process_fork", "sh", "-c",
                              ": < /etc/hostname; cat /etc/passwd; : < /etc/group")
        files = [name for line in lines for name in re.findall(r'"(/etc/(?:hostname|passwd|group))"', line)]
        need(files == ["/etc/passwd", "/etc/group"], lines)


def test_delay_with_call_chains():
    """--delay with call chains or other events shows those behind it, with their strings and chains"""
    with Work() as work:
        shell = "cat /etc/hostname; echo started; while ! grep -q traces %s; do sleep 0.1; done; cat /etc/passwd; exit 4" % work.path("state")
        for way, form in ((["--call-graph", "fp"], r"openat\(.*\n {39}\S"), (["-e", "sched:sched_process_exec,openat"], '_exec\\(filename: "')):
            delayed = work.path("delayed" + way[0])
            work.write("state", "")
            with process.start(PERFUSE, "trace", "-D", "2000", "-o", delayed, *way, "sh", "-c", shell) as ran:
                process.wait_until(lambda: os.path.exists(delayed) and os.path.getsize(delayed), "the first call")
                work.write("state", "traces")
                need(ran.wait(60) == 4, "%s: exit status %s" % (way, ran.returncode))
            lines = open(delayed, errors="replace").read()
            need(re.search(form, lines) and '"/etc/passwd"' in lines and '"/etc/hostname"' not in lines, (way, lines[:600]))


def test_print_sample():
    """--print-sample prints the entry and the return of each call before it, with the time, the process, the thread and the CPU"""
    with Work() as work:
        ran, lines = work.trace("--print-sample", "-T", "-e", "openat", "cat", "/no/such")
        need(ran.returncode == 1, ran.stderr)
        at = next(i for i, line in enumerate(lines) if '"/no/such"' in line)
        samples = [re.match(r" *(raw_syscalls:sys_(?:enter|exit)) +([0-9.]+) cat (\d+)/(\d+) \[(\d+)\]$", line) for line in lines[at - 2:at]]
        time, duration, _, tid, _ = parsed(lines[at:at + 1])[0]
        need(all(samples) and [found[1] for found in samples] == ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"], lines)
        need(all(found[3] == found[4] == str(tid) and int(found[5]) < os.cpu_count() for found in samples), lines)
        begin, end = float(samples[0][2]), float(samples[1][2])
        need(abs(begin - float(time)) < 0.002 and abs(end - begin - float(duration)) < 0.003, lines[at - 2:at + 1])


def test_walk_through():
    """the commands of docs/examples/trace-open.md show what it says"""
    with Work() as work:
        text = open(os.path.join(HERE, "../docs/examples/trace-open.md")).read()
        commands = re.findall(r"^    perf trace (.*)$", text, re.M)
        need(len(commands) == 5, commands)
        need(work.trace("-e", "open", "ls", "/")[1] == [], "ls calls open")
        rows = parsed(work.trace("-e", "open*", "cat", "/etc/hostname")[1])
        need(any(row[4].startswith('openat(dfd: CWD, filename: "/etc/ld.so.cache", flags: RDONLY|CLOEXEC) = ') for row in rows), rows)
        _, lines = work.trace("-s", "-e", "open*", "-a", "--", "cat", "/etc/hostname")
        need(counts(lines)["openat"][0] >= 1, lines)


def test_recordings():
    """trace -i shows the calls of trace record, as lines and as sums"""
    with Work() as work:
        data = work.path("perf.data")
        ran = process.run(PERFUSE, "trace", "record", "-o", data, "cat", "/etc/hostname")
        need(ran.returncode == 0, ran.stderr)
        rows = parsed(work.trace("-i", data)[1])
        names = [text.split("(")[0] for text in joined(rows)]
        need("openat" in names and "exit_group" in names, names)
        sums = counts(work.trace("-i", data, "-s")[1])
        need(sums["openat"][0] == names.count("openat"), sums)


def test_nothing_remains():
    """a trace that is killed leaves no program in the kernel"""
    with Work() as work:
        for way in ([], ["-e", "openat"], ["-s"], ["-F", "all", "--syscalls"]):
            tracer = process.start(PERFUSE, "trace", "-o", work.path("out"), *way, "sleep", "60")
            bpf.wait_attached(tracer.pid)
            found = bpf.attached(tracer.pid)
            need(all(bpf.exists(*one) for one in found), "%s are not in the kernel" % found)
            tracer.send_signal(signal.SIGKILL)
            tracer.wait()
            process.wait_until(lambda: not any(bpf.exists(*one) for one in found), "the programs are gone")  # pylint: disable=cell-var-from-loop


def test_two_runs():
    """two traces of one process beside each other, sums and lines, both see every call"""
    with Work() as work:
        calls = "import os, time\nwhile not os.path.exists('%s'): time.sleep(0.02)\nfor i in range(2000): os.getpgid(0)" % work.path("go")
        with process.start(sys.executable, "-S", "-c", calls) as traced:
            ways = {"sums": ["-s"], "lines": ["-e", "getpgid,getpriority,getsid,personality"], "alone": ["-e", "getpgid"]}
            tracers = [process.start(PERFUSE, "trace", "-o", work.path(name), *way, "-p", str(traced.pid)) for name, way in ways.items()]
            for tracer in tracers:
                bpf.wait_attached(tracer.pid)
            work.write("go", "")
            need([tracer.wait(60) for tracer in tracers] == [0, 0, 0], "a trace fails")
        found = {name: open(work.path(name), errors="replace").read() for name in ways}
        need(counts(found["sums"].splitlines())["getpgid"] == (2000, 0), found["sums"])
        need(found["lines"].count(" getpgid(") == found["alone"].count(" getpgid(") == 2000, {name: len(text) for name, text in found.items()})


def test_full_ring():
    """every call for which a full ring has no room is counted in LOST, and sums have all calls, also while the tracer cannot run"""
    with Work() as work:
        calls = "import os, time\nwhile not os.path.exists('%s'): time.sleep(0.02)\nfor i in range(20000): os.getpgid(0)" % work.path("go")
        for way in (["-s"], ["-m", "64K", "-e", "getpgid,getpriority,getsid,personality"]):
            with process.start(sys.executable, "-S", "-c", calls) as traced:
                tracer = process.start(PERFUSE, "trace", "-o", work.path("out"), *way, "-p", str(traced.pid))
                bpf.wait_attached(tracer.pid)
                tracer.send_signal(signal.SIGSTOP)
                work.write("go", "")
                need(traced.wait(60) == 0, "the program waits for the tracer")
                tracer.send_signal(signal.SIGCONT)
                need(tracer.wait(60) == 0, tracer.returncode)
                os.unlink(work.path("go"))
            lines = open(work.path("out"), errors="replace").read().splitlines()
            if way == ["-s"]:
                need(counts(lines)["getpgid"] == (20000, 0), lines)
                continue
            lost, shown = sum(int(line.split()[1]) for line in lines if line.startswith("LOST")), sum(" getpgid(" in line for line in lines)
            need(lost > 10000 and 20000 <= lost + shown < 21000, "%d lost, %d shown" % (lost, shown))  # a call that is interrupted is two events


def test_refused_programs():
    """where the kernel has no types for BPF programs, tracepoints give calls, sums and the exit status; one line says so. No tracefs is needed"""
    with Work() as work:
        need_tools("unshare")
        hide = "mount -t tmpfs tmpfs /sys/kernel/btf && umount -a -t tracefs,debugfs; exec \"$@\""
        if process.run("unshare", "-m", "sh", "-c", hide, "sh", "true").returncode:
            raise Skip("no mount namespace, or no types of the kernel")

        def traced(script, *words):
            ran = process.run("unshare", "-m", "sh", "-c", script, "sh", PERFUSE, "trace", "-o", work.path("out"), *words)
            return ran, open(work.path("out"), errors="replace").read()
        calls = "import os, sys\nfor i in range(700): os.getpgid(0)\nsys.exit(6)"
        for words in (["-s"], ["-S"], ["-e", "getpgid"]):
            ran, text = traced(hide, *words, sys.executable, "-S", "-c", calls)
            need(ran.returncode == 6 and ran.stderr.count("tracepoints, without strings") == 1, (ran.returncode, ran.stderr))
            need(words == ["-e", "getpgid"] or counts(text.splitlines())["getpgid"] == (700, 0), text[-600:])
            need(words == ["-s"] or text.count(" getpgid(") >= 700, text[:300])
        for words in (["-e", "openat"], ["-e", "sched:sched_process_exec,openat"], ["--call-graph", "fp"]):
            _, text = traced("umount -a -t tracefs,debugfs; exec \"$@\"", *words, "cat", "/etc/hostname")
            need('"/etc/hostname"' in text, (words, text[:300]))


def test_ordinary_user():
    """an ordinary user is told in one sentence which right is missing"""
    with Work() as work:
        os.chmod(work.folder, 0o755)
        shutil.copy(PERFUSE, work.path("perfuse"))
        ran = process.run(work.path("perfuse"), "trace", "true", user=process.NOBODY, cwd="/")
        need(ran.returncode == 255 and "CAP_BPF" in ran.stderr and len(ran.stderr.splitlines()) <= 2, ran.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
