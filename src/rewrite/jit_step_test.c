#include "rewrite/test_rewrite.h"

#include <sys/stat.h>

#include "data/jitdump_maker.h"
#include "rewrite/jit_file.h"

enum { HEAP = 0x10000, MONOTONIC = 1, TSC = 1 };

/* A folder with the dump "jit-7.dump", and a recording whose process `pid` maps it at time 20. */
struct compiled {
	struct folder folder;
	struct dump_maker dump;
	struct tape *tape;
	char path[128];
};

static void compiled_open(struct compiled *c, int32_t clockid, uint64_t flags, uint32_t dump_pid)
{
	memset(c, 0, sizeof *c);
	c->tape = recording_new();
	struct attr *attr = &c->tape->source.header.evlist.events.items[0].attr;
	attr->clockid = clockid;
	attr->flags |= (uint64_t)(clockid >= 0) << ATTR_USE_CLOCKID;
	dump_begin(&c->dump, dump_pid, flags);
	folder_open(&c->folder);
	snprintf(c->path, sizeof c->path, "%s", folder_path(&c->folder, "jit-7.dump"));
}

static void compiled_run(struct compiled *c, uint32_t pid, struct trial *trial, struct rewrite_options options)
{
	folder_write(&c->folder, "jit-7.dump", c->dump.data, c->dump.len);
	put_mmap(c->tape, pid, 20, 0x90000, 0x1000, c->path);
	put_round(c->tape);
	put_mmap(c->tape, pid, 40, HEAP, 0x1000, "//anon");
	put_mmap(c->tape, 99, 41, HEAP, 0x1000, "//anon");
	put_sample(c->tape, pid, 60, HEAP + 1);
	options.jit = true;
	trial_run(trial, c->tape, options);
}

/* The result's records without the folder of the dump. */
static void expect_records(const struct compiled *c, const struct trial *trial, const char *expected)
{
	CLEANUP_STR struct str text = { 0 };
	size_t len = strlen(c->folder.root);
	for (const char *at = str_text(&trial->records); *at;) {
		bool root = strncmp(at, c->folder.root, len) == 0;
		if (!root)
			str_putc(&text, *at);
		at += root ? len : 1;
	}
	EXPECT_STR(str_text(&text), expected);
}

TEST("the mapping of a dump becomes a file and a mapping for each function, and later memory for code is left out")
{
	struct compiled c;
	struct trial trial;
	compiled_open(&c, MONOTONIC, 0, 7);
	dump_load(&c.dump, 30, HEAP, 0x100, 1, "first");
	dump_load(&c.dump, 50, HEAP + 0x100, 0x80, 2, "second");
	dump_move(&c.dump, 70, HEAP, HEAP + 0x800, 0x100, 1);
	compiled_run(&c, 7, &trial, (struct rewrite_options){ .ids = IDS_HIT });
	expect_records(&c, &trial, "mmap2 30 7:10000+100@80 file mode /jitted-7-1.so\nmmap2 50 7:10100+80@80 file mode /jitted-7-2.so\n"
		"mmap2 70 7:10800+100@80 file mode /jitted-7-1.so\nmmap 41 99:10000+1000 //anon\nsample 60 10001\n");
	EXPECT_INT(trial.counters.jit_files, 2);
	EXPECT_INT(trial.counters.jit_unwritable, 0);
	EXPECT(strstr(str_text(&trial.table), "20:") == str_text(&trial.table));
	EXPECT(strstr(str_text(&trial.table), "/jitted-7-1.so\n20:") != NULL);
	struct stat st;
	EXPECT(stat(folder_path(&c.folder, "jitted-7-2.so"), &st) == 0 && st.st_size > 0x100);
	trial_close(&trial);
	folder_close(&c.folder);
}

TEST("times of the processor's counter are converted, and without a conversion the dump is refused")
{
	for (int known = 0; known < 2; known++) {
		struct compiled c;
		struct trial trial;
		compiled_open(&c, -1, TSC, 7);
		dump_load(&c.dump, 30, HEAP, 0x100, 1, "first");
		if (known) {
			put_head(c.tape, RECORD_TIME_CONV, 0, 24);
			put_u64(c.tape, 1);
			put_u64(c.tape, 4);
			put_u64(c.tape, 1000);
		}
		compiled_run(&c, 7, &trial, (struct rewrite_options){ 0 });
		EXPECT_INT(trial.result, known ? 0 : -1);
		if (known)
			expect_records(&c, &trial, "other\nmmap2 1060 7:10000+100@80 file mode /jitted-7-1.so\nmmap 41 99:10000+1000 //anon\n"
				"sample 60 10001\n");
		trial_close(&trial);
		folder_close(&c.folder);
	}
}

