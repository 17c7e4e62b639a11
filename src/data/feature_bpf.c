/* BPF_PROG_INFO and BPF_BTF: the kernel's description of each loaded program (struct bpf_prog_info of include/uapi/linux/bpf.h, followed by
 * its arrays), and the type information that names their functions (Documentation/bpf/btf.rst). */
#include "base/str.h"
#include "data/feature.h"

#include <stdio.h>
#include <stdlib.h>

enum { BTF_MAGIC = 0xeb9f, BTF_HEADER_SIZE = 24, BTF_TYPE_SIZE = 12, TAG_SIZE = 8, NAME_MAX_SIZE = 512 };

/* Offsets in struct bpf_prog_info. */
enum {
	INFO_ID = 4, INFO_CODE_SIZE = 16, INFO_CODE = 24,
	INFO_NAME = 64, INFO_NAME_SIZE = 16, INFO_KSYM_COUNT = 104, INFO_LEN_COUNT = 108, INFO_KSYMS = 112,
	INFO_LENS = 120,
	INFO_BTF_ID = 128, INFO_FUNC_REC_SIZE = 132, INFO_FUNCS = 136, INFO_FUNC_COUNT = 144, INFO_LINE_COUNT = 148, INFO_LINES = 152,
	INFO_CODE_LINES = 160, INFO_CODE_LINE_COUNT = 168, INFO_LINE_REC_SIZE = 172, INFO_CODE_LINE_REC_SIZE = 176, INFO_TAG_COUNT = 180,
	INFO_TAGS = 184, INFO_SIZE = 192,
};

/* Bits of the mask that precedes the info: the arrays that are present. */
enum { ARRAY_CODE = 0, ARRAY_KSYMS = 3, ARRAY_LENS = 4, ARRAY_FUNCS = 5, ARRAY_LINES = 6, ARRAY_CODE_LINES = 7, ARRAY_TAGS = 8 };

struct program {
	uint8_t info[INFO_SIZE]; /* zero-filled if the recorder's kernel wrote less */
	uint64_t arrays;
	struct span data;
	bool swap; /* info and data are of the opposite byte order, and so in struct btf */
};

static uint32_t u32_at(const uint8_t *p, bool swap)
{
	uint32_t v = load_u32(p);
	return swap ? __builtin_bswap32(v) : v;
}

static uint64_t u64_at(const uint8_t *p, bool swap)
{
	uint64_t v = load_u64(p);
	return swap ? __builtin_bswap64(v) : v;
}

static uint32_t info_u32(const struct program *program, unsigned field)
{
	return u32_at(program->info + field, program->swap);
}

static struct cursor body_of(const struct header *header, enum feature feature)
{
	struct span body = header->feature_data[feature];
	struct cursor c = cursor_of(body.data, body.data ? body.len : 0, header->swapped);
	c.short_read = !body.data;
	return c;
}

static bool take_program(struct cursor *c, struct program *program)
{
	uint32_t info_size = take_u32(c), data_size = take_u32(c);
	program->arrays = take_u64(c);
	const uint8_t *info = take(c, info_size);
	program->data = (struct span){ take(c, data_size), data_size };
	program->swap = c->swap;
	if (c->short_read)
		return false;
	memset(program->info, 0, sizeof program->info);
	memcpy(program->info, info, info_size < INFO_SIZE ? info_size : INFO_SIZE);
	return true;
}

/* `count` elements of an array at its offset in the data; NULL if it is absent or does not fit. */
static const uint8_t *program_array(const struct program *program, unsigned array, unsigned field, uint64_t count, uint64_t size)
{
	uint64_t offset = u64_at(program->info + field, program->swap);
	if (!(program->arrays >> array & 1) || offset > program->data.len)
		return NULL;
	uint64_t left = program->data.len - offset;
	return size && count > left / size ? NULL : program->data.data + offset;
}

/* One blob of type information. */
struct btf {
	struct span blob;
	bool opened, good, swap;
	struct span types, strings;
	uint32_t type_count;
	const uint32_t *type_at; /* offset of type i + 1 in `types` */
};

/* All blobs of the recording; each is indexed on first use. */
struct btf_table {
	struct idmap by_id;
	struct btf *blobs;
	bool swap;
	struct arena *arena;
};

/* Number of bytes after the common 12 of a type of this kind with `count` members; SIZE_MAX for an unknown kind. */
static size_t btf_extra(unsigned kind, size_t count)
{
	static const struct {
		uint8_t fixed, each;
	} kinds[] = {
		[1] = { 4, 0 }, [2] = { 0, 0 }, [3] = { 12, 0 }, [4] = { 0, 12 }, [5] = { 0, 12 }, [6] = { 0, 8 }, [7] = { 0, 0 },
		[8] = { 0, 0 }, [9] = { 0, 0 }, [10] = { 0, 0 }, [11] = { 0, 0 }, [12] = { 0, 0 }, [13] = { 0, 8 }, [14] = { 4, 0 },
		[15] = { 0, 12 }, [16] = { 0, 0 }, [17] = { 4, 0 }, [18] = { 0, 0 }, [19] = { 0, 12 },
	};
	if (kind == 0 || kind >= sizeof kinds / sizeof *kinds)
		return SIZE_MAX;
	return kinds[kind].fixed + kinds[kind].each * count;
}

