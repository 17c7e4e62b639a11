#include "record/unwinding.h"

#include <stdlib.h>
#include <string.h>

#include "os/cpus.h"
#include "os/machine.h"
#include "record/acquire/record_out.h"
#include "record/acquire/records.h"
#include "record/acquire/ring_order.h"
#include "record/mapped.h"
#include "record/restate.h"
#include "record/user_registers.h"
#include "unwind/stack_memory.h"

#define REGISTERS_NONE 0     /* the ABI of absent registers */

enum {
	STEP_SAMPLES = 256,          /* unwound before the kernel gets the room of the rings; more with many threads */
	SLICE_SAMPLES = 16,
	SLICES_PER_THREAD = 2,
	THREADS_MAX = 8,
	CPUS_PER_THREAD = 4,         /* unwinding costs a part of the time that sampling costs */
	ASIDE_BYTES = 64 << 20,      /* default limit of the samples that wait for tables */
};

/* One sample that is to be unwound. */
struct job {
	struct record record;
	struct sample sample;
	const struct event *event;
	const struct sample_layout *layout;
	const struct map_node *maps;
	struct unwind_result result;
	uint64_t stack_address;      /* of the copy's first byte */
	size_t frames;               /* index of its frames … */
	unsigned worker;             /* … in those of this worker */
	uint32_t generation;         /* of its mappings */
	uint32_t ring;
	bool bad, waits;             /* does not decode; is not unwound yet */
	bool jit;                    /* its process has a just-in-time compiler that writes a dump */
	uint8_t *copy;               /* of the record, if it was set aside; NULL */
};

struct unwinder {
	struct unwind_frame scratch[UNWINDING_FRAMES_MAX];
	VEC(struct unwind_frame) frames;
};

struct unwinding {
	const struct events *events;
	const struct counters *counters;
	struct evlist evlist;
	struct mapped mapped;
	enum unwind_arch native;
	bool by_ring;                /* the records of each ring are written separately */
	bool no_guess, no_join;
	bool private;                /* an event exists whose records are not written */
	bool snapshot;               /* the listed items are from overwritten rings */
	struct restated restated;    /* written for that snapshot, or for processes whose stacks were copied */
	const char *buildid_dir;     /* borrowed */
	struct build_reader *builds; /* borrowed */
	struct pool *pool;
	size_t step_samples;
	struct unwinder *unwinders;  /* by worker */
	struct ring_order order;
	size_t next;                 /* index in order.items */
	VEC(size_t) done_bytes;      /* by ring: processed in this step */
	VEC(struct job) jobs;
	VEC(struct job) aside;       /* samples that wait for tables */
	size_t aside_bytes, aside_most;
	uint64_t tables_seen;        /* the number of tables when `aside` was tried last */
	bool final;
	struct stack_memory memory;
	struct unwinding_counts counts;
};

struct unwinding *unwinding_new(const struct events *events, const struct counters *counters, const struct unwinding_options *options)
{
	struct unwinding *u = memory_zero(1, sizeof *u);
	struct machine_names names;
	unsigned threads = cpus_online_count() / CPUS_PER_THREAD;
	bool overwritten = false;
	u->events = events;
	u->counters = counters;
	machine_names(&names);
	u->native = user_registers_arch(names.arch);
	u->by_ring = options->by_ring;
	u->no_guess = options->no_guess;
	u->no_join = options->no_join;
	u->buildid_dir = options->buildid_dir;
	u->builds = options->builds;
	u->aside_most = options->aside_bytes ? options->aside_bytes : ASIDE_BYTES;
	u->restated = (struct restated){ .modules = &u->mapped.model.modules, .attr = events->list.items[0].attr };
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		evlist_add(&u->evlist, &event->attr, NULL, 0, event->name);
		u->private |= event->private;
		overwritten |= attr_flag(&event->attr, ATTR_WRITE_BACKWARD);
	}
	for (size_t i = 0; i < counters->list.count; i++) {
		const struct counter *counter = &counters->list.items[i];
		if (counter->fd >= 0)
			evlist_add_ids(&u->evlist, counter->event, &counter->id, 1);
	}
	mapped_open(&u->mapped, &u->evlist, options->buildid_dir, options->budget, overwritten);
	threads = options->threads ? options->threads : threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
	u->step_samples = threads * SLICE_SAMPLES * SLICES_PER_THREAD;
	if (u->step_samples < STEP_SAMPLES)
		u->step_samples = STEP_SAMPLES;
	u->pool = pool_new(threads);
	u->unwinders = memory_zero(pool_workers(u->pool), sizeof *u->unwinders);
	while (u->done_bytes.count < counters->rings.count)
		vec_push(&u->done_bytes, 0);
	return u;
}

