#include "cmd/commands.h"
#include "cmd/test_cli.h"
#include "data/test_recording.h"
#include "image/test_folder.h"

static int list(struct test_cli *t, const char *path, const char *a, const char *b)
{
	const char *words[] = { "-fi", path, a, b, NULL };
	return command_run(&t->cli, commands_find("evlist"), b ? 4 : a ? 3 : 2, words);
}

TEST("evlist prints an event a line, with its frequency or period, or a group a line")
{
	struct test_cli t;
	struct folder f;
	struct recording *r = recording_new(false);
	folder_open(&f);
	test_cli_open(&t);
	make_file(r);
	char path[PATH_MAX];
	strcpy(path, folder_write(&f, "perf.data", r->bytes, r->len));
	static const char tip[] = "# Tip: use 'perfuse evlist -g' to show group information\n";
	CLEANUP_STR struct str want = { 0 };
	EXPECT_INT(list(&t, path, NULL, NULL), 0);
	str_printf(&want, "cpu-clock\ntask-clock\n%s", tip);
	EXPECT_STR(test_cli_output(&t), str_text(&want));
	EXPECT_INT(list(&t, path, "-F", NULL), 0);
	str_clear(&want);
	str_printf(&want, "cpu-clock: sample_period=1000\ntask-clock: sample_period=1001\n%s", tip);
	EXPECT_STR(test_cli_output(&t), str_text(&want));
	EXPECT_INT(list(&t, path, "-g", NULL), 0);
	EXPECT_STR(test_cli_output(&t), "both{cpu-clock,task-clock}\n");
	EXPECT_INT(list(&t, path, "-F", "--trace-fields"), 0);
	EXPECT(strncmp(test_cli_output(&t), "cpu-clock: sample_period=1000, (not a tracepoint)\n", 50) == 0);
	EXPECT_INT(list(&t, path, "-g", "-v"), EXIT_USAGE);
	test_cli_close(&t);
	free(r);
	folder_close(&f);
}

TEST("evlist of a stream prints names made of the attributes, and a file that cannot be opened has its exit code")
{
	struct test_cli t;
	struct folder f;
	struct recording *r = recording_new(false);
	folder_open(&f);
	test_cli_open(&t);
	make_stream(r);
	EXPECT_INT(list(&t, folder_write(&f, "perf.data", r->bytes, r->len - 1), NULL, NULL), 0);
	EXPECT_STR(test_cli_output(&t), "cpu-clock:HG\ntask-clock:HG\n");
	EXPECT_STR(test_cli_messages(&t), "");
	EXPECT_INT(list(&t, folder_path(&f, "absent"), NULL, NULL), EXIT_FAILED);
	EXPECT(test_cli_messages(&t)[0] != '\0');
	test_cli_close(&t);
	free(r);
	folder_close(&f);
}
