#!/usr/bin/env python3
"""The test scripts that perf installs (libexec/perf-core/tests/shell) pass with perfuse as `perf`. A script that cannot run on this machine ends
with 2, and is skipped here; NEEDS names what else the scripts take for granted. Their program of Windows is read as perf's own test does."""
import functools
import os
import re
import struct
import sys
import tempfile

from suite import recording
from suite.perf import shell_folder, shell_test, shell_tests
from suite.process import perfuse
from suite.tests import Skip, need, need_tools, run_tests, skipped

TRACING = "/sys/kernel/tracing"


def need_kprobes():
    if not os.path.exists(os.path.join(TRACING, "kprobe_events")):
        raise Skip("this kernel has no kprobes; test/vm_probe.py probes one that has")


def need_ftrace():
    raise Skip("perfuse has no `ftrace` yet")


def need_timer_event():
    if not os.path.exists(os.path.join(TRACING, "events/timer/hrtimer_init")):
        raise Skip("kernels since 6.15 have no tracepoint timer:hrtimer_init")


def need_root_cgroup():
    if "not counted" in perfuse("stat", "-a", "-x,", "-e", "cpu-clock", "--for-each-cgroup", "/", "sleep", "0.2").stderr:
        raise Skip("this kernel counts nothing for the root cgroup while all tasks are in it; BPF programs of perf do")


NEEDS = {
    "ftrace.sh": need_ftrace,
    "probe_vfs_getname.sh": need_kprobes,
    "record+probe_libc_inet_pton.sh": lambda: need_tools("ping"),
    "record+script_probe_vfs_getname.sh": need_kprobes,
    "stat_bpf_counters_cgrp.sh": need_root_cgroup,
    "trace+probe_vfs_getname.sh": need_kprobes,
    "trace_btf_enum.sh": need_timer_event,
}


def run_script(folder, name):
    NEEDS.get(name, lambda: None)()
    done = shell_test(folder, name)
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr).strip()
    if done.returncode == 2:
        raise Skip("the script skips: %s" % (said.splitlines() or ["it does not say why"])[-1][:200])
    need(done.returncode == 0 and not re.search(r"(?m)^(-- )?\[?FAIL", said), said[-2000:])


def need_windows_program(folder):
    program = os.path.realpath(os.path.join(shell_folder(), "..", "pe-file.exe"))
    if not os.path.exists(program):
        raise Skip("perf's program of Windows is not installed")
    path, places = os.path.join(folder, "windows.data"), (0x401560, 0x401573, 0x401010)
    kind = recording.SAMPLE_IP | recording.SAMPLE_TID | recording.SAMPLE_TIME | recording.SAMPLE_PERIOD
    records = [recording.comm(9, 9, "wine"), recording.mmap(9, 9, 0x401000, 0x2000, 0x1000, program)]
    records += [recording.record(recording.SAMPLE, struct.pack("<QIIQQ", place, 9, 9, 1000 + i, 1), recording.USER) for i, place in enumerate(places)]
    recording.write(path, records, [recording.attribute(kind, 0, kind=0, period=1)])
    lines = perfuse("script", "-F", "ip,sym,symoff,srcline", "-i", path).stdout.split()
    need(lines == ["401560", "main+0x0", "pe-file.exe[401560]", "401573", "main+0x13", "pe-file.exe[401573]", "401010", "pre_c_init+0x0", "crtexe.c:139"], lines)
    listed = perfuse("annotate", "--stdio", "-s", "main", "-i", path).stdout
    need(re.search(r"401560:\s+pushq\s+%rbp", listed), listed)


def main():
    try:
        names = shell_tests()
    except Skip as why:
        skipped("perf's own test scripts", why)
        return 0
    with tempfile.TemporaryDirectory(prefix="perfuse-suite-", ignore_cleanup_errors=True) as folder:
        windows = "code, symbols and lines of a program of Windows", functools.partial(need_windows_program, folder)
        return run_tests([windows, *(("perf's own %s passes" % name, functools.partial(run_script, folder, name)) for name in names)])


if __name__ == "__main__":
    sys.exit(main())
