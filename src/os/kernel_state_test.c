#include "os/kernel_state.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define BOOT "01234567-89ab-cdef-0123-456789abcdef\n"
#define LIST "ffffffff81000000 T _text\n"
#define EXT4 "ext4 1000 2 mbcache,jbd2, Live 0xffffffffc0000000\n"
#define XFS "xfs 2000 0 - Live 0xffffffffc0100000 (OE)\n"
#define MODULES EXT4 XFS

struct machine {
	char root[32];
};

static void put(const struct machine *m, const char *path, const char *text)
{
	char name[128];
	snprintf(name, sizeof name, "%s/%s", m->root, path);
	for (char *slash = name + strlen(m->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(name, 0755);
		*slash = '/';
	}
	FILE *file = fopen(name, "w");
	EXPECT(file && fputs(text, file) >= 0);
	if (file)
		fclose(file);
}

static void drop(const struct machine *m, const char *path)
{
	char command[160];
	snprintf(command, sizeof command, "rm -rf '%s/%s'", m->root, path);
	EXPECT_INT(system(command), 0);
}

static void machine_open(struct machine *m)
{
	strcpy(m->root, "/tmp/state-test-XXXXXX");
	EXPECT(mkdtemp(m->root) != NULL);
	put(m, "proc/sys/kernel/random/boot_id", BOOT);
	put(m, "sys/kernel/notes", "notes");
	put(m, "proc/modules", MODULES);
	put(m, "proc/kallsyms", LIST);
	put(m, "sys/module/ext4/version", "1");
	put(m, "sys/module/xfs/version", "1");
}

/* Returns whether the file with this text changes the state; restores the file. */
static bool differs(const struct machine *m, const char *path, const char *text, const char *before)
{
	uint64_t was = kernel_state(m->root);
	put(m, path, text);
	bool other = kernel_state(m->root) != was;
	put(m, path, before);
	EXPECT(kernel_state(m->root) == was);
	return other;
}

TEST("another boot, build, list or module changes the state of the kernel; the use count of a module does not")
{
	struct machine m;
	machine_open(&m);
	EXPECT(kernel_state(m.root) != 0);
	EXPECT(differs(&m, "proc/sys/kernel/random/boot_id", "11234567-89ab-cdef-0123-456789abcdef\n", BOOT));
	EXPECT(differs(&m, "sys/kernel/notes", "other", "notes"));
	EXPECT(differs(&m, "sys/kernel/notes", "", "notes"));
	EXPECT(differs(&m, "proc/kallsyms", "0000000000000000 T _text\n", LIST));
	EXPECT(differs(&m, "proc/kallsyms", "ffffffff91000000 T _text\n", LIST));
	EXPECT(differs(&m, "proc/kallsyms", LIST "ffffffff91000000 T more\n", LIST));
	EXPECT(differs(&m, "proc/modules", EXT4, MODULES));
	EXPECT(differs(&m, "proc/modules", EXT4 "xfs 2001 0 - Live 0xffffffffc0100000 (OE)\n", MODULES));
	EXPECT(differs(&m, "proc/modules", EXT4 "xfs 2000 0 - Live 0xffffffffc0200000 (OE)\n", MODULES));
	EXPECT(differs(&m, "proc/modules", "ext4 1000 2 mbcache,jbd2, Loading 0xffffffffc0000000\n" XFS, MODULES));
	EXPECT(!differs(&m, "proc/modules", "ext4 1000 7 mbcache, Live 0xffffffffc0000000\n" XFS, MODULES));
	EXPECT(!differs(&m, "sys/module/xfs/version", "2", "1"));
	drop(&m, "");
}

TEST("a module that was loaded again with equal name, size and address changes the state")
{
	struct machine m;
	machine_open(&m);
	uint64_t was = kernel_state(m.root);
	/* the old folder is moved, so that the new one has another inode */
	char from[64], to[64];
	snprintf(from, sizeof from, "%s/sys/module/xfs", m.root);
	snprintf(to, sizeof to, "%s/gone", m.root);
	EXPECT_INT(rename(from, to), 0);
	put(&m, "sys/module/xfs/version", "1");
	EXPECT(kernel_state(m.root) != was);
	drop(&m, "");
}

TEST("a kernel without modules, notes or sysfs has a state; one without a boot id or a list has none")
{
	struct machine m;
	machine_open(&m);
	drop(&m, "proc/modules");
	drop(&m, "sys");
	EXPECT(kernel_state(m.root) != 0);
	drop(&m, "proc/kallsyms");
	EXPECT(kernel_state(m.root) == 0);
	put(&m, "proc/kallsyms", LIST);
	put(&m, "proc/sys/kernel/random/boot_id", "short\n");
	EXPECT(kernel_state(m.root) == 0);
	drop(&m, "proc/sys");
	EXPECT(kernel_state(m.root) == 0);
	drop(&m, "");
}
