/* Finds a few of the running kernel's types by name (Documentation/bpf/btf.rst): their ids and the places of members. The types are read in
 * pieces and not stored: libbpf's tables of all of them would cost 35 ms and 12 MB. Knows no program. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum type_search_kind { TYPE_SEARCH_STRUCTURE = 4, TYPE_SEARCH_TYPEDEF = 8, TYPE_SEARCH_FUNCTION = 12 };

struct type_search {
	const char *name;
	enum type_search_kind kind;
	uint32_t id;                 /* out; the last one of this name */
	uint32_t place;              /* internal: of the name among all names */
};

struct member_search {
	size_t structure;            /* index of a type_search */
	const char *name;
	int32_t at;                  /* out: bytes from the beginning of the structure */
	uint32_t place;              /* internal */
};

/* Fails with ERROR_UNSUPPORTED if the kernel does not publish its types, or has not all of these. */
int type_search(struct type_search *types, size_t type_count, struct member_search *members, size_t member_count, struct error *err);
