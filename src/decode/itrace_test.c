#include "decode/itrace.h"
#include "unit.h"

static struct itrace parsed(const char *text)
{
	struct itrace itrace;
	struct error err = { 0 };
	EXPECT_INT(itrace_parse(&itrace, text, true, &err), 0);
	return itrace;
}

TEST("without a text, a listing shows calls and a report instructions by time")
{
	struct itrace itrace;
	itrace_default(&itrace, true);
	EXPECT(itrace.branches && itrace.calls && itrace.errors && !itrace.instructions);
	itrace_default(&itrace, false);
	EXPECT(itrace.instructions && itrace.cycles && itrace.call_chain && !itrace.branches);
	EXPECT_INT(itrace.unit, ITRACE_NANOSECONDS);
	EXPECT_INT(itrace.period, 100000);
}

TEST("letters switch kinds of samples on, nothing else is on")
{
	struct itrace itrace = parsed("be");
	EXPECT(itrace.branches && itrace.errors && !itrace.calls && !itrace.returns && !itrace.instructions && !itrace.ptwrites);
	itrace = parsed("crw");
	EXPECT(itrace.branches && itrace.calls && itrace.returns && itrace.ptwrites && !itrace.errors);
}

TEST("letters for traces of other processors are accepted")
{
	struct itrace itrace = parsed("bTfmtaM");
	EXPECT(itrace.branches && itrace.virtual_time && itrace.first_level_cache && itrace.last_level_cache && itrace.tlb &&
		itrace.remote_access && itrace.memory && !itrace.timeless);
}

TEST("a period has a unit")
{
	struct itrace itrace = parsed("i7i");
	EXPECT_INT(itrace.unit, ITRACE_INSTRUCTIONS);
	EXPECT_INT(itrace.period, 7);
	itrace = parsed("i10us");
	EXPECT_INT(itrace.unit, ITRACE_NANOSECONDS);
	EXPECT_INT(itrace.period, 10000);
	EXPECT_INT(parsed("i3ms").period, 3000000);
	EXPECT_INT(parsed("i9ns").period, 9);
	EXPECT_INT(parsed("i5t").unit, ITRACE_TICKS);
	EXPECT_INT(parsed("i").period, 100000);
}

TEST("sizes of call chains and of branch stacks are bounded")
{
	struct itrace itrace;
	EXPECT_INT(parsed("ig32").call_chain_size, 32);
	EXPECT_INT(parsed("ig").call_chain_size, 0); /* all frames */
	EXPECT_INT(parsed("il1024").last_branch_size, 1024);
	EXPECT_INT(itrace_parse(&itrace, "ig1025", true, NULL), -1);
	EXPECT_INT(itrace_parse(&itrace, "il0", true, NULL), -1);
}

TEST("flags of errors follow e")
{
	struct itrace itrace = parsed("e-o");
	EXPECT(itrace.errors);
	EXPECT_INT(itrace.errors_hidden, 1 << ('o' - 'a'));
	EXPECT_INT(parsed("be+l").errors_shown, 1 << ('l' - 'a'));
}

TEST("a wrong letter, a unit that does not exist and a number that is too large are refused")
{
	struct itrace itrace;
	struct error err = { 0 };
	EXPECT_INT(itrace_parse(&itrace, "bK", true, &err), -1);
	EXPECT_STR(err.text, "--itrace: 'bK' is not understood at 'K'");
	EXPECT_INT(itrace_parse(&itrace, "i10x", true, NULL), -1);
	EXPECT_INT(itrace_parse(&itrace, "i99999999999999999999i", true, NULL), -1);
	EXPECT_INT(itrace_parse(&itrace, "i18446744073709551ms", true, NULL), -1);
}

TEST("a period without a unit at the end of the text is in ns")
{
	struct itrace itrace;
	EXPECT_INT(itrace_parse(&itrace, "yi1000", false, NULL), 0);
	EXPECT_INT(itrace.unit, ITRACE_NANOSECONDS);
	EXPECT_INT(itrace.period, 1000);
	EXPECT(itrace_parse(&itrace, "i1000y", false, NULL) < 0);
}

TEST("call chains are not shorter than the size after g, and have all frames without one")
{
	struct itrace itrace = parsed("ig128");
	EXPECT_INT(itrace_max_stack(&itrace, 127, false), 128);
	EXPECT_INT(itrace_max_stack(&itrace, 127, true), 128);
	EXPECT_INT(itrace_max_stack(&itrace, 129, true), 129);
	itrace = parsed("ig");
	EXPECT(itrace_max_stack(&itrace, 127, false) > 1024);
	EXPECT_INT(itrace_max_stack(&itrace, 5, true), 5);
	itrace = parsed("iG200");
	EXPECT_INT(itrace_max_stack(&itrace, 127, false), 127);
}

TEST("a flag of e or d is one letter behind a sign, and those of d are not those of e")
{
	struct itrace itrace = parsed("e-lq");
	EXPECT_INT(itrace.errors_hidden, 1 << ('l' - 'a'));
	EXPECT_INT(itrace.quick, 1);
	itrace = parsed("e-o+ld-a+o");
	EXPECT_INT(itrace.errors_hidden, 1 << ('o' - 'a'));
	EXPECT_INT(itrace.errors_shown, 1 << ('l' - 'a'));
	EXPECT(itrace.dump_log);
	struct error err = { 0 };
	EXPECT(itrace_parse(&itrace, "e-", true, &err) < 0);
}
