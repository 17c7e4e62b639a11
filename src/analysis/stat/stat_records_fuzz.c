/* Records of counts from arbitrary bytes: the first byte selects the type. */
#include <stddef.h>

#include "analysis/stat/stat_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct stat_threads threads = { 0 };
	struct cpus cpus = { 0 };
	struct stat_config config;
	struct stat_value value;
	struct stat_round round;
	if (!size)
		return 0;
	const struct record record = { .body = data + 1, .body_len = (uint32_t)(size - 1) };
	switch (data[0] % 5) {
	case 0:
		stat_config_read(&record, &config);
		break;
	case 1:
		stat_threads_read(&record, &arena, &threads);
		break;
	case 2:
		stat_cpus_read(&record, &cpus);
		break;
	case 3:
		stat_value_read(&record, &value);
		break;
	default:
		stat_round_read(&record, &round);
	}
	vec_fini(&threads.list);
	cpus_fini(&cpus);
	arena_fini(&arena);
	return 0;
}
