#include "analysis/datatype/operands.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 32 };

/* Instructions with a source and a target; a suffix of the operands' size may follow. */
static const char *const two_operands[] = {
	"adc", "add", "addsd", "and", "andpd", "andps", "bsr", "bt", "btr", "bts", "cmovae", "cmovbe", "cmove", "cmp", "cmpxch", "cmpxchg", "cs",
	"divsd", "divss", "gs", "imul", "lea", "mov", "movapd", "movaps", "movdqa", "movdqu", "movsb", "movsd", "movsl", "movss", "movsw",
	"movupd", "movups", "movzb", "movzl", "movzw", "mulsd", "mulss", "or", "orps", "paddq", "pand", "pcmpeqb", "por", "rcl", "sbb", "sete",
	"sub", "subsd", "test", "tzcnt", "ucomisd", "ucomiss", "vaddsd", "vandpd", "vmovdqa", "vmovq", "vmovsd", "vmulsd", "vorpd", "vsubsd",
	"vucomisd", "xadd", "xchg", "xor", "xorpd", "xorps",
};

static const char *const jumps[] = {
	"ja", "jae", "jb", "jbe", "jc", "jcxz", "je", "jecxz", "jg", "jge", "jl", "jle", "jmp", "jna", "jnae", "jnb", "jnbe", "jnc", "jne", "jng",
	"jnge", "jnl", "jnle", "jno", "jnp", "jns", "jnz", "jo", "jp", "jpe", "jpo", "jrcxz", "js", "jz", "xbegin",
};

