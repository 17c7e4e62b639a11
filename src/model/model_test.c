#include "model/model.h"

#include "base/budget.h"
#include "unit.h"

struct bytes {
	uint8_t data[256];
	uint32_t len;
};

static void bytes_put_u32(struct bytes *b, uint32_t v)
{
	memcpy(b->data + b->len, &v, sizeof v);
	b->len += sizeof v;
}

static void bytes_put_u64(struct bytes *b, uint64_t v)
{
	memcpy(b->data + b->len, &v, sizeof v);
	b->len += sizeof v;
}

static void bytes_put_text(struct bytes *b, const char *text)
{
	strcpy((char *)b->data + b->len, text);
	b->len += (uint32_t)(strlen(text) + 8) & ~7u;
}

static void apply_record_bytes(struct model *model, uint32_t type, uint16_t misc, const struct bytes *b, uint64_t clock)
{
	struct record record = { .type = type, .misc = misc, .body = b->data, .body_len = b->len };
	struct sample trailer = { .time = clock };
	model_apply(model, &record, &trailer, clock);
}

static void apply_comm_record(struct model *model, uint32_t pid, uint32_t tid, const char *name, uint64_t clock)
{
	struct bytes b = { 0 };
	bytes_put_u32(&b, pid);
	bytes_put_u32(&b, tid);
	bytes_put_text(&b, name);
	apply_record_bytes(model, RECORD_COMM, 0, &b, clock);
}

static void apply_mmap1(struct model *model, uint16_t misc, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff, const char *name,
		  uint64_t clock)
{
	struct bytes b = { 0 };
	bytes_put_u32(&b, pid);
	bytes_put_u32(&b, pid);
	bytes_put_u64(&b, start);
	bytes_put_u64(&b, len);
	bytes_put_u64(&b, pgoff);
	bytes_put_text(&b, name);
	apply_record_bytes(model, RECORD_MMAP, misc, &b, clock);
}

static void apply_task_record(struct model *model, uint32_t type, uint32_t pid, uint32_t tid, uint32_t ppid, uint64_t clock)
{
	struct bytes b = { 0 };
	bytes_put_u32(&b, pid);
	bytes_put_u32(&b, ppid);
	bytes_put_u32(&b, tid);
	bytes_put_u32(&b, ppid);
	bytes_put_u64(&b, clock);
	apply_record_bytes(model, type, 0, &b, clock);
}

static const char *comm_text_at(const struct model *model, int32_t tid, uint64_t clock)
{
	uint32_t id = model_comm(model, model_thread(model, tid, clock), clock);
	return id == COMM_NONE ? "" : strtab_text(&model->strings, id);
}

static const char *module_name_at(const struct model *model, int32_t pid, uint64_t clock, uint64_t address)
{
	const struct map *map = map_find(model_root(model, pid, model_thread(model, pid, clock), clock), address);
	return map ? modules_get(&model->modules, map->module)->name : "";
}

TEST("a thread's comm is that of the given clock")
{
	struct model model;
	model_init(&model);
	apply_comm_record(&model, 7, 7, "sh", 1);
	apply_comm_record(&model, 7, 7, "gcc", 5);
	EXPECT_STR(comm_text_at(&model, 7, 4), "sh");
	EXPECT_STR(comm_text_at(&model, 7, 5), "gcc");
	EXPECT_STR(comm_text_at(&model, 7, 0), "");
	EXPECT_STR(comm_text_at(&model, 0, 0), "swapper");
	model_fini(&model);
}

static void check_inheritance(bool combined)
{
	struct model model;
	model_init(&model);
	model_combine(&model, combined);
	apply_comm_record(&model, 7, 7, "sh", 1);
	apply_mmap1(&model, RECORD_MISC_USER, 7, 0x1000, 0x1000, 0, "/bin/sh", 2);
	apply_task_record(&model, RECORD_FORK, 8, 8, 7, 3);
	EXPECT_STR(comm_text_at(&model, 8, 3), "sh");
	if (!combined) {
		EXPECT_STR(module_name_at(&model, 8, 3, 0x1800), "/bin/sh");
	}
	apply_mmap1(&model, RECORD_MISC_USER, 8, 0x1000, 0x800, 0, "/bin/ls", 4);
	EXPECT_STR(module_name_at(&model, 8, 4, 0x1400), "/bin/ls");
	EXPECT_STR(module_name_at(&model, 8, 4, 0x1900), "/bin/sh");
	if (!combined) {
		EXPECT_STR(module_name_at(&model, 8, 3, 0x1400), "/bin/sh");
	}
	EXPECT_STR(module_name_at(&model, 7, 4, 0x1400), "/bin/sh");
	model_fini(&model);
}

