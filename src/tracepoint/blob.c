#include "tracepoint/blob.h"

#include <stdlib.h>

#define FORMATS_MAX 20000 /* events of one recording; a kernel has about 3000 */

/* Takes a NUL-terminated string; NULL if it does not end within the blob. */
static const char *blob_take_string(struct cursor *c)
{
	const uint8_t *start = c->data + c->at;
	const uint8_t *end = cursor_left(c) ? memchr(start, 0, cursor_left(c)) : NULL;

	if (!end) {
		c->short_read = true;
		return NULL;
	}
	c->at += (size_t)(end - start) + 1;
	return (const char *)start;
}

/* Takes a size (8 bytes if wide, otherwise 4) and that many bytes. If they exceed the blob, short_read is set and the span is empty. */
static struct span blob_take_sized(struct cursor *c, bool wide)
{
	uint64_t size = wide ? take_u64(c) : take_u32(c);
	const uint8_t *data = size <= cursor_left(c) ? take(c, size) : NULL;

	if (!data)
		c->short_read = true;
	return (struct span){ data, data ? size : 0 };
}

static bool blob_take_literal(struct cursor *c, const char *word, size_t len)
{
	const uint8_t *p = take(c, len);

	return p && !memcmp(p, word, len);
}

/* The kernel's long has the size of the field "commit" of the ring buffer's page header. */
static void read_long_size(struct blob *blob, struct span header_page)
{
	static const char commit[] = "commit;", size[] = "size:";
	if (!header_page.len)
		return;
	const char *p = memmem(header_page.data, header_page.len, commit, strlen(commit));
	const char *end = (const char *)header_page.data + header_page.len;
	p = p ? memmem(p, (size_t)(end - p), size, strlen(size)) : NULL;
	if (p && end - p > (ptrdiff_t)strlen(size) && (p[strlen(size)] == '4' || p[strlen(size)] == '8'))
		blob->long_size = (uint8_t)(p[strlen(size)] - '0');
}

static void blob_take_formats(struct blob *blob, struct cursor *c, const char *system)
{
	uint32_t count = take_u32(c);

	for (uint32_t i = 0; i < count && !c->short_read; i++) {
		struct span text = blob_take_sized(c, true);
		if (c->short_read)
			return;
		if (blob->formats.count == FORMATS_MAX) {
			c->short_read = true;
			return;
		}
		vec_push(&blob->formats, ((struct blob_format){ .system = system, .text = text }));
	}
}

int blob_parse(struct blob *blob, struct span bytes, struct error *err)
{
	struct cursor c = cursor_of(bytes.data, bytes.len, false);

	*blob = (struct blob){ 0 };
	if (!blob_take_literal(&c, "\x17\x08\x44tracing", 10) || !blob_take_string(&c))
		return error_set(err, ERROR_FORMAT, "the tracing data does not begin with its magic number");
	blob->big_endian = take_u8(&c) != 0;
	blob->swap = c.swap = blob->big_endian != HOST_IS_BIG_ENDIAN;
	blob->long_size = take_u8(&c) == 4 ? 4 : 8;
	take_u32(&c); /* page size */
	if (!blob_take_literal(&c, "header_page", 12))
		return error_set(err, ERROR_FORMAT, "the tracing data has no header_page at byte %zu", c.at);
	read_long_size(blob, blob_take_sized(&c, true));
	if (!blob_take_literal(&c, "header_event", 13))
		return error_set(err, ERROR_FORMAT, "the tracing data has no header_event at byte %zu", c.at);
	blob_take_sized(&c, true);
	blob_take_formats(blob, &c, "ftrace");
	uint32_t systems = take_u32(&c);
	for (uint32_t i = 0; i < systems && !c.short_read; i++) {
		const char *system = blob_take_string(&c);
		if (system)
			blob_take_formats(blob, &c, system);
	}
	blob_take_sized(&c, false); /* kallsyms: perfuse symbolizes with the recording's modules instead */
	if (!c.short_read)
		blob->printks = blob_take_sized(&c, false);
	blob->cut = c.short_read;
	return 0;
}

void blob_fini(struct blob *blob)
{
	vec_fini(&blob->formats);
	*blob = (struct blob){ 0 };
}
