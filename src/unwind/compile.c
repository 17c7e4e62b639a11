#include "unwind/compile.h"

#include <elf.h>
#include <stdlib.h>

#include "unwind/collect.h"
#include "unwind/go_frames.h"
#include "unwind/program.h"
#include "unwind/sframe.h"
#include "unwind/stubs.h"
#include "unwind/stubs_go.h"

/* Limit on the bytes of initial instructions that are executed again because entries alternate between CIEs; real files stay below. */
#define CIE_COST ((uint64_t)64 << 20)
/* Entries of one function of a just-in-time compiler, which mostly has one: each may execute all its bytes again. */
#define JIT_PIECES_MAX 16u
#define ROW_BYTES 5u             /* bytes of call frame information per row, approximately */

static void note_loads(const struct elf *elf, struct rule_table *table)
{
	table->loads = memory_alloc((elf->load_count + 1) * sizeof *table->loads);
	for (uint32_t i = 0; i < elf->load_count; i++)
		if (elf->loads[i].flags & PF_X)
			table->loads[table->load_count++] = (struct load_range){ .offset = elf->loads[i].offset,
				.size = elf->loads[i].file_size, .address = elf->loads[i].vaddr };
}

/* The CIE whose initial state the program holds. */
struct current_cie {
	uint32_t index;
	bool good;
	uint64_t cost;
};

static void compile_piece(struct collection *c, struct program *program, const struct piece *piece, struct current_cie *now)
{
	const struct cfi_section *section = &c->sections[piece->section];
	const struct cie *cie = &c->cies.items[piece->cie].cie;
	if (piece->cie != now->index) {
		now->cost += cie->program.len;
		program->section = section;
		now->good = now->cost <= section->bytes.len + CIE_COST && program_cie(program, cie);
		now->index = piece->cie;
	}
	struct fde fde = { .start = piece->function, .size = piece->end - piece->function };
	struct span code = { section->bytes.data + piece->program, piece->program_len };
	if (!now->good)
		rule_builder_row(program->builder, piece->start, RULE_NONE);
	if (!now->good || !program_fde(program, cie, &fde, code, piece->program, piece->start, piece->end))
		c->damaged++;
}

#define SFRAME_SECTION 0xfeu /* piece.section; piece.program is the function's index */

static bool collect_sframe(struct collection *c, const struct elf *elf, enum unwind_arch arch, struct sframe *sframe)
{
	const struct elf_section *section = elf_section(elf, ".sframe");
	struct sframe_function f;
	if (!section || sframe_open(sframe, elf_section_bytes(elf, section), section->address) < 0 || sframe->arch != arch)
		return false;
	for (uint32_t i = 0; i < sframe->count; i++)
		if (sframe_function(sframe, i, &f))
			vec_push(&c->pieces, ((struct piece){ .start = f.start, .end = f.start + f.size, .function = f.start, .program = i,
				.section = SFRAME_SECTION, .rank = RANK_SFRAME }));
		else
			c->damaged++;
	return true;
}

static void compile_sframe(struct collection *c, struct sframe *sframe, const struct piece *piece, struct rule_builder *b)
{
	struct sframe_function f;
	rule_builder_row(b, piece->start, RULE_NONE); /* up to its first row */
	if (!sframe_function(sframe, piece->program, &f) || !sframe_rows(sframe, &f, b, piece->start, piece->end))
		c->damaged++;
}

/* Adds the rows of the collected pieces, and no rules between them. */
static void compile_pieces(struct collection *c, struct program *program, enum unwind_arch arch, struct sframe *sframe,
	const struct go_functions *go)
{
	struct current_cie now = { .index = UINT32_MAX };
	uint64_t end = 0;
	for (size_t i = 0; i < c->pieces.count; i++) {
		const struct piece *piece = &c->pieces.items[i];
		if (i && end < piece->start)
			rule_builder_add(program->builder, end, RULE_NONE);
		else if (i && piece->start == piece->function)
			rule_builder_boundary(program->builder, piece->start);
		end = piece->end;
		if (piece->section == STUB_SECTION)
			rule_builder_row(program->builder, piece->start, stub_rule(program->builder, arch, (enum stub)piece->program));
		else if (piece->section == SFRAME_SECTION)
			compile_sframe(c, sframe, piece, program->builder);
		else if (piece->section == GO_SECTION)
			c->damaged += !go_frames_rows(go, piece, arch, program->builder);
		else
			compile_piece(c, program, piece, &now);
	}
	if (end)
		rule_builder_row(program->builder, end, RULE_NONE);
}

