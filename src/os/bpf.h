/* Loaded BPF programs as the kernel describes them (bpf(2)): struct bpf_prog_info with its arrays, type information, and the pages of code
 * that the kernel generates to call them. Knows no recording. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"

/* Arrays of struct bpf_prog_info: bits of bpf_program.arrays. Other arrays are not read. */
enum bpf_array {
	BPF_ARRAY_CODE = 0, BPF_ARRAY_SYMBOLS = 3, BPF_ARRAY_LENGTHS = 4, BPF_ARRAY_FUNCTIONS = 5, BPF_ARRAY_LINES = 6,
	BPF_ARRAY_CODE_LINES = 7, BPF_ARRAY_TAGS = 8,
};

struct bpf_program {
	uint32_t id;
	uint8_t tag[8];
	uint32_t types;              /* id of its type information; 0: it has none */
	uint64_t arrays;             /* those that the kernel returned; in `info` their pointers are offsets into `data` */
	struct span info, data;
};

/* Type information (Documentation/bpf/btf.rst), which contains the names of functions. */
struct bpf_types {
	uint32_t id;
	struct span blob;
};

/* A page of code that is not a program: a trampoline or dispatcher. */
struct bpf_image {
	uint64_t address;
	const char *name;            /* "bpf_trampoline_6442536576" */
};

struct bpf_programs {
	VEC(struct bpf_program) list; /* each id once */
	VEC(struct bpf_types) types;  /* each id once */
	VEC(struct bpf_image) images;
	struct arena arena;
	bool attaches;               /* a program is attached to functions of the kernel, which needs such pages */
};

/* Adds the accessible programs that are not in the list yet; none without permission. */
void bpf_programs_read(struct bpf_programs *programs);
/* Reads the pages from /proc/kallsyms: once, and only if such pages can exist. */
void bpf_images_read(struct bpf_programs *programs);
void bpf_programs_fini(struct bpf_programs *programs);
/* PER_CPU: an array that each CPU has for itself; MAPPED: an array that user space can map. */
enum bpf_map_kind { BPF_MAP_KIND_ARRAY, BPF_MAP_KIND_HASH, BPF_MAP_KIND_PER_CPU, BPF_MAP_KIND_MAPPED };

/* A map with keys of 32 bits. Returns a descriptor. */
int bpf_map_make(enum bpf_map_kind kind, uint32_t value_size, uint32_t count, struct error *err);
bool bpf_map_read(int map, uint32_t key, void *value);
/* is_new: fails with -EEXIST if the key exists. 0 or -errno. */
int bpf_map_write(int map, uint32_t key, const void *value, bool is_new);
void bpf_map_remove(int map, uint32_t key);
/* Objects with a path in the BPF file system: bpf_pin makes one (< 0: errno), bpf_pinned opens it (< 0: errno). */
bool bpf_has_file_system(const char *path);
int bpf_pin(int fd, const char *path);
int bpf_pinned(const char *path);
/* Runs a program at each sample of a counter until the descriptor is closed, which it returns; cookie: a number that the program can read.
 * < 0: -errno. */
int bpf_link_counter(int program, int counter, uint64_t cookie);
/* Loads a program for the samples of perf events, of `count` instructions of 8 bytes. Returns a descriptor. */
int bpf_sample_program_load(const void *instructions, size_t count, struct error *err);
/* The same for a probe. */
int bpf_probe_program_load(const void *instructions, size_t count, struct error *err);
/* Loads a program that returns 0, and drops it: whether this process may use BPF. < 0: the kernel refuses it. */
int bpf_program_load(struct error *err);
