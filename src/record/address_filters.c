#include "record/address_filters.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/address_filter.h"
#include "os/file.h"
#include "os/permission.h"
#include "symbol/load.h"

enum { LIST_BYTES_MAX = 256 << 20 };

/* A function; `size` 0: unknown. */
struct extent {
	uint64_t start, size;
};

/* What one look-up has found so far. */
struct lookup {
	const struct address_place *place;
	struct extent found;
	bool started, duplicate;
	int seen;                   /* how many of the name */
};

static int refused(struct error *err)
{
	if (err)
		err->sys = EINVAL;
	return -1;
}

#define REFUSE(err, ...) (error_set(err, ERROR_USAGE, __VA_ARGS__), refused(err))

static int not_found(const char *where, const struct address_place *place, struct error *err)
{
	if (place->index > 0)
		return REFUSE(err, "%s%d. occurrence of symbol '%s' not found. Note that symbols must be functions.", where, place->index,
			place->symbol);
	return REFUSE(err, "%s%s '%s' not found. Note that symbols must be functions.", where, place->index ? "Symbol" : "Global symbol",
		place->symbol);
}

/* places: a line each. */
static int ambiguous(const char *kind, const struct address_place *place, struct str *places, struct error *err)
{
	REFUSE(err, "Multiple %ssymbols with name '%s'", kind, place->symbol);
	str_printf(places, "\nDisambiguate symbol name by inserting #n after the name e.g. %s #2\n"
		"Or select a global symbol by inserting #0 or #g or #G", place->symbol);
	return error_hint(err, "%s", str_text(places));
}

/* Offers the next symbol by address. Returns whether the look-up continues. */
static bool offer(struct lookup *l, uint64_t start, uint64_t size, bool matches, bool global)
{
	const struct address_place *place = l->place;
	if (l->started && !l->found.size)
		l->found.size = start - l->found.start;
	if (l->started && place->index > 0)
		return !l->found.size;
	bool chosen = matches && (place->index < 0 || (place->index == 0 ? global : ++l->seen == place->index));
	l->duplicate = chosen && l->started;
	if (chosen && !l->started) {
		l->started = true;
		l->found = (struct extent){ start, size };
	}
	return !l->duplicate;
}

/* One line of the kernel's list: "ADDRESS TYPE NAME[\tMODULE]"; only functions. */
static const char *next_function(const char *at, uint64_t *start, char *type, const char **name, size_t *length)
{
	while (*at) {
		char *end;
		const char *line = at, *newline = strchrnul(at, '\n');
		at = *newline ? newline + 1 : newline;
		*start = strtoull(line, &end, 16);
		if (end == line || newline - end < 4 || end[0] != ' ' || end[2] != ' ' || !strchr("TW", toupper((unsigned char)end[1])))
			continue;
		*type = end[1];
		*name = end + 3;
		*length = strcspn(*name, "\t\n");
		return at;
	}
	return NULL;
}

static int list_kernel(const char *list, const struct address_place *place, struct error *err)
{
	CLEANUP_STR struct str places = { 0 };
	const char *name;
	uint64_t start;
	size_t length, wanted = strlen(place->symbol);
	char type;
	unsigned count = 0;
	for (const char *at = list; (at = next_function(at, &start, &type, &name, &length));)
		if (length == wanted && memcmp(name, place->symbol, length) == 0)
			str_printf(&places, "%s#%u 0x%llx %c", count ? "\n" : "", count + 1, (unsigned long long)start, type), count++;
	return ambiguous("kernel ", place, &places, err);
}

static int find_kernel(const char *list, const struct address_place *place, struct extent *found, struct error *err)
{
	struct lookup l = { .place = place };
	const char *name;
	uint64_t start;
	size_t length, wanted = strlen(place->symbol);
	char type;
	for (const char *at = list; (at = next_function(at, &start, &type, &name, &length));)
		if (!offer(&l, start, 0, length == wanted && memcmp(name, place->symbol, length) == 0, isupper((unsigned char)type)))
			break;
	if (l.duplicate)
		return list_kernel(list, place, err);
	if (!l.started)
		return not_found("Kernel symbol lookup: ", place, err);
	*found = l.found;
	/* the last symbol of the list has no size */
	return found->size ? 0 : REFUSE(err, "Cannot determine size of symbol '%s'", place->symbol);
}

