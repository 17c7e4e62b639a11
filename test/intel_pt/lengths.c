/* lengths COUNT SEED MODE: the lengths of random instructions, by the decoder of traces and by capstone, where both know the instruction.
 * Prints the bytes of each that differs, then how many were compared. */
#include <capstone/capstone.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/x86/instruction.h"

enum { BYTES = 15 };

static uint64_t state;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* A few prefixes, then an opcode of each map with equal chance. */
static void make(uint8_t *bytes)
{
	static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0x2e, 0x3e, 0x64, 0x65, 0x67, 0xf0, 0x40, 0x41, 0x44, 0x48, 0x49, 0x4c, 0x4f };
	size_t at = 0;
	for (unsigned i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)next_random();
	for (unsigned count = next_random() % 3; at < count; at++)
		bytes[at] = prefixes[next_random() % sizeof prefixes];
	unsigned map = next_random() % 8;
	if (map >= 4)
		bytes[at++] = 0x0f;
	if (map == 6)
		bytes[at] = 0x38;
	else if (map == 7)
		bytes[at] = 0x3a;
}

/* Where capstone 4 is known to differ from the manual (SDM vol. 2): UD0 and UD1 without operands; instructions of other makers' processors;
 * near branches, whose operand size Intel's 64-bit mode ignores, or with an address size; RET with REX.W; an operand size before or after
 * REP prefixes. */
static bool is_known(const uint8_t *bytes, const cs_insn *instruction, bool is_64bit)
{
	static const char *const mnemonics[] = { "ud0", "ud1", "ud2b", "extrq", "insertq", NULL };
	bool size = false, address = false, rep = false;
	for (unsigned i = 0; mnemonics[i]; i++)
		if (strcmp(instruction->mnemonic, mnemonics[i]) == 0)
			return true;
	static const char prefixes[] = "\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65@ABCDEFGHIJKLMNO";
	for (unsigned i = 0; i < BYTES && bytes[i] && strchr(prefixes, (char)bytes[i]); i++) {
		size |= bytes[i] == 0x66;
		address |= bytes[i] == 0x67;
		rep |= bytes[i] == 0xf2 || bytes[i] == 0xf3;
	}
	bool branch = strchr(instruction->mnemonic, 'j') || strstr(instruction->mnemonic, "call") || strstr(instruction->mnemonic, "xbegin");
	return (size && rep) || (is_64bit && (((size || address) && branch) || strstr(instruction->mnemonic, "ret")));
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	uint64_t count = strtoull(argv[1], NULL, 0), compared = 0;
	bool is_64bit = strcmp(argv[3], "64") == 0;
	csh capstone;
	state = strtoull(argv[2], NULL, 0) | 1;
	if (cs_open(CS_ARCH_X86, is_64bit ? CS_MODE_64 : CS_MODE_32, &capstone) != CS_ERR_OK)
		return 2;
	cs_insn *instruction = cs_malloc(capstone);
	for (uint64_t i = 0; i < count; i++) {
		uint8_t bytes[BYTES];
		make(bytes);
		const uint8_t *code = bytes;
		size_t left = sizeof bytes;
		uint64_t address = 0x1000;
		unsigned ours = x86_instruction_length(bytes, sizeof bytes, is_64bit);
		if (!ours || !cs_disasm_iter(capstone, &code, &left, &address, instruction))
			continue;
		compared++;
		if (ours == instruction->size || is_known(bytes, instruction, is_64bit))
			continue;
		for (unsigned k = 0; k < BYTES; k++)
			printf("%02x ", bytes[k]);
		printf("%u %u %s %s\n", ours, instruction->size, instruction->mnemonic, instruction->op_str);
	}
	printf("compared %llu\n", (unsigned long long)compared);
	return 0;
}
