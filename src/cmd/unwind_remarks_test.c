#include "cmd/unwind_remarks.h"

#include <stdlib.h>

#include "cmd/test_cli.h"

TEST("stacks that were unwound whole have no remark")
{
	struct test_cli t;
	struct session session = { .counters.unwind = { .stacks = 9, .frames = 99 } };
	test_cli_open(&t);
	unwind_remarks(&t.cli, &session);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}

TEST("each way in which stacks ended early has a remark; joined ones are not cut")
{
	struct test_cli t;
	struct session session = { .counters.unwind = { .stacks = 9, .guessed_stacks = 1, .guessed_frames = 2, .joined = 3 } };
	uint64_t *ends = session.counters.unwind.ends;
	ends[UNWIND_CUT] = 3;
	test_cli_open(&t);
	unwind_remarks(&t.cli, &session);
	const char *said = test_cli_messages(&t);
	EXPECT(strstr(said, "are cut") == NULL);
	EXPECT(strncmp(said, "3 of 9 stacks were cut, and continue ", 37) == 0);
	EXPECT(strstr(said, "\n1 of 9 stacks are guessed in part (2 frames)") != NULL);
	ends[UNWIND_CUT] = 4;
	ends[UNWIND_SWITCHED] = 5;
	ends[UNWIND_NO_MAP] = 1;
	ends[UNWIND_NO_RULE] = 2;
	ends[UNWIND_BAD_RULE] = 3;
	unwind_remarks(&t.cli, &session);
	said = test_cli_messages(&t);
	EXPECT(strncmp(said, "1 of 9 stacks are cut: ", 23) == 0);
	EXPECT(strstr(said, "or complete them by others with --join-stacks.\n5 of 9 stacks end where another stack continues") != NULL);
	EXPECT(strstr(said, "\n6 of 9 stacks end early: ") != NULL);
	test_cli_close(&t);
}
