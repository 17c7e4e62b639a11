#include "record/acquire/programs.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/feature.h"
#include "record/acquire/record_out.h"

enum { KSYMBOL_BPF = 1, PROGRAM_LOAD = 1 };

_Static_assert(offsetof(struct bpf_program, id) == 0 && offsetof(struct bpf_types, id) == 0, "the id is the first member");

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *x = *(const uint32_t *const *)a, *y = *(const uint32_t *const *)b;
	return (*x > *y) - (*x < *y);
}

/* Pointers to the items, which begin with an id, in ascending order; to be freed. */
static const void **sort_by_id(const void *items, size_t count, size_t size)
{
	const void **sorted = memory_resize(NULL, count + 1, sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = (const char *)items + i * size;
	qsort(sorted, count, sizeof *sorted, compare_ids);
	return sorted;
}

void programs_info_body(const struct bpf_programs *programs, struct writer *out)
{
	size_t count = programs->list.count;
	CLEANUP_FREE const void **sorted = sort_by_id(programs->list.items, count, sizeof *programs->list.items);
	out_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		const struct bpf_program *program = sorted[i];
		out_u32(out, (uint32_t)program->info.len);
		out_u32(out, (uint32_t)program->data.len);
		out_u64(out, program->arrays);
		writer_add(out, program->info.data, program->info.len);
		writer_add(out, program->data.data, program->data.len);
	}
}

void programs_types_body(const struct bpf_programs *programs, struct writer *out)
{
	size_t count = programs->types.count;
	CLEANUP_FREE const void **sorted = sort_by_id(programs->types.items, count, sizeof *programs->types.items);
	out_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		const struct bpf_types *types = sorted[i];
		out_u32(out, types->id);
		out_u32(out, (uint32_t)types->blob.len);
		writer_add(out, types->blob.data, types->blob.len);
	}
}

static void feature_record(enum feature feature, const struct writer *body, struct writer *out)
{
	size_t at = record_open(out, RECORD_HEADER_FEATURE, 0);
	out_u64(out, feature);
	writer_add(out, body->buffer, body->len);
	record_close(out, at, 0);
}

void programs_records(const struct bpf_programs *programs, struct writer *out)
{
	enum { MOST = RECORD_SIZE_MAX - 24 };
	struct writer info, types;
	writer_open(&info, -1, 0);
	writer_open(&types, -1, 0);
	for (size_t i = 0; i < programs->list.count; i++) {
		struct bpf_program *program = &programs->list.items[i];
		struct bpf_programs one = { .list = { program, 1, 1 } };
		for (size_t k = 0; k < programs->types.count && !one.types.count; k++)
			if (programs->types.items[k].id == program->types) {
				one.types.items = &programs->types.items[k];
				one.types.count = 1;
			}
		info.len = types.len = 0;
		programs_info_body(&one, &info);
		programs_types_body(&one, &types);
		if (info.len > MOST || types.len > MOST)
			continue;
		if (one.types.count) /* the names of its functions, so it is first */
			feature_record(FEATURE_BPF_BTF, &types, out);
		feature_record(FEATURE_BPF_PROG_INFO, &info, out);
	}
	writer_fini(&info);
	writer_fini(&types);
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

static const struct feature_bpf_program *find_program(const struct feature_bpf *all, uint32_t id)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (all->programs[i].id == id)
			return &all->programs[i];
	return NULL;
}

/* Functions have the names that a reader of the features gives them. */
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
		const struct feature_bpf_program *functions = find_program(&named, program->id);
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
