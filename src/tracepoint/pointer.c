/* The kernel's extensions of %p: functions, hardware and IP addresses, UUIDs, byte strings. Source:
 * Documentation/core-api/printk-formats.rst. */
#include "tracepoint/event.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static void print_function(const struct trace_context *c, const struct trace_piece *piece)
{
	uint64_t address = context_eval(c, piece->value), start = 0;
	const char *name = NULL;

	if (!c->names || !c->names->resolve(c->names->context, address, &name, &start)) {
		writer_add(c->out, "0x", 2);
		writer_hex(c->out, address, 0);
		return;
	}
	writer_puts(c->out, name);
	if (*piece->format == 'F' || *piece->format == 'S') {
		writer_add(c->out, "+0x", 3);
		writer_hex(c->out, address - start, 0);
	}
}

static void print_byte(struct writer *out, uint8_t byte, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	writer_putc(out, digits[byte >> 4]);
	writer_putc(out, digits[byte & 15]);
}

/* Returns the bytes of a field of exactly `size` bytes, through casts; otherwise prints the same error text as libtraceevent and returns
 * NULL. */
static const uint8_t *field_bytes_of_size(const struct trace_context *c, const struct trace_node *node, uint32_t size, const char *wrong)
{
	while (node->kind == NODE_CAST)
		node = node->left;
	if (node->kind != NODE_FIELD) {
		writer_printf(c->out, "ARG TYPE NOT FIELD BUT %d", node->origin);
		return NULL;
	}
	if (!node->field)
		return NULL;
	if (node->field->size != size) {
		writer_puts(c->out, wrong);
		return NULL;
	}
	return size <= c->size && node->field->offset <= c->size - size ? c->data + node->field->offset : NULL;
}

static void print_mac(const struct trace_context *c, const struct trace_piece *piece)
{
	const uint8_t *bytes = field_bytes_of_size(c, piece->value, 6, "INVALIDMAC");
	const char *format = piece->format;
	char separator = format[0] == 'm' ? '\0' : format[1] == 'F' ? '-' : ':';

	for (int i = 0; bytes && i < 6; i++) {
		if (i && separator)
			writer_putc(c->out, separator);
		print_byte(c->out, bytes[format[1] == 'R' ? 5 - i : i], false);
	}
}

static void print_ip4(struct writer *out, const uint8_t *bytes, bool padded, bool reverse)
{
	for (int i = 0; i < 4; i++) {
		uint8_t byte = bytes[reverse ? 3 - i : i];
		if (i)
			writer_putc(out, '.');
		writer_printf(out, padded ? "%03d" : "%d", byte);
	}
}

/* Whether the letter after %pI4 (h, n, b, l) reverses the bytes. */
static bool ip4_reversed(const struct trace_context *c, char order)
{
	return order == 'l' || (order == 'h' && !c->layout->big_endian);
}

static void print_ip6_full(struct writer *out, const uint8_t *bytes, bool colons)
{
	for (int i = 0; i < 16; i++) {
		if (i && i % 2 == 0 && colons)
			writer_putc(out, ':');
		print_byte(out, bytes[i], false);
	}
}

/* Prints the form of RFC 5952: the longest sequence of two or more zero words becomes "::"; an embedded IPv4 address has dots. */
static void print_ip6_short(struct writer *out, const uint8_t *bytes)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }, isatap[4] = { 0x02, 0, 0x5e, 0xfe };
	bool ip4 = !memcmp(bytes, mapped, sizeof mapped) ||
		((bytes[8] | 2) == isatap[0] && !memcmp(bytes + 9, isatap + 1, 3));
	int words = ip4 ? 6 : 8, best = -1, longest = 1;

	for (int i = 0; i < words; i++) {
		int run = 0;
		while (i + run < words && !bytes[2 * (i + run)] && !bytes[2 * (i + run) + 1])
			run++;
		if (run > longest) {
			longest = run;
			best = i;
		}
	}
	bool colon = false;
	for (int i = 0; i < words; i++) {
		if (i == best) {
			writer_puts(out, colon || i == 0 ? "::" : ":");
			colon = false;
			i += longest - 1;
			continue;
		}
		if (colon)
			writer_putc(out, ':');
		writer_hex(out, (uint64_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]), 0);
		colon = true;
	}
	if (ip4) {
		if (colon)
			writer_putc(out, ':');
		print_ip4(out, bytes + 12, false, false);
	}
}

