#!/usr/bin/env python3
"""`daemon`: its sessions, its clients, its configuration while it runs, and who may use it."""
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time

from suite import process
from suite.process import NOBODY, environment
from suite.settings import PERFUSE, SANITIZED
from suite.tests import need, need_root, run_tests, tests_of

RECORD = "-e cpu-clock -m 1 sleep 60"
MEMORY_KB_MAX = 5000


class Daemon:
    """A base folder, a configuration, and the commands for them."""

    def __init__(self, **sessions):
        self.folder = tempfile.mkdtemp(prefix="perfuse-daemon-")
        self.base = os.path.join(self.folder, "base")
        self.config = os.path.join(self.folder, "config")
        os.mkdir(self.base)
        self.configure(**sessions)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.run("stop")
        if self.pid():
            process.wait_until(lambda: not alive(self.pid()), "the daemon ends")
        shutil.rmtree(self.folder, ignore_errors=True)

    def configure(self, **sessions):
        fresh = self.config + ".new"
        with open(fresh, "w") as out:
            out.write("[daemon]\nbase=%s\n" % self.base)
            out.write("".join("[session-%s]\nrun = %s\n" % item for item in sessions.items()))
        os.rename(fresh, self.config)

    def run(self, *words, **more):
        return process.perfuse("daemon", *words, "--config", self.config, env=environment(self.folder), **more)

    def start(self):
        done = self.run("start")
        need(done.returncode == 0, "start: %d, %s" % (done.returncode, done.stderr))
        return self

    def path(self, *names):
        return os.path.join(self.base, *names)

    def text(self, *names):
        return open(self.path(*names)).read() if os.path.exists(self.path(*names)) else ""

    def pid(self):
        return int(self.text("lock") or 0)

    def sessions(self):
        """pid by name."""
        return {name: int(pid) for pid, name in re.findall(r"^\[(\d+):([\w-]+)\] perfuse record", self.run().stdout, re.M)}

    def wait_for(self, *names):
        process.wait_until(lambda: sorted(self.sessions()) == sorted(names) and
                           self.run("ping").stdout == "".join("OK   %s\n" % n for n in self.sessions()), "the sessions answer")
        return self.sessions()


def alive(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_life():
    """a daemon starts its sessions, lists, signals and pings them, and ends with them"""
    with Daemon(a="-e cpu-clock -m 1 --switch-output sleep 60", b=RECORD).start() as d:
        pids = d.wait_for("a", "b")
        need(d.run("ping", "--session", "c").stdout == "FAIL c (not found)\n", "ping of a session that does not exist")
        need(d.run("signal", "--session", "a").stdout == "signal 12 sent to session 'a [%d]'\n" % pids["a"], "signal")
        process.wait_until(lambda: len([n for n in os.listdir(d.path("session-a")) if n.startswith("perf.data")]) == 2, "a file is made")
        fields = d.run("-x:").stdout.splitlines()
        need(fields[0] == "%d:daemon:%s:%s/output:%s/lock:0" % (d.pid(), d.base, d.base, d.base), fields[0])
        need(fields[2].startswith("%d:b:%s:%s/session-b:" % (pids["b"], RECORD, d.base)), fields[2])
        second = d.run("start")
        need(second.returncode == 255 and second.stderr == "failed: another perfuse daemon (pid %d) owns %s\n" % (d.pid(), d.base), second.stderr)
        status = open("/proc/%d/status" % d.pid()).read()
        peak = int(re.search(r"VmHWM:\s+(\d+)", status).group(1))
        need(SANITIZED or peak < MEMORY_KB_MAX, "%d kB of memory" % peak)
        need(d.run("stop").returncode == 0, "stop")
        process.wait_until(lambda: not any(map(alive, [d.pid(), *pids.values()])), "the daemon and its sessions end")
        need(d.run().returncode == 255 and "No daemon runs" in d.run().stderr, "a list without a daemon")


def test_signal_before_the_end():
    """a session that is signalled directly before its end writes both files"""
    with Daemon(a="-e cpu-clock -m 1 --switch-output sleep 60").start() as d:
        pid = d.wait_for("a")["a"]
        os.kill(pid, signal.SIGSTOP)
        d.run("signal")
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGCONT)
        process.wait_until(lambda: not alive(pid), "the session ends")
        files = [name for name in os.listdir(d.path("session-a")) if name.startswith("perf.data.")]
        need(len(files) == 2, "files: %s" % files)


