#include "symbol/packed.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"

/* Header, starts and rest of the kernel's symbols, starts and rest of the modules' (by address within each module), modules, names,
 * checksum; in native byte order:
 *
 * header   magic, state, _text, _stext (8 bytes each); numbers of symbols, symbols in modules, modules, bytes of names (4 each)
 * start    (8)
 * rest     size (4; TO_NEXT: up to the next symbol), name (4: offset and kind)
 * module   name, first symbol, number of symbols (4 each) */
enum { SYMBOL_SIZE = PACKED_START + PACKED_REST, NAME_BITS = 29 };
#define MAGIC 0x3230736d79736b70u /* the last two digits are the version */
#define TO_NEXT UINT32_MAX
#define NAMES_MAX ((1u << NAME_BITS) - 1)

enum kind_bits { KIND_GLOBAL = 1, KIND_WEAK = 2, KIND_FUNCTION = 4 };

static uint64_t start_of(const struct packed_symbols *s, uint32_t index)
{
	return load_u64(s->starts + (size_t)index * PACKED_START) + (uint64_t)s->shift;
}

uint32_t packed_find(const struct packed_symbols *s, uint64_t offset)
{
	uint32_t low = 0, left = s->count;
	while (left) {
		uint32_t half = left / 2;
		if (start_of(s, low + half) <= offset) {
			low += half + 1;
			left -= half + 1;
		} else {
			left = half;
		}
	}
	return low;
}

void packed_describe(const struct packed_symbols *s, uint32_t id, const uint8_t rest[static PACKED_REST], struct symbol *symbol)
{
	uint32_t size = load_u32(rest), word = load_u32(rest + 4), name = word & NAMES_MAX, kind = word >> NAME_BITS;
	uint64_t start = start_of(s, id - 1), end = start + size;
	if (size == TO_NEXT)
		end = id < s->count ? start_of(s, id) : start;
	*symbol = (struct symbol){ .start = start, .end = end, .name = name < s->names.len ? (const char *)s->names.data + name : "",
		.binding = kind & KIND_WEAK ? STB_WEAK : kind & KIND_GLOBAL ? STB_GLOBAL : STB_LOCAL,
		.type = kind & KIND_FUNCTION ? STT_FUNC : STT_OBJECT };
}

void packed_get(const struct packed_symbols *s, uint32_t id, struct symbol *symbol)
{
	packed_describe(s, id, s->rest + (size_t)(id - 1) * PACKED_REST, symbol);
}

static void take_symbols(struct cursor *c, size_t count, struct packed_symbols *s)
{
	s->starts = take(c, count * PACKED_START);
	s->rest = take(c, count * PACKED_REST);
	s->count = (uint32_t)count;
}

int packed_open(struct packed_list *list, struct span bytes, uint64_t state, struct error *err)
{
	*list = (struct packed_list){ 0 };
	struct cursor c = cursor_of(bytes.data, bytes.len, false);
	bool known = take_u64(&c) == MAGIC && take_u64(&c) == state;
	list->marks = (struct kallsyms_marks){ .text = take_u64(&c), .stext = take_u64(&c) };
	uint64_t kernel = take_u32(&c), in_modules = take_u32(&c), modules = take_u32(&c), names = take_u32(&c);
	if (!known || c.short_read || kernel > SIZE_MAX / SYMBOL_SIZE || in_modules > SIZE_MAX / SYMBOL_SIZE || modules > SIZE_MAX / PACKED_MODULE)
		return error_set(err, ERROR_FORMAT, "not a list of this kernel's symbols");
	take_symbols(&c, (size_t)kernel, &list->kernel);
	take_symbols(&c, (size_t)in_modules, &list->in_modules);
	list->modules = take(&c, (size_t)modules * PACKED_MODULE);
	list->names = (struct span){ take(&c, (size_t)names), (size_t)names };
	if (c.short_read || cursor_left(&c) != PACKED_SUM_SIZE || (names && list->names.data[names - 1])) {
		*list = (struct packed_list){ 0 };
		return error_set(err, ERROR_FORMAT, "an invalid list of symbols");
	}
	list->kernel.names = list->in_modules.names = list->names;
	list->module_count = (uint32_t)modules;
	return 0;
}

struct span packed_module_names(const struct packed_list *list)
{
	size_t first = list->module_count ? load_u32(list->modules) : list->names.len;
	first = first < list->names.len ? first : list->names.len;
	return (struct span){ list->names.data + first, list->names.len - first };
}

