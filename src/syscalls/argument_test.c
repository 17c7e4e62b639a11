#include "syscalls/argument.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "syscalls/layouts.h"
#include "unit.h"

static const char *file_name(void *context, int fd)
{
	return fd == 3 ? "/etc/passwd" : fd == 66 ? "/tmp/\033[2J\n" : NULL;
}

static const char *comm(void *context, int pid)
{
	return pid == 7 ? "sh" : NULL;
}

struct shown {
	struct call call;
	struct call_values values;
	char text[512];
};

static struct shown begin(const char *name, const uint64_t *values)
{
	struct shown shown = { .values = { .file_name = file_name, .comm = comm } };
	call_describe(&shown.call, name);
	for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
		shown.values.values[i] = values[i];
	return shown;
}

static const char *text_of(struct shown *shown)
{
	struct writer out;
	writer_open(&out, -1, 256);
	shown->values.call = &shown->call;
	arguments_print(&out, &shown->values);
	snprintf(shown->text, sizeof shown->text, "%.*s", (int)out.len, out.buffer);
	writer_fini(&out);
	return shown->text;
}

#define SHOWS(name, text, ...) do { \
	struct shown shown_ = begin(name, (const uint64_t[CALL_ARGUMENTS]){ __VA_ARGS__ }); \
	EXPECT_STR(text_of(&shown_), text); \
} while (0)

TEST("flags, names, descriptors, processes and masks are printed as perf prints them")
{
	SHOWS("mmap", "len: 8192, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS", 0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		(uint64_t)-1, 4096);
	SHOWS("mmap", "addr: 0x1000, len: 1, prot: NONE, flags: SHARED, fd: 3, off: 0x2000", 0x1000, 1, 0, MAP_SHARED, 3, 0x2000);
	SHOWS("openat", "dfd: CWD, filename: 0x10, flags: RDONLY|CLOEXEC", (uint32_t)AT_FDCWD, 16, O_CLOEXEC, 0644);
	SHOWS("openat", "dfd: 3</etc/passwd>, filename: 0x10, flags: CREAT|TRUNC|WRONLY, mode: IRUGO|IWUSR", 3, 16,
		O_CREAT | O_TRUNC | O_WRONLY, 0644);
	SHOWS("read", "fd: 3</etc/passwd>, buf: 0x20, count: 832", 3, 0x20, 832);
	SHOWS("close", "fd: 4", 4);
	SHOWS("close", "fd: 66</tmp/\\033[2J\\012>", 66);
	SHOWS("kill", "pid: 7 (sh), sig: TERM", 7, SIGTERM);
	SHOWS("access", "filename: 0x30, mode: R", 0x30, 4);
	SHOWS("lseek", "fd: 3</etc/passwd>, offset: -1, whence: END", 3, (uint64_t)-1, SEEK_END);
	SHOWS("futex", "uaddr: 0x8, op: WAIT|PRIVATE_FLAG, val: 2", 8, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 0, 5, 6);
	SHOWS("fcntl", "fd: 3</etc/passwd>, cmd: SETFD, arg: CLOEXEC", 3, F_SETFD, FD_CLOEXEC);
	SHOWS("landlock_add_rule", "rule_type: LANDLOCK_RULE_NET_PORT", 0, 2);
	SHOWS("landlock_add_rule", "rule_type: 3", 0, 3);
	SHOWS("fcntl", "fd: 3</etc/passwd>, cmd: GETFL", 3, F_GETFL, 77);
	SHOWS("socket", "family: INET, type: STREAM|CLOEXEC|NONBLOCK, protocol: TCP", AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 6);
	SHOWS("exit_group", "error_code: 3", 3);
	SHOWS("exit_group", "", 0);
}

