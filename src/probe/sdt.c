#include "probe/sdt.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/ranges.h"

enum { NOTE_STAPSDT = 3, TEXT_MAX = 128 };

/* Converts an address as linked to an offset in the file; 0: it is in no segment. */
static uint64_t file_offset(const struct elf *elf, uint64_t address)
{
	const struct elf_load *load = elf_load_at(elf, address);
	return load && address - load->vaddr < load->file_size ? address - load->vaddr + load->offset : 0;
}

static bool note_read(const struct elf *elf, struct cursor c, struct sdt_note *note)
{
	unsigned size = elf->is64 ? 8 : 4;
	uint64_t at = take_number(&c, size), base = take_number(&c, size), semaphore = take_number(&c, size);
	const char *texts[3];
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t *text = c.data + c.at, *end = memchr(text, 0, cursor_left(&c));
		if (!end)
			return false;
		texts[i] = (const char *)text;
		take(&c, (size_t)(end - text) + 1);
	}
	const struct elf_section *moved = elf_section(elf, ".stapsdt.base");
	/* prelinking moves the program, but not its notes */
	uint64_t shift = moved && base ? moved->address - base : 0;
	*note = (struct sdt_note){ .provider = texts[0], .name = texts[1], .arguments = texts[2], .offset = file_offset(elf, at + shift),
		.semaphore = semaphore ? file_offset(elf, semaphore + shift) : 0 };
	return !c.short_read && note->offset;
}

bool sdt_notes(const struct elf *elf, bool (*each)(void *context, const struct sdt_note *note), void *context)
{
	struct span notes = elf_section_bytes(elf, elf_section(elf, ".note.stapsdt"));
	struct cursor c = cursor_of(notes.data ? notes.data : (const uint8_t *)"", notes.len, elf->swap);
	while (cursor_left(&c) >= 12) {
		uint32_t name_size = take_u32(&c), size = take_u32(&c), type = take_u32(&c);
		const uint8_t *name = take(&c, ((size_t)name_size + 3) & ~(size_t)3), *body = take(&c, size);
		struct sdt_note note;
		if (!name || !body)
			break;
		take(&c, (4 - size % 4) % 4);
		if (type == NOTE_STAPSDT && name_size == sizeof "stapsdt" && !memcmp(name, "stapsdt", sizeof "stapsdt") &&
		    note_read(elf, cursor_of(body, size, elf->swap), &note) && each(context, &note))
			return true;
	}
	return false;
}

/* The kernel's name of an x86-64 register of any width: "%eax" → "%ax", "%r8d" → "%r8"; NULL: unknown. */
static const char *x86_register(const char *name, size_t length)
{
	static const char *const sets[][2] = {
		{ "%rax %eax %ax %al", "%ax" }, { "%rbx %ebx %bx %bl", "%bx" }, { "%rcx %ecx %cx %cl", "%cx" }, { "%rdx %edx %dx %dl", "%dx" },
		{ "%rsi %esi %si %sil", "%si" }, { "%rdi %edi %di %dil", "%di" }, { "%rbp %ebp %bp %bpl", "%bp" },
		{ "%rsp %esp %sp %spl", "%sp" }, { "%r8 %r8d %r8w %r8b", "%r8" }, { "%r9 %r9d %r9w %r9b", "%r9" },
		{ "%r10 %r10d %r10w %r10b", "%r10" }, { "%r11 %r11d %r11w %r11b", "%r11" }, { "%r12 %r12d %r12w %r12b", "%r12" },
		{ "%r13 %r13d %r13w %r13b", "%r13" }, { "%r14 %r14d %r14w %r14b", "%r14" }, { "%r15 %r15d %r15w %r15b", "%r15" },
	};
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		for (const char *at = sets[i][0]; *at; at += strspn(at, " ")) {
			size_t n = strcspn(at, " ");
			if (n == length && !memcmp(at, name, n))
				return sets[i][1];
			at += n;
		}
	return NULL;
}

/* "%rax", "8(%rax)", "-8(%rbp)" */
static bool x86_operand(const char *text, struct str *to)
{
	char *end;
	if (*text == '%') {
		const char *reg = x86_register(text, strlen(text));
		str_puts(to, reg ? reg : "");
		return reg;
	}
	long offset = strtol(text, &end, 0);
	if (*end != '(' || (end == text && *text != '('))
		return false;
	size_t n = strcspn(end + 1, ")");
	const char *reg = x86_register(end + 1, n);
	if (!reg || end[1 + n] != ')' || end[2 + n])
		return false;
	str_printf(to, "%+ld(%s)", offset, reg);
	return true;
}

/* The number of a register: "0" … "30" */
static bool is_arm64_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	return digits && digits <= 2 && !text[digits] && strtol(text, NULL, 10) <= 30;
}

/* "x0", "w0", "[sp, 12]", "[x1]" */
static bool arm64_operand(char *text, struct str *to)
{
	char *end;
	if ((*text == 'x' || *text == 'w') && is_arm64_number(text + 1)) {
		str_printf(to, "%%x%s", text + 1);
		return true;
	}
	size_t n = strlen(text);
	if (*text != '[' || text[n - 1] != ']')
		return false;
	text[n - 1] = '\0';
	char *comma = strchr(text, ',');
	long offset = comma ? strtol(comma + 1, &end, 0) : 0;
	if (comma)
		*comma = '\0';
	if (comma && (end == comma + 1 || *end))
		return false;
	if (strcmp(text + 1, "sp") != 0 && (text[1] != 'x' || !is_arm64_number(text + 2)))
		return false;
	str_printf(to, "%+ld(%%%s)", offset, text + 1);
	return true;
}

bool sdt_argument(uint16_t machine, const char *text, size_t length, struct str *to)
{
	static const char *const types[] = { [1] = "8", [2] = "16", [4] = "32", [8] = "64" };
	char copy[TEXT_MAX];
	if (!length || length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	char *at = strchr(copy, '@'), *operand = at ? at + 1 : copy;
	long size = at ? strtol(copy, NULL, 10) : 0, bytes = size < 0 && size >= -8 ? -size : size;
	bool found = machine == EM_X86_64 ? x86_operand(operand, to) : machine == EM_AARCH64 && arm64_operand(operand, to);
	if (found && bytes > 0 && bytes <= 8 && types[bytes])
		str_printf(to, ":%c%s", size < 0 ? 's' : 'u', types[bytes]);
	return found;
}
