/* Programs of test/golden/data, of one source each in several versions of DWARF: all that is read of their entries, types, locations,
 * lines and scopes is stored, see stored.h. */
#include <elf.h>

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/location.h"
#include "dwarf/statement.h"
#include "dwarf/type.h"
#include "elf/elf_maker.h"
#include "stored.h"

#define DATA "test/golden/data/debug/"

struct opened {
	struct str file, split;
	struct elf elf, split_elf;
	char split_name[32];
	uint64_t id;
	unsigned asked;
	struct dwarf *dwarf;
};

static bool read_elf(const char *name, struct str *bytes, struct elf *elf)
{
	char path[96];
	struct error err = { 0 };
	snprintf(path, sizeof path, DATA "%s", name);
	stored_read(path, bytes);
	EXPECT_INT(elf_open(elf, (struct span){ (const uint8_t *)bytes->text, bytes->len }, &err), 0);
	EXPECT_STR(err.text, "");
	return !err.text[0];
}

static const struct elf *split_of(void *context, const char *directory, const char *name, uint64_t id)
{
	struct opened *o = context;
	(void)directory;
	o->id = id;
	o->asked++;
	return strcmp(name, o->split_name) == 0 ? &o->split_elf : NULL;
}

static bool open_named(struct opened *o, const char *name, bool splits, const struct elf *package)
{
	struct dwarf_parts parts = { .split = splits ? split_of : NULL, .context = o, .package = package };
	struct error err = { 0 };
	if (!read_elf(name, &o->file, &o->elf))
		return false;
	snprintf(o->split_name, sizeof o->split_name, "%s.dwo", name);
	if (splits && !read_elf(o->split_name, &o->split, &o->split_elf))
		return false;
	parts.debug = &o->elf;
	EXPECT_INT(dwarf_open(&o->dwarf, &parts, &err), 0);
	EXPECT_STR(err.text, "");
	return !err.text[0];
}

static void close_opened(struct opened *o)
{
	dwarf_close(o->dwarf);
	elf_close(&o->elf);
	elf_close(&o->split_elf);
	str_fini(&o->file);
	str_fini(&o->split);
}

static void add_expression(struct str *to, struct dwarf_unit *unit, struct span expression)
{
	struct dwarf_operation ops[8];
	size_t count = dwarf_operations(unit, expression, ops, 8);
	for (size_t i = 0; i < count; i++) {
		str_printf(to, " %x(%lld", ops[i].code, (long long)ops[i].number);
		if (ops[i].second)
			str_printf(to, ",%lld", (long long)ops[i].second);
		str_printf(to, ops[i].block.len ? ";%zu)" : ")", ops[i].block.len);
	}
}

static void add_location(struct str *to, const struct dwarf_die *die, uint16_t name)
{
	struct dwarf_datum datum;
	uint64_t low, high;
	struct span expression;
	if (!dwarf_die_get(die, name, &datum))
		return;
	str_printf(to, " at");
	struct dwarf_locations locations = dwarf_locations_of(&datum);
	while (dwarf_locations_next(&locations, &low, &high, &expression)) {
		struct span same = { 0 };
		bool found = dwarf_location_at(&datum, low, &same) && same.data == expression.data;
		bool last = !dwarf_location_at(&datum, high, &same) || same.data != expression.data;
		str_printf(to, " [%llx %llx%s%s", (unsigned long long)low, (unsigned long long)high, found ? "" : " lost", last ? "" : " more");
		add_expression(to, datum.unit, expression);
		str_puts(to, "]");
	}
}

