#include "export/calls.h"

#include "session/trace.h"

struct call {
	uint64_t return_to;          /* address behind the call; 0: none */
	uint64_t time, sample, branches, instructions, cycles; /* totals of the stack when it began */
	uint64_t id;
	uint32_t path;
	bool no_call, trace_end, jump;
};

enum thunk_state { THUNK_POSSIBLE, THUNK_ENTERED };

struct call_stack {
	VEC(struct call) list;
	bool begun;
	uint64_t comm, branches, instructions, cycles, last_time;
	enum thunk_state state;      /* ENTERED: the last branch was a call into the middle of its own function, the one before was not */
};

struct calls {
	struct call_paths *paths;
	void (*finish)(void *context, const struct finished_call *call);
	void *context;
	VEC(struct call_stack) stacks; /* by thread */
	VEC(bool) thunks;              /* by symbol */
};

/* A branch with its stack. */
struct step {
	struct calls *calls;
	struct call_stack *stack;
	const struct export_branch *branch;
};

struct calls *calls_new(struct call_paths *paths, void (*finish)(void *context, const struct finished_call *call), void *context)
{
	struct calls *calls = memory_zero(1, sizeof *calls);
	calls->paths = paths;
	calls->finish = finish;
	calls->context = context;
	return calls;
}

void calls_free(struct calls *calls)
{
	if (!calls)
		return;
	for (size_t i = 0; i < calls->stacks.count; i++)
		vec_fini(&calls->stacks.items[i].list);
	vec_fini(&calls->stacks);
	vec_fini(&calls->thunks);
	free(calls);
}

void calls_note_thunk(struct calls *calls, uint32_t symbol)
{
	while (calls->thunks.count <= symbol)
		vec_push(&calls->thunks, false);
	calls->thunks.items[symbol] = true;
}

static bool is_thunk(const struct calls *calls, uint32_t symbol)
{
	return symbol < calls->thunks.count && calls->thunks.items[symbol];
}

static struct call *top_of(const struct call_stack *stack)
{
	return &stack->list.items[stack->list.count - 1];
}

static const struct call_path *path_of(const struct step *step, uint32_t path)
{
	return &step->calls->paths->list.items[path];
}

static uint32_t top_symbol(const struct step *step)
{
	return path_of(step, top_of(step->stack)->path)->symbol;
}

static uint32_t path_to(const struct step *step, uint32_t parent, const struct branch_end *end)
{
	return call_paths_add(step->calls->paths, parent, end->symbol, end->address);
}

/* Takes the innermost call off the stack. */
static void finish(struct calls *calls, uint32_t thread, struct call_stack *stack, uint64_t time, uint64_t sample, bool returned)
{
	const struct call call = *top_of(stack);
	stack->list.count--;
	struct finished_call finished = {
		.thread = thread, .path = call.path, .comm = stack->comm, .call_time = call.time, .return_time = time,
		.branches = stack->branches - call.branches, .instructions = stack->instructions - call.instructions,
		.cycles = stack->cycles - call.cycles, .call_sample = call.sample, .return_sample = sample, .id = call.id,
		.flags = (call.no_call ? CALL_NO_CALL : 0) | (returned ? 0 : CALL_NO_RETURN) | (call.jump ? CALL_JUMP : 0),
		.parent_id = stack->list.count ? &top_of(stack)->id : NULL,
	};
	calls->finish(calls->context, &finished);
}

static void finish_top(const struct step *step, bool returned)
{
	finish(step->calls, step->branch->thread, step->stack, step->branch->time, step->branch->sample, returned);
}

static void finish_all(struct calls *calls, uint32_t thread, struct call_stack *stack)
{
	while (stack->list.count)
		finish(calls, thread, stack, stack->last_time, 0, false);
}

static struct call *push(const struct step *step, uint64_t return_to, uint32_t path)
{
	struct call_stack *stack = step->stack;
	vec_push(&stack->list, ((struct call){ .return_to = return_to, .time = step->branch->time, .sample = step->branch->sample,
		.branches = stack->branches, .instructions = stack->instructions, .cycles = stack->cycles, .path = path }));
	return top_of(stack);
}

/* The function in which a trace begins was called before. */
static void push_first(const struct step *step)
{
	const struct export_branch *branch = step->branch;
	const struct branch_end *end = branch->from.address ? &branch->from : &branch->to;
	if (end->address)
		push(step, end->address, path_to(step, PATH_ROOT, end))->no_call = true;
}

static void finish_kernel(const struct step *step)
{
	while (step->stack->list.count && path_of(step, top_of(step->stack)->path)->in_kernel)
		finish_top(step, false);
}

/* Returns to the call that `address` follows, whose inner calls have not returned; false: no open call is followed by it. */
static bool return_to(const struct step *step, uint64_t address)
{
	struct call_stack *stack = step->stack;
	if (stack->list.count == 1 && top_symbol(step) == step->branch->from.symbol) {
		finish_top(step, true);
		return true;
	}
	size_t at = stack->list.count;
	while (at && (stack->list.items[at - 1].return_to != address || stack->list.items[at - 1].jump))
		at--;
	if (!at)
		return false;
	while (stack->list.count > at)
		finish_top(step, false);
	finish_top(step, true);
	return true;
}

