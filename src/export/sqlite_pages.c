#include "export/sqlite_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/vec.h"

enum { LEAF = 0x0d, INTERIOR = 0x05, LEAF_HEADER = 8, INTERIOR_HEADER = 12, POINTER = 2, LEVELS_MAX = 8, VARINT_MAX = 9,
	CHANGE_COUNTER = 24, PAGE_COUNT = 28, VALID_FOR = 92, FILE_HEADER = 100 };
/* SQLite locks bytes of this page, which holds nothing. */
enum { LOCKED_PAGE = 0x40000000 / SQLITE_PAGE_SIZE + 1 };
enum { CELL_MAX = 2 * VARINT_MAX + 2 + EXPORT_COLUMNS_MAX + 8 * EXPORT_COLUMNS_MAX };

struct leaf {
	uint8_t *bytes;
	uint32_t number;           /* 0: not chosen yet */
	unsigned count;
	size_t content;            /* where its cells begin; they grow downwards */
	int64_t first, last;       /* the ids that it has room for */
	size_t missing;            /* of them, not there yet */
};

/* A page that refers to pages of the level below; the newest child is no cell yet, as the last child of a page is in its header. */
struct interior {
	uint8_t bytes[SQLITE_PAGE_SIZE];
	unsigned count;
	size_t content, newest_cell;
	uint32_t child;
	int64_t child_last;
};

struct sqlite_rows {
	struct sqlite_pages *pages;
	uint32_t root;
	size_t columns, cell_max;
	bool late, begun;
	struct leaf leaf;          /* the last one */
	VEC(struct leaf) waiting;  /* full ones with missing rows, by id */
	struct interior *levels[LEVELS_MAX];
	unsigned level_count;
};

static void put_be(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
}

static uint64_t get_be(const uint8_t *from, size_t size)
{
	uint64_t value = 0;
	for (size_t i = 0; i < size; i++)
		value = value << 8 | from[i];
	return value;
}

static size_t put_varint(uint8_t *to, uint64_t value)
{
	enum { GROUP = 7, LAST_GROUP = 8 };
	size_t size = 1;
	if (value >> (LAST_GROUP * GROUP)) { /* the ninth byte has eight bits */
		to[VARINT_MAX - 1] = (uint8_t)value;
		value >>= 8;
		for (size_t i = VARINT_MAX - 1; i-- > 0; value >>= GROUP)
			to[i] = (uint8_t)(value | 0x80);
		return VARINT_MAX;
	}
	while (value >> (size * GROUP))
		size++;
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)((value >> (GROUP * (size - 1 - i)) & 0x7f) | (i + 1 < size ? 0x80 : 0));
	return size;
}

static size_t get_varint(const uint8_t *from, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < VARINT_MAX - 1; i++) {
		*value = *value << 7 | (from[i] & 0x7f);
		if (!(from[i] & 0x80))
			return i + 1;
	}
	*value = *value << 8 | from[VARINT_MAX - 1];
	return VARINT_MAX;
}

static int write_page(const struct sqlite_pages *pages, uint32_t number, const uint8_t *bytes, struct error *err)
{
	size_t done = 0;
	off_t at = ((off_t)number - 1) * SQLITE_PAGE_SIZE;
	while (done < SQLITE_PAGE_SIZE) {
		ssize_t size = pwrite(pages->fd, bytes + done, SQLITE_PAGE_SIZE - done, at + (off_t)done);
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return error_system(err, "cannot write the database");
		done += (size_t)size;
	}
	return 0;
}

static uint32_t next_page(struct sqlite_pages *pages)
{
	pages->count += pages->count + 1 == LOCKED_PAGE ? 2 : 1;
	return pages->count;
}

int sqlite_pages_open(struct sqlite_pages *pages, int fd, struct error *err)
{
	struct stat file;
	if (fstat(fd, &file) < 0)
		return error_system(err, "cannot read the database");
	*pages = (struct sqlite_pages){ .fd = fd, .count = (uint32_t)(file.st_size / SQLITE_PAGE_SIZE) };
	return 0;
}

int sqlite_pages_close(struct sqlite_pages *pages, struct error *err)
{
	uint8_t page[SQLITE_PAGE_SIZE];
	if (pread(pages->fd, page, sizeof page, 0) != sizeof page)
		return error_system(err, "cannot read the database");
	uint64_t changes = get_be(page + CHANGE_COUNTER, 4) + 1;
	put_be(page + CHANGE_COUNTER, changes, 4);
	put_be(page + VALID_FOR, changes, 4);
	put_be(page + PAGE_COUNT, pages->count, 4);
	return write_page(pages, 1, page, err);
}

static void leaf_begin(struct leaf *leaf, int64_t first)
{
	*leaf = (struct leaf){ .bytes = memory_zero(1, SQLITE_PAGE_SIZE), .content = SQLITE_PAGE_SIZE, .first = first, .last = first - 1 };
	leaf->bytes[0] = LEAF;
}

