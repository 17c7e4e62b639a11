/* Call chains of switches as `sched timehist` shows them: "name <- caller <- …", without the scheduler's own functions. */
#pragma once
#include "analysis/sched/states.h"
#include "base/str.h"
#include "session/resolved.h"
#include "symbol/symbol.h"

struct sched_chain_style {
	unsigned max_stack;    /* frames besides the scheduler's own two */
	bool folded;           /* -I: as below the sums, with addresses where no symbol is known */
};

/* Appends the chain of a sample; nothing if it has none. */
void sched_chain_add(const struct resolved *r, struct symbols *symbols, struct sched_chain_style style, struct str *out);
/* The reason of the wait that the kernel's functions of the chain give. */
enum wait_reason sched_chain_reason(const struct resolved *r, struct symbols *symbols);
