#include "render/text/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "render/dump/record_text.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "data/evsel_name.h"
#include "data/feature.h"

struct print {
	const struct header *header;
	const struct attr_names *names;
	struct arena arena;
	struct writer *out;
};

/* Replaces a string that could not be read. */
static const char *text_or_null(const char *text)
{
	return text ? text : "(null)";
}

static void print_string(struct print *p, const char *label, enum feature feature)
{
	const char *text = text_or_null(header_string(p->header, feature));
	writer_printf(p->out, "# %s : ", label);
	writer_name(p->out, text, strlen(text));
	writer_putc(p->out, '\n');
}

static void print_hostname(struct print *p) { print_string(p, "hostname", FEATURE_HOSTNAME); }
static void print_osrelease(struct print *p) { print_string(p, "os release", FEATURE_OSRELEASE); }
static void print_version(struct print *p) { print_string(p, "perf version", FEATURE_VERSION); }
static void print_arch(struct print *p) { print_string(p, "arch", FEATURE_ARCH); }
static void print_cpudesc(struct print *p) { print_string(p, "cpudesc", FEATURE_CPUDESC); }
static void print_cpuid(struct print *p) { print_string(p, "cpuid", FEATURE_CPUID); }

static void print_nrcpus(struct print *p)
{
	struct feature_cpus cpus;
	feature_cpus(p->header, &cpus);
	writer_printf(p->out, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n", cpus.online, cpus.available);
}

static void print_total_mem(struct print *p)
{
	uint64_t kb;
	feature_total_memory(p->header, &kb);
	writer_printf(p->out, "# total memory : %" PRIu64 " kB\n", kb);
}

static void print_cmdline(struct print *p)
{
	struct feature_strings words;
	feature_cmdline(p->header, &p->arena, &words);
	writer_puts(p->out, "# cmdline : ");
	for (uint32_t i = 0; i < words.count; i++) {
		for (const char *c = words.items[i]; *c; c++) {
			if (*c == '\'')
				writer_putc(p->out, '\\');
			writer_putc(p->out, *c);
		}
		writer_putc(p->out, ' ');
	}
	writer_putc(p->out, '\n');
}

static void print_attr_field(void *context, const char *name, const char *text)
{
	writer_printf(context, ", %s = %s", name, text);
}

static void print_event_desc(struct print *p)
{
	struct feature_events events;
	if (feature_events(p->header, &p->arena, &events) < 0) {
		writer_puts(p->out, "# event desc: not available or unable to read\n");
		return;
	}
	for (uint32_t i = 0; i < events.count; i++) {
		const struct feature_event *event = &events.events[i];
		writer_printf(p->out, "# event : name = %s, ", event->name);
		for (uint32_t k = 0; k < event->id_count; k++)
			writer_printf(p->out, "%s%" PRIu64, k ? ", " : ", id = { ", event->ids[k]);
		if (event->id_count)
			writer_puts(p->out, " }");
		attr_each_field(&event->attr, p->names, print_attr_field, p->out);
		writer_putc(p->out, '\n');
	}
}

static void print_siblings(struct print *p, const char *label, const struct feature_strings *lists)
{
	for (uint32_t i = 0; i < lists->count; i++)
		writer_printf(p->out, "# sibling %s : %s\n", label, lists->items[i]);
}

static void print_cpu_topology(struct print *p)
{
	struct feature_cpu_topology topology;
	feature_cpu_topology(p->header, &p->arena, &topology);
	bool dies = topology.dies.count > 0;
	print_siblings(p, "sockets", &topology.sockets);
	print_siblings(p, "dies   ", &topology.dies);
	print_siblings(p, "threads", &topology.threads);
	if (!topology.cpus) {
		writer_printf(p->out, "# Core ID%s and Socket ID information is not available\n", dies ? ", Die ID" : "");
		return;
	}
	for (uint32_t i = 0; i < topology.cpu_count; i++) {
		const struct feature_cpu *cpu = &topology.cpus[i];
		writer_printf(p->out, "# CPU %" PRIu32 ": Core ID %d", i, (int)cpu->core);
		if (dies)
			writer_printf(p->out, ", Die ID %d", (int)cpu->die);
		writer_printf(p->out, ", Socket ID %d\n", (int)cpu->socket);
	}
}

struct cpu_range {
	unsigned long first, last;
};

static int range_compare(const void *a, const void *b)
{
	const struct cpu_range *left = a, *right = b;
	return left->first < right->first ? -1 : left->first > right->first;
}

/* "3,0-1" → ranges in order; a word that is not a number ends the list. ranges: room for one more than the number of commas. */
static size_t cpu_list_read(const char *text, struct cpu_range *ranges)
{
	size_t count = 0;
	while (*text >= '0' && *text <= '9') {
		char *end;
		struct cpu_range range = { .first = strtoul(text, &end, 10) };
		range.last = *end == '-' ? strtoul(end + 1, &end, 10) : range.first;
		if (range.last < range.first)
			break;
		ranges[count++] = range;
		text = *end == ',' ? end + 1 : "";
	}
	qsort(ranges, count, sizeof *ranges, range_compare);
	return count;
}

static size_t commas_of(const char *text)
{
	size_t commas = 0;
	for (; *text; text++)
		commas += *text == ',';
	return commas;
}

/* The list in order, neighbours joined. A node without CPUs shows -1. */
static void print_cpu_list(struct print *p, const char *text)
{
	struct cpu_range *ranges = arena_alloc(&p->arena, (commas_of(text) + 1) * sizeof *ranges);
	size_t count = cpu_list_read(text, ranges);
	if (!count)
		writer_puts(p->out, "-1");
	for (size_t i = 0, next; i < count; i = next) {
		unsigned long last = ranges[i].last;
		for (next = i + 1; next < count && ranges[next].first <= last + 1; next++)
			last = ranges[next].last > last ? ranges[next].last : last;
		writer_printf(p->out, "%s%lu", i ? "," : "", ranges[i].first);
		if (last != ranges[i].first)
			writer_printf(p->out, "-%lu", last);
	}
	writer_putc(p->out, '\n');
}

static void print_numa_topology(struct print *p)
{
	struct feature_numa numa;
	feature_numa(p->header, &p->arena, &numa);
	for (uint32_t i = 0; i < numa.count; i++) {
		const struct feature_numa_node *node = &numa.nodes[i];
		writer_printf(p->out, "# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n", node->node,
			node->total_kb, node->free_kb);
		writer_printf(p->out, "# node%" PRIu32 " cpu list : ", node->node);
		print_cpu_list(p, node->cpus);
	}
}

static void print_branch_stack(struct print *p) { writer_puts(p->out, "# contains samples with branch stack\n"); }
static void print_auxtrace(struct print *p) { writer_puts(p->out, "# contains AUX area data (e.g. instruction trace)\n"); }
static void print_stat(struct print *p) { writer_puts(p->out, "# contains stat data\n"); }

static void print_pmu_mappings(struct print *p)
{
	struct feature_pmus pmus;
	feature_pmus(p->header, &p->arena, &pmus);
	if (!pmus.count) {
		writer_puts(p->out, "# pmu mappings: not available\n");
		return;
	}
	for (uint32_t i = 0; i < pmus.count; i++)
		writer_printf(p->out, "%s%s = %" PRIu32, i ? ", " : "# pmu mappings: ", pmus.pmus[i].name, pmus.pmus[i].type);
	writer_putc(p->out, '\n');
}

static void print_group_desc(struct print *p)
{
	const struct evlist *evlist = &p->header->evlist;
	char buffer[EVSEL_NAME_MAX];
	uint32_t left = 0;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		const char *name = evsel_name(evsel, buffer, sizeof buffer);
		if (evsel->leader == i && evsel->group_members > 1) {
			writer_printf(p->out, "# group: %s{%s", evsel->group_name ? evsel->group_name : "", name);
			left = evsel->group_members - 1;
		} else if (left) {
			writer_printf(p->out, ",%s", name);
			if (--left == 0)
				writer_puts(p->out, "}\n");
		}
	}
}

