/* Prints a record as text: the conversions of a print format, and single fields. */
#include "tracepoint/event.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WIDTH_MAX 4096 /* limit for '*', whose value comes from the record */

static int piece_width(const struct trace_context *c, const struct trace_piece *piece)
{
	int64_t width = (int32_t)context_eval(c, piece->width);

	return width < -WIDTH_MAX ? -WIDTH_MAX : width > WIDTH_MAX ? WIDTH_MAX : (int)width;
}

/* Prints one conversion; event_compile has checked the format. */
#define print_formatted(out, format, ...)                                                          \
	do {                                                                                       \
		char *room_ = writer_room((out), WIDTH_MAX + 64);                                  \
		int used_ = snprintf(room_, WIDTH_MAX + 64, (format), __VA_ARGS__);                \
		if (used_ > 0)                                                                     \
			writer_advance((out), used_ < WIDTH_MAX + 64 ? (size_t)used_ : WIDTH_MAX + 63); \
	} while (0)

/* Converts the value to the type that C passes to a conversion of this length and sign. */
static long long number_for_conversion(const struct trace_piece *piece, uint64_t value)
{
	bool is_signed = piece->letter == 'd';

	switch (piece->length) {
	case -2: return is_signed ? (signed char)value : (long long)(unsigned char)value;
	case -1: return is_signed ? (short)value : (long long)(unsigned short)value;
	case 0: return is_signed ? (int)value : (long long)(unsigned)value;
	default: return (long long)value;
	}
}

static void print_number(const struct trace_context *c, const struct trace_piece *piece)
{
	long long number = number_for_conversion(piece, context_eval(c, piece->value));

	switch (piece->plain ? piece->letter : '\0') {
	case 'd':
		if (number < 0)
			writer_putc(c->out, '-');
		writer_decimal(c->out, number < 0 ? -(uint64_t)number : (uint64_t)number, 0);
		break;
	case 'u':
		writer_decimal(c->out, (uint64_t)number, 0);
		break;
	case 'x':
		writer_hex(c->out, (uint64_t)number, 0);
		break;
	default:
		if (piece->width)
			print_formatted(c->out, piece->format, piece_width(c, piece), number);
		else
			print_formatted(c->out, piece->format, number);
		break;
	}
}

/* Prints `len` bytes through a conversion such as "%-10.5s". */
static void print_text(const struct trace_context *c, const struct trace_piece *piece, const char *text, size_t len)
{
	const char *p = piece->format + 1;
	bool left = false, precise = false;
	size_t width = 0, precision = 0;

	if (piece->plain) {
		writer_add(c->out, text, len);
		return;
	}
	for (; *p && *p != 's'; p++) {
		size_t *value = precise ? &precision : &width;
		if (*p == '-') {
			left = true;
		} else if (*p == '.') {
			precise = true;
		} else if (*p == '*' && piece->width) {
			int given = piece_width(c, piece);
			left |= given < 0 && !precise;
			*value = given < 0 ? precise ? SIZE_MAX : (size_t)-given : (size_t)given;
		} else if (isdigit((unsigned char)*p) && *value < WIDTH_MAX) {
			*value = *value * 10 + (size_t)(*p - '0');
		}
	}
	if (precise && precision < len)
		len = precision;
	size_t pad = width > len ? width - len : 0;
	if (!left)
		writer_pad(c->out, ' ', pad);
	writer_add(c->out, text, len);
	if (left)
		writer_pad(c->out, ' ', pad);
}

static void print_field_text(const struct trace_context *c, const struct trace_piece *piece,
	const struct tracepoint_field *field)
{
	uint32_t room = field->offset < c->size ? c->size - field->offset : 0;
	uint32_t len = field->size && field->size < room ? field->size : room;

	/* a field of the size of a pointer is taken for the address of a string that the kernel published */
	if (!(field->flags & FIELD_ARRAY) && field->size == c->layout->long_size) {
		uint64_t address = 0;
		if (len == field->size)
			memcpy(&address, c->data + field->offset, len);
		const char *text = context_printk(c, address);
		if (text)
			writer_puts(c->out, text);
		else
			writer_hex(c->out, address, 0);
		return;
	}
	const char *text = (const char *)c->data + field->offset;
	print_text(c, piece, text, len ? strnlen(text, len) : 0);
}

