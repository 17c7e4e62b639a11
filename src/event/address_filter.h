/* Address filters of hardware traces: "filter main / other @ ./program, start 0x1000". Source: perf-record(1), --filter. Looks up no
 * symbol. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

/* One end of a range. */
struct address_place {
	const char *symbol;   /* NULL: a number */
	int index;            /* of a symbol: -1: the only one of its name, 0: the global one, n: the n-th */
	uint64_t number;      /* an address; as the second place: a size */
};

struct address_filter {
	const char *action;   /* as the kernel takes it: "filter", "start", "stop" */
	bool range;           /* of a place alone otherwise */
	bool has_end;
	struct address_place from, end;
	const char *file;     /* NULL: of the kernel */
};

struct address_filters {
	VEC(struct address_filter) list;
	struct arena arena;
};

/* Fails with err->sys EINVAL and the place in the text. */
int address_filters_parse(struct address_filters *filters, const char *text, struct error *err);
void address_filters_fini(struct address_filters *filters);
