#include "cmd/browse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/environment.h"
#include "os/written_file.h"
#include "render/format/format.h"
#include "render/svg/flame_svg.h"
#include "render/text/folded.h"
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

void browse_signals_block(sigset_t *old)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

void browse_signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

void browse_messages_begin(struct browse_messages *messages)
{
	fflush(stderr);
	messages->memory = memfd_create("messages", MFD_CLOEXEC);
	messages->stderr_fd = messages->memory < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (messages->stderr_fd >= 0)
		dup2(messages->memory, STDERR_FILENO);
}

enum { MESSAGES_MAX = 64 << 10 };

void browse_messages_text(const struct browse_messages *messages, struct str *out)
{
	char buffer[4096];
	fflush(stderr);
	for (off_t at = 0; messages->memory >= 0 && out->len < MESSAGES_MAX;) {
		ssize_t n = pread(messages->memory, buffer, sizeof buffer, at);
		if (n <= 0)
			break;
		str_add(out, buffer, (size_t)n);
		at += n;
	}
}

void browse_messages_end(struct browse_messages *messages)
{
	CLEANUP_STR struct str text = { 0 };
	browse_messages_text(messages, &text);
	if (messages->stderr_fd >= 0) {
		dup2(messages->stderr_fd, STDERR_FILENO);
		close(messages->stderr_fd);
	}
	if (messages->memory >= 0)
		close(messages->memory);
	if (text.len && write(STDERR_FILENO, text.text, text.len) < 0)
		return; /* the terminal is gone */
}

/* A row of a flame graph's snapshot, as a frame of the builder, with its own weight. */
static void add_frames(struct flame_builder *builder, const struct snapshot *shot, uint32_t root)
{
	size_t shares = snapshot_column_of_kind(&shot->columns, CELL_SHARE), names = snapshot_column_named(&shot->columns, "name");
	size_t modules = snapshot_column_named(&shot->columns, "module"), kinds = snapshot_column_named(&shot->columns, "kind");
	uint32_t *nodes = memory_zero(shot->rows.count, sizeof *nodes);
	for (uint32_t row = root; row < shot->rows.count; row++) {
		const struct snapshot_row *at = &shot->rows.items[row];
		const char *kind = snapshot_cell(shot, row, kinds)->text, *module = snapshot_cell(shot, row, modules)->text;
		uint64_t below = 0, weight = snapshot_cell(shot, row, shares)->share.part;
		if (row != root && !nodes[at->parent] && at->parent != root)
			continue;
		for (uint32_t i = 0; i < at->child_count; i++)
			below += snapshot_cell(shot, at->first_child + i, shares)->share.part;
		if (at->depth == 0) { /* "all": the builder has a separate root */
			flame_builder_add(builder, STACK_ROOT, weight - below, 0);
			continue;
		}
		nodes[row] = flame_builder_push(builder, row == root || at->depth == 1 ? STACK_ROOT : nodes[at->parent],
			flame_builder_frame(builder, snapshot_cell(shot, row, names)->text, module ? module : "",
				kind && strcmp(kind, "kernel") == 0 ? FLAME_KERNEL : kind && strcmp(kind, "inline") == 0 ? FLAME_INLINE
				: kind && strcmp(kind, "jit") == 0 ? FLAME_JIT : kind && strcmp(kind, "task") == 0 ? FLAME_TASK
				: kind && strcmp(kind, "unknown") == 0 ? FLAME_UNKNOWN : FLAME_USER));
		if (weight > below)
			flame_builder_add(builder, nodes[row], weight - below, 0);
	}
	free(nodes);
}

static void write_flame(const struct browse_export *what, struct writer *out)
{
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	add_frames(&builder, what->flame, what->flame_root);
	flame_tree_make(&tree, &builder, 1);
	if (what->format == BROWSE_SVG)
		flame_svg_write(out, &tree, &(struct flame_svg){ .title = "Flame graph", .facts = "" });
	else
		folded_write(out, &tree);
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
}

static void write_export(const struct browse_export *what, struct writer *out)
{
	if (what->format == BROWSE_TEXT) {
		writer_puts(out, what->text);
	} else if (what->format == BROWSE_SVG || what->format == BROWSE_FOLDED) {
		write_flame(what, out);
	} else {
		const struct results results = { .schema = "perfuse.browser", .version = 1, .tables = what->table, .table_count = 1 };
		format_find(what->format == BROWSE_JSON ? "json" : "csv", NULL)->print(&results, out);
	}
}

int browse_save(void *context, const struct browse_export *what, struct str *path, struct error *err)
{
	enum { FILES_MAX = 10000 };
	static const char *const endings[BROWSE_FORMATS] = { "", ".json", ".csv", ".svg", ".folded" };
	struct written_file file;
	for (int i = 0; i < FILES_MAX; i++) {
		str_clear(path);
		str_printf(path, "perf.hist.%d%s", i, endings[what->format]);
		if (faccessat(AT_FDCWD, str_text(path), F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			break;
	}
	if (written_open(&file, str_text(path), err) < 0)
		return -1;
	write_export(what, &file.out);
	int result = written_keep(&file, str_text(path), err);
	written_drop(&file);
	return result;
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

/* Reads what a program prints, and ends it where that is enough. */
static int run_program(char *const *words, struct str *out, struct error *err)
{
	enum { TEXT_MAX = 4 << 20 };
	extern char **environ;
	char buffer[16384];
	int ends[2];
	pid_t pid;
	posix_spawn_file_actions_t actions;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_system(err, "pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	int code = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	for (ssize_t n; code == 0 && out->len < TEXT_MAX && (n = read(ends[0], buffer, sizeof buffer)) > 0;)
		str_add(out, buffer, (size_t)n);
	close(ends[0]);
	if (code) {
		errno = code;
		return error_system(err, "cannot start %s", words[0]);
	}
	if (out->len >= TEXT_MAX) {
		kill(pid, SIGTERM);
		str_puts(out, "\n... (perfuse script prints all samples)\n");
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int browse_script(const char *path, const char *comm, struct str *out, struct error *err)
{
	char *words[] = { (char *)"perfuse", (char *)"--no-pager", (char *)"script", (char *)"-i", (char *)path, comm ? (char *)"--comms" : NULL,
		(char *)comm, NULL };
	if (run_program(words, out, err) < 0)
		return -1;
	return out->len ? 0 : error_set(err, ERROR_USAGE, "there are no samples");
}
