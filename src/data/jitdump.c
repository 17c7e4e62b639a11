#include "data/jitdump.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	HEADER_SIZE = 40, PREFIX_SIZE = 16, LOAD_SIZE = 56, MOVE_SIZE = 64, DEBUG_SIZE = 32, UNWINDING_SIZE = 40,
	VERSION = 1,
	FLAG_ARCH_TIMESTAMP = 1,
};

/* Returns n bytes at offset, read through the window; fewer only at the end of the file. n <= JITDUMP_WINDOW. */
static struct span look(struct jitdump *dump, uint64_t offset, size_t n)
{
	if (offset < dump->window_at || offset - dump->window_at > dump->window_len ||
	    n > dump->window_len - (offset - dump->window_at)) {
		ssize_t got = reader_at(&dump->reader, dump->window, JITDUMP_WINDOW, offset);
		dump->window_at = offset;
		dump->window_len = got > 0 ? (size_t)got : 0;
	}
	size_t skip = (size_t)(offset - dump->window_at), left = dump->window_len - skip;
	return (struct span){ dump->window + skip, n < left ? n : left };
}

long jitdump_pid_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash || strncmp(slash, "/jit-", 5) != 0 || !isdigit((unsigned char)slash[5]))
		return -1;
	char *end;
	long pid = strtol(slash + 5, &end, 10);
	return strcmp(end, ".dump") == 0 ? pid : -1;
}

bool jitdump_is_mapped(const struct record *record)
{
	static const char ending[] = ".dump";
	size_t at = record->type == RECORD_MMAP ? 32 : 64; /* offset of the path */
	const char *path = (const char *)record->body + at, *end = record->body_len > at ? memchr(path, '\0', record->body_len - at) : NULL;
	if (!end || (size_t)(end - path) < sizeof ending || memcmp(end - (sizeof ending - 1), ending, sizeof ending - 1) != 0)
		return false; /* nearly all mappings */
	return jitdump_pid_of_path(path) >= 0;
}

int jitdump_open(struct jitdump *dump, const struct reader *reader, struct error *err)
{
	*dump = (struct jitdump){ .reader = *reader };
	dump->window = memory_alloc(JITDUMP_WINDOW);
	struct span bytes = look(dump, 0, HEADER_SIZE);
	struct cursor c = cursor_of(bytes.data, bytes.len, false);
	uint32_t magic = take_u32(&c);
	dump->swapped = c.swap = magic == __builtin_bswap32(MAGIC);
	struct jitdump_header *header = &dump->header;
	header->version = take_u32(&c);
	header->size = take_u32(&c);
	header->machine = take_u32(&c);
	take_u32(&c);
	header->pid = take_u32(&c);
	header->timestamp = take_u64(&c);
	uint64_t flags = take_u64(&c);
	int result = 0;
	if (c.short_read || (magic != MAGIC && !dump->swapped))
		result = error_set(err, ERROR_FORMAT, "it is not a jitdump");
	else if (header->version > VERSION)
		result = error_set(err, ERROR_UNSUPPORTED, "it is a jitdump of version %u; known is %u", header->version, VERSION);
	else if (flags & ~(uint64_t)FLAG_ARCH_TIMESTAMP)
		result = error_set(err, ERROR_UNSUPPORTED, "its flags %#llx are not known", (unsigned long long)flags);
	else if (header->size < HEADER_SIZE)
		result = error_set(err, ERROR_FORMAT, "its header claims %u bytes", header->size);
	if (result < 0)
		jitdump_fini(dump);
	header->arch_timestamp = flags & FLAG_ARCH_TIMESTAMP;
	dump->at = header->size;
	return result;
}

void jitdump_fini(struct jitdump *dump)
{
	free(dump->window);
	dump->window = NULL;
	dump->window_len = 0;
}

/* The name extends to its NUL, or to the code if there is no NUL. */
static const char *read_name(struct jitdump *dump, uint64_t offset, uint64_t room)
{
	size_t want = room < JITDUMP_NAME_MAX ? (size_t)room : JITDUMP_NAME_MAX;
	struct span bytes = look(dump, offset, want);
	size_t len = strnlen((const char *)bytes.data, bytes.len);
	memcpy(dump->name, bytes.data, len);
	dump->name[len] = '\0';
	return dump->name;
}