static void add_type(struct str *to, const struct dwarf_die *die)
{
	struct dwarf_die plain, real, member;
	uint64_t size, counts[4], offset;
	struct dwarf_bits bits;
	if (dwarf_die_has(die, DW_AT_type)) {
		str_puts(to, " type '");
		if (!dwarf_type_name(die, to))
			str_puts(to, "?");
		str_puts(to, "'");
		if (dwarf_type_plain(die, &plain) && dwarf_type_real(die, &real)) {
			unsigned dimensions = dwarf_type_dimensions(&real, counts, 4);
			str_printf(to, " %x/%x%s", dwarf_die_tag(&plain), dwarf_die_tag(&real), dwarf_type_is_signed(&real) ? " signed" : "");
			for (unsigned i = 0; i < dimensions; i++)
				str_printf(to, "[%llu]", (unsigned long long)counts[i]);
		}
	}
	if (dwarf_type_size(die, &size))
		str_printf(to, " size %llu", (unsigned long long)size);
	if (dwarf_member_offset(die, &offset))
		str_printf(to, " offset %llu", (unsigned long long)offset);
	if (dwarf_member_bits(die, &bits))
		str_printf(to, " bits %llu+%llu %u:%u", (unsigned long long)bits.offset, (unsigned long long)bits.size, bits.shift, bits.count);
	if (dwarf_type_is_structure(dwarf_die_tag(die)))
		str_printf(to, " next %d x %d", dwarf_type_member(die, "next", &member), dwarf_type_member(die, "x", &member));
}

static void add_code(struct str *to, const struct dwarf_die *die)
{
	struct dwarf_ranges ranges = { .limit = 16 };
	uint64_t entry;
	if (dwarf_die_entry(die, &entry))
		str_printf(to, " entry %llx", (unsigned long long)entry);
	dwarf_die_ranges(die, &ranges);
	for (size_t i = 0; i < ranges.count; i++) {
		const struct dwarf_range *r = &ranges.items[i];
		str_printf(to, " %llx-%llx%d%d%d", (unsigned long long)r->low, (unsigned long long)r->high, dwarf_die_contains(die, r->low),
			dwarf_die_contains(die, r->high - 1), dwarf_die_contains(die, r->high));
	}
	free(ranges.items);
}

static void add_file(struct str *to, const struct dwarf_die *die, const char *word, uint16_t file, uint16_t line)
{
	uint64_t number = 0;
	const char *path = dwarf_die_file(die, file), *slash = path ? strrchr(path, '/') : NULL;
	if (path)
		str_printf(to, " %s %s:%llu", word, slash ? slash + 1 : path, (unsigned long long)(dwarf_die_number(die, line, &number) ? number : 0));
}

static void add_die(struct str *to, const struct dwarf_die *die, unsigned depth)
{
	const char *name = dwarf_die_name(die), *linkage = dwarf_die_linkage_name(die);
	struct dwarf_die origin;
	str_printf(to, "%*s%x %s%s%s", (int)depth, "", dwarf_die_tag(die), name ? name : "-", linkage ? " " : "", linkage ? linkage : "");
	if (dwarf_die_declares(die))
		str_puts(to, " declared");
	if (dwarf_die_origin(die, &origin))
		str_printf(to, " of %s", origin.unit == die->unit ? "this unit" : "another");
	add_file(to, die, "in", DW_AT_decl_file, DW_AT_decl_line);
	add_file(to, die, "called", DW_AT_call_file, DW_AT_call_line);
	if (dwarf_die_has_code(die))
		add_code(to, die);
	add_type(to, die);
	add_location(to, die, DW_AT_location);
	add_location(to, die, DW_AT_frame_base);
	str_putc(to, '\n');
}

/* Lines, functions and scopes of all addresses of .text, once where several in a row have the same. */
static void add_addresses(struct str *to, struct opened *o)
{
	const struct elf_section *text = elf_section(&o->elf, ".text");
	CLEANUP_STR struct str last = { 0 };
	for (uint64_t at = text->address - 1; at <= text->address + text->size; at++) {
		CLEANUP_STR struct str line = { 0 };
		struct dwarf_frame frames[8];
		struct dwarf_die scopes[8];
		struct dwarf_place place;
		const char *name;
		uint64_t start, end, entry;
		size_t count = dwarf_frames(o->dwarf, at, frames, 8), scoped = dwarf_scopes(o->dwarf, at, scopes, 8);
		if (dwarf_line(o->dwarf, at, &place))
			str_printf(&line, " %s:%u:%u/%u", strrchr(place.file, '/') + 1, place.line, place.column, place.discriminator);
		for (size_t i = 0; i < count; i++)
			str_printf(&line, " %s%s%s@%u:%u", frames[i].name, frames[i].inlined ? "~" : "", frames[i].linked ? "!" : "", frames[i].place.line,
				frames[i].place.column);
		for (size_t i = 0; i < scoped; i++)
			str_printf(&line, " <%s", dwarf_die_name(&scopes[i]));
		if (dwarf_function(o->dwarf, at, &name, &start, &end))
			str_printf(&line, " %s %llx-%llx", name, (unsigned long long)start, (unsigned long long)end);
		if (dwarf_entry(o->dwarf, at, &entry))
			str_printf(&line, " %llx", (unsigned long long)entry);
		if (strcmp(str_text(&line), str_text(&last)) != 0)
			str_printf(to, "%llx%s\n", (unsigned long long)at, str_text(&line));
		str_clear(&last);
		str_puts(&last, str_text(&line));
	}
}

