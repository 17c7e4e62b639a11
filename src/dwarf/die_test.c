#include "dwarf/die.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/location.h"
#include "dwarf/needle.h"
#include "dwarf/statement.h"
#include "dwarf/type.h"
#include "elf/elf_maker.h"
#include "unit.h"

/* A section under construction, of little-endian DWARF 4 for 64 bits. */
struct text {
	uint8_t bytes[2048];
	size_t len;
};

static void put(struct text *t, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		t->bytes[t->len++] = i < sizeof value ? (uint8_t)(value >> 8 * i) : 0;
}

/* Replaces four bytes that were put before. */
static void patch(struct text *t, size_t at, size_t value)
{
	size_t len = t->len;
	t->len = at;
	put(t, value, 4);
	t->len = len;
}

static void put_bytes(struct text *t, const void *bytes, size_t len)
{
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
}

#define PUT(t, literal) put_bytes(t, literal, sizeof(literal) - 1)

enum { UNIT = 1, FUNCTION, PARAMETER, LISTED, BASE, POINTER, STRUCTURE, MEMBER, BITS, TYPEDEF, ARRAY, RANGE, CONST, UNNAMED, NAMED };

static void write_abbrev(struct text *t)
{
	static const uint8_t table[] = {
		UNIT, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, DW_AT_comp_dir, DW_FORM_string,
		DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0,
		FUNCTION, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4, 0, 0,
		PARAMETER, DW_TAG_formal_parameter, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_location, DW_FORM_exprloc, 0, 0,
		LISTED, DW_TAG_variable, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_location, DW_FORM_sec_offset, 0, 0,
		BASE, DW_TAG_base_type, 0, DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data1, DW_AT_encoding, DW_FORM_data1, 0, 0,
		POINTER, DW_TAG_pointer_type, 0, DW_AT_type, DW_FORM_ref4, 0, 0,
		STRUCTURE, DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data1, 0, 0,
		MEMBER, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_data_member_location, DW_FORM_data1, 0, 0,
		BITS, DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, DW_AT_bit_size, DW_FORM_data1,
		DW_AT_data_bit_offset, DW_FORM_data1, 0, 0,
		TYPEDEF, DW_TAG_typedef, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, 0, 0,
		ARRAY, DW_TAG_array_type, 1, DW_AT_type, DW_FORM_ref4, 0, 0,
		RANGE, DW_TAG_subrange_type, 0, DW_AT_upper_bound, DW_FORM_data1, 0, 0,
		CONST, DW_TAG_const_type, 0, DW_AT_type, DW_FORM_ref4, 0, 0,
		UNNAMED, DW_TAG_member, 0, DW_AT_type, DW_FORM_ref4, DW_AT_data_member_location, DW_FORM_data1, 0, 0,
		NAMED, DW_TAG_variable, 0, DW_AT_name, DW_FORM_strp, DW_AT_type, DW_FORM_ref4, 0, 0, 0,
	};
	put_bytes(t, table, sizeof table);
}

static size_t put_named(struct text *t, uint8_t code, const char *name, size_t type)
{
	size_t at = t->len;
	put(t, code, 1);
	put_bytes(t, name, strlen(name) + 1);
	if (type)
		put(t, type, 4);
	return at;
}

/* struct item { int a; unsigned low : 3, mid : 7; struct { int deep; }; }; typedef struct item *loop of itself; const int table[2][3]; the
 * function f at 0x1000 with the parameter p in register 5 and the variable v, whose location changes at 0x1010. */
