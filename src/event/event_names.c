#include "event/event_names.h"

#include <stdio.h>
#include <string.h>

#include "abi/attr.h"

#define HARDWARE(number, word, ...) { .type = ATTR_HARDWARE, .config = (number), .name = (word), ##__VA_ARGS__ }
#define TOOL(number, word) { .type = EVENT_TYPE_TOOL, .config = (number), .name = (word), .unit = "ns" }
#define SOFTWARE(number, word, ...) { .type = ATTR_SOFTWARE, .config = (number), .name = (word), ##__VA_ARGS__ }

const struct event_symbol event_symbols[] = {
	HARDWARE(0, "cpu-cycles", .alias = "cycles"),
	HARDWARE(1, "instructions"),
	HARDWARE(2, "cache-references"),
	HARDWARE(3, "cache-misses"),
	HARDWARE(4, "branch-instructions", .alias = "branches"),
	HARDWARE(5, "branch-misses"),
	HARDWARE(6, "bus-cycles"),
	HARDWARE(7, "stalled-cycles-frontend", .alias = "idle-cycles-frontend"),
	HARDWARE(8, "stalled-cycles-backend", .alias = "idle-cycles-backend"),
	HARDWARE(9, "ref-cycles"),
	SOFTWARE(0, "cpu-clock", .unit = "msec", .scale = 1e-6),
	SOFTWARE(1, "task-clock", .unit = "msec", .scale = 1e-6),
	SOFTWARE(2, "page-faults", .alias = "faults"),
	SOFTWARE(3, "context-switches", .alias = "cs"),
	SOFTWARE(4, "cpu-migrations", .alias = "migrations"),
	SOFTWARE(5, "minor-faults"),
	SOFTWARE(6, "major-faults"),
	SOFTWARE(7, "alignment-faults"),
	SOFTWARE(8, "emulation-faults"),
	SOFTWARE(9, "dummy"),
	SOFTWARE(10, "bpf-output"),
	SOFTWARE(11, "cgroup-switches"),
	TOOL(1, "duration_time"),
	TOOL(2, "user_time"),
	TOOL(3, "system_time"),
	{ 0 },
};

static bool word_equals(const char *name, const char *text, size_t length)
{
	return name && strlen(name) == length && memcmp(name, text, length) == 0;
}

const struct event_symbol *event_symbol_find(const char *name, size_t length)
{
	for (const struct event_symbol *symbol = event_symbols; symbol->name; symbol++)
		if (word_equals(symbol->name, name, length) || word_equals(symbol->alias, name, length))
			return symbol;
	return NULL;
}

const struct event_symbol *event_symbol_of(uint32_t type, uint64_t config)
{
	for (const struct event_symbol *symbol = event_symbols; symbol->name; symbol++)
		if (symbol->type == type && symbol->config == config)
			return symbol;
	return NULL;
}

enum { CACHE_ALIASES = 8, OP_READ = 0, OP_WRITE = 1, OP_PREFETCH = 2, RESULT_ACCESS = 0, RESULT_MISS = 1 };

static const char *const cache_types[CACHE_TYPES][CACHE_ALIASES] = {
	{ "L1-dcache", "l1-d", "l1d", "L1-data" },
	{ "L1-icache", "l1-i", "l1i", "L1-instruction" },
	{ "LLC", "L2" },
	{ "dTLB", "d-tlb", "Data-TLB" },
	{ "iTLB", "i-tlb", "Instruction-TLB" },
	{ "branch", "branches", "bpu", "btb", "bpc" },
	{ "node" },
};

static const char *const cache_ops[CACHE_OPS][CACHE_ALIASES] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};

static const char *const cache_results[CACHE_RESULTS][CACHE_ALIASES] = {
	{ "refs", "Reference", "ops", "access" },
	{ "misses", "miss" },
};

/* The operations that each cache has: instruction caches and branch units have no stores. */
static const uint8_t cache_has[CACHE_TYPES] = {
	1 << OP_READ | 1 << OP_WRITE | 1 << OP_PREFETCH,
	1 << OP_READ | 1 << OP_PREFETCH,
	1 << OP_READ | 1 << OP_WRITE | 1 << OP_PREFETCH,
	1 << OP_READ | 1 << OP_WRITE | 1 << OP_PREFETCH,
	1 << OP_READ,
	1 << OP_READ,
	1 << OP_READ | 1 << OP_WRITE | 1 << OP_PREFETCH,
};

bool event_cache_possible(unsigned type, unsigned op)
{
	return type < CACHE_TYPES && op < CACHE_OPS && cache_has[type] >> op & 1;
}

/* Returns the row with the longest word that `text` begins with, up to '-' or the end; -1: absent. *used: the length of the word. */
static int longest_match(const char *const (*rows)[CACHE_ALIASES], int count, const char *text, size_t length, size_t *used)
{
	int best = -1;
	*used = 0;
	for (int row = 0; row < count; row++) {
		for (int i = 0; i < CACHE_ALIASES && rows[row][i]; i++) {
			size_t n = strlen(rows[row][i]);
			if (n > length || n <= *used || memcmp(rows[row][i], text, n) != 0 || (n < length && text[n] != '-'))
				continue;
			best = row;
			*used = n;
		}
	}
	return best;
}

int event_cache_find(const char *name, size_t length, uint64_t *config)
{
	size_t used;
	int type = longest_match(cache_types, CACHE_TYPES, name, length, &used);
	int op = -1, result = -1;
	if (type < 0)
		return 0;
	/* two words may follow: an operation and a result, in either order; of two of a kind the first counts */
	for (int words = 0; words < 2 && used < length; words++) {
		name += used + 1;
		length -= used + 1;
		int found = longest_match(cache_ops, CACHE_OPS, name, length, &used);
		if (found >= 0) {
			op = op < 0 ? found : op;
			continue;
		}
		found = longest_match(cache_results, CACHE_RESULTS, name, length, &used);
		if (found < 0)
			return 0;
		result = result < 0 ? found : result;
	}
	if (used < length)
		return 0;
	op = op < 0 ? OP_READ : op;
	result = result < 0 ? RESULT_ACCESS : result;
	if (!event_cache_possible((unsigned)type, (unsigned)op))
		return -1;
	*config = (uint64_t)type | (uint64_t)op << 8 | (uint64_t)result << 16;
	return 1;
}

bool event_cache_is(const char *name, size_t length)
{
	uint64_t config;
	return event_cache_find(name, length, &config) != 0;
}

bool event_cache_name(uint64_t config, char *name, size_t size)
{
	static const char *const plural[CACHE_OPS] = { "loads", "stores", "prefetches" };
	uint64_t type = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
	if (type >= CACHE_TYPES || op >= CACHE_OPS || result >= CACHE_RESULTS || config >> 24)
		return false;
	if (result == RESULT_MISS)
		snprintf(name, size, "%s-%s-misses", cache_types[type][0], cache_ops[op][0]);
	else
		snprintf(name, size, "%s-%s", cache_types[type][0], plural[op]);
	return true;
}
