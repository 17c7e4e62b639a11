#include "dwarf/dwarf.h"

#include <pthread.h>

#include "dwarf/constants.h"
#include "dwarf/ranges.h"
#include "elf/elf_maker.h"
#include "unit.h"

/* A section under construction. */
struct text {
	const struct maker *m;
	uint8_t bytes[4096];
	size_t len;
};

static void section_put(struct text *t, uint64_t value, unsigned size)
{
	maker_put(t->m, t->bytes + t->len, value, size);
	t->len += size;
}

static void section_put_bytes(struct text *t, const char *bytes, size_t len)
{
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
}

#define PUT(t, literal) section_put_bytes(t, literal, sizeof(literal) - 1)

/* The variant of DWARF that the file is written in. */
struct shape {
	bool is64, big, offsets64;
	uint8_t version;
	bool odd_lines;                   /* further sequences: one of discarded code, one with unsorted rows */
};

static void put_offset(struct text *t, const struct shape *s, uint64_t value)
{
	section_put(t, value, s->offsets64 ? 8 : 4);
}

/* Reserves the length of a unit; returns the offset after it. */
static size_t put_unit_length(struct text *t, const struct shape *s)
{
	if (s->offsets64)
		section_put(t, 0xffffffff, 4);
	put_offset(t, s, 0);
	return t->len;
}

static void end_length(struct text *t, const struct shape *s, size_t start)
{
	unsigned size = s->offsets64 ? 8 : 4;
	maker_put(t->m, t->bytes + start - size, t->len - start, size);
}

/* 1: unit. 2: a function, 3: a declaration, 4: an inlined call, 5: the same with ranges, 6: a reference back. */
static void write_abbrev(struct text *t, const struct shape *s)
{
	char offset = s->version >= 4 ? DW_FORM_sec_offset : DW_FORM_data4, size = s->version >= 4 ? DW_FORM_data4 : DW_FORM_addr;
	char unit[] = { 1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, size, DW_AT_stmt_list, offset,
		DW_AT_comp_dir, DW_FORM_string, DW_AT_language, DW_FORM_data1, 0, 0 };
	char function[] = { 2, DW_TAG_subprogram, 1, DW_AT_sibling, DW_FORM_ref4, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, size, 0, 0 };
	char abstract[] = { 3, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_linkage_name, DW_FORM_string, 0, 0 };
	char inlined[] = { 4, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, size, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data2, 0, 0 };
	char ranges[] = { 5, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_ranges, offset,
		DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data2, 0, 0 };
	char circle[] = { 6, DW_TAG_subprogram, 0, DW_AT_specification, DW_FORM_ref4, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, size,
		0, 0, 0 };
	section_put_bytes(t, unit, sizeof unit);
	section_put_bytes(t, function, sizeof function);
	section_put_bytes(t, abstract, sizeof abstract);
	section_put_bytes(t, inlined, sizeof inlined);
	section_put_bytes(t, ranges, sizeof ranges);
	section_put_bytes(t, circle, sizeof circle);
}

static void put_extent(struct text *t, const struct shape *s, uint64_t low, uint64_t high)
{
	unsigned word = s->is64 ? 8 : 4;
	section_put(t, low, word);
	if (s->version >= 4)
		section_put(t, high - low, 4);
	else
		section_put(t, high, word);
}

/* outer 0x1000-0x1100 contains an inlined call of middle at 0x1020-0x1080, which contains one of inner at 0x1030-0x1040 and
 * 0x1050-0x1058. The function nested is described inside outer; its code is at 0x1180-0x11a0. */
