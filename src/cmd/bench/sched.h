/* Benchmarks of the collection `sched` that have a file of their own. */
#pragma once
#include "cmd/bench/bench.h"

int bench_seccomp_run(struct cli *cli, void *options, int argc, const char **argv);
