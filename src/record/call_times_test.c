#include "record/call_times.h"

#include "unit.h"

TEST("a return ends the thread's last call that has not returned")
{
	struct call_times calls = { 0 };
	call_times_enter(&calls, 1, 100);
	call_times_enter(&calls, 2, 110);
	call_times_enter(&calls, 1, 120);
	EXPECT_INT(call_times_return(&calls, 1, 125), 5);
	EXPECT_INT(call_times_return(&calls, 2, 150), 40);
	EXPECT_INT(call_times_return(&calls, 1, 200), 100);
	EXPECT_INT(call_times_return(&calls, 1, 210), 0);
	call_times_fini(&calls);
}

TEST("entries without a return are forgotten beyond a depth, and all after a loss")
{
	struct call_times calls = { 0 };
	for (uint64_t i = 0; i <= CALL_DEPTH; i++)
		call_times_enter(&calls, 1, i + 1);
	for (uint64_t i = CALL_DEPTH; i > 0; i--)
		EXPECT_INT(call_times_return(&calls, 1, 1000), 1000 - (i + 1));
	EXPECT_INT(call_times_return(&calls, 1, 1000), 0);
	call_times_enter(&calls, 1, 2000);
	call_times_clear(&calls);
	EXPECT_INT(call_times_return(&calls, 1, 2001), 0);
	call_times_fini(&calls);
}
