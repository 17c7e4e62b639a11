#!/usr/bin/env python3
"""`top` on a terminal and through a pipe: shares of a known program, keys, sizes of the terminal, its end, ended threads, lost samples,
memory in a storm of processes."""
import collections
import fcntl
import glob
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time

from suite import process
from suite.settings import PERFUSE, SANITIZED, SHAPE
from suite.tests import Skip, by_samples, need, need_root, need_tools, run_in_folder

CLEAR = "\x1b[H\x1b[2J"
HEADING = re.compile(r"   PerfTop: +(\d+) irqs/sec  kernel: *([\d.]+)%  exact: +[\d.]+% lost: (\d+)/(\d+) drop: 0/0 \[(.*)\],  \((.*)\)")
COLOUR = re.compile(r"\x1b\[\d*m")
SLOW = 5 if SANITIZED else 1


class Context:
    def __init__(self, work):
        self.work = work
        self.screens = 0


def refused(text):
    if "perf_event_paranoid" in text or "not supported" in text:
        raise Skip("no event can be opened here: " + text.strip()[:200])


class Top:
    """`top --stdio` on a separate pseudo-terminal, which is its controlling terminal, or (piped) with pipes; browser: without --stdio."""

    def __init__(self, *options, rows=24, columns=100, piped=False, term="xterm", user=None, browser=False):
        self.seen = ""
        self.piped = piped
        env = process.environment("/dev/null", TERM=term)
        command = (PERFUSE, "top") + (() if browser else ("--stdio",)) + options
        if piped:
            self.child = process.start(*command, env=env, text=False, stdin=process.PIPE, stderr=process.STDOUT, user=user)
            self.fd = self.child.stdout.fileno()
            return
        try:
            self.fd, theirs = pty.openpty()
        except OSError as problem:
            raise Skip("no terminal can be made here: %s" % problem) from None
        self.resize(rows, columns)
        self.theirs = theirs
        self.mode = termios.tcgetattr(theirs)

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.child = process.start(*command, env=env, text=False, stdin=theirs, stdout=theirs, stderr=theirs, before=take_terminal)

    def __enter__(self):
        self.child.__enter__()
        return self

    def __exit__(self, *what):
        self.child.__exit__(*what)
        if not self.piped:
            for fd in (self.fd, self.theirs):
                if fd >= 0:
                    os.close(fd)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """What is printed within the seconds."""
        end, start = time.monotonic() + seconds * SLOW, len(self.seen)
        while time.monotonic() < end:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                break
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                break
            if not piece:
                break
            self.seen += piece.decode(errors="replace").replace("\r\n", "\n")
        return self.seen[start:]

    def read_until(self, text, seconds=60):
        end, start = time.monotonic() + seconds * SLOW, len(self.seen)
        while text not in self.seen[start:]:
            refused(self.seen)
            need(time.monotonic() < end and (self.read(0.1) or self.child.poll() is None),
                 "%r is not printed, but %r" % (text, self.seen[start:][-400:]))
        return self.seen[start:]

    def tables(self):
        return self.seen.split(CLEAR)[1:]

    def next_table(self):
        """The next table that begins from now on; all of it, as a further one has begun."""
        count = len(self.tables())
        while len(self.tables()) < count + 2:
            self.read_until(CLEAR)
        return self.tables()[count]

    def key(self, keys):
        os.write(self.fd if not self.piped else self.child.stdin.fileno(), keys.encode())

    def end(self, seconds=60):
        """The exit code."""
        end = time.monotonic() + seconds * SLOW
        while self.child.poll() is None:
            need(time.monotonic() < end, "it does not end")
            self.read(0.1)
        self.read(0.1)
        return self.child.returncode


def rows(table):
    """[(share, text)] of a table."""
    found = []
    for line in COLOUR.sub("", table).split("\n"):
        match = re.match(r" +([\d.]+)%  +(.*)", line)
        if match:
            found.append((float(match.group(1)), match.group(2).strip()))
    return found


