"""What recorded switches and run times say of each other."""
import collections
import re

from suite.process import perfuse


def doubts(path):
    """By thread, ns of its turns that the kernel's events contradict: a switch from another task than that which ran, and turns for another
    time than the run times in them. The kernel leaves out a switch now and then, and has no run time for what its host took. A switch from
    the idle task that it leaves out is no doubt, as run times show where the turn began."""
    event = re.compile(r"^\s*-?\d+/-?\d+\s+\[(\d+)\]\s+(\d+)\.(\d{9}):.* (?:prev_pid=(\d+) .* next_pid=(\d+) |pid=(\d+) runtime=(\d+) )")
    running, run, doubtful = {}, collections.Counter(), collections.Counter()
    left = collections.Counter()  # run times of each when it left a CPU
    for line in perfuse("script", "--ns", "-F", "pid,tid,cpu,time,trace", "-i", path).stdout.splitlines():
        found = event.match(line)
        if found and found[6]:
            run[found[6]] += int(found[7])  # seen by any CPU
        elif found:
            time, before, after = int(found[2]) * 10 ** 9 + int(found[3]), found[4], found[5]
            tid, since, run_before = running.get(found[1], (before, time, run[before]))
            if tid == before:
                doubtful[tid] += abs(time - since - (run[tid] - run_before))
            elif tid != "0" or run[before] == left[before]:
                doubtful[tid] += time - since
                doubtful[before] += time - since
            running[found[1]], left[before] = (after, time, run[after]), run[before]
    return doubtful
