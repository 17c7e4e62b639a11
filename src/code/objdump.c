#include "code/objdump.h"

#include <stdlib.h>
#include <string.h>

enum { OPERANDS_MAX = 6 };

struct operand {
	const char *text;
	size_t len;
};

/* Mnemonics without their suffix that objdump shows without it: always, or if an operand is a register. */
static const char always[] = " call ret jmp push pop leave movabs iret bswap rdrand rdseed lret ";
static const char with_register[] =
	" mov add sub adc sbb and or xor cmp test lea inc dec neg not mul imul div idiv shl shr sar sal rol ror rcl rcr shld shrd xchg xadd"
	" cmpxchg bt bts btr btc bsf bsr lods stos scas movs cmps in out popcnt tzcnt lzcnt bzhi bextr andn shlx shrx sarx rorx blsr blsi"
	" blsmsk pext pdep mulx adcx adox movnti movbe nop ud1 ";

static bool list_has(const char *list, const char *word, size_t len)
{
	for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
		if (strncmp(at + 1, word, len) == 0 && at[1 + len] == ' ')
			return true;
	return false;
}

/* Splits at commas outside of parentheses. */
static size_t split(const char *text, struct operand operands[static OPERANDS_MAX])
{
	size_t count = 0;
	unsigned depth = 0;
	while (*text && count < OPERANDS_MAX) {
		const char *end = text;
		for (; *end && (*end != ',' || depth); end++)
			depth += *end == '(' ? 1 : *end == ')' && depth ? -1 : 0;
		operands[count++] = (struct operand){ text, (size_t)(end - text) };
		text = *end ? end + 1 : end;
		text += *text == ' ';
	}
	return count;
}

/* Whether the encoding has a displacement, which may be 0. */
static bool has_displacement(const struct instruction *in)
{
	const uint8_t *p = in->bytes, *end = p + in->length;
	while (p < end && (*p == 0x66 || *p == 0xf2 || *p == 0xf3 || *p == 0x2e || *p == 0x36 || *p == 0x3e || *p == 0x26 || *p == 0x64
			|| *p == 0x65 || *p == 0x67 || *p == 0xf0))
		p++;
	if (p < end && (*p & 0xf0) == 0x40)
		p++;
	if (p < end && *p == 0xc5)
		p += 3;
	else if (p < end && *p == 0xc4)
		p += 4;
	else if (p < end && *p == 0x62)
		p += 5;
	else if (p < end && *p == 0x0f)
		p += p + 1 < end && (p[1] == 0x38 || p[1] == 0x3a) ? 3 : 2;
	else
		p++;
	return p < end && (*p >> 6 == 1 || *p >> 6 == 2);
}

static void add_number(struct str *out, const char *text, size_t len)
{
	bool minus = len && *text == '-';
	char *end;
	unsigned long long value = strtoull(text + minus, &end, 0);
	str_printf(out, "%s%#llx", minus ? "-" : "", value);
	if (!value)
		str_puts(out, "x0"); /* "%#llx" of 0 is "0" */
}

/* "$-1" as the number of the operand's size. */
static void add_immediate(struct str *out, const char *text, char suffix)
{
	unsigned long long value = strtoull(text + 1, NULL, 0);
	if (text[1] == '-')
		value = (unsigned long long)strtoll(text + 1, NULL, 0);
	if (suffix == 'l')
		value &= 0xffffffff;
	else if (suffix == 'w')
		value &= 0xffff;
	else if (suffix == 'b')
		value &= 0xff;
	str_printf(out, value ? "$%#llx" : "$0x0", value);
}

/* Strings have segments that capstone does not name. */
static const char *string_segment(const struct instruction *in, const char *text, size_t len)
{
	const char *word = strrchr(in->mnemonic, ' ');
	word = word ? word + 1 : in->mnemonic;
	bool string = strncmp(word, "stos", 4) == 0 || strncmp(word, "scas", 4) == 0 || strncmp(word, "lods", 4) == 0
		|| (strncmp(word, "movs", 4) == 0 && strlen(word) == 5) || (strncmp(word, "cmps", 4) == 0 && strlen(word) == 5);
	if (!string || len != strlen("(%rdi)"))
		return "";
	return strncmp(text, "(%rdi)", len) == 0 ? "%es:" : strncmp(text, "(%rsi)", len) == 0 ? "%ds:" : "";
}

/* "%fs:8(%rax, %rdx)" as "%fs:0x8(%rax,%rdx,1)". */
static void add_memory(struct str *out, const struct instruction *in, const char *text, size_t len, bool shown_segment)
{
	const char *open = memchr(text, '(', len), *colon = memchr(text, ':', len);
	if (*text == '*')
		str_putc(out, '*');
	str_puts(out, string_segment(in, text, len));
	const char *number = colon ? colon + 1 : text + (*text == '*');
	if (colon && shown_segment)
		str_add(out, text + (*text == '*'), (size_t)(colon + 1 - text) - (*text == '*'));
	if (number < open)
		add_number(out, number, (size_t)(open - number));
	else if (has_displacement(in) || open[1] == ',')
		str_puts(out, "0x0");
	unsigned commas = 0;
	for (const char *p = open; p < text + len; p++) {
		if (*p == ' ')
			continue;
		commas += *p == ',';
		if (*p == ')' && commas == 1)
			str_puts(out, ",1");
		str_putc(out, *p);
	}
}

