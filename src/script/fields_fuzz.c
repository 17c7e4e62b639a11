/* -F: any bytes yield fields or an error. */
#include <stdlib.h>
#include <string.h>

#include "script/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	struct fields fields;
	struct str notes = { 0 };
	struct error err = { 0 };
	fields_init(&fields);
	if ((fields_parse(&fields, text, &notes, &err) < 0) != (err.kind != ERROR_NONE))
		abort();
	for (size_t i = 0; i < CLASS_COUNT; i++)
		if (fields.classes[i].shown >> FIELD_COUNT)
			abort();
	str_fini(&notes);
	free(text);
	return 0;
}
