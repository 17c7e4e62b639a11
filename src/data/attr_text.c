#include "data/attr_text.h"

#include <inttypes.h>

/* perf prints sample_type in the order of its bits, except these; it has no name for TRANSACTION. */
#define PERF_PLACE(bit)                                                                              \
	((bit) == SAMPLE_BIT_IDENTIFIER ? 14 : (bit) == SAMPLE_BIT_REGS_INTR ? 15 :                  \
	 (bit) == SAMPLE_BIT_DATA_SRC ? 16 : (bit) == SAMPLE_BIT_WEIGHT ? 17 :                       \
	 (bit) == SAMPLE_BIT_TRANSACTION ? 18 : (bit))

/* Ends at the first number without a bit. */
static const struct attr_bit_name sample_type_names[64] = {
#define ROW(NAME, bit, ...) [PERF_PLACE(bit)] = { SAMPLE_##NAME, bit == SAMPLE_BIT_TRANSACTION ? NULL : #NAME },
	SAMPLE_FIELDS(ROW, ROW, ROW, ROW)
#undef ROW
};

static const struct attr_bit_name read_format_names[] = {
	{ READ_TOTAL_TIME_ENABLED, "TOTAL_TIME_ENABLED" }, { READ_TOTAL_TIME_RUNNING, "TOTAL_TIME_RUNNING" }, { READ_ID, "ID" },
	{ READ_GROUP, "GROUP" }, { READ_LOST, "LOST" }, { 0, NULL },
};

static const struct attr_bit_name branch_names[] = {
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

#define COUNT(table) (sizeof(table) / sizeof *(table))

#define MEMBER(L, N, F, M, ...) { .label = L, .name = N, .form = ATTR_FIELD_##F, .offset = offsetof(struct attr, M), \
	.size = sizeof((struct attr *)0)->M, __VA_ARGS__ }
#define FLAG(F, N) { .label = N, .name = N, .form = ATTR_FIELD_FLAG, .flag = F }

const struct attr_field attr_fields[] = {
	MEMBER("type", "type", TYPE, type),
	MEMBER("size", "size", COUNT, size),
	MEMBER("config", "config", CONFIG, config),
	MEMBER("{ sample_period, sample_freq }", "sample_period", COUNT, sample_period, .other = "sample_freq", .flag = ATTR_FREQ),
	MEMBER("sample_type", "sample_type", BITS, sample_type, .bits = sample_type_names),
	MEMBER("read_format", "read_format", BITS, read_format, .bits = read_format_names),
	FLAG(ATTR_DISABLED, "disabled"), FLAG(ATTR_INHERIT, "inherit"), FLAG(ATTR_PINNED, "pinned"), FLAG(ATTR_EXCLUSIVE, "exclusive"),
	FLAG(ATTR_EXCLUDE_USER, "exclude_user"), FLAG(ATTR_EXCLUDE_KERNEL, "exclude_kernel"), FLAG(ATTR_EXCLUDE_HV, "exclude_hv"),
	FLAG(ATTR_EXCLUDE_IDLE, "exclude_idle"), FLAG(ATTR_MMAP, "mmap"), FLAG(ATTR_COMM, "comm"), FLAG(ATTR_FREQ, "freq"),
	FLAG(ATTR_INHERIT_STAT, "inherit_stat"), FLAG(ATTR_ENABLE_ON_EXEC, "enable_on_exec"), FLAG(ATTR_TASK, "task"),
	FLAG(ATTR_WATERMARK, "watermark"), { .label = "precise_ip", .name = "precise_ip", .form = ATTR_FIELD_PRECISE },
	FLAG(ATTR_MMAP_DATA, "mmap_data"), FLAG(ATTR_SAMPLE_ID_ALL, "sample_id_all"), FLAG(ATTR_EXCLUDE_HOST, "exclude_host"),
	FLAG(ATTR_EXCLUDE_GUEST, "exclude_guest"), FLAG(ATTR_EXCLUDE_CALLCHAIN_KERNEL, "exclude_callchain_kernel"),
	FLAG(ATTR_EXCLUDE_CALLCHAIN_USER, "exclude_callchain_user"), FLAG(ATTR_MMAP2, "mmap2"), FLAG(ATTR_COMM_EXEC, "comm_exec"),
	FLAG(ATTR_USE_CLOCKID, "use_clockid"), FLAG(ATTR_CONTEXT_SWITCH, "context_switch"), FLAG(ATTR_WRITE_BACKWARD, "write_backward"),
	FLAG(ATTR_NAMESPACES, "namespaces"), FLAG(ATTR_KSYMBOL, "ksymbol"), FLAG(ATTR_BPF_EVENT, "bpf_event"),
	FLAG(ATTR_AUX_OUTPUT, "aux_output"), FLAG(ATTR_CGROUP, "cgroup"), FLAG(ATTR_TEXT_POKE, "text_poke"),
	FLAG(ATTR_BUILD_ID, "build_id"), FLAG(ATTR_INHERIT_THREAD, "inherit_thread"), FLAG(ATTR_REMOVE_ON_EXEC, "remove_on_exec"),
	FLAG(ATTR_SIGTRAP, "sigtrap"),
	MEMBER("{ wakeup_events, wakeup_watermark }", "wakeup_events", COUNT, wakeup_events, .other = "wakeup_watermark",
		.flag = ATTR_WATERMARK),
	MEMBER("bp_type", "bp_type", COUNT, bp_type),
	MEMBER("{ bp_addr, config1 }", "config1", HEX, config1, .other = "bp_addr", .of_breakpoint = true),
	MEMBER("{ bp_len, config2 }", "config2", HEX, config2, .other = "bp_len", .of_breakpoint = true),
	MEMBER("branch_sample_type", "branch_sample_type", BITS, branch_sample_type, .bits = branch_names),
	MEMBER("sample_regs_user", "sample_regs_user", HEX, sample_regs_user),
	MEMBER("sample_stack_user", "sample_stack_user", COUNT, sample_stack_user),
	MEMBER("clockid", "clockid", SIGNED, clockid),
	MEMBER("sample_regs_intr", "sample_regs_intr", HEX, sample_regs_intr),
	MEMBER("aux_watermark", "aux_watermark", COUNT, aux_watermark),
	MEMBER("sample_max_stack", "sample_max_stack", COUNT, sample_max_stack),
	MEMBER("aux_sample_size", "aux_sample_size", COUNT, aux_sample_size),
	MEMBER("sig_data", "sig_data", COUNT, sig_data),
};
const size_t attr_field_count = COUNT(attr_fields);

