/* One event's format, compiled: fields, and the pieces its text is made of. Built once, then read from any thread.
 * Everything lives in the arena of its tracepoints. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/writer.h"
#include "tracepoint/tracepoint.h"

enum field_flag {
	FIELD_ARRAY = 1 << 0,
	FIELD_POINTER = 1 << 1,
	FIELD_SIGNED = 1 << 2,
	FIELD_STRING = 1 << 3,
	FIELD_DYNAMIC = 1 << 4,  /* the field holds offset and length of the data */
	FIELD_LONG = 1 << 5,
	FIELD_RELATIVE = 1 << 6, /* a dynamic one's offset counts from the field's end */
};

struct tracepoint_field {
	const char *name;
	const struct trace_event *event;
	uint32_t offset, size, element_size;
	unsigned flags;
	const struct trace_piece *piece; /* how the event's own text prints it; NULL: it does not */
	bool prefix_0x;                  /* the text has "0x" before that piece */
};

enum node_kind {
	NODE_NOTHING,
	NODE_TEXT,         /* a literal: text, and value as a number */
	NODE_FIELD,
	NODE_CAST,         /* left, masked */
	NODE_OPERATOR,     /* left op right */
	NODE_CHOICE,       /* left ? right : other */
	NODE_ELEMENT,      /* field[right], masked */
	NODE_FLAGS,        /* names of the bits of left; text: what separates them */
	NODE_SYMBOL,       /* the name of the value of left */
	NODE_HEX,          /* `right` bytes of left in hexadecimal */
	NODE_HEX_JOINED,   /* likewise without spaces */
	NODE_INTEGERS,     /* `right` numbers of `other` bytes each from left */
	NODE_STRING,       /* dynamic text */
	NODE_BITMASK,
	NODE_CPUMASK,
	NODE_ARRAY,        /* dynamic data */
	NODE_ARRAY_LENGTH,
};

enum node_operator {
	OPERATOR_NONE, /* a word the library knows and evaluates to 0 */
	OPERATOR_NOT, OPERATOR_NE, OPERATOR_INVERT, OPERATOR_OR, OPERATOR_LOGICAL_OR, OPERATOR_AND, OPERATOR_LOGICAL_AND,
	OPERATOR_LT, OPERATOR_SHL, OPERATOR_LE, OPERATOR_GT, OPERATOR_SHR, OPERATOR_GE, OPERATOR_EQ, OPERATOR_SUB,
	OPERATOR_ADD, OPERATOR_DIV, OPERATOR_MOD, OPERATOR_MUL,
};

struct node_name {
	int64_t value;
	const char *text;
};

struct trace_node {
	uint8_t kind;      /* enum node_kind */
	uint8_t operator;  /* enum node_operator */
	uint8_t origin;    /* the library's number for the kind, which some texts show */
	uint64_t mask;     /* NODE_CAST, NODE_ELEMENT */
	uint64_t value;    /* NODE_TEXT */
	const char *text;
	const struct tracepoint_field *field;
	const struct trace_node *left, *right, *other;
	const struct node_name *names;
	uint32_t name_count;
	uint32_t element_size; /* NODE_ELEMENT */
};

enum piece_kind { PIECE_TEXT, PIECE_NUMBER, PIECE_POINTER, PIECE_STRING };

struct trace_piece {
	uint8_t kind;       /* enum piece_kind */
	int8_t length;      /* NUMBER: -2 char, -1 short, 0 int, 1 long, 2 long long */
	char letter;        /* NUMBER: d u x X o */
	bool plain;         /* nothing else is in the format: "%s", "%lld" */
	uint32_t text_len;  /* TEXT */
	const char *format; /* the printf conversion, or the text; POINTER: what follows the "%p" */
	const struct trace_node *value, *width; /* width: of a '*'; NULL: none */
};

struct trace_event {
	uint64_t id;
	const struct trace_layout *layout;
	const char *system, *name;
	struct tracepoint_field *fields; /* common ones first */
	uint32_t field_count, common_count;
	const struct trace_piece *pieces;
	uint32_t piece_count;
	bool failed; /* the format made no sense: fields are shown raw */
};

struct printk_format {
	uint64_t address;
	const char *text;
};

/* What reading data depends on. */
struct trace_layout {
	bool swap;          /* data is of the other byte order */
	bool big_endian;    /* data is big-endian */
	uint8_t long_size;  /* 4 or 8 */
	const struct printk_format *printks; /* by address */
	size_t printk_count;
};

/* A record being printed. */
struct trace_context {
	const struct trace_layout *layout;
	const uint8_t *data;
	uint32_t size;
	const struct tracepoint_names *names; /* NULL: none */
	struct writer *out;
};

struct tep_handle;
struct tep_event;

/* The library's parse of an event, turned into our own (in the arena). */
struct trace_event *event_compile(const struct tep_event *from, const struct trace_layout *layout, struct arena *arena);
/* Whether the library can be trusted with a format's text: it crashes on some that no kernel writes. */
bool format_is_sane(const char *text, size_t len);

/* Reading; what lies outside of the data is 0 or empty. */
uint64_t context_number(const struct trace_context *c, uint64_t offset, uint32_t size);
uint64_t context_eval(const struct trace_context *c, const struct trace_node *node);
/* Where a dynamic field's data lies: within the record. */
struct span context_dynamic(const struct trace_context *c, const struct tracepoint_field *field);
const char *context_printk(const struct trace_context *c, uint64_t address);

void event_print(const struct trace_context *c, const struct trace_event *event);
void piece_print(const struct trace_context *c, const struct trace_piece *piece);
void piece_print_pointer(const struct trace_context *c, const struct trace_piece *piece);
void field_print_raw(const struct trace_context *c, const struct tracepoint_field *field);