static void btf_index_types(struct btf *btf, struct arena *arena)
{
	struct cursor c = cursor_of(btf->types.data, btf->types.len, btf->swap);
	uint32_t *at = arena_alloc(arena, btf->types.len / BTF_TYPE_SIZE * sizeof *at);
	while (cursor_left(&c) >= BTF_TYPE_SIZE) {
		at[btf->type_count++] = (uint32_t)c.at;
		take_u32(&c);
		uint32_t info = take_u32(&c);
		take_u32(&c);
		size_t extra = btf_extra(info >> 24 & 0x1f, info & 0xffff);
		if (extra == SIZE_MAX || !take(&c, extra))
			break;
	}
	btf->type_at = at;
}

static void btf_open(struct btf *btf, struct arena *arena)
{
	struct span blob = btf->blob;
	struct cursor c = cursor_of(blob.data, blob.len, btf->swap);
	btf->opened = true;
	uint16_t magic = take_u16(&c);
	take_u16(&c);
	uint32_t header_size = take_u32(&c);
	uint32_t types_at = take_u32(&c), types_size = take_u32(&c), strings_at = take_u32(&c), strings_size = take_u32(&c);
	if (c.short_read || magic != BTF_MAGIC || header_size < BTF_HEADER_SIZE || header_size > blob.len)
		return;
	size_t left = blob.len - header_size;
	if (types_at > left || types_size > left - types_at || strings_at > left || strings_size > left - strings_at)
		return;
	btf->types = (struct span){ blob.data + header_size + types_at, types_size };
	btf->strings = (struct span){ blob.data + header_size + strings_at, strings_size };
	btf->good = true;
	btf_index_types(btf, arena);
}

/* Of a longer text only the start: many may refer to one. */
static struct span btf_text(const struct btf *btf, uint32_t at)
{
	enum { TEXT_MAX = 4096 };
	if (at >= btf->strings.len)
		return (struct span){ 0 };
	const uint8_t *text = btf->strings.data + at;
	size_t left = btf->strings.len - at;
	return (struct span){ text, strnlen((const char *)text, left < TEXT_MAX ? left : TEXT_MAX) };
}

/* The name of a type by its id (from 1); NULL if absent. */
static const char *btf_type_name(const struct btf *btf, uint32_t id, size_t *len)
{
	if (id == 0 || id > btf->type_count)
		return NULL;
	struct span text = btf_text(btf, u32_at(btf->types.data + btf->type_at[id - 1], btf->swap));
	*len = text.len;
	return (const char *)text.data;
}

/* Calls visit for every blob. */
static void btf_each(const struct header *header, void (*visit)(void *context, uint32_t id, struct span blob), void *context)
{
	struct cursor c = body_of(header, FEATURE_BPF_BTF);
	uint32_t count = take_u32(&c);
	for (uint32_t i = 0; i < count && !c.short_read; i++) {
		uint32_t id = take_u32(&c), size = take_u32(&c);
		const uint8_t *data = take(&c, size);
		if (data)
			visit(context, id, (struct span){ data, size });
	}
}

/* Returns false if the list is damaged; it then counts as empty. */
static bool btf_count(const struct header *header, uint32_t *count)
{
	struct cursor c = body_of(header, FEATURE_BPF_BTF);
	uint32_t claimed = take_u32(&c);
	bool good = !c.short_read && claimed <= cursor_left(&c) / 8;
	*count = good ? claimed : 0;
	return good;
}

static void btf_table_add(void *context, uint32_t id, struct span blob)
{
	struct btf_table *table = context;
	bool added;
	uint32_t index = (uint32_t)table->by_id.count;
	idmap_add(&table->by_id, id, index, &added);
	if (added)
		table->blobs[index] = (struct btf){ .blob = blob, .swap = table->swap };
}

static struct btf *btf_find(struct btf_table *table, uint32_t id)
{
	uint32_t index = id ? idmap_get(&table->by_id, id) : IDMAP_NONE;
	if (index == IDMAP_NONE)
		return NULL;
	struct btf *btf = &table->blobs[index];
	if (!btf->opened)
		btf_open(btf, table->arena);
	return btf->good ? btf : NULL;
}

struct naming {
	const struct program *program;
	const uint8_t *tags, *funcs;
	uint32_t func_size, count;
	const struct btf *btf; /* NULL: absent */
};

