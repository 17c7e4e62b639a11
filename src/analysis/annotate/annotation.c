#include "analysis/annotate/annotation.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/annotate/code_source.h"
#include "analysis/annotate/flow.h"
#include "analysis/annotate/source_files.h"
#include "base/search.h"
#include "base/str.h"
#include "code/objdump.h"
#include "symbol/lines.h"

/* One disassembler for each kind of machine code. */
struct opened_machine {
	struct code_machine machine;
	struct disassembler *disassembler; /* NULL: `missing` */
	struct error missing;
};

struct annotator {
	struct annotator_options options;
	struct code_source *source;
	struct source_files *texts;
	VEC(struct opened_machine) machines;
};

/* CONTEXT_LINES: the number of lines that objdump shows before the first one of a function. */
enum {
	CONTEXT_LINES = 5,
	SOURCE_TEXT_MAX = 4096,
	NAME_TEXT_MAX = 16 << 10,
	TEXTS_MAX = 64 << 20,        /* of source lines and names of one symbol; later ones are cut to … */
	LATE_TEXT_MAX = 128,
};

/* What is known while the lines of one symbol are made. */
struct making {
	struct annotator *annotator;
	struct annotation *annotation;
	const struct symbol *symbol;
	struct code_bytes code;
	const struct hit *hits;      /* that no line has yet */
	size_t hit_count;
	struct source_line last;     /* the source line of the last instruction */
	struct idmap shown;          /* by address of a file's name: its last line that was shown */
	uint32_t inlined;            /* the innermost function of the last instruction */
	size_t texts;                /* bytes of source lines and names */
};

struct annotator *annotator_new(const struct annotator_options *options)
{
	struct annotator *annotator = memory_zero(1, sizeof *annotator);
	annotator->options = *options;
	annotator->source = code_source_new(options->symbols, options->header, options->kcore);
	annotator->texts = source_files_new(options->prefix, options->prefix_strip);
	return annotator;
}

void annotator_free(struct annotator *annotator)
{
	if (!annotator)
		return;
	for (size_t i = 0; i < annotator->machines.count; i++)
		disassembler_close(annotator->machines.items[i].disassembler);
	vec_fini(&annotator->machines);
	code_source_free(annotator->source);
	source_files_free(annotator->texts);
	free(annotator);
}

int annotator_check(struct annotator *annotator, uint32_t module, struct error *err)
{
	return code_source_check(annotator->source, modules_get(annotator->options.modules, module), err);
}

uint32_t annotator_symbol_at(struct annotator *annotator, uint32_t module, uint64_t address)
{
	uint64_t offset;
	const struct module *of = modules_get(annotator->options.modules, module);
	return of && code_source_offset(annotator->source, of, address, &offset) ? symbols_lookup(annotator->options.symbols, of, offset) : 0;
}

void annotation_fini(struct annotation *annotation)
{
	vec_fini(&annotation->lines);
	vec_fini(&annotation->code);
	arena_fini(&annotation->arena);
	*annotation = (struct annotation){ 0 };
}

static const struct opened_machine *machine_open(struct annotator *annotator, const struct code_machine *machine)
{
	for (size_t i = 0; i < annotator->machines.count; i++) {
		const struct opened_machine *known = &annotator->machines.items[i];
		if (known->machine.machine == machine->machine && known->machine.is64 == machine->is64
			&& known->machine.big_endian == machine->big_endian && known->machine.thumb == machine->thumb)
			return known;
	}
	struct opened_machine *added = vec_add(&annotator->machines);
	added->machine = *machine;
	if (disassembler_open(&added->disassembler, machine, annotator->options.syntax, &added->missing) < 0)
		added->disassembler = NULL;
	return added;
}

/* Moves the hits before `end` (an offset in the module) to the line. */
static void take_hits(struct making *making, struct annotated_line *line, uint64_t end)
{
	line->hits = making->hits;
	while (making->hit_count && making->hits->offset < end) {
		line->hit_count++;
		making->hits++;
		making->hit_count--;
	}
}

