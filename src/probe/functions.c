#include "probe/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/str.h"

/* Symbols of one job. A thread costs more than the names of a small file. */
enum { PART = 1024 };

struct listing {
	const struct symbol_table *symbols;
	const struct demangler *demangler;
	const struct probe_filter *filter;
	struct probe_functions *parts; /* one for each job */
};

static uint64_t eight_bytes(const char *text)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < 8; i++) {
		bytes = bytes << 8 | (unsigned char)*text;
		text += *text != '\0';
	}
	return bytes;
}

const char *probe_functions_add(struct probe_functions *functions, const char *name, size_t len)
{
	char *copy = arena_string(&functions->arena, name, len);
	vec_push(&functions->list, ((struct probe_function){ .bytes = eight_bytes(copy), .name = copy }));
	return copy;
}

static void list_part(void *context, size_t job, unsigned worker)
{
	const struct listing *l = context;
	struct probe_functions *part = &l->parts[job];
	uint32_t from = (uint32_t)job * PART, until = from + PART < l->symbols->count ? from + PART : l->symbols->count;
	CLEANUP_STR struct str text = { 0 };
	(void)worker;
	for (uint32_t i = from; i < until; i++) {
		const char *name = l->symbols->symbols[i].name;
		if (name_demangle_into(l->demangler, name, &text))
			name = text.text;
		size_t len = strlen(name), bytes = len + 1 + sizeof *part->list.items;
		if (!budget_take(part->budget, bytes))
			break;
		part->taken += bytes;
		/* the name of a symbol may change meanwhile: the copy is what passes */
		if (!probe_filter_passes(l->filter, probe_functions_add(part, name, len)))
			part->list.count--;
	}
}

static int compare_bytes(const void *a, const void *b)
{
	const struct probe_function *one = a, *two = b;
	return one->bytes < two->bytes ? -1 : one->bytes > two->bytes;
}

static int compare_from(const void *a, const void *b, void *same)
{
	const struct probe_function *one = a, *two = b;
	return strcmp(one->name + *(size_t *)same, two->name + *(size_t *)same);
}

/* Neighbours whose names have the same first bytes. */
struct similar {
	size_t from, count, same;
};

/* The number of bytes with which all names begin; at least `same` are known. */
static size_t common(const struct probe_function *items, size_t count, size_t same)
{
	const char *first = items[0].name + same;
	size_t len = strlen(first);
	for (size_t i = 1; i < count && len; i++) {
		const char *other = items[i].name + same;
		size_t k = 0;
		while (k < len && other[k] == first[k])
			k++;
		len = k;
	}
	return same + len;
}

/* Names of one class begin alike: the bytes that are equal are compared once for all, not in each comparison. */
void probe_functions_sort(struct probe_functions *functions)
{
	enum { FEW = 12 };
	struct probe_function *items = functions->list.items;
	VEC(struct similar) left = { 0 };
	if (functions->list.count)
		vec_push(&left, ((struct similar){ .count = functions->list.count }));
	while (left.count) {
		struct similar s = left.items[--left.count];
		struct probe_function *at = items + s.from, *end = at + s.count;
		if (s.count <= FEW) {
			qsort_r(at, s.count, sizeof *at, compare_from, &s.same);
			continue;
		}
		if (s.same) {
			s.same = common(at, s.count, s.same);
			for (struct probe_function *f = at; f < end; f++)
				f->bytes = eight_bytes(f->name + s.same);
		}
		qsort(at, s.count, sizeof *at, compare_bytes);
		for (struct probe_function *next; at < end; at = next) {
			for (next = at + 1; next < end && next->bytes == at->bytes; next++)
				;
			/* with a terminator among them, all bytes are equal */
			if (next - at > 1 && (at->bytes & 0xff))
				vec_push(&left, ((struct similar){ (size_t)(at - items), (size_t)(next - at), s.same + 8 }));
		}
	}
	vec_fini(&left);
}

void probe_functions_find(struct probe_target *target, const struct probe_filter *filter, struct probe_functions *functions)
{
	struct listing l = { .symbols = probe_target_symbols(target), .demangler = &target->demangler, .filter = filter };
	size_t jobs = ((size_t)l.symbols->count + PART - 1) / PART;
	struct pool *pool = pool_new(jobs > 1 ? 0 : 1);
	l.parts = memory_zero(jobs ? jobs : 1, sizeof *l.parts);
	functions->budget = target->image_options.budget;
	for (size_t i = 0; i < jobs; i++)
		l.parts[i].budget = functions->budget;
	pool_run(pool, jobs, list_part, &l);
	pool_free(pool);
	for (size_t i = 0; i < jobs; i++) {
		struct probe_functions *part = &l.parts[i];
		vec_reserve(&functions->list, functions->list.count + part->list.count);
		if (part->list.count)
			memcpy(functions->list.items + functions->list.count, part->list.items, part->list.count * sizeof *part->list.items);
		functions->list.count += part->list.count;
		arena_join(&functions->arena, &part->arena);
		functions->taken += part->taken;
		vec_fini(&part->list);
	}
	free(l.parts);
	probe_functions_sort(functions);
}

void probe_functions_fini(struct probe_functions *functions)
{
	budget_give(functions->budget, functions->taken);
	functions->taken = 0;
	vec_fini(&functions->list);
	arena_fini(&functions->arena);
}