/* The part of the name after the tag: the function's name from BTF, or the program's name. */
static const char *function_word(const struct naming *naming, uint32_t i, size_t *len)
{
	if (naming->btf) {
		if (!naming->funcs)
			return NULL;
		return btf_type_name(naming->btf, u32_at(naming->funcs + (size_t)i * naming->func_size + 4, naming->program->swap), len);
	}
	if (naming->count != 1) {
		*len = 1;
		return "F";
	}
	const char *name = (const char *)naming->program->info + INFO_NAME;
	*len = strnlen(name, INFO_NAME_SIZE);
	return *len ? name : NULL;
}

static const char *function_name(const struct naming *naming, uint32_t i, struct arena *arena)
{
	char text[NAME_MAX_SIZE];
	int n = snprintf(text, sizeof text, "bpf_prog_");
	for (unsigned byte = 0; byte < TAG_SIZE; byte++)
		n += snprintf(text + n, sizeof text - n, "%02x", naming->tags[(size_t)i * TAG_SIZE + byte]);
	size_t len = 0;
	const char *word = function_word(naming, i, &len);
	if (word)
		snprintf(text + n, sizeof text - n, "_%.*s", (int)(len < sizeof text ? len : sizeof text), word);
	return text_one_line(arena, text, strlen(text));
}

/* The source lines of a program (struct bpf_line_info of include/uapi/linux/bpf.h), and where their code begins, function by function. */
struct line_arrays {
	const uint8_t *lines, *addresses;
	uint32_t line_size, address_size, left;
	const struct btf *btf;
	bool swap;
};

static struct line_arrays line_arrays_of(const struct program *program, const struct btf *btf)
{
	enum { LINE_SIZE = 16, ADDRESS_SIZE = 8 };
	uint32_t count = info_u32(program, INFO_LINE_COUNT);
	struct line_arrays all = { .line_size = info_u32(program, INFO_LINE_REC_SIZE), .address_size = info_u32(program, INFO_CODE_LINE_REC_SIZE),
		.btf = btf, .swap = program->swap };
	all.lines = program_array(program, ARRAY_LINES, INFO_LINES, count, all.line_size);
	all.addresses = program_array(program, ARRAY_CODE_LINES, INFO_CODE_LINES, count, all.address_size);
	bool usable = btf && all.lines && all.addresses && all.line_size >= LINE_SIZE && all.address_size >= ADDRESS_SIZE;
	all.left = usable && count == info_u32(program, INFO_CODE_LINE_COUNT) ? count : 0;
	return all;
}

/* Takes the lines of the next function. */
static void take_lines(struct line_arrays *all, struct feature_bpf_function *function, struct arena *arena)
{
	uint32_t count = 0;
	for (uint64_t last = function->address; count < all->left; count++) {
		uint64_t address = u64_at(all->addresses + (size_t)count * all->address_size, all->swap);
		if (address < last || address - function->address >= function->size)
			break;
		last = address;
	}
	if (!count)
		return; /* of a program without lines there may be no address */
	struct feature_bpf_line *lines = arena_alloc(arena, (size_t)count * sizeof *lines);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *line = all->lines + (size_t)i * all->line_size;
		lines[i] = (struct feature_bpf_line){
			.address = u64_at(all->addresses + (size_t)i * all->address_size, all->swap),
			.file = btf_text(all->btf, u32_at(line + 4, all->swap)),
			.text = btf_text(all->btf, u32_at(line + 8, all->swap)),
			.number = u32_at(line + 12, all->swap) >> 10, /* below: the column */
		};
	}
	all->lines += (size_t)count * all->line_size;
	all->addresses += (size_t)count * all->address_size;
	all->left -= count;
	function->lines = lines;
	function->line_count = count;
}

