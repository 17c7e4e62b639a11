/* A loaded BPF program, to which other programs can be attached (fentry): its descriptor and the name of its function. */
#pragma once
#include <stdint.h>

#include "base/error.h"

struct program_target {
	int fd;
	char function[128];
};

/* By its id. Fails with ERROR_USAGE if there is no such program, and with ERROR_UNSUPPORTED if it has no types. */
int program_target_open(struct program_target *target, uint32_t id, struct error *err);
void program_target_close(struct program_target *target);
