#include "tracepoint/tracepoint.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <traceevent/event-parse.h>

#include "base/memory.h"
#include "base/str.h"
#include "tracepoint/event.h"
#include "unit.h"

#define ROOT "/sys/kernel/tracing/events"

/* libtraceevent leaks a token of some invalid formats, which this test ignores. The functions are absent without sanitizers. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static const char common[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/* swap: the number is written in the other byte order. */
static void body_put_number(struct str *blob, uint64_t value, size_t size, bool swap)
{
	uint32_t small = (uint32_t)value;
	value = swap ? __builtin_bswap64(value) : value;
	small = swap ? __builtin_bswap32(small) : small;
	str_add(blob, size == 8 ? (const char *)&value : (const char *)&small, size);
}

static void body_put_sized(struct str *blob, const char *text, bool swap)
{
	body_put_number(blob, strlen(text), 8, swap);
	str_puts(blob, text);
}

static void body_start(struct str *blob, bool swap)
{
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != swap;
	str_add(blob, "\x17\x08\x44tracing0.5", 14);
	str_putc(blob, (char)big);
	str_putc(blob, 8);
	body_put_number(blob, 4096, 4, swap);
	str_add(blob, "header_page", 12);
	body_put_sized(blob, "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n", swap);
	str_add(blob, "header_event", 13);
	body_put_sized(blob, "", swap);
	body_put_number(blob, 0, 4, swap);
}

static struct tracepoints *open_one_event(const char *fields, const char *print, bool swap)
{
	struct str blob = { 0 }, format = { 0 };
	struct tracepoints *t;
	struct error err = { 0 };

	str_puts(&format, "name: thing\nID: 77\n");
	str_puts(&format, common);
	str_puts(&format, fields);
	str_puts(&format, "\nprint fmt: ");
	str_puts(&format, print);
	str_putc(&format, '\n');
	body_start(&blob, swap);
	body_put_number(&blob, 1, 4, swap);
	str_add(&blob, "sys", 4);
	body_put_number(&blob, 1, 4, swap);
	body_put_sized(&blob, str_text(&format), swap);
	body_put_number(&blob, 0, 4, swap);
	const char printks[] = "0xffffffff81000010 : \"hello there\\n\"\n";
	body_put_number(&blob, strlen(printks), 4, swap);
	str_puts(&blob, printks);
	int result = tracepoints_open(&t, (struct span){ (const uint8_t *)str_text(&blob), blob.len }, &err);
	EXPECT_INT(result, 0);
	str_fini(&blob);
	str_fini(&format);
	return t;
}

static bool resolve_one_address(void *context, uint64_t address, const char **name, uint64_t *start)
{
	(void)context;
	*name = "vfs_read";
	*start = address - 0x10;
	return address == 0xffffffff81234567;
}

static const struct tracepoint_names names = { .resolve = resolve_one_address };

/* Returns the text of a record, valid until the next call. */
static const char *record_as_text(struct tracepoints *t, const void *raw, uint32_t size)
{
	static struct writer out;

	free(out.buffer);
	writer_open(&out, -1, 64);
	tracepoints_print_named(t, raw, size, &names, &out);
	writer_putc(&out, '\0');
	return out.buffer;
}

struct record_bytes {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	int32_t a;
	uint32_t loc;
	uint64_t pointer;
	char data[24];
};

static const char fields[] =
	"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] text;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:const void * pointer;\toffset:16;\tsize:8;\tsigned:0;\n";

static struct record_bytes example_record(void)
{
	struct record_bytes record = { .type = 77, .pid = 5, .a = -3, .loc = 24 | 6 << 16, .pointer = 0xffffffff81234567 };
	memcpy(record.data, "words", 6);
	return record;
}

TEST("numbers, strings and functions are printed as the print format states")
{
	struct tracepoints *t = open_one_event(fields, "\"a=%d x=%08x %s|%-8s|%.2s %pS %ps 100%%\\n\", REC->a, REC->a, __get_str(text), "
		"__get_str(text), __get_str(text), REC->pointer, REC->pointer", false);
	struct record_bytes record = example_record();
	EXPECT_STR(record_as_text(t, &record, sizeof record), "a=-3 x=fffffffd words|words   |wo vfs_read+0x10 vfs_read 100%\n");
	tracepoints_close(t);
}