static size_t cut_text(struct making *making, size_t length, size_t most)
{
	most = making->texts < TEXTS_MAX ? most : LATE_TEXT_MAX;
	length = length < most ? length : most;
	making->texts += length;
	return length;
}

/* "main", "main+0x10"; NULL: the address is in no symbol. */
static const char *name_address(struct making *making, uint64_t address)
{
	const struct annotator *annotator = making->annotator;
	const struct module *module = making->annotation->module;
	uint64_t offset;
	if (!code_source_offset(annotator->source, module, address, &offset))
		return NULL;
	uint32_t id = symbols_lookup(annotator->options.symbols, module, offset);
	if (!id)
		return NULL;
	uint64_t into = offset - symbols_get(annotator->options.symbols, module, id)->start;
	const char *name = symbols_name(annotator->options.symbols, module, id);
	if (!into)
		return name;
	char text[NAME_TEXT_MAX + 32];
	int n = snprintf(text, sizeof text, "%.*s+%#" PRIx64, (int)cut_text(making, strlen(name), NAME_TEXT_MAX), name, into);
	return arena_string(&making->annotation->arena, text, (size_t)n);
}

static void add_text(struct making *making, const char *path, uint32_t number, const char *text, size_t length)
{
	char *copy = arena_string(&making->annotation->arena, text, cut_text(making, length, SOURCE_TEXT_MAX));
	text_join_lines(copy, strlen(copy));
	struct annotated_line *line = vec_add(&making->annotation->lines);
	line->kind = ANNOTATED_SOURCE;
	line->text = copy;
	line->file = path;
	line->line_number = number;
}

static void add_source_line(struct making *making, const char *path, uint32_t number)
{
	uint32_t length;
	const char *text = source_files_line(making->annotator->texts, path, number, &length);
	if (text)
		add_text(making, path, number, text, length);
}

/* Of code whose source lines are in the recording; false: they are not. */
static bool add_recorded_line(struct making *making, uint64_t offset, struct source_line *at)
{
	struct code_line line;
	if (!code_source_line(making->annotator->source, making->annotation->module, offset, &line))
		return false;
	*at = (struct source_line){ *line.file ? line.file : NULL, line.number };
	if (making->annotator->options.source && line.text.len && (at->file != making->last.file || at->line != making->last.line))
		add_text(making, at->file, at->line, (const char *)line.text.data, line.text.len);
	return true;
}

/* The lines that objdump -S shows before code of a line: those that follow the last one shown, or some context, up to the line itself. */
static void add_source(struct making *making, const struct source_line *at)
{
	if (!at->file || !at->line || (at->file == making->last.file && at->line == making->last.line))
		return;
	uint32_t shown = idmap_get(&making->shown, (uintptr_t)at->file);
	uint32_t first = at->line > CONTEXT_LINES ? at->line - CONTEXT_LINES : 1;
	if (shown != IDMAP_NONE && shown >= first)
		first = shown < at->line ? shown + 1 : at->line;
	for (uint32_t line = first; line <= at->line; line++)
		add_source_line(making, at->file, line);
	if (shown == IDMAP_NONE || at->line > shown)
		idmap_set(&making->shown, (uintptr_t)at->file, at->line);
}

static void add_inline(struct making *making, uint64_t offset)
{
	const struct annotator_options *options = &making->annotator->options;
	struct line_frame frames[LINE_FRAMES_MAX];
	size_t count = lines_inlines(options->symbols, making->annotation->module, offset, making->annotation->symbol, frames);
	uint32_t innermost = count ? frames[0].symbol : making->annotation->symbol;
	if (innermost == making->inlined)
		return;
	making->inlined = innermost;
	struct annotated_line *line = vec_add(&making->annotation->lines);
	line->kind = ANNOTATED_INLINE;
	line->text = symbols_name(options->symbols, making->annotation->module, innermost);
}