/* %pIS: a socket address; its family determines the form. */
static void print_socket_address(const struct trace_context *c, const struct trace_piece *piece)
{
	const char *format = piece->format;
	bool padded = format[0] == 'i', port = !padded && format[2] == 'p';
	bool shorter = !padded && format[2 + port] == 'c', ip6;
	const struct trace_node *node = piece->value;
	struct span span = { 0 };
	uint16_t family = 0;

	while (node->kind == NODE_CAST)
		node = node->left;
	if (node->kind == NODE_ARRAY) {
		span = context_dynamic(c, node->field);
	} else if (node->kind != NODE_FIELD) {
		writer_printf(c->out, "ARG NOT FIELD NOR DYNAMIC ARRAY BUT TYPE %d", node->origin);
		return;
	} else if (node->field && node->field->offset <= c->size) {
		size_t room = c->size - node->field->offset;
		span = (struct span){ c->data + node->field->offset, node->field->size < room ? node->field->size : room };
	}
	if (span.len < sizeof family)
		return;
	memcpy(&family, span.data, sizeof family);
	ip6 = family == AF_INET6;
	if (!ip6 && family != AF_INET)
		return;
	if (span.len < (ip6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in))) {
		writer_puts(c->out, ip6 ? "INVALIDIPv6" : "INVALIDIPv4");
		return;
	}
	if (!ip6)
		print_ip4(c->out, span.data + 4, padded, ip4_reversed(c, format[2 + port + shorter]));
	if (ip6 && port)
		writer_putc(c->out, '[');
	if (ip6 && shorter)
		print_ip6_short(c->out, span.data + 8);
	else if (ip6)
		print_ip6_full(c->out, span.data + 8, !padded);
	if (port)
		writer_printf(c->out, ip6 ? "]:%d" : ":%d", span.data[2] << 8 | span.data[3]);
}

static void print_ip(const struct trace_context *c, const struct trace_piece *piece)
{
	const char *format = piece->format;
	const uint8_t *bytes;

	switch (format[1]) {
	case '4':
		bytes = field_bytes_of_size(c, piece->value, 4, "INVALIDIPv4");
		if (bytes)
			print_ip4(c->out, bytes, format[0] == 'i', ip4_reversed(c, format[2]));
		break;
	case '6':
		bytes = field_bytes_of_size(c, piece->value, 16, "INVALIDIPv6");
		if (bytes && format[0] == 'I' && format[2] == 'c')
			print_ip6_short(c->out, bytes);
		else if (bytes)
			print_ip6_full(c->out, bytes, format[0] == 'I');
		break;
	case 'S':
		print_socket_address(c, piece);
		break;
	}
}

static void print_uuid(const struct trace_context *c, const struct trace_piece *piece)
{
	static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char variant = piece->format[1];
	const uint8_t *bytes = field_bytes_of_size(c, piece->value, 16, "INVALIDUUID");

	for (int i = 0; bytes && i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			writer_putc(c->out, '-');
		print_byte(c->out, bytes[variant == 'l' || variant == 'L' ? little[i] : i], variant == 'L' || variant == 'B');
	}
}

static void print_hex_bytes(const struct trace_context *c, const struct trace_piece *piece)
{
	char variant = piece->format[1];
	int count = piece->width ? (int)context_eval(c, piece->width) : 1;

	if (piece->value->kind != NODE_ARRAY) {
		writer_printf(c->out, "ARG TYPE NOT FIELD BUT %d", piece->value->origin);
		return;
	}
	struct span span = context_dynamic(c, piece->value->field);
	for (int i = 0; i < count && (size_t)i < span.len; i++) {
		if (i && variant != 'N')
			writer_putc(c->out, variant == 'C' ? ':' : variant == 'D' ? '-' : ' ');
		print_byte(c->out, span.data[i], false);
	}
}

void piece_print_pointer(const struct trace_context *c, const struct trace_piece *piece)
{
	uint64_t value;

	switch (*piece->format) {
	case 'F': case 'f': case 'S': case 's':
		print_function(c, piece);
		break;
	case 'M': case 'm':
		print_mac(c, piece);
		break;
	case 'I': case 'i':
		print_ip(c, piece);
		break;
	case 'U':
		print_uuid(c, piece);
		break;
	case 'h':
		print_hex_bytes(c, piece);
		break;
	default:
		value = context_eval(c, piece->value);
		if (!value) {
			writer_add(c->out, "(nil)", 5);
			break;
		}
		writer_add(c->out, "0x", 2);
		writer_hex(c->out, value, 0);
		break;
	}
}
