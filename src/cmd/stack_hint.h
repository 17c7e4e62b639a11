/* Messages, one each, about recordings whose user stacks are short, joined, or cannot be joined. */
#pragma once
#include <stdint.h>

#include "analysis/profile/profile.h"
#include "cmd/command.h"
#include "data/header.h"

/* --stitch-lbr, but the recording has no call stacks of branch records. */
void stitching_warn(const struct cli *cli, const struct header *header);
/* chains: samples with user code in a chain by frame pointers; those that end after one or two frames. Prints nothing for few, or if
 * standard error is not a terminal: programs interpret its content as a failure. */
void stack_hint(const struct cli *cli, bool verbose, uint64_t chains, uint64_t short_chains);
/* Of `chains` samples with user code, how many have callers from an earlier sample, and which functions these callers are. */
void joined_remark(const struct cli *cli, const struct profile *profile, uint64_t chains);
