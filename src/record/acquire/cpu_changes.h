/* Finds CPUs that go offline or come online during a measurement: the kernel removes the events of a CPU that goes offline, and does not
 * restore them when it comes online. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "os/cpus.h"

struct cpu_changes {
	int fd;                     /* to wait on; -1: no messages, only lists are compared */
	uint64_t start_ns;
	const struct cpus *recorded; /* those whose events end when they go offline; NULL: no event does; borrowed */
	const struct cpus *known;   /* those that were online at the start; NULL: other CPUs are not wanted; borrowed */
	struct cpus gone, missing;  /* those that were recorded and went offline; that came online and are not recorded */
	uint64_t gone_ns, missing_ns; /* time of the first of each, since the start; 0: unknown */
};

void cpu_changes_open(struct cpu_changes *changes);
void cpu_changes_close(struct cpu_changes *changes);
void cpu_changes_read(struct cpu_changes *changes); /* the messages of `fd` */
void cpu_changes_add(struct cpu_changes *changes, int32_t cpu, bool online, uint64_t after_ns);
/* Adds changes without a message. online: the CPUs at the end. */
void cpu_changes_end(struct cpu_changes *changes, const struct cpus *online);
/* Appends a sentence a line. */
void cpu_changes_text(const struct cpu_changes *changes, struct str *out);
