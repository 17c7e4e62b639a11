#include "syscalls/call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "syscalls/layouts.h"
#include "syscalls/words.h"

/* "name(type argument,type argument": source: events/syscalls/sys_enter_* of tracefs, Linux 6.18. */
static const char signatures[] =
#include "syscalls/signatures.inc"
	;

/* How perf 6.12 prints the arguments that their types do not explain, and names of flags where perf has none. A kind of 0 is found by name
 * and type. */
struct form {
	const char *name;
	uint8_t flags;
	uint16_t kinds[CALL_ARGUMENTS];
};

#define AT ARGUMENT_FD_AT
#define FILE_NAME ARGUMENT_FILENAME
#define BITS(id) (ARGUMENT_BITS + BITS_##id)
#define WORD(id) (ARGUMENT_WORD + WORDS_##id)
#define FLAGS(id) (ARGUMENT_FLAGS + WORDS_##id)

static const struct form forms[] = {
	{ "accept4", 0, { 0, 0, 0, BITS(SOCKET) } },
	{ "access", 0, { 0, BITS(ACCESS) } },
	{ "add_key", 0, { FILE_NAME, FILE_NAME, 0, 0, ARGUMENT_KEYRING } },
	{ "arch_prctl", 0, { ARGUMENT_ARCH_PRCTL, ARGUMENT_POINTER } },
	{ "bind", 0, { ARGUMENT_INT, ARGUMENT_SOCKADDR, ARGUMENT_INT } },
	{ "bpf", 0, { WORD(BPF_CMD) } },
	{ "brk", CALL_HEX, { ARGUMENT_POINTER } },
	{ "clock_adjtime", 0, { WORD(CLOCKID) } },
	{ "clock_adjtime64", 0, { WORD(CLOCKID) } },
	{ "clock_getres", 0, { WORD(CLOCKID) } },
	{ "clock_getres_time64", 0, { WORD(CLOCKID) } },
	{ "clock_gettime", 0, { WORD(CLOCKID) } },
	{ "clock_gettime64", 0, { WORD(CLOCKID) } },
	{ "clock_nanosleep", 0, { WORD(CLOCKID), BITS(TIMER), ARGUMENT_TIMESPEC } },
	{ "clock_nanosleep_time64", 0, { WORD(CLOCKID), BITS(TIMER) } },
	{ "clock_settime", 0, { WORD(CLOCKID) } },
	{ "clock_settime64", 0, { WORD(CLOCKID) } },
	{ "clone", CALL_PID, { ARGUMENT_CLONE, ARGUMENT_HEX, ARGUMENT_HEX, ARGUMENT_HEX, ARGUMENT_HEX } },
	{ "close", 0, { ARGUMENT_FD_CLOSED } },
	{ "close_range", 0, { 0, 0, FLAGS(CLOSE_RANGE) } },
	{ "connect", 0, { ARGUMENT_INT, ARGUMENT_SOCKADDR, ARGUMENT_INT } },
	{ "creat", CALL_OPENS, { 0 } },
	{ "delete_module", 0, { 0, BITS(MODULE) } },
	{ "dup3", 0, { 0, 0, BITS(PIPE) } },
	{ "epoll_create1", 0, { BITS(EPOLL) } },
	{ "epoll_ctl", 0, { 0, WORD(EPOLL_OP) } },
	{ "eventfd2", 0, { 0, BITS(EVENTFD) } },
	{ "execve", 0, { 0, ARGUMENT_STRINGS } },
	{ "execveat", 0, { AT, 0, ARGUMENT_STRINGS, 0, FLAGS(FS_AT_FLAGS) } },
	{ "exit", CALL_ENDS, { 0 } },
	{ "exit_group", CALL_ENDS, { 0 } },
	{ "faccessat", 0, { AT, FILE_NAME, BITS(ACCESS) } },
	{ "faccessat2", 0, { AT, FILE_NAME, BITS(ACCESS), ARGUMENT_FACCESSAT2 } },
	{ "fadvise64", 0, { 0, 0, 0, WORD(FADVISE) } },
	{ "fallocate", 0, { 0, FLAGS(FALLOCATE) } },
	{ "fanotify_init", 0, { FLAGS(FANOTIFY_INIT), ARGUMENT_OPEN } },
	{ "fanotify_mark", 0, { 0, FLAGS(FANOTIFY_MARK), FLAGS(FANOTIFY_EVENT), AT } },
	{ "fchmodat", 0, { AT } },
	{ "fchmodat2", 0, { AT, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "fchownat", 0, { AT, 0, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "fcntl", 0, { 0, ARGUMENT_FCNTL, ARGUMENT_FCNTL_VALUE } },
	{ "fcntl64", 0, { 0, ARGUMENT_FCNTL, ARGUMENT_FCNTL_VALUE } },
	{ "file_getattr", 0, { AT, 0, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "file_setattr", 0, { AT, 0, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "finit_module", 0, { 0, FILE_NAME, FLAGS(MODULE_INIT) } },
	{ "flock", 0, { 0, BITS(FLOCK) } },
	{ "fsconfig", 0, { 0, WORD(FSCONFIG_CMD), FILE_NAME } },
	{ "fsetxattr", 0, { 0, 0, 0, 0, FLAGS(XATTR) } },
	{ "fsmount", 0, { 0, FLAGS(FSMOUNT_FLAGS), ARGUMENT_FSMOUNT } },
	{ "fsopen", 0, { 0, FLAGS(FSOPEN) } },
	{ "fspick", 0, { AT, FILE_NAME, FLAGS(FSPICK_FLAGS) } },
	{ "fstat", 0, { 0 } },
	{ "fstatat64", 0, { AT, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "futex", 0, { 0, ARGUMENT_FUTEX, 0, 0, 0, ARGUMENT_FUTEX_BITS } },
	{ "futex_time64", 0, { 0, ARGUMENT_FUTEX, 0, 0, 0, ARGUMENT_FUTEX_BITS } },
	{ "futex_wait", 0, { 0, 0, 0, BITS(FUTEX2), 0, WORD(CLOCKID) } },
	{ "futex_waitv", 0, { 0, 0, 0, 0, WORD(CLOCKID) } },
	{ "futex_wake", 0, { 0, 0, 0, BITS(FUTEX2) } },
	{ "futimesat", 0, { AT } },
	{ "get_mempolicy", 0, { 0, 0, 0, 0, FLAGS(MPOL_F) } },
	{ "getitimer", 0, { WORD(ITIMER) } },
	{ "getpgid", CALL_PID, { 0 } },
	{ "getpid", CALL_PID, { 0 } },
	{ "getppid", CALL_PID, { 0 } },
	{ "getpriority", 0, { WORD(PRIO) } },
	{ "getrandom", 0, { 0, 0, BITS(GETRANDOM) } },
	{ "getrlimit", 0, { WORD(RLIMIT) } },
	{ "getrusage", 0, { WORD(RUSAGE) } },
	{ "getsockopt", 0, { 0, ARGUMENT_SOCKET_LEVEL, ARGUMENT_SOCKET_OPTION } },
	{ "gettid", CALL_PID, { 0 } },
	{ "getxattrat", 0, { AT, 0, FLAGS(FS_AT_FLAGS) } },
	{ "inotify_add_watch", 0, { 0, 0, FLAGS(INOTIFY_EVENT) } },
	{ "inotify_init1", 0, { BITS(INOTIFY) } },
	{ "io_uring_enter", 0, { 0, 0, 0, FLAGS(URING_ENTER) } },
	{ "io_uring_register", 0, { 0, WORD(URING_REGISTER) } },
	{ "ioctl", 0, { 0, ARGUMENT_IOCTL, ARGUMENT_IOCTL_VALUE } },
	{ "ioprio_get", 0, { WORD(IOPRIO_WHO) } },
	{ "ioprio_set", 0, { WORD(IOPRIO_WHO), 0, ARGUMENT_IOPRIO } },
	{ "kcmp", 0, { ARGUMENT_PID, ARGUMENT_PID, ARGUMENT_KCMP, ARGUMENT_KCMP_INDEX, ARGUMENT_KCMP_INDEX } },
	{ "kexec_file_load", 0, { 0, 0, 0, FILE_NAME, FLAGS(KEXEC_FILE) } },
	{ "kexec_load", 0, { 0, 0, 0, FLAGS(KEXEC) } },
	{ "keyctl", 0, { WORD(KEYCTL) } },
	{ "kill", 0, { 0, ARGUMENT_SIGNAL } },
	{ "landlock_add_rule", 0, { 0, WORD(LANDLOCK_RULE) } },
	{ "landlock_create_ruleset", 0, { 0, 0, FLAGS(LANDLOCK_CREATE) } },
	{ "landlock_restrict_self", 0, { 0, FLAGS(LANDLOCK_RESTRICT) } },
	{ "linkat", 0, { AT, 0, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "listxattrat", 0, { AT, 0, FLAGS(FS_AT_FLAGS) } },
	{ "lseek", 0, { 0, 0, WORD(WHENCE) } },
	{ "lsetxattr", 0, { 0, 0, 0, 0, FLAGS(XATTR) } },
	{ "lsm_get_self_attr", 0, { WORD(LSM_ATTR) } },
	{ "lsm_set_self_attr", 0, { WORD(LSM_ATTR) } },
	{ "lstat", 0, { 0 } },
	{ "madvise", 0, { ARGUMENT_HEX, 0, ARGUMENT_MADVISE } },
	{ "map_shadow_stack", 0, { 0, 0, FLAGS(SHADOW_STACK) } },
	{ "mbind", 0, { 0, 0, ARGUMENT_MEMORY_POLICY, 0, 0, FLAGS(MPOL_MF) } },
	{ "membarrier", 0, { FLAGS(MEMBARRIER), FLAGS(MEMBARRIER_FLAG) } },
	{ "memfd_create", 0, { 0, BITS(MEMFD) } },
	{ "memfd_secret", 0, { BITS(PIPE) } },
	{ "mkdirat", 0, { AT } },
	{ "mknodat", 0, { AT } },
	{ "mlock2", 0, { 0, 0, FLAGS(MLOCK) } },
	{ "mlockall", 0, { FLAGS(MLOCKALL) } },
	{ "mmap", CALL_HEX, { 0, 0, ARGUMENT_PROT, ARGUMENT_MMAP, 0, ARGUMENT_HEX } },
	{ "mmap2", CALL_HEX, { 0, 0, ARGUMENT_PROT, ARGUMENT_MMAP, 0, ARGUMENT_HEX } },
	{ "mount", 0, { FILE_NAME, 0, FILE_NAME, ARGUMENT_MOUNT } },
	{ "mount_setattr", 0, { AT, 0, FLAGS(FS_AT_FLAGS) } },
	{ "move_mount", 0, { AT, FILE_NAME, AT, FILE_NAME, FLAGS(MOVE_MOUNT_FLAGS) } },
	{ "move_pages", 0, { 0, 0, 0, 0, 0, FLAGS(MPOL_MF) } },
	{ "mprotect", 0, { ARGUMENT_HEX, 0, ARGUMENT_PROT } },
	{ "mq_open", 0, { 0, ARGUMENT_OPEN } },
	{ "mq_unlink", 0, { FILE_NAME } },
	{ "mremap", CALL_HEX, { 0, 0, 0, ARGUMENT_MREMAP } },
	{ "msgctl", 0, { 0, WORD(MSGCTL) } },
	{ "msgget", 0, { 0, ARGUMENT_IPC } },
	{ "msgrcv", 0, { 0, 0, 0, 0, BITS(MESSAGE_QUEUE) } },
	{ "msgsnd", 0, { 0, 0, 0, BITS(MESSAGE_QUEUE) } },
	{ "msync", 0, { 0, 0, BITS(MSYNC) } },
	{ "name_to_handle_at", 0, { AT, 0, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "nanosleep", 0, { ARGUMENT_TIMESPEC } },
	{ "newfstatat", 0, { AT, FILE_NAME, 0, FLAGS(FS_AT_FLAGS) } },
	{ "open", CALL_OPENS, { 0, ARGUMENT_OPEN } },
	{ "open_by_handle_at", 0, { AT, 0, ARGUMENT_OPEN } },
	{ "open_tree", 0, { AT, 0, ARGUMENT_OPEN_TREE } },
	{ "open_tree_attr", 0, { AT, 0, ARGUMENT_OPEN_TREE } },
	{ "openat", CALL_OPENS, { AT, 0, ARGUMENT_OPEN } },
	{ "openat2", CALL_OPENS, { AT } },
	{ "perf_event_open", 0, { 0, 0, ARGUMENT_INT, ARGUMENT_FD, BITS(PERF) } },
	{ "personality", 0, { ARGUMENT_PERSONALITY } },
	{ "pidfd_open", 0, { 0, BITS(PIDFD) } },
	{ "pidfd_send_signal", 0, { 0, ARGUMENT_SIGNAL, 0, FLAGS(PIDFD_SIGNAL) } },
	{ "pipe2", 0, { 0, BITS(PIPE) } },
	{ "pkey_alloc", 0, { 0, FLAGS(PKEY_RIGHTS) } },
	{ "pkey_free", 0, { ARGUMENT_INT } },
	{ "pkey_mprotect", 0, { ARGUMENT_HEX, 0, ARGUMENT_PROT, ARGUMENT_INT } },
	{ "poll", CALL_TIMEOUT, { 0 } },
	{ "ppoll", CALL_TIMEOUT, { 0 } },
	{ "prctl", 0, { ARGUMENT_PRCTL, ARGUMENT_PRCTL_2, ARGUMENT_PRCTL_3 } },
	{ "preadv2", 0, { 0, 0, 0, 0, 0, FLAGS(RWF) } },
	{ "prlimit64", 0, { 0, WORD(RLIMIT) } },
	{ "process_madvise", 0, { 0, 0, 0, ARGUMENT_MADVISE } },
	{ "ptrace", 0, { WORD(PTRACE), ARGUMENT_PID, ARGUMENT_HEX, ARGUMENT_HEX } },
	{ "pwrite64", 0, { 0, ARGUMENT_BUFFER } },
	{ "pwritev2", 0, { 0, 0, 0, 0, 0, FLAGS(RWF) } },
	{ "quotactl", 0, { ARGUMENT_QUOTA, FILE_NAME } },
	{ "quotactl_fd", 0, { 0, ARGUMENT_QUOTA } },
	{ "readlinkat", 0, { AT } },
	{ "reboot", 0, { ARGUMENT_HEX, ARGUMENT_HEX, ARGUMENT_REBOOT } },
	{ "recv", 0, { 0, 0, 0, BITS(MESSAGE) } },
	{ "recvfrom", 0, { 0, 0, 0, BITS(MESSAGE) } },
	{ "recvmmsg", 0, { 0, 0, 0, BITS(MESSAGE) } },
	{ "recvmsg", 0, { 0, 0, BITS(MESSAGE) } },
	{ "remap_file_pages", 0, { 0, 0, ARGUMENT_PROT, 0, FLAGS(MMAP_FLAGS) } },
	{ "removexattrat", 0, { AT, 0, FLAGS(FS_AT_FLAGS) } },
	{ "renameat", 0, { AT, 0, AT } },
	{ "renameat2", 0, { AT, 0, AT, 0, FLAGS(RENAME_FLAGS) } },
	{ "request_key", 0, { FILE_NAME, FILE_NAME, FILE_NAME, ARGUMENT_KEYRING } },
	{ "rseq", 0, { 0 } },
	{ "rt_sigaction", 0, { ARGUMENT_SIGNAL } },
	{ "rt_sigprocmask", 0, { WORD(SIGHOW) } },
	{ "rt_sigqueueinfo", 0, { 0, ARGUMENT_SIGNAL } },
	{ "rt_tgsigqueueinfo", 0, { 0, 0, ARGUMENT_SIGNAL } },
	{ "sched_get_priority_max", 0, { ARGUMENT_SCHED } },
	{ "sched_get_priority_min", 0, { ARGUMENT_SCHED } },
	{ "sched_setscheduler", 0, { 0, ARGUMENT_SCHED } },
	{ "seccomp", 0, { WORD(SECCOMP_OP), BITS(SECCOMP) } },
	{ "select", CALL_TIMEOUT, { 0 } },
	{ "semctl", 0, { 0, 0, WORD(SEMCTL) } },
	{ "semget", 0, { 0, 0, ARGUMENT_IPC } },
	{ "send", 0, { 0, ARGUMENT_BUFFER, 0, BITS(MESSAGE) } },
	{ "sendmmsg", 0, { 0, 0, 0, BITS(MESSAGE) } },
	{ "sendmsg", 0, { 0, 0, BITS(MESSAGE) } },
	{ "sendto", 0, { 0, ARGUMENT_BUFFER, 0, BITS(MESSAGE), ARGUMENT_SOCKADDR } },
	{ "set_mempolicy", 0, { ARGUMENT_MEMORY_POLICY } },
	{ "set_robust_list", 0, { 0 } },
	{ "set_tid_address", CALL_PID, { 0 } },
	{ "setdomainname", 0, { ARGUMENT_BUFFER } },
	{ "sethostname", 0, { ARGUMENT_BUFFER } },
	{ "setitimer", 0, { WORD(ITIMER) } },
	{ "setns", 0, { 0, FLAGS(CLONE_FLAGS) } },
	{ "setpriority", 0, { WORD(PRIO) } },
	{ "setrlimit", 0, { WORD(RLIMIT) } },
	{ "setsockopt", 0, { 0, ARGUMENT_SOCKET_LEVEL, ARGUMENT_SOCKET_OPTION } },
	{ "setxattr", 0, { 0, 0, 0, 0, FLAGS(XATTR) } },
	{ "setxattrat", 0, { AT, 0, FLAGS(FS_AT_FLAGS) } },
	{ "shmat", CALL_HEX, { 0, 0, FLAGS(SHMAT) } },
	{ "shmctl", 0, { 0, WORD(SHMCTL) } },
	{ "shmget", 0, { 0, 0, ARGUMENT_IPC } },
	{ "shutdown", 0, { 0, WORD(SHUTDOWN) } },
	{ "signalfd4", 0, { 0, 0, 0, BITS(SIGNALFD) } },
	{ "socket", 0, { WORD(FAMILY), ARGUMENT_SOCKET_TYPE, ARGUMENT_PROTOCOL } },
	{ "socketcall", 0, { WORD(SOCKETCALL) } },
	{ "socketpair", 0, { WORD(FAMILY), ARGUMENT_SOCKET_TYPE, ARGUMENT_PROTOCOL } },
	{ "splice", 0, { 0, 0, 0, 0, 0, FLAGS(SPLICE) } },
	{ "stat", 0, { 0 } },
	{ "statx", 0, { AT, 0, FLAGS(FS_AT_FLAGS), FLAGS(STATX_MASK) } },
	{ "swapoff", 0, { FILE_NAME } },
	{ "swapon", 0, { FILE_NAME, FLAGS(SWAP) } },
	{ "symlinkat", 0, { 0, AT } },
	{ "sync_file_range", 0, { 0, 0, 0, ARGUMENT_SYNC_RANGE } },
	{ "syslog", 0, { WORD(SYSLOG) } },
	{ "tee", 0, { 0, 0, 0, FLAGS(SPLICE) } },
	{ "tgkill", 0, { 0, 0, ARGUMENT_SIGNAL } },
	{ "timer_create", 0, { WORD(CLOCKID) } },
	{ "timer_settime", 0, { 0, BITS(TIMER) } },
	{ "timer_settime64", 0, { 0, BITS(TIMER) } },
	{ "timerfd_create", 0, { WORD(CLOCKID), BITS(TIMERFD) } },
	{ "timerfd_settime", 0, { 0, BITS(TIMERFD_TIME) } },
	{ "timerfd_settime64", 0, { 0, BITS(TIMERFD_TIME) } },
	{ "tkill", 0, { 0, ARGUMENT_SIGNAL } },
	{ "umount", 0, { FILE_NAME } },
	{ "umount2", 0, { FILE_NAME, BITS(UMOUNT) } },
	{ "uname", 0, { 0 } },
	{ "unlinkat", 0, { AT, FILE_NAME, FLAGS(FS_AT_FLAGS) } },
	{ "unshare", 0, { FLAGS(CLONE_FLAGS) } },
	{ "userfaultfd", 0, { BITS(USERFAULT) } },
	{ "utimensat", 0, { AT, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "utimensat_time64", 0, { AT, 0, 0, FLAGS(FS_AT_FLAGS) } },
	{ "vmsplice", 0, { 0, 0, 0, FLAGS(SPLICE) } },
	{ "wait4", CALL_PID, { 0, 0, BITS(WAIT) } },
	{ "waitid", CALL_PID, { WORD(WAITID), 0, 0, BITS(WAIT) } },
	{ "waitpid", CALL_PID, { 0, 0, BITS(WAIT) } },
	{ "write", 0, { 0, ARGUMENT_BUFFER } },
};

static int compare_form(const void *name, const void *form)
{
	return strcmp(name, ((const struct form *)form)->name);
}

static bool text_is(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(text, word, length) == 0;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t bytes = strlen(end);
	return length >= bytes && memcmp(text + length - bytes, end, bytes) == 0;
}

uint8_t argument_kind_of(const char *name, size_t name_length, const char *type, size_t type_length)
{
	bool pointer = memchr(type, '*', type_length);
	if (text_is(type, type_length, "const char *") &&
	    (ends_with(name, name_length, "name") || memmem(name, name_length, "path", 4)))
		return ARGUMENT_FILENAME;
	if (pointer || memmem(name, name_length, "addr", 4))
		return ARGUMENT_POINTER;
	if (text_is(type, type_length, "pid_t"))
		return ARGUMENT_PID;
	if (text_is(type, type_length, "umode_t"))
		return BITS(MODE);
	bool number = text_is(type, type_length, "int") || text_is(type, type_length, "unsigned int") || text_is(type, type_length, "long");
	if (number && ends_with(name, name_length, "dfd"))
		return ARGUMENT_FD_AT;
	return number && ends_with(name, name_length, "fd") ? ARGUMENT_FD : ARGUMENT_LONG;
}

static uint16_t file_flags(const char *name)
{
	static const struct {
		const char *name;
		uint16_t flag;
	} rows[] = {
		{ "dup", CALL_COPIES_FILE }, { "dup2", CALL_COPIES_FILE }, { "dup3", CALL_COPIES_FILE }, { "fcntl", CALL_COPIES_FILE },
		{ "socket", CALL_MAKES_FILE }, { "accept", CALL_MAKES_FILE }, { "accept4", CALL_MAKES_FILE }, { "eventfd2", CALL_MAKES_FILE },
		{ "epoll_create1", CALL_MAKES_FILE }, { "memfd_create", CALL_MAKES_FILE }, { "pidfd_open", CALL_MAKES_FILE },
		{ "signalfd4", CALL_MAKES_FILE }, { "timerfd_create", CALL_MAKES_FILE }, { "inotify_init1", CALL_MAKES_FILE },
		{ "perf_event_open", CALL_MAKES_FILE }, { "bpf", CALL_MAKES_FILES }, { "io_uring_enter", CALL_MAKES_FILES },
		{ "pipe", CALL_MAKES_FILES }, { "pipe2", CALL_MAKES_FILES }, { "socketpair", CALL_MAKES_FILES },
		{ "recvmsg", CALL_MAKES_FILES }, { "recvmmsg", CALL_MAKES_FILES }, { "ioctl", CALL_MAKES_FILES },
		{ "clone", CALL_MAKES_FILES }, { "clone3", CALL_MAKES_FILES }, { "pidfd_getfd", CALL_MAKES_FILE },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].flag;
	return 0;
}

static const char *find_signature(const char *name)
{
	size_t length = strlen(name);
	for (const char *line = signatures; *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, name, length) == 0 && line[length] == '(')
			return line + length + 1;
	return NULL;
}

static void describe_argument(struct call_argument *argument, const char *call, const char *text, size_t length, uint16_t kind)
{
	size_t name = length;
	while (name && text[name - 1] != ' ' && text[name - 1] != '*')
		name--;
	size_t type = name && text[name - 1] == ' ' ? name - 1 : name;
	*argument = (struct call_argument){ text + name, text, (uint8_t)(length - name), (uint8_t)type, kind, 0 };
	if (!kind)
		argument->kind = argument_kind_of(argument->name, argument->name_length, text, type);
	if (argument->kind == ARGUMENT_POINTER && (argument->layout = layout_of(call, text, type)))
		argument->kind = ARGUMENT_STRUCT;
}

void call_describe(struct call *call, const char *name)
{
	*call = (struct call){ 0 };
	snprintf(call->name, sizeof call->name, "%s", name);
	const struct form *form = bsearch(name, forms, sizeof forms / sizeof *forms, sizeof *forms, compare_form);
	if (form)
		call->flags = form->flags;
	call->flags |= file_flags(name);
	const char *text = find_signature(name);
	if (!text)
		return;
	call->described = true;
	while (*text != '\n' && call->count < CALL_ARGUMENTS) {
		size_t length = strcspn(text, ",\n");
		describe_argument(&call->arguments[call->count], name, text, length, form ? form->kinds[call->count] : 0);
		call->count++;
		text += length + (text[length] == ',');
	}
}

/* Structures of 64-bit tasks that calls read, by argument: what a call only writes has no meaning at its entry. */
static const struct typed {
	const char *argument, *structure;
	uint8_t size, count;
} typed_rows[] = {
	{ "adjtimex.txc_p", "__kernel_timex", 208, TYPED_ONE }, { "bpf.uattr", "bpf_attr", UINT8_MAX, TYPED_BYTES },
	{ "cachestat.cstat_range", "cachestat_range", 16, TYPED_ONE }, { "clock_adjtime.utx", "__kernel_timex", 208, TYPED_ONE },
	{ "epoll_pwait.sigmask", "sigset_t", 8, TYPED_ONE }, { "epoll_pwait2.sigmask", "sigset_t", 8, TYPED_ONE },
	{ "file_setattr.ufattr", "file_attr", 24, TYPED_ONE }, { "futex_requeue.waiters", "futex_waitv", 24, TYPED_ONE },
	{ "futex_waitv.waiters", "futex_waitv", 24, TYPED_ELEMENTS }, { "futimesat.utimes", "__kernel_old_timeval", 16, TYPED_ONE },
	{ "io_uring_setup.params", "io_uring_params", 120, TYPED_ONE },
	{ "landlock_create_ruleset.attr", "landlock_ruleset_attr", UINT8_MAX, TYPED_BYTES }, { "listmount.req", "mnt_id_req", 24, TYPED_ONE },
	{ "mount_setattr.uattr", "mount_attr", 32, TYPED_ONE }, { "mq_getsetattr.u_mqstat", "mq_attr", 64, TYPED_ONE },
	{ "mq_notify.u_notification", "sigevent", 64, TYPED_ONE }, { "mq_open.u_attr", "mq_attr", 64, TYPED_ONE },
	{ "perf_event_open.attr_uptr", "perf_event_attr", 112, TYPED_ONE }, { "poll.ufds", "pollfd", 8, TYPED_ELEMENTS },
	{ "ppoll.sigmask", "sigset_t", 8, TYPED_ONE },
	{ "ppoll.tsp", "__kernel_timespec", 16, TYPED_ONE }, { "ppoll.ufds", "pollfd", 8, TYPED_ELEMENTS },
	{ "preadv.vec", "iovec", 16, TYPED_ELEMENTS }, { "preadv2.vec", "iovec", 16, TYPED_ELEMENTS },
	{ "process_madvise.vec", "iovec", 16, TYPED_ELEMENTS }, { "pselect6.tsp", "__kernel_timespec", 16, TYPED_ONE },
	{ "pwritev.vec", "iovec", 16, TYPED_ELEMENTS }, { "pwritev2.vec", "iovec", 16, TYPED_ELEMENTS },
	{ "readv.vec", "iovec", 16, TYPED_ELEMENTS }, { "rt_sigprocmask.nset", "sigset_t", 8, TYPED_ONE },
	{ "rt_sigqueueinfo.uinfo", "siginfo", 128, TYPED_ONE },
	{ "rt_sigsuspend.unewset", "sigset_t", 8, TYPED_ONE }, { "rt_sigtimedwait.uthese", "sigset_t", 8, TYPED_ONE },
	{ "rt_tgsigqueueinfo.uinfo", "siginfo", 128, TYPED_ONE }, { "select.tvp", "__kernel_old_timeval", 16, TYPED_ONE },
	{ "semop.tsops", "sembuf", 6, TYPED_ELEMENTS }, { "semtimedop.tsops", "sembuf", 6, TYPED_ELEMENTS },
	{ "sendmsg.msg", "user_msghdr", 56, TYPED_ONE }, { "setitimer.value", "__kernel_old_itimerval", 32, TYPED_ONE },
	{ "settimeofday.tv", "__kernel_old_timeval", 16, TYPED_ONE }, { "settimeofday.tz", "timezone", 8, TYPED_ONE },
	{ "sigaltstack.uss", "sigaltstack", 24, TYPED_ONE }, { "signalfd.user_mask", "sigset_t", 8, TYPED_ONE },
	{ "signalfd4.user_mask", "sigset_t", 8, TYPED_ONE }, { "statmount.req", "mnt_id_req", 24, TYPED_ONE },
	{ "timer_create.timer_event_spec", "sigevent", 64, TYPED_ONE }, { "utime.times", "utimbuf", 16, TYPED_ONE },
	{ "utimensat.utimes", "__kernel_timespec", 16, TYPED_ONE }, { "utimes.utimes", "__kernel_old_timeval", 16, TYPED_ONE },
	{ "vmsplice.uiov", "iovec", 16, TYPED_ELEMENTS }, { "writev.vec", "iovec", 16, TYPED_ELEMENTS },
};

static int compare_typed(const void *name, const void *row)
{
	return strcmp(name, ((const struct typed *)row)->argument);
}

static void set_typed(struct call_argument *argument, const char *name, size_t length, uint8_t size, uint8_t count)
{
	argument->kind = ARGUMENT_TYPED;
	argument->typed_name = name;
	argument->typed_name_length = (uint8_t)length;
	argument->typed_size = size;
	argument->typed_count = count;
}

/* The structure that the types of preferred call_types have for the declared type of an argument; too large ones remain addresses. */
static void prefer_type(struct call_argument *argument, const struct call_types *types)
{
	const char *end = argument->type + argument->type_length, *name = memmem(argument->type, argument->type_length, "struct ", 7);
	bool constant = argument->type_length > 6 && memcmp(argument->type, "const ", 6) == 0;
	bool read = argument->kind == ARGUMENT_STRUCT || argument->kind == ARGUMENT_TIMESPEC || argument->kind == ARGUMENT_SOCKADDR ||
		(argument->kind == ARGUMENT_POINTER && constant);
	if (!read || !name || end - name < 10 || end[-1] != '*' || end[-2] != ' ')
		return;
	size_t length = (size_t)(end - 2 - (name + 7));
	uint32_t size = types->size_of(types->context, name + 7, length);
	if (size && size <= UINT8_MAX)
		set_typed(argument, name + 7, length, (uint8_t)size, TYPED_ONE);
}

static void describe_type(const struct call *call, struct call_argument *argument, const struct call_types *types)
{
	char name[SYSCALL_NAME_SIZE + 64];
	snprintf(name, sizeof name, "%s.%.*s", call->name, (int)argument->name_length, argument->name);
	const struct typed *row = bsearch(name, typed_rows, sizeof typed_rows / sizeof *typed_rows, sizeof *typed_rows, compare_typed);
	if (row && argument->kind == ARGUMENT_POINTER) {
		set_typed(argument, row->structure, strlen(row->structure), row->size, row->count);
		argument->layout = types->preferred ? 0 : layout_named(row->structure, strlen(row->structure));
		if (argument->layout)
			argument->kind = ARGUMENT_STRUCT;
	} else if (types->preferred)
		prefer_type(argument, types);
}

/* Structures of 32-bit tasks that have other layouts are shown as addresses. */
static void describe_32_bits(const struct call *call, struct call_argument *argument)
{
	bool other = argument->kind == ARGUMENT_STRUCT && !layout_same_in_32_bits(argument->layout, call->name);
	if (other || argument->kind == ARGUMENT_TIMESPEC)
		argument->kind = ARGUMENT_POINTER;
}

void calls_init(struct calls *calls, enum syscalls table)
{
	*calls = (struct calls){ .table = table };
}

void calls_fini(struct calls *calls)
{
	for (size_t i = 0; i < SYSCALL_NUMBERS; i++)
		free(calls->known[i]);
	*calls = (struct calls){ 0 };
}

const struct call *calls_get(struct calls *calls, int64_t number)
{
	if (number < 0 || number >= SYSCALL_NUMBERS)
		return NULL;
	struct call *call = calls->known[number];
	if (!call) {
		char name[SYSCALL_NAME_SIZE] = "";
		call = calls->known[number] = memory_zero(1, sizeof *call);
		if (syscall_name(calls->table, (int)number, name))
			call_describe(call, name);
		call->types = calls->types;
		for (unsigned i = 0; calls->types && i < call->count; i++)
			describe_type(call, &call->arguments[i], calls->types);
		for (unsigned i = 0; calls->table == SYSCALLS_I386 && i < call->count; i++)
			describe_32_bits(call, &call->arguments[i]);
	}
	return call->name[0] ? call : NULL;
}
