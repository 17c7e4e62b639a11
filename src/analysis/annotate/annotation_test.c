#include "analysis/annotate/annotation.h"

#include "analysis/annotate/test_program.h"

#define SKIP_WITHOUT_CODE(p)                                                        \
	if ((p)->annotation.missing.kind == ERROR_UNSUPPORTED && (p)->annotation.path) { \
		unit_skip("this build has no disassembler");                        \
		annotated_close(p);                                                 \
		return;                                                             \
	}

struct annotated {
	struct folder folder;
	char path[PATH_MAX];
	struct module module;
	struct modules modules;
	struct symbols *symbols;
	struct annotator *annotator;
	struct hits hits;
	struct annotation annotation;
};

/* Opens the program and annotates its function f with two samples at 1002, one of each event, and one of event 1 at 100d, inside lea. */
static void annotated_open(struct annotated *p, uint64_t f_size, bool remove_file)
{
	*p = (struct annotated){ .module = { .kind = MODULE_FILE, .pid = -1 } };
	folder_open(&p->folder);
	strcpy(p->path, program_write(&p->folder, f_size));
	p->module.name = p->module.long_name = p->module.short_name = p->path;
	vec_push(&p->modules.list, &p->module);
	p->symbols = symbols_new(&p->modules, &(struct symbols_options){ .no_kernel_lookup = true });
	uint32_t f = symbols_lookup(p->symbols, &p->module, PROGRAM_OFFSET);
	EXPECT(f != 0);
	p->hits.event_count = 2;
	vec_push(&p->hits.symbols, ((struct hit_symbol){ 0, f, 0, 3, 0 }));
	idmap_set(&p->hits.by_symbol, f, 0);
	vec_push(&p->hits.totals, ((struct hit_count){ 1, 10 }));
	vec_push(&p->hits.totals, ((struct hit_count){ 2, 12 }));
	vec_push(&p->hits.hits, ((struct hit){ PROGRAM_OFFSET + 2, 0, { 1, 10 } }));
	vec_push(&p->hits.hits, ((struct hit){ PROGRAM_OFFSET + 2, 1, { 1, 5 } }));
	vec_push(&p->hits.hits, ((struct hit){ PROGRAM_OFFSET + 13, 1, { 1, 7 } }));
	if (remove_file)
		EXPECT_INT(remove(p->path), 0);
	p->annotator = annotator_new(&(struct annotator_options){ .symbols = p->symbols, .modules = &p->modules });
	annotation_make(&p->annotation, p->annotator, &p->hits, 0, f);
}

static void annotated_close(struct annotated *p)
{
	annotation_fini(&p->annotation);
	annotator_free(p->annotator);
	hits_fini(&p->hits);
	symbols_free(p->symbols);
	vec_fini(&p->modules.list);
	folder_close(&p->folder);
}

TEST("the lines of a symbol are its instructions, each with the samples up to the next one")
{
	static const struct { uint64_t offset; const char *mnemonic; uint64_t first, second; } want[] = {
		{ 0, "testl", 0, 0 }, { 2, "je", 1, 1 }, { 4, "callq", 0, 0 }, { 9, "nop", 0, 0 }, { 10, "retq", 0, 0 }, { 11, ".byte", 0, 0 },
		{ 12, "leaq", 0, 1 },
	};
	struct annotated p;
	annotated_open(&p, PROGRAM_F_SIZE, false);
	SKIP_WITHOUT_CODE(&p);
	const struct annotation *a = &p.annotation;
	EXPECT_STR(a->name, "f");
	EXPECT_INT(a->start, PROGRAM_F);
	EXPECT_INT(a->size, PROGRAM_F_SIZE);
	EXPECT(!a->cut && a->missing.kind == ERROR_NONE);
	EXPECT_INT(a->lines.count, 7);
	for (size_t i = 0; i < 7 && i < a->lines.count; i++) {
		EXPECT_STR(a->lines.items[i].mnemonic, want[i].mnemonic);
		EXPECT_INT(a->lines.items[i].offset, want[i].offset);
		EXPECT_INT(a->lines.items[i].address, PROGRAM_F + want[i].offset);
		EXPECT_INT(annotated_count(&a->lines.items[i], 0).samples, want[i].first);
		EXPECT_INT(annotated_count(&a->lines.items[i], 1).samples, want[i].second);
	}
	EXPECT_INT(a->hottest, 1);
	annotated_close(&p);
}

TEST("jumps lead to lines, calls and operands to symbols, and a comparison is fused with its jump")
{
	struct annotated p;
	annotated_open(&p, PROGRAM_F_SIZE, false);
	SKIP_WITHOUT_CODE(&p);
	const struct annotated_line *lines = p.annotation.lines.items;
	EXPECT(lines[0].fused && !lines[1].fused);
	EXPECT(lines[1].inside && lines[1].conditional);
	EXPECT_INT(lines[1].target_line, 4);
	EXPECT_STR(lines[1].target_name, "f+0xa");
	EXPECT_INT(lines[4].jump_sources, 1);
	EXPECT_INT(lines[3].jump_sources, 0);
	EXPECT(lines[2].direct && !lines[2].inside);
	EXPECT_STR(lines[2].target_name, "g");
	EXPECT_INT(lines[6].reference, PROGRAM_G);
	EXPECT_STR(lines[6].reference_name, "g");
	annotated_close(&p);
}