static void write_info(struct text *t, const struct shape *s)
{
	size_t start = put_unit_length(t, s), unit = start - (s->offsets64 ? 12 : 4);
	section_put(t, s->version, 2);
	if (s->version >= 5) {
		section_put(t, DW_UT_compile, 1);
		section_put(t, s->is64 ? 8 : 4, 1);
		put_offset(t, s, 0);
	} else {
		put_offset(t, s, 0);
		section_put(t, s->is64 ? 8 : 4, 1);
	}
	section_put(t, 1, 1);
	put_extent(t, s, 0x1000, 0x1300);
	section_put(t, 0, s->version >= 4 && s->offsets64 ? 8 : 4);
	PUT(t, "/src\0");
	section_put(t, 4, 1); /* C++ */
	size_t middle = t->len - unit;
	PUT(t, "\3middle\0_Zmiddle\0");
	size_t inner = t->len - unit;
	PUT(t, "\3inner\0_Zinner\0");
	section_put(t, 2, 1);
	size_t outer = t->len;
	section_put(t, 0, 4);
	PUT(t, "outer\0");
	put_extent(t, s, 0x1000, 0x1100);
	section_put(t, 4, 1);
	section_put(t, middle, 4);
	put_extent(t, s, 0x1020, 0x1080);
	section_put(t, 1, 1);
	section_put(t, 300, 2);
	section_put(t, 5, 1);
	section_put(t, inner, 4);
	section_put(t, s->version >= 5 ? (s->offsets64 ? 20 : 12) : 0, s->version >= 4 && s->offsets64 ? 8 : 4);
	section_put(t, 2, 1);
	section_put(t, 7, 2);
	PUT(t, "\0\2");
	size_t nested = t->len;
	section_put(t, 0, 4);
	PUT(t, "nested\0");
	put_extent(t, s, 0x1180, 0x11a0);
	PUT(t, "\0");
	maker_put(t->m, t->bytes + nested, t->len - unit, 4);
	PUT(t, "\0");
	size_t circle = t->len - unit;
	maker_put(t->m, t->bytes + outer, circle, 4);
	section_put(t, 6, 1);
	section_put(t, circle, 4);
	put_extent(t, s, 0x1100, 0x1180);
	section_put(t, 0, 1);
	end_length(t, s, start);
}

static void write_ranges(struct text *t, const struct shape *s)
{
	unsigned word = s->is64 ? 8 : 4;
	uint64_t pairs[] = { 0x30, 0x40, 0x50, 0x58, 0, 0 };
	for (unsigned i = 0; i < 6; i++)
		section_put(t, pairs[i], word);
}

static void write_rnglists(struct text *t, const struct shape *s)
{
	size_t start = put_unit_length(t, s);
	section_put(t, 5, 2);
	section_put(t, s->is64 ? 8 : 4, 1);
	section_put(t, 0, 1);
	section_put(t, 0, 4);
	PUT(t, "\4\x30\x40\4\x50\x58");
	section_put(t, 0, 1);
	end_length(t, s, start);
}

static void put_set_address(struct text *t, const struct shape *s, uint64_t address)
{
	section_put(t, 0, 1);
	section_put(t, s->is64 ? 9 : 5, 1);
	section_put(t, DW_LNE_set_address, 1);
	section_put(t, address, s->is64 ? 8 : 4);
}

/* 0 to 0x8000, line 100; 0x1200, line 10; 0x1220, line 20; 0x1210, line 15. */
static void write_odd_lines(struct text *t, const struct shape *s)
{
	put_set_address(t, s, 0);
	PUT(t, "\3\343\0\1\2\200\200\2\0\1\1");
	put_set_address(t, s, 0x1200);
	PUT(t, "\3\11\1");
	put_set_address(t, s, 0x1220);
	PUT(t, "\3\12\1");
	put_set_address(t, s, 0x1210);
	PUT(t, "\3\173\1");
	PUT(t, "\11");                    /* a fixed advance, to 0x1240 */
	section_put(t, 0x30, 2);
	PUT(t, "\0\1\1");
}

/* Rows: 0x1000 a.c:10, 0x1010 a.c:12, 0x1030 b.h:5, and from 0x1040 a.c:20 with discriminator 3; the end is 0x1200. */
static void write_line(struct text *t, const struct shape *s)
{
	size_t start = put_unit_length(t, s);
	section_put(t, s->version, 2);
	if (s->version >= 5) {
		section_put(t, s->is64 ? 8 : 4, 1);
		section_put(t, 0, 1);
	}
	size_t header = t->len;
	put_offset(t, s, 0);
	PUT(t, "\1");
	if (s->version >= 4)
		PUT(t, "\1");
	PUT(t, "\1\373\16\15\0\1\1\1\1\0\0\0\1\0\0\1");
	if (s->version >= 5)
		PUT(t, "\1\1\10\2/src\0include\0\2\1\10\2\13\3a.c\0\0a.c\0\0b.h\0\1");
	else
		PUT(t, "include\0\0a.c\0\0\0\0b.h\0\1\0\0\0");
	unsigned size = s->offsets64 ? 8 : 4;
	maker_put(t->m, t->bytes + header, t->len - header - size, size);
	if (s->odd_lines)
		write_odd_lines(t, s);
	put_set_address(t, s, 0x1000);
	PUT(t, "\3\11\1");                /* line 10 */
	PUT(t, "\2\20\3\2\5\7\1");        /* + 16: line 12, column 7 */
	PUT(t, "\2\40\4\2\3\171\1");      /* + 32: file 2, line 5 */
	PUT(t, "\2\20\4\1\3\17\0\2\4\3\1"); /* + 16: file 1, line 20, discriminator 3 */
	PUT(t, "\2\300\3\0\1\1");         /* + 448: the end */
	end_length(t, s, start);
}

