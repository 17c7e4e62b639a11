#!/usr/bin/env python3
"""Boots Debian's 6.12 and places probes in its kernel: by the kernel's own type information, and with definitions that were made here from the
debug package's vmlinux (tools/vm debug: 1 GB to fetch, once). The recorded values are those with which a program calls the kernel."""
import os
import re
import sys

from suite import process
from suite.machine import virtual_machine, vm
from suite.settings import PERFUSE
from suite.tests import Skip, need, run_in_folder

BYTES, CALLS = 4321, 7
GUEST = """
cd /mnt
perfuse probe -a 'reads=vfs_read count file->f_mode:x32' 2>added
perfuse probe -a 'back=vfs_read%return $retval:s64' 2>>added
[ ! -e definition ] || cat definition >>/sys/kernel/tracing/kprobe_events
perfuse record -q -e 'probe:*' -o vm.data -- dd if=/dev/zero of=/dev/null bs=BYTES count=CALLS
perfuse script -i vm.data -F comm,event,trace >script
perfuse probe -l >listed
perfuse probe -d 'probe:*' 2>removed
cat /sys/kernel/tracing/kprobe_events >left
""".replace("BYTES", str(BYTES)).replace("CALLS", str(CALLS))


class Context:
    def __init__(self, work):
        self.share = work
        debug = vm("debug")
        self.defined = debug.returncode == 0
        if self.defined:
            boot = os.path.join(debug.stdout.strip(), "usr/lib/debug/boot")
            done = process.perfuse("probe", "-k", os.path.join(boot, os.listdir(boot)[0]), "-D", "debug=vfs_read count mode=file->f_mode", cwd=work)
            need("p:probe/debug vfs_read+0 count=%dx:x64 mode=+" in done.stdout, done.stdout + done.stderr)
            with open(os.path.join(work, "definition"), "w", encoding="utf-8") as out:
                out.write(done.stdout)
        with open(os.path.join(work, "guest"), "w", encoding="utf-8") as out:
            out.write(GUEST)
        done = virtual_machine("--share", work, "--program", PERFUSE, "--timeout", "300", "--", "sh", "/mnt/guest")
        need(os.path.exists(os.path.join(work, "left")), "the machine did nothing: " + done.stderr[-500:])

    def read(self, name):
        with open(os.path.join(self.share, name), encoding="utf-8") as file:
            return file.read()

    def events(self, name):
        lines = [line for line in self.read("script").splitlines() if " probe:%s: " % name in line and line.split()[0] == "dd"]
        return [{key: int(value, 0) for key, value in re.findall(r"(\w+)=(\S+)", line)} for line in lines]


def test_values(c):
    """parameters that the kernel's type information resolves have the values of the calls"""
    reads = [event for event in c.events("reads") if event["count"] == BYTES]
    need(len(reads) == CALLS, "%d reads: %s" % (len(reads), c.read("script")[:500] + c.read("added")))
    need(c.read("added").count("Added new event:") == 2, c.read("added"))


def test_returns(c):
    """a probe at a return has the returned value"""
    back = [event for event in c.events("back__return") if BYTES in event.values()]
    need(len(back) == CALLS, "%d returns: %s" % (len(back), c.read("script")[:500]))


def test_definition(c):
    """a definition made from vmlinux records the same values"""
    if not c.defined:
        raise Skip("the kernel's debug package cannot be had")
    both = [[(event["count"], event.get("f_mode", event.get("mode"))) for event in c.events(name)] for name in ("reads", "debug")]
    need(both[0] == both[1] and both[0], "%r" % both)


def test_removal(c):
    """probes of the kernel are listed and removed"""
    need("probe:reads" in c.read("listed") and "(on vfs_read" in c.read("listed"), c.read("listed"))
    need("Removed event: probe:reads" in c.read("removed") and not c.read("left"), c.read("removed") + c.read("left"))


if __name__ == "__main__":
    sys.exit(run_in_folder("probes of a kernel", Context, globals()))
