#include "render/sched/times.h"

/* The point and the last digits of a number. */
static void add_fraction(struct writer *out, uint32_t value, unsigned digits)
{
	char *to = writer_room(out, digits + 1);
	to[0] = '.';
	for (unsigned i = digits; i > 0; i--, value /= 10)
		to[i] = (char)('0' + value % 10);
	writer_advance(out, digits + 1);
}

void times_add_seconds(struct writer *out, uint64_t ns, unsigned width)
{
	writer_decimal(out, ns / 1000000000, width > 7 ? width - 7 : 0);
	add_fraction(out, (uint32_t)(ns % 1000000000 / 1000), 6);
}

void times_add_milliseconds(struct writer *out, uint64_t ns, unsigned width)
{
	writer_decimal(out, ns / 1000000, width);
	add_fraction(out, (uint32_t)(ns % 1000000 / 1000), 3);
	writer_putc(out, ' ');
}

void times_add_unknown(struct writer *out, unsigned width)
{
	writer_pad(out, ' ', width + 3);
	writer_puts(out, "? ");
}
