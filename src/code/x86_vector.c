#include "code/x86_vector.h"

#include <stdio.h>
#include <string.h>

/* What an instruction does with its operands: reg, vvvv and rm are those of its encoding. */
enum vector_form {
	FORM_MASK_FROM_REGISTER, /* k(reg), r32 or r64 (rm) */
	FORM_REGISTER_FROM_MASK, /* r(reg), k(rm) */
	FORM_MASK_MOVE,          /* k(reg), k or memory (rm) */
	FORM_MASKS,              /* k(reg), k(vvvv), k(rm) */
	FORM_MASK_PAIR,          /* k(reg), k(rm) */
	FORM_MASK_SHIFT,         /* k(reg), k(rm), imm */
	FORM_TEST,               /* k(reg) {mask}, vector (vvvv), vector or memory (rm) */
	FORM_COMPARE,            /* the same, with a predicate in imm, which is part of the mnemonic */
	FORM_THREE,              /* vector (reg) {mask}, vector (vvvv), vector or memory (rm), imm */
	FORM_BROADCAST,          /* vector (reg) {mask}, r32 or r64 (rm) */
};

enum vector_width { WIDE_ANY, WIDE_NO, WIDE_YES };

struct vector_row {
	bool evex;
	uint8_t map, prefix, opcode;     /* map: 1 is 0F, 2 is 0F 38, 3 is 0F 3A; prefix: 1 is 66, 2 is F3, 3 is F2 */
	enum vector_width wide;
	const char mnemonic[16];         /* of FORM_COMPARE: up to the predicate, then its end after '.' */
	enum vector_form form;
};

