/* Types of a kernel or of a module, from its BTF (Documentation/bpf/btf.rst): what a function's parameters are, and where the members of a
 * structure lie. Reads borrowed bytes of any content. Knows no program and no value. */
#pragma once
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/str.h"

enum btf_kind {
	BTF_VOID, BTF_INT, BTF_POINTER, BTF_ARRAY, BTF_STRUCT, BTF_UNION, BTF_ENUM, BTF_FORWARD, BTF_TYPEDEF, BTF_VOLATILE, BTF_CONST,
	BTF_RESTRICT, BTF_FUNCTION, BTF_PROTOTYPE, BTF_VARIABLE, BTF_SECTION, BTF_FLOAT, BTF_DECL_TAG, BTF_TYPE_TAG, BTF_ENUM64,
};

struct btf_types {
	struct span types, names;
	bool swap;
	const struct btf_types *base; /* of a module: the kernel's, whose ids come first; NULL */
	uint32_t first, count;        /* ids */
	uint32_t *at;                 /* where each type begins */
};

struct btf_type {
	uint32_t id;
	enum btf_kind kind;
	uint32_t count;               /* members, parameters, values */
	bool flag;                    /* bit fields have their size in the member; of an enumeration: signed */
	uint32_t size;                /* of INT, STRUCT, UNION, ENUM, FLOAT; otherwise: of what it is made, an id */
	const char *name;             /* "": none */
	struct span more;             /* what follows the common part */
	const struct btf_types *of;   /* the table that has it */
};

/* A parameter or a member. */
struct btf_field {
	const char *name;
	uint32_t type;
	uint32_t offset_bits, bits;   /* bits 0: no bit field */
};

/* The bytes and the base are borrowed. */
int btf_types_open(struct btf_types *types, struct span bytes, const struct btf_types *base, struct error *err);
void btf_types_close(struct btf_types *types); /* accepts a zeroed one */
/* False: there is no such id, or the type is damaged. 0 is void. */
bool btf_types_get(const struct btf_types *types, uint32_t id, struct btf_type *type);
/* The prototype of a function; false: absent. */
bool btf_types_function(const struct btf_types *types, const char *name, struct btf_type *prototype);
/* The type behind typedefs and qualifiers. False: there are too many, as in a cycle. */
bool btf_types_real(const struct btf_types *types, uint32_t id, struct btf_type *type);
/* Parameter of a prototype, or member of a structure; false: index is not below count. */
bool btf_type_field(const struct btf_type *type, uint32_t index, struct btf_field *field);
/* What an array is made of. */
bool btf_type_element(const struct btf_type *array, uint32_t *type, uint32_t *length);
/* A member by name, also in unnamed members: its offset is from the start of the structure. False: absent. */
bool btf_types_member(const struct btf_types *types, const struct btf_type *structure, const char *name, struct btf_field *field);
/* In bytes; false: unknown. */
bool btf_types_size(const struct btf_types *types, uint32_t id, uint64_t *size);
bool btf_type_is_signed(const struct btf_type *type);
/* Appends "struct file*", "size_t", "char[16]". */
void btf_types_name(const struct btf_types *types, uint32_t id, struct str *to);
