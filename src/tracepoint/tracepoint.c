#include "tracepoint/tracepoint.h"

#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include "tracepoint/blob.h"
#include "tracepoint/event.h"
#include "tracepoint/live.h"

struct tracepoints {
	struct trace_layout layout;
	struct arena arena;
	VEC(struct trace_event *) events;
	VEC(struct printk_format) printks;
	struct idmap by_id;
	uint32_t type_offset, type_size; /* position of common_type, which identifies a record's event; size 0: unknown */
	struct live *live;               /* the source of further formats; NULL: none */
};

static struct tep_handle *parser_new(const struct trace_layout *layout)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		abort(); /* out of memory */
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, layout->long_size);
	tep_set_file_bigendian(tep, layout->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	return tep;
}

/* Passes one format to libtraceevent. If its print format is invalid, only the fields are passed. */
static void parser_add(struct tep_handle *tep, const char *system, struct span text)
{
	const char *bytes = (const char *)text.data, *print;

	if (format_is_sane(bytes, text.len)) {
		tep_parse_event(tep, bytes, text.len, system);
		return;
	}
	print = text.len ? memmem(bytes, text.len, "print fmt:", 10) : NULL;
	if (!print || !format_is_sane(bytes, (size_t)(print - bytes)))
		return;
	size_t head = (size_t)(print - bytes);
	static const char no_text[] = "print fmt: \"%d\"\n"; /* without an argument: libtraceevent fails to parse it, as intended */
	char *copy = memory_alloc(head + sizeof no_text);
	memcpy(copy, bytes, head);
	memcpy(copy + head, no_text, sizeof no_text);
	tep_parse_event(tep, copy, head + sizeof no_text - 1, system);
	free(copy);
}

/* Compiles the events that libtraceevent has and `t` has not; frees the parser. */
static void parser_finish(struct tracepoints *t, struct tep_handle *tep)
{
	int count = tep_get_events_count(tep);
	bool added;

	for (int i = 0; i < count; i++) {
		const struct tep_event *from = tep_get_event(tep, i);
		if (!from || !from->name || !from->system)
			continue;
		idmap_add(&t->by_id, (uint32_t)from->id, (uint32_t)t->events.count, &added);
		if (added)
			vec_push(&t->events, event_compile(from, &t->layout, &t->arena));
	}
	tep_free(tep);
	for (size_t i = 0; i < t->events.count && !t->type_size; i++)
		for (uint32_t f = 0; f < t->events.items[i]->common_count; f++) {
			const struct tracepoint_field *field = &t->events.items[i]->fields[f];
			if (strcmp(field->name, "common_type") != 0)
				continue;
			t->type_offset = field->offset;
			t->type_size = field->size;
		}
}

static int compare_printks(const void *a, const void *b)
{
	const struct printk_format *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

/* Parses lines of the form `0xffffffff81234567 : "text\n"`: the strings that pointers in records refer to. */
static void parse_printks(struct tracepoints *t, struct span text)
{
	const char *p = (const char *)text.data, *end = text.len ? p + text.len : p;

	while (p < end) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));
		line_end = line_end ? line_end : end;
		const char *colon = memchr(p, ':', (size_t)(line_end - p));
		char digits[32] = "";
		if (colon && colon + 1 < line_end && (size_t)(colon - p) < sizeof digits) {
			memcpy(digits, p, (size_t)(colon - p));
			const char *start = colon + 2, *stop = line_end;
			start += start < stop && *start == '"';
			stop -= stop > start && stop[-1] == '"';
			stop -= stop - start >= 2 && stop[-2] == '\\' && stop[-1] == 'n' ? 2 : 0;
			vec_push(&t->printks, ((struct printk_format){ .address = strtoull(digits, NULL, 16),
				.text = arena_string(&t->arena, start, stop > start ? (size_t)(stop - start) : 0) }));
		}
		p = line_end < end ? line_end + 1 : end;
	}
	if (t->printks.count)
		qsort(t->printks.items, t->printks.count, sizeof *t->printks.items, compare_printks);
	t->layout.printks = t->printks.items;
	t->layout.printk_count = t->printks.count;
}

