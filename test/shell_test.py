#!/usr/bin/env python3
# sanitized: what scripts pass
"""The program's interface: usage, exit codes, the names by which it is called, configuration, pager, output that fails.
The exit codes and forms are those of perf 6.12, as measured."""
import functools
import glob
import os
import re
import shutil
import sys
import tempfile

from suite import command_options, process
from suite.process import compilers, environment
from suite.settings import BUILD, PERFUSE, SANITIZED, SHORT, TOP
from suite.tests import Skip, need, run_tests

tests = []


def test(function):
    tests.append(function)
    return function


def test_of_texts(function):
    """A test of texts alone, which are those of any build."""
    if not SANITIZED:
        tests.append(function)
    return function


class Box:
    """An empty home to run the program in."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="perfuse-shell-")
        self.problems = []
        self.env = environment(self.home, PATH="/usr/bin:/bin")
        del self.env["PERF_CONFIG"]

    def run(self, *words, name="perfuse", env=None, program=PERFUSE, **more):
        return process.run(name, *words, executable=program, env={**self.env, **(env or {})}, cwd=self.home, **more)

    def tool(self, *command):
        """Another program than the one under test."""
        return process.run(*command, env=self.env, cwd=self.home, stderr=process.STDOUT)

    def expect(self, condition, what):
        if not condition:
            self.problems.append(what)

    def code(self, result, code):
        self.expect(result.returncode == code, "%s: exit code %d, expected %d: %s" % (" ".join(result.args), result.returncode, code,
                                                                                   result.stderr[:200]))

    def file(self, name, text, mode=0o644):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)
        os.chmod(path, mode)
        return path


def commands(box):
    return box.run("--list-cmds").stdout.split()


@test
def alone_it_lists_the_commands_and_fails(box):
    result = box.run()
    box.code(result, 1)
    box.expect(" usage: perfuse [--version] [--help] [OPTIONS] COMMAND [ARGS]\n" in result.stdout, "usage on stdout")
    for command in commands(box):
        box.expect("\n   %-15s " % command in result.stdout, "%s in the list" % command)
    for words in (["--help"], ["-h"], ["help"]):
        box.code(box.run(*words), 0)
        box.expect(box.run(*words).stdout == result.stdout, "the same list for %s" % words)


@test
def the_version_has_five_spellings(box):
    first = box.run("version")
    box.code(first, 0)
    box.expect(first.stdout.startswith("perfuse version "), first.stdout)
    for words in (["--version"], ["-v"], ["--version", "report"], ["-p", "version"], ["--no-pager", "version"]):
        box.expect(box.run(*words).stdout == first.stdout, str(words))
    box.expect("zstd: [ on  ]  # HAVE_ZSTD_SUPPORT" in box.run("-vv").stdout, "-vv lists what is built in")


@test
def options_before_the_command_are_checked(box):
    for words in (["--nosuch"], ["-x"], ["-V"], ["--debug"], ["--debug", "foo"], ["--buildid-dir"], ["--debugfs-dir"], ["--debug-file"]):
        result = box.run(*words)
        box.code(result, 129)
        box.expect(" Usage: perfuse [--version]" in result.stderr and not result.stdout, "usage on stderr for %s" % words)
    for words in (["--debug", "verbose=2", "version"], ["--debug=verbose", "version"], ["--buildid-dir", "x", "version"],
                  ["--exec-path=/x", "version"], ["--debug-file", "said", "version"]):
        box.code(box.run(*words), 0)
    box.expect(box.run("--exec-path=/x", "--exec-path").stdout == "/x\n", "--exec-path prints the given path")
    box.expect("--buildid-dir" in box.run("--list-opts").stdout.split(), "--list-opts")


@test
def an_unknown_command_fails_and_names_the_nearest(box):
    result = box.run("vresion")
    box.code(result, 1)
    box.expect(result.stderr == "perfuse: 'vresion' is not a perfuse-command. See 'perfuse --help'.\n\n"
                                "Did you mean this?\n\tversion\n", result.stderr)
    box.expect("Did you mean" not in box.run("zzzzzzzzzz").stderr, "nothing is near zzzzzzzzzz")


@test
def every_command_shows_its_options_on_stderr_and_exits_129(box):
    for command in commands(box):
        result = box.run(command, "-h")
        box.code(result, 129)
        box.expect(result.stderr.startswith("\n Usage: perfuse %s" % command) and not result.stdout, "%s -h" % command)
        wrong = box.run(command, "--no-such-option-anywhere")
        box.code(wrong, 129)
        box.expect(wrong.stderr.startswith("  Error: unknown option `no-such-option-anywhere'\n\n Usage: "), wrong.stderr[:100])
        box.code(box.run(command, "--list-opts"), 130)
        box.code(box.run(command, "--list-cmds"), 130)


@test
def no_form_of_any_option_crashes(box):
    forms = []
    for command in commands(box):
        rows = command_options.shown(PERFUSE, command)
        for short, name, takes in rows + command_options.hidden(PERFUSE, command, rows):
            words = ["--no-%s", "--%s=", "--%s=x"] if name else []
            if command not in ("record", "stat", "top", "trace", "offcpu", "blocking") or takes == "none":  # which would take the wrong option for its value, and run
                words.append("--%s")
            behind = "Z" if command == "stat" else "x"  # -x of stat takes a value
            forms += [(command, word) for word in [w % name for w in words if name] + ["-%s%s" % (short, behind)] * bool(short)]
    for command, word in forms[::8 if SHORT and SANITIZED else 1]:
        result = box.run(command, word, command_options.NO_SUCH)
        box.expect(0 <= result.returncode < 128 or result.returncode in (129, 130, 234, 254, 255),
                   "%s %s: exit code %d: %s" % (command, word, result.returncode, result.stderr[:100]))


@test_of_texts
def every_command_has_a_manual_page_that_help_shows(box):
    for command in commands(box):
        for words in (["help", command], ["--help", command]):
            result = box.run(*words)
            box.code(result, 0)
            box.expect("perfuse-%s - " % command in result.stdout, "help %s" % command)
            box.expect(all(len(line) <= 125 for line in result.stdout.splitlines()), "help %s has long lines" % command)
    box.code(box.run("help", "nosuch"), 16)


@test_of_texts
def pages_contain_the_whole_text_of_their_source(box):
    for command in commands(box):
        source = os.path.join(TOP, "docs", command + ".adoc")
        text = open(source).read()
        page = re.sub(r"\s+", " ", box.run("help", command).stdout)
        made = process.must(os.path.join(TOP, "tools/render-page"), "--man", "perfuse", source)
        roff = re.sub(r"\s+", " ", re.sub(r"\\f[BIR]|\\&", "", made).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\"))
        for code in re.findall(r"`([^`]+)`", re.sub(r"^----$.*?^----$|^ .*$", "", text, flags=re.M | re.S if "----" in text else re.M)):
            code = re.sub(r"\s+", " ", code)
            box.expect(code in page, "help %s has no %s" % (command, code))
            box.expect(code in roff, "perfuse-%s.1 has no %s" % (command, code))
        for title in re.findall(r"^== (.*)$", text, re.M):
            box.expect("\n%s\n" % title in "\n" + box.run("help", command).stdout, "help %s has no section %s" % (command, title))
    box.expect("\nEXAMPLES\n" in box.run("help", "report").stdout, "report has examples")


@test
def under_the_name_perf_it_prints_perf(box):
    box.expect(box.run("version", name="perf").stdout.startswith("perf version "), "perf version")
    box.expect(" Usage: perf config " in box.run("config", "-h", name="/usr/bin/perf").stderr, "perf config -h")
    box.expect(box.run("--build-options", name="perf-version").stdout.startswith("perf version "), "perf-version")
    box.expect(box.run(name="perfuse-version").stdout.startswith("perfuse version "), "perfuse-version")


@test
def as_perf_its_version_is_one_that_programs_read(box):
    for words in (["version"], ["--version"], ["-v"], ["--version", "record"]):
        said = box.run(*words, name="/usr/bin/perf").stdout
        found = re.match(r"perf version (\d+)\.(\d+)", said)
        box.expect(found and (int(found[1]), int(found[2])) >= (6, 12), said)
        box.expect("(perfuse " in said, "%s: whose it is" % said)


@test
def messages_tips_and_pages_have_the_name_it_was_called_by(box):
    for name, other in (("perf", "perfuse"), ("perfuse", "perf")):
        page = box.run("help", "record", name=name).stdout
        box.expect("%s-record - " % name in page and not re.search(r"(?<!\[ )\b%s[ -]record" % other, page), "page of %s: %s" % (name, page[:200]))
        for words in (["check", "feature", "a", "b"], ["version", "-h"], ["nosuch"], ["kmem"], ["evlist", "-x"]):
            said = box.run(*words, name=name).stderr
            box.expect(not re.search(r"\b%s[ -:](check|version|evlist|--help)" % other, said), "%s as %s: %s" % (words, name, said))
        box.expect("%s check feature" % name in box.run("check", "feature", "a", "b", name=name).stderr, "check feature")


@test_of_texts
def after_a_command_help_shows_its_manual_page(box):
    for command in commands(box):
        result = box.run(command, "--help")
        box.code(result, 0)
        box.expect(result.stdout == box.run("help", command).stdout and not result.stderr, "%s --help" % command)
    box.code(box.run("record", "-g", "--help"), 129)  # behind other options it is -h, as in perf


OF_PERF = """annotate archive bench buildid-cache buildid-list c2c check config daemon data diff evlist ftrace help inject iostat kallsyms kmem
    kvm kwork list lock mem probe record report sched script stat test timechart top trace version""".split()


@test
def every_command_of_perf_is_known_and_absent_ones_are_reported(box):
    for command in OF_PERF:
        if command in commands(box):
            continue
        for words, name in (([command], "perfuse"), ([command, "-a"], "perf"), ([], "perf-" + command)):
            result = box.run(*words, name=name)
            box.code(result, 1)
            box.expect("perf's command '%s' is not part of perfuse yet" % command in result.stderr, result.stderr)
        result = box.run("help", command)
        box.code(result, 16)
        box.expect("not part of perfuse yet" in result.stderr, result.stderr)


def advice():
    """(file, literal) of each literal of the sources; some of them name commands."""
    for folder, _, names in os.walk(os.path.join(TOP, "src")):
        for name in names:
            if name.endswith(".c") and not name.endswith(("_test.c", "_fuzz.c")):
                text = re.sub(r'"\s*\n\s*"', "", open(os.path.join(folder, name)).read())
                text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
                for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
                    yield name, literal


@test_of_texts
def advice_names_only_commands_and_options_that_exist(box):
    known, typed = commands(box), {}
    for command in known:
        rows = command_options.shown(PERFUSE, command)
        for short, name, takes in rows + command_options.hidden(PERFUSE, command, rows):
            if name:
                typed[command, "--" + name] = "--%s=x" % name if takes != "none" else "--" + name
            if short:
                typed[command, "-" + short] = "-%sx" % short if takes != "none" else "-" + short
            if name and name.startswith("no-"):
                typed[command, "--" + name[3:]] = "--" + name[3:]

    @functools.lru_cache(None)
    def usable(command, option):
        words = typed.get((command, option))
        return words and "not supported yet" not in box.run(command, words, command_options.NO_SUCH).stderr
    found = 0
    for name, literal in advice():
        if literal.startswith(("perf ", "# AMD ")):  # rows of usage; a line of the header as perf prints it
            continue
        for word, rest in re.findall(r"(?<![\w/.\-\[])(?<!\[ )(?:perf|perfuse|'%s) ([a-z][a-z2-]+)\b([^'\"\\]*)", literal):
            if word not in OF_PERF + known:
                continue
            found += 1
            box.expect(word in known, "%s: '%s' names a command that is absent" % (name, literal))
            for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]+|-[A-Za-z])\b", rest):
                box.expect(word not in known or usable(word, option.replace("--no-", "--")) or usable(word, option), "%s: '%s' names %s" % (name, literal, option))
    box.expect(found > 15, "only %d pieces of advice were found" % found)


@test
def programs_named_perf_word_are_commands(box):
    box.file("bin/perf-hello", "#!/bin/sh\necho hello \"$@\"\nexit 7\n", 0o755)
    env = {"PATH": box.home + "/bin:/usr/bin:/bin"}
    result = box.run("hello", "a b", "c", env=env)
    box.code(result, 7)
    box.expect(result.stdout == "hello a b c\n", result.stdout)
    box.expect("\n   hello\n" in box.run("help", "-a", env=env).stdout, "help -a names it")
    box.code(box.run("--exec-path=" + box.home + "/bin", "hello"), 7)


@test
def settings_are_written_read_and_removed_from_no_other_file(box):
    box.code(box.run("config", "report.children=false", "Call-Graph.Record-Mode=dwarf"), 0)
    box.expect(open(os.path.join(box.home, ".perfconfig")).read() ==
               "# this file is auto-generated.\n[report]\n\tchildren = false\n[call-graph]\n\trecord-mode = dwarf\n", "the file")
    box.expect(box.run("config", "-l").stdout == "report.children=false\ncall-graph.record-mode=dwarf\n", "config -l")
    box.expect(box.run("config").stdout == box.run("config", "--list").stdout, "config alone lists")
    box.expect(box.run("config", "report.children", "nosuch.name").stdout == "report.children=false\n", "config NAME")
    other = os.path.join(box.home, "other")
    box.code(box.run("config", "a.b=1", env={"PERF_CONFIG": other}), 0)
    box.expect(box.run("config", "-l", env={"PERF_CONFIG": other}).stdout == "a.b=1\n", "PERF_CONFIG alone is read")
    for words, code in ((["config", "name"], 255), (["config", ".x=1"], 255), (["config", "a.b="], 255), (["config", "-l", "x"], 129),
                        (["config", "--user", "--system"], 255)):
        box.code(box.run(*words), code)
    box.expect(box.run("config", "a.b=").stderr == "The config variable does not contain a value: a.b=\n", "a name without a value")


@test
def a_kernel_file_that_cannot_be_read_is_reported_before_the_recording_is_opened(box):
    for option in ("--vmlinux", "--kallsyms"):
        for words, code in ((["report", "--stdio"], 234), (["script"], 255), (["flamegraph"], 1), (["annotate"], 234)):
            result = box.run(*words, option, "/nonexistent/kernel", "-i", "nosuch.data")
            box.code(result, code)
            box.expect(result.stderr.startswith("cannot read '/nonexistent/kernel'"), result.stderr)
    box.code(box.run("report", "--stdio", "-q", "-v", "-k", "/nonexistent/kernel"), 234)


@test
def a_damaged_or_foreign_configuration_is_reported_and_does_not_stop_the_program(box):
    path = box.file(".perfconfig", "[a]\nb = 1\nbad line\n")
    result = box.run("version")
    box.code(result, 0)
    box.expect(result.stderr == "bad config file line 3 in %s\n" % path, result.stderr)
    box.expect(box.run("config", "-l").stdout == "a.b=1\n", "the lines before it are read")
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        result = box.run("version")
        box.code(result, 0)
        box.expect(result.stderr == "File %s not owned by current user or root, ignoring it.\n" % path, result.stderr)


@test
def check_feature_answers_by_its_exit_code(box):
    for words, code in ((["zstd"], 0), (["ZSTD,lzma"], 0), (["HAVE_ZLIB_SUPPORT"], 0), (["zlib,,lzma"], 0), (["libperl"], 1),
                        (["zlib,libperl"], 1), (["nosuch"], 1), (["dwarf,libbfd,aio,libunwind,libdw-dwarf-unwind,dwarf-unwind"], 0), ([], 129), (["zlib", "lzma"], 255)):
        box.code(box.run("check", "feature", *words), code)
        quiet = box.run("check", "-q", "feature", *words)
        box.code(quiet, code)
        box.expect(not quiet.stdout, "-q prints nothing")
    box.code(box.run("check"), 129)
    box.code(box.run("check", "nosuch"), 129)


@test_of_texts
def help_is_no_wider_than_a_terminal(box):
    for command in commands(box):
        for line in box.run(command, "-h").stderr.splitlines():
            box.expect(len(line) <= 80 or re.match(r"    -\S, --|        --| Usage|    or", line), "%s -h: %s" % (command, line))


@test
def keys_are_listed_by_the_help_and_where_one_is_wrong(box):
    keys = ("comm dso symbol parent cpu socket srcline srcfile local_weight weight transaction trace symbol_size dso_size cgroup time "
            "overhead overhead_children sample period dso_from symbol_to mispredict symbol_daddr tlb mem snoop").split()
    said = box.run("report", "-h").stderr
    for option in ("-s, --sort", "-F, --fields"):
        row = re.search(r"^    %s .*\n((?: {26}.*\n)+)" % option, said, re.M)
        missing = [key for key in keys if not row or key not in row[1].split()]
        box.expect(not missing, "%s: %s" % (option, missing))
    result = box.run("report", "-g", "bogus")
    box.code(result, 129)
    box.expect(result.stderr.startswith("-g does not take 'bogus'\n\n Usage: "), result.stderr[:100])
    for words, code in ((["--percent-type", "bogus"], 129), (["--percent-type", "global-hits", "--header-only"], 255),
                        (["--ignore-callees", "("], 129), (["--prefix-strip=1"], 234), (["--percentage", "bogus"], 129)):
        box.code(box.run("report", *words, "-i", "nosuch"), code)
    if box.run("record", "-e", "cpu-clock", "-o", "k.data", "true").returncode:
        return
    for option, name in (("-s", "sort"), ("-F", "fields")):
        result = box.run("report", "--stdio", "-i", "k.data", option, "comm,bogus")
        box.expect(result.stderr.startswith("Error:\nUnknown --%s key: `bogus'\n" % name) and " symbol_size " in result.stderr, result.stderr)
    for separator in (".", ".x"):
        result = box.run("report", "-t", separator, "-i", "k.data")
        box.code(result, 0)
        box.expect("'.' is the only non valid --field-separator argument" in result.stderr and "\n#\n" in result.stdout and
                   len(result.stdout) < 200, "report -t " + separator + result.stdout)


@test
def the_hint_about_short_stacks_is_for_terminals_and_v(box):
    source = ("static volatile long x; void _start(void) { for (long i = 0; i < 400000000; i++) x += i; "
              "__asm__ volatile(\"syscall\" : : \"a\"(60), \"D\"(0)); }")
    box.file("spin.c", source)
    made = box.tool("cc", "-O1", "-fomit-frame-pointer", "-static", "-nostdlib", "-o", "spin", "spin.c")
    if made.returncode or box.run("record", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", "s.data", "./spin").returncode:
        raise Skip("no static program can be made, or nothing recorded")
    words = ["record", "-e", "cpu-clock:u", "-F", "2000", "-g", "-o", "t.data", "./spin"]
    for said in (box.run(*words).stderr, box.run("report", "--stdio", "-i", "s.data").stderr):
        box.expect("Hint:" not in said, said)
    box.expect("Hint:" in box.run(words[0], "-v", *words[1:]).stderr, "record -v")
    box.expect("Hint:" in box.run("report", "--stdio", "-v", "-i", "s.data").stderr, "report -v")
    for words in (words, ["report", "--stdio", "-i", "s.data"]):
        box.expect("Hint:" in on_terminal(box, words, {"PERF_PAGER": "cat"})[1], "%s on a terminal" % words[0])


@test
def output_that_cannot_be_written_is_an_error(box):
    with open("/dev/full", "w") as full:
        result = box.run("help", stdout=full)
    box.code(result, 1)
    box.expect("No space left on device" in result.stderr, result.stderr)


@test
def a_file_does_not_get_the_descriptor_of_a_closed_stdout(box):
    result = process.run("sh", "-c", '"%s" config a.b=1 >&- && "%s" config -l >&-' % (PERFUSE, PERFUSE), env=box.env, cwd=box.home)
    box.code(result, 0)
    box.expect(open(os.path.join(box.home, ".perfconfig")).read().endswith("b = 1\n"), "the file is as it was written")


def on_terminal(box, words, env):
    """(exit code, text) of the program on a terminal."""
    done = process.on_terminal("perfuse", *words, executable=PERFUSE, env={**box.env, "TERM": "xterm", **env}, cwd=box.home)
    return done.returncode, done.stdout.decode().replace("\r", "")


@test
def on_a_terminal_pages_go_through_the_pager_that_was_named(box):
    mark = {"PERF_PAGER": "sed s/^/P:/"}
    code, text = on_terminal(box, ["help", "version"], mark)
    box.expect(code == 0 and text.startswith("P:NAME\n"), text[:100])
    code, text = on_terminal(box, ["version", "-h"], mark)
    box.expect(code == 129 and "P: Usage: perfuse version" in text, text[:100])
    for words in (["--no-pager", "help", "version"], ["help", "version"]):
        env = mark if words[0] == "--no-pager" else {"PERF_PAGER": "cat"}
        box.expect(on_terminal(box, words, env)[1].startswith("NAME\n"), "no pager for %s" % words)
    box.file(".perfconfig", "[pager]\n\thelp = sed s/^/C:/\n")
    box.expect(on_terminal(box, ["help", "version"], {})[1].startswith("C:NAME\n"), "pager.help of the configuration")


@test
def a_copy_of_the_program_alone_runs(box):
    alone = os.path.join(box.home, "alone")
    shutil.copy(PERFUSE, alone)
    result = box.run("version", program=alone, env={"HOME": "/nonexistent"})
    box.code(result, 0)
    box.expect("perfuse-help - " in box.run("help", "help", program=alone).stdout, "with its manual")


def meson(*words):
    return process.run(*words, env=compilers(), seconds=900, stderr=process.STDOUT)


@test
def installing_puts_the_program_and_its_pages(box):
    if SANITIZED:
        return
    result = meson("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", box.home + "/root")
    box.expect(result.returncode == 0, result.stdout[-300:])
    found = {name for _, _, names in os.walk(box.home + "/root") for name in names}
    box.expect("perf" not in found, "no perf is installed unless asked for")
    for name in ["perfuse"] + ["perfuse-%s.1" % c for c in commands(box)]:
        box.expect(name in found, "%s is installed" % name)


@test
def with_perf_links_it_is_installed_as_perf_with_pages_and_completion(box):
    if SANITIZED:
        return
    build, root = os.path.join(box.home, "build"), os.path.join(box.home, "root")
    pages = ["%s-%s.1" % (name, c) for c in commands(box) for name in ("perf", "perfuse")]
    targets = ["src/cmd/" + page for page in pages] + ["src/cmd/perfuse-%s.html" % c for c in commands(box)]
    for words in (["meson", "setup", build, TOP, "-Dperf_links=true", "-Djvmti=disabled", "--prefix=/usr/local"], ["ninja", "-C", build, *targets],
                  ["cp", PERFUSE, os.path.join(build, "perfuse")],
                  ["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root]):
        result = meson(*words)
        box.expect(result.returncode == 0, result.stdout[-300:])
    usr = os.path.join(root, "usr/local")
    perf = os.path.join(usr, "bin/perf")
    box.expect(os.path.islink(perf) and os.readlink(perf) == "perfuse", "bin/perf is a link to the program")
    for page in pages:
        box.expect(os.path.exists(os.path.join(usr, "share/man/man1", page)), page)
    box.expect(box.run("version", name=perf, program=perf).stdout.startswith("perf version 6.12"), "it runs by its link")
    check_viewers(box, perf, os.path.join(usr, "share/doc/perfuse"))
    text = open(os.path.join(usr, "share/man/man1/perf-record.1")).read()
    box.expect("perf\\-record" in text and "perfuse\\-record" not in text and "perfuse record" not in text, "the page says perf")
    if shutil.which("man"):
        for words in (["record", "--help"], ["help", "record"]):
            result = box.run(*words, name=perf, program=perf)
            box.code(result, 0)
            box.expect("PERF-RECORD(1)" in result.stdout, "man shows %s: %s" % (words, result.stdout[:100]))
    result = box.run("record", "--help", name=perf, program=perf, env={"PATH": "/nonexistent"})
    box.code(result, 0)
    box.expect(result.stdout.startswith("NAME\n       perf-record - "), "without man the text: %s" % result.stdout[:100])
    for name in ("perf", "perfuse"):
        script = 'source "$1"; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _perfuse "$2"; echo "${COMPREPLY[@]}"'
        file, program = os.path.join(usr, "share/bash-completion/completions", name), os.path.join(usr, "bin", name)
        for typed, wanted in (("x rec", "record"), ("x --no-p", "--no-pager"), ("x record --call-g", "--call-graph"),
                              ("x help build", "buildid-cache buildid-list"), ("x -p check f", "feature")):
            done = box.tool("bash", "-c", script % typed, "bash", file, program)
            box.expect(done.stdout.split() == wanted.split(), "%s: %s" % (typed, done.stdout))
        done = box.tool("bash", "-c", 'source "$1"; complete -p', "bash", file)
        box.expect(done.stdout.strip().endswith("-F _perfuse " + name), done.stdout)
        check_zsh(box, os.path.join(usr, "share/zsh/site-functions", "_" + name), program)
        check_fish(box, os.path.join(usr, "share/fish/vendor_completions.d", name + ".fish"), program)


@test
def every_page_is_roff_without_warnings(box):
    if not shutil.which("man"):
        return
    for page in sorted(glob.glob(os.path.join(TOP, "docs/*.adoc"))):
        roff = box.file("page.1", process.must(os.path.join(TOP, "tools/render-page"), "--man", "perfuse", page))
        said = box.tool("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", roff).stdout
        # a long word, which the narrow columns of a page cannot break, is no mistake
        wrong = [line for line in said.splitlines() if re.search(r": (warning|error)\b", line) and not line.endswith(("cannot adjust line", "can't break line"))]
        box.expect(not wrong, "%s: %s" % (os.path.basename(page), wrong[:3]))


def check_viewers(box, perf, docs):
    """help -w and -i start the browser and info with the page, help.format chooses, and a viewer that is missing is one sentence."""
    for name in ("browser", "info"):
        path = box.file(name, "#!/bin/sh\necho %s \"$@\"\n" % name, 0o755)
    found = {"PATH": os.path.dirname(path) + ":" + os.environ["PATH"], "BROWSER": "browser"}
    for words, env, wanted in ((["help", "-w", "record"], found, "browser %s/perfuse-record.html\n" % docs),
                               (["help", "-i", "record"], found, "info perf-record\n"),
                               (["help", "record"], {**found, "PERF_CONFIG": box.file("web", "[help]\nformat=web\n")},
                                "browser %s/perfuse-record.html\n" % docs),
                               (["help", "-m", "record"], {"PATH": "/nonexistent", "PERF_CONFIG": box.file("info.conf", "[help]\nformat=info\n")},
                                "NAME\n")):
        result = box.run(*words, name=perf, program=perf, env=env)
        box.code(result, 0)
        text = result.stdout.replace("%s/../share" % os.path.dirname(perf), os.path.dirname(os.path.dirname(docs)))
        box.expect(text.startswith(wanted), "%s: %s" % (words, result.stdout[:200]))
    box.expect("--call-graph" in open(os.path.join(docs, "perfuse-record.html")).read(), "the HTML page has the options")
    for form, name in (("-w", "no web browser"), ("-i", "info cannot be started")):
        result = box.run("help", form, "record", name=perf, program=perf, env={"PATH": "/nonexistent"})
        box.code(result, 255)
        box.expect(result.stderr.startswith(name) and result.stderr.count("\n") == 1, result.stderr)


COMPLETED = (("rec", "record"), ("-p check f", "feature"), ("daemon start --fo", "--foreground"), ("record -e cpu-clock,task-c", "cpu-clock,task-clock"),
             ("record -e skb:consume", "skb:consume_skb"), ("help build", "buildid-cache buildid-list"), ("stat -- rec", ""))


def check_zsh(box, file, program):
    if not shutil.which("zsh"):
        return
    script = 'compdef() {}; _default() {}; _describe() { print -rl -- "${found[@]}" }; source "$1"; words=("$2" $3); CURRENT=$#words; _${2:t}'
    for typed, wanted in COMPLETED:
        done = box.tool("zsh", "-fc", script.replace("$3", typed), "zsh", file, program)
        found = [re.split(r"(?<!\\):", line)[0].replace("\\:", ":") for line in done.stdout.splitlines()]
        box.expect(found == wanted.split() or (typed.startswith("record -e skb") and not found), "zsh: %s: %s" % (typed, done.stdout))


def check_fish(box, file, program):
    if not shutil.which("fish"):
        return
    folder = os.path.dirname(program)
    for typed, wanted in COMPLETED:
        done = box.tool("fish", "--no-config", "-c", "set PATH %s $PATH; source %s; complete -C '%s %s'" % (
            folder, file, os.path.basename(program), typed))
        found = [line.split("\t")[0] for line in done.stdout.splitlines()]
        box.expect(found == wanted.split() or (typed.startswith("record -e skb") and not found), "fish: %s: %s" % (typed, done.stdout))


def run_in_box(function):
    box = Box()
    try:
        function(box)
    finally:
        shutil.rmtree(box.home, ignore_errors=True)
    need(not box.problems, "\n".join(problem.replace("\n", "\\n")[:300] for problem in box.problems))


def main():
    return run_tests([(function.__name__.replace("_", " "), functools.partial(run_in_box, function)) for function in tests])


if __name__ == "__main__":
    sys.exit(main())