def threads_of(table):
    """The shares of each thread's functions."""
    threads = collections.defaultdict(dict)
    for share, text in rows(table):
        words = text.split()
        threads[words[0]][words[-1]] = share
    return threads


def truth():
    """(thread, function, percent of the thread's time) of shape."""
    for line in process.must(SHAPE, "--truth").splitlines()[1:]:
        thread, function, percent = line.split("\t")[:3]
        yield thread, function, int(percent)


def need_shares(table):
    """The functions of shape's threads have their shares, ± 2 points."""
    threads = threads_of(table)
    for thread, function, percent in truth():
        whole = sum(threads[thread].values())
        if percent == 0:
            need(whole < 1, "%s sleeps, but has %s" % (thread, threads[thread]))
            continue
        need(whole > 5, "%s has %.2f%% in %r" % (thread, whole, table))
        share = 100 * threads[thread].get(function, 0) / whole
        need(abs(share - percent) <= 2, "%s of %s has %.1f%%, not %d" % (function, thread, share, percent))


def table_of_all(top):
    """A table in which each thread has samples enough: a busy machine lets one run late."""
    busy = {thread for thread, _, percent in truth() if percent}
    for _ in range(8):
        table = top.next_table()
        threads = threads_of(table)
        if all(sum(threads[thread].values()) > 10 for thread in busy):
            break
    return table


def shares(piped):
    with process.start(SHAPE, "--ms", "60000"), Top("-d", "2", "-K", "-s", "comm,sym", "--comms", "shape-skewed,shape-even,shape-deep,shape-asleep",
                                                   "--percentage", "relative", rows=60, piped=piped) as top:
        top.read_until("PerfTop")
        top.next_table()
        need_shares(table_of_all(top))
        top.key("q")
        need(top.end() == 0, "exit code %d" % top.child.returncode)


@by_samples
def test_shares_terminal(c):
    """on a terminal, the functions of a known program have their shares"""
    shares(False)


@by_samples
def test_shares_pipe(c):
    """through a pipe, the functions of a known program have their shares"""
    shares(True)


@by_samples
def test_first_table(c):
    """the first table has rows and is printed soon, and further ones follow at the interval of -d"""
    start = time.monotonic()
    with process.start(SHAPE, "--ms", "4000"), Top("-d", "1") as top:
        top.read_until("%  ")
        first = time.monotonic() - start
        need(first < 1 * SLOW, "the first table takes %.2f s" % first)
        top.read(2.6)
        need(len(top.tables()) == 3 or SANITIZED, "%d tables in %.1f s" % (len(top.tables()), time.monotonic() - start))
        match = HEADING.search(top.tables()[1])
        need(match, "the heading is %r" % top.tables()[1][:200])
        need(int(match.group(1)) > 200 and "all, " in match.group(6), "the heading is " + match.group(0))


def test_keys(c):
    """keys act at once: hide the kernel, ask for a number of rows, show the menu, end and restore the terminal"""
    with process.start(SHAPE, "--ms", "20000"), Top("-d", "1", rows=50) as top:
        top.read_until("PerfTop")
        top.read(1.2)
        need(termios.tcgetattr(top.theirs)[3] & termios.ICANON == 0, "keys wait for a line")
        top.key("K")
        top.next_table()
        shown = top.next_table()
        need("[k]" not in shown, "the kernel is shown: %r" % shown)
        top.key("e2\n")
        top.next_table()
        shown = top.next_table()
        need(len(rows(shown)) == 2, "%r has not 2 rows" % shown)
        top.key("?")
        menu = top.read_until("Enter selection")
        need("(yes)" in menu and "(2)" in menu, "the menu is %r" % menu)
        count = len(top.tables())
        top.read(1.5)
        need(len(top.tables()) == count, "a table is printed over the menu")
        top.key("\x1b[A?")
        top.read_until("PerfTop")
        top.key("q")
        need(top.end() == 0, "exit code %d" % top.child.returncode)
        need(termios.tcgetattr(top.theirs) == top.mode, "the terminal is not restored")


