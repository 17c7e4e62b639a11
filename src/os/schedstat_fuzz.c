/* Names of domains and numbers of any size: all lines must be read within their bounds. */
#include <stdlib.h>
#include <string.h>

#include "os/schedstat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct schedstat stat = { 0 };
	memcpy(text, data, size);
	text[size] = '\0';
	schedstat_parse(&stat, text, NULL);
	for (size_t i = 0; i < stat.lines.count; i++) {
		CLEANUP_STR struct str list = { 0 };
		const struct schedstat_line *line = &stat.lines.items[i];
		if (line->row.version != stat.version || (line->row.domain == SCHEDSTAT_NO_DOMAIN) != !line->mask)
			abort();
		if (line->mask)
			schedstat_cpus(line->mask, &list);
	}
	schedstat_fini(&stat);
	free(text);
	return 0;
}
