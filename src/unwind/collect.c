#include "unwind/collect.h"

#include <elf.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/hash.h"

#define PIECES_LIMIT (32u << 20)
#define ENTRY_BYTES 32u  /* minimal size of an entry */
#define ROWS 12u         /* ascending rows of entries that are handled separately */

static uint64_t section_address(const struct elf *elf, const char *name)
{
	const struct elf_section *section = elf_section(elf, name);
	return section ? section->address : 0;
}

static void add_section(struct collection *c, const struct elf *elf, struct span bytes, uint64_t address, bool eh, void *owned)
{
	if (!bytes.len || bytes.len > UINT32_MAX || c->section_count == COLLECT_SECTIONS) {
		free(owned);
		return;
	}
	uint64_t data = section_address(elf, ".got.plt");
	c->owned[c->section_count] = owned;
	c->bytes += bytes.len;
	c->sections[c->section_count++] = (struct cfi_section){ .bytes = bytes, .address = address, .eh = eh, .is64 = elf->is64,
		.text = section_address(elf, ".text"), .data = data ? data : section_address(elf, ".got") };
}

/* Takes from the budget what pieces and rows of `len` bytes need during compilation, and the inflated bytes. */
static bool collection_take(struct collection *c, uint64_t len, uint64_t inflated)
{
	enum { GROWTH = 4 };
	size_t bytes = len <= UINT32_MAX ? (size_t)(len * GROWTH + inflated) : SIZE_MAX;
	if (!budget_take(c->budget, bytes))
		return false;
	c->taken += c->budget ? bytes : 0;
	return true;
}

static void add_named(struct collection *c, const struct elf *elf, const char *name, bool eh)
{
	const struct elf_section *section = elf ? elf_section(elf, name) : NULL;
	struct span bytes;
	void *owned = NULL;
	if (!section || section->type == SHT_NOBITS)
		return;
	uint64_t claim = elf_section_claim(elf, section);
	if (!collection_take(c, claim ? claim : section->size, claim))
		return;
	if (elf_section_inflate(elf, section, claim, &bytes, &owned, NULL) >= 0)
		add_section(c, elf, bytes, section->address, eh, owned);
}

static uint64_t header_word(const struct elf *elf, size_t at, bool wide)
{
	return wide ? load_u64(elf->bytes.data + at) : load_u32(elf->bytes.data + at);
}

/* Finds the segment PT_GNU_EH_FRAME, which refers to .eh_frame in files without a section table. */
static bool header_segment(const struct elf *elf, uint64_t *offset, uint64_t *address, uint64_t *size)
{
	size_t entry = elf->is64 ? 56 : 32;
	for (uint32_t i = 0; i < elf->segment_count; i++) {
		size_t at = (size_t)elf->segment_offset + i * entry;
		if (at > elf->bytes.len || entry > elf->bytes.len - at)
			return false;
		if (load_u32(elf->bytes.data + at) != PT_GNU_EH_FRAME)
			continue;
		*offset = header_word(elf, at + (elf->is64 ? 8 : 4), elf->is64);
		*address = header_word(elf, at + (elf->is64 ? 16 : 8), elf->is64);
		*size = header_word(elf, at + (elf->is64 ? 32 : 16), elf->is64);
		return *offset <= elf->bytes.len && *size <= elf->bytes.len - *offset;
	}
	return false;
}

static void add_by_segment(struct collection *c, const struct elf *elf)
{
	uint64_t offset, address, size, frame;
	if (!header_segment(elf, &offset, &address, &size))
		return;
	struct cfi_section header = { .bytes = { elf->bytes.data + offset, (size_t)size }, .address = address, .data = address,
		.is64 = elf->is64 };
	struct cursor at = cursor_of(header.bytes.data, header.bytes.len, false);
	uint8_t version = take_u8(&at), encoding = take_u8(&at);
	take(&at, 2);
	if (version != 1 || encoding == POINTER_OMIT || !take_pointer(&at, &header, encoding, elf->is64 ? 8 : 4, 0, &frame))
		return;
	const struct elf_load *load = elf_load_at(elf, frame);
	if (!load || frame - load->vaddr >= load->file_size)
		return;
	uint64_t from = frame - load->vaddr + load->offset, left = load->file_size - (frame - load->vaddr);
	if (from > elf->bytes.len || left > elf->bytes.len - from || !collection_take(c, left, 0))
		return;
	add_section(c, elf, (struct span){ elf->bytes.data + from, (size_t)left }, frame, true, NULL);
}

