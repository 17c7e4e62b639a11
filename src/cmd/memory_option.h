/* --memory, before every command and of some that read recordings: the limit of cli->budget. */
#pragma once
#include "base/options.h"
#include "cmd/command.h"

/* F: a text, NULL where the option was not given: the limit is a share of what the machine allows. */
#define OPT_MEMORY(S, F) \
	OPTION_ROW(STRING, 0, "memory", S, F, "take at most this much memory, such as 2G (half of the machine's)", .arg = "size", \
		.flags = OPTION_OWN)
/* Whether the text, if there is one, is a limit. */
int memory_option_check(const char *text, struct error *err);
/* Sets that limit. */
void memory_option_use(const struct cli *cli, const char *text);
