/* The options that choose samples, and the struct sample_filter that they make. */
#pragma once
#include "analysis/filter/sample_filter.h"
#include "base/options.h"
#include "data/header.h"

struct filter_options {
	const char *comms, *dsos, *symbols, *pids, *tids, *cpus, *time;
};

/* Rows that are equal in all commands that have them. S is the command's struct, F its struct filter_options. */
#define FILTER_THREAD_OPTIONS(S, F)                                                                                     \
	OPT_STRING('c', "comms", S, F.comms, "comm[,comm...]", "only samples of these commands"),                            \
	OPT_STRING(0, "pid", S, F.pids, "pid[,pid...]", "only samples of these processes"),                                  \
	OPT_STRING(0, "tid", S, F.tids, "tid[,tid...]", "only samples of these threads")
#define OPT_FILTER_CPU(S, F) OPT_STRING('C', "cpu", S, F.cpus, "cpu", "only samples of these CPUs, as in 0-3,8")
#define OPT_FILTER_TIME(S, F)                                                                                           \
	OPT_STRING(0, "time", S, F.time, "str", "only samples of this span: start,stop in seconds, or slices such as 10%/2")
/* The rows of commands that perf does not have. */
#define FILTER_OPTIONS(S, F)                                                                                            \
	OPT_STRING(0, "comm", S, F.comms, "name,...", "only samples of these commands"),                                     \
	OPT_STRING(0, "pid", S, F.pids, "pid,...", "only samples of these processes"),                                       \
	OPT_STRING(0, "tid", S, F.tids, "tid,...", "only samples of these threads"),                                         \
	OPT_STRING('C', "cpu", S, F.cpus, "cpus", "only samples of these CPUs, as in 0-3,8"),                                \
	OPT_STRING(0, "time", S, F.time, "start,stop", "only samples of this span: seconds, or slices such as 10%/2")

/* Each of these fills its part of the filter if the option was given. */
int filter_open_lists(struct sample_filter *filter, const struct filter_options *options, struct error *err);
/* relative: times count from the first sample. */
int filter_open_time(struct sample_filter *filter, const struct filter_options *options, const struct header *header, bool relative,
	struct error *err);
/* Returns 1, without an error, where the list has a CPU that is not below `available`: *refused. */
int filter_open_cpus(struct sample_filter *filter, const struct filter_options *options, uint32_t available, int32_t *refused,
	struct error *err);
/* All options; CPUs that the recording does not have are accepted. */
int filter_open(struct sample_filter *filter, const struct filter_options *options, const struct header *header, struct error *err);
/* Whether events of each type record the CPU, as perf asks: the first event of each type is looked at. */
bool filter_cpus_known(const struct evlist *evlist);
