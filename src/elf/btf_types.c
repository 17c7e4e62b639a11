#include "elf/btf_types.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/vec.h"

enum { MAGIC = 0xeb9f, HEADER_SIZE = 24, COMMON_SIZE = 12, DEPTH_MAX = 32, SIGNED = 1, STRUCTS_MAX = 4096 };

static const char *name_at(const struct btf_types *types, uint32_t at)
{
	for (; types->base && at < types->base->names.len; types = types->base)
		;
	uint64_t own = types->base ? (uint64_t)at - types->base->names.len : at;
	if (own >= types->names.len || !memchr(types->names.data + own, 0, types->names.len - own))
		return "";
	return (const char *)types->names.data + own;
}

/* What follows the common part of a type, in bytes; SIZE_MAX: unknown kind. */
static size_t more_size(uint32_t kind, uint32_t count)
{
	switch (kind) {
	case BTF_INT: case BTF_VARIABLE: case BTF_DECL_TAG: return 4;
	case BTF_ARRAY: return 12;
	case BTF_STRUCT: case BTF_UNION: case BTF_SECTION: case BTF_ENUM64: return 12 * (size_t)count;
	case BTF_ENUM: case BTF_PROTOTYPE: return 8 * (size_t)count;
	case BTF_POINTER: case BTF_FORWARD: case BTF_TYPEDEF: case BTF_VOLATILE: case BTF_CONST: case BTF_RESTRICT: case BTF_FUNCTION:
	case BTF_FLOAT: case BTF_TYPE_TAG: return 0;
	default: return SIZE_MAX;
	}
}

/* Reads a type; false: it does not fit. */
static bool read_type(const struct btf_types *types, struct cursor *c, struct btf_type *type)
{
	uint32_t name = take_u32(c), info = take_u32(c);
	*type = (struct btf_type){ .kind = info >> 24 & 0x1f, .count = info & 0xffff, .flag = info >> 31, .size = take_u32(c), .of = types };
	size_t more = more_size(type->kind, type->count);
	const uint8_t *bytes = more == SIZE_MAX ? NULL : take(c, more);
	type->more = (struct span){ .data = bytes, .len = more };
	type->name = name_at(types, name);
	return bytes && !c->short_read;
}

static int index_types(struct btf_types *types, struct error *err)
{
	VEC(uint32_t) at = { 0 };
	struct cursor c = cursor_of(types->types.data, types->types.len, types->swap);
	struct btf_type type;
	while (cursor_left(&c)) {
		vec_push(&at, (uint32_t)c.at);
		if (!read_type(types, &c, &type)) {
			vec_fini(&at);
			return error_set(err, ERROR_FORMAT, "BTF: type %zu is damaged, or of a kind that is not known", at.count);
		}
	}
	types->at = at.items;
	types->count = (uint32_t)at.count;
	return 0;
}

int btf_types_open(struct btf_types *types, struct span bytes, const struct btf_types *base, struct error *err)
{
	struct cursor c = cursor_of(bytes.data, bytes.len, false);
	*types = (struct btf_types){ .base = base, .first = base ? base->first + base->count : 1 };
	uint16_t magic = take_u16(&c);
	c.swap = types->swap = magic == __builtin_bswap16(MAGIC);
	take_u16(&c); /* version, flags */
	uint64_t header = take_u32(&c), at = header + take_u32(&c), size = take_u32(&c), names = header + take_u32(&c), length = take_u32(&c);
	if ((magic != MAGIC && !types->swap) || c.short_read || header < HEADER_SIZE || at > bytes.len || size > bytes.len - at ||
	    names > bytes.len || length > bytes.len - names)
		return error_set(err, ERROR_FORMAT, "BTF: the header is damaged");
	types->types = (struct span){ .data = bytes.data + at, .len = size };
	types->names = (struct span){ .data = bytes.data + names, .len = length };
	return index_types(types, err);
}

void btf_types_close(struct btf_types *types)
{
	free(types->at);
	*types = (struct btf_types){ 0 };
}

bool btf_types_get(const struct btf_types *types, uint32_t id, struct btf_type *type)
{
	*type = (struct btf_type){ .kind = BTF_VOID, .name = "void", .of = types };
	if (id == 0)
		return true;
	while (types->base && id < types->first)
		types = types->base;
	if (id < types->first || id - types->first >= types->count)
		return false;
	struct cursor c = cursor_of(types->types.data, types->types.len, types->swap);
	c.at = types->at[id - types->first];
	bool read = read_type(types, &c, type);
	type->id = id;
	return read;
}

static uint32_t number_at(const struct btf_type *type, size_t at)
{
	struct cursor c = cursor_of(type->more.data, type->more.len, type->of->swap);
	c.at = at <= c.len ? at : c.len;
	return take_u32(&c);
}

bool btf_types_function(const struct btf_types *types, const char *name, struct btf_type *prototype)
{
	struct btf_type function;
	for (uint32_t i = 0; i < types->count; i++)
		if (btf_types_get(types, types->first + i, &function) && function.kind == BTF_FUNCTION && strcmp(function.name, name) == 0)
			return btf_types_get(types, function.size, prototype) && prototype->kind == BTF_PROTOTYPE;
	return false;
}