TEST("operators, casts, widths and helper functions of print formats give what libtraceevent prints; elements that are cut end the text")
{
	static const struct {
		const char *print, *text;
		bool little; /* the mask is in the order of the machine */
	} rows[] = {
		{ "\"[%*d] [%-*d] [%.*s]\", 5, REC->a, 5, REC->a, 3, __get_str(text)", "[   -3] [-3   ] [wor]" },
		{ "\"%hhd %hd %lld %hhx %llx\", REC->a, REC->a, REC->a, REC->a, REC->pointer", "-3 -3 4294967293 fd ffffffff81234567" },
		{ "\"%#x %+d %05d %i %u %c\", 255, 7, 42, REC->a, 9, 65", "0xff +7 00042 -3 9 >c<" },
		{ "\"%d %d %d %d\", REC->a + 1, REC->a - 1, REC->a * 2, 7 / 2", "-2 -4 -6 3" },
		{ "\"%d %d %d %d\", 7 % 4, 1 << 4, 256 >> 4, 6 & 3", "3 16 16 2" },
		{ "\"%d %d %d %d\", 6 | 1, 6 ^ 3, ~0, !5", "7 5 -1 0" },
		{ "\"%d %d %d %d %d %d\", 1 < 2, 2 <= 1, 1 > 2, 2 >= 2, 1 == 2, 1 != 2", "1 0 0 1 0 1" },
		{ "\"%d %d %d %d\", 1 && 0, 1 || 0, REC->a ? 4 : 5, REC->a == -3 ? 6 : 7", "0 1 4 7" },
		{ "\"%d %d\", 2 + 3 * 4, (2 + 3) * 4", "14 20" },
		{ "\"%u %d %llu\", (unsigned char)REC->a, (s8)260, (u64)(u32)REC->a", "253 4 4294967293" },
		{ "\"%s\", REC->a > 0 ? \"up\" : \"down\"", "up" },
		{ "\"%s\", __print_hex(__get_dynamic_array(text), 3)", "77 6f 72" },
		{ "\"%s\", __print_hex_str(__get_dynamic_array(text), 3)", "776f72" },
		{ "\"%s\", __print_array(__get_dynamic_array(text), 3, 1)", "{0x77,0x6f,0x72}" },
		{ "\"%d\", __get_dynamic_array_len(text)", "6" },
		{ "\"%s\", __get_bitmask(text)", "0073,64726f77", true },
		{ "\"%s\", __get_cpumask(text)", "0-2,4-6,8-11,13-14,17,20-22,26,29-30,32-33,36-38", true },
		{ "\"%s\", __print_flags(REC->a & 12, \"|\", { 4, \"FOUR\" })", "FOUR|0x8" },
		{ "\"%s\", __print_symbolic(REC->a, { 1, \"one\" })", "0xfffffffd" },
		{ "\"%d %\", REC->a", "-3 " },
		{ "\"%d %5\", REC->a", "-3 " },
		{ "\"%d %l\", REC->a, REC->a", "-3 " },
		{ "\"%**d\", 4, 5, REC->a", "[FAILED TO PARSE] a=-3 text=words pointer=0xffffffff81234567" },
		{ "\"%d %d\", REC->a", "[FAILED TO PARSE] a=-3 text=words pointer=0xffffffff81234567" },
		{ "\"%ps\", REC->a", "0xfffffffd" },
	};
	struct record_bytes record = example_record();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tracepoints *t = open_one_event(fields, rows[i].print, false);
		const char *text = record_as_text(t, &record, sizeof record);
		if (strcmp(text, rows[i].text) != 0 && !(rows[i].little && HOST_IS_BIG_ENDIAN))
			unit_fail(__FILE__, __LINE__, "%s prints \"%s\", not \"%s\"", rows[i].print, text, rows[i].text);
		tracepoints_close(t);
	}
}

TEST("a record of the other byte order is decoded in that order")
{
	struct tracepoints *t = open_one_event(fields, "\"a=%d %s\", REC->a, __get_str(text)", true);
	struct record_bytes record = example_record();
	record.type = __builtin_bswap16(record.type);
	record.a = (int32_t)__builtin_bswap32((uint32_t)record.a);
	record.loc = __builtin_bswap32(record.loc);
	EXPECT_STR(record_as_text(t, &record, sizeof record), "a=-3 words");
	uint64_t value = 0;
	EXPECT(tracepoint_field_number(tracepoints_field(t, 77, "a"), &record, sizeof record, &value));
	EXPECT_INT((int64_t)value, -3);
	uint32_t offset, size;
	EXPECT(!tracepoint_field_place(tracepoints_field(t, 77, "a"), &offset, &size));
	tracepoints_close(t);
}

TEST("a pointer to a string that the kernel published is printed as the string")
{
	struct tracepoints *t = open_one_event(fields, "\"%s\", REC->pointer", false);
	struct record_bytes record = example_record();
	record.pointer = 0xffffffff81000010;
	EXPECT_STR(record_as_text(t, &record, sizeof record), "hello there");
	record.pointer++;
	EXPECT_STR(record_as_text(t, &record, sizeof record), "ffffffff81000011");
	tracepoints_close(t);
}

