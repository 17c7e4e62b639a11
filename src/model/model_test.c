#include "model/model.h"

#include "unit.h"

struct bytes {
	uint8_t data[256];
	uint32_t len;
};

static void put_u32(struct bytes *b, uint32_t v)
{
	memcpy(b->data + b->len, &v, sizeof v);
	b->len += sizeof v;
}

static void put_u64(struct bytes *b, uint64_t v)
{
	memcpy(b->data + b->len, &v, sizeof v);
	b->len += sizeof v;
}

static void put_text(struct bytes *b, const char *text)
{
	strcpy((char *)b->data + b->len, text);
	b->len += (uint32_t)(strlen(text) + 8) & ~7u;
}

static void apply(struct model *model, uint32_t type, uint16_t misc, const struct bytes *b, uint64_t clock)
{
	struct record record = { .type = type, .misc = misc, .body = b->data, .body_len = b->len };
	struct sample trailer = { .time = clock };
	model_apply(model, &record, &trailer, clock);
}

static void comm(struct model *model, uint32_t pid, uint32_t tid, const char *name, uint64_t clock)
{
	struct bytes b = { 0 };
	put_u32(&b, pid);
	put_u32(&b, tid);
	put_text(&b, name);
	apply(model, RECORD_COMM, 0, &b, clock);
}

static void mmap1(struct model *model, uint16_t misc, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff, const char *name,
		  uint64_t clock)
{
	struct bytes b = { 0 };
	put_u32(&b, pid);
	put_u32(&b, pid);
	put_u64(&b, start);
	put_u64(&b, len);
	put_u64(&b, pgoff);
	put_text(&b, name);
	apply(model, RECORD_MMAP, misc, &b, clock);
}

static void task(struct model *model, uint32_t type, uint32_t pid, uint32_t tid, uint32_t ppid, uint64_t clock)
{
	struct bytes b = { 0 };
	put_u32(&b, pid);
	put_u32(&b, ppid);
	put_u32(&b, tid);
	put_u32(&b, ppid);
	put_u64(&b, clock);
	apply(model, type, 0, &b, clock);
}

static const char *name_at(const struct model *model, int32_t tid, uint64_t clock)
{
	uint32_t id = model_comm(model, model_thread(model, tid, clock), clock);
	return id == COMM_NONE ? "" : strtab_text(&model->strings, id);
}

static const char *file_at(const struct model *model, int32_t pid, uint64_t clock, uint64_t address)
{
	const struct map *map = map_find(model_root(model, pid, model_thread(model, pid, clock), clock), address);
	return map ? modules_get(&model->modules, map->module)->name : "";
}

TEST("a thread's name is the one it had at that clock")
{
	struct model model;
	model_init(&model);
	comm(&model, 7, 7, "sh", 1);
	comm(&model, 7, 7, "gcc", 5);
	EXPECT_STR(name_at(&model, 7, 4), "sh");
	EXPECT_STR(name_at(&model, 7, 5), "gcc");
	EXPECT_STR(name_at(&model, 7, 0), "");
	EXPECT_STR(name_at(&model, 0, 0), "swapper");
	model_fini(&model);
}

TEST("a child has its parent's mappings and name until it changes them, and the parent keeps its own")
{
	struct model model;
	model_init(&model);
	comm(&model, 7, 7, "sh", 1);
	mmap1(&model, RECORD_MISC_USER, 7, 0x1000, 0x1000, 0, "/bin/sh", 2);
	task(&model, RECORD_FORK, 8, 8, 7, 3);
	EXPECT_STR(name_at(&model, 8, 3), "sh");
	EXPECT_STR(file_at(&model, 8, 3, 0x1800), "/bin/sh");
	mmap1(&model, RECORD_MISC_USER, 8, 0x1000, 0x800, 0, "/bin/ls", 4);
	EXPECT_STR(file_at(&model, 8, 4, 0x1400), "/bin/ls");
	EXPECT_STR(file_at(&model, 8, 4, 0x1900), "/bin/sh");
	EXPECT_STR(file_at(&model, 8, 3, 0x1400), "/bin/sh");
	EXPECT_STR(file_at(&model, 7, 4, 0x1400), "/bin/sh");
	model_fini(&model);
}

