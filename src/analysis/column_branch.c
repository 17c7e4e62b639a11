/* Columns of reports whose rows are branches. */
#include <inttypes.h>

#include "analysis/collector.h"
#include "analysis/column_cells.h"
#include "analysis/hist.h"
#include "base/hash.h"

enum { FROM, TO };

/* Bits of struct branch_entry's flags. */
static bool mispredicted(uint64_t flags) { return flags & 1; }
static bool predicted(uint64_t flags) { return flags & 2; }
static bool in_transaction(uint64_t flags) { return flags & 4; }
static bool aborted(uint64_t flags) { return flags & 8; }
static uint16_t cycles_of(uint64_t flags) { return (uint16_t)(flags >> 4); }

static const struct end_fact *end_of(const struct entry *entry, int end)
{
	return &entry->facts->ends[end];
}

static void end_dso_key(const struct sample_view *view, int end, uint64_t *key)
{
	uint32_t module = view->ends[end].location->module;
	const char *name = module == MODULE_ID_NONE ? NULL : profile_module_name(view->profile, module);
	*key = name ? hash_bytes(name, strlen(name)) | 1 : 0;
}

static void end_symbol_key(const struct sample_view *view, int end, uint64_t *key)
{
	const struct view_end *at = &view->ends[end];
	const struct symbol *symbol = profile_symbol(view->profile, at->location->module, at->symbol);
	key[0] = symbol ? symbol->start : at->location->address;
	key[1] = symbol ? symbol->end : 0;
}

static void end_addr_key(const struct sample_view *view, int end, uint64_t *key)
{
	end_dso_key(view, end, &key[0]);
	key[1] = view->ends[end].location->address;
}

SAMPLE_KEY(dso_from_key) { end_dso_key(view, FROM, key); }
SAMPLE_KEY(dso_to_key) { end_dso_key(view, TO, key); }
SAMPLE_KEY(symbol_from_key) { end_symbol_key(view, FROM, key); }
SAMPLE_KEY(symbol_to_key) { end_symbol_key(view, TO, key); }
SAMPLE_KEY(addr_from_key) { end_addr_key(view, FROM, key); }
SAMPLE_KEY(addr_to_key) { end_addr_key(view, TO, key); }

SAMPLE_KEY(mispredict_key) { *key = view->branch_flags & 3; }
SAMPLE_KEY(in_tx_key) { *key = in_transaction(view->branch_flags); }
SAMPLE_KEY(abort_key) { *key = aborted(view->branch_flags); }
SAMPLE_KEY(cycles_key) { *key = cycles_of(view->branch_flags); }

/* Ends without a module stand above, and names fall: the other way round than the column dso. */
static int64_t ends_compare_dso(const struct profile *profile, const struct end_fact *a, const struct end_fact *b)
{
	if (a->module == MODULE_ID_NONE || b->module == MODULE_ID_NONE)
		return modules_compare(profile, b->module, a->module);
	return modules_compare(profile, a->module, b->module);
}

static int64_t ends_compare_symbol(const struct profile *profile, const struct end_fact *a, const struct end_fact *b)
{
	const struct symbol *symbol_a = profile_symbol(profile, a->module, a->symbol);
	const struct symbol *symbol_b = profile_symbol(profile, b->module, b->symbol);
	if (!symbol_a && !symbol_b)
		return (int64_t)(b->address - a->address);
	if (!symbol_a || !symbol_b)
		return symbol_a ? 1 : -1;
	if (symbol_a->start != symbol_b->start)
		return (int64_t)(symbol_b->start - symbol_a->start);
	return (int64_t)(symbol_b->end - symbol_a->end);
}

static int64_t ends_compare_addr(const struct profile *profile, const struct end_fact *a, const struct end_fact *b)
{
	int64_t order = ends_compare_dso(profile, a, b);
	return order ? order : (int64_t)(b->address - a->address);
}

COMPARE(dso_from_compare) { return ends_compare_dso(profile, end_of(a, FROM), end_of(b, FROM)); }
COMPARE(dso_to_compare) { return ends_compare_dso(profile, end_of(a, TO), end_of(b, TO)); }
COMPARE(symbol_from_compare) { return ends_compare_symbol(profile, end_of(a, FROM), end_of(b, FROM)); }
COMPARE(symbol_to_compare) { return ends_compare_symbol(profile, end_of(a, TO), end_of(b, TO)); }
COMPARE(addr_from_compare) { return ends_compare_addr(profile, end_of(a, FROM), end_of(b, FROM)); }
COMPARE(addr_to_compare) { return ends_compare_addr(profile, end_of(a, TO), end_of(b, TO)); }

static void end_dso_print(const struct profile *profile, const struct end_fact *end, unsigned width, struct str *out)
{
	print_left_cut(out, width, end->module == MODULE_ID_NONE ? "[unknown]" : profile_module_name(profile, end->module));
}

PRINT(dso_from_print) { end_dso_print(profile, end_of(entry, FROM), width, out); }
PRINT(dso_to_print) { end_dso_print(profile, end_of(entry, TO), width, out); }

static void end_symbol_print(const struct profile *profile, const struct end_fact *end, unsigned width, struct str *out)
{
	place_print(profile, end->module, end->symbol, end->map, end->offset, (char)end->level, width, out);
}

PRINT(symbol_from_print) { end_symbol_print(profile, end_of(entry, FROM), width, out); }
PRINT(symbol_to_print) { end_symbol_print(profile, end_of(entry, TO), width, out); }

/* "[k] name+0x12": the entry's own level. */
static void end_addr_print(const struct profile *profile, const struct entry *entry, int which, unsigned width, struct str *out)
{
	enum { STT_OBJECT = 1 };
	const struct end_fact *end = end_of(entry, which);
	size_t start = out->len;
	const struct symbol *symbol = profile_symbol(profile, end->module, end->symbol);
	str_printf(out, "[%c] ", entry->level);
	if (!symbol) {
		str_printf(out, "%-#.16" PRIx64, end->offset);
		return;
	}
	const char *name = profile_symbol_name(profile, end->module, end->symbol);
	uint64_t base = symbol->start;
	if (symbol->type == STT_OBJECT) {
		if (end->map && !end->map->identity)
			base += end->map->start - end->map->pgoff;
		str_printf(out, "%s+0x%" PRIx64, name, end->offset - base);
		return;
	}
	size_t used = out->len - start;
	print_cut(out, width > used ? width - (unsigned)used : UINT32_MAX, name);
	if (end->offset != base)
		str_printf(out, "+0x%" PRIx64, end->offset - base);
}

PRINT(addr_from_print) { end_addr_print(profile, entry, FROM, width, out); }
PRINT(addr_to_print) { end_addr_print(profile, entry, TO, width, out); }

PRINT(mispredict_print)
{
	uint64_t flags = *entry_key(entry, column);
	print_left_cut(out, width, predicted(flags) ? "N" : mispredicted(flags) ? "Y" : "N/A");
}

PRINT(in_tx_print)
{
	print_left(out, width, *entry_key(entry, column) ? "T" : ".");
}

PRINT(abort_print)
{
	print_left(out, width, *entry_key(entry, column) ? "A" : ".");
}

PRINT(cycles_print)
{
	int16_t cycles = (int16_t)*entry_key(entry, column);
	if (cycles)
		str_printf(out, "%-*hd", (int)width, cycles);
	else
		print_left(out, width, "-");
}
