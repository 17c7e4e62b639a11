#include "bpf/task_programs.h"

#include <stddef.h>

#include "bpf/task_counts.h"

enum helper { LOOKUP = 1, TIME_NS = 5, PROBE_READ_KERNEL = 113, SEQ_WRITE = 127, TASK_STORAGE_GET = 156, CURRENT_TASK = 158 };
enum { WORD = 8, KEY = -8, FOUND = -8 - (int)sizeof(struct task_found), R4 = 4, R5 = 5, MAKE = 1 };

struct making {
	struct assembler a;
	const struct task_programs *at;
	uint32_t end;
};

static void move(struct making *m, unsigned to, unsigned from)
{
	emit(&m->a, BPF_MOVE_REGISTER, to, from, 0, 0);
}

static void end_if_zero(struct making *m, unsigned left)
{
	emit_jump(&m->a, BPF_JUMP_EQUAL, left, 0, m->end);
}

/* R0: the value of the map whose key is on the stack; the program ends if the map has no such key. */
static void look_up(struct making *m, int map)
{
	move(m, R2, R10);
	emit(&m->a, BPF_PLUS, R2, 0, 0, KEY);
	emit_wide(&m->a, R1, BPF_MAP_DESCRIPTOR, (uint32_t)map);
	emit_helper(&m->a, LOOKUP);
	end_if_zero(m, R0);
}

static void look_up_first(struct making *m, int map)
{
	emit(&m->a, BPF_STORE_ZERO, R10, 0, KEY, 0);
	look_up(m, map);
}

/* R0: the sums of the slot in a register. */
static void look_up_sums(struct making *m, unsigned slot)
{
	emit(&m->a, BPF_STORE_HALF, R10, slot, KEY, 0);
	look_up(m, m->at->sums);
}

/* R0: the value of the task in a register, possibly 0. */
static void get_task(struct making *m, unsigned task, int make)
{
	move(m, R2, task);
	emit_wide(&m->a, R1, BPF_MAP_DESCRIPTOR, (uint32_t)m->at->tasks);
	emit(&m->a, BPF_MOVE, R3, 0, 0, 0);
	emit(&m->a, BPF_MOVE, R4, 0, 0, make);
	emit_helper(&m->a, TASK_STORAGE_GET);
}

static void add_to_sum(struct making *m, unsigned sum, size_t offset, unsigned number)
{
	emit(&m->a, BPF_ATOMIC_ADD, sum, number, (int)offset, 0);
}

static void add_one(struct making *m, unsigned sum, size_t offset)
{
	emit(&m->a, BPF_MOVE, R1, 0, 0, 1);
	add_to_sum(m, sum, offset, R1);
}

/* R9: the slot of the task in a register; 0: it is not counted. R0: its value, possibly 0. */
static void get_slot(struct making *m, unsigned task)
{
	uint32_t none = assembler_label(&m->a);
	get_task(m, task, 0);
	emit(&m->a, BPF_MOVE, R9, 0, 0, 0);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R0, 0, none);
	emit(&m->a, BPF_LOAD_LONG, R9, R0, TASK_WORD_SLOT * WORD, 0);
	assembler_place(&m->a, none);
}

/* R0: sums. R7: the CPU's state, R8: the time. */
static void add_time(struct making *m)
{
	move(m, R1, R8);
	emit(&m->a, BPF_LOAD_LONG, R2, R7, CPU_WORD_SINCE * WORD, 0);
	emit(&m->a, BPF_MINUS_REGISTER, R1, R2, 0, 0);
	add_to_sum(m, R0, offsetof(struct task_sum, runtime_ns), R1);
}

/* R7, R8: as above. Another task ran than the CPU's state says: the kernel did not report that this one left. */
static void add_missed(struct making *m)
{
	uint32_t idle = assembler_label(&m->a);
	emit(&m->a, BPF_LOAD_LONG, R1, R7, CPU_WORD_SLOT * WORD, 0);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R1, 0, idle);
	look_up_sums(m, R1);
	add_one(m, R0, offsetof(struct task_sum, switches));
	assembler_place(&m->a, idle);
	look_up_first(m, m->at->sums);
	add_one(m, R0, offsetof(struct task_sum, migrations));
	add_time(m);
}

/* R9: the slot of the task that ran until now. It gets its time, and one switch if it leaves; then it is unknown who runs here.
 * R7: the CPU's state, R8: the time. */