/* Removes the first `count` symbols. */
static void packed_skip(struct packed_symbols *s, uint32_t count)
{
	s->starts += (size_t)count * PACKED_START;
	s->rest += (size_t)count * PACKED_REST;
	s->count -= count;
}

void packed_module(const struct packed_list *list, const char *module, uint64_t start, struct packed_symbols *s)
{
	uint32_t all = list->in_modules.count;
	*s = (struct packed_symbols){ 0 };
	for (uint32_t i = 0; i < list->module_count && !s->count; i++) {
		const uint8_t *entry = list->modules + (size_t)i * PACKED_MODULE;
		uint32_t name = load_u32(entry), first = load_u32(entry + 4), count = load_u32(entry + 8);
		if (name >= list->names.len || strcmp((const char *)list->names.data + name, module) != 0)
			continue;
		if (first > all || count > all - first)
			return;
		*s = list->in_modules;
		packed_skip(s, first);
		s->count = count;
	}
	while (s->count && start_of(s, 0) < start)
		packed_skip(s, 1);
	s->shift = -(int64_t)start;
}

/* A list under construction: its size was computed before. */
struct making {
	char *at;              /* position of the next field … */
	char *rest;            /* … and of the rest of the next symbol */
	char *names;
	size_t names_len;
	bool fits;
};

static void put_u64(struct making *m, uint64_t value)
{
	m->at = (char *)memcpy(m->at, &value, sizeof value) + sizeof value;
}

static void put_u32(struct making *m, uint32_t value)
{
	m->at = (char *)memcpy(m->at, &value, sizeof value) + sizeof value;
}

static uint32_t put_name(struct making *m, const char *name)
{
	uint32_t at = (uint32_t)m->names_len;
	size_t size = strlen(name) + 1;
	memcpy(m->names + at, name, size);
	m->names_len += size;
	return at;
}

/* next: the following symbol of the same part; NULL: it is the last. */
static void put_symbol(struct making *m, const struct symbol *symbol, const struct symbol *next)
{
	uint64_t size = symbol->end - symbol->start;
	if (size >= TO_NEXT) {
		m->fits &= next && next->start == symbol->end;
		size = TO_NEXT;
	}
	uint32_t kind = (symbol->binding == STB_GLOBAL ? KIND_GLOBAL : 0u) | (symbol->binding == STB_WEAK ? KIND_WEAK : 0u) |
		(symbol->type == STT_FUNC ? KIND_FUNCTION : 0u);
	uint32_t rest[2] = { (uint32_t)size, put_name(m, symbol->name) | kind << NAME_BITS };
	put_u64(m, symbol->start);
	m->rest = (char *)memcpy(m->rest, rest, sizeof rest) + sizeof rest;
}

struct module_of_list {
	const char *name;
	VEC(uint32_t) symbols; /* indices in the list's in_modules */
};

static const char *module_name(const struct symbol *symbol)
{
	return symbol->name + strlen(symbol->name) + 1;
}

struct modules_of_list {
	VEC(struct module_of_list) list;
	uint32_t symbols;
	size_t names;          /* bytes of their names */
};

/* Consecutive symbols are mostly of one module. */
static struct module_of_list *module_find(struct modules_of_list *m, const char *name)
{
	for (size_t i = m->list.count; i-- > 0;)
		if (strcmp(m->list.items[i].name, name) == 0)
			return &m->list.items[i];
	struct module_of_list *module = vec_add(&m->list);
	module->name = name;
	m->names += strlen(name) + 1;
	return module;
}

static void modules_collect(struct modules_of_list *m, const struct kallsyms *k)
{
	struct module_of_list *last = NULL;
	for (uint32_t i = 0; i < k->in_modules_count; i++) {
		const char *name = module_name(&k->in_modules[i]);
		if (strcmp(name, "[bpf]") == 0 || strncmp(name, "[__builtin__", 12) == 0)
			continue;
		if (!last || strcmp(last->name, name) != 0)
			last = module_find(m, name);
		vec_push(&last->symbols, i);
		m->names += strlen(k->in_modules[i].name) + 1;
		m->symbols++;
	}
}

