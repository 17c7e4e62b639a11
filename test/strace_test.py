#!/usr/bin/env python3
"""`trace` beside strace: the names of flags, commands and options of system calls, argument by argument, for many values of each."""
import os
import re
import sys

from suite import process
from suite.tests import Skip, need, need_tools, run_tests, tests_of
from trace_test import HEADERS, NAMES, Work, joined, parsed

# More arguments than those of trace_test.NAMES: (call, all its arguments, with %s for the value). No call has an effect: a descriptor, an
# address or a number is wrong.
MORE = (
    ("accept4", "-1L, 0L, 0L, %s"), ("clock_gettime", "%s, 1L"), ("clock_nanosleep", "-1L, %s, 1L, 0L"),
    ("clone", "0x10000L | %s, 0L, 0L, 0L, 0L"),
    ("dup3", "-1L, -1L, %s"), ("epoll_create1", "1L << 30 | %s"), ("epoll_ctl", "-1L, %s, -1L, 0L"), ("eventfd2", "0L, 1L << 30 | %s"),
    ("faccessat2", "-1L, -1L, 0L, %s"), ("flock", "-1L, %s"), ("fsconfig", "-1L, %s, 0L, 0L, 0L"), ("fsmount", "-1L, %s, 0L"),
    ("fsmount", "-1L, 0L, %s"), ("fspick", "-1L, -1L, %s"), ("futex", "1L, %s, 0L, 0L, 0L, 0L"), ("getitimer", "%s, 1L"),
    ("getpriority", "%s, 0x7ffffff0L"), ("getrandom", "1L, 1L, %s"), ("getsockopt", "-1L, %s, 1L, 0L, 0L"), ("inotify_init1", "1L << 30 | %s"),
    ("ioprio_get", "%s, 0x7ffffff0L"), ("ioprio_set", "1L, 0x7ffffff0L, %s << 13 | 4"), ("quotactl", "0x80000000L | %s << 8, -1L, 0L, 0L"),
    ("quotactl", "0x580001L | %s << 8, -1L, 0L, 0L"), ("kcmp", "0x7ffffff0L, 0x7ffffff0L, %s, 1L, 1L"), ("kill", "0x7ffffff0L, %s"),
    ("linkat", "-1L, -1L, -1L, -1L, %s"), ("lseek", "-1L, 0L, %s"), ("memfd_create", "-1L, %s"), ("mmap", "1L, 0L, %s, 0L, -1L, 0L"),
    ("mmap", "1L, 0L, 0L, %s, -1L, 0L"), ("mount", "-1L, -1L, -1L, %s, 0L"), ("mount_setattr", "-1L, -1L, %s, 0L, 0L"),
    ("move_mount", "-1L, -1L, -1L, -1L, %s"), ("move_pages", "0x7ffffff0L, 0L, 0L, 0L, 0L, %s"), ("mprotect", "1L, 0L, %s"),
    ("mremap", "1L, 0L, 0L, %s, 0L"), ("msgget", "1L, %s & 04000 ? 0L : %s"), ("msgrcv", "-1L, 0L, 0L, 0L, %s"), ("msync", "1L, 0L, %s"),
    ("name_to_handle_at", "-1L, -1L, 1L, 1L, %s"), ("newfstatat", "-1L, -1L, 1L, %s"), ("openat", "-1L, -1L, %s, 0L"),
    ("perf_event_open", "-1L, -1L, -1L, -1L, %s"), ("pidfd_send_signal", "-1L, 0L, 0L, %s"), ("pipe2", "-1L, %s"),
    ("pkey_alloc", "-1L, %s"), ("pkey_mprotect", "1L, 0L, %s, 0L"), ("prlimit64", "0x7ffffff0L, %s, 0L, 0L"),
    ("recvfrom", "-1L, 0L, 0L, %s, 0L, 0L"), ("renameat2", "-1L, -1L, -1L, -1L, %s"), ("rt_sigaction", "%s, 0L, 0L, 0L"),
    ("rt_sigprocmask", "%s, -1L, 0L, 8L"), ("sched_get_priority_max", "%s"), ("sched_setscheduler", "0x7ffffff0L, %s, 0L"),
    ("sendto", "-1L, 0L, 0L, %s, 0L, 0L"), ("setitimer", "%s, -1L, 0L"), ("setns", "-1L, %s"), ("shutdown", "-1L, %s"),
    ("signalfd4", "-1L, -1L, 8L, %s"), ("socket", "%s, -1L, 0L"), ("socket", "-1L, %s, 0L"), ("socket", "2L, -1L, %s"),
    ("statx", "-1L, -1L, %s, 0L, 0L"), ("statx", "-1L, -1L, 0L, %s, 0L"), ("sync_file_range", "-1L, 0L, 0L, %s"),
    ("tgkill", "0x7ffffff0L, 0x7ffffff0L, %s"), ("timer_create", "%s, -1L, -1L"), ("timer_settime", "-1L, %s, 0L, 0L"),
    ("timerfd_create", "%s, -1L"), ("timerfd_create", "-1L, %s"), ("timerfd_settime", "-1L, %s, 0L, 0L"), ("umount2", "-1L, %s"),
    ("unlinkat", "-1L, -1L, %s"), ("utimensat", "-1L, -1L, 0L, %s"), ("vmsplice", "-1L, 0L, 0L, %s"),
)
LISTED_VERSION = "6.1"
# Values that have an effect: (call, template or None, value)
EFFECTS = {("ptrace", 0), ("keyctl", 18)}
VALUES = sorted(set(range(48)) | {1 << bit for bit in range(32)})
WORD = re.compile(r"\b_*[A-Z][A-Za-z0-9_]*[A-Z0-9][A-Za-z0-9_]*")


