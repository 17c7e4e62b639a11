"""Losses are reported: every command that reads a recording shows the whole records of a damaged one, reports on stderr what is missing, and
exits with 255; an undamaged one is shown without a message. And the storm: random damage to recordings of all kinds, judged by a walk over
the records that shares no code with the program."""
import os
import random
import re
import struct
import tempfile
import time

from suite import known_recording as known
from suite import process, recording, zstd
from suite.process import Hang, died, environment
from suite.settings import CORPUS, SANITIZED, SHORT
from suite.tests import need

SAMPLES = 47
DAMAGED = 255
SECONDS_MAX = 30  # a busy machine is slow; a hang has no end
CASES = int(os.environ.get("STORM_CASES") or (60 if SANITIZED or SHORT else 300))
SEED = os.environ.get("STORM_SEED") or "losses"


def count_folded(out):
    return sum(int(line.rsplit(" ", 1)[1]) for line in out.splitlines() if " " in line)


def count_report(out):
    found = re.findall(r"^# Samples: (\d+)(K?)", out, re.M)
    return sum(int(n) * (1000 if k else 1) for n, k in found)


def count_stats(out):
    found = re.search(r"^ +SAMPLE events: +(\d+)", out, re.M)
    return int(found.group(1)) if found else 0


def count_dump(out):
    return len(re.findall(r"PERF_RECORD_SAMPLE\(", out))


# words, how many samples the output shows (None: none are shown), whether the records are read at all
COMMANDS = (
    (["script", "-F", "ip"], lambda out: len(out.splitlines()), True),
    (["script", "-D"], None, True),
    (["script", "--header-only"], None, False),
    (["report", "--stdio"], count_report, True),
    (["report", "--stdio", "-q"], None, True),
    (["report", "--stats"], count_stats, True),
    (["report", "--tasks"], None, True),
    (["report", "--mmaps"], None, True),
    (["report", "-D"], None, True),
    (["report", "--header-only"], None, False),
    (["flamegraph", "--folded", "--weight", "samples", "-o", "-"], count_folded, True),
    (["flamegraph", "-o", "OUT"], None, True),
    (["evlist", "-v"], None, False),
    (["buildid-list"], None, False),
    (["buildid-list", "-H"], None, True),
    (["inject", "-b", "-o", "OUT"], None, True),
    (["inject", "-o", "OUT"], None, True),
    (["archive", "PATH"], None, True),
    (["buildid-cache", "-M", "PATH"], None, False),
)
COUNTING = [command for command in COMMANDS if command[1]]


class Box:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="perfuse-losses-")
        self.path = os.path.join(self.folder, "perf.data")
        self.out = os.path.join(self.folder, "out")
        self.env = environment(self.folder)

    def put(self, data, path=None):
        with open(path or self.path, "wb") as out:
            out.write(data)

    def run(self, words, stdin=None):
        """(exit code or "hang", stdout, stderr) of the command on the recording, or on these bytes through a pipe."""
        name = "-" if stdin is not None else self.path
        words = [{"OUT": self.out, "PATH": name}.get(word, word) for word in words]
        if name not in words:
            words += ["-i", name]
        try:
            done = process.perfuse(*words, env=self.env, cwd=self.folder, input=stdin, text=False, seconds=SECONDS_MAX)
        except Hang:
            return "hang", "", ""
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def is_sound(code):
    """Whether the program ended by itself, in time."""
    return code != "hang" and not died(code)


def said(err):
    """The messages about the recording, without those about absent files."""
    return [line for line in err.splitlines() if line and not line.startswith(("No symbols", "Hint", "Error:", "/no/such/"))]


def check(box, command, whole, sentence, stdin=None, code=DAMAGED):
    """One command on a damaged recording: `whole` samples are shown, `sentence` is printed, the exit code is `code`."""
    words, count, _ = command
    got, out, err = box.run(words, stdin)
    label = "%s: exit %s, says %r" % (" ".join(words), got, err[:400])
    need(got == code or (words[0] == "archive" and got == 1), label)
    need(sentence is None or re.search(sentence, err), label + ", not %r" % sentence)
    if count:
        need(count(out) == whole, "%s: shows %d samples of %d\n%s" % (label, count(out), whole, out[:500]))


