/* A struct cli for tests: what a command writes to stdout and to stderr is compared as text. */
#pragma once
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/budget.h"
#include "cmd/command.h"
#include "image/debuginfod.h"
#include "unit.h"

struct test_cli {
	struct cli cli;
	struct writer out;
	struct config config;
	struct budget budget;
	struct debuginfod servers;
	int stderr_before, stderr_file;
	char text[16384];
};

/* From here on stderr is a file in memory. The struct must not move. */
static inline void test_cli_open(struct test_cli *t)
{
	*t = (struct test_cli){ .budget = { .limit = (size_t)1 << 30 } };
	writer_open(&t->out, -1, 0);
	t->cli = (struct cli){ .out = &t->out, .program = "perfuse", .config = &t->config, .budget = &t->budget, .servers = &t->servers };
	t->stderr_before = dup(STDERR_FILENO);
	t->stderr_file = memfd_create("stderr", 0);
	EXPECT(t->stderr_before >= 0 && t->stderr_file >= 0 && dup2(t->stderr_file, STDERR_FILENO) >= 0);
}

/* What was written to stderr since the last call; valid until the next one. */
static inline const char *test_cli_messages(struct test_cli *t)
{
	off_t size = lseek(t->stderr_file, 0, SEEK_CUR);
	EXPECT(size >= 0 && size < (off_t)sizeof t->text);
	ssize_t n = pread(t->stderr_file, t->text, sizeof t->text - 1, 0);
	t->text[n > 0 ? n : 0] = '\0';
	EXPECT(ftruncate(t->stderr_file, 0) == 0);
	lseek(t->stderr_file, 0, SEEK_SET);
	return t->text;
}

/* The same for stdout. */
static inline const char *test_cli_output(struct test_cli *t)
{
	EXPECT(t->out.len < sizeof t->text);
	memcpy(t->text, t->out.buffer, t->out.len);
	t->text[t->out.len] = '\0';
	t->out.len = 0;
	return t->text;
}

static inline void test_cli_close(struct test_cli *t)
{
	dup2(t->stderr_before, STDERR_FILENO);
	close(t->stderr_before);
	close(t->stderr_file);
	writer_fini(&t->out);
	config_fini(&t->config);
	free(t->servers.cache);
}