static void print_cache(struct print *p)
{
	struct feature_caches caches;
	feature_caches(p->header, &p->arena, &caches);
	writer_puts(p->out, "# CPU cache info:\n");
	for (uint32_t i = 0; i < caches.count; i++) {
		const struct feature_cache *cache = &caches.caches[i];
		writer_printf(p->out, "#  L%" PRIu32 " %-15s %8s [%s]\n", cache->level, cache->type, cache->size, cache->map);
	}
}

static void print_sample_time(struct print *p)
{
	struct feature_sample_time time;
	feature_sample_time(p->header, &time);
	writer_printf(p->out, "# time of first sample : %" PRIu64 ".%06" PRIu64 "\n", time.first_ns / 1000000000,
		time.first_ns % 1000000000 / 1000);
	writer_printf(p->out, "# time of last sample : %" PRIu64 ".%06" PRIu64 "\n", time.last_ns / 1000000000,
		time.last_ns % 1000000000 / 1000);
	writer_printf(p->out, "# sample duration : %10.3f ms\n", (double)(time.last_ns - time.first_ns) / 1e6);
}

enum { MEMORY_MAP_TEXT = 100 };

static bool block_is_set(const struct feature_memory_node *node, uint64_t block)
{
	return node->set[block / 64] >> (block % 64) & 1;
}

