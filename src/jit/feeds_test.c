#include "jit/feeds.h"

#include "data/jitdump_maker.h"
#include "model/jit.h"
#include "unit.h"

enum { HEAP = 0x10000 };

struct fixture {
	struct model model;
	struct evlist evlist;
	struct jit_feeds feeds;
	struct dump_maker dump;
	struct span span;
	unsigned open;
};

static void close_dump(void *context)
{
	((struct fixture *)context)->open--;
}

static ssize_t read_dump(void *context, void *buffer, size_t size, uint64_t offset)
{
	const struct fixture *f = context;
	struct reader whole = reader_of_span(&f->span);
	return reader_at(&whole, buffer, size, offset);
}

static int open_dump(void *context, int32_t pid, const char *path, struct reader *reader)
{
	struct fixture *f = context;
	EXPECT_STR(path, "/tmp/jit-7.dump");
	EXPECT_INT(pid, 7);
	f->open++;
	*reader = (struct reader){ .context = f, .size = f->span.len, .read = read_dump, .close = close_dump };
	return 0;
}

/* A process has mapped its dump, which has no function yet. */
static void begin(struct fixture *f, bool grows)
{
	static const struct sample none = { .time = UINT64_MAX };
	static const struct attr attr = { .sample_type = SAMPLE_TIME, .flags = 1ull << ATTR_USE_CLOCKID, .clockid = 1 };
	uint8_t body[48] = { 0 };
	model_init(&f->model);
	evlist_add(&f->evlist, &attr, NULL, 0, "cpu-clock");
	dump_begin(&f->dump, 7, 0);
	f->span = (struct span){ f->dump.data, f->dump.len };
	f->feeds = (struct jit_feeds){ .model = &f->model, .evlist = &f->evlist, .grows = grows, .open = open_dump, .context = f,
		.next_ns = UINT64_MAX };
	memcpy(body, &(uint32_t[]){ 7, 7 }, 8);
	memcpy(body + 8, &(uint64_t[]){ 0x9000, 0x1000 }, 16);
	memcpy(body + 32, "/tmp/jit-7.dump", 16);
	struct record record = { .type = RECORD_MMAP, .misc = RECORD_MISC_USER, .body = body, .body_len = sizeof body };
	model_apply(&f->model, &record, &none, 10);
	jit_feeds_take_mapping(&f->feeds, &record, 10);
}

static void end(struct fixture *f)
{
	jit_feeds_fini(&f->feeds);
	EXPECT_INT(f->open, 0);
	model_fini(&f->model);
	evlist_fini(&f->evlist);
}

static const char *name_at(const struct fixture *f, uint64_t address, uint64_t clock)
{
	const struct map *map = map_find(model_root(&f->model, 7, model_thread(&f->model, 7, clock), clock), address);
	const struct module *module = map ? modules_get(&f->model.modules, map->module) : NULL;
	const struct jit_code *code = module && module->jit ? jit_code_at(module->jit, address - map->start + map->pgoff) : NULL;
	return code ? code->name : "";
}

static void add(struct fixture *f, uint64_t time, uint64_t address, const char *name)
{
	dump_load(&f->dump, time, address, 0x100, time, name);
	f->span.len = f->dump.len;
}

TEST("a function that is appended to a dump enters the model at its time, and another one is a further part of the module")
{
	struct fixture f = { 0 };
	begin(&f, true);
	EXPECT_INT(f.feeds.growing, 1);
	add(&f, 30, HEAP, "first");
	EXPECT(f.feeds.next_ns == UINT64_MAX);
	jit_feeds_refresh(&f.feeds);
	EXPECT_INT(f.feeds.next_ns, 30);
	jit_feeds_advance(&f.feeds, 29, 29);
	EXPECT_STR(name_at(&f, HEAP, 29), "");
	jit_feeds_advance(&f.feeds, 30, 30);
	add(&f, 40, HEAP + 0x100, "second");
	jit_feeds_refresh(&f.feeds);
	jit_feeds_advance(&f.feeds, 40, 40);
	EXPECT_STR(name_at(&f, HEAP + 0xff, 40), "first");
	EXPECT_STR(name_at(&f, HEAP + 0x100, 40), "second");
	EXPECT_STR(name_at(&f, HEAP + 0x100, 39), "");
	EXPECT_INT(f.feeds.dumps, 1);
	EXPECT_INT(f.feeds.untimed, 0);
	end(&f);
}

TEST("functions that were written out of order enter the model in the order of their times, of equal times the last one remains")
{
	struct fixture f = { 0 };
	begin(&f, true);
	add(&f, 40, HEAP, "first");
	add(&f, 40, HEAP, "second");
	add(&f, 30, HEAP + 0x100, "early");
	jit_feeds_refresh(&f.feeds);
	EXPECT_INT(f.feeds.next_ns, 30);
	jit_feeds_advance(&f.feeds, 30, 30);
	EXPECT_STR(name_at(&f, HEAP + 0x100, 30), "early");
	EXPECT_STR(name_at(&f, HEAP, 30), "");
	jit_feeds_advance(&f.feeds, 40, 40);
	EXPECT_STR(name_at(&f, HEAP, 40), "second");
	end(&f);
}

TEST("the dump of an ended process is closed, and its functions remain")
{
	struct fixture f = { 0 };
	begin(&f, true);
	add(&f, 30, HEAP, "first");
	add(&f, 50, HEAP + 0x100, "second");
	jit_feeds_refresh(&f.feeds);
	jit_feeds_advance(&f.feeds, 30, 30);
	jit_feeds_end(&f.feeds, 8);
	EXPECT_INT(f.open, 1);
	jit_feeds_end(&f.feeds, 7);
	EXPECT_INT(f.open, 0);
	EXPECT_INT(f.feeds.growing, 0);
	jit_feeds_advance(&f.feeds, 60, 60);
	EXPECT(f.feeds.next_ns == UINT64_MAX);
	EXPECT_STR(name_at(&f, HEAP, 60), "first");
	EXPECT_STR(name_at(&f, HEAP + 0x100, 60), "");
	end(&f);
}

TEST("the dump of a complete recording is closed once it was read")
{
	struct fixture f = { 0 };
	begin(&f, false);
	EXPECT_INT(f.open, 0);
	EXPECT_INT(f.feeds.growing, 0);
	end(&f);
}
