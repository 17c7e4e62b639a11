/* The manual pages. As text they are part of the program, made from docs/ when it is built: `help` needs no other file. */
#pragma once
#include "cmd/command.h"

struct page {
	const char *name, *text;
};

extern const struct page pages[]; /* ends with a NULL name */

/* Shows a command's page: the installed one by man if both exist, otherwise the text. Returns the exit code. */
int page_show(struct cli *cli, const char *word);
