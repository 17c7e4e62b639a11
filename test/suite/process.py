"""The one way in which tests run programs: in bounded time, without standard input unless it is given, with the output captured as text,
in an environment without the user's settings. No other test module imports subprocess (tools/check-hygiene)."""
import os
import pty
import subprocess
import time

from suite.settings import PERFUSE, SANITIZED
from suite.tests import Failure, Skip, need

SECONDS_MAX = 600  # what takes longer hangs, also on a machine with much other work
NOBODY = 65534
NO_HOME = "/dev/null"  # a home in which root cannot create a folder either
PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
PASSED_ON = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")


class Hang(Failure):
    """The program was killed because it did not end in time."""


def environment(home, **more):
    """For programs under test: an empty home, no configuration, the C locale, the options of the sanitizers."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed_on, "LC_ALL": "C", "HOME": home, "PERF_CONFIG": "/dev/null", **more}


def compilers(**more):
    """For compilers and build systems: the user's environment, as it has their installations and caches."""
    return {**os.environ, "LC_ALL": "C", **more}


def arguments(cwd, env, user, before, more):
    """What Popen takes. user: a number of a user and group; before: called in the child before the program starts."""
    if user is not None:
        more.update(user=user, group=user, extra_groups=[])
    if before:
        more["preexec_fn"] = before
    more.setdefault("stdin", DEVNULL)
    return {"cwd": cwd, "env": environment(cwd or NO_HOME) if env is None else env, **more}


def run(*command, cwd=None, env=None, text=True, seconds=SECONDS_MAX, user=None, before=None, input=None, stdout=PIPE, stderr=PIPE, **more):
    """A subprocess.CompletedProcess; Hang if it does not end within the seconds (five times as many with sanitizers)."""
    if input is None:
        more = arguments(cwd, env, user, before, more)
    else:
        more = {**arguments(cwd, env, user, before, more), "input": input}
        del more["stdin"]
    try:
        return subprocess.run(command, stdout=stdout, stderr=stderr, timeout=seconds * (5 if SANITIZED else 1), check=False,
                              **({"text": True, "errors": "replace"} if text else {}), **more)
    except subprocess.TimeoutExpired:
        raise Hang("%s does not end within %d s" % (" ".join(map(str, command[:3])), seconds)) from None


def must(*command, **more):
    """run, for a program that has to succeed: what it prints."""
    done = run(*command, **more)
    need(done.returncode == 0, "%s: exit code %d: %s" % (" ".join(map(str, command)), done.returncode, (done.stderr or "")[-500:]))
    return done.stdout


def perfuse(*words, **more):
    return run(PERFUSE, *words, **more)


class Started(subprocess.Popen):
    """A program that runs beside the test: killed at the end of its `with`, if it still runs."""

    def __exit__(self, *_):
        if self.poll() is None:
            self.kill()
        for stream in (self.stdout, self.stderr, self.stdin):
            if stream and not stream.closed:
                stream.close()
        self.wait()


def start(*command, cwd=None, env=None, text=True, user=None, before=None, stdout=PIPE, stderr=DEVNULL, **more):
    return Started(command, stdout=stdout, stderr=stderr, **({"text": True, "errors": "replace"} if text else {}),
                   **arguments(cwd, env, user, before, more))


def on_terminal(*command, stdout=True, stderr=True, raw=False, user=None, **more):
    """A program whose stdout, stderr or both are a terminal: a subprocess.CompletedProcess with the bytes that reached the terminal as
    stdout. raw: the terminal does not change ends of lines."""
    try:
        ours, theirs = pty.openpty()
    except OSError as problem:
        raise Skip("no terminal can be made here (%s): /dev/pts is not mounted?" % problem) from None
    if raw:
        run("stty", "-opost", stdin=theirs)
    if user is not None:
        os.fchown(theirs, user, user)
    with start(*command, stdout=theirs if stdout else DEVNULL, stderr=theirs if stderr else DEVNULL, user=user, **more) as child:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # no process has the other end any more
                break
            if not piece:
                break
            seen += piece
        os.close(ours)
        return subprocess.CompletedProcess(command, child.wait(60), seen, b"")


def wait_until(condition, what, seconds=60):
    """Fails unless the condition holds within the seconds."""
    end = time.monotonic() + seconds
    while not condition():
        need(time.monotonic() < end, "%s, within %d s" % (what, seconds))
        time.sleep(0.02)


def until_used(pid, ms):
    """The words of a command that ends when a process has used that much more CPU time in its own code, has ended, or after a minute. A
    recording of the process runs it, as no period of time promises a sample on a loaded machine."""
    return ["sh", "-c", """used() { set -- $(sed 's/.*) //' /proc/$1/stat 2>/dev/null); echo ${12}; }
        first=$(used $0) n=0
        while now=$(used $0); [ -n "$now" ] && [ $((now - first)) -lt $1 ] && [ $n -lt 1200 ]; do sleep 0.05; n=$((n + 1)); done""",
            str(pid), str(ms * os.sysconf("SC_CLK_TCK") // 1000)]


def fork_as(user, action):
    """Runs a function in a child process as another user; the child's number. The caller waits for it."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        action()
    finally:
        os._exit(0)


def died(code):
    """Whether an exit code, of the program or of a shell that ran it, is that of a crash."""
    return code < 0 or code in (132, 134, 135, 136, 137, 139)


def build_id(path):
    """The build-id of an ELF file, as readelf prints it."""
    words = must("readelf", "-n", path).split("Build ID: ")
    need(len(words) > 1, "%s has no build-id" % path)
    return words[1].split()[0]
