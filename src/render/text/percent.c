#include "render/text/percent.h"

#include <math.h>

const char *percent_colour(double percent)
{
	const double red = 5.0, green = 0.5;
	return fabs(percent) >= red ? "\033[31m" : fabs(percent) > green ? "\033[32m" : "";
}

void percent_add(struct str *out, const char *before, int width, double percent, bool colour)
{
	const char *on = percent_colour(percent);
	if (colour)
		str_puts(out, on);
	str_printf(out, "%s%*.2f%%", before, width, percent);
	if (colour && *on)
		str_puts(out, "\033[m");
}
