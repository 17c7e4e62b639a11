#include "script/rows.h"

#include "data/feature.h"
#include "script/cells.h"

#define B(name) FIELD_BIT(FIELD_##name)
#define C(name) (1u << CLASS_##name)

enum {
	ALL_CLASSES = (1 << CLASS_COUNT) - 1,
	OF_PLACES = ALL_CLASSES & ~C(TRACEPOINT),
	OF_COUNTERS = OF_PLACES & ~C(SYNTH),
	OF_SYNTHESIZED = C(SYNTH),
	OF_RAW = C(RAW),
};

#define TYPE_SYNTH 0x80000000u

enum { SOFTWARE_BPF_OUTPUT = 10 };

enum event_class event_class(const struct attr *attr)
{
	return attr->type == TYPE_SYNTH ? CLASS_SYNTH : attr->type < CLASS_SYNTH ? (enum event_class)attr->type : CLASS_OTHER;
}

static bool is_bpf_output(const struct attr *attr)
{
	return attr->type == ATTR_SOFTWARE && attr->config == SOFTWARE_BPF_OUTPUT;
}

static bool is_synthesized(const struct attr *attr)
{
	return event_class(attr) == CLASS_SYNTH;
}

static bool has_branch_counters(const struct header *header)
{
	for (size_t i = 0; i < header->evlist.events.count; i++)
		if (header->evlist.events.items[i].attr.branch_sample_type & BRANCH_COUNTERS)
			return true;
	return false;
}

static bool has_time_of_day(const struct header *header)
{
	return header_has(header, FEATURE_CLOCK_DATA);
}

#define NEED(bits, word, ...) .need = { .sample_type = (bits), .missing = word __VA_OPT__(,) __VA_ARGS__ }

/* The needs of fields that describe a place. */
#define NEED_ADDRESS .need = { .sample_type = SAMPLE_IP | SAMPLE_ADDR, .strict = true, \
	.sentence = "the samples have no address: cannot print symbols or objects" }
#define NEED_FIELD(other, text) .need = { .shown = B(other), .strict = true, .sentence = text }
#define NO_SOURCE "the fields 'srcline' and 'srccode' need 'ip'"

