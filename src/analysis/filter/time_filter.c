#include "analysis/filter/time_filter.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NS_PER_SECOND 1000000000ull
#define RANGES_MAX 4096 /* protects against hostile input */

/* A part of the text, borrowed. */
struct word {
	const char *text;
	size_t len;
};

static int time_range_error(struct error *err, struct word word)
{
	return error_set(err, ERROR_USAGE, "'%.*s' is not a time range", (int)(word.len < 200 ? word.len : 200), word.text);
}

int time_parse(uint64_t *time_ns, const char *text, size_t len, struct error *err)
{
	uint64_t seconds = 0, fraction = 0;
	size_t at = 0, digits = 0;

	while (at < len && isspace((unsigned char)text[at]))
		at++;
	for (; at < len && isdigit((unsigned char)text[at]); at++)
		seconds = seconds * 10 + (uint64_t)(text[at] - '0');
	if (at < len && text[at] == '.')
		for (at++; at < len && isdigit((unsigned char)text[at]); at++, digits++)
			fraction = fraction * 10 + (uint64_t)(text[at] - '0');
	if (at != len || digits > 9)
		return error_set(err, ERROR_USAGE, "'%.*s' is not a time in seconds", (int)(len < 200 ? len : 200), text);
	for (; digits < 9; digits++)
		fraction *= 10;
	*time_ns = seconds * NS_PER_SECOND + fraction;
	return 0;
}

static int parse_seconds_range(struct time_range *range, struct word word, struct error *err)
{
	const char *comma = memchr(word.text, ',', word.len);
	size_t left = comma ? (size_t)(comma - word.text) : word.len;

	if (left && time_parse(&range->start, word.text, left, err) < 0)
		return -1;
	if (comma && left + 1 < word.len && time_parse(&range->stop, comma + 1, word.len - left - 1, err) < 0)
		return -1;
	if (range->stop && range->stop < range->start)
		return error_set(err, ERROR_USAGE, "the time range '%.*s' ends before it starts", (int)word.len, word.text);
	return 0;
}

/* Parses "start,stop start,stop": each range has one comma; all stops but the last end at white space. */
static int parse_ranges(struct time_filter *filter, const char *text, struct error *err)
{
	struct word whole = { text, strlen(text) };

	while (*text || !filter->count) {
		const char *comma = strchr(text, ',');
		if (!comma || filter->count == RANGES_MAX)
			return time_range_error(err, whole);
		bool last = !strchr(comma + 1, ',');
		const char *stop = comma + 1;
		if (last) {
			stop += strlen(stop);
		} else {
			while (isspace((unsigned char)*stop))
				stop++;
			while (*stop && !isspace((unsigned char)*stop))
				if (*stop++ == ',')
					return time_range_error(err, whole);
		}
		struct time_range *range = &filter->ranges[filter->count];
		if (parse_seconds_range(range, (struct word){ text, (size_t)(stop - text) }, err) < 0)
			return -1;
		if (filter->count && range[-1].stop >= range->start)
			return error_set(err, ERROR_USAGE, "the time ranges in '%s' overlap", whole.text);
		filter->count++;
		text = *stop ? stop + 1 : stop;
	}
	return 0;
}

/* Parses "12.5%" as 0.125. */
static int parse_percent(double *part, struct word word)
{
	char digits[64];
	const char *sign = memchr(word.text, '%', word.len);
	size_t len = sign ? (size_t)(sign - word.text) : 0;
	char *end;

	if (!sign || len >= sizeof digits)
		return -1;
	memcpy(digits, word.text, len);
	digits[len] = '\0';
	*part = strtod(digits, &end) / 100.0;
	return *end ? -1 : 0;
}

static int time_range_set_parts(struct time_range *range, double from, double to, uint64_t first, uint64_t last)
{
	double total = (double)(last - first);

	if (!(from >= 0.0 && from <= 1.0 && to >= 0.0 && to <= 1.0) || last < first || last - first > INT64_MAX)
		return -1;
	range->start = first + (uint64_t)round(from * total);
	range->stop = first + (uint64_t)round(to * total);
	if (range->stop > range->start && range->stop != last)
		range->stop--;
	return 0;
}