void unwinding_free(struct unwinding *u)
{
	if (!u)
		return;
	for (unsigned i = 0; i < pool_workers(u->pool); i++)
		vec_fini(&u->unwinders[i].frames);
	free(u->unwinders);
	pool_free(u->pool);
	mapped_close(&u->mapped);
	restated_fini(&u->restated);
	for (size_t i = 0; i < u->aside.count; i++)
		free(u->aside.items[i].copy);
	vec_fini(&u->aside);
	evlist_fini(&u->evlist);
	ring_order_fini(&u->order);
	stack_memory_fini(&u->memory);
	vec_fini(&u->done_bytes);
	vec_fini(&u->jobs);
	free(u);
}

struct pool *unwinding_pool(const struct unwinding *u)
{
	return u->pool;
}

const struct unwinding_counts *unwinding_counts(const struct unwinding *u)
{
	return &u->counts;
}

/* Earlier stacks say nothing about a thread after its exit or an exec. */
static void forget_stacks(struct unwinding *u, const struct record *record)
{
	enum { TID_AT = 8 };
	if (record->type == RECORD_EXIT && record->body_len >= TID_AT + 4)
		stack_memory_forget(&u->memory, (int32_t)load_u32(record->body + TID_AT));
	else if (record->type == RECORD_COMM && record->misc & RECORD_MISC_COMM_EXEC && record->body_len >= 8)
		stack_memory_forget(&u->memory, (int32_t)load_u32(record->body + 4));
}

void unwinding_existing(struct unwinding *u, struct span records)
{
	restated_fini(&u->restated); /* another file may begin */
	struct record record;
	while (records_next(&records, &record))
		mapped_apply(&u->mapped, &record, 0);
}

static size_t frames_max(const struct event *event)
{
	size_t asked = event->attr.sample_max_stack;
	return asked && asked < UNWINDING_FRAMES_MAX ? asked : UNWINDING_FRAMES_MAX;
}

static void unwind_job(struct unwinding *u, struct job *job, unsigned worker)
{
	struct unwinder *unwinder = &u->unwinders[worker];
	struct unwind_input input = {
		.tables = u->mapped.tables, .maps = job->maps, .max_frames = frames_max(job->event), .no_guess = u->no_guess,
		.stack = { job->sample.stack_user, job->sample.stack_user_size },
	};
	job->waits = false;
	job->result = (struct unwind_result){ .module = MODULE_ID_NONE };
	if (!input.maps || !user_registers_of(&job->sample, job->event->attr.sample_regs_user, u->native, &input))
		return;
	job->stack_address = input.stack_address;
	unwind(&input, unwinder->scratch, &job->result);
	job->waits = job->result.end == UNWIND_NEEDS_TABLE;
	if (job->waits)
		return;
	job->worker = worker;
	job->frames = unwinder->frames.count;
	vec_reserve(&unwinder->frames, unwinder->frames.count + job->result.count);
	for (size_t i = 0; i < job->result.count; i++) {
		struct unwind_frame *frame = &unwinder->frames.items[unwinder->frames.count++];
		*frame = unwinder->scratch[i];
		frame->pc -= frame->last; /* otherwise readers take it for the next function */
	}
}

