/* The sink of `report`: samples become cells (what tells rows apart, and a stack) whose periods add up; at the end cells become
 * the entries of one hist per event. Workers collect on their own; what they found is merged deterministically.
 * Knows which columns there are, not what a terminal is. */
#pragma once
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/columns.h"
#include "analysis/sample_reads.h"
#include "analysis/stack.h"
#include "analysis/time_filter.h"
#include "base/arena.h"
#include "session/session.h"
#include "symbol/lines.h"
#include "tracepoint/tracepoint.h"

enum chain_mode { CHAIN_NONE, CHAIN_FLAT, CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FOLDED };
enum chain_order { CHAIN_CALLEE, CHAIN_CALLER };
enum chain_key { CHAIN_FUNCTION, CHAIN_ADDRESS, CHAIN_SRCLINE };
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

struct chain_options {
	enum chain_mode mode;
	enum chain_order order;
	enum chain_key key;
	enum chain_value value;
	double min_percent;
	uint32_t print_limit;        /* 0: none */
};

/* Why an entry is not shown: bits of cell.filtered. */
enum entry_filter {
	FILTER_DSO = 1 << 0, FILTER_THREAD = 1 << 1, FILTER_PARENT = 1 << 2, FILTER_SYMBOL = 1 << 3, FILTER_GUEST = 1 << 4,
	FILTER_HOST = 1 << 5, FILTER_SOCKET = 1 << 6,
};

/* A list of --comms, --dsos, --symbols: words of "a,b,c" or of a file. */
struct name_list;

enum profile_iteration {
	ITERATE_SAMPLES,             /* one row per sample */
	ITERATE_CALLERS,             /* and one per frame of its chain (--children) */
	ITERATE_BRANCHES,            /* one row per branch record */
	ITERATE_MEMORY,              /* as SAMPLES, weight for period */
};

struct profile_options {
	struct columns *columns;
	struct chain_options chain;
	enum profile_iteration iteration;
	bool branch_history;         /* branches are woven into chains */
	bool branch_marks;           /* … and what is known of them is shown */
	bool use_chains;             /* chains are collected (and shown) */
	bool hide_unresolved, exclude_other, hierarchy, event_group, relative, nanoseconds, skip_empty, raw_trace;
	bool symbol_first;           /* --sort sym...: chains do not repeat the symbol */
	bool force_group;            /* all events are one group where the recording has none */
	bool show_switch_events, show_reference; /* show_reference: chains also for events without */
	int group_sort_index;
	int verbose;
	unsigned max_stack;
	uint64_t time_quantum_ns;
	float min_percent;           /* rows below are not shown */
	const struct time_filter *time;
	const struct name_list *comms, *dsos, *symbols, *pids, *tids;
	const uint64_t *cpus;        /* a bit per CPU; NULL: all */
	size_t cpu_count;
	const char *symbol_filter;   /* part of a name; first event only */
	int socket_filter;           /* -1: none */
	const regex_t *parent, *ignore_callees; /* NULL: not asked */
	uint32_t switch_on, switch_off; /* events between which samples count; UINT32_MAX: none */
	const char *separator;       /* -t; NULL: none */
	bool fixed_widths;           /* -w was given */
	bool dso_list_given;
	bool full_source_path;       /* source files by whole path */
	enum inline_frames inlines;
};

/* What tells cells apart, and what was first there. */
struct cell {
	uint64_t period;
	uint64_t first;              /* clock of the first sample */
	uint32_t group, node, place; /* key: columns of the sample, stack, where the sample itself lies */
	uint8_t cpumode, filtered;   /* key, too */
	bool stale;                  /* key, too: without a chain of its own, callers are those of the sample before it */
	uint8_t level;
	uint32_t count;
	uint32_t thread;             /* of the first sample; THREAD_NONE: see tid */
	int32_t tid;
	uint32_t cpu;                /* likewise */
};

/* Sums that few reports show. */
struct cell_sums {
	uint64_t weight[3];
};

struct cells {
	struct cell *items;
	struct cell_sums *sums;      /* NULL: not asked for */
	uint32_t count, capacity;
	uint32_t *slots;
	uint32_t slot_count;
};

/* Where one end of a branch or of a memory access lies: facts behind a group's key. */
struct end_fact {
	uint32_t symbol, module;
	uint64_t address, offset;
	const struct map *map;
	uint64_t level;
};

