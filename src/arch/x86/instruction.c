#include "arch/x86/instruction.h"

/* The bytes that follow an opcode, one letter each:
 *   . nothing   M ModRM   b, w, z, v an immediate of 1 byte, 2 bytes, 2 or 4, 2 to 8   B, Z ModRM and the immediate b, z
 *   j the 2 or 4 bytes of a branch   o an address   p a far pointer   e 3 bytes (enter)
 *   3, 4 ModRM, and the immediate b, z if the middle field of ModRM is 0 or 1 (test) */
static const char one_byte[257] =
	"MMMMbz..MMMMbz.." "MMMMbz..MMMMbz.." "MMMMbz..MMMMbz.." "MMMMbz..MMMMbz.."
	"................" "................" "..MM....zZbB...." "bbbbbbbbbbbbbbbb"
	"BZBBMMMMMMMMMMMM" "..........p....." "oooo....bz......" "bbbbbbbbvvvvvvvv"
	"BBw.MMBZe.w..b.." "MMMMbb..MMMMMMMM" "bbbbbbbbjjpb...." "......34......MM";
static const char two_byte[257] =
	"MMMM.........M.B" "MMMMMMMMMMMMMMMM" "MMMM....MMMMMMMM" "................"
	"MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "BBBBMMM.MMMMMMMM"
	"jjjjjjjjjjjjjjjj" "MMMMMMMMMMMMMMMM" "...MBMMM...MBMMM" "MMMMMMMMMMBMMMMM"
	"MMBMBBBM........" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM";

struct instruction {
	const uint8_t *bytes;
	size_t len, at;
	bool is_64bit, short_operand, other_address, wide; /* prefix 66, prefix 67, REX.W */
};

static uint8_t instruction_byte(const struct instruction *i, size_t ahead)
{
	return i->at + ahead < i->len ? i->bytes[i->at + ahead] : 0;
}

static void skip_prefixes(struct instruction *i)
{
	for (; i->at < i->len; i->at++) {
		uint8_t byte = i->bytes[i->at];
		if (byte == 0x66)
			i->short_operand = true;
		else if (byte == 0x67)
			i->other_address = true;
		else if (byte != 0xf0 && byte != 0xf2 && byte != 0xf3 && byte != 0x64 && byte != 0x65 && (byte & 0xe7) != 0x26)
			break;
	}
	if (i->is_64bit && (instruction_byte(i, 0) & 0xf0) == 0x40) {
		i->wide = instruction_byte(i, 0) & 8;
		i->at++;
	}
}

/* Returns the letter of the opcode and moves past the opcode. */
static char opcode_letter(struct instruction *i)
{
	uint8_t first = instruction_byte(i, 0), second = instruction_byte(i, 1);
	bool vector = i->is_64bit || (second & 0xc0) == 0xc0; /* in 32-bit code the same byte is LDS, LES or BOUND, which have memory
	                                                       * operands only */
	unsigned map = 0;

	if (first == 0xc5 && vector) {
		map = 1;
		i->at += 2;
	} else if (first == 0xc4 && vector) {
		map = second & 0x1f;
		i->at += 3;
	} else if (first == 0x62 && vector) {
		map = second & 7;
		i->at += 4;
	} else if (first == 0x8f && (second & 0x1f) >= 8) {
		map = second & 0x1f;
		i->at += 3;
	} else if (first == 0x0f) {
		map = second == 0x38 ? 2 : second == 0x3a ? 3 : 1;
		i->at += map == 1 ? 1 : 2;
	} else {
		i->at++;
		return one_byte[first];
	}
	uint8_t byte = instruction_byte(i, 0);
	i->at++;
	return map == 1 ? two_byte[byte] : map == 3 || map == 8 ? 'B' : map == 10 ? 'Z' : 'M';
}

/* Moves past the ModRM byte, SIB byte and displacement; returns the ModRM byte. */
static uint8_t skip_operand(struct instruction *i)
{
	uint8_t byte = instruction_byte(i, 0), mode = byte >> 6, base = byte & 7;

	i->at++;
	if (mode == 3)
		return byte;
	if (!i->is_64bit && i->other_address) {
		i->at += mode == 1 ? 1 : mode == 2 || base == 6 ? 2 : 0;
		return byte;
	}
	if (base == 4)
		base = instruction_byte(i, 0) & 7, i->at++;
	i->at += mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
	return byte;
}

static unsigned immediate_size(const struct instruction *i, char letter, uint8_t operand)
{
	unsigned word = i->short_operand && !i->wide ? 2 : 4;

	switch (letter) {
	case 'b': case 'B': return 1;
	case 'w': return 2;
	case 'z': case 'Z': return word;
	case 'v': return i->wide ? 8 : word;
	case 'j': return i->is_64bit ? 4 : word;
	case 'o': return (i->is_64bit ? 8 : 4) >> i->other_address;
	case 'p': return word + 2;
	case 'e': return 3;
	case '3': return (operand >> 3 & 7) < 2 ? 1 : 0;
	case '4': return (operand >> 3 & 7) < 2 ? word : 0;
	default: return 0;
	}
}

unsigned x86_instruction_length(const uint8_t *bytes, size_t len, bool is_64bit)
{
	enum { LENGTH_MAX = 15 };
	struct instruction i = { .bytes = bytes, .len = len, .is_64bit = is_64bit };
	uint8_t operand = 0;

	skip_prefixes(&i);
	char letter = opcode_letter(&i);
	if (letter == 'M' || letter == 'B' || letter == 'Z' || letter == '3' || letter == '4')
		operand = skip_operand(&i);
	i.at += immediate_size(&i, letter, operand);
	return i.at <= len && i.at <= LENGTH_MAX ? (unsigned)i.at : 0;
}
