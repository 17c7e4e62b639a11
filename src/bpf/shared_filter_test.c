#include "bpf/shared_filter.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/sample.h"
#include "bpf/test_mounts.h"
#include "os/counter.h"
#include "unit.h"

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

static mode_t mode_of_root(void)
{
	struct stat st;
	return stat("/sys/fs/bpf", &st) == 0 ? st.st_mode & 07777 : 0;
}

static int pinned(void)
{
	struct error err = { 0 };
	if (shared_filter_pin(&err) < 0)
		return err.sys == ENOSYS ? OWN_MOUNTS_SKIP : (fprintf(stderr, "%s\n", err.text), 1); /* an emulator has no bpf(2) */
	int failed = shared_filter_pin(&err) == 0 || mode_of_root() != 01777;
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

/* The modes of the root while the program is pinned, and afterwards. `changed`: what another program sets meanwhile. Loading the program
 * takes seconds. */
static int modes(void)
{
	static const struct { mode_t before, pinned, changed, after; } all[] = { { 01710, 01711, 0, 01710 }, { 0700, 0711, 0755, 0755 } };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct error err = { 0 };
		if (chmod("/sys/fs/bpf", all[i].before) < 0)
			return 1;
		if (shared_filter_pin(&err) < 0)
			return err.sys == ENOSYS ? OWN_MOUNTS_SKIP : (fprintf(stderr, "%s\n", err.text), 1);
		bool good = mode_of_root() == all[i].pinned && (!all[i].changed || chmod("/sys/fs/bpf", all[i].changed) == 0);
		if (shared_filter_unpin(&err) < 0 || !good || mode_of_root() != all[i].after)
			return 1;
	}
	return 0;
}

TEST("a pinned program drops by the conditions of its users, and serves one after the other")
{
	test_in_own_mounts(pinned);
}

TEST("users can enter the BPF file system as long as the program is pinned; then it has its mode again")
{
	test_in_own_mounts(modes);
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
