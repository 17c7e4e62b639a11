/* A small table of types for tests. */
#pragma once
#include "elf/btf_types.h"

/* Made of struct node { struct node *next; const int a; union { long x; char text[8]; }; unsigned bit : 3; } and
 * int work(struct node *n, unsigned char c), struct node *make(void), void drop(void), struct node copy(void). */
static const char BTF_NAMES[] = "\0int\0node\0next\0a\0x\0text\0bit\0work\0n\0c\0long\0char\0unsigned char\0make\0drop\0copy";
enum { INT_NAME = 1, NODE = 5, NEXT = 10, A = 15, X = 17, TEXT = 19, BIT = 24, WORK = 28, N = 33, C = 35, LONG = 37, CHAR = 42,
	UCHAR = 47, MAKE = 61, DROP = 66, COPY = 71 };
enum { INT = 1, NODE_TYPE, NODE_POINTER, CONST_INT, LONG_TYPE, CHAR_TYPE, TEXT_TYPE, PLACE, UCHAR_TYPE, WORK_TYPE, WORK_FUNCTION,
	MAKE_TYPE, MAKE_FUNCTION, DROP_TYPE, DROP_FUNCTION, COPY_TYPE, COPY_FUNCTION };

#define SIGNED_INT(bits) (1u << 24 | (bits))
#define BTF_INFO(kind, count) ((uint32_t)(kind) << 24 | (count))
#define BTF_FLAG 0x80000000u

static const uint32_t BTF_TYPES[] = {
	INT_NAME, BTF_INFO(BTF_INT, 0), 4, SIGNED_INT(32),
	NODE, BTF_INFO(BTF_STRUCT, 4) | BTF_FLAG, 32, NEXT, NODE_POINTER, 0, A, CONST_INT, 64, 0, PLACE, 128, BIT, INT, 3u << 24 | 194,
	0, BTF_INFO(BTF_POINTER, 0), NODE_TYPE,
	0, BTF_INFO(BTF_CONST, 0), INT,
	LONG, BTF_INFO(BTF_INT, 0), 8, SIGNED_INT(64),
	CHAR, BTF_INFO(BTF_INT, 0), 1, SIGNED_INT(8),
	0, BTF_INFO(BTF_ARRAY, 0), 0, CHAR_TYPE, INT, 8,
	0, BTF_INFO(BTF_UNION, 2), 8, X, LONG_TYPE, 0, TEXT, TEXT_TYPE, 0,
	UCHAR, BTF_INFO(BTF_INT, 0), 1, 8,
	0, BTF_INFO(BTF_PROTOTYPE, 2), INT, N, NODE_POINTER, C, UCHAR_TYPE,
	WORK, BTF_INFO(BTF_FUNCTION, 1), WORK_TYPE,
	0, BTF_INFO(BTF_PROTOTYPE, 0), NODE_POINTER, MAKE, BTF_INFO(BTF_FUNCTION, 1), MAKE_TYPE,
	0, BTF_INFO(BTF_PROTOTYPE, 0), 0, DROP, BTF_INFO(BTF_FUNCTION, 1), DROP_TYPE,
	0, BTF_INFO(BTF_PROTOTYPE, 0), NODE_TYPE, COPY, BTF_INFO(BTF_FUNCTION, 1), COPY_TYPE,
};

struct btf_made {
	struct { uint16_t magic; uint8_t version, flags; uint32_t header, types, types_size, names, names_size; } head;
	uint32_t types[sizeof BTF_TYPES / sizeof *BTF_TYPES];
	char names[sizeof BTF_NAMES];
};

static inline struct btf_made btf_make(void)
{
	struct btf_made made = { .head = { .magic = 0xeb9f, .version = 1, .header = 24, .types_size = sizeof BTF_TYPES, .names = sizeof BTF_TYPES,
		.names_size = sizeof BTF_NAMES } };
	memcpy(made.types, BTF_TYPES, sizeof BTF_TYPES);
	memcpy(made.names, BTF_NAMES, sizeof BTF_NAMES);
	return made;
}
