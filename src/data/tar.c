#include "data/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header block in POSIX layout. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], kind, target[100], magic[6], version[2];
	char user[32], group[32], major[8], minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == TAR_BLOCK, "a header is one block");

static int read_all(struct tar_reader *tar, void *buffer, size_t size, struct error *err)
{
	size_t at = 0;
	while (at < size) {
		ssize_t n = tar->read(tar->context, (char *)buffer + at, size - at, err);
		if (n < 0)
			return -1;
		if (n == 0)
			return at ? error_set(err, ERROR_FORMAT, "the archive is truncated") : 0;
		at += (size_t)n;
	}
	return 1;
}

static int skip(struct tar_reader *tar, uint64_t size, struct error *err)
{
	char chunk[16 * TAR_BLOCK];
	while (size) {
		size_t part = size < sizeof chunk ? (size_t)size : sizeof chunk;
		int got = read_all(tar, chunk, part, err);
		if (got <= 0)
			return got < 0 ? -1 : error_set(err, ERROR_FORMAT, "the archive is truncated");
		size -= part;
	}
	return 0;
}

/* Octal digits, or GNU's format for large values: the first bit set, then big-endian bytes. */
static bool number_read(const char *field, size_t size, uint64_t *value)
{
	*value = 0;
	if ((uint8_t)field[0] & 0x80) {
		for (size_t i = 0; i < size; i++) {
			if (*value >> 55)
				return false;
			*value = *value << 8 | (i ? (uint8_t)field[i] : (uint8_t)field[0] & 0x7f);
		}
		return true;
	}
	size_t i = 0;
	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		*value = *value << 3 | (uint64_t)(field[i] - '0');
	return i == size || field[i] == ' ' || field[i] == '\0';
}

static unsigned header_sum(const struct header *header)
{
	const uint8_t *bytes = (const uint8_t *)header;
	unsigned sum = 0;
	for (size_t i = 0; i < sizeof *header; i++)
		sum += i >= offsetof(struct header, sum) && i < offsetof(struct header, kind) ? ' ' : bytes[i];
	return sum;
}

static bool header_is_zero(const struct header *header)
{
	const char *bytes = (const char *)header;
	return bytes[0] == '\0' && memcmp(bytes, bytes + 1, sizeof *header - 1) == 0;
}

static uint64_t padding_of(uint64_t size)
{
	return -size % TAR_BLOCK;
}

/* Reads the content of an extension: a name, or pax records. */
static int text_read(struct tar_reader *tar, uint64_t size, struct str *text, struct error *err)
{
	str_clear(text);
	if (size > TAR_NAME_MAX)
		return error_set(err, ERROR_LIMIT, "a name of %llu bytes in the archive", (unsigned long long)size);
	str_reserve(text, size + 1);
	if (size && read_all(tar, text->text, size, err) <= 0)
		return err->kind ? -1 : error_set(err, ERROR_FORMAT, "the archive is truncated");
	text->text[size] = '\0';
	text->len = size;
	return skip(tar, padding_of(size), err);
}

/* Extensions that apply to the next member. */
struct extension {
	bool name, target, sized;
	uint64_t size;
};

/* pax: "LENGTH KEY=VALUE\n", where LENGTH is that of the whole record. */
static int pax_read(struct tar_reader *tar, uint64_t size, struct extension *e, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	if (text_read(tar, size, &text, err) < 0)
		return -1;
	for (size_t at = 0; at < text.len;) {
		char *end;
		unsigned long length = strtoul(text.text + at, &end, 10);
		bool fits = length > 0 && length <= text.len - at && *end == ' ';
		char *key = end + 1, *record_end = text.text + at + (fits ? length : 0);
		if (!fits || key >= record_end || record_end[-1] != '\n')
			return error_set(err, ERROR_FORMAT, "an extended header of the archive is invalid");
		record_end[-1] = '\0';
		if (strncmp(key, "path=", 5) == 0) {
			str_clear(&tar->name);
			str_puts(&tar->name, key + 5);
			e->name = true;
		} else if (strncmp(key, "linkpath=", 9) == 0) {
			str_clear(&tar->target);
			str_puts(&tar->target, key + 9);
			e->target = true;
		} else if (strncmp(key, "size=", 5) == 0) {
			e->size = strtoull(key + 5, NULL, 10);
			e->sized = true;
		}
		at += length;
	}
	return 0;
}

