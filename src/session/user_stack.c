#include "session/user_stack.h"

#include <limits.h>
#include <stdlib.h>

#include "unwind/stack_memory.h"
#include "unwind/tables.h"

enum { ABI_32 = 1, ABI_64 = 2 }; /* PERF_SAMPLE_REGS_ABI_* */

void user_stack_fini(struct user_stack *stack)
{
	free(stack->frames);
	*stack = (struct user_stack){ 0 };
}

void user_stack_count(const struct user_stack *stack, struct unwind_tally *sum)
{
	const struct unwind_tally *tally = &stack->tally;
	sum->stacks += tally->stacks;
	sum->frames += tally->frames;
	sum->guessed_stacks += tally->guessed_stacks;
	sum->guessed_frames += tally->guessed_frames;
	for (unsigned i = 0; i < UNWIND_ENDS; i++)
		sum->ends[i] += tally->ends[i];
	sum->joined += tally->joined;
}

bool user_stack_is(const struct resolved *r)
{
	const struct sample *sample = r->sample;
	return r->session->unwind_tables && sample->present & SAMPLE_CALLCHAIN && sample->regs_user && sample->stack_user_size;
}

static void learn_machine(const struct user_stack_input *in, struct user_stack *stack)
{
	const char *machine = header_string(in->header, FEATURE_ARCH);
#if defined __aarch64__
	enum isa isa = machine ? isa_of_machine(machine) : ISA_ARM64;
#else
	enum isa isa = machine ? isa_of_machine(machine) : ISA_X86;
#endif
	stack->registers = isa == ISA_X86 || isa == ISA_ARM64 ? registers_of(isa) : NULL;
	stack->ready = true;
}

/* Stores the position of each register within the sample. */
static void learn_places(struct user_stack *stack, uint64_t mask, uint64_t abi)
{
	const uint8_t *numbers = abi == ABI_32 ? stack->registers->dwarf32 : stack->registers->dwarf;
	stack->mask = mask;
	stack->abi = abi;
	stack->place_count = 0;
	stack->ip_place = stack->sp_place = UINT_MAX;
	for (; mask; mask &= mask - 1) {
		unsigned bit = (unsigned)__builtin_ctzll(mask), place = stack->place_count++;
		stack->places[place] = numbers[bit];
		if (bit == stack->registers->ip)
			stack->ip_place = place;
		if (bit == stack->registers->sp)
			stack->sp_place = place;
	}
}

static bool arch_of(const struct user_stack *stack, uint64_t abi, enum unwind_arch *arch)
{
	bool x86 = stack->registers == registers_of(ISA_X86);
	*arch = !x86 ? UNWIND_AARCH64 : abi == ABI_32 ? UNWIND_X86 : UNWIND_X86_64;
	return x86 ? abi == ABI_32 || abi == ABI_64 : abi == ABI_64;
}

static bool take_registers(const struct user_stack_input *in, struct user_stack *stack, struct unwind_input *input)
{
	const struct sample *sample = in->sample;
	uint64_t mask = in->mask;
	if (!stack->ready)
		learn_machine(in, stack);
	if (!stack->registers || !arch_of(stack, sample->regs_user_abi, &input->arch))
		return false;
	if (stack->mask != mask || stack->abi != sample->regs_user_abi)
		learn_places(stack, mask, sample->regs_user_abi);
	if (stack->ip_place == UINT_MAX || stack->sp_place == UINT_MAX)
		return false;
	for (unsigned i = 0; i < stack->place_count; i++) {
		if (!stack->places[i])
			continue;
		input->registers.values[stack->places[i] - 1] = load_u64(sample->regs_user + 8 * i);
		input->registers.known |= (uint64_t)1 << (stack->places[i] - 1);
	}
	input->registers.pc = load_u64(sample->regs_user + 8 * stack->ip_place);
	input->stack_address = load_u64(sample->regs_user + 8 * stack->sp_place);
	/* perf never reads the last word */
	input->stack = (struct span){ sample->stack_user, (size_t)sample->stack_user_size - 1 };
	return true;
}

struct file_question {
	const struct user_stack_input *in;
	bool found;
};

