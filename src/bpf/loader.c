#include "bpf/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "os/tracefs.h"

enum { LOG_SIZE = 1 << 20 };
static const char KERNEL_TYPES[] = "/sys/kernel/btf/vmlinux";

/* libbpf prints by a callback of the process; errors are described here instead. */
static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

struct btf *__real_btf__load_vmlinux_btf(void);
struct btf *__wrap_btf__load_vmlinux_btf(void);

/* Called by libbpf (the linker's option --wrap): its own function reads the types into memory and then copies them; since Linux 6.16 they
 * can be mapped instead, which halves the memory of a start. */
struct btf *__wrap_btf__load_vmlinux_btf(void)
{
	struct stat status;
	int fd = open(KERNEL_TYPES, O_RDONLY | O_CLOEXEC);
	void *types = MAP_FAILED;
	struct btf *btf = NULL;
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= UINT32_MAX)
		types = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (types != MAP_FAILED) {
		btf = btf__new(types, (uint32_t)status.st_size);
		munmap(types, (size_t)status.st_size);
	}
	if (fd >= 0)
		close(fd);
	return btf ?: __real_btf__load_vmlinux_btf();
}

int loader_open(struct loader *loader, const char *name, const void *bytes, size_t size, struct error *err)
{
	*loader = (struct loader){ .name = name };
	if (access(KERNEL_TYPES, R_OK) < 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"%s: BPF programs need the kernel's types, and the kernel does not publish them (CONFIG_DEBUG_INFO_BTF)", name);
	libbpf_set_print(print_nothing);
	loader->log = memory_zero(1, LOG_SIZE);
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name, .kernel_log_buf = loader->log, .kernel_log_size = LOG_SIZE);
	loader->object = bpf_object__open_mem(bytes, size, &options);
	if (loader->object)
		return 0;
	int status = error_system(err, "%s: cannot read the embedded BPF programs", name);
	loader_close(loader);
	return status;
}

/* The map of a section of variables: its name is cut to 15 characters, and starts with the object's. */
static struct bpf_map *section_map(const struct loader *loader, const char *section)
{
	struct bpf_map *map;
	bpf_object__for_each_map(map, loader->object) {
		const char *dot = strchr(bpf_map__name(map), '.');
		if (bpf_map__type(map) == BPF_MAP_TYPE_ARRAY && dot && strcmp(dot, section) == 0)
			return map;
	}
	return NULL;
}

void *loader_variable(struct loader *loader, const char *variable, size_t size)
{
	static const char *const sections[] = { ".rodata", ".data", ".bss" };
	const struct btf *types = bpf_object__btf(loader->object);
	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
		struct bpf_map *map = section_map(loader, sections[i]);
		int id = map ? btf__find_by_name_kind(types, sections[i], BTF_KIND_DATASEC) : -1;
		size_t bytes = 0;
		char *memory = id > 0 ? (char *)bpf_map__initial_value(map, &bytes) : NULL;
		if (!memory)
			continue;
		const struct btf_type *section = btf__type_by_id(types, (uint32_t)id);
		const struct btf_var_secinfo *each = btf_var_secinfos(section);
		for (int k = 0; k < btf_vlen(section); k++, each++) {
			const char *name = btf__name_by_offset(types, btf__type_by_id(types, each->type)->name_off);
			if (name && strcmp(name, variable) == 0)
				return each->size == size && each->offset <= bytes && size <= bytes - each->offset ? memory + each->offset : NULL;
		}
	}
	return NULL;
}

int loader_resize(struct loader *loader, const char *name, uint32_t entries, struct error *err)
{
	struct bpf_map *map = bpf_object__find_map_by_name(loader->object, name);
	if (!map || bpf_map__set_max_entries(map, entries) < 0)
		return error_set(err, ERROR_LIMIT, "%s: the BPF map '%s' cannot have %u entries", loader->name, name, entries);
	return 0;
}

