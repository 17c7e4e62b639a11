#include "arch/isa.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The first matching row counts. '#' in a pattern matches any digit; the end of a pattern matches any rest. */
static const struct {
	const char *pattern;
	enum isa isa;
} machines[] = {
	{ "x86", ISA_X86 }, { "i#86", ISA_X86 }, { "amd64", ISA_X86 },
	{ "aarch64", ISA_ARM64 }, { "arm64", ISA_ARM64 },
	{ "arm", ISA_ARM }, { "sa110", ISA_ARM },
	{ "powerpc", ISA_POWERPC }, { "ppc", ISA_POWERPC },
	{ "s390", ISA_S390 }, { "riscv", ISA_RISCV }, { "csky", ISA_CSKY }, { "loongarch", ISA_LOONGARCH }, { "mips", ISA_MIPS },
	{ "sparc", ISA_SPARC }, { "sun4u", ISA_SPARC }, { "parisc", ISA_PARISC }, { "sh#", ISA_SH },
};

static bool machine_matches(const char *pattern, const char *machine)
{
	for (; *pattern; pattern++, machine++)
		if (*pattern == '#' ? !isdigit((unsigned char)*machine) : *pattern != *machine)
			return false;
	return true;
}

enum isa isa_of_machine(const char *machine)
{
	for (size_t i = 0; machine && i < sizeof machines / sizeof *machines; i++)
		if (machine_matches(machines[i].pattern, machine))
			return machines[i].isa;
	return ISA_UNKNOWN;
}

const char *isa_name(enum isa isa)
{
	static const char *const names[ISA_COUNT] = {
		[ISA_UNKNOWN] = "unknown", [ISA_X86] = "x86", [ISA_ARM] = "arm", [ISA_ARM64] = "arm64",
		[ISA_POWERPC] = "powerpc", [ISA_S390] = "s390", [ISA_RISCV] = "riscv", [ISA_CSKY] = "csky",
		[ISA_LOONGARCH] = "loongarch", [ISA_MIPS] = "mips", [ISA_SPARC] = "sparc", [ISA_PARISC] = "parisc", [ISA_SH] = "sh",
	};
	return isa < ISA_COUNT ? names[isa] : names[ISA_UNKNOWN];
}
