#include "cmd/commands.h"
#include "cmd/test_cli.h"

static int check(struct test_cli *t, const char *a, const char *b, const char *c)
{
	const char *words[] = { a, b, c, NULL };
	int count = 0;
	while (words[count])
		count++;
	return command_run(&t->cli, commands_find("check"), count, words);
}

TEST("check prints each named feature, and its exit code says whether all are built in")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(check(&t, "feature", "zstd", NULL), 0);
	EXPECT_STR(test_cli_output(&t), "                  zstd: [ on  ]  # HAVE_ZSTD_SUPPORT\n");
	EXPECT_INT(check(&t, "feature", ",zstd,,HAVE_ZLIB_SUPPORT,", NULL), 0);
	EXPECT_STR(test_cli_output(&t), "                  zstd: [ on  ]  # HAVE_ZSTD_SUPPORT\n"
		"                  zlib: [ on  ]  # HAVE_ZLIB_SUPPORT\n");
	EXPECT_INT(check(&t, "feature", "libaudit,zstd", NULL), EXIT_NO);
	EXPECT_STR(test_cli_output(&t), "              libaudit: [ OFF ]  # HAVE_LIBAUDIT_SUPPORT\n"
		"                  zstd: [ on  ]  # HAVE_ZSTD_SUPPORT\n");
	EXPECT_INT(check(&t, "-q", "feature", "libaudit,zstd"), EXIT_NO);
	EXPECT_STR(test_cli_output(&t), "");
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}

TEST("check stops at a name that is no feature, and refuses other words")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(check(&t, "feature", "zst,zstd", NULL), EXIT_NO);
	EXPECT_STR(test_cli_output(&t), "");
	EXPECT(strncmp(test_cli_messages(&t), "Unknown feature 'zst', ", 23) == 0);
	EXPECT_INT(check(&t, "-q", "feature", "zst"), EXIT_NO);
	EXPECT_STR(test_cli_messages(&t), "");
	EXPECT_INT(check(&t, NULL, NULL, NULL), EXIT_USAGE);
	EXPECT_INT(check(&t, "features", "zstd", NULL), EXIT_USAGE);
	EXPECT_INT(check(&t, "feature", NULL, NULL), EXIT_USAGE);
	EXPECT_INT(check(&t, "feature", "zstd", "zlib"), EXIT_FAILED);
	test_cli_close(&t);
}
