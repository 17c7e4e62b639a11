/* Makes records about what existed before a measurement: processes and their mappings, the kernel and its modules, the events themselves.
 * They have the form that the kernel gives such records, and time 0. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/writer.h"
#include "data/evlist.h"
#include "os/code_maps.h"
#include "record/acquire/counters.h"
#include "record/acquire/target.h"

struct synthesis {
	struct writer *out;          /* into memory */
	size_t trailer;              /* bytes of the zeroed sample_id after each record: those of the first event */
	unsigned map_timeout_ms;     /* for the mappings of one process; 0: no limit */
	bool data_maps;              /* also mappings that are not executable */
	bool namespaces;
	bool build_ids;              /* in mapping records */
	bool no_tasks, no_maps, no_cgroups; /* --synth */
	bool command_runs;           /* the command of the target was executed */
	const char *cache;           /* the user's cache, which has the addresses of the kernel's text; NULL: none */
	struct code_maps code_maps;
	uint64_t truncated;          /* processes whose mappings took too long to read */
};

/* The size of the sample_id trailer of an event. */
size_t synthesis_trailer(const struct attr *attr);

void synthesize_kernel(struct synthesis *synthesis);
/* A HEADER_ATTR record per event, with as many of its counters' ids as a record can have: ID_INDEX records have all. */
void synthesize_attributes(struct writer *out, const struct evlist *evlist);
void synthesize_id_index(struct synthesis *synthesis, const struct counters *counters);
void synthesize_event_updates(struct synthesis *synthesis, const struct events *events, const struct counters *counters, bool names);
void synthesize_thread_map(struct synthesis *synthesis, const struct target *target);
void synthesize_cpu_map(struct synthesis *synthesis, const struct counters *counters);
void synthesize_clock(struct synthesis *synthesis, const struct counters *counters);
void synthesize_cgroups(struct synthesis *synthesis);
/* One process: its name, mappings, and its threads that are in `only` (NULL: all). */
void synthesize_process(struct synthesis *synthesis, pid_t pid, bool forks, const struct target *only);
/* The command before its exec: only its name, as the exec replaces its mappings. */
void synthesize_command(struct synthesis *synthesis, pid_t pid);
/* The processes of the target: all of a system-wide one; a command that runs with its descendants. */
void synthesize_processes(struct synthesis *synthesis, const struct target *target);
/* A record without a body. */
void synthesize_mark(struct synthesis *synthesis, uint32_t type);
