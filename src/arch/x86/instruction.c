#include "arch/x86/instruction.h"

#include <stdbool.h>
#include <string.h>

/* What follows an opcode. */
enum {
	M = 1,        /* a ModRM byte with its displacement */
	I1 = 2,       /* an immediate of 1 byte */
	I2 = 4,       /* … 2 bytes */
	IZ = 8,       /* … 2 or 4 bytes, by operand size */
	IV = 16,      /* … 2, 4 or 8 bytes, by operand size (MOV r, imm) */
	OFFSET = 32,  /* an address by address size (MOV AL, moffs) */
	FAR = 64,     /* selector and offset */
	BAD = 128,    /* not an instruction, a prefix, or a special case in code */
};

#define TWICE(a) a, a
#define FOUR(a) TWICE(a), TWICE(a)
#define EIGHT(a) FOUR(a), FOUR(a)
#define ARITHMETIC FOUR(M), I1, IZ, TWICE(0)

static const uint8_t one_byte[256] = {
	ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, /* 00–3f */
	EIGHT(0), EIGHT(0), EIGHT(0), EIGHT(0),                                                         /* 40–5f */
	0, 0, M, M, BAD, BAD, BAD, BAD, IZ, M | IZ, I1, M | I1, 0, 0, 0, 0,                             /* 60–6f */
	EIGHT(I1), EIGHT(I1),                                                                           /* 70–7f */
	M | I1, M | IZ, M | I1, M | I1, EIGHT(M), FOUR(M),                                              /* 80–8f */
	EIGHT(0), 0, 0, FAR, 0, 0, 0, 0, 0,                                                             /* 90–9f */
	FOUR(OFFSET), FOUR(0), I1, IZ, 0, 0, 0, 0, 0, 0,                                                /* a0–af */
	EIGHT(I1), EIGHT(IV),                                                                           /* b0–bf */
	M | I1, M | I1, I2, 0, M, M, M | I1, M | IZ, I2 | I1, 0, I2, 0, 0, I1, 0, 0,                    /* c0–cf */
	FOUR(M), I1, I1, 0, 0, EIGHT(M),                                                                /* d0–df */
	FOUR(I1), FOUR(I1), IZ, IZ, FAR, I1, FOUR(0),                                                   /* e0–ef */
	BAD, 0, BAD, BAD, 0, 0, M, M, FOUR(0), 0, 0, M, M,                                              /* f0–ff */
};

/* 0F xx */
static const uint8_t two_byte[256] = {
	M, M, M, M, BAD, 0, 0, 0, 0, 0, BAD, 0, BAD, M, 0, M | I1, /* 0f is 3DNow!: the immediate is the opcode */
	EIGHT(M), EIGHT(M),
	FOUR(M), FOUR(BAD), EIGHT(M),
	0, 0, 0, 0, 0, 0, BAD, 0, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
	EIGHT(M), EIGHT(M), EIGHT(M), EIGHT(M), EIGHT(M), EIGHT(M),         /* 40–6f */
	M | I1, M | I1, M | I1, M | I1, M, M, M, 0, M, M, M, M, M, M, M, M, /* 70–7f */
	EIGHT(IZ), EIGHT(IZ), EIGHT(M), EIGHT(M),                           /* 80–9f */
	0, 0, 0, M, M | I1, M, BAD, BAD, 0, 0, 0, M, M | I1, M, M, M,       /* a0–af */
	EIGHT(M), M, M, M | I1, M, FOUR(M),                                 /* b0–bf */
	M, M, M | I1, M, M | I1, M | I1, M | I1, M, EIGHT(0),               /* c0–cf */
	EIGHT(M), EIGHT(M), EIGHT(M), EIGHT(M), EIGHT(M), EIGHT(M),         /* d0–ff */
};

enum map { MAP_ONE, MAP_TWO, MAP_38, MAP_3A };

struct state {
	const uint8_t *bytes;
	size_t len, at;
	unsigned mode;
	bool operand_prefix, address_prefix, wide; /* wide: REX.W */
	uint8_t repeat;          /* F2, F3 or 0 */
	enum map map;
	uint8_t opcode, modrm;
	uint8_t follows;         /* what follows the opcode */
	bool vector;             /* VEX, EVEX or XOP */
};

static bool take_byte(struct state *s, uint8_t *byte)
{
	if (s->at >= s->len)
		return false;
	*byte = s->bytes[s->at++];
	return true;
}

static bool skip(struct state *s, size_t count)
{
	if (s->len - s->at < count)
		return false;
	s->at += count;
	return true;
}

