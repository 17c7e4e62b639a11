/* Converts an event parsed by libtraceevent into our nodes and conversions, which are smaller, bounded and immutable. */
#include "tracepoint/event.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "base/vec.h"

#define DEPTH_MAX 128      /* of an expression */
#define FORMAT_MAX 31      /* the size of libtraceevent's buffer for one conversion */
#define FIELD_END_MAX 65536

struct compiler {
	const struct tep_event *from;
	struct trace_event *event;
	struct arena *arena;
	VEC(struct trace_piece) pieces;
	bool failed;
};

static const char *copy_text(struct compiler *c, const char *text)
{
	return text ? arena_string(c->arena, text, strlen(text)) : "";
}

static const struct tracepoint_field *field_of(struct compiler *c, const struct tep_format_field *field, const char *name)
{
	if (field)
		name = field->name;
	for (uint32_t i = 0; name && i < c->event->field_count; i++)
		if (!strcmp(c->event->fields[i].name, name))
			return &c->event->fields[i];
	return NULL;
}

static uint64_t mask_of_type(const char *type, size_t len)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} rows[] = {
		{ "u8", 0xff }, { "s8", 0xff }, { "char", 0xff }, { "u16", 0xffff }, { "s16", 0xffff }, { "short", 0xffff },
		{ "u32", 0xffffffff }, { "s32", 0xffffffff }, { "int", 0xffffffff },
	};
	static const char unsigned_word[] = "unsigned ";
	size_t skip = len > strlen(unsigned_word) && !memcmp(type, unsigned_word, strlen(unsigned_word)) ? strlen(unsigned_word) : 0;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (len - skip == strlen(rows[i].name) && !memcmp(type + skip, rows[i].name, len - skip) &&
		    (!skip || isalpha((unsigned char)rows[i].name[1])))
			return rows[i].mask;
	return UINT64_MAX;
}

