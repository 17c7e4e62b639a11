/* Header features as values: each body is decoded on demand from the bytes stored in struct header. Text and arrays live in the caller's
 * arena, or are borrowed from the header. Source: tools/perf/Documentation/perf.data-file-format.txt, "HEADER_*". Every function returns 0,
 * or -1 if the feature is absent or damaged; then *out is empty. Prints nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "data/header.h"

struct feature_strings {
	uint32_t count;
	const char **items;
};

struct feature_cpus {
	uint32_t available, online;
};

struct feature_cpu {
	uint32_t core, socket, die;
};

struct feature_cpu_topology {
	struct feature_strings sockets, dies, threads; /* lists of CPUs: "0-3,8" */
	uint32_t cpu_count;
	const struct feature_cpu *cpus; /* NULL: the recorder's version did not write them */
};

struct feature_numa_node {
	uint32_t node;
	uint64_t total_kb, free_kb;
	const char *cpus;
};

struct feature_numa {
	uint32_t count;
	const struct feature_numa_node *nodes;
};

struct feature_pmu {
	uint32_t type;
	const char *name;
};

struct feature_pmus {
	uint32_t count;
	const struct feature_pmu *pmus;
};

struct feature_cache {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *map;
};

struct feature_caches {
	uint32_t count;
	const struct feature_cache *caches;
};

struct feature_sample_time {
	uint64_t first_ns, last_ns;
};

/* A node's memory blocks: bit i of `set` is block i. */
struct feature_memory_node {
	uint64_t node, blocks;
	const uint64_t *set;
};

struct feature_memory {
	uint64_t block_bytes;
	uint32_t count;
	const struct feature_memory_node *nodes;
};

/* A point in time by two clocks: the wall clock and that of the samples. */
struct feature_clock {
	uint32_t clockid;
	uint64_t wall_ns, clock_ns;
};

struct feature_compression {
	uint32_t version, type, level, ratio, mmap_bytes;
};

enum { FEATURE_COMPRESSION_ZSTD = 1 };

struct feature_capabilities {
	const char *pmu; /* "cpu" for the feature that describes only the core PMU */
	struct feature_strings pairs; /* "branches=32" */
};

struct feature_pmu_capabilities {
	uint32_t count;
	const struct feature_capabilities *pmus;
};

/* A scheduler domain of a CPU. */
struct feature_domain {
	uint32_t cpu, domain;
	const char *name;        /* "MC"; "" before version 17 of schedstat */
	const char *mask, *cpus; /* "00000003", "0-1" */
};

struct feature_domains {
	uint32_t version, count; /* of schedstat */
	const struct feature_domain *domains;
};

struct feature_hybrid_node {
	const char *pmu, *cpus;
};

struct feature_hybrid {
	uint32_t count;
	const struct feature_hybrid_node *nodes;
};

/* An event of EVENT_DESC, which has more than the file's attribute table: its name. */
struct feature_event {
	struct attr attr;
	const char *name;
	uint32_t id_count;
	const uint64_t *ids;
};

struct feature_events {
	uint32_t count;
	const struct feature_event *events;
};

/* Where the compiled code of a source line begins. The texts are in the recording, not terminated, and may have any bytes; data NULL:
 * unknown. */
struct feature_bpf_line {
	uint64_t address;
	uint32_t number;
	struct span file, text;
};

/* One function of a BPF program. */
struct feature_bpf_function {
	uint64_t address;
	uint32_t size;
	const char *name; /* "bpf_prog_TAG_name" */
	struct span code; /* as the kernel compiled it; data NULL: not recorded. Valid as long as the header */
	const struct feature_bpf_line *lines; /* in order of address */
	uint32_t line_count;
};

struct feature_bpf_program {
	uint32_t id, count;
	const struct feature_bpf_function *functions;
};

/* Sorted by id, without duplicates. */
struct feature_bpf {
	uint32_t count;
	const struct feature_bpf_program *programs;
};

struct feature_btf {
	uint32_t count;
	const uint32_t *ids; /* sorted, without duplicates */
};

/* The announced features that are unusable, a bit per enum feature: their bytes are absent or invalid. Features that a killed recorder did
 * not write are excluded (header.interrupted). Decodes all features: call it once, at the end. */
uint64_t features_damaged(const struct header *header);
int feature_cpus(const struct header *header, struct feature_cpus *out);
int feature_total_memory(const struct header *header, uint64_t *kb);
int feature_cmdline(const struct header *header, struct arena *arena, struct feature_strings *out);
int feature_cpu_topology(const struct header *header, struct arena *arena, struct feature_cpu_topology *out);
int feature_numa(const struct header *header, struct arena *arena, struct feature_numa *out);
int feature_pmus(const struct header *header, struct arena *arena, struct feature_pmus *out);
int feature_caches(const struct header *header, struct arena *arena, struct feature_caches *out);
int feature_sample_time(const struct header *header, struct feature_sample_time *out);
int feature_memory(const struct header *header, struct arena *arena, struct feature_memory *out);
/* CLOCKID: resolution of the samples' clock, in ns. */
int feature_clock_resolution(const struct header *header, uint64_t *resolution_ns);
int feature_clock(const struct header *header, struct feature_clock *out);
int feature_dir_format(const struct header *header, uint64_t *version);
int feature_compression(const struct header *header, struct feature_compression *out);
int feature_cpu_capabilities(const struct header *header, struct arena *arena, struct feature_capabilities *out);
int feature_domains(const struct header *header, struct arena *arena, struct feature_domains *out);
int feature_pmu_capabilities(const struct header *header, struct arena *arena, struct feature_pmu_capabilities *out);
int feature_hybrid(const struct header *header, struct arena *arena, struct feature_hybrid *out);
int feature_events(const struct header *header, struct arena *arena, struct feature_events *out);
/* Returns -1 for recordings of the opposite byte order. On damage, *out contains the programs before it. */
int feature_bpf(const struct header *header, struct arena *arena, struct feature_bpf *out);
/* The line of the code at an address; NULL: unknown. */
const struct feature_bpf_line *feature_bpf_line(const struct feature_bpf_function *function, uint64_t address);
int feature_btf(const struct header *header, struct arena *arena, struct feature_btf *out);
