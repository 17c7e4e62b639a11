"""Events that end a recorder early: signals, readers that exit, commands that do not end. The file is complete nevertheless."""
import os
import signal
import time

from suite import process
from suite.tests import need

SUMMARY = "[ perf record: Captured and wrote "
# Those that perf dies of with an unfinished file are among them.
ENDING = ("SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT", "SIGPIPE", "SIGALRM", "SIGUSR1", "SIGXCPU")


def heed_all():
    """The caller of the tests may ignore some signals, as nohup does; the recorder would inherit that."""
    for name in ENDING:
        signal.signal(getattr(signal, name), signal.SIG_DFL)


class Recorder:
    """`record` of a command, in a separate process group, which is killed at the end."""
    def __init__(self, c, *words, output="ends.data", **more):
        self.c = c
        more.setdefault("before", heed_all)
        self.output = c.path(output) if output else "-"
        if os.path.exists(self.output):
            os.unlink(self.output)
        self.process = process.start(c.program, "record", "-e", "cpu-clock", "-o", self.output, *words, text=False, cwd=c.work,
                                     env=c.environment(), start_new_session=True, **{"stdout": None, "stderr": process.PIPE, **more})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.stderr.close()
        self.process.wait(10)

    def has_group(self):
        """Whether a process of its group runs: its command."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def wait(self):
        """(exit code, stderr), when no process has its stderr open any more."""
        code = self.process.wait(120)
        if self.has_group():
            os.killpg(self.process.pid, signal.SIGKILL)
        return code, self.process.stderr.read().decode()

    def wait_for(self, path):
        process.wait_until(lambda: os.path.exists(self.c.path(path)), "the command does not start")
        os.unlink(self.c.path(path))

    def is_whole(self):
        """Whether the file's header says how much there is."""
        with open(self.output, "rb") as file:
            return int.from_bytes(file.read(56)[48:], "little") > 0

    def samples(self):
        """Of a whole file."""
        need(self.is_whole(), "the header of the recording says that it is not finished")
        done = process.run(self.c.program, "script", "-i", self.output, "-F", "comm", env=self.c.environment())
        need(done.returncode == 0 and not done.stderr, "%d: %s" % (done.returncode, done.stderr[:300]))
        return len(done.stdout.splitlines())


BUSY = ("--", "sh", "-c", "touch started; while :; do :; done")


def test_signals(c):
    """a signal that ends the recorder leaves a complete file, and the recorder dies of it"""
    for name in ENDING:
        number = getattr(signal, name)
        with Recorder(c, *BUSY) as r:
            r.wait_for("started")
            time.sleep(0.3)
            r.process.send_signal(number)
            code, text = r.wait()
            need(code == -number and SUMMARY in text, "%s: %d: %s" % (name, code, text))
            need(r.samples() > 20, "%s: %d samples" % (name, r.samples()))


def test_ignored(c):
    """a hangup that the caller ignores, as nohup does, does not end the recorder"""
    with Recorder(c, *BUSY, before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as r:
        r.wait_for("started")
        r.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        need(r.process.poll() is None, "it ended")
        r.process.send_signal(signal.SIGINT)
        need(r.process.wait(120) == -signal.SIGINT, "it ended with %d" % r.process.returncode)


def test_closed_stderr(c):
    """messages that no process reads do not end the recorder"""
    with Recorder(c, "-D", "300", *BUSY) as r:
        r.wait_for("started")
        r.process.stderr.close()
        time.sleep(1)  # "Events enabled" has been said
        need(r.process.poll() is None, "it ended with %s" % r.process.poll())
        r.process.send_signal(signal.SIGINT)
        r.process.wait(120)
        need(r.samples() > 20, "%d samples" % r.samples())


def test_pipe(c):
    """a recorder whose reader exits ends with SIGPIPE like any program of a pipeline, and so does its command"""
    with Recorder(c, *BUSY, output=None, stdout=process.PIPE) as r:
        r.wait_for("started")
        r.process.stdout.read(1000)
        r.process.stdout.close()
        code = r.process.wait(120)
        need(not r.has_group(), "the command still runs")
        need(code == -signal.SIGPIPE and not r.process.stderr.read(), "%d" % code)


def test_stubborn(c):
    """the file is complete before the command has ended: one that ignores SIGTERM, one that is stopped"""
    stubborn = ("--", "sh", "-c", "trap '' TERM INT; touch started; while :; do :; done")
    with Recorder(c, *stubborn) as r:
        r.wait_for("started")
        time.sleep(0.3)
        r.process.send_signal(signal.SIGINT)
        process.wait_until(r.is_whole, "the file is complete")
        need(r.process.poll() is None, "it did not wait for its command")
        need(r.samples() > 20, "%d samples" % r.samples())
        r.process.send_signal(signal.SIGINT)
        need(r.process.wait(120) == -signal.SIGINT, "a second interrupt: %d" % r.process.returncode)
    with Recorder(c, "--", "sh", "-c", "touch started; kill -STOP $$") as r:
        r.wait_for("started")
        time.sleep(0.3)
        need(r.process.poll() is None, "it ended with its command stopped")
        r.process.send_signal(signal.SIGTERM)
        need(r.process.wait(120) == -signal.SIGTERM, "it ended with %s" % r.process.returncode)


def test_killed(c):
    """the recording of a recorder that was killed is read up to the last write"""
    with Recorder(c, "-F", "20000", *BUSY) as r:
        r.wait_for("started")
        process.wait_until(lambda: os.path.getsize(r.output) > 600000, "the recording does not grow")
        r.process.kill()
        r.process.wait(120)
        done = process.run(c.program, "script", "-i", r.output, "-F", "comm", env=c.environment())
        count = len(done.stdout.splitlines())
        need(count > 5000, "%d: %d samples: %s" % (done.returncode, count, done.stderr[:300]))


def test_unread_acknowledgement(c):
    """a controller that sends commands and reads no answers does not stop the recorder"""
    commands, answers = os.pipe(), os.pipe()
    fds = (commands[0], answers[1])
    with Recorder(c, "--control", "fd:%d,%d" % fds, *BUSY, pass_fds=fds) as r:
        r.wait_for("started")
        os.set_blocking(commands[1], False)
        sent, until = 0, time.monotonic() + 120
        while sent < 64 and time.monotonic() < until:
            try:
                os.write(commands[1], b"ping\n" * 512)
                sent += 1
            except BlockingIOError:
                time.sleep(0.02)
        need(sent == 64, "it reads no commands any more")
        os.set_blocking(commands[1], True)
        os.write(commands[1], b"stop\n")
        need(r.process.wait(120) == -signal.SIGTERM, "it ended with %s" % r.process.returncode)
        need(r.samples() > 0, "%d samples" % r.samples())
    for fd in commands + answers:
        os.close(fd)