struct sqlite_rows *sqlite_rows_new(struct sqlite_pages *pages, uint32_t root, size_t columns, bool late)
{
	struct sqlite_rows *rows = memory_zero(1, sizeof *rows);
	rows->pages = pages;
	rows->root = root;
	rows->columns = columns;
	rows->late = late;
	rows->cell_max = 2 * VARINT_MAX + 2 + columns + 8 * columns;
	return rows;
}

void sqlite_rows_free(struct sqlite_rows *rows)
{
	if (!rows)
		return;
	free(rows->leaf.bytes);
	for (size_t i = 0; i < rows->waiting.count; i++)
		free(rows->waiting.items[i].bytes);
	vec_fini(&rows->waiting);
	for (unsigned i = 0; i < rows->level_count; i++)
		free(rows->levels[i]);
	free(rows);
}

/* Serial types of integers: 0 and 1 are constants, the others have 1, 2, 3, 4, 6 or 8 bytes. */
static uint8_t integer_type(int64_t value, size_t *size)
{
	static const struct { uint8_t type, size; int64_t limit; } types[] = { { 1, 1, 1ll << 7 }, { 2, 2, 1ll << 15 }, { 3, 3, 1ll << 23 },
		{ 4, 4, 1ll << 31 }, { 5, 6, 1ll << 47 } };
	*size = 0;
	if (value == 0 || value == 1)
		return value ? 9 : 8;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (value >= -types[i].limit && value < types[i].limit) {
			*size = types[i].size;
			return types[i].type;
		}
	*size = 8;
	return 6;
}

/* The id is the row's key, so that its value is NULL (serial type 0). */
static size_t make_cell(const struct sqlite_rows *rows, const int64_t *values, uint8_t *cell)
{
	uint8_t body[8 * EXPORT_COLUMNS_MAX], types[EXPORT_COLUMNS_MAX + 1];
	size_t length = 0, size;
	types[0] = (uint8_t)(rows->columns + 1); /* the length of the types, with this byte */
	types[1] = 0;
	for (size_t i = 1; i < rows->columns; i++) {
		types[i + 1] = integer_type(values[i], &size);
		put_be(body + length, (uint64_t)values[i], size);
		length += size;
	}
	size = put_varint(cell, rows->columns + 1 + length);
	size += put_varint(cell + size, (uint64_t)values[0]);
	memcpy(cell + size, types, rows->columns + 1);
	memcpy(cell + size + rows->columns + 1, body, length);
	return size + rows->columns + 1 + length;
}

static int64_t id_at(const struct leaf *leaf, size_t index)
{
	uint64_t length, id;
	const uint8_t *cell = leaf->bytes + get_be(leaf->bytes + LEAF_HEADER + POINTER * index, POINTER);
	get_varint(cell + get_varint(cell, &length), &id);
	return (int64_t)id;
}

/* The cells of a page are in any order: the list of their offsets is in the order of ids. */
static void leaf_insert(struct leaf *leaf, int64_t id, const uint8_t *cell, size_t size)
{
	size_t at = leaf->count;
	if (leaf->count && id < id_at(leaf, leaf->count - 1))
		at = SEARCH_COUNT(leaf->count, i, id_at(leaf, i) < id);
	uint8_t *pointers = leaf->bytes + LEAF_HEADER;
	leaf->content -= size;
	memcpy(leaf->bytes + leaf->content, cell, size);
	memmove(pointers + POINTER * (at + 1), pointers + POINTER * at, POINTER * (leaf->count - at));
	put_be(pointers + POINTER * at, leaf->content, POINTER);
	leaf->count++;
}

static int write_leaf(const struct sqlite_rows *rows, struct leaf *leaf, uint32_t number, struct error *err)
{
	put_be(leaf->bytes + 3, leaf->count, 2);
	put_be(leaf->bytes + 5, leaf->content, 2);
	int result = write_page(rows->pages, number, leaf->bytes, err);
	free(leaf->bytes);
	leaf->bytes = NULL;
	return result;
}

static int write_interior(const struct sqlite_rows *rows, struct interior *page, uint32_t number, uint32_t last_child, struct error *err)
{
	page->bytes[0] = INTERIOR;
	put_be(page->bytes + 3, page->count, 2);
	put_be(page->bytes + 5, page->content, 2);
	put_be(page->bytes + 8, last_child, 4);
	return write_page(rows->pages, number, page->bytes, err);
}

static void interior_begin(struct interior *page)
{
	memset(page, 0, sizeof *page);
	page->content = SQLITE_PAGE_SIZE;
}

static void interior_push(struct interior *page, uint32_t child, int64_t last)
{
	uint8_t cell[4 + VARINT_MAX];
	put_be(cell, child, 4);
	size_t size = 4 + put_varint(cell + 4, (uint64_t)last);
	page->newest_cell = page->content;
	page->content -= size;
	memcpy(page->bytes + page->content, cell, size);
	put_be(page->bytes + INTERIOR_HEADER + POINTER * page->count++, page->content, POINTER);
}

