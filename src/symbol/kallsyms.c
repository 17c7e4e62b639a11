#include "symbol/kallsyms.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/text.h"

struct line {
	uint64_t address;
	const char *name;
	size_t len;
	char type;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses the next valid line; *at moves behind it. */
static bool line_next(const char *text, size_t len, size_t *at, struct line *line)
{
	while (*at < len) {
		const char *p = text + *at, *newline = memchr(p, '\n', len - *at);
		const char *end = newline ? newline : text + len;
		*at = (size_t)(end - text) + 1;
		const char *start = p;
		line->address = 0;
		for (int digit; p < end && (digit = hex_digit(*p)) >= 0; p++)
			line->address = line->address << 4 | (unsigned)digit;
		if (p == start || end - p < 3 || p[0] != ' ' || p[2] != ' ')
			continue;
		line->type = p[1];
		line->name = p + 3;
		line->len = strnlen(line->name, (size_t)(end - line->name));
		if (line->len > KALLSYMS_NAME_MAX)
			line->len = KALLSYMS_NAME_MAX;
		return true;
	}
	return false;
}

static bool type_is_symbol(char type)
{
	return strchr("tTwWdDbB", type) && type;
}

static uint64_t find_address(const char *text, size_t len, const char *name, const char *types)
{
	size_t wanted = strlen(name);
	const char *found = text, *end = text + len;
	/* only lines that contain the name are parsed */
	while (wanted && found < end && (found = memmem(found, (size_t)(end - found), name, wanted))) {
		const char *before = memrchr(text, '\n', (size_t)(found - text)), *stop = memchr(found, '\n', (size_t)(end - found));
		const char *start = before ? before + 1 : text;
		stop = stop ? stop : end;
		size_t at = 0;
		struct line line;
		if (line_next(start, (size_t)(stop - start), &at, &line) && line.len == wanted && line.name == found &&
		    strchr(types, line.type))
			return line.address;
		found = stop;
	}
	return 0;
}

uint64_t kallsyms_address(const char *text, size_t len, const char *name)
{
	return find_address(text, len, name, "tTwW");
}

uint64_t kallsyms_any_address(const char *text, size_t len, const char *name)
{
	return find_address(text, len, name, "tTwWdDbB");
}

static void marks_note(struct kallsyms_marks *marks, const struct line *line)
{
	uint64_t *mark = line->len == 5 && memcmp(line->name, "_text", 5) == 0 ? &marks->text :
		line->len == 6 && memcmp(line->name, "_stext", 6) == 0 ? &marks->stext : NULL;
	if (mark && !*mark && strchr("tTwW", line->type))
		*mark = line->address;
}

static void kallsyms_add(struct table_builder *b, const struct line *line, const char *name)
{
	bool upper = line->type >= 'A' && line->type <= 'Z', function = strchr("tTwW", line->type) != NULL;
	uint8_t binding = line->type == 'W' ? STB_WEAK : upper ? STB_GLOBAL : STB_LOCAL;
	builder_add(b, line->address, 0, name, binding, function ? STT_FUNC : STT_OBJECT);
}

static uint32_t symbols_split(struct kallsyms *k, struct symbol_table *whole)
{
	uint32_t kept = 0, moved = 0;
	k->in_modules = memory_alloc(whole->count * sizeof *k->in_modules);
	for (uint32_t i = 0; i < whole->count; i++) {
		struct symbol symbol = whole->symbols[i];
		char *tab = strchr(symbol.name, '\t');
		symbol.flags = 0;
		if (tab) {
			*tab = '\0';
			k->in_modules[moved++] = symbol;
		} else if (strcmp(symbol.name, "__entry_SYSCALL_64_trampoline") != 0) {
			whole->symbols[kept++] = symbol;
		}
	}
	k->in_modules = memory_resize(k->in_modules, moved, sizeof *k->in_modules);
	k->in_modules_count = moved;
	return kept;
}

void kallsyms_parse(struct kallsyms *k, char *text, size_t len)
{
	static const struct demangler as_they_are = { .off = true };
	*k = (struct kallsyms){ .hidden = true };
	struct table_builder builder;
	builder_init(&builder, &as_they_are);
	size_t at = 0, used = 0;
	struct line line;
	while (builder.fresh.count < UINT32_MAX / 64 && line_next(text, len, &at, &line)) {
		k->hidden &= line.address == 0;
		if (!type_is_symbol(line.type) || (line.len && *line.name == '$'))
			continue;
		if (line.len && *line.name == '_')
			marks_note(&k->marks, &line);
		kallsyms_add(&builder, &line, text_keep(text, &used, line.name, line.len));
	}
	k->text = text_shrink(text, used, &builder);
	builder_merge(&builder);
	builder_fix_ends(&builder, true);
	builder_drop_duplicates(&builder);
	struct symbol_table whole;
	builder_finish(&builder, &whole);
	uint32_t kept = symbols_split(k, &whole);
	k->kernel = (struct symbol_table){ .symbols = memory_resize(whole.symbols, kept, sizeof *whole.symbols), .count = kept };
	whole.symbols = NULL;
	table_fini(&whole);
}

void kallsyms_fini(struct kallsyms *k)
{
	table_fini(&k->kernel);
	free(k->in_modules);
	free(k->text);
	*k = (struct kallsyms){ 0 };
}

void kallsyms_module(const struct kallsyms *k, const char *module, uint64_t start, struct symbol_table *table)
{
	VEC(struct symbol) found = { 0 };
	for (uint32_t i = 0; i < k->in_modules_count; i++) {
		struct symbol symbol = k->in_modules[i];
		if (strcmp(symbol.name + strlen(symbol.name) + 1, module) != 0 || symbol.start < start)
			continue;
		symbol.start -= start;
		symbol.end -= start;
		vec_push(&found, symbol);
	}
	*table = (struct symbol_table){ .symbols = memory_resize(found.items, found.count, sizeof *found.items),
		.count = (uint32_t)found.count };
}
