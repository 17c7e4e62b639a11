#include "unwind/go_frames.h"

#define FUNCTIONS_MAX (1u << 24)

bool go_frames_collect(struct collection *c, const struct elf *elf, enum unwind_arch arch, struct go_functions *functions)
{
	struct go_function f;
	if ((arch != UNWIND_X86_64 && arch != UNWIND_AARCH64) || !go_functions_open(functions, elf) || functions->count > FUNCTIONS_MAX)
		return false;
	for (uint32_t i = 0; i < functions->count; i++)
		if (go_functions_get(functions, i, &f))
			vec_push(&c->pieces, ((struct piece){ .start = f.start, .end = f.end, .function = f.start, .program = i,
				.section = GO_SECTION, .rank = RANK_SFRAME }));
		else
			c->damaged++;
	return true;
}

/* The call pushes the return address (x86-64), or it is below the function's frame (AArch64; in its register if the frame is empty). */
static uint32_t rule_of(int64_t size, const struct machine *m, struct rule_builder *b)
{
	int64_t pushed = m->ra_is_register ? 0 : m->word;
	struct rule rule = { .cfa_kind = CFA_REGISTER, .cfa_register = m->sp, .cfa_value = (int32_t)(size + pushed), .flags = RULE_SIMPLE,
		.ra = { .reg = m->ra, .kind = SAVED_AT_CFA, .value = (int32_t)(m->ra_is_register ? -size : -pushed) }, .fp = { .reg = m->fp } };
	if (size < 0)
		return RULE_NONE;
	if (m->ra_is_register && !size) {
		rule.ra = (struct saved){ .reg = m->ra, .kind = SAVED_SAME };
		rule.flags = 0;
	}
	return rule_builder_rule(b, &rule, NULL, 0);
}

bool go_frames_rows(const struct go_functions *functions, const struct piece *piece, enum unwind_arch arch, struct rule_builder *b)
{
	struct go_function f;
	struct go_stack s;
	rule_builder_row(b, piece->start, RULE_NONE); /* up to its first row, and where no size is known */
	if (!go_functions_get(functions, piece->program, &f))
		return false;
	go_stack_begin(&s, functions, &f);
	while (s.to < piece->end && go_stack_next(&s))
		if (s.to > piece->start)
			rule_builder_row(b, s.from > piece->start ? s.from : piece->start, rule_of(s.size, machine_of(arch), b));
	if (s.to < piece->end)
		rule_builder_row(b, s.to > piece->start ? s.to : piece->start, RULE_NONE);
	return !s.bytes.short_read;
}
