/* Programs of test/golden/data: places of definitions, their events, and from an event back to its place. What each gives is stored, see
 * stored.h. */
#include "probe/convert.h"

#include <elf.h>

#include "probe/describe.h"
#include "probe/lines.h"
#include "probe/source.h"
#include "stored.h"

#include "elf/btf_maker.h"

#define DATA "test/golden/data/"
#define SHAPES "debug/shapes4"

static bool open_program(struct probe_target *target, const char *name, bool kernel)
{
	char path[128];
	struct error err = { 0 };
	const struct probe_target_options options = { .kernel = kernel };
	snprintf(path, sizeof path, DATA "%s", name);
	int status = probe_target_open(target, path, &options, &err);
	EXPECT_STR(err.text, "");
	return status == 0;
}

/* The text with the folder of the tree left out: paths are absolute. */
static void add_relative(struct str *to, const char *text)
{
	const char *data = strstr(text, DATA);
	while (data) {
		const char *start = data;
		while (start > text && start[-1] != ' ' && start[-1] != '"')
			start--;
		str_add(to, text, (size_t)(start - text));
		text = data + strlen(DATA);
		data = strstr(text, DATA);
	}
	str_puts(to, text);
}

static void add_error(struct str *to, const struct error *err)
{
	str_puts(to, "  ! ");
	add_relative(to, err->text);
	str_printf(to, "%s%s (%d, %d)\n", err->hint[0] ? " / " : "", err->hint, (int)err->kind, err->sys);
}

static void add_event(struct str *to, const struct probe_event *event)
{
	CLEANUP_STR struct str line = { 0 };
	str_printf(&line, "  %s:%s %s", event->group ? event->group : "-", event->event ? event->event : "-", event->path ? event->path : "-");
	if (event->symbol)
		str_printf(&line, " %s+%llu", event->symbol, (unsigned long long)event->offset);
	str_printf(&line, " 0x%llx(%llx) of %s%s%s", (unsigned long long)event->address, (unsigned long long)event->semaphore,
		event->realname ? event->realname : "-", event->returns ? " returns" : "", event->user ? " user" : "");
	for (size_t i = 0; i < event->fetches.count; i++) {
		const struct probe_fetch *f = &event->fetches.items[i];
		str_printf(&line, " %s=%s%s%s", f->name ? f->name : "", f->value ? f->value : "(none)", f->type ? ":" : "", f->type ? f->type : "");
	}
	add_relative(to, str_text(&line));
	str_putc(to, '\n');
}

/* "MAX " in front: that many places; "FLAT ": without inlined calls. */
static void add_conversion(struct str *to, struct probe_target *target, const char *text)
{
	CLEANUP_STR struct str remarks = { 0 };
	struct probe_search search = { .source_prefix = DATA, .remarks = &remarks, .max = PROBE_PLACES_MAX };
	struct probe_events events = { 0 };
	struct probe_spec spec = { 0 };
	struct error err = { 0 };
	str_printf(to, "%s\n", text);
	if (text[1] == ' ')
		search.max = (uint32_t)(*text - '0'), text += 2;
	if (strncmp(text, "FLAT ", 5) == 0)
		search.no_inlines = true, text += 5;
	if (probe_spec_parse(&spec, text, &err) < 0 || probe_convert(target, &spec, &search, &events, &err) < 0)
		add_error(to, &err);
	for (size_t i = 0; i < events.list.count; i++)
		add_event(to, &events.list.items[i]);
	if (remarks.len)
		str_printf(to, "  # %s\n", str_text(&remarks));
	probe_events_fini(&events);
	probe_spec_fini(&spec);
}

