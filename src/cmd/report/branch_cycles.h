/* What `report` computes of the cycles of recorded branches: the blocks of --total-cycles, and instructions per cycle of functions. */
#pragma once
#include "analysis/annotate/blocks.h"
#include "base/hash.h"
#include "base/vec.h"
#include "cmd/report/setup.h"

struct annotator;

struct branch_cycles {
	struct blocks *blocks;   /* by worker; afterwards the first has all */
	uint64_t *cycles;        /* of all branches, by worker */
	unsigned workers;
	bool joined;             /* every branch is recorded */
	struct symbols *symbols;
	struct annotator *annotator; /* for instructions per cycle; NULL: not opened */
	struct idmap ipc_of;     /* module and symbol → index */
	VEC(struct function_ipc) ipc;
};

/* NULL: the report does not need them. */
struct branch_cycles *branch_cycles_new(const struct report *report);
void branch_cycles_free(struct branch_cycles *cycles); /* NULL is allowed */
/* Adds a sample, on its worker. */
void branch_cycles_add(struct branch_cycles *cycles, const struct report *report, const struct resolved *r);
/* After the profile is finished: the tables of --format (0, or the exit code), or one event's lines (for report_text.body). */
int branch_cycles_tables(struct branch_cycles *cycles, const struct report *report);
struct branch_cycles_lines {
	struct branch_cycles *cycles;
	const struct report *report;
};
/* For profile_options.ipc; context: struct branch_cycles_lines. */
struct function_ipc branch_cycles_ipc(void *context, uint32_t module, uint32_t symbol);
void branch_cycles_lines(void *context, const struct hist *hist, struct writer *out);