static const struct vector_row rows[] = {
	{ false, 1, 0, 0x90, WIDE_NO, "kmovw", FORM_MASK_MOVE }, { false, 1, 1, 0x90, WIDE_NO, "kmovb", FORM_MASK_MOVE },
	{ false, 1, 0, 0x90, WIDE_YES, "kmovq", FORM_MASK_MOVE }, { false, 1, 1, 0x90, WIDE_YES, "kmovd", FORM_MASK_MOVE },
	{ false, 1, 0, 0x92, WIDE_NO, "kmovw", FORM_MASK_FROM_REGISTER }, { false, 1, 1, 0x92, WIDE_NO, "kmovb", FORM_MASK_FROM_REGISTER },
	{ false, 1, 3, 0x92, WIDE_NO, "kmovd", FORM_MASK_FROM_REGISTER }, { false, 1, 3, 0x92, WIDE_YES, "kmovq", FORM_MASK_FROM_REGISTER },
	{ false, 1, 0, 0x93, WIDE_NO, "kmovw", FORM_REGISTER_FROM_MASK }, { false, 1, 1, 0x93, WIDE_NO, "kmovb", FORM_REGISTER_FROM_MASK },
	{ false, 1, 3, 0x93, WIDE_NO, "kmovd", FORM_REGISTER_FROM_MASK }, { false, 1, 3, 0x93, WIDE_YES, "kmovq", FORM_REGISTER_FROM_MASK },
#define MASKS(opcode, name, form) \
	{ false, 1, 0, opcode, WIDE_NO, name "w", form }, { false, 1, 1, opcode, WIDE_NO, name "b", form }, \
	{ false, 1, 0, opcode, WIDE_YES, name "q", form }, { false, 1, 1, opcode, WIDE_YES, name "d", form }
	MASKS(0x41, "kand", FORM_MASKS), MASKS(0x42, "kandn", FORM_MASKS), MASKS(0x44, "knot", FORM_MASK_PAIR),
	MASKS(0x45, "kor", FORM_MASKS), MASKS(0x46, "kxnor", FORM_MASKS), MASKS(0x47, "kxor", FORM_MASKS), MASKS(0x4a, "kadd", FORM_MASKS),
	MASKS(0x98, "kortest", FORM_MASK_PAIR), MASKS(0x99, "ktest", FORM_MASK_PAIR),
#undef MASKS
	{ false, 1, 1, 0x4b, WIDE_NO, "kunpckbw", FORM_MASKS }, { false, 1, 0, 0x4b, WIDE_NO, "kunpckwd", FORM_MASKS },
	{ false, 1, 0, 0x4b, WIDE_YES, "kunpckdq", FORM_MASKS },
	{ false, 3, 1, 0x30, WIDE_NO, "kshiftrb", FORM_MASK_SHIFT }, { false, 3, 1, 0x30, WIDE_YES, "kshiftrw", FORM_MASK_SHIFT },
	{ false, 3, 1, 0x31, WIDE_NO, "kshiftrd", FORM_MASK_SHIFT }, { false, 3, 1, 0x31, WIDE_YES, "kshiftrq", FORM_MASK_SHIFT },
	{ false, 3, 1, 0x32, WIDE_NO, "kshiftlb", FORM_MASK_SHIFT }, { false, 3, 1, 0x32, WIDE_YES, "kshiftlw", FORM_MASK_SHIFT },
	{ false, 3, 1, 0x33, WIDE_NO, "kshiftld", FORM_MASK_SHIFT }, { false, 3, 1, 0x33, WIDE_YES, "kshiftlq", FORM_MASK_SHIFT },
	{ true, 2, 1, 0x26, WIDE_NO, "vptestmb", FORM_TEST }, { true, 2, 1, 0x26, WIDE_YES, "vptestmw", FORM_TEST },
	{ true, 2, 1, 0x27, WIDE_NO, "vptestmd", FORM_TEST }, { true, 2, 1, 0x27, WIDE_YES, "vptestmq", FORM_TEST },
	{ true, 2, 2, 0x26, WIDE_NO, "vptestnmb", FORM_TEST }, { true, 2, 2, 0x26, WIDE_YES, "vptestnmw", FORM_TEST },
	{ true, 2, 2, 0x27, WIDE_NO, "vptestnmd", FORM_TEST }, { true, 2, 2, 0x27, WIDE_YES, "vptestnmq", FORM_TEST },
	{ true, 1, 1, 0x64, WIDE_ANY, "vpcmpgtb", FORM_TEST }, { true, 1, 1, 0x65, WIDE_ANY, "vpcmpgtw", FORM_TEST },
	{ true, 1, 1, 0x66, WIDE_NO, "vpcmpgtd", FORM_TEST }, { true, 2, 1, 0x37, WIDE_YES, "vpcmpgtq", FORM_TEST },
	{ true, 1, 1, 0x74, WIDE_ANY, "vpcmpeqb", FORM_TEST }, { true, 1, 1, 0x75, WIDE_ANY, "vpcmpeqw", FORM_TEST },
	{ true, 1, 1, 0x76, WIDE_NO, "vpcmpeqd", FORM_TEST }, { true, 2, 1, 0x29, WIDE_YES, "vpcmpeqq", FORM_TEST },
	{ true, 3, 1, 0x1e, WIDE_NO, "vpcmp.ud", FORM_COMPARE }, { true, 3, 1, 0x1e, WIDE_YES, "vpcmp.uq", FORM_COMPARE },
	{ true, 3, 1, 0x1f, WIDE_NO, "vpcmp.d", FORM_COMPARE }, { true, 3, 1, 0x1f, WIDE_YES, "vpcmp.q", FORM_COMPARE },
	{ true, 3, 1, 0x3e, WIDE_NO, "vpcmp.ub", FORM_COMPARE }, { true, 3, 1, 0x3e, WIDE_YES, "vpcmp.uw", FORM_COMPARE },
	{ true, 3, 1, 0x3f, WIDE_NO, "vpcmp.b", FORM_COMPARE }, { true, 3, 1, 0x3f, WIDE_YES, "vpcmp.w", FORM_COMPARE },
	{ true, 3, 1, 0x25, WIDE_NO, "vpternlogd", FORM_THREE }, { true, 3, 1, 0x25, WIDE_YES, "vpternlogq", FORM_THREE },
	{ true, 2, 1, 0x7a, WIDE_NO, "vpbroadcastb", FORM_BROADCAST }, { true, 2, 1, 0x7b, WIDE_NO, "vpbroadcastw", FORM_BROADCAST },
	{ true, 2, 1, 0x7c, WIDE_NO, "vpbroadcastd", FORM_BROADCAST }, { true, 2, 1, 0x7c, WIDE_YES, "vpbroadcastq", FORM_BROADCAST },
};