static const struct {
	const char *program;
	bool kernel;
	const char *specs[24];
} conversions[] = {
	{ "calc", false, { "0x1000", "0x1000 a=%ax +8(%sp):u32 b=@0x10",
		"_start", "_start+4", "_start+999999", "_star", "start_", "nothing_like_it",
		"_start%return $retval", "_start%return r=$retval:x8", "_start:3", "_start;*x*", "_start a", "%sdt_made:first", "%sdt_made:*",
		"%sdt_made:nosuch", "%first", "%sdt_other:first", "x.c:3", "1 _*", "_s*", "g:e=_start", "_start@x.c", "_start $vars" } },
	{ "frames", false, { "outer", "*e*", "2 *e*", "0 *e*", "inner+63", "inner+64", "inner+65", "leaf%return", "leaf+4%return", "%sdt_a:b",
		"leef", "leaf@GLIBC_2.2.5", "middel", "o?ter", "[im]*" } },
	{ "frames", true, { "outer", "*e*", "inner+63 %ax", "leaf%return $retval", "0x1040" } },
	{ "lines", false, { "walk", "walk%return", "walk+8", "dig depth", "scale", "FLAT scale", "1 scale", "measure $params", "fill $vars",
		"lines.c:31", "lines.c:31 $vars", "walk:3", "walk:99", "walk;*measure*", "lines.c;*weight*",
		"nosuch.c:3", "dog", "walk@lines.c", "walk@other.c",
		"walk@lines.c:4", "wa* p", "walk nosuch", "fill points[1].x", "fill points[1].next->weight[2]:x64 points" } },
	{ "lines", true, { "walk p", "dig depth $retval", "scale", "fill;*weight*", "walk+4 %ax", "dig%return $retval" } },
	{ SHAPES, false, { "measure_one", "measure_one $vars", "measure_one%return r=$retval", "take_*", "3 take_*", "take_flags", "visit",
		"FLAT visit", "shapes.c:80", "shapes.c:100 $vars", "count world", "mesure_one", "take_many+2 a", "walk_list;*next*" } },
	{ "debug/lines5.o", false, { "walk", "scale", "dig%return" } },
};

TEST("definitions become the events of their places, in programs with and without debug information")
{
	CLEANUP_STR struct str got = { 0 };
	for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
		struct probe_target target = { 0 };
		if (!open_program(&target, conversions[i].program, conversions[i].kernel))
			continue;
		str_printf(&got, "== %s%s\n", conversions[i].program, conversions[i].kernel ? " as a kernel" : "");
		for (size_t k = 0; k < 24 && conversions[i].specs[k]; k++)
			add_conversion(&got, &target, conversions[i].specs[k]);
		probe_target_close(&target);
	}
	stored_compare("test/probe/events", &got);
}

static void add_described(struct str *to, struct probe_target *target, const struct probe_event *event)
{
	CLEANUP_STR struct str text = { 0 };
	probe_describe(target, event, &text);
	str_printf(to, "0x%llx %s\n", (unsigned long long)event->address, str_text(&text));
}

TEST("an event is described by its function and line, by its symbol, or by its address")
{
	static const struct {
		const char *program;
		uint64_t first, last;
		unsigned step;
	} rows[] = {
		{ "lines", 0xf0, 0x1f8, 1 }, { "debug/split5", 0xf0, 0x1f8, 3 }, { "debug/lines2", 0xf0, 0x1f8, 3 }, { SHAPES, 0x1000, 0x1700, 7 },
		{ "frames", 0xffe, 0x1142, 31 }, { "calc", 0x0, 0x1100, 401 }, { "debug/clang5", 0x100, 0x400, 13 },
	};
	CLEANUP_STR struct str got = { 0 };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct probe_target target = { 0 };
		if (!open_program(&target, rows[i].program, false))
			continue;
		str_printf(&got, "== %s\n", rows[i].program);
		for (uint64_t address = rows[i].first; address <= rows[i].last; address += rows[i].step)
			add_described(&got, &target, &(struct probe_event){ .address = address });
		add_described(&got, &target, &(struct probe_event){ .address = rows[i].first, .returns = true });
		probe_target_close(&target);
	}
	static const struct probe_event alone[] = { { .address = 0x1234 }, { .address = 0x1234, .returns = true }, { .symbol = "f", .offset = 8 },
		{ .symbol = "f", .returns = true } };
	for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
		add_described(&got, NULL, &alone[i]);
	stored_compare("test/probe/described", &got);
}

struct walked {
	struct probe_target *target;
	struct str *to;
	unsigned count, until;
};

static bool add_line(void *context, const char *file, uint32_t line, uint64_t address)
{
	struct walked *w = context;
	const char *slash = strrchr(file, '/');
	str_printf(w->to, "  %s:%u 0x%llx\n", slash ? slash + 1 : file, line, (unsigned long long)address);
	return ++w->count == w->until;
}

