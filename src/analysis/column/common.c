/* Columns that any report may have. */
#include <string.h>

#include "abi/sample.h"
#include "analysis/entry/names.h"
#include "analysis/entry/view.h"
#include "analysis/column/cells.h"
#include "analysis/entry/entry.h"
#include "base/hash.h"

enum { COMM_ROOM = 32 }; /* of one that is made of a number */

static char *scratch_room(struct str *scratch)
{
	str_clear(scratch);
	str_reserve(scratch, COMM_ROOM);
	return scratch->text;
}

/* Orders of plain keys. */

COMPARE(compare_down)
{
	return (int64_t)(*entry_key(b, column) - *entry_key(a, column));
}

COMPARE(compare_up)
{
	return (int64_t)(*entry_key(a, column) - *entry_key(b, column));
}

COMPARE(compare_down_i32)
{
	return (int64_t)(int32_t)*entry_key(b, column) - (int32_t)*entry_key(a, column);
}

COMPARE(compare_differ)
{
	return *entry_key(a, column) != *entry_key(b, column);
}

/* pid, comm */

SAMPLE_KEY(pid_key)
{
	*key = (uint32_t)view->r->tid;
}

VALUE(task_value)
{
	const char *comm = profile_thread_comm(profile, entry->thread, entry->tid, scratch_room(scratch), COMM_ROOM);
	return (struct cell){ .kind = CELL_TASK, .task = { .tid = (int32_t)*entry_key(entry, column), .comm = comm } };
}

SAMPLE_KEY(comm_key)
{
	const struct resolved *r = view->r;
	if (r->comm != COMM_NONE)
		*key = r->comm;
	else if (r->thread != THREAD_NONE)
		*key = COMM_KEY_THREAD | r->thread;
	else
		*key = COMM_KEY_TID | (uint32_t)r->tid;
}

COMPARE(comm_compare)
{
	uint64_t key_a = *entry_key(a, column), key_b = *entry_key(b, column);
	char buffer_a[32], buffer_b[32];
	if (key_a == key_b)
		return 0;
	return strcmp(profile_comm(profile, key_b, buffer_b, sizeof buffer_b), profile_comm(profile, key_a, buffer_a, sizeof buffer_a));
}

VALUE(comm_value)
{
	return cell_text(profile_comm(profile, *entry_key(entry, column), scratch_room(scratch), COMM_ROOM));
}

/* dso */

PLACE_KEY(dso_key)
{
	const char *name = place->module == MODULE_ID_NONE ? NULL : profile_module_name(profile, place->module);
	*key = name ? hash_bytes(name, strlen(name)) | 1 : 0;
}

int64_t modules_compare(const struct profile *profile, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (a == MODULE_ID_NONE || b == MODULE_ID_NONE)
		return a == MODULE_ID_NONE ? -1 : 1;
	return strcmp(profile_module_name(profile, a), profile_module_name(profile, b));
}

static int64_t places_compare_dso(const struct profile *profile, const struct place *a, const struct place *b)
{
	if (a->module == MODULE_ID_NONE || b->module == MODULE_ID_NONE)
		return modules_compare(profile, a->module, b->module);
	return modules_compare(profile, b->module, a->module);
}

COMPARE(dso_compare)
{
	return places_compare_dso(profile, entry_place(profile, a), entry_place(profile, b));
}

struct cell module_cell(const struct profile *profile, uint32_t module)
{
	return cell_text(module == MODULE_ID_NONE ? NULL : profile_module_name(profile, module));
}

VALUE(dso_value)
{
	return module_cell(profile, entry_place(profile, entry)->module);
}

/* symbol */

