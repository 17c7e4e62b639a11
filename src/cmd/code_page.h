/* The code of a function as a table that the browser shows: counts, cycles, jumps, places in the source. */
#pragma once
#include "analysis/annotate/annotation.h"
#include "analysis/profile/profile.h"
#include "cmd/code_align.h"
#include "render/tui/snapshot.h"

/* The lines of a symbol with the counts of the event of this name. NULL: *err has the reason; with lines, *err may say that their code is
 * missing. */
struct snapshot *code_page_make(struct annotator *annotator, const struct hits *hits, uint32_t module, uint32_t symbol,
	const struct evlist *evlist, const char *event, struct error *err);

/* The code of one function in several builds or recordings, line beside line: the counts of each side in a column, those of the second
 * with "_2" behind the names of columns. A side without code has no lines. */
struct code_side {
	const struct annotation *annotation;
	const struct hits *hits;
	uint32_t event;
	const char *name;          /* of the recording, for the heads */
};
struct snapshot *code_page_join(const struct code_side *sides, size_t count, const char *event);
/* The event of this name; 0: none has it. */
uint32_t code_page_event(const struct evlist *evlist, const char *name);

/* The function that a cell names: one with samples (hits), one of the profile's places (NULL: not searched), otherwise the symbol of its
 * module at its address as linked. false: not known. */
bool code_page_find(struct annotator *annotator, const struct modules *modules, struct symbols *symbols, const struct profile *profile,
	const struct hits *hits, const struct cell_place *wanted, uint32_t *module, uint32_t *symbol);
/* What a row's cell of a place needs to be annotated; otherwise *err has the reason. */
const struct cell_place *code_page_place(const struct snapshot *shot, uint32_t row, struct error *err);
