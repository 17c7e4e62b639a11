/* Instruction set families, as perf.data names registers by them. Data only: knows no file and no process. */
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

/* The family of a machine as uname -m tells it: "x86_64", "i686", "aarch64", "ppc64le" … */
enum isa isa_of_machine(const char *machine);
/* "x86", "arm64" …: the word perf uses for the family. */
const char *isa_name(enum isa isa);
