#!/usr/bin/env python3
"""The walk-throughs of docs/examples about waits: their programs and commands show what the pages say."""
import json
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.process import perfuse
from suite.settings import TEST, TOP
from suite.tests import Skip, by_samples, need, need_root, run_tests, tests_of

POSTGRES = "/usr/lib/postgresql"


class Context:
    def __init__(self, work):
        self.work = work
        self.server = None

    def program(self, name):
        """A compiled program of a page."""
        path = os.path.join(self.work, name)
        if not os.path.exists(path):
            need_root("BPF programs")
            process.must("cc", "-O2", "-pthread", "-o", path, os.path.join(TEST, "waits", name + ".c"), cwd=self.work, env=process.compilers())
        return path

    def page(self, name, *commands):
        """Fails unless the page has the commands that the test runs."""
        with open(os.path.join(TOP, "docs/examples", name)) as page:
            text = page.read()
        for command in commands:
            need("    perf " + command in text, "%s has no command %s" % (name, command))

    def run(self, *words):
        done = perfuse(*words, cwd=self.work)
        if re.search("lets this user|does not publish|not supported|has no tracepoint", done.stderr):
            raise Skip(done.stderr.splitlines()[0])
        need(done.returncode == 0, " ".join(words) + done.stderr[-500:])
        return done.stdout, done.stderr

    def rows(self, *words):
        text = self.run(*words)[0]
        return json.loads(text[text.index("{"):])["tables"][0]["rows"]

    def database(self):
        """The words that let pgbench reach a server of this test."""
        if not os.path.isdir(POSTGRES) or not shutil.which("pgbench"):
            raise Skip("no postgresql")
        need_root("BPF programs")
        folder = os.path.join(self.work, "pg")
        words = ["-U", "postgres", "-h", folder, "-p", "54321"]
        if not self.server:
            os.chmod(self.work, 0o711)
            os.mkdir(folder)
            shutil.chown(folder, "postgres")
            binaries = os.path.join(POSTGRES, sorted(os.listdir(POSTGRES))[-1], "bin")
            self.server = "%s/pg_ctl -D %s/data -w -o \"-k %s -p 54321 -h ''\" -l %s/log " % (binaries, folder, folder, folder)
            process.must("su", "postgres", "-s", "/bin/sh", "-c", "%s/initdb -D %s/data -A trust && %s start" % (binaries, folder, self.server),
                         cwd=folder, stdout=process.DEVNULL)
            process.must("pgbench", *words, "-q", "-i", "-s", "1", "postgres", cwd=folder)
        return words

    def close(self):
        if self.server:
            process.run("su", "postgres", "-s", "/bin/sh", "-c", self.server + "-m fast stop", cwd=self.work)
        shutil.rmtree(self.work, ignore_errors=True)


@by_samples
def test_latency(context):
    """latency-lock.md: the wait for the lock is in look_up, the sleep that has it in reload_table, and the lock is table_lock"""
    context.page("latency-lock.md", "offcpu -E 3 ./server 400", "lock contention --user -E 1 ./server 400",
                 "offcpu --flamegraph waits.svg ./server 400")
    server, picture = context.program("server"), os.path.join(context.work, "waits.svg")
    rows = context.rows("offcpu", "--format=json", "--flamegraph", picture, "--", server, "400")
    lock = sum(row["time"] for row in rows if row["reason"] == "futex" and row["where"].startswith("look_up < handle_request"))
    reload = [row for row in rows if row["where"].startswith("reload_table < look_up")]
    waits, slept = sum(row["waits"] for row in reload), sum(row["time"] for row in reload)
    need(waits == 40 and all(row["reason"] == "timer" for row in reload), str(rows))
    need(2 < lock / slept < 3.5, "%d ns for the lock, %d ns with it" % (lock, slept))
    with open(picture) as svg:
        text = svg.read()
    need(all(name in text for name in ("handle_request", "look_up", "reload_table", "mutex_lock")), "the picture lacks frames")
    rows = context.rows("lock", "contention", "--user", "--format=json", "--", server, "400")
    need(rows[0]["symbol"] == "table_lock" and rows[0]["holder_comm"] == "server", str(rows[0]))


@by_samples
def test_storm(context):
    """switch-storm.md: tens of thousands of waits, all for pipes, half in each thread"""
    context.page("switch-storm.md", "offcpu --by reason ./pingpong 20000", "offcpu -E 2 ./pingpong 20000")
    program = context.program("pingpong")
    rows = context.rows("offcpu", "--by", "reason", "--format=json", "--", program, "20000")
    need(rows[0]["reason"] == "pipe" and rows[0]["waits"] > 10000 and rows[0]["time"] > 0.9 * sum(row["time"] for row in rows), str(rows))
    rows = context.rows("offcpu", "--format=json", "--", program, "20000")
    need({row["where"].split(" ")[0] for row in rows[:2]} == {"answer", "main"}, str(rows[:2]))


def test_workers(context):
    """threads-or-processes.md: threads wait for mmap_lock, processes do not"""
    context.page("threads-or-processes.md", "lock contention -b -l -E 1 -- ./workers threads 100 60",
                 "lock contention -b -l -E 1 -- ./workers processes 100 60")
    program, sums = context.program("workers"), {}
    for kind in ("threads", "processes"):
        text = context.run("lock", "contention", "-b", "-l", "-x,", "--", program, kind, "100", "60")[1]
        rows = [line.split(", ") for line in text.splitlines() if line[0].isdigit()]
        sums[kind] = sum(int(row[1]) for row in rows if row[5] == "mmap_lock")
    need(sums["threads"] > 10 * sums["processes"] and sums["threads"] > 1e7, str(sums))


def test_postgresql(context):
    """postgresql-locks.md: the kernel's locks, the program's, and ProcSleep as what the clients wait for"""
    context.page("postgresql-locks.md", "lock contention -ab -E 3 -- pgbench", "lock contention --user -a -E 3 -- pgbench",
                 "offcpu -a -E 10 -- pgbench")
    bench = ("pgbench", *context.database(), "-c", "8", "-j", "2", "-T", "3", "postgres")
    text = context.run("lock", "contention", "-ab", "-E", "3", "--", *bench)[1]
    need(len(re.findall(r"(?m)^ +\d+ +[\d.]+ [mun]?s +.*\+0x", text)) == 3, text)
    text = context.run("lock", "contention", "--user", "-a", "-E", "3", "--", *bench)[1]
    need("Futex" in text, text)
    rows = context.rows("offcpu", "-a", "--format=json", "--", *bench)
    need(any(row["comm"] == "postgres" and "ProcSleep" in row["stack"] and row["time"] > 1e8 for row in rows), str(rows[:5]))


def main():
    context = Context(tempfile.mkdtemp(prefix="perfuse-waits-"))
    try:
        return run_tests(tests_of(globals(), context))
    finally:
        context.close()


if __name__ == "__main__":
    sys.exit(main())
