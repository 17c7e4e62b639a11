// A program whose every function has exactly one possible chain of callers: what a sampled stack must be is known by the name of
// its innermost function. test/unwind_test.py holds the list. First argument: milliseconds for each part; second: the part (default all).
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <alloca.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#if __cplusplus >= 202002L
#include <coroutine>
#endif

#define KEEP extern "C" __attribute__((noinline, noclone, used))
#if defined __clang__
#undef KEEP
#define KEEP extern "C" __attribute__((noinline, used))
#endif
#define AFTER_CALL(x) __asm__ volatile("" : "+r"(x)) /* no tail call: something is left to do */

static volatile unsigned long sink;
static long part_ms;
static timespec part_began;

static bool time_left()
{
	timespec now;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (now.tv_sec - part_began.tv_sec) * 1000 + (now.tv_nsec - part_began.tv_nsec) / 1000000 < part_ms;
}

// frames of all sizes, callee-saved registers or not, ways out in the middle

KEEP unsigned long leaf_small(unsigned long x)
{
	return x * 6364136223846793005u + 1;
}

KEEP unsigned long leaf_array(unsigned long x)
{
	volatile unsigned char bytes[100];
	for (int i = 0; i < 20; i++)
		bytes[(x + i) % 100] = (unsigned char)i;
	return x + bytes[x % 100];
}

KEEP unsigned long saves_many(unsigned long a)
{
	unsigned long b = a + 1, c = a * 3, d = a ^ 5, e = a | 7, f = a & 11;
	for (int i = 0; i < 4; i++) {
		if (a % 1000 == 999)
			return b;
		a += leaf_small(a);
		b ^= a; c += b; d -= c; e += d; f ^= e;
		AFTER_CALL(b); AFTER_CALL(c); AFTER_CALL(d); AFTER_CALL(e); AFTER_CALL(f);
	}
	return a + b + c + d + e + f;
}

KEEP unsigned long big_frame(unsigned long x)
{
	volatile unsigned long room[300];
	room[x % 300] = x;
	unsigned long y = leaf_array(x);
	AFTER_CALL(y);
	return y + room[x % 300];
}

KEEP unsigned long with_alloca(unsigned long x)
{
	size_t size = 16 + x % 512;
	volatile char *room = (volatile char *)alloca(size);
	for (size_t i = 0; i < size; i += 16)
		room[i] = (char)x;
	unsigned long y = big_frame(x + (unsigned long)room[0]);
	AFTER_CALL(y);
	return y + (unsigned long)room[size / 2];
}

KEEP unsigned long __attribute__((aligned(64))) realigned(unsigned long x)
{
	alignas(64) volatile unsigned char block[128];
	block[x % 128] = (unsigned char)x;
	unsigned long y = with_alloca(x);
	AFTER_CALL(y);
	return y + block[x % 128];
}

KEEP void part_frames()
{
	unsigned long x = 1;
	while (time_left())
		for (int i = 0; i < 2000; i++) {
			x += saves_many(x);
			x += realigned(x);
		}
	sink = x;
}

// 300 different functions deep

template <int N> __attribute__((noinline)) unsigned long deep(unsigned long x)
{
	unsigned long y = deep<N - 1>(x + N);
	AFTER_CALL(y);
	return y + N % 7;
}

template <> __attribute__((noinline)) unsigned long deep<0>(unsigned long x)
{
	for (int i = 0; i < 200; i++)
		x = x * 6364136223846793005u + 1;
	sink = x;
	return x;
}

KEEP void part_deep()
{
	unsigned long x = 1;
	while (time_left())
		for (int i = 0; i < 200; i++)
			x += deep<300>(x);
	sink = x;
}

