#include "base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "unit.h"

static void expect_text(struct writer *w, const char *want)
{
	writer_putc(w, '\0');
	EXPECT_STR(w->buffer, want);
	w->len = 0;
}

TEST("numbers are formatted as by printf")
{
	static const uint64_t values[] = { 0, 1, 9, 10, 15, 16, 255, 256, 99999, 100000, 0xffffffff, 0x100000000, UINT64_MAX };
	struct writer w;
	writer_open(&w, -1, 0);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		for (unsigned width = 0; width < 24; width += 4) {
			char want[64];
			writer_hex(&w, values[i], width);
			writer_decimal(&w, values[i], width);
			unsigned long long value = values[i];
			snprintf(want, sizeof want, "%*llx%*llu", (int)width, value, (int)width, value);
			expect_text(&w, want);
		}
	}
	writer_fini(&w);
}

TEST("a writer into memory grows with its content")
{
	struct writer w;
	writer_open(&w, -1, 0);
	for (int i = 0; i < 100000; i++)
		writer_puts(&w, "0123456789");
	EXPECT_INT(w.len, 1000000);
	EXPECT(!memcmp(w.buffer + 999990, "0123456789", 10));
	EXPECT_INT(writer_flush(&w, NULL), 0);
	EXPECT_INT(w.len, 1000000);
	writer_fini(&w);
}

TEST("a long formatted line is not truncated")
{
	struct writer w;
	writer_open(&w, -1, 0);
	writer_printf(&w, "%-2000s|", "x");
	EXPECT_INT(w.len, 2001);
	EXPECT(w.buffer[2000] == '|');
	writer_fini(&w);
}

TEST("a formatted line may have any length, also that of the room that is tried first")
{
	struct writer w;
	writer_open(&w, -1, 0);
	for (int length = 250; length < 262; length++) {
		writer_printf(&w, "%*d", length, 7);
		EXPECT_INT(w.len, length);
		EXPECT(w.buffer[length - 1] == '7');
		w.len = 0;
	}
	writer_fini(&w);
}

TEST("small and large pieces are written to a descriptor in order")
{
	int ends[2];
	char got[200];
	EXPECT(pipe(ends) == 0);
	struct writer w;
	writer_open(&w, ends[1], 0);
	writer_puts(&w, "a");
	writer_pad(&w, '-', 5);
	EXPECT_INT(writer_flush(&w, NULL), 0);
	writer_puts(&w, "b");
	EXPECT_INT(writer_flush(&w, NULL), 0);
	EXPECT_INT(w.written, 7);
	ssize_t n = read(ends[0], got, sizeof got);
	EXPECT_INT(n, 7);
	EXPECT(!memcmp(got, "a-----b", 7));
	writer_fini(&w);
	close(ends[0]);
	close(ends[1]);
}

TEST("a failed write is stored and reported once, with its reason")
{
	struct error err = { 0 };
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct writer w;
	writer_open(&w, fd, 0);
	writer_pad(&w, 'x', 1 << 20);
	EXPECT(writer_flush(&w, &err) < 0);
	EXPECT_INT(err.sys, ENOSPC);
	EXPECT_INT(w.failed, ENOSPC);
	writer_fini(&w);
	close(fd);
}

TEST("a terminal gets no control characters but our own colours, and only complete characters")
{
	int ends[2];
	char got[256] = { 0 };
	EXPECT(pipe(ends) == 0);
	struct writer w;
	writer_open(&w, ends[1], 0);
	w.terminal = true;
	writer_puts(&w, "a\033[2J");
	writer_add_styled(&w, "\033[31mred\033[m", 11);
	writer_puts(&w, "\r!\n");
	EXPECT_INT(writer_flush(&w, NULL), 0);
	ssize_t n = read(ends[0], got, sizeof got);
	EXPECT(n > 0 && !strcmp(got, "a?[2J\033[31mred\033[m?!\n"));
	writer_fini(&w);
	close(ends[0]);
	close(ends[1]);
	size_t whole = 0, len = 0;
	FILE *file = tmpfile();
	writer_open(&w, fileno(file), 0);
	w.terminal = true;
	writer_puts(&w, "x");
	for (int i = 0; i < 100000; i++)
		writer_puts(&w, "\xe4\x9b\x9b"); /* two of its bytes would be a control character on their own */
	EXPECT_INT(writer_flush(&w, NULL), 0);
	char *all = memory_alloc(300001);
	len = fread(all, 1, (rewind(file), 300001), file);
	for (size_t i = 1; i + 3 <= len; i += 3)
		whole += !memcmp(all + i, "\xe4\x9b\x9b", 3);
	EXPECT_INT(whole, 100000);
	free(all);
	fclose(file);
	writer_fini(&w);
}
