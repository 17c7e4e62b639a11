#include "render/annotate/operands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The mnemonics whose operands perf takes apart (tools/perf/arch/x86/annotate). They may have a suffix b, w, l or q. */
static const char two_operands[] =
	" adc add addsd and andpd andps bsr bt btr bts cmovbe cmove cmovae cmp cmpxch cmpxchg cs divsd divss gs imul lea mov movapd movaps"
	" movdqa movdqu movsd movss movsb movsw movsl movupd movups movzb movzw movzl mulsd mulss or orps pand paddq pcmpeqb por rcl sbb sete"
	" sub subsd test tzcnt ucomisd ucomiss vaddsd vandpd vmovdqa vmovq vmovsd vmulsd vorpd vsubsd vucomisd xadd xchg xor xorpd xorps ";
static const char one_operand[] = " dec inc ";
static const char no_operand[] = " nop ";

static bool list_has(const char *list, const char *word, size_t len)
{
	for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
		if (strncmp(at + 1, word, len) == 0 && at[1 + len] == ' ')
			return true;
	return false;
}

static bool is_of(const char *list, const char *word, size_t len)
{
	return list_has(list, word, len) || (len > 1 && strchr("bwlq", word[len - 1]) && list_has(list, word, len - 1));
}

int operands_word(const struct annotated_line *line)
{
	return line->mnemonic ? (int)strcspn(line->mnemonic, " ") : 0;
}

/* The name of the symbol without the offset: "main" of "main+0x10". */
static void add_symbol(struct str *out, const char *name)
{
	const char *plus = strrchr(name, '+');
	size_t len = plus && strncmp(plus, "+0x", 3) == 0 ? (size_t)(plus - name) : strlen(name);
	str_add(out, name, len);
}

/* An operand, or the symbol that it refers to. */
static void add_operand(struct str *out, const struct annotated_line *line, const char *text, size_t len)
{
	while (len && text[len - 1] == ' ')
		len--;
	bool relative = line->reference_name && memmem(text, len, "(%rip)", 6);
	if (relative)
		str_puts(out, line->reference_name);
	else
		str_add(out, text, len);
}

/* The position of the comma after the first operand; NULL: absent. */
static const char *operand_comma(const char *operands)
{
	const char *comma = strchr(operands, ','), *open = strchr(operands, '(');
	if (comma && open && open < comma) {
		const char *close = strchr(operands, ')');
		return close && close[1] == ',' ? close + 1 : NULL;
	}
	return comma;
}

static void add_comment(struct str *out, const struct annotated_line *line)
{
	if (line->reference_name)
		str_printf(out, "\t# %" PRIx64 " <%s>", line->reference, line->reference_name);
}

static void add_raw(struct str *out, const struct annotated_line *line, const char *word, size_t word_len, const char *operands, int width)
{
	str_printf(out, "%-*.*s %s", width, (int)word_len, word, operands);
	add_comment(out, line);
}

static void add_words(struct str *out, const struct annotated_line *line, const char *word, const char *operands, int width)
{
	size_t len = strcspn(word, " ");
	const char *comma = operand_comma(operands);
	if (is_of(no_operand, word, len)) {
		str_printf(out, "%-*s", width, "nop");
	} else if (is_of(one_operand, word, len)) {
		str_printf(out, "%-*.*s ", width, (int)len, word);
		add_operand(out, line, operands, strcspn(operands, " "));
	} else if (is_of(two_operands, word, len) && comma) {
		const char *second = comma + 1 + strspn(comma + 1, " ");
		str_printf(out, "%-*.*s ", width, (int)len, word);
		add_operand(out, line, operands, (size_t)(comma - operands));
		str_putc(out, ',');
		add_operand(out, line, second, strlen(second));
	} else {
		add_raw(out, line, word, len, operands, width);
	}
}

void operands_add(struct str *out, const struct annotation *annotation, const struct annotated_line *line, int width)
{
	if (!line->mnemonic)
		return;
	size_t len = strcspn(line->mnemonic, " ");
	const char *rest = line->mnemonic[len] ? line->mnemonic + len + 1 : NULL;
	uint64_t into = line->target - annotation->start;
	if (line->direct && line->code == CODE_JUMP && into < annotation->size) {
		str_printf(out, "%-*.*s %" PRIx64, width, (int)len, line->mnemonic, into);
	} else if (line->direct && line->target_name) {
		str_printf(out, "%-*.*s ", width, (int)len, line->mnemonic);
		add_symbol(out, line->target_name);
	} else if (line->direct && line->code == CODE_CALL) {
		str_printf(out, "%-*.*s *%" PRIx64, width, (int)len, line->mnemonic, line->target);
	} else if (rest && strncmp(line->mnemonic, "lock", len) == 0) {
		str_printf(out, "%-*.*s ", width, (int)len, line->mnemonic);
		add_words(out, line, rest, line->operands, width);
	} else if (rest) {
		struct str whole CLEANUP_STR = { 0 };
		str_printf(&whole, "%-7s %s", line->mnemonic, line->operands); /* perf pads the mnemonic with its prefix */
		add_raw(out, line, line->mnemonic, len, str_text(&whole) + len + 1, width);
	} else {
		add_words(out, line, line->mnemonic, line->operands, width);
	}
}
