/* Types of accessed memory as perf's text: perf annotate --data-type, --type-stat, --insn-stat. */
#pragma once
#include "analysis/datatype/type_hits.h"
#include "render/annotate/annotate_text.h"

/* One type for the events of a group. */
struct type_view {
	const struct type_hits *list;
	const struct type_sum *sum;
	const uint32_t *events;
	const char *const *event_names; /* of these events */
	size_t event_count;
	bool group;                /* the events are a group: they are listed */
	const char *module;        /* path */
};

void type_text_print(const struct annotate_style *style, const struct type_view *view, struct writer *out);
void type_statistics_print(const struct data_statistics *statistics, struct writer *out);
void type_instructions_print(const struct data_statistics *statistics, struct writer *out);
