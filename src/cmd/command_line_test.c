#include "cmd/command_line.h"

#include "cmd/test_cli.h"
#include "cmd/environment.h"

static void expect_name(const char *called, const char *program, const char *subcommand)
{
	const char *found = "unset";
	EXPECT_STR(program_name(called, &found), program);
	if (subcommand)
		EXPECT_STR(found, subcommand);
	else
		EXPECT(found == NULL);
}

TEST("the program's name is perf or perfuse, and may end with a subcommand")
{
	expect_name("perf", "perf", NULL);
	expect_name("/usr/bin/perf", "perf", NULL);
	expect_name("/perf/perfuse", "perfuse", NULL);
	expect_name("profiler", "perfuse", NULL);
	expect_name("", "perfuse", NULL);
	expect_name("perf-report", "perf", "report");
	expect_name("perfuse-report", "perfuse", "report");
	expect_name("./perf-annotate", "perf", "annotate");
	expect_name("trace", "perfuse", "trace");
	expect_name("perfuse-old", "perfuse", NULL);
	expect_name("perf-", "perf", NULL);
	expect_name("perfuse-", "perfuse", NULL);
	expect_name("perf_6.1", "perf", NULL);
}

static int run(struct test_cli *t, const char *a, const char *b, const char *c)
{
	const char *words[] = { a, b, c, NULL };
	return command_line_run(&t->cli, NULL, words);
}

TEST("options before the subcommand print, choose a command, or set what the commands see")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(run(&t, "--version", NULL, NULL), 0);
	EXPECT_STR(test_cli_output(&t), "perfuse version " PERFUSE_VERSION "\n");
	EXPECT_INT(run(&t, "-v", "report", "-h"), 0);
	EXPECT_STR(test_cli_output(&t), "perfuse version " PERFUSE_VERSION "\n");
	EXPECT_INT(run(&t, "-p", "version", NULL), 0);
	EXPECT_INT(t.cli.use_pager, 1);
	EXPECT_INT(run(&t, "--no-pager", "version", NULL), 0);
	EXPECT_INT(t.cli.use_pager, 0);
	EXPECT_INT(run(&t, "--debug=verbose=3", "version", NULL), 0);
	EXPECT_INT(t.cli.verbose, 3);
	EXPECT_INT(run(&t, "--debug", "verbose", "version"), 0);
	EXPECT_INT(t.cli.verbose, 1);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}

TEST("a wrong option before the subcommand is a usage error, and one without its value says which value is absent")
{
	struct test_cli t;
	test_cli_open(&t);
	static const char usage[] = "\n\n Usage: perfuse " PROGRAM_USAGE "\n";
	char want[256];
	EXPECT_INT(run(&t, "--nosuch", "version", NULL), 129);
	snprintf(want, sizeof want, "Unknown option: --nosuch%s", usage);
	EXPECT_STR(test_cli_messages(&t), want);
	EXPECT_INT(run(&t, "--versions", NULL, NULL), 129);
	EXPECT_INT(run(&t, "--version=1", NULL, NULL), 129);
	test_cli_messages(&t);
	EXPECT_INT(run(&t, "--memory", "1M", "version"), 129);
	snprintf(want, sizeof want, "--memory takes a size of at least 16 MiB, such as 512M or 2G%s", usage);
	EXPECT_STR(test_cli_messages(&t), want);
	EXPECT_INT(run(&t, "--buildid-dir", NULL, NULL), 129);
	snprintf(want, sizeof want, "No directory given for --buildid-dir.%s", usage);
	EXPECT_STR(test_cli_messages(&t), want);
	EXPECT_INT(run(&t, "--debug=verbos", "version", NULL), 129);
	snprintf(want, sizeof want, "Unknown option name 'verbos'%s", usage);
	EXPECT_STR(test_cli_messages(&t), want);
	EXPECT_STR(test_cli_output(&t), "");
	test_cli_close(&t);
}

TEST("a word that is no command names the nearest ones; a command of perf says that it is absent")
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(run(&t, "recort", NULL, NULL), 1);
	EXPECT_STR(test_cli_messages(&t), "perfuse: 'recort' is not a perfuse-command. See 'perfuse --help'.\n\nDid you mean one of these?\n"
		"\trecord\n\treport\n");
	EXPECT_INT(run(&t, "versio", NULL, NULL), 1);
	EXPECT_STR(test_cli_messages(&t), "perfuse: 'versio' is not a perfuse-command. See 'perfuse --help'.\n\nDid you mean this?\n\tversion\n");
	EXPECT_INT(run(&t, "c2c", NULL, NULL), 1);
	EXPECT(strstr(test_cli_messages(&t), "perf's command 'c2c' is not part of perfuse yet") != NULL);
	test_cli_close(&t);
}
