/* How similar two names are, for the names that a message suggests. */
#pragma once

/* How many letters must be inserted, deleted or replaced, at most `limit`; beyond it, or for long texts: limit + 1. Case does not
 * matter. */
unsigned text_distance(const char *a, const char *b, unsigned limit);
