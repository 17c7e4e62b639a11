#include "model/jit.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/search.h"

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	vec_fini(&jit->codes);
	vec_fini(&jit->lines);
	vec_fini(&jit->frames);
	strtab_fini(&jit->files);
	arena_fini(&jit->names);
	free(jit);
}

bool jit_add_code(struct jit *jit, uint64_t offset, uint64_t size, const char *name)
{
	if (jit->codes.count) {
		const struct jit_code *last = &jit->codes.items[jit->codes.count - 1];
		if (offset < last->offset + last->size)
			return false;
	}
	const char *copy = arena_string(&jit->names, name, strlen(name));
	vec_push(&jit->codes, ((struct jit_code){ .offset = offset, .size = size, .name = copy }));
	return true;
}

void jit_add_frames(struct jit *jit, const uint8_t *bytes, size_t len)
{
	struct jit_code *code = &jit->codes.items[jit->codes.count - 1];
	code->frames_at = jit->frames.count;
	code->frames_len = len;
	vec_reserve(&jit->frames, jit->frames.count + len);
	memcpy(jit->frames.items + jit->frames.count, bytes, len);
	jit->frames.count += len;
}

void jit_add_line(struct jit *jit, uint64_t offset, uint32_t line, const char *file)
{
	uint32_t id = strtab_add_line(&jit->files, file, strlen(file)); /* some compilers write control characters here */
	vec_push(&jit->lines, ((struct jit_line){ .offset = offset, .line = line, .file = id }));
}

static int jit_lines_compare(const void *a, const void *b)
{
	const struct jit_line *left = a, *right = b;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

void jit_sort_lines(struct jit *jit, size_t first)
{
	for (size_t i = first + 1; i < jit->lines.count; i++)
		if (jit->lines.items[i].offset < jit->lines.items[i - 1].offset) {
			qsort(jit->lines.items + first, jit->lines.count - first, sizeof *jit->lines.items, jit_lines_compare);
			return;
		}
}

const struct jit_code *jit_code_at(const struct jit *jit, uint64_t offset)
{
	size_t end = SEARCH_COUNT(jit->codes.count, i, jit->codes.items[i].offset <= offset);
	const struct jit_code *code = end ? &jit->codes.items[end - 1] : NULL;
	return code && offset - code->offset < code->size ? code : NULL;
}

bool jit_line(const struct module *module, uint64_t offset, const char **file, uint32_t *line)
{
	const struct jit *jit = module->jit;
	const struct jit_code *code = jit ? jit_code_at(jit, offset) : NULL;
	if (!code)
		return false;
	size_t end = SEARCH_COUNT(jit->lines.count, i, jit->lines.items[i].offset <= offset);
	if (!end || jit->lines.items[end - 1].offset < code->offset)
		return false;
	*line = jit->lines.items[end - 1].line;
	*file = strtab_text(&jit->files, jit->lines.items[end - 1].file);
	return true;
}
