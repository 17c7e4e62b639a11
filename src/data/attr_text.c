#include "data/attr_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"

struct bit_name {
	uint64_t bit;
	const char *name;
};

/* The order is the one perf prints in, not that of the bits. */
static const struct bit_name sample_type_names[] = {
	{ SAMPLE_IP, "IP" }, { SAMPLE_TID, "TID" }, { SAMPLE_TIME, "TIME" }, { SAMPLE_ADDR, "ADDR" }, { SAMPLE_READ, "READ" },
	{ SAMPLE_CALLCHAIN, "CALLCHAIN" }, { SAMPLE_ID, "ID" }, { SAMPLE_CPU, "CPU" }, { SAMPLE_PERIOD, "PERIOD" },
	{ SAMPLE_STREAM_ID, "STREAM_ID" }, { SAMPLE_RAW, "RAW" }, { SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ SAMPLE_REGS_USER, "REGS_USER" }, { SAMPLE_STACK_USER, "STACK_USER" }, { SAMPLE_IDENTIFIER, "IDENTIFIER" },
	{ SAMPLE_REGS_INTR, "REGS_INTR" }, { SAMPLE_DATA_SRC, "DATA_SRC" }, { SAMPLE_WEIGHT, "WEIGHT" },
	{ SAMPLE_PHYS_ADDR, "PHYS_ADDR" }, { SAMPLE_AUX, "AUX" }, { SAMPLE_CGROUP, "CGROUP" },
	{ SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" }, { SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" }, { 0, NULL },
};

static const struct bit_name read_format_names[] = {
	{ READ_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED" }, { READ_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING" }, { READ_ID, "ID" },
	{ READ_GROUP, "GROUP" }, { READ_LOST, "LOST" }, { 0, NULL },
};

static const struct bit_name branch_names[] = {
	{ BRANCH_USER, "USER" }, { BRANCH_KERNEL, "KERNEL" }, { BRANCH_HV, "HV" }, { BRANCH_ANY, "ANY" },
	{ BRANCH_ANY_CALL, "ANY_CALL" }, { BRANCH_ANY_RETURN, "ANY_RETURN" }, { BRANCH_IND_CALL, "IND_CALL" },
	{ BRANCH_ABORT_TX, "ABORT_TX" }, { BRANCH_IN_TX, "IN_TX" }, { BRANCH_NO_TX, "NO_TX" }, { BRANCH_COND, "COND" },
	{ BRANCH_CALL_STACK, "CALL_STACK" }, { BRANCH_IND_JUMP, "IND_JUMP" }, { BRANCH_CALL, "CALL" },
	{ BRANCH_NO_FLAGS, "NO_FLAGS" }, { BRANCH_NO_CYCLES, "NO_CYCLES" }, { BRANCH_TYPE_SAVE, "TYPE_SAVE" },
	{ BRANCH_HW_INDEX, "HW_INDEX" }, { BRANCH_PRIV_SAVE, "PRIV_SAVE" }, { BRANCH_COUNTERS, "COUNTERS" }, { 0, NULL },
};

static const char *const type_names[] = {
	[ATTR_HARDWARE] = "PERF_TYPE_HARDWARE", [ATTR_SOFTWARE] = "PERF_TYPE_SOFTWARE", [ATTR_TRACEPOINT] = "PERF_TYPE_TRACEPOINT",
	[ATTR_HW_CACHE] = "PERF_TYPE_HW_CACHE", [ATTR_RAW] = "PERF_TYPE_RAW", [ATTR_BREAKPOINT] = "PERF_TYPE_BREAKPOINT",
};

static const char *const hardware_names[] = {
	"PERF_COUNT_HW_CPU_CYCLES", "PERF_COUNT_HW_INSTRUCTIONS", "PERF_COUNT_HW_CACHE_REFERENCES", "PERF_COUNT_HW_CACHE_MISSES",
	"PERF_COUNT_HW_BRANCH_INSTRUCTIONS", "PERF_COUNT_HW_BRANCH_MISSES", "PERF_COUNT_HW_BUS_CYCLES",
	"PERF_COUNT_HW_STALLED_CYCLES_FRONTEND", "PERF_COUNT_HW_STALLED_CYCLES_BACKEND", "PERF_COUNT_HW_REF_CPU_CYCLES",
};

