#include "cmd/stack_hint.h"

#include "cmd/test_cli.h"

TEST("the hint on short stacks needs 100 chains, a quarter of them short, and a reader")
{
	struct test_cli t;
	test_cli_open(&t);
	stack_hint(&t.cli, false, 100, 100);
	EXPECT_STR(test_cli_messages(&t), "");
	stack_hint(&t.cli, true, 99, 99);
	EXPECT_STR(test_cli_messages(&t), "");
	stack_hint(&t.cli, true, 100, 24);
	EXPECT_STR(test_cli_messages(&t), "");
	stack_hint(&t.cli, true, 100, 25);
	EXPECT(strncmp(test_cli_messages(&t), "Hint: 25% of the user stacks end after one or two frames", 56) == 0);
	t.cli.tty_err = true;
	stack_hint(&t.cli, false, 1000, 999);
	EXPECT(strncmp(test_cli_messages(&t), "Hint: 99% of", 12) == 0);
	stack_hint(&t.cli, true, 0, 0);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}

TEST("the remark on joined stacks has a share if the chains are known")
{
	struct test_cli t;
	test_cli_open(&t);
	joined_remark(&t.cli, 8, 0);
	EXPECT_STR(test_cli_messages(&t), "");
	joined_remark(&t.cli, 8, 8);
	EXPECT(strncmp(test_cli_messages(&t), "8 of 8 stacks (100.0%) were deeper", 34) == 0);
	joined_remark(&t.cli, 7, 8);
	EXPECT(strncmp(test_cli_messages(&t), "8 stacks were deeper", 20) == 0);
	test_cli_close(&t);
}

TEST("--stitch-lbr without call stacks of branches has a warning, unless a pipe's events are not known yet")
{
	struct test_cli t;
	struct header header = { 0 };
	struct attr attr = { .type = ATTR_HARDWARE };
	test_cli_open(&t);
	evlist_add(&header.evlist, &attr, NULL, 0, NULL);
	stitching_warn(&t.cli, &header);
	EXPECT(strstr(test_cli_messages(&t), "--stitch-lbr does nothing") != NULL);
	header.pipe = true;
	stitching_warn(&t.cli, &header);
	EXPECT_STR(test_cli_messages(&t), "");
	header.pipe = false;
	attr.branch_sample_type = BRANCH_CALL_STACK;
	evlist_add(&header.evlist, &attr, NULL, 0, NULL);
	stitching_warn(&t.cli, &header);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
	evlist_fini(&header.evlist);
}
