#include "symbol/demangle.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static void expect_shown(bool params, const char *name, const char *want)
{
	struct demangler demangler = { .params = params };
	char *text = name_demangle(&demangler, name);
	EXPECT_STR(text ? text : name, want);
	free(text);
}

TEST("C++ names lose their parameters unless verbose")
{
	expect_shown(false, "_ZN3foo3barEv", "foo::bar");
	expect_shown(true, "_ZN3foo3barEiPKc", "foo::bar(int, char const*)");
	expect_shown(false, "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back");
	expect_shown(false, "_ZTV3Foo", "vtable for Foo");
	expect_shown(false, "_GLOBAL__I_main", "global constructors keyed to main");
	expect_shown(false, "_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main");
	expect_shown(false, "_Zfoo", "_Zfoo");
	expect_shown(false, "main", "main");
}

TEST("prefixes and suffixes of a mangled name are retained")
{
	expect_shown(false, "_ZN3foo3barEv@plt", "foo::bar@plt");
	expect_shown(false, "._ZN3foo3barEv", ".foo::bar");
	expect_shown(false, "_ZN3foo3barEv@@VERS_1", "foo::bar@@VERS_1");
	expect_shown(false, ".$_ZN3foo3barEv@plt", ".$foo::bar@plt");
}

TEST("one text is reused for many names, of each language")
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back" }, { "_ZN1a1bEv", "a::b" },
		{ "main", NULL }, { "._ZN1a1bEv@plt", ".a::b@plt" }, { "_D3std5stdio7writelnFNfAyaZv", "std.stdio.writeln(immutable(char)[])" },
		{ "_ZN3foo3bar17h0123456789abcdefE", "foo::bar" }, { "camlMain__run_12", "Main.run_12" }, { "_ZNSt1a1hEv", "std::a::h" },
	};
	struct demangler demangler = { 0 };
	struct str text = { 0 };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		EXPECT_INT(name_demangle_into(&demangler, cases[i].name, &text), cases[i].want != NULL);
		if (cases[i].want) {
			EXPECT_STR(str_text(&text), cases[i].want);
			EXPECT_INT(text.len, strlen(cases[i].want));
		}
	}
	str_fini(&text);
}

TEST("Rust names are demangled without hash, in both manglings and before a suffix")
{
	expect_shown(false, "_ZN3foo3bar17h0123456789abcdefE", "foo::bar");
	expect_shown(false, "_ZN3foo3bar17h0123456789abcdefE.cold", "foo::bar");
	expect_shown(false, "_ZN58_$LT$std..sys..fd..FileDesc$u20$as$u20$core..ops..Drop$GT$4drop17hc68340e1baa4987aE.cold",
		"<std::sys::fd::FileDesc as core::ops::Drop>::drop");
	expect_shown(false, "_ZN58_$LT$std..sys..fd..FileDesc$u20$as$u20$core..ops..Drop$GT$4drop17hc68340e1baa4987aE$got",
		"<std::sys::fd::FileDesc as core::ops::Drop>::drop");
	expect_shown(false, "_RNvCs1234_7mycrate3foo", "mycrate::foo");
	/* a hash has 5 to 15 different digits: with fewer it is a name */
	expect_shown(false, "_ZN3foo3bar17h0123401234012340E", "foo::bar");
	expect_shown(false, "_ZN3foo3bar17h0123012301230123E", "foo::bar::h0123012301230123");
}

TEST("D names are demangled unless they could expand without limit")
{
	expect_shown(false, "_D3std5stdio7writelnFNfAyaZv", "std.stdio.writeln(immutable(char)[])");
	expect_shown(false, "_Dmain", "_Dmain");
	expect_shown(false, "_D8demangle1aFZQaQaQaQaQaQaQaQaQaQaQaQaQav", "_D8demangle1aFZQaQaQaQaQaQaQaQaQaQaQaQaQav");
}