TEST("flags and clocks have their names, also where perf prints numbers")
{
	SHOWS("epoll_create1", "flags: CLOEXEC", O_CLOEXEC);
	SHOWS("accept4", "fd: 4, flags: CLOEXEC|NONBLOCK", 4, 0, 0, O_CLOEXEC | O_NONBLOCK);
	SHOWS("timerfd_create", "clockid: MONOTONIC, flags: CLOEXEC", 1, O_CLOEXEC);
	SHOWS("timerfd_settime", "ufd: 4, flags: ABSTIME|CANCEL_ON_SET", 4, 3);
	SHOWS("memfd_create", "uname: 0x8, flags: CLOEXEC|HUGETLB", 8, 5);
	SHOWS("msync", "start: 4096, len: 2, flags: ASYNC|INVALIDATE", 4096, 2, 3);
	SHOWS("shutdown", "fd: 4, how: RDWR", 4, 2);
	SHOWS("unshare", "unshare_flags: NEWNS|NEWPID", 0x20020000);
	SHOWS("clock_nanosleep", "which_clock: MONOTONIC, flags: ABSTIME", 1, 1);
	SHOWS("waitid", "which: PID, upid: 7 (sh), options: NOHANG|EXITED|NOWAIT", 1, 7, 0, 0x1000005);
}

TEST("bits without a name are printed as numbers")
{
	SHOWS("getrandom", "ubuf: 0x1, len: 8, flags: NONBLOCK|0x40", 1, 8, 0x41);
	SHOWS("mprotect", "start: 0x1000, len: 2, prot: READ|0x10", 0x1000, 2, 0x11);
	SHOWS("ioctl", "fd: 3</etc/passwd>, cmd: TIOCGWINSZ, arg: 0x9", 3, 0x5413, 9);
	SHOWS("ioctl", "fd: 3</etc/passwd>, cmd: (READ|WRITE, 0x99, 0x1, 0x4)", 3, 0xc0049901);
}

static void copied(struct shown *shown, unsigned index, const void *bytes, size_t size)
{
	shown->values.bytes[index] = (struct argument_bytes){ bytes, size };
}

TEST("a string of a traced program is quoted, and its control characters are escaped")
{
	struct shown shown = begin("unlink", (const uint64_t[CALL_ARGUMENTS]){ 1 });
	copied(&shown, 0, "a\"b\\c\n\033[31m", 11);
	EXPECT_STR(text_of(&shown), "pathname: \"a\\\"b\\\\c\\012\\033[31m\"");
}

TEST("socket addresses, times and written bytes are printed from what was copied")
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80), .sin_addr = { htonl(0x7f000001) } };
	struct shown shown = begin("connect", (const uint64_t[CALL_ARGUMENTS]){ 4, 1, 16 });
	copied(&shown, 1, &in, sizeof in);
	EXPECT_STR(text_of(&shown), "fd: 4, uservaddr: { .family: INET, port: 80, addr: 127.0.0.1 }, addrlen: 16");
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/x" };
	copied(&shown, 1, &un, sizeof un);
	EXPECT_STR(text_of(&shown), "fd: 4, uservaddr: { .family: LOCAL, path: /run/x }, addrlen: 16");
	const uint32_t routes[] = { 0, 7, 0x11 }, host[] = { 0, 1024, 2 };
	uint8_t bytes[12];
	memcpy(bytes, routes, sizeof bytes);
	memcpy(bytes, &(const uint16_t){ AF_NETLINK }, 2);
	copied(&shown, 1, bytes, sizeof bytes);
	EXPECT_STR(text_of(&shown), "fd: 4, uservaddr: { .family: NETLINK, pid: 7, groups: 0x11 }, addrlen: 16");
	copied(&shown, 1, bytes, sizeof bytes - 1);
	EXPECT_STR(text_of(&shown), "fd: 4, uservaddr: { .family: NETLINK }, addrlen: 16");
	memcpy(bytes, host, sizeof bytes);
	memcpy(bytes, &(const uint16_t){ AF_VSOCK }, 2);
	copied(&shown, 1, bytes, sizeof bytes);
	EXPECT_STR(text_of(&shown), "fd: 4, uservaddr: { .family: VSOCK, cid: 2, port: 1024 }, addrlen: 16");
	memcpy(bytes, &(const uint16_t){ AF_PACKET }, 2);
	memcpy(bytes + 2, &(const uint16_t){ htons(0x806) }, 2);
	copied(&shown, 1, bytes, sizeof bytes);
	EXPECT_STR(text_of(&shown), "fd: 4, uservaddr: { .family: PACKET, protocol: 0x0806, ifindex: 1024 }, addrlen: 16");
	copied(&shown, 1, &in, 1); /* less than a family */
	EXPECT_STR(text_of(&shown), "fd: 4, uservaddr: 0x1, addrlen: 16");
	const int64_t time[] = { 1, 500 };
	shown = begin("nanosleep", (const uint64_t[CALL_ARGUMENTS]){ 1 });
	copied(&shown, 0, time, sizeof time);
	EXPECT_STR(text_of(&shown), "rqtp: { .tv_sec: 1, .tv_nsec: 500 }");
	shown = begin("write", (const uint64_t[CALL_ARGUMENTS]){ 5, 1, 3 });
	copied(&shown, 1, "a\0\n", 3);
	EXPECT_STR(text_of(&shown), "fd: 5, buf: a\\0\\10, count: 3");
}

