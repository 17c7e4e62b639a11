#include "image/modules_dep.h"

#include <string.h>

#include "unit.h"

static char *found(const char *text, const char *name)
{
	static char copy[128];
	const char *path;
	size_t len;
	if (!modules_dep_find(text, name, strlen(name), &path, &len))
		return strcpy(copy, "none");
	snprintf(copy, sizeof copy, "%.*s", (int)len, path);
	return copy;
}

TEST("a module is found by its full name, with either hyphen, compressed or not")
{
	const char *text = "kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko\nkernel/sound/snd-hda-intel.ko.xz:\n/extra/a_b.ko:\nlast.ko";
	EXPECT_STR(found(text, "ext4"), "kernel/fs/ext4/ext4.ko");
	EXPECT_STR(found(text, "snd_hda_intel"), "kernel/sound/snd-hda-intel.ko.xz");
	EXPECT_STR(found(text, "a-b"), "/extra/a_b.ko");
	EXPECT_STR(found(text, "last"), "last.ko");
	EXPECT_STR(found(text, "jbd2"), "none");
	EXPECT_STR(found(text, "xt4"), "none");
	EXPECT_STR(found(text, "ext"), "none");
	EXPECT_STR(found("", "ext4"), "none");
	EXPECT_STR(found("ext4.kox:", "ext4"), "none");
}