static void end_running(struct making *m, bool leaves)
{
	uint32_t sure = assembler_label(&m->a), done = assembler_label(&m->a);
	look_up_first(m, m->at->cpu_states);
	move(m, R7, R0);
	emit_helper(&m->a, TIME_NS);
	move(m, R8, R0);
	emit(&m->a, BPF_LOAD_LONG, R1, R7, CPU_WORD_KNOWN * WORD, 0);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R1, 0, done);
	emit(&m->a, BPF_LOAD_LONG, R1, R7, CPU_WORD_SLOT * WORD, 0);
	emit_jump(&m->a, BPF_JUMP_EQUAL | BPF_BY_REGISTER, R1, R9, sure);
	add_missed(m);
	assembler_place(&m->a, sure);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R9, 0, done);
	look_up_sums(m, R9);
	if (leaves)
		add_one(m, R0, offsetof(struct task_sum, switches));
	emit(&m->a, BPF_LOAD_LONG, R1, R7, CPU_WORD_SLOT * WORD, 0);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R1, 0, done);
	add_time(m);
	assembler_place(&m->a, done);
	emit(&m->a, BPF_STORE_LONG_VALUE, R7, 0, CPU_WORD_SLOT * WORD, 0);
	emit(&m->a, BPF_STORE_LONG_VALUE, R7, 0, CPU_WORD_KNOWN * WORD, 0);
}

/* R1: whether tasks are counted. */
static void load_on(struct making *m)
{
	look_up_first(m, m->at->control);
	emit(&m->a, BPF_LOAD_WORD, R1, R0, TASK_CONTROL_ON * 4, 0);
}

/* R7, R8: as above; R9: the slot of the task that runs from now on. The program ends if tasks are not counted. */
static void begin_running(struct making *m)
{
	load_on(m);
	end_if_zero(m, R1);
	emit(&m->a, BPF_STORE_REGISTER, R7, R9, CPU_WORD_SLOT * WORD, 0);
	emit(&m->a, BPF_STORE_REGISTER, R7, R8, CPU_WORD_SINCE * WORD, 0);
	emit(&m->a, BPF_STORE_LONG_VALUE, R7, 0, CPU_WORD_KNOWN * WORD, 1);
}

/* R9: the slot of the task in an argument, which gets a migration if it had one since the last time it was here. */
static void get_moved(struct making *m, int argument)
{
	uint32_t done = assembler_label(&m->a);
	emit(&m->a, BPF_LOAD_LONG, R1, R6, argument * WORD, 0);
	get_slot(m, R1);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R0, 0, done);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R9, 0, done);
	emit(&m->a, BPF_LOAD_LONG, R1, R6, argument * WORD, 0);
	emit(&m->a, BPF_LOAD_LONG, R1, R1, m->at->migrations, 0);
	emit(&m->a, BPF_LOAD_LONG, R2, R0, TASK_WORD_MIGRATIONS * WORD, 0);
	emit_jump(&m->a, BPF_JUMP_EQUAL | BPF_BY_REGISTER, R1, R2, done);
	emit(&m->a, BPF_STORE_REGISTER, R0, R1, TASK_WORD_MIGRATIONS * WORD, 0);
	load_on(m);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R1, 0, done);
	look_up_sums(m, R9);
	add_one(m, R0, offsetof(struct task_sum, migrations)); /* the kernel's event counts several between two switches as one */
	assembler_place(&m->a, done);
}

/* Arguments: preempt, the task that leaves, the one that comes. The one that leaves has a new migration if its coming was not reported. */
static void make_switch(struct making *m)
{
	get_moved(m, 1);
	end_running(m, true);
	get_moved(m, 2);
	begin_running(m);
}

/* R0: the value of the task in a register; ends if there is no room for it. */
static void make_task(struct making *m, unsigned task)
{
	uint32_t made = assembler_label(&m->a);
	get_task(m, task, MAKE);
	emit_jump(&m->a, BPF_JUMP_NOT_EQUAL, R0, 0, made);
	look_up_first(m, m->at->sums);
	add_one(m, R0, offsetof(struct task_sum, switches));
	emit_jump(&m->a, BPF_JUMP, 0, 0, m->end);
	assembler_place(&m->a, made);
}

/* Arguments: the task, its child. */
static void make_fork(struct making *m)
{
	emit(&m->a, BPF_LOAD_LONG, R1, R6, 0, 0);
	get_task(m, R1, 0);
	end_if_zero(m, R0);
	emit(&m->a, BPF_LOAD_LONG, R9, R0, TASK_WORD_SLOT * WORD, 0);
	end_if_zero(m, R9);
	emit(&m->a, BPF_LOAD_LONG, R7, R6, WORD, 0);
	make_task(m, R7);
	emit(&m->a, BPF_LOAD_LONG, R1, R7, m->at->migrations, 0);
	emit(&m->a, BPF_STORE_REGISTER, R0, R1, TASK_WORD_MIGRATIONS * WORD, 0);
	emit(&m->a, BPF_STORE_REGISTER, R0, R9, TASK_WORD_SLOT * WORD, 0);
}

/* The task that ends is the one that runs. Its events end here, too, before its memory is released (kernel/exit.c). */
static void make_exit(struct making *m)
{
	emit(&m->a, BPF_LOAD_LONG, R1, R6, 0, 0);
	get_slot(m, R1);
	emit_jump(&m->a, BPF_JUMP_EQUAL, R0, 0, m->end);
	emit(&m->a, BPF_STORE_LONG_VALUE, R0, 0, TASK_WORD_SLOT * WORD, 0);
	end_running(m, false);
	emit(&m->a, BPF_MOVE, R9, 0, 0, 0);
	begin_running(m);
}