TEST("structures are printed as btf_dump prints them, without fields of 0 and those beyond what the caller has")
{
	const uint64_t limits[] = { 1024, 0 }, head[] = { 0x10, (uint64_t)-32, 0 }, time[] = { 0, 0, 1, 2 }, clone[] = { 0x100, 0, 3 };
	const uint32_t times[] = { 0x80000001, 7, 9 };
	struct shown shown = begin("prlimit64", (const uint64_t[CALL_ARGUMENTS]){ 0, 7, 0x10, 0x20 });
	copied(&shown, 2, limits, sizeof limits);
	EXPECT_STR(text_of(&shown), "resource: NOFILE, new_rlim: (struct rlimit64){.rlim_cur = (__u64)1024,}, old_rlim: 0x20");
	shown.values.unnamed = true;
	EXPECT_STR(text_of(&shown), "NOFILE, {1024,}, 0x20");
	shown = begin("set_robust_list", (const uint64_t[CALL_ARGUMENTS]){ 0x10, 24 });
	copied(&shown, 0, head, sizeof head);
	EXPECT_STR(text_of(&shown), "head: (struct robust_list_head){.list = (struct robust_list){.next = (struct robust_list *)0x10,},"
		".futex_offset = (long int)-32,}, len: 24");
	shown.values.unnamed = true;
	EXPECT_STR(text_of(&shown), "{{0x10,},-32,}, 24");
	shown.values.zeros = true;
	shown.values.values[0] = 0;
	EXPECT_STR(text_of(&shown), "NULL, 24");
	shown = begin("timerfd_settime", (const uint64_t[CALL_ARGUMENTS]){ 3, 0, 0x10 });
	copied(&shown, 2, time, sizeof time);
	EXPECT_STR(text_of(&shown), "ufd: 3</etc/passwd>, utmr: (struct __kernel_itimerspec){.it_value = (struct __kernel_timespec){"
		".tv_sec = (__kernel_time64_t)1,.tv_nsec = (long long int)2,},}");
	shown = begin("clone3", (const uint64_t[CALL_ARGUMENTS]){ 0x10, 16 });
	copied(&shown, 0, clone, 16);
	EXPECT_STR(text_of(&shown), "uargs: (struct clone_args){.flags = (__u64)VM,}, size: 16");
	shown.values.prefixes = true;
	EXPECT_STR(text_of(&shown), "uargs: (struct clone_args){.flags = (__u64)CLONE_VM,}, size: 16");
	const uint64_t how[] = { 0x100000002, 0, 0x200000001 };
	shown = begin("openat2", (const uint64_t[CALL_ARGUMENTS]){ 3, 0, 0x10, 24 });
	copied(&shown, 2, how, sizeof how);
	EXPECT_STR(text_of(&shown), "dfd: 3</etc/passwd>, how: (struct open_how){.flags = (__u64)0x100000002,"
		".resolve = (__u64)NO_XDEV|0x200000000,}, usize: 24");
	shown = begin("epoll_ctl", (const uint64_t[CALL_ARGUMENTS]){ 3, 1, 4, 0x10 });
	copied(&shown, 3, times, sizeof times);
	shown.values.prefixes = true;
	EXPECT(strstr(text_of(&shown), "event: (struct epoll_event){.events = (__poll_t)EPOLLIN|EPOLLET,"));
}

