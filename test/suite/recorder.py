"""A recorder of which a test knows that its events are counted."""
import os
import select

from suite import process
from suite.settings import PERFUSE
from suite.tests import need

ANSWER_SECONDS_MAX = 120


def start(*options, **more):
    """Starts `record`; returns when it answers, which it does once its events are enabled and it reads the rings."""
    (theirs, ours), (answers, answering) = os.pipe(), os.pipe()
    child = process.start(PERFUSE, "record", "--control", "fd:%d,%d" % (theirs, answering), *options, pass_fds=(theirs, answering),
                          **{"stderr": process.PIPE, **more})
    for end in (theirs, answering):
        os.close(end)
    os.write(ours, b"ping\n")
    ready = select.select([answers], [], [], ANSWER_SECONDS_MAX)[0]
    answered = bool(ready and os.read(answers, 100))
    os.close(answers)
    if not answered:
        child.kill()
    need(answered, "the recorder does not answer: %s" % (child.communicate()[1] if not answered and child.stderr else ""))
    child.control = open(ours, "wb", buffering=0)  # the recorder has commands as long as this is open
    return child