PLACE_KEY(symbol_key)
{
	const struct symbol *symbol = profile_symbol(profile, place->module, place->symbol);
	key[0] = symbol ? symbol->start : place->ip;
	key[1] = symbol ? symbol->end : 0;
	key[2] = 0;
	if (symbol && !profile->options.columns->has_dso)
		dso_key(profile, place, &key[2]);
	if (symbol_is_inlined(place->symbol))
		key[2] ^= hash_bytes(symbol->name, strlen(symbol->name));
	if (symbol)
		key[2] |= (uint64_t)1 << 63; /* apart from an address */
	else
		key[2] &= ~((uint64_t)1 << 63);
}

static int64_t symbols_compare(const struct symbol *a, const struct symbol *b)
{
	if (!a || !b)
		return a ? 1 : b ? -1 : 0;
	if (a->start != b->start)
		return (int64_t)(b->start - a->start);
	return (int64_t)(b->end - a->end);
}

static int64_t places_compare_symbol(const struct profile *profile, const struct place *a, const struct place *b)
{
	if (!a->symbol && !b->symbol)
		return (int64_t)(b->ip - a->ip);
	if (!profile->options.columns->has_dso) {
		int64_t order = places_compare_dso(profile, a, b);
		if (order)
			return order;
	}
	if (a->symbol && b->symbol && (symbol_is_inlined(a->symbol) || symbol_is_inlined(b->symbol))) {
		int order = strcmp(profile_symbol_name(profile, a->module, a->symbol), profile_symbol_name(profile, b->module, b->symbol));
		if (order)
			return order;
	}
	return symbols_compare(profile_symbol(profile, a->module, a->symbol), profile_symbol(profile, b->module, b->symbol));
}

int64_t places_compare_all(const struct profile *profile, const struct place *a, const struct place *b)
{
	const struct symbol *x = profile_symbol(profile, a->module, a->symbol), *y = profile_symbol(profile, b->module, b->symbol);
	if (!x || !y)
		return x ? 1 : y ? -1 : (a->ip > b->ip) - (a->ip < b->ip);
	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	if (x->end != y->end)
		return x->end > y->end ? 1 : -1;
	return strcmp(profile_symbol_name(profile, a->module, a->symbol), profile_symbol_name(profile, b->module, b->symbol));
}

static int64_t places_sort_symbol(const struct profile *profile, const struct place *a, const struct place *b)
{
	if (!a->symbol || !b->symbol)
		return a->symbol ? 1 : b->symbol ? -1 : 0;
	if (a->symbol == b->symbol && a->module == b->module)
		return 0;
	return strcmp(profile_symbol_name(profile, b->module, b->symbol), profile_symbol_name(profile, a->module, a->symbol));
}

COMPARE(symbol_compare)
{
	return places_compare_symbol(profile, entry_place(profile, a), entry_place(profile, b));
}

bool symbol_compare_rank(const struct profile *profile, const struct entry *entry, uint64_t *rank)
{
	const struct place *place = entry_place(profile, entry);
	*rank = place->ip ^ (uint64_t)1 << 63; /* compared by signed differences */
	return !place->symbol;
}

/* Addresses are equal to each other here. */
bool symbol_sort_rank(const struct profile *profile, const struct entry *entry, uint64_t *rank)
{
	*rank = 0;
	return !entry_place(profile, entry)->symbol;
}

COMPARE(symbol_sort)
{
	return places_sort_symbol(profile, entry_place(profile, a), entry_place(profile, b));
}

struct cell place_cell(const struct profile *profile, uint32_t module, uint32_t symbol, const struct map *map, uint64_t address,
	char level)
{
	enum { STT_OBJECT = 1 };
	const struct symbol *known = profile_symbol(profile, module, symbol);
	struct cell_place place = { .address = address, .level = level, .origin = '!' };
	if (module != MODULE_ID_NONE) {
		char origin = symbols_info(profile->symbols, profile_module(profile, module)).origin;
		place.origin = origin ? origin : '!';
		place.module = profile_module_name(profile, module);
	}
	if (known) {
		place.symbol = profile_symbol_name(profile, module, symbol);
		place.data = known->type == STT_OBJECT;
		place.inlined = symbol_is_inlined(symbol);
		place.offset = address - known->start;
		if (place.data && map && !map->identity)
			place.offset = address - (known->start - map->pgoff + map->start);
	}
	return (struct cell){ .kind = CELL_PLACE, .place = place };
}

