#!/usr/bin/env python3
"""Boots an aarch64 machine, which has a PMU, and compares the output of `stat` there with that of Debian's perf 6.12: text, CSV and JSON,
the values masked."""
import os
import re
import shutil
import sys
import tempfile

import stat_test
from suite import process
from suite.machine import cross, virtual_machine
from suite.settings import TOP
from suite.tests import need, need_tools, run_tests, tests_of

# stat_test compares those that need no PMU
LINES = """true
-d true
-dd true
-ddd true
-e cycles,instructions true
-e {cycles,instructions},branches true
-x, -e {cycles,instructions}:S true
-j -e {cycles,instructions} true
-e cycles:u,cycles:k,instructions:u true
-e cycles,stalled-cycles-frontend,stalled-cycles-backend true
-e r8,r11,armv8_pmuv3/event=0x8/ true
-x, -e armv8_pmuv3/inst_retired/u true
-e L1-dcache-loads,L1-dcache-load-misses true
-e branches,branch-misses,cache-references,cache-misses true
-j -e cycles,instructions,branches,branch-misses true
-a -A -e cycles,instructions sleep 0.05
-a --per-core -e cycles,instructions sleep 0.05
-x, -a --per-socket -e cycles,instructions sleep 0.05
-j -a --per-node -e cycles,instructions sleep 0.05
-r 3 -e cycles,instructions true
-r 3 -x, -e cycles,instructions true
-r 3 -j -e cycles,instructions true
-I 50 --interval-count 2 -e cycles,instructions sleep 1
-x, -I 50 --interval-count 2 -e cycles,instructions sleep 1
-j -I 50 --interval-count 2 -e cycles,instructions sleep 1
-e r8,r11,r8,r11,r8,r11,r8,r11,r8,r11 true
-n -e cycles true
-p 1 -e cycles sleep 0.05
-p 1 --per-thread -e cycles,instructions sleep 0.05""".splitlines()
PACKAGES = """linux-perf/bookworm-backports libc6 libbabeltrace1 libdebuginfod1 libdw1 libelf1 liblzma5 libnuma1 libopencsd1 libperl5.36
libpython3.11 libslang2 libstdc++6 libgcc-s1 libtraceevent1 libunwind8 libzstd1 zlib1g libcrypt1 libdb5.3 libgdbm6 libgdbm-compat4 libexpat1
libglib2.0-0 libuuid1 libpcre2-8-0 libbz2-1.0 libcap2""".split()
GUEST = r"""
mkdir /tmp/perf
cp -r /mnt/root /tmp/perf/root
cat >/bin/perf <<'END'
#!/bin/sh
R=/tmp/perf/root
exec $R/lib/ld-linux-aarch64.so.1 --library-path $R/lib/aarch64-linux-gnu:$R/usr/lib/aarch64-linux-gnu --argv0 perf $R/usr/bin/perf "$@"
END
chmod +x /bin/perf
cd /tmp
n=0
while read -r line; do
	for program in perf perfuse; do
		eval "$program $line" >/tmp/out 2>&1 </dev/null
		echo "exit code $?" >>/tmp/out
		cp /tmp/out /mnt/$n.$program
	done
	n=$((n+1))
done </mnt/lines
"""


class Context:
    def __init__(self):
        need_tools("aarch64-linux-gnu-gcc", "qemu-system-aarch64")
        build = os.path.join(TOP, "build-aarch64")
        need(cross("aarch64", build, "perfuse") == 0, "tools/cross aarch64 fails")
        self.folder = tempfile.mkdtemp(prefix="perfuse-layouts-")
        self.commands = ["stat " + line for line in LINES]
        perf = process.must(sys.executable, os.path.join(TOP, "tools", "debian.py"), "perf-6.12", "aarch64", *PACKAGES, env=os.environ,
                            seconds=600).strip()
        for part in ("lib", "usr/bin", "usr/lib/aarch64-linux-gnu"):
            shutil.copytree(os.path.join(perf, part), os.path.join(self.folder, "root", part), symlinks=True)
        # perf downloads nothing here: an empty library replaces curl and the twenty libraries that it needs
        version = os.path.join(self.folder, "version")
        with open(version, "w", encoding="utf-8") as out:
            out.write("CURL_GNUTLS_3 { };")
        process.must("aarch64-linux-gnu-gcc", "-shared", "-nostdlib", "-Wl,-soname,libcurl-gnutls.so.4,--version-script=" + version,
                     "-x", "c", "/dev/null", "-o", os.path.join(self.folder, "root", "lib", "aarch64-linux-gnu", "libcurl-gnutls.so.4"))
        with open(os.path.join(self.folder, "lines"), "w", encoding="utf-8") as out:
            out.writelines("".join(re.sub(r"([{}*;()\\])", r"\\\1", line)) + "\n" for line in self.commands)
        # the PMU has instructions with one CPU and --icount alone
        self.done = virtual_machine("--arch", "aarch64", "--icount", "--cpus", "1", "--memory", "1536", "--share", self.folder, "--program",
                                    os.path.join(build, "perfuse"), "--timeout", "1500", "--", "sh", "-c", GUEST)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def outputs(self, command):
        texts = []
        for program in ("perf", "perfuse"):
            name = os.path.join(self.folder, "%d.%s" % (self.commands.index(command), program))
            need(os.path.exists(name), "no output of %s %s: %s" % (program, command, self.done.stderr[-500:]))
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
        return texts


def without_hint(text):
    """The hint about the NMI watchdog is in words of our own."""
    return re.sub(r"(?ms)^(Some events weren't counted|The kernel's NMI watchdog).*?(?=^exit code)", "", text)


def test_layouts(c):
    """with a PMU, text, -x and -j are perf's on %d command lines, values aside"""
    wrong = []
    for line in LINES:
        perfs, ours = (without_hint(text) for text in c.outputs("stat " + line))
        alone = any(word.startswith(("-x", "-j")) for word in line.split())
        if stat_test.masked(perfs, alone) != stat_test.masked(ours, alone):
            wrong.append("%s:\n%s--\n%s" % (line, perfs, ours))
    need(not wrong, "%d of %d differ:\n%s" % (len(wrong), len(LINES), "\n".join(wrong)))


test_layouts.__doc__ %= len(LINES)


def main():
    context = Context()
    try:
        return run_tests(tests_of(globals(), context))
    finally:
        context.close()


if __name__ == "__main__":
    sys.exit(main())