static void print_bit_names(const struct trace_context *c, const struct trace_piece *piece, const struct trace_node *node)
{
	int64_t value = (int64_t)context_eval(c, node->left);
	bool printed = false;

	for (uint32_t i = 0; i < node->name_count; i++) {
		const struct node_name *name = &node->names[i];
		if (!value && name->value < 0) {
			print_text(c, piece, name->text, strlen(name->text));
			break;
		}
		if (name->value <= 0 || (value & name->value) != name->value)
			continue;
		if (printed && node->text)
			writer_puts(c->out, node->text);
		print_text(c, piece, name->text, strlen(name->text));
		printed = true;
		value &= ~name->value;
	}
	if (!value)
		return;
	if (printed && node->text)
		writer_puts(c->out, node->text);
	writer_add(c->out, "0x", 2);
	writer_hex(c->out, (uint64_t)value, 0);
}

static void print_symbol(const struct trace_context *c, const struct trace_piece *piece, const struct trace_node *node)
{
	int64_t value = (int64_t)context_eval(c, node->left);

	for (uint32_t i = 0; i < node->name_count; i++) {
		if (node->names[i].value != value)
			continue;
		print_text(c, piece, node->names[i].text, strlen(node->names[i].text));
		return;
	}
	writer_add(c->out, "0x", 2);
	writer_hex(c->out, (uint64_t)value, 0);
}

/* Returns the bytes from the start of a field's data to the end of the record. */
static struct span span_from_field(const struct trace_context *c, const struct trace_node *node)
{
	if (!node->field)
		return (struct span){ c->data, 0 };
	if (node->kind != NODE_ARRAY && node->field->offset > c->size)
		return (struct span){ c->data, 0 };
	const uint8_t *data = node->kind == NODE_ARRAY ? context_dynamic(c, node->field).data : c->data + node->field->offset;
	return (struct span){ data, c->size - (size_t)(data - c->data) };
}

static void print_hex(const struct trace_context *c, const struct trace_node *node)
{
	static const char digits[] = "0123456789abcdef";
	struct span span = span_from_field(c, node->left);
	uint32_t count = (uint32_t)context_eval(c, node->right);

	for (size_t i = 0; i < count && i < span.len; i++) {
		if (i && node->kind == NODE_HEX)
			writer_putc(c->out, ' ');
		writer_putc(c->out, digits[span.data[i] >> 4]);
		writer_putc(c->out, digits[span.data[i] & 15]);
	}
}

static void print_integers(const struct trace_context *c, const struct trace_node *node)
{
	struct span span = span_from_field(c, node->left);
	uint32_t count = (uint32_t)context_eval(c, node->right);
	int32_t size = (int32_t)context_eval(c, node->other);
	uint64_t value;

	writer_putc(c->out, '{');
	for (size_t i = 0, at = 0; i < count; i++, at += (size_t)size) {
		bool bad = size != 1 && size != 2 && size != 4 && size != 8;
		if (at >= span.len || (!bad && (size_t)size > span.len - at))
			break;
		if (i)
			writer_putc(c->out, ',');
		if (bad)
			print_formatted(c->out, "BAD SIZE:%d ", size);
		size = bad ? 1 : size;
		/* not swapped, as in libtraceevent */
		value = 0;
		memcpy((uint8_t *)&value + (HOST_IS_BIG_ENDIAN ? sizeof value - (size_t)size : 0), span.data + at, (size_t)size);
		writer_add(c->out, "0x", 2);
		writer_hex(c->out, value, 0);
	}
	writer_putc(c->out, '}');
}

static uint8_t mask_byte(const struct trace_context *c, struct span mask, size_t i)
{
	return mask.data[c->layout->big_endian ? mask.len - 1 - i : i];
}

static void print_bitmask(const struct trace_context *c, const struct trace_piece *piece, struct span mask)
{
	struct writer text;

	writer_open(&text, -1, 64);
	for (size_t i = mask.len; i-- > 0;) {
		uint8_t byte = mask_byte(c, mask, i);
		writer_putc(&text, "0123456789abcdef"[byte >> 4]);
		writer_putc(&text, "0123456789abcdef"[byte & 15]);
		if (i % 4 == 0 && i)
			writer_putc(&text, ',');
	}
	print_text(c, piece, text.buffer, text.len);
	writer_fini(&text);
}

static void print_cpumask(const struct trace_context *c, const struct trace_piece *piece, struct span mask)
{
	struct writer text;
	size_t bits = mask.len * 8, first;

	writer_open(&text, -1, 64);
	for (size_t bit = 0; bit < bits; bit++) {
		if (!(mask_byte(c, mask, bit / 8) >> bit % 8 & 1))
			continue;
		first = bit;
		while (bit + 1 < bits && mask_byte(c, mask, (bit + 1) / 8) >> (bit + 1) % 8 & 1)
			bit++;
		if (text.len)
			writer_putc(&text, ',');
		writer_decimal(&text, first, 0);
		if (bit == first)
			continue;
		writer_putc(&text, '-');
		writer_decimal(&text, bit, 0);
	}
	print_text(c, piece, text.buffer, text.len);
	writer_fini(&text);
}

