#include "bpf/kernel_structs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/memory.h"

enum { NAME_SIZE = 128, PIECE_SIZE = 512 };

/* Called by libbpf for each piece of the text. */
static void print_piece(void *context, const char *format, va_list args)
{
	const struct kernel_structs *types = context;
	char piece[PIECE_SIZE];
	if (!types->out || vsnprintf(piece, sizeof piece, format, args) < 0)
		return;
	for (const char *c = piece; *c; c++) {
		if (*c >= ' ' && *c <= '~')
			writer_putc(types->out, *c);
		else
			writer_printf(types->out, "\\%03o", (unsigned)(uint8_t)*c);
	}
}

int kernel_structs_open(struct kernel_structs *types, struct error *err)
{
	libbpf_set_print(NULL); /* the reason is in *err */
	*types = (struct kernel_structs){ .types = btf__load_vmlinux_btf() };
	if (types->types)
		types->dump = btf_dump__new(types->types, print_piece, types, NULL);
	if (types->dump)
		return 0;
	int reason = errno;
	kernel_structs_close(types);
	return error_set(err, ERROR_UNSUPPORTED, "the kernel's types cannot be read: %s", strerror(reason));
}

void kernel_structs_close(struct kernel_structs *types)
{
	for (size_t i = 0; i < types->known.count; i++)
		free(types->known.items[i].name);
	vec_fini(&types->known);
	btf_dump__free(types->dump);
	btf__free(types->types);
	*types = (struct kernel_structs){ 0 };
}

static uint32_t find_type(struct kernel_structs *types, const char *name, size_t length)
{
	char text[NAME_SIZE];
	if (!length || length >= sizeof text)
		return 0;
	for (size_t i = 0; i < types->known.count; i++)
		if (strncmp(types->known.items[i].name, name, length) == 0 && !types->known.items[i].name[length])
			return types->known.items[i].id;
	memcpy(text, name, length);
	text[length] = '\0';
	static const uint32_t kinds[] = { BTF_KIND_STRUCT, BTF_KIND_UNION, BTF_KIND_ENUM, BTF_KIND_ENUM64 }; /* tags, which C does not repeat */
	int id = 0;
	for (size_t i = 0; id <= 0 && i < sizeof kinds / sizeof *kinds; i++)
		id = btf__find_by_name_kind(types->types, text, kinds[i]);
	vec_push(&types->known, ((struct known_struct){ memory_string(text), id > 0 ? (uint32_t)id : 0 }));
	return types->known.items[types->known.count - 1].id;
}

uint32_t kernel_structs_find(struct kernel_structs *types, const char *name, size_t length, uint32_t *size)
{
	uint32_t id = find_type(types, name, length);
	const struct btf_type *type = id ? btf__type_by_id(types->types, id) : NULL;
	bool found = type && btf_is_composite(type);
	*size = found ? type->size : 0;
	return found ? id : 0;
}

const char *kernel_structs_enumerator(struct kernel_structs *types, const char *name, int64_t value)
{
	uint32_t id = find_type(types, name, strlen(name));
	const struct btf_type *type = id ? btf__type_by_id(types->types, id) : NULL;
	for (unsigned i = 0; type && btf_is_enum(type) && i < btf_vlen(type); i++)
		if (btf_enum(type)[i].val == (int32_t)value)
			return btf__name_by_offset(types->types, btf_enum(type)[i].name_off);
	for (unsigned i = 0; type && btf_is_enum64(type) && i < btf_vlen(type); i++)
		if (btf_enum64_value(&btf_enum64(type)[i]) == (uint64_t)value)
			return btf__name_by_offset(types->types, btf_enum64(type)[i].name_off);
	return NULL;
}

static bool has_member(const struct btf *types, uint32_t id, const char *name)
{
	const struct btf_type *type = btf__type_by_id(types, id);
	const struct btf_member *member = type && btf_is_composite(type) ? btf_members(type) : NULL;
	for (int i = 0; member && i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(types, member[i].name_off) ?: "", name) == 0)
			return true;
	return false;
}

uint32_t kernel_structs_member(const struct kernel_structs *types, uint32_t id, const char *name)
{
	const struct btf_type *type = btf__type_by_id(types->types, id);
	const struct btf_member *member = type && btf_is_composite(type) ? btf_members(type) : NULL;
	for (int i = 0; member && i < btf_vlen(type); i++) {
		const char *own = btf__name_by_offset(types->types, member[i].name_off);
		if (own && *own ? strcmp(own, name) == 0 : has_member(types->types, member[i].type, name))
			return member[i].type;
	}
	return 0;
}

void kernel_structs_print(struct kernel_structs *types, uint32_t id, const uint8_t *bytes, size_t size, bool unnamed,
	struct writer *out)
{
	const struct btf_type *type = btf__type_by_id(types->types, id);
	if (!type)
		return;
	/* libbpf refuses fewer bytes than the structure has */
	CLEANUP_FREE uint8_t *whole = memory_zero(type->size ? type->size : 1, 1);
	memcpy(whole, bytes, size < type->size ? size : type->size);
	LIBBPF_OPTS(btf_dump_type_data_opts, options, .compact = true, .skip_names = unnamed);
	types->out = out;
	btf_dump__dump_type_data(types->dump, id, whole, type->size, &options);
	types->out = NULL;
}
