#!/usr/bin/env python3
"""vm_programs.py [KERNEL]...: boots kernels of several versions, which let programs be attached to BPF programs, and counts there while a BPF
program runs (stat -b), and by BPF programs (stat --bpf-counters), in cgroups of version 2, too; and all threads
without counters (stat -a --per-thread)."""
import os
import re
import shutil
import sys
import tempfile

from suite.machine import native_build, virtual_machine
from suite.process import compilers, must
from suite.settings import TEST
from suite.tests import report

KERNELS = ("debian-6.1", "debian-6.12")
# `trace -e getpgid` loads programs for this call, which `known` makes 20,000 times.
GUEST = """
cd /tmp
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
perfuse trace -o /dev/null -e getpgid sleep 1000 & tracer=$!
sleep 3
echo "== programs"
for id in $(seq 1 40); do
	perfuse stat -b $id -x, -e task-clock known >/dev/null 2>err
	echo "$id $? $(tr '\\n' ' ' <err)"
done | tee programs
idle() { perfuse stat -b $1 -x, -e task-clock,r1ffff sleep 0.1 2>&1; }
# the one with the largest count
last=$(sed -n 's/^\\([0-9]*\\) 3 \\([0-9.]*\\),msec.*/\\2 \\1/p' programs | sort -n | tail -1 | cut -d' ' -f2)
echo "== idle"; idle $last
echo "== title"; perfuse stat -b $last -a -e task-clock known 2>&1
echo "== two"; perfuse stat -b $last,$last -x, -e task-clock known 2>&1
echo "== intervals"; perfuse stat -b $last -I 100 -x, -e task-clock known 2>&1
echo "== none"; perfuse stat -b 999999 known 2>&1; echo "exit $?"
kill -INT $tracer; wait $tracer
mkdir -p /cg; mount -t cgroup2 none /cg && mkdir /cg/group
echo "== cgroup"
perfuse stat --bpf-counters -a -x, --for-each-cgroup group -e page-faults -- \
	sh -c 'echo $$ >/cg/group/cgroup.procs; i=0; while [ $i -lt 100 ]; do busybox true; i=$((i+1)); done' 2>&1
for words in "" --bpf-counters; do
	echo "== command$words"
	perfuse stat $words -x, -e page-faults,task-clock -- sh -c 'i=0; while [ $i -lt 100 ]; do busybox true; i=$((i+1)); done' 2>&1
done
echo "== pinned"; ls /sys/fs/bpf
mkfifo go
sh -c 'read word <go; i=0; while [ $i -lt 100 ]; do busybox true; i=$((i+1)); done; kill -STOP $$' & worker=$!
events=page-faults,minor-faults,major-faults,cs,migrations
cat >during <<END
echo >go
until grep -q "^State:.[TZ]" /proc/$worker/status; do busybox sleep 0.1; done
ls -l /proc/\$(cat outer)/fd | grep -c perf_event
busybox sleep 0.2
END
echo "== tasks"
sh -c "echo \$\$ >outer; exec perfuse stat -a --per-thread -x, -o tasks -e $events perfuse stat -a --per-thread -x, -o counters \
	-e page-faults:uk,minor-faults:uk,major-faults:uk,cs:uk,migrations:uk sh during"
grep -e "-$worker," tasks counters
kill -KILL $worker
"""


def number(text, event):
    found = re.search(r"(?m)^(?:[\d. ]+,)?([\d.]+),[^,]*,%s," % event, text)
    return float(found.group(1)) if found else 0


def problems(steps):
    programs = re.findall(r"(?m)^(\d+) (\d+) (.*)$", steps.get("programs", ""))
    counted = [number(text, "task-clock") for _, code, text in programs if code == "3"]
    yield "some programs are counted, with the command's exit code", len(programs) == 40 and any(counted)
    yield "the others have a reason", all("no BPF program" in text or "attach" in text or "no types" in text for _, code, text in programs if code != "3")
    yield "a program that does not run is not counted", max(counted, default=0) > 5 * number(steps.get("idle", ""), "task-clock")
    yield "an event that the machine lacks is not supported", "<not supported>,,r1ffff" in steps.get("idle", "")
    yield "the title has the programs", re.search(r"Performance counter stats for 'BPF program\(s\) \d+':", steps.get("title", ""))
    yield "several programs are counted", number(steps.get("two", ""), "task-clock") > 0
    yield "intervals are counted", number(steps.get("intervals", ""), "task-clock") > 0
    yield "an id that does not exist is refused", "there is no BPF program with the id 999999" in steps.get("none", "") and "exit 255" in steps["none"]
    plain = number(steps.get("command", ""), "page-faults")
    for name in "cgroup", "command--bpf-counters":
        shared = number(steps.get(name, ""), "page-faults")
        yield "page faults of a %s are those of counters without BPF" % name.split("-")[0], plain > 1000 and abs(shared - plain) < 0.05 * plain
    tasks = steps.get("tasks", "")
    for event in "page-faults", "minor-faults", "major-faults", "cs", "migrations":
        with_counters, without = ([int(n) for n in re.findall(r"(?m)^%s:\S+-\d+,(\d+),,%s(?::uk)?," % (file, event), tasks)] or [0]
            for file in ("counters", "tasks"))
        few = 0.05 * with_counters[0] if event == "cs" else 0 # before 6.16, a task that ends has a switch less or more
        yield "%s of a thread are the same without counters" % event, len(without) == len(with_counters) == 1 and \
            abs(without[0] - with_counters[0]) <= few and (without[0] > 100 or event.startswith("ma") or event == "migrations")
    yield "all threads are counted without a counter for each", 0 < int((re.findall(r"(?m)^(\d+)$", tasks) or ["0"])[0]) < 30
    yield "nothing remains pinned", "pinned" in steps and "perfuse" not in steps["pinned"]


def main():
    folder, failed = tempfile.mkdtemp(prefix="perfuse-vm-programs-"), False
    try:
        known = os.path.join(folder, "known")
        must("cc", "-O1", "-static", "-o", known, os.path.join(TEST, "trace/known.c"), env=compilers())
        perfuse = os.path.join(native_build("perfuse"), "perfuse")
        for kernel in sys.argv[1:] or KERNELS:
            done = virtual_machine("--kernel", kernel, "--program", perfuse, "--program", known, "--timeout", "600", "--", "sh", "-c", GUEST)
            parts = re.split(r"(?m)^== (\S+)\r?\n", done.stdout)
            steps = {name: text.replace("\r", "") for name, text in zip(parts[1::2], parts[2::2])}
            for name, holds in problems(steps):
                failed |= report("%s: %s" % (kernel, name), [] if holds else [
                    "".join("== %s: %s" % (step, text[:1500]) for step, text in steps.items()) + done.stderr[-500:]])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
