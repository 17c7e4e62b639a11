/* A stable sort on all threads of a pool. The result does not depend on their number if the comparison is a total order of the keys; do not
 * use it with another one. */
#pragma once
#include <stddef.h>

struct pool;

typedef int pool_compare(const void *a, const void *b, void *context);

/* Sorts `count` pointers by compare, which gets the addresses of two of them, as qsort_r's. */
void pool_sort(struct pool *pool, void **items, size_t count, pool_compare *compare, void *context);
