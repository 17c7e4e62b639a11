/* Completes the pointers that tools/link-late made relative, and replaces processors that disassemble.c does not open: their tables are not
 * linked. Only tools/link-late compiles this file. */
#include "code/capstone/tables.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

extern const uint64_t capstone_tables_pointers[];
extern const size_t capstone_tables_pointer_words;
extern uintptr_t __start_capstone_tables[];

static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void tables_complete(void)
{
	for (size_t word = 0; word < capstone_tables_pointer_words; word++) {
		for (uint64_t bits = capstone_tables_pointers[word]; bits; bits &= bits - 1) {
			uintptr_t *place = &__start_capstone_tables[word * 64 + (unsigned)__builtin_ctzll(bits)];
			*place += (uintptr_t)place;
		}
	}
}

void capstone_tables_complete(void)
{
	pthread_once(&tables_once, tables_complete);
}

/* Capstone calls these when such a handle is opened, which does not happen. */
#define UNUSED(machine)                        \
	int machine##_global_init(void *handle); \
	int machine##_option(void *handle, int type, unsigned long value); \
	int machine##_global_init(void *handle)  \
	{                                        \
		return 1;                        \
	}                                        \
	int machine##_option(void *handle, int type, unsigned long value) \
	{                                        \
		return 1;                        \
	}

UNUSED(EVM)
UNUSED(M680X)
UNUSED(M68K)
UNUSED(Sparc)
UNUSED(TMS320C64x)
UNUSED(XCore)
