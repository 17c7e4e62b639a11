/* Parsers of option values: branch filters and call-graph modes. */
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "os/file.h"

static const struct {
	const char *name;
	uint64_t bit;
} branch_words[] = {
	{ "u", BRANCH_USER }, { "k", BRANCH_KERNEL }, { "hv", BRANCH_HV }, { "any", BRANCH_ANY }, { "any_call", BRANCH_ANY_CALL },
	{ "any_ret", BRANCH_ANY_RETURN }, { "ind_call", BRANCH_IND_CALL }, { "abort_tx", BRANCH_ABORT_TX }, { "in_tx", BRANCH_IN_TX },
	{ "no_tx", BRANCH_NO_TX }, { "cond", BRANCH_COND }, { "ind_jmp", BRANCH_IND_JUMP }, { "call", BRANCH_CALL },
	{ "no_flags", BRANCH_NO_FLAGS }, { "no_cycles", BRANCH_NO_CYCLES }, { "save_type", BRANCH_TYPE_SAVE },
	{ "stack", BRANCH_CALL_STACK }, { "hw_index", BRANCH_HW_INDEX }, { "priv", BRANCH_PRIV_SAVE }, { "counter", BRANCH_COUNTERS },
};

int branch_filter_parse(const char *text, uint64_t *mask, struct error *err)
{
	uint64_t bits = 0;
	const uint64_t levels = BRANCH_USER | BRANCH_KERNEL | BRANCH_HV;
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, ","), i = 0;
		while (i < sizeof branch_words / sizeof branch_words[0] &&
		       (strlen(branch_words[i].name) != length || memcmp(branch_words[i].name, at, length) != 0))
			i++;
		if (i == sizeof branch_words / sizeof branch_words[0])
			return error_set(err, ERROR_USAGE, "unknown branch filter %.*s, check man page", (int)(length & 0xff), at);
		bits |= branch_words[i].bit;
		at += length + (at[length] == ',');
	}
	/* privilege levels alone select all branches of these levels */
	if (!(bits & ~levels))
		bits |= BRANCH_ANY;
	*mask = bits;
	return 0;
}

enum { STACK_SIZE_DEFAULT = 8192, STACK_SIZE_LIMIT = 65528 };

/* Returns how many frames of a call chain the kernel records at most. */
static unsigned long kernel_stack_limit(void)
{
	enum { USUAL = 127 };
	int64_t frames;
	return file_number("/proc/sys/kernel/perf_event_max_stack", &frames) && frames > 0 ? (unsigned long)frames : USUAL;
}

int call_graph_parse(const char *text, enum call_graph *mode, uint64_t *stack_size, uint32_t *max_stack, struct error *err)
{
	size_t length = strcspn(text, ",");
	const char *rest = text[length] == ',' ? text + length + 1 : NULL;
	char *end;
	if (length == 2 && memcmp(text, "fp", 2) == 0) {
		*mode = CALL_GRAPH_FP;
		/* like perf, ignores a depth that is invalid or deeper than the kernel allows */
		unsigned long depth = rest ? strtoul(rest, NULL, 0) : 0;
		if (depth && depth < kernel_stack_limit())
			*max_stack = (uint32_t)depth;
		return 0;
	}
	bool unwind = length == 6 && memcmp(text, "unwind", 6) == 0;
	if (unwind || (length == 5 && memcmp(text, "dwarf", 5) == 0)) {
		*mode = unwind ? CALL_GRAPH_UNWIND : CALL_GRAPH_DWARF;
		if (!*stack_size)
			*stack_size = STACK_SIZE_DEFAULT;
		if (rest) {
			unsigned long size = strtoul(rest, &end, 0);
			if (end == rest || *end || size == 0 || size > STACK_SIZE_LIMIT)
				return error_set(err, ERROR_USAGE, "callchain: Incorrect stack dump size (max %d): %s", STACK_SIZE_LIMIT, rest);
			*stack_size = (size + 7) & ~7ul;
		}
		return 0;
	}
	if (length == 3 && memcmp(text, "lbr", 3) == 0) {
		*mode = CALL_GRAPH_LBR;
		if (rest)
			return error_set(err, ERROR_USAGE, "callchain: No more arguments needed for --call-graph lbr");
		return 0;
	}
	return error_set(err, ERROR_USAGE, "callchain: Unknown --call-graph option value: %s", text);
}
