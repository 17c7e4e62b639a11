#!/usr/bin/env python3
"""`timechart`: bars of threads with known turns, of CPUs and of known calls; recordings of perf; the size of pictures of storms."""
import functools
import json
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as tree

from suite import process
from suite.perf import need_reference
from suite.process import perfuse
from suite.settings import PERFUSE, TEST
from suite.switches import doubts
from suite.tests import Skip, by_samples, need, need_root, run_tests, tests_of
from suite.webdriver import Browser, Missing

UNITS, HEIGHT = 1e6, 1000
SVG = "{http://www.w3.org/2000/svg}"


class Context:
    def __init__(self, work):
        self.work = work

    @functools.lru_cache(None)
    def program(self, source):
        need_root("the scheduler's events")
        path = os.path.join(self.work, "chart-" + os.path.basename(source)[:-2])  # other tests run the same programs
        process.must("cc", "-O2", "-pthread", "-o", path, os.path.join(TEST, source), cwd=self.work, env=process.compilers())
        return path

    def record(self, name, options, *command, by=PERFUSE):
        """The path of a recording, and what the command printed."""
        need_root("the kernel's tracepoints")
        path = os.path.join(self.work, name)
        done = process.run(by, "timechart", "record", *options, "--", "-m", "4M", "-o", path, *command, cwd=self.work)
        if "tracepoint" in done.stderr or "ermission" in done.stderr:
            raise Skip(done.stderr.splitlines()[0])
        need(done.returncode == 0, done.stderr[-500:])
        return path, done.stdout

    def draw(self, path, *words):
        """The picture as text and as a tree, which is well-formed."""
        done = perfuse("timechart", "-i", path, "-o", "picture.svg", *words, cwd=self.work)
        need(done.returncode == 0 and re.search(r"^Written [\d.]+ seconds of trace to picture.svg.$", done.stderr, re.M), done.stderr)
        with open(os.path.join(self.work, "picture.svg")) as picture:
            text = picture.read()
        return text, Picture(tree.fromstring(text))


class Picture:
    """The lanes of a picture by their label; times in ns."""

    def __init__(self, root):
        area = root.find(SVG + "g[@id='area']")
        self.span = float(area.get("data-to"))
        self.lanes = {}
        for group in root.iter(SVG + "g"):
            label = group.find(SVG + "text[@class='lane']")
            if group.get("data-lane") and label is not None:
                self.lanes[label.text] = [(path.get("class").split()[0], path.get("data-what"), self.bars(path.get("d")))
                                          for path in group.iter(SVG + "path") if path.get("data-what")]

    def bars(self, path):
        """(from, length, share of the height) of each bar."""
        return [(int(x) / UNITS * self.span, int(w) / UNITS * self.span, int(h) / HEIGHT) for x, h, w in re.findall(r"M(\d+) \d+v(\d+)h(\d+)v", path)]

    def lane(self, start):
        found = [lane for label, lane in self.lanes.items() if label.startswith(start)]
        need(len(found) == 1, "%d lanes %s of %s" % (len(found), start, list(self.lanes)))
        return found[0]

    def time(self, start, kind):
        return sum(length * share for group, _, bars in self.lane(start) if group == kind for _, length, share in bars)


@by_samples
def test_truth(context):
    """the bars of pinned threads have the times that the threads ran, waited and slept"""
    turns, run_ms, sleep_ms = 15, 8, 12
    path, text = context.record("truth.data", ["-T"], "-e", "sched:sched_stat_runtime", context.program("sched/turns.c"), "4", str(turns),
                                str(run_ms * 1000), str(sleep_ms * 1000))
    picture = context.draw(path, "-n", "100000")[1]
    known = [tuple(map(int, line.split())) for line in text.splitlines() if re.match(r"\d+\t\d+\t\d+$", line)]
    need(len(known) == 4, text)
    doubtful = doubts(path)
    judged = [row for row in known if doubtful[str(row[0])] <= 0.01 * row[1]]
    need(judged, "the kernel's events of each thread contradict each other: %s" % doubtful)
    for tid, ran, slept in judged:
        lane = "chart-turns:%d " % tid
        drawn, waited, unknown = (picture.time(lane, kind) for kind in ("run", "wait", "unknown"))
        need(unknown < 0.01 * ran, "%d ns of thread %d are unknown" % (unknown, tid))
        need(drawn < 1.01 * ran and drawn + unknown > 0.99 * ran, "thread %d ran for %d ns, %d are drawn" % (tid, ran, drawn))
        bars = sorted(bar for group, _, found in picture.lane(lane) for bar in found if group in ("run", "wait", "unknown"))
        last = max(start + length for start, length, _ in bars)
        # a thread measures the wait for a CPU after a sleep as part of it; the last sleep has no bar after it, if the recording ends before
        asleep = last - bars[0][0] - drawn - waited - unknown
        need(turns * sleep_ms * 1e6 * 0.99 < asleep + unknown and asleep < slept * 1.01, "thread %d slept for %d ns, %d are left blank" % (tid, slept, asleep))


