#include "analysis/flame_name.h"

#include "unit.h"

static const struct module libc = { .kind = MODULE_FILE, .name = "/lib/libc.so.6", .long_name = "/lib/libc.so.6" };
static const struct module kernel = { .kind = MODULE_KERNEL, .name = "[kernel.kallsyms]", .long_name = "[kernel.kallsyms]" };
static const struct module jit = { .kind = MODULE_ANON, .name = "/tmp/perf-7.map", .long_name = "/tmp/perf-7.map" };
static const struct module jitdump = { .kind = MODULE_JIT, .name = "/tmp/jit-7.dump", .long_name = "/tmp/jit-7.dump" };

static const char *folded(const struct module *module, const char *symbol)
{
	static struct str text;
	str_clear(&text);
	flame_fold_name(&text, module, symbol);
	return str_text(&text);
}

static const char *full(const struct module *module, const char *symbol)
{
	static struct str text;
	str_clear(&text);
	flame_full_name(&text, module, symbol);
	return str_text(&text);
}

TEST("folded names lose arguments and quotes, and never hold a semicolon")
{
	EXPECT_STR(folded(&libc, "ns::f<int>(char const*, int) const"), "ns::f<int>");
	EXPECT_STR(folded(&libc, "(anonymous namespace)::g(int)"), "(anonymous namespace)::g");
	EXPECT_STR(folded(&libc, "a;b\"c'"), "a:bc");
	EXPECT_STR(folded(&libc, "net/http.(*conn).serve"), "net/http.(*conn).serve");
	EXPECT_STR(folded(&libc, "(odd)"), "(odd)");
	EXPECT_STR(folded(&jit, "Ljava/lang/Object;::wait"), "java/lang/Object:::wait");
}

TEST("a folded frame without a symbol is its module in brackets")
{
	EXPECT_STR(folded(&libc, NULL), "[libc.so.6]");
	EXPECT_STR(folded(&kernel, NULL), "[[kernel.kallsyms]]");
	EXPECT_STR(folded(NULL, NULL), "[unknown]");
}

TEST("annotations tell kernel and JIT frames")
{
	EXPECT_STR(flame_mark(flame_kind_of(&kernel)), "_[k]");
	EXPECT_STR(flame_mark(flame_kind_of(&jit)), "_[j]");
	EXPECT_STR(flame_mark(flame_kind_of(&libc)), "");
	EXPECT_STR(flame_mark(FLAME_INLINE), "_[i]");
}

TEST("full names keep their arguments")
{
	EXPECT_STR(full(&libc, "f(int)"), "f(int)");
	EXPECT_STR(full(&libc, NULL), "[libc.so.6]");
	EXPECT_STR(full(&kernel, NULL), "[kernel.kallsyms]");
	EXPECT_STR(full(NULL, NULL), "[unknown]");
}

TEST("modules tell kernel code, JIT code and the rest apart")
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

TEST("a command's blanks become underscores in folded text")
{
	struct str text = { 0 };
	str_puts(&text, "Web Content; 1");
	flame_fold_task(&text);
	EXPECT_STR(str_text(&text), "Web_Content:_1");
	str_fini(&text);
}
