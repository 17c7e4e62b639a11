#!/usr/bin/env python3
"""`freq`, and the line of `record` about the clock, with planted trees of sysfs: a mount namespace shows them in place of the machine's, and an empty
/run."""
import json
import os
import re
import shutil
import sys
import tempfile

from suite import process
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import Skip, need, need_root, need_tools, run_tests, tests_of

CPUFREQ = "/sys/devices/system/cpu/cpufreq"
POLICY = {"affected_cpus": "0 1", "scaling_driver": "acpi-cpufreq", "scaling_governor": "schedutil", "scaling_min_freq": "800000",
          "scaling_max_freq": "3600000", "scaling_cur_freq": "1200000", "cpuinfo_min_freq": "800000", "cpuinfo_max_freq": "3600000",
          "base_frequency": "2400000"}


class Tree:
    """A planted tree; `run` runs a shell script in which $P is perfuse and $T the tree."""

    def __init__(self, **changes):
        need_root("mounts")
        need_tools("unshare")
        if not os.path.isdir(CPUFREQ):
            raise Skip("the kernel has no " + CPUFREQ)
        self.folder = tempfile.mkdtemp(prefix="perfuse-freq-")
        for policy in ("policy0", "policy1"):
            for name, value in {**POLICY, **changes}.items():
                self.put(policy + "/" + name, value)
        self.put("boost", "1")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, name, value):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(value + "\n")

    def get(self, name):
        return open(os.path.join(self.folder, name)).read().strip()

    def values(self):
        return {name: self.get(name) for name in ["boost"] + ["policy%d/scaling_%s_freq" % (p, m) for p in (0, 1) for m in ("min", "max")]}

    def run(self, script):
        mounts = "mount --make-rprivate / && mount --bind $T %s && mount -t tmpfs none /run && " % CPUFREQ
        return process.run("unshare", "-m", "bash", "-c", mounts + "{ " + script + "\n}", stderr=process.STDOUT,
                           env=environment(self.folder, T=self.folder, P=PERFUSE))


def test_show():
    """freq shows the policies, what sets their clock, their limits and boost; as JSON, too"""
    with Tree() as tree:
        tree.put("policy1/scaling_driver", "intel_pstate")
        tree.put("policy1/energy_performance_preference", "balance_power")
        text = tree.run("$P freq").stdout.splitlines()
        need(len(text) == 4 and text[0] == "# Frequencies in MHz", text)
        need(re.sub(" +", " ", text[2]).strip() == "0 0-1 acpi-cpufreq schedutil the kernel, by load 800 3600 1200 800 3600 2400 on -", text[2])
        need("the processor, by load" in text[3] and text[3].endswith("balance_power"), text[3])
        rows = json.loads(tree.run("$P freq --format json").stdout)["tables"][0]["rows"]
        need(rows[1]["driver"] == "intel_pstate" and rows[0]["max"] == 3600000 and rows[0]["boost"] is True, rows)


def test_pin():
    """--pin sets all policies for the time of the command, whose exit code it has, and restores them"""
    for words, wanted in ((["--pin", "2000"], "2000000"), (["--pin", "min"], "800000"), (["--pin", "max"], "3600000"),
                          (["--pin", "base"], "2400000"), (["--pin", "max", "--no-boost"], "2400000")):
        with Tree() as tree:
            before = tree.values()
            done = tree.run("$P freq %s -- bash -c 'grep -h . $T/policy?/scaling_m*_freq $T/boost; exit 7'; echo code $?; ls /run/perfuse" % " ".join(words))
            boost = "0" if "--no-boost" in words else "1"
            need(done.stdout.split() == [wanted] * 4 + [boost, "code", "7", "frequency.lock"], "%s: %s" % (words, done.stdout))
            need(tree.values() == before, "%s: not restored: %s" % (words, tree.values()))


def test_killed():
    """the next start restores the settings that a killed --pin has left, with a message; another --pin is refused meanwhile"""
    with Tree() as tree:
        before = tree.values()
        done = tree.run("""$P freq --pin 1500 --no-boost -- bash -c 'echo $$ >$T/runs; exec sleep 60' & pid=$!
            while [ ! -s $T/runs ]; do sleep 0.02; done
            $P freq --pin 1000 -- true; echo code $?; $P freq | tail -1
            kill -9 $pid; wait $pid 2>/dev/null; kill $(cat $T/runs)
            grep -h . $T/policy0/scaling_min_freq $T/boost; $P freq >/dev/null; echo code $?; $P freq >/dev/null""")
        lines = done.stdout.splitlines()
        need(lines[0].startswith("another 'perfuse freq --pin' has pinned the clock") and lines[1] == "code 255", done.stdout)
        need(any("the clock is pinned until its command ends" in line for line in lines), done.stdout)
        need(lines[-4:] == ["1500000", "0", "The clock that an earlier 'perfuse freq --pin' had left pinned is restored", "code 0"], done.stdout)
        need(tree.values() == before, "not restored: %s" % tree.values())