TEST("a dump with times of another clock than the recording's is refused")
{
	struct compiled c;
	struct trial trial;
	compiled_open(&c, MONOTONIC + 1, 0, 7);
	compiled_run(&c, 7, &trial, (struct rewrite_options){ 0 });
	EXPECT(trial.result < 0);
	EXPECT_INT(trial.error.kind, ERROR_USAGE);
	EXPECT(access(trial.output, F_OK) != 0);
	trial_close(&trial);
	folder_close(&c.folder);
}

TEST("in a pid namespace, functions get the pid of the mapping; the dump of another process does not count")
{
	for (uint32_t dump_pid = 7; dump_pid <= 8; dump_pid++) {
		struct compiled c;
		struct trial trial;
		compiled_open(&c, MONOTONIC, 0, dump_pid);
		dump_load(&c.dump, 30, HEAP, 0x100, 1, "first");
		compiled_run(&c, 500, &trial, (struct rewrite_options){ 0 });
		expect_records(&c, &trial, dump_pid == 7 ?
			"mmap2 30 500:10000+100@80 file mode /jitted-7-1.so\nmmap 41 99:10000+1000 //anon\nsample 60 10001\n" :
			"mmap 20 500:90000+1000 /jit-7.dump\nmmap 40 500:10000+1000 //anon\nmmap 41 99:10000+1000 //anon\nsample 60 10001\n");
		trial_close(&trial);
		folder_close(&c.folder);
	}
}

TEST("a function that is moved has a mapping there, also if its file is absent")
{
	struct compiled c;
	struct trial trial;
	compiled_open(&c, MONOTONIC, 0, 7);
	dump_move(&c.dump, 30, HEAP, HEAP + 0x800, 0x100, 9);
	compiled_run(&c, 7, &trial, (struct rewrite_options){ 0 });
	expect_records(&c, &trial, "mmap2 30 7:10800+100@80 /jitted-7-9.so\nmmap 41 99:10000+1000 //anon\nsample 60 10001\n");
	trial_close(&trial);
	folder_close(&c.folder);
}

TEST("a function whose file cannot be made gets no mapping, and is counted; the others have theirs")
{
	struct compiled c;
	struct trial trial;
	compiled_open(&c, MONOTONIC, 0, 7);
	dump_load(&c.dump, 30, HEAP, 0x100, 1, "first");
	dump_load(&c.dump, 50, HEAP + 0x100, 0x80, 2, "second");
	mkdir(folder_path(&c.folder, "jitted-7-1.so"), 0700);
	folder_write(&c.folder, "jitted-7-1.so/inside", "", 0);
	compiled_run(&c, 7, &trial, (struct rewrite_options){ 0 });
	expect_records(&c, &trial, "mmap2 50 7:10100+80@80 file mode /jitted-7-2.so\nmmap 41 99:10000+1000 //anon\nsample 60 10001\n");
	EXPECT_INT(trial.counters.jit_files, 1);
	EXPECT_INT(trial.counters.jit_unwritable, 1);
	EXPECT(trial.counters.jit_error.text[0] != '\0');
	trial_close(&trial);
	folder_close(&c.folder);
}

/* Call frame information of 8 bytes, half of them the index, that has `mapped` bytes in memory. */
static void put_tables(struct dump_maker *m, uint64_t mapped)
{
	dump_prefix(m, JITDUMP_UNWINDING_INFO, 16 + 24 + 8, 30);
	dump_u64(m, 8);
	dump_u64(m, 4);
	dump_u64(m, mapped);
	dump_u64(m, 0);
}

