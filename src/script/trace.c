/* Tracepoints: the text that the kernel's format makes of their fields, and the fields. */
#include "script/internal.h"

/* Resolves kernel functions in the text. */
static bool resolve_function(void *context, uint64_t address, const char **name, uint64_t *start)
{
	const struct listing_line *line = context;
	const struct location *location = resolved_locate(line->r, RECORD_MISC_KERNEL, address);

	if (location->module == MODULE_ID_NONE)
		return false;
	const struct module *module = modules_get(&line->listing->session->model.modules, location->module);
	uint32_t id = symbols_lookup(line->listing->symbols, module, location->offset);
	if (!id)
		return false;
	*name = symbols_name(line->listing->symbols, module, id);
	*start = address - (location->offset - symbols_get(line->listing->symbols, module, id)->start);
	return true;
}

/* In one line, as the format and the strings come from the recording; without a newline at its end, which trace_marker has. */
void print_trace(const struct listing_line *line, const struct field_row *row)
{
	struct tracepoint_names names = { .resolve = resolve_function, .context = (void *)line };
	const struct sample *sample = line->r->sample;

	if (!sample->raw || !line->listing->tracepoints)
		return;
	struct writer own = { .fd = 0 }, *out = line->out;
	if (out->fd >= 0) { /* its buffer may be written at any time */
		writer_open(&own, -1, 0);
		out = &own;
	}
	size_t start = out->len;
	tracepoints_print_named(line->listing->tracepoints, sample->raw, sample->raw_size, &names, out);
	while (out->len > start && out->buffer[out->len - 1] == '\n')
		out->len--;
	text_join_lines(out->buffer + start, out->len - start);
	if (out == &own) {
		writer_add(line->out, own.buffer, own.len);
		writer_fini(&own);
	}
}

struct cell trace_cell(const struct listing_line *line)
{
	return listing_printed_cell(line, print_trace);
}

static struct cell trace_number_cell(const struct tracepoint_field *field, uint64_t number)
{
	return tracepoint_field_is_signed(field) ? cell_number((int64_t)number) : cell_count(number);
}

static struct cell trace_array_cell(const struct listing_line *line, const struct tracepoint_field *field)
{
	const struct sample *sample = line->r->sample;
	size_t count = tracepoint_field_elements(field), bytes = tracepoint_field_size(field);
	uint64_t number;

	if (bytes > sample->raw_size)
		return cell_absent();
	struct cell *cells = arena_alloc(&line->worker->row, count * sizeof *cells);
	for (size_t i = 0; i < count; i++)
		if (tracepoint_field_element(field, sample->raw, sample->raw_size, i, &number))
			cells[i] = trace_number_cell(field, number);
	return cell_list(cells, count);
}

static struct cell trace_field_cell(const struct listing_line *line, const struct tracepoint_field *field)
{
	const struct sample *sample = line->r->sample;
	const uint8_t *bytes;
	const char *text;
	uint64_t number;
	size_t len;

	if (tracepoint_field_is_string(field))
		return tracepoint_field_string(field, sample->raw, sample->raw_size, &text, &len) ? listing_text_cell(line, text, len) :
			cell_absent();
	if (tracepoint_field_elements(field))
		return trace_array_cell(line, field);
	if (!tracepoint_field_is_dynamic(field) && tracepoint_field_number(field, sample->raw, sample->raw_size, &number))
		return trace_number_cell(field, number);
	return tracepoint_field_bytes(field, sample->raw, sample->raw_size, &bytes, &len) ? listing_bytes_cell(line, bytes, len) :
		cell_absent();
}

/* By name: numbers, strings, lists of numbers, other bytes in hexadecimal. Without the fields that all tracepoints have. */
struct cell trace_fields_cell(const struct listing_line *line)
{
	const struct tracepoints *tracepoints = line->listing->tracepoints;
	const struct tracepoint_field *field;
	uint64_t id = line->r->evsel->attr.config;
	unsigned count = 0;

	if (!line->r->sample->raw)
		return cell_absent();
	while (tracepoints_field_at(tracepoints, id, count))
		count++;
	struct cell_entry *entries = arena_alloc(&line->worker->row, count * sizeof *entries);
	for (unsigned i = 0; (field = tracepoints_field_at(tracepoints, id, i)); i++)
		entries[i] = (struct cell_entry){ tracepoint_field_name(field), trace_field_cell(line, field) };
	return count ? cell_map(entries, count) : cell_absent();
}
