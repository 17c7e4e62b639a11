#include "symbol/go_table.h"

#include <elf.h>

#include "elf/go_functions.h"

bool go_table_has(const struct elf *elf)
{
	struct go_functions t;
	return go_functions_open(&t, elf);
}

void go_table_symbols(const struct elf *elf, struct table_builder *builder)
{
	struct go_functions t;
	struct go_function f;
	if (!go_functions_open(&t, elf))
		return;
	for (uint64_t i = 0; i < t.count; i++) {
		if (!go_functions_get(&t, i, &f) || !f.name || !*f.name)
			continue;
		const struct elf_load *load = elf_load_at(elf, f.start);
		if (load)
			builder_add(builder, f.start - load->vaddr + load->offset, f.end - f.start, f.name, STB_GLOBAL, STT_FUNC);
	}
	builder_merge(builder);
	builder_drop_duplicates(builder);
}