/* Prints ranges of blocks, truncated as in perf's buffer. Returns the number of blocks. */
static uint64_t memory_map_text(const struct feature_memory_node *node, char text[static MEMORY_MAP_TEXT])
{
	uint64_t total = 0;
	size_t len = 0;
	text[0] = '\0';
	for (uint64_t first = 0, next; first < node->blocks; first = next) {
		next = first + 1;
		if (!block_is_set(node, first))
			continue;
		while (next < node->blocks && block_is_set(node, next))
			next++;
		char range[48];
		int n = snprintf(range, sizeof range, "%s%" PRIu64, total ? "," : "", first);
		if (next - first > 1)
			n += snprintf(range + n, sizeof range - n, "-%" PRIu64, next - 1);
		for (int i = 0; i < n && len < MEMORY_MAP_TEXT - 1; i++)
			text[len++] = range[i];
		text[len] = '\0';
		total += next - first;
	}
	return total;
}

static void print_mem_topology(struct print *p)
{
	struct feature_memory memory;
	feature_memory(p->header, &p->arena, &memory);
	writer_printf(p->out, "# memory nodes (nr %" PRIu32 ", block size 0x%" PRIx64 "):\n", memory.count, memory.block_bytes);
	for (uint32_t i = 0; i < memory.count; i++) {
		char map[MEMORY_MAP_TEXT];
		uint64_t bytes = memory_map_text(&memory.nodes[i], map) * memory.block_bytes;
		unsigned unit = 0;
		for (; bytes / 1024 > 1 && unit < 3; unit++)
			bytes /= 1024;
		writer_printf(p->out, "#  %3" PRIu64 " [%" PRIu64 "%c]: %s\n", memory.nodes[i].node, bytes, "BKMG"[unit], map);
	}
}

static void print_clockid(struct print *p)
{
	uint64_t resolution_ns;
	feature_clock_resolution(p->header, &resolution_ns);
	writer_printf(p->out, "# clockid frequency: %" PRIu64 " MHz\n", resolution_ns * 1000);
}

static void print_dir_format(struct print *p)
{
	uint64_t version;
	feature_dir_format(p->header, &version);
	writer_printf(p->out, "# directory data version : %" PRIu64 "\n", version);
}

static void print_bpf_prog_info(struct print *p)
{
	struct feature_bpf bpf;
	feature_bpf(p->header, &p->arena, &bpf);
	for (uint32_t i = 0; i < bpf.count; i++) {
		const struct feature_bpf_program *program = &bpf.programs[i];
		writer_printf(p->out, "# bpf_prog_info %" PRIu32 ":%s", program->id, program->count == 1 ? " " : "\n");
		for (uint32_t k = 0; k < program->count; k++) {
			const struct feature_bpf_function *function = &program->functions[k];
			if (program->count != 1)
				writer_printf(p->out, "# \tsub_prog %" PRIu32 ": ", k);
			writer_printf(p->out, "%s addr 0x%" PRIx64 " size %" PRIu32 "\n", function->name, function->address,
				function->size);
		}
	}
}

static void print_bpf_btf(struct print *p)
{
	struct feature_btf btf;
	feature_btf(p->header, &p->arena, &btf);
	for (uint32_t i = 0; i < btf.count; i++)
		writer_printf(p->out, "# btf info of id %" PRIu32 "\n", btf.ids[i]);
}

static void print_compressed(struct print *p)
{
	struct feature_compression compression;
	feature_compression(p->header, &compression);
	writer_printf(p->out, "# compressed : %s, level = %d, ratio = %d\n",
		compression.type == FEATURE_COMPRESSION_ZSTD ? "Zstd" : "Unknown", (int)compression.level, (int)compression.ratio);
}

