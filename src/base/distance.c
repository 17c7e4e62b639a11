#include "base/distance.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { TEXT_MAX = 96 };

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[TEXT_MAX + 1];
	if (n > TEXT_MAX || m > TEXT_MAX || (n > m ? n - m : m - n) > limit)
		return limit + 1;
	for (unsigned k = 0; k <= m; k++)
		row[k] = k;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0], best = row[0] = (unsigned)i;
		for (size_t k = 1; k <= m; k++) {
			bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[k - 1]);
			unsigned replaced = diagonal + !same, shorter = row[k] + 1, longer = row[k - 1] + 1;
			diagonal = row[k];
			row[k] = replaced < shorter ? replaced : shorter;
			row[k] = row[k] < longer ? row[k] : longer;
			best = best < row[k] ? best : row[k];
		}
		if (best > limit)
			return limit + 1;
	}
	return row[m] > limit ? limit + 1 : row[m];
}
