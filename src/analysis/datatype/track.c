/* The types that registers and stack slots hold, instruction by instruction. Values are not computed: an instruction that is not a move
 * leaves the type of its target as it is. */
#include <string.h>

#include "analysis/datatype/search.h"
#include "dwarf/constants.h"
#include "dwarf/type.h"

enum held_kind {
	HELD_TYPE,
	HELD_PER_CPU,              /* the base of the CPU's variables (Linux) */
	HELD_CONSTANT,
	HELD_POINTER,              /* `type` is the target's */
	HELD_CANARY,               /* the stack protector's value */
};

struct held {
	bool known;
	enum held_kind kind;
	struct dwarf_die type;
	uint32_t constant;
	int copied_from;           /* the register from which a move took the value; REGISTER_NONE */
};

struct slot {
	int64_t offset;            /* from the frame base */
	uint64_t size;
	enum held_kind kind;
	bool compound;             /* it contains members */
	struct dwarf_die type;
};

struct tracker {
	struct search *search;
	struct held registers[REGISTER_COUNT];
	VEC(struct slot) slots;    /* later ones first */
};

/* Registers that a call does not preserve, as a set, and the one of its result. */
enum {
	CHANGED_BY_CALLS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 11, RESULT = 0, CANARY_OFFSET = 40,
};

/* Limit on the instructions that are followed, so that a look-up in a huge function ends soon. */
enum { FOLLOWED_MAX = 1 << 15 };

static struct held *register_of(struct tracker *t, int reg)
{
	return reg >= 0 && reg < REGISTER_COUNT ? &t->registers[reg] : NULL;
}

static struct slot *find_slot(struct tracker *t, int64_t offset)
{
	for (size_t i = t->slots.count; i-- > 0;) {
		struct slot *slot = &t->slots.items[i];
		if (offset == slot->offset || (slot->compound && offset > slot->offset && (uint64_t)(offset - slot->offset) < slot->size))
			return slot;
	}
	return NULL;
}

static void set_slot(struct slot *slot, int64_t offset, enum held_kind kind, const struct dwarf_die *type)
{
	*slot = (struct slot){ .offset = offset, .kind = kind, .type = *type };
	if (!type->unit)
		return;
	if (!dwarf_type_size(type, &slot->size))
		slot->size = 0;
	slot->compound = kind != HELD_POINTER && dwarf_type_is_structure(dwarf_die_tag(type));
}

static void store_slot(struct tracker *t, int64_t offset, enum held_kind kind, const struct dwarf_die *type)
{
	struct slot *slot = find_slot(t, offset);
	set_slot(slot ? slot : vec_add(&t->slots), offset, kind, type);
}

static void hold(struct held *held, enum held_kind kind, const struct dwarf_die *type)
{
	held->known = true;
	held->kind = kind;
	if (type)
		held->type = *type;
}

/* A register that was copied from another one and gets a better type: the other one has it, too. */
static void improve_origin(struct tracker *t, const struct held *held, const struct dwarf_die *before)
{
	struct held *origin = register_of(t, held->copied_from);
	if (origin && origin->known && origin->kind == HELD_TYPE && dwarf_die_same(&origin->type, before) &&
		type_is_better(&origin->type, &held->type))
		origin->type = held->type;
}

/* The variables whose first place begins at this address. */
static void enter_variables(struct tracker *t, uint32_t step, const struct variables *variables)
{
	const struct search *search = t->search;
	uint64_t address = search->function->steps.items[step].address + search->shift;
	int64_t frame_offset = 0;
	int frame = search->by_cfa ? search_cfa(search, step, &frame_offset) : search->frame;
	for (size_t i = variables->list.count; i-- > 0;) {
		const struct variable *variable = &variables->list.items[i];
		struct held *held = register_of(t, variable->place);
		if (variable->from != address)
			continue;
		if (variable->place == AT_FRAME || (frame != REGISTER_NONE && variable->place == frame)) {
			int64_t offset = variable->offset - (variable->place == AT_FRAME ? 0 : frame_offset);
			const struct slot *slot = find_slot(t, offset);
			if (!slot || slot->kind != HELD_TYPE || type_is_better(&slot->type, &variable->type))
				store_slot(t, offset, HELD_TYPE, &variable->type);
		} else if (held && !variable->offset && (!held->known || held->kind != HELD_TYPE || type_is_better(&held->type, &variable->type))) {
			struct dwarf_die before = held->type;
			hold(held, HELD_TYPE, &variable->type);
			improve_origin(t, held, &before);
		}
	}
}

