/* --sort and --fields: any bytes must end in columns or in an error that names the option. */
#include <stdlib.h>
#include <string.h>

#include "analysis/column/columns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A byte for the mode and which options are given; the text of --sort, a newline, that of --fields. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	unsigned shape = size ? (unsigned char)text[0] : 0;
	char *sort = text + !!size, *fields = strchr(sort, '\n');
	if (fields)
		*fields++ = '\0';
	struct column_request request = { .sort = shape & 4 ? sort : NULL, .fields = shape & 8 ? fields : NULL, .children = shape & 16,
		.show_samples = shape & 32, .show_period = shape & 64, .mode = shape & 3, .tracepoints = shape & 128 };
	struct columns columns = { 0 };
	struct error err = { 0 };
	if (columns_setup(&columns, &request, &err) < 0) {
		if (err.kind == ERROR_NONE)
			abort();
	} else {
		for (size_t i = 0; i < columns.fields.count; i++)
			if (columns.fields.items[i] >= columns.all.count)
				abort();
		for (size_t i = 0; i < columns.sorts.count; i++)
			if (columns.sorts.items[i] >= columns.all.count)
				abort();
	}
	columns_fini(&columns);
	free(text);
	return 0;
}
