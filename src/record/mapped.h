/* The mappings of processes during a recording: a model made from side-band, which is renewed in generations; modules and call frame
 * information of ended processes are freed with their generation. Mappings are looked up as of a time, back to the beginning of the
 * previous generation. Knows no ring and no sample. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "jit/feeds.h"
#include "model/model.h"
#include "os/machine.h"
#include "record/table_loader.h"
#include "unwind/tables.h"

struct mapped {
	struct model model;
	struct model before;         /* the previous generation */
	uint64_t clock;              /* the newest time of a record */
	uint64_t renewed, renewed_before; /* when this generation began, and the previous one */
	bool names;                  /* the model has the names of threads too */
	size_t room;                 /* by which the model may grow, beside its own size, before a new generation */
	size_t generation_bytes;     /* of the model when this generation began … */
	size_t tables_bytes;         /* … and of call frame information */
	struct unwind_tables *tables;
	struct table_loader *loader;
	VEC(int32_t) compilers;      /* processes that have mapped the dump of a just-in-time compiler */
	struct jit_feeds jit;        /* those dumps */
	struct machine_names machine;
};

/* Must not move while open. history: mappings of the past are looked up (mapped_at), so more of it is retained, with names. evlist: states
 * the clock of the records; borrowed. */
void mapped_open(struct mapped *mapped, const struct evlist *evlist, const char *buildid_dir, struct budget *budget, bool history);
void mapped_close(struct mapped *mapped);
/* Applies a side-band record of that time; records that do not concern mappings are ignored. */
void mapped_apply(struct mapped *mapped, const struct record *record, uint64_t time);
/* Reads what compilers have added to their dumps. Not to be called while stacks are unwound. */
void mapped_refresh(struct mapped *mapped);
/* A sample of that time follows: functions that were compiled before are mapped. */
void mapped_advance(struct mapped *mapped, uint64_t time);
/* The address is in a file, or in a compiled function of a dump that was read: a reader of the recording knows no more about it. */
bool mapped_knows(const struct mapped *mapped, const struct map_node *maps, uint64_t address);
/* The current mappings of the process, and their generation. */
const struct map_node *mapped_now(const struct mapped *mapped, int32_t pid, int32_t tid, uint32_t *generation);
/* The same, as of an earlier time. */
const struct map_node *mapped_at(const struct mapped *mapped, int32_t pid, int32_t tid, uint64_t time, uint32_t *generation);
/* The generation of a time; an earlier time is set to the beginning of the oldest generation. */
const struct model *mapped_model_at(const struct mapped *mapped, uint64_t *time);
/* Whether the process has a just-in-time compiler that writes a dump, which is needed to unwind its stacks. */
bool mapped_has_jit(const struct mapped *mapped, int32_t pid);
/* Begins a new generation, without ended threads, if the model has grown enough. oldest: the oldest generation whose mappings are in use.
 * Not to be called while stacks are unwound. */
void mapped_renew(struct mapped *mapped, uint32_t oldest);
/* Requests the table of a module, which the process has mapped. */
void mapped_want(struct mapped *mapped, uint32_t module, int32_t pid);