static void put_modules(struct making *m, const struct modules_of_list *modules, const struct kallsyms *k)
{
	m->rest = m->at + (size_t)modules->symbols * PACKED_START;
	for (size_t i = 0; i < modules->list.count; i++) {
		const struct module_of_list *module = &modules->list.items[i];
		for (size_t j = 0; j < module->symbols.count; j++) {
			bool last = j + 1 == module->symbols.count;
			put_symbol(m, &k->in_modules[module->symbols.items[j]], last ? NULL : &k->in_modules[module->symbols.items[j + 1]]);
		}
	}
	m->at = m->rest;
	uint32_t first = 0;
	for (size_t i = 0; i < modules->list.count; i++) {
		put_u32(m, put_name(m, modules->list.items[i].name));
		put_u32(m, first);
		put_u32(m, (uint32_t)modules->list.items[i].symbols.count);
		first += (uint32_t)modules->list.items[i].symbols.count;
	}
}

static void collected_fini(struct modules_of_list *m)
{
	for (size_t i = 0; i < m->list.count; i++)
		vec_fini(&m->list.items[i].symbols);
	vec_fini(&m->list);
}

static void put_list(struct making *m, const struct kallsyms *k, const struct modules_of_list *modules, uint64_t state, size_t names)
{
	put_u64(m, MAGIC);
	put_u64(m, state);
	put_u64(m, k->marks.text);
	put_u64(m, k->marks.stext);
	put_u32(m, k->kernel.count);
	put_u32(m, modules->symbols);
	put_u32(m, (uint32_t)modules->list.count);
	put_u32(m, (uint32_t)names);
	m->rest = m->at + (size_t)k->kernel.count * PACKED_START;
	for (uint32_t i = 0; i < k->kernel.count; i++)
		put_symbol(m, &k->kernel.symbols[i], i + 1 < k->kernel.count ? &k->kernel.symbols[i + 1] : NULL);
	m->at = m->rest;
	put_modules(m, modules, k);
}

int packed_make(const struct kallsyms *k, uint64_t state, char **bytes, size_t *len, struct error *err)
{
	struct modules_of_list modules = { 0 };
	modules_collect(&modules, k);
	size_t names = modules.names, items = k->kernel.count + (size_t)modules.symbols;
	for (uint32_t i = 0; i < k->kernel.count; i++)
		names += strlen(k->kernel.symbols[i].name) + 1;
	size_t names_at = PACKED_HEADER + items * SYMBOL_SIZE + modules.list.count * PACKED_MODULE;
	*bytes = NULL;
	*len = names_at + names + PACKED_SUM_SIZE;
	struct making m = { .fits = names <= NAMES_MAX };
	if (m.fits) {
		m.at = *bytes = memory_large(*len);
		m.names = *bytes + names_at;
		put_list(&m, k, &modules, state, names);
		struct packed_sum sum = { 0 };
		packed_sum_add(&sum, *bytes, *len - PACKED_SUM_SIZE);
		m.at = *bytes + names_at + names;
		put_u64(&m, packed_sum_end(&sum));
	}
	collected_fini(&modules);
	if (m.fits)
		return 0;
	free(*bytes);
	*bytes = NULL;
	return error_set(err, ERROR_LIMIT, "a list of symbols with too long names or too large symbols");
}

void packed_sum_add(struct packed_sum *sum, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t a = sum->lanes[0], b = sum->lanes[1], c = sum->lanes[2], d = sum->lanes[3];
	sum->len += len;
	for (; len >= PACKED_PIECE; p += PACKED_PIECE, len -= PACKED_PIECE) {
		a = (a ^ load_u64(p)) * 0x9e3779b97f4a7c15u;
		b = (b ^ load_u64(p + 8)) * 0x9e3779b97f4a7c15u;
		c = (c ^ load_u64(p + 16)) * 0x9e3779b97f4a7c15u;
		d = (d ^ load_u64(p + 24)) * 0x9e3779b97f4a7c15u;
		a ^= a >> 32;
		b ^= b >> 32;
		c ^= c >> 32;
		d ^= d >> 32;
	}
	a = len ? hash_bytes_from(a, p, len) : a;
	memcpy(sum->lanes, (uint64_t[]){ a, b, c, d }, sizeof sum->lanes);
}

uint64_t packed_sum_end(const struct packed_sum *sum)
{
	return hash_pair(hash_pair(sum->lanes[0], sum->lanes[1]), hash_pair(sum->lanes[2], sum->lanes[3])) ^ sum->len;
}
