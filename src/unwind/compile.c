#include "unwind/compile.h"

#include <elf.h>
#include <stdlib.h>

#include "unwind/collect.h"
#include "unwind/program.h"

/* Bytes of initial instructions that are run again because entries take turns with their CIEs; more is no sane file. */
#define CIE_COST ((uint64_t)64 << 20)

static void note_loads(const struct elf *elf, struct rule_table *table)
{
	table->loads = memory_alloc((elf->load_count + 1) * sizeof *table->loads);
	for (uint32_t i = 0; i < elf->load_count; i++)
		if (elf->loads[i].flags & PF_X)
			table->loads[table->load_count++] = (struct load_range){ .offset = elf->loads[i].offset,
				.size = elf->loads[i].file_size, .address = elf->loads[i].vaddr };
}

/* The rows of what was collected, and none between. */
static void compile_pieces(struct collection *c, struct program *program)
{
	uint32_t cie_now = UINT32_MAX;
	bool cie_good = false;
	uint64_t end = 0, cost = 0;
	for (size_t i = 0; i < c->pieces.count; i++) {
		const struct piece *piece = &c->pieces.items[i];
		const struct cfi_section *section = &c->sections[piece->section];
		const struct cie *cie = &c->cies.items[piece->cie].cie;
		if (piece->cie != cie_now) {
			cost += cie->program.len;
			if (cost > section->bytes.len + CIE_COST) {
				c->damaged += c->pieces.count - i;
				break;
			}
			program->section = section;
			cie_good = program_cie(program, cie);
			cie_now = piece->cie;
		}
		if (i && end < piece->start)
			rule_builder_row(program->builder, end, RULE_NONE);
		end = piece->end;
		struct fde fde = { .start = piece->function, .size = piece->end - piece->function };
		struct span code = { section->bytes.data + piece->program, piece->program_len };
		if (!cie_good || !program_fde(program, cie, &fde, code, piece->program, piece->start, piece->end)) {
			c->damaged++;
			if (!cie_good)
				rule_builder_row(program->builder, piece->start, RULE_NONE);
		}
	}
	if (end)
		rule_builder_row(program->builder, end, RULE_NONE);
}

int rules_compile(const struct elf *runtime, const struct elf *debug, struct rule_table *table, struct error *err)
{
	struct collection collection;
	struct rule_builder builder;
	*table = (struct rule_table){ 0 };
	if (runtime->swap || !machine_arch(runtime->machine, runtime->is64, &table->arch))
		return error_set(err, ERROR_UNSUPPORTED, "stacks of this kind of machine (%u) are not known", runtime->machine);
	if (debug && (debug->swap || debug->machine != runtime->machine || debug->is64 != runtime->is64))
		debug = NULL;
	note_loads(runtime, table);
	collection_init(&collection, runtime, debug);
	collection_read(&collection);
	rule_builder_init(&builder, table);
	struct program *program = memory_zero(1, sizeof *program);
	program->machine = machine_of(table->arch);
	program->builder = &builder;
	compile_pieces(&collection, program);
	free(program);
	rule_builder_finish(&builder);
	table->has_info = collection.section_count != 0;
	table->entry_from = runtime->entry;
	table->entry_to = runtime->entry + (runtime->entry && runtime->type != ET_REL ? 64 : 0);
	table->damaged = collection.damaged;
	collection_fini(&collection);
	return 0;
}
