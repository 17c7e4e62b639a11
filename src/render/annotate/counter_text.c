#include "render/annotate/counter_text.h"

#include <inttypes.h>

enum { LETTERS_MAX = 3 };

static uint64_t mean_above(const struct block_count *count, uint64_t runs)
{
	return count->sum / runs + (count->sum % runs != 0);
}

/* A letter for each occurrence, then a plus if there were more. */
static void add_letters(const struct block_count *count, uint64_t runs, const char *letters, struct str *text)
{
	uint64_t mean = count ? mean_above(count, runs) : 0, used = 0;
	if (!count) {
		str_putc(text, '-');
		used = 1;
	}
	for (; used < mean && used < LETTERS_MAX; used++)
		str_puts(text, letters);
	if (count && (count->saturated || mean > LETTERS_MAX)) {
		str_putc(text, '+');
		used++;
	}
	for (; used < LETTERS_MAX + 1; used++)
		str_putc(text, ' ');
}

void counter_text_add(const struct branch_counters *counters, const struct blocks *blocks, uint32_t module, uint64_t end, uint64_t runs,
	bool numbers, struct str *text)
{
	for (size_t i = 0; runs && i < counters->items.count; i++) {
		const struct branch_counter *counter = &counters->items.items[i];
		const struct block_count *count = blocks_count(blocks, module, end, counter->event);
		char letters[BRANCH_COUNTER_NAME_MAX];
		branch_counter_name(counter->letter, letters);
		if (!numbers) {
			str_putc(text, '|');
			add_letters(count, runs, letters, text);
			continue;
		}
		str_printf(text, "%s%s=", i ? "," : "", letters);
		if (count)
			str_printf(text, "%" PRIu64 "%c", mean_above(count, runs), count->saturated ? '+' : ' ');
		else
			str_puts(text, "- ");
	}
	if (!numbers)
		str_putc(text, runs && counters->items.count ? '|' : ' ');
}