static void write_info(struct text *t)
{
	put(t, 0, 4);
	put(t, 4, 2);
	put(t, 0, 4);
	put(t, 8, 1);
	put(t, UNIT, 1);
	put(t, 0x1000, 8);
	put(t, 0x100, 4);
	PUT(t, "/src\0");
	put(t, 0, 4);
	size_t base = put_named(t, BASE, "int", 0);
	put(t, 4, 1);
	put(t, DW_ATE_signed, 1);
	size_t inner = put_named(t, STRUCTURE, "inner", 0);
	put(t, 4, 1);
	put_named(t, MEMBER, "deep", base);
	put(t, 0, 1);
	put(t, 0, 1);
	size_t item = put_named(t, STRUCTURE, "item", 0);
	put(t, 12, 1);
	put_named(t, MEMBER, "a", base);
	put(t, 0, 1);
	put_named(t, BITS, "low", base);
	put(t, 3, 1);
	put(t, 32, 1);
	put_named(t, BITS, "mid", base);
	put(t, 7, 1);
	put(t, 35, 1);
	put(t, UNNAMED, 1);
	put(t, inner, 4);
	put(t, 8, 1);
	put(t, 0, 1);
	size_t circle = t->len;
	put_named(t, TYPEDEF, "circle", circle);
	size_t array = t->len;
	put(t, ARRAY, 1);
	put(t, base, 4);
	put(t, RANGE, 1);
	put(t, 1, 1);
	put(t, RANGE, 1);
	put(t, 2, 1);
	put(t, 0, 1);
	size_t constant = t->len;
	put(t, CONST, 1);
	put(t, array, 4);
	size_t pointer = t->len;
	put(t, POINTER, 1);
	put(t, item, 4);
	put(t, NAMED, 1);
	put(t, 1, 4);
	put(t, circle, 4);
	put_named(t, FUNCTION, "f", 0);
	put(t, 0x1000, 8);
	put(t, 0x80, 4);
	put_named(t, PARAMETER, "p", pointer);
	PUT(t, "\1\x55");
	put_named(t, LISTED, "v", constant);
	put(t, 0, 4);
	put(t, 0, 1);
	put(t, 0, 1);
	patch(t, 0, t->len - 4);
}

/* [0, 0x10): at register 7 + 8; [0x10, 0x20): register 0 itself. */
static void write_loc(struct text *t)
{
	put(t, 0, 8);
	put(t, 0x10, 8);
	PUT(t, "\2\0\x77\x08");
	put(t, 0x10, 8);
	put(t, 0x20, 8);
	PUT(t, "\1\0\x50");
	put(t, 0, 16);
}

/* Lines 1 and 2 at 0x1000, the second is no statement; line 3 at 0x1004 ends the prologue. */
static void write_line(struct text *t)
{
	static const uint8_t lengths[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	put(t, 0, 4);
	put(t, 4, 2);
	put(t, 0, 4);
	size_t header = t->len;
	PUT(t, "\1\1\1\xfb\x0e\x0d");
	put_bytes(t, lengths, sizeof lengths);
	PUT(t, "\0a.c\0\0\0\0\0");
	patch(t, 6, t->len - header);
	PUT(t, "\0\x09\x02");
	put(t, 0x1000, 8);
	PUT(t, "\1\6\3\1\1\6\2\4\x0a\3\1\1\2\4\0\1\1");
	patch(t, 0, t->len - 4);
}

struct opened {
	uint8_t *file;
	struct elf elf;
	struct dwarf *dwarf;
	struct dwarf_die top;
};

static void open_file(struct opened *o)
{
	static const struct {
		const char *name;
		void (*write)(struct text *);
	} parts[] = {
		{ ".debug_abbrev", write_abbrev }, { ".debug_info", write_info }, { ".debug_loc", write_loc }, { ".debug_line", write_line },
	};
	struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
	size_t len;
	for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct text t = { 0 };
		parts[i].write(&t);
		maker_section(&m, parts[i].name, SHT_PROGBITS, 0, 0, t.bytes, t.len);
	}
	maker_section(&m, ".debug_str", SHT_PROGBITS, 0, 0, "\0counter", 9);
	o->file = maker_finish(&m, &len);
	EXPECT_INT(elf_open(&o->elf, (struct span){ o->file, len }, NULL), 0);
	EXPECT_INT(dwarf_open(&o->dwarf, &(struct dwarf_parts){ .debug = &o->elf }, NULL), 0);
	EXPECT(dwarf_unit_count(o->dwarf) == 1 && dwarf_unit_top(o->dwarf, 0, &o->top));
}

