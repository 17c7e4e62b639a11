#include "cmd/browse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/environment.h"
#include "cmd/own_program.h"
#include "os/file.h"
#include "render/tui/terminal.h"

bool browse_wanted(const struct cli *cli, const char *command, enum browse_choice choice, const char *input, struct error *err)
{
	struct stat st;
	char key[64];
	snprintf(key, sizeof key, "tui.%s", command);
	const char *value = config_get(cli->config, key);
	bool named = input && strcmp(input, "-") != 0;
	bool pipe = (input && !named) || ((named ? stat(input, &st) : fstat(STDIN_FILENO, &st)) == 0 && S_ISFIFO(st.st_mode));
	if (choice == BROWSE_NO)
		return false;
	if (choice == BROWSE_AUTO && (!cli->tty_out || pipe || environment_is_foreign() || (value && config_text_is_true(value) == 0)))
		return false;
	if (choice == BROWSE_YES && pipe) {
		error_set(err, ERROR_USAGE, "the browser reads a recording again when it is filtered: it needs a file, not a pipe");
		return false;
	}
	return terminal_usable(choice == BROWSE_YES ? err : &(struct error){ 0 });
}

static bool is_recording(int folder, const char *name)
{
	static const char magic[] = "PERFILE2";
	char start[sizeof magic - 1];
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && read(fd, start, sizeof start) == (ssize_t)sizeof start &&
		memcmp(start, magic, sizeof start) == 0;
	if (fd >= 0)
		close(fd);
	return is;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void browse_files(void *context, struct str *out)
{
	enum { ENTRIES_MAX = 10000, FILES_MAX = 200 };
	VEC(char *) names = { 0 };
	DIR *folder = opendir(".");
	for (int i = 0; folder && i < ENTRIES_MAX; i++) {
		const struct dirent *entry = readdir(folder);
		if (!entry)
			break;
		if (names.count < FILES_MAX && text_is_line(entry->d_name, strlen(entry->d_name)) && is_recording(dirfd(folder), entry->d_name))
			vec_push(&names, memory_string(entry->d_name));
	}
	if (folder)
		closedir(folder);
	if (names.count)
		qsort(names.items, names.count, sizeof *names.items, by_name);
	for (size_t i = 0; i < names.count; i++) {
		str_printf(out, "%s\n", names.items[i]);
		free(names.items[i]);
	}
	vec_fini(&names);
}

/* Runs this program and appends what it prints on stdout, at most 4 MB. words: NULL-terminated, the first is the program's name; input: its
 * standard input (-1: nothing); rest: the command that prints the rest, for the text that ends a longer output. */
static int run(const char *const *words, int input, const char *rest, struct str *out, struct error *err)
{
	enum { TEXT_MAX = 4 << 20 };
	char buffer[16384];
	int ends[2];
	pid_t pid;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_system(err, "pipe");
	int status = own_program_start(words, input, ends[1], &pid, err);
	close(ends[1]);
	for (ssize_t n; status == 0 && out->len < TEXT_MAX && (n = read(ends[0], buffer, sizeof buffer)) > 0;)
		str_add(out, buffer, (size_t)n);
	close(ends[0]);
	if (status < 0)
		return -1;
	if (out->len >= TEXT_MAX) {
		kill(pid, SIGTERM);
		str_printf(out, "\n... (%s prints all)\n", rest);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int browse_script(const char *path, const char *comm, struct str *out, struct error *err)
{
	/* a process chooses its name, which as a word would be a list, or name a file */
	const char *words[] = { "perfuse", "--no-pager", "script", "-i", path, comm ? "--comms" : NULL, "file:///proc/self/fd/0", NULL };
	CLEANUP_FD int names = comm ? memfd_create("names", MFD_CLOEXEC) : -1;
	if (comm && (names < 0 || !file_write(names, comm, strlen(comm)) || lseek(names, 0, SEEK_SET) != 0))
		return error_system(err, "cannot make a file in memory");
	if (run(words, names, "perfuse script", out, err) < 0)
		return -1;
	return out->len ? 0 : error_set(err, ERROR_USAGE, "there are no samples");
}