/* A REX prefix counts only directly before the opcode. */
static bool take_prefixes(struct state *s, uint8_t *byte)
{
	for (uint8_t rex = 0; take_byte(s, byte); rex = 0) {
		switch (*byte) {
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0xf0:
			continue;
		case 0x66:
			s->operand_prefix = true;
			continue;
		case 0x67:
			s->address_prefix = true;
			continue;
		case 0xf2: case 0xf3:
			s->repeat = *byte;
			continue;
		}
		while (s->mode == 64 && (*byte & 0xf0) == 0x40) {
			rex = *byte;
			if (!take_byte(s, byte))
				return false;
		}
		s->wide = rex & 8;
		bool prefix = *byte == 0x26 || *byte == 0x2e || *byte == 0x36 || *byte == 0x3e || (*byte >= 0x64 && *byte <= 0x67) ||
			*byte == 0xf0 || *byte == 0xf2 || *byte == 0xf3;
		if (!rex || !prefix)
			return true;
		s->at--;
	}
	return false;
}

/* Opcodes behind a vector prefix; `bytes` follow the prefix's first byte. */
static bool take_vector(struct state *s, uint8_t prefix)
{
	static const uint8_t payload[] = { [0] = 1, [1] = 2, [2] = 3 };
	unsigned kind = prefix == 0xc5 ? 0 : prefix == 0x62 ? 2 : 1;
	uint8_t first = s->at < s->len ? s->bytes[s->at] : 0;
	unsigned map = kind == 0 ? 1 : kind == 1 ? first & 31u : first & 7u;
	if (!skip(s, payload[kind]) || !take_byte(s, &s->opcode))
		return false;
	s->vector = true;
	s->map = map == 1 ? MAP_TWO : map == 3 ? MAP_3A : MAP_38;
	if (prefix == 0x8f)
		s->follows = map == 8 ? M | I1 : map == 9 ? M : map == 10 ? M | IZ : BAD;
	else if (map == 1)
		s->follows = two_byte[s->opcode] == BAD ? M : two_byte[s->opcode] & (M | I1);
	else if (map == 2 || (kind == 2 && (map == 5 || map == 6)))
		s->follows = M;
	else
		s->follows = map == 3 ? M | I1 : BAD;
	if (s->follows & IZ)
		s->operand_prefix = s->mode == 16; /* always 4 bytes */
	return s->follows != BAD;
}

static bool is_vector(const struct state *s, uint8_t byte)
{
	if (s->at >= s->len)
		return false;
	uint8_t next = s->bytes[s->at];
	if (byte == 0x8f)
		return (next & 31) >= 8;
	return (byte == 0xc4 || byte == 0xc5 || byte == 0x62) && (s->mode == 64 || next >= 0xc0);
}

static bool take_opcode(struct state *s)
{
	uint8_t byte;
	if (!take_prefixes(s, &byte))
		return false;
	if (is_vector(s, byte))
		return take_vector(s, byte);
	s->opcode = byte;
	if (byte != 0x0f) {
		s->follows = one_byte[byte];
		return s->follows != BAD;
	}
	if (!take_byte(s, &s->opcode))
		return false;
	s->map = MAP_TWO;
	s->follows = two_byte[s->opcode];
	if (s->opcode == 0x38 || s->opcode == 0x3a) {
		s->map = s->opcode == 0x38 ? MAP_38 : MAP_3A;
		s->follows = s->map == MAP_38 ? M : M | I1;
		return take_byte(s, &s->opcode);
	}
	return s->follows != BAD;
}

