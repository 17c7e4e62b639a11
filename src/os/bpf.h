/* BPF programs that are loaded, in the kernel's own words: struct bpf_prog_info with the arrays that it points to, type information,
 * and the pages of code that the kernel makes to call them. Knows no recording. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"

/* Arrays of struct bpf_prog_info: bits of bpf_program.arrays. Those of the others are left behind. */
enum bpf_array {
	BPF_ARRAY_CODE = 0, BPF_ARRAY_SYMBOLS = 3, BPF_ARRAY_LENGTHS = 4, BPF_ARRAY_FUNCTIONS = 5, BPF_ARRAY_LINES = 6,
	BPF_ARRAY_CODE_LINES = 7, BPF_ARRAY_TAGS = 8,
};

struct bpf_program {
	uint32_t id;
	uint8_t tag[8];
	uint64_t arrays;             /* those that the kernel gave; in `info` their pointers are offsets into `data` */
	struct span info, data;
};

/* Type information (Documentation/bpf/btf.rst), which names functions. */
struct bpf_types {
	uint32_t id;
	struct span blob;
};

/* A page of code that is no program: a trampoline or dispatcher. */
struct bpf_image {
	uint64_t address;
	const char *name;            /* "bpf_trampoline_6442536576" */
};

struct bpf_programs {
	VEC(struct bpf_program) list; /* each id once */
	VEC(struct bpf_types) types;  /* likewise */
	VEC(struct bpf_image) images;
	struct arena arena;
	bool attaches;               /* to functions of the kernel, which takes such pages */
};

/* Adds those that can be asked for and are not known yet; none where this user may not, or nothing is loaded. */
void bpf_programs_read(struct bpf_programs *programs);
/* What /proc/kallsyms tells of the pages: read once, where there can be such. */
void bpf_images_read(struct bpf_programs *programs);
void bpf_programs_fini(struct bpf_programs *programs);