static void store_found(struct making *m, int32_t member, size_t offset)
{
	emit(&m->a, BPF_LOAD_WORD, R1, R7, member, 0);
	emit(&m->a, BPF_STORE_HALF, R10, R1, FOUND + (int)offset, 0);
}

/* A task that has a slot is written, too: the kernel calls the program again for a task that found no room, and a child of a task of the
 * list has its slot. Arguments: struct bpf_iter__task. */
static void make_list(struct making *m)
{
	uint32_t has_slot = assembler_label(&m->a);
	emit(&m->a, BPF_LOAD_LONG, R7, R6, WORD, 0);
	end_if_zero(m, R7);
	make_task(m, R7);
	move(m, R8, R0);
	emit(&m->a, BPF_LOAD_LONG, R9, R8, TASK_WORD_SLOT * WORD, 0);
	emit_jump(&m->a, BPF_JUMP_NOT_EQUAL, R9, 0, has_slot);
	look_up_first(m, m->at->control);
	emit(&m->a, BPF_LOAD_WORD, R9, R0, TASK_CONTROL_LAST * 4, 0);
	emit(&m->a, BPF_PLUS, R9, 0, 0, 1);
	emit(&m->a, BPF_STORE_HALF, R0, R9, TASK_CONTROL_LAST * 4, 0);
	emit(&m->a, BPF_LOAD_LONG, R1, R7, m->at->migrations, 0);
	emit(&m->a, BPF_STORE_REGISTER, R8, R1, TASK_WORD_MIGRATIONS * WORD, 0);
	emit(&m->a, BPF_STORE_REGISTER, R8, R9, TASK_WORD_SLOT * WORD, 0);
	assembler_place(&m->a, has_slot);
	store_found(m, m->at->pid, offsetof(struct task_found, tid));
	store_found(m, m->at->tgid, offsetof(struct task_found, tgid));
	store_found(m, m->at->flags, offsetof(struct task_found, flags));
	emit(&m->a, BPF_STORE_HALF, R10, R9, FOUND + (int)offsetof(struct task_found, slot), 0);
	move(m, R1, R10);
	emit(&m->a, BPF_PLUS, R1, 0, 0, FOUND + (int)offsetof(struct task_found, comm));
	emit(&m->a, BPF_MOVE, R2, 0, 0, (int32_t)sizeof(((struct task_found *)NULL)->comm));
	move(m, R3, R7);
	emit(&m->a, BPF_PLUS, R3, 0, 0, m->at->comm);
	emit_helper(&m->a, PROBE_READ_KERNEL);
	emit(&m->a, BPF_LOAD_LONG, R1, R6, 0, 0);
	emit(&m->a, BPF_LOAD_LONG, R1, R1, 0, 0);
	move(m, R2, R10);
	emit(&m->a, BPF_PLUS, R2, 0, 0, FOUND);
	emit(&m->a, BPF_MOVE, R3, 0, 0, (int32_t)sizeof(struct task_found));
	emit_helper(&m->a, SEQ_WRITE);
}

/* User space runs it on each CPU. */
static void make_update(struct making *m)
{
	emit_helper(&m->a, CURRENT_TASK);
	get_slot(m, R0);
	end_running(m, false);
	begin_running(m);
}

/* The fault is one of the task that runs. */
static void make_fault(struct making *m, uint32_t fault_word)
{
	load_on(m);
	end_if_zero(m, R1);
	emit_helper(&m->a, CURRENT_TASK);
	get_slot(m, R0);
	end_if_zero(m, R9);
	look_up_sums(m, R9);
	add_one(m, R0, fault_word * WORD);
}

void task_program_make(const struct task_programs *places, enum task_program which, uint32_t fault_word, struct bpf_instructions *out)
{
	struct making m = { .a = { .out = out }, .at = places };
	m.end = assembler_label(&m.a);
	move(&m, R6, R1);
	switch (which) {
	case TASK_PROGRAM_SWITCH:
		make_switch(&m);
		break;
	case TASK_PROGRAM_FORK:
		make_fork(&m);
		break;
	case TASK_PROGRAM_EXIT:
		make_exit(&m);
		break;
	case TASK_PROGRAM_LIST:
		make_list(&m);
		break;
	case TASK_PROGRAM_UPDATE:
		make_update(&m);
		break;
	case TASK_PROGRAM_FAULT:
		make_fault(&m, fault_word);
		break;
	}
	assembler_place(&m.a, m.end);
	emit(&m.a, BPF_MOVE, R0, 0, 0, 0);
	emit(&m.a, BPF_END, 0, 0, 0, 0);
	assembler_fini(&m.a);
}