/* Adds the lines before an instruction; stores its origin. */
static void add_context(struct making *making, uint64_t offset, struct source_line *at)
{
	const struct annotator_options *options = &making->annotator->options;
	*at = (struct source_line){ 0 };
	if (options->inlined)
		add_inline(making, offset);
	if (!options->source && !options->places)
		return;
	if (!add_recorded_line(making, offset, at)) {
		lines_place(options->symbols, making->annotation->module, offset, false, at);
		if (options->source)
			add_source(making, at);
	}
	making->last = *at;
}

/* In a file of a kernel module the targets of calls are filled in when it is loaded. */
static bool is_unfilled(const struct making *making, const struct instruction *in)
{
	return making->annotation->module->kind == MODULE_KMODULE && in->kind == CODE_CALL && in->target == in->address + in->length;
}

static void spell(const struct making *making, struct annotated_line *line, const struct instruction *in)
{
	struct arena *arena = &making->annotation->arena;
	if (making->annotator->options.objdump) {
		struct str mnemonic CLEANUP_STR = { 0 }, operands CLEANUP_STR = { 0 };
		objdump_spell(in, &mnemonic, &operands);
		if (line->target_name)
			str_printf(&operands, " <%s>", line->target_name);
		line->mnemonic = arena_string(arena, str_text(&mnemonic), mnemonic.len);
		line->operands = arena_string(arena, str_text(&operands), operands.len);
		return;
	}
	line->mnemonic = arena_string(arena, in->mnemonic, strlen(in->mnemonic));
	size_t len = strlen(in->operands);
	while (len && in->operands[len - 1] == ' ')
		len--;
	line->operands = arena_string(arena, in->operands, len);
}

static void add_instruction(struct making *making, const struct instruction *in)
{
	struct annotation *annotation = making->annotation;
	struct source_line at;
	uint64_t into = in->address - annotation->start;
	add_context(making, making->symbol->start + into, &at);
	struct annotated_line *line = vec_add(&annotation->lines);
	*line = (struct annotated_line){ .kind = ANNOTATED_CODE, .offset = into, .address = in->address, .bytes = in->bytes,
		.length = in->length, .code = in->kind, .conditional = in->conditional, .direct = in->direct && !is_unfilled(making, in),
		.target = in->target, .file = at.file, .line_number = at.line };
	if (line->direct)
		line->target_name = name_address(making, in->target);
	spell(making, line, in);
	if (in->refers) {
		line->reference = in->reference;
		line->reference_name = name_address(making, in->reference);
	}
	take_hits(making, line, making->symbol->start + into + in->length);
}

/* Lines for the addresses with samples that have no code. */
static void add_bare_lines(struct making *making)
{
	while (making->hit_count) {
		uint64_t offset = making->hits->offset, into = offset - making->symbol->start;
		struct annotated_line *line = vec_add(&making->annotation->lines);
		*line = (struct annotated_line){ .kind = ANNOTATED_CODE, .offset = into, .address = making->annotation->start + into };
		take_hits(making, line, offset + 1);
	}
}

static void disassemble_all(struct making *making, struct disassembler *disassembler)
{
	struct span code = making->code.bytes;
	uint64_t address = making->code.address;
	struct instruction in;
	while (disassembler_next(disassembler, &code, &address, &in))
		add_instruction(making, &in);
}

/* Intel and AMD: the comparison and the conditional jump after it are one operation. */
static bool is_fused(const struct annotated_line *line, const struct annotated_line *next)
{
	bool compares = strncmp(line->mnemonic, "test", 4) == 0
		|| (strncmp(line->mnemonic, "cmp", 3) == 0 && strncmp(line->mnemonic, "cmpx", 4) != 0);
	return compares && next->code == CODE_JUMP && next->conditional;
}

