#include "analysis/flame/flame_name.h"

#include "unit.h"

static const struct module libc = { .kind = MODULE_FILE, .name = "/lib/libc.so.6", .long_name = "/lib/libc.so.6" };
static const struct module kernel = { .kind = MODULE_KERNEL, .name = "[kernel.kallsyms]", .long_name = "[kernel.kallsyms]" };
static const struct module jit = { .kind = MODULE_ANON, .name = "/tmp/perf-7.map", .long_name = "/tmp/perf-7.map" };
static const struct module jitdump = { .kind = MODULE_JIT, .name = "/tmp/jit-7.dump", .long_name = "/tmp/jit-7.dump" };

static const char *folded_name_text(const struct module *module, const char *symbol)
{
	static struct str text;
	str_clear(&text);
	flame_fold_name(&text, module, symbol);
	return str_text(&text);
}

static const char *full_name_text(const struct module *module, const char *symbol)
{
	static struct str text;
	str_clear(&text);
	flame_full_name(&text, module, symbol);
	return str_text(&text);
}

TEST("folded names have no arguments, quotes or semicolons")
{
	EXPECT_STR(folded_name_text(&libc, "ns::f<int>(char const*, int) const"), "ns::f<int>");
	EXPECT_STR(folded_name_text(&libc, "(anonymous namespace)::g(int)"), "(anonymous namespace)::g");
	EXPECT_STR(folded_name_text(&libc, "a;b\"c'"), "a:bc");
	EXPECT_STR(folded_name_text(&libc, "net/http.(*conn).serve"), "net/http.(*conn).serve");
	EXPECT_STR(folded_name_text(&libc, "(odd)"), "(odd)");
	EXPECT_STR(folded_name_text(&jit, "Ljava/lang/Object;::wait"), "java/lang/Object:::wait");
}

TEST("a folded frame without a symbol is its module in brackets")
{
	EXPECT_STR(folded_name_text(&libc, NULL), "[libc.so.6]");
	EXPECT_STR(folded_name_text(&kernel, NULL), "[[kernel.kallsyms]]");
	EXPECT_STR(folded_name_text(NULL, NULL), "[unknown]");
}

TEST("annotations mark kernel, JIT and inlined frames")
{
	EXPECT_STR(flame_mark(flame_kind_of(&kernel)), "_[k]");
	EXPECT_STR(flame_mark(flame_kind_of(&jit)), "_[j]");
	EXPECT_STR(flame_mark(flame_kind_of(&libc)), "");
	EXPECT_STR(flame_mark(FLAME_INLINE), "_[i]");
}

TEST("complete names have their arguments")
{
	EXPECT_STR(full_name_text(&libc, "f(int)"), "f(int)");
	EXPECT_STR(full_name_text(&libc, NULL), "[libc.so.6]");
	EXPECT_STR(full_name_text(&kernel, NULL), "[kernel.kallsyms]");
	EXPECT_STR(full_name_text(NULL, NULL), "[unknown]");
}

TEST("modules are kernel code, JIT code or user code")
{
	static const struct module dump = { .kind = MODULE_FILE, .name = "/tmp/jitted-12-3.so", .long_name = "/tmp/jitted-12-3.so" };
	static const struct module bpf = { .kind = MODULE_KSYMBOL, .name = "bpf_prog_1", .long_name = "bpf_prog_1" };
	EXPECT_INT(flame_kind_of(&libc), FLAME_USER);
	EXPECT_INT(flame_kind_of(&kernel), FLAME_KERNEL);
	EXPECT_INT(flame_kind_of(&bpf), FLAME_KERNEL);
	EXPECT_INT(flame_kind_of(&jit), FLAME_JIT);
	EXPECT_INT(flame_kind_of(&jitdump), FLAME_JIT);
	EXPECT_INT(flame_kind_of(&dump), FLAME_JIT);
}

TEST("blanks and semicolons of a comm are replaced in folded text")
{
	struct str text = { 0 };
	str_puts(&text, "Web Content; 1");
	flame_fold_task(&text);
	EXPECT_STR(str_text(&text), "Web_Content:_1");
	str_fini(&text);
}
