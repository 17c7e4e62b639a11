#!/usr/bin/env python3
"""The attributes and filters of the events that `record` opens, compared with those of perf for the same command line, for each line of
attributes/lines.txt. A library that is preloaded into both programs logs them."""
import collections
import concurrent.futures
import functools
import os
import re
import shlex
import shutil
import sys
import tempfile

from attributes import grammar, latencies, traces
from suite import process
from suite.perf import reference
from suite.process import environment
from suite.settings import PERFUSE, SANITIZED, TEST
from suite.tests import Skip, is_selected, need, run_tests

HERE = os.path.join(TEST, "attributes")

ATTR_BYTES = 144
AT_A_TIME = 6
FIELDS = [("type", 0, 4), ("config", 8, 8), ("period", 16, 8), ("sample_type", 24, 8), ("read_format", 32, 8), ("flags", 40, 8),
          ("wakeup", 48, 4), ("bp_type", 52, 4), ("config1", 56, 8), ("config2", 64, 8), ("branch", 72, 8), ("regs_user", 80, 8),
          ("stack_user", 88, 4), ("clockid", 92, 4), ("regs_intr", 96, 8), ("aux_watermark", 104, 4), ("max_stack", 108, 2),
          ("aux_sample_size", 112, 4), ("sig_data", 120, 8), ("config3", 128, 8)]
FLAGS = """disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap comm freq inherit_stat
enable_on_exec task watermark precise precise mmap_data sample_id_all exclude_host exclude_guest exclude_callchain_kernel
exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward namespaces ksymbol bpf_event aux_output cgroup
text_poke build_id inherit_thread remove_on_exec sigtrap""".split()


def described(raw):
    """The fields of an attribute that are not zero, without its size, which may differ."""
    raw = raw.ljust(ATTR_BYTES, b"\0")
    words = []
    for name, at, size in FIELDS:
        value = int.from_bytes(raw[at:at + size], "little")
        if name == "flags":
            words += [FLAGS[i] if i < len(FLAGS) else "bit%d" % i for i in range(64) if value >> i & 1]
        elif value:
            words.append("%s=%#x" % (name, value))
    return " ".join(words)


def events_of(path):
    """The events that are open when the first ring is mapped: (attribute, CPU, whether it is of a process, its leader's attribute, flags),
    and their filters."""
    opened, filters, mapped = {}, collections.Counter(), False
    if not os.path.exists(path):
        return collections.Counter(), filters
    for line in open(path):
        words = line.rstrip("\n").split(" ", 2) + [""]
        fd = int(words[1])
        if words[0] == "open" and not mapped:
            pid, cpu, group, flags, raw = words[2].split(" ")
            opened[fd] = (bytes.fromhex(raw), int(cpu), int(pid) >= 0, int(group), int(flags))
        elif words[0] == "close" and not mapped:
            opened.pop(fd, None)
        elif words[0] == "filter" and fd in opened:
            filters[described(opened[fd][0]), re.sub(r"(common_pid != )\d+", r"\1SELF", words[2])] += 1
        mapped |= words[0] == "map"
    events = collections.Counter()
    for raw, cpu, of_process, group, flags in opened.values():
        leader = described(opened[group][0]) if group in opened else ""
        events[described(raw), "cpu %d" % cpu, "process" if of_process else "", "led by " + leader if leader else "", "flags %d" % flags] += 1
    return events, filters


