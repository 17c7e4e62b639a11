/* A report as text: for each event a heading, the columns' headers, a line per entry with its chains. Knows no option table. */
#pragma once
#include "analysis/profile/hist.h"
#include "base/writer.h"

struct report_text {
	const struct profile *profile;
	uint64_t lost_samples;
	const char *time_slices;  /* --time as given; NULL: not given */
	const char *memory_order; /* sort order to name under --mem-mode; NULL: no such report */
	const char *tip;
	bool quiet, colour, show_reference;
	/* Prints an event's lines instead of its entries; NULL: the entries. */
	void (*body)(void *context, const struct hist *hist, struct writer *out);
	void *body_context;
};

/* All of it but -T's table. */
void report_text_print(const struct report_text *report, struct writer *out);
/* The shares of the branches' kinds, at the end of a report of branches. */
void branch_text_print(const struct branch_counts *counts, struct writer *out);
/* "COND", "CALL" …: the type of a branch that the processor recorded; extended: of its second set of types. "": unknown. */
const char *branch_type_word(unsigned type, bool extended);
