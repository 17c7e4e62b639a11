/* Structures that system calls read, as libbpf's btf_dump prints them in its compact form, which perf shows: "(struct rlimit64){.rlim_cur =
 * (__u64)1024,}"; flags and enumerations have names, as arguments have. Fields of 0 are left out. The layouts are those of 64-bit tasks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/writer.h"

/* How a member is printed that has the form of an argument: an enum argument_kind. */
struct layout_forms {
	void (*print)(struct writer *out, uint16_t kind, uint64_t value, bool prefixes);
	bool prefixes, unnamed;      /* unnamed: neither fields nor types have names: "{1024,}" */
};

/* The structure of an argument, by its type ("const struct rlimit64 *") and its call; 0: none is known. */
uint8_t layout_of(const char *call, const char *type, size_t type_length);
/* The structure of this name; 0: none. */
uint8_t layout_named(const char *name, size_t length);
/* Whether 32-bit tasks, too, pass it to this call in this layout. */
bool layout_same_in_32_bits(uint8_t layout, const char *call);
/* Its bytes; *counted: the next argument says how many the caller has. */
uint8_t layout_size(uint8_t layout, bool *counted);
/* bytes: of the structure, or fewer; fields beyond them are left out. */
void layout_print(struct writer *out, uint8_t layout, const uint8_t *bytes, size_t size, const struct layout_forms *forms);
