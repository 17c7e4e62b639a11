#!/usr/bin/env python3
"""Programs that read perf's output, run with perfuse under perf's name and compared with their results for perf; and the sentences and
forms that other programs look for, each with the program's own regular expression: docs/interfaces.md lists them.

`make check-readers` installs the programs; those that are absent are skipped."""
import base64
import glob
import json
import os
import re
import shutil
import sys
import tempfile
import time

from readers import branches
from suite import process
from suite.perf import need_reference
from suite.process import environment
from suite.settings import CACHE, PERFUSE, TOP
from suite.tests import Failure, Skip, need, run_tests, tests_of
from suite.webdriver import Browser, Missing

WHERE = "make check-readers installs it"
HOTSPOT = "/usr/lib/*/libexec/hotspot-perfparser"


RECORDED = ("-F", "1000", "-e", "cpu-clock", "-g")
SPIN = ("sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done")


class Context:
    def __init__(self, work):
        self.work = work
        self.folder = os.path.join(work, "bin")    # perfuse under perf's name
        os.mkdir(self.folder)
        os.symlink(PERFUSE, os.path.join(self.folder, "perf"))

    def run(self, *command, perf=None, **more):
        """With the folder of `perf` first in the path; by default perfuse has that name."""
        kept = environment(self.work)
        first = os.path.dirname(perf) if perf else self.folder
        kept["PATH"] = first + ":" + kept["PATH"]
        return process.run(*command, cwd=self.work, env=kept, **more)

    def perf(self, *words):
        return self.run(os.path.join(self.folder, "perf"), *words)

    def both(self):
        """The folders of perfuse as perf, and of perf."""
        return os.path.join(self.folder, "perf"), need_reference()

    def recording(self):
        """A recording with call chains."""
        path = os.path.join(self.work, "made.data")
        if not os.path.exists(path):
            self.made = self.perf("record", *RECORDED, "-o", path, "--", *SPIN)
            if self.made.returncode:
                raise Skip("perf_event_open is refused here")
        return path

    def recording_of_cpus(self):
        """One with call chains whose samples have their CPU. speedscope looks for blanks on both sides of what is between the thread and the
        time; without that column there is one blank only from 10,000 s on, in perf's output as well."""
        path = os.path.join(self.work, "cpus.data")
        if not os.path.exists(path):
            self.recording()
            done = self.perf("record", "--sample-cpu", *RECORDED, "-o", path, "--", *SPIN)
            need(done.returncode == 0, done.stderr)
        return path

    def branches(self):
        """A recording with branch stacks, and the program that it is of."""
        path, program = os.path.join(self.work, "loop.data"), os.path.join(self.work, "looped")
        if not os.path.exists(path):
            branches.build(program)
            branches.write(path, program)
        return path, program


def program(*names):
    """The first of the programs that exists; of those that match a pattern the newest."""
    for name in names:
        for folder in [""] if "/" in name else os.environ["PATH"].split(":"):
            found = sorted(glob.glob(os.path.join(folder, name)))
            if found:
                return found[-1]
    raise Skip("no %s: %s" % (names[0], WHERE))


# ---- programs ----

def test_perf2bolt(c):
    """perf2bolt makes the same profile of perfuse's output as of perf's"""
    tool = program("perf2bolt", "perf2bolt-[0-9][0-9]")
    data, looped = c.branches()
    made = []
    for perf in c.both():
        out = os.path.join(c.work, "profile.fdata")
        done = c.run(tool, "--aggregate-only", "-p", data, "-o", out, looped, perf=perf)
        need(done.returncode == 0 and "PERF-ERROR" not in done.stderr, "perf2bolt with %s ends with %d: %s" % (
            perf, done.returncode, done.stderr[-400:]))
        made.append((open(out).read(), re.findall(r"PERF2BOLT: read .*", done.stdout)))
        os.unlink(out)
    need("hot" in made[0][0], "there is nothing of hot: %s" % made[0][0][:200])
    need(made[0] == made[1], "perfuse's: %s\nperf's: %s" % tuple(made))


