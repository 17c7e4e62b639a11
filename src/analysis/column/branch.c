/* Columns of reports whose rows are branches. */
#include <string.h>

#include "abi/branch.h"
#include "analysis/entry/names.h"
#include "analysis/entry/view.h"
#include "analysis/column/cells.h"
#include "analysis/entry/entry.h"
#include "base/hash.h"

enum { FROM, TO };

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

/* Rows of targets in different modules are different rows, also where their functions have the same range: each has facts of its own. */
static void end_symbol_key(const struct sample_view *view, int end, uint64_t *key)
{
	const struct view_end *at = &view->ends[end];
	const struct symbol *symbol = profile_symbol(view->profile, at->location->module, at->symbol);
	key[0] = symbol ? symbol->start : at->location->address;
	key[1] = (symbol ? symbol->end : 0) ^ hash_u64(view->ends[TO].location->module);
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
SAMPLE_KEY(in_tx_key) { *key = branch_is_in_transaction(view->branch_flags); }
SAMPLE_KEY(abort_key) { *key = branch_is_abort(view->branch_flags); }
SAMPLE_KEY(cycles_key) { *key = branch_cycles(view->branch_flags); }

/* Ends without a module precede, and names descend: the reverse of the column dso. */
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

VALUE(dso_from_value) { return module_cell(profile, end_of(entry, FROM)->module); }
VALUE(dso_to_value) { return module_cell(profile, end_of(entry, TO)->module); }

static struct cell end_cell(const struct profile *profile, const struct end_fact *end, uint64_t level)
{
	return place_cell(profile, end->module, end->symbol, end->map, end->offset, (char)level);
}

VALUE(symbol_from_value) { return end_cell(profile, end_of(entry, FROM), end_of(entry, FROM)->level); }
VALUE(symbol_to_value) { return end_cell(profile, end_of(entry, TO), end_of(entry, TO)->level); }

/* Addresses have the entry's own level. */
VALUE(addr_from_value) { return end_cell(profile, end_of(entry, FROM), entry->level); }
VALUE(addr_to_value) { return end_cell(profile, end_of(entry, TO), entry->level); }

VALUE(mispredict_value)
{
	uint64_t flags = *entry_key(entry, column);
	bool known = branch_is_predicted(flags) || branch_is_mispredicted(flags);
	return known ? cell_flag(!branch_is_predicted(flags)) : cell_absent();
}

VALUE(flag_value)
{
	return cell_flag(*entry_key(entry, column));
}

VALUE(cycles_value)
{
	int16_t cycles = (int16_t)*entry_key(entry, column);
	return cycles ? cell_number(cycles) : cell_absent();
}
