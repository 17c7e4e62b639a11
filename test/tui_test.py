#!/usr/bin/env python3
"""The terminal browser on a terminal (tmux): each key, and the screen after it; ends, sizes, signals, damage.

The screens are test/tui/NAME.expected: a line `### KEY` and the screen after it; `>` begins the line under the cursor. With
TUI_UPDATE=all (or a part of a name) in the environment the screens are written instead of compared."""
import collections
import glob
import json
import os
import re
import shutil
import signal
import struct
import sys
import time

from terminal import hostile_texts
from tui import recordings
from tui.scenarios import SCENARIOS
from suite import branches, process, recording
from suite.settings import PERFUSE, TEST
from suite.tests import Skip, need, need_tools, run_in_folder

UPDATE = os.environ.get("TUI_UPDATE")
PATIENCE_S = 60
START = "(start)"
PLACES = ["--symfs", ".", "--kallsyms", "kallsyms"]  # of the files with symbols


class Terminal:
    """One program on a separate terminal."""

    def __init__(self, context, words, columns=90, lines=16, term="xterm-256color", locale="C.UTF-8", before=""):
        context.terminals += 1
        self.socket = os.path.join(context.folder, "tmux%d" % context.terminals)  # a server that ends does not disturb the next
        self.env = process.environment(context.folder, TERM="xterm-256color", LC_ALL=locale, TZ="UTC")
        self.cwd = context.folder
        inner = "env TZ=UTC TERM=%s LC_ALL=%s %s %s; code=$?; echo; echo end:$code; exec cat" % (term, locale, before, " ".join(words))
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), "/bin/sh", "-c", inner)

    def tmux(self, *words, fails=False):
        done = process.run("tmux", "-S", self.socket, *words, cwd=self.cwd, env=self.env)
        need(fails or done.returncode == 0, "tmux %s: %s" % (" ".join(words), done.stderr))
        return done.stdout

    def screen(self):
        """Its lines; `>` begins a line that is shown reversed at its start."""
        out = []
        for line in self.tmux("capture-pane", "-p", "-e").split("\n"):
            start = re.match(r"(\x1b\[[0-9;]*m)*", line).group(0)
            reverse = any("7" in part.split(";") for part in re.findall(r"\x1b\[([0-9;]*)m", start))
            out.append(((">" if reverse else " ") + re.sub(r"\x1b(\[[0-9;]*m|\(.|[\x0e\x0f])", "", line)).rstrip())
        while out and not out[-1]:
            out.pop()
        return "\n".join(out)

    def send(self, key):
        """Words of tmux: Enter, Down, C-f; a text after a colon is typed."""
        if key.startswith(":"):
            self.tmux("send-keys", "-l", key[1:])
        else:
            self.tmux("send-keys", *key.split())

    def settled(self):
        """The screen when it has not changed for a moment."""
        last, same = None, 0
        while same < 4:
            time.sleep(0.1)
            seen = self.screen()
            same = same + 1 if seen == last else 0
            last = seen
        return last

    def wait(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while not condition(self.screen()):
            need(time.monotonic() < end, "%s:\n%s" % (what, self.screen()))
            time.sleep(0.03)
        return self.screen()

    def wait_for(self, text):
        return self.wait(lambda seen: text in seen, "no %r on the screen" % text)

    def ready(self, text="h:help"):
        """The screen when the recording is read: keys before that change nothing."""
        return self.wait(lambda seen: text in seen and "[reading" not in seen, "no result")

    def pid(self):
        """Of the program."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        return int(process.must("ps", "-o", "pid=", "--ppid", shell).split()[0])

    def close(self):
        self.tmux("kill-server", fails=True)


class Context:
    def __init__(self, folder):
        need_tools("tmux")
        self.folder = folder
        recordings.write_all(folder)
        self.open = None
        self.terminals = 0

    def start(self, *words, **more):
        self.close()
        self.open = Terminal(self, [PERFUSE, "report", *words], **more)
        return self.open

    def browse(self, name="calc.data", *words, **more):
        terminal = self.start("-i", name, *PLACES, *words, **more)
        terminal.wait(lambda seen: "Samples: " in seen and "[reading" not in seen, "no result")
        return terminal

    def close(self):
        if self.open:
            self.open.close()
        self.open = None


def expected_screens(path):
    screens = []
    for line in open(path, encoding="utf-8").read().split("\n") if os.path.exists(path) else []:
        if line.startswith("### "):
            screens.append([line[4:], []])
        elif screens:
            screens[-1][1].append(line)
    return [(key, "\n".join(lines).rstrip("\n")) for key, lines in screens]


def play(context, scenario):
    path = os.path.join(TEST, "tui", scenario.name + ".expected")
    screens, made = expected_screens(path), []
    terminal = context.start("-i", scenario.file, *PLACES, *scenario.words, columns=scenario.columns, lines=scenario.lines)
    for number, key in enumerate([START, *scenario.keys]):
        if key != START:
            terminal.send(key)
        if UPDATE:
            made.append("### %s\n%s\n" % (key, terminal.settled()))
            continue
        need(number < len(screens) and screens[number][0] == key, "%s: screen %d is not of the key %s" % (path, number, key))
        wanted = screens[number][1]
        terminal.wait(lambda seen, wanted=wanted: seen.rstrip("\n") == wanted, "after %s, key %d (%s), not\n%s\nbut" % (
            scenario.name, number, key, wanted))
    if UPDATE:
        with open(path, "w", encoding="utf-8") as out:
            out.write("".join(made))


def test_keys(context):
    """each key leads to the screen that is stored for it"""
    for scenario in SCENARIOS:
        if UPDATE in (None, "all") or UPDATE in scenario.name:
            play(context, scenario)
    need(sum(len(scenario.keys) for scenario in SCENARIOS) >= 60, "fewer than 60 keys")


def test_tables(context):
    """--format=tui shows any command's tables, and only on a terminal"""
    for words, title, row in ((["evlist", "-i", "events.data"], "events", "cycles"),
                              (["script", "-i", "calc.data", *PLACES], "samples: rows 400", "lookup"), (["diff", "calc.data", "calc.data", *PLACES], "Event 'cpu-clock:HG'", "calc")):
        done = process.perfuse(*words, "--format=tui", cwd=context.folder)
        need(done.returncode == 129 and "not a terminal" in done.stderr and not done.stdout, done.stderr)
        context.close()
        terminal = context.open = Terminal(context, [PERFUSE, *words, "--format=tui"])
        seen = terminal.ready()
        need(title in seen.splitlines()[0] and row in seen and ("annotate" in seen) == (words[0] == "diff"), seen)
        terminal.send("x")
        terminal.send("End")
        terminal.send("Enter")
        terminal.wait_for("written:")
        terminal.send("q")
        terminal.wait_for("end:0")


def test_commands(context):
    """sched, lock, trace and ipc open their results in the browser with --format=tui; rows that come one by one, too"""
    made = {"sched.data": ["sched", "record"], "trace.data": ["trace", "record"], "lock.data": ["lock", "record"],
            "ipc.data": ["stat", "record", "-I", "20", "-e", "task-clock,page-faults"]}
    for name, words in made.items():
        done = process.perfuse(*words, "-o", name, "--", "sleep", "0.1", cwd=context.folder)
        if done.returncode:
            raise Skip("%s is not permitted here: %s" % (" ".join(words), done.stderr.strip()[-200:]))
    for name, words, text in (("sched.data", "sched latency", "sleep"), ("sched.data", "sched timehist", "sleep"), ("sched.data", "sched map", "switches"),
                              ("sched.data", "sched timehist --summary", "sleep"), ("lock.data", "lock contention", "Contended"),
                              ("lock.data", "lock report", "Acquired"), ("trace.data", "trace -s", "execve"),
                              ("ipc.data", "ipc --counters task-clock,page-faults", "h:help")):
        context.close()
        terminal = context.open = Terminal(context, [PERFUSE, *words.split(), "-i", name, "--format=tui"], columns=150, lines=40)
        seen = terminal.ready()
        if "Tables" in seen.splitlines()[0]:
            terminal.send("Enter")
            seen = terminal.wait(lambda seen: "Tables" not in seen.splitlines()[0], "the first table")
        if text == "sleep" and text not in seen:  # the machine may have many tasks
            terminal.send(":/")
            terminal.send(":sleep")
            terminal.send("Enter")
        terminal.wait_for(text)
        terminal.send("C-c")
        terminal.wait_for("end:0")


def part(terminal, keys, title):
    """The screen with the samples of a marked part of the time strip."""
    for key in keys:
        terminal.send(key)
    return terminal.wait(lambda seen: ", only " in seen.split("\n")[0] and "[" not in seen.split("\n")[0] and title in seen, "no part")


def test_parts(context):
    """T shows a part of the time in script, annotate, sched, lock and trace, too: two parts have the samples of the whole; u shows it again"""
    total = len(process.perfuse("script", "-i", "calc.data", "-G", "-F", "time", cwd=context.folder).stdout.split())
    first, second = ["T", "Home", "Enter", ":5", "Left", "Enter", "Up"], ["T", ":5", "Enter", "End", "Enter", "Up"]
    counted = {"script --format=tui": r"rows (\d+)", "annotate --tui": r"% +(\d+)  \S+ +\[\.\] lookup"}
    for words, pattern in counted.items():
        context.close()
        terminal = context.open = Terminal(context, [PERFUSE, *words.split(), "-i", "calc.data", *PLACES])
        if words.startswith("annotate"):
            terminal.ready("hottest:")
            terminal.send("Escape")
        terminal.ready()
        counts = []
        for keys in ([], first, second):
            if keys:
                seen = part(terminal, keys, "")
            else:
                seen = terminal.wait(lambda seen: re.search(pattern, seen), "no count")
            counts.append(int(re.search(pattern, seen).group(1)))
            if keys:
                terminal.send("u")
                terminal.wait(lambda seen: "only" not in seen.split("\n")[0] and re.search(pattern, seen) and
                              int(re.search(pattern, seen).group(1)) == counts[0], "the whole after u")
        need(counts[0] == counts[1] + counts[2] and counts[1] and counts[2], "%s: %s" % (words, counts))
        need(counts[0] == total or "annotate" in words, "%d of %d rows" % (counts[0], total))
    for words in ("sched latency", "sched timehist", "lock report", "trace -s"):
        name = words.split()[0] + ".data"
        done = process.perfuse(words.split()[0], "record", "-o", name, "--", "sleep", "0.1", cwd=context.folder)
        if done.returncode:
            raise Skip("%s is not permitted here: %s" % (words, done.stderr.strip()[-200:]))
        context.close()
        terminal = context.open = Terminal(context, [PERFUSE, *words.split(), "-i", name, "--format=tui"], columns=150, lines=40)
        terminal.ready()
        part(terminal, first, "")
        terminal.send("u")
        terminal.wait(lambda seen: "only" not in seen.split("\n")[0], "the whole after u")
        terminal.send("C-c")
        terminal.wait_for("end:0")


def test_flame_of_samples(context):
    """g shows the flame graph of the samples of script and annotate, of a part of the time, too; sched, without stacks, says that it has none"""
    for words, listed in (("script --format=tui", ()), ("annotate --tui", ()), ("annotate --tui", ("Escape",))):
        context.close()
        terminal = context.open = Terminal(context, [PERFUSE, *words.split(), "-i", "calc.data", *PLACES])
        terminal.ready("hottest:" if words.startswith("annotate") else "h:help")
        for key in (*listed, "g"):
            terminal.send(key)
        whole = terminal.wait(lambda seen: seen.startswith(" Flame graph") and "main" in seen and "lookup" in seen, "no flame graph")
        for key in ("Up", "T", "Home", "Enter", ":5", "Enter", "Up"):
            terminal.send(key)
        terminal.wait(lambda seen: "only" in seen.split("\n")[0] and "main" in seen and seen != whole, "no flame graph of a part")
        terminal.send("C-c")
        terminal.wait_for("end:0")
    done = process.perfuse("sched", "record", "-o", "stackless.data", "--", "sleep", "0.1", cwd=context.folder)
    if done.returncode:
        raise Skip("sched record is not permitted here: %s" % done.stderr.strip()[-200:])
    context.close()
    terminal = context.open = Terminal(context, [PERFUSE, "sched", "latency", "-i", "stackless.data", "--format=tui"])
    terminal.ready()
    terminal.send("g")
    terminal.wait_for("this result has no flame graph")


STOPPED = "sh -c 'kill -STOP $$; exec \"$0\" \"$@\"'"


def stopped_pid(terminal):
    """Of a program that was started by STOPPED."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        shell = terminal.tmux("display-message", "-p", "#{pane_pid}").strip()
        for line in process.run("ps", "-o", "stat=,pid=", "--ppid", shell).stdout.splitlines():
            if line.startswith("T"):
                return int(line.split()[1])
    need(False, "the program did not start")


def step(terminal, pid):
    """Screens of a program that runs for some milliseconds between two of them."""
    end = time.monotonic() + 100
    while time.monotonic() < end:
        try:
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.1 if os.environ.get("PERFUSE_SANITIZED") else 0.002)
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            return
        yield terminal.screen()


def fills(context, words, text):
    """Whether the screen was seen with the progress and rows, before it had the whole."""
    context.close()
    terminal = context.open = Terminal(context, [PERFUSE, *words, *PLACES], before=STOPPED)
    pid, seen = stopped_pid(terminal), False
    for screen in step(terminal, pid):
        first = screen.split("\n")[0]
        seen |= "[reading" in first and text in screen
        if seen or "end:" in screen or (first and "[reading" not in first):
            break
    os.kill(pid, signal.SIGCONT)
    terminal.send("C-c")
    terminal.wait_for("end:0")
    return seen


def test_filling(context):
    """annotate, diff, script and trees of callers show rows while the recording is read; who leaves meanwhile ends the reading"""
    path = os.path.join(context.folder, "long.data")
    recordings.write_long(path, 2000000)
    for words, text in ((["annotate", "-i", "long.data"], "Shared Object"), (["diff", "long.data", "long.data", "--format=tui"], "Baseline"),
                        (["script", "-i", "long.data", "--format=tui"], "period"), (["report", "-i", "long.data", "--tui"], "Overhead")):
        need(any(fills(context, words, text) for _ in range(10)), "%s: no rows while it is read" % words[0])
    context.close()
    terminal = context.open = Terminal(context, [PERFUSE, "annotate", "-i", "long.data", *PLACES, "2>err"], before=STOPPED)
    pid = stopped_pid(terminal)
    next(screen for screen in step(terminal, pid) if "[reading" in screen)
    terminal.send("C-c")
    os.kill(pid, signal.SIGCONT)
    terminal.wait_for("end:0")
    need(os.path.getsize(os.path.join(context.folder, "err")) == 0, "messages of a reading that the user has left")


def test_diff_code(context):
    """key a of a comparison shows the code of the function, with the samples of each recording in a column"""
    shutil.copy(os.path.join(context.folder, "calc.data"), os.path.join(context.folder, "again.data"))
    context.close()
    terminal = context.open = Terminal(context, [PERFUSE, "diff", "again.data", "calc.data", *PLACES, "--format=tui"], columns=130, lines=20)
    terminal.ready()
    terminal.send("a")
    seen = terminal.wait_for("hottest: 100.00%, 0x401108")
    need(seen.startswith(" lookup\n") and "Percent, again.data  Percent, calc.data  Address " in seen.splitlines()[1], seen)
    need(len(re.findall(r"^>\s+100.00%\s+100.00%  0x401108 .*leaq +1\(%rdi\), %rax$", seen, re.M)) == 1, seen)
    for values in (r"173000\s+173000", r"173\s+173", r"100.00%\s+100.00%"):
        terminal.send("t")
        terminal.wait(lambda seen, values=values: re.search(r"^>\s+%s  0x401108" % values, seen, re.M), values)
    terminal.send("q")
    seen = terminal.wait_for("Baseline")
    need("Event 'cpu-clock:HG', compares again.data, with calc.data" in seen.splitlines()[0], seen)
    terminal.send("C-c")
    terminal.wait_for("end:0")


def test_diff_noise(context):
    """rows that print as 0.00% in both recordings are hidden by a filter, which is shown and can be undone"""
    def write(name, periods):
        records = list(recordings.side_band())
        for function, period in periods:
            records.append(recordings.sample("calc", [function], 1000, period, False))
        recording.write(os.path.join(context.folder, name), records, [recording.attribute(recordings.SAMPLE_TYPE, kind=1, period=1000)])
    write("old.data", [("lookup", 1000000), ("parse", 10), ("main", 49)])
    write("new.data", [("lookup", 1000000), ("main", 49), ("evaluate", 500)])
    context.close()
    terminal = context.open = Terminal(context, [PERFUSE, "diff", "old.data", "new.data", *PLACES, "--format=tui"], columns=120)
    seen = terminal.ready("only at least 0.005%")
    need("evaluate" in seen and "lookup" in seen and "parse" not in seen and "main" not in seen, seen)
    terminal.send("u")
    seen = terminal.wait_for("parse")
    need("at least" not in seen and "main" in seen, seen)


def test_annotate(context):
    """annotate on a terminal opens the hottest function, with the list of functions behind it; options of text and the configuration print"""
    def start(*words, before=""):
        context.close()
        context.open = Terminal(context, [PERFUSE, "annotate", "-i", "calc.data", *PLACES, *words], before=before)
        return context.open
    terminal = start()
    seen = terminal.ready("hottest: 100.00%")
    need(seen.startswith(" lookup\n"), seen)
    terminal.send("Escape")
    seen = terminal.ready("Shared Object")
    need("43.25%      173  calc" in seen and "[k] copy_page" in seen, seen)
    terminal.send("Down")
    terminal.send("a")
    terminal.wait(lambda seen: seen.startswith(" memcpy\n"), "the second function")
    terminal.send("C-c")
    terminal.wait_for("end:0")
    terminal = start("parse")
    terminal.wait(lambda seen: seen.startswith(" parse\n"), "the named function")
    terminal.send("Escape")
    terminal.wait(lambda seen: "parse" in seen and "memcpy" not in seen, "only that function")
    with open(os.path.join(context.folder, "config"), "w") as out:
        out.write("[tui]\n\tannotate = false\n")
    start(before="PERF_PAGER=cat PERF_CONFIG=config").wait_for("end:0")
    start("--stdio", before="PERF_PAGER=cat").wait_for("end:0")
    start("nosuch", before="PERF_PAGER=cat").wait_for("no sample of the recording")


def test_quit(context):
    """q and Ctrl-C leave the terminal as it was, and end with 0"""
    for key in ("q", "C-c"):
        terminal = context.start("-i", "calc.data", before="sh -c 'echo before; exec \"$@\"' sh")
        terminal.ready()
        terminal.send(key)
        seen = terminal.wait_for("end:0")
        need("before" in seen and "Samples:" not in seen, seen)
        terminal.send(":typed")
        terminal.wait_for("typed")


def test_plain(context):
    """without a terminal, with TERM=dumb, --stdio, a pipe or tui.report=false the report is printed"""
    done = process.perfuse("report", "-i", "calc.data", cwd=context.folder)
    need(done.stdout.startswith("# To display"), done.stdout[:200])
    for words, more in ((["-i", "calc.data"], {"term": "dumb"}), (["-i", "calc.data", "--stdio"], {}), (["-i", "-", "<", "calc.data"], {}),
                        (["-i", "calc.data"], {"term": "no-such-terminal"}), (["-i", "calc.data", "--header-only"], {})):
        terminal = context.start(*words, "|", "cat", **more) if "--stdio" in words else context.start(*words, before="PERF_PAGER=cat", **more)
        terminal.wait_for("end:0")
    with open(os.path.join(context.folder, "config"), "w") as out:
        out.write("[tui]\n\treport = false\n")
    context.start("-i", "calc.data", before="PERF_PAGER=cat PERF_CONFIG=config").wait_for("end:0")
    context.start("-i", "calc.data", "--tui", before="PERF_CONFIG=config").ready()


def test_refused(context):
    """--tui reports why it cannot start"""
    done = process.perfuse("report", "-i", "calc.data", "--tui", cwd=context.folder)
    need(done.returncode != 0 and "not a terminal" in done.stderr and not done.stdout, done.stderr)
    seen = context.start("-i", "calc.data", "--tui", term="dumb").wait_for("end:")
    need("TERM is dumb" in seen, seen)


def test_missing(context):
    """what cannot be opened is reported without a screen, and what has no samples is said"""
    seen = context.start("-i", "no-such.data").wait_for("end:")
    need("no-such.data" in seen and "end:0" not in seen, seen)
    terminal = context.start("-i", "empty.data")
    terminal.wait_for("No samples")
    terminal.send("q")
    terminal.wait_for("has no samples")


def test_sizes(context):
    """every size of the terminal shows something, and each change of it paints anew"""
    terminal = context.browse(columns=80, lines=20)
    for columns, lines in ((20, 5), (10, 2), (3, 1), (200, 60), (80, 20), (20, 5)):
        terminal.tmux("resize-window", "-x", str(columns), "-y", str(lines))
        terminal.wait_for("Samples"[:max(columns - 1, 1)] if columns < 9 else "Samples")
    terminal.send("Down")
    terminal.send("T")
    terminal.send("g")
    terminal.wait_for("Flame graph")
    terminal.send("q")
    terminal.tmux("resize-window", "-x", "80", "-y", "20")
    terminal.ready()


def test_signals(context):
    """a storm of SIGWINCH does not end the browser; a fatal signal restores the terminal"""
    terminal = context.browse()
    pid = terminal.pid()
    for _ in range(2000):
        os.kill(pid, signal.SIGWINCH)
    terminal.send("Down")
    terminal.send("+")
    terminal.wait_for("-   ")
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGHUP):
        terminal = context.browse(before="sh -c 'echo before; exec \"$@\"' sh")
        os.kill(terminal.pid(), number)
        seen = terminal.wait_for("end:%d" % (128 + number))
        need("before" in seen and "Samples:" not in seen, seen)
        terminal.send(":typed")
        terminal.wait_for("typed")


def test_suspend(context):
    """Ctrl-Z gives the terminal back to the shell, and fg paints the browser again"""
    context.close()
    terminal = context.open = Terminal(context, ["-c", "'set -m; %s report -i calc.data --symfs . --kallsyms kallsyms; echo stopped; read x; fg'" % PERFUSE],
                                       before="sh")
    terminal.ready()
    terminal.send("C-z")
    seen = terminal.wait_for("stopped")
    need("Samples:" not in seen, seen)
    terminal.send("Enter")
    terminal.ready()
    terminal.send("q")
    terminal.wait_for("end:0")


def test_suspend_interrupt(context):
    """a Ctrl-C that follows a Ctrl-Z at once ends the browser: no stopped program is left"""
    for keys in ("C-z C-c", "C-z x C-c"):
        context.close()
        terminal = context.open = Terminal(context, ["-c", "'set -m; %s report -i calc.data --symfs . --kallsyms kallsyms; echo with:$?; jobs; echo listed'"
                                                     % PERFUSE], before="bash")
        terminal.ready()
        terminal.send(keys)
        seen = terminal.wait_for("listed")
        need("Samples:" not in seen and "Stopped" not in seen and re.search("with:(0|130)", seen), seen)


def test_closed(context):
    """a terminal that is closed ends the browser at once"""
    terminal = context.browse()
    pid = terminal.pid()
    terminal.close()
    process.wait_until(lambda: not os.path.exists("/proc/%d" % pid), "the browser ends")


def test_hangup_ignored(context):
    """it ends also where SIGHUP is ignored, and uses no CPU time instead"""
    terminal = context.browse(before="sh -c 'trap \"\" HUP; exec \"$@\"' sh")
    pid = terminal.pid()
    terminal.close()
    process.wait_until(lambda: not os.path.exists("/proc/%d" % pid), "the browser ends")


def test_files(context):
    """what is exported has the rows that are shown"""
    terminal = context.browse()
    for key in ("/", ":calc", "Enter", "P", "x", "Down", "Enter", "x", "End", "Enter", "g"):
        terminal.send(key)
    terminal.wait_for("ENTER:zoom")
    for key in ("x", "Enter", "x", "Down", "Enter"):
        terminal.send(key)
    terminal.wait_for("perf.hist.0.folded")
    texts = {path.rsplit("perf.hist.0")[1]: open(path).read() for path in glob.glob(os.path.join(context.folder, "perf.hist.0*"))}
    need(sorted(texts) == ["", ".csv", ".folded", ".json", ".svg"], sorted(texts))
    need("calc" in texts[""] and "\x1b" not in texts[""], texts[""])
    need(texts[".json"].count('"dso":') == len(texts[""].splitlines()) - 2, texts[".json"])
    done = process.perfuse("flamegraph", "-i", "calc.data", *PLACES, "--folded", cwd=context.folder)
    need(sorted(texts[".folded"].splitlines()) == sorted(done.stdout.splitlines()), texts[".folded"] + done.stdout)
    done = process.perfuse("flamegraph", "-i", "calc.data", *PLACES, "-o", "-", cwd=context.folder)
    frames = [sorted(re.findall(r"<title>([^<]*samples[^<]*)", svg)) for svg in (texts[".svg"], done.stdout)]
    need(frames[0] and frames[0] == frames[1], frames)


def test_hostile(context):
    """no text of a recording controls the terminal, on any page"""
    hostile_texts.write(os.path.join(context.folder, "hostile.data"), os.fsencode(context.folder) + b"/" + hostile_texts.HOSTILE)
    terminal = context.start("-i", "hostile.data", "-s", "comm,dso,sym,cgroup", columns=150, lines=30)
    terminal.wait(lambda seen: "amples" in seen and "[reading" not in seen, "no result")
    for keys in (["Enter"], ["E", "V"], ["Enter", "Escape"], ["a", "Escape"], ["i", "End", "q"], ["r", "End", "Enter"], ["End", "q"], ["g", "Down"]):
        for key in keys:
            terminal.send(key)
        seen = terminal.settled()
        need(not re.search("^.FORGED", seen, re.M) and "\x1b" not in seen, seen)
        need(terminal.tmux("display-message", "-p", "#{pane_title}").strip() != "t", "the title of the terminal is changed")
    terminal.send("C-c")
    terminal.wait_for("end:")


def test_names_of_commands(context):
    """samples one by one are those of the row's command, whose name is neither a list nor the path of a file"""
    fifo = os.path.join(context.folder, "f")
    os.mkfifo(fifo)
    names = ["x,y", "file://" + fifo, "plain"]
    records = [recording.comm(10 + i, 10 + i, name) for i, name in enumerate(names)]
    records += [recording.record(recording.SAMPLE, struct.pack("<QIIQ", 0x400000 + i, 10 + i, 10 + i, 1000 - i), recording.USER) for i in range(3)]
    kind = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_PERIOD
    recording.write(os.path.join(context.folder, "names.data"), records, [recording.attribute(kind, kind=0, period=1000)])
    for place, name in enumerate(names):
        terminal = context.browse("names.data", "-s", "comm")
        for _ in range(place):
            terminal.send("Down")
        terminal.send("r")
        terminal.wait_for("of the command " + name[:7])
        terminal.send("Enter")
        seen = terminal.wait(lambda seen: re.search("40000[012]", seen), "samples of " + name)
        need(set(re.findall("40000[012]", seen)) == {"40000%d" % place}, seen)


def test_hostile_tables(context):
    """no text of a recording controls the terminal in the browser of annotate, script and evlist"""
    hostile_texts.write(os.path.join(context.folder, "hostile.data"), os.fsencode(context.folder) + b"/" + hostile_texts.HOSTILE)
    for words in (["annotate", "--tui"], ["script", "--format=tui"], ["evlist", "--format=tui"], ["buildid-list", "--format=tui"]):
        context.close()
        terminal = context.open = Terminal(context, [PERFUSE, *words, "-i", "hostile.data"], columns=150, lines=30)
        terminal.wait(lambda seen: "h:help" in seen or "hottest:" in seen or "end:" in seen, "a screen")
        for key in ("Escape", "Down", "Enter", "Escape", "i", "q", "a", "Escape", "End"):
            seen = terminal.settled()
            need(not re.search("^.FORGED", seen, re.M) and "\x1b" not in seen, seen)
            need(terminal.tmux("display-message", "-p", "#{pane_title}").strip() != "t", "the title of the terminal is changed")
            if "end:" in seen:
                break
            terminal.send(key)


def test_cycles(context):
    """with recorded branches a page of code has the cycles and instructions per cycle that annotate --stdio2 prints"""
    need_tools("gcc", "objdump")
    program, path = os.path.join(context.folder, "loops"), os.path.join(context.folder, "branches.data")
    process.must("gcc", "-O2", "-fno-pie", "-no-pie", "-o", program, os.path.join(TEST, "annotate", "loops.c"), env=process.compilers())
    branches.write(path, program, ["hot"], 1, 40)
    printed = process.perfuse("annotate", "-i", path, "--stdio2", "hot", cwd=context.folder).stdout
    columns = [(line[8:14].strip(), line[14:20].strip()) for line in printed.splitlines()[3:]]
    wanted = [pair for pair in columns if pair[0]]
    need(len(wanted) >= 2, printed)
    context.close()
    terminal = context.open = Terminal(context, [PERFUSE, "annotate", "-i", path, "hot"], columns=120, lines=60)
    seen = terminal.wait(lambda seen: "IPC" in seen and "hottest:" in seen, "cycles")
    shown = re.findall(r"^[ >] *(?:[\d.]+%)? +(\d+\.\d\d) +(\d+)  0x", seen, re.M)
    need(shown == wanted, "%s, not %s:\n%s" % (shown, wanted, seen))
    terminal.send("c")
    seen = terminal.wait_for("Min/Max")
    ranges = [(int(cycles), int(least), int(most)) for cycles, least, most in re.findall(r" (\d+) +(\d+)/(\d+) +0x", seen)]
    need(ranges and all(least <= cycles <= most for cycles, least, most in ranges), seen)


def test_source_lines(context):
    """a page of code has the sum of each source line, and names the hottest line, which --hottest and --format=json name, too"""
    need_tools("gcc", "objdump")
    program, path = os.path.join(context.folder, "lines"), os.path.join(context.folder, "lines.data")
    process.must("gcc", "-O2", "-g", "-fno-pie", "-no-pie", "-o", program, os.path.join(TEST, "annotate", "loops.c"), env=process.compilers())
    code = process.must("objdump", "-d", "--no-show-raw-insn", "--disassemble=hot", program)
    records = [recording.comm(9, 9, "prog"), recording.mmap2(9, 9, branches.MAPPED, 0x1000, 0x1000, program)]
    for i, address in enumerate(re.findall(r"^ *([0-9a-f]+):\t", code, re.M)):
        records += [recording.record(recording.SAMPLE, struct.pack("<QIIQ", int(address, 16), 9, 9, 1000), recording.USER)] * (i * 7 % 5)
    kind = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_PERIOD
    recording.write(path, records, [recording.attribute(kind, recording.FLAG_MMAP2, kind=0, period=1000)])
    words = ["annotate", "-i", path, "hot"]
    table = json.loads(process.perfuse(*words, "--format=json", cwd=context.folder).stdout)["tables"][0]
    sums, counts, most = collections.Counter(), collections.Counter(), {}
    for row in table["rows"]:
        if row["samples"]:
            place = "loops.c:%d" % row["line"]
            sums[place] += row["period"]
            counts[place] += 1
            most[place] = max(most.get(place, (0, 0)), (row["period"], -int(row["address"], 16)))
    total = sum(sums.values())
    hottest = max(sums, key=lambda place: sums[place])
    need(list(sums.values()).count(sums[hottest]) == 1 and counts[hottest] > 1, sums)
    share = "%.2f%%" % (100 * sums[hottest] / total)
    need(table["facts"]["hottest_line"].endswith("/" + hottest), table["facts"])
    need(abs(table["facts"]["hottest_line_share"] - sums[hottest] / total) < 1e-9, table["facts"])
    line = process.perfuse(*words, "--hottest", cwd=context.folder).stdout.splitlines()[1]
    need(line.endswith("; %s %s" % (hottest, share)), line)
    context.close()
    terminal = context.open = Terminal(context, [PERFUSE, *words], columns=120, lines=90)
    seen = terminal.ready("hottest:")
    note = "hottest: %s, %s (%d instructions), %.2f%% at 0x%x" % (share, hottest, counts[hottest], 100 * most[hottest][0] / total,
                                                                 -most[hottest][1])
    need(note in seen, "%s is not in\n%s" % (note, seen))
    text = open(os.path.join(TEST, "annotate", "loops.c")).read().splitlines()
    for place in sums:
        wanted = "%.2f%%" % (100 * sums[place] / total)
        source = text[int(place.rsplit(":")[1]) - 1].strip()
        shown = re.findall(r"^[ >] *([\d.]+%%)?[ │┌└─▸]*%s *.?$" % re.escape(source), seen, re.M)
        need(shown and set(shown) == {wanted}, "%s has %s, not %s:\n%s" % (source, shown, wanted, seen))


def test_code_sizes(context):
    """a page of code fits every size of the terminal, and stays at its line when that changes"""
    terminal = context.browse(columns=80, lines=20)
    terminal.send("^")
    terminal.send("a")
    terminal.ready("hottest:")
    for columns, lines in ((20, 5), (10, 2), (3, 1), (200, 60), (20, 5), (80, 20)):
        terminal.tmux("resize-window", "-x", str(columns), "-y", str(lines))
        terminal.settled()
        if lines == 5:
            terminal.wait(lambda seen: re.search(r"^>100\.00%", seen, re.M), "the hottest line")
    terminal.send("Tab")
    terminal.send("s")
    terminal.send("q")
    terminal.wait_for("g:flame graph")


def test_missing_code(context):
    """the code of a program that is gone, or of another build, is not shown, and the reason is"""
    need_tools("gcc")
    for replaced in (False, True):
        program = os.path.join(context.folder, "leaves")
        def build(identity):
            process.must("gcc", "-O1", "-Wl,--build-id=0x" + identity * 20, "-o", program, os.path.join(TEST, "annotate", "loops.c"),
                         env=process.compilers())
        build("ab")
        address = int(process.must("nm", program).split(" T hot")[0].split()[-1], 16)
        records = [recording.comm(9, 9, "prog"),
                   recording.mmap2(9, 9, 0x400000, 0x1000, address & ~0xfff, program, build_id=b"\xab" * 20),
                   *[recording.record(recording.SAMPLE, struct.pack("<QIIQ", 0x400000 + (address & 0xfff), 9, 9, 1000), recording.USER)] * 9]
        kind = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_PERIOD
        recording.write(os.path.join(context.folder, "leaves.data"), records, [recording.attribute(kind, recording.FLAG_MMAP2, kind=0, period=1000)])
        terminal = context.start("-i", "leaves.data", columns=160)
        terminal.ready("[.] hot")
        os.remove(program)
        if replaced:
            build("cd")
        terminal.send("a")
        seen = terminal.wait(lambda seen: "leaves" in seen.splitlines()[-1], "the reason")
        need(("another build" in seen) == replaced and "retq" not in seen, seen)


def test_shrinking(context):
    """a recording that is cut while it is shown does not end the browser"""
    path = os.path.join(context.folder, "cut.data")
    with open(os.path.join(context.folder, "calc.data"), "rb") as file:
        data = file.read()
    with open(path, "wb") as out:
        out.write(data)
    terminal = context.browse("cut.data")
    os.truncate(path, 3000)
    for key in ("T", "Right", "Enter", "End", "Enter"):
        terminal.send(key)
    terminal.ready()
    with open(path, "ab") as out:
        out.write(b"x" * 100000)
    for key in ("u", "Escape", "Down"):
        terminal.send(key)
    terminal.ready()
    terminal.send("C-c")
    terminal.wait_for("end:")


if __name__ == "__main__":
    sys.exit(run_in_folder("the terminal browser", Context, globals()))