#if defined __x86_64__ && !defined NO_ASM
// by hand: a tail call, a CFA that is an expression, registers in odd places
__asm__(R"(
	.text
	.globl asm_tail, asm_target, asm_expression
	.type asm_tail, @function
asm_tail:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	mov %rdi, %rbx
	lea 3(%rbx), %rdi
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	jmp asm_target
	.cfi_endproc
	.size asm_tail, . - asm_tail
	.type asm_target, @function
asm_target:
	.cfi_startproc
	mov $20, %ecx
1:	imul $77, %rdi, %rdi
	add $3, %rdi
	dec %ecx
	jnz 1b
	mov %rdi, %rax
	ret
	.cfi_endproc
	.size asm_target, . - asm_target
	.type asm_expression, @function
asm_expression:
	.cfi_startproc
	mov %rsp, %rax
	.cfi_def_cfa_register %rax
	sub $40, %rsp
	and $-32, %rsp
	mov %rax, 16(%rsp)
	# DW_CFA_def_cfa_expression: DW_OP_breg7 16, DW_OP_deref, DW_OP_plus_uconst 8
	.cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 8
	call asm_tail
	mov 16(%rsp), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size asm_expression, . - asm_expression
)");
extern "C" unsigned long asm_expression(unsigned long);
#else
KEEP unsigned long asm_expression(unsigned long x)
{
	return x + 1;
}
#endif

KEEP void part_asm()
{
	unsigned long x = 1;
	while (time_left())
		for (int i = 0; i < 5000; i++)
			x += asm_expression(x);
	sink = x;
}

// code that was made as the program runs: a frame by frame pointer, and no call frame information at all

KEEP unsigned long jit_called(unsigned long x)
{
	for (int i = 0; i < 100; i++)
		x = x * 7 + 1;
	return x;
}