/* Registers by DWARF number; those from r8 on have numbers in their names. */
static const char *const registers[][4] = {
	{ "rax", "eax", "ax", "al" }, { "rdx", "edx", "dx", "dl" }, { "rcx", "ecx", "cx", "cl" }, { "rbx", "ebx", "bx", "bl" },
	{ "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" }, { "rbp", "ebp", "bp", "bpl" }, { "rsp", "esp", "sp", "spl" },
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static int word_compare(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

/* Whether the sorted list has the word, or the word without a suffix of size. */
static bool has_word(const char *const *list, size_t count, const char *word)
{
	char stem[WORD_MAX];
	size_t len = strlen(word);
	if (bsearch(word, list, count, sizeof *list, word_compare))
		return true;
	if (!len || len >= sizeof stem || !strchr("bwlq", word[len - 1]))
		return false;
	memcpy(stem, word, len - 1);
	stem[len - 1] = '\0';
	return bsearch(stem, list, count, sizeof *list, word_compare) != NULL;
}

static bool is_word(const char *word, const char *stem)
{
	return has_word(&stem, 1, word);
}

static int16_t register_of(const char *text)
{
	size_t len = strcspn(text, " ,)");
	if (*text != '%')
		return REGISTER_NONE;
	text++;
	len--;
	if (len == 3 && memcmp(text, "rip", 3) == 0)
		return REGISTER_PC;
	for (size_t i = 0; i < COUNT(registers); i++)
		for (size_t k = 0; k < COUNT(registers[i]); k++)
			if (strlen(registers[i][k]) == len && memcmp(registers[i][k], text, len) == 0)
				return (int16_t)i;
	if (*text != 'r' || !isdigit((unsigned char)text[1]))
		return REGISTER_UNKNOWN;
	char *end;
	unsigned long number = strtoul(text + 1, &end, 10);
	size_t rest = len - (size_t)(end - text);
	return number >= 8 && number < REGISTER_COUNT && (!rest || (rest == 1 && strchr("dwb", *end))) ? (int16_t)number : REGISTER_UNKNOWN;
}

static void parse_memory(const char *text, struct operand *operand)
{
	const char *at = text, *open = strchr(text, '('), *first = strchr(open, '%');
	operand->memory = true;
	operand->per_cpu = strncmp(text, "%gs:", 4) == 0;
	while (*text == '%' && *at && !isdigit((unsigned char)*at) && *at != '-' && *at != '(')
		at++;
	operand->offset = strtoll(at, NULL, 0);
	const char *second = first ? strchr(first + 1, '%') : NULL;
	operand->first = first ? register_of(first) : REGISTER_NONE;
	operand->several = second != NULL;
	operand->second = second ? register_of(second) : REGISTER_NONE;
}

static void parse_operand(const char *text, struct operand *operand)
{
	char *end;
	if (strchr(text, '(')) {
		parse_memory(text, operand);
		return;
	}
	operand->per_cpu = strncmp(text, "%gs:", 4) == 0;
	if (operand->per_cpu || *text == '$') {
		text += operand->per_cpu ? 4 : 1;
		operand->offset = strtoll(text, &end, 0);
		operand->immediate = end != text;
	} else {
		operand->first = register_of(text);
	}
}

/* The comma after the first operand, which may be in memory; NULL: the instruction has one operand. */
static const char *comma_of(const char *text)
{
	const char *comma = strchr(text, ','), *open = strchr(text, '(');
	if (!comma || !open || open > comma)
		return comma;
	const char *close = strchr(open, ')');
	return close && close[1] == ',' ? close + 1 : NULL;
}

static void parse_two(const char *text, struct operands *out)
{
	char source[128];
	const char *comma = comma_of(text);
	if (!comma || (size_t)(comma - text) >= sizeof source)
		return;
	memcpy(source, text, (size_t)(comma - text));
	source[comma - text] = '\0';
	parse_operand(source, &out->source);
	parse_operand(comma + 1 + strspn(comma + 1, " \t"), &out->target);
}

/* An instruction without prefixes; false: it is not understood. */
static bool parse_plain(const char *word, const char *text, struct operands *out)
{
	if (has_word(two_operands, COUNT(two_operands), word)) {
		parse_two(text, out);
		return true;
	}
	if (is_word(word, "inc") || is_word(word, "dec")) {
		parse_operand(text, &out->target);
		return true;
	}
	if (has_word(jumps, COUNT(jumps), word)) {
		out->kind = STEP_JUMP;
		out->conditional = !strstr(word, "jmp");
		return true;
	}
	if (is_word(word, "call") || is_word(word, "ret")) {
		out->kind = *word == 'c' ? STEP_CALL : STEP_RETURN;
		return true;
	}
	return is_word(word, "nop");
}

void operands_parse(const char *mnemonic, const char *text, struct operands *out)
{
	char word[WORD_MAX];
	size_t len = strcspn(mnemonic, " ");
	*out = (struct operands){ .source = { .first = REGISTER_NONE, .second = REGISTER_NONE },
		.target = { .first = REGISTER_NONE, .second = REGISTER_NONE } };
	snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), mnemonic);
	out->stack = strncmp(word, "push", 4) == 0 || strncmp(word, "pop", 3) == 0 || strncmp(word, "call", 4) == 0 ||
		strncmp(word, "ret", 3) == 0;
	if (strcmp(word, "lock") == 0) {
		out->unknown = !mnemonic[len] || !parse_plain(mnemonic + len + 1, text, out);
		return;
	}
	if (mnemonic[len])
		return; /* another prefix */
	parse_plain(word, text, out);
	if (strncmp(word, "mov", 3) == 0)
		out->kind = STEP_MOVE;
	else if (strncmp(word, "add", 3) == 0)
		out->kind = STEP_ADD;
}

static bool begins(const char *text, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

bool operands_fuse(const char *cpuid, const char *first, const char *second)
{
	static const char *const sums[] = { "add", "sub", "and", "inc", "dec" }, *const more[] = { "or", "xor" };
	unsigned family, model;
	if (!cpuid || strstr(second, "jmp") || sscanf(cpuid, "%*[^,],%u,%u", &family, &model) != 2)
		return false;
	bool compares = strncmp(first, "test", 4) == 0 || (strncmp(first, "cmp", 3) == 0 && !strstr(first, "xchg"));
	if (strncmp(cpuid, "AuthenticAMD", 12) == 0)
		return (family >= 0x15 && compares) || (family >= 0x19 && (begins(first, sums, COUNT(sums)) || begins(first, more, COUNT(more))));
	if (family != 6 || model < 0x1e)
		return false;
	return compares || (model > 0x1e && begins(first, sums, COUNT(sums)));
}
