/* The probes of a program in the build-id cache: definitions with the lines that the kernel got for them. Format of the file `probes`, as
 * perf has it: "#DEFINITION", or "%GROUP:NAME=NAME" of a static probe point, followed by one line of the kernel's for each place. Knows no
 * folder. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct cached_probe {
	const char *definition;
	bool is_static;               /* a static probe point */
	VEC(const char *) lines;
};

struct cached_probes {
	struct arena arena;           /* owns the texts */
	VEC(struct cached_probe) list;
};

/* Appends the definitions of a file; lines before the first one are left out. */
void cached_probes_read(struct cached_probes *probes, const char *text);
/* Returns the definition without lines: a new one, or in place of the existing one. The pointer is valid until the next call. */
struct cached_probe *cached_probes_set(struct cached_probes *probes, const char *definition, bool is_static);
void cached_probes_add_line(struct cached_probes *probes, struct cached_probe *probe, const char *line);
void cached_probes_remove(struct cached_probes *probes, size_t index);
void cached_probes_text(const struct cached_probes *probes, struct str *to);
/* Appends the name by which lists select it: "GROUP:NAME" if the definition has one, otherwise the definition. */
void cached_probe_name(const struct cached_probe *probe, struct str *to);
void cached_probes_fini(struct cached_probes *probes); /* accepts a zeroed one */
