#include "record/address_filters.h"

#include <errno.h>

#include "event/test_machine.h"
#include "os/test_planted.h"

#define PROGRAM "test/golden/data/frames" /* start, outer, middle, inner and leaf, of 64 bytes each from 0x1000 of the file */

static const char list[] =
	"ffffffff81000000 T _text\nffffffff81000100 T first\nffffffff81000140 t twice\nffffffff81000200 d data\nffffffff81000280 W twice\n"
	"ffffffff81000300 t ours\nffffffff81000380 T ours\nffffffff81000400 T last\n";

/* The filter of an event that traces, as the kernel takes it, or the error. The list of the kernel's symbols is `list`. */
static void resolve(struct str *out, const char *filter, unsigned most)
{
	struct machine machine;
	struct events events = { 0 };
	struct error err = { 0 };
	char path[256];
	machine_open(&machine, &events.pmus);
	snprintf(path, sizeof path, "%s/power/nr_addr_filters", machine.root);
	FILE *file = fopen(path, "w");
	EXPECT(file && fprintf(file, "%u\n", most) > 0 && fclose(file) == 0);
	vec_push(&events.list, ((struct event){ .pmu = "power", .traces = true, .filter = filter }));
	vec_push(&events.list, ((struct event){ .pmu = "power", .filter = "not a filter of addresses" }));
	int status = address_filters_resolve(&events, &err);
	if (status < 0)
		str_printf(out, "%d %s%s%s", err.sys == EINVAL, err.text, err.hint[0] ? " | " : "", err.hint);
	else
		str_puts(out, events.list.items[0].filter ? events.list.items[0].filter : "none");
	EXPECT_STR(events.list.items[1].filter, "not a filter of addresses");
	events_fini(&events);
	machine_close(&machine);
}

static void expect_resolved(const char *filter, unsigned most, const char *want)
{
	char cwd[512];
	CLEANUP_STR struct str got = { 0 };
	CLEANUP_STR struct str text = { 0 };
	resolve(&got, filter, most);
	for (const char *at = want; *at; at++) /* @: the path of the program */
		if (*at == '@' && getcwd(cwd, sizeof cwd))
			str_printf(&text, "@%s/" PROGRAM, cwd);
		else
			str_putc(&text, *at);
	EXPECT_STR(str_text(&got), str_text(&text));
}

TEST("symbols of a program become the offsets of its file")
{
	expect_resolved("filter leaf @ " PROGRAM, 1, "filter 0x1100/0x40@");
	expect_resolved("start middle @ " PROGRAM, 1, "start 0x1080@");
	expect_resolved("filter outer / inner @ " PROGRAM, 1, "filter 0x1040/0xc0@");
	expect_resolved("filter outer / outer @ " PROGRAM, 1, "filter 0x1040/0x40@");
	expect_resolved("filter outer / 0x10 @ " PROGRAM, 1, "filter 0x1040/0x10@");
	expect_resolved("filter 0x1010 / leaf @ " PROGRAM, 1, "filter 0x1010/0x130@");
	expect_resolved("filter 0x100 / 0x20 @ " PROGRAM, 1, "filter 0x100/0x20@");
	expect_resolved("filter * @ " PROGRAM, 1, "filter 0x0/0x2537@"); /* all of the file */
	expect_resolved("start start @ " PROGRAM " , stop leaf @ " PROGRAM, 2, "start 0x1000@,stop 0x1100@");
	expect_resolved("filter leaf #g @ " PROGRAM, 1, "filter 0x1100/0x40@");
}

TEST("a filter of a program that cannot be resolved is refused")
{
	expect_resolved("filter nosuch @ " PROGRAM, 1, "1 Symbol 'nosuch' not found. Note that symbols must be functions.");
	expect_resolved("filter nosuch #g @ " PROGRAM, 1, "1 Global symbol 'nosuch' not found. Note that symbols must be functions.");
	expect_resolved("filter nosuch #1 @ " PROGRAM, 1, "1 1. occurrence of symbol 'nosuch' not found. Note that symbols must be functions.");
	expect_resolved("filter leaf #2 @ " PROGRAM, 1, "1 2. occurrence of symbol 'leaf' not found. Note that symbols must be functions.");
	expect_resolved("filter inner / outer @ " PROGRAM, 1, "1 Symbol 'outer' (0x1040) comes before 0x10c0");
	expect_resolved("start start @ " PROGRAM " , stop leaf @ " PROGRAM, 1, "1 Error: number of address filters (2) exceeds maximum (1)");
	expect_resolved("filter 0x10 / 0x10 @ /nonexistent", 1, "1 the file /nonexistent of an address filter: No such file or directory");
}

TEST("the offset of a function is that in the file of its program")
{
	uint64_t offset = 0;
	struct error err = { 0 };
	char *path = realpath(PROGRAM, NULL);
	EXPECT_INT(address_filters_function(path, "inner", &offset, &err), 0);
	EXPECT_INT(offset, 0x10c0);
	EXPECT(address_filters_function(path, "nosuch", &offset, &err) < 0);
	free(path);
}

static void answer_kernel(struct str *out)
{
	static const char *const filters[] = { "filter first", "start first", "filter first / ours #g", "filter twice", "filter twice #1",
		"filter twice #2", "filter twice #3", "filter twice #g", "filter ours #g", "filter data", "filter last", "filter 0x1000 / last" };
	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
		str_printf(out, "%s: ", filters[i]);
		resolve(out, filters[i], 1);
		str_putc(out, '\n');
	}
}

TEST("symbols of the kernel are functions of its list, and end at the next one")
{
	const struct planted files[] = { { "/proc/kallsyms", list }, { "/proc/sys/kernel/kptr_restrict", "0\n" } };
	expect_answer(files, 2, false, answer_kernel,
		"filter first: filter 0xffffffff81000100/0x40\n"
		"start first: start 0xffffffff81000100\n"
		"filter first / ours #g: filter 0xffffffff81000100/0x300\n"
		"filter twice: 1 Multiple kernel symbols with name 'twice' | #1 0xffffffff81000140 t\n#2 0xffffffff81000280 W\n"
		"Disambiguate symbol name by inserting #n after the name e.g. twice #2\n"
		"Or select a global symbol by inserting #0 or #g or #G\n"
		"filter twice #1: filter 0xffffffff81000140/0x140\n"
		"filter twice #2: filter 0xffffffff81000280/0x80\n"
		"filter twice #3: 1 Kernel symbol lookup: 3. occurrence of symbol 'twice' not found. Note that symbols must be functions.\n"
		"filter twice #g: filter 0xffffffff81000280/0x80\n"
		"filter ours #g: filter 0xffffffff81000380/0x80\n"
		"filter data: 1 Kernel symbol lookup: Symbol 'data' not found. Note that symbols must be functions.\n"
		"filter last: 1 Cannot determine size of symbol 'last'\n"
		"filter 0x1000 / last: 1 Cannot determine size of symbol 'last'\n");
}

static void answer_whole(struct str *out)
{
	resolve(out, "filter *", 1);
}

TEST("all of the kernel are the functions of its list, and a page")
{
	const struct planted files[] = { { "/proc/kallsyms", list }, { "/proc/sys/kernel/kptr_restrict", "0\n" } };
	char want[64];
	snprintf(want, sizeof want, "filter 0xffffffff81000000/0x%lx", 2 * sysconf(_SC_PAGESIZE));
	expect_answer(files, 2, false, answer_whole, want);
}