static bool add_name(void *context, uint32_t number, const char *path)
{
	const char *slash = strrchr(path, '/');
	str_printf(context, "file %u %s\n", number, slash ? slash + 1 : path);
	return number == 1;
}

static void add_unit(struct str *to, const struct dwarf_die *top)
{
	struct dwarf_statements statements = { 0 };
	struct dwarf_walk walk = dwarf_walk_of(top);
	struct dwarf_die die;
	str_printf(to, "refers %d\n", dwarf_unit_refers(top));
	add_die(to, top, 0);
	while (dwarf_walk_next(&walk, &die)) {
		struct dwarf_die same = { 0 }, whole = dwarf_die_top(&die);
		if (!dwarf_die_at(die.unit, die.at, &same) || !dwarf_die_same(&same, &die) || !dwarf_die_same(&whole, top))
			str_puts(to, "not found: ");
		add_die(to, &die, walk.depth);
	}
	str_printf(to, "statements %d\n", dwarf_statements_read(top, &statements));
	for (size_t i = 0; i < statements.count; i++) {
		const struct dwarf_statement *s = &statements.items[i];
		str_printf(to, "%llx %u%s%s%s%s\n", (unsigned long long)s->address, s->line, s->statement ? " s" : "", s->prologue_end ? " p" : "",
			s->end ? " e" : "", dwarf_statement_file(top, s) ? "" : " nowhere");
	}
	str_printf(to, "%d\n", dwarf_statement_files(top, add_name, to));
	free(statements.items);
}

static void add_all(struct str *to, struct opened *o)
{
	for (uint32_t i = 0; i < dwarf_unit_count(o->dwarf); i++) {
		struct dwarf_die top;
		if (dwarf_unit_top(o->dwarf, i, &top))
			add_unit(to, &top);
		else
			str_puts(to, "absent\n");
	}
	add_addresses(to, o);
	struct dwarf_counters c = dwarf_counters(o->dwarf);
	str_printf(to, "units %llu parsed %llu damaged %llu missing %llu refused %llu\n", (unsigned long long)c.units,
		(unsigned long long)c.units_parsed, (unsigned long long)c.units_damaged, (unsigned long long)c.units_missing,
		(unsigned long long)c.units_refused);
}

static void expect_stored(const char *name, bool splits)
{
	struct opened o = { 0 };
	CLEANUP_STR struct str got = { 0 };
	char path[64];
	snprintf(path, sizeof path, "test/dwarf/%.*s", (int)strcspn(name, "."), name);
	if (open_named(&o, name, splits, NULL)) {
		add_all(&got, &o);
		stored_compare(path, &got);
		EXPECT_INT(o.asked, splits);
	}
	close_opened(&o);
}

