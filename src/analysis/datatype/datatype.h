/* The types of the memory that instructions access: a place in a module → a type of its debug information and an offset in it. Decodes the
 * code of each symbol once. Understands x86-64. Knows no sample and no text layout. Not thread-safe. */
#pragma once
#include "analysis/annotate/code_source.h"
#include "analysis/datatype/search.h"
#include "base/arena.h"

/* A member of a type, also inside other members: parents first, in the order of the source. */
struct data_member {
	const char *type, *name;   /* name: "flag:3" for bit fields; NULL: unnamed */
	uint64_t offset, size;     /* in the outermost type */
	uint32_t depth;            /* 1: a member of the type itself */
	bool parent;               /* the next member lies in it */
};

struct data_type {
	uint32_t module;           /* MODULE_ID_NONE: one of the types below */
	const char *name;          /* "struct item" */
	uint64_t size;
	VEC(struct data_member) members;
};

enum { DATA_TYPE_UNKNOWN, DATA_TYPE_STACK /* push, pop, call, ret */, DATA_TYPE_CANARY, DATA_TYPES_FIXED };

struct data_access {
	uint32_t type;             /* for data_types_get */
	int64_t offset;            /* in the type */
};

/* How often an instruction's type was found. */
struct data_instruction {
	const char *name;
	uint64_t good, bad;
};

struct data_statistics {
	uint64_t total, results[ACCESS_RESULTS]; /* ACCESS_FOUND is not counted */
	VEC(struct data_instruction) instructions; /* by frequency */
};

struct data_types_options {
	struct symbols *symbols;
	const struct modules *modules;
	const struct header *header; /* of the recording */
	const char *kcore;         /* as for code_source_new */
};

struct data_types;

struct data_types *data_types_new(const struct data_types_options *options); /* the options are copied, what they point to is borrowed */
void data_types_free(struct data_types *types); /* NULL is allowed */

/* Looks up the place and counts the look-up. symbol 0: the place is in no symbol. */
struct data_access data_types_find(struct data_types *types, uint32_t module, uint32_t symbol, uint64_t offset);
/* Valid until the next look-up. */
const struct data_type *data_types_get(const struct data_types *types, uint32_t type);
/* "a.b" for the offset of an access; "no field": the type has no members. Appends. */
void data_type_field(const struct data_type *type, int64_t offset, struct str *out);

/* Copies the counts; the caller calls data_statistics_fini. */
void data_types_statistics(const struct data_types *types, struct data_statistics *statistics);
void data_statistics_fini(struct data_statistics *statistics);