static void ask_module(void *context, const struct map *map)
{
	struct file_question *question = context;
	const struct module *module = modules_get(question->in->modules, map->module);
	if (question->found || module->kind != MODULE_FILE || *module->long_name != '/')
		return;
	unwind_tables_load(question->in->tables, module);
	question->found = unwind_tables_has(question->in->tables, module);
}

/* perf does not unwind a process if it found none of its files. */
static bool has_file(const struct user_stack_input *in, struct user_stack *stack)
{
	size_t slot = (size_t)hash_u64((uintptr_t)in->root) % (sizeof stack->known / sizeof *stack->known);
	if (!in->root)
		return false;
	if (stack->known[slot].root != in->root) {
		struct file_question question = { .in = in };
		map_each(in->root, ask_module, &question);
		stack->known[slot].root = in->root;
		stack->known[slot].has_file = question.found;
	}
	return stack->known[slot].has_file;
}

static void count_end(struct unwind_tally *tally, const struct unwind_result *result)
{
	tally->stacks++;
	tally->ends[result->end]++;
	tally->frames += result->count;
	tally->guessed_frames += result->guessed;
	tally->guessed_stacks += result->guessed != 0;
}

/* perf reads stack words that were not copied as 0, and takes a return address of 0 for a frame. */
static bool ends_at_zero(const struct user_stack_input *in, const struct unwind_result *result)
{
	bool missing = result->end == UNWIND_CUT || result->end == UNWIND_SWITCHED;
	return result->null_return || (missing && map_find(in->root, result->missing));
}

/* Returns whether the rules of any file were applied: then a file exists. */
static bool by_rules(const struct unwind_result *result)
{
	bool ended = result->end == UNWIND_COMPLETE || result->end == UNWIND_CUT || result->end == UNWIND_SWITCHED;
	return result->count > result->guessed + 1 || (result->count <= 1 && ended);
}

/* Continues a truncated stack with earlier ones of its thread. */
static void join_stack(const struct user_stack_input *in, struct user_stack *stack, const struct unwind_input *input,
	struct unwind_result *result)
{
	const struct stack_copy copy = { input->stack_address, input->stack };
	size_t count = result->count;
	if (result->end == UNWIND_CUT)
		result->count = stack_memory_join(in->memory, in->tid, stack->frames, count, input->max_frames, &copy);
	if (result->count > count) {
		stack->tally.joined++;
		result->end = UNWIND_COMPLETE;
	}
	stack_memory_keep(in->memory, in->tid, stack->frames, result->count, count, result->end == UNWIND_COMPLETE && !result->null_return,
		&copy);
}

size_t user_stack_unwind(const struct user_stack_input *in, struct user_stack *stack, uint64_t *addresses, size_t limit)
{
	struct unwind_input input = { .tables = in->tables, .maps = in->root, .max_frames = limit, .no_guess = in->no_guess };
	struct unwind_result result;
	if (!limit || !take_registers(in, stack, &input))
		return 0;
	if (limit > stack->capacity) {
		stack->frames = memory_resize(stack->frames, limit, sizeof *stack->frames);
		stack->capacity = limit;
	}
	for (unwind(&input, stack->frames, &result); result.end == UNWIND_NEEDS_TABLE; unwind(&input, stack->frames, &result))
		unwind_tables_load(in->tables, modules_get(in->modules, result.module));
	if (!by_rules(&result) && !has_file(in, stack))
		return 0;
	count_end(&stack->tally, &result);
	if (in->memory)
		join_stack(in, stack, &input, &result);
	size_t count = 0;
	for (size_t i = 0; i < result.count; i++)
		addresses[count++] = stack->frames[i].pc - (i && !stack->frames[i - 1].signal && !stack->frames[i].entry);
	if (count < limit && ends_at_zero(in, &result))
		addresses[count++] = UINT64_MAX;
	return count;
}

size_t user_stack_addresses(const struct resolved *r, struct user_stack *stack, uint64_t *addresses, size_t limit)
{
	const struct session *session = r->session;
	const struct user_stack_input in = { .header = &session->source->header, .modules = &session->model.modules,
		.tables = session->unwind_tables, .memory = session->stack_memory, .no_guess = session->no_guess, .root = r->user_root,
		.sample = r->sample, .mask = r->evsel->attr.sample_regs_user, .tid = r->tid };
	return user_stack_unwind(&in, stack, addresses, limit);
}