def test_keys_pipe(c):
    """keys can come from a pipe, and its end is not a key"""
    with Top("-d", "1", piped=True) as top:
        top.read_until("PerfTop")
        top.child.stdin.close()
        top.read(1.5)
        top.read_until("PerfTop")
        need(top.child.poll() is None, "it ended with its input")
    with Top("-d", "1", piped=True) as top:
        top.read_until("PerfTop")
        top.key("Q")
        need(top.end() == 0, "exit code %d" % top.child.returncode)


def test_signals(c):
    """SIGINT and SIGTERM end it with exit code 0, and restore the terminal"""
    for number in (signal.SIGINT, signal.SIGTERM):
        with Top("-d", "1") as top:
            top.read_until("PerfTop")
            top.child.send_signal(number)
            need(top.end() == 0, "exit code %d" % top.child.returncode)
            need(termios.tcgetattr(top.theirs) == top.mode, "the terminal is not restored")


def test_small(c):
    """a terminal of 20 by 5 has a table that fits, and a new size is used at the next table"""
    with process.start(SHAPE, "--ms", "20000"), Top("-d", "1", rows=5, columns=20) as top:
        shown = top.next_table()
        while not rows(shown):  # nothing ran yet
            shown = top.next_table()
        table = COLOUR.sub("", shown).split("\n")
        need(len(rows(shown)) == 1, "%r has not one row" % table)
        need(max(len(line) for line in table[2:]) <= 20, "%r is too wide" % table)
        top.resize(30, 60)
        for _ in range(2000):
            top.child.send_signal(signal.SIGWINCH)
        top.next_table()
        shown = top.next_table()
        table = COLOUR.sub("", shown).split("\n")
        need(len(rows(shown)) > 5 and 20 < max(len(line) for line in table[2:]) <= 60, "the size is not used: %r" % table)


def test_dumb(c):
    """on a terminal that knows no escape sequence none is printed"""
    with process.start(SHAPE, "--ms", "20000"), Top("-d", "1", term="dumb") as top:
        top.read_until("%  ")
        top.read(1.2)
        need("\x1b" not in top.seen, "%r" % top.seen[:300])


def test_stop(c):
    """after a stop (Ctrl-Z) it continues, with single keys"""
    with Top("-d", "1") as top:
        top.read_until("PerfTop")
        top.child.send_signal(signal.SIGTSTP)
        process.wait_until(lambda: open("/proc/%d/stat" % top.child.pid).read().rsplit(")", 1)[1].split()[0] in "TR", "it stops")
        termios.tcsetattr(top.theirs, termios.TCSANOW, [*termios.tcgetattr(top.theirs)[:3], termios.ICANON | termios.ECHO | termios.ISIG,
                                                        *termios.tcgetattr(top.theirs)[4:]])
        top.child.send_signal(signal.SIGCONT)
        top.read_until("PerfTop")
        top.key("q")
        need(top.end() == 0, "exit code %d" % top.child.returncode)


def test_closed(c):
    """it ends if its terminal or the reader of its pipe is gone"""
    with Top("-d", "1") as top:
        top.read_until("PerfTop")
        os.close(top.fd)
        os.close(top.theirs)
        top.fd = top.theirs = -1
        process.wait_until(lambda: top.child.poll() is not None, "it ends with its terminal", 30 * SLOW)
    with Top("-d", "1", piped=True) as top:
        top.read_until("PerfTop")
        top.child.stdout.close()
        process.wait_until(lambda: top.child.poll() is not None, "it ends with its reader", 30 * SLOW)


NAMER = """
import ctypes, time
ctypes.CDLL(None).prctl(15, b"\\x1b[2J\\nevil", 0, 0, 0)
while True: pass
"""


@by_samples
def test_hostile(c):
    """a command whose name has escape sequences cannot write them to the terminal"""
    with process.start(sys.executable, "-c", NAMER), Top("-d", "1", "-s", "comm", rows=50) as top:
        top.read_until("evil")
        for table in top.tables():
            need("\x1b" not in COLOUR.sub("", table), "%r" % table)
            need("?[2J?evil" in table or "evil" not in table, "%r" % table)


