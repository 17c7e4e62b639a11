/* The BPF programs of task_counts, instruction by instruction, for the places of members in the running kernel. */
#pragma once
#include "bpf/assemble.h"

/* The values of maps, as 64-bit words. A task: its slot, and its migrations up to its last switch. A CPU: the slot of the counted task that
 * runs on it (0: another one), since when, and whether this is known. The sums of slot 0 are those of no task: its switches are tasks that
 * could not be followed, its migrations are switches that the kernel did not report, its time is that in which such a switch was. */
enum task_word { TASK_WORD_SLOT, TASK_WORD_MIGRATIONS, TASK_WORDS };
enum cpu_word { CPU_WORD_SLOT, CPU_WORD_SINCE, CPU_WORD_KNOWN, CPU_WORDS };
/* The map `control`, as 32-bit words: whether tasks are counted, the last slot in use. */
enum task_control { TASK_CONTROL_ON, TASK_CONTROL_LAST, TASK_CONTROLS };

enum task_program {
	TASK_PROGRAM_SWITCH, TASK_PROGRAM_FORK, TASK_PROGRAM_EXIT, TASK_PROGRAM_LIST, TASK_PROGRAM_UPDATE, TASK_PROGRAM_FAULT,
};

struct task_programs {
	int tasks, cpu_states, control, sums;                     /* descriptors of maps */
	int32_t pid, tgid, flags, comm, migrations;  /* bytes from the beginning of a task_struct */
};

/* fault: word of the sum that the program of faults adds to. */
void task_program_make(const struct task_programs *places, enum task_program which, uint32_t fault_word, struct bpf_instructions *out);
