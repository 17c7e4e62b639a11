#include "cmd/commands.h"
#include "cmd/test_cli.h"
#include "image/test_folder.h"

/* Runs `config` with a configuration of one file. */
static int configure(struct test_cli *t, const char *file, const char *a, const char *b)
{
	const char *words[] = { a, b, NULL }, *before = secure_getenv("PERF_CONFIG");
	char *saved = before ? strdup(before) : NULL;
	setenv("PERF_CONFIG", file, 1);
	int code = command_run(&t->cli, commands_find("config"), b ? 2 : a ? 1 : 0, words);
	if (saved)
		setenv("PERF_CONFIG", saved, 1);
	else
		unsetenv("PERF_CONFIG");
	free(saved);
	return code;
}

TEST("config sets values, prints one or all, and writes the file only if a value is set")
{
	struct test_cli t;
	struct folder f;
	folder_open(&f);
	test_cli_open(&t);
	char path[PATH_MAX];
	strcpy(path, folder_path(&f, "config"));
	EXPECT_INT(configure(&t, path, "a.b", NULL), 0);
	EXPECT(access(path, F_OK) != 0);
	EXPECT_INT(configure(&t, path, "a.B=1", "c.d.e=x y"), 0);
	EXPECT_STR(test_cli_output(&t), "");
	EXPECT_INT(configure(&t, path, "A.b", NULL), 0);
	EXPECT_STR(test_cli_output(&t), "a.b=1\n");
	EXPECT_INT(configure(&t, path, "a.b=2", "a.c=3"), 0);
	EXPECT_INT(configure(&t, path, "-l", NULL), 0);
	EXPECT_STR(test_cli_output(&t), "a.b=2\na.c=3\nc.d.e=x y\n");
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
	folder_close(&f);
}

TEST("config refuses keys without a section, empty values, and both files at once; nothing is written then")
{
	struct test_cli t;
	struct folder f;
	folder_open(&f);
	test_cli_open(&t);
	char path[PATH_MAX];
	strcpy(path, folder_path(&f, "config"));
	EXPECT_INT(configure(&t, path, "a=1", NULL), EXIT_FAILED);
	EXPECT_INT(configure(&t, path, "a.b=", NULL), EXIT_FAILED);
	EXPECT_INT(configure(&t, path, "a.b=1", "a=1"), EXIT_FAILED);
	EXPECT_INT(configure(&t, path, "--user", "--system"), EXIT_FAILED);
	EXPECT_INT(configure(&t, path, "--list", "a.b"), EXIT_USAGE);
	EXPECT(access(path, F_OK) != 0);
	EXPECT_STR(test_cli_output(&t), "");
	test_cli_close(&t);
	folder_close(&f);
}

TEST("config leaves a file that it cannot read whole")
{
	struct test_cli t;
	struct folder f;
	folder_open(&f);
	test_cli_open(&t);
	char path[PATH_MAX], text[32] = "";
	strcpy(path, folder_write(&f, "config", "[a]\nb = 1\nnonsense\n", 19));
	EXPECT_INT(configure(&t, path, "a.c=2", NULL), EXIT_FAILED);
	EXPECT(strstr(test_cli_messages(&t), "The file is unchanged") != NULL);
	FILE *file = fopen(path, "r");
	EXPECT(file && fread(text, 1, sizeof text, file) == 19);
	EXPECT_STR(text, "[a]\nb = 1\nnonsense\n");
	fclose(file);
	test_cli_close(&t);
	folder_close(&f);
}
