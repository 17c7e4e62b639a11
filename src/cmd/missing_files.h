/* What a command says at its end about the files that symbols came from: which were of another build or damaged, whether the
 * kernel hides its addresses, or hid them when it was recorded; with -v, every place that was tried. All of it on stderr. */
#pragma once
#include "cmd/command.h"
#include "session/session.h"
#include "symbol/symbol.h"

void missing_files_report(const struct cli *cli, const struct symbols *symbols, const struct session *session, int verbose);
