#include "analysis/annotate/code_source.h"

#include "analysis/annotate/test_program.h"
#include "data/header.h"
#include "symbol/symbol.h"

struct sourced {
	struct folder folder;
	char path[PATH_MAX];
	struct module module;
	struct modules modules;
	struct symbols *symbols;
	struct code_source *source;
};

static void sourced_open(struct sourced *s, enum module_kind kind, const struct header *header, bool kcore)
{
	*s = (struct sourced){ .module = { .kind = kind, .pid = -1, .name = "x", .long_name = "x", .short_name = "x", .start = 0x7000 } };
	folder_open(&s->folder);
	if (kcore) {
		struct maker maker = maker_new(true, false, EM_X86_64, ET_CORE);
		size_t len;
		maker_section(&maker, ".text", SHT_PROGBITS, SHF_ALLOC, 0xffff0000, "abcdefgh", 8);
		maker_section(&maker, ".mod", SHT_PROGBITS, SHF_ALLOC, 0x7000, "12345678", 8);
		uint8_t *bytes = maker_finish(&maker, &len);
		strcpy(s->path, folder_write(&s->folder, "kcore", bytes, len));
		free(bytes);
	}
	vec_push(&s->modules.list, &s->module);
	s->symbols = symbols_new(&s->modules, &(struct symbols_options){ .no_kernel_lookup = true, .symfs = s->folder.root });
	s->source = code_source_new(s->symbols, header, s->path);
}

static void sourced_close(struct sourced *s)
{
	code_source_free(s->source);
	symbols_free(s->symbols);
	vec_fini(&s->modules.list);
	folder_close(&s->folder);
}

static void expect_code(struct sourced *s, uint64_t offset, uint64_t size, uint64_t address, const char *want)
{
	struct code_bytes code;
	EXPECT_INT(code_source_read(s->source, &s->module, offset, size, &code, NULL), 0);
	EXPECT_INT(code.bytes.len, strlen(want));
	EXPECT(code.bytes.len == strlen(want) && memcmp(code.bytes.data, want, strlen(want)) == 0);
	EXPECT_INT(code.address, address);
	EXPECT_INT(code.machine.machine, EM_X86_64);
}

TEST("code of the kernel and its modules comes from a copy of its memory where there is no file")
{
	struct sourced s;
	struct code_bytes code;
	struct error err = { 0 };
	sourced_open(&s, MODULE_KERNEL, NULL, true);
	expect_code(&s, 0xffff0002, 3, 0xffff0002, "cde");
	expect_code(&s, 0xffff0007, 100, 0xffff0007, "h");
	EXPECT(code_source_read(s.source, &s.module, 0xffff0008, 1, &code, &err) < 0);
	EXPECT(strstr(err.text, "record --kcore, or -k VMLINUX") != NULL);
	sourced_close(&s);
	sourced_open(&s, MODULE_KMODULE, NULL, true);
	expect_code(&s, 2, 2, 0x7002, "34");
	sourced_close(&s);
}

/* A recording of one BPF program with the functions "abc" at 7000 and "defg" at 8000. */
static void bpf_header(struct header *header, uint8_t body[static 512])
{
	static const uint64_t addresses[] = { 0x7000, 0x8000 }, offsets[] = { 0, 8, 24, 32 };
	uint8_t *info = body + 20, *data = info + 192;
	*header = (struct header){ 0 };
	memset(body, 0, 512);
	memcpy(body, (uint32_t[]){ 1, 192, 64 }, 12);
	memcpy(body + 12, &(uint64_t){ 1 << 0 | 1 << 3 | 1 << 4 | 1 << 8 }, 8);
	memcpy(info + 16, &(uint32_t){ 7 }, 4);
	memcpy(info + 24, &offsets[0], 8);
	memcpy(info + 104, (uint32_t[]){ 2, 2 }, 8);
	memcpy(info + 112, &offsets[1], 8);
	memcpy(info + 120, &offsets[2], 8);
	memcpy(info + 180, &(uint32_t){ 2 }, 4);
	memcpy(info + 184, &offsets[3], 8);
	memcpy(data, "abcdefg", 7);
	memcpy(data + 8, addresses, 16);
	memcpy(data + 24, (uint32_t[]){ 3, 4 }, 8);
	header->feature_data[FEATURE_BPF_PROG_INFO] = (struct span){ body, 20 + 192 + 64 };
	header->features[FEATURE_BPF_PROG_INFO / 64] |= 1ull << FEATURE_BPF_PROG_INFO % 64;
	static const char arch[] = "\x08\0\0\0x86_64\0";
	header->feature_data[FEATURE_ARCH] = (struct span){ (const uint8_t *)arch, sizeof arch };
	header->features[0] |= 1ull << FEATURE_ARCH;
}

TEST("the code of a BPF program is that in the recording")
{
	struct sourced s;
	struct header header;
	struct code_bytes code;
	struct error err = { 0 };
	uint8_t body[512];
	if (HOST_IS_BIG_ENDIAN) {
		unit_skip("the test's bytes are little-endian");
		return;
	}
	bpf_header(&header, body);
	sourced_open(&s, MODULE_KSYMBOL, &header, false);
	expect_code(&s, 0, 10, 0x7000, "abc");
	expect_code(&s, 1, 1, 0x7001, "b");
	expect_code(&s, 0x1000, 4, 0x8000, "defg");
	EXPECT(code_source_read(s.source, &s.module, 3, 1, &code, &err) < 0);
	EXPECT(strstr(err.text, "was not recorded") != NULL);
	sourced_close(&s);
}

