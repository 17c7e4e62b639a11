"""What the end-to-end tests (test/*/run) share: the programs they use, how a test fails or is skipped, the lines that are printed.

    sys.path.insert(0, ...)        # of this folder
    from suite import PERFUSE, Failure, Skip, need, reference, run_tests, tests_of

A test is a callable; its name, a sentence, is its doc string. `need` fails it, `Skip` leaves it out and says why."""
import functools
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PERFUSE = os.path.abspath(os.environ.get("PERFUSE") or os.path.join(TOP, "build", "perfuse"))
SANITIZED = bool(os.environ.get("PERFUSE_SANITIZED"))
ATTEMPTS = 3


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Failure(text)


def reference():
    """The perf that tests compare with; None where there is none."""
    found = subprocess.run([os.path.join(TOP, "tools", "reference-perf"), "--path"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True).stdout.split()
    return found[-1] if found else os.environ.get("PERF") or shutil.which("perf")


def environment(home, **more):
    """For programs under test: no settings of the user, no language; what sanitizers are told."""
    kept = {name: os.environ[name] for name in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS") if name in os.environ}
    return {**kept, "LC_ALL": "C", "HOME": home, "PERF_CONFIG": "/dev/null", **more}


def virtual_machine(*words):
    """tools/vm run: boots a kernel and runs a command there. One that panics, as emulated ones do now and then, is booted once more, which
    the log tells; whatever else goes wrong is the caller's."""
    done = subprocess.run([os.path.join(TOP, "tools", "vm"), "run", "--again", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True, errors="replace")
    for line in done.stderr.splitlines():
        if line.startswith("vm: ") and line.endswith("once more"):
            print("# " + line, flush=True)
    return done


def reordered(lines):
    """What is left of a report's lines where rows and branches of equal weight may stand in any order."""
    return sorted(line.lstrip(b" |-").rstrip(b" |") for line in lines)


def by_samples(test):
    """For a test that judges where samples fell: on a machine that is busy with other things they may fall askew, so it fails when it
    fails each time. Its context forgets what it has recorded before another attempt, if it can."""
    @functools.wraps(test)
    def attempts(*arguments):
        for attempt in range(ATTEMPTS):
            try:
                return test(*arguments)
            except Failure as why:
                if attempt + 1 == ATTEMPTS:
                    raise
                print("# once more: %s" % str(why)[:300].replace("\n", " "), flush=True)
                for argument in arguments:
                    getattr(argument, "forget", lambda: None)()
        return None
    return attempts


def tests_of(module, *arguments):
    """(name, test) of each function test_... of a module's globals(), in the order in which they stand there."""
    return [(test.__doc__, functools.partial(test, *arguments)) for name, test in module.items() if name.startswith("test_")]


def run_tests(tests):
    """Runs them, those that the command line names, or all. Returns the exit code. Any other error is a failure of that test alone."""
    failed = False
    for name, test in tests:
        if not any(word in name for word in sys.argv[1:] or [""]):
            continue
        try:
            test()
            print("ok " + name, flush=True)
        except Skip as why:
            print("skip %s: %s" % (name, why), flush=True)
        except Exception as why:  # pylint: disable=broad-except
            failed = True
            kind = "" if isinstance(why, Failure) else type(why).__name__ + ": "
            print("# %s%s\nnot ok %s" % (kind, str(why).replace("\n", "\n# "), name), flush=True)
    return 1 if failed else 0
