/* The options of perf's collection `numa`. */
#include "cmd/bench/bench.h"
#include "cmd/bench/numa.h"

#define N struct bench_options
static const struct option mem_table[] = {
	OPT_UINT('p', "nr_proc", N, numa.processes, "processes (default: 1)"),
	OPT_UINT('t', "nr_threads", N, numa.threads, "threads of each process (default: 1)"),
	OPT_STRING('G', "mb_global", N, numa.global_mb, "MB", "memory that all share (default: 1)"),
	OPT_STRING('P', "mb_proc", N, numa.process_mb, "MB", "memory of each process (default: 0)"),
	OPT_STRING('L', "mb_proc_locked", N, numa.locked_mb, "MB", "the part of it that one thread accesses at a time (default: 0)"),
	OPT_STRING('T', "mb_thread", N, numa.thread_mb, "MB", "memory of each thread (default: 0)"),
	OPT_INT('l', "nr_loops", N, numa.loops, "loops of each thread (default: -1, no limit)"),
	OPT_UINT('s', "nr_secs", N, numa.seconds, "seconds after which all end; 0: no limit (default: 5)"),
	OPT_UINT('u', "usleep", N, numa.sleep_us, "microseconds to sleep after each loop (default: 0)"),
	OPT_BOOL('R', "data_reads", N, numa.reads, "read the memory (the default is to read and write)"),
	OPT_BOOL('W', "data_writes", N, numa.writes, "write the memory"),
	OPT_BOOL('B', "data_backwards", N, numa.backwards, "access it backwards in every second loop"),
	OPT_BOOL('Z', "data_zero_memset", N, numa.zero, "set it to zero with memset instead"),
	OPT_BOOL('r', "data_rand_walk", N, numa.random, "access it in random order"),
	OPT_BOOL('z', "init_zero", N, numa.init_zero, "set it to zero before"),
	OPT_BOOL('I', "init_random", N, numa.init_random, "set it to random numbers before"),
	OPT_BOOL('0', "init_cpu0", N, numa.init_first_cpu, "set it on CPU 0"),
	OPT_BOOL('c', "show_convergence", N, numa.convergence, "when the threads of each process are on one node"),
	OPT_BOOL('m', "measure_convergence", N, numa.until_convergence, "end then"),
	OPT_BOOL('d', "show_details", N, numa.details, "print the ids of the processes"),
	OPT_BOOL('q', "quiet", N, numa.quiet, "print results as sentences"),
	OPT_BOOL('S', "serialize-startup", N, numa.serialized, "start one process after the other"),
	OPT_INT('H', "thp", N, numa.huge_pages, "above 0: ask for huge pages; below: refuse them"),
	OPT_STRING('C', "cpus", N, numa.cpus, "cpu[,cpu2,...cpuN]", "the CPU of each of the first threads"),
	OPT_STRING('M', "memnodes", N, numa.nodes, "node[,node2,...nodeN]", "the node of the memory of each of the first threads"),
	OPT_END(),
};
#undef N
static const char *const mem_usage[] = { "perf bench numa mem [<options>]", NULL };

static int mem_run(struct cli *cli, void *filled, int argc, const char **argv);
static const struct command mem = {
	.name = "mem", .summary = "threads and processes that access memory", .usage = mem_usage, .options = mem_table,
	.options_size = sizeof(struct bench_options), .run = mem_run,
};

static int mem_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct bench_options *options = filled;
	struct error err = { 0 };
	if (numa_run(cli, &options->numa, &err) == 0)
		return 0;
	if (err.kind == ERROR_USAGE)
		return cli_usage(cli, &mem, &err);
	cli_complain(cli, &err);
	return EXIT_ERROR;
}

static const struct command *const list[] = { &mem, NULL };
static const char *const words[] = { "mem", "all", NULL };
static const char *const numa_usage[] = { "perf bench numa {mem|all} [<options>]", NULL };
static const struct option no_options[] = { OPT_END() };

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	struct numa_options *numa = &((struct bench_options *)options)->numa;
	numa->words = argv + 1;
	numa->word_count = argc ? argc - 1 : 0;
	return bench_collection_run(cli, "numa", list, options, argc, argv);
}

const struct command command_bench_numa = {
	.name = "numa", .summary = "memory of processes and threads on nodes", .usage = numa_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
