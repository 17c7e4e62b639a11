/* Arguments of options that commands which sample share: -m, -F, -c. */
#pragma once
#include "cmd/command.h"
#include "record/acquire/configure.h"

/* Sizes such as 64K: bytes. *plain: the text is a number without a unit, which is the result. */
bool size_parse(const char *text, uint64_t *value, bool *plain);
/* The pages that "8" or "64K" denotes, rounded up to a power of two; 0: invalid. *rounded: it was no power of two. */
size_t pages_of(const char *text, size_t length, bool *rounded);
/* "pages[,pages of AUX]", rounded up to a power of two; NULL is refused. *rounded: no ring can have the size that was named. */
int pages_parse(const char *text, size_t *pages, bool *rounded, struct error *err);

struct rate {
	const char *freq_text;       /* -F, also "max"; NULL */
	bool count_given, strict;    /* -c; --strict-freq */
	uint64_t count;
};

/* Sets freq or period of sampling, whose freq is the default, within what the kernel allows. 0, or the exit code after the complaint. */
int rate_take(const struct cli *cli, const struct rate *rate, struct sampling *sampling);
