/* The binary interface of filters for samples. Source: perf-dlfilter(1). The layout of these structures must not change; new members
 * follow the last one, and `size` shows which a program has. */
#pragma once
#include <stdint.h>

struct dlfilter_sample {
	uint32_t size;
	uint16_t ins_lat, p_stage_cyc;
	uint64_t ip;
	int32_t pid, tid;
	uint64_t time, addr, id, stream_id, period, weight, transaction;
	uint64_t insn_cnt, cyc_cnt;   /* since the last sample with cycles */
	int32_t cpu;
	uint32_t flags;               /* of a branch */
	uint64_t data_src, phys_addr, data_page_size, code_page_size, cgroup;
	uint8_t cpumode;
	uint8_t addr_correlates_sym;  /* resolve_addr may be called */
	uint16_t misc;
	uint32_t raw_size;
	const void *raw_data;
	uint64_t brstack_nr;
	const void *brstack;          /* struct perf_branch_entry */
	uint64_t raw_callchain_nr;
	const uint64_t *raw_callchain;
	const char *event;
	int32_t machine_pid, vcpu;
};

/* Where an address is. */
struct dlfilter_location {
	uint32_t size, symoff;
	const char *sym;              /* NULL: no symbol */
	uint64_t addr;                /* in the object */
	uint64_t sym_start, sym_end;
	const char *dso;              /* NULL: no object */
	uint8_t sym_binding, is_64_bit, is_kernel_ip;
	uint32_t buildid_size;
	const uint8_t *buildid;
	uint8_t filtered;             /* other options drop the sample; with comm, of resolve_ip alone */
	const char *comm;
};

struct dlfilter_functions {
	const struct dlfilter_location *(*resolve_ip)(void *ctx);
	const struct dlfilter_location *(*resolve_addr)(void *ctx);
	char **(*args)(void *ctx, int *count);
	int32_t (*resolve_address)(void *ctx, uint64_t address, struct dlfilter_location *location);
	const uint8_t *(*insn)(void *ctx, uint32_t *length);
	const char *(*srcline)(void *ctx, uint32_t *line);
	const void *(*attr)(void *ctx); /* struct perf_event_attr */
	int32_t (*object_code)(void *ctx, uint64_t ip, void *buffer, uint32_t length);
	void *(*reserved[120])(void *);
};

/* What a filter may define; it fills its variable perf_dlfilter_fns, a struct dlfilter_functions, with nothing. */
typedef int dlfilter_start(void **data, void *ctx);
typedef int dlfilter_stop(void *data, void *ctx);
typedef int dlfilter_event(void *data, const struct dlfilter_sample *sample, void *ctx);
typedef const char *dlfilter_description(const char **long_description);
