#include "arch/registers.h"
#include "unit.h"

TEST("machine names map to the families that perf names")
{
	EXPECT_INT(isa_of_machine("x86_64"), ISA_X86);
	EXPECT_INT(isa_of_machine("i686"), ISA_X86);
	EXPECT_INT(isa_of_machine("aarch64"), ISA_ARM64);
	EXPECT_INT(isa_of_machine("arm64e"), ISA_ARM64);
	EXPECT_INT(isa_of_machine("armv7l"), ISA_ARM);
	EXPECT_INT(isa_of_machine("ppc64le"), ISA_POWERPC);
	EXPECT_INT(isa_of_machine("s390x"), ISA_S390);
	EXPECT_INT(isa_of_machine("riscv64"), ISA_RISCV);
	EXPECT_INT(isa_of_machine("shark"), ISA_UNKNOWN);
	EXPECT_INT(isa_of_machine(""), ISA_UNKNOWN);
	EXPECT_INT(isa_of_machine(NULL), ISA_UNKNOWN);
	EXPECT_STR(isa_name(ISA_ARM64), "arm64");
}

TEST("registers have the names and bits of the kernel's headers")
{
	EXPECT_STR(register_name(ISA_X86, 0), "AX");
	EXPECT_STR(register_name(ISA_X86, 23), "R15");
	EXPECT_STR(register_name(ISA_X86, 24), "unknown");
	EXPECT_STR(register_name(ISA_X86, 63), "XMM15");
	EXPECT_STR(register_name(ISA_X86, 64), "unknown");
	EXPECT_STR(register_name(ISA_ARM64, 46), "vg");
	EXPECT_STR(register_name(ISA_POWERPC, 44), "mmcra");
	EXPECT_STR(register_name(ISA_POWERPC, 58), "siar");
	EXPECT_STR(register_name(ISA_CSKY, 5), "unknown");
	EXPECT_STR(register_name(ISA_CSKY, 36), "lo");
	EXPECT_STR(register_name(ISA_UNKNOWN, 0), "unknown");
}

TEST("each table has its instruction pointer and its stack pointer")
{
	static const struct { enum isa isa; const char *ip, *sp; } rows[] = {
		{ ISA_X86, "IP", "SP" }, { ISA_ARM, "pc", "sp" }, { ISA_ARM64, "pc", "sp" }, { ISA_POWERPC, "nip", "r1" },
		{ ISA_S390, "PC", "R15" }, { ISA_RISCV, "pc", "sp" }, { ISA_CSKY, "pc", "sp" }, { ISA_LOONGARCH, "PC", "%r3" },
		{ ISA_MIPS, "PC", "$29" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct register_table *table = registers_of(rows[i].isa);
		EXPECT_STR(table->names[table->ip], rows[i].ip);
		EXPECT_STR(table->names[table->sp], rows[i].sp);
	}
}
