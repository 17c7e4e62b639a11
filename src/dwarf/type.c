#include "dwarf/type.h"

#include "dwarf/abbrev.h"
#include "dwarf/constants.h"
#include "dwarf/form.h"
#include "dwarf/location.h"

enum { STEPS_MAX = 64, NESTING_MAX = 16, MEMBERS_MAX = 1 << 16 };

static bool type_of(const struct dwarf_die *die, struct dwarf_die *type)
{
	struct dwarf_datum datum;
	if (!dwarf_die_get_any(die, DW_AT_type, &datum) || !dwarf_datum_reference(&datum, type))
		return false;
	dwarf_die_reference(type, DW_AT_signature, type); /* a declaration of what a type unit describes */
	return true;
}

static bool is_qualifier(uint16_t tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type || tag == DW_TAG_shared_type ||
		tag == DW_TAG_atomic_type;
}

static bool type_without(const struct dwarf_die *die, struct dwarf_die *type, bool typedefs)
{
	struct dwarf_die at = *die;
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		if (!type_of(&at, &at))
			return false;
		uint16_t tag = dwarf_die_tag(&at);
		if (!is_qualifier(tag) && (!typedefs || tag != DW_TAG_typedef)) {
			*type = at;
			return true;
		}
	}
	return false;
}

bool dwarf_type_plain(const struct dwarf_die *die, struct dwarf_die *type)
{
	return type_without(die, type, false);
}

bool dwarf_type_real(const struct dwarf_die *die, struct dwarf_die *type)
{
	return type_without(die, type, true);
}

bool dwarf_type_is_structure(uint16_t tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

bool dwarf_type_is_signed(const struct dwarf_die *type)
{
	uint64_t encoding;
	return dwarf_die_number(type, DW_AT_encoding, &encoding) &&
		(encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || encoding == DW_ATE_signed_fixed);
}

/* The number of elements of one dimension; false: unknown. */
static bool dimension_of(const struct dwarf_die *range, uint64_t *count)
{
	if (dwarf_die_number(range, DW_AT_count, count))
		return true;
	return dwarf_die_number(range, DW_AT_upper_bound, count) && ++*count;
}

/* The number of elements of an array, over all its dimensions; 0: unknown. */
static uint64_t array_count(const struct dwarf_die *array)
{
	struct dwarf_walk walk = dwarf_walk_of(array);
	struct dwarf_die die;
	uint64_t count = 1, n;
	for (; dwarf_walk_next(&walk, &die); walk.skip = true)
		if (dwarf_die_tag(&die) == DW_TAG_subrange_type && (!dimension_of(&die, &n) || __builtin_mul_overflow(count, n, &count)))
			return 0;
	return count;
}

unsigned dwarf_type_dimensions(const struct dwarf_die *array, uint64_t *counts, unsigned max)
{
	struct dwarf_walk walk = dwarf_walk_of(array);
	struct dwarf_die die;
	unsigned count = 0;
	if (dwarf_die_tag(array) != DW_TAG_array_type)
		return 0;
	for (; count < max && dwarf_walk_next(&walk, &die); walk.skip = true) {
		if (dwarf_die_tag(&die) != DW_TAG_subrange_type)
			continue;
		/* the number of the first dimension has no effect on places, and may be unknown */
		if (!dimension_of(&die, &counts[count]) && count)
			return 0;
		count++;
	}
	return count;
}

bool dwarf_type_size(const struct dwarf_die *type, uint64_t *size)
{
	struct dwarf_die at = *type;
	uint64_t factor = 1;
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		uint16_t tag = dwarf_die_tag(&at);
		if (dwarf_die_number(&at, DW_AT_byte_size, size))
			return !__builtin_mul_overflow(*size, factor, size);
		if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) {
			*size = factor * at.unit->address_size;
			return true;
		}
		if (tag == DW_TAG_array_type) {
			uint64_t count = array_count(&at);
			if (!count || __builtin_mul_overflow(factor, count, &factor))
				return false;
		} else if (tag != DW_TAG_typedef && tag != DW_TAG_enumeration_type && !is_qualifier(tag)) {
			return false;
		}
		if (!type_of(&at, &at))
			return false;
	}
	return false;
}