# Two names for one value: strace's and perf's
ALIASES = {"PF_UNIX": "PF_LOCAL", "PF_FILE": "PF_LOCAL", "SOCK_CLOEXEC": "CLOEXEC", "SOCK_NONBLOCK": "NONBLOCK", "WSTOPPED": "WUNTRACED",
           "SCHED_OTHER": "SCHED_NORMAL", "PTRACE_PEEKUSER": "PTRACE_PEEKUSR", "PTRACE_POKEUSER": "PTRACE_POKEUSR", "FASYNC": "O_ASYNC",
           "FUTEX_32": "FUTEX2_SIZE_U32", "FUTEX_WAIT_PRIVATE": "FUTEX_WAIT FUTEX_PRIVATE_FLAG", "__O_TMPFILE": "O_TMPFILE", "SO_RCVTIMEO_OLD": "SO_RCVTIMEO",
           "SO_SNDTIMEO_OLD": "SO_SNDTIMEO", "SO_TIMESTAMP_OLD": "SO_TIMESTAMP", "SO_TIMESTAMPNS_OLD": "SO_TIMESTAMPNS",
           "SO_TIMESTAMPING_OLD": "SO_TIMESTAMPING",
           "SYNC_FILE_RANGE_WRITE_AND_WAIT": "SYNC_FILE_RANGE_WAIT_BEFORE SYNC_FILE_RANGE_WRITE SYNC_FILE_RANGE_WAIT_AFTER"}