TEST("a child inherits mappings and comm, and later changes do not affect the parent")
{
	check_inheritance(false);
	check_inheritance(true);
}

TEST("a reused thread id is a new thread with a new address space")
{
	struct model model;
	model_init(&model);
	apply_comm_record(&model, 9, 9, "old", 1);
	apply_mmap1(&model, RECORD_MISC_USER, 9, 0x1000, 0x1000, 0, "/old", 2);
	apply_task_record(&model, RECORD_EXIT, 9, 9, 1, 3);
	EXPECT_INT(model_thread(&model, 9, 3), THREAD_NONE);
	apply_comm_record(&model, 9, 9, "new", 4);
	EXPECT_STR(comm_text_at(&model, 9, 2), "old");
	EXPECT_STR(comm_text_at(&model, 9, 4), "new");
	EXPECT_STR(module_name_at(&model, 9, 4, 0x1000), "");
	EXPECT_STR(module_name_at(&model, 9, 2, 0x1000), "/old");
	model_fini(&model);
}

TEST("threads of a process share its address space")
{
	struct model model;
	model_init(&model);
	apply_comm_record(&model, 9, 10, "worker", 1);
	apply_mmap1(&model, RECORD_MISC_USER, 9, 0x1000, 0x1000, 0, "/prog", 2);
	uint32_t worker = model_thread(&model, 10, 2);
	const struct map *map = map_find(model_root(&model, 9, worker, 2), 0x1000);
	EXPECT(map && strcmp(modules_get(&model.modules, map->module)->name, "/prog") == 0);
	model_fini(&model);
}

