#include "tracepoint/blob.h"

#include <stdlib.h>

#define FORMATS_MAX 20000 /* events of one recording; a kernel has some 3000 */

static bool host_is_big_endian(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* A NUL-terminated string in the blob; NULL where none ends. */
static const char *take_text(struct cursor *c)
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

/* A length and that many bytes. A failed read leaves `short_read` set and an empty span. */
static struct span take_sized(struct cursor *c, bool wide)
{
	uint64_t size = wide ? take_u64(c) : take_u32(c);
	const uint8_t *data = size <= cursor_left(c) ? take(c, size) : NULL;

	if (!data)
		c->short_read = true;
	return (struct span){ data, data ? size : 0 };
}

static bool take_word(struct cursor *c, const char *word, size_t len)
{
	const uint8_t *p = take(c, len);

	return p && !memcmp(p, word, len);
}

/* The size of "commit" in the ring's page header is the size of the kernel's long. */
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

static void take_formats(struct blob *blob, struct cursor *c, const char *system)
{
	uint32_t count = take_u32(c);

	for (uint32_t i = 0; i < count && !c->short_read; i++) {
		struct span text = take_sized(c, true);
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
	if (!take_word(&c, "\x17\x08\x44tracing", 10) || !take_text(&c))
		return error_set(err, ERROR_FORMAT, "the tracing data does not start as tracing data does");
	blob->big_endian = take_u8(&c) != 0;
	blob->swap = c.swap = blob->big_endian != host_is_big_endian();
	blob->long_size = take_u8(&c) == 4 ? 4 : 8;
	take_u32(&c); /* page size */
	if (!take_word(&c, "header_page", 12))
		return error_set(err, ERROR_FORMAT, "the tracing data has no header_page at byte %zu", c.at);
	read_long_size(blob, take_sized(&c, true));
	if (!take_word(&c, "header_event", 13))
		return error_set(err, ERROR_FORMAT, "the tracing data has no header_event at byte %zu", c.at);
	take_sized(&c, true);
	take_formats(blob, &c, "ftrace");
	uint32_t systems = take_u32(&c);
	for (uint32_t i = 0; i < systems && !c.short_read; i++) {
		const char *system = take_text(&c);
		if (system)
			take_formats(blob, &c, system);
	}
	take_sized(&c, false); /* kallsyms: the recording's own kernel symbols serve instead */
	if (!c.short_read)
		blob->printks = take_sized(&c, false);
	blob->cut = c.short_read;
	return 0;
}

void blob_fini(struct blob *blob)
{
	vec_fini(&blob->formats);
	*blob = (struct blob){ 0 };
}
