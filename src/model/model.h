/* Processes, threads and mappings over time: the history that side-band records tell.
 *
 * One owner thread applies records in delivery order, each at its own clock (a counter of delivered records); after that anything
 * may be looked up as of any clock, in any order, from any thread, while nothing is applied. An address space is a persistent
 * balanced tree of mappings: each change makes a new root, fork shares its parent's, nothing is ever modified.
 * Rules of who inherits what are perf's (measured against it). Knows no ELF, no symbol, no output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "abi/sample.h"
#include "model/module.h"

/* One mapping (or what later mappings left of it). Immutable. */
struct map {
	uint64_t start, end;       /* addresses, end exclusive */
	uint64_t pgoff;            /* file offset of `start` */
	uint32_t module;           /* id */
	uint32_t prot, flags;      /* as in MMAP2 */
	uint32_t serial;           /* of what was mapped: shared by the pieces that are left of it; space_insert sets it */
	bool identity;             /* offsets are addresses */
};

static inline uint64_t map_offset(const struct map *map, uint64_t address)
{
	return map->identity ? address : address - map->start + map->pgoff;
}

/* One root of an address space; NULL is the empty one. */
struct map_node;

struct thread_comm {
	uint64_t clock, time;
	uint32_t comm;             /* id in model.strings */
	bool exec;
};

struct thread_namespaces {
	uint64_t clock;
	uint32_t first, count;     /* into model.namespaces */
};

/* A life of a thread: from the record that made it (or the first that names it) to its exit. */
struct thread {
	int32_t pid, tid, ppid;
	uint32_t space;            /* the address space it runs in */
	uint64_t born, died;       /* clocks; died UINT64_MAX while alive */
	bool missed;               /* model_renew found it ended */
	VEC(struct thread_comm) comms;           /* sorted by clock */
	VEC(struct thread_namespaces) namespaces; /* likewise */
};

#define THREAD_NONE 0xffffffffu
#define COMM_NONE 0xffffffffu     /* no COMM was seen: shown as ":TID" */

/* All threads that had one tid, by birth. */
struct thread_lives {
	VEC(uint32_t) threads;
};

struct namespace_link {
	uint64_t dev, inode;
};

/* A row of the recording's build-id table. */
struct known_build_id {
	const char *filename;                /* borrowed from build_id_names */
	uint16_t misc;
	uint8_t id[20], len;
};

struct model {
	struct modules modules;
	struct strtab strings;               /* comms, cgroup paths */
	VEC(struct thread *) threads;        /* by id, in the order they were born */
	VEC(struct space *) spaces;
	VEC(struct namespace_link) namespaces;
	struct idmap by_tid;                 /* tid → index into lives */
	VEC(struct thread_lives) lives;
	struct strtab build_id_names;        /* filenames of the build-id table */
	VEC(struct known_build_id) build_ids; /* by id in build_id_names */
	struct idmap cgroups;                /* cgroup id → string id */
	struct arena arena;
	uint64_t random;                     /* state of the trees' priorities */
	uint32_t kernel_space;
	uint32_t mappings;                   /* how many there were */
	uint32_t edit, edits;                /* the one that is made of many changes to spaces, 0: none such; how many there were */
	uint64_t jit_budget;                 /* JIT-compiled functions that may still be kept above anonymous memory; 0: there are none */
	bool outlives_leader;                /* a new thread has its maker's mappings, also where the process's first thread has ended: perf
	                                      * knows none of it then (recorders that unwind) */
	bool keep_exited;                    /* an exit ends nothing: a thread lives until its tid is born again (report, trace) */
	uint64_t changes;                    /* grows with each applied record that changed anything */
	uint64_t bad_records;                /* side-band records whose bytes made no sense */
	uint32_t generation;                 /* how often it was renewed */
};

void model_init(struct model *model);
void model_fini(struct model *model);

/* Applies one record at `clock` (not below any earlier one). Records that are no side-band are ignored. trailer: its sample_id. */
void model_apply(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock);
/* Where a function of a dump lies from `clock` on. */
struct jit_place {
	uint64_t start, size, offset;
	uint32_t module;           /* the dump */
};

/* Places functions of dumps in the process's space, in order, over what was there: all of one clock in one call. */
void model_place_jit(struct model *model, int32_t pid, const struct jit_place *places, size_t count, uint64_t clock);
/* A section of the kernel's file, as it lies in memory. */
struct kernel_part {
	const char *section;       /* borrowed; ".text" is the kernel itself */
	uint64_t start, end, offset; /* offset: in the file */
};

/* The kernel lies as these tell, not as its record did; what is not .text gets modules of its own. */
void model_place_kernel(struct model *model, const struct module *kernel, const struct kernel_part *parts, size_t count, uint64_t clock);
/* The recording's build-id table: known before the first record (a file) or as HEADER_BUILD_ID passes. */
void model_set_build_id(struct model *model, const char *filename, uint16_t misc, int32_t pid, const uint8_t *id, uint8_t len);

/* Begins a new generation: what has ended is forgotten, what lives is restated as of clock. Modules stay, with their ids (those that
 * a living process maps are of the new generation; see modules_drop); threads and spaces get others. For recorders that run without
 * end. ends: whether a thread has ended although no record told so; NULL: none. old: gets the old generation, to be looked up as of
 * clocks below this one, and to be freed; NULL: that goes, with whatever was borrowed of it. */
void model_renew(struct model *model, uint64_t clock, bool (*ends)(void *context, const struct thread *thread), void *context,
	struct model *old);
/* Frees all but modules and build-ids: of an old generation, and of a zeroed one. */
void model_fini_history(struct model *model);
/* The process runs another program: its mappings have gone. perf lets them stand until others cover them, and so does model_apply. */
void model_clear_space(struct model *model, int32_t pid, uint64_t clock);

/* The life of `tid` as of clock; THREAD_NONE where none was known then (a sample of it is still shown, as ":TID"). */
uint32_t model_thread(const struct model *model, int32_t tid, uint64_t clock);
/* Its name as of clock, or COMM_NONE. */
uint32_t model_comm(const struct model *model, uint32_t thread, uint64_t clock);
/* The root of pid/tid's address space as of clock. thread may be THREAD_NONE. */
const struct map_node *model_root(const struct model *model, int32_t pid, uint32_t thread, uint64_t clock);
const struct map_node *model_kernel_root(const struct model *model, uint64_t clock);
const struct map_node *model_space_root(const struct model *model, uint32_t space, uint64_t clock);
/* The mapping that holds address; NULL where none does. Borrowed until model_fini. */
const struct map *map_find(const struct map_node *root, uint64_t address);
/* In order of address. */
void map_each(const struct map_node *root, void (*visit)(void *context, const struct map *map), void *context);