static bool function_result(const struct dwarf_die *unit, const char *name, struct dwarf_die *type)
{
	struct dwarf_walk walk = dwarf_walk_of(unit);
	struct dwarf_die die;
	for (; dwarf_walk_next(&walk, &die); walk.skip = true) {
		const char *own = dwarf_die_tag(&die) == DW_TAG_subprogram ? dwarf_die_name(&die) : NULL;
		if (own && strcmp(own, name) == 0)
			return dwarf_type_real(&die, type);
	}
	return false;
}

static void follow_call(struct tracker *t, const struct step *step)
{
	struct dwarf_die type;
	const char *name = step->target ? t->search->name_at(t->search->context, step->target) : NULL;
	if (!name || strcmp(name, "__fentry__") == 0)
		return;
	for (unsigned i = 0; i < REGISTER_COUNT; i++)
		if (CHANGED_BY_CALLS >> i & 1)
			t->registers[i].known = false;
	if (function_result(&t->search->unit, name, &type))
		hold(&t->registers[RESULT], HELD_TYPE, &type);
}

/* Linux adds the offset of the CPU's variables to their addresses. */
static void follow_add(struct tracker *t, uint32_t step, const struct operand *source, const struct operand *target)
{
	struct held *held = register_of(t, target->first), *other = register_of(t, source->first);
	struct dwarf_die type;
	int64_t offset;
	uint64_t constant = UINT64_MAX;
	if (!held)
		return;
	held->copied_from = REGISTER_NONE;
	if (source->immediate) {
		constant = (uint64_t)source->offset;
	} else if (other && other->kind == HELD_CONSTANT) {
		constant = other->constant;
	} else if (source->first == REGISTER_PC) {
		if (held->kind == HELD_CONSTANT &&
			strcmp(search_global_name(t->search, search_relative(t->search, step, source->offset)), "this_cpu_off") == 0) {
			hold(held, HELD_PER_CPU, NULL);
			constant = held->constant;
		}
	} else {
		return;
	}
	if (held->kind == HELD_PER_CPU && search_global(t->search, constant, &type, &offset) && !offset)
		hold(held, HELD_POINTER, &type);
}

static void move_register(struct tracker *t, const struct operand *source, const struct operand *target)
{
	struct held *held = register_of(t, target->first);
	const struct held *other = register_of(t, source->first);
	struct dwarf_die type;
	int64_t offset;
	if (!held)
		return;
	held->copied_from = REGISTER_NONE;
	if (source->per_cpu && source->immediate && t->search->module->kernel) {
		if (source->offset == CANARY_OFFSET) {
			hold(held, HELD_CANARY, NULL);
			return;
		}
		held->known = search_global(t->search, (uint64_t)source->offset, &type, &offset) && type_member(&type, offset, &type);
		if (held->known)
			hold(held, HELD_TYPE, &type);
	} else if (source->immediate) {
		hold(held, HELD_CONSTANT, NULL);
		held->constant = (uint32_t)source->offset;
	} else if (!other || !other->known) {
		held->known = false;
	} else {
		struct held copy = *other;
		copy.copied_from = copy.kind == HELD_TYPE ? source->first : REGISTER_NONE;
		*held = copy;
	}
}

