/* Source lines as text: "file.c:12", or a fallback if the line is unknown. */
#pragma once
#include <stdbool.h>

#include "abi/attr.h"
#include "base/pool.h"
#include "base/str.h"
#include "session/session.h"
#include "symbol/lines.h"

struct source_style {
	bool outermost;      /* of inlined code: the call in the function that contains it */
	bool full_path;
	/* The fallback: show_address: "name+12" ("+12" without show_symbol), or "module[1a2b]" without a symbol; show_symbol alone:
	 * "name"; neither: "??:0". */
	bool show_symbol, show_address;
};

#define SOURCE_UNKNOWN "??:0"

/* Appends the source line of an offset in a module (NULL: in no mapping). symbol: id of the symbol at offset; 0: unknown. */
void source_line_add(struct symbols *symbols, const struct module *module, uint64_t offset, uint32_t symbol, struct source_style style,
	struct str *out);

void source_line_add_known(const struct source_line *line, bool full_path, struct str *out);

/* Whether the user part of the event's call chains is unwound from registers and stack copies. perf shows inlined functions only in such
 * chains. */
static inline bool attr_unwinds(const struct attr *attr)
{
	return attr_flag(attr, ATTR_EXCLUDE_CALLCHAIN_USER) && attr->sample_type & SAMPLE_REGS_USER && attr->sample_type & SAMPLE_STACK_USER;
}

/* The same for one sample: a recorder that unwinds leaves some samples to the reader. */
static inline bool sample_unwinds(const struct resolved *r)
{
	return (r->sample->stack_user_size && r->sample->regs_user) || attr_unwinds(&r->evsel->attr);
}

/* The frames of an event's call chains that are shown with inlined functions, for the option `inlines`. */
static inline enum inline_frames attr_inlines(enum inline_frames inlines, const struct attr *attr)
{
	if (inlines && attr_unwinds(attr))
		return INLINE_UNWOUND;
	return inlines == INLINE_UNWOUND && !attr_chains_unwound(attr) ? INLINE_NONE : inlines;
}

/* The same for the call chain of one sample. */
static inline enum inline_frames sample_inlines(enum inline_frames inlines, const struct resolved *r)
{
	return inlines && sample_unwinds(r) ? INLINE_UNWOUND : attr_inlines(inlines, &r->evsel->attr);
}

/* A code address whose source line will be looked up. */
struct source_request {
	const struct module *module;
	uint64_t offset;
};

/* Reads the debug information for these addresses in parallel. Sorts them. */
void source_lines_prepare(struct symbols *symbols, struct pool *pool, struct source_request *requests, size_t count);
