#include "probe/variable.h"

#include <string.h>

#include "dwarf/constants.h"
#include "dwarf/form.h"
#include "dwarf/location.h"
#include "dwarf/type.h"
#include "elf/symtab.h"
#include "probe/lines.h"

enum { OPERATIONS_MAX = 16, DEREFERENCES_MAX = 32, FIELD_DEPTH = 16 };

/* A value that the kernel can fetch: memory at the last of `offsets`, each relative to the pointer that the one before finds, the first
 * relative to a register; or the register or number itself. */
struct location {
	const char *base;             /* a register or \NUMBER; NULL: memory of the program's file, or a symbol of the kernel */
	const char *symbol;           /* in the debug information */
	struct { int64_t offset; bool user; } steps[DEREFERENCES_MAX];
	unsigned count;
	unsigned shift;               /* of a register: the value begins at this bit */
};

struct context {
	struct probe_target *target;
	const struct probe_place *place;
	const struct probe_argument *argument;
	struct arena *arena;
	struct error *err;
};

static const char *keep(const struct context *c, const struct str *text)
{
	return arena_string(c->arena, str_text(text), text->len);
}

static const char *immediate(const struct context *c, int64_t number)
{
	CLEANUP_STR struct str text = { 0 };
	str_printf(&text, "\\%lld", (long long)number);
	return keep(c, &text);
}

static bool push(struct location *l, int64_t offset)
{
	if (l->count == DEREFERENCES_MAX)
		return false;
	l->steps[l->count].offset = offset;
	l->steps[l->count++].user = false;
	return true;
}

/* Sums of damaged offsets wrap. */
static void move(struct location *l, uint64_t bytes)
{
	int64_t *offset = &l->steps[l->count - 1].offset;
	*offset = (int64_t)((uint64_t)*offset + bytes);
}

/* The register and the offset that DW_OP_fbreg is relative to. */
static bool frame_base(const struct context *c, unsigned *reg, int64_t *offset)
{
	struct dwarf_datum datum;
	struct span expression;
	struct dwarf_operation op;
	if (!dwarf_die_get(&c->place->function, DW_AT_frame_base, &datum) ||
	    !dwarf_location_at(&datum, c->place->address, &expression) ||
	    dwarf_operations(c->place->function.unit, expression, &op, 1) != 1)
		return false;
	*offset = 0;
	if (op.code == DW_OP_call_frame_cfa)
		return probe_target_cfa(c->target, c->place->address, reg, offset);
	if (op.code >= DW_OP_reg0 && op.code <= DW_OP_reg31) {
		*reg = op.code - DW_OP_reg0;
	} else if (op.code >= DW_OP_breg0 && op.code <= DW_OP_breg31) {
		*reg = op.code - DW_OP_breg0;
		*offset = (int64_t)op.number;
	} else {
		return false;
	}
	return true;
}

static bool is_entry(const struct context *c)
{
	uint64_t entry;
	return dwarf_die_entry(&c->place->function, &entry) && entry == c->place->address;
}

/* The register in the block of DW_OP_entry_value, whose value at the function's entry is meant. */
static bool entry_register(const struct dwarf_operation *op, struct dwarf_unit *unit, unsigned *reg)
{
	struct dwarf_operation inner;
	if (dwarf_operations(unit, op->block, &inner, 1) != 1)
		return false;
	*reg = inner.code == DW_OP_regx ? (unsigned)inner.number : inner.code - DW_OP_reg0;
	return inner.code == DW_OP_regx || (inner.code >= DW_OP_reg0 && inner.code <= DW_OP_reg31);
}

/* The start of an expression: a register and an offset. memory: the sum is an address; otherwise the register holds the value. */
static bool first_operation(const struct context *c, const struct dwarf_operation *op, struct dwarf_unit *unit, unsigned *reg,
	int64_t *offset, bool *memory)
{
	*offset = 0;
	*memory = true;
	if (op->code >= DW_OP_breg0 && op->code <= DW_OP_breg31) {
		*reg = op->code - DW_OP_breg0;
		*offset = (int64_t)op->number;
	} else if (op->code == DW_OP_bregx) {
		*reg = (unsigned)op->number;
		*offset = (int64_t)op->second;
	} else if (op->code == DW_OP_call_frame_cfa) {
		return probe_target_cfa(c->target, c->place->address, reg, offset);
	} else if (op->code == DW_OP_fbreg) {
		if (!frame_base(c, reg, offset) || __builtin_add_overflow(*offset, (int64_t)op->number, offset))
			return false;
	} else if (op->code >= DW_OP_reg0 && op->code <= DW_OP_reg31) {
		*reg = op->code - DW_OP_reg0;
		*memory = false;
	} else if (op->code == DW_OP_regx) {
		*reg = (unsigned)op->number;
		*memory = false;
	} else if ((op->code == DW_OP_entry_value || op->code == DW_OP_GNU_entry_value) && is_entry(c)) {
		return entry_register(op, unit, reg);
	} else {
		return false;
	}
	return true;
}

