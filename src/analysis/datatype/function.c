#include "analysis/datatype/function.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"

uint32_t function_step(const struct function *function, uint64_t address)
{
	size_t low = SEARCH_COUNT(function->steps.count, i, function->steps.items[i].address < address);
	return low < function->steps.count && function->steps.items[low].address == address ? (uint32_t)low : UINT32_MAX;
}

void function_decode(struct function *function, struct disassembler *disassembler, const struct code_bytes *code, struct strtab *names)
{
	struct span bytes = code->bytes;
	uint64_t address = code->address;
	struct instruction in;
	*function = (struct function){ 0 };
	while (disassembler_next(disassembler, &bytes, &address, &in)) {
		struct step *step = vec_add(&function->steps);
		*step = (struct step){ .address = in.address, .length = (uint8_t)in.length, .target = in.direct ? in.target : 0 };
		step->name = strtab_add(names, in.mnemonic, strcspn(in.mnemonic, " "));
		operands_parse(in.mnemonic, in.operands, &step->operands);
	}
	for (size_t i = 0; i < function->steps.count; i++) {
		struct step *step = &function->steps.items[i];
		if (step->operands.kind != STEP_JUMP || !step->target)
			continue;
		step->target_step = function_step(function, step->target);
		step->inside = step->target_step != UINT32_MAX;
	}
}

void function_fini(struct function *function)
{
	vec_fini(&function->steps);
}

/* A range that was reached from another one. */
struct reached {
	struct step_range range;
	uint32_t from;             /* index; UINT32_MAX: the start */
};

struct search {
	const struct function *function;
	VEC(struct reached) reached; /* those before `next` are complete */
	size_t next;
	bool *known;               /* by step: in a complete range, or the first of another one */
};

static void search_add(struct search *search, uint32_t step, uint32_t from)
{
	if (search->known[step])
		return;
	search->known[step] = true;
	vec_push(&search->reached, ((struct reached){ { step, step }, from }));
}

/* Extends a range to its end, and adds those that follow it; true: it contains `to`. */
static bool search_extend(struct search *search, uint32_t index, uint32_t to)
{
	const struct step *steps = search->function->steps.items;
	uint32_t count = (uint32_t)search->function->steps.count, first = search->reached.items[index].range.first, at = first;
	while (at != to && at + 1 < count && steps[at].operands.kind != STEP_RETURN && steps[at].operands.kind != STEP_JUMP)
		at++;
	search->reached.items[index].range.last = at;
	if (at == to)
		return true;
	if (steps[at].operands.kind == STEP_JUMP && steps[at].inside) {
		search_add(search, steps[at].target_step, index);
		if (steps[at].operands.conditional && at + 1 < count)
			search_add(search, at + 1, index);
	}
	memset(search->known + first, true, at - first + 1);
	return false;
}

bool function_path(const struct function *function, uint32_t from, uint32_t to, struct step_path *path)
{
	struct search search = { .function = function };
	bool found = false;
	*path = (struct step_path){ 0 };
	search.known = memory_zero(function->steps.count + 1, sizeof *search.known);
	search_add(&search, from, UINT32_MAX);
	while (!found && search.next < search.reached.count)
		found = search_extend(&search, (uint32_t)search.next++, to);
	if (found) {
		size_t length = 0;
		for (uint32_t i = (uint32_t)search.next - 1; i != UINT32_MAX; i = search.reached.items[i].from)
			length++;
		vec_reserve(&path->ranges, length);
		path->ranges.count = length;
		for (uint32_t i = (uint32_t)search.next - 1; i != UINT32_MAX; i = search.reached.items[i].from)
			path->ranges.items[--length] = search.reached.items[i].range;
	}
	vec_fini(&search.reached);
	free(search.known);
	return found;
}

void step_path_prepend(struct step_path *path, const struct step_path *first)
{
	struct step_path whole = { 0 };
	for (size_t i = 0; i < first->ranges.count; i++) {
		struct step_range range = first->ranges.items[i];
		bool joint = i + 1 == first->ranges.count && path->ranges.count && range.last == path->ranges.items[0].first;
		if (joint && range.first == range.last)
			continue;
		range.last -= joint;
		vec_push(&whole.ranges, range);
	}
	for (size_t i = 0; i < path->ranges.count; i++)
		vec_push(&whole.ranges, path->ranges.items[i]);
	vec_fini(&path->ranges);
	*path = whole;
}