static void print_capabilities(struct print *p, const struct feature_capabilities *capabilities)
{
	writer_printf(p->out, "# %s pmu capabilities: ", capabilities->pmu);
	for (uint32_t i = 0; i < capabilities->pairs.count; i++)
		writer_printf(p->out, "%s%s", i ? ", " : "", capabilities->pairs.items[i]);
	writer_puts(p->out, capabilities->pairs.count ? "\n" : "not available\n");
}

static void print_cpu_pmu_caps(struct print *p)
{
	struct feature_capabilities capabilities;
	feature_cpu_capabilities(p->header, &p->arena, &capabilities);
	print_capabilities(p, &capabilities);
}

static const char *clock_name(uint32_t clockid)
{
	static const char *const names[] = {
		[CLOCK_MONOTONIC] = "monotonic", [CLOCK_MONOTONIC_RAW] = "monotonic_raw", [CLOCK_REALTIME] = "realtime",
		[CLOCK_BOOTTIME] = "boottime", [CLOCK_TAI] = "tai",
	};
	const char *name = clockid < sizeof names / sizeof *names ? names[clockid] : NULL;
	return name ? name : "(not found)";
}

static void print_clock_data(struct print *p)
{
	struct feature_clock clock;
	if (feature_clock(p->header, &clock) < 0) {
		writer_puts(p->out, "# reference time disabled\n");
		return;
	}
	time_t seconds = (time_t)(clock.wall_ns / 1000000000);
	unsigned micros = clock.wall_ns % 1000000000 / 1000;
	char date[64] = "<error>";
	struct tm local;
	if (localtime_r(&seconds, &local)) {
		size_t n = strftime(date, sizeof date, "%F %T", &local);
		snprintf(date + n, sizeof date - n, ".%06u", micros);
	}
	writer_printf(p->out, "# clockid: %s (%" PRIu32 ")\n", clock_name(clock.clockid), clock.clockid);
	writer_printf(p->out, "# reference time: %s = %lld.%06u (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n", date, (long long)seconds,
		micros, clock.clock_ns / 1000000000, clock.clock_ns % 1000000000, clock_name(clock.clockid));
}

static void print_hybrid_topology(struct print *p)
{
	struct feature_hybrid hybrid;
	feature_hybrid(p->header, &p->arena, &hybrid);
	writer_puts(p->out, "# hybrid cpu system:\n");
	for (uint32_t i = 0; i < hybrid.count; i++)
		writer_printf(p->out, "# %s cpu list : %s\n", hybrid.nodes[i].pmu, hybrid.nodes[i].cpus);
}

static bool recorded_with_ibs(struct print *p)
{
	struct feature_pmus pmus;
	feature_pmus(p->header, &p->arena, &pmus);
	for (uint32_t i = 0; i < pmus.count; i++)
		if (strcmp(pmus.pmus[i].name, "ibs_op") == 0)
			return true;
	return false;
}

static bool core_is_imprecise(struct print *p)
{
	struct feature_capabilities capabilities;
	feature_cpu_capabilities(p->header, &p->arena, &capabilities);
	for (uint32_t i = 0; i < capabilities.pairs.count; i++)
		if (strncmp(capabilities.pairs.items[i], "max_precise=", 12) == 0)
			return atoi(capabilities.pairs.items[i] + 12) == 0;
	return false;
}

static void print_pmu_caps(struct print *p)
{
	struct feature_pmu_capabilities capabilities;
	feature_pmu_capabilities(p->header, &p->arena, &capabilities);
	for (uint32_t i = 0; i < capabilities.count; i++)
		print_capabilities(p, &capabilities.pmus[i]);
	const char *arch = header_string(p->header, FEATURE_ARCH);
	bool x86 = arch && (strcmp(arch, "x86_64") == 0 || (arch[0] == 'i' && strcmp(arch + 2, "86") == 0));
	if (x86 && recorded_with_ibs(p) && core_is_imprecise(p))
		writer_puts(p->out, "# AMD systems uses ibs_op// PMU for some precise events, e.g.: cycles:p, "
			"see the 'perf list' man page for further details.\n");
}