const struct field_row field_rows[FIELD_COUNT] = {
	[FIELD_COMM] = { "comm", ALL_CLASSES, .lines = LINES_OF_RECORDS, .print = print_comm },
	[FIELD_PID] = { "pid", NEED(SAMPLE_TID, "TID"), .lines = LINES_OF_RECORDS, .print = print_ids },
	[FIELD_TID] = { "tid", ALL_CLASSES, NEED(SAMPLE_TID, "TID"), .lines = LINES_OF_RECORDS, .print = print_ids, .joined = true },
	[FIELD_CPU] = { "cpu", ALL_CLASSES, NEED(SAMPLE_CPU, "CPU", .decoded = true), .lines = LINES_OF_RECORDS, .print = print_cpu },
	[FIELD_MISC] = { "misc", .lines = LINES_OF_RECORDS, .print = print_misc },
	[FIELD_TOD] = { "tod", .lines = LINES_OF_RECORDS, .print = print_time_of_day,
		.need = { .recorded = has_time_of_day, .sentence = "the recording has no time of day: cannot print the field 'tod'",
			.hint = "record with -k CLOCKID" } },
	[FIELD_TIME] = { "time", ALL_CLASSES, NEED(SAMPLE_TIME, "TIME"), .lines = LINES_OF_RECORDS, .print = print_time },
	[FIELD_PERIOD] = { "period", OF_COUNTERS, .print = print_period },
	[FIELD_EVENT] = { "event", ALL_CLASSES, .print = print_event },
	[FIELD_FLAGS] = { "flags", .everywhere = true, .print = print_flags },
	[FIELD_TRACE] = { "trace", C(TRACEPOINT), .absent = OF_PLACES, .lines = LINES_OF_OTHER_SAMPLES, .print = print_trace },
	[FIELD_SYNTH] = { "synth", OF_SYNTHESIZED, .has = is_synthesized, .lines = LINES_OF_OTHER_SAMPLES, .print = print_synth },
	[FIELD_ADDR] = { "addr", OF_RAW, NEED(SAMPLE_ADDR, "ADDR", .decoded = true), .lines = LINES_OF_OTHER_SAMPLES, .print = print_addr },
	[FIELD_DATA_SRC] = { "data_src", OF_RAW, NEED(SAMPLE_DATA_SRC, "DATA_SRC", .decoded = true), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_data_source },
	[FIELD_WEIGHT] = { "weight", OF_RAW, NEED(SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, "WEIGHT", .decoded = true),
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_decimal, .value = weight_cell },
	[FIELD_INS_LAT] = { "ins_lat", OF_RAW, NEED(SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_decimal, .value = instruction_latency_cell },
	[FIELD_RETIRE_LAT] = { "retire_lat", OF_RAW, NEED(SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_decimal, .value = retire_latency_cell },
	[FIELD_CGROUP] = { "cgroup", NEED(SAMPLE_CGROUP, "CGROUP", .hint = "record with --all-cgroups"),
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_cgroup, .value = cgroup_cell },
	[FIELD_IP] = { "ip", OF_PLACES, NEED(SAMPLE_IP, "IP"), .lines = LINES_OF_OTHER_SAMPLES, .print = print_ip },
	[FIELD_SYM] = { "sym", OF_PLACES, NEED_ADDRESS, .names = true },
	[FIELD_SYMOFF] = { "symoff", OF_PLACES, NEED_FIELD(SYM, "the field 'symoff' needs 'sym'"), .names = true },
	[FIELD_DSO] = { "dso", OF_PLACES, NEED_ADDRESS },
	[FIELD_DSOFF] = { "dsoff", .includes = B(DSO) },
	[FIELD_SRCLINE] = { "srcline", NEED_FIELD(IP, NO_SOURCE), .names = true },
	[FIELD_IREGS] = { "iregs", NEED(SAMPLE_REGS_INTR, "IREGS", .decoded = true), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_interrupt_registers },
	[FIELD_UREGS] = { "uregs", NEED(SAMPLE_REGS_USER, "UREGS"), .lines = LINES_OF_OTHER_SAMPLES, .print = print_user_registers },
	[FIELD_BRSTACK] = { "brstack", .lines = LINES_OF_OTHER_SAMPLES, .print = print_branches },
	[FIELD_BRSTACKSYM] = { "brstacksym", .names = true, .lines = LINES_OF_OTHER_SAMPLES, .print = print_branches, .joined = true },
	[FIELD_BRSTACKOFF] = { "brstackoff", .lines = LINES_OF_OTHER_SAMPLES, .print = print_branches, .joined = true },
	[FIELD_BRSTACKINSN] = { "brstackinsn", .unsupported = true },
	[FIELD_BRSTACKINSNLEN] = { "brstackinsnlen", .unsupported = true },
	[FIELD_BRSTACKDISASM] = { "brstackdisasm", .unsupported = true },
	[FIELD_BRCNTR] = { "brcntr", .need = { .recorded = has_branch_counters, .strict = true,
			.sentence = "the recording has no branch counters", .hint = "record with -j any,counter" } },
	[FIELD_BPF_OUTPUT] = { "bpf-output", C(SOFTWARE), .absent = ALL_CLASSES & ~(C(SOFTWARE) | C(TRACEPOINT)), .has = is_bpf_output,
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_bpf_output },
	[FIELD_INSN] = { "insn", .print = print_instruction },
	[FIELD_INSNLEN] = { "insnlen", .print = print_instruction, .joined = true },
	[FIELD_DISASM] = { "disasm", .unsupported = true },
	[FIELD_PHYS_ADDR] = { "phys_addr", OF_RAW, NEED(SAMPLE_PHYS_ADDR, "PHYS_ADDR", .decoded = true), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_hexadecimal, .value = physical_address_cell },
	[FIELD_DATA_PAGE_SIZE] = { "data_page_size", OF_RAW, NEED(SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE"),
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_page_size, .value = data_page_size_cell },
	[FIELD_CODE_PAGE_SIZE] = { "code_page_size", OF_RAW, NEED(SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE"),
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_page_size, .value = code_page_size_cell },
	[FIELD_SRCCODE] = { "srccode", NEED_FIELD(IP, NO_SOURCE), .names = true, .lines = LINES_AFTER_SAMPLES, .print = print_source_code },
	[FIELD_CALLINDENT] = { "callindent" },
	[FIELD_METRIC] = { "metric", .unsupported = true },
	[FIELD_IPC] = { "ipc" },
	[FIELD_MACHINE_PID] = { "machine_pid" },
	[FIELD_VCPU] = { "vcpu" },
};
