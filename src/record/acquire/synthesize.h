/* Records about what was there before the recording began: processes and their mappings, the kernel and its modules, and what
 * the recording itself is made of. They look as the kernel would have written them, at time 0. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/writer.h"
#include "record/acquire/counters.h"
#include "record/acquire/target.h"

struct synthesis {
	struct writer *out;          /* into memory */
	size_t trailer;              /* bytes of zeroed sample_id behind each record: as the first event has them */
	unsigned map_timeout_ms;     /* of one process's maps; 0: none */
	bool data_maps;              /* mappings that are not executable too */
	bool namespaces;
	bool build_ids;              /* in mapping records */
	bool no_tasks, no_maps, no_cgroups; /* --synth */
	uint64_t truncated;          /* processes whose maps took too long */
};

/* The size of the sample_id trailer of an event. */
size_t synthesis_trailer(const struct attr *attr);

void synthesize_kernel(struct synthesis *synthesis);
void synthesize_id_index(struct synthesis *synthesis, const struct counters *counters);
void synthesize_event_updates(struct synthesis *synthesis, const struct events *events, const struct counters *counters, bool names);
void synthesize_thread_map(struct synthesis *synthesis, const struct target *target);
void synthesize_cpu_map(struct synthesis *synthesis, const struct counters *counters);
void synthesize_clock(struct synthesis *synthesis, const struct counters *counters);
void synthesize_cgroups(struct synthesis *synthesis);
/* One process: its name, mappings, and those of its threads that `only` has (NULL: all). */
void synthesize_process(struct synthesis *synthesis, pid_t pid, bool forks, const struct target *only);
/* The command before its exec: a name alone, its mappings are about to go. */
void synthesize_command(struct synthesis *synthesis, pid_t pid);
/* The processes of the target: all of a system-wide one. */
void synthesize_processes(struct synthesis *synthesis, const struct target *target);
/* A record of a header alone. */
void synthesize_mark(struct synthesis *synthesis, uint32_t type);
