#include "record/acquire/programs.h"

#include <stdlib.h>
#include <unistd.h>

#include "data/feature.h"
#include "record/acquire/record_out.h"

enum { KSYMBOL_BPF = 1, PROGRAM_LOAD = 1 };

static int by_id(const void *a, const void *b)
{
	const struct bpf_program *x = *(const struct bpf_program *const *)a, *y = *(const struct bpf_program *const *)b;
	return (x->id > y->id) - (x->id < y->id);
}

void programs_info_body(const struct bpf_programs *programs, struct writer *out)
{
	size_t count = programs->list.count;
	CLEANUP_FREE const struct bpf_program **sorted = memory_resize(NULL, count + 1, sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &programs->list.items[i];
	qsort(sorted, count, sizeof *sorted, by_id);
	out_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		out_u32(out, (uint32_t)sorted[i]->info.len);
		out_u32(out, (uint32_t)sorted[i]->data.len);
		out_u64(out, sorted[i]->arrays);
		writer_add(out, sorted[i]->info.data, sorted[i]->info.len);
		writer_add(out, sorted[i]->data.data, sorted[i]->data.len);
	}
}

static int by_type_id(const void *a, const void *b)
{
	const struct bpf_types *x = *(const struct bpf_types *const *)a, *y = *(const struct bpf_types *const *)b;
	return (x->id > y->id) - (x->id < y->id);
}

void programs_types_body(const struct bpf_programs *programs, struct writer *out)
{
	size_t count = programs->types.count;
	CLEANUP_FREE const struct bpf_types **sorted = memory_resize(NULL, count + 1, sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &programs->types.items[i];
	qsort(sorted, count, sizeof *sorted, by_type_id);
	out_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		out_u32(out, sorted[i]->id);
		out_u32(out, (uint32_t)sorted[i]->blob.len);
		writer_add(out, sorted[i]->blob.data, sorted[i]->blob.len);
	}
}

static void synthesize_code(struct synthesis *s, uint64_t address, uint32_t size, const char *name)
{
	size_t at = record_open(s->out, RECORD_KSYMBOL, 0);
	out_u64(s->out, address);
	out_u32(s->out, size);
	out_u16(s->out, KSYMBOL_BPF);
	out_u16(s->out, 0);
	out_string(s->out, name);
	record_close(s->out, at, s->trailer);
}

static const struct feature_bpf_program *find(const struct feature_bpf *all, uint32_t id)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->programs[i].id == id)
			return &all->programs[i];
	return NULL;
}

/* The functions' names are made as a reader of the features makes them. */
void synthesize_programs(struct synthesis *s, const struct bpf_programs *programs)
{
	struct header header = { 0 };
	struct arena arena = { 0 };
	struct feature_bpf named;
	struct writer info, types;
	writer_open(&info, -1, 0);
	writer_open(&types, -1, 0);
	programs_info_body(programs, &info);
	programs_types_body(programs, &types);
	header.feature_data[FEATURE_BPF_PROG_INFO] = (struct span){ (const uint8_t *)info.buffer, info.len };
	header.feature_data[FEATURE_BPF_BTF] = (struct span){ (const uint8_t *)types.buffer, types.len };
	feature_bpf(&header, &arena, &named);
	for (size_t i = 0; i < programs->list.count; i++) {
		const struct bpf_program *program = &programs->list.items[i];
		const struct feature_bpf_program *functions = find(&named, program->id);
		for (uint32_t k = 0; functions && k < functions->count; k++)
			synthesize_code(s, functions->functions[k].address, functions->functions[k].size, functions->functions[k].name);
		size_t at = record_open(s->out, RECORD_BPF_EVENT, 0);
		out_u16(s->out, PROGRAM_LOAD);
		out_u16(s->out, 0);
		out_u32(s->out, program->id);
		writer_add(s->out, program->tag, sizeof program->tag);
		record_close(s->out, at, s->trailer);
	}
	for (size_t i = 0; i < programs->images.count; i++)
		synthesize_code(s, programs->images.items[i].address, (uint32_t)sysconf(_SC_PAGESIZE), programs->images.items[i].name);
	arena_fini(&arena);
	writer_fini(&info);
	writer_fini(&types);
}
