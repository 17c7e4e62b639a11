#include "analysis/lock/lock_sink.h"

#include <stdlib.h>
#include <string.h>

enum lock_event { ACQUIRE, ACQUIRED, CONTENDED, RELEASE, BEGIN, END, EVENTS, OTHER = -1, UNKNOWN = -2 };
enum state { NEW, ACQUIRING, HELD, READ_HELD, WAITING };
enum { READ_LOCK = 2 };

/* One event of a lock. */
struct event {
	const struct resolved *r;
	uint64_t lock, flags, time_ns;
	const char *name; /* of lockdep's events; NULL */
	int32_t tid;
};

void lock_sink_init(struct lock_sink *sink, const struct lock_sink_options *options)
{
	*sink = (struct lock_sink){ .options = *options };
}

void lock_sink_fini(struct lock_sink *sink)
{
	lock_stats_fini(&sink->stats);
	vec_fini(&sink->kinds);
	vec_fini(&sink->uses);
	idmap_fini(&sink->first_use);
	vec_fini(&sink->threads);
	vec_fini(&sink->unknown.list);
	idmap_fini(&sink->by_tid);
}

static int kind_of(struct lock_sink *sink, const struct resolved *r)
{
	static const char *const names[EVENTS] = { "lock_acquire", "lock_acquired", "lock_contended", "lock_release", "contention_begin",
		"contention_end" };
	const char *system, *name;
	if (!r->evsel || r->event == UINT32_MAX)
		return OTHER;
	while (sink->kinds.count <= r->event)
		vec_push(&sink->kinds, UNKNOWN);
	int8_t *kind = &sink->kinds.items[r->event];
	if (*kind != UNKNOWN)
		return *kind;
	*kind = OTHER;
	if (r->evsel->attr.type == ATTR_TRACEPOINT && tracepoints_name(*sink->options.tracepoints, r->evsel->attr.config, &system, &name) &&
	    strcmp(system, "lock") == 0)
		for (int i = sink->options.contention_only ? BEGIN : 0; i < EVENTS; i++)
			if (strcmp(name, names[i]) == 0)
				*kind = (int8_t)i;
	return *kind;
}

static uint64_t number(const struct lock_sink *sink, const struct resolved *r, const char *name)
{
	uint64_t value = 0;
	const struct tracepoint_field *field = tracepoints_field(*sink->options.tracepoints, r->evsel->attr.config, name);
	if (field)
		tracepoint_field_number(field, r->sample->raw, r->sample->raw_size, &value);
	return value;
}

static struct lock_use *use_of(struct lock_sink *sink, int32_t tid, uint64_t lock)
{
	bool added;
	uint64_t key = hash_pair((uint32_t)tid, lock);
	uint32_t first = idmap_add(&sink->first_use, key, (uint32_t)sink->uses.count, &added), last = first;
	for (uint32_t i = added ? 0 : first + 1; i; i = sink->uses.items[i - 1].next) {
		last = i - 1;
		if (sink->uses.items[last].tid == tid && sink->uses.items[last].lock == lock)
			return &sink->uses.items[last];
	}
	if (!added)
		sink->uses.items[last].next = (uint32_t)sink->uses.count + 1;
	vec_push(&sink->uses, ((struct lock_use){ .lock = lock, .tid = tid }));
	return &sink->uses.items[sink->uses.count - 1];
}

static void note_thread(struct lock_sink *sink, const struct event *e)
{
	bool added;
	uint32_t index = idmap_add(&sink->by_tid, (uint32_t)e->tid, (uint32_t)sink->threads.count, &added);
	if (added)
		vec_push(&sink->threads, ((struct lock_thread){ .tid = e->tid }));
	if (e->r->comm != COMM_NONE)
		sink->threads.items[index].comm = strtab_text(&e->r->session->model.strings, e->r->comm);
}

const struct lock_thread *lock_sink_thread(const struct lock_sink *sink, int32_t tid)
{
	uint32_t index = idmap_get(&sink->by_tid, (uint32_t)tid);
	return index == IDMAP_NONE ? NULL : &sink->threads.items[index];
}

/* The event contradicts the state: the state is forgotten. */
static void mark_broken(struct lock_sink *sink, struct lock_stat *stat, struct lock_use *use, enum lock_broken by)
{
	sink->broken[by] += !stat->broken;
	stat->broken = true;
	use->state = NEW;
}

static void on_acquire(struct lock_sink *sink, struct lock_stat *stat, struct lock_use *use, const struct event *e)
{
	if (use->state == NEW && !(uint32_t)e->flags) {
		use->state = ACQUIRING;
	} else if (use->state == NEW) {
		use->state = READ_HELD;
		use->readers = 1;
		stat->acquired++;
	} else if (use->state == READ_HELD && e->flags & READ_LOCK) {
		use->readers++;
		stat->acquired++;
		return;
	} else {
		mark_broken(sink, stat, use, LOCK_BROKEN_ACQUIRE);
		return;
	}
	use->since_ns = e->time_ns;
}

