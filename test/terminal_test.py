#!/usr/bin/env python3
"""Texts of a recording neither control a terminal nor add lines, in any command: a recording in which every text is hostile."""
import os
import re
import sys

from terminal import hostile_texts
from suite import process
from suite.process import environment
from suite.settings import PERFUSE
from suite.tests import need, run_in_folder

FILE = "hostile.data"
# The arguments of each command; a command that is absent here is run with -i on the recording.
VARIANTS = {
    "addr2line": [["-f", "-e", "PROGRAM", "0x401008"], ["-fipa", "-e", "PROGRAM", "0x401008"]],
    "annotate": [["-i", FILE, *more] for more in (["--stdio"], ["--stdio2"], ["--stdio", "--source", "-lv"], ["--stdio", "--stdio-color=always"],
                 ["-D"], ["--format=json"], ["--format=csv"], ["x\x1b[31my"])],
    "archive": [[FILE], ["--unpack", "missing" + "\x1b[31m"]], "buildid-cache": [["-l"], ["-a", "PROGRAM", "-v"], ["-l"], ["-M", FILE]],
    "buildid-list": [["-i", FILE], ["-i", FILE, "-H"], ["-i", FILE, "-f", "-v"], ["-i", FILE, "--format=json"],
                     ["-i", FILE, "--format=csv"], ["-i", FILE, "--format=markdown"]],
    "check": [["feature", "x\x1b[31my"]], "config": [["a.b=x\x1b[31my"], ["-l"]],
    "compare": [["-n", "1", "--", "x\x1b[31m", "--", "y"], ["missing\x1b[31m", FILE]],
    "diff": [[FILE, FILE], [FILE, FILE, FILE, "-v"], [FILE, FILE, "-s", "comm,dso,sym,srcline,cgroup,trace"], [FILE, "missing" + "\x1b[31m"]],
    "evlist": [["-i", FILE], ["-i", FILE, "-v"], ["-i", FILE, "-F"], ["-i", FILE, "-g"], ["-i", FILE, "--trace-fields"],
               ["-i", FILE, "--trace-fields", "--format=json"], ["-i", FILE, "--format=csv"], ["-i", FILE, "--format=markdown"]],
    "flamegraph": [["-i", FILE, "-o", "-"], ["-i", FILE, "--diff", FILE, "-o", "-"], ["-i", FILE, "--colors=module", "-o", "-"],
                   ["-i", FILE, "--folded"], ["-i", FILE, "--srcline", "--folded"], ["-i", FILE, "-v"]],
    "help": [["x\x1b[31my"]], "inject": [["-i", FILE, "-o", "out.data", "-b"], ["-i", "no\x1b[31m", "-o", "out.data"]],
    "kallsyms": [["x\x1b[31my"]],
    "record": [["-e", "x\x1b[31my", "true"], ["-o", "/nonexistent\x1b[31m/x", "true"]],
    "report": [["-i", FILE, *more] for more in (
        ["--stdio"], ["--stdio", "-v"], ["--stdio", "--header"], ["--stdio", "-I", "--header-only"], ["--stdio", "--stats"],
        ["--stdio", "--tasks", "--mmaps"], ["-D"], ["--stdio", "-s", "comm,dso,sym,srcline,srcfile,cgroup,trace"], ["--stdio", "-H"],
        ["--stdio", "-s", "dso,sym", "--stdio-color=always", "-G"], ["--stdio", "-T"], ["--stdio", "-g", "folded,address,srcline"],
        ["--stdio", "-s", "comm,dso", "-t", ";"], ["--stdio", "-s", "symbol_from,dso_from"], ["--stdio", "--group"],
        ["--format=json"], ["--format=csv"], ["--format=markdown"], ["--format=html"],
        ["--format=csv", "-s", "comm,dso,sym,srcline,cgroup,trace"])],
    "script": [["-i", FILE, *more] for more in (
        [], ["-v"], ["-F", "comm,tid,time,event,ip,sym,symoff,dso,srcline,trace,cgroup,addr"], ["-D"], ["--header"], ["-I", "--header-only"],
        ["--show-mmap-events", "--show-task-events"], ["-F", "+srccode"], ["-F", "+dsoff"], ["--per-event-dump"], ["--latency"],
        ["-G", "-F", "comm,ip,sym,dso"], ["--show-kernel-path"], ["-F", "trace"], ["--format=json", "--show-mmap-events"],
        ["--format=csv", "-F", "comm,tid,time,event,ip,sym,dso,srcline,srccode,trace,cgroup", "--show-task-events"])],
    "timechart": [["-i", FILE], ["-i", FILE, "-o", "-", "-n", "1000"], ["-i", FILE, "-o", "-", "-P"]],
    "version": [[]],
}
# Bytes that no terminal should get: all below 0x20 but ends of lines and tabs, and after what is UTF-8 has been taken out, C1.
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udc9f]")
COLOURS = re.compile("\x1b\\[(31|32|34|35|)m")


class Context:
    def __init__(self, home):
        self.home = home
        self.env = environment(home, TERM="xterm", PERF_PAGER="cat")
        self.program = hostile_texts.program(home)
        hostile_texts.write(os.path.join(home, FILE), self.program or os.fsencode(home) + b"/" + hostile_texts.HOSTILE)
        self.commands = process.perfuse("--list-cmds").stdout.split()

    def jobs(self, command):
        for words in VARIANTS.get(command, [["-i", FILE]]):
            if "PROGRAM" in words and not self.program:
                continue
            yield [PERFUSE, command, *(self.program if word == "PROGRAM" else word for word in words)]

    def piped(self, words):
        return process.run(*words, cwd=self.home, env=self.env, text=False)


