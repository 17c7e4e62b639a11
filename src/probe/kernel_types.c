#include "probe/kernel_types.h"

#include <stdio.h>

#include "os/file.h"

enum { TYPES_MAX = 256 << 20 };

static int open_one(struct str *text, const char *name, struct btf_types *types, const struct btf_types *base, struct error *err)
{
	char path[128];
	if ((size_t)snprintf(path, sizeof path, "/sys/kernel/btf/%s", name) >= sizeof path)
		return error_set(err, ERROR_USAGE, "no kernel module has so long a name: %s", name);
	if (file_read(path, text, TYPES_MAX, err) < 0)
		return -1;
	return btf_types_open(types, (struct span){ .data = (const uint8_t *)str_text(text), .len = text->len }, base, err);
}

int kernel_types_open(struct kernel_types *types, const char *module, struct error *err)
{
	*types = (struct kernel_types){ 0 };
	if (open_one(&types->texts[0], "vmlinux", &types->kernel, NULL, err) < 0 ||
	    (module && open_one(&types->texts[1], module, &types->module, &types->kernel, err) < 0)) {
		kernel_types_close(types);
		return -1;
	}
	return 0;
}

void kernel_types_close(struct kernel_types *types)
{
	btf_types_close(&types->kernel);
	btf_types_close(&types->module);
	str_fini(&types->texts[0]);
	str_fini(&types->texts[1]);
}

const struct btf_types *kernel_types_table(const struct kernel_types *types)
{
	return types->module.at ? &types->module : &types->kernel;
}