def test_refusals():
    """a driver that refuses is named with a kernel parameter, and everything is restored; wrong frequencies are one sentence"""
    with Tree(scaling_driver="intel_pstate") as tree:
        before = tree.values()
        done = tree.run("mount --bind /dev/null %s/policy1/scaling_max_freq; $P freq --pin 2000 -- echo runs; echo code $?" % CPUFREQ)
        need("the driver intel_pstate refuses the clock: cpufreq/policy1/scaling_max_freq" in done.stdout and "runs" not in done.stdout and
             "intel_pstate=passive" in done.stdout and done.stdout.endswith("code 255\n"), done.stdout)
        need(tree.values() == before, "not restored: %s" % tree.values())
        for word, sentence in (("5000", "the CPUs 0-1 run at 800 to 3600 MHz, and not at 5000\n"), ("x", "--pin takes a frequency in MHz"),
                               ("-5", "--pin takes a frequency in MHz"), ("nan", "--pin takes a frequency in MHz")):
            done = tree.run("$P freq --pin=%s -- true; echo code $?" % word)
            need(done.stdout.startswith(sentence) and done.stdout.endswith("code 255\n"), done.stdout)
        done = tree.run("$P freq --pin 1000 -- /nonexistent; echo code $?")
        need(done.stdout.endswith("code 127\n") and tree.values() == before, done.stdout)


def test_hostile_store():
    """a stored file of another user, or with other paths, is refused and nothing is written"""
    with Tree() as tree:
        before = tree.values()
        for script, word in (("echo 'cpufreq/policy0/../../../x=1' >/run/perfuse/frequency; chmod 600 /run/perfuse/frequency", "not a frequency setting"),
                             ("echo cpufreq/boost=0 >/run/perfuse/frequency; chmod 666 /run/perfuse/frequency", "others can write it"),
                             ("echo cpufreq/boost=0 >/run/x; ln -sf /run/x /run/perfuse/frequency", "others can write it")):
            done = tree.run("mkdir -m 700 /run/perfuse; %s; $P freq >/dev/null; echo code $?" % script)
            need(word in done.stdout and done.stdout.endswith("code 255\n"), done.stdout)
            need(tree.values() == before, "written: %s" % tree.values())


def test_record():
    """record reports a clock that changed during its run, and prints nothing if it did not change"""
    with Tree() as tree:
        script = "$P record -e cpu-clock -o $T/perf.data -- bash -c '%s' 2>&1"
        quiet = tree.run(script % "true").stdout
        need("clock" not in quiet and "Captured" in quiet, quiet)
        said = tree.run(script % "echo 3000000 >$T/policy1/scaling_cur_freq").stdout
        need("Remark: the clock of the CPUs changed during the run (1200 to 3000 MHz; driver acpi-cpufreq, governor schedutil). "
             "'perfuse freq --pin base -- COMMAND' pins the clock.\n" in said, said)
        said = tree.run(script % "echo 3000000 >$T/policy1/scaling_max_freq").stdout
        need("Remark: another program changed the limits of the clock. " in said, said)
        said = tree.run((script % "echo 1000000 >$T/policy1/scaling_cur_freq").replace("record", "record -q")).stdout
        need("clock" not in said, said)


def test_stat():
    """stat reports it after its text, but not with -x and -j"""
    with Tree() as tree:
        script = "$P stat -e cpu-clock %s -- bash -c 'echo %d >$T/policy1/scaling_cur_freq'"
        said = tree.run(script % ("", 3000000)).stdout
        need(said.rstrip("\n").splitlines()[-1].startswith("Remark: the clock of the CPUs changed during the run (1200 to 3000 MHz;"), said)
        for style, khz in (("-x,", 2000000), ("-j", 1000000)):
            said = tree.run(script % (style, khz)).stdout
            need("Remark" not in said and "cpu-clock" in said, said)
        need("Remark" not in tree.run(script % ("", 1000000)).stdout, "no change")


def test_without_driver():
    """a machine without a driver gets the reason and a remedy, exit code 255"""
    with Tree() as tree:
        done = tree.run("rm -r $T/policy*; $P freq; echo code $?; $P freq --pin 1000 -- true; echo code $?")
        need(done.stdout.count("code 255") == 2 and done.stdout.count("\n") == 6, done.stdout)


if __name__ == "__main__":
    sys.exit(run_tests(tests_of(globals())))