TEST("the kernel, kernel modules and anonymous code have perf's names")
{
	struct model model;
	model_init(&model);
	apply_mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text", 1);
	apply_mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffffa0000000, 0x4000, 0, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz", 2);
	apply_mmap1(&model, RECORD_MISC_USER, 5, 0x7000, 0x1000, 0x7000, "//anon", 3);
	const struct map_node *root = model_kernel_root(&model, 3);
	const struct module *kernel = modules_get(&model.modules, map_find(root, 0xffffffff81000010)->module);
	const struct module *nls = modules_get(&model.modules, map_find(root, 0xffffffffa0000010)->module);
	EXPECT_STR(kernel->name, "[kernel.kallsyms]");
	EXPECT_INT(kernel->relocation, 0xffffffff81000000);
	EXPECT_STR(kernel->relocation_symbol, "_text");
	EXPECT_STR(nls->name, "[nls_utf8]");
	EXPECT_STR(nls->long_name, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz");
	EXPECT_INT(map_offset(map_find(root, 0xffffffffa0000010), 0xffffffffa0000010), 0x10);
	EXPECT_STR(module_name_at(&model, 5, 3, 0x7010), "/tmp/perf-5.map");
	model_fini(&model);
}

static void apply_mmap2_record(struct model *model, uint32_t pid, uint64_t start, uint64_t inode, const char *name, uint64_t clock)
{
	struct bytes b = { 0 };
	bytes_put_u32(&b, pid);
	bytes_put_u32(&b, pid);
	bytes_put_u64(&b, start);
	bytes_put_u64(&b, 0x1000);
	bytes_put_u64(&b, 0);
	bytes_put_u64(&b, 0x100000008);
	bytes_put_u64(&b, inode);
	bytes_put_u64(&b, 0);
	bytes_put_u32(&b, 5);
	bytes_put_u32(&b, 2);
	bytes_put_text(&b, name);
	apply_record_bytes(model, RECORD_MMAP2, RECORD_MISC_USER, &b, clock);
}

TEST("anonymous code has the inode of its mapping, and a file without a name has perf's name")
{
	struct model model;
	model_init(&model);
	apply_mmap2_record(&model, 5, 0x7000, 77, "/dev/zero (deleted)", 1);
	apply_mmap2_record(&model, 5, 0x9000, 78, "", 2);
	const struct map_node *root = model_root(&model, 5, model_thread(&model, 5, 2), 2);
	const struct module *code = modules_get(&model.modules, map_find(root, 0x7010)->module);
	const struct module *nameless = modules_get(&model.modules, map_find(root, 0x9010)->module);
	EXPECT_STR(code->name, "/tmp/perf-5.map");
	EXPECT_INT(code->ino, 77);
	EXPECT_STR(nameless->name, "");
	EXPECT_STR(nameless->short_name, ".");
	model_fini(&model);
}

TEST("the kernel is mapped by its sections, and sections other than .text have their own names")
{
	struct model model;
	model_init(&model);
	apply_mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text", 1);
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

TEST("truncated records are counted and change nothing")
{
	struct model model;
	model_init(&model);
	struct bytes b = { .len = 6 };
	for (uint32_t type = 1; type < RECORD_TYPE_MAX; type++)
		apply_record_bytes(&model, type, 0, &b, type);
	struct bytes unended = { .len = 80 };
	memset(unended.data, 'x', sizeof unended.data);
	apply_record_bytes(&model, RECORD_MMAP2, RECORD_MISC_USER, &unended, 100);
	EXPECT_INT(model.bad_records, 9);
	EXPECT_INT(model.modules.list.count, 0);
	model_fini(&model);
}

TEST("a new generation contains the living with their mappings and not the ended")
{
	struct model model;
	model_init(&model);
	apply_comm_record(&model, 10, 10, "first", 1);
	apply_mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/first", 2);
	apply_task_record(&model, RECORD_FORK, 20, 20, 10, 3);
	apply_comm_record(&model, 20, 20, "second", 4);
	apply_task_record(&model, RECORD_FORK, 10, 11, 10, 5);
	apply_task_record(&model, RECORD_EXIT, 20, 20, 10, 6);
	size_t modules = model.modules.list.count, before = model.arena.bytes;
	model_renew(&model, 7, NULL, NULL, NULL);
	EXPECT_STR(comm_text_at(&model, 10, 7), "first");
	EXPECT_STR(module_name_at(&model, 10, 7, 0x1800), "/bin/first");
	EXPECT_STR(module_name_at(&model, 11, 7, 0x1800), "/bin/first");
	EXPECT_INT(model_thread(&model, 20, 7), THREAD_NONE);
	EXPECT_INT(model.modules.list.count, modules);
	EXPECT(model.arena.bytes < before);
	apply_mmap1(&model, RECORD_MISC_USER, 10, 0x8000, 0x1000, 0, "/lib/new", 8);
	EXPECT_STR(module_name_at(&model, 11, 8, 0x8000), "/lib/new");
	EXPECT_STR(module_name_at(&model, 11, 8, 0x1800), "/bin/first");
	model_fini(&model);
}

TEST("the memory of a renewed model does not grow with short-lived processes")
{
	struct model model;
	size_t most = 0;
	model_init(&model);
	apply_comm_record(&model, 10, 10, "shell", 1);
	for (uint64_t clock = 2, pid = 100; pid < 1100; pid++) {
		apply_task_record(&model, RECORD_FORK, (uint32_t)pid, (uint32_t)pid, 10, clock++);
		apply_mmap1(&model, RECORD_MISC_USER, (uint32_t)pid, 0x1000, 0x1000, 0, "/bin/child", clock++);
		apply_task_record(&model, RECORD_EXIT, (uint32_t)pid, (uint32_t)pid, 10, clock++);
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

TEST("unmapped modules are dropped, other modules keep their ids, and new modules reuse dropped ids")
{
	struct model model;
	char name[32];
	model_init(&model);
	apply_mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/lasting", 1);
	apply_mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0xffffffffa0000000, 0x4000, 0, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz", 1);
	uint32_t lasting = map_find(model_root(&model, 10, model_thread(&model, 10, 1), 1), 0x1000)->module;
	for (uint64_t clock = 2, pid = 100; pid < 1100; pid++) {
		snprintf(name, sizeof name, "/tmp/program-%u", (unsigned)pid);
		apply_task_record(&model, RECORD_FORK, (uint32_t)pid, (uint32_t)pid, 10, clock++);
		apply_mmap1(&model, RECORD_MISC_USER, (uint32_t)pid, 0x1000, 0x1000, 0, name, clock++);
		EXPECT_STR(module_name_at(&model, (int32_t)pid, clock, 0x1000), name);
		apply_task_record(&model, RECORD_EXIT, (uint32_t)pid, (uint32_t)pid, 10, clock++);
		if (pid % 50 == 0) {
			model_renew(&model, clock++, NULL, NULL, NULL);
			modules_drop(&model.modules, is_old, &model);
		}
		EXPECT_STR(module_name_at(&model, 10, clock, 0x1000), "/bin/lasting");
	}
	EXPECT(model.modules.list.count < 160);
	EXPECT(model.modules.names.count < 160);
	EXPECT_STR(modules_get(&model.modules, lasting)->short_name, "lasting");
	const struct module *nls = modules_get(&model.modules, map_find(model_kernel_root(&model, 5000), 0xffffffffa0000010)->module);
	EXPECT_STR(nls->name, "[nls_utf8]");
	EXPECT_STR(nls->long_name, "/lib/modules/6.1/kernel/fs/nls-utf8.ko.xz");
	apply_mmap1(&model, RECORD_MISC_USER, 11, 0x1000, 0x1000, 0, "/bin/lasting", 5000);
	EXPECT_INT(map_find(model_root(&model, 11, model_thread(&model, 11, 5000), 5000), 0x1000)->module, lasting);
	model_fini(&model);
}

TEST("a previous generation that is retained answers look-ups of its time")
{
	struct model model, old;
	model_init(&model);
	apply_mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/gone", 2);
	apply_task_record(&model, RECORD_EXIT, 10, 10, 1, 3);
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

TEST("a thread whose EXIT record is lost is dropped when it was found ended twice")
{
	struct model model;
	model_init(&model);
	apply_comm_record(&model, 10, 10, "lives", 1);
	apply_comm_record(&model, 11, 11, "lost", 1);
	model_renew(&model, 2, is_eleven, NULL, NULL);
	EXPECT_STR(comm_text_at(&model, 11, 2), "lost");
	model_renew(&model, 3, is_eleven, NULL, NULL);
	EXPECT_STR(comm_text_at(&model, 10, 3), "lives");
	EXPECT_INT(model_thread(&model, 11, 3), THREAD_NONE);
	model_fini(&model);
}

TEST("a renewal restates ended threads that are held, and reports the new ids")
{
	struct model model;
	model_init(&model);
	model.keep_exited = true;
	apply_comm_record(&model, 10, 10, "lives", 1);
	apply_comm_record(&model, 11, 11, "ended", 1);
	apply_comm_record(&model, 12, 12, "held", 1);
	apply_task_record(&model, RECORD_EXIT, 11, 11, 1, 2);
	apply_task_record(&model, RECORD_EXIT, 12, 12, 1, 2);
	for (uint64_t clock = 3; clock < 6; clock++) { /* an ended thread is dropped by the second renewal */
		bool held[8] = { 0 };
		uint32_t ids[8];
		uint32_t twelve = model_thread(&model, 12, clock), ten = model_thread(&model, 10, clock);
		held[twelve] = true;
		model_renew_held(&model, &(struct model_renewal){ .clock = clock, .held = held, .threads = ids });
		EXPECT_INT(ids[ten], model_thread(&model, 10, clock));
		EXPECT_INT(ids[twelve], model_thread(&model, 12, clock));
		EXPECT_STR(comm_text_at(&model, 12, clock), "held");
		EXPECT_STR(comm_text_at(&model, 10, clock), "lives");
	}
	EXPECT_INT(model_thread(&model, 11, 6), THREAD_NONE);
	EXPECT_INT(model.threads.count, 3);
	model_fini(&model);
}

TEST("a process that executes another program has no mappings until it makes new ones")
{
	struct model model;
	model_init(&model);
	apply_mmap1(&model, RECORD_MISC_USER, 10, 0x1000, 0x1000, 0, "/bin/before", 1);
	model_clear_space(&model, 10, 3);
	model_clear_space(&model, 99, 3);
	EXPECT_STR(module_name_at(&model, 10, 2, 0x1000), "/bin/before");
	EXPECT_STR(module_name_at(&model, 10, 3, 0x1000), "");
	model_fini(&model);
}

/* Maps a file with the given inode, or with a build-id if build is not 0 (all bytes equal). */
static void apply_mmap2_of(struct model *model, uint32_t pid, uint64_t start, uint64_t ino, uint64_t generation, uint8_t build,
	const char *name, uint64_t clock)
{
	struct bytes b = { 0 };
	bytes_put_u32(&b, pid);
	bytes_put_u32(&b, pid);
	bytes_put_u64(&b, start);
	bytes_put_u64(&b, 0x1000);
	bytes_put_u64(&b, 0);
	if (build) {
		b.data[b.len] = 20;
		memset(b.data + b.len + 4, build, 20);
		b.len += 24;
	} else {
		bytes_put_u32(&b, 8);
		bytes_put_u32(&b, 1);
		bytes_put_u64(&b, ino);
		bytes_put_u64(&b, generation);
	}
	bytes_put_u32(&b, 5);
	bytes_put_u32(&b, 2);
	bytes_put_text(&b, name);
	apply_record_bytes(model, RECORD_MMAP2, RECORD_MISC_USER | (build ? RECORD_MISC_MMAP_BUILD_ID : 0), &b, clock);
}

static void apply_file_mmap(struct model *model, uint32_t pid, uint64_t start, uint64_t ino, uint8_t build, const char *name,
	uint64_t clock)
{
	apply_mmap2_of(model, pid, start, ino, 0, build, name, clock);
}

/* Returns the first byte of the build-id of the module at address; 0: it has none. */
static unsigned build_id_byte_at(const struct model *model, int32_t pid, uint64_t clock, uint64_t address)
{
	const struct map *map = map_find(model_root(model, pid, model_thread(model, pid, clock), clock), address);
	const struct module *module = map ? modules_get(&model->modules, map->module) : NULL;
	return module && module->build_id_len ? module->build_id[0] : 0;
}

TEST("a row of the build-id table for one file does not apply to other files with the same path")
{
	uint8_t first[20], second[20];
	const struct module_identity one = { .maj = 8, .min = 1, .ino = 11 }, two = { .maj = 8, .min = 1, .ino = 22 };
	memset(first, 1, sizeof first);
	memset(second, 2, sizeof second);
	for (int late = 0; late < 2; late++) { /* in a stream the table may follow the mappings */
		struct model model;
		model_init(&model);
		for (int step = 0; step < 2; step++) {
			if (step == late) {
				model_set_build_id(&model, "/bin/x", RECORD_MISC_USER, &one, first, 20);
				model_set_build_id(&model, "/bin/x", RECORD_MISC_USER, &two, second, 20);
				continue;
			}
			apply_file_mmap(&model, 10, 0x1000, 11, 0, "/bin/x", 1);
			apply_file_mmap(&model, 10, 0x3000, 22, 0, "/bin/x", 1);
			apply_file_mmap(&model, 10, 0x5000, 33, 0, "/bin/x", 1);
		}
		EXPECT_INT(build_id_byte_at(&model, 10, 2, 0x1000), 1);
		EXPECT_INT(build_id_byte_at(&model, 10, 2, 0x3000), 2);
		EXPECT_INT(build_id_byte_at(&model, 10, 2, 0x5000), 0);
		model_fini(&model);
	}
}

TEST("a build-id that follows the mappings of its path is that of the next mapping of each file, too")
{
	uint8_t id[20];
	memset(id, 7, sizeof id);
	for (unsigned last = 0; last < 2; last++) {
		const struct module_identity identity = { .maj = 8, .min = 1, .ino = 11 };
		struct model model;
		model_init(&model);
		apply_mmap2_of(&model, 10, 0x1000, 11, 5 + last, 0, "/bin/x", 1);
		apply_mmap2_of(&model, 10, 0x3000, 11, 6 - last, 0, "/bin/x", 1);
		apply_mmap2_of(&model, 11, 0x1000, 11, 5 + last, 0, "/bin/x", 1);
		model_set_build_id(&model, "/bin/x", RECORD_MISC_USER, &identity, id, 20);
		apply_mmap2_of(&model, 10, 0x1000, 11, 5 + last, 0, "/bin/x", 2);
		apply_mmap2_of(&model, 10, 0x3000, 11, 6 - last, 0, "/bin/x", 2);
		EXPECT_INT(build_id_byte_at(&model, 10, 3, 0x1000), 7);
		EXPECT_INT(build_id_byte_at(&model, 10, 3, 0x3000), 7);
		model_fini(&model);
	}
}

TEST("a row of the build-id table without a file identity applies to all files with its path")
{
	uint8_t id[20];
	struct model model;
	memset(id, 7, sizeof id);
	model_init(&model);
	model_set_build_id(&model, "/bin/x", RECORD_MISC_USER, NULL, id, 20);
	apply_file_mmap(&model, 10, 0x1000, 11, 0, "/bin/x", 1);
	apply_file_mmap(&model, 10, 0x3000, 22, 0, "/bin/x", 1);
	EXPECT_INT(build_id_byte_at(&model, 10, 2, 0x1000), 7);
	EXPECT_INT(build_id_byte_at(&model, 10, 2, 0x3000), 7);
	model_fini(&model);
}

TEST("mappings with build-ids distinguish builds with one path")
{
	struct model model;
	model_init(&model);
	apply_file_mmap(&model, 10, 0x1000, 0, 1, "/bin/x", 1);
	apply_file_mmap(&model, 11, 0x1000, 0, 2, "/bin/x", 2);
	apply_file_mmap(&model, 12, 0x1000, 0, 1, "/bin/x", 3);
	EXPECT_INT(build_id_byte_at(&model, 10, 4, 0x1000), 1);
	EXPECT_INT(build_id_byte_at(&model, 11, 4, 0x1000), 2);
	EXPECT_INT(build_id_byte_at(&model, 12, 4, 0x1000), 1);
	EXPECT_INT(model.modules.list.count, 2);
	model_fini(&model);
}

static const char *kernel_name_at(const struct model *model, uint64_t address)
{
	const struct map *map = map_find(model_kernel_root(model, 9), address);
	return map ? modules_get(&model->modules, map->module)->name : "";
}

TEST("if mappings of the kernel and its modules overlap, an address belongs to the one that perf's search finds")
{
	struct model model;
	model_init(&model);
	/* a module that begins below the kernel leaves the kernel mapped; one that begins in it does not */
	apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, 0x10000, 0x10000, 0, "[kernel.kallsyms]_text", 1);
	apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, 0x8000, 0xa000, 0, "[pata_acpi]", 1);
	EXPECT_STR(kernel_name_at(&model, 0x9000), "[pata_acpi]");
	EXPECT_STR(kernel_name_at(&model, 0x10100), "[kernel.kallsyms]");
	EXPECT_STR(kernel_name_at(&model, 0x1f000), "[kernel.kallsyms]");
	apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, 0x18000, 0x1000, 0, "[ext4]", 2);
	EXPECT_STR(kernel_name_at(&model, 0x10100), "[kernel.kallsyms]");
	EXPECT_STR(kernel_name_at(&model, 0x18100), "[kernel.kallsyms]");
	apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, 0x30000, 0x1000, 0, "[far]", 3);
	EXPECT_STR(kernel_name_at(&model, 0x18100), "[ext4]");
	EXPECT_STR(kernel_name_at(&model, 0x1f000), "");
	EXPECT_STR(kernel_name_at(&model, 0x30100), "[far]");
	EXPECT_INT(model.kernel_maps.count, 4);
	apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, 0x30000, 0x1000, 0, "[far]", 4);
	EXPECT_INT(model.kernel_maps.count, 4);
	model_fini(&model);
}

