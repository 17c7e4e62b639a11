#include "record/acquire/cpu_changes.h"

#include "unit.h"

/* The text about: CPU 1 offline and online again, CPU 5 online, CPU 3 offline without a message. */
static void text_of_changes(bool removed, bool added, struct str *text)
{
	struct cpus recorded = { 0 }, online = { 0 };
	struct cpu_changes changes = { .fd = -1, .recorded = removed ? &recorded : NULL, .known = added ? &recorded : NULL };
	EXPECT(cpus_parse(&recorded, "0-3", NULL) == 0 && cpus_parse(&online, "0-2,5", NULL) == 0);
	cpu_changes_add(&changes, 1, false, 1500000000);
	cpu_changes_add(&changes, 1, true, 1600000000);
	cpu_changes_add(&changes, 1, false, 1700000000);
	cpu_changes_add(&changes, 7, false, 1800000000);
	cpu_changes_add(&changes, 5, true, 2000000000);
	cpu_changes_end(&changes, &online);
	cpu_changes_text(&changes, text);
	cpu_changes_close(&changes);
	cpus_fini(&recorded);
	cpus_fini(&online);
}

TEST("CPUs that go offline or come online while the machine is recorded are reported once each, with the time of the first")
{
	CLEANUP_STR struct str text = { 0 };
	text_of_changes(true, true, &text);
	EXPECT_STR(str_text(&text), "CPUs 1,3 went offline (the first 1.5 s after the start): not recorded from then on, even if online again\n"
		"CPU 5 came online 2.0 s after the start: missing from the recording\n");
}

TEST("a CPU outside of the user's list is not reported as missing, and events of processes do not end with a CPU")
{
	CLEANUP_STR struct str given = { 0 }, processes = { 0 };
	text_of_changes(true, false, &given);
	EXPECT(strstr(str_text(&given), "went offline") && !strstr(str_text(&given), "came online"));
	text_of_changes(false, true, &processes);
	EXPECT_STR(str_text(&processes), "CPU 5 came online 2.0 s after the start: missing from the recording\n");
}

TEST("a CPU whose change came without a message is reported without a time")
{
	struct cpus recorded = { 0 }, online = { 0 };
	CLEANUP_STR struct str text = { 0 };
	struct cpu_changes changes = { .fd = -1, .recorded = &recorded, .known = &recorded };
	EXPECT(cpus_parse(&recorded, "0-1", NULL) == 0 && cpus_parse(&online, "0", NULL) == 0);
	cpu_changes_end(&changes, &online);
	cpu_changes_text(&changes, &text);
	EXPECT_STR(str_text(&text), "CPU 1 went offline while recording: not recorded from then on, even if online again\n");
	cpu_changes_close(&changes);
	cpus_fini(&recorded);
	cpus_fini(&online);
}
