"""What is pressed. Keys are words of tmux; a text after a colon is typed."""
import collections

Scenario = collections.namedtuple("Scenario", "name file words columns lines keys")


def scenario(name, file, keys, *words, columns=90, lines=16):
    return Scenario(name, file, words, columns, lines, keys)


SCENARIOS = [
    scenario("moving", "calc.data", ["Down", "Down", "Up", "NPage", "PPage", "End", "Home", "Right", "Left", "Space", "H", "H", "^"], lines=10),
    scenario("callers", "calc.data", ["+", "Down", "+", "e", "c", "E", "End", "v", "C", "Up"], lines=24),
    scenario("no_children", "calc.data", ["+", "Down", "Down", "+", "V", "E"], "--no-children", lines=24),
    scenario("zooms", "flat.data", ["Down", "d", "Escape", "t", "F", "u", "k", "u", "u", "S", "m", "Escape", "Enter", "Down", "Enter"]),
    scenario("filters", "flat.data", ["/", ":l.ok", "BSpace", "Enter", "/", ":(", "Enter", "u", "L", ":9.5", "Enter", "L", ":no", "Enter",
                                      "Escape", "*", "Down", "*", "@", "u"]),
    scenario("search", "flat.data", ["n", "C-f", ":mem|str", "Enter", "n", "n", "N", "Escape", "C-f", ":nothing", "Enter"]),
    scenario("columns", "flat.data", [">", ">", "R", "<", "o", "Down", "Space", "Escape", "o", "Down", "Down", "Enter", "0", "1"], "-n"),
    scenario("events", "events.data", ["Down", "Enter", "Tab", "BTab", "d", "q", "Up", "Enter", "q", "q"]),
    scenario("time", "calc.data", ["T", "End", "Enter", "PPage", "PPage", "Enter", "Up", "T", "Escape", "u"], lines=20),
    scenario("annotate", "calc.data", ["^", "a", "Up", "Up", "Up", "Enter", "Up", "Up", "Enter", "H", "o", "Down", "Space", "Escape", "q", "Home", "a", "q"], lines=14),
    scenario("code", "calc.data", ["^", "a", "j", "j", "J", "t", "t", "t", "p", "b", "l", "k", "O", "O", "s", "Tab", "BTab", "/", ":nop", "Enter", "n", "?",
                                   ":retq", "Enter", "Escape", "c", "H", "h", "q", "q"], "--no-children", lines=14),
    scenario("flame", "calc.data", ["g", "Up", "Up", "Enter", "Down", "Enter", "Escape", "C-f", ":parse", "Enter", "Right", "Escape",
                                   "Escape", "Escape"], "--no-children"),
    scenario("leaf", "calc.data", ["Down", "a", "+", "a", "+", "g", "Escape"], "--no-children"),
    scenario("chain", "calc.data", ["Down", "Down", "Down", "Down", "a", "+", "a", "+", "C", "Home", "a", "+"], lines=18),
    scenario("code_time", "calc.data", ["a", "T", "8", "Enter", "End", "Enter", "Up", "t", "t", "u", "q"], "--no-children", lines=20),
    scenario("pages", "calc.data", ["h", "End", "h", "Escape", "i", "q", "!", "s", "Escape", "r", "Escape", "f", "f", "z", "Z"], lines=12),
    scenario("hierarchy", "flat.data", ["+", "Down", "e", "E", "C"], "-H", lines=20),
    scenario("small", "calc.data", ["Down", "Enter", "Down", "Escape", "T", "h"], columns=20, lines=5),
]
