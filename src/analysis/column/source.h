/* The source line of a frame, as its number and as text. */
#pragma once
#include "analysis/entry/state.h"

uint32_t profile_place_line(const struct profile *profile, uint32_t place);
const char *profile_place_line_text(const struct profile *profile, uint32_t place);
