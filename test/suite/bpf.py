"""BPF programs and links that a process has attached, and whether the kernel still has them. Source: bpf(2), linux/bpf.h."""
import ctypes
import glob
import os
import platform
import re
import time

from suite.process import wait_until

CALLS = {"x86_64": 321, "aarch64": 280, "s390x": 351, "riscv64": 280}
BY_ID = {"prog_id": 13, "link_id": 30}  # BPF_PROG_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID


def attached(pid):
    """{(kind, id)} of the descriptors of a process that has links; empty before they are made."""
    found = set()
    for path in glob.glob("/proc/%s/fdinfo/*" % pid):
        try:
            with open(path) as info:
                found |= {(kind, int(number)) for kind, number in re.findall(r"(?m)^(prog_id|link_id):\s+(\d+)$", info.read())}
        except OSError:  # the process has closed it meanwhile, or has ended
            continue
    return found if any(kind == "link_id" for kind, _ in found) else set()


def wait_attached(pid):
    """Until a process has links, no further ones for a moment, and sleeps: it waits for what its programs see."""
    wait_until(lambda: attached(pid), "a BPF program is attached")

    def settled():
        before = attached(pid)
        time.sleep(0.3)
        with open("/proc/%s/stat" % pid) as stat:
            return attached(pid) == before and stat.read().rsplit(")", 1)[1].split()[0] == "S"
    wait_until(settled, "all BPF programs are attached")


def exists(kind, number):
    """Whether the kernel has the program or link with this id."""
    libc = ctypes.CDLL(None, use_errno=True)
    attribute = (ctypes.c_uint32 * 4)(number, 0, 0, 0)
    fd = libc.syscall(CALLS[platform.machine()], BY_ID[kind], attribute, ctypes.sizeof(attribute))
    if fd >= 0:
        os.close(fd)
    return fd >= 0
