#include "bpf/loader.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/loader_test.bpf.h"
#include "unit.h"

/* The result of opening or loading: whether to go on. */
static bool usable(int status, const struct error *err)
{
	if (status >= 0)
		return true;
	if (err->kind == ERROR_PERMISSION)
		unit_skip("this user may not load BPF programs; root may");
	else if (err->kind == ERROR_UNSUPPORTED || err->sys == ENOSYS)
		unit_skip("the kernel or its emulator has no BPF with types; native builds run it");
	else
		unit_fail(__FILE__, __LINE__, "%s", err->text);
	return false;
}

static bool opened(struct loader *loader)
{
	struct error err = { 0 };
	return usable(loader_open(loader, "loader_test", loader_test_object, sizeof loader_test_object, &err), &err);
}

static void sleep_times(int times)
{
	for (int i = 0; i < times; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

TEST("a program counts the switches of the thread that a constant names, until it is closed")
{
	struct loader loader;
	struct error err = { 0 };
	if (!opened(&loader))
		return;
	int *watched = loader_variable(&loader, "watched", sizeof *watched);
	EXPECT(watched != NULL);
	*watched = getpid();
	EXPECT_INT(loader_resize(&loader, "states", 64, &err), 0);
	if (usable(loader_load(&loader, &err), &err) && usable(loader_attach(&loader, &err), &err)) {
		sleep_times(5);
		EXPECT(loader_sum(&loader, "counters", 1) >= 5);
		EXPECT_INT(loader_sum(&loader, "counters", 0), 0);
		uint32_t interruptible = 1;
		uint64_t seen = 0;
		EXPECT_INT(bpf_map_lookup_elem(loader_map(&loader, "states"), &interruptible, &seen), 0);
		EXPECT_INT(seen, 1);
		EXPECT(loader_program(&loader, "count_switch") >= 0);
		loader_detach(&loader);
		uint64_t counted = loader_sum(&loader, "counters", 1);
		sleep_times(3);
		EXPECT_INT(loader_sum(&loader, "counters", 1), counted);
	}
	loader_close(&loader);
}

TEST("names that an object lacks are found out")
{
	struct loader loader;
	struct error err = { 0 };
	if (!opened(&loader))
		return;
	EXPECT(!loader_variable(&loader, "watched", 8));
	EXPECT(!loader_variable(&loader, "watches", 4));
	EXPECT(loader_resize(&loader, "none", 1, &err) < 0);
	EXPECT(loader_value_size(&loader, "none", 8, &err) < 0);
	EXPECT_INT(loader_map(&loader, "none"), -1);
	EXPECT_INT(loader_program(&loader, "none"), -1);
	EXPECT(loader_attach_one(&loader, "none", &err) < 0);
	loader_close(&loader);
}

TEST("an optional program is loaded if the kernel has its tracepoint")
{
	struct loader loader;
	struct error err = { 0 };
	if (!opened(&loader))
		return;
	EXPECT(!loader_enable(&loader, "never"));
	EXPECT(!loader_enable(&loader, "no_program"));
	EXPECT(loader_enable(&loader, "on_exit"));
	if (usable(loader_load(&loader, &err), &err)) {
		EXPECT(loader_program(&loader, "never") < 0);
		EXPECT(loader_program(&loader, "on_exit") >= 0);
	}
	loader_close(&loader);
}

TEST("a program that the verifier refuses is described by the verifier's reason")
{
	struct loader loader;
	struct error err = { 0 };
	if (!opened(&loader))
		return;
	EXPECT(loader_enable(&loader, "refused"));
	EXPECT(loader_load(&loader, &err) < 0);
	if (err.sys != ENOSYS && geteuid() == 0)
		EXPECT(strstr(err.text, "refuses to load the BPF programs: ") && strstr(err.text, "access beyond") &&
			strstr(err.hint, "report this line"));
	loader_close(&loader);
}

TEST("the reason is the last line of a log that is neither an instruction, a source line nor a statistic")
{
	char text[32];
	loader_reason("0: R1=ctx(off=0)\n; return 0;\n0: (85) call 4\nbad thing at 7\n1: (95) exit\nprocessed 2 insns\n", text, sizeof text);
	EXPECT_STR(text, "bad thing at 7");
	loader_reason("a line that is longer than the text that it is copied to\n", text, sizeof text);
	EXPECT_STR(text, "a line that is longer than the ");
	loader_reason("", text, sizeof text);
	EXPECT_STR(text, "");
}

TEST("nothing stays attached after the process was killed")
{
	struct loader loader;
	struct error err = { 0 };
	int pipes[2];
	EXPECT_INT(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0) {
		uint32_t id = 0, size = sizeof(struct bpf_prog_info);
		struct bpf_prog_info info = { 0 };
		if (loader_open(&loader, "loader_test", loader_test_object, sizeof loader_test_object, &err) == 0 &&
		    loader_load(&loader, &err) == 0 && loader_attach(&loader, &err) == 0 &&
		    bpf_obj_get_info_by_fd(loader_program(&loader, "count_switch"), &info, &size) == 0)
			id = info.id;
		if (write(pipes[1], &id, sizeof id) < 0)
			_exit(1);
		pause();
	}
	uint32_t id = 0;
	EXPECT_INT(read(pipes[0], &id, sizeof id), sizeof id);
	kill(child, SIGKILL);
	EXPECT_INT(waitpid(child, NULL, 0), child);
	for (int i = 0; id && i < 60000; i++) { /* the kernel frees programs after a grace period */
		int fd = bpf_prog_get_fd_by_id(id);
		if (fd < 0)
			break;
		close(fd);
		sleep_times(1);
	}
	if (!id)
		unit_skip("this user may not load BPF programs; root may");
	else
		EXPECT(bpf_prog_get_fd_by_id(id) < 0);
	close(pipes[0]);
	close(pipes[1]);
}
