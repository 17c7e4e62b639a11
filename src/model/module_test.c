#include "model/module.h"

#include <time.h>

#include "model/model.h"
#include "unit.h"

static uint32_t file_module_id(struct modules *modules, const char *name, uint32_t maj, uint64_t ino, uint64_t generation)
{
	struct module_identity identity = { .maj = maj, .min = 1, .ino = ino, .ino_generation = generation };
	return modules_file(modules, name, MODULE_FILE, &identity)->id;
}

TEST("files with one name are distinguished by device, inode and generation, and generation zero matches any")
{
	struct modules modules;
	modules_init(&modules);
	uint32_t first = file_module_id(&modules, "/bin/x", 8, 10, 5), second = file_module_id(&modules, "/bin/x", 8, 10, 6);
	uint32_t other = file_module_id(&modules, "/bin/x", 9, 10, 5);
	EXPECT(first != second && first != other && second != other);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 10, 5), first);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 10, 0), second);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 9, 10, 0), other);
	EXPECT(file_module_id(&modules, "/bin/y", 8, 10, 5) != first);
	uint32_t zero = file_module_id(&modules, "/bin/z", 8, 10, 0);
	EXPECT_INT(file_module_id(&modules, "/bin/z", 8, 10, 7), zero);
	EXPECT_INT(file_module_id(&modules, "/bin/z", 8, 10, 9), zero);
	EXPECT_INT(modules_file(&modules, "/bin/x", MODULE_FILE, NULL)->id, other);
	modules_fini(&modules);
}

TEST("a module without a known file becomes the next file with its name, the module listed last first")
{
	struct modules modules;
	modules_init(&modules);
	uint32_t none = modules_file(&modules, "/bin/x", MODULE_FILE, NULL)->id;
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 10, 5), none);
	EXPECT_INT(modules_get(&modules, none)->ino, 10);
	uint32_t next = file_module_id(&modules, "/bin/x", 8, 11, 5);
	EXPECT(next != none);
	uint32_t older = modules_ksymbol(&modules, "/bin/x")->id, newer = modules_ksymbol(&modules, "/bin/x")->id;
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 11, 5), newer);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 12, 5), older);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 10, 5), none);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 11, 5), newer);
	modules_fini(&modules);
}

static bool has_inode_11(void *context, const struct module *module)
{
	(void)context;
	return module->ino == 11;
}

TEST("a file's module is remembered until another file could be meant")
{
	struct modules modules;
	const struct module_identity file = { .maj = 8, .min = 1, .ino = 10, .ino_generation = 5 }, zero = { .maj = 8, .min = 1, .ino = 10 };
	modules_init(&modules);
	EXPECT(!modules_recall(&modules, "/bin/x", &file));
	struct module *module = modules_file(&modules, "/bin/x", MODULE_FILE, &file);
	EXPECT(!modules_recall(&modules, "/bin/x", &file));
	modules_remember(&modules, module, "/bin/x", &file);
	EXPECT(modules_recall(&modules, "/bin/x", &file) == module);
	EXPECT(!modules_recall(&modules, "/bin/y", &file));
	EXPECT(!modules_recall(&modules, "/bin/x", &zero));
	EXPECT(!modules_recall(&modules, "/bin/x", &(struct module_identity){ .maj = 9, .min = 1, .ino = 10, .ino_generation = 5 }));
	/* generation zero is the module that was listed last */
	modules_remember(&modules, module, "/bin/x", &zero);
	EXPECT(modules_recall(&modules, "/bin/x", &zero) == module);
	file_module_id(&modules, "/bin/x", 8, 10, 6);
	EXPECT(!modules_recall(&modules, "/bin/x", &zero));
	modules_remember(&modules, module, "/bin/x", &(struct module_identity){ 0 });
	EXPECT(!modules_recall(&modules, "/bin/x", &(struct module_identity){ 0 }));
	modules_fini(&modules);
}

TEST("after modules are dropped, the others are found")
{
	struct modules modules;
	modules_init(&modules);
	uint32_t first = file_module_id(&modules, "/bin/x", 8, 10, 5), second = file_module_id(&modules, "/bin/x", 8, 11, 5);
	uint32_t third = file_module_id(&modules, "/bin/x", 8, 12, 5), none = modules_ksymbol(&modules, "/bin/y")->id;
	modules_drop(&modules, has_inode_11, NULL);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 10, 5), first);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 12, 0), third);
	EXPECT_INT(file_module_id(&modules, "/bin/x", 8, 11, 5), second); /* reuses the dropped id */
	EXPECT_INT(file_module_id(&modules, "/bin/y", 1, 1, 1), none);
	modules_fini(&modules);
}

static double seconds_of(void (*run)(unsigned count), unsigned count)
{
	struct timespec from, to;
	double best = 1e9;
	for (unsigned i = 0; i < 3; i++) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		run(count);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
		best = seconds < best ? seconds : best;
	}
	return best;
}

/* Expects that eight times the count takes about eight times as long; quadratic time would be 64 times. One of several attempts is enough,
 * as caches are cold on a busy machine. */
static void expect_linear(void (*run)(unsigned count), unsigned count)
{
	double once = 0, more = 0;
	for (int attempt = 0; attempt < 5; attempt++) {
		once = seconds_of(run, count);
		more = seconds_of(run, 8 * count);
		if (more < 30 * once + 0.005)
			return;
	}
	EXPECT(more < 30 * once + 0.005);
}

