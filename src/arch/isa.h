/* Instruction set families, by which perf.data names registers. Data only: does not access files or processes. */
#pragma once
#include <stdint.h>

enum isa {
	ISA_UNKNOWN,
	ISA_X86,
	ISA_ARM,
	ISA_ARM64,
	ISA_POWERPC,
	ISA_S390,
	ISA_RISCV,
	ISA_CSKY,
	ISA_LOONGARCH,
	ISA_MIPS,
	ISA_SPARC,
	ISA_PARISC,
	ISA_SH,
	ISA_COUNT
};

/* Returns the family of a machine name as in uname -m: "x86_64", "i686", "aarch64", "ppc64le" …; NULL gives ISA_UNKNOWN. */
enum isa isa_of_machine(const char *machine);
/* Returns perf's word for the family: "x86", "arm64" …; "unknown". */
const char *isa_name(enum isa isa);
