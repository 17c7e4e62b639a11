#include "probe/kernel_parameter.h"

#include "elf/btf_maker.h"
#include "unit.h"

/* The fetch of the arguments of a definition, or the error. */
static void expect(const char *definition, const char *fetches)
{
	bool returned = strstr(definition, "$retval");
	struct btf_made made = btf_make();
	struct btf_types types;
	struct btf_type prototype;
	struct probe_spec spec;
	struct probe_fetches found = { 0 };
	struct arena arena = { 0 };
	struct error err = { 0 };
	CLEANUP_STR struct str text = { 0 };
	EXPECT_INT(btf_types_open(&types, (struct span){ .data = (const void *)&made, .len = sizeof made }, NULL, &err), 0);
	EXPECT_INT(probe_spec_parse(&spec, definition, &err), 0);
	EXPECT(btf_types_function(&types, spec.function, &prototype));
	int result = 0;
	for (size_t i = 0; i < spec.arguments.count && result == 0; i++)
		result = (returned ? probe_returned_fetch : probe_parameter_fetch)(&types, &prototype, spec.function, &spec.arguments.items[i], &arena,
			&found, &err);
	for (size_t i = 0; i < found.list.count; i++) {
		const struct probe_fetch *f = &found.list.items[i];
		str_printf(&text, "%s%s=%s%s%s", i ? " " : "", f->name ? f->name : "", f->value, f->type ? ":" : "", f->type ? f->type : "");
	}
	EXPECT_STR(result < 0 ? err.text : str_text(&text), fetches);
	vec_fini(&found.list);
	probe_spec_fini(&spec);
	arena_fini(&arena);
	btf_types_close(&types);
}

TEST("parameters are the kernel's arguments in order, with the size of their types")
{
	expect("work c n", "c=$arg2:x8 n=$arg1:x64");
	expect("work first=n c:s8 n:u", "first=$arg1:x64 c=$arg2:s8 n=$arg1:u64");
	expect("work $params", "n=$arg1:x64 c=$arg2:x8");
	expect("work m", "work has no parameter m");
}

TEST("a returned value has the function's type, and members behind it")
{
	expect("work%return $retval", "=$retval:s32");
	expect("work%return r=$retval:u", "r=$retval:u32");
	expect("work%return r=$retval:x64", "r=$retval:x64");
	expect("work%return $retval.a", "$retval is not a data structure nor a union.");
	expect("make%return $retval", "=$retval:x64");
	expect("make%return $retval->a n=$retval->next->x", "a=+8($retval):s32 n=+16(+0($retval)):s64");
	expect("make%return $retval->text:string", "text=+16($retval):string");
	expect("make%return $retval[1].a", "a=+40($retval):s32");
	expect("drop%return $retval", "drop returns no value.");
	expect("copy%return $retval", "The place of the value that copy returns is not known without debug information.");
}

TEST("members lie behind pointers, elements at multiples of their size")
{
	expect("work n->a n->next->next->x", "a=+8($arg1):s32 x=+16(+0(+0($arg1))):s64");
	expect("work n[2].a n->next[1].text[3]", "a=+72($arg1):s32 text=+51(+0($arg1)):s8");
	expect("work n->text:string", "text=+16($arg1):string");
	expect("work mode=n->a@user", "mode=+u+8($arg1):s32");
	expect("work n->missing", "n(type:node) has no member missing.");
	expect("work n.a", "Semantic error: a must be referred by '->'");
	expect("work c->a", "Semantic error: a must be referred by '.'");
	expect("work n->a:string", "Failed to cast into string: a is not a pointer nor array.");
}

TEST("a bit field is a part of its unit")
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		expect("work n->bit", "bit=+24($arg1):b3@2/32");
	else
		expect("work n->bit", "bit=+24($arg1):b3@27/32");
}