void collection_init(struct collection *c, const struct elf *runtime, const struct elf *debug, struct budget *budget)
{
	*c = (struct collection){ .budget = budget };
	add_named(c, runtime, ".eh_frame", true);
	if (!c->section_count)
		add_by_segment(c, runtime);
	add_named(c, runtime, ".debug_frame", false);
	add_named(c, debug, ".debug_frame", false);
}

void collection_init_frames(struct collection *c, struct span frames, uint64_t address, bool is64)
{
	*c = (struct collection){ .section_count = 1, .bytes = frames.len };
	c->sections[0] = (struct cfi_section){ .bytes = frames, .address = address, .eh = true, .is64 = is64 };
}

void collection_fini(struct collection *c)
{
	for (unsigned i = 0; i < c->section_count; i++)
		free(c->owned[i]);
	budget_give(c->budget, c->taken);
	vec_fini(&c->pieces);
	vec_fini(&c->cies);
	*c = (struct collection){ 0 };
}

/* Offsets of CIEs → indices. */
struct cies_seen {
	struct idmap all;
	uint64_t offset;         /* of the last look-up, which mostly recurs */
	uint32_t index;          /* UINT32_MAX: none yet */
};

static uint32_t cie_index(struct collection *c, unsigned section, struct cies_seen *seen, uint64_t offset)
{
	bool added;
	if (seen->index != UINT32_MAX && seen->offset == offset)
		return seen->index;
	uint32_t index = idmap_add(&seen->all, offset, (uint32_t)c->cies.count, &added);
	if (added) {
		struct collected_cie *fresh = vec_add(&c->cies);
		fresh->section = (uint8_t)section;
		fresh->good = cfi_cie(&c->sections[section], offset, &fresh->cie);
	}
	seen->offset = offset;
	seen->index = index;
	return index;
}

static void add_piece(struct collection *c, unsigned section, struct cies_seen *cies, struct fde *fde)
{
	struct span program;
	uint64_t at;
	uint32_t index = cie_index(c, section, cies, fde->cie);
	if (!c->cies.items[index].good || !cfi_fde(&c->sections[section], &c->cies.items[index].cie, fde, &program, &at)) {
		c->damaged++;
		return;
	}
	/* entries of discarded code start at 0 in .debug_frame */
	if (!fde->size || (!fde->start && !c->sections[section].eh) || c->pieces.count >= PIECES_LIMIT)
		return;
	vec_push(&c->pieces, ((struct piece){ .start = fde->start, .end = fde->start + fde->size,
		.function = fde->start, .program = (uint32_t)at,
		.program_len = (uint32_t)program.len, .cie = index, .section = (uint8_t)section,
		.rank = (uint8_t)(section + 1) }));
}

static void read_section(struct collection *c, unsigned section)
{
	struct cies_seen cies = { .index = UINT32_MAX };
	struct fde fde;
	uint64_t offset = 0, cie;
	for (;;) {
		enum cfi_entry entry = cfi_next(&c->sections[section], &offset, &fde, &cie);
		if (entry == CFI_END)
			break;
		if (entry == CFI_FDE)
			add_piece(c, section, &cies, &fde);
		c->damaged += entry == CFI_DAMAGED;
	}
	idmap_fini(&cies.all);
}

static int piece_order(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->program < y->program ? -1 : x->program > y->program;
}

struct sort_key {
	uint32_t start, index;
};

/* Item i becomes the item at order[i].index, in place along the cycles: page faults of a second array would cost more than the sort. */
static void permute(struct piece *items, struct sort_key *order, size_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct piece first = items[i];
		uint32_t to = i;
		for (uint32_t from = order[to].index; from != i; from = order[to].index) {
			items[to] = items[from];
			order[to].index = to;
			to = from;
		}
		items[to] = first;
		order[to].index = to;
	}
}

