#include "bpf/sample_filter.h"

#include <unistd.h>

#include "bpf/filter_steps.h"
#include "os/bpf.h"

enum { HELPER_LOOKUP = 1 };

static uint32_t target(uint32_t step, uint32_t first, uint32_t keep, uint32_t drop)
{
	return step == FILTER_KEEP ? keep : step == FILTER_DROP ? drop : first + step;
}

static void emit_ends(struct assembler *a, int map, uint32_t keep, uint32_t drop)
{
	assembler_place(a, drop);
	emit(a, BPF_STORE_ZERO, R10, 0, -4, 0);
	emit(a, BPF_MOVE_REGISTER, R2, R10, 0, 0);
	emit(a, BPF_PLUS, R2, 0, 0, -4);
	emit_wide(a, R1, BPF_MAP_DESCRIPTOR, (uint32_t)map);
	emit_helper(a, HELPER_LOOKUP);
	emit(a, BPF_JUMP_EQUAL, R0, 0, 2, 0);
	emit(a, BPF_MOVE, R1, 0, 0, 1);
	emit(a, BPF_ATOMIC_ADD, R0, R1, 0, 0);
	emit(a, BPF_MOVE, R0, 0, 0, 0);
	emit(a, BPF_END, 0, 0, 0, 0);
	assembler_place(a, keep);
	emit(a, BPF_MOVE, R0, 0, 0, 1);
	emit(a, BPF_END, 0, 0, 0, 0);
}

int sample_filter_make(const struct sample_condition *condition, const struct sample_fields *fields, bool monotonic, int map,
	struct bpf_instructions *out, struct error *err)
{
	struct assembler a = { .out = out };
	struct filter_steps steps;
	if (filter_steps_make(&steps, condition, fields, monotonic, err) < 0)
		return -1;
	uint32_t keep = assembler_label(&a), drop = assembler_label(&a), first = drop + 1;
	for (uint32_t i = 0; i < steps.count; i++)
		assembler_label(&a);
	emit(&a, BPF_MOVE_REGISTER, R6, R1, 0, 0);
	for (uint32_t i = 0; i < steps.count; i++) {
		const struct filter_step *step = &steps.list[i];
		assembler_place(&a, first + i);
		filter_term_emit(&a, fields, step->term);
		emit_wide(&a, R1, 0, step->value);
		emit_jump(&a, filter_jump(step->operator), R0, R1, target(step->yes, first, keep, drop));
		emit_jump(&a, BPF_JUMP, 0, 0, target(step->no, first, keep, drop));
	}
	emit_ends(&a, map, keep, drop);
	assembler_fini(&a);
	return 0;
}

int sample_filter_open(struct sample_filter *filter, const struct sample_condition *condition, bool monotonic, struct error *err)
{
	struct bpf_instructions code = { 0 };
	struct sample_fields fields = { 0 };
	*filter = (struct sample_filter){ -1, -1 };
	int status = filter->map = bpf_map_make(BPF_MAP_KIND_ARRAY, sizeof(uint64_t), 1, err);
	if (status >= 0 && filter_needs_fields(condition, monotonic))
		sample_fields_read(&fields);
	if (status >= 0)
		status = sample_filter_make(condition, &fields, monotonic, filter->map, &code, err);
	if (status >= 0)
		filter->program = status = bpf_sample_program_load(code.list.items, code.list.count, err);
	if (status < 0)
		sample_filter_close(filter);
	vec_fini(&code.list);
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
	return filter->map >= 0 && bpf_map_read(filter->map, 0, &count) ? count : 0;
}
