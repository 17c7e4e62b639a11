#include "cmd/commands.h"
#include "cmd/test_cli.h"
#include "data/test_recording.h"
#include "image/test_folder.h"

static int list(struct test_cli *t, const char *path, const char *option)
{
	const char *words[] = { "-fi", path, option, NULL };
	return command_run(&t->cli, commands_find("buildid-list"), option ? 3 : 2, words);
}

TEST("buildid-list prints the table of a recording as text, CSV and JSON, and the exit code of damage")
{
	struct test_cli t;
	struct folder f;
	struct recording *r = recording_new(false);
	folder_open(&f);
	test_cli_open(&t);
	make_file(r);
	char path[PATH_MAX];
	strcpy(path, folder_write(&f, "perf.data", r->bytes, r->len));
	EXPECT_INT(list(&t, path, NULL), 0);
	EXPECT_STR(test_cli_output(&t), "4142434445464748494a4b4c4d4e4f5051525354 /bin/sleep\n");
	EXPECT_INT(list(&t, path, "--format=csv"), 0);
	const char *text = test_cli_output(&t);
	EXPECT(strstr(text, "4142434445464748494a4b4c4d4e4f5051525354,/bin/sleep") != NULL);
	EXPECT(strstr(text, "start") == NULL);
	EXPECT_INT(list(&t, path, "--format=json"), 0);
	EXPECT(strstr(test_cli_output(&t), "\"/bin/sleep\"") != NULL);
	EXPECT_STR(test_cli_messages(&t), "");
	EXPECT_INT(list(&t, folder_path(&f, "absent"), NULL), EXIT_FAILED);
	strcpy(path, folder_write(&f, "perf.data", r->bytes, r->len - 1));
	EXPECT_INT(list(&t, path, NULL), EXIT_DAMAGED);
	EXPECT_STR(test_cli_output(&t), "4142434445464748494a4b4c4d4e4f5051525354 /bin/sleep\n");
	test_cli_close(&t);
	free(r);
	folder_close(&f);
}