TEST("a tid that is used again is another thread, with an address space of its own")
{
	struct model model;
	model_init(&model);
	comm(&model, 9, 9, "old", 1);
	mmap1(&model, RECORD_MISC_USER, 9, 0x1000, 0x1000, 0, "/old", 2);
	task(&model, RECORD_EXIT, 9, 9, 1, 3);
	EXPECT_INT(model_thread(&model, 9, 3), THREAD_NONE);
	comm(&model, 9, 9, "new", 4);
	EXPECT_STR(name_at(&model, 9, 2), "old");
	EXPECT_STR(name_at(&model, 9, 4), "new");
	EXPECT_STR(file_at(&model, 9, 4, 0x1000), "");
	EXPECT_STR(file_at(&model, 9, 2, 0x1000), "/old");
	model_fini(&model);
}

TEST("threads of a process share its address space")
{
	struct model model;
	model_init(&model);
	comm(&model, 9, 10, "worker", 1);
	mmap1(&model, RECORD_MISC_USER, 9, 0x1000, 0x1000, 0, "/prog", 2);
	uint32_t worker = model_thread(&model, 10, 2);
	const struct map *map = map_find(model_root(&model, 9, worker, 2), 0x1000);
	EXPECT(map && strcmp(modules_get(&model.modules, map->module)->name, "/prog") == 0);
	model_fini(&model);
}