static void member_fill(struct tar_reader *tar, const struct header *h, const struct extension *e, struct tar_member *member)
{
	bool posix = memcmp(h->magic, "ustar", 6) == 0;
	if (!e->name) {
		str_clear(&tar->name);
		if (posix && h->prefix[0])
			str_printf(&tar->name, "%.*s/", (int)sizeof h->prefix, h->prefix);
		str_printf(&tar->name, "%.*s", (int)sizeof h->name, h->name);
	}
	if (!e->target) {
		str_clear(&tar->target);
		str_printf(&tar->target, "%.*s", (int)sizeof h->target, h->target);
	}
	member->kind = h->kind ? h->kind : TAR_FILE;
	/* the stored text may contain a NUL before its end */
	member->name = str_text(&tar->name);
	member->target = str_text(&tar->target);
}

static int header_read(struct tar_reader *tar, struct header *h, uint64_t *size, struct error *err)
{
	uint64_t sum;
	int got = read_all(tar, h, sizeof *h, err);
	if (got <= 0 || header_is_zero(h))
		return got < 0 ? -1 : 0;
	if (!number_read(h->sum, sizeof h->sum, &sum) || sum != header_sum(h) || !number_read(h->size, sizeof h->size, size))
		return error_set(err, ERROR_FORMAT, "not a tar archive, or a damaged one");
	return 1;
}

int tar_next(struct tar_reader *tar, struct tar_member *member, struct error *err)
{
	struct extension e = { 0 };
	struct header h;
	struct error local = { 0 };
	err = err ? err : &local;
	if (skip(tar, tar->left, err) < 0 || skip(tar, tar->padding, err) < 0)
		return -1;
	tar->left = tar->padding = 0;
	for (;;) {
		uint64_t size, mode, time;
		int got = header_read(tar, &h, &size, err);
		if (got <= 0)
			return got;
		int status;
		if (h.kind == 'L' || h.kind == 'K') {
			status = text_read(tar, size, h.kind == 'L' ? &tar->name : &tar->target, err);
			*(h.kind == 'L' ? &e.name : &e.target) = true;
		} else if (h.kind == 'x') {
			status = pax_read(tar, size, &e, err);
		} else if (h.kind == 'g') {
			status = size > UINT64_MAX - TAR_BLOCK ? error_set(err, ERROR_FORMAT, "a damaged archive")
							       : skip(tar, size + padding_of(size), err);
		} else {
			member_fill(tar, &h, &e, member);
			member->size = e.sized ? e.size : size;
			member->mode = number_read(h.mode, sizeof h.mode, &mode) ? (uint32_t)mode & 07777 : 0644;
			member->time_s = number_read(h.time, sizeof h.time, &time) ? (int64_t)time : 0;
			if (member->kind == TAR_LINK || member->kind == TAR_HARD_LINK || member->kind == TAR_FOLDER)
				member->size = 0;
			tar->left = member->size;
			tar->padding = padding_of(member->size);
			return 1;
		}
		if (status < 0)
			return -1;
	}
}

ssize_t tar_read(struct tar_reader *tar, void *buffer, size_t size, struct error *err)
{
	size = size < tar->left ? size : (size_t)tar->left;
	if (!size)
		return 0;
	ssize_t n = tar->read(tar->context, buffer, size, err);
	if (n == 0)
		return error_set(err, ERROR_FORMAT, "the archive is truncated");
	tar->left -= n > 0 ? (uint64_t)n : 0;
	return n;
}

