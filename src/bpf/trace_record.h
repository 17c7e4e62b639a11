/* The records that trace.bpf.c sends to the reader of its ring, and the tables that steer it: the only file that both include. */
#pragma once
#include <linux/types.h>

enum {
	TRACE_NUMBERS = 512,       /* system call numbers below this are traced; those of 32-bit tasks follow in the table of rules */
	TRACE_ARGUMENTS = 6,
	TRACE_STRING_MAX = 4096,   /* bytes of a copied string, its end included */
	TRACE_BYTES_MAX = 256,     /* bytes of another copied argument, or of a string of a list */
	TRACE_LIST_MAX = 15,       /* strings of a copied list */
	TRACE_COMM = 16,
	TRACE_PARTS = 32,          /* a power of two */
};

enum trace_record_kind {
	TRACE_ENTERED = 1,           /* a call that has not returned yet */
	TRACE_LEFT,                /* the return of a call whose entry was sent or not seen */
	TRACE_WHOLE,                /* entry and return in one */
	TRACE_TASK,                /* struct trace_task_record */
};

/* payload: bytes behind the arguments, a row of struct trace_item. */
struct trace_call {
	__u8 kind, arguments_sent, compat, unused;
	__u32 tid;
	__s16 number;
	__u16 cpu;                 /* that sent it */
	__u32 payload;
	__u64 entered, left;       /* CLOCK_MONOTONIC, ns; entered 0: the entry was not seen */
	__s64 result;
	__u64 arguments[TRACE_ARGUMENTS]; /* arguments_sent of them */
};

/* What an argument points to; the next item follows at a multiple of 8 bytes. */
struct trace_item {
	__u8 argument, failed;     /* failed: the memory could not be read yet */
	__u16 size;                /* of the bytes that follow; of a string with its end */
	__u32 unused;
};

enum trace_task_event { TRACE_TASK_SEEN, TRACE_TASK_FORKED, TRACE_TASK_NAMED, TRACE_TASK_EXECUTED, TRACE_TASK_ENDED };

struct trace_task_record {
	__u8 kind, event, compat, unused; /* compat: a 32-bit program is executed */
	__u32 tid, tgid, parent;   /* parent: process of the parent, of a forked task */
	__u64 time;
	__u64 cgroup;              /* id; 0: not known */
	char comm[TRACE_COMM];
};

/* What is copied of what an argument points to. */
enum trace_copy {
	TRACE_COPY_NONE,
	TRACE_COPY_STRING,
	TRACE_COPY_FIXED,          /* sizes[argument] bytes */
	TRACE_COPY_COUNTED,        /* as many as the next argument says, at most sizes[argument] */
	TRACE_COPY_STRINGS,        /* a list of pointers to strings, up to NULL: each with its end; behind them a byte of 1 if there are more */
	TRACE_COPY_ELEMENTS,       /* of `element` bytes, as many as the next argument says; at most sizes[argument] bytes */
};

enum trace_rule_flag {
	TRACE_RULE_SHOWN = 1,
	TRACE_RULE_ENDS = 2,       /* the call does not return: its entry is sent at once */
	TRACE_RULE_COMPAT_SHOWN = 4, /* in a rule of the first table: the second one shows this number */
};

struct trace_rule { /* a multiple of 8 bytes: the map is filled through memory */
	__u8 flags, arguments;
	__u8 copies[TRACE_ARGUMENTS], sizes[TRACE_ARGUMENTS];
	__u8 copied;               /* bit n: copies[n] is not 0. The entry is sent at once if such an argument is not NULL */
	__u8 element;
};

/* Shared with the reader, which sleeps: the program wakes it when the ring holds `watermark` bytes. */
struct trace_shared {
	__u32 asleep, watermark;
};

struct trace_sum_key {
	__u32 tid;
	__s32 number;              /* of a compat task: + TRACE_NUMBERS */
};

/* Times in ns. squares: the sum of squares of times below 2^32 ns; large_squares: of longer ones, in units of 2^32. */
struct trace_sum {
	__u64 calls, errors, total, min, max, squares, squares_carry, large_squares;
	__u64 unseen, unfinished;  /* returns without an entry; entries without a return */
};

/* A part of the sum of a key: `totals` has the other parts. */
struct trace_sum_part {
	struct trace_sum_key key;
	struct trace_sum sum;
};

enum trace_cpu_task { TRACE_CPU_UNKNOWN, TRACE_CPU_TRACED, TRACE_CPU_IGNORED };

/* A CPU's running task, and the sums of calls that returned on this CPU lately. */
struct trace_cpu {
	__u32 tid;
	__u8 task, in_call, unused[2];
	__s32 number;              /* in_call: of the call that runs, and when it was entered */
	__u64 entered;
	struct trace_sum_part parts[TRACE_PARTS];
};

struct trace_error_key {
	struct trace_sum_key of;
	__u32 error, unused;
};

enum trace_counter { TRACE_LOST, TRACE_SUMS_FULL, TRACE_COUNTERS };
