/* record --trigger: watches a function of a program by uprobes, and says when it is reached or takes longer than a limit. Its events are
 * separate from the recorded ones. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "event/event.h"
#include "record/acquire/counters.h"
#include "record/call_times.h"

/* "SYMBOL[@FILE][%return > 2ms]" */
struct trigger_spec {
	char *symbol;
	char *file;                  /* NULL: the program of the command or of the process */
	uint64_t limit_ns;           /* of a call; 0: the function is reached */
};

int trigger_parse(struct trigger_spec *spec, const char *text, struct error *err);
void trigger_spec_fini(struct trigger_spec *spec); /* accepts a zeroed one */

enum { TRIGGER_ENTRY, TRIGGER_RETURN, TRIGGER_PROBES };

struct trigger {
	bool open;
	uint64_t limit_ns;
	char file[4096];
	struct probe_event {
		struct events events;
		struct counters counters;
	} probes[TRIGGER_PROBES];
	struct call_times calls;
	struct str bytes;            /* of the ring that is read */
	VEC(struct probe_record {
		uint64_t time;
		uint32_t tid;
		int kind;
	}) pending;                  /* read, but not all older ones are */
	uint64_t took_ns;            /* the last call that exceeded the limit */
};

/* Opens and starts the probes for a target. program: the path of a command, or NULL; pid: a process, or 0. */
int trigger_open(struct trigger *trigger, const struct trigger_spec *spec, const struct target *target, const char *program, int pid,
	struct error *err);
void trigger_close(struct trigger *trigger); /* accepts a zeroed one */
/* Empties the rings; returns whether the trigger fired. */
bool trigger_fired(struct trigger *trigger);
