#include "cmd/loss_summary.h"

#include "cmd/test_cli.h"
#include "data/header.h"

static void expect_summary(const struct losses *losses, bool quiet, int code, const char *messages)
{
	struct test_cli t;
	test_cli_open(&t);
	EXPECT_INT(loss_summary_print(&t.cli, "x.data", losses, quiet), code);
	EXPECT_STR(test_cli_messages(&t), messages);
	test_cli_close(&t);
}

TEST("a whole recording has no summary and exits with 0")
{
	expect_summary(&(struct losses){ .samples = 3 }, false, 0, "");
}

TEST("damage has a sentence each, also if quiet, and the exit code 255")
{
	const struct losses one = { .samples = 8, .bad_samples = 1, .unknown_ids = 2, .bad_records = 1, .bad_attrs = 1, .bad_build_ids = 1 };
	const char *said = "x.data: 1 of 11 samples are damaged and left out: their bytes contradict their event.\n"
		"x.data: 2 of 11 samples are left out: they belong to no event of the recording.\n"
		"x.data: 1 record is damaged and left out: the bytes contradict the type.\n"
		"x.data: the descriptions of the events are damaged in 1 place.\n"
		"x.data: the table of build-ids is damaged in 1 place: rows are missing.\n";
	expect_summary(&one, false, 255, said);
	expect_summary(&one, true, 255, said);
	expect_summary(&(struct losses){ .bad_records = 2, .bad_attrs = 3, .bad_build_ids = 4 }, false, 255,
		"x.data: 2 records are damaged and left out: the bytes contradict the type.\n"
		"x.data: the descriptions of the events are damaged in 3 places.\n"
		"x.data: the table of build-ids is damaged in 4 places: rows are missing.\n");
}

TEST("the place of a damaged record has its offset and type")
{
	expect_summary(&(struct losses){ .bad_records = 1, .bad_offset = 0x248, .bad_type = RECORD_MMAP2 }, false, 255,
		"x.data: 1 record is damaged and left out: the bytes contradict the type; it is at offset 0x248: MMAP2 (10).\n");
	expect_summary(&(struct losses){ .bad_records = 2, .bad_offset = 264, .bad_type = RECORD_COMM }, false, 255,
		"x.data: 2 records are damaged and left out: the bytes contradict the type; one is at offset 0x108: COMM (3).\n");
}

TEST("scheduler events that no machine has are damage")
{
	static const char *const said[] = { "", "x.data: 1 scheduler event is damaged and left out: no machine has such a CPU or thread.\n",
		"x.data: 2 scheduler events are damaged and left out: no machine has such a CPU or thread.\n" };
	for (unsigned refused = 0; refused < 3; refused++) {
		struct test_cli t;
		test_cli_open(&t);
		EXPECT_INT(loss_summary_refused(&t.cli, "x.data", refused), refused ? 255 : 0);
		EXPECT_STR(test_cli_messages(&t), said[refused]);
		test_cli_close(&t);
	}
}

TEST("each kind of damage alone exits with 255")
{
	struct losses kinds[] = { { .unfinished = true }, { .bad_samples = 1 }, { .unknown_ids = 1 }, { .bad_records = 1 }, { .bad_attrs = 1 },
		{ .bad_build_ids = 1 }, { .features = 1u << FEATURE_HOSTNAME }, { .stop = { .kind = ERROR_FORMAT, .text = "x" } } };
	struct test_cli t;
	test_cli_open(&t);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		EXPECT_INT(loss_summary_print(&t.cli, "x.data", &kinds[i], true), 255);
		EXPECT(strlen(test_cli_messages(&t)) > 1);
	}
	test_cli_close(&t);
}

TEST("missing features are counted and named")
{
	expect_summary(&(struct losses){ .features = 1ull << FEATURE_HOSTNAME }, false, 255,
		"x.data: 1 header feature is missing or damaged: HOSTNAME.\n");
	expect_summary(&(struct losses){ .features = 1ull << FEATURE_HOSTNAME | 1ull << FEATURE_OSRELEASE }, false, 255,
		"x.data: 2 header features are missing or damaged: HOSTNAME, OSRELEASE.\n");
}

