"""The BPF programs that the kernel has, by name: what `bpftool prog list` shows, without bpftool."""
import ctypes
import os
import sys

from suite.tests import Skip

CALL = {"x86_64": 321, "aarch64": 280, "s390x": 351}.get(os.uname().machine)
NEXT_ID, FD_BY_ID, INFO_BY_FD = 11, 13, 15  # enum bpf_cmd, include/uapi/linux/bpf.h
NAME_AT, NAME_SIZE, INFO_SIZE = 64, 16, 232  # of struct bpf_prog_info


def bpf(command, *numbers):
    """The result, and the bytes of the attributes: numbers of 32 bits."""
    attributes = (ctypes.c_uint32 * 32)(*numbers)
    return ctypes.CDLL(None, use_errno=True).syscall(CALL, command, attributes, ctypes.sizeof(attributes)), attributes


def name_of(number):
    fd, _ = bpf(FD_BY_ID, number)
    if fd < 0:
        return ""  # it has ended meanwhile
    info = ctypes.create_string_buffer(INFO_SIZE)
    address = ctypes.addressof(info)
    low, high = address & 0xffffffff, address >> 32
    bpf(INFO_BY_FD, fd, INFO_SIZE, *((low, high) if sys.byteorder == "little" else (high, low)))
    os.close(fd)
    return info.raw[NAME_AT:NAME_AT + NAME_SIZE].split(b"\0")[0].decode(errors="replace")


def loaded(name):
    """The numbers of the programs of this name; the number of one that has ended is not given again. Needs root."""
    if not CALL:
        raise Skip("the number of the call bpf is not known here")
    found, number = set(), 0
    while True:
        result, attributes = bpf(NEXT_ID, number, 0)
        if result < 0:
            return found
        number = attributes[1]
        if name_of(number) == name:
            found.add(number)