/* All functions of the list, and a page after the last. */
static int whole_kernel(const char *list, struct extent *found, struct error *err)
{
	uint64_t start, first = 0, last = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	const char *name;
	size_t length;
	char type;
	for (const char *at = list; (at = next_function(at, &start, &type, &name, &length));) {
		first = first ? first : start;
		last = start > last ? start : last;
	}
	*found = (struct extent){ first, (last + page - 1) / page * page + page - first };
	return first ? 0 : REFUSE(err, "/proc/kallsyms has no functions");
}

/* A file's symbols. */
struct file_symbols {
	struct modules modules;
	struct symbol_sources sources;
	struct symtab *table;
};

static void file_symbols_open(struct file_symbols *f, const char *path)
{
	static const struct symbols_options options = { .aliases = true };
	static const struct module_identity any = { 0 };
	modules_init(&f->modules);
	const struct module *module = modules_file(&f->modules, path, MODULE_FILE, &any);
	sources_init(&f->sources, &f->modules, &options);
	f->table = symtab_load(&f->sources, module);
}

static void file_symbols_close(struct file_symbols *f)
{
	symtab_free(&f->sources, f->table);
	sources_fini(&f->sources);
	modules_fini(&f->modules);
}

static bool is_named(const struct file_symbols *f, const struct symbol *symbol, const char *name)
{
	if (strcmp(symbol->name, name) == 0)
		return true;
	char *shown = name_demangle(&f->table->demangler, symbol->name);
	bool same = shown && strcmp(shown, name) == 0;
	free(shown);
	return same;
}

static int find_in_file(const struct file_symbols *f, const struct address_place *place, struct extent *found, struct error *err)
{
	const struct symbol_table *table = &f->table->table;
	struct lookup l = { .place = place };
	CLEANUP_STR struct str places = { 0 };
	unsigned count = 0;
	for (uint32_t i = 0; i < table->count; i++) {
		const struct symbol *s = &table->symbols[i];
		if (!offer(&l, s->start, s->end - s->start, is_named(f, s, place->symbol), s->binding == STB_GLOBAL))
			break;
	}
	for (uint32_t i = 0; i < table->count && l.duplicate; i++) {
		const struct symbol *s = &table->symbols[i];
		if (is_named(f, s, place->symbol))
			str_printf(&places, "%s#%u 0x%llx %c", count ? "\n" : "", count + 1, (unsigned long long)s->start,
				s->binding == STB_GLOBAL ? 'g' : s->binding == STB_LOCAL ? 'l' : 'w'), count++;
	}
	*found = l.found;
	return l.duplicate ? ambiguous("", place, &places, err) : l.started ? 0 : not_found("", place, err);
}

int address_filters_function(const char *file, const char *symbol, uint64_t *offset, struct error *err)
{
	const struct address_place place = { .symbol = symbol, .index = -1 };
	struct extent found = { 0 };
	struct file_symbols symbols;
	file_symbols_open(&symbols, file);
	int result = find_in_file(&symbols, &place, &found, err);
	file_symbols_close(&symbols);
	*offset = found.start;
	return result;
}

/* Where a filter's symbols are looked up. */
struct resolver {
	const struct address_filter *filter;
	struct str list;              /* of the kernel, read once */
	struct file_symbols file;
};

static int find(struct resolver *r, const struct address_place *place, struct extent *found, struct error *err)
{
	return r->filter->file ? find_in_file(&r->file, place, found, err) : find_kernel(str_text(&r->list), place, found, err);
}