TEST("a kernel that hides its addresses has every address that no module has")
{
	struct model model;
	model_init(&model);
	apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, 0, UINT64_MAX, 0, "[kernel.kallsyms]_text", 1);
	EXPECT_STR(kernel_name_at(&model, 0x123), "[kernel.kallsyms]");
	apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, 0x30000, 0x1000, 0, "[far]", 2);
	EXPECT_STR(kernel_name_at(&model, 0x30100), "[far]");
	EXPECT_STR(kernel_name_at(&model, 0x31000), "[kernel.kallsyms]");
	EXPECT_STR(kernel_name_at(&model, 0xffffffff81000000), "[kernel.kallsyms]");
	model_fini(&model);
}

TEST("mappings for which the budget has no room are left out and counted; those before stay, and all is given back")
{
	struct budget budget = { .limit = (size_t)4 << 20 };
	struct model model;
	model_init(&model);
	model.budget = &budget;
	apply_comm_record(&model, 10, 10, "many", 1);
	for (uint64_t i = 0; i < 20000; i++)
		apply_mmap1(&model, RECORD_MISC_USER, 10, (1 + i * 7919 % 20000) << 16, 0x10800, 0, i ? "/bin/other" : "/bin/first", 2 + i);
	EXPECT(model.left_out > 0 && model.left_out < 20000);
	EXPECT(budget.used > 0 && budget.used <= budget_limit(&budget) / 4);
	EXPECT(model.arena.bytes <= budget_limit(&budget) / 4 + ((size_t)1 << 20));
	EXPECT_INT(atomic_load(&budget.refused), 0);
	EXPECT_STR(module_name_at(&model, 10, 30000, 0x10000), "/bin/first");
	model_fini(&model);
	EXPECT_INT(budget.used, 0);
}

