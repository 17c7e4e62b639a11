#include "cmd/guest_times.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/test_cli.h"
#include "data/source.h"
#include "data/test_recording.h"
#include "unit.h"

enum { PMU = 10, TRACE_ATTR = 104 + ATTR_SIZE_VER8 + 16, TSC_BIT = 1 << 10, MTC_BIT = 1 << 9,
	AUXTRACE_BYTES = 48, MTC_FREQ_BITS = 0xf << 14, MTC_FREQ_3 = 3 << 14 };

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PSBEND "\x02\x23"
#define TSC(high) "\x19\x00" high "\0\0\0\0\0"
#define TMA(ctc) "\x02\x73" ctc "\0\0\0\0"
#define HOST "\x02\x43\0\0\0\0\0\0"
#define GUEST "\x02\x43\1\0\0\0\0\0"
#define VMCS_5 "\x02\xc8\5\0\0\0\0"
#define FUP "\x7d\x00\x10\0\0\0\0"
/* A tick of the crystal is 0x1000 of the TSC and 8 of its counter; the host's TSC is 0x1000 at the start. */
#define START PSB TSC("\x10") TMA("\0") HOST VMCS_5 FUP PSBEND
#define GUEST_AT(mtc, ctc, high) "\x59" mtc PSB TSC(high) TMA(ctc) GUEST VMCS_5 FUP PSBEND

/* Writes a recording with this trace, after a snapshot of its first bytes if `before` is not 0; the offset of the first piece. */
static size_t write_trace(const char *folder, const char *packets, size_t size, size_t before)
{
	const uint64_t info[] = { PMU, 0, 1, 0, 1, TSC_BIT, 1 << 11, 0, before > 0, 0, MTC_BIT, MTC_FREQ_BITS, 0x200, 1, 0, 20, 0 };
	const uint32_t ids[] = { 0, 7, (uint32_t)-1, 0 };
	struct recording *r = recording_new(false);
	begin_file(r, 2);
	put_at(r, TRACE_ATTR, PMU, 4);
	put_at(r, TRACE_ATTR + 8, TSC_BIT | MTC_BIT | MTC_FREQ_3, 8);
	size_t trace = 0, data = r->len, at = begin_record(r, RECORD_AUXTRACE_INFO, 0);
	put(r, 1, 4);
	put(r, 0, 4);
	for (size_t i = 0; i < sizeof info / sizeof *info; i++)
		put(r, info[i], 8);
	end_record(r, at);
	for (int piece = before ? 0 : 1; piece < 2; piece++) {
		const uint64_t place[] = { piece ? size : before, 0, 0x100000 };
		at = begin_record(r, RECORD_AUXTRACE, 0);
		for (size_t i = 0; i < 3; i++)
			put(r, place[i], 8);
		for (size_t i = 0; i < 4; i++)
			put(r, ids[i], 4);
		end_record(r, at);
		trace = trace ? trace : r->len;
		put_bytes(r, packets, place[0]);
	}
	end_data(r, data);
	write_file(folder, "data", r->bytes, r->len);
	free(r);
	return trace;
}

/* Corrects the recording; what it prints and, with NULs, the bytes from its first piece on. */
static int correct(const char *text, const char *packets, size_t size, size_t before, struct str *printed, struct str *trace)
{
	static const char *const names[] = { "data", NULL };
	char folder[] = "/tmp/guest_times_test.XXXXXX", path[64], bytes[4096];
	struct guest_times_options options;
	struct test_cli t;
	struct source *source;
	struct error err = { 0 };
	EXPECT(mkdtemp(folder) != NULL);
	size_t at = write_trace(folder, packets, size, before), all = size + (before ? before + AUXTRACE_BYTES : 0);
	snprintf(path, sizeof path, "%s/data", folder);
	EXPECT_INT(guest_times_parse(&options, text, &err), 0);
	EXPECT_INT(source_open(&source, path, NULL, &err), 0);
	test_cli_open(&t);
	int result = guest_times_correct(&options, source, path, true, &t.budget, &err);
	str_printf(printed, "%s%s", err.text, test_cli_messages(&t));
	test_cli_close(&t);
	source_close(source);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT_INT(pread(file, bytes, all, (off_t)at), all);
	str_add(trace, bytes, all);
	close(file);
	remove_folder(folder, names);
	return result;
}

TEST("each offset of a guest that is found is printed once, and packets get the host's times only if it is no dry run")
{
	static const char packets[] = START GUEST_AT("\1", "\x08", "\x70") GUEST_AT("\2", "\x10", "\x90") GUEST_AT("\3", "\x18", "\x90");
	static const char corrected[] = START GUEST_AT("\1", "\x08", "\x20") GUEST_AT("\2", "\x10", "\x30") GUEST_AT("\3", "\x18", "\x40");
	for (int dry = 0; dry < 2; dry++) {
		CLEANUP_STR struct str printed = { 0 }, trace = { 0 };
		EXPECT_INT(correct(dry ? "dry-run" : NULL, packets, sizeof packets - 1, 0, &printed, &trace), 0);
		EXPECT_STR(str_text(&printed), "VMCS: 0x5  TSC Offset 0x5000\nVMCS: 0x5  TSC Offset 0x6000\n");
		EXPECT(memcmp(trace.text, dry ? packets : corrected, sizeof packets - 1) == 0);
	}
}

TEST("what a snapshot repeats of the one before becomes padding, as it would not be found again once times differ")
{
	static const char packets[] = START GUEST_AT("\1", "\x08", "\x70") GUEST_AT("\2", "\x10", "\x80");
	static const char first[] = START GUEST_AT("\1", "\x08", "\x20"), second[] = GUEST_AT("\2", "\x10", "\x30");
	CLEANUP_STR struct str printed = { 0 }, trace = { 0 };
	const size_t before = sizeof first - 1, again = before + AUXTRACE_BYTES;
	EXPECT_INT(correct(NULL, packets, sizeof packets - 1, before, &printed, &trace), 0);
	EXPECT_STR(str_text(&printed), "VMCS: 0x5  TSC Offset 0x5000\n");
	EXPECT(memcmp(trace.text, first, before) == 0);
	for (size_t i = again; i < again + before; i++)
		EXPECT_INT(trace.text[i], 0);
	EXPECT(memcmp(trace.text + again + before, second, sizeof second - 1) == 0);
}
