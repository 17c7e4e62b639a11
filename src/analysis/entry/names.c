#include "analysis/entry/names.h"

#include <stdio.h>

int32_t profile_socket(const struct profile *profile, uint32_t cpu)
{
	return profile->sockets && cpu < profile->socket_count ? profile->sockets[cpu] : -1;
}

const struct module *profile_module(const struct profile *profile, uint32_t module)
{
	return module == MODULE_ID_NONE ? NULL : modules_get(&profile->session->model.modules, module);
}

const char *profile_module_path(const struct profile *profile, const struct module *module)
{
	enum { ORIGIN_VMLINUX = 'v' };
	if (module->kind != MODULE_KERNEL)
		return module->long_name;
	struct symtab_info info = symbols_info(profile->symbols, module->whole ? module->whole : module);
	return info.origin == ORIGIN_VMLINUX ? info.path + info.root_len : module->long_name;
}

const char *profile_module_name(const struct profile *profile, uint32_t module)
{
	const struct module *known = modules_get(&profile->session->model.modules, module);
	return profile->options.verbose > 0 ? profile_module_path(profile, known) : known->short_name;
}

const struct symbol *profile_symbol(const struct profile *profile, uint32_t module, uint32_t symbol)
{
	return symbol ? symbols_get(profile->symbols, profile_module(profile, module), symbol) : NULL;
}

const char *profile_symbol_name(const struct profile *profile, uint32_t module, uint32_t symbol)
{
	return symbols_name(profile->symbols, profile_module(profile, module), symbol);
}

const char *profile_comm(const struct profile *profile, uint64_t key, char *buffer, size_t size)
{
	if (key >> 32 == 0)
		return strtab_text(&profile->session->model.strings, (uint32_t)key);
	bool thread = key >> 32 == COMM_KEY_THREAD >> 32;
	snprintf(buffer, size, ":%d", thread ? profile->session->model.threads.items[(uint32_t)key]->tid : (int32_t)key);
	return buffer;
}

const char *profile_thread_comm(const struct profile *profile, uint32_t thread, int32_t tid, char *buffer, size_t size)
{
	uint32_t comm = thread == THREAD_NONE ? COMM_NONE : model_comm(&profile->session->model, thread, UINT64_MAX);
	return profile_comm(profile, comm == COMM_NONE ? COMM_KEY_TID | (uint32_t)tid : comm, buffer, size);
}