static void apply_names_of_the_machine(struct model *model, uint64_t address, uint64_t clock)
{
	struct bytes namespaces = { 0 }, cgroup = { 0 }, symbol = { 0 };
	bytes_put_u32(&namespaces, 7);
	bytes_put_u32(&namespaces, 7);
	bytes_put_u64(&namespaces, 1);
	bytes_put_u64(&namespaces, 4);
	bytes_put_u64(&namespaces, 5);
	apply_record_bytes(model, RECORD_NAMESPACES, 0, &namespaces, clock);
	bytes_put_u64(&cgroup, 11);
	bytes_put_text(&cgroup, "/group");
	apply_record_bytes(model, RECORD_CGROUP, 0, &cgroup, clock);
	bytes_put_u64(&symbol, address);
	bytes_put_u32(&symbol, 64);
	bytes_put_u32(&symbol, 0);
	bytes_put_text(&symbol, "bpf_prog_a");
	apply_record_bytes(model, RECORD_KSYMBOL, 0, &symbol, clock);
}

TEST("namespaces, cgroups and kernel symbols are recorded, or only checked")
{
	const uint64_t address = 0xffffffffc0000000;
	for (unsigned checks_only = 0; checks_only < 2; checks_only++) {
		struct model model;
		model_init(&model);
		model.checks_only = checks_only;
		apply_names_of_the_machine(&model, address, 1);
		EXPECT_INT(model.bad_records, 0);
		EXPECT_INT(model.namespaces.count, !checks_only);
		EXPECT(checks_only ? !model_cgroup_path(&model, 11) : strcmp(model_cgroup_path(&model, 11), "/group") == 0);
		EXPECT_INT(map_find(model_kernel_root(&model, 2), address + 63) != NULL, !checks_only);
		EXPECT(!map_find(model_kernel_root(&model, 2), address + 64));
		apply_names_of_the_machine(&model, UINT64_MAX - 62, 3);
		EXPECT_INT(model.bad_records, 1);
		model_fini(&model);
	}
}