def test_early_signal():
    """a signal directly after the start does not end the sessions, which write a file for it"""
    for _ in range(3):
        with Daemon(a="-e cpu-clock -m 1 --switch-output sleep 60", b="-e cpu-clock -m 1 sleep 60").start() as d:
            sent = d.run("signal").stdout
            pids = d.wait_for("a", "b")
            need("'a [%d]'" % pids["a"] in sent and "'b [%d]'" % pids["b"] in sent, "%s, then %s" % (sent, pids))
            process.wait_until(lambda: any(n.startswith("perf.data.") for n in os.listdir(d.path("session-a"))), "a file is made")


def test_deaths():
    """a daemon outlives its sessions; a session ends with its daemon"""
    with Daemon(a=RECORD, b=RECORD, missing="-e cpu-clock /nonexistent/program").start() as d:
        pids = d.wait_for("a", "b")
        os.kill(pids["a"], signal.SIGKILL)
        process.wait_until(lambda: "session 'a' killed (signal 9)" in d.text("output"), "the death is logged")
        need(re.search(r"session 'missing' exited, status=[1-9]", d.text("output")), d.text("output"))
        need(d.run("ping").stdout == "OK   b\n", "the other session answers")
        os.kill(d.pid(), signal.SIGKILL)
        process.wait_until(lambda: not alive(pids["b"]), "the session ends")
        need(d.run().returncode == 255, "no daemon")
        d.start().wait_for("a", "b")


def test_reconfiguration():
    """a changed configuration ends, starts and restarts sessions; an invalid one changes nothing"""
    with Daemon(a=RECORD, b=RECORD).start() as d:
        before = d.wait_for("a", "b")
        d.configure(a=RECORD, b="-e task-clock -m 1 sleep 60", c=RECORD)
        process.wait_until(lambda: d.sessions().get("b", before["b"]) != before["b"], "the session is restarted")
        after = d.wait_for("a", "b", "c")
        need(after["a"] == before["a"], "the unchanged session was restarted")
        d.configure(a="sh -c 'true", c=RECORD)
        process.wait_until(lambda: "a quote is not closed" in d.text("output"), "the mistake is logged")
        need(d.sessions() == after, "an invalid configuration changed the sessions")
        d.configure()
        process.wait_until(lambda: not d.sessions(), "all sessions end")


def test_words():
    """the arguments of a session are split with quotes, and no shell runs"""
    with Daemon(a="\"-e cpu-clock -o 'a b' -- sh -c 'touch \\\"one two\\\"; sleep 60'\"").start() as d:
        process.wait_until(lambda: os.path.exists(d.path("session-a", "one two")), "the command runs: %s" % d.text("session-a", "output"))
        need(os.path.exists(d.path("session-a", "a b")), "the file has another name")
    with Daemon(a="\"-e cpu-clock -- touch $HOME;touch `id`\"").start() as d:
        process.wait_until(lambda: "exited" in d.text("output"), "the session ends")
        process.wait_until(lambda: os.path.exists(d.path("session-a", "$HOME;touch")), "words are expanded")


def request(d, *pieces):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(d.path("control"))
        for piece in pieces:
            try:
                s.sendall(piece)
            except OSError:
                return b""
        s.settimeout(10)
        try:
            return s.recv(65536)
        except ConnectionResetError:
            return b""


