#include "export/branch_types.h"

#include <stdio.h>

#include "session/trace.h"

static const struct branch_type {
	uint32_t flags;
	const char *name;
} types[] = {
	{ 0, "no branch" },
	{ TRACE_BRANCH | TRACE_CALL, "call" },
	{ TRACE_BRANCH | TRACE_RETURN, "return" },
	{ TRACE_BRANCH | TRACE_CONDITIONAL, "conditional jump" },
	{ TRACE_BRANCH, "unconditional jump" },
	{ TRACE_BRANCH | TRACE_CALL | TRACE_INTERRUPT, "software interrupt" },
	{ TRACE_BRANCH | TRACE_RETURN | TRACE_INTERRUPT, "return from interrupt" },
	{ TRACE_BRANCH | TRACE_CALL | TRACE_SYSCALL, "system call" },
	{ TRACE_BRANCH | TRACE_RETURN | TRACE_SYSCALL, "return from system call" },
	{ TRACE_BRANCH | TRACE_ASYNC, "asynchronous branch" },
	{ TRACE_BRANCH | TRACE_CALL | TRACE_ASYNC | TRACE_INTERRUPT, "hardware interrupt" },
	{ TRACE_BRANCH | TRACE_ABORT, "transaction abort" },
	{ TRACE_BRANCH | TRACE_BEGIN, "trace begin" },
	{ TRACE_BRANCH | TRACE_END, "trace end" },
	{ TRACE_BRANCH | TRACE_CALL | TRACE_VM_ENTRY, "vm entry" },
	{ TRACE_BRANCH | TRACE_CALL | TRACE_VM_EXIT, "vm exit" },
};

static void add(struct database *database, uint32_t flags, const char *name)
{
	const struct value values[] = { value_of(flags), value_text(name) };
	database_add(database, TABLE_BRANCH_TYPES, values);
}

void branch_types_add(struct database *database)
{
	enum { COUNT = sizeof types / sizeof *types };
	char name[64];
	for (size_t i = 0; i < COUNT; i++)
		add(database, types[i].flags, types[i].name);
	for (size_t i = 0; i < COUNT; i++) {
		const struct branch_type *type = &types[i];
		if (type->flags == TRACE_BRANCH || type->flags & (TRACE_BEGIN | TRACE_END))
			continue;
		snprintf(name, sizeof name, "trace begin / %s", type->name);
		add(database, type->flags | TRACE_BEGIN, name);
		snprintf(name, sizeof name, "%s / trace end", type->name);
		add(database, type->flags | TRACE_END, name);
	}
}
