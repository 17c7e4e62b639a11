/* The data of a profile: tallies (sums by the keys that distinguish rows), the facts of these keys, and the parts that its stages fill.
 * Types only. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/count/sample_reads.h"
#include "analysis/entry/column.h"
#include "analysis/entry/options.h"
#include "analysis/stack/stack.h"
#include "base/arena.h"
#include "base/budget.h"
#include "session/session.h"
#include "symbol/lines.h"
#include "tracepoint/tracepoint.h"

/* A sum of samples with one key, and values of the first of them. */
struct tally {
	uint64_t period;
	uint64_t first;              /* clock of the first sample */
	uint32_t sample_key, node, place; /* key: columns of the sample, stack, where the sample itself lies */
	uint8_t cpumode, filtered;   /* key, too */
	bool stale;                  /* key, too: the sample has no chain, its callers are those of the sample before it */
	uint8_t level;
	uint32_t count;
	uint32_t thread;             /* of the first sample; THREAD_NONE: see tid */
	int32_t tid;
	uint32_t cpu;                /* of the first sample */
};

/* Sums that few reports show. */
struct tally_sums {
	uint64_t weight[3];
};

struct tallies {
	struct tally *items;
	struct tally_sums *sums;      /* NULL: not asked for */
	uint32_t count, capacity;
	uint32_t *slots;
	uint32_t slot_count;
};

/* One end of a branch or of a memory access: part of the facts of a sample key. */
struct end_fact {
	uint32_t symbol, module;
	uint64_t address, offset;
	const struct map *map;
	uint64_t level;
};

/* The facts of a sample key; a row ends after those that the report needs. */
struct sample_facts {
	uint64_t clock;              /* of the sample they are of */
	uint32_t parent_symbol, parent_module; /* the matched caller; symbol 0: no match */
	const uint8_t *raw;
	uint64_t raw_size;
	int64_t cpu;
	struct end_fact ends[2];     /* branches: from, to; memory: instruction, data */
	uint64_t data_source, branch_flags, cpumode;
};

enum { FACT_WORDS_NONE = 1, FACT_WORDS_PARENT = 2, FACT_WORDS_RAW = 5, FACT_WORDS_ALL = sizeof(struct sample_facts) / 8 };

struct branch_counts {
	uint64_t types[16], new_types[16], forward, backward, cross_4k, cross_2m;
};

struct source_texts;

/* One addition to a tally, where the order of additions matters. */
struct access {
	uint64_t clock, period;
	uint32_t tally;
};

/* A function, or an address without a symbol, and the samples in whose chains it has a joined frame. */
struct joined_function {
	uint32_t symbol, module;
	uint64_t address;                /* 0 if there is a symbol */
	uint64_t samples;
};

/* What the recorder completed from earlier samples: most samples first, then by name. */
struct joined_functions {
	struct joined_function *items;
	size_t count;
	uint64_t samples;                /* that have any joined frame */
};

struct collector;
struct hist;

/* What all workers collected: the result of the merge. Later stages read it; only `stacks` may grow, and its ids do not change. */
struct collected {
	struct stacks *stacks;
	struct tuples sample_keys;
	struct tallies tallies;
	struct access *log;              /* logged additions, by clock; NULL: no log */
	size_t log_count;
	struct branch_counts branches;
	size_t frames;                   /* of the stacks of all workers' tallies */
	uint32_t *module_ranks;          /* by module: its position in the order in which perf creates modules */
};

/* The entries of each event, made from `struct collected`. */
struct folded {
	struct hist *hists;              /* one per event */
	size_t hist_count;
	bool has_groups;                 /* the recording has event groups */
	uint32_t *class_of_place;        /* the part of the key that distinguishes entries with one sample key */
	uint32_t class_count;
	uint32_t row_words;
	bool collapsed;                  /* rows of one source line are one: see collapse.h */
};

struct profile {
	struct profile_options options;
	struct session *session;
	struct symbols *symbols;
	struct tracepoints *tracepoints; /* NULL: not in the recording */
	struct collector **collectors;   /* one per worker */
	unsigned collector_count;
	struct addresses *addresses;     /* NULL: samples are added one by one */
	uint32_t sample_key_words, sample_fact_words;
	bool needs_sums, by_address, by_map;
	struct source_texts *source_texts;
	struct data_types *types;        /* analysis/datatype; NULL: no column shows types */
	const int32_t *sockets;          /* by CPU; NULL: not known */
	size_t socket_count;
	struct event_switch switches;
	struct sample_reads reads;
	struct {
		size_t events;           /* how many were looked at */
		bool reads, chains, no_chains;
	} has;                           /* what samples of the events have */
	bool shares_stacks;              /* collected.stacks is the collector's: see refresh.h */
	bool logs, logs_all;             /* additions to tallies are logged: of a batch; from the start */
	bool wild;                       /* … since a batch had wild addresses */
	struct collected collected;      /* after the merge */
	struct folded folded;            /* after the fold: entries, then in order */
	struct joined_functions joined;
	struct budget *chain_room;       /* memory for the trees of call chains */
	struct arena *arena;             /* of the stages' results */
};

static inline const struct sample_facts *sample_facts(const struct profile *profile, const uint64_t *key_row)
{
	return (const struct sample_facts *)(key_row + profile->sample_key_words);
}

/* In a sample key the keys of the columns follow the event. */
enum { SAMPLE_KEY_EVENT, SAMPLE_KEY_COLUMNS };

static inline uint32_t tally_event(const struct collected *collected, const struct tally *tally)
{
	return (uint32_t)tuples_row(&collected->sample_keys, tally->sample_key)[SAMPLE_KEY_EVENT];
}
