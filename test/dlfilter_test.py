#!/usr/bin/env python3
"""script --dlfilter: filters with perf's interface get what perf gives them, and their text is in its place."""
import os
import shutil
import struct
import sys
import tarfile

from suite import process
from suite.perf import first_difference, need_reference
from suite.settings import CORPUS, TOP
from suite.tests import Skip, need, need_root, need_tools, run_in_folder

TRUTH = os.path.join(CORPUS, "pt", "truth")
TRACE = os.path.join(TRUTH, "mix.pt_cyc.data")


def build(folder):
    need_tools("cc")
    path = os.path.join(folder, "shows.so")
    if not os.path.exists(path):
        process.must("cc", "-shared", "-fPIC", "-I" + os.path.join(TOP, "src"), os.path.join(TOP, "test", "dlfilter", "shows.c"), "-o", path)
        os.chmod(path, 0o755)
    return path


def trace(folder):
    if not os.path.exists(TRACE):
        raise Skip("no such recording: %s (PERFUSE_CORPUS names another folder)" % TRACE)
    symfs = os.path.join(folder, "symfs")
    if not os.path.exists(symfs):
        with tarfile.open(os.path.join(TRUTH, "symfs.tar.xz")) as files:
            files.extractall(symfs)
    return ["script", "--symfs", symfs, "-i", TRACE]


def both(words, folder):
    perfs, ours = (process.run(program, *words, cwd=folder, text=False).stdout for program in (need_reference(), process.PERFUSE))
    need(ours == perfs and ours, first_difference(ours, perfs))
    return ours.decode()


def test_trace(folder):
    """branches and instructions of a trace: a filter gets what perf gives it, byte for byte"""
    filter_ = build(folder)
    for itrace in ("--itrace=b", "--itrace=i10usg8"):
        text = both(trace(folder) + [itrace, "--dlfilter", filter_, "--dlarg", "x", "--dlarg", "y z"], folder)
        need(text.startswith("argument x\nargument y z\nearly ") and text.endswith(" events\n"), text[:100])


def test_recording(folder):
    """samples with call chains, data addresses and raw data: a filter gets what perf gives it, byte for byte"""
    for name, options in (("clock", ["-e", "cpu-clock:u", "-g", "-W"]), ("faults", ["-e", "page-faults:u", "-c", "1", "-d"])):
        path = os.path.join(folder, name + ".data")
        done = process.perfuse("record", *options, "-o", path, "--", "sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done")
        if done.returncode:
            raise Skip("record: " + done.stderr)
        both(["script", "-F", "comm,tid,time,ip,sym", "-i", path, "--dlfilter", build(folder)], folder)


def test_order(folder):
    """a filter is called before the other filters and after them, and knows which samples they drop"""
    text = both(trace(folder) + ["--itrace=b", "-S", "main", "--dlfilter", build(folder)], folder)
    early, late = text.count("\nearly "), text.count(" cpu ")
    need(0 < late < early and "filtered\n" in text, "%d early, %d late" % (early, late))


def test_cycles(folder):
    """perf's own filter that shows cycles prints the same"""
    filter_ = os.path.join(process.must(need_reference(), "--exec-path").strip(), "dlfilters", "dlfilter-show-cycles.so")
    if not os.path.exists(filter_):
        raise Skip("the reference perf has no filters")
    both(trace(folder) + ["--itrace=cre", "--dlfilter", filter_], folder)


def test_lines(folder):
    """a filter gets the source line of a sample"""
    need_tools("cc")
    source, program, path = (os.path.join(folder, name) for name in ("busy.c", "busy", "busy.data"))
    with open(source, "w", encoding="utf-8") as file:
        file.write("int main(void)\n{\n\tfor (volatile unsigned i = 0; i < 200000000; i++);\n\treturn 0;\n}\n")
    process.must("cc", "-g", "-o", program, source)
    done = process.perfuse("record", "-e", "cpu-clock:u", "-o", path, "--", program)
    if done.returncode:
        raise Skip("record: " + done.stderr)
    text = process.perfuse("script", "-i", path, "--dlfilter", build(folder), "--dlarg", "lines").stdout
    need(" ip main+" in text and " at %s:3 " % source in text, text[-500:])


