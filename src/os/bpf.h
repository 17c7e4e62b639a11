/* BPF programs that are loaded: where their code lies and what it is called, as the kernel's own symbol records would tell. */
#pragma once
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct bpf_symbol {
	uint64_t address;
	uint32_t length;
	const char *name;            /* "bpf_prog_6deef7357e7b4530_name"; "bpf_prog_6deef7357e7b4530" where names are hidden */
};

struct bpf_program {
	uint32_t id;
	uint8_t tag[8];
	uint32_t first, count;       /* into symbols: one per function */
};

struct bpf_programs {
	VEC(struct bpf_program) list;
	VEC(struct bpf_symbol) symbols;
	struct arena arena;
};

/* Those that can be asked for; none where this user may not, or nothing is loaded. */
void bpf_programs_read(struct bpf_programs *programs);
void bpf_programs_fini(struct bpf_programs *programs);
