#include "analysis/place/source_line.h"

#include "unit.h"

static void expect_source_line(const struct module *module, uint64_t offset, struct source_style style, const char *want)
{
	struct modules modules = { 0 };
	CLEANUP_STR struct str text = { 0 };
	struct symbols *symbols = symbols_new(&modules, &(struct symbols_options){ .no_kernel_lookup = true });
	source_line_add(symbols, module, offset, 0, style, &text);
	EXPECT_STR(str_text(&text), want);
	symbols_free(symbols);
}

TEST("an unknown source line is shown as the requested fallback")
{
	struct module module = { .kind = MODULE_FILE, .name = "/nowhere/prog", .long_name = "/nowhere/prog", .short_name = "prog", .pid = -1 };
	expect_source_line(&module, 0x1234, (struct source_style){ .show_address = true }, "prog[1234]");
	expect_source_line(&module, 0x1234, (struct source_style){ .show_symbol = true }, SOURCE_UNKNOWN);
	expect_source_line(NULL, 0x1234, (struct source_style){ .show_address = true }, SOURCE_UNKNOWN);
}

TEST("a source file is shown by its last path component or by its full path")
{
	CLEANUP_STR struct str text = { 0 };
	struct source_line line = { "/src/a/b.c", 12 };
	source_line_add_known(&line, false, &text);
	EXPECT_STR(str_text(&text), "b.c:12");
	str_clear(&text);
	source_line_add_known(&line, true, &text);
	EXPECT_STR(str_text(&text), "/src/a/b.c:12");
}

TEST("if the recorder unwinds, only samples with registers and a stack copy are unwound by the reader")
{
	struct evsel evsel = { .attr = { .sample_type = SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER } };
	struct sample sample = { 0 };
	const struct resolved r = { .evsel = &evsel, .sample = &sample };
	EXPECT(!sample_unwinds(&r));
	sample.regs_user = (const uint8_t *)"";
	EXPECT(!sample_unwinds(&r));
	sample.stack_user_size = 8;
	EXPECT(sample_unwinds(&r));
	sample = (struct sample){ 0 };
	evsel.attr.flags = 1ull << ATTR_EXCLUDE_CALLCHAIN_USER;
	EXPECT(sample_unwinds(&r));
}

TEST("call chains are unwound if the kernel omits the user part and copies registers and stack")
{
	struct attr attr = { .flags = 1ull << ATTR_EXCLUDE_CALLCHAIN_USER, .sample_type = SAMPLE_REGS_USER | SAMPLE_STACK_USER };
	EXPECT(attr_unwinds(&attr));
	attr.flags = 0;
	EXPECT(!attr_unwinds(&attr));
	attr = (struct attr){ .flags = 1ull << ATTR_EXCLUDE_CALLCHAIN_USER, .sample_type = SAMPLE_REGS_USER };
	EXPECT(!attr_unwinds(&attr));
}