static uint8_t operator_of(const char *text)
{
	static const struct {
		char first, second; /* '*': any character */
		uint8_t operator;
	} rows[] = {
		{ '!', '\0', OPERATOR_NOT }, { '!', '=', OPERATOR_NE }, { '~', '*', OPERATOR_INVERT }, { '|', '\0', OPERATOR_OR },
		{ '|', '*', OPERATOR_LOGICAL_OR }, { '&', '\0', OPERATOR_AND }, { '&', '*', OPERATOR_LOGICAL_AND },
		{ '<', '\0', OPERATOR_LT }, { '<', '<', OPERATOR_SHL }, { '<', '=', OPERATOR_LE }, { '>', '\0', OPERATOR_GT },
		{ '>', '>', OPERATOR_SHR }, { '>', '=', OPERATOR_GE }, { '=', '=', OPERATOR_EQ }, { '-', '*', OPERATOR_SUB },
		{ '+', '*', OPERATOR_ADD }, { '/', '*', OPERATOR_DIV }, { '%', '*', OPERATOR_MOD }, { '*', '*', OPERATOR_MUL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (text[0] == rows[i].first && (rows[i].second == '*' || text[1] == rows[i].second))
			return rows[i].operator;
	return OPERATOR_NONE;
}

static const struct trace_node *compile_node(struct compiler *c, const struct tep_print_arg *arg, int depth);

/* The values of softirqs and timers that formats refer to by name. */
static int64_t name_value(const char *text)
{
	static const struct {
		const char *name;
		int64_t value;
	} rows[] = {
		{ "HI_SOFTIRQ", 0 }, { "TIMER_SOFTIRQ", 1 }, { "NET_TX_SOFTIRQ", 2 }, { "NET_RX_SOFTIRQ", 3 },
		{ "BLOCK_SOFTIRQ", 4 }, { "IRQ_POLL_SOFTIRQ", 5 }, { "TASKLET_SOFTIRQ", 6 }, { "SCHED_SOFTIRQ", 7 },
		{ "HRTIMER_SOFTIRQ", 8 }, { "RCU_SOFTIRQ", 9 }, { "HRTIMER_NORESTART", 0 }, { "HRTIMER_RESTART", 1 },
	};
	if (isdigit((unsigned char)*text))
		return (int64_t)strtoull(text, NULL, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, text))
			return rows[i].value;
	return -1;
}

static void compile_names(struct compiler *c, struct trace_node *node, const struct tep_print_flag_sym *list)
{
	uint32_t count = 0;

	for (const struct tep_print_flag_sym *sym = list; sym; sym = sym->next)
		count++;
	struct node_name *names = arena_alloc(c->arena, count * sizeof *names);
	node->names = names;
	node->name_count = count;
	for (; list; list = list->next, names++) {
		names->value = name_value(list->value ? list->value : "");
		names->text = copy_text(c, list->str);
	}
}

static void compile_element(struct compiler *c, struct trace_node *node, const struct tep_print_arg *arg, int depth)
{
	const struct tep_print_arg *left = arg->op.left;
	const char *type = NULL;

	for (; left && left->type == TEP_PRINT_TYPE; left = left->typecast.item)
		type = type ? type : left->typecast.type;
	node->mask = UINT64_MAX;
	if (type && strlen(type) > 2 && type[strlen(type) - 1] == '*')
		node->mask = mask_of_type(type, strlen(type) - 2);
	node->left = compile_node(c, left, depth);
	node->right = compile_node(c, arg->op.right, depth);
	node->field = node->left->field;
	if ((node->left->kind != NODE_ARRAY && node->left->kind != NODE_FIELD) || !node->field) {
		node->kind = NODE_OPERATOR; /* no valid element access: evaluates to 0 */
		return;
	}
	node->kind = NODE_ELEMENT;
	node->element_size = node->field->element_size;
	if (!node->element_size && node->left->kind == NODE_ARRAY)
		node->element_size = c->event->layout->long_size;
}

static void compile_operator(struct compiler *c, struct trace_node *node, const struct tep_print_arg *arg, int depth)
{
	const char *op = arg->op.op ? arg->op.op : "";
	const struct tep_print_arg *right = arg->op.right;

	if (!strcmp(op, "[")) {
		compile_element(c, node, arg, depth);
		return;
	}
	node->left = compile_node(c, arg->op.left, depth);
	if (op[0] == '?') {
		bool whole = right && right->type == TEP_PRINT_OP && right->op.op && right->op.op[0] == ':';
		node->kind = NODE_CHOICE;
		node->right = compile_node(c, whole ? right->op.left : NULL, depth);
		node->other = compile_node(c, whole ? right->op.right : NULL, depth);
		return;
	}
	node->kind = NODE_OPERATOR;
	node->operator = operator_of(op);
	node->right = compile_node(c, right, depth);
}

static void compile_dynamic(struct compiler *c, struct trace_node *node, uint8_t kind, const struct tep_format_field *field,
	const char *name)
{
	node->field = field_of(c, field, name);
	node->kind = node->field || kind < NODE_ARRAY ? kind : NODE_NOTHING;
}

static const struct trace_node *compile_node(struct compiler *c, const struct tep_print_arg *arg, int depth)
{
	static const struct trace_node nothing = { .kind = NODE_NOTHING };
	struct trace_node *node;

	if (!arg || depth > DEPTH_MAX) {
		c->failed |= arg != NULL;
		return &nothing;
	}
	node = arena_alloc(c->arena, sizeof *node);
	node->origin = (uint8_t)arg->type;
	switch (arg->type) {
	case TEP_PRINT_ATOM:
		node->kind = NODE_TEXT;
		node->text = copy_text(c, arg->atom.atom);
		node->value = strtoull(node->text, NULL, 0);
		break;
	case TEP_PRINT_FIELD:
		compile_dynamic(c, node, NODE_FIELD, arg->field.field, arg->field.name);
		break;
	case TEP_PRINT_FLAGS:
		node->kind = NODE_FLAGS;
		node->text = arg->flags.delim ? copy_text(c, arg->flags.delim) : NULL;
		node->left = compile_node(c, arg->flags.field, depth + 1);
		compile_names(c, node, arg->flags.flags);
		break;
	case TEP_PRINT_SYMBOL:
		node->kind = NODE_SYMBOL;
		node->left = compile_node(c, arg->symbol.field, depth + 1);
		compile_names(c, node, arg->symbol.symbols);
		break;
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		node->kind = arg->type == TEP_PRINT_HEX ? NODE_HEX : NODE_HEX_JOINED;
		node->left = compile_node(c, arg->hex.field, depth + 1);
		node->right = compile_node(c, arg->hex.size, depth + 1);
		break;
	case TEP_PRINT_INT_ARRAY:
		node->kind = NODE_INTEGERS;
		node->left = compile_node(c, arg->int_array.field, depth + 1);
		node->right = compile_node(c, arg->int_array.count, depth + 1);
		node->other = compile_node(c, arg->int_array.el_size, depth + 1);
		break;
	case TEP_PRINT_TYPE:
		node->kind = NODE_CAST;
		node->left = compile_node(c, arg->typecast.item, depth + 1);
		node->mask = arg->typecast.type ? mask_of_type(arg->typecast.type, strlen(arg->typecast.type)) : UINT64_MAX;
		break;
	case TEP_PRINT_STRING:
		compile_dynamic(c, node, NODE_STRING, arg->string.field, arg->string.string);
		break;
	case TEP_PRINT_BITMASK:
	case TEP_PRINT_CPUMASK:
		compile_dynamic(c, node, arg->type == TEP_PRINT_BITMASK ? NODE_BITMASK : NODE_CPUMASK, arg->bitmask.field,
			arg->bitmask.bitmask);
		break;
	case TEP_PRINT_DYNAMIC_ARRAY:
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		compile_dynamic(c, node, arg->type == TEP_PRINT_DYNAMIC_ARRAY ? NODE_ARRAY : NODE_ARRAY_LENGTH, arg->dynarray.field,
			NULL);
		break;
	case TEP_PRINT_OP:
		compile_operator(c, node, arg, depth + 1);
		break;
	default:
		node->kind = NODE_NOTHING;
		break;
	}
	return node;
}

/* Compiles the text up to the next conversion; returns the rest of the format. */
static const char *compile_text(struct compiler *c, const char *p)
{
	char *text = arena_bytes(c->arena, strlen(p) + 1);
	size_t len = 0;

	for (; *p; p++) {
		if (*p == '%') {
			if (p[1] != '%')
				break;
			p++;
		} else if (*p == '\\' && p[1]) {
			p++;
			text[len++] = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p == 'r' ? '\r' : *p;
			continue;
		}
		text[len++] = *p;
	}
	text[len] = '\0';
	/* libtraceevent ends a text at a NUL */
	vec_push(&c->pieces, ((struct trace_piece){ .kind = PIECE_TEXT, .format = text, .text_len = (uint32_t)len }));
	return p;
}

/* Returns the length of the kernel's extension after "%p". */
static size_t pointer_extension(const char *p)
{
	size_t n = 1;

	switch (*p) {
	case 'F': case 'S': case 'f': case 's':
		return 1;
	case 'M': case 'm':
		return p[1] == 'R' || p[1] == 'F' ? 2 : 1;
	case 'U':
		return p[1] && strchr("LlBb", p[1]) ? 2 : 1;
	case 'h':
		return p[1] && strchr("CDN", p[1]) ? 2 : 1;
	case 'I': case 'i':
		if (!p[1] || !strchr("4S6", p[1]))
			return 1;
		n = 2;
		while (p[1] == 'S' && p[n] && strchr("pfs", p[n]))
			n++;
		if (p[1] != '6' && p[n] && strchr("hnlb", p[n]))
			n++;
		return n + (p[1] != '4' && p[n] == 'c');
	default:
		return 0;
	}
}

static const struct tep_print_arg *next_arg(struct compiler *c, const struct tep_print_arg **args)
{
	const struct tep_print_arg *arg = *args;

	if (arg)
		*args = arg->next;
	else
		c->failed = true;
	return arg;
}

/* Rewrites a conversion for printf: flags and width are the same, every number has the type long long. */
static int rewrite_format(char out[static FORMAT_MAX + 3], const char *start, const char *end, bool number)
{
	unsigned digits = 0;
	size_t at = 0;

	for (const char *p = start; p < end; p++) {
		digits = isdigit((unsigned char)*p) ? digits + 1 : 0;
		if (digits > 3)
			return -1;
		if (p == end - 1 && number)
			at += (size_t)sprintf(out + at, "ll");
		if (!strchr("hlLzZ", *p))
			out[at++] = *p == 'i' ? 'd' : *p;
	}
	out[at] = '\0';
	return 0;
}

static void compile_number_or_string(struct compiler *c, const char *start, const char *end, const struct tep_print_arg *arg,
	const struct trace_node *width, int length)
{
	char last = end[-1], format[FORMAT_MAX + 3];
	struct trace_piece piece = { .kind = last == 's' ? PIECE_STRING : PIECE_NUMBER, .width = width,
		.length = (int8_t)length, .letter = last == 'i' ? 'd' : last };

	if (length < -2 || length > 2 || end - start >= FORMAT_MAX || rewrite_format(format, start, end, last != 's') < 0) {
		c->failed = true;
		return;
	}
	size_t len = strlen(format);
	piece.plain = len == (last == 's' ? 2 : 4);
	piece.format = arena_string(c->arena, format, len);
	piece.value = compile_node(c, arg, 0);
	vec_push(&c->pieces, piece);
}

static void compile_pointer(struct compiler *c, const char *extension, size_t len, const struct tep_print_arg *arg,
	const struct trace_node *width)
{
	vec_push(&c->pieces, ((struct trace_piece){ .kind = PIECE_POINTER, .value = compile_node(c, arg, 0), .width = width,
		.format = arena_string(c->arena, extension, len) }));
}

/* Compiles one conversion at '%'; returns the rest of the format. */
static const char *compile_conversion(struct compiler *c, const char *start, const struct tep_print_arg **args)
{
	const struct trace_node *width = NULL;
	const struct tep_print_arg *arg;
	int length = 0;

	for (const char *p = start + 1; *p; p++) {
		if (strchr("#.-+0123456789", *p))
			continue;
		switch (*p) {
		case 'h':
			length--;
			continue;
		case 'l':
			length++;
			continue;
		case 'L':
			length = 2;
			continue;
		case 'z': case 'Z':
			length = 1;
			continue;
		case '*':
			if (width)
				c->failed = true;
			width = compile_node(c, next_arg(c, args), 0);
			continue;
		case 'p':
			arg = next_arg(c, args);
			size_t extension = pointer_extension(p + 1);
			compile_pointer(c, p + 1, extension, arg, width);
			return p + 1 + extension;
		case 'd': case 'u': case 'i': case 'x': case 'X': case 'o': case 's':
			arg = next_arg(c, args);
			compile_number_or_string(c, start, p + 1, arg, width, *p == 's' ? 0 : length);
			return p + 1;
		}
		/* libtraceevent prints unknown conversions, %c among them, like this */
		char *text = arena_bytes(c->arena, 4);
		snprintf(text, 4, ">%c<", *p);
		vec_push(&c->pieces, ((struct trace_piece){ .kind = PIECE_TEXT, .format = text, .text_len = 3 }));
		return p + 1;
	}
	return start + strlen(start);
}

static void compile_fields(struct compiler *c)
{
	const struct tep_format *format = &c->from->format;
	struct trace_event *event = c->event;

	for (const struct tep_format_field *f = format->common_fields; f; f = f->next)
		event->common_count++;
	event->field_count = event->common_count;
	for (const struct tep_format_field *f = format->fields; f; f = f->next)
		event->field_count++;
	event->fields = arena_alloc(c->arena, event->field_count * sizeof *event->fields);
	struct tracepoint_field *to = event->fields;
	for (int part = 0; part < 2; part++)
		for (const struct tep_format_field *f = part ? format->fields : format->common_fields; f; f = f->next, to++) {
			static const unsigned flags[][2] = {
				{ TEP_FIELD_IS_ARRAY, FIELD_ARRAY }, { TEP_FIELD_IS_POINTER, FIELD_POINTER },
				{ TEP_FIELD_IS_SIGNED, FIELD_SIGNED }, { TEP_FIELD_IS_STRING, FIELD_STRING },
				{ TEP_FIELD_IS_DYNAMIC, FIELD_DYNAMIC }, { TEP_FIELD_IS_LONG, FIELD_LONG },
				{ TEP_FIELD_IS_RELATIVE, FIELD_RELATIVE },
			};
			to->name = copy_text(c, f->name);
			to->type = copy_text(c, f->type);
			to->event = event;
			/* an invalid position is moved beyond the end of every record, where a field reads as 0 */
			bool fits = f->offset >= 0 && f->size >= 0 && f->offset <= FIELD_END_MAX && f->size <= FIELD_END_MAX;
			to->offset = fits ? (uint32_t)f->offset : FIELD_END_MAX;
			to->size = fits ? (uint32_t)f->size : 0;
			to->element_size = f->elementsize;
			for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
				to->flags |= f->flags & flags[i][0] ? flags[i][1] : 0;
		}
}

/* Finds the conversion that prints each field in the event's text, so that the field alone is printed in the same way. */
static void link_fields(struct trace_event *event)
{
	for (uint32_t i = 0; i < event->field_count && !event->failed; i++) {
		struct tracepoint_field *field = &event->fields[i];
		if (field->flags & (FIELD_ARRAY | FIELD_STRING))
			continue;
		for (uint32_t p = 0; p < event->piece_count && !field->piece; p++) {
			const struct trace_node *node = event->pieces[p].value;
			const struct trace_piece *before = p ? &event->pieces[p - 1] : NULL;
			while (node && node->kind == NODE_CAST)
				node = node->left;
			if (!node || node->kind != NODE_FIELD || node->field != field)
				continue;
			field->piece = &event->pieces[p];
			field->prefix_0x = before && before->kind == PIECE_TEXT && before->text_len > 1 &&
				!memcmp(before->format + before->text_len - 2, "0x", 2);
		}
	}
}

struct trace_event *event_compile(const struct tep_event *from, const struct trace_layout *layout, struct arena *arena)
{
	struct compiler c = { .from = from, .arena = arena };
	const struct tep_print_arg *args = from->print_fmt.args;
	const char *format = from->print_fmt.format;

	c.event = arena_alloc(arena, sizeof *c.event);
	c.event->id = (uint32_t)from->id;
	c.event->layout = layout;
	c.event->system = copy_text(&c, from->system);
	c.event->name = copy_text(&c, from->name);
	compile_fields(&c);
	while (format && *format)
		format = format[0] == '%' && format[1] != '%' ? compile_conversion(&c, format, &args) : compile_text(&c, format);
	c.event->failed = c.failed || from->flags & TEP_EVENT_FL_FAILED;
	c.event->piece_count = (uint32_t)c.pieces.count;
	c.event->pieces = arena_copy(arena, c.pieces.items, c.pieces.count * sizeof *c.pieces.items);
	vec_fini(&c.pieces);
	link_fields(c.event);
	return c.event;
}
