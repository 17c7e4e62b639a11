#include "record/write/build_ids.h"

#include "os/test_planted.h"

/* A note of the kernel, in the order of the machine. */
static const struct {
	uint32_t name_size, size, type;
	char name[4];
	uint8_t id[4];
} note = { 4, 3, 3, "GNU", { 0x5a, 0x5b, 0x5c } };

static void answer_modules(struct str *out)
{
	static const struct module modules[] = {
		{ .kind = MODULE_KMODULE, .long_name = "[made_one]" }, { .kind = MODULE_KMODULE, .long_name = "/lib/modules/6.1/kernel/made-one.ko.xz" },
		{ .kind = MODULE_KMODULE, .long_name = "made_one" }, { .kind = MODULE_KMODULE, .long_name = "[made_on]" },
		{ .kind = MODULE_KERNEL, .long_name = "[kernel.kallsyms]_text" },
		{ .kind = MODULE_KMODULE, .long_name = "[made_one]", .build_id = { 1, 2 }, .build_id_len = 2 },
	};
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		struct hit_module hit;
		bool known = hit_module_of(&hit, &modules[i]);
		str_printf(out, "%s %d %d %d %u:", hit.path, known, hit.kind == HIT_KERNEL_MODULE, hit.pid, hit.build_id_len);
		for (unsigned k = 0; k < hit.build_id_len; k++)
			str_printf(out, "%02x", hit.build_id[k]);
		str_putc(out, '\n');
	}
}

TEST("modules of the kernel, by name or file, and the kernel have the build-ids that sysfs shows, unless one was recorded")
{
	const struct planted files[] = { { "/sys/module", NULL, 0 },
		{ "/sys/module/made_one/notes/.note.gnu.build-id", (const char *)&note, sizeof note },
		{ "/sys/kernel/notes", (const char *)&note, sizeof note } };
	expect_answer(files, 3, false, answer_modules, "[made_one] 1 1 -1 3:5a5b5c\n/lib/modules/6.1/kernel/made-one.ko.xz 1 1 -1 3:5a5b5c\n"
		"made_one 1 1 -1 3:5a5b5c\n[made_on] 0 1 -1 0:\n[kernel.kallsyms] 1 0 -1 3:5a5b5c\n[made_one] 1 1 -1 2:0102\n");
}

static void expect_facts(const char *name, bool all, const char *want)
{
	struct recording_facts facts;
	const struct build_ids_options options = { .all = all };
	struct error err = { 0 };
	char path[128];
	CLEANUP_STR struct str got = { 0 };
	snprintf(path, sizeof path, "test/golden/data/%s.data", name);
	EXPECT_INT(recording_facts(&facts, path, &options, &err), 0);
	str_printf(&got, "%llu %lld..%lld %llu/%llu lost %llu/%llu trace %llu/%llu", (unsigned long long)facts.samples,
		   (long long)facts.first_time, (long long)facts.last_time, (unsigned long long)facts.short_chains, (unsigned long long)facts.user_chains,
		   (unsigned long long)facts.lost_events, (unsigned long long)facts.lost_chunks, (unsigned long long)facts.cut_traces,
		   (unsigned long long)facts.trace_pieces);
	for (size_t i = 0; i < facts.modules.count; i++)
		if (facts.modules.items[i].kind == HIT_FILE)
			str_printf(&got, " %s:%u", facts.modules.items[i].path, facts.modules.items[i].build_id_len);
	EXPECT_STR(str_text(&got), want);
	recording_facts_fini(&facts);
}

TEST("samples, their times, short chains, losses and pieces of a trace are counted, and modules that samples hit are found")
{
	expect_facts("sideband", false, "12 1000000100..1000000111 0/0 lost 5/1 trace 1/1 /bin/known:20");
	expect_facts("sideband", true, "0 0..0 0/0 lost 5/1 trace 1/1 /bin/known:20");
	expect_facts("chains", false, "30 1000000000..1290000000 0/30 lost 0/0 trace 0/0");
	expect_facts("trace", false, "0 0..0 0/0 lost 0/0 trace 0/1");
	expect_facts("deferred", false, "16 1000000000..1000000150 0/0 lost 0/0 trace 0/0");
}
