/* CPUs that went offline or came online while their samples were recorded: the kernel removes the events of a CPU that goes offline, and
 * does not bring them back with it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "os/cpus.h"

struct cpu_changes {
	int fd;                     /* to wait on; -1: no messages, lists alone are compared */
	uint64_t start_ns;
	const struct cpus *recorded; /* those whose events end when they go offline; NULL: none do; borrowed */
	const struct cpus *known;   /* all that were online at the start; NULL: others are not wanted; borrowed */
	struct cpus gone, missing;  /* that were recorded and went offline; that came online and are not recorded */
	uint64_t gone_ns, missing_ns; /* the first of them, since the start; 0: unknown */
};

void cpu_changes_open(struct cpu_changes *changes);
void cpu_changes_close(struct cpu_changes *changes);
void cpu_changes_read(struct cpu_changes *changes); /* the messages of `fd` */
void cpu_changes_add(struct cpu_changes *changes, int32_t cpu, bool online, uint64_t after_ns);
/* The CPUs that are online at the end, for changes without a message. */
void cpu_changes_end(struct cpu_changes *changes, const struct cpus *online);
/* A sentence a line. */
void cpu_changes_text(const struct cpu_changes *changes, struct str *out);
