/* A system call: its name, its arguments as the kernel declares them, and how perf prints each. Knows no task and no value. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/syscalls.h"
#include "base/writer.h"

enum { CALL_ARGUMENTS = 6 };

/* How an argument is printed. */
enum argument_kind {
	ARGUMENT_LONG,       /* a decimal number */
	ARGUMENT_INT,
	ARGUMENT_HEX,
	ARGUMENT_POINTER,    /* hexadecimal, NULL */
	ARGUMENT_FD,         /* with the name of the file */
	ARGUMENT_FD_AT,      /* the same, or the current folder */
	ARGUMENT_FD_CLOSED,  /* the same; its name is forgotten */
	ARGUMENT_FILENAME,   /* a string */
	ARGUMENT_STRINGS,    /* a list of strings */
	ARGUMENT_BUFFER,     /* bytes, of which the next argument is the number */
	ARGUMENT_PID,        /* with its comm */
	ARGUMENT_ARCH_PRCTL, ARGUMENT_CLONE, ARGUMENT_FACCESSAT2, ARGUMENT_FCNTL, ARGUMENT_FCNTL_VALUE, ARGUMENT_FSMOUNT, ARGUMENT_FUTEX,
	ARGUMENT_FUTEX_BITS, ARGUMENT_IOCTL, ARGUMENT_KCMP, ARGUMENT_KCMP_INDEX, ARGUMENT_MADVISE, ARGUMENT_MMAP, ARGUMENT_MOUNT,
	ARGUMENT_MREMAP, ARGUMENT_OPEN, ARGUMENT_PRCTL, ARGUMENT_PRCTL_2, ARGUMENT_PRCTL_3, ARGUMENT_PROT, ARGUMENT_PROTOCOL,
	ARGUMENT_SCHED, ARGUMENT_SIGNAL, ARGUMENT_SOCKADDR, ARGUMENT_SOCKET_LEVEL, ARGUMENT_SOCKET_TYPE, ARGUMENT_SYNC_RANGE,
	ARGUMENT_IPC, ARGUMENT_KEYRING, ARGUMENT_MEMORY_POLICY, ARGUMENT_OPEN_TREE, ARGUMENT_PERSONALITY, ARGUMENT_REBOOT,
	ARGUMENT_SOCKET_OPTION, ARGUMENT_TIMESPEC, ARGUMENT_STRUCT, ARGUMENT_IOCTL_VALUE, ARGUMENT_SIGNAL_SET, ARGUMENT_QUOTA,
	ARGUMENT_IOPRIO,
	ARGUMENT_TYPED,      /* structures of struct call_types */
	/* names of bits, in an order of their own: enum bits_id */
	ARGUMENT_BITS,
	/* a name: enum words_id */
	ARGUMENT_WORD = 128,
	/* names of flags: enum words_id */
	ARGUMENT_FLAGS = 384,
};

/* Names of bits that perf prints in the order of the rows of argument.c. */
enum bits_id { BITS_ACCESS, BITS_CONTROL_MODES, BITS_EPOLL, BITS_EVENTFD, BITS_FLOCK, BITS_FUTEX2, BITS_GETRANDOM, BITS_INOTIFY,
	BITS_MEMFD, BITS_MODE, BITS_MESSAGE, BITS_MESSAGE_QUEUE, BITS_MODULE, BITS_MSYNC, BITS_OUTPUT_MODES, BITS_PERF, BITS_PIDFD,
	BITS_PIPE, BITS_SECCOMP, BITS_SEMAPHORE, BITS_SIGNALFD, BITS_SOCKET, BITS_TIMER, BITS_TIMERFD, BITS_TIMERFD_TIME,
	BITS_UMOUNT, BITS_USERFAULT, BITS_WAIT, BITS_COUNT };

/* The bytes of a structure, or fewer, and the name of its type. */
struct typed_bytes {
	const char *name;
	size_t length;               /* of the name */
	const char *member;          /* of a union, the one that is used, or what it contains; NULL: all */
	const uint8_t *bytes;
	size_t size;
	bool unnamed;                /* print the values alone */
};

/* Structures and unions that a table of types has, which the kernel publishes; it may be read when it is first asked. */
struct call_types {
	void *context;
	bool preferred;              /* to syscalls/layouts.h and to the forms of single arguments */
	uint32_t (*size_of)(void *context, const char *name, size_t length); /* 0: unknown */
	bool (*print)(void *context, const struct typed_bytes *typed, struct writer *out); /* false: the type is unknown, nothing was printed */
};

/* How many structures an argument points to. */
enum typed_count { TYPED_ONE, TYPED_ELEMENTS /* the next argument is their number */, TYPED_BYTES /* one of so many bytes */ };

struct call_argument {
	const char *name, *type;     /* not terminated: name_length, type_length */
	uint8_t name_length, type_length;
	uint16_t kind;
	uint8_t layout;              /* of ARGUMENT_STRUCT: see syscalls/layouts.h */
	uint8_t typed_size, typed_count; /* of ARGUMENT_TYPED, and of arrays of ARGUMENT_STRUCT: bytes of one; enum typed_count */
	uint8_t typed_name_length;
	const char *typed_name;      /* of the structure, not terminated */
};

enum call_flag {
	CALL_HEX = 1,                /* it returns an address */
	CALL_PID = 2,                /* it returns a process */
	CALL_TIMEOUT = 4,            /* 0 means that time was up */
	CALL_ENDS = 8,               /* it does not return */
	CALL_OPENS = 16,             /* it returns a descriptor of the file that an argument names */
	CALL_COPIES_FILE = 64,       /* it returns a copy of the descriptor of its first argument */
	CALL_MAKES_FILE = 128,       /* it returns a descriptor of a new file */
	CALL_MAKES_FILES = 256,      /* it makes descriptors that its result does not name */
};

struct call {
	char name[SYSCALL_NAME_SIZE]; /* empty: there is no such call */
	bool described;              /* count and arguments are known */
	uint16_t flags;
	uint8_t count;
	const struct call_types *types;
	struct call_argument arguments[CALL_ARGUMENTS];
};

/* The calls of a table, described on first use. */
struct calls {
	enum syscalls table;
	const struct call_types *types; /* structures that calls read are printed by them; NULL: by syscalls/layouts.h, or as addresses */
	struct call *known[SYSCALL_NUMBERS];
};

void calls_init(struct calls *calls, enum syscalls table);
void calls_fini(struct calls *calls);
/* NULL: the number is no call. Valid until calls_fini. */
const struct call *calls_get(struct calls *calls, int64_t number);
/* Fills *call by its name. */
void call_describe(struct call *call, const char *name);
/* Fields of tracepoints are described by the same rules. */
uint8_t argument_kind_of(const char *name, size_t name_length, const char *type, size_t type_length);