/* The fields of one instruction. Registers are complete numbers, 0 to 31. */
struct encoding {
	bool evex, wide, zeroing, broadcast;
	uint8_t map, prefix, opcode, vector_length; /* vector_length: 0 is 128 bits, 1 is 256, 2 is 512 */
	uint8_t mask, reg, vvvv, rm, modrm, sib, immediate;
	uint8_t index_high, base_high;              /* 0 or 8 */
	bool relative;                              /* to the instruction pointer */
	int32_t displacement;
};

/* Reads the prefix, up to the opcode. */
static bool take_prefix(struct cursor *c, struct encoding *e)
{
	uint8_t first = take_u8(c);
	if (first == 0xc5) {
		uint8_t p = take_u8(c);
		*e = (struct encoding){ .map = 1, .reg = p & 0x80 ? 0 : 8, .vvvv = ~p >> 3 & 15, .vector_length = p >> 2 & 1, .prefix = p & 3 };
	} else if (first == 0xc4 || first == 0x62) {
		uint8_t p = take_u8(c), q = take_u8(c);
		e->evex = first == 0x62;
		e->map = p & (e->evex ? 7 : 31);
		e->reg = p & 0x80 ? 0 : 8;
		e->index_high = p & 0x40 ? 0 : 8;
		e->base_high = p & 0x20 ? 0 : 8;
		e->wide = q & 0x80;
		e->vvvv = ~q >> 3 & 15;
		e->prefix = q & 3;
		e->vector_length = q >> 2 & 1;
		if (e->evex) {
			uint8_t r = take_u8(c);
			if (!(q & 4) || p & 8)
				return false;
			e->reg |= p & 0x10 ? 0 : 16;
			e->vvvv |= r & 8 ? 0 : 16;
			e->vector_length = r >> 5 & 3;
			e->zeroing = r & 0x80;
			e->broadcast = r & 0x10;
			e->mask = r & 7;
		}
	} else {
		return false;
	}
	return !c->short_read && e->map >= 1 && e->map <= 3 && e->vector_length < 3;
}

/* Reads the rest. */
static bool take_operands(struct cursor *c, struct encoding *e)
{
	e->opcode = take_u8(c);
	if (!e->evex && e->map == 1 && e->opcode == 0x77) /* vzeroupper has no operand */
		return false;
	e->modrm = take_u8(c);
	unsigned mode = e->modrm >> 6, low = e->modrm & 7;
	e->reg |= e->modrm >> 3 & 7;
	e->rm = low | e->base_high | (e->evex && mode == 3 && e->index_high ? 16 : 0);
	if (mode != 3 && low == 4)
		e->sib = take_u8(c);
	unsigned base = low == 4 ? e->sib & 7 : low;
	e->relative = mode == 0 && low == 5;
	if (mode == 1)
		e->displacement = (int8_t)take_u8(c);
	else if (mode == 2 || (mode == 0 && base == 5))
		e->displacement = (int32_t)take_u32(c);
	bool immediate = e->map == 3 || (e->map == 1 && ((e->opcode >= 0x70 && e->opcode <= 0x73) || e->opcode == 0xc2
		|| (e->opcode >= 0xc4 && e->opcode <= 0xc6)));
	if (immediate)
		e->immediate = take_u8(c);
	return !c->short_read;
}

static const struct vector_row *find_vector(const struct encoding *e)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct vector_row *row = &rows[i];
		if (row->evex == e->evex && row->map == e->map && row->prefix == e->prefix && row->opcode == e->opcode
			&& (row->wide == WIDE_ANY || (row->wide == WIDE_YES) == e->wide))
			return row;
	}
	return NULL;
}

/* Operands in Intel's order; AT&T's is the reverse. */
struct spelling {
	enum code_syntax syntax;
	char operands[5][64];
	unsigned count;
};

