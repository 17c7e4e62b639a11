#include "bpf/program_target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

/* The name of its first function, as its types have it: that of the program is cut to 15 characters. */
static int read_function(struct program_target *target, struct error *err, uint32_t id)
{
	struct bpf_func_info function = { 0 };
	struct bpf_prog_info info = { .nr_func_info = 1, .func_info_rec_size = sizeof function, .func_info = (uintptr_t)&function };
	uint32_t size = sizeof info;
	if (bpf_obj_get_info_by_fd(target->fd, &info, &size) < 0)
		return error_system(err, "cannot read BPF program %u", id);
	struct btf *types = info.btf_id && info.nr_func_info ? btf__load_from_kernel_by_id(info.btf_id) : NULL;
	const struct btf_type *type = types ? btf__type_by_id(types, function.type_id) : NULL;
	const char *name = type ? btf__name_by_offset(types, type->name_off) : NULL;
	snprintf(target->function, sizeof target->function, "%s", name ? name : "");
	btf__free(types);
	if (*target->function)
		return 0;
	return error_set(err, ERROR_UNSUPPORTED, "BPF program %u has no types (BTF), by which others are attached to it", id);
}

int program_target_open(struct program_target *target, uint32_t id, struct error *err)
{
	*target = (struct program_target){ .fd = bpf_prog_get_fd_by_id(id) };
	if (target->fd < 0)
		return errno == ENOENT ? error_set(err, ERROR_USAGE, "there is no BPF program with the id %u", id) :
			error_system(err, "cannot open BPF program %u", id);
	if (read_function(target, err, id) == 0)
		return 0;
	program_target_close(target);
	return -1;
}

void program_target_close(struct program_target *target)
{
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
}
