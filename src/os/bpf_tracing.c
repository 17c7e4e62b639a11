#include "os/bpf_tracing.h"

#include <errno.h>
#include <linux/btf.h>
#include <string.h>

#include "os/bpf_call.h"

int bpf_tracing_load(enum bpf_tracing_kind kind, uint32_t type, const void *instructions, size_t count, struct error *err)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.prog_type = kind == BPF_TRACING_COMMAND ? BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_TRACING;
	if (kind != BPF_TRACING_COMMAND)
		attr.expected_attach_type = kind == BPF_TRACING_ITERATOR ? BPF_TRACE_ITER : BPF_TRACE_RAW_TP;
	attr.attach_btf_id = type;
	attr.insns = (uintptr_t)instructions;
	attr.insn_cnt = (uint32_t)count;
	attr.license = (uintptr_t)"Dual MIT/GPL";
	int fd = bpf(BPF_PROG_LOAD, &attr);
	return fd < 0 ? error_system(err, "cannot load a BPF program") : fd;
}

int bpf_tracing_attach(int program, struct error *err)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.raw_tracepoint.prog_fd = (uint32_t)program;
	int fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	return fd < 0 ? error_system(err, "cannot attach a BPF program to its tracepoint") : fd;
}

int bpf_tracing_iterate(int program, struct error *err)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.link_create.prog_fd = (uint32_t)program;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	int link = bpf(BPF_LINK_CREATE, &attr);
	if (link < 0)
		return error_system(err, "cannot make a BPF iterator");
	memset(&attr, 0, sizeof attr);
	attr.iter_create.link_fd = (uint32_t)link;
	int fd = bpf(BPF_ITER_CREATE, &attr);
	int status = fd < 0 ? error_system(err, "cannot start a BPF iterator") : fd;
	close(link);
	return status;
}

/* The kernel wants types of key and value here (Documentation/bpf/btf.rst): an integer, and an array of integers. Returns a descriptor. */
static int load_types(uint32_t words)
{
	static const char names[] = "\0i\0j";
	struct {
		struct btf_header header;
		struct { struct btf_type type; uint32_t bits; } key, word;
		struct { struct btf_type type; struct btf_array array; } value;
		char names[sizeof names];
	} __attribute__((packed)) types = {
		.header = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof types.header },
		.key = { { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 }, 32 },
		.word = { { .name_off = 3, .info = BTF_KIND_INT << 24, .size = 8 }, 64 },
		.value = { { .info = BTF_KIND_ARRAY << 24 }, { .type = 2, .index_type = 1, .nelems = words } },
	};
	union bpf_attr attr;
	types.header.type_len = types.header.str_off = sizeof types.key + sizeof types.word + sizeof types.value;
	types.header.str_len = sizeof names;
	memcpy(types.names, names, sizeof names);
	memset(&attr, 0, sizeof attr);
	attr.btf = (uintptr_t)&types;
	attr.btf_size = sizeof types;
	return bpf(BPF_BTF_LOAD, &attr);
}

int bpf_task_map_make(uint32_t words, struct error *err)
{
	int types = load_types(words);
	if (types < 0)
		return error_system(err, "cannot load the types of a BPF map");
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.map_type = BPF_MAP_TYPE_TASK_STORAGE;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = words * (uint32_t)sizeof(uint64_t);
	attr.map_flags = BPF_F_NO_PREALLOC;
	attr.btf_fd = (uint32_t)types;
	attr.btf_key_type_id = 1;
	attr.btf_value_type_id = 3;
	int fd = bpf(BPF_MAP_CREATE, &attr), status = fd < 0 ? error_system(err, "cannot make a BPF map") : fd;
	close(types);
	return status;
}

void bpf_task_map_remove(int map, int pidfd)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&pidfd;
	bpf(BPF_MAP_DELETE_ELEM, &attr);
}

int bpf_tracing_run(int program, int cpu)
{
	union bpf_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.test.prog_fd = (uint32_t)program;
	attr.test.flags = BPF_F_TEST_RUN_ON_CPU;
	attr.test.cpu = (uint32_t)cpu;
	return bpf(BPF_PROG_TEST_RUN, &attr) < 0 ? -errno : 0;
}
