#!/bin/sh
# alone: a recording of the whole machine has the programs of other tests in it, and perf has no names for some of their addresses
# The part of test/agree_test.sh that records the whole machine.
AGREE_MACHINE=1 exec "$(dirname "$0")/agree_test.sh" "$@"
