#include "cmd/memory_option.h"

#include "base/budget.h"
#include "cmd/sampling.h"

enum { MEMORY_MIN = 16 << 20 };

static bool parse(const char *text, uint64_t *bytes)
{
	bool plain;
	return size_parse(text, bytes, &plain) && *bytes >= MEMORY_MIN && *bytes <= SIZE_MAX;
}

int memory_option_check(const char *text, struct error *err)
{
	uint64_t bytes;
	if (!text || parse(text, &bytes))
		return 0;
	return error_set(err, ERROR_USAGE, "--memory takes a size of at least %u MiB, such as 512M or 2G", MEMORY_MIN >> 20);
}

void memory_option_use(const struct cli *cli, const char *text)
{
	uint64_t bytes;
	if (!text || !parse(text, &bytes))
		return;
	cli->budget->limit = bytes;
	cli->budget->measure = NULL;
}
