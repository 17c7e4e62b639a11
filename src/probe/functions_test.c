#include "probe/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "os/test_child.h"
#include "unit.h"

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The same names without threads and without shared beginnings. */
static void expect_names(struct probe_target *target, const struct probe_filter *filter, const struct probe_functions *functions)
{
	const struct symbol_table *symbols = probe_target_symbols(target);
	VEC(char *) names = { 0 };
	for (uint32_t i = 0; i < symbols->count; i++) {
		char *name = probe_target_name(target, symbols->symbols[i].name);
		if (probe_filter_passes(filter, name))
			vec_push(&names, name);
		else
			free(name);
	}
	EXPECT_INT(functions->list.count, names.count);
	qsort(names.items, names.count, sizeof *names.items, compare_texts);
	for (size_t i = 0; i < names.count; i++) {
		if (i < functions->list.count)
			EXPECT_STR(functions->list.items[i].name, names.items[i]);
		free(names.items[i]);
	}
	vec_fini(&names);
}

TEST("the names of a program of several thousand functions are in order, each symbol has one")
{
	struct probe_target target;
	struct probe_target_options options = { .listed = true };
	struct error err = { 0 };
	static const char *const filters[] = { NULL, "!_*", "probe_* | str_*" };
	if (kernel_is_emulated()) {
		unit_skip("this process's program is the emulator; native builds run it");
		return;
	}
	EXPECT_INT(probe_target_open(&target, "/proc/self/exe", &options, &err), 0);
	EXPECT(probe_target_symbols(&target)->count > 1024);
	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
		struct probe_filter *filter = NULL;
		struct probe_functions functions = { 0 };
		EXPECT(!filters[i] || probe_filter_parse(&filter, filters[i], &err) == 0);
		probe_functions_find(&target, filter, &functions);
		expect_names(&target, filter, &functions);
		probe_functions_fini(&functions);
		probe_filter_free(filter);
	}
	probe_target_close(&target);
}

TEST("names for which there is no memory are left out")
{
	struct budget budget = { .limit = 16 << 10 };
	struct probe_target target;
	struct probe_target_options options = { .listed = true };
	struct probe_functions functions = { 0 };
	struct error err = { 0 };
	if (kernel_is_emulated()) {
		unit_skip("this process's program is the emulator; native builds run it");
		return;
	}
	EXPECT_INT(probe_target_open(&target, "/proc/self/exe", &options, &err), 0);
	probe_target_symbols(&target);
	target.image_options.budget = &budget;
	probe_functions_find(&target, NULL, &functions);
	EXPECT(functions.list.count > 0 && functions.list.count < probe_target_symbols(&target)->count && budget.refused > 0);
	EXPECT_INT(budget.used, functions.taken);
	probe_functions_fini(&functions);
	EXPECT_INT(budget.used, 0);
	target.image_options.budget = NULL;
	probe_target_close(&target);
}

TEST("names that begin alike for many bytes, that end others, and equal ones are in order")
{
	enum { COUNT = 400 };
	struct probe_functions functions = { 0 };
	static const char alike[] = "std::vector<int, std::allocator<int> >::";
	for (unsigned i = 0; i < COUNT; i++) {
		char name[128];
		size_t len = i % 4 == 3 ? i % sizeof alike : sizeof alike - 1;
		int size = snprintf(name, sizeof name, "%.*s%.*s", (int)len, alike, (int)(i % 13),
			i % 2 ? "aaaaaaaaaaaa" : "\xff\xff\xff\xff\xff" "aaaaaaa");
		probe_functions_add(&functions, name, (size_t)size);
	}
	probe_functions_sort(&functions);
	EXPECT_INT(functions.list.count, COUNT);
	for (size_t i = 1; i < functions.list.count; i++)
		EXPECT(strcmp(functions.list.items[i - 1].name, functions.list.items[i].name) <= 0);
	probe_functions_fini(&functions);
}
