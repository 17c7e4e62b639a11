/* `mem find_bit`: the set bits of a map, found word by word or by a test of each bit. */
#include "analysis/stat/stat_table.h"
#include "cmd/bench/bench.h"

enum { BITS_MAX = 2048, WORD_BITS = 64 };

struct bit_map {
	uint64_t words[BITS_MAX / WORD_BITS];
	unsigned bits;
};

static struct bit_map map_of(unsigned bits, unsigned set)
{
	struct bit_map map = { .bits = bits };
	for (unsigned i = 0; i < set; i++) {
		unsigned bit = i * (bits / set);
		map.words[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
	}
	return map;
}

/* These return the number of set bits. Not inlined, so that the compiler knows neither map nor result. */
static __attribute__((noinline)) unsigned count_by_word(const struct bit_map *map)
{
	unsigned count = 0;
	for (unsigned word = 0; word * WORD_BITS < map->bits; word++)
		for (uint64_t rest = map->words[word]; rest; rest &= rest - 1, count++)
			__asm__ volatile("" : : "r"(word * WORD_BITS + (unsigned)__builtin_ctzll(rest))); /* the bit's number is used */
	return count;
}

static __attribute__((noinline)) unsigned count_by_bit(const struct bit_map *map)
{
	unsigned count = 0;
	for (unsigned bit = 0; bit < map->bits; bit++) {
		__asm__ volatile("" : : : "memory"); /* each bit is loaded */
		count += map->words[bit / WORD_BITS] >> bit % WORD_BITS & 1;
	}
	return count;
}

/* Microseconds of `times` searches; < 0: a search has another result. */
static double search(unsigned (*count)(const struct bit_map *), const struct bit_map *map, unsigned set, uint64_t times)
{
	bool wrong = false;
	uint64_t begin = now_ns();
	for (uint64_t i = 0; i < times; i++)
		wrong |= count(map) != set;
	return wrong ? -1 : (double)((now_ns() - begin) / 1000);
}

static bool measure(const struct cli *cli, unsigned bits, unsigned set, uint64_t runs, uint64_t times)
{
	const struct bit_map map = map_of(bits, set);
	struct stat_spread by_word = { 0 }, by_bit = { 0 };
	for (uint64_t i = 0; i < runs; i++) {
		double us[2] = { search(count_by_word, &map, set, times), search(count_by_bit, &map, set, times) };
		if (us[0] < 0 || us[1] < 0)
			return false;
		stat_spread_add(&by_word, us[0]);
		stat_spread_add(&by_bit, us[1]);
	}
	writer_printf(cli->out, "%llu operations %u bits set of %u bits\n", (unsigned long long)times, set, bits);
	writer_printf(cli->out, "  Average for_each_set_bit took: %.3f usec (+- %.3f usec)\n", by_word.mean, stat_spread_error(&by_word));
	writer_printf(cli->out, "  Average test_bit loop took:    %.3f usec (+- %.3f usec)\n", by_bit.mean, stat_spread_error(&by_bit));
	return true;
}

static int find_bit_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	enum { USUAL_RUNS = 5, USUAL_TIMES = 100000 };
	const struct bench_options *options = filled;
	uint64_t runs = options->iterations ? options->iterations : USUAL_RUNS;
	uint64_t times = options->inner_iterations ? options->inner_iterations : USUAL_TIMES;
	for (unsigned bits = 1; bits <= BITS_MAX; bits *= 2)
		for (unsigned set = 1; set <= bits; set *= 2)
			if (!measure(cli, bits, set, runs, times))
				return EXIT_ERROR;
	return 0;
}

static const struct option find_bit_table[] = {
	OPT_U64('i', "outer-iterations", struct bench_options, iterations, "how often each map is measured (default: 5)"),
	OPT_U64('j', "inner-iterations", struct bench_options, inner_iterations, "searches in a measurement (default: 100000)"),
	OPT_END(),
};
static const char *const find_bit_usage[] = { "perf bench mem find_bit [<options>]", NULL };

const struct command bench_find_bit = {
	.name = "find_bit", .summary = "searches for the set bits of a map", .usage = find_bit_usage, .options = find_bit_table,
	.options_size = sizeof(struct bench_options), .run = find_bit_run,
};
