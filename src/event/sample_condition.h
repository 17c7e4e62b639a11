/* Conditions on samples: "period > 1000 && ip < 0x7fff0000, tid == 12 || cpu == 0". A comma is a conjunction, too, whose parts may be
 * alternatives; otherwise && binds more closely than ||; parentheses group. Source: perf-record(1), --filter. Knows no program. */
#pragma once
#include <stdint.h>

#include "abi/attr.h"
#include "base/error.h"
#include "base/vec.h"

enum condition_term {
	CONDITION_IP, CONDITION_ID, CONDITION_TID, CONDITION_PID, CONDITION_CPU, CONDITION_TIME, CONDITION_ADDR, CONDITION_PERIOD,
	CONDITION_TXN, CONDITION_WEIGHT1, CONDITION_WEIGHT2, CONDITION_WEIGHT3, CONDITION_PHYS_ADDR, CONDITION_CODE_PGSZ,
	CONDITION_DATA_PGSZ, CONDITION_MEM_OP, CONDITION_MEM_LVLNUM, CONDITION_MEM_SNOOP, CONDITION_MEM_REMOTE, CONDITION_MEM_LOCK,
	CONDITION_MEM_DTLB, CONDITION_MEM_BLK, CONDITION_MEM_HOPS, CONDITION_UID, CONDITION_GID, CONDITION_CGROUP,
};

enum condition_operator {
	CONDITION_EQUAL, CONDITION_NOT_EQUAL, CONDITION_GREATER, CONDITION_GREATER_EQUAL, CONDITION_LESS, CONDITION_LESS_EQUAL,
	CONDITION_BITS,       /* any of the bits */
	CONDITION_AND, CONDITION_OR,
};

/* A comparison, or two conditions that are joined. */
struct condition_node {
	enum condition_operator operator;
	enum condition_term term;
	uint64_t value;
	uint32_t left, right; /* of a conjunction or alternative: indexes of nodes */
};

struct sample_condition {
	VEC(struct condition_node) nodes;
	uint32_t root;
};

/* Fails with the place in the text. The value of `cgroup` may be a path below the mount of the cgroups (`/`), whose id is looked up. */
int sample_condition_parse(struct sample_condition *condition, const char *text, struct error *err);
void sample_condition_fini(struct sample_condition *condition);
const char *condition_term_name(enum condition_term term);
/* The samples of an event with these attributes must have the fields that the condition compares; otherwise ERROR_USAGE with the name of
 * the field, and a hint with the option that adds it. */
int sample_condition_check(const struct sample_condition *condition, const struct attr *attr, const char *event, struct error *err);
