#include "script/listing.h"

#include <elf.h>
#include <stdlib.h>

#include "code/disassemble.h"
#include "script/internal.h"
#include "tape.h"
#include "unit.h"

static struct tape *recording_new(uint64_t sample_type)
{
	struct tape *tape = tape_new();
	struct attr attr = { .type = ATTR_HARDWARE, .sample_period = 100, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | sample_type };
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cycles");
	return tape;
}

static void sample_write(struct tape *tape, uint32_t tid, uint64_t time, uint64_t ip, const uint64_t *extra, size_t count)
{
	uint32_t ids[2] = { tid, tid };

	put_head(tape, RECORD_SAMPLE, RECORD_MISC_USER, 24 + count * 8);
	put(tape, &ip, 8);
	put(tape, ids, 8);
	put(tape, &time, 8);
	put(tape, extra, count * 8);
}

/* The whole output, in a buffer that the next call frees. */
static const char *printed(struct tape *tape, struct listing_options *options, const char *fields_text, unsigned threads)
{
	static struct writer out;
	struct session session;
	struct session_options session_options = { .threads = threads };
	struct symbols_options symbols_options = { .symfs = "/nowhere", .no_kernel_lookup = true };
	struct fields fields;
	struct str notes = { 0 };
	struct listing *listing;

	free(out.buffer);
	writer_open(&out, -1, 64);
	fields_init(&fields);
	if (fields_text)
		EXPECT_INT(fields_parse(&fields, fields_text, &notes, NULL), 0);
	str_fini(&notes);
	EXPECT_INT(fields_settle(&fields, &tape->source.header, false, NULL), 0);
	EXPECT_INT(session_open(&session, &tape->source, &session_options, NULL), 0);
	struct symbols *symbols = symbols_new(&session.model.modules, &symbols_options);
	options->fields = &fields;
	options->max_stack = options->max_stack ? options->max_stack : 127;
	EXPECT_INT(listing_open(&listing, options, &session, symbols, &out, NULL), 0);
	struct sink sink = listing_sink(listing);
	EXPECT_INT(session_run(&session, &sink, NULL), 0);
	listing_end(listing);
	listing_close(listing);
	symbols_free(symbols);
	session_close(&session);
	writer_putc(&out, '\0');
	return out.buffer;
}

/* A format that shows kinds and values: "name:kind …" and then ",value …". */
static void test_begin(const struct results *results, struct writer *out)
{
	const struct table *table = &results->tables[0];
	writer_printf(out, "%s %s:", results->schema, table->name);
	for (size_t i = 0; i < table->column_count; i++)
		writer_printf(out, " %s", table->columns[i].name);
	writer_puts(out, " [");
}

static void cell_show(const struct cell *cell, struct writer *out)
{
	switch (cell->kind) {
	case CELL_TEXT:
		writer_printf(out, "'%s'", cell->text);
		break;
	case CELL_NUMBER:
		writer_printf(out, "%d", (int)cell->number);
		break;
	case CELL_FLAG:
		writer_puts(out, cell->flag ? "yes" : "no");
		break;
	case CELL_PLACE:
		writer_printf(out, "@%llx", (unsigned long long)cell->place.address);
		break;
	case CELL_LIST:
		for (size_t i = 0; i < cell->list.count; i++) {
			writer_putc(out, i ? '+' : '(');
			cell_show(&cell->list.items[i], out);
		}
		writer_putc(out, ')');
		break;
	case CELL_MAP:
		for (size_t i = 0; i < cell->map.count; i++) {
			writer_printf(out, "%c%s=", i ? '&' : '{', cell->map.items[i].name);
			cell_show(&cell->map.items[i].value, out);
		}
		writer_putc(out, '}');
		break;
	case CELL_ABSENT:
		writer_putc(out, '-');
		break;
	default:
		writer_printf(out, "%llu", (unsigned long long)cell->count);
	}
}

static void test_row(const struct table_column *columns, const struct cell *cells, size_t count, struct writer *out)
{
	for (size_t i = 0; i < count; i++) {
		EXPECT(cells[i].kind == CELL_ABSENT || cells[i].kind == columns[i].kind);
		writer_puts(out, i ? " " : ", ");
		cell_show(&cells[i], out);
	}
}

static void test_end(struct writer *out)
{
	writer_puts(out, "]");
}

static const struct row_format test_format = { .begin = test_begin, .row = test_row, .separator = 2, .end = test_end };

