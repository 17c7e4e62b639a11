/* `inject --vm-time-correlation`: gives the packets of virtual machines in a trace the host's times, in the recording itself. */
#pragma once
#include <stdbool.h>

#include "base/error.h"
#include "decode/intel_pt/guest_time.h"

struct budget;
struct source;

struct guest_times_options {
	bool wanted, dry_run;
	const char *text;            /* the offsets; NULL: none; borrowed */
};

/* "[dry-run] [OFFSET[:VMCS[,VMCS]...]]...": sets the options; checks the rest. */
int guest_times_parse(struct guest_times_options *options, const char *text, struct error *err);
/* force: the recording may be changed. All changes are collected before the first is written; the budget
 * limits them, 16 bytes for a packet. */
int guest_times_correct(const struct guest_times_options *options, struct source *source, const char *path, bool force,
	struct budget *budget, struct error *err);