TEST("the kernel, its modules and anonymous code are known by perf's names")
{
	struct model model;
	model_init(&model);
	mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text", 1);
	mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffffa0000000, 0x4000, 0, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz", 2);
	mmap1(&model, RECORD_MISC_USER, 5, 0x7000, 0x1000, 0x7000, "//anon", 3);
	const struct map_node *root = model_kernel_root(&model, 3);
	const struct module *kernel = modules_get(&model.modules, map_find(root, 0xffffffff81000010)->module);
	const struct module *nls = modules_get(&model.modules, map_find(root, 0xffffffffa0000010)->module);
	EXPECT_STR(kernel->name, "[kernel.kallsyms]");
	EXPECT_INT(kernel->relocation, 0xffffffff81000000);
	EXPECT_STR(kernel->relocation_symbol, "_text");
	EXPECT_STR(nls->name, "[nls_utf8]");
	EXPECT_STR(nls->long_name, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz");
	EXPECT_INT(map_offset(map_find(root, 0xffffffffa0000010), 0xffffffffa0000010), 0x10);
	EXPECT_STR(file_at(&model, 5, 3, 0x7010), "/tmp/perf-5.map");
	model_fini(&model);
}

static void mmap2(struct model *model, uint32_t pid, uint64_t start, uint64_t inode, const char *name, uint64_t clock)
{
	struct bytes b = { 0 };
	put_u32(&b, pid);
	put_u32(&b, pid);
	put_u64(&b, start);
	put_u64(&b, 0x1000);
	put_u64(&b, 0);
	put_u64(&b, 0x100000008);
	put_u64(&b, inode);
	put_u64(&b, 0);
	put_u32(&b, 5);
	put_u32(&b, 2);
	put_text(&b, name);
	apply(model, RECORD_MMAP2, RECORD_MISC_USER, &b, clock);
}

TEST("anonymous code has the inode it was mapped from, and a file without a name one of perf's")
{
	struct model model;
	model_init(&model);
	mmap2(&model, 5, 0x7000, 77, "/dev/zero (deleted)", 1);
	mmap2(&model, 5, 0x9000, 78, "", 2);
	const struct map_node *root = model_root(&model, 5, model_thread(&model, 5, 2), 2);
	const struct module *code = modules_get(&model.modules, map_find(root, 0x7010)->module);
	const struct module *nameless = modules_get(&model.modules, map_find(root, 0x9010)->module);
	EXPECT_STR(code->name, "/tmp/perf-5.map");
	EXPECT_INT(code->ino, 77);
	EXPECT_STR(nameless->name, "");
	EXPECT_STR(nameless->short_name, ".");
	model_fini(&model);
}

TEST("the kernel lies as its file tells, and what is not .text goes by the name of its section")
{
	struct model model;
	model_init(&model);
	mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text", 1);
	const struct module *kernel = modules_get(&model.modules, map_find(model_kernel_root(&model, 1), 0xffffffff81000010)->module);
	const struct kernel_part parts[] = { { ".text", 0xffffffff81000000, 0xffffffff81800000, 0x200000 },
		{ ".init.text", 0xffffffff83000000, 0xffffffff83001000, 0x900000 } };
	model_place_kernel(&model, kernel, parts, 2, 1);
	const struct map *init = map_find(model_kernel_root(&model, 1), 0xffffffff83000010);
	const struct module *section = modules_get(&model.modules, init->module);
	EXPECT(section->kind == MODULE_KERNEL && section->whole == kernel);
	EXPECT_STR(section->name, "[kernel.kallsyms].init.text");
	EXPECT_STR(section->section, ".init.text");
	EXPECT_INT(map_offset(init, 0xffffffff83000010), 0xffffffff83000010);
	EXPECT_INT(init->pgoff, 0x900000);
	EXPECT(map_find(model_kernel_root(&model, 1), 0xffffffff81000010)->module == kernel->id);
	EXPECT(map_find(model_kernel_root(&model, 1), 0xffffffff83001000) == NULL);
	model_fini(&model);
}

TEST("records too short for what they claim are counted and change nothing")
{
	struct model model;
	model_init(&model);
	struct bytes b = { .len = 6 };
	for (uint32_t type = 1; type < RECORD_TYPE_MAX; type++)
		apply(&model, type, 0, &b, type);
	struct bytes unended = { .len = 80 };
	memset(unended.data, 'x', sizeof unended.data);
	apply(&model, RECORD_MMAP2, RECORD_MISC_USER, &unended, 100);
	EXPECT_INT(model.bad_records, 9);
	EXPECT_INT(model.modules.list.count, 0);
	model_fini(&model);
}

TEST("a new generation knows who lives, with their mappings, and forgets who has gone")
{
	struct model model;
	model_init(&model);
	comm(&model, 10, 10, "first", 1);
	mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/first", 2);
	task(&model, RECORD_FORK, 20, 20, 10, 3);
	comm(&model, 20, 20, "second", 4);
	task(&model, RECORD_FORK, 10, 11, 10, 5);
	task(&model, RECORD_EXIT, 20, 20, 10, 6);
	size_t modules = model.modules.list.count, before = model.arena.bytes;
	model_renew(&model, 7, NULL, NULL, NULL);
	EXPECT_STR(name_at(&model, 10, 7), "first");
	EXPECT_STR(file_at(&model, 10, 7, 0x1800), "/bin/first");
	EXPECT_STR(file_at(&model, 11, 7, 0x1800), "/bin/first");
	EXPECT_INT(model_thread(&model, 20, 7), THREAD_NONE);
	EXPECT_INT(model.modules.list.count, modules);
	EXPECT(model.arena.bytes < before);
	mmap1(&model, RECORD_MISC_USER, 10, 0x8000, 0x1000, 0, "/lib/new", 8);
	EXPECT_STR(file_at(&model, 11, 8, 0x8000), "/lib/new");
	EXPECT_STR(file_at(&model, 11, 8, 0x1800), "/bin/first");
	model_fini(&model);
}

TEST("a model whose generations change does not grow with processes that come and go")
{
	struct model model;
	size_t most = 0;
	model_init(&model);
	comm(&model, 10, 10, "shell", 1);
	for (uint64_t clock = 2, pid = 100; pid < 1100; pid++) {
		task(&model, RECORD_FORK, (uint32_t)pid, (uint32_t)pid, 10, clock++);
		mmap1(&model, RECORD_MISC_USER, (uint32_t)pid, 0x1000, 0x1000, 0, "/bin/child", clock++);
		task(&model, RECORD_EXIT, (uint32_t)pid, (uint32_t)pid, 10, clock++);
		if (pid % 100 == 0) {
			model_renew(&model, clock++, NULL, NULL, NULL);
			most = model.arena.bytes > most ? model.arena.bytes : most;
		}
	}
	EXPECT(most < 8192);
	EXPECT(model.threads.count < 120);
	model_fini(&model);
}

static bool is_old(void *context, const struct module *module)
{
	const struct model *model = context;
	return module->generation + 1 < model->generation;
}

TEST("modules that no process maps any more are dropped, the others keep their ids, and new ones take what was free")
{
	struct model model;
	char name[32];
	model_init(&model);
	mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/lasting", 1);
	mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffffa0000000, 0x4000, 0, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz", 1);
	uint32_t lasting = map_find(model_root(&model, 10, model_thread(&model, 10, 1), 1), 0x1000)->module;
	for (uint64_t clock = 2, pid = 100; pid < 1100; pid++) {
		snprintf(name, sizeof name, "/tmp/program-%u", (unsigned)pid);
		task(&model, RECORD_FORK, (uint32_t)pid, (uint32_t)pid, 10, clock++);
		mmap1(&model, RECORD_MISC_USER, (uint32_t)pid, 0x1000, 0x1000, 0, name, clock++);
		EXPECT_STR(file_at(&model, (int32_t)pid, clock, 0x1000), name);
		task(&model, RECORD_EXIT, (uint32_t)pid, (uint32_t)pid, 10, clock++);
		if (pid % 50 == 0) {
			model_renew(&model, clock++, NULL, NULL, NULL);
			modules_drop(&model.modules, is_old, &model);
		}
		EXPECT_STR(file_at(&model, 10, clock, 0x1000), "/bin/lasting");
	}
	EXPECT(model.modules.list.count < 160);
	EXPECT(model.modules.names.count < 160);
	EXPECT_STR(modules_get(&model.modules, lasting)->short_name, "lasting");
	const struct module *nls = modules_get(&model.modules, map_find(model_kernel_root(&model, 5000), 0xffffffffa0000010)->module);
	EXPECT_STR(nls->name, "[nls_utf8]");
	EXPECT_STR(nls->long_name, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz");
	mmap1(&model, RECORD_MISC_USER, 11, 0x1000, 0x1000, 0, "/bin/lasting", 5000);
	EXPECT_INT(map_find(model_root(&model, 11, model_thread(&model, 11, 5000), 5000), 0x1000)->module, lasting);
	model_fini(&model);
}

TEST("an old generation that is kept tells what was")
{
	struct model model, old;
	model_init(&model);
	mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/gone", 2);
	task(&model, RECORD_EXIT, 10, 10, 1, 3);
	model_renew(&model, 4, NULL, NULL, &old);
	EXPECT_INT(model_thread(&model, 10, 5), THREAD_NONE);
	const struct map *map = map_find(model_root(&old, 10, model_thread(&old, 10, 2), 2), 0x1000);
	EXPECT(map && strcmp(modules_get(&model.modules, map->module)->name, "/bin/gone") == 0);
	model_fini_history(&old);
	model_fini(&model);
}

static bool is_eleven(void *context, const struct thread *thread)
{
	(void)context;
	return thread->tid == 11;
}

TEST("a thread whose end was lost is forgotten when it was found ended twice")
{
	struct model model;
	model_init(&model);
	comm(&model, 10, 10, "lives", 1);
	comm(&model, 11, 11, "lost", 1);
	model_renew(&model, 2, is_eleven, NULL, NULL);
	EXPECT_STR(name_at(&model, 11, 2), "lost");
	model_renew(&model, 3, is_eleven, NULL, NULL);
	EXPECT_STR(name_at(&model, 10, 3), "lives");
	EXPECT_INT(model_thread(&model, 11, 3), THREAD_NONE);
	model_fini(&model);
}

TEST("a process that runs another program has none of its mappings until it makes them")
{
	struct model model;
	model_init(&model);
	mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/before", 1);
	model_clear_space(&model, 10, 3);
	model_clear_space(&model, 99, 3);
	EXPECT_STR(file_at(&model, 10, 2, 0x1000), "/bin/before");
	EXPECT_STR(file_at(&model, 10, 3, 0x1000), "");
	model_fini(&model);
}
