#include "dwarf/dwarf.h"

#include <stdlib.h>

#include "dwarf/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ASKED_MAX 300u

static const struct elf *split_is_same_file(void *context, const char *directory, const char *name, uint64_t id)
{
	(void)id;
	return *directory || *name ? context : NULL;
}

static uint64_t look_up_address(struct dwarf *dwarf, uint64_t address)
{
	struct dwarf_frame frames[16];
	struct dwarf_place place;
	const char *name;
	uint64_t start, end, sum = dwarf_line(dwarf, address, &place) ? place.line : 0;
	size_t count = dwarf_frames(dwarf, address, frames, 16);
	for (size_t i = 0; i < count; i++) {
		sum += frames[i].name ? strlen(frames[i].name) : 0;
		sum += frames[i].place.file ? strlen(frames[i].place.file) : 0;
	}
	if (dwarf_function(dwarf, address, &name, &start, &end))
		sum += strlen(name) + end - start;
	return sum + dwarf_entry(dwarf, address, &start);
}

/* Opens the input as an ELF file that is also its own alternate file, package and split file, and looks up the addresses where units
 * begin. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf elf;
	if (elf_open(&elf, (struct span){ data, size }, NULL) < 0)
		return 0;
	struct dwarf *dwarf;
	struct dwarf_parts parts = { .debug = &elf, .alternate = &elf, .package = &elf, .split = split_is_same_file, .context = &elf,
		.memory_limit = (size_t)64 << 20 };
	const char *name;
	struct span id;
	uint64_t sum = dwarf_alternate(&elf, &name, &id) ? strlen(name) + id.len : 0;
	if (dwarf_open(&dwarf, &parts, NULL) == 0) {
		for (uint32_t i = 0; i < dwarf->segment_count && i < ASKED_MAX; i++)
			for (unsigned k = 0; k < 12; k++)
				sum += look_up_address(dwarf, dwarf->segment_starts[i] + (k < 6 ? k : 1u << k));
		sum += dwarf_counters(dwarf).memory;
		dwarf_close(dwarf);
	}
	elf_close(&elf);
	__asm__ volatile("" : : "r"(sum)); /* prevents the compiler from removing the reads */
	return 0;
}
