#include "cmd/progress.h"

#include "cmd/test_cli.h"

enum { LONG_AGO = 1 };

TEST("progress is watched only if stderr is a terminal that no pager has")
{
	struct cli cli = { 0 };
	struct progress progress;
	struct session_options options = { 0 };
	progress_watch(&progress, &cli, "x", &options);
	EXPECT(!options.progress);
	cli.tty_err = true;
	cli.pager_pid = 7;
	progress_watch(&progress, &cli, "x", &options);
	EXPECT(!options.progress);
	cli.pager_pid = 0;
	progress_watch(&progress, &cli, "x", &options);
	EXPECT(options.progress && options.progress_context == &progress);
}

TEST("a short read shows nothing, a long one its share or size, which disappears at the end")
{
	struct test_cli t;
	struct progress progress;
	struct session_options options = { 0 };
	test_cli_open(&t);
	t.cli.tty_err = true;
	progress_watch(&progress, &t.cli, "/d/x\033.data", &options);
	options.progress(&progress, 1, 100);
	options.progress(&progress, 100, 100);
	EXPECT_STR(test_cli_messages(&t), "");
	progress.started_ns = LONG_AGO;
	options.progress(&progress, 2999999, 100000000);
	EXPECT_STR(test_cli_messages(&t), "\r\033[Kreading /d/x?.data:   2% of 100.0 MB");
	options.progress(&progress, 99999999, 100000000);
	EXPECT_STR(test_cli_messages(&t), "\r\033[Kreading /d/x?.data:  99% of 100.0 MB");
	options.progress(&progress, 2500000, 0);
	EXPECT_STR(test_cli_messages(&t), "\r\033[Kreading /d/x?.data: 2.5 MB");
	options.progress(&progress, 5, 5);
	EXPECT_STR(test_cli_messages(&t), "\r\033[K");
	options.progress(&progress, 5, 5);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}