KEEP void part_jit()
{
#if defined __x86_64__
	/* push %rbp; mov %rsp, %rbp; sub $32, %rsp; call *%rsi; leave; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd6, 0xc9, 0xc3 };
	void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(page, code, sizeof code);
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	auto made = reinterpret_cast<unsigned long (*)(unsigned long, unsigned long (*)(unsigned long))>(page);
	unsigned long x = 1;
	while (time_left())
		for (int i = 0; i < 1000; i++)
			x += made(x, jit_called);
	sink = x;
#endif
}

// signals: on the stack of what they interrupt, and on one of their own

KEEP unsigned long handler_work(unsigned long x)
{
	for (int i = 0; i < 20000; i++)
		x = x * 77 + 5;
	return x;
}

KEEP void on_signal(int)
{
	unsigned long y = handler_work(3);
	AFTER_CALL(y);
	sink = y;
}

KEEP void on_other_stack(int)
{
	unsigned long y = handler_work(5);
	AFTER_CALL(y);
	sink = y;
}

static volatile sig_atomic_t busy;

KEEP unsigned long interrupted(unsigned long x)
{
	for (int i = 0; i < 50000; i++)
		x = x * 3 + 1;
	sink = x;
	return x;
}

static void arm(void (*handler)(int), int flags)
{
	struct sigaction action = {};
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(SIGALRM, &action, nullptr);
	timer_t timer;
	static timer_t made;
	static bool have;
	if (have)
		timer_delete(made);
	timer_create(CLOCK_MONOTONIC, nullptr, &timer);
	made = timer;
	have = true;
	itimerspec when = { { 0, 100000 }, { 0, 100000 } };
	if (!handler)
		when = {};
	timer_settime(timer, 0, &when, nullptr);
}

KEEP void part_signal()
{
	arm(on_signal, 0);
	unsigned long x = 1;
	while (time_left())
		x += interrupted(x);
	arm(SIG_IGN, 0);
	sink = x;
}

KEEP void part_other_stack()
{
	static char room[65536];
	stack_t other = {};
	other.ss_sp = room;
	other.ss_size = sizeof room;
	sigaltstack(&other, nullptr);
	arm(on_other_stack, SA_ONSTACK);
	unsigned long x = 1;
	while (time_left())
		x += interrupted(x);
	arm(SIG_IGN, 0);
	sink = x;
}

// exceptions in flight

#ifdef __cpp_exceptions
KEEP unsigned long thrower(unsigned long x)
{
	if (x % 2 == 0)
		throw std::runtime_error("even");
	return x;
}

KEEP unsigned long passes_through(unsigned long x)
{
	struct cleanup {
		~cleanup() { sink = sink + 1; }
	} each;
	unsigned long y = thrower(x);
	AFTER_CALL(y);
	return y;
}

KEEP void part_exceptions()
{
	unsigned long x = 1;
	while (time_left())
		for (int i = 0; i < 50; i++)
			try {
				x += passes_through(x + i);
			} catch (const std::exception &) {
				x += 3;
			}
	sink = x;
}

#else
KEEP void part_exceptions()
{
}
#endif

// jumps out of the middle

// The buffer is on the stack: while longjmp loads registers, the saved ones are in the buffer, and a recording has the stack alone.
static jmp_buf *landing;

KEEP void jumper(unsigned long x)
{
	for (int i = 0; i < 100; i++)
		x = x * 5 + 3;
	sink = x;
	longjmp(*landing, 1);
}

KEEP void calls_jumper(unsigned long x)
{
	unsigned long y = x;
	jumper(x);
	AFTER_CALL(y);
	sink = y;
}

KEEP void part_jumps()
{
	static volatile unsigned long x = 1;
	jmp_buf buffer;
	landing = &buffer;
	while (time_left()) {
		if (setjmp(buffer) == 0)
			calls_jumper(x);
		x = x + 1;
	}
}

// stacks of one's own

static ucontext_t outside, inside;

KEEP unsigned long context_work(unsigned long x)
{
	for (int i = 0; i < 300; i++)
		x = x * 5 + 3;
	return x;
}

KEEP void context_main()
{
	for (unsigned long x = 1;;) {
		x += context_work(x);
		sink = x;
		swapcontext(&inside, &outside);
	}
}

KEEP void part_context()
{
	static char room[65536];
	getcontext(&inside);
	inside.uc_stack.ss_sp = room;
	inside.uc_stack.ss_size = sizeof room;
	inside.uc_link = nullptr;
	makecontext(&inside, context_main, 0);
	while (time_left())
		swapcontext(&outside, &inside);
}

#if __cplusplus >= 202002L
struct generator {
	struct promise_type {
		unsigned long value = 0;
		generator get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(unsigned long v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};

KEEP unsigned long coroutine_work(unsigned long x)
{
	for (int i = 0; i < 300; i++)
		x = x * 5 + 3;
	return x;
}

static generator counts()
{
	for (unsigned long x = 1;;) {
		x += coroutine_work(x);
		co_yield x;
	}
}

KEEP void part_coroutine()
{
	generator g = counts();
	while (time_left()) {
		g.handle.resume();
		sink = g.handle.promise().value;
	}
	g.handle.destroy();
}
#endif

// a thread, and functions of another file through the PLT

extern "C" unsigned long outside_leaf(unsigned long x);
extern "C" unsigned long outside_calls(unsigned long (*back)(unsigned long), unsigned long x);

KEEP unsigned long called_back(unsigned long x)
{
	for (int i = 0; i < 30; i++)
		x = x * 7 + 1;
	return x;
}

KEEP void *thread_main(void *)
{
	unsigned long x = 1;
	while (time_left())
		for (int i = 0; i < 1000; i++) {
			x += outside_leaf(x);
			x += outside_calls(called_back, x);
		}
	sink = x;
	return nullptr;
}

KEEP void part_thread()
{
	pthread_t thread;
	pthread_create(&thread, nullptr, thread_main, nullptr);
	pthread_join(thread, nullptr);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(); } parts[] = {
		{ "frames", part_frames }, { "deep", part_deep }, { "asm", part_asm }, { "jit", part_jit }, { "signal", part_signal },
		{ "other-stack", part_other_stack }, { "exceptions", part_exceptions }, { "jumps", part_jumps },
		{ "context", part_context }, { "thread", part_thread },
#if __cplusplus >= 202002L
		{ "coroutine", part_coroutine },
#endif
	};
	part_ms = argc > 1 ? atol(argv[1]) : 100;
	for (auto &part : parts) {
		if (argc > 2 && strcmp(argv[2], part.name) != 0)
			continue;
		clock_gettime(CLOCK_MONOTONIC_COARSE, &part_began);
		part.run();
	}
	return 0;
}