static void run_slice(void *context, size_t slice, unsigned worker)
{
	struct unwinding *u = context;
	size_t end = (slice + 1) * SLICE_SAMPLES;
	for (size_t i = slice * SLICE_SAMPLES; i < end && i < u->jobs.count; i++)
		if (u->jobs.items[i].waits)
			unwind_job(u, &u->jobs.items[i], worker);
}

static void unwind_jobs(struct unwinding *u)
{
	for (unsigned i = 0; i < pool_workers(u->pool); i++)
		vec_clear(&u->unwinders[i].frames);
	pool_run(u->pool, (u->jobs.count + SLICE_SAMPLES - 1) / SLICE_SAMPLES, run_slice, u);
}

/* The parts of a sample's body without the room of the stack that the kernel did not fill. Returns their size. */
struct packed {
	uint64_t room, used;         /* bytes of the stack, in whole words, and those that were copied */
	struct span front, stack, behind;
};

static size_t pack(struct packed *packed, const struct job *job)
{
	struct sample_extents parts;
	const uint8_t *body = job->record.body;
	if (job->bad || !job->sample.stack_user || sample_extents(&parts, job->layout, &job->record) < 0) {
		*packed = (struct packed){ .front = { body, job->record.body_len } };
		return job->record.body_len;
	}
	uint64_t used = job->sample.stack_user_size, room = (used + 7) & ~(uint64_t)7;
	*packed = (struct packed){ room, used, { body, parts.stack }, { job->sample.stack_user, room },
		{ body + parts.stack_end, job->record.body_len - parts.stack_end } };
	return parts.stack + 8 + (room ? room + 8 : 0) + packed->behind.len;
}

static void write_packed(const struct packed *packed, size_t size, struct writer *out)
{
	writer_add(out, packed->front.data, packed->front.len);
	if (size == packed->front.len)
		return;
	out_u64(out, packed->room);
	writer_add(out, packed->stack.data, packed->stack.len);
	if (packed->room)
		out_u64(out, packed->used);
	writer_add(out, packed->behind.data, packed->behind.len);
}

/* Stores a sample until the table of the module that it leads to is made; false: too many samples wait. */
static bool set_aside(struct unwinding *u, const struct job *job)
{
	struct packed packed;
	size_t size = pack(&packed, job);
	struct job stored = *job;
	mapped_want(&u->mapped, job->result.module, (int32_t)job->sample.pid);
	if (size > u->aside_most - u->aside_bytes)
		return false;
	if (!stored.copy) {
		struct writer memory;
		writer_open(&memory, -1, 0);
		write_packed(&packed, size, &memory);
		stored.copy = memory_resize(memory.buffer, size, 1);
		stored.record.body = stored.copy;
		stored.record.body_len = (uint32_t)size;
		sample_decode(&stored.sample, job->layout, &stored.record, NULL);
	}
	u->aside_bytes += size;
	vec_push(&u->aside, stored);
	return true;
}

/* Adds a sample with what its unwinding needs; false: it is written unchanged. */
static bool add_job(struct unwinding *u, const struct record *record, const struct ring_item *item)
{
	uint32_t index = evlist_event_of(&u->evlist, record);
	if (index == UINT32_MAX || !u->events->list.items[index].unwind)
		return false;
	struct job *job = vec_add(&u->jobs);
	job->record = *record;
	job->ring = item->ring;
	job->event = &u->events->list.items[index];
	job->layout = &u->evlist.events.items[index].layout;
	job->bad = sample_decode(&job->sample, job->layout, &job->record, NULL) < 0;
	if (job->bad || !job->sample.regs_user)
		return true;
	int32_t pid = (int32_t)job->sample.pid, tid = (int32_t)job->sample.tid;
	mapped_advance(&u->mapped, item->time);
	job->jit = mapped_has_jit(&u->mapped, pid);
	if (u->snapshot)
		job->maps = mapped_at(&u->mapped, pid, tid, item->time, &job->generation);
	else
		job->maps = mapped_now(&u->mapped, pid, tid, &job->generation);
	job->waits = true;
	return true;
}