@by_samples  # a busy machine may lose events
def test_sums(context):
    """each CPU is as busy as `sched timehist` says, in a storm of switches, too, and the picture is no larger than 2 MB"""
    path, _ = context.record("storm.data", [], context.program("waits/pingpong.c"), "20000")
    text, picture = context.draw(path)
    need(len(text) < 2 << 20, "%d bytes" % len(text))
    found = json.loads(perfuse("sched", "timehist", "-s", "--format=json", "-i", path, cwd=context.work).stdout)
    rows = {row["cpu"]: row["run"] for row in found["tables"][1]["rows"] if row["run"]}
    need(rows and found["facts"]["span"], str(found)[:300])
    for cpu, run in rows.items():
        drawn = picture.time("CPU %d " % cpu, "run")
        need(abs(drawn - run) < 0.01 * found["facts"]["span"], "CPU %d: %d ns of %d" % (cpu, drawn, run))
    counts = perfuse("sched", "timehist", "-w", "--format=csv", "-i", path, cwd=context.work).stdout.count(",chart-pingpong,")
    need(counts > 20000, "only %d turns and wake-ups" % counts)
    need(re.search(r'class="wake" d="M\d+ \d+[Vv]\d+', text), "no wake-up is drawn")


@by_samples
def test_perf(context):
    """of recordings of perf and of perfuse, threads that neither begin nor end meanwhile have the times that perf draws"""
    perf = need_reference()
    task, ours = re.compile(r">chart-turns:(\d+) \(([\d.]+)ms\)<"), re.compile(r">chart-turns:(\d+) \(([\d.]+) ms\)<")
    for by in (perf, PERFUSE):
        background = process.start(context.program("sched/turns.c"), "4", "1000", "2000", "8000", cwd=context.work)
        try:
            path, _ = context.record("by.data", ["-T"], "sleep", "0.5", by=by)
        finally:
            background.kill()
            background.wait()
        process.must(perf, "timechart", "-n", "100000", "-i", path, "-o", "perfs.svg", cwd=context.work)
        with open(os.path.join(context.work, "perfs.svg")) as text:
            perfs = {tid: float(value) for tid, value in task.findall(text.read())}
        text, picture = context.draw(path, "-n", "100000")
        drawn = {tid: float(value) for tid, value in ours.findall(text)}
        need(len(drawn) >= 4 and drawn.keys() == perfs.keys(), "perf draws %s, we %s" % (perfs, drawn))
        for tid, value in drawn.items():
            unknown = picture.time("chart-turns:%s " % tid, "unknown") / 1e6  # perf takes it for run time or for a wait
            need(value > 10 and abs(value - perfs[tid]) < 2 + unknown + 0.03 * value,
                 "thread %s: %s ms and %.1f unknown, perf draws %s" % (tid, value, unknown, perfs[tid]))


def test_calls(context):
    """bytes of calls are those that the program transferred, failed calls are drawn as such, and left out on request"""
    need_root("tracepoints of system calls")
    script = ("import os\nr, w = os.pipe(); os.set_blocking(r, False)\nfor i in range(12):\n  try: os.read(r, 10)\n  except BlockingIOError: pass\n"
              "print(os.getpid(), flush=True)\nos.execlp('dd', 'dd', 'if=/dev/zero', 'of=out', 'bs=65536', 'count=64', 'conv=fsync')\n")
    path, out = context.record("io.data", ["-I"], "python3", "-c", script)
    pid = out.split()[0]
    text, picture = context.draw(path, "-p", pid, "--io-min-time", "0", "--io-merge-dist", "0")
    need(len(picture.lanes) == 1, str(list(picture.lanes)))
    label, bars = next(iter(picture.lanes.items()))
    read_before = 1.5  # MB, by Python and the loader
    need(8 <= float(re.search(r"^dd:%s \((\d+\.\d) Mbytes\)" % pid, label).group(1)) < 8 + read_before, label)
    for what in ("reads.* error 11", "writes", "synchronizes"):
        need(any(re.match(what, bar[1]) for bar in bars), what + str(bars)[:500])
    for what in ("reads, descriptor 0", "writes, descriptor 1"):
        shares = [share for kind, text, found in bars if text == what for _, _, share in found]
        need(shares.count(shares[-1]) == 64, "%s: %s" % (what, shares))
    text = context.draw(path, "-p", pid, "--io-skip-eagain")[0]
    need("error 11" not in text and "reads" in text, text[:500])


