#include <stddef.h>
#include <stdint.h>

#include "analysis/runs/stat_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct runs runs = { 0 };
	struct stat_lines lines = { 0 };
	enum { SERIES_MAX = 1 << 16 }; /* each name is looked up in all */
	if (size > SERIES_MAX)
		return 0;
	stat_lines_read(&lines, (const char *)data, size, &runs, RUN_A);
	runs_compare(&runs);
	runs_fini(&runs);
	return 0;
}
