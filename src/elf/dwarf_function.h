/* The functions of one unit, and the calls inlined into each of them. The walk over a unit's entries passes over the bodies of
 * functions where it is told how far they reach; a body is read when an address in it is asked for: a tree of small nodes under a
 * sorted list of segments. Names are looked up when asked for. */
#pragma once
#include "elf/dwarf_ranges.h"

#define DWARF_DEPTH 1024u         /* entries nested deeper are damage */
#define DWARF_NODE_NONE UINT32_MAX

struct dwarf_node {
	_Atomic(const char *) name;   /* NULL: not looked up yet; dwarf_no_name: has none */
	uint32_t entry;               /* its place, from the start of the unit */
	uint32_t parent;              /* inlined: the node around it, or DWARF_NODE_NONE */
	uint32_t call_file, call_line;
	bool inlined;
	_Atomic uint8_t linked;       /* with name: it is the linker's */
};

/* A function with code, and what was inlined into it. */
struct dwarf_inlines {
	struct dwarf_node *nodes;
	uint32_t count;
	struct dwarf_segments segments; /* values: nodes */
	bool refused;                 /* by the memory limit: there is nothing in it */
};

struct dwarf_function {
	_Atomic(struct dwarf_inlines *) inlines; /* NULL: not read yet */
	uint32_t entry;               /* its place, from the start of the unit */
};

struct dwarf_functions {
	struct dwarf_function *items;
	uint32_t count;
	struct dwarf_segments segments; /* values: items */
	bool damaged;                 /* the walk ended early */
	bool leapt;                   /* over bodies and types, in which there may be more functions */
};

/* The functions of a unit; deep: also those described inside of others and of types. NULL: refused by the memory limit. */
struct dwarf_functions *dwarf_functions_read(struct dwarf_unit *body, bool deep);
void dwarf_functions_free(struct dwarf_functions *functions);

struct dwarf_inlines *dwarf_inlines_read(struct dwarf_unit *body, uint32_t entry);

extern const char dwarf_no_name[];
/* dwarf_no_name where there is none. */
const char *dwarf_node_name(struct dwarf_unit *body, struct dwarf_node *node, bool *linked);
/* The runs of addresses that the function of that node has. */
void dwarf_node_ranges(struct dwarf_unit *body, const struct dwarf_node *node, struct dwarf_ranges *ranges);
/* The runs of all functions of a unit that does not say itself where its code lies. */
void dwarf_functions_ranges(struct dwarf_unit *body, uint32_t value, struct dwarf_ranges *ranges);