/* The kernel's structure: 36 bytes, of which the caller has no number. */
TEST("modes of a terminal are printed where a command of ioctl sets them, otherwise the argument is a number")
{
	const uint32_t modes[11] = { 0402, 5, 017 | 060 | 0200, 0x8003 };
	struct shown shown = begin("ioctl", (const uint64_t[CALL_ARGUMENTS]){ 3, 0x5402, 0x1000 });
	copied(&shown, 2, modes, sizeof modes);
	EXPECT_STR(text_of(&shown), "fd: 3</etc/passwd>, cmd: TCSETS, arg: (struct termios){.c_iflag = (tcflag_t)BRKINT|ICRNL,"
		".c_oflag = (tcflag_t)OPOST|ONLCR,.c_cflag = (tcflag_t)B38400|CS8|CREAD,.c_lflag = (tcflag_t)ISIG|ICANON|IEXTEN,}");
	shown = begin("ioctl", (const uint64_t[CALL_ARGUMENTS]){ 3, 0x5401, 0x1000 });
	copied(&shown, 2, modes, sizeof modes);
	EXPECT_STR(text_of(&shown), "fd: 3</etc/passwd>, cmd: TCGETS, arg: 0x1000");
}

TEST("a set of signals has their names, and one with most signals those that it lacks")
{
	static const struct {
		uint64_t set;
		const char *text;
	} rows[] = { { 0x4002, "INT|TERM" }, { 0x100000001, "HUP|0x100000000" }, { 0x80000000, "0x80000000" }, { ~0ull, "~0" },
		{ ~0x40100ull, "~KILL|STOP" } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const uint64_t action[] = { 0x1000, 0x10000004, 0, rows[i].set };
		char text[256];
		struct shown shown = begin("rt_sigaction", (const uint64_t[CALL_ARGUMENTS]){ 2, 0x10, 0, 8 });
		copied(&shown, 1, action, sizeof action);
		snprintf(text, sizeof text, "sig: INT, act: (struct sigaction){.sa_handler = (__sighandler_t)0x1000,.sa_flags = (long unsigned int)"
			"SIGINFO|RESTART,.sa_mask = (sigset_t){.sig = (long unsigned int[1])[%s,],},}, sigsetsize: 8", rows[i].text);
		EXPECT_STR(text_of(&shown), text);
	}
}

TEST("the size of huge pages, a shared mapping with checked flags, and the signal of clone have names")
{
	SHOWS("mmap", "len: 1, prot: NONE, flags: PRIVATE|ANONYMOUS|HUGETLB|21<<HUGE_SHIFT", 0, 1, 0, 0x40022 | 21u << 26);
	SHOWS("mmap", "len: 1, prot: NONE, flags: SHARED_VALIDATE|SYNC, fd: 5", 0, 1, 0, 0x80003, 5);
	SHOWS("mmap", "len: 1, prot: NONE, flags: SHARED_VALIDATE, fd: 5", 0, 1, 0, 3, 5);
	SHOWS("clone", "clone_flags: VM|SIGCHLD", 0x111);
	SHOWS("clone", "clone_flags: SIGCHLD", 17);
	SHOWS("clone", "clone_flags: VM|0x7f", 0x17f);
	SHOWS("socket", "family: NETLINK, type: RAW, protocol: KOBJECT_UEVENT", 16, 3, 15);
	SHOWS("personality", "personality: BSD|ADDR_NO_RANDOMIZE|0x100", 0x40106);
	SHOWS("prctl", "option: SET_SECUREBITS, arg2: KEEP_CAPS|NO_CAP_AMBIENT_RAISE_LOCKED", 28, 0x90);
	SHOWS("quotactl", "cmd: QCMD(GETQUOTA, GRPQUOTA), special: 0x10, addr: 0x20", 0x80000701, 0x10, 0, 0x20);
	SHOWS("quotactl", "cmd: QCMD(XGETQSTATV, USRQUOTA)", 0x580800);
	SHOWS("quotactl", "cmd: 0x80000a00", 0x80000a00);
	SHOWS("ioprio_set", "which: PROCESS, ioprio: IOPRIO_PRIO_VALUE(BE, 4)", 1, 0, 2 << 13 | 4);
	SHOWS("ioprio_set", "which: PROCESS, ioprio: 0x8007", 1, 0, 4 << 13 | 7);
	SHOWS("futex", "uaddr: 0x10, op: LOCK_PI2, utime: 0x20", 0x10, 13, 0, 0x20, 0x30, 4);
}

