#include "bpf/sample_filter.h"

#include <unistd.h>

#include "os/bpf.h"

/* Parts of instruction codes. */
enum {
	LOAD_WORD = 0x79, STORE_ZERO = 0x62, LOAD_IMMEDIATE = 0x18, ATOMIC_ADD = 0xdb, CALL = 0x85, EXIT = 0x95, JUMP = 0x05,
	MOVE = 0xb7, MOVE_REGISTER = 0xbf, MOVE_LOW_HALF = 0xbc, ADD = 0x07, SHIFT_RIGHT = 0x77, JUMP_IF_ZERO = 0x15, BY_REGISTER = 0x08,
	MAP_DESCRIPTOR = 1, /* source register of LOAD_IMMEDIATE */
};

enum { HELPER_LOOKUP = 1, HELPER_TIME = 5, HELPER_CPU = 8, HELPER_PID = 14, HELPER_UID = 15 };
enum { R0, R1, R2, CONTEXT = 6, STACK = 10 };
enum { LABEL_KEEP, LABEL_DROP, LABELS_MAX = 256 };

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

/* A jump whose distance is not known yet. */
struct open_jump {
	uint32_t at, label;
};

struct assembler {
	const struct sample_condition *condition;
	struct bpf_instructions *out;
	struct error *err;
	bool monotonic;
	uint32_t place[LABELS_MAX];      /* of each label */
	uint32_t labels;
	VEC(struct open_jump) jumps;
};

static void emit(struct assembler *a, uint8_t code, unsigned to, unsigned from, int16_t offset, int32_t immediate)
{
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	const struct bpf_instruction one = { code, (uint8_t)(little ? from << 4 | to : to << 4 | from), offset, immediate };
	vec_push(&a->out->list, one);
}

