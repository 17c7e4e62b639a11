#include "render/svg/flame_svg.h"

#include <stdlib.h>

#include "unit.h"

static void add(struct flame_builder *builder, const char *const *names, enum flame_kind kind, uint64_t weight)
{
	uint32_t node = STACK_ROOT;
	for (; *names; names++)
		node = flame_builder_push(builder, node, flame_builder_frame(builder, *names, "/bin/x", kind));
	flame_builder_add(builder, node, weight, weight);
}

#define STACK(...) ((const char *const[]){ __VA_ARGS__, NULL })

static char *drawn(struct flame_builder *builder, const struct flame_svg *options, uint64_t least)
{
	struct flame_tree tree;
	struct writer out;
	flame_tree_make(&tree, builder, least);
	writer_open(&out, -1, 0);
	flame_svg_write(&out, &tree, options);
	char *text = memory_alloc(out.len + 1);
	memcpy(text, out.buffer, out.len);
	text[out.len] = '\0';
	writer_fini(&out);
	flame_tree_fini(&tree);
	return text;
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;
	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* Where the square of a colour of the legend begins. */
static int square_of(const char *text, const char *class)
{
	char head[32];
	snprintf(head, sizeof head, "<rect class=\"%s\" x=\"", class);
	const char *at = strstr(text, "id=\"legend\"");
	at = at ? strstr(at, head) : NULL;
	EXPECT(at != NULL);
	return at ? atoi(at + strlen(head)) : 0;
}

enum { FLAME_MODULES = 10 };
static const struct flame_svg plain = { .title = "T", .facts = "F" };

TEST("a frame is as wide as its share and starts where its elder sibling ends")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	add(&builder, STACK("main", "a"), FLAME_USER, 25);
	uint32_t node = flame_builder_push(&builder, STACK_ROOT, flame_builder_frame(&builder, "main", "/bin/x", FLAME_USER));
	node = flame_builder_push(&builder, node, flame_builder_frame(&builder, "b", "[kernel.kallsyms]", FLAME_KERNEL));
	flame_builder_add(&builder, node, 50, 50);
	add(&builder, STACK("main"), FLAME_USER, 25);
	char *text = drawn(&builder, &plain, 0);
	EXPECT(strstr(text, "<title>a (25 samples, 25.00%)\n/bin/x</title><rect class=\"u") != NULL);
	EXPECT(strstr(text, "x=\"0%\" y=\"0\" width=\"25%\" height=\"17\"/>") != NULL);
	EXPECT(strstr(text, "x=\"25%\" y=\"0\" width=\"50%\" height=\"17\"/>") != NULL);
	EXPECT(strstr(text, "<title>main (100 samples, 100.00%)\nself: 25 samples, 25.00%\n/bin/x</title>") != NULL);
	EXPECT(strstr(text, "<title>all (100 samples, 100.00%)</title>") != NULL);
	EXPECT(strstr(text, "x=\"0%\" y=\"36\" width=\"100%\"") != NULL);
	EXPECT(strstr(text, ">user</text>") && strstr(text, ">kernel</text>") && !strstr(text, ">JIT</text>"));
	free(text);
	struct flame_svg inverted = { .title = "T", .facts = "F", .inverted = true };
	text = drawn(&builder, &inverted, 0);
	EXPECT(strstr(text, "x=\"25%\" y=\"36\" width=\"50%\"") != NULL);
	free(text);
	flame_builder_fini(&builder);
}

TEST("a comparison colours frames by their change, and shows both shares")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	add(&builder, STACK("main", "grown"), FLAME_USER, 1000);
	add(&builder, STACK("main", "shrunk"), FLAME_USER, 3000);
	add(&builder, STACK("main", "same"), FLAME_USER, 6000);
	flame_builder_end_side(&builder, FLAME_OLD);
	add(&builder, STACK("main", "grown"), FLAME_USER, 3000);
	add(&builder, STACK("main", "shrunk"), FLAME_USER, 1000);
	add(&builder, STACK("main", "same"), FLAME_USER, 6010);
	flame_builder_end_side(&builder, FLAME_NEW);
	flame_builder_compare(&builder, FLAME_WIDTH_BOTH);
	char *text = drawn(&builder, &plain, 0);
	EXPECT(strstr(text, "<title>grown (3,000 samples, 29.97%)\nbefore: 1,000 samples, 10.00%\nchange: +19.97 points\n/bin/x</title>"
		"<rect class=\"m3\"") != NULL);
	EXPECT(strstr(text, "<rect class=\"l3\"") != NULL);
	EXPECT(strstr(text, "change: +0.04 points\n/bin/x</title><rect class=\"c\"") != NULL);
	EXPECT(strstr(text, ">no clear change</text>") && strstr(text, ">less</text>") && !strstr(text, ">user</text>"));
	EXPECT_INT(count(text, "width=\"12\" height=\"12\" rx=\"3\"/>"), 5); /* a square for each colour of the legend */
	EXPECT_INT(square_of(text, "m1") + 12, square_of(text, "m4"));
	EXPECT_INT(square_of(text, "l1") + 12, square_of(text, "l4"));
	free(text);
	flame_builder_fini(&builder);
}

