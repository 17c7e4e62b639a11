/* Columns of reports whose rows are memory accesses. */
#include <string.h>
#include <sys/mman.h>

#include "abi/sample.h"
#include "analysis/entry/names.h"
#include "analysis/entry/view.h"
#include "analysis/column/cells.h"
#include "abi/data_source.h"
#include "analysis/entry/entry.h"
#include "base/hash.h"

enum { INSTRUCTION, DATA };
enum { CACHELINE = 64 };

static uint64_t source_of(const struct sample_view *view)
{
	const struct sample *sample = view->r->sample;
	return sample->present & SAMPLE_DATA_SRC ? sample->data_src : DATA_SOURCE_NONE;
}

SAMPLE_KEY(symbol_daddr_key) { *key = view->r->sample->addr; }
SAMPLE_KEY(symbol_iaddr_key) { *key = view->r->sample->ip; }
SAMPLE_KEY(locked_key) { *key = data_source_part(source_of(view), SOURCE_LOCK); }
SAMPLE_KEY(tlb_key) { *key = data_source_part(source_of(view), SOURCE_TLB); }
SAMPLE_KEY(level_key) { *key = data_source_part(source_of(view), SOURCE_LEVEL); }
SAMPLE_KEY(snoop_key) { *key = data_source_part(source_of(view), SOURCE_SNOOP); }
SAMPLE_KEY(blocked_key) { *key = data_source_part(source_of(view), SOURCE_BLOCK); }

SAMPLE_KEY(dso_daddr_key)
{
	uint32_t module = view->ends[DATA].location->module;
	const char *name = module == MODULE_ID_NONE ? NULL : profile_module_name(view->profile, module);
	*key = name ? hash_bytes(name, strlen(name)) | 1 : 0;
}

/* Mode of the sample, identity of the file (0: no file, 1: no identity), process if the memory is private, line. */
enum { LINE_MODE, LINE_MODULE, LINE_PROCESS, LINE_PROCESS_GIVEN, LINE_ADDRESS };

static bool module_has_identity(const struct module *module)
{
	return module->maj || module->min || module->ino || module->ino_generation;
}

static uint64_t module_identity(const struct module *module)
{
	if (!module_has_identity(module))
		return 1;
	return hash_pair(hash_pair((uint64_t)module->maj << 32 | module->min, module->ino), 2) | 2;
}

SAMPLE_KEY(dcacheline_key)
{
	const struct view_end *data = &view->ends[DATA];
	const struct map *map = data->location->map;
	key[LINE_MODE] = view->cpumode;
	key[LINE_MODULE] = map ? module_identity(profile_module(view->profile, map->module)) : 0;
	key[LINE_PROCESS] = key[LINE_PROCESS_GIVEN] = 0;
	key[LINE_ADDRESS] = data->offset & ~(uint64_t)(CACHELINE - 1);
	if (map && view->cpumode != RECORD_MISC_KERNEL && !(map->flags & MAP_SHARED) &&
	    !module_has_identity(profile_module(view->profile, map->module))) {
		key[LINE_PROCESS] = (uint32_t)view->r->pid;
		key[LINE_PROCESS_GIVEN] = 1;
	}
}

/* Greater first: -1, as perf's tree has it the other way round from its other columns. */
static int64_t falling(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int64_t modules_compare_identity(const struct module *a, const struct module *b)
{
	if (a->maj != b->maj)
		return falling(a->maj, b->maj);
	if (a->min != b->min)
		return falling(a->min, b->min);
	if (a->ino != b->ino)
		return falling(a->ino, b->ino);
	return 0;
}

COMPARE(dcacheline_compare)
{
	const uint64_t *x = entry_key(a, column), *y = entry_key(b, column);
	if (x[LINE_MODE] != y[LINE_MODE])
		return falling(x[LINE_MODE], y[LINE_MODE]);
	if (!x[LINE_MODULE] != !y[LINE_MODULE])
		return x[LINE_MODULE] ? 1 : -1;
	if (x[LINE_MODULE] != y[LINE_MODULE]) {
		int64_t order = modules_compare_identity(profile_module(profile, a->facts->ends[DATA].module),
			profile_module(profile, b->facts->ends[DATA].module));
		if (order)
			return order;
	}
	if (x[LINE_PROCESS_GIVEN] && (int32_t)x[LINE_PROCESS] != (int32_t)y[LINE_PROCESS])
		return (int32_t)x[LINE_PROCESS] > (int32_t)y[LINE_PROCESS] ? -1 : 1;
	return falling(x[LINE_ADDRESS], y[LINE_ADDRESS]);
}

COMPARE(dso_daddr_compare)
{
	uint32_t module_a = a->facts->ends[DATA].module, module_b = b->facts->ends[DATA].module;
	if (module_a == MODULE_ID_NONE || module_b == MODULE_ID_NONE)
		return modules_compare(profile, module_b, module_a);
	return modules_compare(profile, module_a, module_b);
}

VALUE(symbol_daddr_value)
{
	const struct end_fact *data = &entry->facts->ends[DATA];
	return place_cell(profile, data->module, data->symbol, data->map, data->address, (char)entry->level);
}

VALUE(symbol_iaddr_value)
{
	const struct end_fact *code = &entry->facts->ends[INSTRUCTION];
	return place_cell(profile, code->module, code->symbol, code->map, code->address, (char)entry->level);
}

VALUE(dso_daddr_value)
{
	return module_cell(profile, entry->facts->ends[DATA].module);
}

VALUE(dcacheline_value)
{
	const struct end_fact *data = &entry->facts->ends[DATA];
	char level = (char)entry->level;
	if (!data->map)
		level = 'X';
	else if (entry->facts->cpumode != RECORD_MISC_KERNEL && !(data->map->prot & PROT_EXEC) && data->map->flags & MAP_SHARED &&
		 module_has_identity(profile_module(profile, data->module)))
		level = 's';
	return place_cell(profile, data->module, data->symbol, data->map, data->offset & ~(uint64_t)(CACHELINE - 1), level);
}

static struct cell source_cell(const struct entry *entry, enum data_source_part part, struct str *scratch)
{
	enum { SOURCE_ROOM = 96 };
	str_clear(scratch);
	str_reserve(scratch, SOURCE_ROOM);
	data_source_text(entry->facts->data_source, part, scratch->text, SOURCE_ROOM);
	return cell_text(scratch->text);
}

VALUE(locked_value) { return source_cell(entry, SOURCE_LOCK, scratch); }
VALUE(tlb_value) { return source_cell(entry, SOURCE_TLB, scratch); }
VALUE(level_value) { return source_cell(entry, SOURCE_LEVEL, scratch); }
VALUE(snoop_value) { return source_cell(entry, SOURCE_SNOOP, scratch); }
VALUE(blocked_value) { return source_cell(entry, SOURCE_BLOCK, scratch); }

VALUE(phys_daddr_value)
{
	struct cell_place place = { .address = *entry_key(entry, column), .level = (char)entry->level, .origin = '!' };
	return (struct cell){ .kind = CELL_PLACE, .place = place };
}
