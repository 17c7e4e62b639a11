/* The listings of one function in several recordings as one, with a column of percentages for each recording. */
#pragma once
#include <stddef.h>

#include "base/str.h"

/* Joins what `annotate --stdio2` prints of each recording. false: the code differs, *out is unchanged. */
bool diff_listing_join(const char *const *texts, const char *const *paths, size_t count, struct str *out);