/* A full page gives its newest cell back as its last child, so that the next page has a cell, too. */
static int add_child(struct sqlite_rows *rows, unsigned level, uint32_t child, int64_t last, struct error *err)
{
	for (; level < LEVELS_MAX; level++) {
		if (level == rows->level_count) {
			rows->levels[rows->level_count++] = memory_zero(1, sizeof **rows->levels);
			interior_begin(rows->levels[level]);
		}
		struct interior *page = rows->levels[level];
		uint32_t before = page->child;
		int64_t before_last = page->child_last;
		page->child = child;
		page->child_last = last;
		if (!before)
			return 0;
		if (INTERIOR_HEADER + POINTER * (page->count + 1) + 4 + VARINT_MAX <= page->content) {
			interior_push(page, before, before_last);
			return 0;
		}
		const uint8_t *newest = page->bytes + page->content;
		uint32_t last_child = (uint32_t)get_be(newest, 4), number = next_page(rows->pages);
		uint64_t key;
		get_varint(newest + 4, &key);
		page->count--;
		page->content = page->newest_cell;
		if (write_interior(rows, page, number, last_child, err) < 0)
			return -1;
		interior_begin(page);
		interior_push(page, before, before_last);
		page->child = child;
		page->child_last = last;
		child = number;
		last = (int64_t)key;
	}
	return error_set(err, ERROR_UNSUPPORTED, "too many rows for a table of the database");
}

/* The last leaf is full. */
static int finish_leaf(struct sqlite_rows *rows, struct error *err)
{
	struct leaf *leaf = &rows->leaf;
	leaf->number = next_page(rows->pages);
	if (add_child(rows, 0, leaf->number, leaf->last, err) < 0)
		return -1;
	if (!leaf->missing)
		return write_leaf(rows, leaf, leaf->number, err);
	vec_push(&rows->waiting, *leaf);
	leaf->bytes = NULL;
	return 0;
}

static int add_late(struct sqlite_rows *rows, int64_t id, const uint8_t *cell, size_t size, struct error *err)
{
	struct leaf *leaf = &rows->leaf;
	size_t index = rows->waiting.count;
	if (id < leaf->first) {
		index = SEARCH_COUNT(rows->waiting.count, i, rows->waiting.items[i].last < id);
		leaf = index < rows->waiting.count ? &rows->waiting.items[index] : NULL;
	}
	if (!leaf || id < leaf->first || !leaf->missing)
		return error_set(err, ERROR_UNSUPPORTED, "a row of the database comes too late");
	leaf_insert(leaf, id, cell, size);
	if (--leaf->missing || index == rows->waiting.count)
		return 0;
	int result = write_leaf(rows, leaf, leaf->number, err);
	memmove(leaf, leaf + 1, (--rows->waiting.count - index) * sizeof *leaf);
	return result;
}

int sqlite_rows_add(struct sqlite_rows *rows, const int64_t *values, struct error *err)
{
	uint8_t cell[CELL_MAX];
	int64_t id = values[0];
	size_t size = make_cell(rows, values, cell);
	struct leaf *leaf = &rows->leaf;
	if (rows->begun && id <= leaf->last)
		return add_late(rows, id, cell, size, err);
	int64_t first = rows->begun ? leaf->last + 1 : id;
	size_t missing = rows->late ? (size_t)(id - first) : 0, room = rows->cell_max + POINTER;
	if (missing > (SQLITE_PAGE_SIZE - LEAF_HEADER) / room - 1)
		missing = 0; /* no id that follows later is so much smaller */
	size_t used = leaf->bytes ? LEAF_HEADER + POINTER * leaf->count + (SQLITE_PAGE_SIZE - leaf->content) + leaf->missing * room : 0;
	if (leaf->bytes && used + missing * room + size + POINTER > SQLITE_PAGE_SIZE && finish_leaf(rows, err) < 0)
		return -1;
	if (!leaf->bytes)
		leaf_begin(leaf, first);
	rows->begun = true;
	leaf->missing += missing;
	leaf->last = id;
	leaf_insert(leaf, id, cell, size);
	return 0;
}

/* The topmost page of each table is at its root. */
int sqlite_rows_end(struct sqlite_rows *rows, struct error *err)
{
	for (size_t i = 0; i < rows->waiting.count; i++)
		if (write_leaf(rows, &rows->waiting.items[i], rows->waiting.items[i].number, err) < 0)
			return -1;
	rows->waiting.count = 0;
	if (!rows->leaf.bytes)
		return 0;
	if (!rows->level_count)
		return write_leaf(rows, &rows->leaf, rows->root, err);
	rows->leaf.missing = 0;
	if (finish_leaf(rows, err) < 0)
		return -1;
	for (unsigned level = 0; level < rows->level_count; level++) {
		struct interior *page = rows->levels[level];
		bool top = level + 1 == rows->level_count;
		uint32_t number = top ? rows->root : next_page(rows->pages);
		if (write_interior(rows, page, number, page->child, err) < 0)
			return -1;
		if (top)
			break;
		if (add_child(rows, level + 1, number, page->child_last, err) < 0)
			return -1;
	}
	return 0;
}
