#!/usr/bin/env python3
"""vm_machines.py [ARCH:KERNEL]...: boots real kernels, records there with clocks, tracepoints, kprobes and (aarch64) the PMU's cycles, reads
the recordings there and here, and compares what is read here with perf 6.12 where there is one."""
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.machine import BUILD_SECONDS_MAX, cross, native_build, virtual_machine
from suite.perf import reference
from suite.settings import TEST, TOP
from suite.tests import Failure, need, report

MACHINES = ("x86_64:debian-6.1", "x86_64:debian-6.12", "aarch64:debian-6.1", "aarch64:debian-6.12")
# What the text of a step must have, whatever the machine.
EXPECTED = {
    "clock.report": [r"shape_seventy\b", r"shape_bottom\b", r"shape-skewed"],
    "clock.script": [r"shape_descend\+0x[0-9a-f]+ \(/bin/shape\)"],
    "system.report": [r"\[k\] \w+"],
    "tracepoints.script": [r"sched:sched_process_exec: filename=/bin/cat", r"sched:sched_process_fork: comm=sh ", r"raw_syscalls:sys_enter: NR \d+"],
    "packed.report": [r"shape_even_a\b"],
    "kprobe.script": [r"lab:opened: \([0-9a-f]+\)"],
    "piped.report": [r"shape_seventy\b"],
    "kcore.modes": [r"\A700\n700\n400\n400\n400\n\Z"],
    "kcore.lines": [r"(?m)^ *[0-9a-f]{16} \w+( insn:( [0-9a-f]{2})+)?$"],
    "kcore.names": [r"(?m)^schedule: \[kernel\] \[kernel.kallsyms\] 0x[0-9a-f]{16}-"],
    "cycles.report": [r"shape_seventy\b", r"event 'cycles:u'"],
    "frequency.report": [r"shape_bottom\b"],
}
SHARES = {"shape_seventy": 70, "shape_twenty": 20, "shape_ten": 10}  # percent of their thread


def read(*path):
    try:
        with open(os.path.join(*path), errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def build(arch):
    """(perfuse, shape) for an architecture."""
    targets = ("perfuse", "test/workload/shape")
    if arch == "x86_64":
        folder = native_build(*targets)
    else:
        folder = os.path.join(TOP, "build-" + arch)
        need(cross(arch, folder, *targets) == 0, "tools/cross %s fails" % arch)
    return tuple(os.path.join(folder, target) for target in targets)


def shares_problems(text):
    """Whether the skewed thread's functions have the right shares."""
    found = {}
    for share, name in re.findall(r"^ +(?:[\d.]+% +)?([\d.]+)%.*\[\.\] (shape_\w+)$", text, re.M):
        found.setdefault(name, float(share))
    whole = sum(found.get(name, 0) for name in SHARES)
    if not whole:
        return ["none of the skewed thread's functions is in the report"]
    return ["%s has %.0f%% of its thread, not %d%%" % (name, 100 * found.get(name, 0) / whole, share)
            for name, share in SHARES.items() if abs(100 * found.get(name, 0) / whole - share) > 12]


def samples_problems(folder, name):
    """`script` must show as many samples as `record` reported."""
    text = read(folder, name + ".record.err")
    reported = re.search(r"\((?:~)?(\d+) samples\)", text)
    if not reported and ", compressed (" in text:
        return []  # perf does not report the samples of a compressed recording
    if not reported:
        return ["record does not report its samples: %s" % text[-200:]]
    shown = len(re.findall(r"^[^\t\n].* \d+\.\d{6}: ", read(folder, name + ".script.out"), re.M))
    return [] if shown == int(reported.group(1)) else ["record wrote %s samples, script shows %d" % (reported.group(1), shown)]


def here_problems(program, folder, name):
    """Whether script reads the recording on this machine."""
    symfs = os.path.join(folder, "symfs")
    os.makedirs(symfs, exist_ok=True)
    words = [program, "script", "--symfs", symfs, "-i", os.path.join(folder, name + ".data")]
    done = process.run(*words)
    if done.returncode != 0 or not done.stdout:
        return ["script of %s.data here: exit code %d: %s" % (name, done.returncode, done.stderr[-200:])]
    return []


def judge(machine, folder, steps):
    failed = False
    for name, code in steps:
        problems = [] if code == 0 else ["exit code %d: %s" % (code, read(folder, name + ".err")[-300:])]
        text = read(folder, name + ".out")
        if not name.endswith(".record"):
            problems += ["%s is nowhere in: %s" % (pattern, text[:600]) for pattern in EXPECTED.get(name, []) if not re.search(pattern, text)]
        if name == "cycles.report":
            problems += shares_problems(text)
        if name.endswith(".script"):
            problems += samples_problems(folder, name[:-7])
        failed |= report("%s: %s" % (machine, name), problems)
    return failed


def agree(machine, native, folder, names):
    """Compares perf and perfuse on this machine, for recordings of the virtual one."""
    failed = False
    for name in names:
        failed |= report("%s: %s.data is read here" % (machine, name), here_problems(native, folder, name))
    if not reference():
        print("skip %s: perf 6.12 reads the recordings as we do: tools/reference-perf did not build it yet" % machine)
        return failed
    files = [os.path.join(folder, name + ".data") for name in names]
    done = process.run(os.path.join(TOP, "tools/agree"), "--fresh", "--lines", "-j", "1", *files, stderr=process.STDOUT,
                       env={**os.environ, "PERFUSE": native}, seconds=BUILD_SECONDS_MAX)
    for line in done.stdout.splitlines():
        print(re.sub(r"^(ok|not ok|skip) ", r"\1 %s: " % machine, line))
    return failed | (done.returncode != 0)


def try_machine(machine, native):
    arch, kernel = machine.split(":")
    perfuse, shape = build(arch)
    folder = tempfile.mkdtemp(prefix="perfuse-machines-")
    try:
        shutil.copy(os.path.join(TEST, "vm", "guest.sh"), folder)
        done = virtual_machine("--arch", arch, "--kernel", kernel, "--share", folder, "--program", perfuse, "--program", shape,
                               "--timeout", "420", "--", "sh", "/mnt/guest.sh")
        lines = done.stdout.splitlines()
        steps = [(line.split()[0], int(line.split()[1])) for line in lines[1:]]
        failed = report("%s: boots (%s) and runs to the end" % (machine, lines[0] if lines else "-"),
                        [] if done.returncode == 0 and steps else ["exit code %d: %s" % (done.returncode, done.stderr[-2000:])])
        failed |= judge(machine, folder, steps)
        names = [name[:-7] for name, code in steps if name.endswith(".record") and code == 0]
        return failed | agree(machine, native, folder, names)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    native = build("x86_64")[0]
    failed = False
    for machine in sys.argv[1:] or MACHINES:
        failed |= try_machine(machine, os.path.abspath(native))
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as problem:
        sys.exit(report("it builds", [str(problem)]))