static void count_end(struct unwinding *u, const struct job *job, bool joined)
{
	struct unwinding_counts *counts = &u->counts;
	uint64_t *const by_end[UNWIND_ENDS] = {
		[UNWIND_COMPLETE] = &counts->complete, [UNWIND_CUT] = &counts->cut, [UNWIND_LIMIT] = &counts->deep,
		[UNWIND_SWITCHED] = &counts->switched,
		[UNWIND_NO_MAP] = &counts->unmapped, [UNWIND_NO_RULE] = &counts->without_rules,
		[UNWIND_BAD_RULE] = &counts->bad_rules, [UNWIND_NEEDS_TABLE] = &counts->without_rules,
	};
	counts->stacks++;
	counts->guessed += job->result.guessed;
	counts->guessed_stacks += job->result.guessed != 0;
	++*(joined ? &counts->joined : by_end[job->result.end]);
}

/* The sample's frames, with those that complete it if it was cut. *found: the number without those. */
static size_t finish_frames(struct unwinding *u, const struct job *job, struct unwind_frame *frames, size_t *found)
{
	size_t count = job->result.count, max = frames_max(job->event);
	int32_t tid = (int32_t)job->sample.tid;
	bool joined = false;
	*found = count;
	if (!job->sample.regs_user)
		return 0;
	if (count)
		memcpy(frames, u->unwinders[job->worker].frames.items + job->frames, count * sizeof *frames);
	const struct stack_copy copy = { job->stack_address, { job->sample.stack_user, job->sample.stack_user_size } };
	if (job->result.end == UNWIND_CUT && !u->no_join) {
		size_t whole = stack_memory_join(&u->memory, tid, frames, count, max, &copy);
		joined = whole > count;
		count = whole;
	}
	if (count && !u->no_join)
		stack_memory_keep(&u->memory, tid, frames, count, *found, joined || job->result.end == UNWIND_COMPLETE, &copy);
	count_end(u, job, joined);
	return count;
}

/* The record as the file has it, with a call chain instead of a stack. */
static void write_sample(struct unwinding *u, const struct job *job, struct writer *out)
{
	struct unwind_frame frames[UNWINDING_FRAMES_MAX];
	struct sample_extents parts;
	const uint8_t *body = job->record.body;
	if (job->bad || sample_extents(&parts, job->layout, &job->record) < 0) {
		u->counts.damaged++;
		return;
	}
	size_t found, count = finish_frames(u, job, frames, &found);
	size_t recorded = parts.chain_end - parts.chain - 8;
	size_t regs = job->event->keeps_registers ? parts.stack - parts.regs : 0;
	size_t behind = job->record.body_len - parts.stack_end;
	size_t rest = parts.regs + regs + behind + 40, most = rest < RECORD_SIZE_MAX ? (RECORD_SIZE_MAX - rest) / 8 : 0;
	if (count > most)
		count = most;
	uint64_t entries = recorded / 8 + (count ? count + 1 : 0) + (count > found);
	size_t at = record_open(out, RECORD_SAMPLE, job->record.misc);
	writer_add(out, body, parts.chain);
	out_u64(out, entries);
	writer_add(out, body + parts.chain + 8, recorded);
	if (count)
		out_u64(out, CONTEXT_USER);
	for (size_t i = 0; i < count; i++) {
		if (i == found) /* the frames from here on are from an earlier sample */
			out_u64(out, CONTEXT_USER);
		out_u64(out, frames[i].pc);
	}
	writer_add(out, body + parts.chain_end, parts.regs - parts.chain_end + regs);
	if (!regs)
		out_u64(out, REGISTERS_NONE);
	out_u64(out, 0); /* bytes of stack */
	writer_add(out, body + parts.stack_end, behind);
	record_close(out, at, 0);
}

