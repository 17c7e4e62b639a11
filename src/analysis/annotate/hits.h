/* The sink of `annotate`: samples are counted by module, offset and event, per worker, and grouped by symbol at the end. Knows no code and
 * no text. */
#pragma once
#include <stdint.h>

#include "analysis/annotate/blocks.h"
#include "analysis/filter/sample_filter.h"
#include "session/session.h"
#include "symbol/symbol.h"

struct hit_count {
	uint64_t samples, period;
};

/* The samples of one event at one offset of a module. */
struct hit {
	uint64_t offset;           /* in the module */
	uint32_t event;
	struct hit_count count;
};

/* A symbol with samples. */
struct hit_symbol {
	uint32_t module, symbol;   /* ids; symbol: as of symbols_lookup, never 0 */
	size_t first, hit_count;   /* in hits.hits, in order of offset, then of event */
	size_t totals;             /* in hits.totals: one for each event */
};

/* The result; its symbols are in no order. */
struct hits {
	VEC(struct hit) hits;
	VEC(struct hit_symbol) symbols;
	VEC(struct hit_count) totals;
	struct hit_count *events;  /* by event: of all samples that passed the filter, also of those without a symbol */
	size_t event_count;
	uint64_t unresolved;       /* samples without a symbol … */
	VEC(uint64_t) unresolved_in; /* … by module */
	uint64_t *unresolved_places; /* by event: the number of offsets of modules with such samples */
	struct blocks blocks;      /* of recorded branches */
	struct idmap by_symbol;    /* module << 32 | symbol → index in `symbols` */
};

struct hit_options {
	struct sample_filter filter;  /* dsos and cpus; of hit_sink_add, also times, processes, threads and commands; borrowed */
	const char *name;             /* only hits of symbols of this name are stored; NULL: all */
	bool whole;                   /* hit_sink_of: a sink that others can share: of whole samples, not of their addresses alone */
	bool branches;                /* count both ends of each recorded branch, not the sample's own address (perf annotate --stdio2) */
};

struct hit_sink;

struct hit_sink *hit_sink_new(const struct hit_options *options, unsigned workers);
void hit_sink_free(struct hit_sink *sink); /* NULL is allowed */
struct sink hit_sink_of(struct hit_sink *sink, const struct session *session);
/* Whether samples must be counted one after the other: some may carry the values of several counters, or the events are not known yet. */
bool hit_sink_needs_order(const struct session *session);
/* For a sink that counts places beside its own work: call it from its callback for each sample. It does not use location_note. */
void hit_sink_add(struct hit_sink *sink, const struct resolved *r);
/* Merges the workers after session_run; the sink is empty afterwards. Looks up each offset once. */
void hit_sink_finish(struct hit_sink *sink, struct session *session, struct symbols *symbols, struct hits *hits);

/* The same for what is counted so far, between two batches, without blocks; the sink goes on. */
void hit_sink_preview(struct hit_sink *sink, struct session *session, struct symbols *symbols, struct hits *hits);

/* Passes what the workers have counted, and joins the blocks to `blocks`; the sink is empty afterwards. Needs no symbols. */
void hit_sink_drain(struct hit_sink *sink, void (*deliver)(void *context, uint32_t module, const struct hit *hit), void *context,
	struct blocks *blocks);

void hits_fini(struct hits *hits); /* accepts a zeroed one */
/* NULL: the symbol has no samples. */
const struct hit_symbol *hits_find(const struct hits *hits, uint32_t module, uint32_t symbol);
static inline const struct hit_count *hits_totals(const struct hits *hits, const struct hit_symbol *symbol)
{
	return hits->totals.items + symbol->totals;
}