def check_all(box, whole, sentence, reading=True):
    """reading: the damage is in the records, and commands that do not read them need not report it."""
    for command in COMMANDS:
        if command[2] or not reading:
            check(box, command, whole, sentence)


def test_whole(box):
    """a whole recording, as a file, compressed, or a stream, is shown without a message"""
    for data in (known.as_file(known.records()), known.as_compressed(known.records()), known.as_stream(known.records())):
        box.put(data)
        for words, count, _ in COMMANDS:
            if words[0] in ("archive", "buildid-cache"):
                continue
            code, out, err = box.run(words)
            need(code == 0 and not said(err), "%s: exit %s: %s" % (words, code, err))
            need(not count or count(out) == SAMPLES, "%s: %s" % (words, out[:300]))


def test_short_samples(box):
    """samples that are too short are counted by every command that reads them, which exits with 255"""
    short = [recording.record(recording.SAMPLE, struct.pack("<Q", 0x401000), misc=2)] * 40
    body = known.side_band() + short + [known.sample(n) for n in range(7)]
    for data in (known.as_file(body), known.as_stream(body), known.as_compressed(body)):
        box.put(data)
        for command in COMMANDS:
            words, count, reads = command
            if reads and words[:2] not in (["archive", "PATH"],):
                check(box, command, 47 if count is count_stats else 7, r"40 of 47 samples are damaged")


def test_unknown_ids(box):
    """samples with an unknown id are counted by every command that reads them"""
    box.put(known.as_stream([known.sample(n) for n in range(9)]).replace(recording.record(recording.HEADER_ATTR, known.attr()), b""))
    for command in COMMANDS:
        if command[2] and command[0][0] not in ("archive", "inject"):
            check(box, command, 9 if command[1] is count_stats else 0, "9 of 9 samples .* no event")


def test_unknown_types(box):
    """records of a type that a newer kernel may have are reported, and are not damage; those of an impossible type are"""
    newer = recording.record(30, bytes(24)) + recording.record(90, bytes(8))
    for extra, sentence, code in ((newer, "2 records are skipped, of a type that is not known", 0), (recording.record(0x4000, bytes(16)), "1 record is damaged", DAMAGED)):
        for form in (known.as_file, known.as_stream, known.as_compressed):
            box.put(form(known.records() + [extra]))
            for command in COMMANDS:
                if command[2] and command[0][0] != "archive" and "-q" not in command[0]:
                    check(box, command, SAMPLES, sentence, code=code)


def test_bad_side_band(box):
    """side-band that contradicts its type is counted and exits with 255"""
    box.put(known.as_file(known.records() + [recording.record(recording.COMM, b"12345678"), recording.record(recording.LOST, b"12345678")]))
    for command in COMMANDS:
        if command[2] and command[0][0] not in ("archive", "inject"):
            check(box, command, SAMPLES, "2 records are damaged")


def test_lost(box):
    """losses of the kernel are reported by cause, and do not change the exit code"""
    lost = [recording.record(recording.LOST, struct.pack("<QQ", 0, 5) + known.trailer(5000)),
            recording.record(recording.LOST_SAMPLES, struct.pack("<Q", 3) + known.trailer(5001)),
            recording.record(recording.LOST_SAMPLES, struct.pack("<Q", 8) + known.trailer(5002), misc=1 << 15)]
    box.put(known.as_file(known.records() + lost))
    for command in COUNTING:
        check(box, command, SAMPLES, r"lost 3 samples(.|\n)*lost 5 records", code=0)


def test_killed(box):
    """the recording of a recorder that was killed is shown to its end, and reported as unfinished"""
    bits = known.features()
    data = known.as_file(known.records(), bits, data_size=0)
    end = data.index(recording.record(recording.FINISHED_ROUND, b"")) + 8
    box.put(data[:end])
    check_all(box, SAMPLES, "did not finish the file", reading=False)
    box.put(data[:end - 8 - 16])  # and cut within its last sample
    check_all(box, SAMPLES - 1, "did not finish the file")


