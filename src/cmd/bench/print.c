#include "cmd/bench/bench.h"

void bench_print_time(const struct cli *cli, const struct bench_options *options, uint64_t ns)
{
	unsigned long long ms = ns / 1000000;
	if (bench_is_simple(options))
		writer_printf(cli->out, "%llu.%03llu\n", ms / 1000, ms % 1000);
	else
		writer_printf(cli->out, " %14s: %llu.%03llu [sec]\n", "Total time", ms / 1000, ms % 1000);
}

void bench_print_rate(const struct cli *cli, const struct bench_options *options, uint64_t ns, uint64_t operations)
{
	uint64_t us = ns / 1000 ? ns / 1000 : 1;
	bench_print_time(cli, options, ns);
	if (!bench_is_simple(options) && operations)
		writer_printf(cli->out, "\n %14f usecs/op\n %14llu ops/sec\n", (double)us / (double)operations,
			(unsigned long long)((double)operations / ((double)us / 1e6)));
}