int loader_value_size(struct loader *loader, const char *name, uint32_t bytes, struct error *err)
{
	struct bpf_map *map = bpf_object__find_map_by_name(loader->object, name);
	if (!map || bpf_map__set_value_size(map, bytes) < 0)
		return error_set(err, ERROR_LIMIT, "%s: the values of the BPF map '%s' cannot have %u bytes", loader->name, name, bytes);
	return 0;
}

/* Reads the names alone (Documentation/bpf/btf.rst: header, types, strings), in pieces: parsing
 * all types would take 35 ms and 12 MB, and loading the programs does it anyway. */
bool loader_kernel_has(const char *name)
{
	enum { PIECE = 64 << 10, MAGIC = 0xeb9f };
	struct { uint16_t magic; uint8_t version, flags; uint32_t header, types, types_size, names, names_size; } head;
	size_t length = strlen(name) + 2, have = 0; /* between two NULs: the first name is empty */
	int fd = open(KERNEL_TYPES, O_RDONLY | O_CLOEXEC);
	char *piece = memory_alloc(PIECE), wanted[128];
	bool found = false;
	bool read = fd >= 0 && length < sizeof wanted && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head;
	bool swapped = read && head.magic == __builtin_bswap16(MAGIC); /* the kernel of an emulated program */
	if (read && (head.magic == MAGIC || swapped)) {
		off_t at = swapped ? (off_t)__builtin_bswap32(head.header) + __builtin_bswap32(head.names) : (off_t)head.header + head.names;
		wanted[0] = '\0';
		memcpy(wanted + 1, name, length - 1);
		for (ssize_t n; !found && (n = pread(fd, piece + have, PIECE - have, at)) > 0; at += n) {
			have += (size_t)n;
			found = memmem(piece, have, wanted, length) != NULL;
			size_t rest = have < length ? have : length;
			memmove(piece, piece + have - rest, rest);
			have = rest;
		}
	}
	free(piece);
	if (fd >= 0)
		close(fd);
	return found;
}

bool loader_enable(struct loader *loader, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(loader->object, name);
	const char *section = program ? bpf_program__section_name(program) : NULL, *slash = section ? strchr(section, '/') : NULL;
	char type[128];
	if (!slash)
		return false;
	bool tracepoint = strncmp(section + (*section == '?'), "tp_btf/", 7) == 0;
	if ((size_t)snprintf(type, sizeof type, "%s%s", tracepoint ? "btf_trace_" : "", slash + 1) >= sizeof type)
		return false;
	bool found = loader_kernel_has(type);
	return bpf_program__set_autoload(program, found) == 0 && found;
}

int loader_target(struct loader *loader, const char *name, int target, const char *function, struct error *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(loader->object, name);
	if (!program)
		return error_set(err, ERROR_UNSUPPORTED, "%s: there is no BPF program '%s'", loader->name, name);
	int status = bpf_program__set_attach_target(program, target, function);
	if (status == 0)
		status = bpf_program__set_autoload(program, true);
	errno = -status;
	return status < 0 ? error_system(err, "%s: no program can be attached to the function '%s'", loader->name, function) : 0;
}

void loader_disable(struct loader *loader, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(loader->object, name);
	if (program)
		bpf_program__set_autoload(program, false);
}

void loader_reason(const char *log, char *text, size_t size)
{
	*text = '\0';
	for (const char *line = log; *line;) {
		size_t length = strcspn(line, "\n");
		/* "12: (85) call …" is an instruction, "; code" a source line, "processed 9 insns …" a statistic */
		size_t number = strspn(line, "0123456789");
		bool instruction = number && line[number] == ':', source = *line == ';';
		if (length && !instruction && !source && strncmp(line, "processed ", 10) != 0 && strncmp(line, "from ", 5) != 0) {
			size_t bytes = length < size ? length : size - 1;
			memcpy(text, line, bytes);
			text[bytes] = '\0';
		}
		line += length + (line[length] == '\n');
	}
}

