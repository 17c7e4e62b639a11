"""hot.py SECONDS: loads a BPF program of the name lab_hot_loop and runs it so long. Exit code 77 where that is not possible."""
import ctypes
import struct
import sys
import time

SYS_BPF, PROG_LOAD, PROG_TEST_RUN, SOCKET_FILTER = 321, 5, 10, 1
CALL_SIZE = 128


def instruction(code, target=0, source=0, jump=0, value=0):
    return struct.pack("<BBhi", code, source << 4 | target, jump, value)


def bpf(libc, command, layout, *fields):
    attr = ctypes.create_string_buffer(struct.pack(layout, *fields), CALL_SIZE)
    return libc.syscall(SYS_BPF, command, attr, CALL_SIZE)


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    # r0 = 0; r1 = 100; do r0 += r1; while (--r1); return 0
    code = (instruction(0xb7, 0) + instruction(0xb7, 1, value=100) + instruction(0x0f, 0, 1) + instruction(0x17, 1, value=1)
            + instruction(0x55, 1, jump=-3) + instruction(0xb7, 0) + instruction(0x95))
    program, packet = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(64)
    free = ctypes.create_string_buffer(b"GPL")
    fd = bpf(libc, PROG_LOAD, "<IIQQIIQII16s", SOCKET_FILTER, len(code) // 8, ctypes.addressof(program), ctypes.addressof(free), 0, 0, 0, 0, 0,
             b"lab_hot_loop")
    end = time.monotonic() + float(sys.argv[1])
    while fd >= 0 and time.monotonic() < end:
        if bpf(libc, PROG_TEST_RUN, "<IIIIQQII", fd, 0, 64, 0, ctypes.addressof(packet), 0, 100000, 0) < 0:
            return 77
    return 0 if fd >= 0 else 77


if __name__ == "__main__":
    sys.exit(main())