static void emit_wide(struct assembler *a, unsigned to, unsigned kind, uint64_t value)
{
	emit(a, LOAD_IMMEDIATE, to, kind, 0, (int32_t)(uint32_t)value);
	emit(a, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

static void emit_jump(struct assembler *a, uint8_t code, unsigned left, unsigned right, uint32_t label)
{
	vec_push(&a->jumps, ((struct open_jump){ (uint32_t)a->out->list.count, label }));
	emit(a, code, left, right, 0, 0);
}

static void place_label(struct assembler *a, uint32_t label)
{
	a->place[label] = (uint32_t)a->out->list.count;
}

static void emit_helper(struct assembler *a, int helper, bool upper_half, bool lower_half)
{
	emit(a, CALL, 0, 0, 0, helper);
	if (upper_half)
		emit(a, SHIFT_RIGHT, R0, 0, 0, 32);
	if (lower_half)
		emit(a, MOVE_LOW_HALF, R0, R0, 0, 0);
}

static int unreadable(struct assembler *a, enum condition_term term, const char *why)
{
	error_set(a->err, ERROR_UNSUPPORTED, "--filter: '%s' cannot be compared by the filter of samples%s", condition_term_name(term), why);
	return error_hint(a->err, "it reads ip, period, addr, cpu, tid, pid, uid, gid, and with -k mono time");
}

/* Loads the value of a term into r0. */
static int emit_term(struct assembler *a, enum condition_term term)
{
	int at = term == CONDITION_IP ? AT_IP : term == CONDITION_PERIOD ? AT_PERIOD : AT_ADDR;
	switch (term) {
	case CONDITION_IP:
	case CONDITION_PERIOD:
	case CONDITION_ADDR:
		if (at < 0)
			return unreadable(a, term, " on this architecture");
		emit(a, LOAD_WORD, R0, CONTEXT, (int16_t)at, 0);
		return 0;
	case CONDITION_CPU:
		emit_helper(a, HELPER_CPU, false, true);
		return 0;
	case CONDITION_PID:
	case CONDITION_TID:
		emit_helper(a, HELPER_PID, term == CONDITION_PID, term == CONDITION_TID);
		return 0;
	case CONDITION_GID:
	case CONDITION_UID:
		emit_helper(a, HELPER_UID, term == CONDITION_GID, term == CONDITION_UID);
		return 0;
	case CONDITION_TIME:
		if (!a->monotonic)
			return unreadable(a, term, ", whose clock is another one: -k mono");
		emit_helper(a, HELPER_TIME, false, false);
		return 0;
	default:
		return unreadable(a, term, "");
	}
}

static int emit_node(struct assembler *a, uint32_t index, uint32_t keep, uint32_t drop)
{
	static const uint8_t jumps[] = {
		[CONDITION_EQUAL] = 0x15, [CONDITION_NOT_EQUAL] = 0x55, [CONDITION_GREATER] = 0x25, [CONDITION_GREATER_EQUAL] = 0x35,
		[CONDITION_LESS] = 0xa5, [CONDITION_LESS_EQUAL] = 0xb5, [CONDITION_BITS] = 0x45,
	};
	const struct condition_node *node = &a->condition->nodes.items[index];
	if (node->operator < CONDITION_AND) {
		if (emit_term(a, node->term) < 0)
			return -1;
		emit_wide(a, R1, 0, node->value);
		emit_jump(a, jumps[node->operator] | BY_REGISTER, R0, R1, keep);
		emit_jump(a, JUMP, 0, 0, drop);
		return 0;
	}
	uint32_t next = a->labels++;
	bool both = node->operator == CONDITION_AND;
	if (emit_node(a, node->left, both ? next : keep, both ? drop : next) < 0)
		return -1;
	place_label(a, next);
	return emit_node(a, node->right, keep, drop);
}

static void emit_ends(struct assembler *a, int map)
{
	place_label(a, LABEL_DROP);
	emit(a, STORE_ZERO, STACK, 0, -4, 0);
	emit(a, MOVE_REGISTER, R2, STACK, 0, 0);
	emit(a, ADD, R2, 0, 0, -4);
	emit_wide(a, R1, MAP_DESCRIPTOR, (uint32_t)map);
	emit(a, CALL, 0, 0, 0, HELPER_LOOKUP);
	emit(a, JUMP_IF_ZERO, R0, 0, 2, 0);
	emit(a, MOVE, R1, 0, 0, 1);
	emit(a, ATOMIC_ADD, R0, R1, 0, 0);
	emit(a, MOVE, R0, 0, 0, 0);
	emit(a, EXIT, 0, 0, 0, 0);
	place_label(a, LABEL_KEEP);
	emit(a, MOVE, R0, 0, 0, 1);
	emit(a, EXIT, 0, 0, 0, 0);
}

int sample_filter_make(const struct sample_condition *condition, bool monotonic, int map, struct bpf_instructions *out, struct error *err)
{
	struct assembler a = { .condition = condition, .out = out, .err = err, .monotonic = monotonic, .labels = LABEL_DROP + 1 };
	if (condition->nodes.count > LABELS_MAX - a.labels)
		return error_set(err, ERROR_LIMIT, "--filter: the condition has too many parts");
	emit(&a, MOVE_REGISTER, CONTEXT, R1, 0, 0);
	int status = emit_node(&a, condition->root, LABEL_KEEP, LABEL_DROP);
	emit_ends(&a, map);
	for (size_t i = 0; i < a.jumps.count; i++) {
		uint32_t at = a.jumps.items[i].at;
		out->list.items[at].offset = (int16_t)(a.place[a.jumps.items[i].label] - at - 1);
	}
	vec_fini(&a.jumps);
	return status;
}

int sample_filter_open(struct sample_filter *filter, const char *text, bool monotonic, struct error *err)
{
	struct sample_condition condition;
	struct bpf_instructions code = { 0 };
	*filter = (struct sample_filter){ -1, -1 };
	int status = sample_condition_parse(&condition, text, err);
	if (status == 0)
		filter->map = status = bpf_counts_make(1, err);
	if (status >= 0)
		status = sample_filter_make(&condition, monotonic, filter->map, &code, err);
	if (status >= 0)
		filter->program = status = bpf_sample_program_load(code.list.items, code.list.count, err);
	if (status < 0)
		sample_filter_close(filter);
	vec_fini(&code.list);
	sample_condition_fini(&condition);
	return status < 0 ? -1 : 0;
}

void sample_filter_close(struct sample_filter *filter)
{
	if (filter->program >= 0)
		close(filter->program);
	if (filter->map >= 0)
		close(filter->map);
	*filter = (struct sample_filter){ -1, -1 };
}

uint64_t sample_filter_dropped(const struct sample_filter *filter)
{
	uint64_t count = 0;
	return filter->map >= 0 && bpf_counts_read(filter->map, 0, &count) ? count : 0;
}
