#include "cmd/commands.h"
#include "cmd/test_cli.h"
#include "os/test_child.h"

/* The candidates for the last word. */
static const char *words(struct test_cli *t, int count, const char *const *typed)
{
	const char *argv[12] = { "words", "--" };
	memcpy(argv + 2, typed, (size_t)count * sizeof *typed);
	EXPECT_INT(command_run(&t->cli, commands_find("completion"), count + 2, argv), 0);
	return test_cli_output(t);
}

#define WORDS(...) words(&t, (int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)), (const char *const[]){ __VA_ARGS__ })

TEST("completion offers commands, options, parts of commands and events where they can be typed")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_STR(WORDS("rec"), "record\trecord a profile of a command or of the system\n");
	EXPECT_STR(WORDS("--no-pager", "hel"), "help\tshow the commands, or the manual page of one\n");
	EXPECT_STR(WORDS("--pag"), "--paginate\t\n");
	EXPECT_STR(WORDS("help", "versio"), "version\tprint the version and the built-in features\n");
	EXPECT_STR(WORDS("check", ""), "feature\t\n");
	EXPECT_STR(WORDS("check", "feature", ""), "");
	EXPECT_STR(WORDS("check", "--qui"), "--quiet\tprint nothing: the exit code is the answer\n");
	EXPECT_STR(WORDS("daemon", "start", "--fore"), "--foreground\tstay in the foreground and print the log\n");
	EXPECT_STR(WORDS("daemon", "stop", "--fore"), "");
	if (!kernel_is_emulated()) { /* an emulator opens no events */
		EXPECT_STR(WORDS("record", "-e", "cpu-cloc"), "cpu-clock\tevent\n");
		EXPECT_STR(WORDS("stat", "-e", "{task-clock,cpu-cloc"), "{task-clock,cpu-clock\tevent\n");
	}
	EXPECT_STR(WORDS("record", "--", "rec"), "");
	EXPECT_STR(WORDS("nothing", "rec"), "");
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}

TEST("without words, completion offers all commands")
{
	struct test_cli t;
	test_cli_open(&t);
	const char *argv[] = { "words", NULL };
	EXPECT_INT(command_run(&t.cli, commands_find("completion"), 1, argv), 0);
	const char *text = test_cli_output(&t);
	size_t lines = 0;
	for (; *text; text++)
		lines += *text == '\n';
	EXPECT_INT(lines, commands_count());
	test_cli_close(&t);
}

TEST("the scripts have the name of the program; an unknown shell is a wrong command line")
{
	struct test_cli t;
	test_cli_open(&t);
	t.cli.program = "perf";
	for (const char *const *shell = (const char *const[]){ "bash", "fish", "zsh", NULL }; *shell; shell++) {
		const char *argv[] = { *shell, NULL };
		EXPECT_INT(command_run(&t.cli, commands_find("completion"), 1, argv), 0);
		const char *text = test_cli_output(&t);
		EXPECT(strstr(text, "completion words -- ") && strstr(text, "perf completion words") && !strstr(text, "@PROGRAM@"));
	}
	const char *argv[] = { "csh", NULL };
	EXPECT_INT(command_run(&t.cli, commands_find("completion"), 1, argv), EXIT_USAGE);
	EXPECT(strncmp(test_cli_messages(&t), "'csh' is not a shell", 20) == 0);
	test_cli_close(&t);
}
