#include "image/recorded_process.h"

#include "os/process.h"

enum { ROUNDING_S = 1 };

int32_t recorded_process(int32_t pid, int64_t until_s, const struct mapped_identity *maps)
{
	int64_t start_s;
	if (pid <= 0 || !until_s)
		return -1;
	if (until_s == RECORDED_NOW)
		return pid;
	if (!process_start(pid, &start_s) || start_s > until_s + ROUNDING_S)
		return -1;
	return !maps || !maps->ino || mapped_file_mapped(pid, maps) ? pid : -1;
}
