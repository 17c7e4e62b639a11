/* The step that unwinds copies of stacks (--convert-callchain): samples get their addresses as a call chain and lose the copy and the
 * registers, and the attributes of their events say so. */
#include <stdlib.h>

#include "record/acquire/record_out.h"
#include "rewrite/state.h"
#include "session/user_stack.h"
#include "unwind/tables.h"

enum { ENTRIES_MAX = 8000 };         /* of a call chain: a record has less than 64 KiB */

struct convert {
	struct evlist evlist;        /* the events of the new recording; names and ids are those of the source */
	struct unwind_tables *tables;
	struct user_stack stack;
	struct writer made;          /* the sample that replaces the current one */
	uint64_t addresses[ENTRIES_MAX];
};

static bool has_stacks(const struct attr *attr)
{
	const uint64_t needed = SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER;
	return (attr->sample_type & needed) == needed;
}

int convert_step_check(const struct source *source, struct error *err)
{
	const struct evlist *evlist = &source->header.evlist;
	if (source->header.pipe)
		return error_set(err, ERROR_USAGE, "--convert-callchain changes the events in the header: it needs a file, not a stream");
	for (size_t i = 0; i < evlist->events.count; i++)
		if (has_stacks(&evlist->events.items[i].attr))
			return 0;
	return error_set(err, ERROR_USAGE, "--convert-callchain: the recording has no copies of stacks ('record --call-graph dwarf' makes them)");
}

static bool converts_stacks(const struct rewrite_options *options)
{
	return options->convert_stacks;
}

static void *open_step(struct rewrite *r)
{
	struct convert *c = memory_zero(1, sizeof *c);
	const struct evlist *from = &r->source->header.evlist;
	for (size_t i = 0; i < from->events.count; i++) {
		struct evsel evsel = from->events.items[i];
		if (has_stacks(&evsel.attr)) {
			evsel.attr.sample_type &= ~(uint64_t)(SAMPLE_REGS_USER | SAMPLE_STACK_USER);
			evsel.attr.sample_regs_user = 0;
			evsel.attr.sample_stack_user = 0;
			evsel.attr.flags &= ~(1ull << ATTR_EXCLUDE_CALLCHAIN_USER);
			sample_layout_init(&evsel.layout, &evsel.attr);
		}
		vec_push(&c->evlist.events, evsel);
	}
	c->tables = unwind_tables_new(&r->model.modules, r->options->images);
	writer_open(&c->made, -1, 0);
	r->out.evlist = &c->evlist;
	return c;
}

static void close_step(void *state)
{
	struct convert *c = state;
	vec_fini(&c->evlist.events);
	unwind_tables_free(c->tables);
	user_stack_fini(&c->stack);
	writer_fini(&c->made);
	free(c);
}

/* The number of addresses of user code. */
static size_t unwind_sample(struct convert *c, const struct rewrite *r, const struct item *item, size_t limit)
{
	const struct sample *sample = &item->sample;
	int32_t pid = (int32_t)sample->pid, tid = (int32_t)sample->tid;
	const struct user_stack_input in = { .header = &r->source->header, .modules = &r->model.modules, .tables = c->tables,
		.root = model_root(&r->model, pid, model_thread(&r->model, tid, r->clock), r->clock), .sample = sample,
		.mask = item->evsel->attr.sample_regs_user, .tid = tid };
	size_t count = sample->regs_user && sample->stack_user_size ? user_stack_unwind(&in, &c->stack, c->addresses, limit) : 0;
	return count && c->addresses[count - 1] == UINT64_MAX ? count - 1 : count; /* it would be read as a marker */
}

/* The recorded entries that precede the user part. */
static size_t kernel_entries(const struct sample *sample)
{
	size_t count = 0;
	while (count < sample->callchain_count && sample_chain_at(sample, count) != CONTEXT_USER)
		count++;
	return count;
}

static int after(void *state, struct rewrite *r, struct item *item, struct error *err)
{
	struct convert *c = state;
	struct sample_extents parts;
	if (item->record.type != RECORD_SAMPLE || !item->evsel || !has_stacks(&item->evsel->attr))
		return FATE_WRITE;
	if (!item->decoded || sample_extents(&parts, &item->evsel->layout, &item->record) < 0)
		return FATE_DROP; /* damaged: it cannot get the new layout */
	const uint8_t *body = item->record.body;
	size_t recorded = (size_t)item->sample.callchain_count, kernel = kernel_entries(&item->sample);
	size_t others = parts.chain + parts.regs - parts.chain_end + item->record.body_len - parts.stack_end;
	size_t room = others < RECORD_SIZE_MAX - 64 ? (RECORD_SIZE_MAX - 64 - others) / 8 : 0;
	room = room < ENTRIES_MAX ? room : ENTRIES_MAX;
	size_t count = kernel < room ? unwind_sample(c, r, item, room - kernel) : 0;
	size_t old = count ? kernel : recorded; /* without an unwound part, what was recorded */
	c->made.len = 0;
	size_t at = record_open(&c->made, RECORD_SAMPLE, item->record.misc);
	writer_add(&c->made, body, parts.chain);
	out_u64(&c->made, old + (count ? count + 1 : 0));
	writer_add(&c->made, body + parts.chain + 8, old * 8);
	if (count)
		out_u64(&c->made, CONTEXT_USER);
	writer_add(&c->made, c->addresses, count * sizeof *c->addresses);
	writer_add(&c->made, body + parts.chain_end, parts.regs - parts.chain_end);
	writer_add(&c->made, body + parts.stack_end, item->record.body_len - parts.stack_end);
	record_close(&c->made, at, 0);
	item->record.body = (const uint8_t *)c->made.buffer + at + 8;
	item->record.body_len = (uint32_t)(c->made.len - at - 8);
	item->evsel = &c->evlist.events.items[item->evsel - r->source->header.evlist.events.items];
	item_decode_sample(item);
	return FATE_WRITE;
}

const struct step step_convert = { .wanted = converts_stacks, .open = open_step, .after = after, .close = close_step };
