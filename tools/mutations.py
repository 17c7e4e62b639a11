"""One plausible mistake in a line of C: the catalogue of tools/mutate. A mutation is the text of a line, changed at one place; texts in
quotes, comments and preprocessor lines are never changed."""
import re

NAME = r"[A-Za-z_]\w*"
SIMPLE = r"(?:&?%s(?:(?:->|\.)%s)*|\d+)" % (NAME, NAME)
# a whole statement on one line: a call, or an assignment to something that exists
STATEMENT = re.compile(r"^\s+(?:\(void\))?(?:\*?%s(?:(?:->|\.)%s|\[[^][]*\])*\s*(?:[-+*/|&^]|<<|>>)?=[^=].*|%s\(.*\)|(?:\+\+|--)?%s(?:(?:->|\.)%s)*(?:\+\+|--)?);\s*$" %
                       (NAME, NAME, NAME, NAME, NAME))
RELEASE = re.compile(r"\b\w*(?:free|close|fini|munmap|release|unlock)\w*\(")


def masked(text):
    """The source with everything in comments and quotes replaced by blanks of the same length, but for line ends."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)
    return re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def _swap(line, match, text):
    return line[:match.start()] + text + line[match.end():]


def _operators(line, mask, pattern, other):
    for match in re.finditer(pattern, mask):
        yield _swap(line, match, other(match))


def _comparisons(line, mask):
    """Which of two equal numbers is the smaller or the greater one is no mistake."""
    mask = re.sub(r"(?<![\w.>\])])([\w.>\[\]-]+) [<>]=? ([\w.>\[\]-]+) \? (?:\1 : \2|\2 : \1)(?![\w.(\[])", lambda m: " " * len(m.group(0)), mask)
    to = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
    return _operators(line, mask, r"(?<= )(<=?|>=?|==|!=)(?= )", lambda m: to[m.group(1)])


def _bounds(line, mask):
    return _operators(line, mask, r" [-+] 1\b(?!\.)", lambda m: "")


def _signs(line, mask):
    return _operators(line, mask, r"(?<= )([-+])(?==? )", lambda m: "-" if m.group(1) == "+" else "+")


def _logic(line, mask):
    return _operators(line, mask, r"&&|\|\|", lambda m: "||" if m.group(0) == "&&" else "&&")


def _negations(line, mask):
    return _operators(line, mask, r"!(?=[\w(*])", lambda m: "")


def _dropped_conditions(line, mask):
    """One side of && or || is dropped, if both are simple."""
    for match in re.finditer(r"(?<=[( ])([^()&|]+|[^()&|]*\([^()]*\)[^()&|]*) (&&|\|\|) ([^()&|]+|[^()&|]*\([^()]*\)[^()&|]*)(?=\))", mask):
        for side in (1, 3):
            yield line[:match.start()] + line[match.start(side):match.end(side)] + line[match.end():]


def _constants(line, mask):
    """A buffer of one byte more, more memory than is used and another negative result are no mistakes: callers ask whether it is below 0."""
    mask = re.sub(r"\bchar \w+\[\d+\]|\breturn -1;|\bmemory_zero\(1,|\b(?:arena|memory)_\w+\([^;]*\* \d+\)",
                  lambda m: " " * len(m.group(0)), mask)
    if re.match(r"\s*(?:case|default)\b", mask):
        return ()
    return _operators(line, mask, r"(?<![\w.])\d+(?![\w.])", lambda m: str(int(m.group(0), 8 if re.match(r"0\d", m.group(0)) else 10) + 1))


def _dropped_statements(line, mask):
    if STATEMENT.match(mask) and not RELEASE.search(mask):
        yield re.match(r"\s*", line).group(0) + ";"


def _dropped_releases(line, mask):
    if STATEMENT.match(mask) and RELEASE.search(mask):
        yield re.match(r"\s*", line).group(0) + ";"


def _swapped_arguments(line, mask):
    for match in re.finditer(r"(?<=[(,])\s*(%s), (%s)(?=[,)])" % (SIMPLE, SIMPLE), mask):
        if match.group(1) != match.group(2):
            first, second = line[match.start(1):match.end(1)], line[match.start(2):match.end(2)]
            yield line[:match.start(1)] + second + ", " + first + line[match.end(2):]


def _wrong_results(line, mask):
    for match in re.finditer(r"\breturn (.+);\s*$", mask):
        value = match.group(1).strip()
        for other in ("0", "1", "-1"):
            same = {"false": "0", "NULL": "0", "true": "1"}.get(value, value) == other
            same |= value == "true" and other == "-1" # of a bool, that is true
            if not same and "{" not in value:
                yield line[:match.start(1)] + other + line[match.end(1):]


def _dropped_errors(line, mask):
    for match in re.finditer(r"\bif \((.+)\)", mask):
        if re.search(r"< 0|== NULL|^!", match.group(1)) and mask.count("(") == mask.count(")"):
            yield line[:match.start(1)] + "0" + line[match.end(1):]


def _early_returns(line, mask):
    """A loop ends after its first round, a switch goes to its next case."""
    if re.match(r"\s+continue;", mask):
        yield line.replace("continue", "break")
    if re.match(r"\s+break;", mask):
        yield re.match(r"\s*", line).group(0) + ";"


def _memory_orders(line, mask):
    return _operators(line, mask, r"__ATOMIC_(?:ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)|memory_order_(?:acquire|release|acq_rel|seq_cst)",
                      lambda m: "__ATOMIC_RELAXED" if m.group(0).startswith("__") else "memory_order_relaxed")


def _wrong_fields(line, mask, fields):
    """Another field that the same file reads from a variable of the same name."""
    for match in re.finditer(r"\b(%s)(->|\.)(%s)\b(?!\()" % (NAME, NAME), mask):
        others = sorted(fields.get(match.group(1), set()) - {match.group(3)})
        if others:
            yield line[:match.start(3)] + others[len(match.group(3)) % len(others)] + line[match.end(3):]


CATALOGUE = {
    "comparison": _comparisons, "bound": _bounds, "sign": _signs, "logic": _logic, "negation": _negations,
    "dropped condition": _dropped_conditions, "constant": _constants, "dropped statement": _dropped_statements,
    "dropped release": _dropped_releases, "swapped arguments": _swapped_arguments, "wrong result": _wrong_results,
    "dropped error": _dropped_errors, "early end": _early_returns, "memory order": _memory_orders,
}


def fields_of(mask):
    """{variable: the fields that the source reads from it}"""
    fields = {}
    for variable, field in re.findall(r"\b(%s)(?:->|\.)(%s)\b(?!\()" % (NAME, NAME), mask):
        fields.setdefault(variable, set()).add(field)
    return fields


def mutations(text):
    """(line from 0, kind, changed line) for each mistake that can be made in a source. Lines outside functions, of declarations of types and
    of tables are left out: the first character of a line inside a function is a tab."""
    mask = masked(text)
    fields = fields_of(mask)
    inside = False
    for number, (line, blank) in enumerate(zip(text.split("\n"), mask.split("\n"))):
        if not blank.startswith("\t"):
            inside = blank.startswith("{")
            continue
        if not inside or not blank.strip() or re.match(r"\s+(?:static|extern|struct \w+ \w+;)\b", blank):
            continue
        kinds = dict(CATALOGUE, **{"wrong field": lambda one, two: _wrong_fields(one, two, fields)})
        for kind, make in kinds.items():
            for changed in make(line, blank):
                if changed != line:
                    yield number, kind, changed
