#include "unwind/stubs_go.h"

#include <elf.h>
#include <string.h>

#include "unwind/go_frames.h"

enum {
	FUNCTION_MAX = 1024, /* code that switches stacks is short hand-written assembly */
	BOTTOM_SIZE_MAX = 64,
};

bool go_is(const struct elf *elf)
{
	static const char *const tables[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo" };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (elf_section(elf, tables[i]))
			return elf->machine == EM_X86_64 || elf->machine == EM_AARCH64;
	return false;
}

/* mov 0x38(register), register: loads a goroutine's saved stack pointer. */
static bool loads_stack(const uint8_t *at)
{
	return (at[0] == 0x48 || at[0] == 0x49) && at[1] == 0x8b && (at[2] & 0xc0) == 0x40 && (at[2] & 7) != 4 && at[3] == 0x38;
}

/* Returns the length of an instruction that switches the stack; 0: it does not. */
static size_t leaves_stack(const uint8_t *at, size_t left)
{
	static const uint8_t align[] = { 0x48, 0x83, 0xe4, 0xf0 }; /* and $-16, %rsp */
	if (!loads_stack(at))
		return memcmp(at, align, sizeof align) == 0 ? sizeof align : 0;
	uint8_t reg = at[2] >> 3 & 7;
	if (reg == 4)
		return 4; /* mov 0x38(register), %rsp */
	return left >= 7 && at[4] == 0x48 && at[5] == 0x89 && at[6] == (0xc4 | reg << 3) ? 7 : 0; /* through another register */
}

static size_t comes_back(const uint8_t *at)
{
	/* mov register, %rsp: saved before the switch; or the goroutine's stack again */
	if ((at[0] == 0x48 || at[0] == 0x4c) && at[1] == 0x89 && (at[2] & 0xc7) == 0xc4)
		return 3;
	return loads_stack(at) && (at[2] >> 3 & 7) == 4 ? 4 : 0;
}

/* How instructions of one architecture switch stacks. Both functions return the length up to the next instruction that is on the other
 * stack; 0: no switch. at: the first instruction; before: number of readable bytes before it. */
struct switches {
	size_t (*leaves)(const uint8_t *at, size_t before, size_t left);
	size_t (*comes_back)(const uint8_t *at, size_t before, size_t left);
	size_t step;
};

static size_t leaves_x86_64(const uint8_t *at, __attribute__((unused)) size_t before, size_t left)
{
	return leaves_stack(at, left);
}

static size_t comes_back_x86_64(const uint8_t *at, __attribute__((unused)) size_t before, __attribute__((unused)) size_t left)
{
	return comes_back(at);
}

/* AArch64: mov sp, register, and the instruction before it. false: another instruction. */
static bool sets_stack(const uint8_t *at, size_t before, uint32_t *reg, uint32_t *last)
{
	uint32_t code = load_u32(at);
	if (before < 4 || (code & 0xfffffc1f) != 0x9100001f)
		return false;
	*reg = code >> 5 & 31;
	*last = load_u32(at - 4);
	return true;
}

/* sub register, register, #amount: lower on the same stack. */
static bool goes_down(uint32_t code, uint32_t reg)
{
	return (code & 0xff8003ff) == (0xd1000000 | reg << 5 | reg);
}

/* After ldr register, [goroutine, #0x38]; if C is called from a stack of sufficient size, after a sub or and of the register. */
static size_t leaves_aarch64(const uint8_t *at, size_t before, __attribute__((unused)) size_t left)
{
	uint32_t reg, last;
	if (!sets_stack(at, before, &reg, &last))
		return 0;
	bool loads = (last & 0xfffffc1f) == (0xf9401c00 | reg), aligns = last == (0x927cec00 | reg << 5 | reg);
	return loads || aligns || goes_down(last, reg) ? 4 : 0;
}

static size_t comes_back_aarch64(const uint8_t *at, size_t before, __attribute__((unused)) size_t left)
{
	uint32_t reg, last;
	return sets_stack(at, before, &reg, &last) && !goes_down(last, reg) ? 4 : 0;
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

static void find_switches(struct collection *c, const struct piece *function, struct span code, const struct switches *s)
{
	const struct piece whole = *function; /* pieces move when their array grows */
	uint64_t from = 0;
	bool away = false;
	for (size_t at = 0; at + 4 <= code.len;) {
		size_t length = (away ? s->comes_back : s->leaves)(code.data + at, at, code.len - at);
		if (!length) {
			at += s->step;
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

/* Returns whether there is only padding up to the next function. */
static bool is_padding(struct span code, size_t from)
{
	while (from < code.len && (code.data[from] == 0xcc || code.data[from] == 0))
		from++;
	return from == code.len;
}

/* goexit: nop; call; nop (AArch64: nop or mov x0, x0; bl). A new goroutine looks as if goexit had called its first function, with a return
 * address after the first of these. */
static bool is_bottom(struct span code, uint16_t machine)
{
	if (code.len < 8 - (machine != EM_AARCH64) || code.len > BOTTOM_SIZE_MAX)
		return false;
	if (machine == EM_AARCH64)
		return load_u32(code.data + 4) >> 26 == 0x25 && is_padding(code, 8) &&
		       (load_u32(code.data) == 0xaa0003e0 || load_u32(code.data) == 0xd503201f);
	return code.data[0] == 0x90 && code.data[1] == 0xe8 && code.data[6] == 0x90 && is_padding(code, 7);
}

static struct span code_of(const struct elf *elf, const struct elf_section *text, const struct piece *piece)
{
	struct span bytes = elf_section_bytes(elf, text);
	uint64_t at = piece->start - text->address;
	if (piece->start < text->address || at > bytes.len || piece->end - piece->start > bytes.len - at)
		return (struct span){ 0 };
	return (struct span){ bytes.data + at, (size_t)(piece->end - piece->start) };
}

/* Go's table gives only the start of the next function. The bytes between may precede an apparent return address: a function's first
 * instruction. */
static void trim(struct piece *piece, struct span *code, uint16_t machine)
{
	size_t unit = machine == EM_AARCH64 ? 4 : 1;
	while (code->len > unit && (unit == 4 ? load_u32(code->data + code->len - 4) == 0 : code->data[code->len - 1] == 0xcc))
		code->len -= unit;
	if (code->len)
		piece->end = piece->start + code->len;
}

void go_collect(struct collection *c, const struct elf *elf)
{
	static const struct switches x86_64 = { leaves_x86_64, comes_back_x86_64, 1 }, aarch64 = { leaves_aarch64, comes_back_aarch64, 4 };
	const struct switches *switches = elf->machine == EM_AARCH64 ? &aarch64 : &x86_64;
	const struct elf_section *text = elf_section(elf, ".text");
	size_t count = c->pieces.count; /* found pieces are appended */
	for (size_t i = 0; text && i < count; i++) {
		struct piece *piece = &c->pieces.items[i];
		if (piece->section == STUB_SECTION || piece->end - piece->start > FUNCTION_MAX)
			continue;
		struct span code = code_of(elf, text, piece);
		if (piece->section == GO_SECTION)
			trim(piece, &code, elf->machine);
		if (is_bottom(code, elf->machine)) {
			piece->section = STUB_SECTION;
			piece->program = STUB_BOTTOM;
		} else {
			find_switches(c, piece, code, switches);
		}
	}
}
