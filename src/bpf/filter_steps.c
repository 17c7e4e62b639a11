#include "bpf/filter_steps.h"

enum { HELPER_TIME = 5, HELPER_CPU = 8, HELPER_PID = 14, HELPER_UID = 15, HELPER_CGROUP = 80 };

/* struct bpf_perf_event_data: the registers, the period, the address. */
#if defined(__x86_64__)
enum { AT_IP = 128, AT_PERIOD = 168, AT_ADDR = 176 };
#elif defined(__aarch64__)
enum { AT_IP = 256, AT_PERIOD = 272, AT_ADDR = 280 };
#elif defined(__s390x__)
enum { AT_IP = 16, AT_PERIOD = 152, AT_ADDR = 160 };
#else
enum { AT_IP = -1, AT_PERIOD = -1, AT_ADDR = -1 };
#endif

enum half { WHOLE, UPPER, LOWER };

/* How a term is read: at an offset of the context, by a helper, or from a field of the sample's data: all of it, or `width` bits from
 * `shift` on. */
struct reading {
	int at, helper;
	enum half half;
	uint8_t field, shift, width;
};
static const struct reading readings[] = {
	[CONDITION_IP] = { AT_IP, 0, WHOLE }, [CONDITION_PERIOD] = { AT_PERIOD, 0, WHOLE }, [CONDITION_ADDR] = { AT_ADDR, 0, WHOLE },
	[CONDITION_CPU] = { 0, HELPER_CPU, LOWER }, [CONDITION_PID] = { 0, HELPER_PID, UPPER }, [CONDITION_TID] = { 0, HELPER_PID, LOWER },
	[CONDITION_GID] = { 0, HELPER_UID, UPPER }, [CONDITION_UID] = { 0, HELPER_UID, LOWER },
	[CONDITION_TIME] = { 0, HELPER_TIME, WHOLE, .field = FIELD_TIME },
	[CONDITION_CGROUP] = { 0, HELPER_CGROUP, WHOLE },
	[CONDITION_ID] = { .field = FIELD_ID }, [CONDITION_TXN] = { .field = FIELD_TXN }, [CONDITION_PHYS_ADDR] = { .field = FIELD_PHYS_ADDR },
	[CONDITION_DATA_PGSZ] = { .field = FIELD_DATA_PGSZ }, [CONDITION_CODE_PGSZ] = { .field = FIELD_CODE_PGSZ },
	/* the parts of union perf_sample_weight and union perf_mem_data_src: perf_event_open(2) */
	[CONDITION_WEIGHT1] = { .field = FIELD_WEIGHT, .shift = 0, .width = 32 },
	[CONDITION_WEIGHT2] = { .field = FIELD_WEIGHT, .shift = 32, .width = 16 },
	[CONDITION_WEIGHT3] = { .field = FIELD_WEIGHT, .shift = 48, .width = 16 },
	[CONDITION_MEM_OP] = { .field = FIELD_DATA_SRC, .shift = 0, .width = 5 },
	[CONDITION_MEM_SNOOP] = { .field = FIELD_DATA_SRC, .shift = 19, .width = 5 },
	[CONDITION_MEM_LOCK] = { .field = FIELD_DATA_SRC, .shift = 24, .width = 2 },
	[CONDITION_MEM_DTLB] = { .field = FIELD_DATA_SRC, .shift = 26, .width = 7 },
	[CONDITION_MEM_LVLNUM] = { .field = FIELD_DATA_SRC, .shift = 33, .width = 4 },
	[CONDITION_MEM_REMOTE] = { .field = FIELD_DATA_SRC, .shift = 37, .width = 1 },
	[CONDITION_MEM_BLK] = { .field = FIELD_DATA_SRC, .shift = 40, .width = 3 },
	[CONDITION_MEM_HOPS] = { .field = FIELD_DATA_SRC, .shift = 43, .width = 3 },
};
enum { SNOOPX_SHIFT = 38, SNOOPX_WIDTH = 2, SNOOPX_TO = 5 }; /* the second part of mem_snoop, above the first */

static const struct reading *reading_of(const struct sample_fields *fields, enum condition_term term)
{
	const struct reading *r = term < sizeof readings / sizeof readings[0] ? &readings[term] : NULL;
	return r && (r->at > 0 || r->helper || (r->field && fields->convert && fields->at[r->field] >= 0)) ? r : NULL;
}

static void emit_bits(struct assembler *a, unsigned in, unsigned shift, unsigned width)
{
	emit(a, BPF_SHIFT_LEFT, in, 0, 0, (int32_t)(64 - shift - width));
	emit(a, BPF_SHIFT_RIGHT, in, 0, 0, (int32_t)(64 - width));
}

