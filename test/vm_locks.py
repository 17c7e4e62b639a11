#!/usr/bin/env python3
"""vm_locks.py [KERNEL]...: boots real kernels and measures there, by BPF, a program whose waits and owner are known (test/lock/hammer.c).
With $PERF_FULL, the path of a perf 6.12 with BPF programs, the text of each option is that of perf, but for the measured numbers."""
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
ROUNDS = 5
GUEST = """
for option in -t -o -ov -l -v --lock-cgroup; do
	echo "== $option"
	perfuse lock contention -b $option -x, -Y rwsem -- hammer %d 40 2>&1
done
echo "== offcpu"
perfuse offcpu -w -- sleeper 2>&1
echo "== --user"
perfuse lock contention --user -- sleeper 2>&1
mkdir /run/v1
mount -t cgroup -o perf_event none /run/v1
mkdir /run/v1/waits
echo $$ >/run/v1/waits/tasks
for option in --lock-cgroup '--lock-cgroup -G waits'; do
	echo "== $option of cgroup v1"
	perfuse lock contention -b $option -x, -Y rwsem -- hammer %d 40 2>&1
done
""" % (ROUNDS, ROUNDS)
FORMS = ("", "-t", "-o", "-l", "-v", "-x,", "-t -x,", "-l -x,", "-v -x,", "--lock-cgroup", "-F contended,wait_min -k wait_max", "-S file_write_iter", "-q")
COMPARED = """
while read -r form; do
	for program in perf perfuse; do
		echo "== $program $form"
		$program lock contention -ab -Y rwsem $form --output /tmp/result -- hammer 5 40 >/dev/null 2>&1 </dev/null
		echo "exit $?"
		cat /tmp/result
		rm -f /tmp/result
	done
done <<END
%s
END
""" % "\n".join(FORMS)
# Of the program whose waits in user code are known (test/offcpu/sleeper.c).
WAITS = {"offcpu": (r"ms +[\d.]+% +10 .* timer +S +sleeper ", r"ms .* futex +S +locked .*wait_for_lock", r"ms .* pipe +S +reader .*wait_for_byte"),
         "--user": (r"ms .* sleeper +locked +table_lock \(",)}
# What is in the row of the waits, after the numbers.
EXPECTED = {"-t": "{waiter}, waiter$", "-o": "{owner}, holder$", "-ov": "{owner}, holder$", "-l": "[0-9a-f]+, , rwsem$", "-v": r"rwsem:W, \w+\+0x\w+, 0xf\w+ .*pwrite64",
            "--lock-cgroup": "/$", "--lock-cgroup of cgroup v1": "/waits$", "--lock-cgroup -G waits of cgroup v1": "/waits$"}


def problems(text):
    """What is wrong with the output of one option."""
    option = text.split("\n")[0].strip()
    if option in WAITS:
        return ["no row %s: %s" % (row, text[:1500]) for row in WAITS[option] if not re.search(row, text)]
    if option == "-ov" and not re.search(r"(?m)^# owner stack trace:\r?\n.*rwsem:W, \w*userfault|call chains of owners need Linux 6.2", text):
        return ["no call chain of the owner: " + text[:1500]]
    known = {name: int(value) for name, value in re.findall(r"(?m)^(\w+) (\d+)\r?$", text)}
    rows = re.findall(r"(?m)^(\d+), (\d+), \d+, \d+, (.*?)\r?$", text)
    if "waited" not in known or not rows:
        return ["no result: " + text[:500]]
    expected = EXPECTED[option].format(**known)
    row = [row for row in rows if int(row[0]) >= ROUNDS - 1 and re.match(expected, row[2])]
    if not row:
        return ["no row of %d waits with %s: %s" % (ROUNDS, expected, rows[:3])]
    # one wait may be short, and have another call chain; the emulated clock is not steady: the program's sum includes what the system call costs beside the wait
    share = int(row[0][1]) / known["waited"]
    return [] if 0.85 < share < 1.02 else ["the sum is %.2f of what the program measured" % share]


def masked(text):
    """Without the numbers of a measurement and the spaces before them."""
    return re.sub(r" *\b(?:\d[\d.]*(?: [num]?s\b)?|ff[0-9a-f]{14})(?=[ ,\n])", " N", text.replace("\r", ""))


def compare_with_perf(kernel, perf, perfuse, hammer):
    """Runs both programs; returns whether a text differs."""
    done = virtual_machine("--kernel", kernel, "--program", perf, "--program", perfuse, "--program", hammer, "--timeout", "500", "--", "sh", "-c", COMPARED)
    steps = [step.split("\n", 1)[1] for step in re.split(r"(?m)^== ", done.stdout)[1:]]
    failed = report("%s: both programs measure" % kernel, [] if len(steps) == 2 * len(FORMS) else [done.stdout[-500:] + done.stderr[-500:]])
    for form, perfs, ours in zip(FORMS, steps[::2], steps[1::2]):
        failed |= report("%s: `lock contention -ab %s` is perf's text" % (kernel, form), [] if masked(perfs) == masked(ours) else [perfs + ours])
    return failed


def main():
    folder, failed = tempfile.mkdtemp(prefix="perfuse-vm-locks-"), False
    try:
        hammer = os.path.join(folder, "hammer")
        must("cc", "-O2", "-static", "-pthread", "-o", hammer, os.path.join(TEST, "lock/hammer.c"), env=compilers())
        sleeper = os.path.join(folder, "sleeper")
        must("cc", "-O2", "-static", "-pthread", "-o", sleeper, os.path.join(TEST, "offcpu/sleeper.c"), env=compilers())
        perfuse = os.path.join(native_build("perfuse"), "perfuse")
        for kernel in sys.argv[1:] or KERNELS:
            done = virtual_machine("--kernel", kernel, "--program", perfuse, "--program", hammer, "--program", sleeper,
                                   "--timeout", "300", "--", "sh", "-c", GUEST)
            steps = re.split(r"(?m)^== ", done.stdout)[1:]
            failed |= report("%s: boots and measures" % kernel, [] if len(steps) == len(EXPECTED) + len(WAITS) else [done.stdout[-500:] + done.stderr[-500:]])
            for step in steps:
                failed |= report("%s: %s has the known waits" % (kernel, step.split("\n")[0].strip()), problems(step))
            if os.environ.get("PERF_FULL") and kernel != "debian-6.1":
                failed |= compare_with_perf(kernel, os.environ["PERF_FULL"], perfuse, hammer)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