static const char *const software_names[] = {
	"PERF_COUNT_SW_CPU_CLOCK", "PERF_COUNT_SW_TASK_CLOCK", "PERF_COUNT_SW_PAGE_FAULTS", "PERF_COUNT_SW_CONTEXT_SWITCHES",
	"PERF_COUNT_SW_CPU_MIGRATIONS", "PERF_COUNT_SW_PAGE_FAULTS_MIN", "PERF_COUNT_SW_PAGE_FAULTS_MAJ",
	"PERF_COUNT_SW_ALIGNMENT_FAULTS", "PERF_COUNT_SW_EMULATION_FAULTS", "PERF_COUNT_SW_DUMMY", "PERF_COUNT_SW_BPF_OUTPUT",
	"PERF_COUNT_SW_CGROUP_SWITCHES",
};

static const char *const cache_names[] = { "L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE" };
static const char *const cache_op_names[] = { "READ", "WRITE", "PREFETCH" };
static const char *const cache_result_names[] = { "ACCESS", "MISS" };

/* Flags in the order of the attribute; PRECISE_IP is the one that is two bits wide. */
static const char *const flag_names[ATTR_FLAG_COUNT] = {
	[ATTR_DISABLED] = "disabled", [ATTR_INHERIT] = "inherit", [ATTR_PINNED] = "pinned", [ATTR_EXCLUSIVE] = "exclusive",
	[ATTR_EXCLUDE_USER] = "exclude_user", [ATTR_EXCLUDE_KERNEL] = "exclude_kernel", [ATTR_EXCLUDE_HV] = "exclude_hv",
	[ATTR_EXCLUDE_IDLE] = "exclude_idle", [ATTR_MMAP] = "mmap", [ATTR_COMM] = "comm", [ATTR_FREQ] = "freq",
	[ATTR_INHERIT_STAT] = "inherit_stat", [ATTR_ENABLE_ON_EXEC] = "enable_on_exec", [ATTR_TASK] = "task",
	[ATTR_WATERMARK] = "watermark", [ATTR_PRECISE_IP] = "precise_ip", [ATTR_MMAP_DATA] = "mmap_data",
	[ATTR_SAMPLE_ID_ALL] = "sample_id_all", [ATTR_EXCLUDE_HOST] = "exclude_host", [ATTR_EXCLUDE_GUEST] = "exclude_guest",
	[ATTR_EXCLUDE_CALLCHAIN_KERNEL] = "exclude_callchain_kernel", [ATTR_EXCLUDE_CALLCHAIN_USER] = "exclude_callchain_user",
	[ATTR_MMAP2] = "mmap2", [ATTR_COMM_EXEC] = "comm_exec", [ATTR_USE_CLOCKID] = "use_clockid",
	[ATTR_CONTEXT_SWITCH] = "context_switch", [ATTR_WRITE_BACKWARD] = "write_backward", [ATTR_NAMESPACES] = "namespaces",
	[ATTR_KSYMBOL] = "ksymbol", [ATTR_BPF_EVENT] = "bpf_event", [ATTR_AUX_OUTPUT] = "aux_output", [ATTR_CGROUP] = "cgroup",
	[ATTR_TEXT_POKE] = "text_poke", [ATTR_BUILD_ID] = "build_id", [ATTR_INHERIT_THREAD] = "inherit_thread",
	[ATTR_REMOVE_ON_EXEC] = "remove_on_exec", [ATTR_SIGTRAP] = "sigtrap",
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

struct fields {
	const struct attr *attr;
	const struct attr_names *names;
	attr_field_visit *visit;
	void *context;
};

static void field_bits(const struct fields *fields, const char *name, uint64_t value, const struct bit_name *bits)
{
	if (!value)
		return;
	CLEANUP_STR struct str text = { 0 };
	for (; bits->name; bits++)
		if (value & bits->bit)
			str_printf(&text, "%s%s", text.len ? "|" : "", bits->name);
	fields->visit(fields->context, name, str_text(&text));
}

static void field_number(const struct fields *fields, const char *name, uint64_t value)
{
	char text[24];
	if (!value)
		return;
	snprintf(text, sizeof text, "%" PRIu64, value);
	fields->visit(fields->context, name, text);
}

static void field_hex(const struct fields *fields, const char *name, uint64_t value)
{
	char text[24];
	if (!value)
		return;
	snprintf(text, sizeof text, "%#" PRIx64, value);
	fields->visit(fields->context, name, text);
}

static void field_type(const struct fields *fields)
{
	uint32_t type = fields->attr->type;
	const struct attr_names *names = fields->names;
	const char *name = names && names->pmu ? names->pmu(names->context, type) : NULL;
	if (!name && type < COUNT(type_names))
		name = type_names[type];
	CLEANUP_STR struct str text = { 0 };
	str_printf(&text, "%" PRIu32, type);
	if (name)
		str_printf(&text, " (%s)", name);
	fields->visit(fields->context, "type", str_text(&text));
}

/* "(PERF_COUNT_…)" of a generic event; empty where there is no such name. */
static void config_add_generic(struct str *text, uint32_t type, uint64_t config)
{
	if (type == ATTR_HARDWARE && config < COUNT(hardware_names))
		str_printf(text, " (%s)", hardware_names[config]);
	else if (type == ATTR_SOFTWARE && config < COUNT(software_names))
		str_printf(text, " (%s)", software_names[config]);
	else if (type == ATTR_HW_CACHE) {
		unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
		if (cache < COUNT(cache_names) && op < COUNT(cache_op_names) && result < COUNT(cache_result_names))
			str_printf(text, " (PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | PERF_COUNT_HW_CACHE_%s)",
				cache_result_names[result], cache_op_names[op], cache_names[cache]);
	}
}

static void field_config(const struct fields *fields)
{
	const struct attr *attr = fields->attr;
	const struct attr_names *names = fields->names;
	const char *name = names && names->event ? names->event(names->context, attr->type, attr->config) : NULL;
	CLEANUP_STR struct str text = { 0 };
	str_printf(&text, "%#" PRIx64, attr->config);
	if (name)
		str_printf(&text, " (%s)", name);
	else
		config_add_generic(&text, attr->type, attr->config);
	fields->visit(fields->context, "config", str_text(&text));
}

static void field_flags(const struct fields *fields)
{
	for (unsigned flag = 0; flag < ATTR_FLAG_COUNT; flag++) {
		if (!flag_names[flag])
			continue;
		if (flag == ATTR_PRECISE_IP)
			field_number(fields, flag_names[flag], attr_precise_ip(fields->attr));
		else
			field_number(fields, flag_names[flag], attr_flag(fields->attr, flag));
	}
}

void attr_each_field(const struct attr *attr, const struct attr_names *names, attr_field_visit *visit, void *context)
{
	struct fields fields = { .attr = attr, .names = names, .visit = visit, .context = context };
	field_type(&fields);
	field_number(&fields, "size", attr->size);
	field_config(&fields);
	field_number(&fields, "{ sample_period, sample_freq }", attr->sample_period);
	field_bits(&fields, "sample_type", attr->sample_type, sample_type_names);
	field_bits(&fields, "read_format", attr->read_format, read_format_names);
	field_flags(&fields);
	field_number(&fields, "{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
	field_number(&fields, "bp_type", attr->bp_type);
	field_hex(&fields, "{ bp_addr, config1 }", attr->config1);
	field_hex(&fields, "{ bp_len, config2 }", attr->config2);
	field_bits(&fields, "branch_sample_type", attr->branch_sample_type, branch_names);
	field_hex(&fields, "sample_regs_user", attr->sample_regs_user);
	field_number(&fields, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid) {
		char text[16];
		snprintf(text, sizeof text, "%" PRId32, attr->clockid);
		visit(context, "clockid", text);
	}
	field_hex(&fields, "sample_regs_intr", attr->sample_regs_intr);
	field_number(&fields, "aux_watermark", attr->aux_watermark);
	field_number(&fields, "sample_max_stack", attr->sample_max_stack);
	field_number(&fields, "aux_sample_size", attr->aux_sample_size);
	field_number(&fields, "sig_data", attr->sig_data);
}
