#include "record/trigger.h"

#include "unit.h"

static void expect_spec(const char *text, const char *symbol, const char *file, uint64_t limit_ns)
{
	struct trigger_spec spec;
	struct error err = { 0 };
	EXPECT_INT(trigger_parse(&spec, text, &err), 0);
	EXPECT_STR(spec.symbol, symbol);
	EXPECT_STR(spec.file ? spec.file : "none", file);
	EXPECT_INT(spec.limit_ns, limit_ns);
	trigger_spec_fini(&spec);
	EXPECT(!spec.symbol && !spec.file);
}

TEST("a trigger is a function, perhaps of a file, and perhaps slower than a limit with its unit")
{
	expect_spec("main", "main", "none", 0);
	expect_spec("main@/bin/a b", "main", "/bin/a b", 0);
	expect_spec("f@file%return > 2ms", "f", "file", 2000000);
	expect_spec("f %return>1.5us", "f", "none", 1500);
	expect_spec("f@a%b@c% return > 1ns", "f", "a%b@c", 1);
	expect_spec("f%return > 3s", "f", "none", 3000000000);
}

TEST("a trigger without a function or a file behind @, or with another limit, is refused")
{
	static const char *const wrong[] = { "", "@file", "f@", " %return > 2ms", "f%", "f%enter > 2ms", "f%return < 2ms", "f%return > 2",
		"f%return > 2min", "f%return > 0ms", "f%return > -1s", "f%return > 0.5ns", "f%return > 1e9s", "f%return > 2ms ", "f%return 2ms" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct trigger_spec spec;
		struct error err = { 0 };
		if (trigger_parse(&spec, wrong[i], &err) == 0)
			unit_fail(__FILE__, __LINE__, "%s is accepted", wrong[i]);
		EXPECT(strncmp(err.text, "--trigger", 9) == 0);
		trigger_spec_fini(&spec);
	}
}
