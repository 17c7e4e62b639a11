/* Other users choose names and paths in /proc: any bytes must be read within their bounds. */
#include <stdlib.h>
#include <string.h>

#include "os/process_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	struct process_status status;
	struct process_map map;
	process_status_parse(text, &status);
	if (!memchr(status.comm, '\0', sizeof status.comm))
		abort();
	process_stat_parse(text, &status);
	if (!memchr(status.comm, '\0', sizeof status.comm))
		abort();
	if (process_map_parse(text, &map) && (map.end <= map.start || map.path < text || map.path > text + size))
		abort();
	free(text);
	return 0;
}
