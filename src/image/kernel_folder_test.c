#include "image/kernel_folder.h"

#include <unistd.h>

#include "image/file.h"
#include "image/test_folder.h"

static const char list[] = "kernel/sound/snd-hda-intel.ko.xz: kernel/sound/snd.ko.xz\n"
			   "kernel/lab/slab.ko: kernel/lab/lab.ko\n"
			   "kernel/lab/lab.koala: \n"
			   "/opt/lab.ko.zst:\n"
			   "updates/last.ko";

TEST("a module's file is the one that the list of its release has under its name")
{
	struct folder f;
	char path[64];
	folder_open(&f);
	folder_write(&f, "usr/lib/modules/6.1/modules.dep", list, sizeof list - 1);
	int root = root_open(f.root);
	EXPECT(kernel_folder_module(root, "6.1", "[snd_hda_intel]", path, sizeof path));
	EXPECT_STR(path, "/usr/lib/modules/6.1/kernel/sound/snd-hda-intel.ko.xz");
	EXPECT(kernel_folder_module(root, "6.1", "[lab]", path, sizeof path));
	EXPECT_STR(path, "/opt/lab.ko.zst");
	EXPECT(kernel_folder_module(root, "6.1", "[last]", path, sizeof path));
	EXPECT_STR(path, "/usr/lib/modules/6.1/updates/last.ko");
	close(root);
	folder_close(&f);
}

TEST("an invalid module name or release, and a path that does not fit, yield no file")
{
	static const struct { const char *release, *name; } none[] = { { "6.1", "[snd]" }, { "6.1", "[]" }, { "6.1", "lab" }, { "6.1", "[la" },
		{ "6.2", "[lab]" }, { "", "[lab]" }, { "..", "[lab]" }, { "../6.1", "[lab]" }, { "6.1", "[intel]" } };
	struct folder f;
	char path[64];
	folder_open(&f);
	folder_write(&f, "lib/modules/6.1/modules.dep", list, sizeof list - 1);
	int root = root_open(f.root);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		EXPECT(!kernel_folder_module(root, none[i].release, none[i].name, path, sizeof path));
	EXPECT(!kernel_folder_module(root, "6.1", "[last]", path, 12));
	close(root);
	folder_close(&f);
}