def test_features(box):
    """header features that are cut, missing or damaged are named by every command"""
    data = known.as_file(known.records())
    at = known.DATA_AT + len(b"".join(known.records()))
    box.put(data[:at])
    check_all(box, SAMPLES, "3 header features are missing or damaged: BUILD_ID, HOSTNAME, CMDLINE", reading=False)
    box.put(data[:-8])
    check_all(box, SAMPLES, "1 header feature is missing or damaged: CMDLINE", reading=False)
    box.put(known.as_file(known.records(), known.features({recording.HOSTNAME: struct.pack("<I", 4000) + b"host"})))
    check_all(box, SAMPLES, "damaged: HOSTNAME", reading=False)
    row = known.build_id_row()
    box.put(known.as_file(known.records(), known.features({recording.BUILD_ID: row + row[:4] + struct.pack("<HH", 0, 4) + row[8:]})))
    check_all(box, SAMPLES, "table of build-ids is damaged in 1 place", reading=False)


def test_attrs(box):
    """descriptions of events of a wrong size are counted by every command"""
    wrong = known.attr()[:4] + struct.pack("<I", 4000) + known.attr()[8:]
    box.put(known.as_file(known.records(), one=wrong))
    check_all(box, SAMPLES, "descriptions of the events are damaged", reading=False)
    box.put(known.as_stream([recording.record(recording.HEADER_ATTR, wrong)] + known.records()))
    for command in COMMANDS:
        if command[2] and command[0][0] != "archive":
            check(box, command, SAMPLES, "descriptions of the events are damaged")


def test_cuts(box):
    """a recording cut anywhere, as file, compressed or stream, by file or pipe, shows each whole sample, and the cut is reported with the exit code 255"""
    step = 131 if SANITIZED else 23
    for form in (known.as_file, known.as_stream, known.as_compressed):
        data = form(known.records())
        first = 16 + len(known.as_stream([])) - 16 if form is known.as_stream else known.DATA_AT
        for n in list(range(first + 1, len(data), step)) + list(range(len(data) - 9, len(data))):
            box.put(data[:n])
            walk = known.Walk(data[:n])
            if form is known.as_stream and walk.whole:
                continue  # a stream may end between records
            for command in COUNTING:
                whole = None if form is known.as_compressed else walk.samples
                code, out, err = box.run(command[0])
                label = "%s cut at %d of %d, %s: exit %s: %s" % (form.__name__, n, len(data), command[0], code, err[:200])
                need(code == DAMAGED and box.path in err, label)
                need(whole is None or command[1](out) == whole, "%s: shows %s of %s" % (label, command[1](out), whole))
                if form is known.as_stream:
                    code, out, err = box.run(command[0], stdin=data[:n])
                    need(code == DAMAGED and said(err) and command[1](out) == whole, "by pipe: " + label)


def test_cut_header(box):
    """a recording cut in its header or among the descriptions of its events is rejected with an error by every command"""
    data = known.as_file(known.records())
    for n in (0, 1, 15, 16, 71, 103, 104, 150, known.HEADER_BYTES + known.ATTR_BYTES + 15):
        box.put(data[:n])
        for words, _, _ in COMMANDS:
            code, _, err = box.run(words)
            need(code == DAMAGED or (words[0] == "archive" and code == 1), "cut at %d, %s: exit %s: %s" % (n, words, code, err))
            need(box.path in err or n == 0 and err, "cut at %d, %s says %r" % (n, words, err))


def test_frame(box):
    """a recording cut or damaged within a compressed frame shows the samples of the frames before it"""
    body = known.compressed(known.records())
    frame = bytearray(body[3])
    frame[8] ^= 0xff
    box.put(known.as_file(body[:3] + [bytes(frame)] + body[4:], known.features(known.COMPRESSION_USED)))
    for command in COUNTING:
        check(box, command, 28, "does not decompress")
    cut = recording.record(recording.COMPRESSED, zstd.raw(known.sample(1) + known.sample(2)[:20]))
    box.put(known.as_file(body[:2] + [cut], known.features(known.COMPRESSION_USED)))
    for command in COUNTING:
        check(box, command, 19, "is cut, 20 bytes into a record")


