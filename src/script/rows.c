#include "script/rows.h"

#include "data/feature.h"
#include "script/cells.h"
#include "script/fields.h"

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

/* Every branch is recorded, or a decoder makes the branch stacks. */
static bool has_all_branches(const struct header *header)
{
	for (size_t i = 0; i < header->evlist.events.count; i++)
		if (header->evlist.events.items[i].attr.branch_sample_type & BRANCH_ANY)
			return true;
	return header_has(header, FEATURE_AUXTRACE);
}

static bool has_time_of_day(const struct header *header)
{
	return header_has(header, FEATURE_CLOCK_DATA);
}

static bool has_chains(const struct fields *fields)
{
	return fields->chains;
}

static bool has_names(const struct fields *fields)
{
	return fields_shown(fields) & (B(SYM) | B(DSO));
}

#define NEED(bits, word, ...) .need = { .sample_type = (bits), .missing = word __VA_OPT__(,) __VA_ARGS__ }
#define COLUMN(name, kind, ...) { name, CELL_##kind __VA_OPT__(,) __VA_ARGS__ }

/* The needs of fields that describe a place. */
#define NEED_ADDRESS .need = { .sample_type = SAMPLE_IP | SAMPLE_ADDR, .strict = true, \
	.sentence = "the samples have no address: cannot print symbols or objects" }
#define NEED_FIELD(other, text) .need = { .shown = B(other), .strict = true, .sentence = text }
#define NEED_BLOCKS .need = { .recorded = has_all_branches, .strict = true, \
	.sentence = "the recording does not have all branches: the code between them is unknown", .hint = "record with -b" }
#define NO_SOURCE "the fields 'srcline' and 'srccode' need 'ip'"

