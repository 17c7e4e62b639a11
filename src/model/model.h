/* Processes, threads and mappings over time: the history that side-band records describe.
 *
 * One owner thread applies records in delivery order, each at its clock (a counter of delivered records). While no record is applied, any
 * thread may look up anything as of any clock. An address space is a persistent balanced tree of mappings, or an array of those that were
 * made at once: a change makes a new root, fork shares the root of the parent, nodes are never modified. The rules of inheritance are
 * perf's, as measured. Does not access files. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "abi/sample.h"
#include "model/build_ids.h"
#include "model/injected.h"
#include "model/module.h"

struct budget;

/* A mapping, or the remainder of one that later mappings cover in part. Immutable. 40 bytes: most of a machine with many processes. */
struct map {
	uint64_t start, end;       /* addresses; end is exclusive */
	uint64_t pgoff;            /* file offset of `start` */
	uint32_t module;           /* id */
	uint32_t prot, flags;      /* as in MMAP2 */
	uint32_t serial : 31;      /* number of the original mapping, shared by its remainders; set by space_insert */
	bool identity : 1;         /* offsets are addresses */
};

static inline uint64_t map_offset(const struct map *map, uint64_t address)
{
	return map->identity ? address : address - map->start + map->pgoff;
}

/* Mappings that were made at once, by address; none overlaps another. Immutable. */
struct map_array {
	uint32_t count;            /* > 0 */
	const uint64_t *starts;
	const struct map *maps;
};

/* A node of an address space's tree; a root represents the address space as of a clock. NULL: empty. */
struct map_node;

struct thread_comm {
	uint64_t clock, time;
	uint32_t comm;             /* id in model.strings */
	bool exec;
};

struct thread_namespaces {
	uint64_t clock;
	uint32_t first, count;     /* index and count in model.namespaces */
};

/* One life of a thread id: from the record that creates it, or the first record that names it, to its exit. */
struct thread {
	int32_t pid, tid, ppid;
	uint32_t space;            /* id of its address space */
	uint64_t born, died;       /* clocks; died is UINT64_MAX while the thread is alive */
	uint64_t exited;           /* clock of the record of its exit; 0: no such record */
	bool missed;               /* the last model_renew found that the thread has ended */
	VEC(struct thread_comm) comms;           /* by clock */
	VEC(struct thread_namespaces) namespaces; /* by clock */
};

#define THREAD_NONE 0xffffffffu
#define COMM_NONE 0xffffffffu     /* no COMM record yet: shown as ":TID" */

/* The threads that had one thread id, by birth. */
struct thread_lives {
	VEC(uint32_t) threads;
};

struct namespace_link {
	uint64_t dev, inode;
};

/* Whose the mappings and the samples of virtual machines are. */
enum guests {
	GUESTS_NONE,               /* the host's: samples of virtual machines are not resolved by themselves */
	GUESTS_ONE,                /* of one machine, whatever process runs it */
	GUESTS_EACH,               /* of a machine for each process that runs one */
	GUESTS_CODE,               /* the same, and its code is that of the process, at the same addresses */
};

/* A virtual machine. */
struct guest_machine {
	int32_t pid;               /* of the process that runs it; 0: of any */
	uint32_t kernel_space;     /* id of its kernel's address space */
};

struct model {
	struct modules modules;
	struct strtab strings;               /* comms and cgroup paths */
	VEC(struct thread *) threads;        /* by id, in order of birth */
	VEC(struct space *) spaces;
	VEC(struct namespace_link) namespaces;
	struct idmap by_tid;                 /* tid → index into lives */
	VEC(struct thread_lives) lives;
	struct known_build_ids build_ids;
	struct idmap cgroups;                /* cgroup id → string id */
	struct arena arena;
	uint64_t random;                     /* state of the generator for node priorities */
	uint32_t kernel_space;
	enum guests guests;
	VEC(struct guest_machine) guest_machines;
	struct idmap guest_by_pid;           /* process → index in guest_machines */
	struct injected injected;            /* virtual machines whose side-band the recording has, too */
	const struct injected_id *machine;   /* whose record is applied; NULL: the host's */
	VEC(struct map) kernel_maps;         /* the recorded mappings of the kernel and its modules, by start and end (space.h) */
	bool kernel_contested;               /* some of kernel_maps overlap */
	uint32_t mappings;                   /* number of mappings so far */
	uint32_t edit, edits;                /* edit: the current edit that combines several changes of address spaces, 0: none; edits:
	                                      * number of edits so far */
	struct {
		VEC(struct map) maps;
		uint64_t clock;              /* of the first */
		uint32_t space;
	} made;                              /* mappings of the current edit for one space that was empty (space.h) */
	size_t superseded;                   /* bytes of nodes that only look-ups as of earlier clocks need */
	size_t ended;                        /* number of threads that have ended */
	uint64_t jit_budget;                 /* how many mappings of JIT code may still be re-inserted over new anonymous memory; 0: there
	                                      * is no JIT code */
	bool outlives_leader;                /* a new thread shares its creator's address space even if the leader has ended; perf loses the
	                                      * mappings then (recorders that unwind) */
	bool keep_exited;                    /* an EXIT record only sets thread.exited: a thread lives until its thread id is reused (report,
	                                      * trace) or a renewal drops it */
	bool clears_at_exec;                 /* a process that executes another program loses its mappings; perf's readers retain them */
	bool checks_only;                    /* records are checked, but change nothing */
	uint64_t changes;                    /* number of applied records that changed the model */
	struct budget *budget;               /* memory for the history of mappings; borrowed; NULL: no limit */
	size_t budgeted;                     /* bytes taken from it */
	uint64_t left_out;                   /* number of mappings for which it had no room */
	uint64_t bad_records;                /* number of invalid side-band records */
	uint32_t generation;                 /* number of renewals */
};