TEST("modules have a colour each, most own samples first, and a legend")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	char module[32];
	for (unsigned i = 0; i < FLAME_MODULES; i++) {
		snprintf(module, sizeof module, "/lib/lib<%u>.so", i);
		flame_builder_add(&builder, flame_builder_push(&builder, STACK_ROOT, flame_builder_frame(&builder, "f", module, FLAME_USER)),
			100 + i, 1);
	}
	struct flame_svg options = { .title = "T", .facts = "F", .colours = FLAME_COLOURS_MODULE };
	char *text = drawn(&builder, &options, 0);
	EXPECT(strstr(text, "/lib/lib&lt;9&gt;.so</title><rect class=\"A") != NULL);
	EXPECT(strstr(text, "/lib/lib&lt;2&gt;.so</title><rect class=\"H") != NULL);
	EXPECT(strstr(text, "/lib/lib&lt;0&gt;.so</title><rect class=\"I") != NULL);
	EXPECT(strstr(text, ">lib&lt;9&gt;.so</text>") && strstr(text, ">others</text>") && !strstr(text, ">lib&lt;0&gt;.so</text>"));
	free(text);
	flame_builder_fini(&builder);
}

TEST("names cannot break out of the picture")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	const char *evil = "</title></svg><script>alert('x')</script>]]>\"' onload=\"x\n\x1b\xff";
	add(&builder, STACK(evil, "]]><script>"), FLAME_USER, 1);
	struct flame_svg options = { .title = evil, .subtitle = evil, .facts = evil };
	char *text = drawn(&builder, &options, 0);
	EXPECT_INT(count(text, "<script>"), 1);
	EXPECT_INT(count(text, "</script>"), 1);
	EXPECT_INT(count(text, "]]>"), 1);
	EXPECT_INT(count(text, "</svg>"), 3); /* the legend, the frames, the page */
	EXPECT(!strchr(text, '\x1b') && !strchr(text, '\xff'));
	EXPECT(strstr(text, "&lt;script&gt;alert(&#39;x&#39;)") != NULL);
	free(text);
	flame_builder_fini(&builder);
}

TEST("labels are truncated to the width of their frame, and omitted if nothing fits")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	add(&builder, STACK("a_function_with_a_name_that_is_long"), FLAME_USER, 10);
	add(&builder, STACK("b_narrow"), FLAME_USER, 1);
	add(&builder, STACK("c_rest"), FLAME_USER, 89);
	struct flame_svg options = { .title = "T", .facts = "F", .width = 1200 };
	char *text = drawn(&builder, &options, 0);
	EXPECT(strstr(text, ">a_function_with\xe2\x80\xa6</text>") != NULL);
	EXPECT(strstr(text, ">c_rest</text>") != NULL);
	EXPECT(strstr(text, ">b_narrow</text>") == NULL);
	EXPECT(strstr(text, " fluid\"") == NULL);
	free(text);
	flame_builder_fini(&builder);
}

TEST("a name without end is cut in the page, between letters")
{
	struct flame_builder builder;
	char *name = memory_alloc(3002);
	flame_builder_init(&builder);
	name[0] = 'x';
	for (unsigned i = 0; i < 1500; i++)
		memcpy(name + 1 + 2 * i, "\xc3\xa4", 2);
	name[3001] = '\0';
	add(&builder, STACK(name), FLAME_USER, 1);
	char *text = drawn(&builder, &plain, 0);
	EXPECT(strlen(text) < 60000);
	EXPECT(strstr(text, "\xc3\xa4\xe2\x80\xa6 (1 sample, 100.00%)") != NULL);
	EXPECT(strstr(text, "\xef\xbf\xbd") == NULL);
	free(text);
	free(name);
	flame_builder_fini(&builder);
}

TEST("an empty flame graph states that it is empty")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	char *text = drawn(&builder, &plain, 0);
	EXPECT(strstr(text, "No samples to show.") != NULL);
	EXPECT_INT(count(text, "<g"), 1);
	free(text);
	flame_builder_fini(&builder);
}

TEST("the least weight drawn follows from the width")
{
	EXPECT_INT(flame_svg_least(0.1, 1176000, 0), 100);
	EXPECT_INT(flame_svg_least(0, 1000, 0), 1);
	EXPECT_INT(flame_svg_least(1, 10, 0), 1);
	EXPECT(flame_svg_least(1e6, UINT64_MAX, 200) == UINT64_MAX);
}

TEST("sums at the limit draw frames that stay within the picture")
{
	struct flame_builder builder;
	flame_builder_init(&builder);
	add(&builder, STACK("a"), FLAME_USER, UINT64_MAX - 1);
	add(&builder, STACK("b"), FLAME_USER, UINT64_MAX - 1);
	char *text = drawn(&builder, &plain, 0);
	EXPECT(strstr(text, "x=\"100%\" y=\"0\" width=\"0%\"") != NULL);
	free(text);
	flame_builder_fini(&builder);
}
