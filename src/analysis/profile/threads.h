/* Names for threads that had none when they were sampled: the first name that a thread gets holds for all of its life before. */
#pragma once
#include "analysis/entry/state.h"

void profile_name_threads(const struct profile *profile, struct collected *collected);
