/* The order in which a red-black tree holds what is inserted one by one, equals behind. For a comparison that is total and
 * transitive that is a stable sort; perf's is not always, and then the shape of its tree decides. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Orders items in place. before(context, a, b) > 0: a stands before b. */
void rb_order(void **items, size_t count, int64_t (*before)(void *context, const void *a, const void *b), void *context);
