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

BYTES, CALLS, PANIC, RATIO = 4321, 7, 77, 63
GUEST = """
cd /mnt
export HOME=/mnt/home
echo PANIC >/proc/sys/kernel/panic
echo RATIO >/proc/sys/vm/overcommit_ratio
perfuse probe -a 'reads=vfs_read count file->f_mode:x32 panic=@panic_timeout:s32' 2>added
perfuse probe -a 'back=vfs_read%return $retval' 2>>added
perfuse probe -a 'opened=do_filp_open%return $retval->f_path.dentry->d_name.name:string' 2>>added
perfuse probe --cache -a 'stored=vfs_read count' -a 'again=vfs_read%return $retval' 2>>added
perfuse probe -q -d 'probe:stored' -d 'probe:again*'
perfuse probe --cache -l >cached
perfuse probe -a '%stored' -a '%again__return' 2>>added
perfuse probe -D 'do_filp_open%return $retval->nosuch' 2>refused
[ ! -e definition ] || cat definition >>/sys/kernel/tracing/kprobe_events
perfuse record -q -e 'probe:*' -o vm.data -- dd if=/dev/zero of=/dev/null bs=BYTES count=CALLS
perfuse script -i vm.data -F comm,event,trace >script
perfuse probe -l >listed
perfuse probe -d 'probe:*' 2>removed
cat /sys/kernel/tracing/kprobe_events >left
""".replace("BYTES", str(BYTES)).replace("CALLS", str(CALLS)).replace("PANIC", str(PANIC)).replace("RATIO", str(RATIO))


class Context:
    def __init__(self, work):
        self.share = work
        debug = vm("debug")
        self.defined = debug.returncode == 0
        if self.defined:
            boot = os.path.join(debug.stdout.strip(), "usr/lib/debug/boot")
            done = process.perfuse("probe", "-k", os.path.join(boot, os.listdir(boot)[0]), "-D", "debug=vfs_read count mode=file->f_mode",
                                   "-D", "ratio=__vm_enough_memory sysctl_overcommit_ratio", cwd=work)
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
        return [{key: value if value[0] == '"' else int(value, 0) for key, value in re.findall(r"(\w+)=(\S+)", line)} for line in lines]


def test_values(c):
    """parameters that the kernel's type information resolves have the values of the calls"""
    reads = [event for event in c.events("reads") if event["count"] == BYTES]
    need(len(reads) == CALLS, "%d reads: %s" % (len(reads), c.read("script")[:500] + c.read("added")))
    need({event["panic"] for event in reads} == {PANIC}, "a variable of the kernel: %r" % reads)
    need(c.read("added").count("Added new event:") == 3 and c.read("added").count("Added new events:") == 2, c.read("added"))


def test_returns(c):
    """a probe at a return has the returned value with its type, and members behind a returned pointer"""
    back = [event for event in c.events("back__return") if BYTES in event.values()]
    need(len(back) == CALLS, "%d returns: %s" % (len(back), c.read("script")[:500]))
    failed = [value for event in c.events("back__return") for value in event.values() if value > 1 << 32]
    need(not failed, "a value without its sign: %r" % failed)
    names = [event["name"] for event in c.events("opened__return")]
    need('"zero"' in names and '"null"' in names, "opened files: %r" % names)
    need("has no member nosuch" in c.read("refused"), c.read("refused"))


def test_cache(c):
    """stored probes of the kernel are added again by their names"""
    cached = c.read("cached").splitlines()
    need(cached[0].startswith("[kernel.kallsyms] (") and cached[1:] == ["stored=vfs_read count", "again=vfs_read%return $retval"], "%r" % cached)
    need([event["count"] for event in c.events("stored")].count(BYTES) == CALLS, "stored: %s" % c.read("added"))
    need(len([event for event in c.events("again__return") if BYTES in event.values()]) == CALLS, "again: %s" % c.read("added"))


def test_definition(c):
    """a definition made from vmlinux records the same values"""
    if not c.defined:
        raise Skip("the kernel's debug package cannot be had")
    both = [[(event["count"], event.get("f_mode", event.get("mode"))) for event in c.events(name)] for name in ("reads", "debug")]
    need(both[0] == both[1] and both[0], "%r" % both)
    ratios = {event["sysctl_overcommit_ratio"] for event in c.events("ratio")}
    need(ratios == {RATIO}, "a variable of the kernel: %r" % ratios)


def test_removal(c):
    """probes of the kernel are listed and removed"""
    need("probe:reads" in c.read("listed") and "(on vfs_read" in c.read("listed"), c.read("listed"))
    need("Removed event: probe:reads" in c.read("removed") and not c.read("left"), c.read("removed") + c.read("left"))


if __name__ == "__main__":
    sys.exit(run_in_folder("probes of a kernel", Context, globals()))