# (calls, names, why the other program does not have them)
STRACE_ALONE = (
    (".*", "SIGRT.*", "perf has numbers: what is SIGRTMIN depends on the C library"),
    ("fanotify_.*|mmap|faccessat2|statx|ioctl|openat2", "O_RDONLY|FAN_CLASS_NOTIF|FAN_NOFD|MAP_FILE|F_OK|AT_STATX_SYNC_AS_STAT|(NL|CR|TAB|BS|VT|FF|B)0|CS5",
     "no flag at all"),
    ("mmap|memfd_create|shmget", ".*_HUGE_SHIFT", "the size of huge pages, without the flag HUGETLB or of calls that perf has without it"),
    ("(msg|sem|shm)ctl|semget", "IPC_64|IPC_RMID|IPC_NOWAIT", "flags of other processors; a flag of other calls"),
    ("prctl|ptrace", "PR_FP_.*|PR_UNALIGN_.*|R15", "other processors; an offset"),
    ("dup3|pipe2|timerfd_.*", "__O_SYNC|O_.*|TFD_.*", "flags that the call refuses"),
    ("openat2?", "O_ACCMODE|__O_SYNC", "both bits of the access; a part of O_SYNC"),
    ("fanotify_mark|recvfrom|sendto|setsockopt", "FAN_DIR_MODIFY|MSG_SENDPAGE_NOTLAST|MSG_NO_SHARED_FRAGS|MSG_CMSG_COMPAT|TCP_COOKIE_.*",
     "removed from the kernel, or the kernel's own"),
    ("setsockopt|getsockopt", "(EBT|IPT|IP6T)_.*|PF_VSOCK|IPX_TYPE|SO_VM_.*", "options of netfilter and of rare families"),
    ("socket", "(BT|CAIF|KCM|SMC|NFC_SOCK|PN_)PROTO.*|ISDN_P_.*|PF_UNSPEC", "protocols of rare families"),
    ("futex", "FUTEX_OP_.*", "the last argument of FUTEX_WAKE_OP"),
    ("ioctl|quotactl|ioprio_set", "_IOC|EXTA|EXTB|QCMD|(USR|GRP|PRJ)QUOTA|IOPRIO_PRIO_VALUE", "the form of an unknown command"),
    ("timer_create|mq_notify|sched_setattr", "SIGEV_SIGNAL|SCHED_NORMAL", "members of 0 are left out"),
    ("ioctl", "N_TTY|V[A-Z0-9]+|SNDCTL_.*", "what a terminal's characters are; another command of the same number"),
    ("futex_waitv", "FUTEX_PRIVATE_FLAG", "of this call FUTEX2_PRIVATE"),
)
PERFUSE_ALONE = (
    (".*", "|".join("""BPF_TOKEN_CREATE BPF_PROG_STREAM_READ_BY_FD BPF_PROG_ASSOC_STRUCT_OPS FALLOC_FL_WRITE_ZEROES FAN_REPORT_FD_ERROR
        FAN_REPORT_MNT FAN_PRE_ACCESS FAN_MNT_.* F_SEAL_EXEC F_DUPFD_QUERY F_CREATED_QUERY IORING_ENTER_ABS_TIMER IORING_ENTER_EXT_ARG_REG
        IORING_ENTER_NO_IOWAIT IORING_(UN)?REGISTER_.* IORING_SETUP_.* KEXEC_FILE_DEBUG LANDLOCK_CREATE_RULESET_ERRATA
        LANDLOCK_ACCESS_FS_.* MPOL_WEIGHTED_INTERLEAVE PIDFD_THREAD PIDFD_SIGNAL_.* RWF_NOAPPEND RWF_ATOMIC RWF_DONTCACHE
        PACKET_VNET_HDR_SZ FSCONFIG_CMD_CREATE_EXCL MOUNT_ATTR_IDMAP MOUNT_ATTR_NOSYMFOLLOW MFD_EXEC MFD_NOEXEC_SEAL MAP_ABOVE4G
        MOVE_MOUNT_BENEATH MSG_SOCK_DEVMEM MSG_SPLICE_PAGES STATX_MNT_ID_UNIQUE STATX_SUBVOL STATX_WRITE_ATOMIC PKEY_DISABLE_READ
        MEMBARRIER_CMD_GET_REGISTRATIONS SECBIT_EXEC_.* PR_.* SCHED_EXT NS_GET_.* UFFDIO_.*""".split()), "newer than some versions of strace"),
    (".*at2?|open_tree|statx|execveat|linkat|mount_setattr", "AT_.*", "perf has one list for all calls"),
    ("setns|clone", "CLONE_.*", "one list for all calls, with flags that have no effect any more"),
    ("membarrier|fanotify_init|seccomp|mbind|move_pages|sched_.*|mmap", "MEMBARRIER_CMD_.*|FAN_CLASS_.*|SECCOMP_FILTER_.*|MPOL_DEFAULT"
     "|MPOL_MF_STRICT|SCHED_NORMAL|SCHED_RESET_ON_FORK|MAP_UNINITIALIZED|MAP_SHARED|MAP_PRIVATE|MAP_SHARED_VALIDATE", "values that the call refuses"),
    ("fsmount|flock|recvfrom|sendto|openat|ioctl|futex_waitv", "FUTEX2_PRIVATE|MOUNT_ATTR_RELATIME|NONE|O_RDWR|O_WRONLY|_IOC_NONE", "the form that perf has"),
    ("ioctl", "BOTHER|IUTF8|EXTPROC|ADDRB|XCASE", "modes of terminals that strace has as numbers"),
)
BITS = lambda *numbers: tuple(1 << number for number in numbers)  # noqa: E731
# Structures: (call, arguments, fixed members (offset, size, value), offset, size and values of the member)
STRUCTURES = (
    ("openat2", "-1L, -1L, p, 24L", (), 0, 8, BITS(*range(6, 22))),
    ("openat2", "-1L, -1L, p, 24L", (), 16, 8, BITS(*range(6))),
    ("clone3", "p, 64L", ((32, 8, 0xfff),), 0, 8, BITS(7, 8, 9, 10, 11, *range(13, 22), *range(23, 34))),
    ("clone3", "p, 64L", ((0, 8, 0x10000),), 32, 8, range(1, 32)),
    ("rt_sigaction", "65L, p, 0L, 8L", ((0, 8, 4096),), 8, 8, BITS(0, 1, 2, 26, 27, 28, 30, 31)),
    ("rt_sigaction", "65L, p, 0L, 8L", ((0, 8, 4096),), 24, 8, BITS(*range(31))),
    ("rt_sigprocmask", "3L, p, 0L, 8L", (), 0, 8, BITS(*range(31))),
    ("rt_sigtimedwait", "p, 0L, -1L, 8L", (), 0, 8, BITS(*range(31))),
    ("signalfd4", "-1L, p, 8L, 1L", (), 0, 8, BITS(*range(31))),
    ("sigaltstack", "p, 0L", ((16, 8, 1),), 8, 4, BITS(0, 1, 31)),
    ("timer_create", "-1L, p, -1L", (), 12, 4, (0, 1, 2, 4)),
    ("timer_create", "-1L, p, -1L", (), 8, 4, range(1, 32)),
    ("mq_notify", "-1L, p", (), 8, 4, range(1, 32)),
    ("sched_setattr", "0x7ffffff0L, p, 0L", ((0, 4, 56),), 4, 4, (1, 2, 3, 5, 6, 7)),
    ("sched_setattr", "0x7ffffff0L, p, 0L", ((0, 4, 56),), 8, 8, BITS(*range(7))),
    ("epoll_ctl", "-1L, 1L, -1L, p", (), 0, 4, BITS(*range(11), 13, *range(28, 32))),
    ("poll", "p, 1L, 0L", ((0, 4, 99),), 4, 2, BITS(*range(10))),
    ("semop", "-1L, p, 1L", ((0, 2, 1),), 4, 2, BITS(11, 12)),
    ("mount_setattr", "-1L, -1L, 0L, p, 32L", (), 0, 8, BITS(0, 1, 2, 3, 4, 5, 7, 20, 21)),
    ("mount_setattr", "-1L, -1L, 0L, p, 32L", (), 16, 8, BITS(17, 18, 19, 20)),
    ("io_uring_setup", "0L, p", (), 8, 4, BITS(*range(14))),
    ("landlock_create_ruleset", "p, 8L, 1L << 30", (), 0, 8, BITS(*range(16))),
    ("futex_waitv", "p, 1L, 0L, 0L, 0L", (), 16, 4, (2, 130)),
    ("ioctl", "-1L, 0x5402L, p", (), 0, 4, BITS(*range(15))),
    ("ioctl", "-1L, 0x5402L, p", (), 4, 4, BITS(*range(9), 9, 10, 11, 12, 13, 14, 15)),
    ("ioctl", "-1L, 0x5402L, p", (), 8, 4, tuple(range(1, 16)) + (0o10001, 0o10002, 0o10003) + BITS(4, 5, *range(6, 12), 30, 31)),
    ("ioctl", "-1L, 0x5402L, p", (), 12, 4, BITS(*range(13), 14, 15, 16)),
    ("connect", "-1L, p, 2L", (), 0, 2, range(1, 46)),
)