static void many_inodes(unsigned count)
{
	struct modules modules;
	modules_init(&modules);
	for (unsigned i = 1; i <= count; i++)
		file_module_id(&modules, "/bin/x", 8, i, i % 3);
	EXPECT_INT(modules.list.count, count);
	modules_fini(&modules);
}

static void many_generations(unsigned count)
{
	struct modules modules;
	modules_init(&modules);
	for (unsigned i = 1; i <= count; i++)
		file_module_id(&modules, "/bin/x", 8, 1, i);
	EXPECT_INT(modules.list.count, count);
	modules_fini(&modules);
}

static void many_build_ids(unsigned count)
{
	struct model model;
	char name[64];
	static const uint8_t id[20] = { 1 };
	model_init(&model);
	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof name, "/lib/modules/6.1/m%u.ko", i);
		modules_kmodule(&model.modules, name, name);
	}
	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof name, "/lib/modules/6.1/m%u.ko", i);
		model_set_build_id(&model, name, RECORD_MISC_KERNEL, NULL, id, 20);
	}
	for (unsigned i = 0; i < count; i++) {
		snprintf(name, sizeof name, "[m%u]", i);
		EXPECT(known_build_ids_kmodule(&model.build_ids, name) != NULL);
	}
	model_fini(&model);
}

TEST("many files with one name, and many kernel modules with build-ids, take linear time")
{
	expect_linear(many_inodes, 5000);
	expect_linear(many_generations, 5000);
	expect_linear(many_build_ids, 2500);
}

TEST("a module is a file if both have one build-id, otherwise if device, inode and generation do not differ")
{
	struct module module = { .maj = 8, .min = 1, .ino = 10, .ino_generation = 5 };
	const struct module_identity same = { .maj = 8, .min = 1, .ino = 10, .ino_generation = 5 };
	struct module_identity other = same, none = { 0 };
	EXPECT(module_is_file(&module, NULL) && module_is_file(&module, &none) && module_is_file(&module, &same));
	other.maj = 9;
	EXPECT(!module_is_file(&module, &other));
	other = same;
	other.min = 2;
	EXPECT(!module_is_file(&module, &other));
	other = same;
	other.ino = 11;
	EXPECT(!module_is_file(&module, &other));
	other = same;
	other.ino_generation = 6;
	EXPECT(!module_is_file(&module, &other));
	other.ino_generation = 0;
	EXPECT(module_is_file(&module, &other));
	module.ino_generation = 0;
	other.ino_generation = 6;
	EXPECT(module_is_file(&module, &other));
	EXPECT(module_is_file(&(struct module){ 0 }, &same));

	/* build-ids decide alone, if both are known */
	uint8_t build_id[20] = { 0 };
	module.build_id_len = 20;
	EXPECT(module_is_file(&module, &same));
	other = (struct module_identity){ .build_id = build_id, .build_id_len = 20 };
	EXPECT(module_is_file(&module, &other));
	build_id[19] = 1;
	EXPECT(!module_is_file(&module, &other));
	other.ino = module.ino;
	EXPECT(!module_is_file(&module, &other));
	build_id[19] = 0;
	other.build_id_len = 16;
	EXPECT(!module_is_file(&module, &other));
	module.build_id_len = 0;
	other = same;
	other.build_id_len = 20;
	EXPECT(module_is_file(&module, &other));
}

TEST("kernel modules are named after their files, with underscores")
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "/lib/modules/6.1/kernel/snd-hda-intel.ko", "[snd_hda_intel]" }, { "x.ko.xz", "[x]" }, { "/a/b.ko.zst", "[b]" }, { "[ext4]", "[ext4]" },
		{ "/a/x.kox", NULL }, { "/a/.ko", NULL }, { "/a/x", NULL }, { "[ext4", NULL }, { "[kernel.kallsyms]", NULL },
		{ "[guest.kernel.kallsyms]", NULL }, { "[vdso]", NULL }, { "[vdso32]", NULL }, { "[vsyscall]", NULL }, { "", NULL },
		{ "/dir.ko/x", NULL }, { "/a/b-c.ko/", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char name[64];
		bool known = kmodule_name(cases[i].path, name, sizeof name);
		EXPECT_STR(known ? name : "not a module", cases[i].name ? cases[i].name : "not a module");
	}
	char cut[6];
	EXPECT(kmodule_name("/a/long-name.ko", cut, sizeof cut));
	EXPECT_STR(cut, "[long");
}

TEST("a section of the kernel is a module of its own that has the kernel's file and build-id")
{
	struct modules modules;
	modules_init(&modules);
	struct module *kernel = modules_kernel(&modules, "/boot/vmlinux-6.1");
	EXPECT_STR(kernel->short_name, "[kernel.vmlinux]");
	kernel->build_id_len = 20;
	kernel->build_id[0] = 0xab;
	struct module *section = modules_kernel_section(&modules, kernel, ".init.text");
	EXPECT(section->id != kernel->id && modules_get(&modules, section->id) == section);
	EXPECT_STR(section->name, "[kernel.vmlinux].init.text");
	EXPECT_STR(section->short_name, "[kernel.vmlinux].init.text");
	EXPECT_STR(section->section, ".init.text");
	EXPECT_STR(section->long_name, kernel->long_name);
	EXPECT_INT(section->kind, MODULE_KERNEL);
	EXPECT_INT(section->build_id_len, 20);
	EXPECT_INT(section->build_id[0], 0xab);
	EXPECT(section->whole == kernel);
	EXPECT(modules_kernel(&modules, "/boot/vmlinux-6.1") == kernel);
	modules_fini(&modules);
}
