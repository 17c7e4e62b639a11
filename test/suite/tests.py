"""How a test passes, fails or is skipped, and the lines that are printed: `ok NAME`, `not ok NAME`, `skip NAME: WHY`, remarks after `# `.

A test is a callable; its name, a sentence, is its doc string. `need` fails it, `Skip` skips it and gives the reason."""
import functools
import os
import shutil
import sys
import tempfile
import time

ATTEMPTS = 3
SLOW_SECONDS = 5  # a test that takes longer says so


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Failure(text)


def need_tools(*names):
    for name in names:
        if not shutil.which(name):
            raise Skip("no " + name)


def need_root(why):
    if os.geteuid() != 0:
        raise Skip(why)


def remark(text):
    print("# " + str(text).replace("\n", "\n# "), flush=True)


def passed(name):
    print("ok " + name, flush=True)


def skipped(name, why):
    print("skip %s: %s" % (name, why), flush=True)


def report(name, problems, most=20):
    """Prints the line of a test, with its problems before it; returns whether it failed."""
    for problem in problems[:most]:
        print("# " + problem.replace("\n", "\\n"))
    if len(problems) > most:
        print("# and %d more" % (len(problems) - most))
    print(("not ok " if problems else "ok ") + name, flush=True)
    return bool(problems)


def by_samples(test):
    """For a test that judges where samples are: on a busy machine they may be elsewhere, so the test fails only if each attempt fails.
    `forget` of its context removes what was recorded before another attempt."""
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


def is_selected(name):
    """Whether the words of the command line select the test, or there are no words."""
    return any(word in name for word in sys.argv[1:] or [""])


def tests_of(module, *arguments):
    """(name, test) of each function test_... of a module's globals(), in their order there."""
    return [(test.__doc__, functools.partial(test, *arguments)) for name, test in module.items() if name.startswith("test_")]


def run_tests(tests):
    """Runs those that the command line selects. Returns the exit code. An unexpected exception fails its test alone."""
    failed = False
    for name, test in tests:
        if not is_selected(name):
            continue
        began = time.monotonic()
        try:
            test()
            passed(name)
        except Skip as why:
            skipped(name, why)
        except Exception as why:  # pylint: disable=broad-except
            failed = True
            kind = "" if isinstance(why, Failure) else type(why).__name__ + ": "
            print("# %s%s\nnot ok %s" % (kind, str(why).replace("\n", "\n# "), name), flush=True)
        if time.monotonic() - began > SLOW_SECONDS:
            remark("%.0f s: %s" % (time.monotonic() - began, name))
    return 1 if failed else 0


def run_in_folder(title, prepare, module, where=None):
    """Runs the tests of a module's globals() with the context that prepare(folder) makes of a new folder, which is removed afterwards; before
    that the context is closed if it has `close`. A Skip of prepare skips all tests, under the title. Returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="perfuse-", dir=where, ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        try:
            context = prepare(folder)
        except Skip as why:
            skipped(title, why)
            return 0
        except Failure as problem:
            return report(title, [str(problem)])
        try:
            return run_tests(tests_of(module, context))
        finally:
            getattr(context, "close", lambda: None)()