void tar_reader_fini(struct tar_reader *tar)
{
	str_fini(&tar->name);
	str_fini(&tar->target);
}

static void number_write(char *field, size_t size, uint64_t value)
{
	if (value >> 3 * (size - 1) == 0) {
		snprintf(field, size, "%0*llo", (int)size - 1, (unsigned long long)value);
		return;
	}
	for (size_t i = size; i-- > 1; value >>= 8)
		field[i] = (char)value;
	field[0] = (char)0x80;
}

static int put(struct tar_writer *tar, const void *bytes, size_t size, struct error *err)
{
	tar->written += size;
	return tar->write(tar->context, bytes, size, err);
}

static int header_write(struct tar_writer *tar, char kind, const char *name, const char *target, const struct tar_member *member,
	uint64_t size, struct error *err)
{
	struct header h = { 0 };
	memccpy(h.name, name, '\0', sizeof h.name);
	memccpy(h.target, target, '\0', sizeof h.target);
	number_write(h.mode, sizeof h.mode, member->mode);
	number_write(h.uid, sizeof h.uid, 0);
	number_write(h.gid, sizeof h.gid, 0);
	number_write(h.size, sizeof h.size, size);
	number_write(h.time, sizeof h.time, member->time_s > 0 ? (uint64_t)member->time_s : 0);
	h.kind = kind;
	memcpy(h.magic, "ustar ", 6); /* GNU's mark for archives with separate long names */
	memcpy(h.version, " ", 2);
	strcpy(h.user, "root");
	strcpy(h.group, "root");
	snprintf(h.sum, sizeof h.sum, "%06o", header_sum(&h));
	h.sum[7] = ' ';
	return put(tar, &h, sizeof h, err);
}

static int pad(struct tar_writer *tar, uint64_t size, struct error *err)
{
	static const char zeros[TAR_BLOCK];
	for (; size > TAR_BLOCK; size -= TAR_BLOCK)
		if (put(tar, zeros, TAR_BLOCK, err) < 0)
			return -1;
	return size ? put(tar, zeros, (size_t)size, err) : 0;
}

/* A name that exceeds its field precedes the member as the content of another. */
static int long_text_write(struct tar_writer *tar, char kind, const char *text, struct error *err)
{
	static const struct tar_member plain = { 0 };
	size_t size = strlen(text) + 1;
	if (size <= sizeof ((struct header *)NULL)->name)
		return 0;
	if (header_write(tar, kind, "././@LongLink", "", &plain, size, err) < 0 || put(tar, text, size, err) < 0)
		return -1;
	return pad(tar, padding_of(size), err);
}

int tar_add(struct tar_writer *tar, const struct tar_member *member, struct error *err)
{
	const char *target = member->target ? member->target : "";
	if (long_text_write(tar, 'K', target, err) < 0 || long_text_write(tar, 'L', member->name, err) < 0)
		return -1;
	if (header_write(tar, member->kind, member->name, target, member, member->size, err) < 0)
		return -1;
	tar->left = member->size;
	return 0;
}

int tar_write(struct tar_writer *tar, const void *bytes, size_t size, struct error *err)
{
	if (size == 0)
		return 0;
	if (size > tar->left)
		return error_set(err, ERROR_FORMAT, "more content than the member claims");
	tar->left -= size;
	if (put(tar, bytes, size, err) < 0)
		return -1;
	return tar->left ? 0 : pad(tar, padding_of(tar->written), err);
}

int tar_finish(struct tar_writer *tar, struct error *err)
{
	if (tar->left)
		return error_set(err, ERROR_FORMAT, "less content than the member claims");
	if (pad(tar, 2 * TAR_BLOCK, err) < 0)
		return -1;
	return pad(tar, (TAR_RECORD - tar->written % TAR_RECORD) % TAR_RECORD, err);
}