static void expect_short(const char *name, const char *want)
{
	char text[256];
	snprintf(text, sizeof text, "%s", name);
	name_shorten(text);
	EXPECT_STR(text, want);
}

TEST("arguments of templates and generics are replaced, operators are not")
{
	expect_short("std::vector<int, std::allocator<int> >::push_back", "std::vector<..>::push_back");
	expect_short("f<int (*)(a<b>), &x::operator-><c> >", "f<..>");
	expect_short("a<int>::operator<<long>", "a<..>::operator<<long>");
	expect_short("x::operator<", "x::operator<");
	expect_short("x::operator->", "x::operator->");
	expect_short("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<T> as core::ops::Drop>::drop");
	expect_short("core::iter::fold::<u32, fn(u32) -> u32>", "core::iter::fold::<..>");
	expect_short("std::string::find<char", "std::string::find<char");
	expect_short("f<>", "f<>");
	expect_short("", "");
}

TEST("OCaml and Java names are demangled")
{
	expect_shown(false, "camlStdlib__List__map_123", "Stdlib.List.map_123");
	expect_shown(false, "camlFoo$20bar__x_1", "Foo bar.x_1");
	expect_shown(false, "camlfoo__x", "camlfoo__x");
	expect_shown(false, "Ljava/lang/String;hashCode()I", "java.lang.String.hashCode()");
	expect_shown(false, "Ljava/lang/String;foo(IJLjava/util/List;Z)V",
		"java.lang.String.foo(int, long, java.util.List, boolean)");
	expect_shown(false, "foo(int)", "foo(int)");
}

TEST("a name that expands without limit is not demangled")
{
	char name[512] = "_Z1fISt4pairIiiES_IS0_S0_E";
	for (unsigned i = 1; i < 30; i++) {
		char part[16];
		char digit = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i];
		snprintf(part, sizeof part, "S_IS%c_S%c_E", digit, digit);
		strcat(name, part);
	}
	strcat(name, "Evv");
	expect_shown(false, name, name);
}

enum { CHANGING_NAME = 64 };

/* Changes the name in memory that it shares, as the owner of a mapped file can; killed by the test. */
static pid_t start_owner(char *name)
{
	pid_t pid = fork();
	volatile char *at = name + 8;
	while (pid == 0) {
		*at = '\0';
		*at = 'x';
	}
	return pid;
}

TEST("a name that grows while it is demangled yields the result of one of its states")
{
	static const char *const names[] = { "camlMain", "_ZN3foo3", "Lava/lan", "_D3foo3b" };
	struct demangler demangler = { 0 };
	char *name = mmap(NULL, CHANGING_NAME, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(name != MAP_FAILED);
	for (size_t i = 0; name != MAP_FAILED && i < sizeof names / sizeof *names; i++) {
		memset(name, 'x', CHANGING_NAME - 1);
		memcpy(name, names[i], 8);
		pid_t owner = start_owner(name);
		EXPECT(owner > 0);
		for (unsigned k = 0; k < 50000; k++) {
			char *text = name_demangle(&demangler, name);
			EXPECT(!text || strlen(text) < CHANGING_NAME);
			free(text);
		}
		if (owner > 0) {
			kill(owner, SIGKILL);
			waitpid(owner, NULL, 0);
		}
	}
	if (name != MAP_FAILED)
		munmap(name, CHANGING_NAME);
}

TEST("each type of a Java parameter has its name, alone and as an array")
{
	expect_shown(false, "LA;f(BCDFIJSZ)V", "A.f(byte, char, double, float, int, long, short, boolean)");
	expect_shown(false, "LA;f([B[[C[La/b;)V", "A.f(byte[], char[][], a.b[])");
	expect_shown(false, "LA;f()La/b;", "A.f()");
	expect_shown(false, "LA;f(Q)V", "LA;f(Q)V");
	expect_shown(false, "LA;f(La/b)V", "LA;f(La/b)V");
	expect_shown(false, "LA;f([)V", "LA;f([)V");
}