TEST("numbers have all their digits, with padding before them")
{
	static const uint64_t values[] = { 0, 9, 10, 99, 100, 105, 999, 1000, 10005, UINT64_MAX };
	char text[64], expected[64];
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		for (int width = 0; width < 24; width += 3) {
			*decimal_write(text, values[i], (unsigned)width, ' ') = '\0';
			snprintf(expected, sizeof expected, "%*llu", width, (unsigned long long)values[i]);
			EXPECT_STR(text, expected);
		}
	for (unsigned count = 0; count < 10; count++) {
		*digits_write(text, 7, count) = '\0';
		snprintf(expected, sizeof expected, "%0*d", (int)count, 7);
		EXPECT_STR(text, count ? expected : "");
	}
	*digits_write(text, 123456, 6) = '\0';
	EXPECT_STR(text, "123456");
}

TEST("a sample is a line of thread, time, period, event and place")
{
	struct tape *tape = recording_new(0);
	put_comm(tape, 7, 1, "worker\0", 0);
	sample_write(tape, 7, 1234567891, 0x401000, NULL, 0);
	sample_write(tape, 8, 2000000000, 0x401000, NULL, 0);
	struct listing_options options = { 0 };
	EXPECT_STR(printed(tape, &options, NULL, 1),
		"          worker       7     1.234567:        100 cycles:            401000 [unknown] ([unknown])\n"
		"              :8       8     2.000000:        100 cycles:            401000 [unknown] ([unknown])\n");
}

TEST("a callchain is a line per frame and an empty one")
{
	static const uint64_t chain[] = { 3, CONTEXT_USER, 0x401000, 0x402000 };
	struct tape *tape = recording_new(SAMPLE_CALLCHAIN);
	put_comm(tape, 7, 1, "worker\0", 0);
	sample_write(tape, 7, 1000, 0x401000, chain, 4);
	struct listing_options options = { 0 };
	EXPECT_STR(printed(tape, &options, NULL, 1),
		"worker       7     0.000001:        100 cycles: \n"
		"\t          401000 [unknown] ([unknown])\n"
		"\t          402000 [unknown] ([unknown])\n"
		"\n");
}

TEST("max_stack cuts call chains")
{
	static const uint64_t chain[] = { 3, CONTEXT_USER, 0x401000, 0x402000 };
	struct listing_options options = { .max_stack = 1 };
	struct tape *tape = recording_new(SAMPLE_CALLCHAIN);
	sample_write(tape, 7, 1000, 0x401000, chain, 4);
	EXPECT_STR(printed(tape, &options, "ip", 1), "\n\t          401000\n\n");
}

/* words: the number of branches, then each with little-endian flags. */
static void branches_write(struct tape *tape, uint64_t ip, const uint64_t *words, size_t count)
{
	uint64_t recorded[16];
	for (size_t i = 0; i < count; i++)
		recorded[i] = i && i % 3 == 0 ? branch_flags_encode(words[i]) : words[i];
	sample_write(tape, 7, 1000, ip, recorded, count);
}

TEST("branches show both ends and their flags")
{
	/* predicted, 5 cycles, a call; then mispredicted */
	static const uint64_t branches[] = { 2, 0x10, 0x20, 2 | 5 << 4 | 4 << 20, 0x30, 0x40, 1 };
	struct listing_options options = { 0 };
	struct tape *tape = recording_new(SAMPLE_BRANCH_STACK);
	branches_write(tape, 0x401000, branches, 7);
	EXPECT_STR(printed(tape, &options, "brstack", 1), " 0x10/0x20/P/-/-/5/CALL/-  0x30/0x40/M/-/-/0//- \n");
}

/* xor %eax,%eax; jmp +0; nop; jmp -3; push %es (not in 64-bit code): at offsets 0, 2, 4, 5, 7 */
static const uint8_t test_code[] = { 0x31, 0xc0, 0xeb, 0x00, 0x90, 0xeb, 0xfd, 0x06 };

static size_t read_test_code(void *context, const struct module *module, uint64_t offset, uint8_t *out, size_t size, bool *is_64bit)
{
	size_t left = offset < sizeof test_code ? sizeof test_code - (size_t)offset : 0;

	*is_64bit = true;
	size = size < left ? size : left;
	memcpy(out, test_code + sizeof test_code - left, size);
	return size;
}

/* A process whose code at 0x1000 is test_code, and a sample with branches, newest first. */
static struct tape *recording_of_code(uint64_t ip, const uint64_t *branches, size_t count)
{
	struct tape *tape = recording_new(SAMPLE_BRANCH_STACK);
	struct attr *attr = &tape->source.header.evlist.events.items[0].attr;
	attr->branch_sample_type = BRANCH_ANY;
	put_head(tape, RECORD_MMAP, RECORD_MISC_USER, 40 + 16);
	put_ids(tape, 7);
	put_u64(tape, 0x1000);
	put_u64(tape, 0x1000);
	put_u64(tape, 0);
	put(tape, "/bin/x\0", 8);
	put_ids(tape, 7);
	put_u64(tape, 1);
	branches_write(tape, ip, branches, count);
	return tape;
}