TEST("flags and symbolic values are printed by name")
{
	struct tracepoints *t = open_one_event(fields, "\"%s %s\", __print_flags(REC->a, \"|\", { 1, \"ONE\" }, { 0x2, \"TWO\" }), "
		"__print_symbolic(REC->a, { 3, \"three\" }, { 4, \"four\" })", false);
	struct record_bytes record = example_record();
	record.a = 3;
	EXPECT_STR(record_as_text(t, &record, sizeof record), "ONE|TWO three");
	EXPECT_STR(tracepoint_field_flag(tracepoints_field(t, 77, "a"), 2), "TWO");
	uint32_t offset, size;
	EXPECT(tracepoint_field_place(tracepoints_field(t, 77, "a"), &offset, &size) && size == 4);
	EXPECT_INT(offset, (char *)&record.a - (char *)&record);
	EXPECT(!tracepoint_field_place(tracepoints_field(t, 77, "common_type"), &offset, &size));
	EXPECT(tracepoint_field_place(tracepoints_field(t, 77, "common_flags"), &offset, &size) && size == 1);
	EXPECT_INT(offset, 2);
	EXPECT(!tracepoint_field_flag(tracepoints_field(t, 77, "a"), 4));
	EXPECT(!tracepoint_field_flag(tracepoints_field(t, 77, "pointer"), 2));
	record.a = 12;
	EXPECT_STR(record_as_text(t, &record, sizeof record), "0xc 0xc");
	record.a = 5;
	EXPECT_STR(record_as_text(t, &record, sizeof record), "ONE|0x4 0x5");
	tracepoints_close(t);
}

TEST("data beyond the end of a short record is zero or empty")
{
	struct tracepoints *t = open_one_event(fields, "\"a=%d %s %p\", REC->a, __get_str(text), REC->pointer", false);
	struct record_bytes record = example_record();
	EXPECT_STR(record_as_text(t, &record, 10), "a=0  (nil)");
	EXPECT_STR(record_as_text(t, &record, 1), "[UNKNOWN EVENT]");
	EXPECT_STR(record_as_text(t, NULL, 100), "[UNKNOWN EVENT]");
	/* a string that exceeds the record is empty */
	record.loc = 30 | 4000 << 16;
	EXPECT_STR(record_as_text(t, &record, sizeof record), "a=-3  0xffffffff81234567");
	tracepoints_close(t);
}

TEST("a record of an unknown event is printed as unknown")
{
	struct tracepoints *t = open_one_event(fields, "\"%d\", REC->a", false);
	struct record_bytes record = example_record();
	record.type = 78;
	EXPECT_STR(record_as_text(t, &record, sizeof record), "[UNKNOWN EVENT]");
	const char *system, *name;
	EXPECT(tracepoints_name(t, 77, &system, &name));
	EXPECT_STR(system, "sys");
	EXPECT_STR(name, "thing");
	EXPECT(!tracepoints_name(t, 78, &system, &name));
	tracepoints_close(t);
}

TEST("an event keeps its fields if its print format would crash libtraceevent")
{
	struct tracepoints *t = open_one_event(fields, "\"%s\", __print_flags(REC->nowhere, \"|\", { 1, \"ONE\" })", false);
	struct record_bytes record = example_record();
	EXPECT_STR(record_as_text(t, &record, sizeof record), "[FAILED TO PARSE] a=-3 text=words pointer=0xffffffff81234567");
	tracepoints_close(t);
}

TEST("fields are listed in order, without the common ones")
{
	struct tracepoints *t = open_one_event(fields, "\"%d 0x%x\", 0, REC->a", false);
	struct record_bytes record = example_record();
	EXPECT_STR(tracepoint_field_name(tracepoints_field_at(t, 77, 0)), "a");
	EXPECT_STR(tracepoint_field_name(tracepoints_field_at(t, 77, 2)), "pointer");
	EXPECT(!tracepoints_field_at(t, 77, 3));
	EXPECT(tracepoints_field(t, 77, "common_pid") != NULL);
	const char *text;
	size_t len;
	EXPECT(tracepoint_field_string(tracepoints_field(t, 77, "text"), &record, sizeof record, &text, &len));
	EXPECT_INT(len, 5);
	struct writer out;
	writer_open(&out, -1, 64);
	tracepoint_field_print(tracepoints_field(t, 77, "a"), &record, sizeof record, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "0xfffffffd");
	writer_fini(&out);
	tracepoints_close(t);
}