def test_perf2bolt_without_branches(c):
    """perf2bolt -nl makes the same profile of a recording without branch stacks"""
    tool = program("perf2bolt", "perf2bolt-[0-9][0-9]")
    looped = c.branches()[1]
    data = os.path.join(c.work, "plain.data")
    if c.perf("record", "-e", "cpu-clock:u", "-F", "2000", "-o", data, "--", looped).returncode:
        raise Skip("perf_event_open is refused here")
    made = []
    for perf in c.both():
        out = os.path.join(c.work, "plain.fdata")
        done = c.run(tool, "--aggregate-only", "-nl", "-p", data, "-o", out, looped, perf=perf)
        need(done.returncode == 0 and "PERF-ERROR" not in done.stderr, "ends with %d: %s" % (done.returncode, done.stderr[-400:]))
        need("matched build-id and file name" in done.stdout, "the build-id is not found: " + done.stdout[-400:] + done.stderr[-400:])
        made.append(open(out).read())
        os.unlink(out)
    need("hot" in made[0] and made[0] == made[1], "perfuse's: %s\nperf's: %s" % (made[0][:300], made[1][:300]))


def test_profgen(c):
    """llvm-profgen makes the same profile of perfuse's output as of perf's"""
    tool = program("llvm-profgen", "llvm-profgen-[0-9][0-9]")
    data, looped = c.branches()
    made = []
    for perf in c.both():
        out = os.path.join(c.work, "profile.prof")
        done = c.run(tool, "--perfdata=" + data, "--binary=" + looped, "--format=text", "--output=" + out, perf=perf)
        need(done.returncode == 0, "llvm-profgen ends with %d: %s" % (done.returncode, done.stderr[-400:]))
        need("Invalid" not in done.stderr, "llvm-profgen takes a line for what it is not: %s" % done.stderr[-400:])
        made.append(open(out).read())
        os.unlink(out)
    need("hot:" in made[0] and made[0] == made[1], "perfuse's: %s\nperf's: %s" % tuple(made))


def test_autofdo(c):
    """create_llvm_prof makes the same profile of a recording and of inject's copy of it"""
    tool = program("create_llvm_prof")
    data, looped = c.branches()
    made = []
    again = os.path.join(c.work, "again.data")
    need(c.perf("inject", "-i", data, "-o", again).returncode == 0, "inject fails")
    for path in (data, again):
        out = os.path.join(c.work, "autofdo.prof")
        done = c.run(tool, "--profile=" + path, "--binary=" + looped, "--out=" + out)
        need(done.returncode == 0 and os.path.exists(out), "create_llvm_prof of %s: %s" % (path, done.stderr[-400:]))
        made.append(open(out, "rb").read())
        os.unlink(out)
    need(made[0] == made[1] and made[0], "the profiles differ")


def test_hotspot(c):
    """hotspot's parser reads perfuse's recordings, with the numbers of samples and mappings that script shows"""
    tool, data = program(HOTSPOT), c.recording()
    done = c.run(tool, "--input", data, "--print-stats")
    said = done.stdout + done.stderr
    seen = {name: int(count) for name, count in re.findall(r"^(samples|mmaps|samples time violations): (\d+)$", said, re.M)}
    samples = c.perf("script", "-i", data, "-F", "comm", "-G").stdout.count("\n")
    mappings = c.perf("script", "-i", data, "--show-mmap-events").stdout.count("PERF_RECORD_MMAP")
    need(samples > 10 and seen.get("samples") == samples, "the parser has %s samples, script %d: %s" % (
        seen.get("samples"), samples, said[-400:]))
    need(seen.get("mmaps") == mappings, "the parser has %s mappings, script %d" % (seen.get("mmaps"), mappings))


def imported(text, page):
    """The file that speedscope saves after it has imported a text."""
    with tempfile.NamedTemporaryFile("w", suffix=".js") as load:
        load.write("speedscope.loadFileFromBase64('perf.txt', '%s')" % base64.b64encode(text.encode()).decode())
        load.flush()
        try:
            browser = Browser()
        except Missing as why:
            raise Skip(str(why)) from None
        try:
            browser.open("file://%s#localProfilePath=%s" % (page, load.name))
            browser.script("window.URL.createObjectURL = blob => { blob.text().then(text => window.saved = text); return '#'; }; return 0;")
            for _ in range(100):
                browser.script("window.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true})); return 0;")
                saved = browser.script("return window.saved || '';")
                if saved:
                    return json.loads(saved)
                time.sleep(0.1)
            raise Failure("speedscope does not import it: " + str(browser.console())[:300])
        finally:
            browser.close()