static void result_is(const char *name, uint64_t second, int64_t result, const char *text)
{
	struct shown shown = begin(name, (const uint64_t[CALL_ARGUMENTS]){ 3, second });
	struct writer out;
	writer_open(&out, -1, 64);
	shown.values.call = &shown.call;
	result_print(&out, &shown.values, result);
	snprintf(shown.text, sizeof shown.text, "%.*s", (int)out.len, out.buffer);
	EXPECT_STR(shown.text, text);
	writer_fini(&out);
}

TEST("results are numbers, addresses, processes, errors or times that are up")
{
	result_is("read", 0, 832, "832");
	result_is("mmap", 0, 0x7f0000001000, "0x7f0000001000");
	result_is("mmap", 0, -ENOMEM, "-1 ENOMEM (Cannot allocate memory)");
	result_is("openat", 0, -ENOENT, "-1 ENOENT (No such file or directory)");
	result_is("pause", 0, -514, "-1 ERESTARTNOHAND (Interrupted; begins again if no handler runs)");
	result_is("pause", 0, -516, "-1 ERESTART_RESTARTBLOCK (Interrupted; the rest of the time follows)");
	result_is("pause", 0, -517, "-1 517 (Unknown error 517)");
	result_is("wait4", 0, 7, "7 (sh)");
	result_is("poll", 0, 0, "0 (Timeout)");
	result_is("fcntl", F_GETFL, O_RDWR | O_NONBLOCK, "RDWR|NONBLOCK");
	result_is("fcntl", F_DUPFD, 3, "3</etc/passwd>");
	result_is("fcntl", F_SETFD, 0, "0");
	result_is("read", 0, INT64_MIN, "-1 9223372036854775808 (Success)");
}

TEST("prefixes, zeros and names of arguments follow the options")
{
	struct shown shown = begin("openat", (const uint64_t[CALL_ARGUMENTS]){ (uint32_t)AT_FDCWD, 0, O_CLOEXEC });
	shown.values.prefixes = shown.values.zeros = shown.values.unnamed = true;
	EXPECT_STR(text_of(&shown), "AT_FDCWD, 0, O_RDONLY|O_CLOEXEC");
}

TEST("every number of a table has a description, or none of its arguments")
{
	struct calls calls;
	calls_init(&calls, SYSCALLS_X86_64);
	unsigned described = 0;
	for (int i = -1; i <= SYSCALL_NUMBERS; i++) {
		const struct call *call = calls_get(&calls, i);
		described += call && call->described;
		EXPECT(!call || call->count <= CALL_ARGUMENTS);
	}
	EXPECT(described > 340);
	EXPECT(calls_get(&calls, 0) == calls_get(&calls, 0));
	calls_fini(&calls);
}

static uint32_t size_of_type(void *context, const char *name, size_t length)
{
	if (length == 17 && memcmp(name, "__kernel_timespec", 17) == 0)
		return 16;
	return length == 8 && memcmp(name, "rlimit64", 8) == 0 ? 256 : 0;
}

static bool print_type(void *context, const struct typed_bytes *typed, struct writer *out)
{
	writer_puts(out, typed->member ?: "");
	writer_printf(out, "%.*s of %zu bytes%s, first %u", (int)typed->length, typed->name, typed->size, typed->unnamed ? " without names" : "",
		(unsigned)*typed->bytes);
	return *typed->bytes < 100;
}