TEST("a mapping includes call frame information that follows the code in memory, of its own function alone")
{
	struct compiled c;
	struct trial trial;
	compiled_open(&c, MONOTONIC, 0, 7);
	put_tables(&c.dump, 0x30);
	dump_load(&c.dump, 30, HEAP, 0x101, 1, "first");
	dump_load(&c.dump, 50, HEAP + 0x200, 0x101, 2, "second");
	put_tables(&c.dump, 0x30);
	dump_load(&c.dump, 51, HEAP + 0x600, 0x100, 4, "even");
	put_tables(&c.dump, 0);
	dump_load(&c.dump, 52, HEAP + 0x400, 0x101, 3, "third");
	compiled_run(&c, 7, &trial, (struct rewrite_options){ 0 });
	expect_records(&c, &trial, "mmap2 30 7:10000+138@80 file mode /jitted-7-1.so\nmmap2 50 7:10200+101@80 file mode /jitted-7-2.so\n"
		"mmap2 51 7:10600+130@80 file mode /jitted-7-4.so\nmmap2 52 7:10400+101@80 file mode /jitted-7-3.so\n"
		"mmap 41 99:10000+1000 //anon\nsample 60 10001\n");
	trial_close(&trial);
	folder_close(&c.folder);
}

TEST("a function's file is made of its code, if the dump has all of it")
{
	struct dump_maker m = { .len = 0 };
	struct jitdump dump;
	struct jitdump_record record;
	struct jit_file file;
	uint8_t id[JIT_FILE_ID_SIZE];
	dump_begin(&m, 7, 0);
	dump_load(&m, 30, HEAP, 0x10, 0x5a, "first");
	struct span bytes = { m.data, m.len };
	struct reader reader = reader_of_span(&bytes);
	jit_file_open(&file);
	EXPECT_INT(jitdump_open(&dump, &reader, NULL), 0);
	EXPECT_INT(jitdump_next(&dump, &record), 1);
	EXPECT(jit_file_make(&file, &dump, &record.load, id));
	EXPECT(file.image.len > 0x90 && memcmp(file.image.buffer, "\177ELF", 4) == 0);
	for (size_t i = 0; i < 0x10; i++)
		EXPECT_INT(file.image.buffer[0x80 + i], 0x5a);
	record.load.size++;
	EXPECT(!jit_file_make(&file, &dump, &record.load, id));
	record.load.size = JIT_CODE_MAX + 1ull;
	EXPECT(!jit_file_make(&file, &dump, &record.load, id));
	jitdump_fini(&dump);
	jit_file_close(&file);
}

/* The size of the file of a function of `size` bytes, whose two lines lie at `line` and 4 bytes further. */
static size_t size_with_lines(uint64_t size, uint64_t line)
{
	struct dump_maker m = { .len = 0 };
	struct jitdump dump;
	struct jitdump_record record;
	struct jit_file file;
	uint8_t id[JIT_FILE_ID_SIZE];
	dump_begin(&m, 7, 0);
	dump_lines(&m, 30, HEAP, line, 5, "a.js");
	dump_load(&m, 30, HEAP, size, 1, "first");
	struct span bytes = { m.data, m.len };
	struct reader reader = reader_of_span(&bytes);
	jit_file_open(&file);
	EXPECT_INT(jitdump_open(&dump, &reader, NULL), 0);
	EXPECT_INT(jitdump_next(&dump, &record), 1);
	jit_file_take_lines(&file, &dump, &record.debug);
	EXPECT_INT(jitdump_next(&dump, &record), 1);
	EXPECT(jit_file_make(&file, &dump, &record.load, id));
	size_t len = file.image.len;
	jitdump_fini(&dump);
	jit_file_close(&file);
	return len;
}

TEST("lines count if they are within the code, less the bias that some compilers add to all of them")
{
	size_t none = size_with_lines(8, 0x60);
	EXPECT(size_with_lines(8, 0x40) > none);
	EXPECT(size_with_lines(8, 7) > none);
	EXPECT_INT(size_with_lines(8, 8), none);
	EXPECT_INT(size_with_lines(8, 0x48), none);
	EXPECT(size_with_lines(8, 0x47) > none);
	EXPECT_INT(size_with_lines(8, 0x3f), none);
}

static ssize_t read_hole(void *context, void *buffer, size_t size, uint64_t offset)
{
	return (ssize_t)size;
}

TEST("lines of functions beyond 1 GiB of them are ignored")
{
	const struct jitdump dump = { .reader = { .read = read_hole } };
	const struct jitdump_debug debug = { .count = 1, .size = JIT_EXTRA_MAX };
	struct jit_file file;
	jit_file_open(&file);
	for (size_t i = 0; i <= JIT_ALL_LINES_MAX / JIT_EXTRA_MAX; i++) {
		jit_file_take_lines(&file, &dump, &debug);
		EXPECT((file.lines.bytes != NULL) == (i < JIT_ALL_LINES_MAX / JIT_EXTRA_MAX));
	}
	jit_file_close(&file);
}
