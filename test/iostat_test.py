#!/usr/bin/env python3
"""`iostat` and `stat --iostat`, with planted PMUs of root ports whose events are software events: a mount namespace shows them in /sys."""
import re
import shutil
import sys
import tempfile

from suite import process
from suite.perf import reference
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import need, need_root, need_tools, run_tests, tests_of

# The fields of the events are bits of config1: config 0 of the software PMU is cpu-clock, which counts nanoseconds of each CPU.
PLANT = """set -e; mount --make-rprivate /; D=$T/devices E=$T/sources; mkdir -p $D/system $E
cp -r /sys/devices/system/cpu /sys/devices/system/node $D/system/ 2>/dev/null || true
for each in /sys/bus/event_source/devices/*; do
	ln -s "$(readlink $each)" $E/; [ -e $D/${each##*/} ] || cp -r $each/ $D/${each##*/} 2>/dev/null || true
done
for i in 0 1 10; do
	mkdir -p $D/uncore_iio_$i/format; ln -s ../../../devices/uncore_iio_$i $E/uncore_iio_$i; cd $D/uncore_iio_$i
	echo 1 >type; echo 0 >cpumask; echo config1:0-7 >format/event; echo config1:8-15 >format/umask
	echo config1:36-43 >format/ch_mask; echo config1:44-46 >format/fc_mask
done
echo 0000:00 >$D/uncore_iio_0/die0; echo 0000:17 >$D/uncore_iio_1/die0; echo 0000:3a >$D/uncore_iio_10/die0; echo 0000:80 >$D/uncore_iio_0/die1
cd /; mount --bind $D /sys/devices; mount --bind $E /sys/bus/event_source/devices; set +e
exec -a perf "$@"
"""
LIST = "S0-uncore_iio_0<0000:00>\nS1-uncore_iio_0<0000:80>\nS0-uncore_iio_1<0000:17>\nS0-uncore_iio_10<0000:3a>\n"
TITLES = ["Inbound Read(MB)", "Inbound Write(MB)", "Outbound Read(MB)", "Outbound Write(MB)"]


def planted(*words, program=PERFUSE):
    need_root("mounts")
    need_tools("unshare")
    folder = tempfile.mkdtemp(prefix="perfuse-iostat-")
    try:
        return process.run("unshare", "-m", "bash", "-c", PLANT, "bash", program, *words, env=environment(folder, T=folder), seconds=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_list():
    """list prints the root ports by PMU and socket"""
    for words in (("iostat", "list"), ("stat", "--iostat=list")):
        done = planted(*words)
        need(done.returncode == 0 and done.stderr == LIST and not done.stdout, "%s: %s%s" % (words, done.stdout, done.stderr))


def test_counts():
    """each port has the units that its events counted on its own socket, in MB of four bytes a unit"""
    done = planted("iostat", "-x,", "--", "sleep", "0.5")
    lines = [line.split(",") for line in done.stderr.splitlines()]
    need(lines[0] == ["port", *TITLES, ""] and [line[0] for line in lines[1:]] == ["0000:00", "0000:80", "0000:17", "0000:3a"], done.stderr)
    for port, *counts, _ in lines[1:]:
        wanted = (0, 0) if port == "0000:80" else (0.5e9 / (1 << 18), 8e9 / (1 << 18))
        need(all(wanted[0] - 1 <= int(count) <= wanted[1] for count in counts), "%s has %s, not %s" % (port, counts, wanted))
    done = planted("stat", "--iostat=0:3a,0000:00", "-I", "100", "-x,", "--", "sleep", "0.25")
    rows = [line.split(",") for line in done.stderr.splitlines()]
    need(rows[0] == ["time", "port", *TITLES, ""] and {row[1] for row in rows[1:]} == {"0000:00", "0000:3a"} and len(rows) >= 5, done.stderr)
    need(all(int(row[2]) < 8e9 / (1 << 18) for row in rows[1:]), "intervals are not differences: %s" % done.stderr)


def masked(text):
    """Numbers as N, with the width of their column."""
    return re.sub(r" +\d[\d.]*(?= )", lambda m: "N".rjust(len(m.group(0))), re.sub(r",\d+(?=,)", ",N", text))


def test_layout():
    """the layout is perf's"""
    perf = reference()
    for words in (("stat", "--iostat=0000:00", "--", "true"), ("stat", "--iostat=0000:17,0:0", "--", "true"), ("stat", "--iostat=0000:17", "-x,", "true")):
        ours = planted(*words)
        need(ours.returncode == 0 and all(title in ours.stderr for title in TITLES), ours.stderr)
        if perf:
            theirs = planted(*words, program=perf)
            need(masked(ours.stderr) == masked(theirs.stderr), "%s: %s, not %s" % (words, ours.stderr, theirs.stderr))


def test_mistakes():
    """wrong ports, machines without root ports and commands that do not exist have perf's sentences and exit codes"""
    for ports, sentence in (("zz", "Unrecognized root port format: zz\n"), ("0000:99", "Root port 0000:99 were not found\n")):
        done = planted("stat", "--iostat=" + ports, "true")
        need(done.returncode == 129 and done.stderr.startswith(sentence) and "Requested root ports were not found\n" in done.stderr, done.stderr)
    for words in (("iostat", "list"), ("iostat", "--", "true"), ("stat", "--iostat", "true")):
        done = process.perfuse(*words)
        need(done.returncode == 129 and done.stderr.startswith("Unsupported uncore pmu configuration\n"), done.stderr)
    done = planted("iostat", "--", "/nonexistent/command")
    need(done.returncode == 255 and done.stderr == "Workload failed: No such file or directory\n", done.stderr)


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
