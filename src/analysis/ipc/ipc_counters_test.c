#include "analysis/ipc/ipc_counters.h"

#include "unit.h"

TEST("cycles and instructions are known by their names, of any PMU and with any modifiers")
{
	const struct ipc_roles any = { 0 };
	EXPECT_INT(ipc_role_of(&any, "cycles"), IPC_ROLE_CYCLES);
	EXPECT_INT(ipc_role_of(&any, "cpu-cycles:u"), IPC_ROLE_CYCLES);
	EXPECT_INT(ipc_role_of(&any, "cpu_core/cycles/u"), IPC_ROLE_CYCLES);
	EXPECT_INT(ipc_role_of(&any, "instructions:k"), IPC_ROLE_INSTRUCTIONS);
	EXPECT_INT(ipc_role_of(&any, "cpu_atom/instructions,period=7/"), IPC_ROLE_INSTRUCTIONS);
	EXPECT_INT(ipc_role_of(&any, "ref-cycles"), IPC_ROLE_NONE);
	EXPECT_INT(ipc_role_of(&any, "cycles2"), IPC_ROLE_NONE);
}

TEST("names that the user gives are the whole names")
{
	const struct ipc_roles named = { "task-clock", "page-faults:u" };
	EXPECT_INT(ipc_role_of(&named, "task-clock"), IPC_ROLE_CYCLES);
	EXPECT_INT(ipc_role_of(&named, "page-faults:u"), IPC_ROLE_INSTRUCTIONS);
	EXPECT_INT(ipc_role_of(&named, "page-faults"), IPC_ROLE_NONE);
	EXPECT_INT(ipc_role_of(&named, "cycles"), IPC_ROLE_NONE);
}

TEST("two events with a comma between them are named, or none")
{
	static const char *const bad[] = { "", "a", "a,", ",b" };
	struct ipc_roles roles = { "left", "over" };
	struct str text CLEANUP_STR = { 0 };
	EXPECT_INT(ipc_roles_parse(&roles, NULL, &text, NULL), 0);
	EXPECT(!roles.cycles && !roles.instructions);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct error err = { 0 };
		str_clear(&text);
		EXPECT(ipc_roles_parse(&roles, bad[i], &text, &err) < 0);
		EXPECT_INT(err.kind, ERROR_USAGE);
	}
	str_clear(&text);
	EXPECT_INT(ipc_roles_parse(&roles, "task-clock,page-faults:u", &text, NULL), 0);
	EXPECT_STR(roles.cycles, "task-clock");
	EXPECT_STR(roles.instructions, "page-faults:u");
}
