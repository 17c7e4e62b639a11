/* The part of counting that counts software events of all threads of the machine without counters (bpf/task_counts). */
#pragma once
#include "record/count/counting.h"

/* Before the measurement is opened: decides which events are counted so, and lists the threads for it. Without events of this kind, or
 * where the kernel lacks something, nothing changes: counters are opened. */
void counting_open_tasks(struct counting *c, const struct counting_options *options, struct target_options *target);
/* After it was opened: the command is not counted, as it is not in the list. */
void counting_leave_out_command(struct counting *c);
void counting_switch_tasks(struct counting *c, bool on);
struct count counting_task_count(const struct counting *c, size_t counter);
void counting_close_tasks(struct counting *c);
