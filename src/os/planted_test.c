#include "os/cgroup.h"
#include "os/cpus.h"
#include "os/kernel.h"
#include "os/machine.h"
#include "os/permission.h"
#include "os/test_planted.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define KPTR "/proc/sys/kernel/kptr_restrict"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static void answer_permission(struct str *out)
{
	char command[96];
	struct permission permission;
	permission_read(&permission);
	permission_show_kernel(command, sizeof command);
	str_printf(out, "%d %s%s", permission.paranoid, permission_hides_kernel() ? "hidden: " : "shown: ", command);
}

TEST("addresses of the kernel are hidden by either sysctl, unless the process may read the kernel's log; the command names what hides them")
{
	static const struct {
		const char *restricted, *paranoid;
		bool user;
		const char *want;
	} rows[] = {
		{ "0\n", "-1\n", true, "-1 shown: sysctl kernel.kptr_restrict=0" },
		{ "0\n", "1\n", true, "1 shown: sysctl kernel.kptr_restrict=0" },
		{ "0\n", "2\n", true, "2 hidden: sysctl kernel.perf_event_paranoid=1" },
		{ "1\n", "1\n", true, "1 hidden: sysctl kernel.kptr_restrict=0" },
		{ "1\n", "3\n", true, "3 hidden: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" },
		{ "2\n", "0\n", true, "0 hidden: sysctl kernel.kptr_restrict=0" },
		{ "1\n", "4\n", false, "4 shown: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" },
		{ "2\n", "4\n", false, "4 hidden: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" },
		{ "0\n", "none\n", true, "2 hidden: sysctl kernel.kptr_restrict=0" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct planted files[] = { { KPTR, rows[i].restricted }, { PARANOID, rows[i].paranoid } };
		if (!expect_answer(files, 2, rows[i].user, answer_permission, rows[i].want))
			return;
	}
}

/* With these capabilities alone. */
static void answer_capabilities(struct str *out)
{
	static const uint64_t sets[] = { 0, ~(uint64_t)0, (uint64_t)1 << CAP_SYSLOG, ~((uint64_t)1 << CAP_SYSLOG), (uint64_t)1 << CAP_PERFMON,
		(uint64_t)1 << CAP_SYS_ADMIN, (uint64_t)1 << CAP_SYS_PTRACE };
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct had[2];
	const uint64_t used = sets[2] | sets[4] | sets[5] | sets[6];
	if (syscall(SYS_capget, &header, had) < 0 || ~had[0].effective & (uint32_t)used || ~had[1].effective & (uint32_t)(used >> 32))
		_exit(CANNOT_MOUNT);
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		struct __user_cap_data_struct data[2] = { had[0], had[1] };
		struct permission permission;
		data[0].effective &= (uint32_t)sets[i];
		data[1].effective &= (uint32_t)(sets[i] >> 32);
		if (syscall(SYS_capset, &header, data) < 0)
			_exit(CANNOT_MOUNT);
		permission_read(&permission);
		str_printf(out, "%d%d%d%d ", permission_hides_kernel(), permission.perfmon, permission.ptrace, permission.root);
	}
}

TEST("each capability allows its own: the kernel's log, measurements, other processes")
{
	static const struct planted files[] = { { KPTR, "1\n" }, { PARANOID, "2\n" } };
	expect_answer(files, 2, false, answer_capabilities, "1001 0111 0001 1111 1101 1101 1011 ");
}

static void answer_refusal(struct str *out)
{
	for (int level = 0; level < 2; level++) {
		struct error err = { 0 };
		int status = permission_refused(&err, "cycles", "kernel code", level);
		str_printf(out, "%d %s\n%.40s\n", status, err.text, err.hint);
	}
}

TEST("a refused counter names the sysctl if its level forbids it, and otherwise another cause")
{
	static const struct planted file = { PARANOID, "1\n" };
	expect_answer(&file, 1, true, answer_refusal,
		"-1 no permission to measure kernel code with cycles: kernel.perf_event_paranoid is 1 and CAP_PERFMON is missing\n"
		"sudo sysctl kernel.perf_event_paranoid=0\n"
		"-1 no permission to measure kernel code with cycles: kernel.perf_event_paranoid is 1 and CAP_PERFMON is missing\n"
		"the process belongs to another user, or \n");
}

static void answer_processor(struct str *out)
{
	char name[64] = "none", id[64] = "none";
	str_printf(out, "%d %s, ", machine_processor(name, sizeof name), name);
	str_printf(out, "%d %s", machine_processor_id(id, sizeof id), id);
}

