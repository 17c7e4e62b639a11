/* A module list may come from a recording's folder or a container: any bytes must be read within their bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/modules_dep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A name up to the first newline, then the list. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *path;
	size_t len;
	memcpy(text, data, size);
	text[size] = '\0';
	size_t name_len = strcspn(text, "\n");
	const char *list = text[name_len] ? text + name_len + 1 : "";
	if (modules_dep_find(list, text, name_len, &path, &len) && (path < list || path + len > list + strlen(list)))
		abort();
	free(text);
	return 0;
}
