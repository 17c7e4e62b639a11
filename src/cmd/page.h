/* The manual pages. As text they are part of the program, made from docs/ when it is built: `help` needs no other file. */
#pragma once
#include "cmd/command.h"

struct page {
	const char *name, *text;
};

extern const struct page pages[];   /* ends with a NULL name */
extern const struct page scripts[]; /* the same: completion by the name of the shell, with @PROGRAM@ for the program */

enum page_form { PAGE_MAN, PAGE_INFO, PAGE_WEB };

/* Shows a command's page: the installed one by man if both exist, otherwise the text; by info; or the installed HTML page by the web
 * browser ($BROWSER, xdg-open, www-browser). Returns the exit code. */
int page_show(struct cli *cli, const char *word, enum page_form form);
