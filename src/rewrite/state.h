/* What the steps of a rewriting share, and the steps. A step is one kind of change; it gets the records one at a time, in the order in
 * which they are written. Internal to rewrite/. */
#pragma once
#include "base/vec.h"
#include "model/model.h"
#include "rewrite/guest_data.h"
#include "rewrite/new_recording.h"
#include "rewrite/rewrite.h"
#include "session/order.h"

/* What happens to a record after a step; failures are < 0. */
enum fate { FATE_WRITE, FATE_DROP };

/* A record in its turn. */
struct item {
	struct record record;
	struct sample sample;        /* or the trailer of another record */
	const struct evsel *evsel;   /* NULL: unknown event */
	bool decoded;                /* the sample is valid */
	bool substituted;            /* a step put this sample in place of another one */
};

/* Samples are decoded by the layout of item->evsel, trailers, too. */
void item_decode_sample(struct item *item);

struct module_set {
	VEC(bool) has;               /* by id */
};

/* Returns true if the set did not have it. */
static inline bool module_set_add(struct module_set *set, uint32_t module)
{
	while (set->has.count <= module)
		vec_push(&set->has, false);
	bool added = !set->has.items[module];
	set->has.items[module] = true;
	return added;
}

static inline bool module_set_has(const struct module_set *set, uint32_t module)
{
	return module < set->has.count && set->has.items[module];
}

struct step {
	bool (*wanted)(const struct rewrite_options *options);
	void *(*open)(struct rewrite *rewrite);
	/* A tool record, when it is read. */
	enum fate (*tool_record)(void *state, const struct record *record);
	/* Another record, before the model applies it. */
	int (*before)(void *state, struct rewrite *rewrite, struct item *item, struct error *err);
	/* The same, afterwards. The step may substitute the record; steps after it get the new one. */
	int (*after)(void *state, struct rewrite *rewrite, struct item *item, struct error *err);
	void (*end)(void *state, struct rewrite *rewrite); /* behind the last record; NULL: nothing to do */
	void (*close)(void *state);
};

extern const struct step step_guest, step_jit, step_sched, step_trace, step_convert, step_build_ids;
enum { STEPS = 6 };

/* Whether a recording has stacks to convert. */
int convert_step_check(const struct source *source, struct error *err);

struct rewrite {
	const struct rewrite_options *options;
	struct source *source;
	struct new_recording out;
	struct rewrite_counters counters;
	struct error stop, failure;  /* what ended the reading early; the first failure while waiting records were processed */
	struct order order;
	bool ordered;                /* records with a time wait for the end of the source */
	uint64_t waiting, delivered; /* records that waited so far, and those of them that were processed */
	uint64_t released;           /* mark of the source: data before it is no longer needed */
	bool full;                   /* memory has reached its limit: records are written unchanged */
	bool inflated;               /* records of the source were compressed, so that they are in no file */
	struct guest_data guest;
	struct model model;
	uint64_t clock;
	size_t build_ids_taken;      /* rows of the header's table that the model has */
	struct module_set hits;      /* modules that the feature BUILD_ID lists */
	const struct step *steps[STEPS]; /* those that are wanted */
	void *states[STEPS];
	size_t step_count;           /* 0: records are copied, there is no model */
};
