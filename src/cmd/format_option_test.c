#include "cmd/format_option.h"

#include "unit.h"

struct holder {
	const char *before;
	const struct format *format;
	const char *after;
};

static const struct option table[] = { OPT_FORMAT(struct holder, format), OPT_END() };

static int parse(struct holder *holder, const char *word)
{
	struct error err = { 0 };
	const char *words[] = { word, NULL };
	return options_parse(table, holder, 1, words, 0, &err);
}

TEST("--format fills its field alone, and refuses names of no format")
{
	struct holder holder = { .before = "b", .after = "a" };
	EXPECT(!format_is_table(holder.format));
	EXPECT_INT(parse(&holder, "--format=json"), 0);
	EXPECT_STR(holder.format->name, "json");
	EXPECT(format_is_table(holder.format));
	EXPECT_INT(parse(&holder, "--format=text"), 0);
	EXPECT(!format_is_table(holder.format));
	EXPECT_INT(parse(&holder, "--format=csv"), 0);
	EXPECT(format_is_table(holder.format));
	EXPECT_INT(parse(&holder, "--format=xml"), OPTIONS_BAD);
	EXPECT_STR(holder.format->name, "csv");
	EXPECT_INT(parse(&holder, "--forma=json"), OPTIONS_BAD);
	EXPECT_INT(parse(&holder, "--format=tui"), OPTIONS_BAD); /* a test has no terminal */
	EXPECT_STR(holder.format->name, "csv");
	EXPECT(!format_browses(table, &holder));
	holder.format = &format_tui;
	EXPECT(format_browses(table, &holder) && format_is_table(holder.format));
	EXPECT_STR(holder.before, "b");
	EXPECT_STR(holder.after, "a");
}