static const char *sigil(const struct spelling *s)
{
	return s->syntax == CODE_ATT ? "%" : "";
}

/* Capstone spells numbers below 10 in decimal. */
static void number_text(char out[static 16], uint32_t value)
{
	snprintf(out, 16, value < 10 ? "%u" : "0x%x", value);
}

static void add_register(struct spelling *s, const char *kind, unsigned number)
{
	snprintf(s->operands[s->count++], sizeof s->operands[0], "%s%s%u", sigil(s), kind, number);
}

static void add_general(struct spelling *s, unsigned number, bool wide)
{
	static const char names[8][3] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };
	char *out = s->operands[s->count++];
	if (number < 8)
		snprintf(out, sizeof s->operands[0], "%s%c%s", sigil(s), wide ? 'r' : 'e', names[number]);
	else
		snprintf(out, sizeof s->operands[0], "%sr%u%s", sigil(s), number & 15, wide ? "" : "d");
}

static void add_immediate(struct spelling *s, uint8_t value)
{
	char number[16];
	number_text(number, value);
	snprintf(s->operands[s->count++], sizeof s->operands[0], "%s%s", s->syntax == CODE_ATT ? "$" : "", number);
}

static const char *vector_kind(const struct encoding *e)
{
	static const char *const kinds[] = { "xmm", "ymm", "zmm" };
	return kinds[e->vector_length];
}

/* "{%k1} {z}" after the destination. */
static void add_mask(struct spelling *s, const struct encoding *e)
{
	char *out = s->operands[s->count - 1];
	size_t len = strlen(out);
	if (e->mask)
		snprintf(out + len, sizeof s->operands[0] - len, " {%sk%u}%s", sigil(s), e->mask, e->zeroing ? " {z}" : "");
}

/* The general register of an address. */
static void address_register(const struct spelling *s, unsigned number, char out[static 8])
{
	static const char names[8][4] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" };
	if (number < 8)
		snprintf(out, 8, "%s%s", sigil(s), names[number]);
	else
		snprintf(out, 8, "%sr%u", sigil(s), number & 15);
}

/* size: bytes of the operand in memory, by which an EVEX displacement of one byte is scaled. */
static void add_memory(struct spelling *s, const struct encoding *e, unsigned size)
{
	char *out = s->operands[s->count++], base[8] = "", index[8] = "", number[16];
	size_t room = sizeof s->operands[0];
	unsigned low = e->modrm & 7, mode = e->modrm >> 6, scale = 1u << (e->sib >> 6);
	int64_t displacement = e->evex && mode == 1 ? (int64_t)e->displacement * size : e->displacement;
	if (low == 4 && !(mode == 0 && (e->sib & 7) == 5))
		address_register(s, (e->sib & 7) | e->base_high, base);
	else if (low != 4)
		address_register(s, low | e->base_high, base);
	if (low == 4 && ((e->sib >> 3 & 7) | e->index_high) != 4)
		address_register(s, (e->sib >> 3 & 7) | e->index_high, index);
	if (e->relative)
		snprintf(base, sizeof base, "%srip", sigil(s));
	number_text(number, (uint32_t)(displacement < 0 ? -displacement : displacement));
	char scaled[24] = "";
	if (s->syntax == CODE_ATT) {
		snprintf(scaled, sizeof scaled, scale > 1 ? ", %u" : "", scale);
		snprintf(out, room, "%s%s(%s%s%s%s)", displacement < 0 ? "-" : "", displacement ? number : "", base, *index ? ", " : "", index,
			*index ? scaled : "");
		return;
	}
	static const char *const sizes[] = { "xmmword", "ymmword", "zmmword" };
	snprintf(scaled, sizeof scaled, scale > 1 ? "*%u" : "", scale);
	snprintf(out, room, "%s ptr [%s%s%s%s%s%s]", e->broadcast ? (e->wide ? "qword" : "dword") : sizes[e->vector_length], base,
		*index && *base ? " + " : "", index, *index ? scaled : "", !displacement ? "" : displacement < 0 ? " - " : " + ",
		displacement ? number : "");
}

