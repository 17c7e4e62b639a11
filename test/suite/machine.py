"""Virtual machines (tools/vm), other processors (tools/cross), and builds of this tree."""
import os
import sys

from suite.process import must, run
from suite.settings import PERFUSE, TOP
from suite.tests import remark

VM, CROSS = os.path.join(TOP, "tools", "vm"), os.path.join(TOP, "tools", "cross")
BUILD_SECONDS_MAX = 3600


def vm(*words, **more):
    return run(VM, *words, env=os.environ, seconds=BUILD_SECONDS_MAX, **more)


def virtual_machine(*words):
    """Boots a kernel and runs a command there. A kernel that panics, as emulated ones sometimes do, is booted once more, which is logged."""
    done = vm("run", "--again", *words)
    for line in done.stderr.splitlines():
        if line.startswith("vm: ") and line.endswith("once more"):
            remark(line)
    return done


def cross(arch, folder, *targets):
    """Builds for another processor; the exit code."""
    return run(CROSS, arch, folder, *targets, env=os.environ, seconds=BUILD_SECONDS_MAX, stdout=sys.stderr, stderr=None).returncode


def native_build(*targets):
    """The folder of a build for this processor: that of $PERFUSE, or `build`, made up to date."""
    if os.environ.get("PERFUSE"):
        return os.path.dirname(PERFUSE)
    folder = os.path.join(TOP, "build")
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        must("meson", "setup", folder, TOP, env=os.environ, seconds=BUILD_SECONDS_MAX)
    must("ninja", "-C", folder, "--quiet", *targets, env=os.environ, seconds=BUILD_SECONDS_MAX)
    return folder