int tracepoints_open(struct tracepoints **out, struct span bytes, struct error *err)
{
	struct blob blob;

	*out = NULL;
	if (blob_parse(&blob, bytes, err) < 0) {
		blob_fini(&blob);
		return -1;
	}
	struct tracepoints *t = memory_zero(1, sizeof *t);
	t->layout = (struct trace_layout){ .swap = blob.swap, .big_endian = blob.big_endian, .long_size = blob.long_size };
	struct tep_handle *tep = parser_new(&t->layout);
	for (size_t i = 0; i < blob.formats.count; i++)
		parser_add(tep, blob.formats.items[i].system, blob.formats.items[i].text);
	parser_finish(t, tep);
	parse_printks(t, blob.printks);
	blob_fini(&blob);
	*out = t;
	return 0;
}

int tracepoints_open_live(struct tracepoints **out, struct error *err)
{
	struct live *live;

	*out = NULL;
	if (live_open(&live, err) < 0)
		return -1;
	struct tracepoints *t = memory_zero(1, sizeof *t);
	t->layout = (struct trace_layout){ .big_endian = tep_is_bigendian(), .long_size = sizeof(long) };
	t->live = live;
	*out = t;
	return 0;
}

void tracepoints_close(struct tracepoints *t)
{
	if (!t)
		return;
	live_close(t->live);
	vec_fini(&t->events);
	vec_fini(&t->printks);
	idmap_fini(&t->by_id);
	arena_fini(&t->arena);
	free(t);
}

static const struct trace_event *event_of_id(const struct tracepoints *t, uint64_t id)
{
	uint32_t at = t ? idmap_get(&t->by_id, id) : IDMAP_NONE;

	if (at != IDMAP_NONE)
		return t->events.items[at];
	return NULL;
}

bool tracepoints_load(struct tracepoints *t, uint64_t id)
{
	struct live_format format;

	if (event_of_id(t, id))
		return true;
	if (!t->live || live_read(t->live, id, &format) < 0)
		return false;
	struct tep_handle *tep = parser_new(&t->layout);
	parser_add(tep, format.system, (struct span){ (const uint8_t *)format.text, format.len });
	parser_finish(t, tep);
	live_format_fini(&format);
	return event_of_id(t, id);
}

size_t tracepoints_count(const struct tracepoints *t)
{
	return t ? t->events.count : 0;
}

uint64_t tracepoints_id_at(const struct tracepoints *t, size_t index)
{
	return t->events.items[index]->id;
}

bool tracepoints_name(const struct tracepoints *t, uint64_t id, const char **system, const char **name)
{
	const struct trace_event *event = event_of_id(t, id);

	if (!event)
		return false;
	*system = event->system;
	*name = event->name;
	return true;
}

void tracepoints_print_named(const struct tracepoints *t, const void *raw, uint32_t size, const struct tracepoint_names *names,
	struct writer *out)
{
	struct trace_context c = { .data = raw, .size = raw ? size : 0, .names = names, .out = out };
	const struct trace_event *event = NULL;

	if (t && t->type_size) {
		c.layout = &t->layout;
		event = event_of_id(t, (uint32_t)context_number(&c, t->type_offset, t->type_size));
	}
	if (event)
		event_print(&c, event);
	else
		writer_puts(out, "[UNKNOWN EVENT]");
}

void tracepoints_print(struct tracepoints *t, uint64_t id, const void *raw, uint32_t size, int cpu, struct writer *out)
{
	(void)id;
	(void)cpu;
	tracepoints_print_named(t, raw, size, NULL, out);
}

const struct tracepoint_field *tracepoints_field(const struct tracepoints *t, uint64_t id, const char *name)
{
	const struct trace_event *event = event_of_id(t, id);

	for (uint32_t i = 0; event && i < event->field_count; i++)
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	return NULL;
}

const struct tracepoint_field *tracepoints_field_at(const struct tracepoints *t, uint64_t id, unsigned index)
{
	const struct trace_event *event = event_of_id(t, id);

	if (!event || index >= event->field_count - event->common_count)
		return NULL;
	return &event->fields[event->common_count + index];
}

const char *tracepoint_field_type(const struct tracepoint_field *field)
{
	return field->type;
}

const char *tracepoint_field_name(const struct tracepoint_field *field)
{
	return field->name;
}

bool tracepoint_field_is_string(const struct tracepoint_field *field)
{
	return field->flags & FIELD_STRING;
}

bool tracepoint_field_is_signed(const struct tracepoint_field *field)
{
	return field->flags & FIELD_SIGNED;
}

/* The first __print_flags below a node. */
static const struct trace_node *flags_below(const struct trace_node *node)
{
	const struct trace_node *found = NULL;

	if (!node || node->kind == NODE_FLAGS)
		return node;
	const struct trace_node *below[] = { node->left, node->right, node->other };
	for (size_t i = 0; i < sizeof below / sizeof *below && !found; i++)
		found = flags_below(below[i]);
	return found;
}

