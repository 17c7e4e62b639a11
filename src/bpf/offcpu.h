/* Time that threads are blocked, summed by BPF programs (offcpu.bpf.c), and copies of their stacks. Knows no recording and no names.
 *
 *   offcpu_open → offcpu_start → offcpu_take, whenever offcpu_fd can be read → offcpu_stop → offcpu_each → offcpu_close
 *
 * Long waits (alone_ns) are in the list `waits` after offcpu_take and offcpu_stop. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "bpf/loader.h"
#include "bpf/offcpu_shared.h"

struct ring_buffer;

struct offcpu_options {
	/* Only these are counted; borrowed; a count of 0: all. */
	const int32_t *cpus;
	const uint32_t *tasks;
	size_t cpu_count, task_count;
	bool processes;              /* `tasks` are processes and not threads */
	bool follow;                 /* with processes: their children, too */
	bool wakers;                 /* who ends the wait, with its stacks */
	bool futexes;                /* only waits for futexes, with their address and holder */
	uint64_t alone_ns;           /* waits of at least this time are in `waits`, not in the sums; 0: all are summed */
};

/* The registers (the kernel's struct pt_regs) and the stack of a thread in user code. */
struct offcpu_stack {
	uint8_t registers[OFFCPU_REGISTERS_MAX];
	uint8_t *bytes;
	uint32_t size;
};

struct offcpu {
	struct loader loader;
	struct ring_buffer *ring;
	struct idmap by_id;          /* of a user stack → index in stacks */
	VEC(struct offcpu_stack) stacks;
	size_t stored;               /* bytes of them */
	VEC(struct offcpu_wait) waits; /* since the caller last cleared it */
	uint64_t dropped;            /* copies beyond the limit of memory */
};

/* Fails with ERROR_UNSUPPORTED on an architecture whose registers are unknown here. */
int offcpu_open(struct offcpu *offcpu, const struct offcpu_options *options, struct error *err);
int offcpu_add_task(struct offcpu *offcpu, uint32_t task, struct error *err);
int offcpu_start(struct offcpu *offcpu, struct error *err);
int offcpu_fd(const struct offcpu *offcpu);
void offcpu_take(struct offcpu *offcpu);
/* The sums are complete from here on: waits that have not ended are in them, up to now. */
void offcpu_stop(struct offcpu *offcpu);
/* Calls visit for each sum. */
void offcpu_each(const struct offcpu *offcpu,
	void (*visit)(void *context, const struct offcpu_key *key, const struct offcpu_sum *sum), void *context);
/* The addresses of a kernel stack, innermost first; returns their number. */
size_t offcpu_kernel_stack(const struct offcpu *offcpu, int32_t id, uint64_t frames[static OFFCPU_FRAMES]);
/* NULL: no copy. */
const struct offcpu_stack *offcpu_user_stack(const struct offcpu *offcpu, uint64_t id);
/* A register by its number in samples (asm/perf_regs.h). */
uint64_t offcpu_register(const struct offcpu_stack *stack, unsigned number);
uint64_t offcpu_ip(const struct offcpu_stack *stack);
/* Waits that are not in the sums, or lack a stack. */
uint64_t offcpu_lost(const struct offcpu *offcpu, enum offcpu_loss loss);
void offcpu_close(struct offcpu *offcpu);