TEST("a processor has an id if /proc/cpuinfo has all four parts of it, and a description of the first key that there is")
{
	static const struct planted files[] = {
		{ "/proc/cpuinfo", "vendor_id\t: Vendor\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: A Name\nstepping\t: 7\n\nvendor_id\t: Other\n" },
		{ "/proc/cpuinfo", "vendor_id\t: Vendor\ncpu family\t: 6\nmodel name\t: A Name\nstepping\t: 7\n" },
		{ "/proc/cpuinfo", "vendor_id\t: Vendor\ncpu family\t: 6\nmodel\t: 85\n" },
		{ "/proc/cpuinfo", "vendor_id : Vendor\nmodel : 85\nstepping : 7\n" },
		{ "/proc/cpuinfo", "cpu family : 6\nmodel : 85\nstepping : 7\ncpu model : B\nProcessor : C\n" },
		{ "/proc/cpuinfo", "stepping : 7" },
	};
	static const char *const want[] = { "1 A Name, 1 Vendor,6,85,7", "1 A Name, 0 none", "1 Vendor, 0 none", "1 Vendor, 0 none", "1 C, 0 none",
		"0 none, 0 none" };
	if (file_exists("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1")) {
		unit_skip("the processor's id is that of its core here");
		return;
	}
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!expect_answer(&files[i], 1, false, answer_processor, want[i]))
			return;
}

static void answer_cpus(struct str *out)
{
	struct cpus cpus = { 0 };
	int status = cpus_online(&cpus, NULL);
	size_t count = cpus.list.count;
	if (status == 0 && count && cpus_contiguous(&cpus)) /* their number depends on the machine */
		str_printf(out, "from %d", cpus.list.items[0]);
	else
		str_printf(out, "%d, %zu: %d to %d", status, count, count ? cpus.list.items[0] : -1, count ? cpus.list.items[count - 1] : -1);
	cpus_fini(&cpus);
}

TEST("CPUs that are online are those of the kernel's list, and if it cannot be read as many from 0 on as the C library knows")
{
	static const struct planted files[] = { { "/sys/devices/system/cpu/online", "1,3-4\n" }, { "/sys/devices/system/cpu/online", "x\n" },
		{ "/sys/devices/system/cpu/online", "\n" } };
	static const char *const want[] = { "0, 3: 1 to 4", "from 0", "from 0" };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!expect_answer(&files[i], 1, false, answer_cpus, want[i]))
			return;
}

static void answer_memory(struct str *out)
{
	str_printf(out, "%llu", (unsigned long long)machine_memory_kb());
}

TEST("the memory of the machine is MemTotal, and 0 if that is missing")
{
	static const struct planted files[] = { { "/proc/meminfo", "MemFree:  5 kB\nMemTotal:       24536789 kB\n" },
		{ "/proc/meminfo", "MemFree: 5 kB\n" } };
	if (expect_answer(&files[0], 1, false, answer_memory, "24536789"))
		expect_answer(&files[1], 1, false, answer_memory, "0");
}

static void answer_text(struct str *out)
{
	struct kernel_text text;
	struct error err = { 0 };
	int status = kernel_text(&text, &err);
	str_printf(out, "%d %s %llx-%llx%s", status, text.symbol, (unsigned long long)text.start, (unsigned long long)text.end, err.text);
}

