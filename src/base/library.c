#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

static int library_absent(const struct library *library, const char *why, struct error *err)
{
	error_set(err, ERROR_UNSUPPORTED, "%s: not possible without %s%s%s", library->purpose, library->soname,
		*why ? ", which lacks " : "", why);
	return error_hint(err, "On Debian: apt install %s", library->package);
}

int library_load(const struct library *library, void *functions, struct error *err)
{
	void *handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle)
		return library_absent(library, "", err);
	int result = 0;
	for (size_t i = 0; library->symbols[i] && result == 0; i++) {
		void *symbol = dlsym(handle, library->symbols[i]);
		memcpy((char *)functions + i * sizeof symbol, &symbol, sizeof symbol);
		if (!symbol)
			result = library_absent(library, library->symbols[i], err);
	}
	dlclose(handle); /* only decrements the reference count */
	return result;
}
