#include "rewrite/compact.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/memory.h"
#include "model/model.h"
#include "session/order.h"
#include "session/recorded_build_ids.h"

enum { SEEN_SLOTS = 1 << 16, RELEASE_EVERY = 1 << 14, MEMORY_EVERY = 1 << 13 };

/* A record that may be dropped. */
struct candidate {
	uint64_t record;             /* its number in the source */
	uint32_t thread;             /* the thread that it names; THREAD_NONE: it is only a mapping */
	uint32_t first, end;         /* the threads that it made */
	uint32_t first_serial, end_serial; /* the mappings that it made */
	uint32_t module;             /* the module that it made; MODULE_ID_NONE */
};

/* The threads that a thread depends on. */
struct origins {
	uint32_t leader, parent;     /* THREAD_NONE: none */
};

struct compaction {
	struct source *source;
	struct model model;
	struct order order;
	uint64_t clock, delivered;
	struct budget *budget;
	bool full;                   /* memory has reached its limit: no plan is made */
	size_t build_ids_taken;
	VEC(struct candidate) candidates;
	VEC(struct origins) origins; /* by thread */
	VEC(bool) threads;           /* by thread: it is needed */
	VEC(bool) maps;              /* by serial: a sample lies in it */
	VEC(bool) modules;           /* by module: the same */
	uint64_t *seen;              /* a cache: hashes of (address space, address) that were marked */
};

#define MARK(set, index)                                                                                                                  \
	do {                                                                                                                              \
		while ((set)->count <= (index))                                                                                           \
			vec_push(set, false);                                                                                             \
		(set)->items[index] = true;                                                                                               \
	} while (0)
#define HAS(set, index) ((index) < (set)->count && (set)->items[index])

static void mark_map(void *context, const struct map *map)
{
	struct compaction *c = context;
	MARK(&c->maps, map->serial);
	MARK(&c->modules, map->module);
}

static void mark_address(struct compaction *c, const struct map_node *root, uint64_t address)
{
	uint64_t hash = hash_pair((uint64_t)(uintptr_t)root, address) | 1;
	uint64_t *slot = &c->seen[hash >> 1 & (SEEN_SLOTS - 1)];
	if (*slot == hash)
		return;
	*slot = hash;
	const struct map *map = map_find(root, address);
	if (map)
		mark_map(c, map);
}

/* Unwinding may ask for any address. */
static void mark_space(struct compaction *c, const struct map_node *root)
{
	uint64_t hash = hash_pair((uint64_t)(uintptr_t)root, 0) | 1;
	uint64_t *slot = &c->seen[hash >> 1 & (SEEN_SLOTS - 1)];
	if (*slot == hash)
		return;
	*slot = hash;
	map_each(root, mark_map, c);
}

static void mark_sample(struct compaction *c, const struct record *record)
{
	const struct evlist *evlist = &c->source->header.evlist;
	uint32_t event = evlist_event_of(evlist, record);
	struct sample sample;
	if (event == UINT32_MAX || sample_decode(&sample, &evlist->events.items[event].layout, record, NULL) < 0)
		return;
	uint32_t thread = model_thread(&c->model, (int32_t)sample.tid, c->clock);
	uint32_t leader = model_thread(&c->model, (int32_t)sample.pid, c->clock);
	const struct map_node *root = model_root(&c->model, (int32_t)sample.pid, thread, c->clock);
	if (thread != THREAD_NONE)
		MARK(&c->threads, thread);
	if (leader != THREAD_NONE)
		MARK(&c->threads, leader);
	if (!root)
		return;
	if (sample.stack_user_size || attr_flag(&evlist->events.items[event].attr, ATTR_DEFER_CALLCHAIN)) {
		mark_space(c, root);
		return;
	}
	mark_address(c, root, sample.ip);
	if (sample.present & SAMPLE_ADDR)
		mark_address(c, root, sample.addr);
	for (uint64_t i = 0; i < sample.callchain_count; i++)
		mark_address(c, root, sample_chain_at(&sample, i));
	for (uint64_t i = 0; i < sample.branch_count; i++) {
		mark_address(c, root, sample_branch(&sample, i).from);
		mark_address(c, root, sample_branch(&sample, i).to);
	}
}