static bool mentions(const struct trace_node *node, const struct tracepoint_field *field)
{
	return node && (node->field == field || mentions(node->left, field) || mentions(node->right, field) || mentions(node->other, field));
}

const char *tracepoint_field_flag(const struct tracepoint_field *field, uint64_t flag)
{
	for (uint32_t i = 0; i < field->event->piece_count; i++) {
		const struct trace_node *flags = flags_below(field->event->pieces[i].value);
		if (!flags || !mentions(flags->left, field))
			continue;
		for (uint32_t n = 0; n < flags->name_count; n++)
			if ((uint64_t)flags->names[n].value == flag)
				return flags->names[n].text;
	}
	return NULL;
}

static struct trace_context context_of(const struct tracepoint_field *field, const void *raw, uint32_t size)
{
	return (struct trace_context){ .layout = field->event->layout, .data = raw, .size = raw ? size : 0 };
}

bool tracepoint_field_is_dynamic(const struct tracepoint_field *field)
{
	return field->flags & FIELD_DYNAMIC;
}

uint32_t tracepoint_field_size(const struct tracepoint_field *field)
{
	return field->size;
}

bool tracepoint_field_bytes(const struct tracepoint_field *field, const void *raw, uint32_t size, const uint8_t **bytes, size_t *len)
{
	struct trace_context c = context_of(field, raw, size);

	if (!raw || field->offset > c.size || field->size > c.size - field->offset)
		return false;
	struct span span = { c.data + field->offset, field->size };
	if (field->flags & FIELD_DYNAMIC)
		span = context_dynamic(&c, field);
	*bytes = span.data;
	*len = span.len;
	return true;
}

static bool number_at(const struct tracepoint_field *field, const void *raw, uint32_t size, uint64_t offset, uint32_t bytes,
	uint64_t *value)
{
	struct trace_context c = context_of(field, raw, size);

	if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || bytes > c.size || offset > c.size - bytes)
		return false;
	*value = context_number(&c, (uint32_t)offset, bytes);
	if (field->flags & FIELD_SIGNED) {
		unsigned unused = 64 - bytes * 8;
		*value = (uint64_t)((int64_t)(*value << unused) >> unused);
	}
	return true;
}

bool tracepoint_field_number(const struct tracepoint_field *field, const void *raw, uint32_t size, uint64_t *value)
{
	return number_at(field, raw, size, field->offset, field->size, value);
}

bool tracepoint_field_place(const struct tracepoint_field *field, uint32_t *offset, uint32_t *size)
{
	*offset = field->offset;
	*size = field->size;
	bool byte = field->size == 1 && !(field->flags & FIELD_SIGNED);
	return (byte || field->size == 4 || field->size == 8) && !field->event->layout->swap;
}

size_t tracepoint_field_elements(const struct tracepoint_field *field)
{
	bool numbers = field->flags & FIELD_ARRAY && !(field->flags & (FIELD_DYNAMIC | FIELD_STRING)) && field->element_size > 1;

	return numbers ? field->size / field->element_size : 0;
}

bool tracepoint_field_element(const struct tracepoint_field *field, const void *raw, uint32_t size, size_t index, uint64_t *value)
{
	return index < tracepoint_field_elements(field) &&
		number_at(field, raw, size, field->offset + (uint64_t)index * field->element_size, field->element_size, value);
}

bool tracepoint_field_string(const struct tracepoint_field *field, const void *raw, uint32_t size, const char **text, size_t *len)
{
	struct trace_context c = context_of(field, raw, size);
	struct span span = { c.data + field->offset, field->size };

	if (!(field->flags & (FIELD_STRING | FIELD_ARRAY)) || field->offset > c.size || field->size > c.size - field->offset)
		return false;
	if (field->flags & FIELD_DYNAMIC)
		span = context_dynamic(&c, field);
	*text = (const char *)span.data;
	*len = span.len ? strnlen(*text, span.len) : 0;
	return true;
}

void tracepoint_field_print(const struct tracepoint_field *field, const void *raw, uint32_t size, struct writer *out)
{
	struct trace_context c = context_of(field, raw, size);
	c.out = out;
	if (!field->piece) {
		field_print_raw(&c, field);
		return;
	}
	if (field->prefix_0x)
		writer_puts(out, "0x");
	piece_print(&c, field->piece);
}
