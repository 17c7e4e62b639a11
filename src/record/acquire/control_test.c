#include "record/acquire/control.h"

#include <string.h>
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
