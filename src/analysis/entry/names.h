/* Names of the ids in a profile's entries: modules, symbols, comms, sockets. */
#pragma once
#include "analysis/entry/state.h"

/* -1: not known. */
int32_t profile_socket(const struct profile *profile, uint32_t cpu);

/* "libc.so.6", or the long name under -v. */
const char *profile_module_name(const struct profile *profile, uint32_t module);
/* The module's long name; for a kernel whose names come from a vmlinux the path of that, in all sections. */
const char *profile_module_path(const struct profile *profile, const struct module *module);
const char *profile_symbol_name(const struct profile *profile, uint32_t module, uint32_t symbol);
const struct module *profile_module(const struct profile *profile, uint32_t module); /* NULL for MODULE_ID_NONE */
const struct symbol *profile_symbol(const struct profile *profile, uint32_t module, uint32_t symbol); /* NULL for 0 */
/* The key of a comm: the id of its string; or the thread, or the tid, that had no comm then. profile_finish replaces all threads. */
#define COMM_KEY_THREAD ((uint64_t)2 << 32)
#define COMM_KEY_TID ((uint64_t)1 << 32)

/* Text of a comm's key. */
const char *profile_comm(const struct profile *profile, uint64_t key, char *buffer, size_t size);
/* The thread's last name. */
const char *profile_thread_comm(const struct profile *profile, uint32_t thread, int32_t tid, char *buffer, size_t size);
