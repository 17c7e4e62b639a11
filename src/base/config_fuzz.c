/* Parses any bytes as a configuration file: accepted settings must be found again. */
#include <stdlib.h>

#include "base/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config = { 0 };
	struct error err;
	config_parse(&config, CONFIG_USER, "fuzz", (const char *)data, size, &err);
	for (size_t i = 0; i < config.entries.count; i++) {
		if (config_get(&config, config.entries.items[i].key) != config.entries.items[i].value)
			abort();
	}
	config_fini(&config);
	return 0;
}
