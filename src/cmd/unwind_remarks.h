/* What a command prints at its end about recorded user stacks (--call-graph dwarf) that were not unwound to their outermost caller. */
#pragma once
#include "cmd/command.h"
#include "session/session.h"

/* How many stacks were guessed in part. */
void guess_remark(const struct cli *cli, const struct session *session);
void unwind_remarks(const struct cli *cli, const struct session *session);
