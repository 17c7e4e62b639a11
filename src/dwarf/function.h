/* The functions of a unit, and the inlined calls of each function. The walk over a unit's DIEs skips the bodies of functions if
 * DW_AT_sibling gives their end; a body is read at the first look-up in it, into a tree of small nodes with a sorted list of segments.
 * Names are looked up on demand. Format: DWARF 5, section 3.3. */
#pragma once
#include "dwarf/ranges.h"

#define DWARF_DEPTH 1024u         /* deeper nesting counts as damage */
#define DWARF_NODE_NONE UINT32_MAX

struct dwarf_node {
	_Atomic(const char *) name;   /* NULL: not looked up yet; dwarf_no_name: absent */
	uint32_t entry;               /* offset of its DIE in the unit */
	uint32_t parent;              /* inlined: the node of the caller, or DWARF_NODE_NONE */
	uint32_t call_file, call_line;
	bool inlined;
	_Atomic uint8_t linked;       /* valid with name: it is the linkage name */
};

/* A function with code and its inlined calls. */
struct dwarf_inlines {
	struct dwarf_node *nodes;
	uint32_t count;
	struct dwarf_segments segments; /* values: indices of nodes */
	bool refused;                 /* the memory limit is exceeded: empty */
};

struct dwarf_function {
	_Atomic(struct dwarf_inlines *) inlines; /* NULL: not read yet */
	uint32_t entry;               /* offset of its DIE in the unit */
};

struct dwarf_functions {
	struct dwarf_function *items;
	uint32_t count;
	struct dwarf_segments segments; /* values: indices of items */
	bool damaged;                 /* the walk ended early */
	bool leapt;                   /* bodies and types were skipped, which may contain further functions */
};

/* Returns the functions of a unit; deep: also those described inside other functions and types. NULL: the memory limit is exceeded. */
struct dwarf_functions *dwarf_functions_read(struct dwarf_unit *body, bool deep);
void dwarf_functions_free(struct dwarf_functions *functions);

/* Reads the inlined calls of the function whose DIE is at offset `entry` of the unit. Never NULL. */
struct dwarf_inlines *dwarf_inlines_read(struct dwarf_unit *body, uint32_t entry);

extern const char dwarf_no_name[];
/* Returns the name of the node's function, or dwarf_no_name. *linked: it is the linkage name. Safe from several threads. */
const char *dwarf_node_name(struct dwarf_unit *body, struct dwarf_node *node, bool *linked);
/* Adds the address ranges of the node's function. */
void dwarf_node_ranges(struct dwarf_unit *body, const struct dwarf_node *node, struct dwarf_ranges *ranges);
/* Adds the ranges of all functions of a unit that has no ranges itself. */
void dwarf_functions_ranges(struct dwarf_unit *body, uint32_t value, struct dwarf_ranges *ranges);
