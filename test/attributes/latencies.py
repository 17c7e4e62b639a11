"""`stat --record-tpebs`: the events with the modifier R are sampled with the attributes of the events that perf samples for them, which are those
of `perf record -W`. The PMUs are planted below /sys; events that this kernel refuses are opened as dummies."""
import collections
import functools
import os
import re
import shutil
import tempfile

from attributes import grammar
from suite import process
from suite.settings import PERFUSE
from suite.tests import is_selected, need, skipped

WEIGHT_STRUCT = 1 << 24
# machine; options of both; events with R, and as perf record gets them; other events that are counted
LINES = [("intel-pt", [], ["cycles:R"], ["cycles:p"], []),
         ("intel-pt", ["-C", "0"], ["cpu/event=0xc4,umask=0x20/R"], ["cpu/event=0xc4,umask=0x20/p"], ["page-faults"]),
         ("intel-pt", ["-a"], ["r1c4:uR", "instructions:Rk"], ["r1c4:up", "instructions:pk"], ["cycles", "{task-clock,page-faults}"]),
         ("intel-hybrid", [], ["cpu_core/event=0xc4/R"], ["cpu_core/event=0xc4/p"], [])]


def opened(c, tree, program, words):
    """The precise events whose samples have weights: not that of the side-band records."""
    folder = tempfile.mkdtemp(dir=c.work)
    log = os.path.join(folder, "log")
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "PERF_CONFIG": "/dev/null", "LC_ALL": "C", "PERF_CPUID": grammar.CPU}
    start = ["env", "LD_PRELOAD=" + c.library, "OPENED=" + log, "OPENED_ANY=1", program]
    done = process.run(*grammar.planted(tree, start + words), cwd=folder, env=environment)
    rows = collections.Counter()
    for row, count in c.events_of(log)[0].items():
        fields = re.search(r"sample_type=(\S+)", row[0])
        if fields and " precise " in row[0] and int(fields.group(1), 16) & WEIGHT_STRUCT:
            rows[row] += count
    shutil.rmtree(folder, ignore_errors=True)
    return rows, done


def compare(c, tree, line):
    _, options, latencies, precise, counted = line
    events = [word for event in latencies + counted for word in ("-e", event)]
    mine, done = opened(c, tree, PERFUSE, ["stat", "--record-tpebs", *options, *events, "--", "true"])
    events = [word for event in precise for word in ("-e", event)]
    perfs, reference = opened(c, tree, c.reference, ["record", "-W", "--synth=no", "-o", "perf.data", *(options or ["-a"]), *events, "--", "true"])
    need(perfs, "perf opens none: %s" % reference.stderr[-600:])
    lines = c.difference(mine, perfs)
    need(not lines, "%s\n%s" % ("\n".join(lines), done.stderr[-600:]))


def tests(c):
    if not grammar.can_plant():
        skipped("retire latencies", "this user may not mount; as root it runs")
        return []
    found = []
    for line in LINES:
        name = "%s, %s %s: latencies sampled as by perf" % (line[0], " ".join(line[1]), ",".join(line[2]))
        if not is_selected(name):
            continue
        tree = os.path.join(c.work, "latencies-" + line[0])
        if not os.path.exists(tree):
            grammar.plant(line[0], tree)
        found.append((name, functools.partial(compare, c, tree, line)))
    return found
