/* Reads a finished recording again, for what its header has about its content: the modules that its samples hit, times, counts. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"
#include "image/mapped_file.h"
#include "model/module.h"
#include "record/acquire/build_reader.h"

enum hit_kind { HIT_FILE, HIT_VDSO, HIT_KERNEL, HIT_KERNEL_MODULE };

struct hit_module {
	const char *path;            /* "/usr/bin/x", "[vdso]", "[kernel.kallsyms]", a module's file or "[name]" */
	enum hit_kind kind;
	int32_t machine;             /* process that runs the virtual machine it is of; 0: the host */
	int32_t pid;                 /* HIT_FILE: a process that mapped it, whose view of files may be another one; -1 */
	struct mapped_identity identity; /* HIT_FILE: of the mapped file */
	uint8_t build_id[20], build_id_len;
	bool one_of_many;            /* HIT_FILE: several files had this path: the identity distinguishes them */
};

/* Converts a module, with its recorded build-id or that of its file; false: it has no known build-id, or no file. The path is borrowed from
 * the module. */
bool hit_module_of(struct hit_module *hit, const struct module *module);

struct recording_facts {
	VEC(struct hit_module) modules; /* those with a build-id */
	uint64_t samples;
	uint64_t first_time, last_time; /* of samples; 0: no sample has a time */
	uint64_t user_chains, short_chains; /* by frame pointers; those of them that end after one or two frames */
	uint64_t lost_events, lost_chunks; /* as LOST records state */
	uint64_t trace_pieces, cut_traces; /* AUX records; those that state a gap */
	struct arena arena;
};

struct build_ids_options {
	bool all;                    /* also modules that no sample hit; samples are not decoded */
	struct build_reader *builds; /* of the recording; NULL; borrowed */
};

int recording_facts(struct recording_facts *facts, const char *path, const struct build_ids_options *options, struct error *err);
void recording_facts_fini(struct recording_facts *facts);
/* The body of the BUILD_ID feature. */
void build_ids_body(const struct recording_facts *facts, struct writer *out);
