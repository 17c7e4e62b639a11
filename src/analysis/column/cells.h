/* Declarations of the functions in the rows of the table in columns.c. Internal to the columns. */
#pragma once
#include "analysis/column/columns.h"
#include "analysis/entry/entry.h"
#include "analysis/entry/view.h"

/* From a sample. */
#define SAMPLE_KEY(name) void name(const struct sample_view *view, const struct column *column, uint64_t *key)
SAMPLE_KEY(member_key);      /* the member that the column's type names */
SAMPLE_KEY(pid_key);
SAMPLE_KEY(comm_key);
SAMPLE_KEY(parent_key);
SAMPLE_KEY(cpu_key);
SAMPLE_KEY(socket_key);
SAMPLE_KEY(weight_key);
SAMPLE_KEY(ins_lat_key);
SAMPLE_KEY(p_stage_cyc_key);
SAMPLE_KEY(trace_key);
SAMPLE_KEY(field_key);
SAMPLE_KEY(cgroup_key);
SAMPLE_KEY(cgroup_id_key);
SAMPLE_KEY(time_key);
SAMPLE_KEY(simd_key);
SAMPLE_KEY(dso_from_key);
SAMPLE_KEY(dso_to_key);
SAMPLE_KEY(symbol_from_key);
SAMPLE_KEY(symbol_to_key);
SAMPLE_KEY(addr_from_key);
SAMPLE_KEY(addr_to_key);
SAMPLE_KEY(mispredict_key);
SAMPLE_KEY(in_tx_key);
SAMPLE_KEY(abort_key);
SAMPLE_KEY(cycles_key);
SAMPLE_KEY(symbol_daddr_key);
SAMPLE_KEY(symbol_iaddr_key);
SAMPLE_KEY(dso_daddr_key);
SAMPLE_KEY(locked_key);
SAMPLE_KEY(tlb_key);
SAMPLE_KEY(level_key);
SAMPLE_KEY(snoop_key);
SAMPLE_KEY(blocked_key);
SAMPLE_KEY(dcacheline_key);
SAMPLE_KEY(srcline_from_key);
SAMPLE_KEY(srcline_to_key);

/* From a place. */
#define PLACE_KEY(name) void name(const struct profile *profile, const struct place *place, uint64_t *key)
PLACE_KEY(dso_key);
PLACE_KEY(symbol_key);
PLACE_KEY(symoff_key);
PLACE_KEY(symbol_size_key);
PLACE_KEY(dso_size_key);
PLACE_KEY(addr_key);
PLACE_KEY(source_key);

#define TEXT(name) \
	void name(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *out)
TEXT(srcline_text);
TEXT(type_text);
TEXT(typeoff_text);
TEXT(typecln_text);
TEXT(srcfile_text);
TEXT(srcline_from_text);
TEXT(srcline_to_text);

#define COMPARE(name) \
	int64_t name(const struct profile *profile, const struct column *column, const struct entry *a, const struct entry *b)
COMPARE(compare_down);      /* larger keys below, compared by int64 differences */
COMPARE(compare_up);        /* larger keys above */
COMPARE(compare_down_i32);
COMPARE(compare_differ);    /* distinguished, not ordered */
COMPARE(comm_compare);
COMPARE(dso_compare);
COMPARE(symbol_compare);
COMPARE(symbol_sort);
bool symbol_compare_rank(const struct profile *profile, const struct entry *entry, uint64_t *rank);
bool symbol_sort_rank(const struct profile *profile, const struct entry *entry, uint64_t *rank);
COMPARE(symoff_compare);
COMPARE(type_compare);
COMPARE(type_sort);
COMPARE(symoff_sort);
COMPARE(parent_compare);
COMPARE(symbol_size_compare);
COMPARE(trace_compare);
COMPARE(field_compare);
COMPARE(cgroup_id_compare);
COMPARE(dso_from_compare);
COMPARE(dso_to_compare);
COMPARE(symbol_from_compare);
COMPARE(symbol_to_compare);
COMPARE(addr_from_compare);
COMPARE(addr_to_compare);
COMPARE(dso_daddr_compare);
COMPARE(dcacheline_compare);
COMPARE(source_compare);
COMPARE(source_sort);

/* The value of a cell; *scratch stores texts that are made for it. */
#define VALUE(name) \
	struct cell name(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *scratch)
VALUE(task_value);
VALUE(comm_value);
VALUE(dso_value);
VALUE(symbol_value);
VALUE(symoff_value);
VALUE(parent_value);
VALUE(number_value);
VALUE(count_value);
VALUE(weight_value);
VALUE(local_latency_value);
VALUE(latency_value);
VALUE(transaction_value);
VALUE(trace_value);
VALUE(field_value);
VALUE(symbol_size_value);
VALUE(dso_size_value);
VALUE(cgroup_value);
VALUE(cgroup_id_value);
VALUE(no_value);
VALUE(ipc_value);
VALUE(time_value);
VALUE(page_size_value);
VALUE(addr_value);
VALUE(dso_from_value);
VALUE(dso_to_value);
VALUE(symbol_from_value);
VALUE(symbol_to_value);
VALUE(addr_from_value);
VALUE(addr_to_value);
VALUE(mispredict_value);
VALUE(flag_value);
VALUE(cycles_value);
VALUE(symbol_daddr_value);
VALUE(symbol_iaddr_value);
VALUE(dso_daddr_value);
VALUE(locked_value);
VALUE(tlb_value);
VALUE(level_value);
VALUE(snoop_value);
VALUE(blocked_value);
VALUE(dcacheline_value);
VALUE(phys_daddr_value);
VALUE(srcline_value);

struct cell place_cell(const struct profile *profile, uint32_t module, uint32_t symbol, const struct map *map, uint64_t address,
	char level);
struct cell module_cell(const struct profile *profile, uint32_t module);
/* Compares modules by name: > 0 if a follows b; no module precedes all. */
int64_t modules_compare(const struct profile *profile, uint32_t a, uint32_t b);
/* Any total order of places that is the same in each run: by symbol (its address, its name) or address. */
int64_t places_compare_all(const struct profile *profile, const struct place *a, const struct place *b);
/* The width of this field in the event's text, or its number of bytes if its size varies (and entries were compared). */
unsigned field_width(const struct profile *profile, const struct column *column, const struct entry *entry, bool compared);
/* Appends a field's value as text. */
void field_text(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *out);