static void close_file(struct opened *o)
{
	dwarf_close(o->dwarf);
	elf_close(&o->elf);
	free(o->file);
}

static struct dwarf_die find(const struct opened *o, const char *name)
{
	struct dwarf_walk walk = dwarf_walk_of(&o->top);
	struct dwarf_die die;
	while (dwarf_walk_next(&walk, &die)) {
		const char *own = dwarf_die_name(&die);
		if (own && !strcmp(own, name))
			return die;
	}
	EXPECT(!"the DIE exists");
	return o->top;
}

TEST("a walk visits all DIEs, or leaves out the children of those that are skipped")
{
	struct opened o = { 0 };
	struct dwarf_die die;
	open_file(&o);
	unsigned all = 0, direct = 0, deepest = 0;
	for (struct dwarf_walk w = dwarf_walk_of(&o.top); dwarf_walk_next(&w, &die); all++)
		deepest = w.depth > deepest ? w.depth : deepest;
	for (struct dwarf_walk w = dwarf_walk_of(&o.top); dwarf_walk_next(&w, &die); w.skip = true, direct++)
		EXPECT_INT(w.depth, 1);
	EXPECT_INT(all, 18);
	EXPECT_INT(direct, 9);
	EXPECT_INT(deepest, 2);
	close_file(&o);
}

TEST("a function has its ranges, its entry and its variables; scopes are found by address")
{
	struct opened o = { 0 };
	struct dwarf_die scopes[4], function;
	uint64_t entry;
	open_file(&o);
	function = find(&o, "f");
	EXPECT(dwarf_die_entry(&function, &entry) && entry == 0x1000);
	EXPECT(dwarf_die_contains(&function, 0x107f) && !dwarf_die_contains(&function, 0x1080) && !dwarf_die_contains(&function, 0xfff));
	EXPECT_INT(dwarf_scopes(o.dwarf, 0x1010, scopes, 4), 1);
	EXPECT(dwarf_die_same(&scopes[0], &function));
	EXPECT_INT(dwarf_scopes(o.dwarf, 0x1080, scopes, 4), 0);
	EXPECT(!dwarf_die_declares(&function) && dwarf_die_tag(&function) == DW_TAG_subprogram);
	close_file(&o);
}

TEST("types have sizes and names; circular types have none")
{
	struct opened o = { 0 };
	struct dwarf_die type;
	uint64_t size;
	CLEANUP_STR struct str name = { 0 };
	open_file(&o);
	struct dwarf_die p = find(&o, "p"), v = find(&o, "v"), counter = find(&o, "counter");
	EXPECT(dwarf_type_name(&p, &name));
	EXPECT_STR(str_text(&name), "struct item*");
	EXPECT(dwarf_type_real(&p, &type) && dwarf_type_size(&type, &size) && size == 8);
	str_clear(&name);
	EXPECT(dwarf_type_name(&v, &name));
	EXPECT_STR(str_text(&name), "int[]");
	EXPECT(dwarf_type_real(&v, &type) && dwarf_type_size(&type, &size) && size == 24);
	uint64_t counts[2];
	EXPECT(dwarf_type_dimensions(&type, counts, 2) == 2 && counts[0] == 2 && counts[1] == 3 && dwarf_type_dimensions(&type, counts, 1) == 1);
	EXPECT(!dwarf_type_real(&counter, &type) && dwarf_type_plain(&counter, &type) && !dwarf_type_size(&type, &size));
	struct dwarf_die base = find(&o, "int");
	EXPECT(dwarf_type_is_signed(&base) && !dwarf_type_is_signed(&type));
	close_file(&o);
}

