"""What a command's -h and --list-opts say, as rows. Shared by option-gap and check-docs."""
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROW = re.compile(r"^    (?:-(?P<short>\S)(?:, )?|   )?\s*(?:--(?P<long>[A-Za-z0-9][\w-]*))?(?P<arg>\[=<.*?>\]|\[<.*?>\]| ?<.*>)?(?=\s|$)")
NO_SUCH = "--no-such-option-anywhere"


def run(program, words):
    """(stdout, stderr) of a call that must not do anything: it ends at a wrong option or in the help."""
    env = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": "/nonexistent", "PERF_CONFIG": "/dev/null"}
    result = subprocess.run(["perf"] + words, executable=program, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=20, cwd="/", text=True, errors="replace")
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
    """Names that only --list-opts tells, with what can be found out about their arity without running anything."""
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
