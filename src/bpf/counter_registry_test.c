#include "bpf/counter_registry.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>

#include "bpf/test_mounts.h"
#include "os/file.h"

static const char path[] = "/sys/fs/bpf/test_counters";

static uint32_t id_of(int map)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info;
	return map >= 0 && bpf_obj_get_info_by_fd(map, &info, &size) == 0 ? info.id : 0;
}

/* The id of the map of a counter's attribute. */
static uint32_t counters_id(struct counter_registry *registry, uint64_t config)
{
	struct cpus cpus = { 0 };
	const struct attr attr = { .type = ATTR_SOFTWARE, .config = config, .read_format = READ_TOTAL_TIME_ENABLED };
	cpus_online(&cpus, NULL);
	CLEANUP_FD int map = counter_registry_counters(registry, &attr, &cpus);
	cpus_fini(&cpus);
	return id_of(map);
}

static int complain(const char *what)
{
	fprintf(stderr, "%s\n", what);
	return 1;
}

/* Descriptors hold the counters here, as no program does. */
static int share(void)
{
	struct counter_registry first, second;
	struct error err = { 0 };
	struct stat pinned;
	struct cpus cpus = { 0 };
	const struct attr faults = { .type = ATTR_SOFTWARE, .config = 2, .read_format = READ_TOTAL_TIME_ENABLED };
	if (counter_registry_open(&first, path, &err) < 0)
		return err.sys == ENOSYS || err.kind == ERROR_PERMISSION ? OWN_MOUNTS_SKIP : complain(err.text);
	cpus_online(&cpus, NULL);
	CLEANUP_FD int held = counter_registry_counters(&first, &faults, &cpus);
	cpus_fini(&cpus);
	if (counter_registry_open(&second, path, &err) < 0 || !id_of(held))
		return complain(err.text);
	if (counters_id(&second, 2) != id_of(held))
		return complain("two processes have counters of their own for one attribute");
	if (counters_id(&second, 3) == id_of(held))
		return complain("two attributes have the same counters");
	if (stat(path, &pinned) < 0 || (pinned.st_mode & 07777) != 0600)
		return complain("the pinned map has other rights");
	counter_registry_close(&first);
	if (stat(path, &pinned) < 0 || counters_id(&second, 2) != id_of(held))
		return complain("the end of the first process ends what the second one uses");
	counter_registry_close(&second);
	return stat(path, &pinned) == 0 || errno != ENOENT ? complain("the map remains pinned") : 0;
}

TEST("processes share the counters of an attribute, and the last one removes the pinned map")
{
	test_in_own_mounts(share);
}

/* Opens a registry whose process ends without a close. */
static int leave(void)
{
	struct counter_registry registry;
	struct error err = { 0 };
	struct stat pinned;
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(counter_registry_open(&registry, path, &err) < 0 || !counters_id(&registry, 2));
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return OWN_MOUNTS_SKIP;
	if (stat(path, &pinned) < 0 || counter_registry_open(&registry, path, &err) < 0)
		return complain("what a process leaves is not used again");
	if (!counters_id(&registry, 2))
		return complain("counters of a process that ended are not replaced");
	counter_registry_close(&registry);
	return stat(path, &pinned) == 0 ? complain("what a process left remains pinned") : 0;
}

TEST("what a process leaves that is killed is used and removed by the next one")
{
	test_in_own_mounts(leave);
}

static bool refuses(const char *at, enum error_kind kind)
{
	struct counter_registry registry;
	struct error err = { 0 };
	bool refused = counter_registry_open(&registry, at, &err) < 0 && err.kind == kind;
	if (!refused)
		fprintf(stderr, "%s: %d %s\n", at, err.kind, err.text);
	counter_registry_close(&registry);
	return refused;
}

static int pin(uint32_t key_size, uid_t owner, mode_t mode)
{
	CLEANUP_FD int map = bpf_map_create(BPF_MAP_TYPE_HASH, "perfuse_attrs", key_size, 4, 16, NULL);
	unlink(path);
	return map >= 0 && bpf_obj_pin(map, path) == 0 && chmod(path, mode) == 0 && chown(path, owner, owner) == 0;
}

static int refuse(void)
{
	enum { OTHER = 64321, KEY = 8 + ATTR_SIZE_VER9 };
	struct stat before, after;
	if (!pin(KEY, 0, 0600))
		return OWN_MOUNTS_SKIP;
	bool good = pin(KEY, OTHER, 0600) && refuses(path, ERROR_PERMISSION);
	good &= pin(KEY, 0, 0660) && refuses(path, ERROR_PERMISSION);
	good &= pin(KEY, 0, 0606) && refuses(path, ERROR_PERMISSION);
	good &= pin(KEY + 8, 0, 0600) && refuses(path, ERROR_FORMAT);
	good &= stat(path, &before) == 0;
	/* what is not used is not removed */
	good &= stat(path, &after) == 0 && before.st_ino == after.st_ino && unlink(path) == 0;
	good &= symlink("/sys/fs/bpf/elsewhere", path) == 0 && lchown(path, OTHER, OTHER) == 0 && refuses(path, ERROR_PERMISSION);
	good &= mkdir("/sys/fs/bpf/open", 0777) == 0 && chmod("/sys/fs/bpf/open", 0777) == 0 && refuses("/sys/fs/bpf/open/map", ERROR_PERMISSION);
	good &= mkdir("/sys/fs/bpf/foreign", 0755) == 0 && chown("/sys/fs/bpf/foreign", OTHER, OTHER) == 0 &&
		refuses("/sys/fs/bpf/foreign/map", ERROR_PERMISSION);
	good &= refuses("/sys/fs/bpf/progs.debug", ERROR_LIMIT) && refuses("/tmp/map", ERROR_UNSUPPORTED);
	return !good;
}

TEST("maps of others, links of others and folders that others can change are refused, and remain")
{
	test_in_own_mounts(refuse);
}

static size_t open_descriptors(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		count++;
	closedir(folder);
	return count;
}

TEST("counters that the kernel refuses, and those of CPUs that are absent, leave no descriptor open")
{
	struct counter_registry none = { .place.folder = -1, .map = -1, .sign = -1 };
	const struct attr wrong = { .type = ATTR_SOFTWARE, .config = UINT32_MAX }, faults = { .type = ATTR_SOFTWARE, .config = 2 };
	struct cpus cpus = { 0 }, absent = { 0 };
	cpus_online(&cpus, NULL);
	cpus_add(&absent, CPUS_MAX - 1);
	size_t before = open_descriptors();
	int map = counter_registry_counters(&none, &faults, &cpus);
	if (map < 0) {
		unit_skip("this user may not make BPF maps of counters, or the kernel or its emulator has none");
	} else {
		EXPECT_INT(open_descriptors(), before + 1);
		close(map);
		EXPECT(counter_registry_counters(&none, &wrong, &cpus) < 0);
		EXPECT_INT(open_descriptors(), before);
		EXPECT(counter_registry_counters(&none, &faults, &absent) < 0);
		EXPECT_INT(open_descriptors(), before);
	}
	cpus_fini(&cpus);
	cpus_fini(&absent);
}