TEST("the code between branches is printed up to the sample")
{
	struct listing_options options = { .isa = ISA_X86, .read_code = read_test_code };
	/* newest: from 0x1005 to 0x1004, predicted, 4 cycles; before: from 0x1002, mispredicted */
	static const uint64_t branches[] = { 2, 0x1005, 0x1004, 2 | 4 << 4, 0x1002, 0x1004, 1 };
	EXPECT_STR(printed(recording_of_code(0x1004, branches, 7), &options, "brstackinsn", 1),
		"\n\t0000000000001002\tinsn: eb 00                   \t# MISPRED\n"
		"\t0000000000001004\tinsn: 90 \n"
		"\t0000000000001005\tinsn: eb fd                   \t# PRED 4 cycles [4] 0.50 IPC\n"
		"\t0000000000001004\tinsn: 90 \n\n");
	options.max_blocks = 0;
	/* the sample is behind a jump that was not recorded */
	static const uint64_t missed[] = { 1, 0x1005, 0x1000, 2 };
	EXPECT_STR(printed(recording_of_code(0x1004, missed, 4), &options, "brstackinsnlen", 1),
		"\n\t0000000000001005\tinsn: eb fd                   \tilen: 2\t# PRED\n"
		"\t0000000000001000\tinsn: 31 c0 \tilen: 2\n\t0000000000001002\tinsn: eb 00 \tilen: 2\n"
		"\t... not reaching sample ...\n\n");
}

TEST("code that does not reach the branch is a mismatch, and a block that is too long is left out")
{
	struct listing_options options = { .isa = ISA_X86, .read_code = read_test_code };
	static const uint64_t inside[] = { 2, 0x1003, 0x9000, 2, 0x1005, 0x1000, 2 };
	EXPECT_STR(printed(recording_of_code(0x1003, inside, 7), &options, "brstackinsn", 1),
		"\n\t0000000000001005\tinsn: eb fd                   \t# PRED\n"
		"\t0000000000001000\tinsn: 31 c0 \n\t0000000000001002\tinsn: eb 00 \n\t0000000000001004\tinsn: 90 \n"
		"\t0000000000001005\tinsn: eb fd \n\t0000000000001007\tinsn: 06 \n\tmismatch of LBR data and executable\n\n");
	static const uint64_t far[] = { 2, 0x1000 + 16384 - 14, 0x1004, 2, 0x1005, 0x1000, 2 };
	EXPECT_STR(printed(recording_of_code(0x1000 + 16384 - 14, far, 7), &options, "brstackinsn", 1),
		"\n\t0000000000001005\tinsn: eb fd                   \t# PRED\n\n");
}

TEST("the code between branches is printed as assembly")
{
	struct listing_options options = { .isa = ISA_X86, .read_code = read_test_code };
	static const uint64_t inside[] = { 2, 0x1003, 0x9000, 2, 0x1005, 0x1000, 2 };
	struct disassembler *disassembler;
	if (disassembler_open(&disassembler, &(struct code_machine){ EM_X86_64, .is64 = true }, CODE_ATT, NULL) < 0) {
		unit_skip("this build has no disassembler");
		return;
	}
	disassembler_close(disassembler);
	EXPECT_STR(printed(recording_of_code(0x1003, inside, 7), &options, "brstackdisasm", 1),
		"\n\t0000000000001005\tjmp 0x1004                    \t# PRED\n"
		"\t0000000000001000\txorl %eax, %eax\n\t0000000000001002\tjmp 0x1004\n\t0000000000001004\tnop \n"
		"\t0000000000001005\tjmp 0x1004\n\t0000000000001007\tinsn: 06 \n\tmismatch of LBR data and executable\n\n");
}

TEST("times are relative to the first sample or to the sample before")
{
	struct listing_options options = { .time = LISTING_TIME_FROM_START, .nanoseconds = true };
	for (int i = 0; i < 2; i++) {
		struct tape *tape = recording_new(0);
		sample_write(tape, 7, 1000, 0, NULL, 0);
		sample_write(tape, 7, 1500, 0, NULL, 0);
		sample_write(tape, 7, 1600, 0, NULL, 0);
		EXPECT_STR(printed(tape, &options, "time", 2), i ? "    0.000000000: \n    0.000000500: \n    0.000000100: \n" :
			"    0.000000000: \n    0.000000500: \n    0.000000600: \n");
		options.time = LISTING_TIME_FROM_PREVIOUS;
	}
}

TEST("records that are not samples are printed if they are asked for, with the name of the thread that they are about")
{
	struct listing_options options = { .show_records = 1u << RECORD_COMM };
	struct tape *tape = recording_new(0);
	put_comm(tape, 7, 1, "worker\0", 0);
	EXPECT_STR(printed(tape, &options, "comm,tid", 1), "          worker       7 PERF_RECORD_COMM: worker:7/7\n");
}

