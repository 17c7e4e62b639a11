#include "render/format/format.h"

#include <string.h>

#include "base/str.h"
#include "render/csv/table_csv.h"
#include "render/json/table_json.h"

const struct format formats[] = {
	{ "text", "as perf prints it", NULL },
	{ "json", "one JSON document", results_json },
	{ "csv", "a line for each row", results_csv },
};
const size_t format_count = sizeof formats / sizeof *formats;

const struct format *format_find(const char *name, struct error *err)
{
	CLEANUP_STR struct str names = { 0 };
	for (size_t i = 0; i < format_count; i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
		str_printf(&names, "%s%s", i ? ", " : "", formats[i].name);
	}
	error_set(err, ERROR_OPTION, "there is no format '%s': it is one of %s", name, str_text(&names));
	return NULL;
}