static void apply_symbol(struct model *model, uint64_t address, uint32_t len, uint32_t flags, const char *name, uint64_t clock)
{
	struct bytes symbol = { 0 };
	bytes_put_u64(&symbol, address);
	bytes_put_u32(&symbol, len);
	bytes_put_u32(&symbol, HOST_IS_BIG_ENDIAN ? 1u << 16 | flags : flags << 16 | 1); /* a type and flags of 16 bits each */
	bytes_put_text(&symbol, name);
	apply_record_bytes(model, RECORD_KSYMBOL, 0, &symbol, clock);
}

static const char *symbol_at(const struct model *model, uint64_t address, uint64_t clock)
{
	const struct map *map = map_find(model_kernel_root(model, clock), address);
	return map ? modules_get(&model->modules, map->module)->name : NULL;
}

TEST("a kernel symbol replaces one of another name at its address, whose end was not recorded; what it ends is gone")
{
	const uint64_t address = 0xffffffffc0000000;
	struct model model;
	model_init(&model);
	apply_symbol(&model, address - 64, 256, 0, "bpf_prog_old", 1);
	apply_symbol(&model, address, 32, 0, "bpf_prog_new", 5);
	apply_symbol(&model, address, 16, 0, "bpf_prog_new", 6); /* known: as when the kernel and perf both name it */
	EXPECT_STR(symbol_at(&model, address, 4), "bpf_prog_old");
	EXPECT_STR(symbol_at(&model, address, 7), "bpf_prog_new");
	EXPECT_STR(symbol_at(&model, address + 31, 7), "bpf_prog_new");
	EXPECT(!symbol_at(&model, address - 1, 7));
	EXPECT(!symbol_at(&model, address + 32, 7));
	apply_symbol(&model, address, 32, 1, "bpf_prog_new", 8);
	EXPECT(!symbol_at(&model, address, 9));
	model_fini(&model);
}

