#!/usr/bin/env python3
"""vm_schedstats.py [KERNEL]...: boots kernels that have /proc/schedstat, of several versions, and runs `sched stats` there."""
import os
import re
import sys

from suite.machine import native_build, virtual_machine
from suite.tests import report

KERNELS = {"debian-6.1": 15, "debian-6.12": 16}
TURNS = 200
GUEST = """
cd /
head -n 1 /proc/schedstat
echo "== record"
perfuse sched stats record -- sh -c 'i=0; while [ $i -lt %d ]; do usleep 1000; i=$((i+1)); done' 2>&1
echo "== report"
perfuse sched stats report 2>&1
echo "== live"
perfuse sched stats -C 0 -- sleep 1 2>&1
echo "== diff"
cp perf.data perf.data.old; perfuse sched stats diff 2>&1
echo "== switch"
cat /proc/sys/kernel/sched_schedstats
""" % TURNS


def counter(text, name):
    found = re.search(r"(?m)^%s +: +(\d+)" % re.escape(name), text)
    return int(found.group(1)) if found else -1


def problems(version, steps):
    report_text, live, diff = (steps.get(name, "") for name in ("report", "live", "diff"))
    cpus = len(re.findall(r"(?m)^CPU \d+\r?$", report_text))
    yield "the version is %d" % version, "version %d" % version in steps[""]
    yield "a recording is written", "[ perf sched stats: Wrote samples to perf.data ]" in steps.get("record", "")
    # each turn wakes up, starts a process and switches twice; integers are averages of all CPUs
    yield "the switches of a known loop are counted", counter(report_text, "sched_count") * cpus >= 2 * TURNS and counter(report_text, "ttwu_count") * cpus >= TURNS
    yield "each CPU has its domains", cpus >= 1 and len(re.findall(r"(?m)^CPU \d+, DOMAIN \w+ CPUS ", report_text)) >= cpus
    yield "time passes", counter(report_text, "Time elapsed (in jiffies)") > 0
    yield "what runs now is shown, of one CPU", "CPU 0" in live and not re.search(r"(?m)^CPU 1\b", live)
    yield "a recording does not differ from its copy", re.search(r"sched_count +: +(\d+), +\1  \| +0\.00% \|", diff) is not None
    yield "the kernel's switch is as it was", steps.get("switch", "").strip() == "0"


def main():
    failed = False
    perfuse = os.path.join(native_build("perfuse"), "perfuse")
    for kernel in sys.argv[1:] or KERNELS:
        done = virtual_machine("--kernel", kernel, "--program", perfuse, "--timeout", "300", "--", "sh", "-c", GUEST)
        parts = re.split(r"(?m)^== (\w+)\r?\n", done.stdout)
        steps = dict(zip([""] + parts[1::2], [parts[0]] + parts[2::2]))
        for name, holds in problems(KERNELS[kernel], steps):
            failed |= report("%s: %s" % (kernel, name), [] if holds else [done.stdout[:3000] + done.stderr[-500:]])
    return failed


if __name__ == "__main__":
    sys.exit(main())