def test_folder(box):
    """the cut of one file of a folder does not affect the samples of the others"""
    os.path.exists(box.path) and os.unlink(box.path)
    body = [known.sample(n) for n in range(40)]
    names = known.as_folder(box.path, 4, body)
    try:
        for command in COUNTING:
            code, out, err = box.run(command[0])
            need(code == 0 and command[1](out) == 40 and not said(err), "%s: %s %s" % (command[0], code, err))
        with open(names[1], "r+b") as part:
            part.truncate(4 * 32 + 13)
        for command in COUNTING:
            check(box, command, 34, r"data\.1: ")
    finally:
        for name in names + [os.path.join(box.path, "data")]:
            os.unlink(name)
        os.rmdir(box.path)


def storm_inputs():
    """Name, bytes, and the counts that a walk over the records can judge."""
    made, counts = known.records(), [count for _, count, _ in COUNTING]
    inputs = [("file", known.as_file(made), counts), ("stream", known.as_stream(made), counts), ("compressed", known.as_compressed(made), [])]
    folder = os.path.join(CORPUS, "perfdata")
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.getsize(path) < 300000:
                data = open(path, "rb").read()
                plain = not struct.unpack_from("<Q", data, 72)[0] >> recording.COMPRESSION & 1
                walk = known.Walk(data)
                inputs.append((name, data, [count_stats] if plain and walk.whole and walk.samples and not walk.unknown else []))
    return inputs


def damage(chance, data):
    """Cuts, flips, zeroed or repeated pieces; what was done, and the result."""
    kind = chance.choice(("cut", "flip", "flips", "zero", "drop", "repeat", "size"))
    at = chance.randrange(len(data))
    size = chance.choice((1, 2, 4, 8, 64, 512))
    made = bytearray(data)
    if kind == "cut":
        made = made[:at]
    elif kind in ("flip", "flips"):
        for _ in range(1 if kind == "flip" else 8):
            bit = chance.randrange(len(data) * 8)
            made[bit // 8] ^= 1 << bit % 8
    elif kind == "zero":
        made[at:at + size] = bytes(len(made[at:at + size]))
    elif kind == "drop":
        del made[at:at + size]
    elif kind == "repeat":
        made[at:at] = made[at:at + size]
    else:
        struct.pack_into("<Q", made, chance.choice((8, 16, 24, 32, 40, 48)), chance.choice((0, 1, 7, 1 << 20, 1 << 40, (1 << 64) - 1)))
    return "%s at %d, %d" % (kind, at, size), bytes(made)


def storm_problem(box, command, data, walked):
    """What is wrong: a crash, a hang, exit 0 without a message although samples are lost, another exit without a message."""
    words, count, _ = command
    began = time.monotonic()
    code, out, err = box.run(words)
    if not is_sound(code):
        return "exit %s after %.1f s: %s" % (code, time.monotonic() - began, err[-300:])
    if code and not re.search(r"\w+ \w+", out if words[0] == "archive" else err):
        return "exit %s without a sentence" % code
    if code or count not in walked:
        return None
    walk = known.Walk(data)
    if not walk.whole or count(out) < walk.samples:
        return "exit 0, shows %d of %d samples%s, and says %r" % (count(out), walk.samples, "" if walk.whole else ", records cut", err[:200])
    if walk.unknown and not said(err):
        return "exit 0 without a word on %d records of unknown types" % walk.unknown
    return None


def test_storm(box):
    """a storm of random damage: each command ends in time, and exits with 0 only if nothing is lost, or with a message"""
    chance = random.Random(SEED)
    inputs = storm_inputs()
    problems = []
    for case in range(CASES):
        name, whole, walked = chance.choice(inputs)
        label, data = damage(chance, whole)
        box.put(data)
        for command in [chance.choice(COUNTING), chance.choice(COMMANDS)]:
            problem = storm_problem(box, command, data, walked)
            if problem:
                problems.append("case %d, %s, %s: %s: %s" % (case, name, label, " ".join(command[0]), problem))
                box.put(data, os.path.join(box.folder, "case-%d" % case))
    need(not problems, "%d problems with the seed %s\n%s" % (len(problems), SEED, "\n".join(problems[:20])))
