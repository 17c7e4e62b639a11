"""The grammar of -e and the lists of `list`: for each text of the file `grammar`, the attributes that `record` opens are those that perf opens, or both refuse it.
The PMUs are those of a machine in the folder `machines`, planted below /sys in a mount namespace, so that both programs read them there."""
import concurrent.futures
import difflib
import functools
import itertools
import os
import shutil
import tempfile

from suite import process
from suite.settings import PERFUSE, SHORT
from suite.tests import is_selected, need, remark, skipped

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICES = "/sys/bus/event_source/devices"
AT_A_TIME = 12  # perf waits a second before it ends
STEP = 6 if SHORT else 1  # of the texts every STEPth is tried
CPU = "Unknown-0-0-0"  # one for which perf has no tables of vendor events


def plant(machine, folder):
    """Makes the tree of a machine's PMUs, with its tabs between names and contents."""
    for line in open(os.path.join(HERE, "machines", machine)):
        if line[0] == "#":
            continue
        name, content = line.rstrip("\n").split("\t", 1)
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(content + "\n")


def planted(folder, words):
    """The command line that runs `words` where the tree is the kernel's."""
    if not folder:
        return words
    return ["unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh", folder, DEVICES, *words]


def can_plant():
    with tempfile.TemporaryDirectory() as folder:
        return process.run(*planted(folder, ["true"])).returncode == 0


def texts():
    """(machine, text, why it differs) of each line; the machine is "" for that of the test. A blank at the end is written \\x20."""
    machine = ""
    for line in open(os.path.join(HERE, "grammar")):
        line = line.rstrip("\n")
        if line.startswith("[") and line.endswith("]") and " " not in line:
            machine = line[1:-1] if line != "[here]" else ""
        elif line and line[0] != "#":
            text, _, why = line.partition("\t")
            yield machine, text.replace("\\x20", " "), why


def record(c, program, tree, text):
    folder = tempfile.mkdtemp(dir=c.work)
    log = os.path.join(folder, "log")
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "PERF_CONFIG": "/dev/null", "LC_ALL": "C", "PERF_CPUID": CPU}
    words = ["env", "LD_PRELOAD=" + c.library, "OPENED=" + log, "OPENED_ANY=1", program, "record", "--no-bpf-event", "-o",
             os.path.join(folder, "perf.data"), "-e", text, "--", "true"]
    done = process.run(*planted(tree, words), cwd=folder, env=environment)
    result = c.events_of(log)[0]
    shutil.rmtree(folder, ignore_errors=True)
    return done, result


def compare(c, why, both):
    (done, events), (mine, my_events) = both.result()
    if why:
        need((mine.returncode == 0) != (done.returncode == 0) or c.difference(my_events, events), "is equal, though listed as different")
        return
    need((mine.returncode == 0) == (done.returncode == 0), "exit code %d, perf's %d\nperfuse: %s\nperf: %s" %
         (mine.returncode, done.returncode, mine.stderr[:600], done.stderr[:600]))
    lines = c.difference(my_events, events)
    need(done.returncode or events, "nothing was opened by perf: " + done.stderr)
    need(done.returncode or not lines, "\n".join(lines))


LISTS = ["", "hw", "sw", "cache", "pmu", "tracepoint", "sched:*", "clock", "energy", "topdown", "hw sw pmu", "-v pmu", "--details pmu", "-v --details",
         "--no-desc", "--raw-dump", "--raw-dump pmu", "--unit uncore_* pmu", "--unit cpu* pmu", "--cputype atom pmu", "--cputype foo", "-j", "-j pmu"]


def without_metrics(lines):
    """The lines before the metrics, which perf has from tables; perfuse has its own."""
    starts = [i for i, line in enumerate(lines) if line == "Metric Groups:" or line.startswith("\t\"MetricGroup\"")]
    lines = lines[:starts[0] - 1] if starts else lines
    if len(lines) == 1:  # --raw-dump: names of events have a colon or a slash at the end of the list
        words = lines[0].split()
        while words and not set(":/") & set(words[-1]):
            words.pop()
        return words
    return [line.rstrip(",") for line in lines if line not in ("]", "")]


def listed(c, program, tree, words):
    """The output of `list`, without what perfuse adds to its JSON, and without the probe points of this user's cache."""
    environment = {"PATH": os.environ["PATH"], "HOME": c.work, "PERF_CONFIG": "/dev/null", "LC_ALL": "C", "PERF_CPUID": CPU}
    done = process.run(*planted(tree, [program, "list", *words.split()]), env=environment)
    return done.returncode, without_metrics([line for line in done.stdout.splitlines() if not line.startswith("\t\"ScaleUnit\"")])


def compare_lists(c, tree, words):
    for _ in range(4): # other tests make and remove probes
        (code, lines), (my_code, my_lines) = listed(c, c.reference, tree, words), listed(c, PERFUSE, tree, words)
        if lines == my_lines:
            break
    need(code == my_code, "exit code %d, perf's %d" % (my_code, code))
    need(lines == my_lines, "\n".join(list(difflib.unified_diff(lines, my_lines, "perf", "perfuse", n=0, lineterm=""))[:10]))


def list_tests(c, trees):
    for machine, tree in trees.items():
        for words in LISTS:
            name = "list %s%s: as perf's" % (words, " on " + machine if machine else "")
            if is_selected(name):
                yield name, functools.partial(compare_lists, c, tree, words)


def tests(c):
    """Pairs of a name and a callable, as run_tests takes them, for the texts that are selected."""
    trees = {"": ""}
    pool = concurrent.futures.ThreadPoolExecutor(AT_A_TIME)
    found = []
    allowed = can_plant()
    if not allowed:
        skipped("grammar of events on other machines", "this user may not mount; as root it runs")
    for machine in os.listdir(os.path.join(HERE, "machines")) if allowed else []:
        trees[machine] = os.path.join(c.work, machine)
        plant(machine, trees[machine])
    found += list_tests(c, trees)
    if SHORT:
        remark("every %dth text of the grammar; without PERFUSE_SHORT all" % STEP)
    for machine, text, why in itertools.islice(texts(), 0, None, STEP):
        name = "-e %s%s: %s" % (text, " on " + machine if machine else "", why or "attributes as perf's")
        if machine not in trees or not is_selected(name):
            continue
        tree = trees[machine]
        both = pool.submit(lambda tree=tree, text=text: (record(c, c.reference, tree, text), record(c, PERFUSE, tree, text)))
        found.append((name, functools.partial(compare, c, why, both)))
    return found