/* With registers and the copy of the stack, for the reader to unwind. */
static void write_copy(struct unwinding *u, const struct job *job, uint64_t *counter, struct writer *out)
{
	restate_data(&u->restated, job->maps, &job->sample, u->buildid_dir, out);
	struct packed packed;
	size_t size = pack(&packed, job), at = record_open(out, RECORD_SAMPLE, job->record.misc);
	write_packed(&packed, size, out);
	record_close(out, at, 0);
	++*counter;
}

/* Many just-in-time compilers write their dumps late, some at the end of the process: the reader, who has the whole dump, unwinds stacks
 * through code that the dump does not describe yet. */
static bool is_for_reader(const struct unwinding *u, const struct job *job)
{
	static const bool lost[UNWIND_ENDS] = { [UNWIND_NO_MAP] = true, [UNWIND_NO_RULE] = true, [UNWIND_BAD_RULE] = true };
	size_t count = job->result.count;
	if (!job->jit || job->bad || !count || (!job->result.guessed && !lost[job->result.end]))
		return false;
	const struct unwind_frame *frames = u->unwinders[job->worker].frames.items + job->frames;
	for (size_t i = 0; i < count; i++) {
		bool unsure = i + 1 < count ? frames[i + 1].guessed : lost[job->result.end];
		if (unsure && !mapped_knows(&u->mapped, job->maps, frames[i].pc))
			return true;
	}
	return false;
}

static void write_unwound(struct unwinding *u, const struct job *job, struct writer *out)
{
	if (is_for_reader(u, job))
		write_copy(u, job, &u->counts.compiled, out);
	else
		write_sample(u, job, out);
}

/* The oldest generation of mappings that a set aside sample needs. */
static uint32_t oldest_generation(const struct unwinding *u)
{
	uint32_t oldest = u->mapped.model.generation;
	for (size_t i = 0; i < u->aside.count; i++)
		if (u->aside.items[i].generation < oldest)
			oldest = u->aside.items[i].generation;
	return oldest;
}

int64_t unwinding_begin(struct unwinding *u, bool final, struct error *err)
{
	uint32_t generation = u->mapped.model.generation;
	mapped_refresh(&u->mapped);
	mapped_renew(&u->mapped, oldest_generation(u));
	if (u->mapped.model.generation != generation)
		restated_fini(&u->restated); /* about mappings that may not exist any more */
	u->next = 0;
	u->final = final;
	u->snapshot = false;
	if (ring_order_fill(&u->order, u->counters->rings.items, u->counters->rings.count, &u->evlist, final, err) < 0)
		return -1;
	return (int64_t)u->order.items.count;
}

int64_t unwinding_snapshot(struct unwinding *u, struct error *err)
{
	stack_memory_fini(&u->memory); /* from another time */
	restated_fini(&u->restated);
	u->next = 0;
	u->final = false;
	u->snapshot = true;
	if (ring_order_snapshot(&u->order, u->counters->rings.items, u->counters->rings.count, &u->evlist, err) < 0)
		return -1;
	return (int64_t)u->order.items.count;
}

/* From the item `first` on, adds side-band to the model and samples to the jobs of a step. Returns the index after the last. */
static size_t add_jobs(struct unwinding *u, size_t first)
{
	size_t at = first;
	vec_clear(&u->jobs);
	for (; at < u->order.items.count && u->jobs.count < u->step_samples; at++) {
		const struct ring_item *item = &u->order.items.items[at];
		struct record record = record_of(item->bytes, item->size);
		if (record.type == RECORD_SAMPLE) {
			add_job(u, &record, item);
			continue;
		}
		forget_stacks(u, &record);
		build_reader_see(u->builds, &record);
		if (!u->snapshot) /* rings that are not overwritten had the side-band of a snapshot */
			mapped_apply(&u->mapped, &record, item->time);
	}
	return at;
}

