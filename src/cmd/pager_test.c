#include <fcntl.h>
#include <sys/wait.h>

#include "cmd/test_cli.h"
#include "image/test_folder.h"

/* Starts a pager in a process with the folder as its working folder, and writes to it. set: pairs of a variable or key and its value, then
 * NULL. Returns whether a pager was started. */
static int run(struct folder *f, const char *const *set, int use_pager, bool tty)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		static const struct command command = { .name = "record" };
		struct config config = { 0 };
		struct writer out;
		int null = open("/dev/null", O_WRONLY);
		struct cli cli = { .out = &out, .config = &config, .tty_out = tty, .use_pager = use_pager };
		unsetenv("PERF_PAGER");
		unsetenv("PAGER");
		for (; *set; set += 2) {
			if (strchr(*set, '.'))
				config_set(&config, CONFIG_USER, set[0], set[1]);
			else
				setenv(set[0], set[1], 1);
		}
		bool there = chdir(f->root) == 0;
		dup2(null, STDOUT_FILENO);
		writer_open(&out, STDOUT_FILENO, 64);
		cli_pager(&cli, &command);
		int started = cli.pager_pid != 0;
		writer_puts(&out, "two  words\n");
		writer_flush(&out, NULL);
		cli_pager_end(&cli);
		_exit(there ? started : 2);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_file(struct folder *f, const char *name, const char *want)
{
	char text[64] = "";
	int fd = open(folder_path(f, name), O_RDONLY);
	EXPECT(fd >= 0);
	ssize_t n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	EXPECT_STR(text, want);
	close(fd);
	unlink(folder_path(f, name));
}

#define SET(...) ((const char *const[]){ __VA_ARGS__ __VA_OPT__(,) NULL })

TEST("a pager of words is started as it is, one with other characters by a shell")
{
	struct folder f;
	folder_open(&f);
	EXPECT_INT(run(&f, SET("PERF_PAGER", "tee  paged"), 1, true), 1);
	expect_file(&f, "paged", "two  words\n");
	EXPECT_INT(run(&f, SET("PAGER", "sed s/two/2/ >paged"), 1, true), 1);
	expect_file(&f, "paged", "2  words\n");
	folder_close(&f);
}

TEST("the pager is the one of the command, then PERF_PAGER, then that of the configuration, then PAGER")
{
	static const char *const all[] = { "pager.record", "tee 1", "PERF_PAGER", "tee 2", "core.pager", "tee 3", "PAGER", "tee 4", NULL };
	struct folder f;
	folder_open(&f);
	for (int i = 0; i < 4; i++) {
		char name[] = { (char)('1' + i), '\0' };
		EXPECT_INT(run(&f, all + 2 * i, -1, true), 1);
		expect_file(&f, name, "two  words\n");
	}
	EXPECT_INT(run(&f, SET("pager.record", "on", "PAGER", "tee 5"), -1, true), 1);
	expect_file(&f, "5", "two  words\n");
	EXPECT_INT(run(&f, SET("pager.report", "tee 6", "PAGER", "tee 7"), -1, true), 1);
	expect_file(&f, "7", "two  words\n");
	folder_close(&f);
}

TEST("no pager is started without a terminal, where it is off, or for cat")
{
	struct folder f;
	folder_open(&f);
	EXPECT_INT(run(&f, SET("PERF_PAGER", "tee paged"), 1, false), 0);
	EXPECT_INT(run(&f, SET("PERF_PAGER", "tee paged"), 0, true), 0);
	EXPECT_INT(run(&f, SET("pager.record", "off", "PAGER", "tee paged"), -1, true), 0);
	EXPECT_INT(run(&f, SET("pager.record", "off", "PAGER", "cat"), 1, true), 0);
	EXPECT_INT(run(&f, SET("PERF_PAGER", "cat"), 1, true), 0);
	EXPECT_INT(run(&f, SET("PERF_PAGER", ""), 1, true), 0);
	EXPECT(access(folder_path(&f, "paged"), F_OK) != 0);
	folder_close(&f);
}
