/* The options of `stat`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "base/vec.h"
#include "record/acquire/target.h"
#include "record/count/latencies.h"
#include "render/stat/stat_text.h"

enum stat_word_kind { STAT_WORD_EVENT, STAT_WORD_FILTER, STAT_WORD_CGROUP, STAT_WORD_METRICS, STAT_WORD_PFM };

/* Options whose order counts. */
struct stat_word {
	enum stat_word_kind kind;
	const char *text;
};

struct stat_options {
	VEC(struct stat_word) words;
	struct target_options target;
	const char *separator, *output, *pre, *post, *each_cgroup, *cpu_type, *control, *iostat_ports, *bpf_map, *bpf_programs;
	bool no_aggregation, per_core, per_cluster, per_cache, per_die, per_socket, per_node;
	bool append, json, null_run, no_inherit, scale, big_num, big_num_given, sync, all_user, all_kernel, table, summary, no_csv_summary;
	bool robust, transaction, hybrid_merge, smi_cost, percore_threads, iostat, record_latencies, bpf_counters, no_affinity;
	enum latency_choice latency_choice; /* of events with the modifier R */
	bool cgroup_late, cpu_type_late; /* -G after --for-each-cgroup, --cputype after -e */
	bool interval_clear, quiet, repeat_given, log_given;
	int detail, verbose, interval_count, delay_ms, repeat, log_fd;
	unsigned interval_ms, timeout_ms;
	int cache_level;                 /* 0: the last */
	bool metric_only, metric_only_given, metric_no_group, metric_no_merge, metric_no_threshold, topdown;
	unsigned topdown_level;          /* 0: not given */
};

struct stat_report_options {
	const char *input;
	bool no_aggregation, per_core, per_cluster, per_cache, per_die, per_socket, per_node, per_thread;
	int cache_level;                 /* 0: the last */
};

extern const struct option stat_table[], stat_report_table[];
void stat_defaults_set(struct stat_options *options);