TEST("records that are only checked are counted if they are bad, and change nothing")
{
	struct model model;
	model_init(&model);
	size_t threads = model.threads.count;
	model.checks_only = true;
	apply_comm_record(&model, 7, 7, "sh", 1);
	apply_mmap1(&model, RECORD_MISC_USER, 7, 0x1000, 0x1000, 0, "/bin/sh", 2);
	apply_task_record(&model, RECORD_FORK, 8, 8, 7, 3);
	apply_task_record(&model, RECORD_EXIT, 8, 8, 7, 4);
	EXPECT_INT(model.bad_records, 0);
	apply_mmap1(&model, RECORD_MISC_USER, 7, UINT64_MAX, 0x1000, 0, "/bin/sh", 5);
	EXPECT_INT(model.bad_records, 1);
	EXPECT_INT(model.threads.count, threads);
	EXPECT_INT(model.mappings, 0);
	model_fini(&model);
}

TEST("of several rows for one inode, the row of the file's generation applies")
{
	struct model model;
	model_init(&model);
	for (uint8_t generation = 5; generation < 9; generation++) {
		const struct module_identity identity = { .maj = 8, .min = 1, .ino = 11, .ino_generation = generation };
		uint8_t id[20];
		memset(id, generation, sizeof id);
		model_set_build_id(&model, "/bin/x", RECORD_MISC_USER, &identity, id, 20);
	}
	for (uint8_t generation = 5; generation < 9; generation++) {
		struct module module = { .name = "/bin/x", .maj = 8, .min = 1, .ino = 11, .ino_generation = generation };
		uint8_t len = 0;
		const uint8_t *id = known_build_ids_module(&model.build_ids, &module, &len);
		EXPECT_INT(len, 20);
		EXPECT_INT(id ? id[0] : 0, generation);
	}
	model_fini(&model);
}