static bool take_modrm(struct state *s)
{
	if (!take_byte(s, &s->modrm))
		return false;
	unsigned mod = s->modrm >> 6, rm = s->modrm & 7;
	bool moves_control = !s->vector && s->map == MAP_TWO && s->opcode >= 0x20 && s->opcode <= 0x23; /* MOV CR, DR: mod is ignored */
	if (mod == 3 || moves_control)
		return true;
	if ((s->mode == 16) != (s->mode != 64 && s->address_prefix))
		return skip(s, mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
	uint8_t sib = 0;
	if (rm == 4 && !take_byte(s, &sib))
		return false;
	bool no_base = (rm == 4 ? sib & 7 : rm) == 5;
	return skip(s, mod == 1 ? 1 : mod == 2 || no_base ? 4 : 0);
}

static bool is_near_branch(const struct state *s)
{
	return (s->map == MAP_ONE && (s->opcode == 0xe8 || s->opcode == 0xe9)) || (s->map == MAP_TWO && (s->opcode & 0xf0) == 0x80);
}

static bool take_immediate(struct state *s)
{
	if (s->map == MAP_ONE && !s->vector && (s->opcode == 0xf6 || s->opcode == 0xf7) && (s->modrm >> 3 & 7) < 2)
		s->follows |= s->opcode == 0xf6 ? I1 : IZ;
	bool small = !s->wide && (s->mode == 16) != s->operand_prefix;
	if (s->mode == 64 && is_near_branch(s))
		small = false;
	size_t size = 0;
	if (s->follows & I1)
		size += 1;
	if (s->follows & I2)
		size += 2;
	if (s->follows & IZ)
		size += small ? 2 : 4;
	if (s->follows & IV)
		size += s->wide ? 8 : small ? 2 : 4;
	if (s->follows & OFFSET)
		size += s->mode == 64 ? (s->address_prefix ? 4 : 8) : (s->mode == 16) != s->address_prefix ? 2 : 4;
	if (s->follows & FAR)
		size += small ? 4 : 6;
	return skip(s, size);
}

static enum instruction_kind kind_of_two(const struct state *s)
{
	switch (s->opcode) {
	case 0x01:
		if (s->modrm == 0xc2 || s->modrm == 0xc3)
			return INSTRUCTION_VM_ENTRY;
		return s->modrm == 0xca && s->repeat ? INSTRUCTION_INTERRUPT_RETURN : INSTRUCTION_OTHER; /* ERETS, ERETU */
	case 0x05:
	case 0x34:
		return INSTRUCTION_SYSCALL;
	case 0x07:
	case 0x35:
		return INSTRUCTION_SYSRET;
	case 0xae:
		return s->repeat == 0xf3 && !s->operand_prefix && (s->modrm >> 3 & 7) == 4 ? INSTRUCTION_PTWRITE : INSTRUCTION_OTHER;
	default:
		return (s->opcode & 0xf0) == 0x80 ? INSTRUCTION_CONDITIONAL : INSTRUCTION_OTHER;
	}
}

static enum instruction_kind kind_of_group_5(const struct state *s)
{
	static const uint8_t kinds[8] = { [2] = INSTRUCTION_CALL_INDIRECT, [3] = INSTRUCTION_FAR_CALL, [4] = INSTRUCTION_JUMP_INDIRECT,
		[5] = INSTRUCTION_FAR_JUMP };
	return kinds[s->modrm >> 3 & 7];
}

static enum instruction_kind kind_of(const struct state *s)
{
	if (s->vector || s->map > MAP_TWO)
		return INSTRUCTION_OTHER;
	if (s->map == MAP_TWO)
		return kind_of_two(s);
	switch (s->opcode) {
	case 0x9a:
		return INSTRUCTION_FAR_CALL;
	case 0xc2: case 0xc3:
		return INSTRUCTION_RETURN;
	case 0xca: case 0xcb:
		return INSTRUCTION_FAR_RETURN;
	case 0xcc: case 0xcd: case 0xce: case 0xf1:
		return INSTRUCTION_INTERRUPT;
	case 0xcf:
		return INSTRUCTION_INTERRUPT_RETURN;
	case 0xe8:
		return INSTRUCTION_CALL;
	case 0xe9: case 0xeb:
		return INSTRUCTION_JUMP;
	case 0xea:
		return INSTRUCTION_FAR_JUMP;
	case 0xff:
		return kind_of_group_5(s);
	default:
		return (s->opcode & 0xf0) == 0x70 || (s->opcode & 0xfc) == 0xe0 ? INSTRUCTION_CONDITIONAL : INSTRUCTION_OTHER;
	}
}

/* A signed little-endian number that ends at `end`. */
static int32_t displacement_before(const uint8_t *end, size_t size)
{
	uint32_t value = 0;
	for (size_t i = 1; i <= size; i++)
		value = value << 8 | end[-(ptrdiff_t)i];
	unsigned unused = 32 - 8 * (unsigned)size;
	return (int32_t)(value << unused) >> unused;
}

bool instruction_decode(const uint8_t *bytes, size_t len, unsigned mode, struct instruction *instruction)
{
	struct state s = { .bytes = bytes, .len = len < INSTRUCTION_SIZE_MAX ? len : INSTRUCTION_SIZE_MAX, .mode = mode };
	if (!take_opcode(&s) || ((s.follows & M) && !take_modrm(&s)))
		return false;
	size_t before = s.at;
	if (!take_immediate(&s))
		return false;
	*instruction = (struct instruction){ .kind = kind_of(&s), .size = (uint8_t)s.at };
	if (instruction->kind >= INSTRUCTION_CONDITIONAL && instruction->kind <= INSTRUCTION_CALL)
		instruction->displacement = displacement_before(bytes + s.at, s.at - before);
	instruction->loops = instruction->kind == INSTRUCTION_CONDITIONAL && s.map == MAP_ONE && (s.opcode & 0xf0) == 0xe0;
	return true;
}

bool instruction_sets_cr3(const uint8_t *bytes, size_t size)
{
	enum { REX = 0x40, REX_R = 0x04, CR3 = 3 };
	bool extended = size && (bytes[0] & 0xf0) == REX;
	const uint8_t *opcode = bytes + extended;
	return size == 3u + extended && opcode[0] == 0x0f && opcode[1] == 0x22 && (opcode[2] >> 3 & 7) == CR3 &&
		!(extended && bytes[0] & REX_R); /* that would be CR11 */
}

unsigned x86_instruction_length(const uint8_t *bytes, size_t len, bool is_64bit)
{
	struct instruction instruction;
	return instruction_decode(bytes, len, is_64bit ? 64 : 32, &instruction) ? instruction.size : 0;
}
