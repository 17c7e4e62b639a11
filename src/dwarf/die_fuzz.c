#include "dwarf/die.h"

#include <string.h>

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/location.h"
#include "dwarf/needle.h"
#include "dwarf/statement.h"
#include "dwarf/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DIES_MAX = 400, LOCATIONS_MAX = 50 };

static uint64_t read_location(const struct dwarf_die *die, uint16_t name)
{
	struct dwarf_datum datum;
	struct dwarf_operation ops[8];
	struct span expression;
	uint64_t low, high, sum = 0;
	if (!dwarf_die_get_any(die, name, &datum))
		return 0;
	struct dwarf_locations locations = dwarf_locations_of(&datum);
	for (unsigned i = 0; i < LOCATIONS_MAX && dwarf_locations_next(&locations, &low, &high, &expression); i++)
		sum += low + high + dwarf_operations(datum.unit, expression, ops, 8);
	return sum;
}

static uint64_t read_die(const struct dwarf_die *die)
{
	struct dwarf_die other;
	struct dwarf_bits bits;
	struct str name = { 0 };
	uint64_t number = 0, sum = 0;
	const char *text = dwarf_die_name(die), *linkage = dwarf_die_linkage_name(die), *file = dwarf_die_file(die, DW_AT_decl_file);
	sum += (text ? strlen(text) : 0) + (linkage ? strlen(linkage) : 0) + (file ? strlen(file) : 0);
	sum += dwarf_type_name(die, &name) + name.len + dwarf_type_size(die, &number) + number;
	if (dwarf_type_real(die, &other))
		sum += dwarf_type_size(&other, &number) + dwarf_type_member(&other, "a", &other);
	sum += dwarf_type_member(die, "a", &other) + dwarf_member_bits(die, &bits) + dwarf_member_offset(die, &number);
	sum += dwarf_die_entry(die, &number) + dwarf_die_contains(die, number) + dwarf_die_origin(die, &other);
	sum += read_location(die, DW_AT_location) + read_location(die, DW_AT_frame_base);
	str_fini(&name);
	return sum;
}

static uint64_t read_unit(struct dwarf *dwarf, const struct dwarf_die *top)
{
	struct dwarf_walk walk = dwarf_walk_of(top);
	struct dwarf_die die, scopes[4];
	struct dwarf_statements statements;
	uint64_t sum = 0, address;
	for (unsigned i = 0; i < DIES_MAX && dwarf_walk_next(&walk, &die); i++) {
		sum += read_die(&die);
		sum += dwarf_die_entry(&die, &address) ? dwarf_scopes(dwarf, address, scopes, 4) : 0;
		walk.skip = i % 7 == 6;
	}
	if (dwarf_statements_read(top, &statements) && statements.count)
		sum += statements.items[statements.count - 1].line;
	vec_fini(&statements);
	return sum;
}

/* Opens the input as an ELF file that is also its own alternate file, and reads the first DIEs of its first units in every way. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf elf;
	struct dwarf *dwarf;
	struct dwarf_die top;
	uint64_t sum = 0;
	if (elf_open(&elf, (struct span){ data, size }, NULL) < 0)
		return 0;
	struct dwarf_parts parts = { .debug = &elf, .alternate = &elf, .memory_limit = (size_t)64 << 20 };
	if (dwarf_open(&dwarf, &parts, NULL) == 0) {
		struct dwarf_needle needle = dwarf_needle_of(dwarf, "main");
		for (uint32_t i = 0; i < dwarf_unit_count(dwarf) && i < 4; i++)
			if (dwarf_unit_top(dwarf, i, &top))
				sum += read_unit(dwarf, &top) + dwarf_needle_in(&needle, i);
		dwarf_close(dwarf);
	}
	elf_close(&elf);
	__asm__ volatile("" : : "r"(sum)); /* prevents the compiler from removing the reads */
	return 0;
}
