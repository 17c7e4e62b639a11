#include "model/jit.h"

#include "model/model.h"
#include "unit.h"

static const char *file = "";
static uint32_t line;

TEST("an offset belongs to the function that contains it, and to the last line of that function at or below it")
{
	struct modules modules;
	modules_init(&modules);
	struct module *module = modules_file(&modules, "/tmp/jit-1.dump", MODULE_FILE, NULL);
	struct jit *jit = modules_make_jit(&modules, module->id);
	EXPECT(jit && !modules_make_jit(&modules, module->id));
	jit_add_code(jit, 100, 20, "one");
	jit_add_line(jit, 110, 2, "a.js");
	jit_add_line(jit, 100, 1, "a.js");
	jit_sort_lines(jit, 0);
	jit_add_code(jit, 110, 20, "overlaps");
	jit_add_code(jit, 200, 10, "two");
	jit_add_code(jit, 300, 10, "three");
	jit_add_line(jit, 305, 9, "b\n.js");
	EXPECT_STR(jit_code_at(jit, 119)->name, "one");
	EXPECT(!jit_code_at(jit, 120) && !jit_code_at(jit, 99) && !jit_code_at(jit, 310));
	EXPECT_STR(jit_code_at(jit, 200)->name, "two");
	EXPECT(jit_line(module, 109, &file, &line) && line == 1);
	EXPECT(jit_line(module, 119, &file, &line) && line == 2);
	EXPECT_STR(file, "a.js");
	EXPECT(!jit_line(module, 205, &file, &line));
	EXPECT(!jit_line(module, 304, &file, &line));
	EXPECT(jit_line(module, 309, &file, &line) && line == 9);
	EXPECT_STR(file, "b?.js");
	EXPECT(!jit_line(modules_file(&modules, "/bin/sh", MODULE_FILE, NULL), 100, &file, &line));
	modules_fini(&modules);
}

static uint64_t module_offset_at(const struct model *model, uint64_t clock, uint64_t address)
{
	const struct map *map = map_find(model_root(model, 7, model_thread(model, 7, clock), clock), address);
	return map ? map_offset(map, address) : 0;
}

static void apply_user_mmap(struct model *model, uint64_t start, uint64_t len, const char *name, uint64_t clock)
{
	uint64_t words[64] = { 7 | 7ull << 32, start, len, 0 };
	strcpy((char *)(words + 4), name);
	struct record record = { .type = RECORD_MMAP, .misc = RECORD_MISC_USER, .body = (uint8_t *)words, .body_len = 40 + 32 };
	struct sample trailer = { .time = clock };
	model_apply(model, &record, &trailer, clock);
}

TEST("JIT code is mapped from its time on: later code replaces it, anonymous memory does not")
{
	struct model model;
	model_init(&model);
	apply_user_mmap(&model, 0x10000, 0x10000, "//anon", 1);
	apply_user_mmap(&model, 0x90000, 0x1000, "/tmp/jit-7.dump", 2);
	uint32_t module = map_find(model_root(&model, 7, model_thread(&model, 7, 2), 2), 0x90000)->module;
	EXPECT(modules_make_jit(&model.modules, module));
	struct jit_place first[] = { { 0x11000, 0x100, 1000, module }, { 0x12000, 0x100, 2000, module } };
	struct jit_place second[] = { { 0x11080, 0x100, 3000, module } };
	model_place_jit(&model, 7, first, 2, 5);
	apply_user_mmap(&model, 0x11000, 0x8000, "//anon", 6);
	model_place_jit(&model, 7, second, 1, 8);
	EXPECT_INT(module_offset_at(&model, 4, 0x11000), 0x11000);
	EXPECT_INT(module_offset_at(&model, 5, 0x11090), 1000 + 0x90);
	EXPECT_INT(module_offset_at(&model, 5, 0x12001), 2001);
	EXPECT_INT(module_offset_at(&model, 7, 0x11090), 1000 + 0x90);
	EXPECT_INT(module_offset_at(&model, 7, 0x12001), 2001);
	EXPECT_INT(module_offset_at(&model, 7, 0x12101), 0x12101);
	EXPECT_INT(module_offset_at(&model, 8, 0x11010), 1010 + 6);
	EXPECT_INT(module_offset_at(&model, 8, 0x11090), 3000 + 0x10);
	apply_user_mmap(&model, 0x11000, 0x1000, "/lib/other", 9);
	EXPECT_INT(module_offset_at(&model, 9, 0x11090), 0x90);
	EXPECT_INT(module_offset_at(&model, 9, 0x12001), 2001);
	EXPECT_INT(module_offset_at(&model, 8, 0x11090), 3000 + 0x10);
	model_place_jit(&model, 99, second, 1, 10);
	model_fini(&model);
}

TEST("a hundred thousand functions mapped at once cost one node each")
{
	struct model model;
	model_init(&model);
	apply_user_mmap(&model, 0x90000, 0x1000, "/tmp/jit-7.dump", 2);
	struct jit_place *places = memory_zero(100000, sizeof *places);
	for (uint64_t i = 0; i < 100000; i++)
		places[i] = (struct jit_place){ 0x100000 + i * 64, 64, i * 100, 0 };
	model_place_jit(&model, 7, places, 100000, 3);
	EXPECT(model.arena.bytes < (size_t)100000 * 160);
	EXPECT_INT(module_offset_at(&model, 3, 0x100000 + 77777 * 64 + 5), 7777705);
	EXPECT_INT(module_offset_at(&model, 2, 0x100000 + 77777 * 64 + 5), 0);
	free(places);
	model_fini(&model);
}

TEST("each function has the frame table that was added after it")
{
	struct modules modules;
	modules_init(&modules);
	struct module *module = modules_file(&modules, "/tmp/jit-1.dump", MODULE_FILE, NULL);
	struct jit *jit = modules_make_jit(&modules, module->id);
	jit_add_code(jit, 100, 20, "one");
	jit_add_frames(jit, (const uint8_t *)"first", 5);
	jit_add_code(jit, 200, 10, "none");
	jit_add_code(jit, 300, 10, "two");
	jit_add_frames(jit, (const uint8_t *)"next", 4);
	const struct jit_code *one = jit_code_at(jit, 100), *none = jit_code_at(jit, 200), *two = jit_code_at(jit, 300);
	EXPECT(one->frames_len == 5 && memcmp(jit->frames.items + one->frames_at, "first", 5) == 0);
	EXPECT_INT(none->frames_len, 0);
	EXPECT(two->frames_len == 4 && memcmp(jit->frames.items + two->frames_at, "next", 4) == 0);
	modules_fini(&modules);
}
