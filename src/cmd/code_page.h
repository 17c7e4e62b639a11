/* The code of a function as a table that the browser shows: counts, cycles, jumps, places in the source. */
#pragma once
#include "analysis/annotate/annotation.h"
#include "analysis/profile/profile.h"
#include "render/tui/snapshot.h"

/* The lines of a symbol with the counts of the event of this name. NULL: *err has the reason; with lines, *err may say that their code is
 * missing. */
struct snapshot *code_page_make(struct annotator *annotator, const struct hits *hits, uint32_t module, uint32_t symbol,
	const struct evlist *evlist, const char *event, struct error *err);

/* The function that a cell names: one with samples (hits), one of the profile's places (NULL: not searched), otherwise the symbol of its
 * module at its address as linked. false: not known. */
bool code_page_find(struct annotator *annotator, const struct modules *modules, struct symbols *symbols, const struct profile *profile,
	const struct hits *hits, const struct cell_place *wanted, uint32_t *module, uint32_t *symbol);
/* What a row's cell of a place needs to be annotated; otherwise *err has the reason. */
const struct cell_place *code_page_place(const struct snapshot *shot, uint32_t row, struct error *err);