VALUE(symbol_value)
{
	const struct place *place = entry_place(profile, entry);
	return place_cell(profile, place->module, place->symbol, place->map, place->ip, (char)entry->level);
}

/* symoff */

PLACE_KEY(symoff_key)
{
	symbol_key(profile, place, key);
	key[3] = place->ip;
}

COMPARE(symoff_compare)
{
	int64_t order = symbol_compare(profile, column, a, b);
	return order ? order : (int64_t)(entry_place(profile, a)->ip - entry_place(profile, b)->ip);
}

COMPARE(symoff_sort)
{
	int64_t order = symbol_sort(profile, column, a, b);
	return order ? order : (int64_t)(entry_place(profile, a)->ip - entry_place(profile, b)->ip);
}

VALUE(symoff_value)
{
	const struct place *place = entry_place(profile, entry);
	const struct symbol *symbol = profile_symbol(profile, place->module, place->symbol);
	struct cell cell = symbol_value(profile, column, entry, scratch);
	cell.place.offset = symbol ? place->ip - symbol->start : 0;
	return cell;
}

/* parent */

SAMPLE_KEY(parent_key)
{
	const char *name = view->parent_symbol ? profile_symbol_name(view->profile, view->parent_module, view->parent_symbol) : NULL;
	*key = name ? hash_bytes(name, strlen(name)) | 1 : 0;
}

static const char *parent_name(const struct profile *profile, const struct entry *entry)
{
	const struct sample_facts *facts = entry->facts;
	return facts->parent_symbol ? profile_symbol_name(profile, facts->parent_module, facts->parent_symbol) : NULL;
}

COMPARE(parent_compare)
{
	const char *name_a = parent_name(profile, a), *name_b = parent_name(profile, b);
	if (!name_a || !name_b)
		return name_a ? 1 : name_b ? -1 : 0;
	return strcmp(name_b, name_a);
}

VALUE(parent_value)
{
	return cell_text(parent_name(profile, entry));
}

/* cpu, socket */

SAMPLE_KEY(cpu_key)
{
	*key = view->r->sample->cpu;
}

VALUE(number_value)
{
	return cell_number((int32_t)*entry_key(entry, column));
}

SAMPLE_KEY(socket_key)
{
	*key = (uint32_t)profile_socket(view->profile, view->r->sample->cpu);
}

/* weights and latencies */

SAMPLE_KEY(weight_key)
{
	*key = view->weight;
}

VALUE(count_value)
{
	return cell_count(*entry_key(entry, column));
}

VALUE(weight_value)
{
	return cell_count(*entry_key(entry, column) * entry->self.count);
}

SAMPLE_KEY(ins_lat_key)
{
	*key = view->r->sample->ins_lat;
}

SAMPLE_KEY(p_stage_cyc_key)
{
	*key = view->r->sample->p_stage_cyc;
}

VALUE(local_latency_value)
{
	return cell_count((uint32_t)*entry_key(entry, column));
}

VALUE(latency_value)
{
	return cell_count((uint32_t)*entry_key(entry, column) * entry->self.count);
}

/* cgroup */

SAMPLE_KEY(cgroup_key)
{
	*key = view->r->sample->cgroup;
}

VALUE(cgroup_value)
{
	uint64_t cgroup = *entry_key(entry, column);
	const char *path = model_cgroup_path(&profile->session->model, cgroup);
	return cell_text(!cgroup ? NULL : path ? path : "unknown");
}

