/* Fuzzes --time: any bytes must give ranges or an error. */
#include <stdlib.h>
#include <string.h>

#include "analysis/filter/time_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	for (unsigned relative = 0; relative < 2; relative++) {
		struct time_filter filter = { 0 };
		struct error err = { 0 };
		int result = time_filter_parse(&filter, text, 1000000000, 5000000000, relative, &err);
		if ((result < 0) != (err.kind != ERROR_NONE))
			abort();
		for (size_t i = 0; result >= 0 && i < filter.count; i++)
			if (!filter.ranges[i].start && !filter.ranges[i].stop && time_filter_drops(&filter, 3000000000))
				abort(); /* a range that is open at both ends must pass all times */
		time_filter_fini(&filter);
	}
	free(text);
	return 0;
}
