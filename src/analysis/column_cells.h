/* What the rows of the table in columns.c are made of. Internal to the columns. */
#pragma once
#include "analysis/columns.h"

/* From a sample. */
#define SAMPLE_KEY(name) void name(const struct sample_view *view, const struct column *column, uint64_t *key)
SAMPLE_KEY(pid_key);
SAMPLE_KEY(comm_key);
SAMPLE_KEY(parent_key);
SAMPLE_KEY(cpu_key);
SAMPLE_KEY(socket_key);
SAMPLE_KEY(weight_key);
SAMPLE_KEY(ins_lat_key);
SAMPLE_KEY(p_stage_cyc_key);
SAMPLE_KEY(transaction_key);
SAMPLE_KEY(trace_key);
SAMPLE_KEY(field_key);
SAMPLE_KEY(cgroup_key);
SAMPLE_KEY(cgroup_id_key);
SAMPLE_KEY(time_key);
SAMPLE_KEY(code_page_size_key);
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
SAMPLE_KEY(phys_daddr_key);
SAMPLE_KEY(data_page_size_key);
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
TEXT(srcfile_text);
TEXT(srcline_from_text);
TEXT(srcline_to_text);

#define COMPARE(name) \
	int64_t name(const struct profile *profile, const struct column *column, const struct entry *a, const struct entry *b)
COMPARE(compare_down);      /* larger keys below: as int64 differences */
COMPARE(compare_up);        /* larger keys above */
COMPARE(compare_down_i32);
COMPARE(compare_differ);    /* told apart, not ordered */
COMPARE(comm_compare);
COMPARE(dso_compare);
COMPARE(symbol_compare);
COMPARE(symbol_sort);
COMPARE(symoff_compare);
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

#define PRINT(name) \
	void name(const struct profile *profile, const struct column *column, const struct entry *entry, unsigned width, struct str *out)
PRINT(pid_print);
PRINT(comm_print);
PRINT(dso_print);
PRINT(symbol_print);
PRINT(symoff_print);
PRINT(parent_print);
PRINT(cpu_print);
PRINT(socket_print);
PRINT(local_weight_print);
PRINT(weight_print);
PRINT(local_latency_print);
PRINT(latency_print);
PRINT(transaction_print);
PRINT(trace_print);
PRINT(field_print);
PRINT(symbol_size_print);
PRINT(dso_size_print);
PRINT(cgroup_print);
PRINT(cgroup_id_print);
PRINT(ipc_none_print);
PRINT(ipc_print);
PRINT(time_print);
PRINT(page_size_print);
PRINT(addr_print);
PRINT(simd_print);
PRINT(dso_from_print);
PRINT(dso_to_print);
PRINT(symbol_from_print);
PRINT(symbol_to_print);
PRINT(addr_from_print);
PRINT(addr_to_print);
PRINT(mispredict_print);
PRINT(in_tx_print);
PRINT(abort_print);
PRINT(cycles_print);
PRINT(symbol_daddr_print);
PRINT(symbol_iaddr_print);
PRINT(dso_daddr_print);
PRINT(locked_print);
PRINT(tlb_print);
PRINT(level_print);
PRINT(snoop_print);
PRINT(blocked_print);
PRINT(dcacheline_print);
PRINT(phys_daddr_print);
PRINT(srcline_print);
PRINT(srcline_end_print);

/* "[k] name" or "[k] 0x000000000000abcd", with the address and the table's origin before it under -v. */
void place_print(const struct profile *profile, uint32_t module, uint32_t symbol, const struct map *map, uint64_t address,
	char level, unsigned width, struct str *out);
/* snprintf("%-*.*s"), "%-*s" and "%-.*s" without a copy. */
void print_left_cut(struct str *out, unsigned width, const char *text);
void print_left(struct str *out, unsigned width, const char *text);
void print_cut(struct str *out, unsigned width, const char *text);
/* An order of modules by name: > 0 where a's is behind b's; one without a module stands before all. */
int64_t modules_compare(const struct profile *profile, uint32_t a, uint32_t b);
/* Some order of what places show, the same in each run: by symbol (where it lies, its name) or address. */
int64_t places_compare_all(const struct profile *profile, const struct place *a, const struct place *b);
/* How wide the event's text shows this field, or how many bytes it has where its size varies (and entries were compared). */
unsigned field_width(const struct profile *profile, const struct column *column, const struct entry *entry, bool compared);
/* A field's value as text. */
void field_text(const struct profile *profile, const struct column *column, const struct entry *entry, struct str *out);
