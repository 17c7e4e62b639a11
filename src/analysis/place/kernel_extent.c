#include "analysis/place/kernel_extent.h"

enum { ORIGIN_KALLSYMS = 'k' };

static const struct module *kernel_module_of(const struct modules *modules)
{
	for (size_t i = 0; i < modules->list.count; i++)
		if (modules->list.items[i]->kind == MODULE_KERNEL)
			return modules->list.items[i];
	return NULL;
}

const struct map *kernel_extent_beyond(void *context, const struct session *session, uint64_t address)
{
	struct symbols *symbols = *(struct symbols **)context;
	const struct module *kernel = kernel_module_of(&session->model.modules);
	uint64_t start, end;
	if (!symbols || !kernel)
		return NULL;
	if (!symbols_extent(symbols, kernel, &start, &end) || symbols_info(symbols, kernel).origin != ORIGIN_KALLSYMS)
		return NULL;
	if (address < start || address >= end)
		return NULL;
	return map_find(model_kernel_root(&session->model, UINT64_MAX), kernel->start);
}

size_t kernel_extent_parts(void *context, const struct module *kernel, struct kernel_part *parts, size_t max)
{
	struct symbols *symbols = *(struct symbols **)context;
	return symbols ? symbols_kernel_parts(symbols, kernel, parts, max) : 0;
}

bool kernel_extent_symbol(void *context, const struct module *kernel, const char *name, uint64_t *offset)
{
	struct symbols *symbols = *(struct symbols **)context;
	uint64_t end;
	return symbols && symbols_named(symbols, kernel, name, offset, &end);
}
