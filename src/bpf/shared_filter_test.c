#include "bpf/shared_filter.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/sample.h"
#include "os/counter.h"
#include "unit.h"

enum { SKIPPED = 77 };

/* Spins until the counter has dropped some samples, or for a while; returns the number. */
static uint64_t spin(const struct shared_filter *filter)
{
	for (volatile long i = 0; i < 100000000 && (i % 1000000 || shared_filter_dropped(filter) < 5); i++)
		;
	return shared_filter_dropped(filter);
}

/* One filter on one counter; `drops`: whether it drops samples of this process. */
static int check(const char *text, bool drops)
{
	const struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1000000, .sample_type = SAMPLE_IP,
		.flags = (uint64_t)1 << ATTR_EXCLUDE_KERNEL };
	struct sample_condition condition;
	struct shared_filter filter;
	struct error err = { 0 };
	int fd = counter_open(&attr, 0, -1, -1, 0);
	if (fd < 0 || sample_condition_parse(&condition, text, &err) < 0 || shared_filter_open(&filter, &condition, false, &err) < 0)
		return fprintf(stderr, "%s: %s\n", text, err.text), 1;
	sample_condition_fini(&condition);
	int status = shared_filter_attach(&filter, fd);
	uint64_t dropped = status == 0 ? spin(&filter) : 0;
	shared_filter_close(&filter);
	counter_close(fd);
	if (status < 0 || (dropped > 0) != drops)
		return fprintf(stderr, "%s: status %d, %llu dropped\n", text, status, (unsigned long long)dropped), 1;
	return 0;
}

/* Gives this process its own mounts. */
static bool own_file_system(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL) == 0;
}

static int pinned(void)
{
	struct error err = { 0 };
	if (!own_file_system())
		return SKIPPED;
	if (shared_filter_pin(&err) < 0)
		return err.sys == ENOSYS ? SKIPPED : (fprintf(stderr, "%s\n", err.text), 1); /* an emulator has no bpf(2) */
	int failed = shared_filter_pin(&err) == 0;
	failed |= check("period > 5000000000", true) | check("period > 5000", false);
	failed |= check("uid == 12345 && ip > 0 || (cpu > 4000 || tid == 0)", true);
	failed |= check("uid == 12345 && ip > 0 || (cpu > 4000 || tid != 0)", false);
	failed |= check("ip > 0, ip & 0xffffffffffffffff, pid >= 1 || gid > 100000", false);
	for (int i = 0; i < 200; i++) { /* elements are given back */
		struct sample_condition condition;
		struct shared_filter filter;
		failed |= sample_condition_parse(&condition, "ip > 0", &err) < 0 || shared_filter_open(&filter, &condition, false, &err) < 0;
		sample_condition_fini(&condition);
		shared_filter_close(&filter);
	}
	return failed | (shared_filter_unpin(&err) < 0) | (shared_filter_pin(&err) < 0);
}

static mode_t mode_of_root(void)
{
	struct stat st;
	return stat("/sys/fs/bpf", &st) == 0 ? st.st_mode & 07777 : 0;
}

/* The mode of the root before the program is pinned, then, and after it is removed. `changed`: what another program sets meanwhile. */
static bool has_modes(mode_t before, mode_t pinned, mode_t changed, mode_t after)
{
	if (chmod("/sys/fs/bpf", before) < 0 || shared_filter_pin(NULL) < 0 || mode_of_root() != pinned)
		return false;
	if (changed && chmod("/sys/fs/bpf", changed) < 0)
		return false;
	return shared_filter_unpin(NULL) == 0 && mode_of_root() == after;
}

static int modes(void)
{
	struct error err = { 0 };
	if (!own_file_system())
		return SKIPPED;
	if (shared_filter_pin(&err) < 0)
		return err.sys == ENOSYS ? SKIPPED : (fprintf(stderr, "%s\n", err.text), 1);
	return shared_filter_unpin(&err) < 0 || !has_modes(0700, 0711, 0, 0700) || !has_modes(01710, 01711, 0, 01710) ||
		!has_modes(01777, 01777, 0, 01777) || !has_modes(0700, 0711, 0755, 0755);
}

static void in_child(int (*run)(void))
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(run());
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		unit_skip("needs root, and a BPF file system that can be mounted");
	else
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST("a pinned program drops by the conditions of its users, and serves one after the other")
{
	in_child(pinned);
}

TEST("users can enter the BPF file system as long as the program is pinned; then it has its mode again")
{
	in_child(modes);
}

TEST("without a pinned program a user learns what root can do")
{
	struct sample_condition condition;
	struct shared_filter filter;
	struct error err = { 0 };
	if (access("/sys/fs/bpf/perfuse_filter", F_OK) == 0) {
		unit_skip("the filter is set up on this machine");
		return;
	}
	EXPECT_INT(sample_condition_parse(&condition, "ip > 0", &err), 0);
	EXPECT_INT(shared_filter_open(&filter, &condition, false, &err), -1);
	EXPECT_INT(err.kind, ERROR_PERMISSION);
	EXPECT(strstr(err.hint, "--setup-filter pin") != NULL);
	sample_condition_fini(&condition);
	shared_filter_close(&filter);
}