TEST("what is no damage has a sentence unless quiet, and exits with 0")
{
	const struct losses losses = { .unknown_types = 1, .left_out_events = 8, .left_out_event_samples = 9, .left_out_maps = 2,
		.left_out_samples = 6, .samples = 1, .unchanged = 2, .left_out_chains = 7, .lost_samples = 3, .lost_events = 4, .lost_traces = 5 };
	expect_summary(&losses, true, 0, "");
	expect_summary(&losses, false, 0,
		"x.data: 1 record is skipped, of a type that is not known: a newer kernel or recorder may have written it.\n"
		"x.data: 2 mappings are left out, as the history of all others reached a quarter of the limit of memory, 1024 MiB: samples there have "
		"no names, or those of an earlier mapping. 'perfuse --memory SIZE COMMAND' sets another limit.\n"
		"x.data: 8 events are left out, with 9 samples: memory reached its limit of 1024 MiB. 'perfuse --memory SIZE COMMAND' sets another "
		"limit.\n"
		"x.data: the last 6 of 7 samples are left out: memory reached its limit of 1024 MiB. 'perfuse --memory SIZE COMMAND' sets another "
		"limit, and --time selects a part of the recording.\n"
		"x.data: the last 2 records are written unchanged: memory reached its limit of 1024 MiB. 'perfuse --memory SIZE COMMAND' sets "
		"another limit.\n"
		"x.data: the call chains of 7 rows are left out: memory reached its limit of 1024 MiB. 'perfuse --memory SIZE COMMAND' sets another "
		"limit; --max-stack, and a higher percentage of -g, need less.\n"
		"x.data: the kernel lost 3 samples while it recorded: its buffers were full.\n"
		"x.data: the kernel lost 4 records while it recorded: its buffers were full.\n"
		"x.data: the hardware trace is not whole in 5 places.\n");
}

TEST("each remark depends on its own count alone")
{
	expect_summary(&(struct losses){ .lost_samples = 3 }, false, 0,
		"x.data: the kernel lost 3 samples while it recorded: its buffers were full.\n");
	expect_summary(&(struct losses){ .lost_events = 4 }, false, 0,
		"x.data: the kernel lost 4 records while it recorded: its buffers were full.\n");
	expect_summary(&(struct losses){ .lost_traces = 5 }, false, 0, "x.data: the hardware trace is not whole in 5 places.\n");
	expect_summary(&(struct losses){ .unknown_types = 2 }, false, 0,
		"x.data: 2 records are skipped, of a type that is not known: a newer kernel or recorder may have written them.\n");
	expect_summary(&(struct losses){ .left_out_maps = 2 }, false, 0,
		"x.data: 2 mappings are left out, as the history of all others reached a quarter of the limit of memory, 1024 MiB: samples there have "
		"no names, or those of an earlier mapping. 'perfuse --memory SIZE COMMAND' sets another limit.\n");
	expect_summary(&(struct losses){ .unchanged = 2 }, false, 0,
		"x.data: the last 2 records are written unchanged: memory reached its limit of 1024 MiB. 'perfuse --memory SIZE COMMAND' sets "
		"another limit.\n");
}

TEST("gaps of a trace have their causes, the places in code, and how many instructions are lost at least")
{
	struct trace_gaps gaps[] = { { .module = MODULE_ID_NONE, .missing = 2, .first = 0x10, .last = 0x20, .instructions = 1 },
		{ .module = MODULE_ID_NONE, .mismatches = 1, .first = 0x30, .last = 0x30 },
		{ .module = MODULE_ID_NONE, .missing = 1, .mismatches = 1, .first = 0x40, .last = 0x50, .instructions = 6 } };
	expect_summary(&(struct losses){ .trace = { .missing = 3, .mismatches = 2, .overflows = 4, .bad_packets = 5, .loops = 6, .instructions = 7,
		.gaps = gaps, .gap_count = 3 } }, false, 0,
		"x.data: the decoded trace has gaps: 3 by missing code, 2 by code that contradicts the trace, 4 by overflows of the processor's "
		"buffer, 5 by damaged packets, 6 by endless loops in the code; at least 7 instructions are lost.\n"
		"  no mapping: 2 from 0x10 to 0x20; at least 1 instruction is lost (no code)\n"
		"  no mapping: 1 from 0x30 to 0x30 (code of another build?)\n"
		"  no mapping: 2 from 0x40 to 0x50; at least 6 instructions are lost (no or other code)\n");
	expect_summary(&(struct losses){ .trace = { .loops = 1, .instructions = 1 } }, false, 0,
		"x.data: the decoded trace has gaps: 1 by endless loops in the code; at least 1 instruction is lost.\n");
}