def test_hostile_clients():
    """a daemon refuses incomplete, invalid and endless requests, and still answers"""
    with Daemon(a=RECORD).start() as d:
        d.wait_for("a")
        for pieces in ([b""], [b"x"], [b"\0" * 92], [b"A" * (1 << 20)], [b"1DFP\xff\0\0\0" + b"B" * 84]):
            need(request(d, *pieces) == b"", "an answer to %r" % pieces[0][:8])
        waiting = []
        for _ in range(6):
            s = socket.socket(socket.AF_UNIX)
            s.connect(d.path("control"))
            waiting.append(s)
        began = time.monotonic()
        done = d.run()
        need(done.returncode == 0 and "[" in done.stdout, "the list behind silent clients: %s" % done.stderr)
        need(time.monotonic() - began < 10, "silent clients hold the daemon")
        for s in waiting:
            s.close()
        need(list(d.sessions()) == ["a"], "the session ended")


def test_other_users():
    """another user can neither ask a daemon nor offer a base folder, a configuration or a socket to root"""
    need_root("switches users")
    with Daemon(a=RECORD).start() as d:
        d.wait_for("a")
        os.chmod(d.folder, 0o755)
        os.chmod(d.path("control"), 0o777)
        os.waitpid(process.fork_as(NOBODY, lambda: request(d, b"x")), 0)
        need("a connection of another user is refused" in d.text("output"), d.text("output"))
        need(d.run("ping").returncode == 0, "ping")
    with Daemon(a="-e cpu-clock true") as d:
        for change in (lambda: os.chown(d.base, NOBODY, NOBODY), lambda: os.chmod(d.base, 0o777), lambda: os.chmod(d.config, 0o666),
                       lambda: os.chown(d.config, NOBODY, NOBODY)):
            change()
            done = d.run("start")
            need(done.returncode == 255 and done.stderr.count("\n") in (1, 2), "start: %d %s" % (done.returncode, done.stderr))
            need(not d.pid(), "a daemon runs")
            os.chown(d.base, 0, 0)
            os.chmod(d.base, 0o755)
            os.chown(d.config, 0, 0)
            os.chmod(d.config, 0o644)
        other = tempfile.mkdtemp(prefix="perfuse-daemon-other-")
        os.symlink(other, d.path("session-a"))
        d.start()
        process.wait_until(lambda: "session-a" in d.text("output"), "the link is refused")
        need(not os.listdir(other), "the session's folder is a link's target")
        os.rmdir(other)


def test_foreground():
    """in the foreground a daemon prints its log, and ends on SIGINT"""
    with Daemon(a=RECORD) as d:
        with process.start(PERFUSE, "daemon", "start", "-f", "--config", d.config, env=environment(d.folder)) as child:
            d.wait_for("a")
            child.send_signal(signal.SIGINT)
            out = child.communicate(timeout=30)[0]
            need(child.returncode == 0 and "daemon started (pid %d)" % child.pid in out and out.endswith("daemon exited\n"), out)


def test_mistakes():
    """a mistake in the command line or the configuration is one sentence and exit code 255"""
    with Daemon(a=RECORD) as d:
        for words, sentence in ((["--config", "/nonexistent"], "failed: realpath: No such file or directory\n"),
                                (["--config", d.config, "--base", d.folder + "/x"], "failed: base '%s/x' does not exists\n" % d.folder),
                                (["--config", d.config, "--base", d.config], "failed: base '%s' is not directory\n" % d.config),
                                (["--config", "/dev/null"], "/dev/null is not a regular file\n")):
            for part in ([], ["start"], ["stop"], ["signal"], ["ping"]):
                done = process.perfuse("daemon", *part, *words)
                need(done.returncode == 255 and done.stderr == sentence, "%s: %d %s" % (words, done.returncode, done.stderr))
        done = process.perfuse("daemon", "restart")
        need(done.returncode == 255 and done.stderr == "failed: unknown command 'restart'\n", done.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