/* Go's linker writes call frame information only there. */
static bool has_debug_frames(const struct elf *runtime, const struct elf *debug)
{
	return debug || elf_section(runtime, ".debug_frame") || elf_section(runtime, ".zdebug_frame");
}

int rules_compile(const struct elf *runtime, const struct elf *debug, struct budget *budget, struct rule_table *table, struct error *err)
{
	struct collection collection;
	struct rule_builder builder;
	*table = (struct rule_table){ 0 };
	if (runtime->swap || !machine_arch(runtime->machine, runtime->is64, &table->arch))
		return error_set(err, ERROR_UNSUPPORTED, "stacks of this kind of machine (%u) are not known", runtime->machine);
	if (debug && (debug->swap || debug->machine != runtime->machine || debug->is64 != runtime->is64))
		debug = NULL;
	note_loads(runtime, table);
	collection_init(&collection, runtime, debug, budget);
	collection_read(&collection);
	struct sframe sframe;
	struct go_functions go;
	bool has_sframe = collect_sframe(&collection, runtime, table->arch, &sframe);
	bool has_go = !has_debug_frames(runtime, debug) && go_frames_collect(&collection, runtime, table->arch, &go);
	collection_order(&collection);
	stubs_collect(&collection, runtime, table->arch);
	collection_order(&collection);
	rule_builder_init(&builder, table, collection.bytes / ROW_BYTES);
	struct program *program = memory_zero(1, sizeof *program);
	program->machine = machine_of(table->arch);
	program->builder = &builder;
	compile_pieces(&collection, program, table->arch, &sframe, &go);
	free(program);
	rule_builder_finish(&builder);
	table->has_info = collection.section_count || has_sframe || has_go;
	table->entry_from = runtime->entry;
	table->entry_to = runtime->entry + (runtime->entry && runtime->type != ET_REL ? 64 : 0);
	table->damaged = collection.damaged;
	table->entry_returns = go_is(runtime);
	collection_fini(&collection);
	return 0;
}

static void compile_jit_code(const struct jit *jit, const struct jit_code *code, struct program *program, bool is64,
	struct rule_table *table)
{
	struct collection collection;
	uint64_t end = code->offset + code->size;
	struct span frames = { jit->frames.items + code->frames_at, code->frames_len };
	collection_init_frames(&collection, frames, end + (-code->size & 7), is64);
	collection_read(&collection);
	collection_clip(&collection, code->offset, end);
	if (collection.pieces.count > JIT_PIECES_MAX) {
		collection.damaged += collection.pieces.count - JIT_PIECES_MAX;
		collection.pieces.count = JIT_PIECES_MAX;
	}
	collection_order(&collection);
	compile_pieces(&collection, program, table->arch, NULL, NULL);
	table->has_info = true;
	table->damaged += collection.damaged;
	collection_fini(&collection);
}

int rules_compile_jit(const struct jit *jit, struct rule_table *table, struct error *err)
{
	struct rule_builder builder;
	bool is64 = jit->machine != EM_386;
	*table = (struct rule_table){ 0 };
	if (!machine_arch(jit->machine, is64, &table->arch))
		return error_set(err, ERROR_UNSUPPORTED, "stacks of this kind of machine (%u) are not known", jit->machine);
	table->loads = memory_alloc(sizeof *table->loads);
	table->loads[table->load_count++] = (struct load_range){ .size = UINT64_MAX };
	rule_builder_init(&builder, table, jit->frames.count / ROW_BYTES);
	struct program *program = memory_zero(1, sizeof *program);
	program->machine = machine_of(table->arch);
	program->builder = &builder;
	for (size_t i = 0; i < jit->codes.count; i++)
		if (jit->codes.items[i].frames_len)
			compile_jit_code(jit, &jit->codes.items[i], program, is64, table);
	free(program);
	rule_builder_finish(&builder);
	return 0;
}