/* Loads from memory by one of the operand's registers; false: nothing is known of that register. */
static bool load_by(struct tracker *t, uint32_t step, const struct operand *source, int reg, struct held *held)
{
	struct search *search = t->search;
	const struct held *base = register_of(t, reg);
	struct dwarf_die type;
	int64_t offset;
	if (reg == REGISTER_PC) {
		held->known = search_global(search, search_relative(search, step, source->offset), &type, &offset) &&
			type_member(&type, offset, &type);
	} else if (base && base->known && base->kind == HELD_TYPE && type_target_member(&base->type, source->offset, &type)) {
		held->known = true;
	} else if (base && base->known && base->kind == HELD_PER_CPU) {
		const struct held *index = source->several ? register_of(t, reg == source->first ? source->second : source->first) : NULL;
		uint64_t data = (uint64_t)source->offset + (index && index->known && index->kind == HELD_CONSTANT ? index->constant : 0);
		held->known = search_global(search, data, &type, &offset) && type_member(&type, offset, &type);
	} else if (base && base->known && base->kind == HELD_POINTER && type_member(&base->type, source->offset, &type)) {
		held->known = true;
	} else {
		return false;
	}
	if (held->known)
		hold(held, HELD_TYPE, &type);
	return true;
}

static bool load_slot(struct tracker *t, int64_t offset, struct held *held)
{
	const struct slot *slot = find_slot(t, offset);
	struct dwarf_die type;
	held->known = slot && (!slot->compound || type_member(&slot->type, offset - slot->offset, &type));
	if (held->known)
		hold(held, slot->compound ? HELD_TYPE : slot->kind, slot->compound ? &type : &slot->type);
	return held->known;
}

static void load(struct tracker *t, uint32_t step, const struct operand *source, const struct operand *target, int frame,
	int64_t frame_offset)
{
	struct held *held = register_of(t, target->first);
	if (!held)
		return;
	held->copied_from = REGISTER_NONE;
	for (int i = 0; i < 1 + (source->several && source->first != source->second); i++) {
		int reg = i ? source->second : source->first;
		if (reg == frame && frame != REGISTER_NONE) {
			load_slot(t, source->offset - frame_offset, held);
			return;
		}
		if (load_by(t, step, source, reg, held))
			return;
	}
	held->known = source->offset < 0 && strcmp(search_global_name(t->search, (uint64_t)source->offset), "__per_cpu_offset") == 0;
	if (held->known)
		hold(held, HELD_PER_CPU, NULL);
}

static void store(struct tracker *t, const struct operand *source, const struct operand *target, int frame, int64_t frame_offset)
{
	const struct held *held = register_of(t, source->first);
	if (!held || !held->known || frame == REGISTER_NONE || target->first != frame)
		return;
	int64_t offset = target->offset - frame_offset;
	struct slot *slot = find_slot(t, offset);
	if (!slot || !slot->compound) /* the members of a structure keep their types */
		store_slot(t, offset, held->kind, &held->type);
}

static void follow(struct tracker *t, uint32_t at)
{
	const struct search *search = t->search;
	const struct step *step = &search->function->steps.items[at];
	const struct operand *source = &step->operands.source, *target = &step->operands.target;
	int frame = search->frame;
	int64_t frame_offset = 0;
	if (step->operands.unknown)
		return;
	if (step->operands.kind == STEP_CALL)
		follow_call(t, step);
	else if (step->operands.kind == STEP_ADD)
		follow_add(t, at, source, target);
	if (step->operands.kind != STEP_MOVE)
		return;
	if (search->by_cfa)
		frame = search_cfa(search, at, &frame_offset);
	if (!source->memory && !target->memory)
		move_register(t, source, target);
	else if (source->memory && !target->memory)
		load(t, at, source, target, frame, frame_offset);
	else if (!source->memory)
		store(t, source, target, frame, frame_offset);
}

/* The value of the stack protector lies there: the caller treats the operand as its origin. */
static enum track_result found_canary(struct search *search)
{
	search->operand->per_cpu = search->operand->immediate = true;
	search->operand->offset = CANARY_OFFSET;
	return TRACK_END;
}

