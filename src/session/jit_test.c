#include "session/session.h"

#include "base/budget.h"
#include "data/jitdump_maker.h"
#include "model/jit.h"
#include "tape.h"
#include "unit.h"

enum { HEAP = 0x10000, TSC = 1 };

static struct tape *recording_new(int32_t clockid, bool has_clock)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL, .clockid = clockid,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME };
	attr.flags |= (uint64_t)has_clock << ATTR_USE_CLOCKID;
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static void put_sample(struct tape *tape, uint64_t time, uint64_t ip)
{
	put_head(tape, RECORD_SAMPLE, RECORD_MISC_USER, 24);
	put_u64(tape, ip);
	put_ids(tape, 7);
	put_u64(tape, time);
}

static void put_mmap(struct tape *tape, uint64_t time, uint64_t start, uint64_t len, const char name[static 24])
{
	put_head(tape, RECORD_MMAP, RECORD_MISC_USER, 72);
	put_ids(tape, 7);
	put_u64(tape, start);
	put_u64(tape, len);
	put_u64(tape, 0);
	put(tape, name, 24);
	put_ids(tape, 7);
	put_u64(tape, time);
}

static void put_round(struct tape *tape)
{
	put_head(tape, RECORD_FINISHED_ROUND, 0, 0);
}

/* The name of each sample's address, one line each. */
struct names {
	struct str text;
	struct dump_maker dump;
	struct span span;
	size_t cut;            /* bytes of the dump that exist when it is opened; 0: all */
	unsigned opened;
	struct budget *budget;
};

static void names_record(void *context, const struct resolved *r, size_t slice)
{
	struct names *names = context;
	names->span.len = names->dump.len;
	const struct location *ip = resolved_ip(r);
	const struct module *module = ip->map ? modules_get(&r->session->model.modules, ip->module) : NULL;
	const struct jit_code *code = module && module->jit ? jit_code_at(module->jit, ip->offset) : NULL;
	const char *file = "";
	uint32_t line = 0;
	if (code && jit_line(module, ip->offset, &file, &line))
		str_printf(&names->text, "%s %s:%u\n", code->name, file, line);
	else
		str_printf(&names->text, "%s\n", code ? code->name : module ? module->name : "-");
}

static int open_dump(void *context, int32_t pid, const char *path, struct reader *reader)
{
	struct names *names = context;
	if (strcmp(path, "/tmp/jit-7.dump") != 0 || pid != 7)
		return -1;
	names->opened++;
	names->span = (struct span){ names->dump.data, names->cut ? names->cut : names->dump.len };
	*reader = reader_of_span(&names->span);
	return 0;
}