uint64_t attr_field_value(const struct attr_field *field, const struct attr *attr)
{
	const uint8_t *at = (const uint8_t *)attr + field->offset;
	if (field->form == ATTR_FIELD_FLAG)
		return attr_flag(attr, field->flag);
	if (field->form == ATTR_FIELD_PRECISE)
		return attr_precise_ip(attr);
	switch (field->size) {
	case sizeof(uint16_t):
		return *(const uint16_t *)at;
	case sizeof(uint32_t):
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

bool attr_field_is_other(const struct attr_field *field, const struct attr *attr)
{
	if (!field->other)
		return false;
	return field->of_breakpoint ? attr->type == ATTR_BREAKPOINT : attr_flag(attr, field->flag);
}

static void add_bits(struct str *text, uint64_t value, const struct attr_bit_name *bits)
{
	bool first = true;
	for (; bits->bit; bits++) {
		if (!(value & bits->bit) || !bits->name)
			continue;
		str_printf(text, "%s%s", first ? "" : "|", bits->name);
		first = false;
	}
}

static void add_type_name(struct str *text, const struct attr *attr, const struct attr_names *names)
{
	const char *name = names && names->pmu ? names->pmu(names->context, attr->type) : NULL;
	if (!name && attr->type < COUNT(type_names))
		name = type_names[attr->type];
	if (name)
		str_puts(text, name);
}

/* "PERF_COUNT_…" of a generic event; empty where there is no such name. */
static void config_add_generic(struct str *text, uint32_t type, uint64_t config)
{
	if (type == ATTR_HARDWARE && config < COUNT(hardware_names))
		str_printf(text, "%s", hardware_names[config]);
	else if (type == ATTR_SOFTWARE && config < COUNT(software_names))
		str_printf(text, "%s", software_names[config]);
	else if (type == ATTR_HW_CACHE) {
		unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
		if (cache < COUNT(cache_names) && op < COUNT(cache_op_names) && result < COUNT(cache_result_names))
			str_printf(text, "PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | PERF_COUNT_HW_CACHE_%s",
				cache_result_names[result], cache_op_names[op], cache_names[cache]);
	}
}

static void add_config_name(struct str *text, const struct attr *attr, const struct attr_names *names)
{
	const char *name = names && names->event ? names->event(names->context, attr->type, attr->config) : NULL;
	if (name)
		str_puts(text, name);
	else
		config_add_generic(text, attr->type, attr->config);
}

void attr_field_name(const struct attr_field *field, const struct attr *attr, const struct attr_names *names, struct str *text)
{
	if (field->form == ATTR_FIELD_TYPE)
		add_type_name(text, attr, names);
	else if (field->form == ATTR_FIELD_CONFIG)
		add_config_name(text, attr, names);
	else if (field->form == ATTR_FIELD_BITS)
		add_bits(text, attr_field_value(field, attr), field->bits);
}

static void field_text(const struct attr_field *field, const struct attr *attr, const struct attr_names *names, struct str *text)
{
	uint64_t value = attr_field_value(field, attr);
	CLEANUP_STR struct str name = { 0 };
	attr_field_name(field, attr, names, &name);
	if (field->form == ATTR_FIELD_BITS)
		str_puts(text, str_text(&name));
	else if (field->form == ATTR_FIELD_CONFIG || field->form == ATTR_FIELD_HEX)
		str_printf(text, "%#" PRIx64, value);
	else if (field->form == ATTR_FIELD_SIGNED)
		str_printf(text, "%" PRId32, (int32_t)value);
	else
		str_printf(text, "%" PRIu64, value);
	if (field->form != ATTR_FIELD_BITS && name.len)
		str_printf(text, " (%s)", str_text(&name));
}

void attr_each_field(const struct attr *attr, const struct attr_names *names, attr_field_visit *visit, void *context)
{
	CLEANUP_STR struct str text = { 0 };
	for (size_t i = 0; i < attr_field_count; i++) {
		const struct attr_field *field = &attr_fields[i];
		bool always = field->form == ATTR_FIELD_TYPE || field->form == ATTR_FIELD_CONFIG;
		if (!always && !attr_field_value(field, attr))
			continue;
		str_clear(&text);
		field_text(field, attr, names, &text);
		visit(context, field->label, str_text(&text));
	}
}