def main_of(cases):
    """A program that makes the calls between two of getppid, in pairs (call, arguments)."""
    return "int main(void) {\n\tsyscall(__NR_getppid);\n%s\tsyscall(__NR_getppid);\n\treturn 0;\n}\n" % "".join(
        "#ifdef __NR_%s\n\tsyscall(__NR_%s, %s);\n#endif\n" % (call, call, arguments) for call, arguments in cases)


def build(work, name, cases, before=""):
    need_tools("gcc", "strace")
    headers = "".join("#if __has_include(<%s>)\n#include <%s>\n#endif\n" % (header, header) for header in HEADERS)
    source = work.write(name + ".c", "#include <unistd.h>\n#include <sys/syscall.h>\n%s%s%s" % (headers, before, main_of(cases)))
    process.must("gcc", "-w", "-D_GNU_SOURCE", "-o", work.path(name), source)
    return work.path(name)


def between(texts):
    """The calls between the two of getppid."""
    marks = [i for i, text in enumerate(texts) if text.startswith("getppid(")]
    need(len(marks) == 2, "%d calls of getppid" % len(marks))
    return texts[marks[0] + 1:marks[1]]


def both(work, program):
    """The calls that strace and trace show, one by one."""
    ran = process.run("strace", "-v", "-o", work.path("strace"), program)
    if "PTRACE" in ran.stderr or "ptrace" in ran.stderr:
        raise Skip("strace: " + ran.stderr.strip())
    config = work.write("config", "[trace]\n\tshow_prefix = yes\n\tshow_zeros = yes\n")
    ours = between(joined(parsed(work.trace("-m", "16M", program, env=dict(os.environ, PERF_CONFIG=config))[1])))
    theirs = between(open(work.path("strace"), errors="replace").read().splitlines())
    need(len(ours) == len(theirs) > 0, "%d calls, strace has %d" % (len(ours), len(theirs)))
    return list(zip(theirs, ours))