static bool constant_value(const struct context *c, const struct dwarf_operation *ops, size_t count, struct location *l)
{
	uint64_t number;
	if (ops->code == DW_OP_implicit_value && ops->block.len <= 8 && ops->block.len && count == 1) {
		struct cursor block = cursor_of(ops->block.data, ops->block.len, c->target->image.elf.swap);
		number = take_number(&block, (unsigned)ops->block.len);
		if (block.short_read)
			return false;
	} else if (count == 2 && ops[1].code == DW_OP_stack_value && ops->code >= DW_OP_lit0 && ops->code <= DW_OP_lit31) {
		number = ops->code - DW_OP_lit0;
	} else if (count == 2 && ops[1].code == DW_OP_stack_value && ops->code >= DW_OP_const1u && ops->code <= DW_OP_consts) {
		number = ops->number;
	} else {
		return false;
	}
	l->base = immediate(c, (int64_t)number);
	return true;
}

static bool operations_locate(const struct context *c, struct dwarf_unit *unit, const struct dwarf_operation *ops, size_t count,
	struct location *l)
{
	unsigned reg;
	int64_t offset;
	bool memory;
	if (!count)
		return false;
	if (constant_value(c, ops, count, l))
		return true;
	if (!first_operation(c, &ops[0], unit, &reg, &offset, &memory))
		return false;
	l->base = probe_register(c->target->image.elf.machine, reg);
	if (!l->base || (!memory && count > 1))
		return false;
	for (size_t i = 1; i < count; i++) {
		if (ops[i].code == DW_OP_stack_value)
			return i == count - 1 && offset == 0;
		if (ops[i].code == DW_OP_deref) {
			if (!push(l, offset))
				return false;
			offset = 0;
		} else if (ops[i].code != DW_OP_plus_uconst || __builtin_add_overflow(offset, (int64_t)ops[i].number, &offset)) {
			return false;
		}
	}
	return !memory || push(l, offset);
}

/* Converts an expression; false: the kernel cannot compute it. */
static bool expression_locate(const struct context *c, struct dwarf_unit *unit, struct span expression, struct location *l)
{
	struct dwarf_operation ops[OPERATIONS_MAX];
	size_t count = dwarf_operations(unit, expression, ops, OPERATIONS_MAX);
	return count < OPERATIONS_MAX && operations_locate(c, unit, ops, count, l);
}

/* The same of `size` bytes at `offset` of a structure that is in a register, or in several places (DW_OP_piece). */
static bool part_locate(const struct context *c, struct dwarf_unit *unit, struct span expression, uint64_t offset, uint64_t size,
	struct location *l)
{
	struct dwarf_operation ops[OPERATIONS_MAX];
	size_t count = dwarf_operations(unit, expression, ops, OPERATIONS_MAX), first = 0, end = 0;
	uint64_t start = 0, length = 0;
	for (; end < count; first = ++end, start += length) {
		while (end < count && ops[end].code != DW_OP_piece)
			end++;
		length = end < count ? ops[end].number : sizeof(uint64_t);
		if (offset >= start && offset - start < length)
			break;
	}
	uint64_t within = offset - start;
	if (count == OPERATIONS_MAX || end > count || first == end || within >= length || size > length - within ||
	    !operations_locate(c, unit, ops + first, end - first, l))
		return false;
	if (l->count)
		move(l, within);
	else if (*l->base == '%' && within < sizeof(uint64_t) && size <= sizeof(uint64_t) - within)
		l->shift = (unsigned)within * 8;
	else
		return false;
	return true;
}