/* The threads that a record of a task or a mapping names. */
static bool names_threads(const struct record *record, int32_t *tid, int32_t *ptid)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	*ptid = -1;
	switch (record->type) {
	case RECORD_FORK:
	case RECORD_EXIT:
		take(&c, 8);
		*tid = (int32_t)take_u32(&c);
		if (record->type == RECORD_FORK)
			*ptid = (int32_t)take_u32(&c);
		break;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		if (record_cpumode(record) != RECORD_MISC_USER)
			return false;
		/* fall through */
	case RECORD_COMM:
	case RECORD_NAMESPACES:
		take(&c, 4);
		*tid = (int32_t)take_u32(&c);
		break;
	default:
		return false;
	}
	return !c.short_read;
}

static void note_origins(struct compaction *c, uint32_t first, int32_t ptid)
{
	const struct model *model = &c->model;
	for (uint32_t i = first; i < model->threads.count; i++) {
		const struct thread *thread = model->threads.items[i];
		struct origins origins = { model_thread(model, thread->pid, c->clock), model_thread(model, ptid, c->clock) };
		if (ptid == -1 || origins.parent == i)
			origins.parent = THREAD_NONE;
		vec_push(&c->origins, origins);
	}
}

static void take_record(struct compaction *c, const struct record *record, uint64_t number)
{
	const struct evlist *evlist = &c->source->header.evlist;
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	struct model *model = &c->model;
	struct sample trailer;
	int32_t tid, ptid;
	c->clock++;
	if (c->budget && c->clock % MEMORY_EVERY == 0)
		c->full |= memory_in_use() > budget_limit(c->budget);
	if (c->full)
		return;
	recorded_build_ids_take(model, &c->source->header, &c->build_ids_taken);
	model_combine(model, record->type != RECORD_SAMPLE); /* nothing is looked up as of the records between two samples */
	if (record->type == RECORD_SAMPLE) {
		mark_sample(c, record);
		return;
	}
	struct candidate candidate = { .record = number, .first = (uint32_t)model->threads.count, .first_serial = model->mappings + 1 };
	uint32_t modules = (uint32_t)model->modules.list.count, event = evlist_event_of(evlist, record);
	sample_decode_trailer(&trailer, event == UINT32_MAX ? &none : &evlist->events.items[event].layout, record);
	bool may_drop = names_threads(record, &tid, &ptid);
	uint64_t bad = model->bad_records;
	model_apply(model, record, &trailer, c->clock);
	note_origins(c, candidate.first, record->type == RECORD_FORK && may_drop ? ptid : -1);
	if (!may_drop || model->bad_records != bad)
		return;
	candidate.end = (uint32_t)model->threads.count;
	candidate.end_serial = model->mappings + 1;
	candidate.module = model->modules.list.count > modules ? modules : MODULE_ID_NONE;
	bool maps = record->type == RECORD_MMAP || record->type == RECORD_MMAP2;
	candidate.thread = maps ? THREAD_NONE : model_thread(model, tid, c->clock);
	vec_push(&c->candidates, candidate);
}

static void deliver(void *context, const struct entry *entry)
{
	struct compaction *c = context;
	struct record record = entry_record(entry);
	take_record(c, &record, entry->offset);
	c->source->used += entry_size(entry);
	if (++c->delivered % RELEASE_EVERY == 0) {
		uint64_t mark = order_mark(&c->order), end = source_mark(c->source);
		source_release(c->source, mark < end ? mark : end);
	}
}

/* A thread that is needed needs its leader, whose mappings it has, and its parent, whose name and mappings it got. */
static void mark_origins(struct compaction *c)
{
	VEC(uint32_t) due = { 0 };
	for (uint32_t i = 0; i < c->threads.count; i++)
		if (c->threads.items[i])
			vec_push(&due, i);
	while (due.count) {
		struct origins origins = c->origins.items[due.items[--due.count]];
		uint32_t both[2] = { origins.leader, origins.parent };
		for (int i = 0; i < 2; i++) {
			if (both[i] == THREAD_NONE || HAS(&c->threads, both[i]))
				continue;
			MARK(&c->threads, both[i]);
			vec_push(&due, both[i]);
		}
	}
	vec_fini(&due);
}