static bool read_load(struct jitdump *dump, struct jitdump_record *record, struct cursor *c)
{
	struct jitdump_load *load = &record->load;
	load->pid = (int32_t)take_u32(c);
	load->tid = (int32_t)take_u32(c);
	load->vma = take_u64(c);
	load->address = take_u64(c);
	load->size = take_u64(c);
	load->index = take_u64(c);
	if (c->short_read || load->size > record->size - LOAD_SIZE || load->address + load->size < load->address)
		return false;
	load->code_offset = record->offset + record->size - load->size;
	load->name = read_name(dump, record->offset + LOAD_SIZE, record->size - LOAD_SIZE - load->size);
	return true;
}

static bool read_move(struct jitdump_move *move, struct cursor *c)
{
	move->pid = (int32_t)take_u32(c);
	move->tid = (int32_t)take_u32(c);
	move->vma = take_u64(c);
	move->from = take_u64(c);
	move->to = take_u64(c);
	move->size = take_u64(c);
	move->index = take_u64(c);
	return !c->short_read && move->to + move->size >= move->to;
}

static bool read_debug(struct jitdump_record *record, struct cursor *c)
{
	struct jitdump_debug *debug = &record->debug;
	debug->address = take_u64(c);
	debug->count = take_u64(c);
	debug->offset = record->offset + DEBUG_SIZE;
	debug->size = c->short_read ? 0 : record->size - DEBUG_SIZE;
	return !c->short_read;
}

static bool read_unwinding(struct jitdump_record *record, struct cursor *c)
{
	struct jitdump_unwinding *unwinding = &record->unwinding;
	unwinding->size = take_u64(c);
	unwinding->header_size = take_u64(c);
	unwinding->mapped_size = take_u64(c);
	unwinding->offset = record->offset + UNWINDING_SIZE;
	return !c->short_read && unwinding->size <= record->size - UNWINDING_SIZE && unwinding->header_size <= unwinding->size;
}

static bool read_payload(struct jitdump *dump, struct jitdump_record *record, struct cursor *c)
{
	switch (record->type) {
	case JITDUMP_LOAD:
		return read_load(dump, record, c);
	case JITDUMP_MOVE:
		return read_move(&record->move, c);
	case JITDUMP_DEBUG_INFO:
		return read_debug(record, c);
	case JITDUMP_UNWINDING_INFO:
		return read_unwinding(record, c);
	default:
		return true;
	}
}

/* Returns whether the byte before `end` exists: a dump may still grow. */
static bool reaches(const struct jitdump *dump, uint64_t end)
{
	uint8_t last;
	if (end > dump->window_at && end - dump->window_at <= dump->window_len)
		return true;
	return reader_at(&dump->reader, &last, 1, end - 1) == 1;
}

int jitdump_next(struct jitdump *dump, struct jitdump_record *record)
{
	for (;;) {
		struct span bytes = look(dump, dump->at, MOVE_SIZE);
		struct cursor c = cursor_of(bytes.data, bytes.len, dump->swapped);
		*record = (struct jitdump_record){ .offset = dump->at };
		record->type = take_u32(&c);
		record->size = take_u32(&c);
		record->timestamp = take_u64(&c);
		if (c.short_read || record->size < PREFIX_SIZE || !reaches(dump, dump->at + record->size))
			return 0;
		if (c.len > record->size)
			c.len = record->size;
		dump->at += record->size;
		if (read_payload(dump, record, &c))
			return 1;
		dump->bad_records++;
	}
}

void jitdump_lines_init(struct jitdump_lines *lines, const struct jitdump *dump, const struct jitdump_debug *debug,
			const uint8_t *bytes)
{
	*lines = (struct jitdump_lines){ .cursor = cursor_of(bytes, (size_t)debug->size, dump->swapped), .left = debug->count, .file = "" };
}

bool jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_line *line)
{
	struct cursor *c = &lines->cursor;
	if (!lines->left)
		return false;
	lines->left--;
	line->address = take_u64(c);
	line->line = take_u32(c);
	line->discriminator = take_u32(c);
	const char *file = (const char *)c->data + c->at;
	size_t len = strnlen(file, cursor_left(c));
	if (c->short_read || !take(c, len + 1))
		return false;
	if (strcmp(file, "\xff") != 0) /* repeats the previous file name */
		lines->file = file;
	line->file = lines->file;
	return true;
}
