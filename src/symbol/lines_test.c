#include "symbol/lines.h"

#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "unit.h"

/* The test program reads its own functions, whose lines it knows. */
static volatile int sink;

enum { INNER_LINE = __LINE__ + 3 };
static inline __attribute__((always_inline)) const void *inner(void)
{
	const void *here; __asm__ volatile("0: lea 0b(%%rip), %0" : "=r"(here));
	return here;
}

enum { OUTER_LINE = __LINE__ + 3 };
static __attribute__((noinline, unused)) const void *outer(void)
{
	const void *here = inner();
	sink++;
	return here;
}

struct self {
	char path[PATH_MAX];
	struct module module;
	struct modules modules;
	struct symbols *symbols;
	uint64_t offset; /* of inner's code, inlined into outer */
};

/* Returns false if this build has no such code or no debug information. */
static bool self_open(struct self *self)
{
	*self = (struct self){ .module = { .kind = MODULE_FILE, .pid = -1 } };
#if defined __x86_64__
	ssize_t len = readlink("/proc/self/exe", self->path, sizeof self->path - 1);
	FILE *maps = len > 0 ? fopen("/proc/self/maps", "r") : NULL;
	uint64_t here = (uint64_t)(uintptr_t)outer();
	unsigned long long start, end, offset;
	char line[PATH_MAX + 128];
	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 && here >= start && here < end)
			self->offset = here - start + offset;
	if (maps)
		fclose(maps);
#endif
	self->module.name = self->module.long_name = self->module.short_name = self->path;
	vec_push(&self->modules.list, &self->module);
	self->symbols = symbols_new(&self->modules, &(struct symbols_options){ .no_kernel_lookup = true });
	struct source_line line_of;
	if (self->offset && lines_place(self->symbols, &self->module, self->offset, false, &line_of) && line_of.line)
		return true;
	unit_skip("this build has no debug information, or is of another architecture");
	return false;
}

static void self_close(struct self *self)
{
	symbols_free(self->symbols);
	vec_fini(&self->modules.list);
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), tail = strlen(end);
	return len >= tail && strcmp(text + len - tail, end) == 0;
}

TEST("code has its own line, and outermost the line of the inlined call")
{
	struct self self;
	struct source_line line;
	if (self_open(&self)) {
		EXPECT(lines_place(self.symbols, &self.module, self.offset, false, &line));
		EXPECT(ends_in(line.file, "src/symbol/lines_test.c"));
		EXPECT(line.line == INNER_LINE);
		EXPECT(lines_place(self.symbols, &self.module, self.offset, true, &line));
		EXPECT(ends_in(line.file, "src/symbol/lines_test.c"));
		EXPECT_INT(line.line, OUTER_LINE);
	}
	self_close(&self);
}

TEST("a chain of inlined functions ends with the symbol itself")
{
	struct self self;
	struct line_frame frames[LINE_FRAMES_MAX];
	if (self_open(&self)) {
		uint32_t symbol = symbols_lookup(self.symbols, &self.module, self.offset);
		size_t count = lines_inlines(self.symbols, &self.module, self.offset, symbol, frames);
		EXPECT_INT(count, 2);
		EXPECT(symbol_is_inlined(frames[0].symbol));
		EXPECT_STR(symbols_name(self.symbols, &self.module, frames[0].symbol), "inner");
		EXPECT_INT(frames[1].symbol, symbol);
		EXPECT_INT(frames[1].at.line, OUTER_LINE);
		const struct symbol *inlined = symbols_get(self.symbols, &self.module, frames[0].symbol);
		EXPECT_INT(inlined->start, symbols_get(self.symbols, &self.module, symbol)->start);
		uint32_t first = frames[0].symbol;
		lines_inlines(self.symbols, &self.module, self.offset, symbol, frames);
		EXPECT_INT(frames[0].symbol, first);
	}
	self_close(&self);
}

static void *ask(void *arg)
{
	struct self *self = arg;
	struct line_frame frames[LINE_FRAMES_MAX];
	uint32_t symbol = symbols_lookup(self->symbols, &self->module, self->offset);
	size_t count = 0;
	for (unsigned i = 0; i < 200; i++)
		count += lines_inlines(self->symbols, &self->module, self->offset + i % 4, symbol, frames) > 0;
	return (void *)count;
}

TEST("several threads may look up lines at once")
{
	struct self self;
	if (self_open(&self)) {
		pthread_t threads[4];
		void *count;
		self_close(&self);
		self_open(&self);
		for (unsigned i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, ask, &self);
		for (unsigned i = 0; i < 4; i++) {
			pthread_join(threads[i], &count);
			EXPECT_INT((size_t)count, 200);
		}
	}
	self_close(&self);
}

TEST("a module without a file has no lines")
{
	struct module module = { .kind = MODULE_FILE, .name = "/nowhere", .long_name = "/nowhere", .short_name = "nowhere", .pid = -1 };
	struct modules modules = { 0 };
	struct source_line line;
	struct line_frame frames[LINE_FRAMES_MAX];
	vec_push(&modules.list, &module);
	struct symbols *symbols = symbols_new(&modules, &(struct symbols_options){ .no_kernel_lookup = true });
	EXPECT(!lines_place(symbols, &module, 0x1000, false, &line));
	EXPECT(!lines_place(symbols, &module, 0x1000, true, &line));
	EXPECT_INT(lines_inlines(symbols, &module, 0x1000, 0, frames), 0);
	EXPECT_INT(lines_address(symbols, &module, 0x1000), 0x1000);
	symbols_free(symbols);
	vec_fini(&modules.list);
}
