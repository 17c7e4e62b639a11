#include "base/reader.h"

#include <errno.h>
#include <unistd.h>

static ssize_t fd_read(void *context, void *buffer, size_t size, uint64_t offset)
{
	int fd = (int)(intptr_t)context;
	size_t got = 0;
	while (got < size) {
		ssize_t n = pread(fd, (char *)buffer + got, size - got, (off_t)(offset + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !got)
			return -1;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static void fd_close(void *context)
{
	close((int)(intptr_t)context);
}

struct reader reader_of_fd(int fd, uint64_t size)
{
	return (struct reader){ .context = (void *)(intptr_t)fd, .size = size, .read = fd_read, .close = fd_close };
}

static ssize_t span_read(void *context, void *buffer, size_t size, uint64_t offset)
{
	const struct span *span = context;
	if (offset >= span->len)
		return 0;
	size = size <= span->len - offset ? size : span->len - (size_t)offset;
	memcpy(buffer, span->data + offset, size);
	return (ssize_t)size;
}

struct reader reader_of_span(const struct span *span)
{
	return (struct reader){ .context = (void *)span, .size = span->len, .read = span_read };
}

void reader_close(struct reader *reader)
{
	if (reader->close)
		reader->close(reader->context);
	*reader = (struct reader){ 0 };
}
