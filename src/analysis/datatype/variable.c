#include "analysis/datatype/variable.h"

#include "dwarf/constants.h"
#include "dwarf/location.h"
#include "dwarf/type.h"

enum { OPERATIONS_MAX = 8, MEMBER_DEPTH_MAX = 32, VARIABLES_MAX = 1 << 12 };

size_t variable_scopes(struct dwarf *dwarf, uint64_t address, struct dwarf_die scopes[static SCOPES_MAX])
{
	struct dwarf_die calls[SCOPES_MAX], die;
	size_t count = dwarf_scopes(dwarf, address, calls, SCOPES_MAX);
	if (!count)
		return 0;
	scopes[0] = calls[count - 1];
	count = 1;
	struct dwarf_walk walk = dwarf_walk_of(&scopes[0]);
	while (count < SCOPES_MAX && dwarf_walk_next(&walk, &die) && walk.depth == count) {
		walk.skip = !dwarf_die_contains(&die, address);
		if (!walk.skip)
			scopes[count++] = die;
	}
	return count;
}

/* Reads an expression; false: it is empty, or computes more than a place. */
static bool read_place(struct dwarf_unit *unit, struct span expression, struct dwarf_operation *first)
{
	struct dwarf_operation operations[OPERATIONS_MAX];
	size_t count = dwarf_operations(unit, expression, operations, OPERATIONS_MAX);
	if (!count || count == OPERATIONS_MAX)
		return false;
	for (size_t i = 1; i < count; i++)
		if (operations[i].code != DW_OP_stack_value && operations[i].code != DW_OP_deref_size && operations[i].code != DW_OP_deref &&
			operations[i].code != DW_OP_piece)
			return false;
	*first = operations[0];
	return true;
}

static int32_t place_of(const struct dwarf_operation *operation, int64_t *offset)
{
	*offset = 0;
	if (operation->code >= DW_OP_reg0 && operation->code <= DW_OP_reg31)
		return operation->code - DW_OP_reg0;
	if (operation->code == DW_OP_regx)
		return operation->number < AT_FRAME ? (int32_t)operation->number : AT_UNKNOWN;
	*offset = (int64_t)operation->number;
	if (operation->code >= DW_OP_breg0 && operation->code <= DW_OP_breg31)
		return operation->code - DW_OP_breg0;
	if (operation->code == DW_OP_fbreg)
		return AT_FRAME;
	*offset = (int64_t)operation->second;
	return operation->code == DW_OP_bregx && operation->number < AT_FRAME ? (int32_t)operation->number : AT_UNKNOWN;
}

bool type_is_pointer(const struct dwarf_die *type)
{
	uint16_t tag = dwarf_die_tag(type);
	return tag == DW_TAG_pointer_type || tag == DW_TAG_array_type;
}

bool type_size(const struct dwarf_die *type, uint64_t *size)
{
	struct dwarf_die real = *type;
	if (dwarf_die_tag(type) == DW_TAG_typedef && !dwarf_type_real(type, &real))
		return false;
	return dwarf_type_size(&real, size);
}

/* Whether `at` is inside the variable that begins at `start`, or (target) inside the target of the pointer; *offset: from its start. */
static bool is_inside(const struct dwarf_die *variable, uint64_t at, uint64_t start, bool target, int64_t *offset)
{
	struct dwarf_die type;
	uint64_t size;
	*offset = (int64_t)(at - start);
	if (at == start)
		return true;
	if (at < start || !dwarf_type_real(variable, &type))
		return false;
	if (target && dwarf_die_tag(&type) == DW_TAG_pointer_type && !dwarf_type_real(&type, &type))
		return false;
	return dwarf_type_size(&type, &size) && at < start + size;
}

static bool is_variable(const struct dwarf_die *die)
{
	return dwarf_die_tag(die) == DW_TAG_variable || dwarf_die_tag(die) == DW_TAG_formal_parameter;
}

static bool is_at_register(const struct dwarf_die *die, uint64_t address, int reg, bool framed, int64_t *offset)
{
	struct dwarf_datum datum;
	struct dwarf_operation op;
	struct span expression;
	int64_t start, inside;
	if (!is_variable(die) || !dwarf_die_get(die, DW_AT_location, &datum) || !dwarf_location_at(&datum, address, &expression) ||
		!read_place(datum.unit, expression, &op))
		return false;
	int32_t place = place_of(&op, &start);
	bool in_register = op.code <= DW_OP_reg31 || op.code == DW_OP_regx;
	bool matches = place == AT_FRAME ? framed : place == reg;
	if (place == AT_UNKNOWN || !matches || !is_inside(die, (uint64_t)*offset, (uint64_t)start, in_register, &inside))
		return false;
	*offset = inside;
	return true;
}

bool variable_by_register(const struct dwarf_die *scope, uint64_t address, int reg, bool framed, int64_t *offset,
	struct dwarf_die *variable)
{
	struct dwarf_walk walk = dwarf_walk_of(scope);
	for (; dwarf_walk_next(&walk, variable); walk.skip = true)
		if (is_at_register(variable, address, reg, framed, offset))
			return true;
	return false;
}