/* The index in `code` of the first line at or after an address. */
static size_t code_at(const struct annotation *annotation, const uint32_t *code, size_t count, uint64_t address)
{
	return SEARCH_COUNT(count, i, annotation->lines.items[code[i]].address < address);
}

static void number_code(struct annotation *annotation)
{
	for (uint32_t i = 0; i < annotation->lines.count; i++) {
		struct annotated_line *line = &annotation->lines.items[i];
		if (line->kind != ANNOTATED_CODE || !line->mnemonic)
			continue;
		line->number = (uint32_t)annotation->code.count;
		vec_push(&annotation->code, i);
	}
}

/* Finds the lines that jumps lead to. */
static void link_jumps(struct annotation *annotation, bool x86)
{
	const uint32_t *code = annotation->code.items;
	for (size_t i = 0; i < annotation->code.count; i++) {
		struct annotated_line *line = &annotation->lines.items[code[i]];
		if (i + 1 < annotation->code.count && x86)
			line->fused = is_fused(line, &annotation->lines.items[code[i + 1]]);
		if (!line->direct)
			continue;
		size_t found = code_at(annotation, code, annotation->code.count, line->target);
		if (found == annotation->code.count || annotation->lines.items[code[found]].address != line->target)
			continue;
		line->inside = true;
		line->target_line = code[found];
		annotation->lines.items[code[found]].jump_sources += line->code == CODE_JUMP;
	}
}

static void find_hottest(struct annotation *annotation)
{
	uint32_t event = 0;
	struct hit_count most = { 0 };
	annotation->hottest = UINT32_MAX;
	while (annotation->totals && event < annotation->event_count && !annotation->totals[event].samples)
		event++;
	for (uint32_t i = 0; i < annotation->lines.count; i++) {
		struct hit_count count = annotated_count(&annotation->lines.items[i], event);
		if (!count.samples || (annotation->hottest != UINT32_MAX && count.period <= most.period))
			continue;
		most = count;
		annotation->hottest = i;
	}
}

static void make_code(struct making *making)
{
	struct annotation *annotation = making->annotation;
	uint64_t size = annotation->size < ANNOTATION_BYTES_MAX ? annotation->size : ANNOTATION_BYTES_MAX;
	if (code_source_read(making->annotator->source, annotation->module, making->symbol->start, size, &making->code,
			&annotation->missing) < 0)
		return;
	annotation->start = making->code.address;
	annotation->path = making->code.path;
	annotation->section = making->code.section;
	annotation->cut = making->code.bytes.len < annotation->size;
	const struct opened_machine *machine = machine_open(making->annotator, &making->code.machine);
	if (machine->disassembler)
		disassemble_all(making, machine->disassembler);
	else
		annotation->missing = machine->missing;
}

void annotation_make(struct annotation *annotation, struct annotator *annotator, const struct hits *hits, uint32_t module,
	uint32_t symbol)
{
	struct symbols *symbols = annotator->options.symbols;
	*annotation = (struct annotation){ .module = modules_get(annotator->options.modules, module), .symbol = symbol };
	struct making making = { .annotator = annotator, .annotation = annotation, .inlined = symbol };
	making.symbol = symbols_get(symbols, annotation->module, symbol);
	annotation->name = symbols_name(symbols, annotation->module, symbol);
	annotation->start = making.symbol->start;
	annotation->size = making.symbol->end - making.symbol->start;
	const struct hit_symbol *found = hits ? hits_find(hits, module, symbol) : NULL;
	if (found) {
		annotation->totals = hits_totals(hits, found);
		annotation->event_count = hits->event_count;
		making.hits = hits->hits.items + found->first;
		making.hit_count = found->hit_count;
	}
	make_code(&making);
	idmap_fini(&making.shown);
	add_bare_lines(&making);
	number_code(annotation);
	link_jumps(annotation, making.code.machine.machine == EM_X86_64 || making.code.machine.machine == EM_386);
	if (hits)
		flow_make(annotation, &hits->blocks, making.symbol->start);
	find_hottest(annotation);
}
