#include "symbol/perf_map.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/text.h"

#define PERF_MAP_SYMBOLS_LIMIT (4u << 20)

/* Returns the name, which extends to the end of the line and has at least three characters; NULL if the line is too short. As in perf, a
 * missing number is 0, so that lines of another form are still inserted. */
static const char *parse_line(char *line, size_t len, uint64_t *start, uint64_t *size)
{
	char *p = line, *end = line + len;
	uint64_t *const numbers[] = { start, size };
	for (unsigned i = 0; i < 2; i++) {
		*numbers[i] = strtoull(p, &p, 16);
		if (end - p < 4)
			return NULL;
		p++;
	}
	return p;
}

void perf_map_parse(char *text, size_t len, struct symbol_table *table, char **owned)
{
	static const struct demangler as_they_are = { .off = true };
	struct table_builder builder;
	builder_init(&builder, &as_they_are);
	size_t used = 0;
	char *stop = text + len;
	for (char *line = text, *end; line < stop && builder.fresh.count < PERF_MAP_SYMBOLS_LIMIT; line = end + 1) {
		end = memchr(line, '\n', (size_t)(stop - line));
		end = end ? end : stop;
		*end = '\0';
		uint64_t start, size;
		const char *name = parse_line(line, (size_t)(end - line), &start, &size);
		if (!name)
			continue;
		name = text_keep(text, &used, name, strlen(name));
		builder_add(&builder, start, size, name, STB_GLOBAL, STT_FUNC);
	}
	*owned = text_shrink(text, used, &builder);
	builder_merge(&builder);
	builder_finish(&builder, table);
}