/* Radix sort by start; stable. */
static void sort_by_digits(struct piece *items, size_t count, uint64_t base, uint64_t range)
{
	enum { DIGIT = 13 };
	struct sort_key *keys = memory_large(2 * count * sizeof *keys), *from = keys, *to = keys + count;
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){ (uint32_t)(items[i].start - base), (uint32_t)i };
	for (unsigned digit = 0; range >> digit * DIGIT; digit++) {
		uint32_t places[(1 << DIGIT) + 1] = { 0 };
		for (size_t i = 0; i < count; i++)
			places[(from[i].start >> digit * DIGIT & ((1 << DIGIT) - 1)) + 1]++;
		for (unsigned i = 1; i <= 1 << DIGIT; i++)
			places[i] += places[i - 1];
		for (size_t i = 0; i < count; i++)
			to[places[from[i].start >> digit * DIGIT & ((1 << DIGIT) - 1)]++] = from[i];
		struct sort_key *swap = from;
		from = to;
		to = swap;
	}
	permute(items, from, count);
	free(keys);
}

static void sort_any(struct piece *items, size_t count)
{
	enum { FEW = 4096 };
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 0; i < count; i++) {
		low = items[i].start < low ? items[i].start : low;
		high = items[i].start > high ? items[i].start : high;
	}
	if (count > FEW && high - low <= UINT32_MAX)
		sort_by_digits(items, count, low, high - low);
	else
		qsort(items, count, sizeof *items, piece_order);
}

/* Merges late pieces into sorted ones, which have room at their end. */
static void merge_pieces(struct piece *items, size_t count, const struct piece *late, size_t late_count)
{
	for (size_t at = count + late_count; late_count;)
		items[--at] = count && piece_order(&items[count - 1], &late[late_count - 1]) > 0 ? items[--count] : late[--late_count];
}

/* Linkers write entries in few ascending rows, one for each kind of code: pieces that do not continue the first row are set aside, sorted
 * in the same way, and merged. rows: maximal number of rows; room: maximal number of pieces set aside. */
static void sort_pieces(struct piece *items, size_t count, unsigned rows, size_t room)
{
	size_t i = 1;
	while (i < count && piece_order(&items[i - 1], &items[i]) <= 0)
		i++;
	if (i >= count)
		return;
	if (!rows || count > room) {
		sort_any(items, count);
		return;
	}
	struct piece *late = memory_large((count - i) * sizeof *late);
	size_t late_count = 0, kept = i;
	for (; i < count; i++)
		if (piece_order(&items[kept - 1], &items[i]) <= 0)
			items[kept++] = items[i];
		else
			late[late_count++] = items[i];
	sort_pieces(late, late_count, rows - 1, room - late_count);
	merge_pieces(items, kept, late, late_count);
	free(late);
}

/* Of two pieces with the same start the better one is retained; a piece that overlaps the next is shortened. */
static void remove_overlaps(struct collection *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->pieces.count; i++) {
		struct piece *piece = &c->pieces.items[i], *last = kept ? &c->pieces.items[kept - 1] : NULL;
		if (last && last->start == piece->start) {
			if (piece->rank < last->rank)
				*last = *piece;
			continue;
		}
		if (last && last->end > piece->start) {
			/* the better section retains its range */
			if (last->rank < piece->rank) {
				if (last->end >= piece->end)
					continue;
				piece->start = last->end;
			} else {
				last->end = piece->start;
			}
		}
		c->pieces.items[kept++] = *piece;
	}
	c->pieces.count = kept;
}

void collection_read(struct collection *c)
{
	/* reserves room for about all of them at once; only used pages are allocated */
	c->pieces.capacity = c->bytes / ENTRY_BYTES + 1;
	c->pieces.items = memory_large(c->pieces.capacity * sizeof *c->pieces.items);
	for (unsigned i = 0; i < c->section_count; i++)
		read_section(c, i);
}

void collection_clip(struct collection *c, uint64_t low, uint64_t high)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->pieces.count; i++) {
		const struct piece *piece = &c->pieces.items[i];
		if (piece->start >= low && piece->start < high && piece->end <= high)
			c->pieces.items[kept++] = *piece;
		else
			c->damaged++;
	}
	c->pieces.count = kept;
}

void collection_order(struct collection *c)
{
	size_t late = c->pieces.count - c->ordered;
	if (!late)
		return;
	if (c->ordered) { /* few: merged into the others */
		struct piece *items = c->pieces.items + c->ordered, *sorted = memory_alloc(late * sizeof *sorted);
		memcpy(sorted, items, late * sizeof *sorted);
		sort_any(sorted, late);
		merge_pieces(c->pieces.items, c->ordered, sorted, late);
		free(sorted);
	} else {
		sort_pieces(c->pieces.items, c->pieces.count, ROWS, 2 * c->pieces.count);
	}
	remove_overlaps(c);
	c->ordered = c->pieces.count;
}
