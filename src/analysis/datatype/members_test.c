#include "analysis/datatype/type_hits.h"

#include <stdlib.h>

#include "unit.h"

static void expect_field(const struct data_type *type, int64_t offset, const char *want)
{
	struct str text CLEANUP_STR = { 0 };
	data_type_field(type, offset, &text);
	EXPECT_STR(str_text(&text), want);
}

TEST("the field at an offset has the names of all members around it")
{
	struct data_type type = { .name = "struct s", .size = 32 };
	const struct data_member members[] = {
		{ "int", "a", 0, 4, 1, false }, { "struct in", "b", 8, 16, 1, true }, { "union ", NULL, 8, 8, 2, true }, { "int", "c", 8, 4, 3, false },
		{ "long", "d", 8, 8, 3, false }, { "int", "e", 16, 4, 2, false }, { "char[]", "f", 24, 8, 1, false },
	};
	expect_field(&type, 0, "no field");
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		vec_push(&type.members, members[i]);
	expect_field(&type, 0, "a");
	expect_field(&type, 3, "a");
	expect_field(&type, 4, "");
	expect_field(&type, 8, "b.c");
	expect_field(&type, 12, "b.d");
	expect_field(&type, 16, "b.e");
	expect_field(&type, 20, "b");
	expect_field(&type, 31, "f");
	expect_field(&type, 32, "");
	expect_field(&type, -1, "");
	vec_fini(&type.members);
}

TEST("the samples of a member are those from its offset to its end")
{
	struct type_sum sum = { 0 };
	vec_push(&sum.hits, ((struct type_hit){ 0, 0, { 1, 10 } }));
	vec_push(&sum.hits, ((struct type_hit){ 4, 0, { 2, 20 } }));
	vec_push(&sum.hits, ((struct type_hit){ 4, 1, { 4, 40 } }));
	vec_push(&sum.hits, ((struct type_hit){ 8, 0, { 8, 80 } }));
	EXPECT_INT(type_sum_range(&sum, 0, 0, 4).samples, 1);
	EXPECT_INT(type_sum_range(&sum, 0, 0, 5).period, 30);
	EXPECT_INT(type_sum_range(&sum, 1, 0, 8).samples, 4);
	EXPECT_INT(type_sum_range(&sum, 0, 4, 4).samples, 2);
	EXPECT_INT(type_sum_range(&sum, 0, 5, UINT64_MAX).samples, 8);
	EXPECT_INT(type_sum_range(&sum, 0, 9, 100).samples, 0);
	EXPECT_INT(type_sum_range(&sum, 0, 0, 0).samples, 0);
	vec_fini(&sum.hits);
}
