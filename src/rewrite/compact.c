#include "rewrite/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/memory.h"
#include "data/jitdump.h"
#include "model/model.h"
#include "rewrite/needs.h"
#include "session/order.h"
#include "session/recorded_build_ids.h"

enum {
	SEEN_SLOTS = 1 << 16, RELEASE_EVERY = 1 << 14, MEMORY_EVERY = 1 << 13,
	GROWTH_BYTES = 1 << 22,      /* by which the model may grow, beside its own size, before a new generation */
	RECENT = 1 << 16,            /* records after its exit during which a thread is remembered */
	TIDS = 1 << 22,              /* the kernel's limit; threads with other ids are not forgotten */
};

struct compaction {
	struct source *source;
	struct compact_plan *plan;
	struct model model;
	struct needs needs;
	struct order order;
	uint64_t clock, delivered;
	struct budget *budget;
	bool full;                   /* memory has reached its limit: no plan is made */
	bool traced;                 /* the same, as there is a hardware trace */
	bool forgets;                /* threads that have ended are forgotten */
	bool missed;                 /* a record names a thread that was forgotten: no plan is made */
	size_t build_ids_taken;
	size_t renewed_growth, exits; /* of the model when its generation began; exits in this generation */
	uint64_t *seen;              /* a cache: hashes of (address space, address) that were marked */
	uint64_t *forgotten;         /* by thread id: a bit */
};