/* full_only: shown with -I; otherwise one line refers to -I. */
static const struct {
	void (*print)(struct print *p);
	bool full_only;
} printers[FEATURE_COUNT] = {
	[FEATURE_HOSTNAME] = { print_hostname }, [FEATURE_OSRELEASE] = { print_osrelease }, [FEATURE_VERSION] = { print_version },
	[FEATURE_ARCH] = { print_arch }, [FEATURE_NRCPUS] = { print_nrcpus }, [FEATURE_CPUDESC] = { print_cpudesc },
	[FEATURE_CPUID] = { print_cpuid }, [FEATURE_TOTAL_MEM] = { print_total_mem }, [FEATURE_CMDLINE] = { print_cmdline },
	[FEATURE_EVENT_DESC] = { print_event_desc }, [FEATURE_CPU_TOPOLOGY] = { print_cpu_topology, true },
	[FEATURE_NUMA_TOPOLOGY] = { print_numa_topology, true }, [FEATURE_BRANCH_STACK] = { print_branch_stack },
	[FEATURE_PMU_MAPPINGS] = { print_pmu_mappings }, [FEATURE_GROUP_DESC] = { print_group_desc },
	[FEATURE_AUXTRACE] = { print_auxtrace }, [FEATURE_STAT] = { print_stat }, [FEATURE_CACHE] = { print_cache, true },
	[FEATURE_SAMPLE_TIME] = { print_sample_time }, [FEATURE_MEM_TOPOLOGY] = { print_mem_topology, true },
	[FEATURE_CLOCKID] = { print_clockid }, [FEATURE_DIR_FORMAT] = { print_dir_format },
	[FEATURE_BPF_PROG_INFO] = { print_bpf_prog_info }, [FEATURE_BPF_BTF] = { print_bpf_btf },
	[FEATURE_COMPRESSED] = { print_compressed }, [FEATURE_CPU_PMU_CAPS] = { print_cpu_pmu_caps },
	[FEATURE_CLOCK_DATA] = { print_clock_data }, [FEATURE_HYBRID_TOPOLOGY] = { print_hybrid_topology, true },
	[FEATURE_PMU_CAPS] = { print_pmu_caps },
};

static void print_feature(struct print *p, unsigned feature, bool full)
{
	if (!printers[feature].print)
		return;
	if (printers[feature].full_only && !full)
		writer_printf(p->out, "# %s info available, use -I to display\n", feature_name(feature));
	else
		printers[feature].print(p);
}

static void print_missing(struct print *p)
{
	writer_puts(p->out, "# missing features: ");
	for (unsigned feature = 1; feature < FEATURE_END; feature++)
		if (!header_has(p->header, feature))
			writer_printf(p->out, "%s ", feature_name(feature));
	writer_putc(p->out, '\n');
}

static void print_begin(struct print *p, const struct source *source, const struct attr_names *names, struct writer *text)
{
	writer_open(text, -1, 0);
	*p = (struct print){ .header = &source->header, .names = names, .out = text };
}

static void print_end(struct print *p, struct writer *out)
{
	writer_add(out, p->out->buffer, p->out->len);
	writer_fini(p->out);
	arena_fini(&p->arena);
}

static void print_place(struct print *p)
{
	const struct header *header = p->header;
	char captured[32] = "\n";
	time_t moment = header->captured ? header->captured : time(NULL);
	ctime_r(&moment, captured);
	writer_printf(p->out, "# captured on    : %s", captured);
	writer_printf(p->out, "# header version : %u\n", header->v1 ? 0 : 1);
	/* A stream has no places. */
	writer_printf(p->out, "# data offset    : %" PRIu64 "\n", header->pipe ? 0 : header->data_offset);
	writer_printf(p->out, "# data size      : %" PRIu64 "\n", header->pipe ? 0 : header->data_size);
	writer_printf(p->out, "# feat offset    : %" PRIu64 "\n", header->pipe ? 0 : header->feature_offset);
}

void header_print(const struct source *source, bool full, const struct attr_names *names, struct writer *out)
{
	struct writer text;
	struct print p;
	print_begin(&p, source, names, &text);
	writer_puts(&text, "# ========\n");
	print_place(&p);
	for (unsigned feature = 1; feature < FEATURE_COUNT && !p.header->pipe; feature++)
		if (header_has(p.header, feature))
			print_feature(&p, feature, full);
	if (!p.header->pipe)
		print_missing(&p);
	writer_puts(&text, "# ========\n#\n");
	print_end(&p, out);
}

void header_print_feature(const struct source *source, const struct record *record, bool full, const struct attr_names *names,
	struct writer *out)
{
	if (record->type != RECORD_HEADER_FEATURE || record->body_len < 8)
		return;
	uint64_t feature = load_u64(record->body);
	if (feature >= FEATURE_COUNT)
		return;
	struct writer text;
	struct print p;
	print_begin(&p, source, names, &text);
	print_feature(&p, (unsigned)feature, full);
	print_end(&p, out);
}
