/* Tracepoints: the text that the kernel's format makes of their fields. */
#include "script/internal.h"

/* Resolves kernel functions in the text. */
static bool resolve_function(void *context, uint64_t address, const char **name, uint64_t *start)
{
	const struct stream_line *line = context;
	const struct location *location = resolved_locate(line->r, RECORD_MISC_KERNEL, address);

	if (location->module == MODULE_ID_NONE)
		return false;
	const struct module *module = modules_get(&line->stream->session->model.modules, location->module);
	uint32_t id = symbols_lookup(line->stream->symbols, module, location->offset);
	if (!id)
		return false;
	*name = symbols_name(line->stream->symbols, module, id);
	*start = address - (location->offset - symbols_get(line->stream->symbols, module, id)->start);
	return true;
}

/* In one line, as the format and the strings come from the recording; without a newline at its end, which trace_marker has. */
void print_trace(const struct stream_line *line, const struct field_row *row)
{
	struct tracepoint_names names = { .resolve = resolve_function, .context = (void *)line };
	const struct sample *sample = line->r->sample;

	if (!sample->raw || !line->stream->tracepoints)
		return;
	struct writer own = { .fd = 0 }, *out = line->out;
	if (out->fd >= 0) { /* its buffer may be written at any time */
		writer_open(&own, -1, 0);
		out = &own;
	}
	size_t start = out->len;
	tracepoints_print_named(line->stream->tracepoints, sample->raw, sample->raw_size, &names, out);
	while (out->len > start && out->buffer[out->len - 1] == '\n')
		out->len--;
	text_join_lines(out->buffer + start, out->len - start);
	if (out == &own) {
		writer_add(line->out, own.buffer, own.len);
		writer_fini(&own);
	}
}
