#include "render/text/percent.h"

#include <math.h>
#include <stdint.h>

const char *percent_colour(double percent)
{
	const double red = 5.0, green = 0.5;
	return fabs(percent) >= red ? "\033[31m" : fabs(percent) > green ? "\033[32m" : "";
}

/* printf's "%*.2f", without it: true if the digits are certain. They are not where the third one could be rounded either way. */
static bool add_digits(struct str *out, int width, double percent)
{
	enum { ROOM = 24 };
	const double largest = 1e6, unsure = 1e-4;
	double hundredths = percent * 100;
	if (!(percent >= 0 && percent < largest) || signbit(percent) || width > ROOM)
		return false;
	uint64_t number = (uint64_t)(hundredths + 0.5);
	if (fabs(hundredths + 0.5 - (double)number) < unsure || fabs(hundredths + 0.5 - (double)number - 1) < unsure)
		return false;
	char text[ROOM];
	char *at = text + ROOM;
	for (int digit = 0; digit < 3 || number; digit++, number /= 10) {
		*--at = (char)('0' + number % 10);
		if (digit == 1)
			*--at = '.';
	}
	while (text + ROOM - at < width)
		*--at = ' ';
	str_add(out, at, (size_t)(text + ROOM - at));
	return true;
}

void percent_add(struct str *out, const char *before, int width, double percent, bool colour)
{
	const char *on = percent_colour(percent);
	if (colour)
		str_puts(out, on);
	str_puts(out, before);
	if (!add_digits(out, width, percent))
		str_printf(out, "%*.2f", width, percent);
	str_putc(out, '%');
	if (colour && *on)
		str_puts(out, "\033[m");
}
