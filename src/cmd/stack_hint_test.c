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

TEST("the remark on joined stacks has a share if the chains are known, and lists ten functions")
{
	struct test_cli t;
	struct joined_function functions[11] = { { .module = MODULE_ID_NONE, .address = 0x1000, .samples = 6 } };
	struct profile profile = { 0 };
	test_cli_open(&t);
	joined_remark(&t.cli, &profile, 8);
	EXPECT_STR(test_cli_messages(&t), "");
	profile.joined.samples = 8;
	joined_remark(&t.cli, &profile, 8);
	EXPECT(strncmp(test_cli_messages(&t), "8 of 8 stacks (100.0%) were deeper", 34) == 0);
	joined_remark(&t.cli, &profile, 7);
	EXPECT(strncmp(test_cli_messages(&t), "8 stacks were deeper", 20) == 0);
	for (unsigned i = 1; i < 11; i++)
		functions[i] = (struct joined_function){ .module = MODULE_ID_NONE, .address = 0x1000 + i, .samples = 1 };
	profile.joined.items = functions;
	profile.joined.count = 10;
	joined_remark(&t.cli, &profile, 8);
	const char *text = test_cli_messages(&t);
	EXPECT(strstr(text, "  0x1000: 6 stacks (75.0%)\n") != NULL);
	EXPECT(strstr(text, "  0x1009: 1 stacks (12.5%)\n") != NULL && strstr(text, "more functions") == NULL);
	profile.joined.count = 11;
	joined_remark(&t.cli, &profile, 8);
	text = test_cli_messages(&t);
	EXPECT(strstr(text, "0x100a") == NULL && strstr(text, "  and 1 more functions") != NULL);
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
