#include "record/write/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/checked.h"
#include "os/place.h"

enum { OLD_NAME_MAX = 264 };

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool stdout_is_pipe(void)
{
	struct stat st;
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool is_recording_folder(int at, const char *name)
{
	struct stat st;
	CLEANUP_FD int folder = openat(at, name, FOLDER_FLAGS);
	return folder >= 0 && fstatat(folder, "data", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static bool is_data(const char *name)
{
	size_t len = strlen("data.");
	return strcmp(name, "data") == 0 ||
	       (strncmp(name, "data.", len) == 0 && name[len] && !name[len + strspn(name + len, "0123456789")]);
}

/* Removes the files of a recording, and the folder if it is empty then. */
static int remove_folder(int at, const char *name)
{
	static const char *const kernel[] = { "kcore", "kallsyms", "modules" };
	CLEANUP_NAMES struct names names = { 0 };
	CLEANUP_FD int folder = openat(at, name, FOLDER_FLAGS);
	if (folder < 0 || checked_names(folder, NULL, &names, NULL) < 0)
		return -1;
	for (size_t i = 0; i < names.list.count; i++)
		if (is_data(names.list.items[i]))
			unlinkat(folder, names.list.items[i], 0);
	CLEANUP_FD int kcore = openat(folder, "kcore_dir", FOLDER_FLAGS);
	for (unsigned i = 0; kcore >= 0 && i < sizeof kernel / sizeof *kernel; i++)
		unlinkat(kcore, kernel[i], 0);
	if (kcore >= 0)
		unlinkat(folder, "kcore_dir", AT_REMOVEDIR);
	return unlinkat(at, name, AT_REMOVEDIR);
}

static int old_name(const struct output *output, char old[static OLD_NAME_MAX], struct error *err)
{
	snprintf(old, OLD_NAME_MAX, "%s.old", output->name);
	return strlen(old) < sizeof output->name ? 0 : error_set(err, ERROR_LIMIT, "the name %s is too long", old);
}

/* Renames an older recording, or removes an empty file of another user. 1: an empty file of the user remains, as a reader may have it
 * open. */
static int move_aside(struct output *output, const struct place *place, struct error *err)
{
	struct stat st = { 0 };
	char old[OLD_NAME_MAX];
	bool folder = place->kind == PLACE_FOLDER;
	if (folder && !is_recording_folder(output->at, output->name))
		return error_set(err, ERROR_USAGE, "%s is a folder, and no recording", output->path);
	bool empty = !folder && (fstatat(output->at, output->name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_size == 0);
	if (empty && !output->folder && !place->foreign && st.st_nlink == 1)
		return 1;
	if (empty)
		return unlinkat(output->at, output->name, 0) == 0 || errno == ENOENT ? 0 : error_system(err, "cannot replace %s", output->path);
	if (old_name(output, old, err) < 0)
		return -1;
	if (is_recording_folder(output->at, old))
		remove_folder(output->at, old);
	else if (folder)
		unlinkat(output->at, old, 0);
	if (renameat(output->at, output->name, output->at, old) != 0)
		return error_system(err, "cannot rename %s to %s.old", output->path, output->path);
	output->renamed = true;
	return 0;
}

bool output_is_pipe(const char *path)
{
	return path ? strcmp(path, "-") == 0 : stdout_is_pipe();
}

static void close_folders(struct output *output)
{
	if (output->inside >= 0)
		close(output->inside);
	if (output->at >= 0)
		close(output->at);
	output->inside = output->at = -1;
}

static int fail(struct output *output, struct error *err)
{
	error_system(err, "failed to open %s ", output->path);
	output_discard(output);
	return -1;
}

/* O_EXCL: another user cannot have put a file under this name. */
static int make_file(struct output *output, struct error *err)
{
	output->fd = openat(output->at, output->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	output->made = output->fd >= 0;
	return output->made ? 0 : fail(output, err);
}

static int make_folder(struct output *output, struct error *err)
{
	struct stat st;
	output->made = mkdirat(output->at, output->name, S_IRWXU) == 0;
	if (!output->made)
		return fail(output, err);
	output->inside = openat(output->at, output->name, FOLDER_FLAGS);
	errno = output->inside < 0 ? errno : EPERM;
	if (output->inside < 0 || fstat(output->inside, &st) != 0 || st.st_uid != geteuid())
		return fail(output, err);
	output->fd = openat(output->inside, "data", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	return output->fd < 0 ? fail(output, err) : 0;
}

static int make(struct output *output, const struct place *place, bool folder, struct error *err)
{
	bool regular = place->kind == PLACE_NEW || place->kind == PLACE_FILE || place->kind == PLACE_FOLDER;
	if (!regular && folder)
		return error_set(err, ERROR_USAGE, "%s is no folder", output->path);
	int stays = !regular ? 1 : place->kind == PLACE_NEW ? 0 : move_aside(output, place, err);
	if (stays < 0)
		return -1;
	if (stays) {
		output->fd = place_open(place, output->path, O_RDWR, S_IRUSR | S_IWUSR, err);
		output->made = regular && output->fd >= 0;
		return output->fd < 0 ? -1 : 0;
	}
	return folder ? make_folder(output, err) : make_file(output, err);
}

static int open_as(struct output *output, const char *path, bool folder, struct error *err)
{
	struct place place;
	*output = (struct output){ .fd = -1, .at = -1, .inside = -1, .folder = folder };
	output->pipe = output_is_pipe(path);
	if (output->pipe) {
		output->fd = STDOUT_FILENO;
		return 0;
	}
	if ((size_t)snprintf(output->path, sizeof output->path, "%s", path ? path : "perf.data") >= sizeof output->path)
		return error_set(err, ERROR_LIMIT, "the name of the recording is too long");
	if (place_find(&place, output->path, err) < 0)
		return -1;
	output->at = place.folder;
	memcpy(output->name, place.name, sizeof output->name);
	if (make(output, &place, folder, err) == 0)
		return 0;
	close_folders(output);
	return -1;
}

int output_open(struct output *output, const char *path, struct error *err)
{
	return open_as(output, path, false, err);
}

int output_open_folder(struct output *output, const char *path, struct error *err)
{
	return open_as(output, path, true, err);
}

int output_part(int inside, size_t index, struct error *err)
{
	char name[32];
	snprintf(name, sizeof name, "data.%zu", index);
	int fd = openat(inside, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	return fd < 0 ? error_system(err, "failed to open %s", name) : fd;
}

void output_discard(struct output *output)
{
	char old[OLD_NAME_MAX];
	if (output->pipe)
		return;
	if (output->made && output->folder)
		remove_folder(output->at, output->name);
	else if (output->made)
		unlinkat(output->at, output->name, 0);
	output->made = false;
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	if (output->renamed && old_name(output, old, NULL) == 0 && renameat(output->at, old, output->at, output->name) == 0)
		output->renamed = false;
	close_folders(output);
}

int output_close(struct output *output, struct error *err)
{
	int failed = !output->pipe && output->fd >= 0 && close(output->fd) != 0 && errno != EINTR;
	output->fd = -1;
	if (failed)
		return error_system(err, "cannot write %s", output->path);
	close_folders(output);
	return 0;
}

int output_rename(struct output *output, const char *suffix, struct error *err)
{
	char name[sizeof output->name + 64];
	size_t len = strlen(output->path);
	snprintf(name, sizeof name, "%s%.63s", output->name, suffix);
	if (strlen(name) >= sizeof output->name || strlen(suffix) >= sizeof output->path - len)
		return error_set(err, ERROR_LIMIT, "the name %s is too long", name);
	int failed = renameat2(output->at, output->name, output->at, name, RENAME_NOREPLACE);
	if (failed && errno == EINVAL) /* a file system without this flag */
		failed = renameat(output->at, output->name, output->at, name);
	if (failed && errno == EEXIST)
		return OUTPUT_NAME_TAKEN;
	if (failed)
		return error_system(err, "cannot rename %s to %s%s", output->path, output->path, suffix);
	strcpy(output->name, name);
	strcpy(output->path + len, suffix);
	return 0;
}

void output_remove(const struct output *output, const char *path)
{
	const char *slash = strrchr(path, '/');
	unlinkat(output->at, slash ? slash + 1 : path, 0);
}