TEST("the kernel and its modules have the build-ids of the table, which precedes or follows their mappings")
{
	static const char path[] = "/lib/modules/6.1/ext4.ko";
	for (int late = 0; late < 2; late++) {
		struct model model;
		uint8_t kernel[20], ext4[20];
		memset(kernel, 3, sizeof kernel);
		memset(ext4, 4, sizeof ext4);
		model_init(&model);
		for (int step = 0; step < 2; step++) {
			if (step == late) {
				model_set_build_id(&model, "[kernel.kallsyms]", RECORD_MISC_KERNEL, NULL, kernel, 20);
				model_set_build_id(&model, path, RECORD_MISC_KERNEL, NULL, ext4, 20);
			} else {
				apply_mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0x10000, 0x1000, 0, "[kernel.kallsyms]_text", 1);
				apply_mmap1(&model, RECORD_MISC_KERNEL, (uint32_t)-1, 0x20000, 0x1000, 0, path, 1);
			}
		}
		const struct module *modules[] = { modules_kernel(&model.modules, "[kernel.kallsyms]"), modules_kmodule(&model.modules, "[ext4]", path) };
		EXPECT_INT(modules[0]->build_id_len, 20);
		EXPECT_INT(modules[0]->build_id[0], 3);
		EXPECT_INT(modules[1]->build_id_len, 20);
		EXPECT_INT(modules[1]->build_id[0], 4);
		model_fini(&model);
	}
}

static const char *guest_module_at(const struct model *model, int32_t pid, uint64_t address)
{
	const struct map *map = map_find(model_guest_root(model, pid, 9), address);
	return map ? modules_get(&model->modules, map->module)->name : "";
}

TEST("the kernel of a virtual machine is not the host's; with an option, each process that runs one has its own")
{
	const uint64_t address = 0xffffffff81000000;
	for (enum guests guests = GUESTS_NONE; guests <= GUESTS_CODE; guests++) {
		struct model model;
		model_init(&model);
		model.guests = guests;
		apply_mmap1(&model, RECORD_MISC_KERNEL, UINT32_MAX, address, 0x1000, address, "[kernel.kallsyms]_text", 1);
		apply_mmap1(&model, RECORD_MISC_GUEST_KERNEL, 7, address, 0x1000, address, "[guest.kernel.kallsyms.7]_text", 2);
		apply_mmap1(&model, RECORD_MISC_GUEST_KERNEL, 0, address + 0x8000, 0x1000, 0, "[virtio]", 3);
		apply_mmap1(&model, RECORD_MISC_GUEST_USER, 7, 0x1000, 0x1000, 0, "/bin/sh", 4);
		bool each = guests == GUESTS_EACH || guests == GUESTS_CODE;
		EXPECT_STR(guest_module_at(&model, 7, address), each ? "[guest.kernel.kallsyms.7]" : guests ? "[guest.kernel.kallsyms]" : "");
		EXPECT_STR(guest_module_at(&model, 8, address), guests == GUESTS_ONE ? "[guest.kernel.kallsyms]" : "");
		EXPECT_STR(guest_module_at(&model, 8, address + 0x8000), guests == GUESTS_ONE || guests == GUESTS_EACH ? "[virtio]" : "");
		EXPECT_STR(module_name_at(&model, 7, 9, 0x1000), guests ? "" : "/bin/sh");
		model_renew(&model, 9, NULL, NULL, NULL);
		EXPECT_STR(guest_module_at(&model, 8, address), guests == GUESTS_ONE ? "[guest.kernel.kallsyms]" : "");
		model_fini(&model);
	}
}
