"""The rows of a command's -h and --list-opts."""
import re

from suite import process

ROW = re.compile(r"^    (?:-(?P<short>\S)(?:, )?|   )?\s*(?:--(?P<long>[A-Za-z0-9][\w-]*))?(?P<arg>\[=<.*?>\]|\[<.*?>\]| ?<.*>| \.\.\.)?(?=\s|$)")
NO_SUCH = "--no-such-option-anywhere"


def run(program, words):
    """(stdout, stderr) of a call that must not do anything: it ends at a wrong option or in the help."""
    result = process.run("perf", *words, executable=program, env=process.environment(process.NO_HOME), cwd="/")
    return result.stdout, result.stderr


def commands(program):
    return sorted(run(program, ["--list-cmds"])[0].split())


def arity(text):
    if not text:
        return "none"
    return "optional" if text.startswith("[") else "required"


def shown(program, command):
    """Rows of -h: (switch or None, name or None, arity)."""
    rows = []
    for line in run(program, command.split() + ["-h"])[1].splitlines():
        match = ROW.match(line) if line.startswith("    -") or line.startswith("        --") else None
        if match and (match.group("short") or match.group("long")):
            rows.append((match.group("short"), match.group("long"), arity((match.group("arg") or "").strip())))
    return rows


def hidden(program, command, rows):
    """Names that only --list-opts gives, with their arity as far as it is known without running the command."""
    known = {row[1] for row in rows}
    names = [w[2:] for w in run(program, command.split() + ["--list-opts"])[0].split() if w.startswith("--")]
    found = []
    for name in names:
        if name not in known and name not in [f[1] for f in found]:
            said = run(program, command.split() + ["--%s=x" % name, NO_SUCH])[1]
            found.append((None, name, "none" if "takes no value" in said else "takes one"))
    return found


def unsupported(program, command, row):
    """Whether the option is known but answers that it is not supported yet."""
    short, name, takes = row
    word = "--" + name if name else "-" + short
    value = {"none": "", "optional": "", "required": "=x" if name else "x", "takes one": "=x"}[takes]
    return "not supported yet" in run(program, command.split() + [word + value, NO_SUCH])[1]