def names_of(text):
    """The names in the arguments of a call, those of strace in the form of perf."""
    arguments = re.sub(r"/\*.*?\*/|\"[^\"]*\"|0x[0-9a-f]+", "", re.split(r"\) += ", text)[0].partition("(")[2])
    arguments = re.sub(r"\[([A-Z0-9_ ]+)\](?!=)", lambda found: re.sub(r"\b(?=[A-Z])", "SIG", found[1]), arguments)  # strace's sets of signals
    names = (re.sub("^AF_", "PF_", name) for name in WORD.findall(arguments) if name != "NULL")
    return {one for name in names for one in ALIASES.get(name, name).split()}


def call_of(text):
    return text.partition("(")[0]


def version():
    return re.search(r"version (\S+)", process.must("strace", "-V"))[1]


def is_listed(call, name, rows):
    return any(re.fullmatch(calls, call) and re.fullmatch(names, name) for calls, names, _ in rows)


def compare(work, program):
    """Fails if a name is in one text of a call and not in the other, and no row of the lists has it."""
    pairs = both(work, program)
    wrong = []
    for theirs, ours in pairs:
        call, known, shown = call_of(ours), names_of(theirs), names_of(ours)
        need(call_of(theirs) == call or call_of(theirs).startswith("syscall_"), "%s\n%s" % (theirs, ours))
        names = [name for name in known - shown if not is_listed(call, name, STRACE_ALONE)]
        names += [name for name in shown - known if not is_listed(call, name, PERFUSE_ALONE)]
        if names and "syscall_" not in theirs:
            wrong.append("%s:\n  %s\n  %s" % (" ".join(sorted(names)), theirs[:200], ours[:200]))
    if wrong and version() != LISTED_VERSION:
        raise Skip("the lists of differences are those of strace %s, not of %s: %d calls differ" % (LISTED_VERSION, version(), len(wrong)))
    need(not wrong, "%d calls have other names:\n%s" % (len(wrong), "\n".join(wrong[:12])))
    return pairs


def test_names_of_arguments():
    """flags, commands and options of calls have the names that strace has for them, bit by bit, but for those that are listed"""
    with Work() as work:
        cases = [(call, arguments.replace("%s", "%dL" % value)) for call, arguments in [row[:2] for row in NAMES] + list(MORE)
                 for value in VALUES if (call, value) not in EFFECTS]
        pairs = compare(work, build(work, "arguments", cases))
        named = sum(bool(names_of(ours)) for _, ours in pairs)
        need(len(pairs) > 9000 and named > 5000, "%d calls, %d with names" % (len(pairs), named))


def test_names_in_structures():
    """flags, signals and other numbers in structures that calls read have the names that strace has for them, bit by bit"""
    with Work() as work:
        before = "static unsigned char p[256] __attribute__((aligned(8)));\n#define SET(at, size, value) " \
            "(*(unsigned long *)(p + (at)) &= size == 8 ? 0 : -1ul << size * 8 % 64, *(unsigned long *)(p + (at)) |= (value))\n"
        cases = []
        for call, arguments, fixed, at, size, values in STRUCTURES:
            fill = ["__builtin_memset(p, 0, sizeof p)"] + ["SET(%d, %d, %dul)" % part for part in fixed]
            for value in values:
                cases.append((call, "(%s, SET(%d, %d, %dul), 0) ?: " % (", ".join(fill), at, size, value) + arguments))
        pairs = compare(work, build(work, "structures", cases, before))
        named = sum(bool(names_of(theirs) & names_of(ours)) for theirs, ours in pairs)
        need(len(pairs) > 450 and named > len(pairs) - 20, "%d calls, %d with names" % (len(pairs), named))


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
