/* The expressions of metrics are foreign: any text gives a value, or an error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double fuzz_value(void *context, const char *name, double *sources)
{
	*sources = (double)strlen(name);
	return name[0] == 'n' ? NAN : 1e19;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct expression_names names = { .value = fuzz_value };
	struct expression_needs needs = { 0 };
	struct arena arena = { 0 };
	struct error err = { 0 };
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	const struct expression *e = expression_parse(&arena, text, &err);
	if (e) {
		expression_add_needs(e, &names, &needs);
		if (needs.names.count > strlen(text))
			abort();
		expression_value(e, &names);
	} else if (!err.text[0]) {
		abort();
	}
	expression_needs_fini(&needs);
	arena_fini(&arena);
	free(text);
	return 0;
}