static const struct call *call_named(struct calls *calls, const char *name)
{
	const struct call *call = calls_get(calls, syscall_number(calls->table, name));
	EXPECT(call != NULL);
	return call;
}

TEST("a structure that 32-bit tasks pass in another layout is an address in their calls")
{
	struct calls calls;
	calls_init(&calls, SYSCALLS_I386);
	EXPECT_INT(call_named(&calls, "rt_sigaction")->arguments[1].kind, ARGUMENT_POINTER);
	EXPECT_INT(call_named(&calls, "setrlimit")->arguments[1].kind, ARGUMENT_POINTER);
	EXPECT_INT(call_named(&calls, "nanosleep")->arguments[0].kind, ARGUMENT_POINTER);
	EXPECT_INT(call_named(&calls, "timer_settime")->arguments[2].kind, ARGUMENT_POINTER);
	EXPECT_INT(call_named(&calls, "timer_settime64")->arguments[2].kind, ARGUMENT_STRUCT);
	EXPECT_INT(call_named(&calls, "clock_nanosleep_time64")->arguments[2].kind, ARGUMENT_STRUCT);
	EXPECT_INT(call_named(&calls, "prlimit64")->arguments[2].kind, ARGUMENT_STRUCT);
	EXPECT_INT(call_named(&calls, "openat2")->arguments[2].kind, ARGUMENT_STRUCT);
	EXPECT_INT(call_named(&calls, "execve")->arguments[1].kind, ARGUMENT_STRINGS);
	calls_fini(&calls);
}

/* An array of structures that syscalls/layouts.c knows; a size that is no multiple of theirs. */
TEST("arrays of structures with flags are printed element by element, with the names of the flags")
{
	static const struct call_types types = { NULL, false, size_of_type, print_type };
	struct calls calls;
	struct writer out;
	uint8_t size = 0;
	calls_init(&calls, SYSCALLS_X86_64);
	calls.types = &types;
	const struct call *call = call_named(&calls, "poll");
	EXPECT_INT(call->arguments[0].kind, ARGUMENT_STRUCT);
	EXPECT_INT(argument_copy_of(&call->arguments[0], &size), ARGUMENT_COPY_ELEMENTS);
	EXPECT_INT(size, 64);
	const struct {
		int fd;
		short events, revents;
	} files[] = { { 7, 1, 0 }, { -2, 5, 0x10 }, { 9, 0, 0 } };
	struct call_values values = { .call = call, .values = { 0x1000, 3 }, .bytes = { { (const uint8_t *)files, 20 } } };
	writer_open(&out, -1, 256);
	argument_print(&out, &values, 0);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "[(struct pollfd){.fd = (int)7,.events = (short int)IN,}, (struct pollfd){.fd = (int)-2,"
		".events = (short int)IN|OUT,.revents = (short int)HUP,}, ...]");
	writer_fini(&out);
	calls_fini(&calls);
}

TEST("a structure that is not const is read by the calls that are named with it, not by those whose names are parts of theirs")
{
	static const char arguments[] = "struct clone_args *", parameters[] = "struct sched_param *";
	EXPECT(layout_of("clone3", arguments, strlen(arguments)) != 0);
	EXPECT_INT(layout_of("clone", arguments, strlen(arguments)), 0);
	EXPECT_INT(layout_of("lone3", arguments, strlen(arguments)), 0);
	EXPECT(layout_of("sched_setscheduler", parameters, strlen(parameters)) != 0);
	EXPECT_INT(layout_of("sched_set", parameters, strlen(parameters)), 0);
	EXPECT_INT(layout_of("setscheduler", parameters, strlen(parameters)), 0);
}