TEST("filters drop samples by command, thread and time")
{
	struct name_list *comms, *tids;
	struct time_filter when;
	EXPECT_INT(name_list_open(&comms, "worker", NULL), 0);
	EXPECT_INT(number_list_open(&tids, "8", NULL), 0);
	EXPECT_INT(time_filter_parse(&when, "0.000002,", 0, 0, false, NULL), 0);
	const struct { struct listing_options options; const char *text; } rows[] = {
		{ { .filter.comms = comms }, "      7 \n" }, { { .filter.tids = tids }, "      8 \n      8 \n" },
		{ { .filter.time = when }, "      8 \n" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct listing_options options = rows[i].options;
		struct tape *tape = recording_new(0);
		put_comm(tape, 7, 1, "worker\0", 0);
		sample_write(tape, 7, 1000, 0, NULL, 0);
		sample_write(tape, 8, 1500, 0, NULL, 0);
		sample_write(tape, 8, 2500, 0, NULL, 0);
		EXPECT_STR(printed(tape, &options, "tid", 1), rows[i].text);
	}
	name_list_close(comms);
	name_list_close(tids);
	time_filter_fini(&when);
}

TEST("names from the recording stay in their line")
{
	struct listing_options options = { 0 };
	struct tape *tape = recording_new(0);
	put_comm(tape, 7, 1, "a\033\n2Jb\0", 0);
	sample_write(tape, 7, 1000, 0, NULL, 0);
	EXPECT_STR(printed(tape, &options, "comm", 1), "          a\033?2Jb \n");
}

TEST("a table has a column for each field and a row for each sample, with commas between rows alone")
{
	struct listing_options options = { .format = &test_format };
	struct tape *tape = recording_new(0);
	put_comm(tape, 7, 1, "worker\0", 0);
	sample_write(tape, 7, 1234567891, 0x10, NULL, 0);
	sample_write(tape, 8, 2000000000, 0x20, NULL, 0);
	EXPECT_STR(printed(tape, &options, NULL, 1), "perfuse.script samples: comm tid time period event ip sym symoff dso "
		"['worker' 7 1234567891 100 'cycles' 16 - - -, ':8' 8 2000000000 100 'cycles' 32 - - -]");
}

TEST("a table without samples has columns and no row")
{
	struct listing_options options = { .format = &test_format };
	EXPECT_STR(printed(recording_new(0), &options, "comm,time", 1), "perfuse.script samples: comm time []");
}

TEST("call chains and branches are lists in a table")
{
	static const uint64_t chain[] = { 3, CONTEXT_USER, 0x10, 0x20 }, branches[] = { 1, 0x10, 0x20, 2 | 5 << 4 | 4 << 20 };
	struct listing_options options = { .format = &test_format };
	struct tape *tape = recording_new(SAMPLE_CALLCHAIN);
	sample_write(tape, 7, 1000, 0x10, chain, 4);
	EXPECT_STR(printed(tape, &options, "ip", 1), "perfuse.script samples: ip callchain [16 (@10+@20)]");
	tape = recording_new(SAMPLE_BRANCH_STACK);
	branches_write(tape, 0x10, branches, 4);
	EXPECT_STR(printed(tape, &options, "brstack", 1), "perfuse.script samples: brstack [({from=16&to=32&mispredicted=no&"
		"in_transaction=no&abort=no&cycles=5&type='CALL'&speculation=-})]");
}

TEST("records that are shown with the samples are rows with a type and a text")
{
	struct listing_options options = { .format = &test_format, .show_records = 1u << RECORD_COMM };
	struct tape *tape = recording_new(0);
	put_comm(tape, 7, 1, "worker\0", 0);
	sample_write(tape, 7, 1000, 0, NULL, 0);
	EXPECT_STR(printed(tape, &options, "tid,period", 1),
		"perfuse.script samples: tid period record record_text [7 - 'COMM' 'worker:7/7', 7 100 - -]");
}

/* With half of the runs as tables. */
TEST("any number of threads prints the same, in order")
{
	static char first[1 << 20];
	for (unsigned run = 0; run < 8; run++) {
		unsigned threads = 1 + run % 4;
		struct listing_options options = { .format = run < 4 ? NULL : &test_format };
		struct tape *tape = recording_new(0);
		for (uint64_t i = 0; i < 9000; i++)
			sample_write(tape, (uint32_t)(i % 50), 1000 + i * 1000, 0x400000 + i % 777, NULL, 0);
		const char *text = printed(tape, &options, "tid,time,ip", threads);
		if (threads == 1)
			snprintf(first, sizeof first, "%s", text);
		EXPECT_STR(text, first);
	}
	EXPECT(strlen(first) > 100000);
}
