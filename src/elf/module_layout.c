#include "elf/module_layout.h"

#include <elf.h>

#define ALIGN_MAX ((uint64_t)1 << 21)

static bool stays(const struct elf_section *s)
{
	return s->flags & SHF_EXECINSTR && strncmp(s->name, ".init", 5) != 0;
}

static uint64_t place(struct elf_section *s, uint64_t at)
{
	bool aligned = s->align && s->align <= ALIGN_MAX && !(s->align & (s->align - 1));
	s->address = aligned ? (at + s->align - 1) & -s->align : at;
	return s->address + s->size;
}

void module_layout(struct elf *elf)
{
	uint64_t limit = module_elsewhere(elf), code = 0, elsewhere = limit;
	if (elf->type != ET_REL)
		return;
	for (uint32_t i = 1; i < elf->section_count; i++) {
		struct elf_section *s = &elf->sections[i];
		if (!(s->flags & SHF_ALLOC))
			continue;
		/* no module has larger sections */
		bool sane = s->size < limit / 4;
		if (sane && stays(s) && code < limit / 2)
			code = place(s, code);
		else if (sane && elsewhere < UINT64_MAX / 2)
			elsewhere = place(s, elsewhere);
	}
}