def test_failure(folder):
    """a filter that fails ends the run with what it returned"""
    done = process.perfuse(*trace(folder), "--itrace=b", "--dlfilter", build(folder), "--dlarg", "all")
    need(done.returncode and "it returned -5" in done.stderr and done.stdout.count(" cpu ") == 7, done.stderr)
    done = process.perfuse(*trace(folder), "--dlfilter", build(folder), "--dlarg", "refuse")
    need(done.returncode and "does not start: it returned -3" in done.stderr and " cpu " not in done.stdout, done.stderr)


def test_refused(folder):
    """what is no filter, or what another user can change, is not run"""
    filter_, other = build(folder), os.path.join(folder, "other.so")
    for path in (TRACE, folder, os.path.join(folder, "absent.so"), "absent.so"):
        done = process.perfuse(*trace(folder), "--dlfilter", path)
        need(done.returncode and "filter" in done.stderr and not done.stdout, "%s: %s" % (path, done.stderr))
    with open(filter_, "rb") as source, open(other, "wb") as copy:
        copy.write(source.read())
    os.chmod(other, 0o777)
    done = process.perfuse(*trace(folder), "--itrace=b", "--dlfilter", other)
    need(done.returncode and "another user can change the filter" in done.stderr and not done.stdout, done.stderr)
    done = process.perfuse(*trace(folder), "--itrace=b", "-f", "--dlfilter", other)
    need(not done.returncode and " events\n" in done.stdout, done.stderr)
    os.chmod(other, 0o775)
    done = process.perfuse(*trace(folder), "--itrace=b", "--dlfilter", other)
    need(not done.returncode, "a file that its owner's own group can write is refused: " + done.stderr)
    if os.geteuid() != 0:
        return
    os.chown(other, 0, process.NOBODY)
    done = process.perfuse(*trace(folder), "--itrace=b", "--dlfilter", other)
    need(done.returncode and "another user can change the filter" in done.stderr and not done.stdout, "of a group: " + done.stderr)
    link = os.path.join(folder, "link.so")
    os.symlink(filter_, link)
    need(not process.perfuse(*trace(folder), "--itrace=b", "--dlfilter", link).returncode, "the user's own link is refused")
    os.lchown(link, process.NOBODY, process.NOBODY)
    done = process.perfuse(*trace(folder), "--itrace=b", "--dlfilter", link)
    need(done.returncode and "is not followed" in done.stderr and not done.stdout, "by a link: " + done.stderr)


def test_rights(folder):
    """a program with capabilities of its file does not run its user's filters"""
    need_root("only root gives a file capabilities")
    program = os.path.join(folder, "perfuse")
    shutil.copy(process.PERFUSE, program)
    revision_and_effective, performance = 0x02000001, 1 << (38 - 32)
    try:
        os.setxattr(program, "security.capability", struct.pack("<5I", revision_and_effective, 0, 0, performance, 0))
    except OSError as why:
        raise Skip("no capabilities of files here: %s" % why) from why
    data = os.path.join(folder, "readable.data")
    if process.perfuse("record", "-q", "-e", "cpu-clock:u", "-o", data, "--", "true").returncode:
        raise Skip("nothing can be recorded here")
    os.chmod(data, 0o644)
    for words in (["--list-dlfilters"], ["-i", data, "--dlfilter", build(folder)]):
        done = process.run(program, "script", *words, cwd=folder, user=process.NOBODY)
        need(done.returncode and "filters do not run in a program with rights of its own" in done.stderr and not done.stdout, done.stderr)


def test_list(folder):
    """--list-dlfilters shows the filters of this folder with what they say of themselves"""
    build(folder)
    done = process.perfuse("script", "--list-dlfilters", cwd=folder)
    need(done.stdout.startswith("List of available dlfilters:\n  shows.so %s shows samples\n" % (" " * 27)), done.stdout)
    need("all of it\n" in process.perfuse("script", "-v", "--list-dlfilters", cwd=folder).stdout, "no long description")


if __name__ == "__main__":
    sys.exit(run_in_folder("filters of samples", str, globals()))