/* A recording of a BPF program with one byte of code for each of its lines, and names of files that all begin in one text. */
static void lines_header(struct header *header, struct str *body, struct str *types, uint32_t lines)
{
	const uint32_t arrays[] = { 1 << 0 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8, 0 }, sizes[] = { 16, 8 };
	uint8_t info[192] = { 0 };
	const struct { unsigned field; uint32_t count, at_field, size; } parts[] = {
		{ 16, lines, 24, lines }, { 104, 1, 112, 8 }, { 108, 1, 120, 4 }, { 148, lines, 152, lines * 16 }, { 168, lines, 160, lines * 8 },
		{ 180, 1, 184, 8 } };
	uint64_t at = 0;
	memcpy(info + 128, &(uint32_t){ 5 }, 4);
	memcpy(info + 172, sizes, 8);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; at += parts[i++].size) {
		memcpy(info + parts[i].field, &parts[i].count, 4);
		memcpy(info + parts[i].at_field, &at, 8);
	}
	str_add(body, (const char *)(uint32_t[]){ 1, 192, (uint32_t)at }, 12);
	str_add(body, (const char *)arrays, 8);
	str_add(body, (const char *)info, sizeof info);
	for (uint32_t i = 0; i < lines; i++)
		str_putc(body, '\x90');
	str_add(body, (const char *)&(uint64_t){ 0x7000 }, 8);
	str_add(body, (const char *)&lines, 4);
	for (uint32_t i = 0; i < lines; i++)
		str_add(body, (const char *)(uint32_t[]){ i, i, i, i << 10 }, 16);
	for (uint32_t i = 0; i < lines; i++)
		str_add(body, (const char *)&(uint64_t){ 0x7000 + i }, 8);
	str_add(body, (const char *)&(uint64_t){ 0 }, 8);
	str_add(types, (const char *)(uint32_t[]){ 1, 5, 24 + lines, 0xeb9f | 1 << 16, 24, 0, 0, 0, lines }, 36);
	for (uint32_t i = 0; i < lines; i++)
		str_putc(types, (char)('a' + (i * 2654435761u >> 16) % 26));
	*header = (struct header){ 0 };
	header->feature_data[FEATURE_BPF_PROG_INFO] = (struct span){ (const uint8_t *)body->text, body->len };
	header->feature_data[FEATURE_BPF_BTF] = (struct span){ (const uint8_t *)types->text, types->len };
	header->features[FEATURE_BPF_PROG_INFO / 64] |= 1ull << FEATURE_BPF_PROG_INFO % 64;
	header->features[FEATURE_BPF_BTF / 64] |= 1ull << FEATURE_BPF_BTF % 64;
}

TEST("of the files that the lines of BPF programs name, a limited number has names")
{
	enum { LINES = 6000 };
	struct sourced s;
	struct header header;
	struct code_line line;
	CLEANUP_STR struct str body = { 0 }, types = { 0 };
	unsigned named = 0;
	if (HOST_IS_BIG_ENDIAN) {
		unit_skip("the test's bytes are little-endian");
		return;
	}
	lines_header(&header, &body, &types, LINES);
	sourced_open(&s, MODULE_KSYMBOL, &header, false);
	for (uint32_t i = 0; i < LINES; i++) {
		EXPECT(code_source_line(s.source, &s.module, 0x7000 - s.module.start + i, &line));
		EXPECT_INT(line.number, i);
		named += *line.file != '\0';
	}
	EXPECT(named > 1000 && named <= 4096);
	EXPECT(!code_source_line(s.source, &s.module, 0x7000 - s.module.start + LINES, &line));
	EXPECT(!code_source_line(s.source, &s.module, 0x6fff - s.module.start, &line));
	sourced_close(&s);
}

TEST("code ends with its section, although other bytes follow in the segment")
{
	struct sourced s;
	struct maker maker = maker_new(true, false, EM_X86_64, ET_DYN);
	size_t len;
	unsigned segment = maker_section(&maker, ".rodata", SHT_PROGBITS, SHF_ALLOC, 0x1000, "abcdefgh", 8);
	maker_section(&maker, ".init", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1002, NULL, 4); /* a header over the same bytes */
	uint8_t *bytes = maker_finish(&maker, &len);
	sourced_open(&s, MODULE_FILE, NULL, false);
	folder_write(&s.folder, "program", bytes, len);
	s.module.name = s.module.long_name = "/program"; /* below the folder */
	uint64_t offset = maker.sections[segment].offset;
	expect_code(&s, offset + 2, 100, 0x1002, "cdef");
	expect_code(&s, offset + 5, 100, 0x1005, "f");
	expect_code(&s, offset + 3, 2, 0x1003, "de");
	expect_code(&s, offset + 6, 100, 0x1006, "gh");
	sourced_close(&s);
	free(bytes);
}