static bool add_function(void *context, const struct dwarf_die *function)
{
	struct walked *w = context;
	uint64_t entry = 0;
	const char *name = dwarf_die_name(function);
	bool has = dwarf_die_entry(function, &entry);
	str_printf(w->to, "%s entry %d 0x%llx definition %d instance %d line %u after 0x%llx marked 0x%llx\n", name ? name : "-", has,
		(unsigned long long)entry, probe_is_definition(function), probe_is_instance(function), probe_declared_line(w->target, function),
		(unsigned long long)(has ? probe_after_prologue(w->target, function, entry, false) : 0),
		(unsigned long long)(has ? probe_after_prologue(w->target, function, entry, true) : 0));
	w->count = 0;
	str_printf(w->to, " %d\n", probe_lines_walk(w->target, function, 20, 34, add_line, w));
	return false;
}

static void add_lines(struct str *to, struct probe_target *target, const char *text)
{
	struct probe_range range = { 0 };
	struct probe_lines lines = { 0 };
	struct error err = { 0 };
	str_printf(to, "%s:", text);
	if (probe_range_parse(&range, text, &err) < 0 || probe_lines_find(target, &range, DATA, &lines, &err) < 0) {
		add_error(to, &err);
	} else {
		str_printf(to, " %s %s %u-%u from %u:", strrchr(lines.path, '/') + 1, lines.function ? lines.function : "-", lines.first, lines.last,
			lines.base);
		for (size_t i = 0; i < lines.numbers.count; i++)
			str_printf(to, " %u", lines.numbers.items[i]);
		str_putc(to, '\n');
	}
	probe_lines_fini(&lines);
	probe_range_fini(&range);
}

TEST("lines with code, functions and ends of prologues of programs are as stored")
{
	static const struct {
		const char *name, *ranges[16];
	} programs[] = {
		{ "lines", { "walk", "dig", "fill:2", "fill:2-4", "fill:2+1", "fill:9", "fill:5-2", "lines.c", "lines.c:31-40", "lines.c:1-2", "nosuch",
			"walk@lines.c", "walk@nosuch.c", "scale", "measure:1-3", "nosuch.c" } },
		{ "debug/split4", { "walk", "lines.c:10-44" } }, { SHAPES, { "take_many", "visit", "shapes.c:60-100" } }, { "frames", { "outer" } },
		{ "debug/lines4.o", { "walk" } },
	};
	CLEANUP_STR struct str got = { 0 };
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct probe_target target = { 0 };
		if (!open_program(&target, programs[i].name, false))
			continue;
		str_printf(&got, "== %s\n", programs[i].name);
		for (size_t k = 0; k < 16 && programs[i].ranges[k]; k++)
			add_lines(&got, &target, programs[i].ranges[k]);
		struct dwarf_die unit;
		struct walked w = { .target = &target, .to = &got };
		bool debug = probe_target_debug(&target);
		for (uint32_t k = 0; debug && k < dwarf_unit_count(target.dwarf); k++) {
			if (!dwarf_unit_top(target.dwarf, k, &unit))
				continue;
			str_printf(&got, "unit in %s\n", probe_unit_directory(&unit) ? "a folder" : "-");
			probe_functions_walk(&unit, add_function, &w);
			w.until = 3;
			w.count = 0;
			str_printf(&got, "%d\n", probe_lines_walk(&target, &unit, 0, UINT32_MAX, add_line, &w));
			const char *file = probe_unit_file(&unit, "lines.c");
			str_printf(&got, "%s\n", file ? "has lines.c" : "no lines.c");
		}
		probe_target_close(&target);
	}
	stored_compare("test/probe/lines", &got);
}

TEST("frames of programs are as stored")
{
	static const char *const programs[] = { "lines", "debug/split4", SHAPES, "debug/lines4.o" };
	CLEANUP_STR struct str got = { 0 };
	if (HOST_IS_BIG_ENDIAN) {
		unit_skip("frames are known of programs of this machine's byte order, and these are little-endian: other machines run it");
		return;
	}
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct probe_target target = { 0 };
		if (!open_program(&target, programs[i], false))
			continue;
		str_printf(&got, "== %s\n", programs[i]);
		for (uint64_t address = 0x4000f0; address < 0x400200; address += 5) {
			unsigned reg = 0;
			int64_t offset = 0;
			bool known = probe_target_cfa(&target, address, &reg, &offset);
			str_printf(&got, "%llx: %d %u%+lld\n", (unsigned long long)address, known, reg, (long long)offset);
		}
		probe_target_close(&target);
	}
	stored_compare("test/probe/frames", &got);
}

