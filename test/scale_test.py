#!/usr/bin/env python3
"""Recordings of long times and large machines: several files as one, parts of a file, limits of memory."""
import os
import struct
import sys

from limits import make
from limits.make import chain_sample, comm, fork, mmap2, sample

from suite import process
from suite.perf import reference
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import need, run_in_folder


class Context:
    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, cores=None):
        return process.perfuse(*words, cwd=self.folder, env=environment(self.folder),
                               before=(lambda: os.sched_setaffinity(0, cores)) if cores else None)

    def out(self, *words):
        done = self.run(*words)
        need(done.returncode == 0, "%s: exit code %d: %s" % (" ".join(words), done.returncode, done.stderr))
        return done.stdout


def switched(c, files):
    """Files of one recording: a process that is mapped in the first, and forks in each."""
    for i in range(files):
        records = [comm(7, "parent", 1), mmap2(7, 0x10000, 0x1000, "/usr/bin/parent")] if i == 0 else []
        records += [fork(100 + i, 7, 10 * i + 2), comm(100 + i, "child%d" % i, 10 * i + 3)]
        records += [sample(100 + j, 0x10010 + 16 * j, 10 * i + 4 + j) for j in range(i + 1)]
        make.recorded(c.path("perf.data.202601010000000%d" % i), records)


def test_series(c):
    """files of record --switch-output are read as one, by pattern or folder, with the names that earlier files gave"""
    switched(c, 3)
    whole = c.out("script", "-F", "comm,tid,time,ip", "-i", "perf.data.2*")
    need([line.split()[0] for line in whole.splitlines()] == ["child0", "child0", "child1", "child0", "child1", "child2"], whole)
    need(whole == c.out("script", "-F", "comm,tid,time,ip", "-i", "."), "a folder is read differently from a pattern")
    rows = c.out("report", "--stdio", "-g", "none", "-s", "comm", "-F", "sample,comm", "-i", "perf.data.2*")
    for name, count in (("child0", 3), ("child1", 2), ("child2", 1)):
        need(["%d" % count, name] in [line.split() for line in rows.splitlines()], rows)
    need(c.out("flamegraph", "--folded", "-i", "perf.data.2*").count("child") >= 3, "flamegraph does not read several files")
    need("failed to open" in c.run("report", "--stdio", "-i", "none*").stderr, "a pattern without files is accepted")


def test_compact(c):
    """inject --compact drops what no sample needs, and reports and scripts stay the same"""
    records = [comm(7, "make", 1), mmap2(7, 0x10000, 0x1000, "/usr/bin/make")]
    for i in range(50):
        at = 10 * i + 2
        records += [fork(100 + i, 7, at), comm(100 + i, "cc%d" % i, at + 1)]
        records += [mmap2(100 + i, 0x100000 * (j + 1), 0x1000, "/usr/lib/lib%d.so" % j, time=at + 2) for j in range(10)]
        records += [sample(100 + i, 0x100000 * (1 + i % 3) + 16, at + 3)] if i % 5 == 0 else []
    make.recorded(c.path("whole"), records)
    need(c.run("inject", "--compact", "-i", "whole", "-o", "small").returncode == 0, "inject fails")
    counts = c.out("report", "--stats", "-i", "small")
    need(not [line for line in counts.splitlines() if "MMAP2 events" in line and int(line.split()[2]) > 15], counts)
    need(os.path.getsize(c.path("small")) * 3 < os.path.getsize(c.path("whole")), "the recording is not much smaller")
    for words in (("script", "-F", "comm,tid,time,ip,sym,dso"), ("report", "--stdio", "-q", "-s", "pid,comm,dso,sym"),
                  ("report", "--stdio", "-q", "-s", "sym", "-g", "caller"), ("flamegraph", "--folded", "-o", "-")):
        need(c.out(*words, "-i", "whole") == c.out(*words, "-i", "small"), "%s differs" % " ".join(words))
    for words in (("-b",), ("-i", "-"), ("-j",)):
        need(c.run("inject", "--compact", "-i", "whole", "-o", "x", *words).returncode != 0, "--compact %s is accepted" % " ".join(words))