bool btf_types_real(const struct btf_types *types, uint32_t id, struct btf_type *type)
{
	for (unsigned depth = 0; depth < DEPTH_MAX && btf_types_get(types, id, type); depth++) {
		bool passed = type->kind == BTF_TYPEDEF || type->kind == BTF_CONST || type->kind == BTF_VOLATILE || type->kind == BTF_RESTRICT ||
			type->kind == BTF_TYPE_TAG;
		if (!passed)
			return true;
		id = type->size;
	}
	return false;
}

bool btf_type_field(const struct btf_type *type, uint32_t index, struct btf_field *field)
{
	bool parameter = type->kind == BTF_PROTOTYPE;
	if ((!parameter && type->kind != BTF_STRUCT && type->kind != BTF_UNION) || index >= type->count)
		return false;
	size_t at = (parameter ? 8 : 12) * (size_t)index;
	uint32_t offset = parameter ? 0 : number_at(type, at + 8);
	*field = (struct btf_field){ .name = name_at(type->of, number_at(type, at)), .type = number_at(type, at + 4),
		.offset_bits = type->flag && !parameter ? offset & 0xffffff : offset, .bits = type->flag && !parameter ? offset >> 24 : 0 };
	return true;
}

bool btf_type_element(const struct btf_type *array, uint32_t *type, uint32_t *length)
{
	if (array->kind != BTF_ARRAY)
		return false;
	*type = number_at(array, 0);
	*length = number_at(array, 8);
	return true;
}

/* left: structures that may still be looked at; those of hostile bytes may contain each other. */
static bool find_member(const struct btf_types *types, const struct btf_type *structure, const char *name, unsigned depth, unsigned *left,
	struct btf_field *field)
{
	struct btf_type inner;
	for (uint32_t i = 0; *left && btf_type_field(structure, i, field); i++) {
		if (strcmp(field->name, name) == 0)
			return true;
		if (*field->name || depth == DEPTH_MAX || !btf_types_real(types, field->type, &inner))
			continue;
		uint32_t offset = field->offset_bits;
		--*left;
		if (find_member(types, &inner, name, depth + 1, left, field)) {
			field->offset_bits += offset;
			return true;
		}
	}
	return false;
}

bool btf_types_member(const struct btf_types *types, const struct btf_type *structure, const char *name, struct btf_field *field)
{
	unsigned left = STRUCTS_MAX;
	return *name && find_member(types, structure, name, 0, &left, field);
}

bool btf_types_size(const struct btf_types *types, uint32_t id, uint64_t *size)
{
	struct btf_type type;
	uint64_t times = 1;
	uint32_t length;
	for (unsigned depth = 0; depth < DEPTH_MAX && btf_types_real(types, id, &type); depth++) {
		switch (type.kind) {
		case BTF_INT: case BTF_STRUCT: case BTF_UNION: case BTF_ENUM: case BTF_ENUM64: case BTF_FLOAT:
			return !__builtin_mul_overflow(times, (uint64_t)type.size, size);
		case BTF_POINTER:
			return !__builtin_mul_overflow(times, (uint64_t)sizeof(void *), size);
		case BTF_ARRAY:
			if (!btf_type_element(&type, &id, &length) || __builtin_mul_overflow(times, (uint64_t)length, &times))
				return false;
			break;
		default:
			return false;
		}
	}
	return false;
}

bool btf_type_is_signed(const struct btf_type *type)
{
	if (type->kind == BTF_ENUM || type->kind == BTF_ENUM64)
		return type->flag;
	return type->kind == BTF_INT && number_at(type, 0) >> 24 & SIGNED;
}

void btf_types_name(const struct btf_types *types, uint32_t id, struct str *to)
{
	static const char *const before[] = { [BTF_STRUCT] = "struct ", [BTF_UNION] = "union ", [BTF_ENUM] = "enum ", [BTF_ENUM64] = "enum ",
		[BTF_FORWARD] = "struct ", [BTF_CONST] = "const ", [BTF_VOLATILE] = "volatile " };
	CLEANUP_STR struct str after = { 0 };
	struct btf_type type;
	uint32_t length;
	for (unsigned depth = 0; depth < DEPTH_MAX && btf_types_get(types, id, &type); depth++) {
		const char *word = (size_t)type.kind < sizeof before / sizeof *before ? before[type.kind] : NULL;
		bool follow = type.kind == BTF_POINTER || type.kind == BTF_ARRAY || type.kind == BTF_CONST || type.kind == BTF_VOLATILE ||
			type.kind == BTF_RESTRICT || type.kind == BTF_TYPE_TAG;
		id = type.size;
		if (type.kind == BTF_POINTER)
			str_puts(&after, "*");
		else if (btf_type_element(&type, &id, &length))
			str_printf(&after, "[%u]", length);
		else if (word)
			str_puts(to, type.kind == BTF_FORWARD && type.flag ? "union " : word);
		if (follow)
			continue;
		str_puts(to, type.kind == BTF_PROTOTYPE ? "(function_type)" : *type.name ? type.name : "(unnamed)");
		break;
	}
	for (size_t i = after.len; i-- > 0;) /* the innermost comes first in C */
		if (after.text[i] == '*')
			str_putc(to, '*');
	for (size_t i = 0; i < after.len; i++)
		if (after.text[i] != '*')
			str_putc(to, after.text[i]);
}
