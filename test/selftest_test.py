#!/usr/bin/env python3
"""`test`: its workloads as perf's scripts use them, its self-checks, and how they are selected and printed."""
import os
import re
import shutil
import sys
import tempfile
import time
from xml.etree import ElementTree

from suite import process
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import Skip, by_samples, need, need_root, run_tests, tests_of

LINE = re.compile(r"^ *(\d+): (.*?) *: (Ok|Skip \(.+\)|FAILED! \(.+\))$")


def perfuse(*words, folder=None, **more):
    return process.run(PERFUSE, *words, env=environment(folder or "/nonexistent"), cwd=folder, **more)


def in_folder(test):
    def wrapped():
        folder = tempfile.mkdtemp(prefix="perfuse-selftest-")
        try:
            return test(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    wrapped.__doc__ = test.__doc__
    return wrapped


def listed():
    return dict(re.findall(r"^ *(\d+): (.*)$", perfuse("test", "list").stdout, re.M))


def record(folder, workload, *options):
    path = os.path.join(folder, "perf.data")
    process.must(PERFUSE, "record", "-e", "cpu-clock:u", "-o", path, *options, "--", PERFUSE, "test", "-w", *workload,
                 env=environment(folder))
    return path


def lines(folder, path, fields):
    return process.must(PERFUSE, "script", "-i", path, "-F", fields, env=environment(folder))


def share(text, name):
    names = [line.split()[-1] for line in text.splitlines() if line.strip()]
    return names.count(name) / max(len(names), 1)


@in_folder
@by_samples
def test_functions(folder):
    """the samples of each workload are in the functions that perf's workloads have"""
    for words, name in ((("noploop", "0.3"), "noploop"), (("thloop", "0.3"), "test_loop"), (("leafloop", "0.3"), "leaf")):
        found = share(lines(folder, record(folder, words), "ip,sym"), name)
        need(found > 0.7, "%s: %.0f %% of the samples are in %s" % (words[0], 100 * found, name))
    text = lines(folder, record(folder, ("brstack", "30000000")), "ip,sym")
    for name in ("brstack_bench", "brstack_foo", "brstack_bar", "brstack"):
        need(share(text, name) > 0, "brstack: no sample is in %s" % name)
    text = lines(folder, record(folder, ("sqrtloop", "0.3"), "--call-graph=dwarf"), "ip,sym")
    need(re.search(r" __sqrtloop\n\s*\w+ sqrtloop\n", text), "sqrtloop: no sample is below __sqrtloop and sqrtloop")


@in_folder
@by_samples
def test_chains(folder):
    """leafloop has the call chain leaf, parent, leafloop, and thloop has two threads"""
    text = lines(folder, record(folder, ("leafloop", "0.3"), "-g"), "ip,sym")
    chains = re.findall(r" leaf\n\s*\w+ parent\n\s*\w+ leafloop\n", text)
    need(len(chains) > 10, "%d chains" % len(chains))
    threads = set(lines(folder, record(folder, ("thloop", "0.3")), "tid").split())
    need(len(threads) == 2, "the threads %s" % " ".join(threads))


@in_folder
@by_samples
def test_tasks(folder):
    """tasks have names that scripts look for, each in its own function; inlined functions have lines in the twenties, their caller in the thirties"""
    for words, names in ((("noploop", "0.2"), {"perf-noploop": "noploop"}),
                         (("named_threads", "3", "500"), {"thread%d" % n: "named_threads_thread%d" % n for n in (1, 2, 3)}),
                         (("context_switch_loop", "500"), {"proc%d" % n: "context_switch_loop_proc%d" % n for n in (1, 2)})):
        seen = set(re.findall(r"(?m)^\s*(\S+)\s+\w+ (\w+)", lines(folder, record(folder, words), "comm,ip,sym")))
        need(seen >= set(names.items()), "%s: %s" % (words[0], seen))
        strange = {(comm, name) for comm, name in seen if name in names.values() and names.get(comm) != name}
        need(not strange, "%s: %s" % (words[0], strange))
    text = lines(folder, record(folder, ("inlineloop", "0.2"), "--call-graph=dwarf"), "ip,sym,srcline")
    need(re.search(r" inlined_leaf\n  inlineloop\.c:2\d \(inlined\)\n\s*\w+ inlined_middle\n  inlineloop\.c:2\d \(inlined\)\n"
                   r"\s*\w+ inlined_parent\n  inlineloop\.c:3\d\n", text), text[:800])


@in_folder
def test_record_control(folder):
    """--record-ctl: what runs before and after the workload is not recorded; without a recording there is a sentence"""
    for name in ("ctl", "ack"):
        os.mkfifo(os.path.join(folder, name))
    fifos = "fifo:%s/ctl,%s/ack" % (folder, folder)
    path = os.path.join(folder, "perf.data")
    process.must(PERFUSE, "record", "-e", "cpu-clock:u", "-F", "10000", "-o", path, "-D", "-1", "--control=" + fifos, "--",
                 "sh", "-c", '"$0" test -w noploop 0.1; "$0" test --record-ctl "$1" -w context_switch_loop 300; exec "$0" test -w noploop 0.1',
                 PERFUSE, fifos, env=environment(folder))
    found = lines(folder, path, "comm").split()
    need("perf-noploop" not in found and found.count("proc1") + found.count("proc2") > 10, str(sorted(set(found))))
    result = perfuse("test", "--record-ctl", "fifo:%s/none" % folder, "-w", "noploop", "0.01")
    need(result.returncode == 1 and "none'" in result.stderr, repr(result))


def test_lists():
    """--list-workloads has a name on each line, each of which runs; -r runs a check again"""
    names = perfuse("test", "--list-workloads").stdout.split("\n")
    need(names[-1] == "" and names[0] == "noploop" and "inlineloop" in names and len(names) == len(set(names)), str(names))
    number = next(iter(listed()))
    for runs, options in ((1, ()), (3, ("-r", "3")), (2, ("--runs-per-test=2", "-p"))):
        printed = perfuse("test", *options, number).stderr
        need(len(re.findall(r"(?m)^ *%s: " % number, printed)) == runs, printed)


def test_seconds():
    """a loop runs for 1 s, or for the seconds of its argument, and surplus words are ignored"""
    for words, least, most in (((), 1, 1.9), (("0.2", "word"), 0.2, 0.9), (("2",), 2, 2.9)):
        began = time.monotonic()
        result = perfuse("test", "-w", "noploop", *words)
        took = time.monotonic() - began
        need(result.returncode == 0 and least <= took, "%s: exit code %d after %.2f s" % (words, result.returncode, took))
        need(took < most + 5, "%s: %.2f s" % (words, took))


def test_unknown():
    """an unknown workload is named, with perf's sentence and exit code 255; -w without a name is 129"""
    result = perfuse("test", "-w", "noplo")
    need((result.returncode, result.stdout, result.stderr) == (255, "", "No workload found: noplo\n"), repr(result))
    need(perfuse("test", "-w").returncode == 129, "-w without a name")


@in_folder
def test_landlock(folder):
    """landlock makes the two calls that perf's test looks for"""
    tool = shutil.which("strace")
    if not tool:
        raise Skip("no strace")
    result = process.run(tool, "-e", "raw=landlock_add_rule", "-e", "trace=landlock_add_rule", PERFUSE, "test", "-w", "landlock",
                         env=environment(folder))
    calls = re.findall(r"landlock_add_rule\((\w+), (\w+), \w+, (\w+)\) = -1", result.stderr)
    if not calls:
        raise Skip("strace sees no call: " + result.stderr[-100:])
    need(calls == [("0xb", "0x1", "0x2d"), ("0xb", "0x2", "0x2d")], str(calls))


def test_data_symbol():
    """the program has the variable buf1 of 57 bytes or more, and -vv -F Symbols prints each symbol at the end of a line"""
    result = perfuse("test", "-vv", "-F", "Symbols")
    need(result.returncode == 0, result.stderr[-300:])
    for name in ("buf1", "brstack_bench", "noploop", "leaf", "parent", "test_loop", "traploop"):
        need(re.search(r"\s%s$" % name, result.stderr, re.M), "no symbol " + name)
    start, end = re.search(r"^ (\w+)-(\w+) \w buf1$", result.stderr, re.M).groups()
    need(int(end, 16) - int(start, 16) >= 57, "buf1 is from %s to %s" % (start, end))


def test_selection():
    """checks are selected by number and by name, listed on stdout, run with their result on stderr, skipped by -s"""
    names = listed()
    need(list(map(int, names)) == list(range(1, len(names) + 1)) and len(names) > 10, str(names))
    number = next(n for n, name in names.items() if "Symbols of" in name)
    need(perfuse("test", "list", "symbols OF").stdout == "%3s: %s\n" % (number, names[number]), "list by name")
    need(perfuse("test", "list", "nothing like this").stdout == "", "list of nothing")
    result = perfuse("test", number, "nothing like this")
    need(result.stdout == "" and [LINE.match(line).groups()[:2] for line in result.stderr.splitlines()] == [(number, names[number])],
         result.stderr)
    result = perfuse("test", "-s", "99," + number, number)
    need(result.stderr.endswith(": Skip (user override)\n") and result.returncode == 0, result.stderr)


@in_folder
def test_all(folder):
    """no check fails on this machine, in any order of execution, and none leaves a file"""
    names = listed()
    left = os.path.join(folder, "tmp")
    os.mkdir(left)
    for option in ("-S", "-p", "-F"):
        result = process.run(PERFUSE, "test", option, env=environment(folder, TMPDIR=left), cwd=folder)
        rows = [LINE.match(line).groups() for line in result.stderr.splitlines()]
        need([row[:2] for row in rows] == list(names.items()), "%s: %s" % (option, result.stderr))
        failed = [row for row in rows if row[2].startswith("FAILED")]
        need(not failed and result.returncode == 0, "%s: %s" % (option, failed))
        need(not os.listdir(left), "%s leaves %s" % (option, os.listdir(left)))


@in_folder
def test_user(folder):
    """a user without permissions gets reasons and no failure"""
    need_root("another user is needed")
    os.chmod(folder, 0o777)
    program = shutil.copy(PERFUSE, os.path.join(folder, "perfuse"))
    result = process.run(program, "test", env=environment(folder, TMPDIR=folder), cwd=folder, user=process.NOBODY)
    rows = [LINE.match(line).groups() for line in result.stderr.splitlines()]
    need(len(rows) == len(listed()) and not [r for r in rows if r[2].startswith("FAILED")], result.stderr)
    need(any("BPF" in row[1] and row[2].startswith("Skip") for row in rows), "BPF programs load without permission: " + result.stderr)


@in_folder
def test_stripped(folder):
    """a stripped program says so instead of missing its functions"""
    need(shutil.which("strip"), "no strip")
    program = os.path.join(folder, "perfuse")
    process.must("strip", "-o", program, PERFUSE, env=environment(folder))
    result = process.run(program, "test", "Symbols", "frame pointers", env=environment(folder), cwd=folder)
    need(re.fullmatch(r".*: Skip \(the file is stripped\)\n.*: Skip \(this program is stripped.*\)\n", result.stderr), result.stderr)


@in_folder
def test_junit(folder):
    """-j writes the results as XML, to test.xml or the named file, also if no check is selected; -r runs checks several times"""
    result = perfuse("test", "-r", "2", "-s", "1", "-j", "--dso", "/nonexistent/<file>", "1", "Symbols of", "Software", folder=folder)
    suite = ElementTree.parse(os.path.join(folder, "test.xml")).getroot().find("testsuite")
    rows = [LINE.match(line).groups() for line in result.stderr.splitlines()[:-1]]
    kinds = {"Ok": None, "Skip": "skipped", "FAILED!": "failure"}
    found = [(case.get("name"), case[0].tag if len(case) else None) for case in suite]
    need(found == [(name, kinds[outcome.split()[0]]) for _, name, outcome in rows] and len(rows) > 4, "%s: %s" % (found, result.stderr))
    need(suite.get("tests") == str(len(rows)) and suite.get("failures") == "2", str(suite.attrib))
    need(all("/nonexistent/<file>" in case.find("failure").get("message") for case in suite if case.find("failure") is not None), "no reason")
    result = perfuse("test", "-jnone.xml", "nothing like this", folder=folder)
    need(result.returncode == 0 and result.stderr == "Wrote junit XML output to none.xml\n", result.stderr)
    need(len(ElementTree.parse(os.path.join(folder, "none.xml")).getroot().find("testsuite")) == 0, "cases")
    result = perfuse("test", "-j/no/such/folder/x", "Symbols of", folder=folder)
    need(result.returncode == 255 and "/no/such/folder/x" in result.stderr, result.stderr)


def test_log():
    """-v prints the log of a failed check, -vv that of each check"""
    result = perfuse("test", "-v", "--dso", "/nonexistent/file", "Symbols of")
    first, *_, end, last = result.stderr.splitlines()
    need(first == "--- start ---" and end == "---- end(-1) ----" and "FAILED! (" in last and "/nonexistent/file" in last, result.stderr)
    need("start" not in perfuse("test", "-v", "Software").stderr, "-v prints the log of a check that did not fail")
    need("cpu-clock:u: " in perfuse("test", "-vv", "Software").stderr, "-vv has no log")


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
