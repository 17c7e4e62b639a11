/* What a command prints at its end about modules without symbols: whose file is of another build or damaged, whether the kernel hides its
 * addresses or hid them while it was recorded; with -v, every place that was tried. All of it on stderr. */
#pragma once
#include "cmd/command.h"
#include "session/session.h"
#include "symbol/symbol.h"

/* symbols: NULL prints nothing. */
void missing_files_report(const struct cli *cli, const struct symbols *symbols, const struct session *session, int verbose);
