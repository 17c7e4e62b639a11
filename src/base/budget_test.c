#include "base/budget.h"

#include "unit.h"

TEST("a budget grants bytes up to its limit, counts refusals, and takes bytes back")
{
	struct budget budget = { .limit = 100 };
	EXPECT(budget_take(&budget, 60));
	EXPECT(!budget_take(&budget, 41));
	EXPECT(!budget_take(&budget, SIZE_MAX));
	EXPECT_INT(budget_left(&budget), 40);
	EXPECT(budget_take(&budget, 40));
	EXPECT(!budget_take(&budget, 1));
	budget_give(&budget, 100);
	EXPECT_INT(budget_left(&budget), 100);
	EXPECT_INT(budget.refused, 3);
	EXPECT(budget_take(NULL, SIZE_MAX));
	EXPECT(budget_left(NULL) == SIZE_MAX);
}

static unsigned measured;

static size_t measure_limit(void)
{
	measured++;
	return 50;
}

TEST("a budget measures its limit when it is first needed, and once")
{
	struct budget budget = { .measure = measure_limit };
	EXPECT_INT(measured, 0);
	EXPECT(budget_take(&budget, 50));
	EXPECT(!budget_take(&budget, 1));
	EXPECT_INT(budget_left(&budget), 0);
	EXPECT_INT(budget_limit(&budget), 50);
	EXPECT_INT(measured, 1);
	struct budget given = { .limit = 60, .measure = measure_limit };
	EXPECT_INT(budget_left(&given), 60);
	EXPECT_INT(measured, 1);
}
