#include "syscalls/text.h"

void hex_print(struct writer *out, uint64_t value)
{
	if (value)
		writer_add(out, "0x", 2);
	writer_hex(out, value, 0);
}

void signed_print(struct writer *out, int64_t value)
{
	if (value < 0)
		writer_putc(out, '-');
	writer_decimal(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0);
}

void octal_print(struct writer *out, uint8_t byte)
{
	const char digits[] = { '\\', (char)('0' + (byte >> 6)), (char)('0' + (byte >> 3 & 7)), (char)('0' + (byte & 7)) };
	writer_add(out, digits, sizeof digits);
}

void control_print(struct writer *out, const char *name)
{
	for (; *name; name++) {
		if ((uint8_t)*name >= ' ' && *name != 0x7f)
			writer_putc(out, *name);
		else
			octal_print(out, (uint8_t)*name);
	}
}

void string_print(struct writer *out, const uint8_t *text, size_t size)
{
	writer_putc(out, '"');
	for (size_t i = 0; i < size; i++) {
		if (text[i] >= ' ' && text[i] != 0x7f && text[i] != '"' && text[i] != '\\')
			writer_putc(out, (char)text[i]);
		else if (text[i] == '"' || text[i] == '\\')
			writer_add(out, (const char[]){ '\\', (char)text[i] }, 2);
		else
			octal_print(out, text[i]);
	}
	writer_putc(out, '"');
}