/* A return to a function whose call was not seen. */
static void return_unmatched(const struct step *step)
{
	const struct export_branch *branch = step->branch;
	struct call_stack *stack = step->stack;
	bool from_kernel = branch->from.address >> 63, to_kernel = branch->to.address >> 63;
	if (!from_kernel || !to_kernel)
		finish_kernel(step);
	if (from_kernel && !to_kernel && !stack->list.count) {
		push(step, 0, path_to(step, PATH_ROOT, &branch->to))->no_call = true;
		return;
	}
	uint32_t parent = stack->list.count ? top_of(stack)->path : PATH_ROOT;
	if (path_of(step, parent)->symbol == branch->from.symbol) {
		/* at the bottom, the call was before the trace; elsewhere the return serves as a jump */
		if (stack->list.count == 1)
			finish_top(step, true);
		bool bottom = !stack->list.count;
		struct call *call = push(step, bottom ? branch->to.address : 0, path_to(step, bottom ? PATH_ROOT : parent, &branch->to));
		call->no_call = true;
		call->jump = !bottom;
		return;
	}
	/* the outer function has not returned: the target was called by it, and called the function that returns now */
	uint32_t target = path_to(step, parent, &branch->to);
	push(step, branch->to.address, target)->no_call = true;
	push(step, branch->from.address, path_to(step, target, &branch->from))->no_call = true;
	finish_top(step, true);
}

/* The return at the end of a thunk for an indirect branch: the innermost calls are replaced by the real target. */
static void leave_thunk(const struct step *step)
{
	struct call_stack *stack = step->stack;
	const struct branch_end *to = &step->branch->to;
	uint32_t symbol = top_symbol(step);
	if (symbol && is_thunk(step->calls, symbol)) {
		stack->list.count--;
		symbol = stack->list.count >= 2 ? path_of(step, stack->list.items[stack->list.count - 2].path)->symbol : 0;
		if (symbol && symbol == to->symbol && !to->at_start) {
			stack->list.count--;
			return;
		}
	} else if (symbol && symbol == to->symbol) {
		stack->list.count--;
		return;
	}
	uint32_t parent = stack->list.count >= 2 ? stack->list.items[stack->list.count - 2].path : PATH_ROOT;
	top_of(stack)->path = path_to(step, parent, to);
}

static void enter(const struct step *step, enum thunk_state state)
{
	const struct export_branch *branch = step->branch;
	uint64_t behind = branch->from.address + branch->size;
	if (!branch->from.address || !branch->to.address || behind == branch->to.address)
		return;
	push(step, behind, path_to(step, top_of(step->stack)->path, &branch->to))->trace_end = branch->flags & TRACE_END;
	if (state == THUNK_POSSIBLE && branch->to.symbol && branch->from.symbol == branch->to.symbol && !branch->to.at_start)
		step->stack->state = THUNK_ENTERED;
}

static void leave(const struct step *step, enum thunk_state state)
{
	const struct export_branch *branch = step->branch;
	const struct call_stack *stack = step->stack;
	if (!branch->to.address) {
		if (branch->flags & (TRACE_SYSCALL | TRACE_INTERRUPT))
			finish_kernel(step);
	} else if (branch->from.address) {
		if (state == THUNK_ENTERED && stack->list.count > 2 && top_of(stack)->return_to != branch->to.address)
			leave_thunk(step);
		else if (!return_to(step, branch->to.address))
			return_unmatched(step);
	}
}

static void apply(const struct step *step, enum thunk_state state)
{
	const struct export_branch *branch = step->branch;
	const struct call_stack *stack = step->stack;
	if (branch->flags & TRACE_CALL) {
		enter(step, state);
	} else if (branch->flags & TRACE_RETURN) {
		leave(step, state);
	} else if (branch->flags & TRACE_BEGIN) {
		if (stack->list.count && top_of(stack)->trace_end)
			finish_top(step, true);
	} else if (branch->flags & TRACE_END) {
		/* what is not traced is a call without a symbol */
		if (stack->list.count > 1 || (stack->list.count && stack->list.items[0].sample != branch->sample))
			push(step, branch->from.address + branch->size, path_to(step, top_of(stack)->path, &(struct branch_end){ 0 }))->trace_end = true;
	} else if (branch->flags & TRACE_BRANCH && branch->from.symbol != branch->to.symbol && branch->to.symbol && branch->to.at_start) {
		/* a jump to the start of another function is a call whose return is that of the function that jumps */
		push(step, 0, path_to(step, top_of(stack)->path, &branch->to))->jump = true;
	}
}

void calls_branch(struct calls *calls, const struct export_branch *branch)
{
	while (calls->stacks.count <= branch->thread)
		vec_add(&calls->stacks);
	struct call_stack *stack = &calls->stacks.items[branch->thread];
	const struct step step = { .calls = calls, .stack = stack, .branch = branch };
	if (!stack->begun) {
		stack->begun = true;
		stack->comm = branch->comm;
	}
	enum thunk_state state = stack->state;
	stack->state = THUNK_POSSIBLE;
	if (stack->comm != branch->comm && branch->leads_process) {
		finish_all(calls, branch->thread, stack);
		stack->comm = branch->comm;
	}
	if (!stack->list.count)
		push_first(&step);
	stack->branches++;
	stack->instructions += branch->instructions;
	stack->cycles += branch->cycles;
	stack->last_time = branch->time;
	if (stack->list.count)
		apply(&step, state);
}

void calls_end(struct calls *calls, uint32_t thread)
{
	if (thread < calls->stacks.count)
		finish_all(calls, thread, &calls->stacks.items[thread]);
}