static void add_operand(struct str *out, const struct instruction *in, const struct operand *operand, char suffix, bool shown_segment)
{
	const char *text = operand->text, *colon = memchr(text, ':', operand->len);
	bool stack = strncmp(text, "%st", 3) == 0;
	if (memchr(text, '(', operand->len) && !stack) {
		add_memory(out, in, text, operand->len, shown_segment);
	} else if (colon && *text == '%' && !stack) {
		str_add(out, text, (size_t)(colon + 1 - text));
		add_number(out, colon + 1, operand->len - (size_t)(colon + 1 - text));
	} else if (*text == '$') {
		add_immediate(out, text, suffix);
	} else if (*text == '-' || (*text >= '0' && *text <= '9')) {
		add_number(out, text, operand->len);
	} else {
		for (size_t i = 0; i < operand->len; i++) /* "%k0 {%k1}" */
			if (text[i] != ' ')
				str_putc(out, text[i]);
	}
}

/* Whether the suffix is not shown. */
static bool suffix_dropped(const char *word, size_t len, const struct operand *operands, size_t count)
{
	if (len < 2 || !strchr("bwlq", word[len - 1]))
		return false;
	if (list_has(always, word, len - 1))
		return true;
	if (strstr(word, "cvtsi2s") == word + (*word == 'v'))
		return count && *operands[0].text == '%';
	if (!list_has(with_register, word, len - 1) && strncmp(word, "cmov", 4) != 0)
		return false;
	for (size_t i = 0; len == 4 && strncmp(word, "mov", 3) == 0 && i < count; i++)
		if (strncmp(operands[i].text, "%xmm", 4) == 0 || strncmp(operands[i].text, "%mm", 3) == 0)
			return false;
	bool shift = len == 4 && (strncmp(word, "sh", 2) == 0 || strncmp(word, "sa", 2) == 0 || strncmp(word, "ro", 2) == 0);
	for (size_t i = 0; i < count; i++)
		if (*operands[i].text == '%' && !memchr(operands[i].text, '(', operands[i].len) && !memchr(operands[i].text, ':', operands[i].len)
			&& !(shift && count == 2 && i == 0 && memchr(operands[1].text, '(', operands[1].len)))
			return true;
	return false;
}

void objdump_spell(const struct instruction *in, struct str *mnemonic, struct str *operands)
{
	struct operand list[OPERANDS_MAX];
	size_t count = split(in->operands, list);
	const char *blank = strrchr(in->mnemonic, ' '), *word = blank ? blank + 1 : in->mnemonic;
	size_t len = strlen(word);
	char suffix = len ? word[len - 1] : '\0';
	bool filler = strncmp(word, "nop", 3) == 0 && len == 4;
	unsigned sizes = 0;
	for (unsigned i = 0; filler && i < in->length && (in->bytes[i] == 0x66 || in->bytes[i] == 0x2e); i++)
		sizes += in->bytes[i] == 0x66;
	for (unsigned i = 1; i < sizes; i++)
		str_puts(mnemonic, "data16 ");
	if (filler && count && strncmp(list[0].text, "%cs:", 4) == 0)
		str_puts(mnemonic, "cs ");
	if (in->length == 2 && in->bytes[0] == 0x66 && in->bytes[1] == 0x90) {
		str_puts(mnemonic, "xchg");
		str_puts(operands, "%ax,%ax");
		return;
	}
	str_add(mnemonic, in->mnemonic, (size_t)(word - in->mnemonic));
	bool wide = in->length > 2 && ((in->bytes[0] == 0x66 && (in->bytes[1] & 0xf8) == 0x48));
	if (wide && strcmp(word, "movd") == 0)
		str_puts(mnemonic, "movq");
	else
		str_add(mnemonic, word, len - suffix_dropped(word, len, list, count));
	if (in->direct) {
		str_printf(operands, "%llx", (unsigned long long)in->target);
		return;
	}
	/* a shift by one has a separate encoding */
	uint8_t opcode = in->bytes[0] == 0x66 || (in->bytes[0] & 0xf0) == 0x40 ? in->bytes[1] : in->bytes[0];
	size_t first = count == 2 && (opcode == 0xd0 || opcode == 0xd1) && strncmp(list[0].text, "$1", list[0].len) == 0;
	for (size_t i = first; i < count; i++) {
		if (i > first)
			str_putc(operands, ',');
		add_operand(operands, in, &list[i], suffix, !filler);
	}
}
