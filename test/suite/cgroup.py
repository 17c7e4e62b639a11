"""A cgroup (version 2) for the time of a test."""
import contextlib
import os

from suite import process
from suite.tests import Skip


@contextlib.contextmanager
def new_cgroup():
    """The folder and the name below the mount; a process of a shell enters it by `echo $$ >FOLDER/cgroup.procs`."""
    with open("/proc/mounts") as mounts:
        found = [line.split()[1] for line in mounts if line.split()[2] == "cgroup2"]
    if not found:
        raise Skip("cgroup version 2 is not mounted; test/vm_locks.py has version 1")
    group = os.path.join(found[0], "perfuse-test-%d" % os.getpid())
    try:
        os.mkdir(group)
    except OSError as why:
        raise Skip("no cgroup can be made: %s" % why) from why
    try:
        yield group, "/" + os.path.basename(group)
    finally:
        process.wait_until(lambda: not open(os.path.join(group, "cgroup.procs")).read(), "the cgroup is empty")
        os.rmdir(group)