const struct field_row field_rows[FIELD_COUNT] = {
	[FIELD_MACHINE_PID] = { "machine_pid", .lines = LINES_OF_RECORDS, .print = print_machine,
		.columns = { COLUMN("machine_pid", NUMBER, .value = machine_cell) } },
	[FIELD_VCPU] = { "vcpu", .lines = LINES_OF_RECORDS, .print = print_virtual_cpu,
		.columns = { COLUMN("vcpu", NUMBER, .value = virtual_cpu_cell) } },
	[FIELD_COMM] = { "comm", ALL_CLASSES, .lines = LINES_OF_RECORDS, .print = print_comm,
		.columns = { COLUMN("comm", TEXT, .value = comm_cell) } },
	[FIELD_PID] = { "pid", NEED(SAMPLE_TID, "TID"), .lines = LINES_OF_RECORDS, .print = print_ids,
		.columns = { COLUMN("pid", NUMBER, .value = pid_cell) } },
	[FIELD_TID] = { "tid", ALL_CLASSES, NEED(SAMPLE_TID, "TID"), .lines = LINES_OF_RECORDS, .print = print_ids, .joined = true,
		.columns = { COLUMN("tid", NUMBER, .value = tid_cell) } },
	[FIELD_CPU] = { "cpu", ALL_CLASSES, NEED(SAMPLE_CPU, "CPU", .decoded = true), .lines = LINES_OF_RECORDS, .print = print_cpu,
		.columns = { COLUMN("cpu", NUMBER, .value = cpu_cell) } },
	[FIELD_MISC] = { "misc", .lines = LINES_OF_RECORDS, .print = print_misc, .columns = { COLUMN("misc", TEXT, .value = misc_cell) } },
	[FIELD_TOD] = { "tod", .lines = LINES_OF_RECORDS, .print = print_time_of_day,
		.need = { .recorded = has_time_of_day, .sentence = "the recording has no time of day: cannot print the field 'tod'",
			.hint = "record with -k CLOCKID" },
		.columns = { COLUMN("tod", TIME, "ns", .value = time_of_day_cell) } },
	[FIELD_TIME] = { "time", ALL_CLASSES, NEED(SAMPLE_TIME, "TIME"), .lines = LINES_OF_RECORDS, .print = print_time,
		.columns = { COLUMN("time", TIME, "ns", .value = time_cell) } },
	[FIELD_PERIOD] = { "period", OF_COUNTERS, .print = print_period, .columns = { COLUMN("period", COUNT, .value = period_cell) } },
	[FIELD_EVENT] = { "event", ALL_CLASSES, .print = print_event, .columns = { COLUMN("event", TEXT, .value = event_cell) } },
	[FIELD_FLAGS] = { "flags", .everywhere = true, .print = print_flags, .columns = { COLUMN("flags", TEXT, .value = flags_cell) } },
	[FIELD_TRACE] = { "trace", C(TRACEPOINT), .absent = OF_PLACES, .lines = LINES_OF_OTHER_SAMPLES, .print = print_trace,
		.columns = { COLUMN("trace", TEXT, .value = trace_cell), COLUMN("trace_fields", MAP, .value = trace_fields_cell) } },
	[FIELD_SYNTH] = { "synth", OF_SYNTHESIZED, .has = is_synthesized, .lines = LINES_OF_OTHER_SAMPLES, .print = print_synth,
		.columns = { COLUMN("synth", TEXT, .value = synth_cell) } },
	[FIELD_ADDR] = { "addr", OF_RAW, NEED(SAMPLE_ADDR, "ADDR", .decoded = true), .lines = LINES_OF_OTHER_SAMPLES, .print = print_addr,
		.columns = { COLUMN("addr", ADDRESS, .value = addr_cell), COLUMN("addr_place", PLACE, .exists = has_names, .value = addr_place_cell) } },
	[FIELD_DATA_SRC] = { "data_src", OF_RAW, NEED(SAMPLE_DATA_SRC, "DATA_SRC", .decoded = true), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_data_source, .columns = { COLUMN("data_src", MAP, .value = data_source_cell) } },
	[FIELD_WEIGHT] = { "weight", OF_RAW, NEED(SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, "WEIGHT", .decoded = true),
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_decimal, .columns = { COLUMN("weight", COUNT, .value = weight_cell) } },
	[FIELD_INS_LAT] = { "ins_lat", OF_RAW, NEED(SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_decimal, .columns = { COLUMN("ins_lat", COUNT, .value = instruction_latency_cell) } },
	[FIELD_RETIRE_LAT] = { "retire_lat", OF_RAW, NEED(SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_decimal, .columns = { COLUMN("retire_lat", COUNT, .value = retire_latency_cell) } },
	[FIELD_CGROUP] = { "cgroup", NEED(SAMPLE_CGROUP, "CGROUP", .hint = "record with --all-cgroups"),
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_cgroup, .columns = { COLUMN("cgroup", TEXT, .value = cgroup_cell) } },
	[FIELD_IP] = { "ip", OF_PLACES, NEED(SAMPLE_IP, "IP"), .lines = LINES_OF_OTHER_SAMPLES, .print = print_ip,
		.columns = { COLUMN("ip", ADDRESS, .value = ip_cell),
			COLUMN("callchain", LIST, .exists = has_chains, .value = chain_cell) } },
	[FIELD_SYM] = { "sym", OF_PLACES, NEED_ADDRESS, .names = true, .columns = { COLUMN("sym", TEXT, .value = symbol_cell) } },
	[FIELD_SYMOFF] = { "symoff", OF_PLACES, NEED_FIELD(SYM, "the field 'symoff' needs 'sym'"), .names = true,
		.columns = { COLUMN("symoff", COUNT, .value = symbol_offset_cell) } },
	[FIELD_DSO] = { "dso", OF_PLACES, NEED_ADDRESS, .columns = { COLUMN("dso", TEXT, .value = dso_cell) } },
	[FIELD_DSOFF] = { "dsoff", .includes = B(DSO), .columns = { COLUMN("dsoff", ADDRESS, .value = dso_offset_cell) } },
	[FIELD_SRCLINE] = { "srcline", NEED_FIELD(IP, NO_SOURCE), .names = true,
		.columns = { COLUMN("srcline", TEXT, .value = source_line_cell) } },
	[FIELD_IREGS] = { "iregs", NEED(SAMPLE_REGS_INTR, "IREGS", .decoded = true), .lines = LINES_OF_OTHER_SAMPLES,
		.print = print_interrupt_registers, .columns = { COLUMN("iregs", MAP, .value = interrupt_registers_cell) } },
	[FIELD_UREGS] = { "uregs", NEED(SAMPLE_REGS_USER, "UREGS"), .lines = LINES_OF_OTHER_SAMPLES, .print = print_user_registers,
		.columns = { COLUMN("uregs", MAP, .value = user_registers_cell) } },
	[FIELD_BRSTACK] = { "brstack", .lines = LINES_OF_OTHER_SAMPLES, .print = print_branches,
		.columns = { COLUMN("brstack", LIST, .value = branches_cell) } },
	[FIELD_BRSTACKSYM] = { "brstacksym", .names = true, .lines = LINES_OF_OTHER_SAMPLES, .print = print_branches, .joined = true,
		.columns = { COLUMN("brstacksym", LIST, .value = branch_symbols_cell) } },
	[FIELD_BRSTACKOFF] = { "brstackoff", .lines = LINES_OF_OTHER_SAMPLES, .print = print_branches, .joined = true,
		.columns = { COLUMN("brstackoff", LIST, .value = branch_offsets_cell) } },
	[FIELD_BRCNTR] = { "brcntr", .need = { .recorded = has_branch_counters, .strict = true,
			.sentence = "the recording has no branch counters", .hint = "record with -j any,counter" },
		.columns = { COLUMN("brcntr", LIST, .value = branch_counters_cell) } },
	[FIELD_BPF_OUTPUT] = { "bpf-output", C(SOFTWARE), .absent = ALL_CLASSES & ~(C(SOFTWARE) | C(TRACEPOINT)), .has = is_bpf_output,
		.lines = LINES_OF_OTHER_SAMPLES, .print = print_bpf_output,
		.columns = { COLUMN("bpf-output", TEXT, .value = bpf_output_cell) } },
	[FIELD_INSN] = { "insn", .print = print_instruction, .columns = { COLUMN("insn", TEXT, .value = instruction_cell) } },
	[FIELD_INSNLEN] = { "insnlen", .print = print_instruction, .joined = true,
		.columns = { COLUMN("insnlen", BYTES, "bytes", .value = instruction_length_cell) } },
	[FIELD_DISASM] = { "disasm", .names = true, .print = print_instruction, .joined = true,
		.columns = { COLUMN("disasm", TEXT, .value = assembly_cell) } },
	[FIELD_BRSTACKINSN] = { "brstackinsn", NEED_BLOCKS, .names = true, .print = print_blocks,
		.columns = { COLUMN("brstackinsn", LIST, .value = block_bytes_cell) } },
	[FIELD_BRSTACKINSNLEN] = { "brstackinsnlen", NEED_BLOCKS, .names = true, .print = print_blocks, .joined = true,
		.columns = { COLUMN("brstackinsnlen", LIST, .value = block_lengths_cell) } },
	[FIELD_BRSTACKDISASM] = { "brstackdisasm", NEED_BLOCKS, .names = true, .print = print_blocks, .joined = true,
		.columns = { COLUMN("brstackdisasm", LIST, .value = block_assembly_cell) } },
#define NUMBER(NAME, name, classes, printed, kind, unit, member, decodable) \
	[FIELD_##NAME] = { name, classes, NEED(SAMPLE_##NAME, #NAME, .decoded = decodable), .lines = LINES_OF_OTHER_SAMPLES, \
		.print = print_##printed, .columns = { COLUMN(name, kind, unit, .value = member##_cell) } },
	SAMPLE_NUMBERS(NUMBER)
#undef NUMBER
	[FIELD_SRCCODE] = { "srccode", NEED_FIELD(IP, NO_SOURCE), .names = true, .lines = LINES_AFTER_SAMPLES, .print = print_source_code,
		.columns = { COLUMN("srccode", TEXT, .value = source_code_cell) } },
	[FIELD_CALLINDENT] = { "callindent", .columns = { COLUMN("callindent", TEXT) } },
	[FIELD_METRIC] = { "metric", .unsupported = true },
	[FIELD_IPC] = { "ipc", .print = print_ipc, .columns = { COLUMN("ipc", REAL, .value = ipc_cell) } },
	[FIELD_CYC] = { "cyc", .print = print_trace_count, .columns = { COLUMN("cyc", COUNT, .value = cycles_cell) } },
	[FIELD_TSC] = { "tsc", .print = print_trace_count, .columns = { COLUMN("tsc", COUNT, .value = time_stamp_cell) } },
};