static uint8_t *write_debug_file(const struct shape *s, size_t *len)
{
	struct maker m = maker_new(s->is64, s->big, EM_X86_64, ET_DYN);
	maker_section(&m, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 0x1000);
	static const struct {
		const char *name;
		void (*write)(struct text *, const struct shape *);
	} parts[] = {
		{ ".debug_abbrev", write_abbrev }, { ".debug_info", write_info }, { ".debug_line", write_line },
		{ ".debug_ranges", write_ranges }, { ".debug_rnglists", write_rnglists },
	};
	for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct text t = { .m = &m };
		parts[i].write(&t, s);
		maker_section(&m, parts[i].name, SHT_PROGBITS, 0, 0, t.bytes, t.len);
	}
	return maker_finish(&m, len);
}

struct opened {
	uint8_t *file;
	size_t len;
	struct elf elf;
	struct dwarf *dwarf;
};

static void open_bytes(struct opened *o, const struct dwarf_parts *more)
{
	struct dwarf_parts parts = more ? *more : (struct dwarf_parts){ 0 };
	EXPECT_INT(elf_open(&o->elf, (struct span){ o->file, o->len }, NULL), 0);
	parts.debug = &o->elf;
	o->dwarf = NULL;
	EXPECT_INT(dwarf_open(&o->dwarf, &parts, NULL), 0);
}

static void close_bytes(struct opened *o)
{
	dwarf_close(o->dwarf);
	elf_close(&o->elf);
	free(o->file);
}

static const struct shape usual = { .is64 = true, .version = 4 };

TEST("lines and inlined calls are read in versions 2 to 5, for both classes, byte orders and offset sizes")
{
	for (unsigned i = 0; i < 32; i++) {
		struct shape s = { .is64 = i & 1, .big = i & 2, .offsets64 = i & 4 && i >= 8, .version = (uint8_t)(2 + i / 8) };
		struct opened o = { 0 };
		struct dwarf_frame f[8];
		struct dwarf_place place;
		o.file = write_debug_file(&s, &o.len);
		open_bytes(&o, NULL);
		EXPECT(dwarf_line(o.dwarf, 0x1015, &place));
		EXPECT_STR(place.file, "/src/a.c");
		EXPECT(place.line == 12 && place.column == 7);
		EXPECT_INT(dwarf_frames(o.dwarf, 0x1035, f, 8), 3);
		EXPECT_STR(f[0].name, "_Zinner");
		EXPECT_STR(f[0].place.file, "/src/include/b.h");
		EXPECT(f[0].place.line == 5 && f[0].inlined && f[0].linked);
		EXPECT_STR(f[1].name, "_Zmiddle");
		EXPECT_STR(f[1].place.file, "/src/include/b.h");
		EXPECT(f[1].place.line == 7 && f[1].inlined);
		EXPECT_STR(f[2].name, "outer");
		EXPECT_STR(f[2].place.file, "/src/a.c");
		EXPECT(f[2].place.line == 300 && !f[2].inlined && !f[2].linked);
		EXPECT_INT(dwarf_frames(o.dwarf, 0x1045, f, 8), 2);
		EXPECT(f[0].place.discriminator == 3 && f[0].place.line == 20);
		EXPECT_INT(dwarf_frames(o.dwarf, 0x1057, f, 8), 3);
		EXPECT_INT(dwarf_frames(o.dwarf, 0x1058, f, 8), 2);
		EXPECT_INT(dwarf_frames(o.dwarf, 0x1057, f, 2), 2);
		EXPECT_INT(dwarf_frames(o.dwarf, 0x1000, f, 8), 1);
		EXPECT_INT(dwarf_frames(o.dwarf, 0x11f0, f, 8), 0);
		EXPECT(dwarf_line(o.dwarf, 0x11f0, &place) && !dwarf_line(o.dwarf, 0x1200, &place) && !dwarf_line(o.dwarf, 0xfff, &place));
		close_bytes(&o);
	}
}