TEST("members have offsets, bit fields have bits, and unnamed members are transparent")
{
	struct opened o = { 0 };
	struct dwarf_die member, item;
	struct dwarf_bits bits;
	uint64_t offset;
	open_file(&o);
	item = find(&o, "item");
	EXPECT(dwarf_type_member(&item, "a", &member) && dwarf_member_offset(&member, &offset) && offset == 0);
	EXPECT(!dwarf_member_bits(&member, &bits));
	EXPECT(dwarf_type_member(&item, "mid", &member) && dwarf_member_bits(&member, &bits));
	EXPECT(bits.offset == 4 && bits.size == 4 && bits.shift == 3 && bits.count == 7);
	EXPECT(dwarf_type_member(&item, "deep", &member) && !dwarf_die_name(&member));
	EXPECT(dwarf_member_offset(&member, &offset) && offset == 8);
	EXPECT(!dwarf_type_member(&item, "none", &member));
	close_file(&o);
}

TEST("the location of a variable depends on the address")
{
	struct opened o = { 0 };
	struct dwarf_datum datum;
	struct span expression;
	struct dwarf_operation op[2];
	open_file(&o);
	struct dwarf_die v = find(&o, "v"), p = find(&o, "p");
	EXPECT(dwarf_die_get(&v, DW_AT_location, &datum) && dwarf_location_at(&datum, 0x100f, &expression));
	EXPECT(dwarf_operations(datum.unit, expression, op, 2) == 1 && op[0].code == DW_OP_breg0 + 7 && op[0].number == 8);
	EXPECT(dwarf_location_at(&datum, 0x1010, &expression));
	EXPECT(dwarf_operations(datum.unit, expression, op, 2) == 1 && op[0].code == DW_OP_reg0);
	EXPECT(!dwarf_location_at(&datum, 0x1020, &expression));
	EXPECT(dwarf_die_get(&p, DW_AT_location, &datum) && dwarf_location_at(&datum, 0x1020, &expression) && expression.len == 1);
	close_file(&o);
}

TEST("truncated expressions have no operations")
{
	struct opened o = { 0 };
	struct dwarf_operation op[2];
	open_file(&o);
	EXPECT_INT(dwarf_operations(o.top.unit, (struct span){ (const uint8_t *)"\x91", 1 }, op, 2), 0);
	EXPECT_INT(dwarf_operations(o.top.unit, (struct span){ (const uint8_t *)"\x91\x7f", 2 }, op, 2), 1);
	EXPECT_INT((int64_t)op[0].number, -1);
	EXPECT_INT(dwarf_operations(o.top.unit, (struct span){ (const uint8_t *)"\xff", 1 }, op, 2), 0);
	close_file(&o);
}

TEST("statements are all rows of the line table, with their flags")
{
	struct opened o = { 0 };
	struct dwarf_statements s;
	open_file(&o);
	EXPECT(dwarf_statements_read(&o.top, &s));
	EXPECT_INT(s.count, 4);
	EXPECT(s.items[0].address == 0x1000 && s.items[0].line == 1 && s.items[0].statement);
	EXPECT(s.items[1].address == 0x1000 && s.items[1].line == 2 && !s.items[1].statement);
	EXPECT(s.items[2].address == 0x1004 && s.items[2].line == 3 && s.items[2].statement && s.items[2].prologue_end);
	EXPECT(s.items[3].address == 0x1008 && s.items[3].end);
	EXPECT_STR(dwarf_statement_file(&o.top, &s.items[0]), "/src/a.c");
	vec_fini(&s);
	close_file(&o);
}

TEST("a unit passes the test for a name that it has in its DIEs or in its strings, and for no other")
{
	struct opened o = { 0 };
	open_file(&o);
	struct dwarf_needle own = dwarf_needle_of(o.dwarf, "deep"), far = dwarf_needle_of(o.dwarf, "counter");
	struct dwarf_needle none = dwarf_needle_of(o.dwarf, "depth");
	EXPECT(dwarf_needle_in(&own, 0) && dwarf_needle_in(&far, 0) && !dwarf_needle_in(&none, 0));
	EXPECT(!own.any && own.place_count == 0 && far.place_count == 1);
	close_file(&o);
}
