#include "export/exporter.h"

#include "base/memory.h"
#include "base/str.h"
#include "symbol/symbol.h"
#include "tape.h"
#include "unit.h"

enum { PROGRAM = 0x1000, OTHER = 0x9000, MAIN = 7, WORKER = 8, CHILD = 9 };

/* ip|tid|time|cpu|period|callchain of a clock; and of a clock whose samples have the values of both events. */
static struct tape *recording_new(void)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL | 1ull << ATTR_COMM_EXEC,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_CALLCHAIN };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return tape;
}

static void put_trailer(struct tape *tape, uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu)
{
	put(tape, (uint32_t[]){ pid, tid }, 8);
	put_u64(tape, time);
	put(tape, (uint32_t[]){ cpu, 0 }, 8);
}

static void put_sample(struct tape *tape, uint32_t pid, uint32_t tid, uint64_t time, uint64_t ip, const uint64_t *chain, uint64_t count)
{
	put_head(tape, RECORD_SAMPLE, RECORD_MISC_USER, 48 + 8 * count);
	put_u64(tape, ip);
	put_trailer(tape, pid, tid, time, 3);
	put_u64(tape, 40 + time);
	put_u64(tape, count);
	put(tape, chain, 8 * count);
}

static void put_name(struct tape *tape, uint32_t pid, uint32_t tid, uint64_t time, const char name[static 8], uint16_t misc)
{
	put_head(tape, RECORD_COMM, misc, 40);
	put(tape, (uint32_t[]){ pid, tid }, 8);
	put(tape, name, 8);
	put_trailer(tape, pid, tid, time, 3);
}

static void put_fork(struct tape *tape, uint32_t pid, uint32_t tid, uint64_t time)
{
	put_head(tape, RECORD_FORK, 0, 48);
	put(tape, (uint32_t[]){ pid, MAIN, tid, MAIN }, 16);
	put_u64(tape, time);
	put_trailer(tape, MAIN, MAIN, time, 3);
}

static void put_mmap(struct tape *tape, uint64_t time, uint64_t start, const char name[static 8])
{
	put_head(tape, RECORD_MMAP, RECORD_MISC_USER, 64);
	put_ids(tape, MAIN);
	put_u64(tape, start);
	put_u64(tape, 0x1000);
	put_u64(tape, 0);
	put(tape, name, 8);
	put_trailer(tape, MAIN, MAIN, time, 3);
}

static void put_switch(struct tape *tape, uint64_t time, uint32_t from, uint32_t to, uint16_t misc)
{
	put_head(tape, RECORD_SWITCH_CPU_WIDE, misc, 32);
	put_ids(tape, to);
	put_trailer(tape, from, from, time, 1);
}

static struct tape *make_recording(void)
{
	static const uint64_t chain[] = { (uint64_t)-512, PROGRAM + 0x10, PROGRAM + 0x20, OTHER + 0x30 };
	struct tape *tape = recording_new();
	put_name(tape, MAIN, MAIN, 1, "shell\0\0", 0);
	put_mmap(tape, 2, PROGRAM, "/prog\0\0");
	put_mmap(tape, 3, OTHER, "/lib.so");
	put_fork(tape, MAIN, WORKER, 4);
	put_name(tape, MAIN, WORKER, 5, "worker\0", 0);
	put_fork(tape, CHILD, CHILD, 6);
	put_sample(tape, MAIN, MAIN, 10, PROGRAM + 0x10, chain, 4);
	put_sample(tape, MAIN, MAIN, 11, PROGRAM + 0x10, chain, 4);
	put_sample(tape, MAIN, WORKER, 12, PROGRAM + 0x18, chain, 2);
	put_switch(tape, 13, MAIN, WORKER, RECORD_MISC_SWITCH_OUT);
	put_switch(tape, 14, WORKER, MAIN, 0);
	put_switch(tape, 15, 0, 0, 0);
	put_switch(tape, 16, MAIN, 0, RECORD_MISC_SWITCH_OUT | RECORD_MISC_SWITCH_OUT_PREEMPT);
	put_name(tape, CHILD, CHILD, 17, "prog\0\0\0", RECORD_MISC_COMM_EXEC);
	put_sample(tape, CHILD, CHILD, 18, 0x500000, chain, 0);
	put_sample(tape, 77, 78, 19, PROGRAM, chain, 0);
	put_head(tape, RECORD_FINISHED_ROUND, 0, 0);
	return tape;
}

