#include "cmd/view_option.h"

#include "unit.h"

TEST("colour is always without an argument, and never if the option is undone")
{
	struct error err = { 0 };
	enum colour_option colour = COLOUR_AUTO;
	EXPECT_INT(colour_option_parse(NULL, false, &colour, &err), 0);
	EXPECT_INT(colour, COLOUR_ALWAYS);
	EXPECT_INT(colour_option_parse(NULL, true, &colour, &err), 0);
	EXPECT_INT(colour, COLOUR_NEVER);
	EXPECT_INT(colour_option_parse("auto", false, &colour, &err), 0);
	EXPECT_INT(colour, COLOUR_AUTO);
}

TEST("a word that an option does not have changes nothing")
{
	enum colour_option colour = COLOUR_NEVER;
	bool relative = true;
	struct error err = { 0 };
	EXPECT(colour_option_parse("sometimes", false, &colour, &err) != 0);
	EXPECT_STR(err.text, "--stdio-color takes always, never or auto, not 'sometimes'");
	EXPECT_INT(colour, COLOUR_NEVER);
	EXPECT(percentage_option_parse("relativ", &relative, &err) != 0);
	EXPECT_STR(err.text, "Invalid percentage: relativ");
	EXPECT(relative);
	EXPECT_INT(percentage_option_parse("absolute", &relative, &err), 0);
	EXPECT(!relative);
}

TEST("callees to ignore are a regular expression")
{
	struct error err = { 0 };
	EXPECT_INT(callees_option_check("^(a|b)$", &err), 0);
	EXPECT(callees_option_check("(a", &err) != 0);
	EXPECT_STR(err.text, "Invalid --ignore-callees regex: (a");
}
