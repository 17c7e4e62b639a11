/* What a frame is called in a flame graph, in full and as FlameGraph's folded text has it. Knows no sample. */
#pragma once
#include <stdbool.h>

#include "analysis/flame_tree.h"
#include "base/str.h"
#include "model/module.h"

/* The kind of code that a module's symbols are. */
enum flame_kind flame_kind_of(const struct module *module);

/* All of these add to *text. module NULL: none; symbol NULL: none. */

/* The symbol; "[libc.so.6]" where there is only a module; "[unknown]". */
void flame_full_name(struct str *text, const struct module *module, const char *symbol);
/* As stackcollapse-perf.pl: arguments and quotes dropped, ':' for ';'; "[libc.so.6]"; "[unknown]". */
void flame_fold_name(struct str *text, const struct module *module, const char *symbol);
/* Behind the name of an annotated frame: "_[k]", "_[j]", "_[i]", "". */
const char *flame_mark(enum flame_kind kind);
/* A command in folded text: '_' for blanks, ':' for ';'; in place. */
void flame_fold_task(struct str *text);