def on_terminal(words, context, stdout=True, stderr=True):
    """What reaches a terminal that is stdout, stderr or both."""
    return process.on_terminal(*words, stdout=stdout, stderr=stderr, raw=True, cwd=context.home, env=context.env).stdout


def forged(output):
    """Lines that begin with the mark, also after a CR, a form feed, or a separator of Unicode."""
    return [line[:80] for line in output.decode(errors="surrogateescape").splitlines() if line.lstrip().startswith("FORGED")]


def label(words):
    return " ".join(repr(w)[:30] if isinstance(w, bytes) else w for w in words[1:])


def test_terminal(context):
    """no text of a recording controls the terminal, in any command"""
    for command in context.commands:
        for words in context.jobs(command):
            for stdout, stderr in ((True, True), (True, False), (False, True)):
                seen = on_terminal(words, context, stdout, stderr).decode(errors="surrogateescape")
                if "--stdio-color=always" in words or command in ("annotate", "diff", "report"):
                    seen = COLOURS.sub("", seen)
                bad = CONTROL.search(seen.replace("\r\n", "\n"))
                need(not bad, "%s: %r" % (label(words), seen[max(bad.start() - 60, 0):bad.end() + 20] if bad else ""))


def test_colours(context):
    """names in coloured rows do not change the colours"""
    words = [PERFUSE, "report", "-i", FILE, "--stdio", "--stdio-color=always", "-s", "comm,dso,sym,cgroup"]
    for seen in (on_terminal(words, context), context.piped(words).stdout):
        rows = [line for line in seen.split(b"\n") if b"FORGED" in line and not line.startswith(b"#")]
        need(rows, "no row")
        for line in rows:
            need((b"\x1b[31m" in line or b"%" not in line) and b"e\x1b" not in line, "%r" % line)
            need(not re.search(b"\x1b(?!\\[(31|32|)m)", line), "%r" % line)


def test_lines(context):
    """no text of a recording adds a line to the output of any command"""
    for command in context.commands:
        for words in context.jobs(command):
            done = context.piped(words)
            need(not forged(done.stdout), "%s: stdout: %r" % (label(words), forged(done.stdout)[:2]))
            need(not forged(done.stderr), "%s: stderr: %r" % (label(words), forged(done.stderr)[:2]))
    for name in os.listdir(context.home):
        if name.endswith(".dump"):
            need(not forged(open(os.path.join(context.home, name), "rb").read()), "%r" % name)


def test_arguments(context):
    """no argument adds a line to the output of any command"""
    name, bad = "x\nFORGED", []
    for words in (["buildid-list", "-i", name], ["evlist", "-i", name],
                  ["inject", "-i", name, "-o", "out.data"], ["kallsyms", name], ["nosuch" + name], ["help", name],
                  ["record", "-o", "/nonexistent" + name + "/x", "true"], ["record", "--nosuch" + name, "true"], ["record", "-p", name],
                  ["record", "-u", name], ["record", "-k", name, "true"], ["record", "--call-graph", name, "true"], ["record", "-o", "out.data", "/" + name],
                  ["report", "-i", name], ["report", "-i", FILE, "-s", name], ["report", "-i", FILE, "--time", name],
                  ["report", "-i", FILE, "-C", name], ["report", "-i", FILE, "-g", name], ["report", "-i", FILE, "--format", name],
                  ["report", "-i", FILE, "-p", "(" + name], ["script", "-i", FILE, "-F", name], ["script", "-i", FILE, "--tid", name],
                  ["flamegraph", "-i", FILE, "-o", "/nonexistent" + name + "/x"], ["flamegraph", "-i", FILE, "--by", name]):
        done = context.piped([PERFUSE, *words])
        if forged(done.stderr) or forged(done.stdout) or not done.stderr + done.stdout:
            bad.append("%r: %r" % (words, (done.stderr + done.stdout)[:200]))
    need(not bad, "; ".join(bad))


def test_pipe(context):
    """in a pipe names have all their bytes except those that end a line"""
    done = context.piped([PERFUSE, "script", "-i", FILE, "-F", "comm,event"])
    need(done.returncode == 0, "exit code %d: %s" % (done.returncode, done.stderr[:200]))
    need(b"e\x1b[31m\x1b]0;t\x07\x08\x08?\x9b2J\xc2\x9b2J\xe2\x80\xae???\x85?FORGED\x7f?FORGED" in done.stdout, "%r" % done.stdout[:200])
    need(len(done.stdout.splitlines()) == 8, "%d lines" % len(done.stdout.splitlines()))


def test_utf8(context):
    """valid UTF-8 reaches a terminal unchanged, also if a buffer ends within a character"""
    path = os.path.join(context.home, "wide")
    text = "ä€𝄞" * 40000
    with open(path, "w") as out:
        out.write("[a]\n\tb = %s\n" % text)
    context.env["PERF_CONFIG"] = path
    seen = on_terminal([PERFUSE, "config", "-l"], context).decode()
    context.env["PERF_CONFIG"] = "/dev/null"
    need(seen.strip() in ("a.b=" + text, ""), "%r… %d" % (seen[:40], len(seen)))


if __name__ == "__main__":
    sys.exit(run_in_folder("texts on a terminal", Context, globals()))