TEST("a function has a range, and a DIE that refers to itself has no name")
{
	struct opened o = { 0 };
	const char *name = NULL;
	uint64_t start = 0, end = 0;
	struct dwarf_frame f[2];
	o.file = write_debug_file(&usual, &o.len);
	open_bytes(&o, NULL);
	EXPECT(dwarf_function(o.dwarf, 0x1035, &name, &start, &end));
	EXPECT_STR(name, "outer");
	EXPECT(start == 0x1000 && end == 0x1100);
	EXPECT(dwarf_entry(o.dwarf, 0x1035, &start) && start == 0x1000);
	EXPECT_INT(dwarf_frames(o.dwarf, 0x1110, f, 2), 1);
	EXPECT(!f[0].name);
	EXPECT(!dwarf_function(o.dwarf, 0x1110, &name, &start, &end));
	struct dwarf_counters counters = dwarf_counters(o.dwarf);
	EXPECT(counters.units == 1 && counters.units_parsed == 1 && !counters.units_damaged && counters.memory);
	close_bytes(&o);
}

TEST("a function that is described in another function's skipped body is found")
{
	struct opened o = { 0 };
	const char *name = NULL;
	uint64_t start = 0, end = 0;
	struct dwarf_frame f[2];
	o.file = write_debug_file(&usual, &o.len);
	open_bytes(&o, NULL);
	EXPECT_INT(dwarf_frames(o.dwarf, 0x1190, f, 2), 1);
	EXPECT_STR(f[0].name, "nested");
	EXPECT(dwarf_function(o.dwarf, 0x1190, &name, &start, &end) && start == 0x1180 && end == 0x11a0);
	EXPECT_INT(dwarf_frames(o.dwarf, 0x11a0, f, 2), 0);
	EXPECT_INT(dwarf_frames(o.dwarf, 0x1035, f, 2), 2);
	close_bytes(&o);
}

TEST("lines of discarded code are dropped, and unsorted rows are sorted")
{
	struct shape s = { .is64 = true, .version = 4, .odd_lines = true };
	struct opened o = { 0 };
	static const struct {
		uint64_t address;
		uint32_t line;
	} want[] = { { 0x1000, 10 }, { 0x1010, 12 }, { 0x1200, 10 }, { 0x120f, 10 }, { 0x1210, 15 }, { 0x121f, 15 }, { 0x1220, 20 },
		{ 0x123f, 20 }, { 0x1240, 0 } };
	o.file = write_debug_file(&s, &o.len);
	open_bytes(&o, NULL);
	for (unsigned i = 0; i < sizeof want / sizeof *want; i++) {
		struct dwarf_place place;
		dwarf_line(o.dwarf, want[i].address, &place);
		EXPECT_INT(place.line, want[i].line);
	}
	close_bytes(&o);
}

TEST("a changed bit anywhere in a file does no harm and adds no function")
{
	size_t len;
	uint8_t *file = write_debug_file(&usual, &len);
	for (size_t i = 64; i < len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			struct elf elf;
			struct dwarf *dwarf;
			struct dwarf_frame f[8];
			file[i] ^= (uint8_t)(1 << bit);
			struct dwarf_parts parts = { .debug = &elf };
			EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
			if (dwarf_open(&dwarf, &parts, NULL) == 0) {
				for (uint64_t address = 0xff0; address < 0x1210; address += 16)
					EXPECT(dwarf_frames(dwarf, address, f, 8) <= 3);
				dwarf_close(dwarf);
			}
			elf_close(&elf);
			file[i] ^= (uint8_t)(1 << bit);
		}
	free(file);
}