TEST("a truncated TRACING_DATA body is used as far as it is valid")
{
	struct str blob = { 0 };
	struct tracepoints *t;
	body_start(&blob, false);
	body_put_number(&blob, 1, 4, false);
	EXPECT_INT(tracepoints_open(&t, (struct span){ (const uint8_t *)blob.text, blob.len }, NULL), 0);
	tracepoints_close(t);
	EXPECT(tracepoints_open(&t, (struct span){ (const uint8_t *)blob.text, 40 }, NULL) < 0);
	EXPECT(tracepoints_open(&t, (struct span){ NULL, 0 }, NULL) < 0);
	str_fini(&blob);
}

/* Fills a record with random bytes and with valid offsets of dynamic data, so that libtraceevent does not read beyond it. */
static uint32_t fill_record(struct tep_event *event, uint8_t *raw, uint32_t room, unsigned *seed)
{
	uint32_t at = 8;

	for (uint32_t i = 0; i < room; i++)
		raw[i] = (rand_r(seed) >> 8) % 3 ? (uint8_t)(rand_r(seed) >> 8) : 0;
	uint16_t id = (uint16_t)event->id;
	memcpy(raw, &id, sizeof id);
	for (struct tep_format_field *f = event->format.fields; f; f = f->next)
		at = at > (uint32_t)(f->offset + f->size) ? at : (uint32_t)(f->offset + f->size);
	for (struct tep_format_field *f = event->format.fields; f; f = f->next) {
		if (f->flags & TEP_FIELD_IS_ARRAY && f->flags & TEP_FIELD_IS_STRING)
			snprintf((char *)raw + f->offset, (size_t)f->size, "text%d", rand_r(seed) % 1000);
		/* some formats use the length as a precision; libtraceevent prints undefined bytes for a negative one */
		if (strstr(f->name, "len") && f->size <= 8)
			memset(raw + f->offset, 0, (size_t)f->size);
		if (!(f->flags & TEP_FIELD_IS_DYNAMIC))
			continue;
		uint32_t len = (uint32_t)(rand_r(seed) % 4) * 8, base = 0;
		if (f->flags & TEP_FIELD_IS_RELATIVE)
			base = (uint32_t)(f->offset + f->size);
		if (f->flags & TEP_FIELD_IS_STRING && len) {
			memset(raw + at, 'a' + rand_r(seed) % 26, len);
			raw[at + len - 1] = 0;
		}
		uint32_t word = (at - base) | len << 16;
		memcpy(raw + f->offset, &word, sizeof word);
		at += len;
	}
	/* libtraceevent reads beyond the data without a check: those bytes are still within the record */
	memset(raw + at, 0, 1024);
	return ((at + 3) & ~3u) + 512;
}

static int compare_with_library(struct tep_handle *tep, struct tep_event *event, struct tracepoints *t, unsigned *seed)
{
	static uint8_t raw[1 << 17];
	int wrong = 0;

	for (int round = 0; round < 8 && !wrong; round++) {
		uint32_t size = fill_record(event, raw, 1024, seed);
		if (size > 60000)
			return 0;
		struct tep_record record = { .data = raw, .size = (int)size };
		struct trace_seq seq;
		trace_seq_init(&seq);
		tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&seq);
		const char *ours = record_as_text(t, raw, size);
		wrong = strcmp(ours, seq.buffer) != 0;
		if (wrong)
			fprintf(stderr, "%s:%s\n ours   %s\n theirs %s\n", event->system, event->name, ours, seq.buffer);
		trace_seq_destroy(&seq);
	}
	return wrong;
}

/* Adds all formats of a system to the body and to libtraceevent. */
static uint32_t body_put_system(struct str *blob, struct tep_handle *tep, const char *system)
{
	char path[1024], *text = memory_alloc(1 << 17);
	uint32_t count = 0;
	size_t count_at;

	str_add(blob, system, strlen(system) + 1);
	count_at = blob->len;
	body_put_number(blob, 0, 4, false);
	snprintf(path, sizeof path, ROOT "/%s", system);
	DIR *dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		snprintf(path, sizeof path, ROOT "/%s/%s/format", system, entry->d_name);
		FILE *file = fopen(path, "r");
		size_t len = file ? fread(text, 1, 1 << 17, file) : 0;
		if (file)
			fclose(file);
		if (!len || strstr(path, "/bprint/"))
			continue;
		tep_parse_event(tep, text, len, system);
		body_put_number(blob, len, 8, false);
		str_add(blob, text, len);
		count++;
	}
	if (dir)
		closedir(dir);
	memcpy(blob->text + count_at, &count, 4);
	free(text);
	return count;
}