def test_index(c):
    """with an index, --time prints the same as without, and reads the mappings before its range"""
    records = [comm(7, "long", 1), mmap2(7, 0x10000, 0x1000, "/usr/bin/long")]
    for i in range(20000):
        records += [mmap2(7, 0x100000 + 0x10000 * i, 0x1000, "/usr/lib/l%d.so" % i, time=i + 2)] if i % 500 == 0 else []
        records += [sample(7, 0x100000 + 0x10000 * (i - i % 500) + i % 64, i + 2)]
    make.recorded(c.path("plain"), records)
    need(c.run("inject", "--index", "-i", "plain", "-o", "indexed").returncode == 0, "inject --index fails")
    for words in (("script", "-F", "comm,time,ip,dso"), ("script", "--ns", "-F", "time,ip,dso", "--time", "0.000004000,0.000004700"),
                  ("script", "-F", "time,ip,dso", "--time", ",0.000000100"), ("report", "--stdio", "-q", "-s", "dso", "--time", "0.00001,"),
                  ("report", "--stdio", "-q", "-s", "dso,sym", "--time", "0.000004000,0.000004700")):
        plain, indexed = c.out(*words, "-i", "plain"), c.out(*words, "-i", "indexed")
        need(plain and plain == indexed, "%s differs" % " ".join(words))
    part = c.out("script", "-F", "time,ip", "--time", "10%-40%", "-i", "indexed")
    need(part.count("\n") == 6000, "--time 10%%-40%% shows %d of 20000 samples" % part.count("\n"))
    need("does not state the times" in c.run("script", "--time", "10%-40%", "-i", "plain").stderr,
         "a recording without times and index has parts in percent")
    need(c.run("inject", "-b", "--index", "-i", "plain", "-o", "both").returncode == 0, "inject -b --index fails")
    words = ("script", "-F", "time,ip,dso", "--time", "0.000004000,0.000004700")
    need(c.out(*words, "-i", "both") == c.out(*words, "-i", "plain"), "with added records the index differs")
    perf = reference()
    if not perf:
        return
    done = [process.run(perf, "script", "-F", "comm,time,ip", "-i", name, cwd=c.folder, env=environment(c.folder))
            for name in ("plain", "indexed")]
    need(done[0].returncode == 0 and done[0].stdout == done[1].stdout, "perf reads the indexed file differently")


def test_record_index(c):
    """record --index makes the index that inject --index makes of the same records; what has no offsets in one file is refused"""
    recorded = ("record", "-q", "-e", "cpu-clock", "-F", "5000", "-g", "--index", "-o", "recorded", "--")
    done = c.run(*recorded, PERFUSE, "test", "-w", "noploop", "1")
    need(done.returncode == 0, "record --index: exit code %d: %s" % (done.returncode, done.stderr))
    need(c.run("inject", "--index", "-i", "recorded", "-o", "injected").returncode == 0, "inject --index fails")
    data = [open(c.path(name), "rb").read() for name in ("recorded", "injected")]
    need(all(d[-40:-32] == b"PFTIMES2" for d in data), "a file has no index")
    counts = [struct.unpack("<QQQ", d[-32:-8]) for d in data]
    need(counts[0][1:] == counts[1][1:] and counts[0][2] > 2, "the indexes list %s and %s" % tuple(n[1:] for n in counts))
    times = c.out("script", "--ns", "-F", "time", "-i", "recorded").replace(":", "").split()
    need(len(times) > 20, "few samples: %d" % len(times))
    part = "%s,%s" % (times[len(times) // 2], times[len(times) // 2 + 5])
    shown = c.out("script", "--ns", "-F", "time", "--time", part, "-i", "recorded").replace(":", "").split()
    need(shown == times[len(times) // 2:len(times) // 2 + 6], "--time shows %s" % shown)
    for words in (("-z",), ("--threads",), ("-o", "-")):
        done = c.run(*recorded[:-1], *words, "--", "true")
        need(done.returncode != 0 and "--index and" in done.stderr, "%s: %s" % (words, done.stderr))


def test_cores(c):
    """a recording of many processes, rows and stacks gives the same reports and flame graphs on one CPU as on all"""
    records, state = [], 1
    for i in range(200):
        records += [comm(100 + i, "task%d" % (i % 60), 2 * i + 1)]
        records += [mmap2(100 + i, 0x10000 * j, 0x8000, "/usr/lib/lib%d.so" % j, time=2 * i + 2) for j in (1, 2)]
    for i in range(12000):
        chain = []
        for _ in range(6):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
            chain.append(0x10000 * (1 + (state >> 40) % 2) + 16 * ((state >> 45) % 300))
        records.append(chain_sample(100 + i % 200, chain, 1000 + i))
    make.recorded(c.path("many"), records, chains=True)
    for words in (("report", "--stdio", "-q"), ("report", "--stdio", "-q", "--no-children", "-g", "caller,0.5,callee,function,percent"),
                  ("report", "--stdio", "-q", "-g", "none", "-s", "pid,dso,sym"), ("flamegraph", "--folded", "-o", "-"), ("script",)):
        done = [c.run(*words, "-i", "many", cores=cores) for cores in ({min(os.sched_getaffinity(0))}, None)]
        need(done[0].returncode == 0 and done[0].stdout.count("\n") > 2000, "%s: %s" % (" ".join(words), done[0].stderr))
        need(done[0].stdout == done[1].stdout, "%s differs" % " ".join(words))


if __name__ == "__main__":
    sys.exit(run_in_folder("large recordings", Context, globals()))
