#include "analysis/datatype/function.h"

#include "unit.h"

/* A function of instructions of four bytes from 0x1000 on; a letter for each: '.' plain, 'r' return, 'j' jump, 'c' conditional jump; the
 * jumps lead to the steps in `targets`, in order. */
static struct function function_of(const char *kinds, const uint32_t *targets)
{
	struct function function = { 0 };
	for (uint32_t i = 0; kinds[i]; i++) {
		struct step *step = vec_add(&function.steps);
		*step = (struct step){ .address = 0x1000 + 4 * i, .length = 4 };
		step->operands.kind = kinds[i] == 'r' ? STEP_RETURN : kinds[i] == '.' ? STEP_OTHER : STEP_JUMP;
		step->operands.conditional = kinds[i] == 'c';
		step->inside = step->operands.kind == STEP_JUMP;
		step->target_step = step->inside ? *targets++ : 0;
	}
	return function;
}

static void expect_path(const struct function *function, uint32_t from, uint32_t to, const char *want)
{
	struct step_path path;
	struct str text CLEANUP_STR = { 0 };
	if (!function_path(function, from, to, &path))
		str_puts(&text, "none");
	for (size_t i = 0; i < path.ranges.count; i++)
		str_printf(&text, "%s%u-%u", i ? " " : "", path.ranges.items[i].first, path.ranges.items[i].last);
	EXPECT_STR(str_text(&text), want);
	vec_fini(&path.ranges);
}

TEST("a step is found by its exact address")
{
	struct function function = function_of("...", NULL);
	EXPECT_INT(function_step(&function, 0x1000), 0);
	EXPECT_INT(function_step(&function, 0x1008), 2);
	EXPECT_INT(function_step(&function, 0x1009), UINT32_MAX);
	EXPECT_INT(function_step(&function, 0x100c), UINT32_MAX);
	EXPECT_INT(function_step(&function, 0xfff), UINT32_MAX);
	function_fini(&function);
}

TEST("a path follows jumps and both ways of conditional ones")
{
	/* 0 1 c2→6 3 j4→8 5 6 r7 8 9 */
	struct function function = function_of("..c.j..r..", (uint32_t[]){ 6, 8 });
	expect_path(&function, 0, 1, "0-1");
	expect_path(&function, 0, 2, "0-2");
	expect_path(&function, 0, 9, "0-2 3-4 8-9");
	expect_path(&function, 0, 6, "0-2 6-6");
	expect_path(&function, 0, 7, "0-2 6-7");
	expect_path(&function, 6, 9, "none");
	expect_path(&function, 5, 7, "5-7");
	function_fini(&function);
}

TEST("loops end")
{
	struct function function = function_of(".c.j", (uint32_t[]){ 0, 0 });
	expect_path(&function, 0, 3, "0-1 2-3");
	expect_path(&function, 2, 1, "2-3 0-1");
	function_fini(&function);
	function = function_of("j.", (uint32_t[]){ 0 });
	expect_path(&function, 0, 1, "none");
	function_fini(&function);
}

static void expect_joined(const struct step_range *first, size_t first_count, const char *want)
{
	struct step_path path = { 0 }, before = { 0 };
	struct str text CLEANUP_STR = { 0 };
	vec_push(&path.ranges, ((struct step_range){ 5, 9 }));
	for (size_t i = 0; i < first_count; i++)
		vec_push(&before.ranges, first[i]);
	step_path_prepend(&path, &before);
	for (size_t i = 0; i < path.ranges.count; i++)
		str_printf(&text, "%s%u-%u", i ? " " : "", path.ranges.items[i].first, path.ranges.items[i].last);
	EXPECT_STR(str_text(&text), want);
	vec_fini(&path.ranges);
	vec_fini(&before.ranges);
}

TEST("the step that two paths share is not repeated")
{
	expect_joined((struct step_range[]){ { 0, 5 } }, 1, "0-4 5-9");
	expect_joined((struct step_range[]){ { 0, 2 }, { 5, 5 } }, 2, "0-2 5-9");
	expect_joined((struct step_range[]){ { 0, 3 } }, 1, "0-3 5-9");
}
