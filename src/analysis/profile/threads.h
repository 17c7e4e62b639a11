/* Names for threads that had no name when they were sampled: the first name of a thread is valid for its life before, too. */
#pragma once
#include "analysis/entry/state.h"

void profile_name_threads(const struct profile *profile, struct collected *collected);