static void add_vector_or_memory(struct spelling *s, const struct encoding *e)
{
	unsigned element = e->wide ? 8 : 4, whole = 16u << e->vector_length;
	if (e->modrm >> 6 == 3) {
		add_register(s, vector_kind(e), e->rm);
		return;
	}
	add_memory(s, e, e->broadcast ? element : whole);
	char *out = s->operands[s->count - 1];
	size_t len = strlen(out);
	if (e->broadcast)
		snprintf(out + len, sizeof s->operands[0] - len, "{1to%u}", whole / element);
}

static void spell_operands(const struct vector_row *row, const struct encoding *e, struct spelling *s)
{
	switch (row->form) {
	case FORM_MASK_FROM_REGISTER:
		add_register(s, "k", e->reg & 7);
		add_general(s, e->rm, e->wide);
		break;
	case FORM_REGISTER_FROM_MASK:
		add_general(s, e->reg, e->wide);
		add_register(s, "k", e->rm & 7);
		break;
	case FORM_MASK_MOVE:
	case FORM_MASK_PAIR:
	case FORM_MASK_SHIFT:
	case FORM_MASKS:
		add_register(s, "k", e->reg & 7);
		if (row->form == FORM_MASKS)
			add_register(s, "k", e->vvvv & 7);
		if (e->modrm >> 6 == 3)
			add_register(s, "k", e->rm & 7);
		else
			add_memory(s, e, 1);
		if (row->form == FORM_MASK_SHIFT)
			add_immediate(s, e->immediate);
		break;
	case FORM_TEST:
	case FORM_COMPARE:
	case FORM_THREE:
		add_register(s, row->form == FORM_THREE ? vector_kind(e) : "k", row->form == FORM_THREE ? e->reg : e->reg & 7);
		add_mask(s, e);
		add_register(s, vector_kind(e), e->vvvv);
		add_vector_or_memory(s, e);
		if (row->form == FORM_THREE)
			add_immediate(s, e->immediate);
		break;
	case FORM_BROADCAST:
		add_register(s, vector_kind(e), e->reg);
		add_mask(s, e);
		add_general(s, e->rm, e->wide);
		break;
	}
}

static void spell_mnemonic(const struct vector_row *row, const struct encoding *e, struct x86_vector *out)
{
	static const char *const predicates[] = { "eq", "lt", "le", "false", "neq", "nlt", "nle", "true" };
	const char *dot = strchr(row->mnemonic, '.');
	if (dot)
		snprintf(out->mnemonic, sizeof out->mnemonic, "%.*s%s%s", (int)(dot - row->mnemonic), row->mnemonic,
			predicates[e->immediate & 7], dot + 1);
	else
		snprintf(out->mnemonic, sizeof out->mnemonic, "%s", row->mnemonic);
}

static bool decode_protection_key(struct span code, struct x86_vector *out)
{
	if (code.len < 3 || code.data[0] != 0x0f || code.data[1] != 0x01 || (code.data[2] != 0xee && code.data[2] != 0xef))
		return false;
	*out = (struct x86_vector){ .length = 3, .known = true };
	strcpy(out->mnemonic, code.data[2] == 0xee ? "rdpkru" : "wrpkru");
	return true;
}

bool x86_vector_decode(struct span code, enum code_syntax syntax, struct x86_vector *out)
{
	struct cursor c = cursor_of(code.data, code.len, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct encoding e = { 0 };
	if (decode_protection_key(code, out))
		return true;
	if (!take_prefix(&c, &e) || !take_operands(&c, &e))
		return false;
	*out = (struct x86_vector){ .length = (unsigned)c.at };
	const struct vector_row *row = find_vector(&e);
	if (!row)
		return true;
	struct spelling spelling = { .syntax = syntax };
	out->known = true;
	spell_mnemonic(row, &e, out);
	spell_operands(row, &e, &spelling);
	for (unsigned i = 0; i < spelling.count; i++) {
		size_t len = strlen(out->operands);
		snprintf(out->operands + len, sizeof out->operands - len, "%s%s", i ? ", " : "",
			spelling.operands[syntax == CODE_ATT ? spelling.count - 1 - i : i]);
	}
	return true;
}
