#include "cmd/memory_option.h"

#include "base/budget.h"
#include "unit.h"

static size_t measured(void)
{
	return 1;
}

TEST("--memory takes sizes of at least 16 MiB, and sets the limit of the run")
{
	struct budget budget = { .limit = 7, .measure = measured };
	const struct cli cli = { .budget = &budget };
	static const char *const refused[] = { "", "16", "1M", "16777215", "x", "16X", "-1G" };
	EXPECT_INT(memory_option_check(NULL, NULL), 0);
	memory_option_use(&cli, NULL);
	EXPECT_INT(budget_limit(&budget), 7);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct error err = { 0 };
		EXPECT(memory_option_check(refused[i], &err) < 0);
		EXPECT(strstr(err.text, "at least 16 MiB") != NULL);
	}
	EXPECT(budget.measure != NULL);
	EXPECT_INT(memory_option_check("16M", NULL), 0);
	memory_option_use(&cli, "16M");
	EXPECT_INT(budget_limit(&budget), 16 << 20);
	EXPECT(!budget.measure); /* the limit is not measured again */
	memory_option_use(&cli, "2G");
	EXPECT_INT(budget_limit(&budget), (size_t)2 << 30);
}