/* The rows of a table: lines with a bar between columns. */
static void table_text(const char *sql, const char *table, struct str *out)
{
	char start[64];
	snprintf(start, sizeof start, "\nCOPY %s FROM stdin;\n", table);
	const char *at = strstr(sql, start), *end = at ? strstr(at, "\\.\n") : NULL;
	if (!end)
		return;
	for (at += strlen(start); at < end; at++)
		str_printf(out, "%c", *at == '\t' ? '|' : *at);
}

/* The text of SQL that a recording becomes. */
static char *export_of(struct tape *tape, const struct schema *schema, unsigned threads)
{
	struct session session;
	struct session_options options = { .threads = threads, .keep_exited = true };
	struct writer out;
	struct error err = { 0 };
	writer_open(&out, -1, 0);
	EXPECT_INT(session_open(&session, &tape->source, &options, &err), 0);
	struct symbols *symbols = symbols_new(&session.model.modules, &(struct symbols_options){ .no_kernel_lookup = true });
	struct database *database = database_postgresql(&out, schema);
	struct exporter *exporter = exporter_new(database, &session, symbols);
	struct sink sink = exporter_sink(exporter);
	EXPECT_INT(session_run(&session, &sink, &err), 0);
	exporter_end(exporter);
	EXPECT_INT(database_end(database, &err), 0);
	exporter_free(exporter);
	database_close(database);
	symbols_free(symbols);
	session_close(&session);
	writer_putc(&out, '\0');
	char *text = memory_string(out.buffer);
	writer_fini(&out);
	return text;
}

TEST("samples, their threads, programs, places and call paths are rows that refer to each other, and switches name both threads")
{
	static const char *const want[][2] = {
		{ "selected_events", "0|unknown\n1|cpu-clock\n" },
		{ "machines", "0|0|unknown\n1|-1|\n" },
		{ "threads", "0|0|0|-1|-1\n1|1|1|7|7\n2|1|1|7|8\n3|1|3|0|0\n4|1|4|9|9\n5|1|5|77|77\n6|1|5|77|78\n" },
		{ "comms", "0|unknown|0|0|0\n1|shell|1|1|0\n2|worker|2|5|0\n3|swapper|3|0|0\n4|prog|4|17|1\n5|:77|5|0|0\n6|:78|6|0|0\n" },
		{ "comm_threads", "1|1|1\n2|1|2\n3|3|3\n4|4|4\n5|5|5\n6|5|6\n" },
		{ "dsos", "0|0|unknown|unknown|\n1|1|prog|/prog|\n2|1|lib.so|/lib.so|\n" },
		{ "symbols",
			"0|0|0|0|0|unknown\n1|1|16|16|0|unknown\n2|2|36912|36912|0|unknown\n3|1|4128|4128|0|unknown\n"
			"4|1|24|24|0|unknown\n" },
		{ "samples",
			"0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n"
			"1|1|1|1|1|1|1|0|4112|10|3|0|0|0|0|50|0|0|128933429281|0|0|4|0|0|0\n"
			"2|1|1|1|1|1|1|0|4112|11|3|0|0|0|0|51|0|0|128933429281|0|0|4|0|0|0\n"
			"3|1|1|2|1|1|4|0|4120|12|3|0|0|0|0|52|0|0|128933429281|0|0|5|0|0|0\n"
			"4|1|1|4|4|0|0|0|5242880|18|3|0|0|0|0|58|0|0|128933429281|0|0|0|0|0|0\n"
			"5|1|1|6|5|0|0|0|4096|19|3|0|0|0|0|59|0|0|128933429281|0|0|0|0|0|0\n" },
		{ "call_paths", "0|0|0|0\n1|0|0|0\n2|1|2|0\n3|2|3|0\n4|3|1|0\n5|1|1|0\n" },
		{ "context_switches", "1|1|13|1|1|1|2|1|1\n2|1|14|1|1|1|2|1|0\n3|1|16|1|1|1|3|3|3\n" },
	};
	for (unsigned threads = 1; threads < 4; threads += 2) {
		char *sql = export_of(make_recording(), &(struct schema){ .dialect = DIALECT_POSTGRESQL, .callchains = true }, threads);
		for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
			CLEANUP_STR struct str got = { 0 };
			table_text(sql, want[i][0], &got);
			EXPECT_STR(str_text(&got), want[i][1]);
		}
		free(sql);
	}
}