static int parse_nth_part(struct time_range *range, struct word word, uint64_t first, uint64_t last)
{
	const char *slash = memchr(word.text, '/', word.len);
	double part;
	int64_t nth = 0;

	if (!slash || parse_percent(&part, (struct word){ word.text, (size_t)(slash - word.text) }) < 0 || !(part > 0.0))
		return -1;
	for (const char *p = slash + 1; p < word.text + word.len; p++) {
		if (!isdigit((unsigned char)*p) || nth > 1000000)
			return -1;
		nth = nth * 10 + (*p - '0');
	}
	return time_range_set_parts(range, part * (double)(nth - 1), part * (double)nth, first, last);
}

static int parse_percent_range(struct time_range *range, struct word word, uint64_t first, uint64_t last)
{
	const char *dash = memchr(word.text, '-', word.len);
	double from, to;

	if (!dash || parse_percent(&from, (struct word){ word.text, (size_t)(dash - word.text) }) < 0)
		return -1;
	if (parse_percent(&to, (struct word){ dash + 1, word.len - (size_t)(dash - word.text) - 1 }) < 0)
		return -1;
	return time_range_set_parts(range, from, to, first, last);
}

static int parse_percentages(struct time_filter *filter, const char *text, uint64_t first, uint64_t last, struct error *err)
{
	bool nth_parts = strchr(text, '/'), parts = strchr(text, '-');
	struct word whole = { text, strlen(text) };
	double part;

	if (!nth_parts && !parts) {
		filter->count = 1;
		if (text[whole.len - 1] != '%' || parse_percent(&part, whole) < 0 || !(part > 0.0) ||
		    time_range_set_parts(filter->ranges, 0, part, first, last) < 0)
			return time_range_error(err, whole);
		return 0;
	}
	while (*text) {
		struct word word = { text, strcspn(text, ",") };
		struct time_range *range = &filter->ranges[filter->count];
		if (filter->count == RANGES_MAX ||
		    (nth_parts ? parse_nth_part : parse_percent_range)(range, word, first, last) < 0)
			return time_range_error(err, word);
		filter->count++;
		text += word.len;
		text += *text == ',';
	}
	return 0;
}

int time_filter_parse(struct time_filter *filter, const char *text, uint64_t first, uint64_t last, bool relative,
	struct error *err)
{
	bool percent = strchr(text, '%');
	size_t commas = 0;

	*filter = (struct time_filter){ 0 };
	if ((percent || relative) && !first && !last) {
		error_set(err, ERROR_USAGE, "the recording does not state the times of its first and last sample");
		return error_hint(err, "record with --timestamp-boundary, or give times in seconds");
	}
	for (const char *p = text; *p; p++)
		commas += *p == ',';
	filter->ranges = memory_zero((commas < RANGES_MAX ? commas : RANGES_MAX) + 1, sizeof *filter->ranges);
	int result = percent ? parse_percentages(filter, text, first, last, err) : parse_ranges(filter, text, err);
	if (result < 0) {
		time_filter_fini(filter);
		return -1;
	}
	for (size_t i = 0; relative && i < filter->count; i++) {
		filter->ranges[i].start += first;
		filter->ranges[i].stop += first;
	}
	return 0;
}

void time_filter_fini(struct time_filter *filter)
{
	free(filter->ranges);
	*filter = (struct time_filter){ 0 };
}

void time_filter_bounds(const struct header *header, uint64_t *first, uint64_t *last)
{
	struct span span = header->feature_data[FEATURE_SAMPLE_TIME];
	struct cursor cursor = cursor_of(span.data, span.data ? span.len : 0, header->swapped);

	*first = take_u64(&cursor);
	*last = take_u64(&cursor);
	if (cursor.short_read)
		*first = *last = 0;
}

bool time_filter_drops_slow(const struct time_filter *filter, uint64_t time)
{
	/* a single range may be open at either end, one of several only at its end */
	if (filter->count == 1)
		return (filter->ranges->start && time < filter->ranges->start) ||
			(filter->ranges->stop && time > filter->ranges->stop);
	for (size_t i = 0; i < filter->count; i++)
		if (time >= filter->ranges[i].start && (time <= filter->ranges[i].stop || !filter->ranges[i].stop))
			return false;
	return true;
}