TEST("structures that a call reads are printed by their types, those that it writes or that are too large are addresses")
{
	static const struct call_types types = { NULL, true, size_of_type, print_type };
	struct calls calls;
	struct writer out;
	uint8_t size = 0;
	calls_init(&calls, SYSCALLS_X86_64);
	calls.types = &types;
	const struct call *call = call_named(&calls, "setitimer");
	EXPECT_INT(call->arguments[1].kind, ARGUMENT_TYPED);
	EXPECT_INT(argument_copy_of(&call->arguments[1], &size), ARGUMENT_COPY_FIXED);
	EXPECT_INT(size, 32);
	EXPECT_INT(call->arguments[2].kind, ARGUMENT_POINTER);
	EXPECT_INT(call_named(&calls, "prlimit64")->arguments[2].kind, ARGUMENT_STRUCT);
	call = call_named(&calls, "nanosleep");
	EXPECT_INT(call->arguments[1].kind, ARGUMENT_POINTER);
	struct call_values values = { .call = call, .values = { 0x1000, 0x2000 }, .bytes = { { (const uint8_t *)"\5", 1 } } };
	writer_open(&out, -1, 256);
	arguments_print(&out, &values);
	values.bytes[0].bytes = NULL;
	arguments_print(&out, &values);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "rqtp: __kernel_timespec of 1 bytes, first 5, rmtp: 0x2000rqtp: 0x1000, rmtp: 0x2000");
	writer_fini(&out);
	calls_fini(&calls);
}

TEST("of a list of strings, those that were copied are printed, and dots if there are more")
{
	static const struct {
		struct argument_bytes bytes;
		const char *text;
	} rows[] = {
		{ { (const uint8_t *)"ls\0-l\n\0", 7 }, "argv: [\"ls\", \"-l\\012\"]" },
		{ { (const uint8_t *)"ls\0-l\0\1", 7 }, "argv: [\"ls\", \"-l\", ...]" },
		{ { (const uint8_t *)"\0", 1 }, "argv: [\"\"]" },
		{ { (const uint8_t *)"", 0 }, "argv: []" },
		{ { NULL, 0 }, "argv: 0x1000" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct shown shown = begin("execve", (const uint64_t[CALL_ARGUMENTS]){ 0, 0x1000 });
		shown.values.bytes[1] = rows[i].bytes;
		EXPECT_STR(text_of(&shown), rows[i].text);
	}
}

TEST("of an array, as many structures are printed as were copied; one whose type is unknown is an address")
{
	static const struct call_types types = { NULL, false, size_of_type, print_type };
	struct calls calls;
	struct writer out;
	uint8_t size = 0;
	calls_init(&calls, SYSCALLS_X86_64);
	calls.types = &types;
	const struct call *call = call_named(&calls, "writev");
	EXPECT_INT(argument_copy_of(&call->arguments[1], &size), ARGUMENT_COPY_ELEMENTS);
	EXPECT_INT(size, 128);
	struct call_values values = { .call = call, .values = { 1, 0x1000, 2 }, .bytes[1] = { (const uint8_t[33]){ 1, [16] = 2, [32] = 3 }, 33 } };
	writer_open(&out, -1, 256);
	argument_print(&out, &values, 1);
	values.values[2] = 3;
	argument_print(&out, &values, 1);
	values.bytes[1].bytes = (const uint8_t[32]){ 1, [16] = 100 };
	values.bytes[1].size = 32;
	argument_print(&out, &values, 1);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "[iovec of 16 bytes, first 1, iovec of 16 bytes, first 2]"
		"[iovec of 16 bytes, first 1, iovec of 16 bytes, first 2, ...]0x1000");
	EXPECT_INT(call_named(&calls, "nanosleep")->arguments[0].kind, ARGUMENT_TIMESPEC);
	values.call = call = call_named(&calls, "bpf");
	EXPECT_INT(argument_copy_of(&call->arguments[1], &size), ARGUMENT_COPY_COUNTED);
	values.bytes[1] = (struct argument_bytes){ (const uint8_t *)"\3\0\0", 3 };
	values.values[0] = 36;
	out.len = 0;
	argument_print(&out, &values, 1);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "token_createbpf_attr of 3 bytes, first 3");
	writer_fini(&out);
	calls_fini(&calls);
}