def test_target(c):
    """it ends with its target; a target that does not exist, words and wrong options are refused"""
    with process.start(SHAPE, "--ms", "600") as shape, Top("-d", "1", "-p", str(shape.pid)) as top:
        need(top.end() == 0, "exit code %d" % top.child.returncode)
        need(HEADING.search(top.seen) and "target_pid: %d" % shape.pid in top.seen, "%r" % top.seen)
    for words, code in ((["-p", "99999999"], 244), (["command"], 129), (["-e", "nonsense"], 129), (["-C", "7777"], 129),
                        (["-s", "nonsense"], 129), (["-d"], 129)):
        done = process.perfuse("top", "--stdio", *words)
        need(done.returncode == code or (words[0] == "-C" and done.returncode in (234, 237)),
             "%s: exit code %d: %s" % (words, done.returncode, done.stderr[-300:]))
        need(done.stderr, "%s: no message" % words)


def test_permission(c):
    """without the right to sample everything the message names it"""
    need_root("only root can become another user")
    if int(open("/proc/sys/kernel/perf_event_paranoid").read()) < 1:
        raise Skip("kernel.perf_event_paranoid lets every user sample")
    os.chmod(c.work, 0o755)
    copy = shutil.copy(PERFUSE, c.work)
    done = process.run(copy, "top", "--stdio", user=process.NOBODY)
    os.remove(copy)
    need(done.returncode == 255 and "perf_event_paranoid" in done.stderr, "exit code %d: %s" % (done.returncode, done.stderr))


def test_browser(c):
    """on a terminal the tables are browsed: they change, q ends; a signal ends it, too, and the end of the target leaves the last table"""
    need_tools("tmux")
    for end in ("q", "TERM", "target"):
        with process.start(SHAPE, "--ms", "60000" if end != "target" else "6000") as shape, Screen(c, "-d", "1", "-p", str(shape.pid)) as screen:
            screen.wait("shape_bottom")
            before = screen.text()
            if end == "target":
                shape.wait()
                screen.wait("this is its last table")
                need("shape_bottom" in screen.text(), "the last table is gone: " + screen.text())
            else:
                process.wait_until(lambda: screen.text() != before, "the table changes", 60 * SLOW)
            if end == "TERM":
                screen.signal(signal.SIGTERM)
            else:
                screen.keys("q")
            screen.wait("exit 0")


def test_code(c):
    """key a shows the code of a function while it runs, and its counts change; they are those of the function's hot loop"""
    need_tools("tmux")
    with process.start(SHAPE, "--ms", "60000") as shape, Screen(c, "-d", "1", "-p", str(shape.pid)) as screen:
        screen.wait("shape_bottom")
        screen.keys("a")
        screen.wait("Percent")
        before = screen.text()
        need(before.startswith("[running] shape_"), before)
        shares = [float(share) for share in re.findall(r"^ *([\d.]+)%  0x", before, re.M)]
        need(90 < sum(shares) < 100.5, "shares of the lines of a short function: %s\n%s" % (shares, before))
        process.wait_until(lambda: re.findall(r"[\d.]+%", screen.text()) != re.findall(r"[\d.]+%", before), "the counts change", 60 * SLOW)
        screen.keys("q")
        screen.wait("Shared Object")
        shape.terminate()
        screen.wait("this is its last table")
        screen.keys("a")
        screen.wait("Percent")
        screen.keys("C-c")
        screen.wait("exit 0")