TEST("every format of the running kernel prints as libtraceevent prints it")
{
	struct str blob = { 0 };
	struct tracepoints *t;
	uint32_t systems = 0, wrong = 0, events = 0;
	unsigned seed = 1;

	if (sizeof(long) != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		unit_skip("the kernel below may have other sizes and another byte order; runs where both are those of x86_64");
		return;
	}
	DIR *dir = opendir(ROOT);
	if (!dir) {
		unit_skip("tracefs cannot be read; runs as root");
		return;
	}
	if (__lsan_disable)
		__lsan_disable();
	struct tep_handle *tep = tep_alloc();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, sizeof(long));
	body_start(&blob, false);
	size_t at = blob.len;
	body_put_number(&blob, 0, 4, false);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR) {
			body_put_system(&blob, tep, entry->d_name);
			systems++;
		}
	closedir(dir);
	memcpy(blob.text + at, &systems, 4);
	body_put_number(&blob, 0, 8, false);
	EXPECT_INT(tracepoints_open(&t, (struct span){ (const uint8_t *)blob.text, blob.len }, NULL), 0);
	for (int i = 0; i < tep_get_events_count(tep); i++, events++)
		wrong += (uint32_t)compare_with_library(tep, tep_get_event(tep, i), t, &seed);
	EXPECT_INT(wrong, 0);
	EXPECT(events > 100);
	tracepoints_close(t);
	tep_free(tep);
	str_fini(&blob);
	if (__lsan_enable)
		__lsan_enable();
}

TEST("arrays of numbers give their elements, signed if the format states so; other fields have no elements")
{
	static const char arrays[] =
		"\tfield:int a[3];\toffset:8;\tsize:12;\tsigned:1;\n"
		"\tfield:unsigned short b;\toffset:20;\tsize:2;\tsigned:0;\n"
		"\tfield:u8 c[4];\toffset:24;\tsize:4;\tsigned:0;\n"
		"\tfield:char d[8];\toffset:28;\tsize:8;\tsigned:0;\n";
	struct tracepoints *t = open_one_event(arrays, "\"%d\", REC->b", false);
	const struct tracepoint_field *a = tracepoints_field(t, 77, "a"), *b = tracepoints_field(t, 77, "b");
	struct { uint16_t type; uint8_t rest[6]; int32_t a[3]; uint16_t b; uint8_t tail[18]; } record = { .type = 77, .a = { 1, -2, 3 } };
	uint64_t value;
	EXPECT_INT(tracepoint_field_elements(a), 3);
	EXPECT(tracepoint_field_is_signed(a) && !tracepoint_field_is_signed(b));
	EXPECT(tracepoint_field_element(a, &record, sizeof record, 1, &value));
	EXPECT_INT((int64_t)value, -2);
	EXPECT(tracepoint_field_element(a, &record, 20, 2, &value) && value == 3);
	EXPECT(!tracepoint_field_element(a, &record, 19, 2, &value));
	EXPECT(!tracepoint_field_element(a, &record, sizeof record, 3, &value));
	EXPECT_INT(tracepoint_field_elements(b), 0);
	EXPECT_INT(tracepoint_field_elements(tracepoints_field(t, 77, "c")), 0);
	EXPECT_INT(tracepoint_field_elements(tracepoints_field(t, 77, "d")), 0);
	tracepoints_close(t);
}

struct network_bytes {
	uint16_t type;
	uint8_t rest[6], mac[6], gap[2], v4[4], v6[16], id[16];
	uint16_t family;
	uint8_t port[2], address[4], address6[16], scope[4];
	uint32_t loc;
	char data[8];
};

static const char network_fields[] =
	"\tfield:u8 mac[6];\toffset:8;\tsize:6;\tsigned:0;\n"
	"\tfield:u8 v4[4];\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 v6[16];\toffset:20;\tsize:16;\tsigned:0;\n"
	"\tfield:u8 id[16];\toffset:36;\tsize:16;\tsigned:0;\n"
	"\tfield:u8 sock[28];\toffset:52;\tsize:28;\tsigned:0;\n"
	"\tfield:u8 cut[15];\toffset:52;\tsize:15;\tsigned:0;\n"
	"\tfield:__data_loc u8[] text;\toffset:80;\tsize:4;\tsigned:0;\n";