/* A clock that jumps back gives a wait of no length. */
static uint64_t waited_ns(const struct lock_use *use, const struct event *e)
{
	return e->time_ns > use->since_ns ? e->time_ns - use->since_ns : 0;
}

static void on_acquired(struct lock_sink *sink, struct lock_stat *stat, struct lock_use *use, const struct event *e)
{
	if (use->state == NEW)
		return;
	if (use->state != ACQUIRING && use->state != WAITING) {
		mark_broken(sink, stat, use, LOCK_BROKEN_ACQUIRED);
		return;
	}
	if (use->state == WAITING)
		lock_stat_wait(stat, waited_ns(use, e));
	use->state = HELD;
	stat->acquired++;
	stat->average_ns = stat->contended ? stat->total_ns / stat->contended : 0;
	use->since_ns = e->time_ns;
}

static void on_contended(struct lock_sink *sink, struct lock_stat *stat, struct lock_use *use, const struct event *e)
{
	if (use->state == NEW)
		return;
	if (use->state != ACQUIRING) {
		mark_broken(sink, stat, use, LOCK_BROKEN_CONTENDED);
		return;
	}
	use->state = WAITING;
	stat->contended++;
	stat->average_ns = stat->total_ns / stat->contended;
	use->since_ns = e->time_ns;
}

static void on_release(struct lock_sink *sink, struct lock_stat *stat, struct lock_use *use)
{
	if (use->state == NEW || (use->state == READ_HELD && --use->readers))
		return;
	if (use->state == HELD || use->state == READ_HELD)
		use->state = NEW;
	else
		mark_broken(sink, stat, use, LOCK_BROKEN_RELEASE);
}

/* An event of lockdep. */
static void on_lockdep(struct lock_sink *sink, const struct event *e, int kind)
{
	uint64_t key = sink->options.group == LOCK_GROUP_TASK ? (uint32_t)e->tid : e->lock;
	struct lock_stat *stat = lock_stats_add(&sink->stats, key, e->name ? e->name : "", 0);
	struct lock_use *use = use_of(sink, e->tid, e->lock);
	switch (kind) {
	case ACQUIRE:
		on_acquire(sink, stat, use, e);
		break;
	case ACQUIRED:
		on_acquired(sink, stat, use, e);
		break;
	case CONTENDED:
		on_contended(sink, stat, use, e);
		break;
	default:
		on_release(sink, stat, use);
	}
}

static struct lock_frame frame_at(const struct lock_sink *sink, const struct resolved *r, const struct location *location)
{
	const struct module *module = location->map ? modules_get(&r->session->model.modules, location->module) : NULL;
	return lock_frame_of(sink->options.symbols, module, location->offset, location->address);
}

static struct lock_frame kernel_frame(const struct lock_sink *sink, const struct resolved *r, uint64_t address)
{
	return frame_at(sink, r, resolved_locate(r, RECORD_MISC_KERNEL, address));
}

static void find_text(struct lock_sink *sink, const struct resolved *r)
{
	const struct modules *modules = &r->session->model.modules;
	if (sink->text_found)
		return;
	sink->text_found = true;
	for (size_t i = 0; i < modules->list.count && !sink->kernel; i++)
		if (modules->list.items[i] && modules->list.items[i]->kind == MODULE_KERNEL && !modules->list.items[i]->guest)
			sink->kernel = modules->list.items[i];
	lock_text_find(&sink->text, sink->options.symbols, sink->kernel);
	const struct lock_words *wanted = sink->options.symbols_wanted;
	for (size_t i = 0; wanted && i < wanted->list.count; i++) {
		uint64_t start, end;
		if (sink->kernel && symbols_named(sink->options.symbols, sink->kernel, wanted->list.items[i], &start, &end))
			vec_push(&sink->options.addresses->list, start);
		else
			vec_push(&sink->unknown.list, wanted->list.items[i]);
	}
}

/* Empty if it is damaged, as in perf: no frame is reliable. */
static struct chain chain_of(const struct lock_sink *sink, const struct resolved *r)
{
	struct chain chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, sink->options.max_stack);
	if (chain.damaged)
		chain.count = 0;
	return chain;
}

/* Which sum a call chain belongs to: the frames outside the functions of locks. The kernel's hash_long at full width, as the order of
 * perf's rows depends on it. */
static uint64_t chain_key(const struct lock_sink *sink, const struct resolved *r)
{
	struct chain chain = chain_of(sink, r);
	uint64_t key = 0;
	for (size_t i = sink->options.stack_skip; i < chain.count; i++) {
		uint64_t address = chain.frames[i]->address;
		if (!(lock_text_holds(&sink->text, address) && frame_at(sink, r, chain.frames[i]).symbol))
			key ^= address * 0x61c8864680b583ebu;
	}
	return key;
}

static void chain_name(const struct lock_sink *sink, const struct resolved *r, char *text, size_t size)
{
	struct chain chain = chain_of(sink, r);
	for (size_t i = sink->options.stack_skip; i < chain.count; i++) {
		struct lock_frame frame = frame_at(sink, r, chain.frames[i]);
		if (frame.symbol && !lock_text_holds(&sink->text, chain.frames[i]->address)) {
			lock_frame_text(&frame, text, size);
			return;
		}
	}
	text_copy(text, size, "Unknown", sizeof "Unknown");
}

