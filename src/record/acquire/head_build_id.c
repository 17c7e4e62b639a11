#include "record/acquire/head_build_id.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_SIZE = 4096 };

/* What both classes of files have. */
struct head {
	uint64_t headers, count, size; /* of program headers: offset, number, bytes of each */
	bool wide;
};

static bool read_head(const uint8_t *bytes, size_t len, struct head *head)
{
	static const uint8_t order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
	if (len < sizeof wide || memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_DATA] != order)
		return false;
	memcpy(&wide, bytes, sizeof wide);
	memcpy(&narrow, bytes, sizeof narrow);
	head->wide = bytes[EI_CLASS] == ELFCLASS64;
	head->headers = head->wide ? wide.e_phoff : narrow.e_phoff;
	head->count = head->wide ? wide.e_phnum : narrow.e_phnum;
	head->size = head->wide ? wide.e_phentsize : narrow.e_phentsize;
	if (bytes[EI_CLASS] != ELFCLASS64 && bytes[EI_CLASS] != ELFCLASS32)
		return false;
	return head->size == (head->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) && head->headers <= len;
}

/* The notes of a program header, as far as they are in the page; empty: none. */
static struct span notes_of(const uint8_t *bytes, size_t len, const struct head *head, uint64_t at)
{
	Elf64_Phdr wide = { 0 };
	Elf32_Phdr narrow = { 0 };
	memcpy(head->wide ? (void *)&wide : (void *)&narrow, bytes + at, head->size);
	uint64_t offset = head->wide ? wide.p_offset : narrow.p_offset, size = head->wide ? wide.p_filesz : narrow.p_filesz;
	uint64_t align = head->wide ? wide.p_align : narrow.p_align;
	/* notes of properties have another padding */
	if ((head->wide ? wide.p_type : narrow.p_type) != PT_NOTE || align == 8 || offset > len || size > len - offset)
		return (struct span){ 0 };
	return (struct span){ bytes + offset, size };
}

uint8_t head_build_id(int fd, uint8_t id[static ELF_BUILD_ID_MAX])
{
	uint8_t bytes[HEAD_SIZE];
	struct head head;
	ssize_t n = pread(fd, bytes, sizeof bytes, 0);
	size_t len = n > 0 ? (size_t)n : 0;
	if (!read_head(bytes, len, &head))
		return 0;
	uint64_t room = (len - head.headers) / head.size;
	for (uint64_t i = 0; i < head.count && i < room; i++) {
		struct span notes = notes_of(bytes, len, &head, head.headers + i * head.size);
		uint8_t found = notes.len ? elf_notes_build_id(notes, false, id) : 0;
		if (found)
			return found;
	}
	return 0;
}
