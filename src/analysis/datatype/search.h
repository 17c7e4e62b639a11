/* The search for the type of the memory that one operand accesses: by the variables of the scopes around the instruction, then by following
 * the types in registers and on the stack from the start of the function. Behaviour: perf 6.12's. Knows no samples. */
#pragma once
#include "analysis/datatype/function.h"
#include "analysis/datatype/variable.h"
#include "unwind/rules.h"

/* A variable of static storage. */
struct global {
	uint64_t start, end;       /* addresses of the debug information */
	struct dwarf_die die;
};

/* What is known of a module; made once. */
struct module_types {
	struct dwarf *dwarf;       /* NULL: it has no debug information */
	struct rule_table rules;
	VEC(struct global) globals; /* by start */
	bool kernel, opened, has_globals;
};

enum access_result {
	ACCESS_FOUND,
	/* Names and order as perf annotate --type-stat prints them; the last is a way of finding a type. */
	ACCESS_NO_SYMBOL, ACCESS_NO_INSTRUCTION, ACCESS_NO_OPERANDS, ACCESS_NO_MEMORY, ACCESS_NO_REGISTER, ACCESS_NO_DEBUG_INFO,
	ACCESS_NO_UNIT, ACCESS_NO_VARIABLE, ACCESS_NO_TYPE, ACCESS_NO_SIZE, ACCESS_BAD_OFFSET, ACCESS_TRACKED, ACCESS_RESULTS
};

struct search {
	struct module_types *module;
	const struct function *function;
	uint32_t step;             /* the instruction */
	struct operand *operand;   /* a local copy: a saved stack canary is replaced by its origin */
	uint64_t shift;            /* from addresses of the code to those of the debug information */
	/* The name of the function at an address of the code; NULL: unknown. */
	const char *(*name_at)(void *context, uint64_t address);
	void *context;
	/* Results. */
	struct dwarf_die type;
	int64_t offset;            /* in the type */
	bool tracked;              /* found by following the code */
	/* Work. */
	struct dwarf_die unit;
	int frame;                 /* the register of the frame base; REGISTER_NONE: unknown */
	int64_t frame_offset;
	bool by_cfa;               /* the frame base is the CFA */
};

/* Fills type and offset. */
enum access_result search_run(struct search *search);

/* For search_track (track.c). The type of the variable of static storage at an address of data, and the offset in it. */
bool search_global(struct search *search, uint64_t data, struct dwarf_die *type, int64_t *offset);
/* The variable that begins there. */
const char *search_global_name(struct search *search, uint64_t data);
/* The register and the offset of the CFA at a step; REGISTER_NONE: unknown. */
int search_cfa(const struct search *search, uint32_t step, int64_t *offset);
/* The address of data that an operand relative to the instruction pointer has. */
uint64_t search_relative(const struct search *search, uint32_t step, int64_t offset);

/* Follows the code to the instruction. Results: FOUND, NO_VARIABLE (nothing known of the register), NO_TYPE, BAD_OFFSET, or another one
 * that ends the search. */
enum track_result { TRACK_FOUND, TRACK_UNKNOWN, TRACK_NO_TYPE, TRACK_BAD_OFFSET, TRACK_END };
enum track_result search_track(struct search *search, const struct step_path *path, const struct variables *variables);
