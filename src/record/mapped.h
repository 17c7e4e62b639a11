/* What is mapped where while a recording runs: side-band goes into a model that is renewed by generations, and with it go the modules
 * and the call frame information of what has ended. Everything is looked up as of a time, back to the beginning of the generation
 * before this one. Knows no ring and no sample. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "record/table_loader.h"
#include "unwind/tables.h"

struct mapped {
	struct model model;
	struct model before;         /* the generation before */
	uint64_t clock;              /* the newest time that a record told */
	uint64_t renewed, renewed_before; /* when this generation began, and the one before */
	bool names;                  /* the model knows them, too */
	size_t room;                 /* the model may grow by that much, and by its own size, before the dead are forgotten */
	size_t generation_bytes;     /* of the model when this generation began … */
	size_t tables_bytes;         /* … and of call frame information */
	struct unwind_tables *tables;
	struct table_loader *loader;
	VEC(int32_t) compilers;      /* processes that have mapped the dump of a just-in-time compiler */
};

/* Must not move while open. history: what is looked up is of the past (mapped_at), and more of that is kept; with names. */
void mapped_open(struct mapped *mapped, const char *buildid_dir, struct budget *budget, bool history);
void mapped_close(struct mapped *mapped);
/* A side-band record of that time; what does not concern mappings is passed over. */
void mapped_apply(struct mapped *mapped, const struct record *record, uint64_t time);
/* The process's mappings as of now, and the generation that they are of. */
const struct map_node *mapped_now(const struct mapped *mapped, int32_t pid, int32_t tid, uint32_t *generation);
/* The same, as of a time that has passed. */
const struct map_node *mapped_at(const struct mapped *mapped, int32_t pid, int32_t tid, uint64_t time, uint32_t *generation);
/* The generation that knows of a time, which is moved to where that begins. */
const struct model *mapped_model_at(const struct mapped *mapped, uint64_t *time);
/* The process compiles code as it runs, and a dump tells how its stacks are unwound. */
bool mapped_has_jit(const struct mapped *mapped, int32_t pid);
/* Forgets what has ended, where much has come together. oldest: the oldest generation whose mappings somebody holds. Not while
 * something is unwound. */
void mapped_renew(struct mapped *mapped, uint32_t oldest);
/* Asks for the table of a module, which a process has mapped. */
void mapped_want(struct mapped *mapped, uint32_t module, int32_t pid);