/* The address of a variable that the debug information only declares. */
static bool symbol_address(const struct context *c, const char *name, uint64_t *address)
{
	const struct elf *elf = &c->target->image.elf;
	const struct elf_section *section = elf_section(elf, ".symtab");
	struct elf_symtab tab = elf_symtab(elf, section ? section : elf_section(elf, ".dynsym"));
	for (uint32_t i = 1; i < tab.count; i++) {
		struct elf_symbol symbol = elf_symtab_get(&tab, i);
		if (symbol.type == STT_OBJECT && symbol.section != SHN_UNDEF && !strcmp(symbol.name, name)) {
			*address = symbol.value;
			return true;
		}
	}
	return false;
}

/* A variable at a fixed address: in programs by its distance from the file's start in memory, in the kernel by name. */
static bool static_locate(const struct context *c, const struct dwarf_die *variable, uint64_t address, bool known, struct location *l)
{
	const char *name = dwarf_die_name(variable);
	if (!name)
		return false;
	l->symbol = name;
	if (!c->target->kernel && !known) {
		const char *linkage = dwarf_die_linkage_name(variable);
		if (!symbol_address(c, linkage ? linkage : name, &address))
			return false;
	}
	return push(l, c->target->kernel ? 0 : (int64_t)(address - c->target->text_shift));
}

/* A parameter may have no location at the function's first instruction, but at a later one, which is used. */
static bool expression_of(const struct context *c, const struct dwarf_die *variable, const struct dwarf_datum *datum,
	struct span *expression)
{
	if (dwarf_location_at(datum, c->place->address, expression))
		return true;
	if (dwarf_die_tag(variable) != DW_TAG_formal_parameter || !is_entry(c))
		return false;
	struct dwarf_locations locations = dwarf_locations_of(datum);
	struct span found;
	uint64_t low, high, least = UINT64_MAX;
	while (dwarf_locations_next(&locations, &low, &high, &found))
		if (low > c->place->address && low < least && high > low && dwarf_die_contains(&c->place->function, low)) {
			least = low;
			*expression = found;
		}
	return least != UINT64_MAX;
}

/* Returns false if the variable has no value at the place that the kernel can fetch. */
static bool locate(const struct context *c, const struct dwarf_die *variable, struct location *l)
{
	struct dwarf_datum datum;
	struct span expression;
	struct dwarf_operation op;
	*l = (struct location){ 0 };
	bool external = dwarf_die_has(variable, DW_AT_external);
	if (!external && dwarf_die_get(variable, DW_AT_const_value, &datum) && datum.kind == VALUE_NUMBER) {
		l->base = immediate(c, dwarf_datum_signed(&datum));
		return true;
	}
	if (!dwarf_die_get(variable, DW_AT_location, &datum))
		return external && static_locate(c, variable, 0, false, l);
	if (!expression_of(c, variable, &datum, &expression))
		return false;
	if (dwarf_operations(datum.unit, expression, &op, 1) == 1 && op.code == DW_OP_addr)
		return static_locate(c, variable, op.number, true, l);
	return expression_locate(c, datum.unit, expression, l);
}

static bool is_variable(const struct dwarf_die *die, const char *name)
{
	uint16_t tag = dwarf_die_tag(die);
	if (tag != DW_TAG_formal_parameter && tag != DW_TAG_variable)
		return false;
	const char *own = dwarf_die_name(die);
	return own && !strcmp(own, name) &&
		(dwarf_die_has(die, DW_AT_external) || dwarf_die_has(die, DW_AT_location) || dwarf_die_has(die, DW_AT_const_value));
}

/* The variable of that name in the innermost block at the place; `inlined`: also in calls that are inlined into the scope. */
static bool find_local(const struct probe_place *place, const char *name, bool inlined, struct dwarf_die *variable)
{
	struct dwarf_walk walk = dwarf_walk_of(&place->scope);
	struct dwarf_die die;
	unsigned depth = 0;
	while (dwarf_walk_next(&walk, &die)) {
		uint16_t tag = dwarf_die_tag(&die);
		if (walk.depth > depth && is_variable(&die, name)) {
			*variable = die;
			depth = walk.depth;
		}
		walk.skip = tag == DW_TAG_inlined_subroutine ? !inlined || !dwarf_die_contains(&die, place->address) :
			tag != DW_TAG_lexical_block || !dwarf_die_contains(&die, place->address);
	}
	return depth != 0;
}

