#include "image/debug.h"

#include <unistd.h>

#include "elf/elf_maker.h"
#include "image/file.h"
#include "image/test_folder.h"

static const uint8_t own_id[20] = { 0xab, 0xcd, 1 };
static const uint8_t dwz_id[20] = { 0x12, 0x34, 9 };

/* The sections of a file; NULL and 0: without that section. */
struct parts {
	const uint8_t *id;
	const char *info, *alternate, *split;
	size_t split_len;
	bool addresses, code;
};

static void write_elf(struct folder *f, const char *name, const struct parts *p)
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_section(&m, ".text", p->code ? SHT_PROGBITS : SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 16);
	if (p->id)
		maker_build_id(&m, p->id, 20);
	if (p->info)
		maker_section(&m, ".debug_info", SHT_PROGBITS, 0, 0, p->info, strlen(p->info) + 1);
	if (p->addresses)
		maker_section(&m, ".debug_addr", SHT_PROGBITS, 0, 0, "addr", 5);
	if (p->split)
		maker_section(&m, ".debug_info.dwo", SHT_PROGBITS, 0, 0, p->split, p->split_len);
	if (p->alternate) {
		char link[256];
		size_t len = strlen(p->alternate) + 1;
		memcpy(link, p->alternate, len);
		memcpy(link + len, dwz_id, 20);
		maker_section(&m, ".gnu_debugaltlink", SHT_PROGBITS, 0, 0, link, len + 20);
	}
	size_t len;
	uint8_t *file = maker_finish(&m, &len);
	folder_write(f, name, file, len);
	free(file);
}

static struct module module_of(const char *name)
{
	struct module module = { .kind = MODULE_FILE, .name = name, .long_name = name, .short_name = "x", .build_id_len = 20,
		.pid = -1 };
	memcpy(module.build_id, own_id, 20);
	return module;
}

static struct folder folder;
static struct image_debug debug;
static struct image_options options;
static struct image_trail trail;

static int open_debug(const struct module *module)
{
	options = (struct image_options){ .symfs = folder.root };
	trail = (struct image_trail){ 0 };
	return image_debug_open(&debug, module, &options, &trail, NULL);
}

static void close_debug(void)
{
	image_debug_close(&debug);
	image_trail_fini(&trail);
}

/* The path as seen from the test's folder. */
static const char *below(const char *path)
{
	return path && strncmp(path, folder.root, strlen(folder.root)) == 0 ? path + strlen(folder.root) : path;
}

TEST("a file with its own debug information is one part, not two")
{
	folder_open(&folder);
	struct module module = module_of("/bin/x");
	write_elf(&folder, "bin/x", &(struct parts){ .id = own_id, .info = "info", .code = true });
	EXPECT_INT(open_debug(&module), 0);
	EXPECT_STR(below(debug.executable.path), "/bin/x");
	EXPECT(debug.debug == &debug.executable.elf && !debug.separate.path && !debug.alternate.path && !debug.package.path);
	EXPECT_INT(trail.tries.items[trail.tries.count - 1].finding, IMAGE_USED);
	close_debug();
	folder_close(&folder);
}

TEST("the debug file and the file that runs are both found, the alternate at its stored path, in .dwz or by build-id")
{
	static const char *const places[] = { "usr/lib/debug/.build-id/dwz/x", "usr/lib/debug/.dwz/x",
		"usr/lib/debug/.build-id/12/34090000000000000000000000000000000000.debug",
		".debug/.build-id/12/34090000000000000000000000000000000000/elf" };
	static const char *const stored[] = { "../dwz/x", "../../../.dwz/x", "/absent", "/absent" };
	struct module module = module_of("/bin/x");
	for (unsigned i = 0; i < 4; i++) {
		folder_open(&folder);
		write_elf(&folder, "bin/x", &(struct parts){ .id = own_id, .code = true });
		write_elf(&folder, "usr/lib/debug/.build-id/ab/cd010000000000000000000000000000000000.debug",
			&(struct parts){ .id = own_id, .info = "info", .alternate = stored[i] });
		write_elf(&folder, places[i], &(struct parts){ .id = dwz_id, .info = "more" });
		EXPECT_INT(open_debug(&module), 0);
		EXPECT_STR(below(debug.executable.path), "/bin/x");
		EXPECT(debug.debug == &debug.separate.elf);
		EXPECT_STR(strrchr(debug.alternate.path, '/'), strrchr(places[i], '/'));
		close_debug();
		folder_close(&folder);
	}
}