def test_speedscope(c):
    """speedscope imports script's output, with the frames and weights that it makes of perf's"""
    folder = os.path.join(CACHE, "readers")
    page = program(os.path.join(folder, "node_modules/speedscope/dist/release/index.html"))
    made = []
    for perf in c.both():
        text = c.run(perf, "script", "-i", c.recording_of_cpus(), "--no-inline").stdout
        made.append(imported(text, page))
    for one in made:
        one.pop("exporter", None)
    need(len(made[0]["shared"]["frames"]) > 5 and made[0]["profiles"], "there are no frames: %s" % str(made[0])[:300])
    need(made[0] == made[1], "the profiles differ")


# ---- sentences and forms: (as docs/interfaces.md has it, who, where it is found, the regular expression) ----

def no_address(c):
    done = c.perf("script", "-i", c.recording(), "-F", "pid,event,addr,ip")
    need(done.returncode != 0, "exit code 0")
    return done.stderr


def summary(c):
    c.recording()
    return c.made.stderr


def script_of(*options):
    return lambda c: c.perf("script", "-i", c.recording(), *options).stdout


def script_with_cpus(c):
    return c.perf("script", "-i", c.recording_of_cpus()).stdout


def output_of(*words):
    return lambda c: c.perf(*words).stdout


def report_of(*options):
    return lambda c: c.perf("report", "-i", c.recording(), "--stdio", *options).stdout


SENTENCES = [
    ("Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.", "perf2bolt", no_address,
     r"Samples for '.*' event do not have ADDR attribute set. Cannot print 'addr' field."),
    ("PERF_RECORD_MMAP2 PID/TID: [ADDRESS(SIZE) @ OFFSET …]: PROTECTION PATH", "perf2bolt, llvm-profgen", script_of("--show-mmap-events"),
     r"PERF_RECORD_MMAP2 (-?[0-9]+)/[0-9]+: \[(0x[a-f0-9]+)\((0x[a-f0-9]+)\) @ (0x[a-f0-9]+|0) .*\]: [-a-z]+ (.*)"),
    ("PERF_RECORD_COMM exec: NAME:PID/TID", "perf2bolt", script_of("--show-task-events"), r"PERF_RECORD_COMM exec: (\S+):(\d+)/\d+\n"),
    ("BUILD-ID PATH", "perf2bolt", lambda c: c.perf("buildid-list", "-i", c.recording()).stdout, r"(?m)^([0-9a-f]{16,40}) (\S.*)$"),
    ("NAME TID [CPU] SECONDS: PERIOD EVENT:", "stackcollapse-perf.pl, inferno", script_of(), r"(?m)^(\S.+?)\s+(\d+)/*(\d+)*\s+"),
    ("NAME TID [CPU] SECONDS: PERIOD EVENT:", "speedscope", script_with_cpus, r"(?m)^(\S.+?)\s+(\d+)(?:/?(\d+))?\s+.*\s(\d+\.\d+):\s+.*?(\S+):\s*$"),
    ("ADDRESS SYMBOL+0xOFFSET (MODULE)", "stackcollapse-perf.pl, inferno, speedscope", script_of(), r"(?m)^\s*(\w+)\s*(.+) \((\S*)\)"),
    ("ADDRESS SYMBOL+0xOFFSET (MODULE)", "gprof2dot", script_of(),
     r"(?m)^\s+(?P<address>[0-9a-fA-F]+)\s+(?P<symbol>.*)\s+\((?P<module>[^)]*)\)$"),
    ("# cmdline : WORDS", "stackcollapse-perf.pl", script_of("--header"), r"(?m)^# cmdline : \S+"),
    ("# captured on : DATE", "perf's tests", report_of("--header-only"),
     r"(?m)^#\s+captured on\s*:\s*\w+\s+\w+\s+[0-9\.]+\s+\d\d:\d\d:\d\d\s+\d+"),
    ("[ perf record: Woken up %llu times to write data ]", "perf's tests", summary,
     r"(?m)^\[\s+perf\s+record:\s+Woken up [0-9\.]+ times? to write data\s+\].*$"),
    ("[ perf record: Captured and wrote %.3f MB %s (%llu samples) ]", "perf's tests", summary,
     r"(?m)^\[\s+perf\s+record:\s+Captured and wrote [0-9\.]+\s*MB\s+\S*\.data(?:\.\d+)?\s*\(~?[0-9\.]+ samples\)\s+\].*$"),
    ("# Total Lost Samples: %llu", "perf's tests", report_of(), r"#\s*Total Lost Samples:\s+[0-9\.]+"),
    ("# Samples: %s of event '%s'", "perf's tests", report_of(), r"#\s*Samples:\s+(?:[0-9\.]+)\w?\s+of\s+event\s+'[\w\-\:\/_=,]+'"),
    ("# Children Self Command Shared Object Symbol", "perf's tests", report_of(), r"#\s*Children\s+Self\s+Command\s+Shared Object\s+Symbol"),
    ("# Children Self Command Shared Object Symbol", "perf's tests", report_of("-n"),
     r"#\s*Children\s+Self\s+Samples\s+Command\s+Shared Object\s+Symbol"),
    ("FEATURE: [ on  ]  # HAVE_…", "hotspot", output_of("version", "--build-options"), r"zstd: \[ on  \]"),
    ("FEATURE: [ on  ]  # HAVE_…", "hotspot", output_of("version", "--build-options"), r"aio: \[ on  \]"),
    ("FEATURE: [ on  ]  # HAVE_…", "hotspot", output_of("version", "--build-options"), r"libtraceevent: \[ on  \]"),
    ("--sample-cpu", "hotspot", output_of("record", "--help"), r"--sample-cpu"),
    ("--switch-events", "hotspot", output_of("record", "--help"), r"--switch-events"),
    ("perf version MAJOR.MINOR.", "ocperf, toplev", output_of("--version"), r"\Aperf version (\d+)\.(\d+)\."),
    ("'%s' is not a perf-command", "perf's tests", lambda c: c.perf("nosuch").stderr, r"is not a perf-command"),
    ("START-END BINDING NAME", "perf's tests", lambda c: c.perf("test", "-vv", "-F", "Symbols").stderr, r"(?m)\sbrstack_bench$"),
]


