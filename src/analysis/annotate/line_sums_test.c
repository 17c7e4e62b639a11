#include "analysis/annotate/line_sums.h"

#include "unit.h"

/* Two events; a.c:7 is compiled to the instructions 0 and 3, b.c:7 to 1; 2 has no place, 4 no samples, 5 only of the other event. */
static void make(struct annotation *annotation)
{
	static const struct hit hits[] = { { 0, 0, { 2, 20 } }, { 0, 1, { 9, 90 } }, { 1, 0, { 1, 45 } }, { 2, 0, { 7, 70 } },
		{ 3, 0, { 1, 30 } }, { 5, 1, { 1, 1 } } };
	static const struct annotated_line lines[] = {
		{ .kind = ANNOTATED_SOURCE, .file = "a.c", .line_number = 7, .text = "x++;" },
		{ .kind = ANNOTATED_CODE, .file = "a.c", .line_number = 7, .hits = hits, .hit_count = 2 },
		{ .kind = ANNOTATED_CODE, .file = "b.c", .line_number = 7, .hits = hits + 2, .hit_count = 1 },
		{ .kind = ANNOTATED_CODE, .hits = hits + 3, .hit_count = 1 },
		{ .kind = ANNOTATED_CODE, .file = "a.c", .line_number = 7, .hits = hits + 4, .hit_count = 1 },
		{ .kind = ANNOTATED_CODE, .file = "a.c", .line_number = 8 },
		{ .kind = ANNOTATED_CODE, .file = "a.c", .line_number = 6, .hits = hits + 5, .hit_count = 1 },
	};
	*annotation = (struct annotation){ 0 };
	for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		vec_push(&annotation->lines, lines[i]);
		if (lines[i].kind == ANNOTATED_CODE)
			vec_push(&annotation->code, i);
	}
}

static void drop(struct annotation *annotation)
{
	vec_fini(&annotation->lines);
	vec_fini(&annotation->code);
}

TEST("the samples of a source line are those of all its instructions, of one event")
{
	struct annotation annotation;
	struct line_sums sums;
	make(&annotation);
	line_sums_make(&sums, &annotation, 0);
	EXPECT_INT(sums.items.count, 2);
	for (size_t i = 0; i < annotation.lines.count; i++) {
		static const uint64_t periods[] = { 50, 50, 45, 0, 50, 0, 0 }, samples[] = { 3, 3, 1, 0, 3, 0, 0 };
		struct line_sum sum = line_sums_of(&sums, &annotation.lines.items[i]);
		EXPECT_INT(sum.count.period, periods[i]);
		EXPECT_INT(sum.count.samples, samples[i]);
		EXPECT_INT(sum.instructions, periods[i] == 50 ? 2 : periods[i] ? 1 : 0);
	}
	struct line_sum most = line_sums_hottest(&sums);
	EXPECT_STR(most.file, "a.c");
	EXPECT_INT(most.number, 7);
	line_sums_fini(&sums);
	line_sums_make(&sums, &annotation, 1);
	EXPECT_INT(sums.items.count, 2);
	EXPECT_INT(line_sums_hottest(&sums).count.period, 90);
	line_sums_fini(&sums);
	drop(&annotation);
}

TEST("without places no line is the hottest")
{
	struct annotation annotation = { 0 };
	struct line_sums sums;
	line_sums_make(&sums, &annotation, 0);
	EXPECT_INT(line_sums_hottest(&sums).number, 0);
	EXPECT_INT(line_sums_of(&sums, &(struct annotated_line){ .kind = ANNOTATED_CODE, .file = "a.c", .line_number = 1 }).instructions, 0);
	line_sums_fini(&sums);
}