static uint64_t run(struct tape *tape, struct names *names)
{
	struct session session;
	struct sink sink = { .context = names, .record = names_record, .serial = true };
	struct session_options options = { .threads = 1, .jit_open = open_dump, .jit_context = names,
		.budget = names->budget };
	EXPECT(session_open(&session, &tape->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	uint64_t untimed = session.counters.jit_untimed;
	EXPECT_INT(session.counters.jit_dumps, names->opened);
	session_close(&session);
	return untimed;
}

/* Writes one function, then another over half of it, then the first one again at the address to which it was moved. */
static void make_dump(struct names *names, uint64_t flags)
{
	struct dump_maker *m = &names->dump;
	dump_begin(m, 7, flags);
	dump_lines(m, 30, HEAP, 0x40, 5, "a.js");
	dump_load(m, 30, HEAP, 0x100, 1, "first");
	dump_load(m, 50, HEAP + 0x80, 0x100, 2, "second");
	dump_move(m, 70, HEAP, HEAP + 0x800, 0x100, 1);
}

static void put_samples(struct tape *tape)
{
	put_mmap(tape, 10, HEAP, 0x1000, "//anon\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	put_mmap(tape, 20, 0x90000, 0x1000, "/tmp/jit-7.dump\0\0\0\0\0\0\0\0\0");
	put_sample(tape, 29, HEAP + 0x90);
	put_sample(tape, 30, HEAP + 0x90);
	put_sample(tape, 60, HEAP + 0x90);
	put_mmap(tape, 61, HEAP, 0x1000, "//anon\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	put_sample(tape, 62, HEAP + 1);
	put_sample(tape, 63, HEAP + 0x880);
	put_sample(tape, 80, HEAP + 0x803);
	put_sample(tape, 90, HEAP + 0xf00);
	put_round(tape);
}

TEST("JIT-compiled code has the name that its dump gave it at the time of the sample, wherever the sample is in the file")
{
	struct tape *tape = recording_new(1, true);
	struct names names = { 0 };
	make_dump(&names, 0);
	put_samples(tape);
	EXPECT_INT(run(tape, &names), 0);
	EXPECT_STR(str_text(&names.text), "/tmp/perf-7.map\nfirst a.js:6\nsecond\nfirst a.js:5\n/tmp/perf-7.map\nfirst a.js:5\n/tmp/perf-7.map\n");
	EXPECT_INT(names.opened, 1);
	str_fini(&names.text);
}

TEST("if the recording's clock differs from the dump's, code has its last name, and the dump is counted")
{
	struct tape *tape = recording_new(0, false);
	struct names names = { 0 };
	make_dump(&names, 0);
	put_samples(tape);
	EXPECT_INT(run(tape, &names), 1);
	EXPECT_STR(str_text(&names.text), "second\nsecond\nsecond\nfirst a.js:5\nfirst a.js:6\nfirst a.js:5\n/tmp/perf-7.map\n");
	str_fini(&names.text);
}

TEST("functions of a dump for which the budget has no room are left out, which is counted once, and all of it is given back")
{
	enum { STEP = 1 << 20 }; /* the mappings take the first one */
	for (size_t steps = 1; steps <= 2; steps++) {
		struct tape *tape = recording_new(1, true);
		struct budget budget = { .limit = steps * STEP };
		struct names names = { .budget = &budget };
		make_dump(&names, 0);
		put_samples(tape);
		run(tape, &names);
		EXPECT((strstr(str_text(&names.text), "first a.js:5") != NULL) == (steps == 2));
		EXPECT_INT(atomic_load(&budget.refused), steps == 1);
		EXPECT_INT(atomic_load(&budget.used), 0);
		str_fini(&names.text);
	}
}

TEST("times of the processor's counter are converted with TIME_CONV")
{
	struct tape *tape = recording_new(0, false);
	struct names names = { 0 };
	make_dump(&names, TSC);
	put_head(tape, RECORD_TIME_CONV, 0, 24);
	put_u64(tape, 1);
	put_u64(tape, 1);
	put_u64(tape, 15); /* 30 is 30, 50 is 40, 70 is 50 */
	put_mmap(tape, 20, 0x90000, 0x1000, "/tmp/jit-7.dump\0\0\0\0\0\0\0\0\0");
	put_sample(tape, 29, HEAP);
	put_sample(tape, 30, HEAP);
	put_sample(tape, 39, HEAP + 0x80);
	put_sample(tape, 40, HEAP + 0x80);
	put_sample(tape, 49, HEAP + 0x810);
	put_sample(tape, 50, HEAP + 0x810);
	put_round(tape);
	EXPECT_INT(run(tape, &names), 0);
	EXPECT_STR(str_text(&names.text), "-\nfirst a.js:5\nfirst a.js:6\nsecond\n-\nfirst a.js:6\n");
	str_fini(&names.text);
}

TEST("a file that is not a dump, or that of another process, changes nothing")
{
	for (int i = 0; i < 2; i++) {
		struct tape *tape = recording_new(1, true);
		struct names names = { 0 };
		make_dump(&names, 0);
		names.dump.data[i ? 0 : 20] ^= 1; /* the magic; the pid */
		uint32_t pid = i ? 7 : 6;
		put_mmap(tape, 10, HEAP, 0x1000, "//anon\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
		put_mmap(tape, 20, 0x90000, 0x1000, pid == 7 ? "/tmp/jit-7.dump\0\0\0\0\0\0\0\0\0" : "/tmp/jit-8.dump\0\0\0\0\0\0\0\0\0");
		put_sample(tape, 60, HEAP + 0x90);
		put_sample(tape, 61, 0x90010);
		put_round(tape);
		struct session session;
		struct sink sink = { .context = &names, .record = names_record, .serial = true };
		struct session_options options = { .threads = 1, .jit_open = open_dump, .jit_context = &names };
		EXPECT(session_open(&session, &tape->source, &options, NULL) == 0);
		EXPECT(session_run(&session, &sink, NULL) == 0);
		EXPECT_INT(session.counters.jit_dumps, 0);
		session_close(&session);
		EXPECT_STR(str_text(&names.text), pid == 7 ? "/tmp/perf-7.map\n/tmp/jit-7.dump\n" : "/tmp/perf-7.map\n/tmp/jit-8.dump\n");
		str_fini(&names.text);
	}
}

TEST("the dump of a stream is read further as it grows")
{
	struct tape *tape = recording_new(1, true);
	struct names names = { .cut = 40 };
	tape->source.header.pipe = true;
	make_dump(&names, 0);
	put_mmap(tape, 20, 0x90000, 0x1000, "/tmp/jit-7.dump\0\0\0\0\0\0\0\0\0");
	put_sample(tape, 21, HEAP);
	for (unsigned i = 0; i < 20000; i++) /* more than a batch */
		put_comm(tape, 7, 22, "filler\0", 0);
	put_sample(tape, 30, HEAP);
	put_sample(tape, 60, HEAP + 0x80);
	put_sample(tape, 80, HEAP + 0x804);
	put_round(tape);
	EXPECT_INT(run(tape, &names), 0);
	EXPECT_STR(str_text(&names.text), "-\nfirst a.js:5\nsecond\nfirst a.js:6\n");
	EXPECT_INT(names.opened, 1);
	str_fini(&names.text);
}
