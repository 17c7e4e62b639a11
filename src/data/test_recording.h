/* Recordings for tests, in either byte order. */
#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/attr.h"
#include "abi/record.h"
#include "data/header.h"
#include "unit.h"

struct recording {
	uint8_t bytes[1 << 16];
	size_t len;
	bool swap;
};

static inline struct recording *recording_new(bool swap)
{
	struct recording *r = calloc(1, sizeof *r);
	r->swap = swap;
	return r;
}

static inline void write_file(const char *folder, const char *name, const void *bytes, size_t len)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	EXPECT(write(fd, bytes, len) == (ssize_t)len);
	close(fd);
}

static inline void remove_folder(const char *folder, const char *const *names)
{
	char path[512];
	for (; *names; names++) {
		snprintf(path, sizeof path, "%s/%s", folder, *names);
		unlink(path);
	}
	rmdir(folder);
}

static inline void put_at(struct recording *r, size_t at, uint64_t value, size_t width)
{
	bool reverse = r->swap != HOST_IS_BIG_ENDIAN;
	for (size_t i = 0; i < width; i++)
		r->bytes[at + (reverse ? width - 1 - i : i)] = (uint8_t)(value >> (8 * i));
}

static inline void put(struct recording *r, uint64_t value, size_t width)
{
	put_at(r, r->len, value, width);
	r->len += width;
}

static inline void put_bytes(struct recording *r, const void *bytes, size_t n)
{
	if (n)
		memcpy(r->bytes + r->len, bytes, n);
	r->len += n;
}

/* A string in the header's format: length, text, padding. */
static inline void put_string(struct recording *r, const char *text)
{
	size_t room = (strlen(text) + 1 + 7) / 8 * 8;
	char padded[256] = { 0 };
	snprintf(padded, sizeof padded, "%s", text);
	put(r, room, 4);
	put_bytes(r, padded, room);
}

#define TEST_SAMPLE_TYPE (SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME)

static inline void put_attr(struct recording *r, uint64_t config)
{
	uint64_t flags = 1ull << ATTR_SAMPLE_ID_ALL, mirrored = 1ull << (63 - ATTR_SAMPLE_ID_ALL);
	size_t start = r->len;
	bool big = r->swap != HOST_IS_BIG_ENDIAN;
	put(r, ATTR_SOFTWARE, 4);
	put(r, ATTR_SIZE_VER8, 4);
	put(r, config, 8);
	put(r, 1000 + config, 8);
	put(r, TEST_SAMPLE_TYPE, 8);
	put(r, READ_ID, 8);
	put(r, big ? mirrored : flags, 8);
	memset(r->bytes + r->len, 0, ATTR_SIZE_VER8 - (r->len - start));
	r->len = start + ATTR_SIZE_VER8;
}

/* The header of a file with `events` events of the ids 10, 20, …; the data begins at r->len. */
static inline void begin_file(struct recording *r, unsigned events)
{
	size_t entry = ATTR_SIZE_VER8 + 16;
	const uint64_t magic = 0x32454c4946524550; /* "PERFILE2" where it is little-endian */
	memset(r->bytes, 0, 104);
	r->len = 0;
	put(r, magic, 8);
	put(r, 104, 8);
	put(r, entry, 8);
	put(r, 104, 8);
	put(r, entry * events, 8);
	r->len = 104;
	for (unsigned i = 0; i < events; i++) {
		put_attr(r, i);
		put(r, 104 + entry * events + i * 8, 8);
		put(r, 8, 8);
	}
	for (unsigned i = 0; i < events; i++)
		put(r, (i + 1) * 10, 8);
	put_at(r, 40, r->len, 8);
}

static inline void end_data(struct recording *r, size_t data_at)
{
	put_at(r, 48, r->len - data_at, 8);
}

static inline void begin_stream(struct recording *r)
{
	const uint64_t magic = 0x32454c4946524550; /* "PERFILE2" where it is little-endian */
	r->len = 0;
	put(r, magic, 8);
	put(r, 16, 8);
}

static inline size_t begin_record(struct recording *r, uint32_t type, uint16_t misc)
{
	size_t at = r->len;
	put(r, type, 4);
	put(r, misc, 2);
	put(r, 0, 2);
	return at;
}

static inline void end_record(struct recording *r, size_t at)
{
	put_at(r, at + 6, r->len - at, 2);
}

static inline void put_sample(struct recording *r, uint64_t id, uint64_t ip, uint64_t time)
{
	size_t at = begin_record(r, RECORD_SAMPLE, RECORD_MISC_USER);
	put(r, id, 8);
	put(r, ip, 8);
	put(r, 100, 4);
	put(r, 101, 4);
	put(r, time, 8);
	end_record(r, at);
}

