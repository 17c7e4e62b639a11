/* Source lines as text: "file.c:12", or what stands for a place whose line is not known. Knows no row and no terminal. */
#pragma once
#include <stdbool.h>

#include "abi/attr.h"
#include "base/pool.h"
#include "base/str.h"
#include "session/session.h"
#include "symbol/lines.h"

struct source_style {
	bool outermost;      /* of code that was inlined: where the function that holds it called it */
	bool full_path;
	/* Where no line is known: "name+12" (or "+12"), "name" or "module[1a2b]"; neither: "??:0". */
	bool show_symbol, show_address;
};

#define SOURCE_UNKNOWN "??:0"

/* module: NULL: in none. symbol: that holds offset, 0: none. */
void source_line_add(struct symbols *symbols, const struct module *module, uint64_t offset, uint32_t symbol, struct source_style style,
	struct str *out);

void source_line_add_known(const struct source_line *line, bool full_path, struct str *out);

/* Whether the user's part of this event's chains is made of registers and stack bytes: perf shows inlined functions in no other. */
static inline bool attr_unwinds(const struct attr *attr)
{
	return attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER) && attr->sample_type & SAMPLE_REGS_USER && attr->sample_type & SAMPLE_STACK_USER;
}

/* The same of one sample: a recorder that unwinds leaves some to the reader. */
static inline bool sample_unwinds(const struct resolved *r)
{
	return (r->sample->stack_user_size && r->sample->regs_user) || attr_unwinds(&r->evsel->attr);
}

/* A place that lines will be asked for. */
struct source_request {
	const struct module *module;
	uint64_t offset;
};

/* Has the parts of debug information that these places need read, in parallel. Sorts them. */
void source_lines_prepare(struct symbols *symbols, struct pool *pool, struct source_request *requests, size_t count);