TEST("an alternate with another build-id is skipped")
{
	struct module module = module_of("/bin/x");
	folder_open(&folder);
	write_elf(&folder, "bin/x", &(struct parts){ .id = own_id, .info = "info", .code = true, .alternate = "y" });
	write_elf(&folder, "bin/y", &(struct parts){ .id = own_id, .info = "more" });
	EXPECT_INT(open_debug(&module), 0);
	EXPECT(!image_debug_alternate(&debug));
	bool told = false;
	for (size_t i = 0; i < trail.tries.count; i++)
		told |= trail.tries.items[i].finding == IMAGE_OTHER_BUILD && strcmp(below(trail.tries.items[i].path), "/bin/y") == 0;
	EXPECT(told);
	close_debug();
	folder_close(&folder);
}

TEST("a package beside the file is opened if units are split")
{
	struct module module = module_of("/bin/x");
	for (unsigned split = 0; split < 2; split++) {
		folder_open(&folder);
		write_elf(&folder, "bin/x", &(struct parts){ .id = own_id, .info = "info", .code = true, .addresses = split });
		write_elf(&folder, "bin/x.dwp", &(struct parts){ .split = "unit", .split_len = 5 });
		EXPECT_INT(open_debug(&module), 0);
		EXPECT((image_debug_package(&debug) != NULL) == split);
		close_debug();
		folder_close(&folder);
	}
}

TEST("a split unit's file is found at its stored path and beside the file, by its id, and never outside of the folder")
{
	/* length, version 5, split compile, address size, abbreviations, id */
	static const char right[] = "\x10\0\0\0\5\0\5\x8\0\0\0\0\1\2\3\4\5\6\7\x8";
	static const char wrong[] = "\x10\0\0\0\5\0\5\x8\0\0\0\0\1\2\3\4\5\6\7\x9";
	const uint64_t id = 0x0807060504030201;
	struct module module = module_of("/bin/x");
	folder_open(&folder);
	write_elf(&folder, "bin/x", &(struct parts){ .id = own_id, .info = "info", .code = true, .addresses = true });
	write_elf(&folder, "build/out/a.dwo", &(struct parts){ .split = right, .split_len = 20 });
	write_elf(&folder, "build/b.dwo", &(struct parts){ .split = wrong, .split_len = 20 });
	write_elf(&folder, "bin/b.dwo", &(struct parts){ .split = right, .split_len = 20 });
	EXPECT_INT(symlink("/../../../build/out/a.dwo", folder_path(&folder, "build/in.dwo")), 0);
	EXPECT_INT(symlink("/etc/passwd", folder_path(&folder, "build/out.dwo")), 0);
	EXPECT_INT(open_debug(&module), 0);
	EXPECT(image_debug_split(&debug, "/build", "out/a.dwo", id) != NULL);
	EXPECT(image_debug_split(&debug, "", "/build/out/a.dwo", id) != NULL);
	EXPECT(image_debug_split(&debug, "/build", "b.dwo", id) != NULL);
	EXPECT_STR(below(debug.splits.items[2]->path), "/bin/b.dwo");
	EXPECT(image_debug_split(&debug, "/build", "in.dwo", id) != NULL);
	EXPECT(!image_debug_split(&debug, "/build", "out.dwo", id));
	EXPECT(!image_debug_split(&debug, "/build", "absent.dwo", id));
	EXPECT(!image_debug_split(&debug, NULL, "", id));
	EXPECT_INT(debug.splits_missing, 3);
	close_debug();
	folder_close(&folder);
}

TEST("without debug information there is nothing to close, and the error distinguishes the cases")
{
	struct module module = module_of("/bin/x"), absent = module_of("/bin/y");
	struct error err = { 0 };
	folder_open(&folder);
	write_elf(&folder, "bin/x", &(struct parts){ .id = own_id, .code = true });
	options = (struct image_options){ .symfs = folder.root };
	EXPECT_INT(image_debug_open(&debug, &module, &options, NULL, &err), -1);
	EXPECT(strstr(err.text, "no debug information"));
	EXPECT_INT(image_debug_open(&debug, &absent, &options, NULL, &err), -1);
	EXPECT(strstr(err.text, "no file"));
	image_debug_close(&debug);
	folder_close(&folder);
}
