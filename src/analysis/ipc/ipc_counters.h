/* Cycles and instructions by counters, where there is no trace: which events they are, and samples that carry the counters of a group. */
#pragma once
#include "analysis/ipc/ipc_track.h"
#include "session/session.h"

enum ipc_role { IPC_ROLE_NONE, IPC_ROLE_CYCLES, IPC_ROLE_INSTRUCTIONS };

/* Names of the two events; NULL: cycles (cpu-cycles) and instructions, of any PMU and with any modifiers. */
struct ipc_roles {
	const char *cycles, *instructions;
};

/* Two events "CYCLES,INSTRUCTIONS"; NULL: by their usual names. text owns the names. */
int ipc_roles_parse(struct ipc_roles *roles, const char *given, struct str *text, struct error *err);
enum ipc_role ipc_role_of(const struct ipc_roles *roles, const char *event);

/* The last values of each counter of cycles. */
struct ipc_group_value {
	uint64_t cycles, instructions, ns;
};

struct ipc_groups {
	struct ipc_roles roles;
	struct idmap known;           /* id of the counter of cycles → values */
	VEC(struct ipc_group_value) values;
};

/* A sample of a group with both events: what its counters have counted since its last sample is a range. */
void ipc_groups_take(struct ipc_groups *groups, const struct resolved *r, struct ipc_track *track);
void ipc_groups_fini(struct ipc_groups *groups);