static inline void put_comm(struct recording *r, uint64_t id, const char *name, uint64_t time)
{
	char padded[16] = { 0 };
	size_t at = begin_record(r, RECORD_COMM, 0);
	snprintf(padded, sizeof padded, "%s", name);
	put(r, 100, 4);
	put(r, 101, 4);
	put_bytes(r, padded, sizeof padded);
	put(r, 100, 4);
	put(r, 101, 4);
	put(r, time, 8);
	put(r, id, 8);
	end_record(r, at);
}

static inline void put_round(struct recording *r)
{
	end_record(r, begin_record(r, RECORD_FINISHED_ROUND, 0));
}

/* Features are written in the order of their numbers: first the section table, then each body. */
static inline size_t begin_features(struct recording *r, uint64_t bits)
{
	size_t table = r->len;
	put_at(r, 72, bits, 8);
	r->len += 16 * (size_t)__builtin_popcountll(bits);
	return table;
}

static inline void end_feature(struct recording *r, size_t *table, size_t body_at)
{
	put_at(r, *table, body_at, 8);
	put_at(r, *table + 8, r->len - body_at, 8);
	*table += 16;
}

/* Two events, a comm, three samples, names, groups, a host and a build-id. */
static inline void make_file(struct recording *r)
{
	begin_file(r, 2);
	size_t data = r->len;
	put_comm(r, 10, "sleep", 1);
	put_sample(r, 10, 0x401000, 2);
	put_sample(r, 20, 0x402000, 3);
	put_round(r);
	put_sample(r, 10, 0x403000, 4);
	end_data(r, data);
	size_t table = begin_features(r, 1u << FEATURE_BUILD_ID | 1u << FEATURE_HOSTNAME | 1u << FEATURE_EVENT_DESC |
						 1u << FEATURE_GROUP_DESC);
	size_t at = r->len, record = begin_record(r, RECORD_HEADER_BUILD_ID, RECORD_MISC_USER);
	put(r, (uint32_t)-1, 4);
	put_bytes(r, "ABCDEFGHIJKLMNOPQRST\0\0\0\0", 24);
	put_bytes(r, "/bin/sleep\0\0\0\0\0\0", 16);
	end_record(r, record);
	end_feature(r, &table, at);
	at = r->len;
	put_string(r, "host");
	end_feature(r, &table, at);
	at = r->len;
	put(r, 2, 4);
	put(r, ATTR_SIZE_VER8, 4);
	for (unsigned i = 0; i < 2; i++) {
		put_attr(r, i);
		put(r, 1, 4);
		put_string(r, i ? "task-clock" : "cpu-clock");
		put(r, (i + 1) * 10, 8);
	}
	end_feature(r, &table, at);
	at = r->len;
	put(r, 1, 4);
	put_string(r, "both");
	put(r, 0, 4);
	put(r, 2, 4);
	end_feature(r, &table, at);
}

static inline void put_header_attr(struct recording *r, uint64_t config, uint64_t id)
{
	size_t at = begin_record(r, RECORD_HEADER_ATTR, 0);
	put_attr(r, config);
	put(r, id, 8);
	end_record(r, at);
}

/* As make_file, in stream format. */
static inline void make_stream(struct recording *r)
{
	begin_stream(r);
	put_header_attr(r, 0, 10);
	put_header_attr(r, 1, 20);
	size_t at = begin_record(r, RECORD_HEADER_FEATURE, 0);
	put(r, FEATURE_HOSTNAME, 8);
	put_string(r, "host");
	end_record(r, at);
	at = begin_record(r, RECORD_EVENT_UPDATE, 0);
	put(r, 2, 8);
	put(r, 20, 8);
	put_bytes(r, "task-clock\0\0\0\0\0\0", 16);
	end_record(r, at);
	at = begin_record(r, RECORD_EVENT_UPDATE, 0);
	put(r, 3, 8);
	put(r, 10, 8);
	put(r, 2, 2);
	put_bytes(r, "\1\0", 2);
	put(r, 4, 2);
	put(r, 6, 2);
	end_record(r, at);
	at = begin_record(r, RECORD_HEADER_TRACING_DATA, 0);
	put(r, 8, 4);
	end_record(r, at);
	put_bytes(r, "tracing!", 8);
	at = begin_record(r, RECORD_HEADER_BUILD_ID, RECORD_MISC_USER | RECORD_MISC_EXT_RESERVED);
	put(r, (uint32_t)-1, 4);
	put_bytes(r, "ABCDEFGH\0\0\0\0\0\0\0\0\0\0\0\0\10\0\0\0", 24);
	put_bytes(r, "/bin/sleep\0\0\0\0\0\0", 16);
	end_record(r, at);
	put_comm(r, 10, "sleep", 1);
	put_sample(r, 10, 0x401000, 2);
	put_sample(r, 20, 0x402000, 3);
	put_round(r);
	put_sample(r, 10, 0x403000, 4);
}