static struct network_bytes example_addresses(uint16_t family)
{
	struct network_bytes record = { .type = 77, .mac = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab }, .v4 = { 10, 20, 30, 255 },
		.v6 = { 0x20, 0x01, 0x0d, 0xb8, [9] = 1, [15] = 1 }, .family = family, .port = { 0x1f, 0x90 }, .address = { 10, 20, 30, 255 },
		.address6 = { 0x20, 0x01, 0x0d, 0xb8, [9] = 1, [15] = 1 }, .loc = 84 | 5 << 16, .data = "words" };
	for (uint8_t i = 0; i < sizeof record.id; i++)
		record.id[i] = i;
	return record;
}

TEST("extensions of %p print hardware addresses, IP addresses, UUIDs and bytes as the kernel's documentation states")
{
	static const struct {
		const char *print, *text;
		uint16_t family;
		bool little; /* the order is that of the machine */
	} rows[] = {
		{ "\"%pM %pm %pMR %pMF\", REC->mac, REC->mac, REC->mac, REC->mac",
		  "01:23:45:67:89:ab 0123456789ab ab:89:67:45:23:01 01-23-45-67-89-ab", 2 },
		{ "\"%pI4 %pi4 %pI4n %pI4b %pI4l\", REC->v4, REC->v4, REC->v4, REC->v4, REC->v4",
		  "10.20.30.255 010.020.030.255 10.20.30.255 10.20.30.255 255.30.20.10", 2 },
		{ "\"%pI4h %pi4h\", REC->v4, REC->v4", "255.30.20.10 255.030.020.010", 2, true },
		{ "\"%pI6 %pi6 %pI6c\", REC->v6, REC->v6, REC->v6",
		  "2001:0db8:0000:0000:0001:0000:0000:0001 20010db8000000000001000000000001 2001:db8::1:0:0:1", 2 },
		{ "\"%pUb %pUB\", REC->id, REC->id", "00010203-0405-0607-0809-0a0b0c0d0e0f 00010203-0405-0607-0809-0A0B0C0D0E0F", 2 },
		{ "\"%pUl %pUL\", REC->id, REC->id", "03020100-0504-0706-0809-0a0b0c0d0e0f 03020100-0504-0706-0809-0A0B0C0D0E0F", 2 },
		{ "\"%pU\", REC->id", "00010203-0405-0607-0809-0a0b0c0d0e0f", 2 },
		{ "\"%pIS %piS %pISp %pISc %pISpc\", REC->sock, REC->sock, REC->sock, REC->sock, REC->sock",
		  "10.20.30.255 010.020.030.255 10.20.30.255:8080 10.20.30.255 10.20.30.255:8080", 2 },
		{ "\"%pIS %piS\", REC->sock, REC->sock", "2001:0db8:0000:0000:0001:0000:0000:0001 20010db8000000000001000000000001", 10 },
		{ "\"%pISp %pISc %pISpc\", REC->sock, REC->sock, REC->sock",
		  "[2001:0db8:0000:0000:0001:0000:0000:0001]:8080 2001:db8::1:0:0:1 [2001:db8::1:0:0:1]:8080", 10 },
		{ "\"<%pISpc>\", REC->sock", "<>", 3 },
		{ "\"%pIS\", REC->cut", "INVALIDIPv4", 2 },
		{ "\"%pIS\", REC->cut", "INVALIDIPv6", 10 },
		{ "\"%pM %pI4 %pI6 %pU\", REC->v4, REC->mac, REC->mac, REC->mac", "INVALIDMAC INVALIDIPv4 INVALIDIPv6 INVALIDUUID", 2 },
		{ "\"%*ph %*phC %*phD %*phN\", 3, __get_dynamic_array(text), 9, __get_dynamic_array(text), 2, __get_dynamic_array(text), "
		  "5, __get_dynamic_array(text)", "77 6f 72 77:6f:72:64:73 77-6f 776f726473", 2 },
		{ "\"%phC %*ph\", __get_dynamic_array(text), 0, __get_dynamic_array(text)", "77 ", 2 },
		{ "\"%p %px\", 0, 18", "(nil) 0x12x", 2 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct network_bytes record = example_addresses(rows[i].family);
		struct tracepoints *t = open_one_event(network_fields, rows[i].print, false);
		const char *text = record_as_text(t, &record, sizeof record);
		if (strcmp(text, rows[i].text) != 0 && !(rows[i].little && HOST_IS_BIG_ENDIAN))
			unit_fail(__FILE__, __LINE__, "%s prints \"%s\", not \"%s\"", rows[i].print, text, rows[i].text);
		tracepoints_close(t);
	}
}

TEST("a short IPv6 address leaves out the longest zeros, never a single one, and ends with dots where it contains an IPv4 address")
{
	static const struct {
		uint16_t words[8];
		const char *text;
	} rows[] = {
		{ { 0 }, "::" }, { { [7] = 1 }, "::1" }, { { 0xfe80 }, "fe80::" }, { { 1, 2, 3, 4, 5, 6, 7, 8 }, "1:2:3:4:5:6:7:8" },
		{ { 1, 0, 2, 3, 4, 5, 6, 7 }, "1:0:2:3:4:5:6:7" }, { { 1, 0, 0, 2 }, "1:0:0:2::" }, { { 1, 0, 0, 2, 0, 0, 3, 4 }, "1::2:0:0:3:4" },
		{ { 0, 0, 1, 0, 0, 0, 2, 3 }, "0:0:1::2:3" }, { { 0xffff, 0xabcd, 0, 0, 0, 0, 0, 0x0f0 }, "ffff:abcd::f0" },
		{ { [5] = 0xffff, 0x0a14, 0x1eff }, "::ffff:10.20.30.255" }, { { [5] = 0xfffe, 0x0a14, 0x1eff }, "::fffe:a14:1eff" },
		{ { 0xfe80, [4] = 0x200, 0x5efe, 0x0a14, 0x1eff }, "fe80::200:5efe:10.20.30.255" },
		{ { 0xfe80, [4] = 0, 0x5efe, 0x0a14, 0x1eff }, "fe80::5efe:10.20.30.255" },
		{ { 0xfe80, [4] = 0x201, 0x5efe, 0x0a14, 0x1eff }, "fe80::201:5efe:a14:1eff" },
	};
	struct tracepoints *t = open_one_event(network_fields, "\"%pI6c\", REC->v6", false);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct network_bytes record = example_addresses(2);
		for (size_t word = 0; word < 8; word++) {
			record.v6[2 * word] = (uint8_t)(rows[i].words[word] >> 8);
			record.v6[2 * word + 1] = (uint8_t)rows[i].words[word];
		}
		EXPECT_STR(record_as_text(t, &record, sizeof record), rows[i].text);
	}
	struct network_bytes record = example_addresses(2);
	EXPECT_STR(record_as_text(t, &record, 35), ""); /* its last byte is missing */
	tracepoints_close(t);
}