static void print_string_node(const struct trace_context *c, const struct trace_piece *piece, const struct trace_node *node)
{
	struct span span;

	switch (node->kind) {
	case NODE_TEXT:
		print_text(c, piece, node->text, strlen(node->text));
		break;
	case NODE_FIELD:
		if (node->field)
			print_field_text(c, piece, node->field);
		break;
	case NODE_FLAGS:
		print_bit_names(c, piece, node);
		break;
	case NODE_SYMBOL:
		print_symbol(c, piece, node);
		break;
	case NODE_HEX:
	case NODE_HEX_JOINED:
		print_hex(c, node);
		break;
	case NODE_INTEGERS:
		print_integers(c, node);
		break;
	case NODE_STRING:
		span = node->field ? context_dynamic(c, node->field) : (struct span){ 0 };
		if (span.len) /* the string ends at its NUL or at the end of the record */
			print_text(c, piece, (const char *)span.data,
				strnlen((const char *)span.data, c->size - (size_t)(span.data - c->data)));
		break;
	case NODE_BITMASK:
		if (node->field)
			print_bitmask(c, piece, context_dynamic(c, node->field));
		break;
	case NODE_CPUMASK:
		if (node->field)
			print_cpumask(c, piece, context_dynamic(c, node->field));
		break;
	case NODE_CHOICE:
		print_string_node(c, piece, context_eval(c, node->left) ? node->right : node->other);
		break;
	}
}

void piece_print(const struct trace_context *c, const struct trace_piece *piece)
{
	switch (piece->kind) {
	case PIECE_TEXT:
		writer_add(c->out, piece->format, piece->text_len);
		break;
	case PIECE_NUMBER:
		print_number(c, piece);
		break;
	case PIECE_POINTER:
		piece_print_pointer(c, piece);
		break;
	case PIECE_STRING:
		print_string_node(c, piece, piece->value);
		break;
	}
}

static void print_array_raw(const struct trace_context *c, const struct tracepoint_field *field)
{
	uint32_t room = field->offset < c->size ? c->size - field->offset : 0;
	struct span span = { c->data + (room ? field->offset : 0), field->size < room ? field->size : room };
	bool printable = field->flags & FIELD_STRING;

	if (field->flags & FIELD_DYNAMIC)
		span = context_dynamic(c, field);
	for (size_t i = 0; printable && i < span.len && span.data[i]; i++)
		printable = isprint(span.data[i]) || isspace(span.data[i]);
	if (printable) {
		writer_add(c->out, span.data, strnlen((const char *)span.data, c->size - (size_t)(span.data - c->data)));
		return;
	}
	writer_puts(c->out, "ARRAY[");
	for (size_t i = 0; i < span.len; i++)
		print_formatted(c->out, i ? ", %02x" : "%02x", span.data[i]);
	writer_putc(c->out, ']');
}

void field_print_raw(const struct trace_context *c, const struct tracepoint_field *field)
{
	if (field->flags & FIELD_ARRAY) {
		print_array_raw(c, field);
		return;
	}
	uint64_t value = context_number(c, field->offset, field->size);
	bool is_long = field->flags & FIELD_LONG;
	if (field->flags & FIELD_POINTER)
		print_formatted(c->out, "0x%llx", (unsigned long long)value);
	else if (!(field->flags & FIELD_SIGNED))
		print_formatted(c->out, is_long ? "0x%llx" : "%llu", (unsigned long long)value);
	else if (field->size == 4)
		print_formatted(c->out, is_long ? "0x%x" : "%d", (int)value);
	else if (field->size == 2)
		print_formatted(c->out, "%2d", (short)value);
	else if (field->size == 1)
		print_formatted(c->out, "%1d", (char)value);
	else
		print_formatted(c->out, "%lld", (long long)value);
}

void event_print(const struct trace_context *c, const struct trace_event *event)
{
	if (event->failed) {
		writer_puts(c->out, "[FAILED TO PARSE]");
		for (uint32_t i = event->common_count; i < event->field_count; i++) {
			writer_putc(c->out, ' ');
			writer_puts(c->out, event->fields[i].name);
			writer_putc(c->out, '=');
			field_print_raw(c, &event->fields[i]);
		}
		return;
	}
	for (uint32_t i = 0; i < event->piece_count; i++)
		piece_print(c, &event->pieces[i]);
}