/* left: of the members that are looked at in total, since structures can contain each other in damaged files. */
static bool member_below(const struct dwarf_die *type, const char *name, struct dwarf_die *member, unsigned depth, unsigned *left)
{
	struct dwarf_walk walk = dwarf_walk_of(type);
	struct dwarf_die die, inner;
	for (; *left && dwarf_walk_next(&walk, &die); walk.skip = true) {
		--*left; /* before those below, which may use up what is left */
		uint16_t tag = dwarf_die_tag(&die);
		const char *own = tag == DW_TAG_member ? dwarf_die_name(&die) : NULL;
		bool transparent = tag == DW_TAG_inheritance || (tag == DW_TAG_member && !own);
		if (own ? strcmp(own, name) != 0 : !transparent)
			continue;
		if (own || (depth < NESTING_MAX && dwarf_type_real(&die, &inner) && dwarf_type_is_structure(dwarf_die_tag(&inner)) &&
			   member_below(&inner, name, member, depth + 1, left))) {
			*member = die;
			return true;
		}
	}
	return false;
}

bool dwarf_type_member(const struct dwarf_die *type, const char *name, struct dwarf_die *member)
{
	unsigned left = MEMBERS_MAX;
	return member_below(type, name, member, 0, &left);
}

bool dwarf_member_offset(const struct dwarf_die *member, uint64_t *offset)
{
	struct dwarf_datum datum;
	struct dwarf_operation operation;
	*offset = 0;
	if (!dwarf_die_get(member, DW_AT_data_member_location, &datum))
		return true; /* of a union, or a bit field */
	if (datum.kind == VALUE_NUMBER) {
		*offset = datum.number;
		return true;
	}
	if (dwarf_operations(member->unit, datum.bytes, &operation, 1) != 1 || operation.code != DW_OP_plus_uconst)
		return false;
	*offset = operation.number;
	return true;
}

bool dwarf_member_bits(const struct dwarf_die *member, struct dwarf_bits *bits)
{
	uint64_t count, at, size, offset;
	struct dwarf_die type;
	if (!dwarf_die_number(member, DW_AT_bit_size, &count) || !count || count > 64)
		return false;
	if (!dwarf_die_number(member, DW_AT_byte_size, &size) && (!dwarf_type_real(member, &type) || !dwarf_type_size(&type, &size)))
		return false;
	if (!size || size > 8 || count > size * 8)
		return false;
	if (dwarf_die_number(member, DW_AT_bit_offset, &at)) { /* DWARF 3: counted from the most significant bit of the unit */
		if (!dwarf_member_offset(member, &offset) || at + count > size * 8)
			return false;
		at = offset * 8 + size * 8 - at - count;
	} else if (!dwarf_die_number(member, DW_AT_data_bit_offset, &at)) {
		return false;
	}
	uint64_t unit = at / (size * 8) * size;
	if (at - unit * 8 + count > size * 8) /* a packed field that crosses its unit */
		unit = at / 8;
	if (at - unit * 8 + count > size * 8)
		return false;
	*bits = (struct dwarf_bits){ .offset = unit, .size = size, .shift = (uint32_t)(at - unit * 8), .count = (uint32_t)count };
	return true;
}

static bool type_text(const struct dwarf_die *type, struct str *name, unsigned depth)
{
	const char *own = dwarf_die_name(type), *after = NULL, *before = "";
	switch (dwarf_die_tag(type)) {
	case DW_TAG_pointer_type:
		after = "*";
		break;
	case DW_TAG_reference_type:
		after = "&";
		break;
	case DW_TAG_rvalue_reference_type:
		after = "&&";
		break;
	case DW_TAG_array_type:
		after = "[]";
		break;
	case DW_TAG_subroutine_type:
		str_puts(name, "(function_type)");
		return true;
	case DW_TAG_structure_type:
		before = "struct ";
		break;
	case DW_TAG_union_type:
		before = "union ";
		break;
	case DW_TAG_enumeration_type:
		before = "enum ";
		break;
	default:
		if (!own)
			return false;
	}
	if (!after) {
		str_printf(name, "%s%s", before, own ? own : "");
		return true;
	}
	struct dwarf_die target;
	bool named = depth < STEPS_MAX && dwarf_type_plain(type, &target) && type_text(&target, name, depth + 1);
	if (!named && dwarf_die_tag(type) == DW_TAG_pointer_type && !type_of(type, &target)) {
		str_puts(name, "void");
		named = true;
	}
	str_puts(name, named ? after : "");
	return named;
}

bool dwarf_type_text(const struct dwarf_die *type, struct str *name)
{
	size_t before = name->len;
	if (type_text(type, name, 0))
		return true;
	if (name->text)
		name->text[name->len = before] = '\0';
	return false;
}

bool dwarf_type_name(const struct dwarf_die *die, struct str *name)
{
	struct dwarf_die type;
	return dwarf_type_plain(die, &type) && dwarf_type_text(&type, name);
}
