"""An earlier perfuse with which the benchmarks compare this one: a program, a commit, or the commit that was measured last."""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def git(*args):
    result = subprocess.run(["git", "-C", ROOT, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


def measured_last(this):
    """The commit of the newest entry of bench/history that is an ancestor of this tree; None if there is no such entry."""
    entries = []
    for path in glob.glob(os.path.join(HERE, "history", "*.json")):
        with open(path) as stream:
            entry = json.load(stream)
        entries.append((entry["time"], entry["commit"]))
    for _, commit in sorted(entries, reverse=True):
        if re.fullmatch(r"[0-9a-f]{12}", commit) and commit != this and git("merge-base", commit, "HEAD").startswith(commit):
            return commit
    return None


def built(commit, cache):
    """The program of a commit, built once under the cache."""
    full = git("rev-parse", "--verify", "--quiet", commit + "^{commit}")
    if not full:
        sys.exit("bench: --against %s: neither a program nor a commit" % commit)
    folder = os.path.join(cache, "before-" + full[:12])
    tree, build = os.path.join(folder, "tree"), os.path.join(folder, "build")
    program = os.path.join(build, "perfuse")
    if os.path.exists(program):
        return program
    print("building %s" % full[:12], file=sys.stderr, flush=True)
    os.makedirs(tree, exist_ok=True)
    archive = subprocess.run(["git", "-C", ROOT, "archive", full], stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-C", tree, "-xf", "-"], input=archive, check=True)
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, tree], stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["ninja", "-C", build, "perfuse"], stdout=subprocess.DEVNULL, check=True)
    return program


def find(against, this, cache):
    """(program, its name), or (None, the reason). `against` is the user's choice, `this` the commit measured now."""
    if against == "none":
        return None, "none was asked for"
    if against and os.path.isfile(against) and os.access(against, os.X_OK):
        return os.path.abspath(against), against
    commit = against or measured_last(this)
    if not commit:
        return None, "bench/history has no earlier commit of this tree"
    return built(commit, cache), commit
