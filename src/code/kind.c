#include <ctype.h>
#include <elf.h>
#include <string.h>

#include "code/disassemble.h"

/* Capstone's groups of instructions differ between machines and are absent for some; mnemonics are those of the manuals. A row that ends in
 * '*' matches all mnemonics that begin with the text before it; the first row that matches decides. */
struct mnemonic_row {
	const char *mnemonic;
	enum code_kind kind;
	bool conditional;
};

static const struct mnemonic_row x86_rows[] = {
	{ "jmp*", CODE_JUMP, false }, { "ljmp*", CODE_JUMP, false }, { "j*", CODE_JUMP, true }, { "loop*", CODE_JUMP, true },
	{ "xbegin*", CODE_JUMP, true }, { "call*", CODE_CALL, false }, { "lcall*", CODE_CALL, false }, { "ret*", CODE_RETURN, false },
	{ "lret*", CODE_RETURN, false }, { "iret*", CODE_RETURN, false }, { "sysret*", CODE_RETURN, false },
	{ "sysexit*", CODE_RETURN, false }, { NULL, CODE_PLAIN, false },
};

static const struct mnemonic_row arm64_rows[] = {
	{ "b", CODE_JUMP, false }, { "br", CODE_JUMP, false }, { "bra*", CODE_JUMP, false }, { "b.*", CODE_JUMP, true },
	{ "cbz", CODE_JUMP, true }, { "cbnz", CODE_JUMP, true }, { "tbz", CODE_JUMP, true }, { "tbnz", CODE_JUMP, true },
	{ "bl", CODE_CALL, false }, { "blr*", CODE_CALL, false }, { "ret*", CODE_RETURN, false }, { "eret*", CODE_RETURN, false },
	{ NULL, CODE_PLAIN, false },
};

static const struct mnemonic_row powerpc_rows[] = {
	{ "blr", CODE_RETURN, false }, { "bctr", CODE_JUMP, false }, { "bctrl", CODE_CALL, false }, { "bl", CODE_CALL, false },
	{ "bla", CODE_CALL, false }, { "b", CODE_JUMP, false }, { "ba", CODE_JUMP, false }, { "bpermd", CODE_PLAIN, false },
	{ "brinc", CODE_PLAIN, false }, { "b*lr", CODE_RETURN, true }, { "b*", CODE_JUMP, true }, { "rfid", CODE_RETURN, false },
	{ NULL, CODE_PLAIN, false },
};

static const struct mnemonic_row s390_rows[] = {
	{ "brasl", CODE_CALL, false }, { "jasl", CODE_CALL, false }, { "bras", CODE_CALL, false }, { "jas", CODE_CALL, false },
	{ "basr", CODE_CALL, false }, { "bas", CODE_CALL, false }, { "br", CODE_JUMP, false }, { "j", CODE_JUMP, false },
	{ "jg", CODE_JUMP, false }, { "brct*", CODE_JUMP, true }, { "bc*", CODE_JUMP, true }, { "brc*", CODE_JUMP, true },
	{ "j*", CODE_JUMP, true }, { "cgrj*", CODE_JUMP, true }, { "crj*", CODE_JUMP, true }, { "clgrj*", CODE_JUMP, true },
	{ "clrj*", CODE_JUMP, true }, { "cgij*", CODE_JUMP, true }, { "cij*", CODE_JUMP, true }, { "clgij*", CODE_JUMP, true },
	{ "clij*", CODE_JUMP, true }, { NULL, CODE_PLAIN, false },
};

static const struct mnemonic_row *find_row(const struct mnemonic_row *rows, const char *mnemonic)
{
	for (; rows->mnemonic; rows++) {
		const char *star = strchr(rows->mnemonic, '*');
		if (!star ? strcmp(rows->mnemonic, mnemonic) == 0 : strncmp(rows->mnemonic, mnemonic, (size_t)(star - rows->mnemonic)) == 0) {
			size_t tail = star ? strlen(star + 1) : 0, len = strlen(mnemonic);
			if (len >= tail && (!tail || strcmp(mnemonic + len - tail, star + 1) == 0))
				break;
		}
	}
	return rows;
}

/* After prefixes: "notrack jmpq", "bnd jmp", "lock xaddl". */
static const char *x86_word(const char *mnemonic)
{
	const char *blank = strrchr(mnemonic, ' ');
	return blank ? blank + 1 : mnemonic;
}

/* Suffixes of conditions, without "al" (always). */
static bool arm_condition(const char *text)
{
	static const char words[] = "eq ne hs lo cs cc mi pl vs vc hi ls ge lt gt le";
	const char *at = strlen(text) == 2 ? strstr(words, text) : NULL;
	return at && (at - words) % 3 == 0;
}

static enum code_kind arm_kind(const char *mnemonic, const char *operands, bool *conditional)
{
	char word[16];
	size_t len = strcspn(mnemonic, ".");
	if (len >= sizeof word)
		return CODE_PLAIN;
	memcpy(word, mnemonic, len);
	word[len] = '\0';
	if (strcmp(word, "cbz") == 0 || strcmp(word, "cbnz") == 0) {
		*conditional = true;
		return CODE_JUMP;
	}
	if (strncmp(word, "pop", 3) == 0 || strncmp(word, "ldm", 3) == 0) {
		*conditional = len > 2 && arm_condition(word + len - 2);
		return strstr(operands, "pc}") ? CODE_RETURN : CODE_PLAIN;
	}
	static const struct mnemonic_row rows[] = { { "blx", CODE_CALL, false }, { "bl", CODE_CALL, false }, { "bxj", CODE_JUMP, false },
		{ "bx", CODE_JUMP, false }, { "b", CODE_JUMP, false } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t head = strlen(rows[i].mnemonic);
		if (strncmp(word, rows[i].mnemonic, head) != 0 || (word[head] && !arm_condition(word + head)))
			continue;
		*conditional = word[head] != '\0';
		return rows[i].kind == CODE_JUMP && strcmp(operands, "lr") == 0 ? CODE_RETURN : rows[i].kind;
	}
	return CODE_PLAIN;
}

enum code_kind code_kind_of(const struct code_machine *machine, const char *mnemonic, const char *operands, bool *conditional)
{
	const struct mnemonic_row *row;
	*conditional = false;
	switch (machine->machine) {
	case EM_X86_64:
	case EM_386:
		row = find_row(x86_rows, x86_word(mnemonic));
		break;
	case EM_AARCH64:
		row = find_row(arm64_rows, mnemonic);
		break;
	case EM_ARM:
		return arm_kind(mnemonic, operands, conditional);
	case EM_PPC64:
	case EM_PPC:
		row = find_row(powerpc_rows, mnemonic);
		break;
	case EM_S390:
		if (strcmp(mnemonic, "br") == 0 && strcmp(operands, "%r14") == 0)
			return CODE_RETURN;
		row = find_row(s390_rows, mnemonic);
		break;
	default:
		return CODE_PLAIN;
	}
	*conditional = row->conditional;
	return row->kind;
}
