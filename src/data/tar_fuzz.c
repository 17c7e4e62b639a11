#include <string.h>

#include "data/tar.h"

struct bytes {
	const uint8_t *data;
	size_t len;
};

static ssize_t from_memory(void *context, void *buffer, size_t size, struct error *err)
{
	struct bytes *b = context;
	size_t n = b->len < size ? b->len : size;
	(void)err;
	memcpy(buffer, b->data, n);
	b->data += n;
	b->len -= n;
	return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = { data, size };
	struct tar_reader tar = { .read = from_memory, .context = &bytes };
	struct tar_member member;
	char content[100];
	while (tar_next(&tar, &member, NULL) > 0)
		tar_read(&tar, content, sizeof content, NULL);
	tar_reader_fini(&tar);
	return 0;
}