bool variable_address(const struct dwarf_die *variable, uint64_t *address)
{
	struct dwarf_datum datum;
	struct dwarf_operation op;
	if (dwarf_die_tag(variable) != DW_TAG_variable || !dwarf_die_get(variable, DW_AT_location, &datum))
		return false;
	struct dwarf_locations locations = dwarf_locations_of(&datum);
	uint64_t low, high;
	struct span expression;
	if (!dwarf_locations_next(&locations, &low, &high, &expression) || !read_place(datum.unit, expression, &op) || op.code != DW_OP_addr)
		return false;
	*address = op.number;
	return true;
}

bool variable_by_address(const struct dwarf_die *scope, uint64_t data, int64_t *offset, struct dwarf_die *variable)
{
	struct dwarf_walk walk = dwarf_walk_of(scope);
	uint64_t start;
	for (; dwarf_walk_next(&walk, variable); walk.skip = true)
		if (variable_address(variable, &start) && is_inside(variable, data, start, false, offset))
			return true;
	return false;
}

void variable_collect(const struct dwarf_die *scope, struct variables *variables)
{
	struct dwarf_walk walk = dwarf_walk_of(scope);
	struct dwarf_die die;
	for (; variables->list.count < VARIABLES_MAX && dwarf_walk_next(&walk, &die); walk.skip = true) {
		struct variable variable;
		struct dwarf_datum datum;
		struct dwarf_operation op;
		struct span expression;
		uint64_t high;
		if (!is_variable(&die) || !dwarf_die_get(&die, DW_AT_location, &datum))
			continue;
		struct dwarf_locations locations = dwarf_locations_of(&datum);
		if (!dwarf_locations_next(&locations, &variable.from, &high, &expression) || !read_place(datum.unit, expression, &op) ||
			!dwarf_type_real(&die, &variable.type))
			continue;
		variable.place = place_of(&op, &variable.offset);
		vec_push(&variables->list, variable);
	}
}

bool type_is_better(const struct dwarf_die *a, const struct dwarf_die *b)
{
	struct dwarf_die target_a = *a, target_b = *b;
	uint64_t size_a, size_b;
	if (type_is_pointer(a) != type_is_pointer(b))
		return type_is_pointer(b);
	if (type_is_pointer(b)) {
		if (!dwarf_type_real(a, &target_a))
			return true;
		if (!dwarf_type_real(b, &target_b))
			return false;
	}
	if (!dwarf_type_size(&target_a, &size_a) || !dwarf_type_size(&target_b, &size_b))
		return false;
	if (size_a != size_b)
		return size_a < size_b;
	bool has_members = dwarf_type_is_structure(dwarf_die_tag(&target_b));
	if (dwarf_type_is_structure(dwarf_die_tag(&target_a)) != has_members)
		return has_members;
	return dwarf_die_tag(&target_b) == DW_TAG_typedef;
}

uint64_t member_offset(const struct dwarf_die *member)
{
	uint64_t offset;
	if (!dwarf_die_has(member, DW_AT_data_member_location) && dwarf_die_number(member, DW_AT_data_bit_offset, &offset))
		return offset / 8;
	return dwarf_member_offset(member, &offset) ? offset : 0;
}

static bool find_member(const struct dwarf_die *type, uint64_t offset, struct dwarf_die *member)
{
	struct dwarf_walk walk = dwarf_walk_of(type);
	for (; dwarf_walk_next(&walk, member); walk.skip = true) {
		struct dwarf_die real;
		uint64_t start, size;
		if (dwarf_die_tag(member) != DW_TAG_member)
			continue;
		start = member_offset(member);
		if (offset == start)
			return true;
		if (offset > start && dwarf_type_real(member, &real) && dwarf_type_size(&real, &size) && offset - start < size)
			return true;
	}
	return false;
}

bool type_member(const struct dwarf_die *type, int64_t offset, struct dwarf_die *out)
{
	struct dwarf_die at = *type, member;
	uint64_t size;
	if (!dwarf_type_is_structure(dwarf_die_tag(type))) {
		*out = at;
		return dwarf_type_size(type, &size) && (uint64_t)offset < size;
	}
	for (unsigned depth = 0; depth < MEMBER_DEPTH_MAX && dwarf_type_is_structure(dwarf_die_tag(&at)); depth++) {
		if (!find_member(&at, (uint64_t)offset, &member) || !dwarf_type_real(&member, &at))
			return false;
		if (dwarf_die_has(&member, DW_AT_data_member_location))
			offset -= (int64_t)member_offset(&member);
	}
	*out = at;
	return true;
}

bool type_target_member(const struct dwarf_die *pointer, int64_t offset, struct dwarf_die *member)
{
	struct dwarf_die target;
	return dwarf_die_tag(pointer) == DW_TAG_pointer_type && dwarf_type_real(pointer, &target) && type_member(&target, offset, member);
}
