/* The registers that --user-regs, --intr-regs and DWARF unwinding request from the kernel. */
#include <string.h>
#include <strings.h>

#include "arch/registers.h"
#include "os/machine.h"
#include "record/acquire/configure.h"

static enum isa machine_isa(void)
{
	struct machine_names names;
	machine_names(&names);
	return isa_of_machine(names.arch);
}

/* The registers that the kernel provides for every event: on 64-bit x86 without segment registers, none that only a PMU provides. */
static uint64_t general_registers(enum isa isa)
{
	enum { X86_GENERAL = 24, X86_SEGMENTS = 0xf << 12, ARM64_GENERAL = 33 };
	const struct register_table *table = registers_of(isa);
	uint64_t mask = 0;
	if (isa == ISA_X86 && sizeof(long) == 8)
		return (((uint64_t)1 << X86_GENERAL) - 1) & ~(uint64_t)X86_SEGMENTS;
	if (isa == ISA_X86)
		return ((uint64_t)1 << 16) - 1;
	if (isa == ISA_ARM64)
		return ((uint64_t)1 << ARM64_GENERAL) - 1;
	for (unsigned bit = 0; table && bit < REGISTERS_MAX; bit++)
		if (table->names[bit])
			mask |= (uint64_t)1 << bit;
	return mask;
}

uint64_t registers_for_dwarf(void)
{
	return general_registers(machine_isa());
}

uint64_t registers_minimal(void)
{
	const struct register_table *table = registers_of(machine_isa());
	return table ? (uint64_t)1 << table->ip | (uint64_t)1 << table->sp : 0;
}

void registers_list(bool user, struct str *out)
{
	enum isa isa = machine_isa();
	uint64_t mask = general_registers(isa);
	str_puts(out, "available registers: ");
	for (unsigned bit = 0; bit < REGISTERS_MAX; bit++)
		if (mask >> bit & 1)
			str_printf(out, "%s ", register_name(isa, bit));
}

int registers_parse(const char *text, bool user, uint64_t *mask, struct error *err)
{
	enum isa isa = machine_isa();
	uint64_t general = general_registers(isa);
	*mask = text ? 0 : general;
	for (const char *at = text; at && *at;) {
		size_t length = strcspn(at, ",");
		unsigned bit = 0;
		for (; bit < REGISTERS_MAX; bit++) {
			const char *name = general >> bit & 1 ? register_name(isa, bit) : NULL;
			if (name && strlen(name) == length && strncasecmp(name, at, length) == 0)
				break;
		}
		if (bit == REGISTERS_MAX)
			return error_set(err, ERROR_USAGE, "Unknown register \"%.*s\", check man page or run \"perf record %s?\"",
				(int)(length & 0xff), at, user ? "--user-regs=" : "-I");
		*mask |= (uint64_t)1 << bit;
		at += length + (at[length] == ',');
	}
	if (!*mask)
		return error_set(err, ERROR_UNSUPPORTED, "this kernel hands out no registers here");
	return 0;
}