static int whole(struct resolver *r, struct extent *found, struct error *err)
{
	struct stat st;
	if (!r->filter->file)
		return whole_kernel(str_text(&r->list), found, err);
	if (stat(r->filter->file, &st) != 0)
		return REFUSE(err, "Failed to determine filter for %s: cannot determine file size", r->filter->file);
	*found = (struct extent){ 0, (uint64_t)st.st_size };
	return 0;
}

static int resolve_places(struct resolver *r, struct extent *extent, struct error *err)
{
	const struct address_filter *f = r->filter;
	struct extent end;
	if (f->from.symbol && strcmp(f->from.symbol, "*") == 0)
		return whole(r, extent, err);
	*extent = (struct extent){ f->from.number, f->has_end ? f->end.number : 0 };
	if (f->from.symbol) {
		if (find(r, &f->from, &end, err) < 0)
			return -1;
		extent->start = end.start;
		extent->size = extent->size || !f->range || f->end.symbol ? extent->size : end.size;
	}
	if (!f->end.symbol)
		return 0;
	if (find(r, &f->end, &end, err) < 0)
		return -1;
	extent->size = end.start + end.size - extent->start;
	if (end.start + end.size >= extent->start)
		return 0;
	return REFUSE(err, "Symbol '%s' (0x%llx) comes before 0x%llx", f->end.symbol, (unsigned long long)end.start,
		(unsigned long long)extent->start);
}

static int open_symbols(struct resolver *r, struct error *err)
{
	if (!r->filter->from.symbol && !r->filter->end.symbol)
		return 0;
	if (r->filter->file) {
		char path[PATH_MAX];
		file_symbols_open(&r->file, realpath(r->filter->file, path) ? path : r->filter->file);
		return 0;
	}
	if (permission_hides_kernel())
		return REFUSE(err, "Kernel addresses are restricted. Unable to resolve kernel symbols.");
	return r->list.len || file_read("/proc/kallsyms", &r->list, LIST_BYTES_MAX, err) >= 0 ? 0 : refused(err);
}

static int resolve(struct resolver *r, struct str *out, struct error *err)
{
	const struct address_filter *f = r->filter;
	struct extent extent = { 0 };
	char path[PATH_MAX] = "";
	r->file = (struct file_symbols){ 0 };
	int status = open_symbols(r, err);
	if (status == 0)
		status = resolve_places(r, &extent, err);
	if (r->file.table)
		file_symbols_close(&r->file);
	if (status < 0)
		return -1;
	if (f->file && !realpath(f->file, path))
		return REFUSE(err, "the file %s of an address filter: %s", f->file, strerror(errno));
	str_printf(out, "%s%s 0x%llx", out->len ? "," : "", f->action, (unsigned long long)extent.start);
	if (f->range)
		str_printf(out, "/0x%llx", (unsigned long long)extent.size);
	str_printf(out, "%s%s", f->file ? "@" : "", path);
	return 0;
}

static int resolve_event(struct events *events, struct event *event, struct error *err)
{
	struct address_filters filters = { 0 };
	struct resolver resolver = { 0 };
	CLEANUP_STR struct str text = { 0 };
	uint64_t most = pmu_number(&events->pmus, pmus_named(&events->pmus, event->pmu), "nr_addr_filters");
	int status = address_filters_parse(&filters, event->filter, err);
	if (status == 0 && filters.list.count > most)
		status = REFUSE(err, "Error: number of address filters (%zu) exceeds maximum (%llu)", filters.list.count,
			(unsigned long long)most);
	for (size_t i = 0; i < filters.list.count && status == 0; i++) {
		resolver.filter = &filters.list.items[i];
		status = resolve(&resolver, &text, err);
	}
	event->filter = text.len ? arena_string(&events->arena, text.text, text.len) : NULL;
	str_fini(&resolver.list);
	address_filters_fini(&filters);
	return status;
}

int address_filters_resolve(struct events *events, struct error *err)
{
	for (size_t i = 0; i < events->list.count; i++) {
		struct event *event = &events->list.items[i];
		if (event->traces && event->filter && resolve_event(events, event, err) < 0)
			return -1;
	}
	return 0;
}