TEST("entries, types, locations, lines and scopes of programs in DWARF 2 to 5 are as stored")
{
	static const char *const names[] = { "lines2", "shapes3", "shapes4", "lines5.o", "packed5", "clang5" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		expect_stored(names[i], false);
}

TEST("split units in files of their own are read with their skeletons")
{
	expect_stored("split4", true);
	expect_stored("split5", true);
}

/* A package with the unit of the .dwo, behind bytes of another one in each section. shift: added to one of the sizes; other: the slot in
 * the index has another unit's id first. */
static void *make_package(const struct elf *dwo, uint64_t id, bool five, int64_t shift, bool other, size_t *size)
{
	static const struct {
		const char *name;
		uint32_t four, five;
	} rows[] = {
		{ ".debug_info.dwo", 1, 1 }, { ".debug_abbrev.dwo", 3, 3 }, { ".debug_line.dwo", 4, 4 }, { ".debug_loc.dwo", 5, 0 },
		{ ".debug_loclists.dwo", 0, 5 }, { ".debug_str_offsets.dwo", 6, 6 }, { ".debug_rnglists.dwo", 0, 8 },
	};
	enum { ROWS = sizeof rows / sizeof *rows, PAD = 24, SLOTS = 4 };
	struct maker m = maker_new(true, false, EM_X86_64, ET_REL);
	uint8_t index[512] = { 0 };
	uint32_t columns[ROWS], offsets[ROWS], sizes[ROWS], count = 0;
	for (size_t i = 0; i < ROWS; i++) {
		const struct elf_section *section = elf_section(dwo, rows[i].name);
		uint32_t column = five ? rows[i].five : rows[i].four;
		if (!section || !column)
			continue;
		uint8_t pad[PAD];
		memset(pad, 0xaa, sizeof pad);
		struct span bytes = elf_section_bytes(dwo, section);
		unsigned made = maker_section(&m, rows[i].name, SHT_PROGBITS, 0, 0, pad, sizeof pad);
		maker_append(&m, made, bytes.data, bytes.len);
		columns[count] = column;
		offsets[count] = PAD;
		sizes[count++] = (uint32_t)(bytes.len + (column == 6 ? shift : 0));
	}
	struct span text = elf_section_bytes(dwo, elf_section(dwo, ".debug_str.dwo"));
	maker_section(&m, ".debug_str.dwo", SHT_PROGBITS, 0, 0, text.data, text.len);
	uint8_t *at = index;
	const uint32_t head[] = { five ? 5 : 2, count, 2, SLOTS };
	for (size_t i = 0; i < 4; i++, at += 4)
		maker_put(&m, at, head[i], 4);
	uint64_t slot = id & (SLOTS - 1), step = (id >> 32 & (SLOTS - 1)) | 1, second = (slot + step) & (SLOTS - 1);
	maker_put(&m, at + slot * 8, other ? ~id : id, 8);
	maker_put(&m, at + SLOTS * 8 + slot * 4, other ? 1 : 2, 4);
	if (other) {
		maker_put(&m, at + second * 8, id, 8);
		maker_put(&m, at + SLOTS * 8 + second * 4, 2, 4);
	}
	at += SLOTS * 12;
	for (size_t i = 0; i < count; i++) {
		maker_put(&m, at + 4 * i, columns[i], 4);
		maker_put(&m, at + 4 * (2 * count + i), offsets[i], 4);
		maker_put(&m, at + 4 * (4 * count + i), sizes[i], 4);
	}
	maker_section(&m, ".debug_cu_index", SHT_PROGBITS, 0, 0, index, (size_t)(at - index) + 20 * count);
	return maker_finish(&m, size);
}

static void expect_package(const char *name, bool five, int64_t shift, bool other, bool found)
{
	struct opened first = { 0 }, second = { 0 };
	struct elf package = { 0 };
	struct dwarf_die top;
	char path[64];
	size_t size;
	snprintf(path, sizeof path, "test/dwarf/%s", name);
	if (open_named(&first, name, true, NULL) && dwarf_unit_top(first.dwarf, 0, &top)) {
		void *bytes = make_package(&first.split_elf, first.id, five, shift, other, &size);
		CLEANUP_STR struct str got = { 0 };
		EXPECT_INT(elf_open(&package, (struct span){ bytes, size }, NULL), 0);
		if (open_named(&second, name, false, &package)) {
			EXPECT_INT(dwarf_unit_top(second.dwarf, 0, &top), found);
			add_all(&got, &second);
			if (found)
				stored_compare(path, &got);
		}
		close_opened(&second);
		elf_close(&package);
		free(bytes);
	}
	close_opened(&first);
}

TEST("units of a package are those of the files that it was made of, and found behind another one's slot")
{
	expect_package("split5", true, 0, false, true);
	expect_package("split5", true, 0, true, true);
	expect_package("split4", false, 0, false, true);
	expect_package("split4", false, 0, true, true);
}

TEST("a part of a package that reaches beyond its section is not used")
{
	expect_package("split5", true, 1, false, false);
	expect_package("split4", false, 1, false, false);
}
