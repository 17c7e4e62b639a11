#include "analysis/lock/lock_names.h"

#include <inttypes.h>
#include <stdio.h>

void lock_text_find(struct lock_text *text, struct symbols *symbols, const struct module *kernel)
{
	static const char *const sections[][2] = { { "__sched_text_start", "__sched_text_end" }, { "__lock_text_start", "__lock_text_end" } };
	static const char *const functions[] = { "__traceiter_contention_begin", "trace_contention_begin" };
	uint64_t end;
	*text = (struct lock_text){ 0 };
	for (unsigned i = 0; kernel && i < 2; i++) {
		if (!symbols_named(symbols, kernel, sections[i][0], &text->start[i], &end) ||
		    !symbols_named(symbols, kernel, sections[i][1], &text->end[i], &end))
			text->end[i] = text->start[i] = 0;
		if (!symbols_named(symbols, kernel, functions[i], &text->start[i + 2], &text->end[i + 2]))
			text->end[i + 2] = text->start[i + 2] = 0;
	}
}

bool lock_text_holds(const struct lock_text *text, uint64_t address)
{
	for (unsigned i = 0; i < LOCK_TEXTS; i++)
		if (address >= text->start[i] && address < text->end[i])
			return true;
	return false;
}

struct lock_frame lock_frame_of(struct symbols *symbols, const struct module *module, uint64_t offset, uint64_t address)
{
	uint32_t id = module ? symbols_lookup(symbols, module, offset) : 0;
	if (!id)
		return (struct lock_frame){ .address = address };
	return (struct lock_frame){ address, symbols_name(symbols, module, id), offset - symbols_get(symbols, module, id)->start };
}

void lock_frame_text(const struct lock_frame *frame, char *text, size_t size)
{
	if (frame->symbol && frame->offset)
		snprintf(text, size, "%s+%#" PRIx64, frame->symbol, frame->offset);
	else
		snprintf(text, size, "%s", frame->symbol ? frame->symbol : "");
}
