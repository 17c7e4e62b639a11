#include "unwind/unwind.h"

#include "unwind/expression.h"
#include "unwind/machine.h"
#include "unwind/tables_internal.h"

#define GUESS_DISTANCE 0x4000u /* a frame pointer further up is not plausible */
#define NO_CODE_BELOW 0x10000u /* Linux maps nothing there (vm.mmap_min_addr) */
#define VSYSCALL 0xffffffffff600000u /* x86-64: a kernel page that user code calls; its calls push nothing */
#define VSYSCALL_SIZE 0x1000u

/* State of unwinding one stack. */
struct walk {
	const struct unwind_input *input;
	const struct machine *machine;
	struct stack_memory memory;
	uint64_t registers[UNWIND_REGISTERS];
	uint64_t known;
	uint64_t pc;
	uint64_t needed;             /* registers that are restored beside sp and fp */
	bool exact;                  /* pc is an interrupted instruction, not a return address */
	bool first;
	struct map map;              /* of the last look-up */
	const struct rule_table *table;
	uint32_t module;
	enum unwind_end end;
	uint64_t missing;
	bool null_return;
	bool switched;               /* the remaining callers are on a stack that is not in the copy */
};

/* The result of one step. */
struct stepped {
	uint64_t cfa;
	bool guessed, signal, entry, last;
};

static bool stop(struct walk *w, enum unwind_end end)
{
	w->end = end;
	return false;
}

static bool is_known(const struct walk *w, unsigned reg)
{
	return w->known >> reg & 1;
}

static void set_register(struct walk *w, unsigned reg, uint64_t value)
{
	w->registers[reg] = w->machine->word == 4 ? (uint32_t)value : value;
	w->known |= (uint64_t)1 << reg;
}

static void forget(struct walk *w, unsigned reg)
{
	w->known &= ~((uint64_t)1 << reg);
}

/* Ends at a word that is not in the copy of the stack. */
static bool stop_missing(struct walk *w, uint64_t address)
{
	w->missing = address;
	return stop(w, w->switched ? UNWIND_SWITCHED : UNWIND_CUT);
}

/* A signal handler may have its own stack. before: the stack pointer in the frame that the kernel wrote; if the handler uses the same
 * stack, the interrupted stack pointer is near. */
static void note_switch(struct walk *w, uint64_t before)
{
	enum { SIGNAL_FRAME_MAX = 0x10000 };
	uint64_t now = w->registers[w->machine->sp];
	w->switched = now - before > SIGNAL_FRAME_MAX && now - w->memory.address >= w->memory.bytes.len;
}

static bool read_word(struct walk *w, uint64_t address, uint64_t *value)
{
	if (w->machine->word == 8) {
		uint64_t at = address - w->memory.address;
		if (address >= w->memory.address && w->memory.bytes.len >= 8 && at <= w->memory.bytes.len - 8) {
			*value = load_u64(w->memory.bytes.data + at);
			return true;
		}
	}
	return stack_read(&w->memory, w->machine->word == 4 ? (uint32_t)address : address, w->machine->word, value);
}

static struct expression_input expression_input(struct walk *w, const uint64_t *cfa)
{
	uint64_t offset = map_offset(&w->map, w->pc), linked = 0;
	rule_table_address(w->table, offset, &linked);
	return (struct expression_input){ .registers = w->registers, .known = w->known, .cfa = cfa, .memory = &w->memory,
		.pc = w->pc, .pc_register = w->machine->ra_is_register ? 32 : w->machine->ra, .bias = w->pc - linked };
}

static bool run_expression(struct walk *w, int32_t at, const uint64_t *cfa, uint64_t *value)
{
	struct expression_input input = expression_input(w, cfa);
	return expression_run(rule_expression(w->table, at), &input, value);
}