void model_init(struct model *model);
void model_fini(struct model *model);

/* An ID_INDEX record: the ids of virtual machines, before their records. */
void model_read_ids(struct model *model, const struct record *record);
/* Applies one record at `clock`, which must not decrease. Records that are not side-band are ignored. trailer: the decoded trailer. */
void model_apply(struct model *model, const struct record *record, const struct sample *trailer, uint64_t clock);
/* Changes until the next call with false are combined: the address spaces need not be looked up as of the clocks between them, which saves
 * the history of mappings that are recorded one after the other. */
void model_combine(struct model *model, bool on);
/* A function of a JIT dump and the address that it is mapped at from a clock on. */
struct jit_place {
	uint64_t start, size, offset;
	uint32_t module;           /* id of the JIT dump */
};

/* Maps functions of JIT dumps into the process, in order, over existing mappings. All functions of one clock must be in one call. */
void model_place_jit(struct model *model, int32_t pid, const struct jit_place *places, size_t count, uint64_t clock);
/* A section of the kernel's file and its address in memory. */
struct kernel_part {
	const char *section;       /* borrowed; ".text" is the kernel itself */
	uint64_t start, end, offset; /* offset: in the file */
};

/* Maps the kernel by its sections instead of by its MMAP record; sections other than .text become separate modules. */
void model_place_kernel(struct model *model, const struct module *kernel, const struct kernel_part *parts, size_t count, uint64_t clock);
/* Adds a row of the recording's build-id table: before the first record (file) or when HEADER_BUILD_ID is read (stream). identity: the
 * row is valid for this one of the files with that name; NULL: for all of them. */
void model_set_build_id(struct model *model, const char *filename, uint16_t misc, const struct module_identity *identity, const uint8_t *id,
	uint8_t len);

/* Begins a new generation for recorders that run without end: drops ended threads and unused mappings, and restates the living as of
 * clock. Modules keep their ids; those that a living process maps belong to the new generation (see modules_drop). Threads and address
 * spaces get new ids. has_ended: whether a thread has ended without an EXIT record; NULL: unknown. previous: receives the previous
 * generation, for look-ups as of earlier clocks and to be freed with model_fini_history; NULL: it is freed, and what was borrowed from it
 * becomes invalid. */
void model_renew(struct model *model, uint64_t clock, bool (*has_ended)(void *context, const struct thread *thread), void *context,
	struct model *previous);
/* The same for an analysis that refers to threads: */
struct model_renewal {
	uint64_t clock;
	bool (*has_ended)(void *context, const struct thread *thread); /* NULL: unknown */
	void *context;
	const bool *held;          /* by thread id: restated even if it has ended; NULL: none */
	uint32_t *threads;         /* by thread id: receives the new id, or THREAD_NONE; NULL: not wanted */
	struct model *previous;    /* as above; NULL: it is freed */
};
void model_renew_held(struct model *model, const struct model_renewal *renewal);
/* About how many bytes a renewal can free. */
size_t model_growth(const struct model *model);
/* Frees everything except modules and build-ids: of a previous generation, or of a zeroed one. */
void model_fini_history(struct model *model);
/* Removes the mappings of a process that executes another program. model_apply does not do that: perf retains them until others cover
 * them. */
void model_clear_space(struct model *model, int32_t pid, uint64_t clock);

/* Returns the thread with id `tid` as of clock, or THREAD_NONE (samples of an unknown thread are shown as ":TID"). */
uint32_t model_thread(const struct model *model, int32_t tid, uint64_t clock);
/* Returns the thread's comm as of clock, or COMM_NONE. */
uint32_t model_comm(const struct model *model, uint32_t thread, uint64_t clock);
/* The path of a cgroup, borrowed; NULL: no record has described it. */
const char *model_cgroup_path(const struct model *model, uint64_t cgroup);
/* Returns the root of the address space of pid/thread as of clock. thread may be THREAD_NONE. */
const struct map_node *model_root(const struct model *model, int32_t pid, uint32_t thread, uint64_t clock);
/* The same of the kernel of the virtual machine that a process runs; NULL: unknown. */
const struct map_node *model_guest_root(const struct model *model, int32_t pid, uint64_t clock);
const struct map_node *model_kernel_root(const struct model *model, uint64_t clock);
const struct map_node *model_space_root(const struct model *model, uint32_t space, uint64_t clock);
/* Returns the mapping at address, or NULL. Borrowed until model_fini. */
const struct map *map_find(const struct map_node *root, uint64_t address);
/* The array of all mappings of an address space; NULL if the model has a tree of them, or an array and later mappings. Borrowed. */
const struct map_array *map_array_of(const struct map_node *root);
/* Adds the mappings in order of address to maps, which has *count of `most`. False: there are more. */
bool map_list(const struct map_node *root, const struct map **maps, size_t *count, size_t most);
/* Visits all mappings in order of address. */
void map_each(const struct map_node *root, void (*visit)(void *context, const struct map *map), void *context);
