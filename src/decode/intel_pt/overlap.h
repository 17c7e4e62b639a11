/* Snapshots of a trace that overlap: each holds what the buffer held, so the next one may begin with bytes that were there before. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* How many bytes of `next` the snapshot before it has, too, found by the time stamps after their PSBs. *follows: the rest of next continues
 * `before` without a gap; otherwise it begins at a PSB. */
size_t pt_overlap(struct span before, struct span next, bool *follows);
