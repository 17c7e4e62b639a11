#include "arch/registers.h"

#include "os/machine.h"
#include "record/acquire/configure.h"
#include "unit.h"

static enum isa own_isa(void)
{
	struct machine_names names;
	machine_names(&names);
	return isa_of_machine(names.arch);
}

TEST("the kernel's registers are listed, and requested alone, together, in either case, or all without a name")
{
	CLEANUP_STR struct str list = { 0 };
	uint64_t mask, all = registers_for_dwarf(), minimal = registers_minimal();
	enum isa isa = own_isa();
	if (!registers_of(isa)) {
		unit_skip("no registers of this processor are known");
		return;
	}
	registers_list(true, &list);
	if (isa == ISA_X86 && sizeof(long) == 8) {
		EXPECT_STR(str_text(&list), "available registers: AX BX CX DX SI DI BP SP IP FLAGS CS SS R8 R9 R10 R11 R12 R13 R14 R15 ");
		EXPECT_INT(all, 0xff0fff);
		EXPECT_INT(minimal, 1 << 7 | 1 << 8);
		EXPECT_INT(registers_parse("ax,R15,sp", true, &mask, NULL), 0);
		EXPECT_INT(mask, 1 | 1 << 23 | 1 << 7);
	}
	if (isa == ISA_ARM64)
		EXPECT_INT(all, 0x1ffffffff);
	EXPECT_INT(registers_parse(NULL, true, &mask, NULL), 0);
	EXPECT_INT(mask, all);
	EXPECT_INT(minimal & all, minimal);
	for (unsigned bit = 0; bit < 64; bit++)
		if (all >> bit & 1) {
			EXPECT_INT(registers_parse(register_name(isa, bit), false, &mask, NULL), 0);
			EXPECT_INT(mask, (uint64_t)1 << bit);
		}
}

TEST("a register that the kernel does not provide is refused with the option that lists them")
{
	struct error err = { 0 };
	uint64_t mask;
	EXPECT(registers_parse("nosuch,x", true, &mask, &err) < 0);
	EXPECT_STR(err.text, "Unknown register \"nosuch\", check man page or run \"perf record --user-regs=?\"");
	EXPECT(registers_parse(",", false, &mask, &err) < 0);
	EXPECT_STR(err.text, "Unknown register \"\", check man page or run \"perf record -I?\"");
	if (own_isa() == ISA_X86)
		EXPECT(registers_parse("ds", true, &mask, &err) < 0 && registers_parse("a", true, &mask, &err) < 0 &&
		       registers_parse("xmm0", true, &mask, &err) < 0);
}
