/* The compiled format of one event: its fields, and the conversions of its print format. Immutable after event_compile, and stored in the
 * arena of its tracepoints. */
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
	FIELD_DYNAMIC = 1 << 4,  /* the field holds the offset and length of its data */
	FIELD_LONG = 1 << 5,
	FIELD_RELATIVE = 1 << 6, /* FIELD_DYNAMIC, with an offset that counts from the field's end */
};

struct tracepoint_field {
	const char *name, *type;
	const struct trace_event *event;
	uint32_t offset, size, element_size;
	unsigned flags;
	const struct trace_piece *piece; /* the conversion that prints the field in the event's text; NULL: the text does not contain the field */
	bool prefix_0x;                  /* the text has "0x" before that conversion */
};

enum node_kind {
	NODE_NOTHING,
	NODE_TEXT,         /* a literal: its text, and its value as a number */
	NODE_FIELD,
	NODE_CAST,         /* left & mask */
	NODE_OPERATOR,     /* left op right */
	NODE_CHOICE,       /* left ? right : other */
	NODE_ELEMENT,      /* field[right] & mask */
	NODE_FLAGS,        /* names of the bits of left, separated by `text` */
	NODE_SYMBOL,       /* the name for the value of left */
	NODE_HEX,          /* `right` bytes of left in hexadecimal */
	NODE_HEX_JOINED,   /* the same without spaces */
	NODE_INTEGERS,     /* `right` numbers of `other` bytes each, starting at left */
	NODE_STRING,       /* a string of variable length */
	NODE_BITMASK,
	NODE_CPUMASK,
	NODE_ARRAY,        /* data of variable length */
	NODE_ARRAY_LENGTH,
};

enum node_operator {
	OPERATOR_NONE, /* an operator that libtraceevent accepts and evaluates to 0 */
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
	uint8_t origin;    /* libtraceevent's number for the kind, which some error texts contain */
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
	bool plain;         /* the conversion has no flags, width or precision: "%s", "%lld" */
	uint32_t text_len;  /* TEXT */
	const char *format; /* the printf conversion, or the text; POINTER: the characters after "%p" */
	const struct trace_node *value, *width; /* width: the argument of a '*'; NULL: absent */
};

struct trace_event {
	uint64_t id;
	const struct trace_layout *layout;
	const char *system, *name;
	struct tracepoint_field *fields; /* the common fields first */
	uint32_t field_count, common_count;
	const struct trace_piece *pieces;
	uint32_t piece_count;
	bool failed; /* the print format is invalid: fields are printed raw */
};

struct printk_format {
	uint64_t address;
	const char *text;
};

/* The byte order and sizes of the recorded machine, and the strings that its kernel published. */
struct trace_layout {
	bool swap;          /* data has the other byte order */
	bool big_endian;
	uint8_t long_size;  /* 4 or 8 bytes */
	const struct printk_format *printks; /* sorted by address */
	size_t printk_count;
};

/* The record that is printed. */
struct trace_context {
	const struct trace_layout *layout;
	const uint8_t *data;
	uint32_t size;
	const struct tracepoint_names *names; /* NULL: addresses are not symbolized */
	struct writer *out;
};

struct tep_handle;
struct tep_event;

/* Compiles an event that libtraceevent parsed into nodes and conversions in the arena. */
struct trace_event *event_compile(const struct tep_event *from, const struct trace_layout *layout, struct arena *arena);
/* Whether libtraceevent can parse the format without crashing. Every format that a kernel writes passes. */
bool format_is_sane(const char *text, size_t len);

/* Functions that read the record: data beyond its end is 0 or empty. */
uint64_t context_number(const struct trace_context *c, uint64_t offset, uint32_t size);
uint64_t context_eval(const struct trace_context *c, const struct trace_node *node);
/* Returns the data of a FIELD_DYNAMIC field, within the record. */
struct span context_dynamic(const struct trace_context *c, const struct tracepoint_field *field);
/* Returns the string that the kernel published at this address, or NULL. */
const char *context_printk(const struct trace_context *c, uint64_t address);

void event_print(const struct trace_context *c, const struct trace_event *event);
void piece_print(const struct trace_context *c, const struct trace_piece *piece);
void piece_print_pointer(const struct trace_context *c, const struct trace_piece *piece);
void field_print_raw(const struct trace_context *c, const struct tracepoint_field *field);