static int refused(const struct loader *loader, int status, const char *what, struct error *err)
{
	char reason[256];
	errno = -status;
	loader_reason(loader->log, reason, sizeof reason);
	/* the verifier refuses with EACCES, too, and then gives a reason */
	if (status == -EPERM || (status == -EACCES && !*reason)) {
		error_system(err, "%s: the kernel does not let this user %s BPF programs%s%s", loader->name, what, *reason ? ": " : "", reason);
		return error_hint(err, "it needs CAP_BPF and CAP_PERFMON, or root, and no lockdown (/sys/kernel/security/lockdown)");
	}
	if (!*reason)
		return error_system(err, "%s: the kernel refuses to %s the BPF programs", loader->name, what);
	error_set(err, ERROR_UNSUPPORTED, "%s: the kernel refuses to %s the BPF programs: %s", loader->name, what, reason);
	return error_hint(err, "please report this line with the kernel's version (uname -r)");
}

int loader_load(struct loader *loader, struct error *err)
{
	(void)tracefs_path(); /* mounts it where it is not: libbpf looks there for the ids of tracepoints */
	int status = bpf_object__load(loader->object);
	return status < 0 ? refused(loader, status, "load", err) : 0;
}

static int add_link(struct loader *loader, struct bpf_link *link, struct error *err)
{
	if (!link)
		return refused(loader, -errno, "attach", err);
	vec_push(&loader->links, link);
	return 0;
}

void loader_detach(struct loader *loader)
{
	for (size_t i = loader->links.count; i-- > 0;)
		bpf_link__destroy(loader->links.items[i]);
	loader->links.count = 0;
}

int loader_attach(struct loader *loader, struct error *err)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, loader->object) {
		bool wanted = bpf_program__autoload(program) && bpf_program__autoattach(program);
		if (wanted && add_link(loader, bpf_program__attach(program), err) < 0) {
			loader_detach(loader);
			return -1;
		}
	}
	return 0;
}

int loader_attach_one(struct loader *loader, const char *name, struct error *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(loader->object, name);
	if (!program)
		return error_set(err, ERROR_UNSUPPORTED, "%s: there is no BPF program '%s'", loader->name, name);
	return add_link(loader, bpf_program__attach(program), err);
}

void loader_attach_later(struct loader *loader, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(loader->object, name);
	if (program)
		bpf_program__set_autoattach(program, false);
}

int loader_attach_tracepoint(struct loader *loader, const char *name, const char *system, const char *tracepoint, struct error *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(loader->object, name);
	if (!program)
		return error_set(err, ERROR_UNSUPPORTED, "%s: there is no BPF program '%s'", loader->name, name);
	return add_link(loader, bpf_program__attach_tracepoint(program, system, tracepoint), err);
}

int loader_map(const struct loader *loader, const char *name)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(loader->object, name);
	return map ? bpf_map__fd(map) : -1;
}

int loader_program(const struct loader *loader, const char *name)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(loader->object, name);
	return program ? bpf_program__fd(program) : -1;
}

int loader_cpus(void)
{
	return libbpf_num_possible_cpus();
}

uint64_t loader_sum(const struct loader *loader, const char *map, uint32_t slot)
{
	int cpus = loader_cpus();
	uint64_t sum = 0, *values = memory_zero((size_t)(cpus > 0 ? cpus : 1), sizeof *values);
	if (cpus > 0 && bpf_map_lookup_elem(loader_map(loader, map), &slot, values) == 0)
		for (int i = 0; i < cpus; i++)
			sum += values[i];
	free(values);
	return sum;
}

void loader_close(struct loader *loader)
{
	loader_detach(loader);
	vec_fini(&loader->links);
	bpf_object__close(loader->object);
	free(loader->log);
	*loader = (struct loader){ 0 };
}
