/* Binary search in a sorted sequence: where a condition stops to hold. No callback and no layout of the items, so that it costs what the
 * loop costs. */
#pragma once
#include <stddef.h>

/* Returns how many of the items 0 … count - 1 meet the condition, an expression of their index `i`. Precondition: no item that meets it
 * follows one that does not. With `items[i].key <= key` the last item that is not above the key has the index result - 1; with
 * `items[i].key < key` the first that is not below has the index result. */
#define SEARCH_COUNT(item_count, i, condition) ({ \
	size_t search_low = 0, search_high = (item_count); \
	while (search_low < search_high) { \
		const size_t i = search_low + (search_high - search_low) / 2; \
		if (condition) \
			search_low = i + 1; \
		else \
			search_high = i; \
	} \
	search_low; \
})