static const char many_fields[] =
	"\tfield:s8 small;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield:u16 half;\toffset:10;\tsize:2;\tsigned:0;\n"
	"\tfield:short low;\toffset:12;\tsize:2;\tsigned:1;\n"
	"\tfield:s64 wide;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long size;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:int list[3];\toffset:32;\tsize:12;\tsigned:1;\n"
	"\tfield:char name[8];\toffset:44;\tsize:8;\tsigned:1;\n"
	"\tfield:u8 bytes[4];\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:void * at;\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:__rel_loc u32[] more;\toffset:64;\tsize:4;\tsigned:0;\n";

struct many_bytes {
	uint16_t type;
	uint8_t rest[6];
	int8_t small;
	uint8_t gap;
	uint16_t half;
	int16_t low;
	uint8_t gap2[2];
	int64_t wide;
	uint64_t size;
	int32_t list[3];
	char name[8];
	uint8_t bytes[4];
	uint64_t at;
	uint32_t loc, more[2];
};

#define SOFTIRQ(n) "__print_symbolic(" #n ", { HI_SOFTIRQ, \"a\" }, { TIMER_SOFTIRQ, \"b\" }, { NET_TX_SOFTIRQ, \"c\" }, " \
	"{ NET_RX_SOFTIRQ, \"d\" }, { BLOCK_SOFTIRQ, \"e\" }, { IRQ_POLL_SOFTIRQ, \"f\" }, { TASKLET_SOFTIRQ, \"g\" }, " \
	"{ SCHED_SOFTIRQ, \"h\" }, { HRTIMER_SOFTIRQ, \"i\" }, { RCU_SOFTIRQ, \"j\" })"

