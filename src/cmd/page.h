/* The manual pages as text, made from docs/ when the program is built: `help` needs no file beside it. */
#pragma once

struct page {
	const char *name, *text;
};

extern const struct page pages[]; /* ends with a NULL name */