def test_flame(c):
    """key g shows the flame graph of what runs since then, which grows; z begins it again"""
    need_tools("tmux")
    def graph_shown(text):
        return "Flame graph" in text and "run_deep" in text  # the table has that name, too

    def exported():
        """The sum of the weights of the folded stacks that key x writes, nearly all of the threads that work."""
        screen.keys("x")
        screen.wait("folded stacks")
        screen.keys("Down", "Enter")
        files = lambda: glob.glob(os.path.join(c.work, "perf.hist.*.folded"))
        screen.wait_while(lambda text: not files() or "folded stacks" in text)
        (path,) = files()
        with open(path) as file:
            stacks = [(stack, int(weight)) for stack, weight in (line.rsplit(" ", 1) for line in file)]
        os.unlink(path)
        every = sum(weight for _, weight in stacks)
        works = sum(weight for stack, weight in stacks if ";start_thread;run_" in stack)
        need(works >= 0.95 * every > 0, str(stacks))
        return every

    with process.start(SHAPE, "--ms", "60000") as shape, Screen(c, "-d", "1", "-g", "-p", str(shape.pid)) as screen:
        screen.wait("shape_bottom")
        screen.keys("g")
        screen.wait_while(lambda text: not graph_shown(text))
        first = exported()
        process.wait_until(lambda: exported() > first, "the graph grows", 60 * SLOW)
        last = exported()
        screen.keys("Escape")
        screen.wait("Shared Object")
        screen.keys("z", "g")
        screen.wait_while(lambda text: not graph_shown(text))
        process.wait_until(lambda: exported() < last, "the graph begins again", 60 * SLOW)
        screen.keys("C-c")
        screen.wait("exit 0")


def test_listed_code(c):
    """--sym-annotate and key s print the lines around a function's hottest instruction, key S the table again"""
    with process.start(SHAPE, "--ms", "60000") as shape:
        with Top("-d", "1", "-p", str(shape.pid), "--sym-annotate", "shape_bottom", rows=60) as top:
            top.read_until(" :   ")
            top.read_until("PerfTop")
            shares = [float(share) for share in re.findall(r"^ +([\d.]+) : +[0-9a-f]+:", top.tables()[0], re.M)]
            need(90 < sum(shares) < 100.5, "shares of the lines of a short function: %s\n%s" % (shares, top.seen))
            top.key("S")
            top.read_until("[.] shape_bottom")
            top.key("snosuch\n")
            top.read_until("no sample is in a function nosuch yet")
            top.key("q")
            need(top.end() == 0, "the exit code")


class Screen:
    """`top` in a terminal of tmux."""

    def __init__(self, c, *options):
        c.screens += 1
        self.tmux = ("tmux", "-S", os.path.join(c.work, "tmux%d" % c.screens), "-f", "/dev/null")  # a server that ends does not disturb the next
        self.pid = os.path.join(c.work, "pid")
        words = " ".join((PERFUSE, "top") + options)
        process.must(*self.tmux, "new-session", "-d", "-x", "100", "-y", "24", "-c", c.work,
                     "sh -c 'echo $$ >%s; exec %s'; echo exit $?; sleep 60" % (self.pid, words))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        process.run(*self.tmux, "kill-server")

    def text(self):
        return process.must(*self.tmux, "capture-pane", "-p")

    def wait(self, what):
        refused(self.text())
        self.wait_while(lambda text: what not in text, "%r is not on the screen" % what)

    def wait_while(self, condition, what="the screen stays"):
        end = time.monotonic() + 60 * SLOW
        while condition(text := self.text()):
            need(time.monotonic() < end, "%s:\n%s" % (what, text))
            time.sleep(0.02)

    def keys(self, *keys):
        process.must(*self.tmux, "send-keys", *keys)

    def signal(self, number):
        with open(self.pid) as file:
            os.kill(int(file.read()), number)


STORM = "while :; do /bin/true; done"


@by_samples
def test_ended(c):
    """threads that have ended are shown by their names"""
    with process.start("sh", "-c", "while :; do expr 1 + 1; done"), Top("-d", "1", "-s", "comm", rows=60) as top:
        top.read_until("%  ")
        for _ in range(3):
            names = {text: share for share, text in rows(top.next_table())}
        need("expr" in names, "the names are %s" % names)
        unnamed = sum(share for name, share in names.items() if re.match(r":\d+$", name))
        need(unnamed <= 0.5, "%.2f%% have no name: %s" % (unnamed, names))