def test_options(context):
    """CPUs alone, tasks alone, chosen tasks, highlighted ones, the width and the order of CPUs are as the options say"""
    path, _ = context.record("options.data", [], "sh", "-c", "sleep 0.1; ls -R /etc >/dev/null")
    picture = context.draw(path, "-P")[1]
    need(picture.lanes and all(label.startswith("CPU ") for label in picture.lanes), str(picture.lanes))
    picture = context.draw(path, "-p", "ls", "-w", "1700")[1]
    tasks = [label for label in picture.lanes if not label.startswith("CPU ")]
    need(tasks and all(label.startswith("ls:") for label in tasks), str(tasks))
    text = context.draw(path, "-p", "ls", "-w", "1700")[0]
    need('width="1700"' in text, text[:300])
    need("run hi" not in re.sub(r"<style>.*</style>|<rect[^>]*>", "", text, flags=re.S), "something is highlighted")
    need('<path class="run hi"' in context.draw(path, "--highlight", "ls")[0], "ls is not highlighted")
    plain, ordered = context.draw(path)[1], context.draw(path, "-t")[1]
    need(sorted(plain.lanes) == sorted(ordered.lanes), "-t has other lanes")
    need(context.draw(path, "-n", "0")[1].lanes.keys() == {label for label in plain.lanes if label.startswith("CPU ")}, "-n 0")


def test_names(context):
    """names of programs remain text"""
    need_root("the scheduler's events")
    name = "</g>&\"<b>\n'"
    with open(shutil.which("sleep"), "rb") as source, open(os.path.join(context.work, "evil"), "wb") as copy:
        copy.write(source.read())
    script = "import ctypes, time\nctypes.CDLL(None).prctl(15, %r)\nfor i in range(20): time.sleep(0.001)\n" % name.encode()
    path, _ = context.record("names.data", ["-T"], "python3", "-c", script)
    picture = context.draw(path, "-n", "100000")[1]  # it is well-formed
    need(any(label.startswith("</g>&\"<b>") for label in picture.lanes), str(list(picture.lanes)))


def test_browser(context):
    """in a browser the line above the picture describes the bar below the pointer, and the wheel makes it wider"""
    path, _ = context.record("browser.data", ["-T"], context.program("sched/turns.c"), "1", "5", "40000", "40000")
    picture = context.draw(path, "-p", "chart-turns", "-w", "1000")[1]
    label = max(picture.lanes, key=lambda one: picture.time(one, "run") if one.startswith("chart-turns:") else -1)
    start, length, _ = max((bar for kind, _, bars in picture.lane(label) for bar in bars if kind == "run"), key=lambda bar: bar[1])
    try:
        browser = Browser(1100, 700)
    except Missing as why:
        raise Skip(str(why)) from None
    try:
        browser.open("file://" + os.path.join(context.work, "picture.svg"))
        x, y = browser.script("""
            const area = document.querySelector('#area').dataset, group = [...document.querySelectorAll('[data-lane]')].find(
                one => one.querySelector('.lane') && one.querySelector('.lane').textContent === arguments[0]);
            return [Number(area.left) + Number(area.width) * arguments[1], (Number(group.dataset.lane) + Number(group.dataset.end)) / 2]
            """, label, (start + length / 2) / picture.span)
        details, width = "return document.querySelector('#details').textContent", """
            return Math.max(...[...document.querySelectorAll('path.run')].map(one => one.getBoundingClientRect().width))"""
        browser.pointer(x, y)
        need(re.search(r"^at .*: .*runs on CPU \d+ for [\d.]+ms", browser.script(details)), browser.script(details))
        before = browser.script(width)
        browser.script("""document.documentElement.dispatchEvent(new WheelEvent('wheel', { clientX: arguments[0], clientY: arguments[1], deltaY: -500,
            bubbles: true, cancelable: true }))""", x, y)
        need(browser.script(width) > 1.5 * before, "a bar of %s pixels is %s pixels wide" % (before, browser.script(width)))
        browser.pointer(x + 1, y)
        need("runs on CPU" in browser.script(details), "zoomed: " + browser.script(details))
        need(not browser.console(), str(browser.console()))
    finally:
        browser.close()


