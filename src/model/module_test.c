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
