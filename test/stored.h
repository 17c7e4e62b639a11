/* For tests: a text that is compared with a file of the tree, line by line. With UNIT_UPDATE=1 the file is written anew. */
#pragma once
#include <stdlib.h>

#include "base/str.h"
#include "unit.h"

static inline void stored_read(const char *path, struct str *text)
{
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t n;
	EXPECT(file);
	while (file && (n = fread(bytes, 1, sizeof bytes, file)) > 0)
		str_add(text, bytes, n);
	if (file)
		fclose(file);
}

/* Fails at the first line that differs. */
static inline void stored_compare(const char *path, struct str *got)
{
	CLEANUP_STR struct str want = { 0 };
	if (secure_getenv("UNIT_UPDATE")) {
		FILE *file = fopen(path, "w");
		EXPECT(file && fputs(str_text(got), file) >= 0 && fclose(file) == 0);
		return;
	}
	stored_read(path, &want);
	const char *a = str_text(&want) ?: "", *b = str_text(got);
	for (int line = 1; *a || *b; line++) {
		size_t first = strcspn(a, "\n"), second = strcspn(b, "\n");
		if (first != second || memcmp(a, b, first) != 0) {
			unit_fail(path, line, "expected \"%.*s\", got \"%.*s\"", (int)first, a, (int)second, b);
			return;
		}
		a += first + (a[first] == '\n');
		b += second + (b[second] == '\n');
	}
}
