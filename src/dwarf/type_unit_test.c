#include "dwarf/type.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "elf/elf_maker.h"
#include "unit.h"

struct text {
	uint8_t bytes[256];
	size_t len;
};

static void put(struct text *t, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		t->bytes[t->len++] = (uint8_t)(value >> 8 * i);
}

static void put_name(struct text *t, const char *name)
{
	memcpy(t->bytes + t->len, name, strlen(name) + 1);
	t->len += strlen(name) + 1;
}

enum { UNIT = 1, FAR, DECLARED, NEAR, TYPES, ITEM };
enum { FIRST = 0x1111222233334444, SECOND = 0x5555666677778888, ABSENT = 0x7777 };

static const uint8_t abbrev[] = {
	UNIT, DW_TAG_compile_unit, 1, 0, 0,
	FAR, DW_TAG_variable, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref_sig8, 0, 0,
	DECLARED, DW_TAG_structure_type, 0, DW_AT_signature, DW_FORM_ref_sig8, 0, 0,
	NEAR, DW_TAG_variable, 0, DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref4, 0, 0,
	TYPES, DW_TAG_namespace, 1, 0, 0,
	ITEM, DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data1, 0, 0, 0,
};

/* Puts the header of a unit without its length; returns where the unit starts. */
static size_t put_header(struct text *t, unsigned version, uint8_t type, uint64_t signature, uint8_t type_at)
{
	size_t start = t->len;
	put(t, 0, 4);
	put(t, version, 2);
	if (version == 5) {
		put(t, type, 1);
		put(t, 8, 1);
	}
	put(t, 0, 4);
	if (version < 5)
		put(t, 8, 1);
	if (type == DW_UT_type) {
		put(t, signature, 8);
		put(t, type_at, 4);
	}
	return start;
}

static void end_unit(struct text *t, size_t start)
{
	size_t end = t->len;
	t->len = start;
	put(t, end - start - 4, 4);
	t->len = end;
}

/* A type unit with the structures `name`0 of a byte and `name`, of which the signature denotes the second. */
static void put_types(struct text *t, unsigned version, uint64_t signature, const char *name, uint8_t size)
{
	unsigned header = version == 5 ? 24 : 23;
	size_t start = put_header(t, version, DW_UT_type, signature, (uint8_t)(header + 1 + 4));
	put(t, TYPES, 1);
	put(t, ITEM, 1);
	put_name(t, "0");
	put(t, 1, 1);
	put(t, ITEM, 1);
	put_name(t, name);
	put(t, size, 1);
	put(t, 0, 1);
	end_unit(t, start);
}

static void put_variable(struct text *t, uint8_t code, const char *name, uint64_t type, unsigned size)
{
	put(t, code, 1);
	put_name(t, name);
	put(t, type, size);
}

static void check_size(struct dwarf *dwarf, const char *name, uint64_t want)
{
	struct dwarf_die top, die, type;
	uint64_t size = 0;
	EXPECT(dwarf_unit_top(dwarf, 0, &top));
	for (struct dwarf_walk w = dwarf_walk_of(&top); dwarf_walk_next(&w, &die);) {
		const char *own = dwarf_die_name(&die);
		if (own && !strcmp(own, name) && dwarf_type_real(&die, &type))
			dwarf_type_size(&type, &size);
	}
	EXPECT_INT(size, want);
}

static void check_version(unsigned version)
{
	struct text info = { 0 }, types = { 0 };
	struct text *to = version == 5 ? &info : &types;
	struct dwarf *dwarf;
	struct elf elf;
	size_t len;
	if (version == 5)
		put_types(to, version, SECOND, "second", 20);
	size_t start = put_header(&info, version, DW_UT_compile, 0, 0);
	put(&info, UNIT, 1);
	put_variable(&info, FAR, "one", FIRST, 8);
	put_variable(&info, FAR, "two", SECOND, 8);
	put_variable(&info, FAR, "lost", ABSENT, 8);
	size_t declared = info.len;
	put(&info, DECLARED, 1);
	put(&info, FIRST, 8);
	put_variable(&info, NEAR, "through", declared - start, 4);
	put(&info, 0, 1);
	end_unit(&info, start);
	if (version < 5)
		put_types(to, version, SECOND, "second", 20);
	put_types(to, version, FIRST, "first", 12);
	struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
	maker_section(&m, ".debug_abbrev", SHT_PROGBITS, 0, 0, abbrev, sizeof abbrev);
	maker_section(&m, ".debug_info", SHT_PROGBITS, 0, 0, info.bytes, info.len);
	maker_section(&m, ".debug_types", SHT_PROGBITS, 0, 0, types.bytes, types.len);
	uint8_t *file = maker_finish(&m, &len);
	EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
	EXPECT_INT(dwarf_open(&dwarf, &(struct dwarf_parts){ .debug = &elf }, NULL), 0);
	EXPECT_INT(dwarf_unit_count(dwarf), 1);
	check_size(dwarf, "one", 12);
	check_size(dwarf, "two", 20);
	check_size(dwarf, "lost", 0);
	check_size(dwarf, "through", 12);
	dwarf_close(dwarf);
	elf_close(&elf);
	free(file);
}

TEST("types are found by their signature in the section of types, directly and through a declaration")
{
	check_version(4);
}

TEST("… and in version 5 between the other units")
{
	check_version(5);
}