static bool compute_cfa(struct walk *w, const struct rule *rule, uint64_t *cfa)
{
	if (rule->cfa_kind == CFA_EXPRESSION)
		return run_expression(w, rule->cfa_value, NULL, cfa) || stop(w, UNWIND_BAD_RULE);
	if (rule->cfa_register >= w->machine->registers || !is_known(w, rule->cfa_register))
		return stop(w, UNWIND_BAD_RULE);
	*cfa = w->registers[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_value;
	if (rule->cfa_kind == CFA_LOAD)
		return read_word(w, *cfa, cfa) || stop_missing(w, *cfa);
	if (rule->cfa_kind == CFA_PLT && (w->pc & 15) >= rule->threshold)
		*cfa += w->machine->word;
	return true;
}

/* Recovers the caller's value of one register; false: unavailable, an error only for the pc. */
static bool recover(struct walk *w, const struct saved *saved, uint64_t cfa, uint64_t *value)
{
	uint64_t address;
	switch ((enum saved_kind)saved->kind) {
	case SAVED_SAME:
		*value = w->registers[saved->reg];
		return is_known(w, saved->reg);
	case SAVED_AT_CFA:
		return read_word(w, cfa + (uint64_t)(int64_t)saved->value, value);
	case SAVED_IS_CFA:
		*value = cfa + (uint64_t)(int64_t)saved->value;
		return true;
	case SAVED_IN_REGISTER:
		*value = w->registers[saved->base];
		return is_known(w, saved->base);
	case SAVED_AT_REGISTER:
		if (saved->base >= UNWIND_REGISTERS || !is_known(w, saved->base))
			return false;
		return read_word(w, w->registers[saved->base] + (uint64_t)(int64_t)saved->value, value);
	case SAVED_AT_EXPRESSION:
		return run_expression(w, saved->value, &cfa, &address) && read_word(w, address, value);
	case SAVED_IS_EXPRESSION:
		return run_expression(w, saved->value, &cfa, value);
	case SAVED_UNDEFINED:
		break;
	}
	return false;
}

/* Authentication codes are in the bits above a pointer's address; the machine's configuration determines the number of bits. */
static uint64_t strip_authentication(const struct walk *w, uint64_t pc)
{
	static const uint8_t widths[] = { 52, 48, 47, 42, 39, 36 };
	for (unsigned i = 0; i < sizeof widths; i++) {
		uint64_t bare = pc & (((uint64_t)1 << widths[i]) - 1);
		if (map_find(w->input->maps, bare))
			return bare;
	}
	return pc & (((uint64_t)1 << 48) - 1);
}

static void recover_others(struct walk *w, const struct rule *rule, uint64_t cfa, uint64_t wanted)
{
	uint64_t values[UNWIND_REGISTERS], good = 0, seen = 0;
	for (uint32_t i = 0; i < rule->others_count; i++) {
		const struct saved *saved = &w->table->saved[rule->others + i];
		if (!(wanted >> saved->reg & 1))
			continue;
		seen |= (uint64_t)1 << saved->reg;
		if (recover(w, saved, cfa, &values[saved->reg]))
			good |= (uint64_t)1 << saved->reg;
	}
	for (uint64_t left = seen; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(left);
		if (good >> reg & 1)
			set_register(w, reg, values[reg]);
		else
			forget(w, reg);
	}
}

static bool stop_without_caller(struct walk *w, const struct saved *ra, uint64_t cfa)
{
	if (ra->kind == SAVED_AT_CFA)
		return stop_missing(w, cfa + (uint64_t)(int64_t)ra->value);
	if (ra->kind == SAVED_AT_REGISTER && ra->base < UNWIND_REGISTERS && is_known(w, ra->base))
		return stop_missing(w, w->registers[ra->base] + (uint64_t)(int64_t)ra->value);
	return stop(w, UNWIND_BAD_RULE);
}

/* Applies any rule. */
static bool apply(struct walk *w, const struct rule *rule, struct stepped *out)
{
	const struct machine *m = w->machine;
	uint64_t cfa = 0, pc = 0, fp = 0, before = w->registers[m->sp];
	if (rule->flags & RULE_BOTTOM)
		return stop(w, UNWIND_COMPLETE);
	if (rule->flags & RULE_SWITCHED)
		return stop(w, UNWIND_SWITCHED);
	if (rule->flags & RULE_CLONED && !(is_known(w, 0) && w->registers[0]))
		return stop(w, UNWIND_COMPLETE);
	if (!compute_cfa(w, rule, &cfa))
		return false;
	out->cfa = cfa;
	if (!recover(w, &rule->ra, cfa, &pc))
		return stop_without_caller(w, &rule->ra, cfa);
	bool has_fp = recover(w, &rule->fp, cfa, &fp), in_register = rule->ra.kind == SAVED_SAME;
	uint64_t wanted = rule->flags & RULE_SIGNAL ? UINT64_MAX : w->needed | (uint64_t)1 << m->sp;
	recover_others(w, rule, cfa, wanted | (uint64_t)m->ra_is_register << m->ra);
	bool sp_saved = false;
	for (uint32_t i = 0; i < rule->others_count; i++)
		sp_saved |= w->table->saved[rule->others + i].reg == m->sp;
	if (!sp_saved)
		set_register(w, m->sp, cfa);
	if (has_fp)
		set_register(w, m->fp, fp);
	else
		forget(w, m->fp);
	if (m->ra_is_register && !(rule->flags & RULE_SIGNAL)) {
		if (in_register && !(w->exact || w->first))
			return stop(w, UNWIND_BAD_RULE); /* a caller saves it: otherwise the chain would not end */
		set_register(w, m->ra, pc);
	}
	/* signed ones, and those that older tables do not mark as signed */
	if (m->ra_is_register && (rule->flags & RULE_SIGNED || pc >> 48))
		pc = strip_authentication(w, pc);
	out->signal = rule->flags & RULE_SIGNAL;
	if (out->signal)
		note_switch(w, before);
	w->pc = m->word == 4 ? (uint32_t)pc : pc;
	return true;
}

/* Applies RULE_SIMPLE, the kind of nearly all rules. */
static inline bool apply_simple(struct walk *w, const struct rule *rule, struct stepped *out)
{
	const struct machine *m = w->machine;
	if (rule->cfa_register >= m->registers || !is_known(w, rule->cfa_register))
		return stop(w, UNWIND_BAD_RULE);
	uint64_t cfa = w->registers[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_value, pc, fp;
	out->cfa = cfa;
	if (!read_word(w, cfa + (uint64_t)(int64_t)rule->ra.value, &pc))
		return stop_missing(w, cfa + (uint64_t)(int64_t)rule->ra.value);
	if (rule->fp.kind == SAVED_AT_CFA) {
		if (read_word(w, cfa + (uint64_t)(int64_t)rule->fp.value, &fp))
			set_register(w, m->fp, fp);
		else
			forget(w, m->fp);
	}
	if (rule->others_count && w->needed)
		recover_others(w, rule, cfa, w->needed);
	set_register(w, m->sp, cfa);
	if (m->ra_is_register) {
		set_register(w, m->ra, pc);
		if (pc >> 48)
			pc = strip_authentication(w, pc);
	}
	w->pc = pc;
	return true;
}

/* Finds the current frame's rule: map, table, address as linked. false: the chain ends here. */
static bool find_place(struct walk *w, uint64_t at)
{
	if (w->map.end > at && w->map.start <= at)
		return true;
	const struct map *map = map_find(w->input->maps, at);
	if (!map) {
		w->map.end = 0;
		return stop(w, UNWIND_NO_MAP);
	}
	w->map = *map;
	w->module = map->module;
	w->table = tables_of(w->input->tables, map->module);
	if (!w->table && map->module < UNWIND_MODULES_LIMIT)
		return stop(w, UNWIND_NEEDS_TABLE);
	if (!w->table)
		return stop(w, UNWIND_NO_RULE);
	tables_note_use(w->input->tables, map->module);
	return true;
}

/* Nothing is guessed for absent files. */
static bool has_rules(struct walk *w, uint64_t at)
{
	return find_place(w, at) && (w->table->arch == w->input->arch || stop(w, UNWIND_NO_RULE));
}

/* Accepts pc as the caller of code without rules if a call precedes it. The bytes of code generated at run time are unknown. */
static bool guess_caller(struct walk *w, uint64_t pc, struct stepped *out)
{
	if (w->input->no_guess)
		return stop(w, UNWIND_NO_RULE);
	const struct map *map = map_find(w->input->maps, pc - 1);
	const struct module *module = map ? tables_module(w->input->tables, map->module) : NULL;
	if (!module)
		return stop(w, UNWIND_NO_RULE);
	if (module->kind != MODULE_ANON && module->kind != MODULE_JIT) {
		if (!has_rules(w, pc - 1))
			return false;
		const struct call_map *calls = tables_calls(w->input->tables, w->module);
		if (!calls)
			return stop(w, UNWIND_NEEDS_TABLE);
		if (!call_map_has(calls, map_offset(map, pc)))
			return stop(w, UNWIND_NO_RULE);
	}
	out->guessed = true;
	w->pc = pc;
	return true;
}

/* Without a rule: uses the frame pointer if it is plausible. */
static bool guess(struct walk *w, struct stepped *out)
{
	const struct machine *m = w->machine;
	uint64_t sp = w->registers[m->sp], fp = w->registers[m->fp], pc, caller_fp;
	out->last = !w->exact; /* function starts are unknown */
	if (m->ra_is_register && w->first && is_known(w, m->ra) && w->registers[m->ra]) {
		/* code that has no frame yet, or never */
		pc = strip_authentication(w, w->registers[m->ra]);
		out->cfa = sp;
		forget(w, m->ra);
		return guess_caller(w, pc, out);
	}
	if (is_known(w, m->fp) && fp == 0 && !w->first)
		return stop(w, UNWIND_COMPLETE); /* the psABIs require it in the outermost frame; goroutines have it */
	if (w->input->no_guess || !is_known(w, m->fp) || !is_known(w, m->sp) || fp < sp || fp - sp > GUESS_DISTANCE || fp % m->word)
		return stop(w, UNWIND_NO_RULE);
	if (!read_word(w, fp, &caller_fp) || !read_word(w, fp + m->word, &pc))
		return stop(w, UNWIND_NO_RULE); /* a register that points outside of the copy may hold any value */
	if (!guess_caller(w, m->ra_is_register ? strip_authentication(w, pc) : pc, out))
		return false;
	w->known = 0;
	set_register(w, m->fp, caller_fp);
	set_register(w, m->sp, fp + 2u * m->word);
	out->cfa = fp + 2u * m->word;
	return true;
}

/* struct sigcontext of i386: offsets of registers. */
static const struct context_word {
	uint8_t reg, at;
} context_words[] = { { 7, 16 }, { 6, 20 }, { 5, 24 }, { 4, 28 }, { 3, 32 }, { 2, 36 }, { 1, 40 }, { 0, 44 } };

enum { CONTEXT_PC = 56, CONTEXT_SEGMENT = 60 };

static bool is_context(struct walk *w, uint64_t at)
{
	uint64_t segment;
	if (!read_word(w, at + CONTEXT_SEGMENT, &segment))
		return false;
	segment &= 0xffff;
	return segment == 0x23 || segment == 0x73; /* of user code, under 64-bit and 32-bit kernels */
}

/* i386 under a 64-bit kernel: no file of its vdso exists. The trampoline calls nothing, so its callee is a signal handler. */
static bool step_compat_trampoline(struct walk *w, struct stepped *out)
{
	enum { INFO_AT = 4, CONTEXT_AT = 8, INFO = 12, INFO_SIZE = 128, IN_CONTEXT = 20 };
	uint64_t sp = w->registers[w->machine->sp], info = 0, context = 0, pc, value, at = sp + 4;
	if (read_word(w, sp + INFO_AT, &info) && read_word(w, sp + CONTEXT_AT, &context) && info == sp + INFO &&
	    context == sp + INFO + INFO_SIZE)
		at = context + IN_CONTEXT; /* of a handler that takes siginfo and context */
	else if (w->exact && is_context(w, sp))
		at = sp; /* the signal's number is popped */
	if (!read_word(w, at + CONTEXT_PC, &pc))
		return stop_missing(w, at + CONTEXT_PC);
	if (!is_context(w, at))
		return stop(w, UNWIND_NO_RULE);
	if (w->first && !has_rules(w, pc))
		return false;
	for (size_t i = 0; i < sizeof context_words / sizeof *context_words; i++)
		if (read_word(w, at + context_words[i].at, &value))
			set_register(w, context_words[i].reg, value);
	out->signal = true;
	note_switch(w, sp);
	out->cfa = w->registers[w->machine->sp];
	w->pc = pc;
	return true;
}

/* __kernel_vsyscall pushes ecx, edx and ebp; samples are in or after the system call. There ebp or ecx (depending on the processor's
 * instruction) is the stack pointer, until it is restored. */
static bool step_compat_vdso(struct walk *w, struct stepped *out)
{
	uint64_t sp = w->registers[w->machine->sp], now = w->registers[w->machine->fp], fp, cx, pc;
	if (!is_known(w, w->machine->sp))
		return stop(w, UNWIND_NO_RULE);
	if (!w->exact)
		return step_compat_trampoline(w, out);
	if (!read_word(w, sp, &fp) || !read_word(w, sp + 8, &cx) || !read_word(w, sp + 12, &pc))
		return stop_missing(w, sp + 12);
	if (!is_known(w, w->machine->fp) || (now != fp && now != sp && now != cx) || !map_find(w->input->maps, pc - 1))
		return step_compat_trampoline(w, out);
	if (!guess_caller(w, pc, out))
		return false;
	set_register(w, w->machine->fp, fp);
	set_register(w, w->machine->sp, out->cfa = sp + 16);
	return true;
}

/* The target of a call through an invalid pointer, or into the kernel's page: its frame is not set up yet. */
static bool is_nowhere(const struct walk *w)
{
	if (w->input->arch == UNWIND_X86_64 && w->pc - VSYSCALL < VSYSCALL_SIZE)
		return true;
	return w->pc < NO_CODE_BELOW && !map_find(w->input->maps, w->pc);
}

static bool step_out_of_nowhere(struct walk *w, struct stepped *out)
{
	const struct machine *m = w->machine;
	uint64_t sp = w->registers[m->sp], pc = w->registers[m->ra_is_register ? m->ra : 0];
	if (w->input->no_guess || !is_known(w, m->sp) || (m->ra_is_register && !is_known(w, m->ra)))
		return stop(w, UNWIND_NO_MAP);
	out->cfa = sp;
	if (m->ra_is_register) {
		pc = strip_authentication(w, pc);
	} else {
		if (!read_word(w, sp, &pc))
			return stop_missing(w, sp);
		set_register(w, m->sp, out->cfa = sp + m->word);
	}
	out->guessed = true;
	w->pc = pc;
	return has_rules(w, pc - 1);
}

static bool step(struct walk *w, struct stepped *out)
{
	uint64_t at = w->pc - !w->exact, linked;
	*out = (struct stepped){ 0 };
	if (w->exact && is_nowhere(w))
		return step_out_of_nowhere(w, out);
	if (!find_place(w, at))
		return false;
	if (w->table->arch != w->input->arch) {
		/* code generated at run time; nothing is guessed for absent files */
		const struct module *module = tables_module(w->input->tables, w->module);
		if (module && module->kind == MODULE_VDSO && w->input->arch == UNWIND_X86)
			return step_compat_vdso(w, out);
		return module && (module->kind == MODULE_ANON || module->kind == MODULE_JIT) ? guess(w, out) : stop(w, UNWIND_NO_RULE);
	}
	const struct rule *rule = NULL;
	bool in_code = rule_table_address(w->table, map_offset(&w->map, at), &linked);
	if (in_code) {
		uint32_t row = rule_table_row(w->table, linked);
		rule = rule_table_at(w->table, row);
		out->last = rule && !w->exact && rule_table_begins(w->table, row, linked + 1);
	}
	if (!rule && in_code && w->exact) { /* in the kernel, which handles the sigreturn, after the trampoline's last instruction */
		const struct rule *before = rule_table_find(w->table, linked - 1);
		rule = before && before->flags & RULE_SIGNAL ? before : NULL;
	}
	if (!rule && in_code && !w->exact && w->table->entry_returns) {
		rule = rule_table_start(w->table, linked + 1);
		out->entry = rule;
	}
	if (__builtin_expect(rule && rule->flags & RULE_SIMPLE, 1))
		return apply_simple(w, rule, out);
	if (rule)
		return apply(w, rule, out);
	if (in_code && linked - w->table->entry_from < w->table->entry_to - w->table->entry_from)
		return stop(w, UNWIND_COMPLETE); /* a program's first instructions have no caller */
	return guess(w, out);
}

static void walk_stack(struct walk *w, struct unwind_frame *frames, struct unwind_result *result)
{
	const struct unwind_input *input = w->input;
	uint64_t cfa_before = 0;
	bool guessed = false;
	while (result->count < input->max_frames) {
		struct unwind_frame *frame = &frames[result->count++];
		struct stepped stepped;
		uint64_t pc_before = w->pc;
		*frame = (struct unwind_frame){ .pc = w->pc, .guessed = guessed };
		if (!step(w, &stepped)) {
			result->count -= w->exact && !pc_before; /* not if it is the only frame */
			frame->cfa = w->end == UNWIND_CUT || w->end == UNWIND_SWITCHED ? stepped.cfa : 0;
			frame->entry = stepped.entry;
			frame->last = stepped.last;
			return;
		}
		frame->cfa = stepped.cfa;
		frame->signal = stepped.signal;
		frame->entry = stepped.entry;
		frame->last = stepped.last;
		if (w->pc == pc_before && stepped.cfa == cfa_before) {
			w->end = UNWIND_BAD_RULE;
			return;
		}
		cfa_before = stepped.cfa;
		if (!w->pc && !stepped.signal) {
			w->null_return = true;
			w->end = UNWIND_COMPLETE;
			return;
		}
		if (result->count == input->max_frames)
			break;
		guessed = stepped.guessed;
		result->guessed += guessed;
		w->exact = stepped.signal;
		w->first = false;
	}
	w->end = UNWIND_LIMIT;
}

void unwind(const struct unwind_input *input, struct unwind_frame *frames, struct unwind_result *result)
{
	const struct machine *m = machine_of(input->arch);
	for (;;) {
		struct walk w = { .input = input, .machine = m, .known = input->registers.known, .pc = input->registers.pc,
			.memory = { .address = input->stack_address, .bytes = input->stack, .word = m->word },
			.exact = true, .first = true, .module = MODULE_ID_NONE };
		memcpy(w.registers, input->registers.values, sizeof w.registers);
		w.needed = atomic_load(&input->tables->needed) & ~((uint64_t)1 << m->sp | (uint64_t)1 << m->fp);
		*result = (struct unwind_result){ .module = MODULE_ID_NONE };
		walk_stack(&w, frames, result);
		result->end = w.end;
		result->module = w.module;
		result->missing = w.missing;
		result->null_return = w.null_return;
		/* a table loaded meanwhile reads more registers */
		if ((atomic_load(&input->tables->needed) & ~(w.needed | (uint64_t)1 << m->sp | (uint64_t)1 << m->fp)) == 0)
			return;
	}
}