static void mark_map(void *context, const struct map *map)
{
	struct compaction *c = context;
	needs_mapping(&c->needs, map);
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

/* Only until another thread has its id. */
static bool is_forgotten(const struct compaction *c, int32_t tid)
{
	return tid >= 0 && tid < TIDS && c->forgotten[tid / 64] >> tid % 64 & 1 && model_thread(&c->model, tid, c->clock) == THREAD_NONE;
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
	c->missed |= is_forgotten(c, (int32_t)sample.tid) || is_forgotten(c, (int32_t)sample.pid);
	if (thread != THREAD_NONE)
		needs_thread(&c->needs, thread);
	if (leader != THREAD_NONE)
		needs_thread(&c->needs, leader);
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

/* The threads that a record of a task or a mapping names; -1: none. */
struct named {
	int32_t pid, tid, ppid, ptid;
};

static bool named_take(struct named *named, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	*named = (struct named){ -1, -1, -1, -1 };
	switch (record->type) {
	case RECORD_FORK:
		named->pid = (int32_t)take_u32(&c);
		named->ppid = (int32_t)take_u32(&c);
		named->tid = (int32_t)take_u32(&c);
		named->ptid = (int32_t)take_u32(&c);
		break;
	case RECORD_EXIT:
		take(&c, 8);
		named->tid = (int32_t)take_u32(&c);
		break;
	case RECORD_MMAP:
	case RECORD_MMAP2:
		if (record_cpumode(record) != RECORD_MISC_USER)
			return false;
		/* fall through */
	case RECORD_COMM:
	case RECORD_NAMESPACES:
		named->pid = (int32_t)take_u32(&c);
		named->tid = (int32_t)take_u32(&c);
		break;
	default:
		return false;
	}
	return !c.short_read;
}

static bool names_forgotten(const struct compaction *c, const struct record *record, const struct named *named)
{
	if (is_forgotten(c, named->ppid) || is_forgotten(c, named->ptid))
		return true;
	if (record->type != RECORD_FORK) /* a fork's own thread is a new one */
		return is_forgotten(c, named->tid) || is_forgotten(c, named->pid);
	return named->pid != named->tid && is_forgotten(c, named->pid);
}

/* What the model had before a record. */
struct before {
	uint32_t threads, serials, modules;
};

static void note_record(struct compaction *c, const struct record *record, uint64_t number, const struct named *named,
	const struct before *before)
{
	const struct model *model = &c->model;
	struct needs *needs = &c->needs;
	bool maps = record->type == RECORD_MMAP || record->type == RECORD_MMAP2;
	uint32_t thread = maps ? THREAD_NONE : model_thread(model, named->tid, c->clock);
	if (maps && jitdump_is_mapped(record)) /* readers place its functions in the process */
		thread = model_thread(model, named->pid, c->clock);
	needs_drop(needs, number);
	for (uint32_t i = before->threads; i < model->threads.count; i++)
		needs_made_thread(needs, number, i);
	if (thread != THREAD_NONE && thread < before->threads)
		needs_made_thread(needs, number, thread);
	for (uint32_t serial = before->serials + 1; serial <= model->mappings; serial++)
		needs_made_mapping(needs, number, serial);
	if (model->modules.list.count > before->modules)
		needs_made_module(needs, number, before->modules);
}

/* Threads that ended recently may still be sampled, and those of a process have its mappings. */
static void hold(const struct compaction *c, bool *held)
{
	const struct model *model = &c->model;
	for (size_t i = 0; i < model->threads.count; i++) {
		const struct thread *thread = model->threads.items[i];
		if (thread->died != UINT64_MAX)
			continue;
		bool lives = !thread->exited || c->clock - thread->exited < RECENT || thread->tid < 0 || thread->tid >= TIDS;
		held[i] |= lives;
		uint32_t leader = thread->pid != thread->tid ? model_thread(model, thread->pid, c->clock) : THREAD_NONE;
		if (lives && leader != THREAD_NONE)
			held[leader] = true;
	}
}

/* What no sample can ask for any more is forgotten. */
static void renew(struct compaction *c)
{
	struct model *model = &c->model, old;
	size_t count = model->threads.count;
	bool *held = memory_zero(count + 1, sizeof *held);
	uint32_t *threads = memory_zero(count + 1, sizeof *threads);
	hold(c, held);
	model_renew_held(model, &(struct model_renewal){ .clock = c->clock, .held = held, .threads = threads, .previous = &old });
	for (size_t i = 0; i < count; i++) {
		int32_t tid = old.threads.items[i]->tid;
		if (threads[i] == THREAD_NONE && tid >= 0 && tid < TIDS)
			c->forgotten[tid / 64] |= (uint64_t)1 << tid % 64;
	}
	needs_renew(&c->needs, model, threads, c->clock);
	model_fini_history(&old);
	free(held);
	free(threads);
	memset(c->seen, 0, SEEN_SLOTS * sizeof *c->seen); /* the addresses of freed roots may be used again */
	c->renewed_growth = model_growth(model);
	c->exits = 0;
}

/* A new generation is made beside the old one: of a model that lives it would only take memory. */
static void renew_if_past(struct compaction *c)
{
	const struct model *model = &c->model;
	if (!c->forgets || model_growth(model) < 2 * c->renewed_growth + GROWTH_BYTES)
		return;
	if (c->exits + model->ended >= model->threads.count / 4 || model->superseded >= model->arena.bytes / 2)
		renew(c);
}

static void take_record(struct compaction *c, const struct record *record, uint64_t number)
{
	const struct evlist *evlist = &c->source->header.evlist;
	static const struct sample_layout none = { .time_at = -1, .id_at = -1 };
	struct model *model = &c->model;
	struct sample trailer;
	struct named named;
	c->clock++;
	if (c->budget && c->clock % MEMORY_EVERY == 0)
		c->full |= memory_in_use() > budget_limit(c->budget);
	if (c->full || c->missed)
		return;
	recorded_build_ids_take(model, &c->source->header, &c->build_ids_taken);
	model_combine(model, record->type != RECORD_SAMPLE); /* nothing is looked up as of the records between two samples */
	if (record->type == RECORD_SAMPLE) {
		mark_sample(c, record);
		return;
	}
	renew_if_past(c);
	struct before before = { (uint32_t)model->threads.count, model->mappings, (uint32_t)model->modules.list.count };
	uint32_t event = evlist_event_of(evlist, record);
	sample_decode_trailer(&trailer, event == UINT32_MAX ? &none : &evlist->events.items[event].layout, record);
	bool may_drop = named_take(&named, record);
	uint64_t bad = model->bad_records;
	c->missed |= may_drop && names_forgotten(c, record, &named);
	model_apply(model, record, &trailer, c->clock);
	needs_add_threads(&c->needs, model, may_drop ? named.ptid : -1, c->clock);
	c->exits += record->type == RECORD_EXIT;
	if (may_drop && model->bad_records == bad)
		note_record(c, record, number, &named, &before);
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

/* Old recorders gave times only to samples: then the order in the file is that of delivery. */
static bool is_ordered(const struct source *source)
{
	const struct evlist *evlist = &source->header.evlist;
	return source->header.pipe || !evlist->events.count || attr_flag(&evlist->events.items[0].attr, ATTR_SAMPLE_ID_ALL);
}

static bool is_timed(const struct source *source)
{
	const struct evlist *evlist = &source->header.evlist;
	return is_ordered(source) && evlist->events.count && evlist->events.items[0].layout.time_at >= 0;
}

static void read_all(struct compaction *c)
{
	struct compact_plan *plan = c->plan;
	struct record record;
	bool ordered = is_ordered(c->source);
	for (; !c->full && !c->missed && !c->traced; plan->records++) {
		uint64_t mark = source_mark(c->source), time;
		if (source_next(c->source, &record, NULL) <= 0)
			break;
		bool own = record.type >= RECORD_USER_TYPE_START;
		time = own || !ordered ? 0 : evlist_time_of(&c->source->header.evlist, &record);
		if (time && time != UINT64_MAX)
			order_add(&c->order, &(struct entry){ .time = time, .offset = plan->records, .body = record.body }, mark);
		else if (!own)
			take_record(c, &record, plan->records);
		c->traced |= record.type == RECORD_AUXTRACE || record.type == RECORD_AUXTRACE_INFO;
		if (record.type == RECORD_FINISHED_ROUND)
			order_flush(&c->order, false, deliver, c);
	}
	order_flush(&c->order, true, deliver, c);
}

static int read_plan(struct compaction *c, struct error *err)
{
	model_init(&c->model);
	c->model.keep_exited = true; /* samples after an exit belong to the thread */
	/* the budget is not the model's: no sample takes memory beside the history of mappings */
	c->seen = memory_zero(SEEN_SLOTS, sizeof *c->seen);
	c->forgotten = memory_zero(TIDS / 64, sizeof *c->forgotten);
	needs_init(&c->needs, c->plan);
	needs_add_threads(&c->needs, &c->model, -1, 0);
	read_all(c);
	order_fini(&c->order);
	needs_fini(&c->needs);
	model_fini(&c->model);
	free(c->seen);
	free(c->forgotten);
	if (c->traced)
		return error_set(err, ERROR_UNSUPPORTED, "a hardware trace may need any mapping: --itrace replaces it by its samples");
	if (c->full)
		return error_set(err, ERROR_UNSUPPORTED, "what is known of threads and mappings exceeds the limit of memory, %zu MiB: the recording "
			"cannot be compacted. 'perfuse --memory SIZE inject' sets another limit.", budget_limit(c->budget) >> 20);
	return c->missed;
}

int compact_plan_make(struct compact_plan *plan, struct source *source, const struct compact_options *options, struct error *err)
{
	*plan = (struct compact_plan){ 0 };
	if (source->header.swapped)
		return error_set(err, ERROR_UNSUPPORTED, "recordings of the other byte order are not supported yet");
	struct compaction c = {
		.source = source, .plan = plan, .budget = options->budget, .forgets = !options->remembers && is_timed(source),
		.traced = header_has(&source->header, FEATURE_AUXTRACE),
	};
	return read_plan(&c, err);
}

void compact_plan_fini(struct compact_plan *plan)
{
	vec_fini(&plan->dropped);
}
