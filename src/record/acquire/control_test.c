#include "record/acquire/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

TEST("descriptors are numbers, or FIFOs by name")
{
	struct control control;
	struct error err;
	EXPECT(control_open(&control, "fd:3", &err) == 0 && control.fd == 3 && control.acknowledge == -1 && !control.ours);
	EXPECT(control_open(&control, "fd:3,0x10", &err) == 0 && control.fd == 3 && control.acknowledge == 16);
	static const char *const bad[] = {
		"", "fd:", "fd:x", "fd:3,", "fd:3x", "fd:-1", "fd:3,4,5", "fifo:", "fifo:,x", "fifo:/nonexistent/x", "3",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		EXPECT(control_open(&control, bad[i], &err) < 0);
		control_close(&control);
	}
}

TEST("what is no FIFO is not opened, so that no answer is written into a file; root follows no link of another user")
{
	enum { OTHER_USER = 64321 };
	char folder[] = "/tmp/perfuse-control-XXXXXX", fifo[64], file[64], link[64], text[160];
	struct control control;
	struct error err = { 0 };
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(fifo, sizeof fifo, "%s/fifo", folder);
	snprintf(file, sizeof file, "%s/file", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	EXPECT(mkfifo(fifo, 0600) == 0 && symlink(fifo, link) == 0);
	FILE *made = fopen(file, "w");
	EXPECT(made && fclose(made) == 0);
	snprintf(text, sizeof text, "fifo:%s,%s", fifo, link);
	EXPECT(control_open(&control, text, &err) == 0 && control.fd >= 0 && control.acknowledge >= 0);
	control_close(&control);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof text, "fifo:%s,%s", i ? fifo : file, i ? file : fifo);
		EXPECT(control_open(&control, text, &err) < 0 && err.kind == ERROR_OPTION && strstr(err.text, "is not a FIFO"));
		control_close(&control);
	}
	if (geteuid() == 0) {
		EXPECT(lchown(link, OTHER_USER, OTHER_USER) == 0 && chown(fifo, OTHER_USER, OTHER_USER) == 0);
		snprintf(text, sizeof text, "fifo:%s,%s", fifo, link);
		EXPECT(control_open(&control, text, &err) < 0 && err.kind == ERROR_OPTION && strstr(err.text, "is not followed"));
		EXPECT(control.fd >= 0); /* a user makes FIFOs for a recorder of root */
		control_close(&control);
	}
	EXPECT(unlink(link) == 0 && unlink(file) == 0 && unlink(fifo) == 0 && rmdir(folder) == 0);
}

static void append(void *context, const char *line)
{
	strcat(strcat(context, line), "|");
}

TEST("a line may come in pieces, and one that is too long is cut")
{
	int fds[2];
	char seen[1024] = "", many[600];
	const char *rest;
	struct control_line line = { 0 };
	EXPECT(pipe(fds) == 0);
	EXPECT(write(fds[1], "ena", 3) == 3 && control_read(fds[0], &line, append, seen) == 0);
	EXPECT_STR(seen, "");
	EXPECT(write(fds[1], "ble\n\nping\nst", 12) == 12 && control_read(fds[0], &line, append, seen) == 0);
	EXPECT_STR(seen, "enable|ping|");
	memset(many, 'x', sizeof many);
	many[sizeof many - 1] = '\n';
	EXPECT(write(fds[1], many, sizeof many) == (ssize_t)sizeof many);
	seen[0] = '\0';
	for (int i = 0; i < 3; i++)
		EXPECT(control_read(fds[0], &line, append, seen) == 0);
	EXPECT_INT(strlen(seen), sizeof line.text);
	close(fds[1]);
	EXPECT(control_read(fds[0], &line, append, seen) < 0);
	close(fds[0]);
	EXPECT(control_is("enable cycles", "enable", &rest) && strcmp(rest, "cycles") == 0);
	EXPECT(control_is("enable", "enable", &rest) && !*rest);
	EXPECT(!control_is("enabled", "enable", &rest));
}
