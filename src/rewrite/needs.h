/* Which records are dropped unless a sample needs what they made: threads, mappings and modules, as far as a sample can still ask for them.
 * A record is dropped when it is added, and restored when something that it made is found to be needed; what can no longer be asked for is
 * forgotten, and its records remain dropped. Knows no records and no samples. */
#pragma once
#include "base/vec.h"
#include "model/model.h"
#include "rewrite/compact.h"

#define TASK_NONE UINT32_MAX
#define LINK_NONE UINT32_MAX

/* A thread of the model, or one that has ended and from which a thread of the model descends. */
struct task {
	uint32_t leader, parent;     /* tasks; TASK_NONE: none, or one that is needed already */
	uint32_t links;              /* the records that are needed with it */
	bool needed;
};

/* A record in the list of a task. */
struct record_link {
	uint64_t record;
	uint32_t next;
};

/* A mapping that no sample needs yet. */
struct pending_mapping {
	uint64_t record;
	uint32_t serial;             /* of the model */
	bool lives;
};

struct needs {
	struct compact_plan *plan;
	VEC(struct task) tasks;
	VEC(uint32_t) task_of;       /* by thread id of the model */
	VEC(struct record_link) links;
	uint32_t free_link;
	VEC(struct pending_mapping) mappings; /* by serial */
	VEC(uint64_t) serials;       /* a bit for each mapping: a sample lies in it */
	VEC(uint64_t) module_records; /* by module: the record that made it; UINT64_MAX: none, or one that is needed already */
	VEC(bool) modules;           /* by module: a sample lies in it */
	VEC(uint32_t) due;           /* scratch */
};

void needs_init(struct needs *needs, struct compact_plan *plan);
void needs_fini(struct needs *needs);
/* Takes the threads that the model got since the last call. ptid: the thread that made them; -1: unknown. */
void needs_add_threads(struct needs *needs, const struct model *model, int32_t ptid, uint64_t clock);
/* Drops a record until something that it made is needed. The next three state what it made; each restores it if that is needed already. */
void needs_drop(struct needs *needs, uint64_t record);
void needs_made_thread(struct needs *needs, uint64_t record, uint32_t thread);
void needs_made_mapping(struct needs *needs, uint64_t record, uint32_t serial); /* serials rise from call to call */
void needs_made_module(struct needs *needs, uint64_t record, uint32_t module);
/* A sample needs the thread, and so those that it has its name and its mappings from. */
void needs_thread(struct needs *needs, uint32_t thread);
void needs_mapping(struct needs *needs, const struct map *map);
/* After model_renew_held: threads has the new ids of the previous generation's. */
void needs_renew(struct needs *needs, const struct model *model, const uint32_t *threads, uint64_t clock);