def memory_kib(child):
    return int(re.search(r"VmRSS:\s+(\d+)", open("/proc/%d/status" % child.pid).read()).group(1))


@by_samples
def test_storm(c):
    """memory does not grow with the number of processes that have ended"""
    if SANITIZED:
        raise Skip("the sanitizers retain freed memory")
    with process.start("sh", "-c", STORM) as one, process.start("sh", "-c", STORM) as other, \
            Top("-d", "1", "-p", "%d,%d" % (one.pid, other.pid)) as top:
        top.read_until("%  ")
        top.read(6)
        before = memory_kib(top.child)
        top.read(10)
        after = memory_kib(top.child)
        need(after - before < 3000, "from %d to %d KiB" % (before, after))


@by_samples
def test_lost(c):
    """samples without room in their ring are counted in the heading"""
    with process.start(SHAPE, "--ms", "20000"), Top("-d", "1", "-m", "1", "-F", "5000") as top:
        top.read_until("%  ")
        top.child.send_signal(signal.SIGSTOP)
        time.sleep(1.5)
        top.child.send_signal(signal.SIGCONT)
        top.next_table()
        top.next_table()
        lost = [int(match.group(3)) for match in HEADING.finditer(top.seen)]
        need(max(lost) > 100, "lost: %s" % lost)
        need("samples were lost" in top.seen, "no warning")
        need(int(HEADING.findall(top.seen)[-1][3]) >= max(lost), "the sum is missing")


@by_samples
def test_zero(c):
    """samples of earlier tables lose their weight: an eighth with each table, all of it with -z"""
    shares_of, name = {}, "zero-%d" % os.getpid()  # other tests run programs of any name
    program = shutil.copy(shutil.which("sh"), os.path.join(c.work, name))
    for words in ((), ("-z",)):
        with Top("-d", "1", "-s", "comm", *words, rows=60) as top:
            with process.start(program, "-c", "while :; do :; done"):
                top.read_until(name)
            shares_of[words] = [name in top.next_table() for _ in range(3)]
    need(any(shares_of[()]), "a row disappears at once")
    need(not any(shares_of[("-z",)][1:]), "a row is still shown: %s" % shares_of)


@by_samples
def test_stacks(c):
    """--call-graph unwind shows complete stacks while a program runs"""
    with process.start(SHAPE, "--ms", "60000") as shape:
        comms = "/proc/%d/task/*/comm" % shape.pid
        process.wait_until(lambda: any(open(path).read() == "shape-deep\n" for path in glob.glob(comms)), "the thread has its name")
        with Top("-d", "1", "--call-graph", "unwind", "-s", "sym", "--comms", "shape-deep", "--no-children", "-F", "400", "-E", "1",
                 "-p", str(shape.pid), piped=True) as top:
            top.read_until("shape_descend")
            frames = 0
            for _ in range(6):
                frames = max(frames, top.next_table().count("shape_descend") if frames < 65 else 0)
            need(frames == 65, "%d of 65 frames: %r" % (frames, top.tables()[-1][:1500]))


@by_samples
def test_events(c):
    """tracepoints and other events are shown by their text or by function"""
    need_root("tracepoints need root")
    with process.start("sh", "-c", STORM), Top("-d", "1", "-e", "sched:sched_process_exit", "--filter", "comm == \"true\"", piped=True) as top:
        shown = []
        while not shown:
            shown = rows(top.next_table())
        need(shown and all(text.startswith("comm=true pid=") for _, text in shown), "%r" % shown)
    with process.start("sh", "-c", STORM), Top("-d", "1", "-e", "{page-faults,cpu-clock}", "-s", "comm", "-F", "500", piped=True) as top:
        shown = ""
        for _ in range(10):
            shown = shown if "true" in shown else top.next_table()
        need(re.search(r"%\s+[\d.]+%\s+true", shown), "no column for each event: %r" % shown)


if __name__ == "__main__":
    sys.exit(run_in_folder("top", Context, globals()))