TEST("the kernel's text begins with _text, or _stext without it, and ends with _edata, or _etext without it")
{
	static const struct {
		const char *list, *want;
	} rows[] = {
		{ "ffffffff81000000 T _text\nffffffff81000040 T _stext\nffffffff82000000 T _etext\nffffffff83000000 D _edata\nffffffff84000000 T _text\n",
		  "0 _text ffffffff81000000-ffffffff83000000" },
		{ "ffffffff81000040 T _stext\nffffffff81000000 T _text\nffffffff82000000 T _etext\n", "0 _text ffffffff81000000-ffffffff82000000" },
		{ "ffffffff81000040 T _stext\nffffffff81000050 T start_text\nffffffff82000000 T _etext\n", "0 _stext ffffffff81000040-ffffffff82000000" },
		{ "ffffffff83000000 D _edata\nffffffff81000000 T _text\nffffffff82000000 T _etext\n", "0 _text ffffffff81000000-ffffffff82000000" },
		{ "ffffffff81000000 T _text\nffffffffc0000000 t init\t[ext4]\nffffffff82000000 T _etext\n", "0 _text ffffffff81000000-0" },
		{ "cut\nffffffff81000000-T _text\nffffffff81000040 T _stext\nffffffff82000000 T _etext\n", "0 _stext ffffffff81000040-ffffffff82000000" },
		{ "0000000000000000 T _text\n0000000000000000 T _stext\n0000000000000000 D _edata\n", "0  0-0" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct planted file = { "/proc/kallsyms", rows[i].list };
		if (!expect_answer(&file, 1, false, answer_text, rows[i].want))
			return;
	}
}

static void answer_modules(struct str *out)
{
	struct kernel_modules modules = { 0 };
	str_printf(out, "%d", kernel_modules(&modules, NULL));
	for (size_t i = 0; i < modules.list.count; i++)
		str_printf(out, " %s %llx+%llu", modules.list.items[i].name, (unsigned long long)modules.list.items[i].start,
			   (unsigned long long)modules.list.items[i].size);
	kernel_modules_fini(&modules);
}

TEST("modules whose addresses are hidden, and lines that are cut, are left out")
{
	static const struct planted file = { "/proc/modules",
		"made_one 16384 1 made_two,other, Live 0xffffffffc0100000\nhidden 4096 0 - Live 0x0000000000000000\ncut 4096 0 -\n"
		"made_two 8192 0 - Live 0xffffffffc0000000 (OE)\n" };
	expect_answer(&file, 1, false, answer_modules, "0 made_one ffffffffc0100000+16384 made_two ffffffffc0000000+8192");
}

static void answer_cgroup(struct str *out)
{
	char path[64] = "none";
	bool unified = false, found = cgroup_mount(path, sizeof path, &unified);
	str_printf(out, "%d %s %d", found, path, unified);
}

TEST("the hierarchy of perf_event is used if there is one, and otherwise the first unified one")
{
	static const struct {
		const char *mounts, *want;
	} rows[] = {
		{ "none / ext4 rw 0 0\nnone /one cgroup2 rw 0 0\nnone /two cgroup2 rw 0 0\n", "1 /one 1" },
		{ "none /one cgroup2 rw 0 0\nnone /perf cgroup rw,cpu,perf_event 0 0\nnone /late cgroup rw,perf_event 0 0\n", "1 /perf 0" },
		{ "none /perf cgroup perf_event,rw 0 0\nnone /one cgroup2 rw 0 0\n", "1 /perf 0" },
		{ "none /cpu cgroup rw,perf_events,xperf_event 0 0\nnone /short cgroup\n", "0 none 0" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct planted file = { "/proc/self/mounts", rows[i].mounts };
		if (!expect_answer(&file, 1, false, answer_cgroup, rows[i].want))
			return;
	}
}

TEST("a folder has no line, a word is no number, and a closed file cannot be written")
{
	char line[8] = "before";
	int64_t number = 7;
	char path[] = "/tmp/perfuse-line-XXXXXX";
	int fd = mkstemp(path);
	EXPECT(!file_line("/", line, sizeof line) && !file_line("/nonexistent", line, sizeof line));
	EXPECT(!file_number(path, &number) && !file_number("/nonexistent", &number));
	EXPECT(file_write(fd, "0x10 and more\nnext", 18));
	EXPECT(file_line(path, line, sizeof line));
	EXPECT_STR(line, "0x10 an");
	EXPECT(file_number(path, &number) && number == 16);
	EXPECT(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 && file_write(fd, "99999999999999999999", 20));
	EXPECT(!file_number(path, &number) && number == 16);
	close(fd);
	unlink(path);
	EXPECT(!file_write(-1, "x", 1));
}

static volatile sig_atomic_t filled_pipe;

static void empty_pipe(int signal)
{
	char bytes[4096];
	(void)signal;
	while (filled_pipe >= 0 && read(filled_pipe, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
		continue;
	filled_pipe = -1; /* what is written then stays */
}

TEST("what a signal interrupts before a byte is written is written after it")
{
	const struct sigaction emptying = { .sa_handler = empty_pipe }, usual = { .sa_handler = SIG_DFL };
	const struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
	char bytes[4096] = { 0 };
	int ends[2];
	EXPECT_INT(pipe2(ends, O_CLOEXEC), 0);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], bytes, sizeof bytes) > 0)
		continue;
	fcntl(ends[1], F_SETFL, 0);
	filled_pipe = ends[0];
	sigaction(SIGALRM, &emptying, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	EXPECT(file_write(ends[1], "late", 4)); /* it waits for the pipe to be emptied */
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &usual, NULL);
	EXPECT_INT(read(ends[0], bytes, sizeof bytes), 4);
	close(ends[0]);
	close(ends[1]);
}
