/* perf's collection `uprobe`: what a probe of a function of the C library costs, with BPF programs at its entry or return. */
#include <errno.h>
#include <link.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>

#include "abi/attr.h"
#include "cmd/bench/bench.h"
#include "event/pmu.h"
#include "os/bpf.h"
#include "os/counter.h"

enum { SLEEP_US = 1000, RETURN_PROBE = 1 }; /* RETURN_PROBE: config of the PMU's events, its format "retprobe" */

enum uprobe_program { PROGRAM_NONE, PROGRAM_EMPTY, PROGRAM_PRINTS };

/* One benchmark. */
struct probing {
	const char *name;
	enum uprobe_program program;
	bool at_return;
};

/* The file of a function and its place there. */
struct function_place {
	uintptr_t address;
	const char *path;
	uint64_t offset;
};

static int find_place(struct dl_phdr_info *object, __attribute__((unused)) size_t size, void *context)
{
	struct function_place *place = context;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + part->p_vaddr;
		if (part->p_type != PT_LOAD || place->address < start || place->address - start >= part->p_filesz)
			continue;
		place->path = object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe";
		place->offset = place->address - start + part->p_offset;
		return 1;
	}
	return 0;
}

static int load_program(enum uprobe_program which, struct error *err)
{
	static const char text[8] = "usleep\n";
	uint64_t word;
	memcpy(&word, text, sizeof word);
	const struct bpf_insn prints[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = BPF_REG_1, .imm = (int32_t)(uint32_t)word },
		{ .imm = (int32_t)(uint32_t)(word >> 32) },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_1, .off = -(int)sizeof text },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -(int)sizeof text },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = sizeof text },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_trace_printk },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	size_t count = sizeof prints / sizeof *prints, from = which == PROGRAM_PRINTS ? 0 : count - 2;
	return bpf_probe_program_load(prints + from, count - from, err);
}

/* Opens the probe with its program. Returns its counter, < 0: *err. */
static int open_probe(const struct probing *probing, struct error *err)
{
	struct function_place place = { .address = (uintptr_t)usleep };
	struct pmus pmus = { 0 };
	const struct pmu *pmu = pmus_named(&pmus, "uprobe");
	if (!pmu || !dl_iterate_phdr(find_place, &place)) {
		pmus_fini(&pmus);
		return error_set(err, ERROR_UNSUPPORTED, "this kernel has no uprobes");
	}
	const struct attr attr = { .type = pmu->type, .config = probing->at_return ? RETURN_PROBE : 0, .config1 = (uintptr_t)place.path,
		.config2 = place.offset, .sample_period = 1 };
	pmus_fini(&pmus);
	int program = load_program(probing->program, err);
	if (program < 0)
		return -1;
	int counter = counter_open(&attr, -1, 0, -1, 0), status = counter < 0 ? counter : counter_set_bpf(counter, program);
	close(program);
	if (status == 0)
		return counter;
	if (counter >= 0)
		counter_close(counter);
	errno = -status;
	return error_system(err, "cannot open a probe of usleep in %s", place.path);
}

static void print_times(const struct cli *cli, const struct bench_options *options, uint64_t us)
{
	struct bench_times *before = options->before;
	double each = (double)us / options->loops;
	if (bench_is_simple(options)) {
		writer_printf(cli->out, "%llu\n", (unsigned long long)us);
		return;
	}
	const struct {
		const char *name;
		uint64_t us;
		bool shown;
	} rows[] = {
		{ "baseline", before ? before->first_us : 0, before && before->count > 0 },
		{ "previous", before ? before->last_us : 0, before && before->count > 1 },
	};
	writer_printf(cli->out, "# Executed %u usleep(%d) calls\n %14s: %llu usecs", options->loops, SLEEP_US, "Total time",
		(unsigned long long)us);
	for (unsigned i = 0; i < 2; i++)
		if (rows[i].shown)
			writer_printf(cli->out, " %+lld to %s", (long long)(us - rows[i].us), rows[i].name);
	writer_printf(cli->out, "\n\n %.3f usecs/op", each);
	for (unsigned i = 0; i < 2; i++)
		if (rows[i].shown)
			writer_printf(cli->out, " %.3f usecs/op to %s", each - (double)rows[i].us / options->loops, rows[i].name);
	writer_putc(cli->out, '\n');
}

static int measure(struct cli *cli, const struct bench_options *options, const struct probing *probing)
{
	struct error err = { 0 };
	int counter = -1;
	if (!options->loops) {
		error_set(&err, ERROR_USAGE, "-l takes a number of calls");
		return cli_usage(cli, &command_bench_uprobe, &err);
	}
	if (probing->program != PROGRAM_NONE && (counter = open_probe(probing, &err)) < 0)
		return cli_complain(cli, &err);
	uint64_t begin = now_ns();
	for (unsigned i = 0; i < options->loops; i++)
		usleep(SLEEP_US);
	uint64_t us = (now_ns() - begin) / 1000;
	if (counter >= 0)
		counter_close(counter);
	print_times(cli, options, us);
	if (options->before) {
		if (!options->before->count++)
			options->before->first_us = us;
		options->before->last_us = us;
	}
	return 0;
}

#define PROBING(word, kind, returns)                                                                                      \
	static int word##_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv) \
	{                                                                                                                 \
		return measure(cli, filled, &(struct probing){ #word, kind, returns });                                   \
	}
PROBING(baseline, PROGRAM_NONE, false)
PROBING(empty, PROGRAM_EMPTY, false)
PROBING(trace_printk, PROGRAM_PRINTS, false)
PROBING(empty_ret, PROGRAM_EMPTY, true)
PROBING(trace_printk_ret, PROGRAM_PRINTS, true)

static const struct option uprobe_table[] = {
	OPT_UINT('l', "loop", struct bench_options, loops, "calls of usleep (default: 1000)"),
	OPT_END(),
};
static const char *const uprobe_usage[] = {
	"perf bench uprobe {baseline|empty|trace_printk|empty_ret|trace_printk_ret|all} [<options>]", NULL
};

#define UPROBE(word, text) { .name = #word, .summary = (text), .usage = uprobe_usage, .options = uprobe_table, \
	.options_size = sizeof(struct bench_options), .run = word##_run }
static const struct command benchmarks[] = {
	UPROBE(baseline, "calls of usleep without a probe"),
	UPROBE(empty, "with a program at its entry that does nothing"),
	UPROBE(trace_printk, "with a program at its entry that writes to the kernel's trace"),
	UPROBE(empty_ret, "with a program at its return that does nothing"),
	UPROBE(trace_printk_ret, "with a program at its return that writes to the kernel's trace"),
};
static const struct command *const list[] = { &benchmarks[0], &benchmarks[1], &benchmarks[2], &benchmarks[3], &benchmarks[4], NULL };
static const char *const words[] = { "baseline", "empty", "trace_printk", "empty_ret", "trace_printk_ret", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int collection_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	enum { USUAL = 1000 };
	struct bench_options *options = filled;
	struct bench_times times = { 0 };
	options->loops = USUAL;
	options->before = &times;
	int code = bench_collection_run(cli, "uprobe", list, options, argc, argv);
	options->before = NULL;
	return code;
}

const struct command command_bench_uprobe = {
	.name = "uprobe", .summary = "probes of a function in all processes", .usage = uprobe_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
