/* Probes of programs and of the kernel in the build-id cache: the files `probes` beside the copies of the programs and of the kernel's
 * symbols. */
#pragma once
#include <limits.h>

#include "cmd/command.h"
#include "image/cache.h"
#include "probe/cached.h"
#include "probe/convert.h"

/* One program in the cache. */
struct cached_program {
	int cache;                    /* descriptor; borrowed */
	const struct cache_entry *entry;
	char path[PATH_MAX + 16];     /* of the file `probes` below the cache */
	struct cached_probes probes;
};

/* Visits the programs with probes; < 0 ends the visit. An absent cache has no programs. */
typedef int cached_program_fn(void *context, struct cached_program *program, struct error *err);
int probe_cache_each(struct cli *cli, enum cache_use use, cached_program_fn *act, void *context, struct error *err);
/* Replaces the file by program->probes. */
int probe_cache_write(const struct cached_program *program, struct error *err);
/* Adds the program to the cache, and the events to its probes. definition NULL: they are static probe points. */
int probe_cache_store(struct cli *cli, const struct probe_target *target, const char *definition, const struct probe_events *events,
	struct error *err);
/* The same for the running kernel: its symbols are added to the cache. */
#define PROBE_CACHE_KERNEL "[kernel.kallsyms]"
int probe_cache_store_kernel(struct cli *cli, const char *definition, const struct probe_events *events, struct error *err);
/* Adds the static probe points of a program to the cache, where `probe` and `list` find them. root: descriptor of the folder from which
 * path is seen, then nothing is added; -1: our root. A file without such points is no error. */
int probe_cache_static_points(struct cli *cli, const char *path, int root, struct error *err);
