#include "unwind/stubs_go.h"

#include <elf.h>
#include <string.h>

enum {
	FUNCTION_MAX = 1024, /* what changes stacks is written by hand, and short */
	BOTTOM_SIZE_MAX = 16,
};

bool go_is(const struct elf *elf)
{
	static const char *const tables[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo" };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (elf_section(elf, tables[i]))
			return elf->machine == EM_X86_64;
	return false;
}

/* mov 0x38(register), register: of a goroutine, where its stack was when it last ran. */
static bool loads_stack(const uint8_t *at)
{
	return (at[0] == 0x48 || at[0] == 0x49) && at[1] == 0x8b && (at[2] & 0xc0) == 0x40 && (at[2] & 7) != 4 && at[3] == 0x38;
}

/* What an instruction does to the stack pointer, where that is more than an offset: its length; 0: it does nothing of that kind. */
static size_t leaves_stack(const uint8_t *at, size_t left)
{
	static const uint8_t align[] = { 0x48, 0x83, 0xe4, 0xf0 }; /* and $-16, %rsp */
	if (!loads_stack(at))
		return memcmp(at, align, sizeof align) == 0 ? sizeof align : 0;
	uint8_t reg = at[2] >> 3 & 7;
	if (reg == 4)
		return 4; /* mov 0x38(register), %rsp */
	return left >= 7 && at[4] == 0x48 && at[5] == 0x89 && at[6] == (0xc4 | reg << 3) ? 7 : 0; /* by way of another register */
}

static size_t comes_back(const uint8_t *at)
{
	/* mov register, %rsp: kept since the stack was left; or the goroutine's again */
	if ((at[0] == 0x48 || at[0] == 0x4c) && at[1] == 0x89 && (at[2] & 0xc7) == 0xc4)
		return 3;
	return loads_stack(at) && (at[2] >> 3 & 7) == 4 ? 4 : 0;
}

static void add_switched(struct collection *c, const struct piece *function, uint64_t from, uint64_t to)
{
	struct piece rest = *function;
	vec_push(&c->pieces, ((struct piece){ .start = from, .end = to, .function = from, .program = STUB_SWITCHED,
		.section = STUB_SECTION }));
	rest.start = to;
	if (rest.start < rest.end)
		vec_push(&c->pieces, rest);
}

static void find_switches(struct collection *c, const struct piece *function, struct span code)
{
	const struct piece whole = *function; /* pieces move as they become more */
	uint64_t from = 0;
	bool away = false;
	for (size_t at = 0; at + 4 <= code.len;) {
		size_t length = away ? comes_back(code.data + at) : leaves_stack(code.data + at, code.len - at);
		if (!length) {
			at++;
			continue;
		}
		at += length;
		if (away)
			add_switched(c, &whole, from, whole.start + at);
		away = !away;
		from = whole.start + at;
	}
	if (away && from < whole.end)
		add_switched(c, &whole, from, whole.end);
}

/* goexit: nop; call; nop. Goroutines are made as if it had called their first function, behind that nop. */
static bool is_bottom(struct span code)
{
	return code.len >= 7 && code.len <= BOTTOM_SIZE_MAX && code.data[0] == 0x90 && code.data[1] == 0xe8 && code.data[6] == 0x90;
}

static struct span code_of(const struct elf *elf, const struct elf_section *text, const struct piece *piece)
{
	struct span bytes = elf_section_bytes(elf, text);
	uint64_t at = piece->start - text->address;
	if (piece->start < text->address || at > bytes.len || piece->end - piece->start > bytes.len - at)
		return (struct span){ 0 };
	return (struct span){ bytes.data + at, (size_t)(piece->end - piece->start) };
}

void go_collect(struct collection *c, const struct elf *elf)
{
	const struct elf_section *text = elf_section(elf, ".text");
	size_t count = c->pieces.count; /* what is found comes behind them */
	for (size_t i = 0; text && i < count; i++) {
		struct piece *piece = &c->pieces.items[i];
		if (piece->section == STUB_SECTION || piece->end - piece->start > FUNCTION_MAX)
			continue;
		struct span code = code_of(elf, text, piece);
		if (is_bottom(code)) {
			piece->section = STUB_SECTION;
			piece->program = STUB_BOTTOM;
		} else {
			find_switches(c, piece, code);
		}
	}
}