static enum track_result found_type(struct search *search, const struct dwarf_die *type, int64_t offset, enum track_result otherwise)
{
	uint64_t size;
	search->type = *type;
	search->offset = offset;
	return type_size(type, &size) && (uint32_t)offset < size ? TRACK_FOUND : otherwise;
}

static enum track_result check_global(struct search *search, uint64_t data)
{
	return search_global(search, data, &search->type, &search->offset) ? TRACK_FOUND : TRACK_END;
}

static enum track_result check_kernel(struct search *search, int reg)
{
	const struct operand *operand = search->operand;
	if (search->module->kernel && operand->per_cpu && operand->immediate)
		return check_global(search, (uint64_t)operand->offset);
	if (search->module->kernel && operand->offset < 0 && reg != REGISTER_STACK)
		return check_global(search, (uint64_t)operand->offset);
	return TRACK_UNKNOWN;
}

static enum track_result check_register(struct tracker *t, const struct held *held, int reg)
{
	struct search *search = t->search;
	const struct operand *operand = search->operand;
	struct dwarf_die type;
	if (held->kind == HELD_TYPE) {
		if (!type_is_pointer(&held->type))
			return operand->offset < 0 && reg != REGISTER_STACK ? check_kernel(search, reg) : TRACK_NO_TYPE;
		return dwarf_type_plain(&held->type, &type) ? found_type(search, &type, operand->offset, TRACK_BAD_OFFSET) : TRACK_NO_TYPE;
	}
	if (held->kind == HELD_POINTER)
		return found_type(search, &held->type, operand->offset, TRACK_END);
	if (held->kind == HELD_CANARY)
		return found_canary(search);
	const struct held *index = operand->several ? register_of(t, operand->second == reg ? operand->first : operand->second) : NULL;
	return check_global(search, (uint64_t)operand->offset + (index && index->known && index->kind == HELD_CONSTANT ? index->constant : 0));
}

static enum track_result check_slot(struct search *search, const struct slot *slot, int64_t offset)
{
	if (slot->kind == HELD_CANARY)
		return found_canary(search);
	if (slot->kind != HELD_TYPE)
		return TRACK_NO_TYPE;
	search->type = slot->type;
	search->offset = offset - slot->offset;
	return TRACK_FOUND;
}

/* The instruction itself: does the state have a type for its operand? */
static enum track_result check(struct tracker *t)
{
	struct search *search = t->search;
	int reg = search->operand->first;
	for (bool again = true;; again = false) {
		const struct held *held = register_of(t, reg);
		int64_t offset = search->operand->offset;
		if (held && held->known && held->kind != HELD_CONSTANT)
			return check_register(t, held, reg);
		bool frame = reg == search->frame && reg != REGISTER_NONE;
		if (!frame && !search->by_cfa)
			return check_kernel(search, reg);
		if (!frame && search->by_cfa) {
			int64_t frame_offset;
			if (search_cfa(search, search->step, &frame_offset) != reg || reg == REGISTER_NONE)
				return TRACK_NO_TYPE;
			offset -= frame_offset;
		} else if (search->by_cfa) {
			offset -= search->frame_offset;
		}
		const struct slot *slot = find_slot(t, offset);
		if (slot)
			return check_slot(search, slot, offset);
		if (!again)
			return TRACK_NO_TYPE;
		follow(t, search->step); /* the instruction may be the first store to the slot */
	}
}

enum track_result search_track(struct search *search, const struct step_path *path, const struct variables *variables)
{
	struct tracker t = { .search = search };
	enum track_result result = TRACK_UNKNOWN;
	uint32_t left = FOLLOWED_MAX;
	bool done = false;
	for (size_t i = 0; i < path->ranges.count && !done; i++)
		for (uint32_t step = path->ranges.items[i].first; step <= path->ranges.items[i].last && !done; step++) {
			enter_variables(&t, step, variables);
			done = step == search->step || !--left;
			if (step == search->step)
				result = check(&t);
			else
				follow(&t, step);
		}
	vec_fini(&t.slots);
	return result;
}
