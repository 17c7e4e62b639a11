/* A growing array of any type: `VEC(struct map) maps = { 0 };`, then vec_push(&maps, m), maps.items[i], maps.count. Items move when it
 * grows: store indices, not pointers. */
#pragma once
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

#define VEC(type) struct { type *items; size_t count, capacity; }

#define vec_reserve(v, n)                                                                          \
	do {                                                                                       \
		size_t vec_want_ = (n);                                                            \
		if (vec_want_ > (v)->capacity) {                                                   \
			size_t vec_cap_ = (v)->capacity ? (v)->capacity * 2 : 8;                   \
			if (vec_cap_ < vec_want_)                                                  \
				vec_cap_ = vec_want_;                                              \
			(v)->items = memory_resize((v)->items, vec_cap_, sizeof *(v)->items);      \
			(v)->capacity = vec_cap_;                                                  \
		}                                                                                  \
	} while (0)

#define vec_push(v, item)                                                                          \
	do {                                                                                       \
		if ((v)->count == (v)->capacity)                                                   \
			vec_reserve((v), (v)->count + 1);                                          \
		(v)->items[(v)->count++] = (item);                                                 \
	} while (0)

/* A pointer to a new zeroed item at the end, valid until the next growth. */
#define vec_add(v)                                                                                 \
	({                                                                                         \
		if ((v)->count == (v)->capacity)                                                   \
			vec_reserve((v), (v)->count + 1);                                          \
		memset(&(v)->items[(v)->count], 0, sizeof *(v)->items);                            \
		&(v)->items[(v)->count++];                                                         \
	})

#define vec_clear(v) ((void)((v)->count = 0))

#define vec_fini(v)                                                                                \
	do {                                                                                       \
		free((v)->items);                                                                  \
		memset((v), 0, sizeof *(v));                                                       \
	} while (0)
