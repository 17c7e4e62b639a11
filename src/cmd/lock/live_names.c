#include "cmd/lock/lock.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/environment.h"
#include "cmd/servers.h"
#include "os/kernel.h"

static int compare(const void *a, const void *b)
{
	const struct live_module *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

static void add_modules(struct live_names *names)
{
	struct kernel_modules loaded = { 0 };
	CLEANUP_STR struct str name = { 0 };
	kernel_modules(&loaded, NULL);
	for (size_t i = 0; i < loaded.list.count; i++) {
		const struct kernel_module *one = &loaded.list.items[i];
		str_clear(&name);
		str_printf(&name, "[%s]", one->name);
		struct module *module = modules_kmodule(&names->modules, name.text, one->path ? one->path : name.text);
		module->start = one->start;
		module->build_id_len = (uint8_t)kernel_module_build_id(one->name, module->build_id);
		vec_push(&names->list, ((struct live_module){ one->start, one->start + one->size, module }));
	}
	kernel_modules_fini(&loaded);
	if (names->list.count)
		qsort(names->list.items, names->list.count, sizeof *names->list.items, compare);
}

void live_names_open(struct live_names *names, struct cli *cli, const struct lock_options *options)
{
	struct symbols_options symbols = options->input.symbols;
	*names = (struct live_names){ 0 };
	modules_init(&names->modules);
	struct module *kernel = modules_kernel(&names->modules, "[kernel.kallsyms]");
	kernel->build_id_len = (uint8_t)kernel_build_id(kernel->build_id);
	add_modules(names);
	names->kernel = kernel;
	symbols.aliases = symbols.same_machine = true;
	symbols.buildid_dir = environment_cache(cli, false);
	symbols.debuginfod = servers_named(cli);
	symbols.kernel_cache_dir = cli->user_cache_dir;
	symbols.budget = cli->budget;
	symbols.verbose = options->input.verbose;
	names->symbols = symbols_new(&names->modules, &symbols);
}

void live_names_close(struct live_names *names)
{
	symbols_free(names->symbols);
	vec_fini(&names->list);
	modules_fini(&names->modules);
}

struct lock_frame live_names_frame(const struct live_names *names, uint64_t address)
{
	for (size_t low = 0, high = names->list.count; low < high;) {
		size_t middle = (low + high) / 2;
		const struct live_module *one = &names->list.items[middle];
		if (address >= one->start && address < one->end)
			return lock_frame_of(names->symbols, one->module, address - one->start, address);
		if (address < one->start)
			high = middle;
		else
			low = middle + 1;
	}
	return lock_frame_of(names->symbols, names->kernel, address, address);
}
