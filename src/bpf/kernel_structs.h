/* Structures and enumerations of the running kernel by name; the bytes of structures as text in the compact form of libbpf's btf_dump:
 * "(struct rlimit64){.rlim_cur = (__u64)1024,}". Members of 0 are left out. Knows no call and no task. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"

struct kernel_structs {
	struct btf *types;
	struct btf_dump *dump;
	struct writer *out;          /* while a structure is printed */
	VEC(struct known_struct { char *name; uint32_t id; }) known; /* names that were asked for */
};

/* Must not move while it is open. */
int kernel_structs_open(struct kernel_structs *types, struct error *err);
void kernel_structs_close(struct kernel_structs *types); /* accepts a zeroed one */
/* The id of a structure or a union, and its size; 0: the kernel has none of this name. */
uint32_t kernel_structs_find(struct kernel_structs *types, const char *name, size_t length, uint32_t *size);
/* The name of a value; NULL: the kernel has no enumeration of this name, or it has no such value. */
const char *kernel_structs_enumerator(struct kernel_structs *types, const char *name, int64_t value);
/* The type of the member of a union that has this name, or that is a structure without a name which has such a member; 0: none. */
uint32_t kernel_structs_member(const struct kernel_structs *types, uint32_t id, const char *name);
/* unnamed: values alone, without names of members and types. bytes: of the structure, or fewer; members beyond them are left out. What
 * could control a terminal is printed as an octal number. */
void kernel_structs_print(struct kernel_structs *types, uint32_t id, const uint8_t *bytes, size_t size, bool unnamed,
	struct writer *out);