static void emit_field(struct assembler *a, const struct sample_fields *fields, const struct reading *r, bool snoop)
{
	emit(a, BPF_MOVE_REGISTER, R1, R6, 0, 0);
	emit(a, BPF_CALL_HELPER, 0, BPF_CALL_KERNEL, 0, fields->convert);
	emit(a, BPF_LOAD_LONG, R0, R0, fields->data_at, 0);
	emit(a, BPF_LOAD_LONG, R0, R0, fields->at[r->field], 0);
	if (snoop)
		emit(a, BPF_MOVE_REGISTER, R1, R0, 0, 0);
	if (r->width)
		emit_bits(a, R0, r->shift, r->width);
	if (!snoop)
		return;
	emit_bits(a, R1, SNOOPX_SHIFT, SNOOPX_WIDTH);
	emit(a, BPF_SHIFT_LEFT, R1, 0, 0, SNOOPX_TO);
	emit(a, BPF_PLUS_REGISTER, R0, R1, 0, 0);
}

bool filter_term_emit(struct assembler *a, const struct sample_fields *fields, enum condition_term term)
{
	const struct reading *r = reading_of(fields, term);
	if (!r)
		return false;
	if (r->field && (!r->helper || fields->convert))
		emit_field(a, fields, r, term == CONDITION_MEM_SNOOP);
	else if (r->helper)
		emit_helper(a, r->helper);
	else
		emit(a, BPF_LOAD_LONG, R0, R6, r->at, 0);
	if (r->half == UPPER)
		emit(a, BPF_SHIFT_RIGHT, R0, 0, 0, 32);
	else if (r->half == LOWER)
		emit(a, BPF_MOVE_LOW_HALF, R0, R0, 0, 0);
	return true;
}

unsigned filter_jump(enum condition_operator operator)
{
	static const uint8_t jumps[] = {
		[CONDITION_EQUAL] = 0x15, [CONDITION_NOT_EQUAL] = 0x55, [CONDITION_GREATER] = 0x25, [CONDITION_GREATER_EQUAL] = 0x35,
		[CONDITION_LESS] = 0xa5, [CONDITION_LESS_EQUAL] = 0xb5, [CONDITION_BITS] = 0x45,
	};
	return jumps[operator] | BPF_BY_REGISTER;
}

static int check_term(const struct sample_fields *fields, enum condition_term term, bool monotonic, struct error *err)
{
	const char *why = readings[CONDITION_IP].at < 0 && readings[term].at < 0 ? " on this architecture" : "";
	if (term == CONDITION_TIME && !monotonic && !fields->convert)
		why = ", whose clock is another one: -k mono";
	else if (reading_of(fields, term))
		return 0;
	error_set(err, ERROR_UNSUPPORTED, "--filter: '%s' cannot be compared by the filter of samples%s", condition_term_name(term), why);
	return error_hint(err, "before Linux 6.3, it reads ip, period, addr, cpu, tid, pid, uid, gid, cgroup, and with -k mono time");
}

bool filter_needs_fields(const struct sample_condition *condition, bool monotonic)
{
	for (size_t i = 0; i < condition->nodes.count; i++) {
		const struct condition_node *node = &condition->nodes.items[i];
		if (node->operator < CONDITION_AND && readings[node->term].field && (node->term != CONDITION_TIME || !monotonic))
			return true;
	}
	return false;
}

/* The number of comparisons in a node. */
static uint32_t comparisons(const struct sample_condition *condition, uint32_t index)
{
	const struct condition_node *node = &condition->nodes.items[index];
	return node->operator < CONDITION_AND ? 1 : comparisons(condition, node->left) + comparisons(condition, node->right);
}

static void add(struct filter_steps *steps, const struct sample_condition *condition, uint32_t index, uint32_t keep, uint32_t drop)
{
	const struct condition_node *node = &condition->nodes.items[index];
	if (node->operator < CONDITION_AND) {
		steps->list[steps->count++] = (struct filter_step){ .value = node->value, .term = (uint8_t)node->term,
			.operator = (uint8_t)node->operator, .yes = (uint8_t)keep, .no = (uint8_t)drop };
		return;
	}
	uint32_t next = steps->count + comparisons(condition, node->left);
	bool both = node->operator == CONDITION_AND;
	add(steps, condition, node->left, both ? next : keep, both ? drop : next);
	add(steps, condition, node->right, keep, drop);
}

int filter_steps_make(struct filter_steps *steps, const struct sample_condition *condition, const struct sample_fields *fields,
	bool monotonic, struct error *err)
{
	*steps = (struct filter_steps){ 0 };
	for (size_t i = 0; i < condition->nodes.count; i++)
		if (condition->nodes.items[i].operator < CONDITION_AND && check_term(fields, condition->nodes.items[i].term, monotonic, err) < 0)
			return -1;
	if (comparisons(condition, condition->root) > FILTER_STEPS_MAX)
		return error_set(err, ERROR_LIMIT, "--filter: the condition has more than %d comparisons", FILTER_STEPS_MAX);
	add(steps, condition, condition->root, FILTER_KEEP, FILTER_DROP);
	return 0;
}