def test_pipe(context):
    """a recording through a pipe has the picture of the file, and `-o -` writes it to stdout"""
    path, _ = context.record("pipe.data", [], "true")
    with open(path, "rb") as data:
        done = process.run("sh", "-c", "cat | %s inject -b -i %s -o - 2>/dev/null | %s timechart -o -" % (PERFUSE, path, PERFUSE), cwd=context.work, stdin=data)
    whole = perfuse("timechart", "-i", path, "-o", "-", cwd=context.work)
    need(whole.returncode == 0 and whole.stdout.startswith("<?xml") and not whole.stderr, whole.stderr)
    lanes = Picture(tree.fromstring(done.stdout)).lanes
    need(lanes == Picture(tree.fromstring(whole.stdout)).lanes, "the pipe has other bars")


def test_record(context):
    """without -o the recording is perf.data, and stdout is the command's; with `-o -` it is the recording"""
    need_root("the kernel's tracepoints")
    done = perfuse("timechart", "record", "-T", "echo", "said", cwd=context.work)
    need(done.returncode == 0 and done.stdout == "said\n", done.stdout[:200] + done.stderr)
    context.draw(os.path.join(context.work, "perf.data"))
    done = process.run(PERFUSE, "timechart", "record", "-T", "--", "-o", "-", "true", cwd=context.work, text=False)
    need(done.stdout.startswith(b"PERFILE2"), str(done.stdout[:50]))


def test_missing_tracepoints(context):
    """a kernel without idle states gives a picture of tasks, with a remark; one without tracepoints of system calls gives none of calls"""
    need_root("mounts, to hide tracepoints")
    hidden = 'mount -t tmpfs none "/sys/kernel/tracing/events/$1" && shift && exec "$@"'

    def hide(name, *words):
        done = process.run("unshare", "-m", "sh", "-c", hidden, "sh", name, PERFUSE, "timechart", "record", *words, cwd=context.work)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            raise Skip(done.stderr.strip()[-150:])
        return done

    done = hide("power", "--", "-o", "tasks.data", "sleep", "0.1")
    need(done.returncode == 0 and "the kernel has no tracepoint power:cpu_idle" in done.stderr, done.stderr)
    need("CPU 0" in context.draw(os.path.join(context.work, "tasks.data"))[0], "no CPU is drawn")
    for name, option in (("power", "-P"), ("syscalls", "-I")):
        done = hide(name, option, "--", "-o", "none.data", "true")
        need(done.returncode == 255 and "there is no tracepoint %s:" % name in done.stderr, done.stderr)
        need(not os.path.exists(os.path.join(context.work, "none.data")), "something is recorded")


def test_refusals(context):
    """options that exclude each other, wrong times, and recordings without tracepoints are refused with a sentence"""
    done = perfuse("timechart", "-P", "-T", cwd=context.work)
    need(done.returncode == 255 and "-P and -T options cannot be used at the same time." in done.stderr, done.stderr)
    done = perfuse("timechart", "record", "-P", "-T", cwd=context.work)
    need(done.returncode == 255 and "-P and -T options cannot be used at the same time." in done.stderr, done.stderr)
    for words in (("--io-min-time", "5s"), ("--io-merge-dist", "-1"), ("--highlight", "a", "--highlight", "b"), ("-w", "0"), ("nonsense",)):
        need(perfuse("timechart", *words, cwd=context.work).returncode == 129, str(words))
    process.must(PERFUSE, "record", "-e", "task-clock", "-o", "clock.data", "--", "true", cwd=context.work)
    done = perfuse("timechart", "-i", "clock.data", cwd=context.work)
    need(done.returncode == 234 and done.stderr.startswith("No trace sample to read. Did you call '"), done.stderr)
    done = process.run("sh", "-c", "%s record -e task-clock -o - -- true | %s timechart" % (PERFUSE, PERFUSE), cwd=context.work)
    need(done.returncode == 234 and "No trace sample to read." in done.stderr, done.stderr)
    need(not os.path.exists(os.path.join(context.work, "output.svg")), "a picture was written")


def main():
    work = tempfile.mkdtemp(prefix="perfuse-timechart-")
    try:
        return run_tests(tests_of(globals(), Context(work)))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
