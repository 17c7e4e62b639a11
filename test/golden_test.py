#!/usr/bin/env python3
"""The recordings and the expected output of test/golden, which src/cmd/golden_test.c compares with what perfuse prints: the recordings are those
that golden/recordings.py writes (with GOLDEN_UPDATE=1 it writes them here), and perf prints the same of them."""
import filecmp
import fnmatch
import glob
import os
import re
import shlex
import sys

from golden import recordings
from suite import process
from suite.perf import first_difference, need_reference
from suite.settings import TEST
from suite.tests import need, remark, run_in_folder

GOLDEN = os.path.join(TEST, "golden")
COMMANDS = "annotate buildid-list data diff evlist lock probe report sched script stat timechart trace".split()  # of perf
# Sentences of its own; several commands; what differs from run to run; the browsers.
OWN = tuple(name + ".expected" for name in ("refused", "rewritten", "remade", "live", "written", "bench", "counted", "exported", "metrics", "planted",
                                            "recorded", "screens", "top", "watched"))
VARIES = re.compile(r"captured on|captured-on|# \(Tip:")


def test_recordings(folder):
    """the recordings are those that golden/recordings.py writes"""
    data = os.path.join(GOLDEN, "data")
    recordings.write_all(data if os.environ.get("GOLDEN_UPDATE") else folder)
    if os.environ.get("GOLDEN_UPDATE"):
        return
    made, stored = (sorted(os.path.relpath(path, top) for path in glob.glob(os.path.join(top, "**"), recursive=True) if os.path.isfile(path))
                    for top in (folder, data))
    debug = sorted(name for name in stored if name.startswith("debug/"))  # made by compilers, as golden/recordings.py describes
    need(sorted([*made, *debug, "lines", "lines.c", "packets", "packets.data", "shapes", "shapes.c", "vendor/metrics.json"]) == stored, "other files: %s" % made)
    wrong = filecmp.cmpfiles(folder, data, made, shallow=False)[1:]
    need(wrong == ([], []), "they differ: %s" % (wrong,))


def expectations():
    """(command, text of the lines that are compared, what it prints, exit code) of each command in the .expected files."""
    for name in sorted(os.listdir(GOLDEN)):
        if not name.endswith(".expected") or name in OWN:
            continue
        with open(os.path.join(GOLDEN, name), encoding="utf-8") as file:
            for block in re.split(r"(?m)^### ", file.read())[1:]:
                line, _, text = block.partition("\n")
                command, _, choice = line.partition(" |= ")
                end = re.search(r"(?m)^exit (\d+)\n\Z", text)
                lines = (text[:end.start()] if end else text).splitlines(True)
                if command.startswith("stat "):  # prints to stderr, as perf's
                    lines = [line.removeprefix("! ") for line in lines] if not end else []
                lines = [line for line in lines if not line.startswith("! ")]
                yield command, choice, "".join(lines), int(end.group(1)) if end else 0


def test_perf(_):
    """perf prints the same, but for known differences"""
    perf = need_reference()
    gaps = [line.split(None, 1)[0].replace("_", " ") for line in open(os.path.join(GOLDEN, "gaps"), encoding="utf-8") if line.strip()[:1] not in ("", "#")]
    env = {"HOME": "/nonexistent", "PERF_CONFIG": "/dev/null", "LC_ALL": "C", "TZ": "UTC", "PATH": os.environ["PATH"]}
    data = os.path.join(GOLDEN, "data")
    compared, wrong, used = 0, [], set()
    for command, choice, expected, code in expectations():
        words = shlex.split(command)
        if words[0] not in COMMANDS or any(word.startswith("--format") for word in words):
            continue
        done = process.run(perf, *words, cwd=data, env=env, text=False)
        output = done.stdout if words[0] != "stat" else b"" if done.returncode else done.stderr + done.stdout
        printed = "".join(line for line in output.decode(errors="replace").splitlines(True) if choice in line and not VARIES.search(line)).replace(os.path.realpath(data), "DATA")
        known = [gap for gap in gaps if fnmatch.fnmatch(command, gap)]
        used.update(known)
        compared += 1
        if not known and (printed != expected or done.returncode % 256 != code):
            wrong.append("%s (exit %d): %s" % (command, done.returncode, first_difference(expected, printed)))
    for line in wrong[:20]:
        remark(line)
    need(compared >= 400, "only %d commands were compared" % compared)
    need(not wrong, "%d of %d differ" % (len(wrong), compared))
    need(used == set(gaps), "known differences without a command: %s" % sorted(set(gaps) - used))


if __name__ == "__main__":
    sys.exit(run_in_folder("golden", lambda folder: folder, globals()))