TEST("a unit that exceeds the memory limit has no names and is counted")
{
	struct opened o = { 0 };
	struct dwarf_frame f[4];
	struct dwarf_parts parts = { .memory_limit = 640 };
	o.file = write_debug_file(&usual, &o.len);
	open_bytes(&o, &parts);
	EXPECT_INT(dwarf_frames(o.dwarf, 0x1035, f, 4), 0);
	EXPECT(dwarf_counters(o.dwarf).memory <= 640 && dwarf_counters(o.dwarf).units_refused);
	close_bytes(&o);
}

TEST("opening a file without debug information fails with a sentence")
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	struct error err = { 0 };
	struct opened o = { 0 };
	o.file = maker_finish(&m, &o.len);
	EXPECT_INT(elf_open(&o.elf, (struct span){ o.file, o.len }, NULL), 0);
	struct dwarf_parts parts = { .debug = &o.elf };
	EXPECT_INT(dwarf_open(&o.dwarf, &parts, &err), -1);
	EXPECT(*err.text && !o.dwarf);
	close_bytes(&o);
}

static void *ask_all(void *arg)
{
	struct opened *o = arg;
	struct dwarf_frame f[8];
	uintptr_t sum = 0;
	for (unsigned round = 0; round < 50; round++)
		for (uint64_t address = 0x1000; address < 0x1200; address++)
			sum += dwarf_frames(o->dwarf, address, f, 8);
	return (void *)sum;
}

TEST("several threads that look up addresses at once get the same answers")
{
	struct opened o = { 0 };
	pthread_t threads[4];
	void *first = NULL, *sum;
	o.file = write_debug_file(&usual, &o.len);
	open_bytes(&o, NULL);
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, ask_all, &o);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], &sum);
		first = i ? first : sum;
		EXPECT(sum == first);
	}
	EXPECT_INT(dwarf_counters(o.dwarf).units_parsed, 1);
	close_bytes(&o);
}

TEST("of overlapping ranges the shortest wins, of equal ones the later or the earlier as requested")
{
	struct opened o = { 0 };
	o.file = write_debug_file(&usual, &o.len);
	open_bytes(&o, NULL);
	static const uint64_t runs[][3] = { { 0x1000, 0x1100, 0 }, { 0x1010, 0x1020, 1 }, { 0x1018, 0x1040, 2 }, { 0x1010, 0x1020, 3 },
		{ 0x1200, 0x1210, 4 }, { 0x1210, 0x1220, 4 }, { 0x1220, 0x1220, 5 } };
	for (unsigned latest = 0; latest < 2; latest++) {
		struct dwarf_ranges ranges = { 0 };
		struct dwarf_segments s;
		for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++)
			dwarf_ranges_add(&ranges, o.dwarf, runs[i][0], runs[i][1], (uint32_t)runs[i][2]);
		EXPECT(dwarf_segments_make(&s, o.dwarf, &ranges, latest));
		static const struct {
			uint64_t address;
			uint32_t early, late;
		} want[] = {
			{ 0xfff, SEGMENT_NONE, SEGMENT_NONE }, { 0x1000, 0, 0 }, { 0x1010, 1, 3 }, { 0x101f, 1, 3 }, { 0x1020, 2, 2 },
			{ 0x103f, 2, 2 }, { 0x1040, 0, 0 }, { 0x10ff, 0, 0 }, { 0x1100, SEGMENT_NONE, SEGMENT_NONE }, { 0x1215, 4, 4 },
			{ 0x1220, SEGMENT_NONE, SEGMENT_NONE }, { UINT64_MAX, SEGMENT_NONE, SEGMENT_NONE },
		};
		for (unsigned i = 0; i < sizeof want / sizeof *want; i++)
			EXPECT_INT(dwarf_segment_at(s.starts, s.values, s.count, want[i].address), latest ? want[i].late : want[i].early);
		free(s.starts);
		vec_fini(&ranges);
	}
	close_bytes(&o);
}

TEST("the name and build-id of the alternate file are found")
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_section(&m, ".gnu_debugaltlink", SHT_PROGBITS, 0, 0, "common.dwz\0\1\2\3", 14);
	struct opened o = { 0 };
	const char *name;
	struct span id;
	o.file = maker_finish(&m, &o.len);
	elf_open(&o.elf, (struct span){ o.file, o.len }, NULL);
	EXPECT(dwarf_alternate(&o.elf, &name, &id));
	EXPECT_STR(name, "common.dwz");
	EXPECT(id.len == 3 && id.data[0] == 1);
	close_bytes(&o);
}