static struct writer *writer_of(const struct unwinding *u, struct writer *out, uint32_t ring)
{
	return u->by_ring ? &out[ring] : out;
}

/* Unwinds the set aside samples again; last: no other record is left. Returns whether any was written. */
static bool retry_aside(struct unwinding *u, bool last, struct writer *out)
{
	uint64_t made = table_loader_made(u->mapped.loader);
	bool any = false;
	if (!u->aside.count || (made == u->tables_seen && !last))
		return false;
	if (last)
		table_loader_wait(u->mapped.loader);
	/* no further table will be made: a sample without one has no user part */
	bool stuck = last && u->tables_seen == table_loader_made(u->mapped.loader);
	u->tables_seen = table_loader_made(u->mapped.loader);
	vec_clear(&u->jobs);
	for (size_t i = 0; i < u->aside.count; i++)
		vec_push(&u->jobs, u->aside.items[i]);
	vec_clear(&u->aside);
	u->aside_bytes = 0;
	unwind_jobs(u);
	for (size_t i = 0; i < u->jobs.count; i++) {
		struct job *job = &u->jobs.items[i];
		if (job->waits && !stuck) {
			set_aside(u, job); /* there is room: it was aside before */
			continue;
		}
		if (job->waits)
			job->result.count = 0;
		write_unwound(u, job, writer_of(u, out, job->ring));
		free(job->copy);
		any = true;
	}
	return any || last;
}

bool unwinding_waits(const struct unwinding *u)
{
	return u->aside.count != 0;
}

/* Its event provides side-band for the recorder alone. */
static bool is_private(const struct unwinding *u, const struct ring_item *item)
{
	struct record record = record_of(item->bytes, item->size);
	uint32_t event = u->private ? evlist_event_of(&u->evlist, &record) : UINT32_MAX;
	return event != UINT32_MAX && u->events->list.items[event].private;
}

/* The side-band of the sample's process may have been overwritten, and the process may have ended. */
static void restate_process(struct unwinding *u, const struct ring_item *item, const struct job *job, struct writer *out)
{
	uint64_t as_of = item->time;
	const struct model *model = mapped_model_at(&u->mapped, &as_of);
	if (u->snapshot && !job->bad)
		restate(&u->restated, model, (int32_t)job->sample.pid, (int32_t)job->sample.tid, item->time, as_of,
			writer_of(u, out, item->ring));
}

static void write_step(struct unwinding *u, size_t first, struct writer *out)
{
	size_t job = 0;
	for (size_t i = first; i < u->next; i++) {
		const struct ring_item *item = &u->order.items.items[i];
		if (!u->snapshot)
			u->done_bytes.items[item->ring] += item->size;
		if (job >= u->jobs.count || u->jobs.items[job].record.body != item->bytes + 8) {
			if (!is_private(u, item))
				writer_add(writer_of(u, out, item->ring), item->bytes, item->size);
			continue;
		}
		restate_process(u, item, &u->jobs.items[job], out);
		if (!u->jobs.items[job].waits)
			write_unwound(u, &u->jobs.items[job], writer_of(u, out, item->ring));
		else if (!set_aside(u, &u->jobs.items[job]))
			write_copy(u, &u->jobs.items[job], &u->counts.copied, writer_of(u, out, item->ring));
		job++;
	}
}

int unwinding_step(struct unwinding *u, struct writer *out)
{
	size_t first = u->next;
	bool all_done = first >= u->order.items.count, tried = retry_aside(u, u->final && all_done, out);
	if (all_done)
		return tried;
	u->next = add_jobs(u, first);
	unwind_jobs(u);
	write_step(u, first, out);
	for (size_t i = 0; i < u->done_bytes.count; i++) {
		if (u->done_bytes.items[i])
			ring_consume(&u->counters->rings.items[i], u->done_bytes.items[i]);
		u->done_bytes.items[i] = 0;
	}
	return 1;
}
