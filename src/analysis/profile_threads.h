/* Names for threads that had none when they were sampled: the first name that a thread gets holds for all of its life before. */
#pragma once
#include "analysis/profile.h"

void profile_name_threads(struct profile *profile);