def sentence(c, text, who, find, pattern):
    found = find(c)
    need(re.search(pattern, found), "%s matches nothing in: %s" % (pattern, found[:600]))
    with open(os.path.join(TOP, "docs", "interfaces.md")) as page:
        listed = page.read()
    need("`" + text + "`" in listed and all(one in listed for one in who.split(", ")), "docs/interfaces.md does not list it with who needs it")


def test_no_words_between(c):
    """script without names in its output prints nothing about names on stderr, as programs read both as one"""
    data = c.branches()[0]
    done = c.perf("script", "--show-mmap-events", "-F", "ip,brstack", "-i", data)
    need(done.returncode == 0 and done.stdout.count("\n") > 400 and not done.stderr, "stderr has: " + done.stderr[:300])


def test_page(_):
    """docs/interfaces.md names files that exist"""
    with open(os.path.join(TOP, "docs", "interfaces.md")) as page:
        named = set(re.findall(r"`((?:src|docs)/[^`]*)`", page.read()))
    missing = [path for path in named if not os.path.exists(os.path.join(TOP, path))]
    need(named and not missing, "absent: %s" % missing)


def test_every_line_of_a_stack(c):
    """stackcollapse-perf.pl recognises each line of script with call chains"""
    head, frame = re.compile(r"^(\S.+?)\s+(\d+)/*(\d+)*\s+"), re.compile(r"^\s*(\w+)\s*(.+) \((\S*)\)")
    lines = c.perf("script", "-i", c.recording()).stdout.split("\n")
    odd = [line for line in lines if line and not head.match(line) and not frame.match(line)]
    need(len(lines) > 30 and not odd, "lines that it does not know: %s" % odd[:3])


def main():
    work = tempfile.mkdtemp()
    try:
        c = Context(work)
        tests = tests_of(globals(), c)
        for text, who, find, pattern in SENTENCES:
            tests.append(("%s: what %s looks for: %s" % (text, who, pattern), lambda row=(text, who, find, pattern): sentence(c, *row)))
        return run_tests(tests)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
