"""The perf that tests compare with, and what may differ between two outputs that agree."""
import functools
import os
import shutil

from suite.process import environment, perfuse, run
from suite.settings import PERFUSE, TOP
from suite.tests import Skip


@functools.lru_cache(None)
def reference():
    """The path of perf 6.12 or of $PERF; None if there is no perf."""
    found = run(os.path.join(TOP, "tools", "reference-perf"), "--path", env=os.environ).stdout.split()
    return found[-1] if found else os.environ.get("PERF") or shutil.which("perf")


def need_reference():
    if not reference():
        raise Skip("there is no perf to compare with")
    return reference()


def shell_folder():
    """Where the reference has installed perf's own test scripts."""
    return os.path.join(os.path.dirname(os.path.dirname(need_reference())), "libexec", "perf-core", "tests", "shell")


def shell_tests():
    """The names of perf's own test scripts."""
    found = sorted(name for name in os.listdir(shell_folder()) if name.endswith(".sh")) if os.path.isdir(shell_folder()) else []
    if not found:
        raise Skip("perf's own test scripts are not installed")
    return found


def shell_test(folder, name):
    """Runs one of perf's own test scripts with perfuse as `perf`."""
    scripts = shell_folder()
    tools = os.path.join(folder, "as-perf")
    os.makedirs(tools, exist_ok=True)
    if not os.path.lexists(os.path.join(tools, "perf")):
        os.symlink(PERFUSE, os.path.join(tools, "perf"))
    return run("bash", os.path.join(scripts, name), cwd=folder, env=environment(folder, PATH=tools + ":" + os.environ["PATH"]))


def reordered(lines):
    """The lines of a report without their order: rows and branches of equal weight may be in any order."""
    return sorted(line.lstrip(b" |-").rstrip(b" |") for line in lines)


def without_tip(text):
    """A report without its last line, a random tip."""
    mark, end = (b"# (Tip:", b"\n") if isinstance(text, bytes) else ("# (Tip:", "\n")
    return end.join(line for line in text.split(end) if not line.startswith(mark))


def first_difference(ours, perfs):
    """A sentence about the first line that differs."""
    a, b = ours.splitlines(), perfs.splitlines()
    for number, (x, y) in enumerate(zip(a, b), 1):
        if x != y:
            return "line %d is %r, perf has %r" % (number, x[:160], y[:160])
    return "%d lines, perf has %d" % (len(a), len(b))


def need_recording(folder, *options):
    """Skips the test where this user may not record."""
    done = perfuse("record", "-o", os.path.join(folder, "try.data"), *(options or ("-e", "cpu-clock:u")), "--", "true", cwd=folder)
    if done.returncode:
        raise Skip("nothing can be recorded here (kernel.perf_event_paranoid, seccomp?): " + done.stderr.strip()[-150:])
