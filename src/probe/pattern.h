/* Patterns of names and of source lines. Knows no probe. */
#pragma once
#include <stdbool.h>

#include "base/error.h"

/* Whether name matches a glob with *, ? and [...]. */
bool probe_glob(const char *pattern, const char *name);
/* Whether a source line matches a lazy pattern: a glob in which spaces do not count, except as bounds of words in the line. */
bool probe_lazy(const char *pattern, const char *line);

/* A condition of globs with !, &, | and parentheses: "!_* & !*@plt". */
struct probe_filter;
int probe_filter_parse(struct probe_filter **filter, const char *text, struct error *err);
/* As (filter | text). *filter may be NULL. */
int probe_filter_or(struct probe_filter **filter, const char *text, struct error *err);
void probe_filter_free(struct probe_filter *filter); /* NULL is allowed */
bool probe_filter_passes(const struct probe_filter *filter, const char *name); /* NULL passes all */
