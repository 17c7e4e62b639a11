#include "os/cgroup.h"

#include <dirent.h>

#include "os/test_planted.h"

static unsigned count_folders(const char *path)
{
	unsigned count = 1;
	char below[1024];
	DIR *dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		bool folder = entry->d_type == DT_DIR && entry->d_name[0] != '.';
		if (folder && (size_t)snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < sizeof below)
			count += count_folders(below);
	}
	if (dir)
		closedir(dir);
	return count;
}

/* The hierarchy of this machine with the most groups: any has folders with ids. False: none is mounted. */
static bool find_hierarchy(char path[static 256])
{
	CLEANUP_STR struct str text = { 0 };
	char type[64], where[256];
	unsigned most = 0;
	if (file_read("/proc/self/mounts", &text, 1 << 20, NULL) < 0)
		return false;
	for (char *line = text.text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (sscanf(line, "%*s %255s %63s", where, type) != 2 || (strcmp(type, "cgroup2") != 0 && strcmp(type, "cgroup") != 0))
			continue;
		unsigned count = count_folders(where);
		if (count > most)
			memcpy(path, where, sizeof where);
		most = count > most ? count : most;
	}
	return most > 0;
}

struct seen {
	unsigned count, wrong;
	char last[1024];
	int until; /* the visit ends with -7 at that group; 0: never */
};

/* Parents come first, and the id of each path is that of the folder. */
static int see(void *context, uint64_t id, const char *path)
{
	struct seen *seen = context;
	uint64_t own = 0;
	seen->count++;
	if (seen->count == 1)
		seen->wrong += strcmp(path, "/") != 0;
	else
		seen->wrong += path[0] != '/' || !path[1] || path[strlen(path) - 1] == '/';
	if (cgroup_id(path, &own, NULL) == 0) /* it may have ended */
		seen->wrong += own != id;
	return seen->until && seen->count == (unsigned)seen->until ? -7 : 0;
}

static void answer_groups(struct str *out)
{
	char mount[256] = "", planted[256] = "";
	struct seen all = { 0 }, first = { .until = 1 };
	struct error err = { 0 };
	bool unified = false;
	uint64_t id = 0;
	EXPECT(cgroup_mount(mount, sizeof mount, &unified) && find_hierarchy(planted));
	unsigned before = count_folders(planted);
	int status = cgroup_each(see, &all, &err);
	unsigned after = count_folders(planted);
	str_printf(out, "%s %d, each %d, wrong %u, all %d; ", strcmp(mount, planted) == 0 ? "found" : mount, unified, status, all.wrong,
		before != after || all.count >= before);
	status = cgroup_each(see, &first, &err);
	str_printf(out, "ended %d after %u; ", status, first.count);
	str_printf(out, "root %d; ", cgroup_id("", &id, &err) == 0 && id > 0);
	status = cgroup_id("nosuch/group", &id, &err);
	str_printf(out, "absent %d %s; ", status, err.text);
	err = (struct error){ 0 };
	status = cgroup_open("../../..", &err);
	str_printf(out, "above %d %s", status, err.text);
}

TEST("each group is visited with its id, parents first, until a visit fails; what is no group is refused")
{
	char mount[256], mounts[512];
	if (!find_hierarchy(mount)) {
		unit_skip("no cgroup file system is mounted");
		return;
	}
	snprintf(mounts, sizeof mounts, "none /proc proc rw 0 0\ncgroup2 %s cgroup2 rw 0 0\n", mount);
	const struct planted file = { "/proc/self/mounts", mounts, 0 };
	expect_answer(&file, 1, false, answer_groups,
		"found 1, each 0, wrong 0, all 1; ended -7 after 1; root 1; "
		"absent -1 there is no cgroup nosuch/group: No such file or directory; "
		"above -1 there is no cgroup ../../..: the folder is not in the file system of cgroups");
}

static void answer_none(struct str *out)
{
	struct error err = { 0 };
	struct seen all = { 0 };
	char path[64];
	bool unified;
	bool found = cgroup_mount(path, sizeof path, &unified);
	int status = cgroup_open("x", &err);
	str_printf(out, "%d %d %s; ", found, status, err.text);
	status = cgroup_each(see, &all, &err);
	str_printf(out, "%d %s", status, err.text);
}

TEST("without a hierarchy, groups are an error with a remedy")
{
	static const struct planted file = { "/proc/self/mounts", "none /proc proc rw 0 0\nx /y cgroup rw,cpu 0 0\nshort\n", 0 };
	expect_answer(&file, 1, false, answer_none,
		"0 -1 no cgroup file system for perf_event is mounted; -1 no cgroup file system is mounted");
}