/* The facts behind a group's key; a row ends after those that the report needs. */
struct group_facts {
	uint64_t clock;              /* of the sample they are of */
	uint32_t parent_symbol, parent_module; /* the matched caller; symbol 0: none */
	const uint8_t *raw;
	uint64_t raw_size;
	int64_t cpu;
	struct end_fact ends[2];     /* branches: from, to; memory: instruction, data */
	uint64_t data_source, branch_flags, cpumode;
};

enum { FACT_WORDS_NONE = 1, FACT_WORDS_PARENT = 2, FACT_WORDS_RAW = 5, FACT_WORDS_ALL = sizeof(struct group_facts) / 8 };

struct branch_counts {
	uint64_t types[16], new_types[16], forward, backward, cross_4k, cross_2m;
};

struct source_texts;

struct access;
struct collector;
struct hist;

struct profile {
	struct profile_options options;
	struct session *session;
	struct symbols *symbols;
	struct tracepoints *tracepoints; /* NULL: the recording has none */
	struct collector **collectors;   /* one per worker */
	unsigned collector_count;
	uint32_t group_key_words, group_fact_words, row_words;
	bool needs_sums, by_address, by_map;
	bool collapsed;                  /* rows of one source line are one: see collapse.h */
	struct source_texts *source_texts;
	const int32_t *sockets;          /* by CPU; NULL: not known */
	size_t socket_count;
	bool switched_on;
	struct sample_reads reads;
	bool logs, logs_all;             /* additions to cells are kept one by one: of a batch; from the start */
	bool wild;                       /* … since a batch had wild addresses */
	/* After profile_finish: */
	uint32_t *module_ranks;          /* by module: when perf would have made it */
	struct stacks stacks;
	struct tuples groups;
	struct cells cells;
	struct access *log;              /* additions that were kept, by clock; NULL: none */
	size_t log_count;
	uint32_t *class_of_place;        /* what tells entries of one group apart */
	uint32_t class_count;
	struct branch_counts branches;
	struct hist *hists;              /* one per event */
	size_t hist_count;
	bool has_groups;                 /* the recording itself tells of groups */
	struct arena arena;
};

int profile_open(struct profile *profile, const struct profile_options *options, struct session *session, struct symbols *symbols,
	struct error *err);
void profile_close(struct profile *profile);
struct sink profile_sink(struct profile *profile);
/* The samples of these events make sense only one after the other: the sink must be serial. A stream learns of events late. */
bool profile_needs_order(const struct profile *profile);
/* After the session ran: merges, makes entries, sorts. */
int profile_finish(struct profile *profile, struct error *err);

/* Samples whose recorded chains reach user code, and those whose user part is by frame pointers and ends after one or two frames. 0:
 * chains were not collected, or not whole. */
struct profile_depths {
	uint64_t chains, short_chains;
	uint64_t joined;             /* that the recorder completed from earlier samples; counted in any case */
};
struct profile_depths profile_chain_depths(const struct profile *profile);

static inline const struct group_facts *group_facts(const struct profile *profile, const uint64_t *group_row)
{
	return (const struct group_facts *)(group_row + profile->group_key_words);
}

/* -1: not known. */
int32_t profile_socket(const struct profile *profile, uint32_t cpu);

/* The word after the event's in a group's row starts the columns' keys. */
enum { GROUP_EVENT, GROUP_KEYS };

/* "libc.so.6", or the long name under -v. */
const char *profile_module_name(const struct profile *profile, uint32_t module);
/* Its long name: of a kernel whose names come from a vmlinux the path of that, in all sections. */
const char *profile_module_path(const struct profile *profile, const struct module *module);
const char *profile_symbol_name(const struct profile *profile, uint32_t module, uint32_t symbol);
const struct module *profile_module(const struct profile *profile, uint32_t module); /* NULL for MODULE_ID_NONE */
const struct symbol *profile_symbol(const struct profile *profile, uint32_t module, uint32_t symbol); /* NULL for 0 */
/* The source line of a frame, as its number and as text. */
uint32_t profile_place_line(const struct profile *profile, uint32_t place);
const char *profile_place_line_text(const struct profile *profile, uint32_t place);
/* What stands for a comm: the id of its string; or the thread, or the tid, that had none then. profile_finish leaves no thread. */
#define COMM_KEY_THREAD ((uint64_t)2 << 32)
#define COMM_KEY_TID ((uint64_t)1 << 32)

/* Text of a comm's key. */
const char *profile_comm(const struct profile *profile, uint64_t key, char *buffer, size_t size);
/* The thread's last name. */
const char *profile_thread_comm(const struct profile *profile, uint32_t thread, int32_t tid, char *buffer, size_t size);
