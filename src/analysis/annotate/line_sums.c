#include "analysis/annotate/line_sums.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b)
{
	const struct line_sum *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

void line_sums_make(struct line_sums *sums, const struct annotation *annotation, uint32_t event)
{
	size_t merged = 0;
	*sums = (struct line_sums){ 0 };
	for (size_t i = 0; i < annotation->code.count; i++) {
		const struct annotated_line *line = &annotation->lines.items[annotation->code.items[i]];
		struct hit_count count = annotated_count(line, event);
		if (count.samples && line->file && line->line_number)
			vec_push(&sums->items, ((struct line_sum){ line->file, line->line_number, 1, count }));
	}
	if (sums->items.count)
		qsort(sums->items.items, sums->items.count, sizeof *sums->items.items, by_place);
	for (size_t i = 0; i < sums->items.count; i++) {
		const struct line_sum *from = &sums->items.items[i];
		struct line_sum *to = merged ? &sums->items.items[merged - 1] : NULL;
		if (!to || by_place(to, from) != 0) {
			sums->items.items[merged++] = *from;
			continue;
		}
		to->instructions++;
		to->count.samples += from->count.samples;
		to->count.period += from->count.period;
	}
	sums->items.count = merged;
}

void line_sums_fini(struct line_sums *sums)
{
	vec_fini(&sums->items);
}

struct line_sum line_sums_of(const struct line_sums *sums, const struct annotated_line *line)
{
	const struct line_sum wanted = { .file = line->file, .number = line->line_number }, *found = NULL;
	if (line->kind != ANNOTATED_INLINE && line->file && line->line_number && sums->items.count)
		found = bsearch(&wanted, sums->items.items, sums->items.count, sizeof wanted, by_place);
	return found ? *found : (struct line_sum){ 0 };
}

struct line_sum line_sums_hottest(const struct line_sums *sums)
{
	struct line_sum most = { 0 };
	for (size_t i = 0; i < sums->items.count; i++)
		if (!most.number || sums->items.items[i].count.period > most.count.period)
			most = sums->items.items[i];
	return most;
}
