/* The frequency flow graph: branches (from → to) with counts, cycles and instructions, and which branch followed which. Knows no
 * recording. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

enum flow_kind {
	FLOW_JUMP, FLOW_CALL, FLOW_RETURN,
	FLOW_SYSCALL,     /* from user code into the kernel; or to the instruction behind it, where the kernel is not traced */
	FLOW_RESUME,      /* from the kernel back into user code */
	FLOW_KINDS
};

struct flow_place {
	uint64_t address;
	uint32_t function;    /* in flow_graph.names; 0: unknown */
	uint32_t offset;      /* from its start */
};

struct flow_edge {
	struct flow_place from, to;
	uint64_t count;
	double cycles;                  /* since the branch before; a part of a cycle where a trace counts cycles of several branches */
	uint64_t timed;                 /* by how many of `count` */
	uint64_t instructions, counted; /* since the branch before, with it; by how many of `count` */
	uint64_t syscalls;              /* system calls between the branch before and this one, which made no branch of their own */
	uint8_t kind;                   /* enum flow_kind */
};

struct flow_follow {
	uint32_t edge, next;
	uint64_t count;
};

#define FLOW_NONE UINT32_MAX
enum { FLOW_COVER_ROWS = 40 };

struct flow_graph {
	VEC(struct flow_edge) edges;
	VEC(struct flow_follow) follows;
	struct idmap edge_of, follow_of;
	struct strtab names;            /* of functions; 0: "" */
	uint64_t branches, instructions;
	double cycles;
	/* branch stacks by the cycles that they cover: at most 1, 2, 5, 10 …, and more than the row before */
	uint64_t cover[FLOW_COVER_ROWS], stacks, stack_branches, stack_cycles;
};

void flow_graph_init(struct flow_graph *graph);
void flow_graph_fini(struct flow_graph *graph);
/* The edge between two addresses; *added: it is new, and its places and kind must be set. */
uint32_t flow_graph_edge(struct flow_graph *graph, uint64_t from, uint64_t to, bool *added);
/* The branch was taken once more. before: the edge of the branch before it, or FLOW_NONE. */
void flow_graph_add(struct flow_graph *graph, uint32_t edge, uint32_t before);
void flow_graph_add_cycles(struct flow_graph *graph, uint32_t edge, double cycles);
void flow_graph_add_instructions(struct flow_graph *graph, uint32_t edge, uint64_t instructions);
void flow_graph_add_stack(struct flow_graph *graph, uint64_t branches, uint64_t cycles);

const char *flow_kind_word(enum flow_kind kind);
/* The upper limit of a row of `cover`. */
uint64_t flow_cover_limit(size_t row);
/* "main+0x1c", or the address. */
void flow_place_text(const struct flow_graph *graph, const struct flow_place *place, struct str *to);