static bool is_needed(const struct compaction *c, const struct candidate *candidate)
{
	if (candidate->thread != THREAD_NONE && HAS(&c->threads, candidate->thread))
		return true;
	if (candidate->module != MODULE_ID_NONE && HAS(&c->modules, candidate->module))
		return true;
	for (uint32_t i = candidate->first; i < candidate->end; i++)
		if (HAS(&c->threads, i))
			return true;
	for (uint32_t i = candidate->first_serial; i < candidate->end_serial; i++)
		if (HAS(&c->maps, i))
			return true;
	return false;
}

static void drop_rest(struct compaction *c, struct compact_plan *plan)
{
	mark_origins(c);
	for (uint64_t i = 0; i < (plan->records + 63) / 64; i++)
		vec_push(&plan->dropped, 0);
	for (size_t i = 0; i < c->candidates.count; i++) {
		const struct candidate *candidate = &c->candidates.items[i];
		if (is_needed(c, candidate))
			continue;
		plan->dropped.items[candidate->record / 64] |= (uint64_t)1 << candidate->record % 64;
		plan->drops++;
	}
}

/* Old recorders gave times only to samples: then the order in the file is that of delivery. */
static bool is_ordered(const struct source *source)
{
	const struct evlist *evlist = &source->header.evlist;
	return source->header.pipe || !evlist->events.count || attr_flag(&evlist->events.items[0].attr, ATTR_SAMPLE_ID_ALL);
}

static void read_all(struct compaction *c, struct compact_plan *plan)
{
	struct record record;
	bool ordered = is_ordered(c->source);
	for (; !c->full; plan->records++) {
		uint64_t mark = source_mark(c->source), time;
		if (source_next(c->source, &record, NULL) <= 0)
			break;
		bool own = record.type >= RECORD_USER_TYPE_START;
		time = own || !ordered ? 0 : evlist_time_of(&c->source->header.evlist, &record);
		if (time && time != UINT64_MAX)
			order_add(&c->order, &(struct entry){ .time = time, .offset = plan->records, .body = record.body }, mark);
		else if (!own)
			take_record(c, &record, plan->records);
		if (record.type == RECORD_FINISHED_ROUND)
			order_flush(&c->order, false, deliver, c);
	}
	order_flush(&c->order, true, deliver, c);
}

int compact_plan_make(struct compact_plan *plan, struct source *source, struct budget *budget, struct error *err)
{
	*plan = (struct compact_plan){ 0 };
	if (header_has(&source->header, FEATURE_AUXTRACE))
		return error_set(err, ERROR_UNSUPPORTED, "a hardware trace may need any mapping: --itrace replaces it by its samples");
	if (source->header.swapped)
		return error_set(err, ERROR_UNSUPPORTED, "recordings of the other byte order are not supported yet");
	struct compaction c = { .source = source, .seen = memory_zero(SEEN_SLOTS, sizeof *c.seen) };
	model_init(&c.model);
	c.model.keep_exited = true; /* samples after an exit belong to the thread */
	c.budget = budget; /* not the model's: no sample takes memory beside the history of mappings */
	note_origins(&c, 0, -1);
	read_all(&c, plan);
	bool complete = !c.full;
	if (complete)
		drop_rest(&c, plan);
	order_fini(&c.order);
	model_fini(&c.model);
	vec_fini(&c.candidates);
	vec_fini(&c.origins);
	vec_fini(&c.threads);
	vec_fini(&c.maps);
	vec_fini(&c.modules);
	free(c.seen);
	return complete ? 0 : error_set(err, ERROR_UNSUPPORTED, "what is known of threads and mappings exceeds the limit of memory, %zu MiB: the "
		"recording cannot be compacted. 'perfuse --memory SIZE inject' sets another limit.", budget_limit(budget) >> 20);
}

void compact_plan_fini(struct compact_plan *plan)
{
	vec_fini(&plan->dropped);
}
