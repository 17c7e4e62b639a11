/* Names of frames in a flame graph: complete names, and names as FlameGraph's folded text has them. */
#pragma once
#include <stdbool.h>

#include "analysis/flame/flame_tree.h"
#include "base/str.h"
#include "model/module.h"

/* Returns the kind of code in a module. */
enum flame_kind flame_kind_of(const struct module *module);

/* These functions append to *text. module NULL: in no mapping; symbol NULL: unknown. */

/* Appends the symbol; without one "[libc.so.6]"; without a module "[unknown]". */
void flame_full_name(struct str *text, const struct module *module, const char *symbol);
/* The same as stackcollapse-perf.pl writes it: without arguments and quotes, ':' for ';'. */
void flame_fold_name(struct str *text, const struct module *module, const char *symbol);
/* Returns the suffix of an annotated frame: "_[k]", "_[j]", "_[i]", "". */
const char *flame_mark(enum flame_kind kind);
/* Converts a comm for folded text in place: '_' for blanks, ':' for ';'. */
void flame_fold_task(struct str *text);