const struct feature_bpf_line *feature_bpf_line(const struct feature_bpf_function *function, uint64_t address)
{
	uint32_t low = 0, high = function->line_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (function->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &function->lines[low - 1] : NULL;
}

/* Returns false if the program has no functions to show. */
static bool program_functions(const struct program *program, struct btf_table *types, struct arena *arena,
	struct feature_bpf_program *out)
{
	uint32_t count = info_u32(program, INFO_KSYM_COUNT);
	*out = (struct feature_bpf_program){ .id = info_u32(program, INFO_ID) };
	if (count != info_u32(program, INFO_TAG_COUNT) || count != info_u32(program, INFO_LEN_COUNT))
		return false;
	struct naming naming = { .program = program, .count = count, .func_size = info_u32(program, INFO_FUNC_REC_SIZE) };
	const uint8_t *ksyms = program_array(program, ARRAY_KSYMS, INFO_KSYMS, count, 8);
	const uint8_t *lens = program_array(program, ARRAY_LENS, INFO_LENS, count, 4);
	naming.tags = program_array(program, ARRAY_TAGS, INFO_TAGS, count, TAG_SIZE);
	if (count && (!ksyms || !lens || !naming.tags))
		return false;
	naming.btf = btf_find(types, info_u32(program, INFO_BTF_ID));
	if (naming.func_size >= 8 && info_u32(program, INFO_FUNC_COUNT) >= count)
		naming.funcs = program_array(program, ARRAY_FUNCS, INFO_FUNCS, count, naming.func_size);
	struct feature_bpf_function *functions = arena_alloc(arena, (size_t)count * sizeof *functions);
	uint64_t code_size = info_u32(program, INFO_CODE_SIZE), at = 0;
	const uint8_t *code = program_array(program, ARRAY_CODE, INFO_CODE, code_size, 1);
	struct line_arrays lines = line_arrays_of(program, naming.btf);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t size = u32_at(lens + (size_t)i * 4, program->swap);
		bool recorded = code && at <= code_size && size <= code_size - at;
		functions[i] = (struct feature_bpf_function){
			.address = u64_at(ksyms + (size_t)i * 8, program->swap),
			.size = size,
			.name = function_name(&naming, i, arena),
			.code = recorded ? (struct span){ code + at, size } : (struct span){ 0 },
		};
		take_lines(&lines, &functions[i], arena);
		at += size;
	}
	out->count = count;
	out->functions = functions;
	return true;
}

struct order {
	uint32_t id, place;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *left = a, *right = b;
	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->place < right->place ? -1 : left->place > right->place;
}

/* Sorts by id; of several with the same id retains the first in the file. */
static void programs_sort(struct feature_bpf *bpf, struct arena *arena)
{
	struct order *orders = arena_alloc(arena, (size_t)bpf->count * sizeof *orders);
	struct feature_bpf_program *sorted = arena_alloc(arena, (size_t)bpf->count * sizeof *sorted);
	for (uint32_t i = 0; i < bpf->count; i++)
		orders[i] = (struct order){ bpf->programs[i].id, i };
	qsort(orders, bpf->count, sizeof *orders, order_compare);
	uint32_t unique = 0;
	for (uint32_t i = 0; i < bpf->count; i++)
		if (!unique || sorted[unique - 1].id != orders[i].id)
			sorted[unique++] = bpf->programs[orders[i].place];
	*bpf = (struct feature_bpf){ unique, sorted };
}

int feature_bpf(const struct header *header, struct arena *arena, struct feature_bpf *out)
{
	struct cursor c = body_of(header, FEATURE_BPF_PROG_INFO);
	*out = (struct feature_bpf){ 0 };
	uint32_t claimed = take_u32(&c);
	if (c.short_read || claimed > cursor_left(&c) / 16)
		return -1;
	uint32_t btfs, read = 0;
	btf_count(header, &btfs);
	struct btf_table types = { .blobs = arena_alloc(arena, (size_t)btfs * sizeof(struct btf)), .swap = header->swapped, .arena = arena };
	if (btfs)
		btf_each(header, btf_table_add, &types);
	struct feature_bpf_program *programs = arena_alloc(arena, (size_t)claimed * sizeof *programs);
	for (; read < claimed; read++) {
		struct program program;
		if (!take_program(&c, &program))
			break;
		if (program_functions(&program, &types, arena, &programs[out->count]))
			out->count++;
	}
	out->programs = programs;
	programs_sort(out, arena);
	idmap_fini(&types.by_id);
	return read < claimed ? -1 : 0;
}

struct btf_ids {
	uint32_t *ids;
	uint32_t count;
};

static void btf_keep_id(void *context, uint32_t id, __attribute__((unused)) struct span blob)
{
	struct btf_ids *ids = context;
	ids->ids[ids->count++] = id;
}

static int id_compare(const void *a, const void *b)
{
	uint32_t left = load_u32(a), right = load_u32(b);
	return left < right ? -1 : left > right;
}

int feature_btf(const struct header *header, struct arena *arena, struct feature_btf *out)
{
	uint32_t claimed;
	*out = (struct feature_btf){ 0 };
	if (!btf_count(header, &claimed))
		return -1;
	struct btf_ids found = { .ids = arena_alloc(arena, (size_t)claimed * sizeof *found.ids) };
	btf_each(header, btf_keep_id, &found);
	if (found.count)
		qsort(found.ids, found.count, sizeof *found.ids, id_compare);
	uint32_t unique = 0;
	for (uint32_t i = 0; i < found.count; i++)
		if (!unique || found.ids[unique - 1] != found.ids[i])
			found.ids[unique++] = found.ids[i];
	*out = (struct feature_btf){ unique, found.ids };
	return found.count < claimed ? -1 : 0;
}