static bool find_global(const struct probe_place *place, const char *name, struct dwarf_die *variable)
{
	struct dwarf_walk walk = dwarf_walk_of(&place->unit);
	for (; dwarf_walk_next(&walk, variable); walk.skip = true)
		if (is_variable(variable, name))
			return true;
	return false;
}

static bool is_pointer(uint16_t tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static int wrong(const struct context *c, const char *text, const char *name)
{
	error_set(c->err, ERROR_USAGE, text, name);
	return -1;
}

static const char *type_name_of(const struct dwarf_die *type)
{
	const char *name = dwarf_die_name(type);
	return name ? name : "unnamed";
}

/* Follows one member; *at becomes the member. Unnamed members and base classes on the way are passed. */
static int follow_member(const struct context *c, const struct probe_field *field, const char *owner, struct location *l,
	struct dwarf_die *at)
{
	struct dwarf_die type, member;
	uint64_t offset;
	if (!dwarf_type_real(at, &type))
		return wrong(c, "Failed to get the type of %s.", owner);
	if (is_pointer(dwarf_die_tag(&type))) {
		bool reference = dwarf_die_tag(&type) != DW_TAG_pointer_type;
		if (!field->pointer && !reference)
			return wrong(c, "Semantic error: %s must be referred by '->'", field->name);
		if (!dwarf_type_real(&type, &type))
			return wrong(c, "%s points to no data structure.", owner);
		if (!push(l, 0))
			return wrong(c, "%s is behind too many pointers.", field->name);
	} else if (field->pointer) {
		return wrong(c, "Semantic error: %s must be referred by '.'", field->name);
	}
	for (unsigned depth = 0; depth < FIELD_DEPTH; depth++) {
		if (!dwarf_type_is_structure(dwarf_die_tag(&type)))
			return wrong(c, "%s is not a data structure nor a union.", owner);
		if (!l->count)
			return wrong(c, "Structure on a register is not supported yet: %s", owner);
		if (!dwarf_type_member(&type, field->name, &member)) {
			error_set(c->err, ERROR_USAGE, "%s(type:%s) has no member %s.", owner, type_name_of(&type), field->name);
			return -1;
		}
		if (!dwarf_member_offset(&member, &offset))
			return wrong(c, "Failed to get the offset of %s.", field->name);
		move(l, offset);
		l->steps[l->count - 1].user = c->argument->user;
		*at = member;
		const char *name = dwarf_die_tag(&member) == DW_TAG_member ? dwarf_die_name(&member) : NULL;
		if (name && !strcmp(name, field->name))
			return 0;
		if (!dwarf_type_real(&member, &type))
			break;
	}
	return wrong(c, "Failed to get the offset of %s.", field->name);
}

static int follow_element(const struct context *c, const struct probe_field *field, const char *owner, struct location *l,
	struct dwarf_die *at)
{
	struct dwarf_die type, element;
	uint64_t size;
	int64_t offset;
	if (!dwarf_type_real(at, &type))
		return wrong(c, "Failed to get the type of %s.", owner);
	uint16_t tag = dwarf_die_tag(&type);
	if (tag != DW_TAG_array_type && tag != DW_TAG_pointer_type)
		return wrong(c, "Semantic error: %s is not a pointer nor array.", owner);
	if (!dwarf_type_real(&type, &element) || !dwarf_type_size(&element, &size) ||
	    __builtin_mul_overflow((int64_t)size, (int64_t)field->index, &offset))
		return wrong(c, "Failed to get the type of %s.", owner);
	if (tag == DW_TAG_pointer_type && !push(l, 0))
		return wrong(c, "%s is behind too many pointers.", owner);
	if (!l->count)
		return wrong(c, "Structure on a register is not supported yet: %s", owner);
	move(l, (uint64_t)offset);
	l->steps[l->count - 1].user = c->argument->user;
	*at = type; /* the element's type is the type of the array's DIE */
	return 0;
}

/* The number of fields that are members of structures without a pointer on the way: *at becomes the last member, *offset its place in
 * the variable. */
static size_t leading_members(const struct context *c, struct dwarf_die *at, uint64_t *offset)
{
	struct context quiet = *c;
	struct error ignored;
	struct location l = { .count = 1 };
	size_t i = 0;
	quiet.err = &ignored;
	for (; i < c->argument->fields.count; i++) {
		const struct probe_field *field = &c->argument->fields.items[i];
		struct dwarf_die type, member = *at;
		if (!field->name || field->pointer || !dwarf_type_real(at, &type) || !dwarf_type_is_structure(dwarf_die_tag(&type)) ||
		    follow_member(&quiet, field, "", &l, &member) < 0)
			break;
		*at = member;
	}
	*offset = (uint64_t)l.steps[0].offset;
	return i;
}

/* A member of a structure that is not in memory as a whole, as small ones that a function gets. *first becomes the number of the first
 * field that is not followed yet. */
static bool locate_member(const struct context *c, const struct dwarf_die *variable, struct dwarf_die *at, size_t *first,
	struct location *l)
{
	struct dwarf_datum datum;
	struct dwarf_die type;
	struct dwarf_bits bits;
	struct span expression;
	uint64_t offset, own, size, moved = 0;
	*at = *variable;
	*l = (struct location){ 0 };
	size_t count = leading_members(c, at, &offset);
	if (!count || !dwarf_die_get(variable, DW_AT_location, &datum) || !expression_of(c, variable, &datum, &expression) ||
	    !dwarf_type_real(at, &type) || !dwarf_type_size(&type, &size))
		return false;
	if (dwarf_member_bits(at, &bits) && dwarf_member_offset(at, &own)) {
		moved = bits.offset - own;
		size = bits.size;
	}
	if (!part_locate(c, datum.unit, expression, offset + moved, size, l) || (l->shift && count < c->argument->fields.count))
		return false;
	if (l->count) /* value_type moves the location from the member to its unit */
		move(l, -moved);
	*first = count;
	return true;
}

/* Several indices of one array of several dimensions, from fields[i] on, as one of its elements. Returns the number of indices; 0: the
 * field is another one. */
static size_t combine_indices(const struct context *c, const struct dwarf_die *at, size_t i, struct probe_field *element)
{
	enum { DIMENSIONS_MAX = 8 };
	uint64_t counts[DIMENSIONS_MAX], index = 0;
	struct dwarf_die type;
	size_t used = 0;
	if (c->argument->fields.items[i].name || !dwarf_type_real(at, &type))
		return 0;
	unsigned dimensions = dwarf_type_dimensions(&type, counts, DIMENSIONS_MAX);
	while (used < dimensions && i + used < c->argument->fields.count && !c->argument->fields.items[i + used].name) {
		index = (used ? index * counts[used] : 0) + (uint64_t)c->argument->fields.items[i + used].index;
		used++;
	}
	if (used < 2)
		return 0;
	for (size_t k = used; k < dimensions; k++)
		index *= counts[k];
	*element = (struct probe_field){ .index = (long)index, .pointer = true };
	return used;
}

static int follow_fields(const struct context *c, size_t first, struct location *l, struct dwarf_die *at)
{
	const char *owner = c->argument->variable;
	for (size_t i = first; i < c->argument->fields.count; i++) {
		const struct probe_field *field = &c->argument->fields.items[i];
		struct probe_field element;
		size_t indices = combine_indices(c, at, i, &element);
		if ((field->name ? follow_member : follow_element)(c, indices ? &element : field, owner, l, at) < 0)
			return -1;
		owner = field->name ? field->name : owner;
		i += indices ? indices - 1 : 0;
	}
	return 0;
}

static bool is_character(const char *type)
{
	static const char *const types[] = { "char", "unsigned char", "signed char", "u8", "uint8" };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static int string_type(const struct context *c, const struct dwarf_die *at, struct location *l)
{
	struct dwarf_die type, element;
	const char *name = dwarf_die_name(at);
	name = name ? name : c->argument->variable;
	if (!dwarf_type_real(at, &type))
		return wrong(c, "Failed to get a type information of %s.", name);
	uint16_t tag = dwarf_die_tag(&type);
	if (tag != DW_TAG_pointer_type && tag != DW_TAG_array_type) {
		error_set(c->err, ERROR_USAGE, "Failed to cast into string: %s(%s) is not a pointer nor array.", name, type_name_of(&type));
		return -1;
	}
	if (!dwarf_type_real(&type, &element))
		return wrong(c, "Failed to get a type information of %s.", name);
	if (!is_character(type_name_of(&element)))
		return wrong(c, "Failed to cast into string: %s is not (unsigned) char *.", name);
	if (tag == DW_TAG_pointer_type) {
		if (!push(l, 0))
			return wrong(c, "%s is behind too many pointers.", name);
		l->steps[l->count - 1].user = c->argument->user;
	}
	return 0;
}

/* The kernel's type of the value; a bit field moves the location to its unit. */
static int value_type(const struct context *c, const struct dwarf_die *at, struct location *l, const char **type)
{
	const char *cast = c->argument->type;
	struct dwarf_die real;
	struct dwarf_bits bits;
	CLEANUP_STR struct str text = { 0 };
	uint64_t size;
	bool string = cast && (!strcmp(cast, "string") || !strcmp(cast, "ustring"));
	bool prefix = cast && strchr("xsu", *cast) && !cast[1];
	*type = cast;
	if (cast && !string && !prefix)
		return 0;
	if (dwarf_die_tag(at) == DW_TAG_member && dwarf_member_bits(at, &bits)) {
		uint64_t offset;
		dwarf_member_offset(at, &offset);
		if (l->count)
			move(l, bits.offset - offset);
		str_printf(&text, "b%u@%u/%llu", bits.count, l->shift + bits.shift, l->count ? (unsigned long long)bits.size * 8 : 64);
		*type = keep(c, &text);
		return 0;
	}
	if (l->shift) {
		if (string || !dwarf_type_real(at, &real) || !dwarf_type_size(&real, &size) || size * 8 > 64 - l->shift)
			return wrong(c, "%s is a part of a register.", c->argument->variable);
		str_printf(&text, "b%llu@%u/64", (unsigned long long)size * 8, l->shift);
		*type = keep(c, &text);
		return 0;
	}
	if (string)
		return string_type(c, at, l);
	*type = NULL;
	if (!dwarf_type_real(at, &real))
		return wrong(c, "Failed to get a type information of %s.", c->argument->variable);
	/* as perf, the kernel's default is used for what has no size attribute: arrays, pointers of clang */
	if (!dwarf_die_number(&real, DW_AT_byte_size, &size) || !size)
		return 0;
	size = size > 8 ? 8 : size;
	str_printf(&text, "%c%llu", prefix ? *cast : dwarf_type_is_signed(&real) ? 's' : 'x', (unsigned long long)size * 8);
	*type = keep(c, &text);
	return 0;
}

static const char *location_text(const struct context *c, const struct location *l)
{
	CLEANUP_STR struct str text = { 0 };
	unsigned first = l->base ? 0 : 1; /* the memory of a fixed address has the first offset in itself */
	for (unsigned i = l->count; i-- > first;)
		str_printf(&text, "%s%+lld(", l->steps[i].user ? "+u" : "", (long long)l->steps[i].offset);
	if (l->base)
		str_puts(&text, l->base);
	else if (c->target->kernel)
		str_printf(&text, "@%s%+lld", l->symbol, (long long)l->steps[0].offset);
	else
		str_printf(&text, "@+0x%llx", (unsigned long long)l->steps[0].offset);
	for (unsigned i = l->count; i-- > first;)
		str_putc(&text, ')');
	return keep(c, &text);
}

/* Arguments without a name of their own are named after what they show. */
static const char *argument_name(const struct context *c)
{
	const struct probe_argument *argument = c->argument;
	if (argument->name)
		return argument->name;
	const char *name = argument->variable;
	for (size_t i = 0; i < argument->fields.count; i++)
		name = argument->fields.items[i].name ? argument->fields.items[i].name : name;
	CLEANUP_STR struct str text = { 0 };
	str_puts(&text, name);
	if (argument->type && !argument->fields.count)
		str_printf(&text, "_%s", argument->type);
	for (char *at = text.text; *at; at++)
		if (!strchr("_", *at) && !(*at >= '0' && *at <= '9') && !(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z'))
			*at = '_';
	return keep(c, &text);
}

int probe_variable_fetch(struct probe_target *target, const struct probe_place *place, const struct probe_argument *argument,
	struct arena *arena, struct probe_fetch *fetch, struct error *err)
{
	struct context c = { .target = target, .place = place, .argument = argument, .arena = arena, .err = err };
	struct dwarf_die at, member;
	struct location l, part;
	*fetch = (struct probe_fetch){ .name = argument->name };
	if (!probe_is_variable(argument->variable)) {
		fetch->value = argument->text;
		fetch->type = argument->type;
		return 0;
	}
	fetch->name = argument_name(&c);
	if (!find_local(place, argument->variable, false, &at) && !find_local(place, argument->variable, true, &at) &&
	    !find_global(place, argument->variable, &at))
		return 0;
	size_t first = 0;
	bool located = locate(&c, &at, &l);
	if ((!located || !l.count) && locate_member(&c, &at, &member, &first, &part)) {
		at = member;
		l = part;
	} else if (!located) {
		return 0;
	}
	if (follow_fields(&c, first, &l, &at) < 0 || value_type(&c, &at, &l, &fetch->type) < 0)
		return -1;
	fetch->value = location_text(&c, &l);
	return 0;
}

/* A structure whose members have locations, but not as a whole. */
static bool has_parts(const struct context *c, const struct dwarf_die *variable)
{
	struct dwarf_operation ops[OPERATIONS_MAX];
	struct dwarf_datum datum;
	struct dwarf_die type;
	struct span expression;
	bool pieces = false, located = false;
	if (!dwarf_die_get(variable, DW_AT_location, &datum) || !dwarf_type_real(variable, &type) ||
	    !dwarf_type_is_structure(dwarf_die_tag(&type)) || !expression_of(c, variable, &datum, &expression))
		return false;
	size_t count = dwarf_operations(datum.unit, expression, ops, OPERATIONS_MAX);
	for (size_t i = 0; i < count; i++) {
		pieces |= ops[i].code == DW_OP_piece;
		located |= ops[i].code != DW_OP_piece;
	}
	return pieces && located;
}

void probe_variables_walk(struct probe_target *target, const struct probe_place *place, bool variables, bool absent,
	probe_variable_fn visit, void *context)
{
	static const struct probe_argument none = { 0 };
	struct arena arena = { 0 };
	struct context c = { .target = target, .place = place, .argument = &none, .arena = &arena };
	struct dwarf_walk walk = dwarf_walk_of(&place->scope);
	struct dwarf_die die;
	struct location l;
	while (dwarf_walk_next(&walk, &die)) {
		uint16_t tag = dwarf_die_tag(&die);
		if (tag == DW_TAG_formal_parameter || (tag == DW_TAG_variable && variables)) {
			bool valued = locate(&c, &die, &l) || has_parts(&c, &die);
			if ((valued || (absent && tag == DW_TAG_variable && dwarf_die_has(&die, DW_AT_location))) &&
			    visit(context, &die, valued))
				break;
		}
		walk.skip = !dwarf_die_contains(&die, place->address);
	}
	arena_fini(&arena);
}

static bool is_recorded(const struct probe_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->arguments.count; i++) {
		const char *v = spec->arguments.items[i].variable;
		if (!strcmp(v, "$vars") || !strcmp(v, "$params") || (name && !strcmp(v, name)))
			return true;
	}
	return false;
}

bool probe_parameter_is_stored(struct probe_target *target, const struct probe_place *place, const struct probe_spec *spec)
{
	static const struct probe_argument none = { 0 };
	struct arena arena = { 0 };
	struct context c = { .target = target, .place = place, .argument = &none, .arena = &arena };
	struct dwarf_walk walk = dwarf_walk_of(&place->scope);
	struct dwarf_die die;
	struct dwarf_datum datum;
	struct location l;
	unsigned reg = 0;
	int64_t offset = 0;
	bool stored = false, known = probe_target_cfa(target, place->address, &reg, &offset);
	const char *frame = known ? probe_register(target->image.elf.machine, reg) : NULL;
	for (; !stored && dwarf_walk_next(&walk, &die); walk.skip = true) {
		if (dwarf_die_tag(&die) != DW_TAG_formal_parameter || !is_recorded(spec, dwarf_die_name(&die)) ||
		    !dwarf_die_get(&die, DW_AT_location, &datum) || datum.kind == VALUE_NUMBER || !locate(&c, &die, &l))
			continue;
		/* arguments that the caller has stored lie above the frame */
		stored = l.base && l.count == 1 && *l.base == '%' && frame && (strcmp(l.base, frame) != 0 || l.steps[0].offset < offset);
	}
	arena_fini(&arena);
	return stored;
}