static uint64_t contention_key(const struct lock_sink *sink, const struct event *e)
{
	if (sink->options.group == LOCK_GROUP_CALLER)
		return chain_key(sink, e->r);
	return sink->options.group == LOCK_GROUP_TASK ? (uint32_t)e->tid : e->lock;
}

static struct lock_stat *begin_stat(struct lock_sink *sink, const struct event *e, uint64_t key)
{
	enum { NAME_MAX_BYTES = 128 };
	char text[NAME_MAX_BYTES] = "";
	struct lock_stat *stat = lock_stats_find(&sink->stats, key);
	if (stat)
		return stat;
	if (sink->options.group == LOCK_GROUP_CALLER)
		chain_name(sink, e->r, text, sizeof text);
	const char *name = sink->options.group == LOCK_GROUP_ADDRESS ? kernel_frame(sink, e->r, key).symbol : text;
	return lock_stats_add(&sink->stats, key, name ? name : "", (uint32_t)e->flags);
}

/* Whether the recorded call chain passes the filter of callers; the first one is stored with the sum. */
static bool take_callers(struct lock_sink *sink, const struct event *e, struct lock_stat *stat)
{
	const struct sample *sample = e->r->sample;
	const struct lock_words *words = sink->options.callers;
	VEC(struct lock_frame) frames = { 0 };
	bool found = false;
	for (uint64_t i = 0; i < sample->callchain_count && frames.count < sink->options.max_stack; i++) {
		uint64_t address = sample_chain_at(sample, i);
		if (address >= (uint64_t)-4095)
			continue;
		struct lock_frame frame = kernel_frame(sink, e->r, address);
		for (size_t k = 0; frame.symbol && k < words->list.count; k++)
			found |= strstr(frame.symbol, words->list.items[k]) != NULL;
		vec_push(&frames, frame);
	}
	if (found && !stat->frames) {
		stat->frames = arena_copy(&sink->stats.arena, frames.items, frames.count * sizeof *frames.items);
		stat->frame_count = (uint32_t)frames.count;
	}
	vec_fini(&frames);
	return found;
}

static bool passes(const struct lock_sink_options *o, const struct event *e)
{
	bool type = !o->type_count, address = !o->addresses || !o->addresses->list.count;
	for (size_t i = 0; i < o->type_count; i++)
		type |= o->types[i] == (uint32_t)e->flags;
	for (size_t i = 0; !address && i < o->addresses->list.count; i++)
		address = o->addresses->list.items[i] == e->lock;
	return type && address;
}

static void on_begin(struct lock_sink *sink, const struct event *e)
{
	struct lock_stat *stat = begin_stat(sink, e, contention_key(sink, e));
	if (!passes(&sink->options, e))
		return;
	if (sink->options.callers && sink->options.callers->list.count && !take_callers(sink, e, stat))
		return;
	note_thread(sink, e);
	struct lock_use *use = use_of(sink, e->tid, e->lock);
	if (use->state == WAITING) /* a mutex whose waiter spun first: the wait began then */
		return;
	if (use->state != NEW && use->state != HELD) {
		mark_broken(sink, stat, use, LOCK_BROKEN_CONTENDED);
		return;
	}
	use->state = WAITING;
	use->since_ns = e->time_ns;
	stat->contended++;
}

static void on_end(struct lock_sink *sink, const struct event *e)
{
	struct lock_stat *stat = lock_stats_find(&sink->stats, contention_key(sink, e));
	if (!stat || !lock_sink_thread(sink, e->tid))
		return;
	struct lock_use *use = use_of(sink, e->tid, e->lock);
	if (use->state == NEW)
		return;
	if (use->state != WAITING) {
		mark_broken(sink, stat, use, LOCK_BROKEN_ACQUIRED);
		return;
	}
	lock_stat_wait(stat, waited_ns(use, e));
	use->state = HELD;
	stat->acquired++;
	stat->average_ns = stat->total_ns / stat->acquired;
}

void lock_sink_take(struct lock_sink *sink, const struct resolved *r)
{
	const char *name;
	char copy[64];
	size_t len;
	int kind = kind_of(sink, r);
	if (kind == OTHER)
		return;
	struct event e = { .r = r, .tid = r->tid, .time_ns = r->sample->time, .flags = number(sink, r, "flags") };
	find_text(sink, r);
	e.lock = number(sink, r, kind >= BEGIN ? "lock_addr" : "lockdep_addr");
	if (kind == BEGIN) {
		on_begin(sink, &e);
	} else if (kind == END) {
		on_end(sink, &e);
	} else {
		const struct tracepoint_field *field = tracepoints_field(*sink->options.tracepoints, r->evsel->attr.config, "name");
		if (field && tracepoint_field_string(field, r->sample->raw, r->sample->raw_size, &name, &len)) {
			text_copy(copy, sizeof copy, name, len);
			e.name = copy;
		}
		note_thread(sink, &e);
		on_lockdep(sink, &e, kind);
	}
}
