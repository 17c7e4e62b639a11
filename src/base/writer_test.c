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

static void expect_fixed(struct writer *w, double value)
{
	char want[512];
	for (unsigned decimals = 0; decimals <= 4; decimals++) {
		snprintf(want, sizeof want, "%9.*f", (int)decimals, value);
		EXPECT_INT(writer_fixed(w, value, decimals, 9), strlen(want));
		expect_text(w, want);
	}
}

TEST("fixed decimals are rounded as by printf: ties to even, small and large numbers, signs")
{
	static const double values[] = {
		0, -0.0, 0.5, 1.5, 2.5, 0.25, 0.75, 0.125, 0.375, 0.0625, 0.0005, 0.00049999, 0.0015, 0.0025, 0.9995, 0.99949999, 9.9995, 999.9995,
		1e-3, 1e-300, 0x1p-11, 0x1.8p-11, 0x1p-12, 0x1p-64, 0x1p-1074, 0x1p51, 0x1p52 - 0.5, 0x1p52 - 1.5, 0x1p52, 0x1p53, 0x1p63, 1e300,
		-0.5, -3.25, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0,
	};
	struct writer w;
	uint64_t random = 1;
	writer_open(&w, -1, 0);
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		expect_fixed(&w, values[i]);
	for (int i = 0; i < 20000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		expect_fixed(&w, (double)(random >> 11) / (double)((uint64_t)1 << (random >> 5 & 63)));
		expect_fixed(&w, (double)(random >> 40) / 16); /* halves of all decimals but the third */
	}
	writer_fini(&w);
}

TEST("text is padded on the right")
{
	struct writer w;
	writer_open(&w, -1, 0);
	writer_left(&w, "ab", 4);
	writer_left(&w, "abcd", 4);
	writer_left(&w, "abcde", 4);
	writer_left(&w, "", 1);
	expect_text(&w, "ab  abcdabcde ");
	writer_fini(&w);
}

TEST("text is padded on the left, and numbers with zeros")
{
	struct writer w;
	writer_open(&w, -1, 0);
	writer_right(&w, "ab", 4);
	writer_right(&w, "abcde", 4);
	writer_right(&w, "", 1);
	writer_zeros(&w, 0, 3);
	writer_putc(&w, ' ');
	writer_zeros(&w, 1234, 4);
	writer_putc(&w, ' ');
	writer_zeros(&w, 1234, 0);
	writer_putc(&w, ' ');
	writer_zeros(&w, UINT64_MAX, 21);
	expect_text(&w, "  ababcde 000 1234 1234 018446744073709551615");
	writer_fini(&w);
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