SAMPLE_KEY(cgroup_id_key)
{
	enum { CGROUP_NAMESPACE = 6 };
	const struct model *model = &view->r->session->model;
	key[0] = key[1] = 0;
	if (view->r->thread == THREAD_NONE)
		return;
	const struct thread *thread = model->threads.items[view->r->thread];
	for (size_t i = thread->namespaces.count; i-- > 0;) {
		const struct thread_namespaces *namespaces = &thread->namespaces.items[i];
		if (namespaces->clock > view->r->clock)
			continue;
		if (namespaces->count > CGROUP_NAMESPACE) {
			key[0] = model->namespaces.items[namespaces->first + CGROUP_NAMESPACE].dev;
			key[1] = model->namespaces.items[namespaces->first + CGROUP_NAMESPACE].inode;
		}
		return;
	}
}

COMPARE(cgroup_id_compare)
{
	const uint64_t *key_a = entry_key(a, column), *key_b = entry_key(b, column);
	return key_a[0] != key_b[0] ? (int64_t)(key_a[0] - key_b[0]) : (int64_t)(key_a[1] - key_b[1]);
}

VALUE(cgroup_id_value)
{
	const uint64_t *key = entry_key(entry, column);
	return (struct cell){ .kind = CELL_FILE_ID, .file_id = { .device = key[0], .inode = key[1] } };
}

/* ipc: cycles need disassembly, which a report on a terminal does not do */

VALUE(no_value)
{
	return cell_absent();
}

VALUE(ipc_value)
{
	const struct place *place = entry_place(profile, entry);
	const struct profile_options *options = &profile->options;
	struct function_ipc value = { 0 };
	if (!place->symbol)
		return cell_absent();
	if (options->ipc)
		value = options->ipc(options->ipc_context, place->module, place->symbol);
	str_clear(scratch);
	str_printf(scratch, "%-5.2f [%5.1f%%]", value.ipc, value.coverage);
	return cell_text(str_text(scratch));
}

/* time */

SAMPLE_KEY(time_key)
{
	uint64_t quantum = view->profile->options.time_quantum_ns, time = view->time;
	*key = quantum ? time / quantum * quantum : time;
}

VALUE(time_value)
{
	return cell_time(*entry_key(entry, column));
}

/* a number of the sample, and page sizes */

SAMPLE_KEY(member_key)
{
	*key = load_u64((const uint8_t *)view->r->sample + column->type->member);
}

VALUE(page_size_value)
{
	return cell_bytes(*entry_key(entry, column));
}

/* sizes */

PLACE_KEY(symbol_size_key)
{
	const struct symbol *symbol = profile_symbol(profile, place->module, place->symbol);
	*key = symbol ? symbol->end - symbol->start : 0;
}

COMPARE(symbol_size_compare)
{
	int64_t size_a = (int64_t)*entry_key(a, column), size_b = (int64_t)*entry_key(b, column);
	return (size_b < size_a) ? -1 : size_b > size_a;
}

VALUE(symbol_size_value)
{
	bool known = entry_place(profile, entry)->symbol;
	return known ? cell_number((int32_t)*entry_key(entry, column)) : cell_absent();
}

/* The mapping's size; for the kernel, if names come from kallsyms, the extent of these. */
PLACE_KEY(dso_size_key)
{
	uint64_t start, end;
	*key = place->map ? place->map->end - place->map->start : 0;
	const struct module *module = place->map ? profile_module(profile, place->module) : NULL;
	if (module && module->kind == MODULE_KERNEL && symbols_extent(profile->symbols, module, &start, &end) &&
	    symbols_info(profile->symbols, module).origin == 'k')
		*key = end - start;
}

VALUE(dso_size_value)
{
	bool known = entry_place(profile, entry)->map;
	return known ? cell_number((int32_t)*entry_key(entry, column)) : cell_absent();
}

/* addr */

PLACE_KEY(addr_key)
{
	const struct map *map = place->map;
	*key = !map || map->identity ? place->ip : place->ip - map->pgoff + map->start;
}

VALUE(addr_value)
{
	return cell_address(*entry_key(entry, column));
}

/* simd: no recording of this format fills it yet */

SAMPLE_KEY(simd_key)
{
	*key = 0;
}
