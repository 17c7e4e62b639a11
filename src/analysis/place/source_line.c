#include "analysis/place/source_line.h"

#include <inttypes.h>
#include <stdlib.h>

void source_line_add_known(const struct source_line *line, bool full_path, struct str *out)
{
	const char *slash = full_path ? NULL : strrchr(line->file, '/');
	str_printf(out, "%s:%u", slash ? slash + 1 : line->file, line->line);
}

void source_line_add(struct symbols *symbols, const struct module *module, uint64_t offset, uint32_t symbol, struct source_style style,
	struct str *out)
{
	struct source_line line;
	if (!module) {
		str_puts(out, SOURCE_UNKNOWN);
	} else if (lines_place(symbols, module, offset, style.outermost, &line)) {
		source_line_add_known(&line, style.full_path, out);
	} else if (!style.show_address) {
		str_puts(out, style.show_symbol && symbol ? symbols_name(symbols, module, symbol) : SOURCE_UNKNOWN);
	} else if (symbol) {
		str_printf(out, "%s+%" PRIu64, style.show_symbol ? symbols_name(symbols, module, symbol) : "",
			offset - symbols_get(symbols, module, symbol)->start);
	} else {
		str_printf(out, "%s[%" PRIx64 "]", module->short_name, lines_address(symbols, module, offset));
	}
}

enum { REQUESTS_PER_JOB = 64 };

struct preparing {
	struct symbols *symbols;
	const struct source_request *requests;
	size_t count;
};

static int source_request_compare(const void *a, const void *b)
{
	const struct source_request *x = a, *y = b;
	if (x->module->id != y->module->id)
		return x->module->id < y->module->id ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void source_lines_read(void *context, size_t job, unsigned worker)
{
	const struct preparing *p = context;
	struct source_line line;
	for (size_t i = job * REQUESTS_PER_JOB; i < p->count && i < (job + 1) * REQUESTS_PER_JOB; i++)
		lines_place(p->symbols, p->requests[i].module, p->requests[i].offset, false, &line);
}

void source_lines_prepare(struct symbols *symbols, struct pool *pool, struct source_request *requests, size_t count)
{
	struct preparing p = { .symbols = symbols, .requests = requests, .count = count };
	if (!count)
		return;
	qsort(requests, count, sizeof *requests, source_request_compare);
	pool_run(pool, (count + REQUESTS_PER_JOB - 1) / REQUESTS_PER_JOB, source_lines_read, &p);
}
