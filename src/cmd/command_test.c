#include "cmd/command.h"

#include "cmd/test_cli.h"

static void expect_named(const char *program, const char *text, const char *want)
{
	CLEANUP_STR struct str named = { 0 };
	struct cli cli = { .program = program };
	cli_named(&cli, &named, text);
	EXPECT_STR(str_text(&named), want);
}

TEST("commands in a text get the name by which the program was called")
{
	expect_named("perf", "'perf record' and perf report", "'perf record' and perf report");
	expect_named("perfuse", "perf record", "perfuse record");
	expect_named("perfuse", "'perf record', then perf report", "'perfuse record', then perfuse report");
	expect_named("perfuse", "perf recorder", "perf recorder");
	expect_named("perfuse", "perf dates", "perf dates");
	expect_named("perfuse", "myperf record", "myperf record");
	expect_named("perfuse", "/usr/bin/perf record", "/usr/bin/perf record");
	expect_named("perfuse", "[ perf record: Woken up", "[ perf record: Woken up");
	expect_named("perfuse", "perf ", "perf ");
	expect_named("perfuse", "", "");
}

struct test_options {
	const char *word;
	int number;
	bool flag;
};

static const struct option test_table[] = {
	OPT_STRING('w', "word", struct test_options, word, "text", "a word"),
	OPT_INT('n', "number", struct test_options, number, "a number"),
	OPT_BOOL('f', "flag", struct test_options, flag, "a flag"),
	OPT_END(),
};

static void test_defaults(void *filled, const struct cli *cli)
{
	*(struct test_options *)filled = (struct test_options){ .word = cli->program, .number = 7 };
}

static int test_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct test_options *options = filled;
	writer_printf(cli->out, "%s %d %d %d %s", options->word, options->number, options->flag, argc, argc ? argv[argc - 1] : "-");
	return 40 + argc;
}

static const char *const test_usage[] = { "perf test [<options>]", NULL };
static const char *const test_subcommands[] = { "first", "second", NULL };
static const struct command test_command = { .name = "test", .usage = test_usage, .options = test_table,
	.options_size = sizeof(struct test_options), .defaults = test_defaults, .run = test_run, .subcommands = test_subcommands };

static int run(struct test_cli *t, const char *a, const char *b, const char *c)
{
	const char *words[] = { a, b, c, NULL };
	int count = 0;
	while (words[count])
		count++;
	return command_run(&t->cli, &test_command, count, words);
}

TEST("a command gets its defaults, its options, and the words that are left")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(run(&t, NULL, NULL, NULL), 40);
	EXPECT_STR(test_cli_output(&t), "perfuse 7 0 0 -");
	EXPECT_INT(run(&t, "-fn8", "--word=x", "last"), 41);
	EXPECT_STR(test_cli_output(&t), "x 8 1 1 last");
	EXPECT_INT(run(&t, "one", "--no-flag", "two"), 42);
	EXPECT_STR(test_cli_output(&t), "perfuse 7 0 2 two");
	test_cli_close(&t);
}

TEST("wrong options and -h show the usage and exit with 129, lists exit with 130")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(run(&t, "--nosuch", NULL, NULL), 129);
	EXPECT(strstr(test_cli_messages(&t), "Usage: perfuse test [<options>]") != NULL);
	EXPECT_INT(run(&t, "-n", "x", NULL), 129);
	const char *said = test_cli_messages(&t);
	EXPECT(strstr(said, "--number <n>") != NULL);
	EXPECT(strstr(said, "--flag") == NULL);
	EXPECT_INT(run(&t, "-h", NULL, NULL), 129);
	said = test_cli_messages(&t);
	EXPECT(strstr(said, "--number <n>") != NULL && strstr(said, "--flag") != NULL);
	EXPECT_INT(run(&t, "--list-opts", NULL, NULL), 130);
	EXPECT_STR(test_cli_output(&t), "--word --number --flag \n");
	EXPECT_INT(run(&t, "--list-cmds", NULL, NULL), 130);
	EXPECT_STR(test_cli_output(&t), "first second \n");
	test_cli_close(&t);
}

TEST("a message is one line with its hint on another, and foreign bytes in it are made harmless")
{
	struct test_cli t;
	struct error err = { 0 };
	test_cli_open(&t);
	error_set(&err, ERROR_USAGE, "cannot read \033[31mx");
	error_hint(&err, "perf record writes it");
	EXPECT_INT(cli_complain(&t.cli, &err), 1);
	EXPECT_STR(test_cli_messages(&t), "cannot read ?[31mx\nperfuse record writes it\n");
	cli_warn(&t.cli, "%s is %d", "a\nb", 2);
	EXPECT_STR(test_cli_messages(&t), "a?b is 2\n");
	cli_warn(&t.cli, "%s", "a\nb\tc\007");
	EXPECT_STR(test_cli_messages(&t), "a\nb\tc?\n");
	test_cli_close(&t);
}
