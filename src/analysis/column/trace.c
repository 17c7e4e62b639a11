/* Columns of tracepoints (their text, their fields) and of transactions. */
#include <inttypes.h>
#include <stdlib.h>

#include "abi/sample.h"
#include "analysis/entry/names.h"
#include "analysis/entry/view.h"
#include "analysis/column/cells.h"
#include "analysis/entry/entry.h"
#include "base/hash.h"

/* transaction */

enum {
	TRANSACTION_SYNC = 1 << 2, TRANSACTION_ASYNC = 1 << 3,
	ABORT_SHIFT = 32,
};

VALUE(transaction_value)
{
	static const char *const names[] = { "EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ " };
	uint64_t bits = *entry_key(entry, column);
	str_clear(scratch);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (bits >> i & 1)
			str_puts(scratch, names[i]);
	if (bits && !(bits & (TRANSACTION_SYNC | TRANSACTION_ASYNC)))
		str_puts(scratch, "NEITHER ");
	if (bits >> ABORT_SHIFT)
		str_printf(scratch, ":%" PRIx64, bits >> ABORT_SHIFT);
	return cell_text(str_text(scratch));
}

/* trace */

/* Every field, " name=value", as --raw-trace wants them. */
static void raw_text(const struct profile *profile, uint64_t id, const uint8_t *raw, uint64_t size, struct writer *out)
{
	const struct tracepoint_field *field;
	for (unsigned i = 0; (field = tracepoints_field_at(profile->tracepoints, id, i)); i++) {
		writer_printf(out, " %s=", tracepoint_field_name(field));
		tracepoint_field_print(field, raw, (uint32_t)size, out);
	}
}

static void event_text(const struct profile *profile, const struct evsel *evsel, const uint8_t *raw, uint64_t size, struct writer *out)
{
	writer_fini(out);
	writer_open(out, -1, 256);
	if (!profile->tracepoints || !raw)
		return;
	if (profile->options.raw_trace)
		raw_text(profile, evsel->attr.config, raw, size, out);
	else
		tracepoints_print_named(profile->tracepoints, raw, (uint32_t)size, NULL, out);
}

static bool is_tracepoint(const struct evsel *evsel)
{
	return evsel->attr.type == ATTR_TRACEPOINT;
}

SAMPLE_KEY(trace_key)
{
	const struct sample *sample = view->r->sample;
	*key = 0;
	if (!is_tracepoint(view->r->evsel))
		return;
	struct writer *text = view->text;
	event_text(view->profile, view->r->evsel, sample->raw, sample->raw_size, text);
	*key = hash_bytes(text->buffer, text->len);
}

static const struct evsel *entry_evsel(const struct profile *profile, const struct entry *entry)
{
	return &session_evlist(profile->session)->events.items[entry->row[SAMPLE_KEY_EVENT]];
}

/* The event's own text, NUL-terminated, in *text. */
static const char *entry_text(const struct profile *profile, const struct entry *entry, struct writer *text)
{
	event_text(profile, entry_evsel(profile, entry), entry->facts->raw, entry->facts->raw_size, text);
	writer_putc(text, '\0');
	return text->buffer;
}

COMPARE(trace_compare)
{
	if (*entry_key(a, column) == *entry_key(b, column))
		return 0;
	struct writer text_a = { .fd = -1 }, text_b = { .fd = -1 };
	int64_t order = strcmp(entry_text(profile, b, &text_b), entry_text(profile, a, &text_a));
	writer_fini(&text_a);
	writer_fini(&text_b);
	return order;
}

VALUE(trace_value)
{
	if (!is_tracepoint(entry_evsel(profile, entry)))
		return cell_absent();
	struct writer text = { .fd = -1 };
	str_clear(scratch);
	str_puts(scratch, entry_text(profile, entry, &text));
	writer_fini(&text);
	return cell_text(str_text(scratch));
}

/* A field */

SAMPLE_KEY(field_key)
{
	const struct sample *sample = view->r->sample;
	const uint8_t *bytes;
	size_t len;
	key[0] = key[1] = 0;
	if (view->r->event != column->event)
		return;
	if (tracepoint_field_bytes(column->field, sample->raw, sample->raw_size, &bytes, &len)) {
		key[0] = hash_bytes(bytes, len);
		key[1] = len + 1;
	}
}

COMPARE(field_compare)
{
	const uint8_t *bytes_a, *bytes_b;
	size_t len_a, len_b;
	if (a->row[SAMPLE_KEY_EVENT] != column->event)
		return 0;
	bool is_a = tracepoint_field_bytes(column->field, a->facts->raw, (uint32_t)a->facts->raw_size, &bytes_a, &len_a);
	bool is_b = tracepoint_field_bytes(column->field, b->facts->raw, (uint32_t)b->facts->raw_size, &bytes_b, &len_b);
	if (!is_a || !is_b)
		return is_a - is_b;
	int order = memcmp(bytes_a, bytes_b, len_a < len_b ? len_a : len_b);
	return order ? order : (len_a > len_b) - (len_a < len_b);
}

/* The value behind "name=" at the start of a word of the event's text; false: the text has no such word. */
static bool find_in_text(const char *text, const char *name, const char **value, size_t *len)
{
	size_t name_len = strlen(name);
	for (const char *word = text; word; ) {
		const char *end = strchr(word, ' ');
		if (strncmp(word, name, name_len) == 0) {
			size_t word_len = end ? (size_t)(end - word) : strlen(word);
			size_t skip = name_len + 1 < word_len ? name_len + 1 : word_len;
			*value = word + skip;
			*len = word_len - skip;
			return true;
		}
		word = end ? end + 1 : NULL;
	}
	return false;
}

void field_text(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *out)
{
	struct writer text = { .fd = -1 };
	const char *value;
	size_t len;
	if (!column->raw && find_in_text(entry_text(profile, entry, &text), tracepoint_field_name(column->field), &value, &len)) {
		str_add(out, value, len);
	} else {
		writer_fini(&text);
		writer_open(&text, -1, 256);
		tracepoint_field_print(column->field, entry->facts->raw, (uint32_t)entry->facts->raw_size, &text);
		str_add(out, text.buffer, text.len);
	}
	writer_fini(&text);
}

VALUE(field_value)
{
	str_clear(scratch);
	field_text(profile, column, entry, scratch);
	return cell_text(str_text(scratch));
}

unsigned field_width(const struct profile *profile, const struct column *column, const struct entry *entry, bool compared)
{
	struct writer text = { .fd = -1 };
	const char *value;
	const uint8_t *bytes;
	size_t len = 0, stored;
	if (!entry->facts->raw)
		return 0;
	if (!column->raw)
		find_in_text(entry_text(profile, entry, &text), tracepoint_field_name(column->field), &value, &len);
	writer_fini(&text);
	if (compared && tracepoint_field_is_dynamic(column->field) &&
	    tracepoint_field_bytes(column->field, entry->facts->raw, (uint32_t)entry->facts->raw_size, &bytes, &stored) && len < stored)
		len = stored;
	return (unsigned)len;
}