TEST("without its file a symbol has lines for its samples, and a sentence")
{
	struct annotated p;
	annotated_open(&p, PROGRAM_F_SIZE, true);
	const struct annotation *a = &p.annotation;
	EXPECT_INT(a->lines.count, 2);
	EXPECT(strstr(a->missing.text, "no file with the code of") != NULL);
	EXPECT(strstr(a->missing.hint, p.path) != NULL);
	EXPECT(!a->path && !a->lines.items[0].mnemonic);
	EXPECT_INT(a->lines.items[0].offset, 2);
	EXPECT_INT(annotated_count(&a->lines.items[1], 1).period, 7);
	EXPECT_INT(a->hottest, 0);
	annotated_close(&p);
}

TEST("a symbol that claims more than its file has is cut, and keeps its samples")
{
	struct annotated p;
	annotated_open(&p, (uint64_t)1 << 40, false);
	SKIP_WITHOUT_CODE(&p);
	uint64_t samples = 0;
	EXPECT(p.annotation.cut);
	EXPECT(p.annotation.lines.count < 64);
	for (size_t i = 0; i < p.annotation.lines.count; i++)
		samples += annotated_count(&p.annotation.lines.items[i], 1).samples;
	EXPECT_INT(samples, 2);
	annotated_close(&p);
}

TEST("the table of an annotation has a row for each line, and columns for each event with samples")
{
	static const char *const names[] = { "cycles", "faults" };
	struct annotated p;
	struct annotation_table table;
	struct str scratch CLEANUP_STR = { 0 };
	annotated_open(&p, PROGRAM_F_SIZE, false);
	SKIP_WITHOUT_CODE(&p);
	annotation_table_init(&table, &p.annotation, names);
	const struct table *t = &table.table;
	EXPECT_INT(t->row_count(t->context, TABLE_TOP), 7);
	EXPECT_INT(t->column_count, 16);
	EXPECT_STR(t->columns[2].name, "samples");
	EXPECT_STR(t->columns[5].name, "samples:faults");
	uint64_t row = t->row(t->context, TABLE_TOP, 1);
	EXPECT_INT(t->cell(t->context, row, 0, &scratch).count, PROGRAM_F + 2);
	EXPECT_INT(t->cell(t->context, row, 3, &scratch).count, 10);
	EXPECT_INT(t->cell(t->context, row, 6, &scratch).count, 5);
	struct cell share = t->cell(t->context, row, 7, &scratch);
	EXPECT_INT(share.share.part, 5);
	EXPECT_INT(share.share.whole, 12);
	EXPECT_STR(t->cell(t->context, row, 8, &scratch).text, "7406");
	EXPECT_STR(t->cell(t->context, row, 9, &scratch).text, "je");
	EXPECT_INT(t->cell(t->context, row, 11, &scratch).count, PROGRAM_F + 10);
	annotation_table_fini(&table);
	annotated_close(&p);
}

TEST("long names of the targets of very many jumps take bounded memory")
{
	enum { CODE_BYTES = 64 << 10, NAME_BYTES = 15 << 10, MOST = 80 << 20 };
	struct folder folder;
	struct module module = { .kind = MODULE_FILE, .pid = -1 };
	struct modules modules = { 0 };
	struct maker maker = maker_new(true, false, EM_X86_64, ET_DYN);
	uint8_t *code = memory_alloc(CODE_BYTES);
	char *name = memory_zero(1, NAME_BYTES + 1);
	size_t len, texts = 0;
	for (size_t i = 0; i < CODE_BYTES; i += 2)
		memcpy(code + i, "\xeb\x00", 2); /* jmp to the next instruction */
	memset(name, 'f', NAME_BYTES);
	unsigned text = maker_section(&maker, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PROGRAM_F, code, CODE_BYTES);
	unsigned symtab = maker_symtab(&maker, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&maker, symtab, name, PROGRAM_F, CODE_BYTES, STB_GLOBAL, STT_FUNC, text);
	uint8_t *bytes = maker_finish(&maker, &len);
	folder_open(&folder);
	char *path = memory_string(folder_write(&folder, "program", bytes, len));
	module.name = module.long_name = module.short_name = path;
	vec_push(&modules.list, &module);
	struct symbols *symbols = symbols_new(&modules, &(struct symbols_options){ .no_kernel_lookup = true });
	uint32_t f = symbols_lookup(symbols, &module, PROGRAM_OFFSET);
	struct annotator *annotator = annotator_new(&(struct annotator_options){ .symbols = symbols, .modules = &modules });
	struct annotation annotation;
	EXPECT(f != 0);
	annotation_make(&annotation, annotator, NULL, 0, f);
	for (size_t i = 0; i < annotation.lines.count; i++)
		texts += annotation.lines.items[i].target_name ? strlen(annotation.lines.items[i].target_name) : 0;
	if (annotation.missing.kind == ERROR_UNSUPPORTED)
		unit_skip("this build has no disassembler");
	else
		EXPECT(texts > NAME_BYTES && texts < MOST);
	annotation_fini(&annotation);
	annotator_free(annotator);
	symbols_free(symbols);
	vec_fini(&modules.list);
	folder_close(&folder);
	free(path);
	free(bytes);
	free(name);
	free(code);
}