class Context:
    events_of = staticmethod(events_of)

    def __init__(self, work):
        self.work = work
        self.library = os.path.join(work, "opened.so")
        self.reference = reference()
        self.uprobe = False
        self.difference = difference

    def build(self):
        """The library, and a program for a probe point, which is never run."""
        self.target = os.path.join(self.work, "target")
        process.must("cc", "-o", self.target, "-x", "c", "-", input="int main(void) { return 0; }")
        process.must("cc", "-O1", "-shared", "-fPIC", "-o", self.library, os.path.join(HERE, "opened.c"), "-ldl")

    def record(self, program, words):
        folder = tempfile.mkdtemp(dir=self.work)
        log = os.path.join(folder, "log")
        words = [str(os.getpid()) if word == "SELF" else word for word in words] + ["--", "true"]
        done = process.run(program, "record", "-o", os.path.join(folder, "perf.data"), *words, cwd=folder,
                           env=environment(folder, LD_PRELOAD=self.library, OPENED=log))
        return done, *events_of(log)


def difference(ours, perfs):
    lines = []
    for mark, many, few in (("perf only", perfs, ours), ("perfuse only", ours, perfs)):
        for row in sorted(set(many) - set(few)):
            lines.append("%s: %s" % (mark, ", ".join(word for word in row if word)))
    for row in sorted(set(ours) & set(perfs)):
        if ours[row] != perfs[row]:
            lines.append("%d times by perf, %d by perfuse: %s" % (perfs[row], ours[row], row[0]))
    return lines


def compare(c, words, both):
    if any(word.startswith("perfuse_test:") for word in words) and not c.uprobe:
        raise Skip("this user may not make a probe point, or the kernel has no uprobes")
    (done, events, filters), (mine, my_events, my_filters) = both.result()
    if done.returncode and "Permission" in done.stderr:
        raise Skip("perf is refused: " + done.stderr.strip().splitlines()[0])
    need((mine.returncode == 0) == (done.returncode == 0) and (mine.returncode == done.returncode or done.returncode > 128),
         "exit code %d, perf's %d\nperfuse: %s\nperf: %s" % (mine.returncode, done.returncode, mine.stderr[:600], done.stderr[:600]))
    if done.returncode == 0:
        need(events, "nothing was seen to be opened by perf")
        lines = difference(my_events, events) + difference(my_filters, filters)
        need(not lines, "\n".join(lines))
    for line in done.stderr.splitlines():
        if re.search(r"option should follow|^(Error:\s)?failed to set filter", line):
            need(line.replace("Error:\t", "") in mine.stderr.replace("Error:\t", ""), "perf says: %s\nperfuse: %s" % (line, mine.stderr))


def make_uprobe(c):
    """A probe point (uprobe), made by perf; False if the kernel or this user's rights do not allow one."""
    found = process.run(c.reference, "probe", "-q", "-x", c.target, "--add", "perfuse_test:main=main", stderr=process.STDOUT)
    for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        if os.path.exists(root + "/events/perfuse_test/main"):
            return True
    print("# no probe point: %s" % found.stdout.strip().replace("\n", " "))
    return False


def drop_uprobe(c):
    process.run(c.reference, "probe", "-q", "--del", "perfuse_test:*")


def main():
    if SANITIZED:
        print("skip attributes of events: a sanitizer cannot be preloaded over; the ordinary run compares them")
        return 0
    work = tempfile.mkdtemp()
    c = Context(work)
    try:
        if not c.reference:
            print("skip attributes of events: there is no perf to compare with")
            return 0
        c.build()
        if c.record(c.reference, ["-e", "cpu-clock:u"])[0].returncode:
            print("skip attributes of events: perf_event_open is refused here")
            return 0
        c.uprobe = make_uprobe(c)
        lines = [line.strip() for line in open(os.path.join(HERE, "lines.txt"))]
        # perf waits a second before it ends: several at a time
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            tests = []
            for line in lines:
                if line and line[0] != "#" and is_selected(line):
                    words = shlex.split(line)
                    both = pool.submit(lambda words=words: (c.record(c.reference, words), c.record(PERFUSE, words)))
                    tests.append(("%s: events of record as perf's" % line, functools.partial(compare, c, words, both)))
            tests += grammar.tests(c) + latencies.tests(c) + traces.tests(c)
            return run_tests(tests)
    finally:
        if c.uprobe:
            drop_uprobe(c)
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