TEST("elements of arrays, names of enumerations, widths from arguments and fields of every size are printed as libtraceevent prints them")
{
	static const struct {
		const char *print, *text;
		bool little; /* the bytes are in the order of the machine */
	} rows[] = {
		{ "\"%d %d %d\", REC->list[0], REC->list[1], REC->list[2]", "1 -2 70000" },
		{ "\"%x %x\", REC->bytes[1], ((u8 *)REC->bytes)[3]", "b1 d3" },
		{ "\"%s\", __print_array(REC->list, 3, 4)", "{0x1,0xfffffffe,0x11170}", true },
		{ "\"%s\", __print_array(REC->list, 2, 3)", "{BAD SIZE:3 0x1,0x0}", true },
		{ "\"%s\", __print_array(__get_rel_dynamic_array(more), 2, 4)", "{0x11,0x2222}", true },
		{ "\"%s\", __print_array(__get_rel_dynamic_array(more), 9, 8)", "{0x222200000011}", true },
		{ "\"%s\", __print_array(REC->bytes, 3, 2)", "{0xb1a0,0xd3c2,0x5678}", true },
		{ "\"%d\", __get_rel_dynamic_array_len(more)", "8" },
		{ "\"%s %s\", __print_hex(REC->bytes, 9), __print_hex_str(REC->bytes, 2)", "a0 b1 c2 d3 78 56 34 12 80 a0b1", true },
		{ "\"%s%s%s%s%s\", " SOFTIRQ(9) ", " SOFTIRQ(8) ", " SOFTIRQ(7) ", " SOFTIRQ(6) ", " SOFTIRQ(5), "jihgf" },
		{ "\"%s%s%s%s%s%s\", " SOFTIRQ(4) ", " SOFTIRQ(3) ", " SOFTIRQ(2) ", " SOFTIRQ(1) ", " SOFTIRQ(0) ", " SOFTIRQ(10), "edcba0xa" },
		{ "\"%s%s\", __print_symbolic(0, { HRTIMER_NORESTART, \"n\" }), __print_symbolic(1, { UNKNOWN, \"u\" }, { HRTIMER_RESTART, \"r\" })",
		  "nr" },
		{ "\"%s|%s\", __print_flags(REC->half, \"\", { 1, \"A\" }, { 8, \"B\" }), __print_flags(0, \"|\", { -1, \"none\" })", "AB|none" },
		{ "\"%s\", __print_flags(REC->half, \", \", { 0, \"zero\" }, { 9, \"both\" }, { 1, \"one\" })", "both" },
		{ "\"[%*s] [%-*s] [%.*s] [%6.2s]\", 6, REC->name, 6, REC->name, 2, REC->name, REC->name", "[  name] [name  ] [na] [    na]" },
		{ "\"[%*s] [%.*s]\", -6, REC->name, -1, REC->name", "[name  ] [name]" },
		{ "\"%d %u %x %o %X\", REC->small, REC->small, REC->low, REC->half, REC->low", "252 252 fffe 11 FFFE" },
		{ "\"%ld %lu %lld %llx %zu %Lx\", REC->wide, REC->size, REC->wide, REC->wide, REC->size, REC->wide",
		  "-5000000000 1099511726080 -5000000000 fffffffed5fa0e00 1099511726080 fffffffed5fa0e00" },
		{ "\"%hhu %hu %hx %hhx\", REC->wide, REC->wide, REC->wide, REC->size", "0 3584 e00 0" },
		{ "\"tab\\tend\\\\ %%d \\\"x\\\"\"", "tab\tend\\ %d \"x\"" },
		{ "\"%d %d %d\", (int)REC->wide, (short)REC->size, (unsigned short)REC->low", "-705032704 32768 65534" },
		{ "\"%lu\", (unsigned long)REC->small", "252" },
		{ "\"%d %d\", REC->wide > 0, REC->wide >> 63", "1 1" },
		{ "\"%d\", REC->small ? REC->half ? 1 : 2 : 3", "1" },
		{ "\"%08llx %-4d| %+d\", REC->at, REC->half, REC->half", "ffff888012345678 9   | +9" },
		{ "\"%q %d\", 5, 6", ">q< 5" },
		{ "\"%0123456d\", 5",
		  "[FAILED TO PARSE] small=-4 half=9 low=-2 wide=-5000000000 size=0x10000018000 list=ARRAY[01, 00, 00, 00, fe, f"
		  "f, ff, ff, 70, 11, 01, 00] name=name bytes=ARRAY[a0, b1, c2, d3] "
		  "at=0xffff888012345678 more=ARRAY[11, 00, 00, 00, 22, 22, 00, 00]", true },
	};
	const struct many_bytes record = { .type = 77, .small = -4, .half = 9, .low = -2, .wide = -5000000000, .size = 1ull << 40 | 0x18000,
		.list = { 1, -2, 70000 }, .name = "name", .bytes = { 0xa0, 0xb1, 0xc2, 0xd3 }, .at = 0xffff888012345678, .loc = 8 << 16,
		.more = { 0x11, 0x2222 } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tracepoints *t = open_one_event(many_fields, rows[i].print, false);
		const char *text = record_as_text(t, &record, sizeof record);
		if (strcmp(text, rows[i].text) != 0 && !(rows[i].little && HOST_IS_BIG_ENDIAN))
			unit_fail(__FILE__, __LINE__, "%s prints \"%s\", not \"%s\"", rows[i].print, text, rows[i].text);
		tracepoints_close(t);
	}
}
