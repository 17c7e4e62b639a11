/* A trace made of samples: of a recording, or of a running measurement where BPF programs do not do. */
#pragma once
#include "cmd/trace/trace.h"
#include "session/sink.h"
#include "session/session.h"
#include "symbol/symbol.h"
#include "tracepoint/tracepoint.h"

enum sample_role { ROLE_OTHER, ROLE_ENTER, ROLE_EXIT, ROLE_CHAIN, ROLE_MAJOR_FAULT, ROLE_MINOR_FAULT, ROLE_RUN_TIME, ROLE_SIDEBAND };

struct sample_event {
	enum sample_role role;
	const char *name;                    /* as printed; owned */
	const struct call *call;             /* of syscalls:sys_enter_NAME; NULL */
	struct call call_space;
	const struct tracepoint_field *number, *value; /* of raw_syscalls: id; args, ret; of sched_stat_runtime: runtime */
	const struct evsel *evsel;
	uint64_t printed, max_printed;       /* of a term max-events; 0: no limit */
};

struct trace_samples {
	struct trace_run *run;
	struct session *session;
	struct symbols *symbols;
	struct tracepoints *tracepoints;
	VEC(struct sample_event) events;
	bool files_asked;                    /* descriptors are looked up in /proc: the processes run */
	unsigned max_stack;
	struct writer fields;                /* text of an event, in memory */
	struct trace_programs *programs;     /* calls come from here, in order of time with the samples; NULL: from samples */
};

/* events: as the session has them, with the texts of their formats. Fails if an event of --switch-on or --switch-off is not among them. */
int trace_samples_open(struct trace_samples *samples, struct trace_run *run, struct session *session, struct error *err);
void trace_samples_close(struct trace_samples *samples);
struct sink trace_samples_sink(struct trace_samples *samples);

/* Traces by tracepoints. */
int trace_run_tracepoints(struct trace_run *run, struct error *err);
/* Shows a recording; returns the exit code. */
int trace_show_recording(struct trace_run *run, struct error *err);
/* `trace record`: makes one. */
int trace_record(struct trace_run *run, int argc, const char **argv);
