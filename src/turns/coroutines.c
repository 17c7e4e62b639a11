/* Both ends of each pair, or all that yield to each other, as coroutines of one thread. A switch saves the registers that a call preserves
 * and changes the stack, without a system call. Sources: System V ABI for AMD64, 3.2.1; AAPCS64, 6.1. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "turns/exchange.h"

#if defined(__x86_64__)
#define OWN_SWITCH 1
/* Saves the stack pointer in *from and continues at `to`. */
void turns_switch(void **from, void *to);
__asm__(".text\n.globl turns_switch\n.type turns_switch, @function\nturns_switch:\n"
	"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
	".size turns_switch, .-turns_switch\n"
	/* where a new coroutine begins: r12 is its function, rbx the argument */
	".globl turns_start\n.type turns_start, @function\nturns_start:\nmov %rbx, %rdi\ncall *%r12\nud2\n.size turns_start, .-turns_start\n");
enum { FUNCTION_WORD = 3, ARGUMENT_WORD = 4, RETURN_WORD = 6, FRAME_WORDS = 7 };
#elif defined(__aarch64__)
#define OWN_SWITCH 1
void turns_switch(void **from, void *to);
__asm__(".text\n.globl turns_switch\n.type turns_switch, %function\nturns_switch:\n"
	"sub sp, sp, #160\n"
	"stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\n"
	"stp x29, x30, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
	"mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
	"ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\nldp x27, x28, [sp, #64]\n"
	"ldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
	"add sp, sp, #160\nret\n"
	".size turns_switch, .-turns_switch\n"
	/* where a new coroutine begins: x20 is its function, x19 the argument */
	".globl turns_start\n.type turns_start, %function\nturns_start:\nmov x0, x19\nblr x20\nbrk #0\n.size turns_start, .-turns_start\n");
enum { ARGUMENT_WORD = 0, FUNCTION_WORD = 1, RETURN_WORD = 11, FRAME_WORDS = 20 };
#endif

#ifdef OWN_SWITCH
void turns_start(void);

enum { STACK_BYTES = 32 << 10 };

struct coroutines;

struct coroutine {
	struct coroutines *all;
	uint32_t number;         /* twice that of the pair, plus that of the end; without pairs its own */
	void *stack;             /* its memory */
	void *at;                /* stack pointer while it does not run */
};

struct coroutines {
	struct exchange exchange;
	struct coroutine *list;
	uint32_t count;
	char (*boxes)[TURNS_BYTES_MAX]; /* the message to each end */
	bool *full;
	void *main;
	struct error *err;
};

/* Runs the next one, in the order of the list; returns when it is this one's turn again. */
static void pass(struct coroutine *one)
{
	struct coroutine *next = &one->all->list[(one->number + 1) % one->all->count];
	if (next != one)
		turns_switch(&one->at, next->at);
}

static int send_message(void *context, uint32_t pair, unsigned end, struct error *err)
{
	struct coroutines *all = context;
	uint32_t to = 2 * pair + (1 - end);
	(void)err;
	memset(all->boxes[to], 0, all->exchange.run->plan->bytes);
	all->full[to] = true;
	return 0;
}

/* Takes turns until all pairs have finished. */
static void run_coroutine(struct coroutine *one)
{
	struct coroutines *all = one->all;
	char message[TURNS_BYTES_MAX];
	uint32_t bytes = all->exchange.run->plan->bytes;
	while (all->exchange.unfinished) {
		if (all->full[one->number]) {
			all->full[one->number] = false;
			memcpy(message, all->boxes[one->number], bytes);
			__asm__ volatile("" : : "r"(message) : "memory");
			exchange_received(&all->exchange, one->number / 2, one->number % 2, bytes, all->err);
		}
		if (all->exchange.unfinished)
			pass(one);
	}
	turns_switch(&one->at, all->main);
}

/* Yields at each of its turns, and then until all have taken theirs. */
static void run_yielding(struct coroutine *one)
{
	struct coroutines *all = one->all;
	struct exchange_pair *own = &all->exchange.pairs[one->number];
	while (own->rounds) {
		work_do(&own->work[0]);
		uint64_t began = now_ns();
		pass(one);
		latency_add(&all->exchange.run->result->latency, now_ns() - began);
		if (--own->rounds == 0)
			all->exchange.unfinished--;
	}
	while (all->exchange.unfinished)
		pass(one);
	turns_switch(&one->at, all->main);
}

static void coroutine_open(struct coroutine *one, struct coroutines *all, uint32_t number, void (*function)(struct coroutine *))
{
	*one = (struct coroutine){ .all = all, .number = number, .stack = memory_zero(1, STACK_BYTES) };
	uintptr_t top = ((uintptr_t)one->stack + STACK_BYTES) & ~(uintptr_t)15;
	uintptr_t *frame = (uintptr_t *)top - FRAME_WORDS;
	frame[FUNCTION_WORD] = (uintptr_t)function;
	frame[ARGUMENT_WORD] = (uintptr_t)one;
	frame[RETURN_WORD] = (uintptr_t)turns_start;
	one->at = frame;
}

int turns_coroutines(struct turns_run *run, struct error *err)
{
	bool pairs = turn_way_has_pairs(run->plan->way);
	struct coroutines all = { .count = (pairs ? 2 : 1) * run->plan->pairs, .err = err };
	all.exchange.context = &all;
	all.exchange.send = send_message;
	int status = exchange_open(&all.exchange, run, err);
	all.list = memory_zero(all.count, sizeof *all.list);
	all.boxes = memory_zero(all.count, sizeof *all.boxes);
	all.full = memory_zero(all.count, sizeof *all.full);
	for (uint32_t i = 0; i < all.count; i++)
		coroutine_open(&all.list[i], &all, i, pairs ? run_coroutine : run_yielding);
	if (!pairs) {
		run->result->turns = run->plan->rounds * all.count;
		run->began_ns = now_ns();
	} else if (status == 0) {
		status = exchange_begin(&all.exchange, err);
	}
	if (status == 0 && all.exchange.unfinished)
		turns_switch(&all.main, all.list[0].at);
	for (uint32_t i = 0; i < all.count; i++)
		free(all.list[i].stack);
	free(all.list);
	free(all.boxes);
	free(all.full);
	exchange_close(&all.exchange);
	return status;
}

#else

int turns_coroutines(struct turns_run *run, struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED, "coroutines switch by code that exists for x86_64 and aarch64");
}

#endif