TEST("registers have the kernel's names, up to the last number of each architecture")
{
	static const struct {
		uint16_t machine;
		unsigned number;
		const char *name;
	} rows[] = {
		{ EM_X86_64, 0, "%ax" }, { EM_X86_64, 15, "%r15" }, { EM_X86_64, 16, NULL }, { EM_386, 7, "%di" }, { EM_386, 8, NULL },
		{ EM_AARCH64, 31, "%sp" }, { EM_AARCH64, 32, NULL }, { EM_ARM, 15, "%pc" }, { EM_ARM, 16, NULL }, { EM_S390, 15, "%r15" },
		{ EM_S390, 16, NULL }, { EM_RISCV, 0, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *name = probe_register(rows[i].machine, rows[i].number);
		EXPECT_STR(name ? name : "-", rows[i].name ? rows[i].name : "-");
	}
}

static void expect_by_name(const char *text, const char *module, bool typed, const char *want)
{
	static const char symbols[] = "ffff0000 T work\nffff0010 t make\nffff0018 D data\nffff0020 W weak\nffff0030 T worker\n"
		"ffff0040 t hook\t[mod]\nffff0050 T last";
	struct btf_made made = btf_make();
	struct btf_types types;
	struct probe_events events = { 0 };
	struct probe_spec spec = { 0 };
	struct error err = { 0 };
	CLEANUP_STR struct str got = { 0 };
	EXPECT_INT(btf_types_open(&types, (struct span){ .data = (const void *)&made, .len = sizeof made }, NULL, &err), 0);
	EXPECT_INT(probe_spec_parse(&spec, text, &err), 0);
	if (probe_convert_by_name(&spec, module, symbols, typed ? &types : NULL, &events, &err) < 0)
		add_error(&got, &err);
	else
		add_event(&got, &events.list.items[0]);
	EXPECT_STR(str_text(&got), want);
	probe_events_fini(&events);
	probe_spec_fini(&spec);
	btf_types_close(&types);
}

#define NEEDS_VMLINUX                                                                                                              \
	"  ! lines, files and patterns of the kernel need its file with debug information (vmlinux) / install the package of the kernel's debug " \
	"symbols, or name the file with -k (3, 0)\n"

TEST("without the kernel's file, functions are found by name, and parameters by their types")
{
	expect_by_name("work", NULL, false, "  -:- - work+0 0x0(0) of work\n");
	expect_by_name("make+8 %ax", NULL, true, "  -:- - make+8 0x0(0) of make =%ax\n");
	expect_by_name("weak%return $retval", NULL, false, "  -:- - weak+0 0x0(0) of weak returns =$retval\n");
	expect_by_name("last", NULL, false, "  -:- - last+0 0x0(0) of last\n");
	expect_by_name("data", NULL, false, "  ! Failed to find symbol data in kernel (3, 0)\n");
	expect_by_name("wor", NULL, false, "  ! Failed to find symbol wor in kernel (3, 0)\n");
	expect_by_name("hook", NULL, false, "  ! Failed to find symbol hook in kernel (3, 0)\n");
	expect_by_name("hook", "mod", false, "  -:- mod hook+0 0x0(0) of hook\n");
	expect_by_name("hook", "mo", false, "  ! Failed to find symbol hook in mo (3, 0)\n");
	expect_by_name("hook", "modu", false, "  ! Failed to find symbol hook in modu (3, 0)\n");
	expect_by_name("work", "mod", false, "  ! Failed to find symbol work in mod (3, 0)\n");
	expect_by_name("work n c", NULL, true, "  -:- - work+0 0x0(0) of work n=$arg1:x64 c=$arg2:x8\n");
	expect_by_name("work n m=c c:s8 n->a q=n->next.x", NULL, false,
		"  -:- - work+0 0x0(0) of work n=n m=c c=c:s8 a=n->a q=n->next.x\n");
	expect_by_name("work $params", NULL, false, "  -:- - work+0 0x0(0) of work =$arg*\n");
	expect_by_name("work $vars", NULL, false, "  ! $vars needs the kernel's file with debug information (vmlinux) (3, 0)\n");
	expect_by_name("work+4 n", NULL, true, "  ! parameters of work are known at its entry only, without debug information (3, 0)\n");
	expect_by_name("make%return $retval->a", NULL, true, "  -:- - make+0 0x0(0) of make returns a=+8($retval):s32\n");
	expect_by_name("work:3", NULL, false, NEEDS_VMLINUX);
	expect_by_name("work@a.c", NULL, false, NEEDS_VMLINUX);
	expect_by_name("work;x*", NULL, false, NEEDS_VMLINUX);
	expect_by_name("wor*", NULL, false, NEEDS_VMLINUX);
}

static void expect_name(const char *spec_text, const struct probe_event *from, const char *existing, bool again, const char *want)
{
	struct probe_names names = { 0 };
	struct probe_events events = { 0 };
	struct probe_spec spec = { 0 };
	struct probe_event event = *from;
	struct error err = { 0 };
	CLEANUP_STR struct str got = { 0 };
	EXPECT_INT(probe_spec_parse(&spec, spec_text, &err), 0);
	for (const char *at = existing; *at; at += strcspn(at, " "), at += *at == ' ')
		strtab_add(&names.names, at, strcspn(at, " "));
	if (probe_event_set_name(&events, &event, &spec, &names, again, &err) < 0)
		str_printf(&got, "! %s", err.text);
	else
		str_printf(&got, "%s:%s", event.group, event.event);
	EXPECT_STR(str_text(&got), want);
	probe_names_fini(&names);
	probe_spec_fini(&spec);
	probe_events_fini(&events);
}

TEST("an event is named after its definition, numbered if the name exists, and refused if the kernel would read more than one word")
{
	const struct probe_event plain = { .realname = "real" }, user = { .realname = "real", .user = true, .path = "/lib/libc-2.36.so" };
	const struct probe_event back = { .realname = "real", .returns = true };
	struct probe_fetch bad[] = { { .name = "a", .value = "%ax" }, { .name = "b", .value = "%a x" } };
	expect_name("f", &plain, "", false, "probe:f");
	expect_name("f", &back, "", false, "probe:f__return");
	expect_name("f", &user, "", false, "probe_libc:f");
	expect_name("f*", &plain, "", false, "probe:real");
	expect_name("e=f", &plain, "", false, "probe:e");
	expect_name("g:e=f", &user, "", false, "g:e");
	expect_name("0x1234", &(struct probe_event){ .realname = "abs_1234" }, "", false, "probe:abs_1234");
	expect_name("f", &plain, "probe:f", false, "! Error: event \"f\" already exists.");
	expect_name("f", &plain, "probe:f", true, "probe:f_1");
	expect_name("f", &plain, "probe:f probe:f_1 probe:f_3", true, "probe:f_2");
	expect_name("f", &plain, "other:f probe:ff", false, "probe:f");
	static const char *const qualified[][2] = { { "ns::box<int>::get(int)", "probe:ns_box_get" },
		{ "(anonymous namespace)::f(int)", "probe:f" }, { "a::(anonymous namespace)::b", "probe:a_b" },
		{ "a::operator<<(x)", "probe:a_operator" }, { "a::b<c::d<e> >::f", "probe:a_b_f" },
		{ "a::{closure#0}::f", "probe:a_f" } };
	for (size_t i = 0; i < sizeof qualified / sizeof *qualified; i++)
		expect_name("f*", &(struct probe_event){ .realname = qualified[i][0] }, "", false, qualified[i][1]);
	expect_name("f", &(struct probe_event){ .path = "a b", .realname = "f" }, "", false,
		"! the kernel accepts no probe with a space or # in \"a b\"");
	expect_name("f", &(struct probe_event){ .symbol = "s#", .realname = "f" }, "", false,
		"! the kernel accepts no probe with a space or # in \"s#\"");
	struct probe_event fetched = { .realname = "f", .fetches = { .items = bad, .count = 2 } };
	expect_name("f", &fetched, "", false, "! the kernel accepts no probe with a space or # in \"%a x\"");
	fetched.fetches.count = 1;
	expect_name("f", &fetched, "", false, "probe:f");
	bad[0].type = "u\t8";
	expect_name("f", &fetched, "", false, "! the kernel accepts no probe with a space or # in \"u\t8\"");
}
