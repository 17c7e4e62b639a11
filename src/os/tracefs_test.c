#include "os/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/test_child.h"
#include "unit.h"

/* Skips the test where tracepoints cannot be read. */
static bool readable(void)
{
	char path[128];
	const char *root = tracefs_path();
	snprintf(path, sizeof path, "%s/events/sched/sched_switch/id", root ? root : "");
	if (root && access(path, R_OK) == 0)
		return true;
	unit_skip("this user cannot read the tracepoint sched_switch; root can where tracefs is mounted");
	return false;
}

static bool has(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->list.count; i++)
		if (strcmp(names->list.items[i], name) == 0)
			return true;
	return false;
}

/* The folders in a folder. */
static size_t count_folders(const char *path)
{
	size_t count = 0;
	DIR *dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		count += entry->d_type == DT_DIR && entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

TEST("systems and events are the folders of tracefs, and each event has the id in its file")
{
	CLEANUP_NAMES struct names systems = { 0 }, events = { 0 };
	struct error err = { 0 };
	char path[128];
	if (!readable())
		return;
	EXPECT_INT(tracefs_systems(&systems, &err), 0);
	EXPECT(has(&systems, "sched") && !has(&systems, "enable") && !has(&systems, "header_page") && !has(&systems, "header_event"));
	EXPECT_INT(tracefs_events("sched", &events, &err), 0);
	EXPECT(has(&events, "sched_switch") && has(&events, "sched_wakeup") && !has(&events, "enable") && !has(&events, "filter"));
	snprintf(path, sizeof path, "%s/events/sched", tracefs_path());
	EXPECT_INT(events.list.count, count_folders(path));
	for (size_t i = 0; i < events.list.count; i++) {
		char file[256];
		int64_t want = 0;
		uint64_t id = 0;
		snprintf(file, sizeof file, "%s/%s/id", path, events.list.items[i]);
		EXPECT(file_number(file, &want));
		EXPECT_INT(tracefs_id("sched", events.list.items[i], &id, &err), 0);
		EXPECT_INT(id, want);
	}
}

TEST("the list of a system is sorted, has ids if they are asked for, and leaves out what is no tracepoint")
{
	struct tracefs_list with = { 0 }, without = { 0 }, other = { 0 };
	CLEANUP_NAMES struct names events = { 0 };
	if (!readable())
		return;
	EXPECT_INT(tracefs_events("sched", &events, NULL), 0);
	EXPECT_INT(tracefs_list("sched", true, &with, NULL), 0);
	EXPECT_INT(tracefs_list("sched", false, &without, NULL), 0);
	EXPECT_INT(with.list.count, events.list.count);
	EXPECT_INT(without.list.count, events.list.count);
	for (size_t i = 0; i < with.list.count && i < without.list.count; i++) {
		uint64_t id = 0;
		EXPECT_STR(with.list.items[i].name, without.list.items[i].name);
		EXPECT(!i || strcmp(with.list.items[i - 1].name, with.list.items[i].name) < 0);
		EXPECT(tracefs_id("sched", with.list.items[i].name, &id, NULL) == 0 && id == with.list.items[i].id);
		EXPECT_INT(without.list.items[i].id, 0);
	}
	/* its events cannot be enabled: some have an id */
	EXPECT_INT(tracefs_list("ftrace", false, &other, NULL), 0);
	for (size_t i = 0; i < other.list.count; i++) {
		uint64_t id = 0;
		EXPECT_INT(tracefs_id("ftrace", other.list.items[i].name, &id, NULL), 0);
	}
	tracefs_list_fini(&with);
	tracefs_list_fini(&without);
	tracefs_list_fini(&other);
}

TEST("a format is read; what does not exist is an error that names it")
{
	CLEANUP_STR struct str text = { 0 };
	struct tracefs_list list = { 0 };
	CLEANUP_NAMES struct names events = { 0 };
	struct error err = { 0 };
	uint64_t id = 7;
	char want[256];
	if (!readable())
		return;
	EXPECT_INT(tracefs_read("events/sched/sched_switch/format", &text, &err), 0);
	EXPECT(strncmp(str_text(&text), "name: sched_switch\nID: ", 23) == 0);
	EXPECT(tracefs_id("sched", "nosuch", &id, &err) < 0);
	EXPECT_STR(err.text, "there is no tracepoint sched:nosuch");
	EXPECT_INT(err.kind, ERROR_USAGE);
	EXPECT_INT(id, 7);
	EXPECT(tracefs_list("nosuch", true, &list, &err) < 0);
	snprintf(want, sizeof want, "cannot read %s/events/nosuch: No such file or directory", tracefs_path());
	EXPECT_STR(err.text, want);
	EXPECT_STR(err.hint, "");
	EXPECT(tracefs_events("nosuch", &events, &err) < 0 && err.text[0]);
	EXPECT(tracefs_read("nosuch", &text, &err) < 0 && strstr(err.text, "nosuch"));
	EXPECT(tracefs_open_append("nosuch", &err) < 0);
	snprintf(want, sizeof want, "cannot write %s/nosuch: No such file or directory", tracefs_path());
	EXPECT_STR(err.text, want);
	tracefs_list_fini(&list);
}

TEST("names that are too long are refused by each function")
{
	char name[600];
	struct error err = { 0 };
	struct tracefs_list list = { 0 };
	CLEANUP_NAMES struct names events = { 0 };
	uint64_t id;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (int which = 0; which < 5; which++) {
		err = (struct error){ 0 };
		int status = which == 0 ? tracefs_events(name, &events, &err) : which == 1 ? tracefs_id(name, "e", &id, &err) :
			which == 2 ? tracefs_list(name, false, &list, &err) : which == 3 ? tracefs_open_append(name, &err) : tracefs_id("s", name, &id, &err);
		EXPECT(status < 0);
		EXPECT(err.kind == (which == 3 && !tracefs_path() ? ERROR_UNSUPPORTED : ERROR_LIMIT));
	}
}

static int read_as_other(void *unused)
{
	struct error err = { 0 };
	struct tracefs_list list = { 0 };
	CLEANUP_NAMES struct names events = { 0 };
	char want[256];
	uint64_t id;
	(void)unused;
	snprintf(want, sizeof want, "run as root, or: sudo mount -o remount,mode=755 %s", tracefs_path());
	int ok = tracefs_id("sched", "sched_switch", &id, &err) < 0 && err.kind == ERROR_PERMISSION && strcmp(err.hint, want) == 0;
	err = (struct error){ 0 };
	ok += tracefs_list("sched", true, &list, &err) < 0 && err.kind == ERROR_PERMISSION && strcmp(err.hint, want) == 0;
	err = (struct error){ 0 };
	ok += tracefs_events("sched", &events, &err) < 0 && err.kind == ERROR_PERMISSION && strcmp(err.hint, want) == 0;
	err = (struct error){ 0 };
	ok += tracefs_open_append("uprobe_events", &err) < 0 && err.kind == ERROR_PERMISSION && strcmp(err.hint, want) == 0;
	ok += tracefs_events("sched", &events, NULL) < 0;
	return ok;
}

TEST("a user who may not read tracefs learns how it becomes readable")
{
	struct stat info;
	const char *root = tracefs_path();
	if (geteuid() != 0 || kernel_is_emulated() || !root || stat(root, &info) != 0 || info.st_mode & (S_IRWXO | S_IRWXG)) {
		unit_skip("needs root, and a tracefs that others cannot read");
		return;
	}
	EXPECT_INT(in_child(read_as_other, NULL, OTHER_USER, 0), 5);
}

TEST("a line is written with one call; a closed descriptor, and one that takes less, are errors")
{
	struct error err = { 0 };
	char path[] = "/tmp/tracefs-test-XXXXXX", text[16] = "";
	CLEANUP_FD int fd = mkstemp(path);
	unlink(path);
	EXPECT_INT(tracefs_append(fd, "p:a b\n", &err), 0);
	EXPECT(pread(fd, text, sizeof text, 0) == 6 && strcmp(text, "p:a b\n") == 0);
	EXPECT(tracefs_append(-1, "p:a b\n", &err) < 0);
	EXPECT_STR(err.text, "Failed to write event: Bad file descriptor");
	int ends[2];
	EXPECT_INT(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	enum { MORE = 1 << 20 };
	char *line = malloc(MORE + 1);
	memset(line, 'x', MORE);
	line[MORE] = '\0';
	EXPECT(tracefs_append(ends[1], line, &err) < 0);
	EXPECT_STR(err.text, "Failed to write event: Input/output error");
	free(line);
	close(ends[0]);
	close(ends[1]);
}
