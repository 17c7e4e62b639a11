#include "dwarf/dwarf.h"

#include <elf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dwarf/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
	".debug_str_offsets", ".debug_addr", ".debug_ranges", ".debug_rnglists", ".debug_aranges" };

#define SECTIONS (sizeof names / sizeof *names)

/* Input: a byte with ELF class and byte order, then the sections above, each preceded by its length in two bytes. No ELF headers, so that
 * the fuzzer reaches the DWARF reader. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_section sections[SECTIONS + 1] = { { .name = "" } };
	struct cursor c = cursor_of(data, size, false);
	uint8_t shape = take_u8(&c);
	struct elf elf = { .bytes = { data, size }, .is64 = shape & 1, .swap = shape & 2, .type = ET_REL, .section_count = SECTIONS + 1,
		.sections = sections };
	for (size_t i = 0; i < SECTIONS; i++) {
		size_t len = take_u16(&c);
		len = len < cursor_left(&c) ? len : cursor_left(&c);
		sections[i + 1] = (struct elf_section){ .name = names[i], .type = SHT_PROGBITS, .offset = c.at, .size = len };
		take(&c, len);
	}
	struct dwarf *dwarf;
	struct dwarf_parts parts = { .debug = &elf, .alternate = &elf, .memory_limit = (size_t)64 << 20 };
	if (dwarf_open(&dwarf, &parts, NULL) < 0)
		return 0;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < dwarf->segment_count && i < 100; i++)
		for (unsigned k = 0; k < 8; k++) {
			struct dwarf_frame frames[8];
			uint64_t start = dwarf->segment_starts[i] + (k < 4 ? k : 1u << k), entry;
			size_t count = dwarf_frames(dwarf, start, frames, 8);
			for (size_t n = 0; n < count; n++)
				sum += (frames[n].name ? strlen(frames[n].name) : 0) + (frames[n].place.file ? strlen(frames[n].place.file) : 0);
			sum += dwarf_entry(dwarf, start, &entry);
		}
	dwarf_close(dwarf);
	__asm__ volatile("" : : "r"(sum)); /* prevents the compiler from removing the reads */
	return 0;
}
