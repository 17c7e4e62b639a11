/* The fields of a sample in the raw dump. Internal to dump. */
#pragma once
#include "render/dump/dump.h"

void dump_sample(struct dump *dump, const struct resolved *r);
