/* Kinds of kernel locks by the flags of the tracepoint contention_begin (include/trace/events/lock.h), with perf's names. */
#pragma once
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct lock_flags {
	VEC(uint32_t) list;
};

/* "rwsem:R": the kind and the access. "unknown" for other flags. */
const char *lock_type_text(uint32_t flags);
/* "rwsem": the kind alone. */
const char *lock_type_name(uint32_t flags);
/* Adds the flags that a list of names and texts denotes ("mutex,rwsem:R"; separators: comma and blank). */
int lock_types_parse(struct lock_flags *flags, const char *text, struct error *err);
