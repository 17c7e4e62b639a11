#include "data/tar.h"

#include <stdlib.h>

#include "base/writer.h"
#include "unit.h"

static int to_memory(void *context, const void *bytes, size_t size, __attribute__((unused)) struct error *err)
{
	writer_add(context, bytes, size);
	return 0;
}

struct bytes {
	const char *data;
	size_t len, at, piece;
};

static ssize_t from_memory(void *context, void *buffer, size_t size, __attribute__((unused)) struct error *err)
{
	struct bytes *b = context;
	size_t n = b->len - b->at < size ? b->len - b->at : size;
	n = n < b->piece ? n : b->piece;
	memcpy(buffer, b->data + b->at, n);
	b->at += n;
	return (ssize_t)n;
}

TEST("written archives are read back, in any pieces, with long names and large sizes")
{
	char name[300], target[200];
	memset(name, 'n', sizeof name);
	memset(target, 't', sizeof target);
	name[sizeof name - 1] = target[sizeof target - 1] = '\0';
	struct writer memory;
	writer_open(&memory, -1, 0);
	struct tar_writer out = { .write = to_memory, .context = &memory };
	const struct tar_member members[] = {
		{ .kind = TAR_FOLDER, .name = "a/", .mode = 0755, .time_s = 1234567890 },
		{ .kind = TAR_FILE, .name = "a/file", .size = 600, .mode = 0644 },
		{ .kind = TAR_LINK, .name = name, .target = target, .mode = 0777 },
		{ .kind = TAR_FILE, .name = name, .size = 3, .mode = 0600 },
	};
	for (unsigned i = 0; i < 4; i++) {
		char content[600];
		memset(content, 'c', sizeof content);
		EXPECT_INT(tar_add(&out, &members[i], NULL), 0);
		if (members[i].size)
			EXPECT_INT(tar_write(&out, content, members[i].size, NULL), 0);
	}
	EXPECT_INT(tar_finish(&out, NULL), 0);
	EXPECT_INT(memory.len % TAR_RECORD, 0);
	for (size_t piece = 1; piece < 2000; piece = piece * 3 + 1) {
		struct bytes bytes = { memory.buffer, memory.len, 0, piece };
		struct tar_reader in = { .read = from_memory, .context = &bytes };
		struct tar_member m;
		for (unsigned i = 0; i < 4; i++) {
			char content[700];
			EXPECT_INT(tar_next(&in, &m, NULL), 1);
			EXPECT(m.kind == members[i].kind && m.size == members[i].size && m.mode == members[i].mode);
			EXPECT_STR(m.name, members[i].name);
			EXPECT_STR(m.target, members[i].target ? members[i].target : "");
			if (i == 1)
				EXPECT(tar_read(&in, content, sizeof content, NULL) > 0 && content[0] == 'c');
		}
		EXPECT_INT(tar_next(&in, &m, NULL), 0);
		tar_reader_fini(&in);
	}
	writer_fini(&memory);
}

TEST("a truncated archive, or another file, is an error and not an end")
{
	struct writer memory;
	writer_open(&memory, -1, 0);
	struct tar_writer out = { .write = to_memory, .context = &memory };
	EXPECT_INT(tar_add(&out, &(struct tar_member){ .kind = TAR_FILE, .name = "x", .size = 1000, .mode = 0644 }, NULL), 0);
	struct bytes bytes = { memory.buffer, memory.len, 0, 512 };
	struct tar_reader in = { .read = from_memory, .context = &bytes };
	struct tar_member m;
	struct error err = { 0 };
	EXPECT_INT(tar_next(&in, &m, &err), 1);
	EXPECT_INT(tar_next(&in, &m, &err), -1);
	EXPECT(strstr(err.text, "is truncated"));
	tar_reader_fini(&in);
	static const char text[1024] = "no archive";
	struct bytes none = { text, sizeof text, 0, 512 };
	struct tar_reader bad = { .read = from_memory, .context = &none };
	EXPECT_INT(tar_next(&bad, &m, &err), -1);
	tar_reader_fini(&bad);
	writer_fini(&memory);
}

/* A block of a POSIX archive: a member's header, or a text. */
static void put_block(struct writer *out, char kind, const char *name, const char *target, unsigned size)
{
	char block[512] = "";
	unsigned sum = 0;
	snprintf(block, 100, "%s", name);
	snprintf(block + 100, 8, "%07o", 0644);
	snprintf(block + 108, 8, "%07o", 0);
	snprintf(block + 116, 8, "%07o", 0);
	snprintf(block + 124, 12, "%011o", size);
	snprintf(block + 136, 12, "%011o", 0);
	memset(block + 148, ' ', 8);
	block[156] = kind;
	snprintf(block + 157, 100, "%s", target);
	memcpy(block + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof block; i++)
		sum += (unsigned char)block[i];
	snprintf(block + 148, 8, "%06o", sum);
	writer_add(out, block, sizeof block);
}

static void put_text(struct writer *out, const char *text)
{
	char block[512] = "";
	snprintf(block, sizeof block, "%s", text);
	writer_add(out, block, sizeof block);
}

/* The members of an archive with one extended header before the first of two: "KIND NAME>TARGET SIZE; " each, or the error. */
static void expect_extended(const char *extension, const char *want)
{
	struct writer memory;
	char got[512] = "";
	writer_open(&memory, -1, 0);
	put_block(&memory, 'x', "extension", "", (unsigned)strlen(extension));
	if (*extension)
		put_text(&memory, extension);
	put_block(&memory, '0', "one", "two", 5);
	put_text(&memory, "first");
	put_block(&memory, '0', "three", "", 0);
	writer_add(&memory, (const char[1024]){ 0 }, 1024);
	struct bytes bytes = { memory.buffer, memory.len, 0, 512 };
	struct tar_reader in = { .read = from_memory, .context = &bytes };
	struct tar_member m;
	struct error err = { 0 };
	int result;
	while ((result = tar_next(&in, &m, &err)) > 0)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s>%s %llu; ", m.name, m.target, (unsigned long long)m.size);
	snprintf(got + strlen(got), sizeof got - strlen(got), "%s", result < 0 ? err.text : "end");
	EXPECT_STR(got, want);
	tar_reader_fini(&in);
	writer_fini(&memory);
}

TEST("an extended header gives the next member alone its path, target and size, and one that is invalid is an error")
{
	static const char invalid[] = "an extended header of the archive is invalid";
	expect_extended("", "one>two 5; three> 0; end");
	expect_extended("15 path=a/long\n", "a/long>two 5; three> 0; end");
	expect_extended("14 linkpath=t\n15 path=a/long\n", "a/long>t 5; three> 0; end");
	expect_extended("9 size=3\n", "one>two 3; three> 0; end");
	expect_extended("12 size=512\n", "one>two 512; three> 0; end");
	expect_extended("17 comment=size=\n", "one>two 5; three> 0; end");
	expect_extended("16 path=a/long\n", invalid);
	expect_extended("14 path=a/long\n", invalid);
	expect_extended("0 path=x\n", invalid);
	expect_extended("9path=x\n", invalid);
	expect_extended("3 \n", "one>two 5; three> 0; end");
	expect_extended("2\n", invalid);
}

/* A disk that is full after so many writes. */
struct full_disk {
	unsigned left, written;
};

static int to_full_disk(void *context, __attribute__((unused)) const void *bytes, __attribute__((unused)) size_t size, struct error *err)
{
	struct full_disk *disk = context;
	disk->written++;
	return disk->left-- ? 0 : error_set(err, ERROR_SYSTEM, "full");
}

static int write_archive(struct full_disk *disk, struct error *err)
{
	static const char content[600];
	char name[300], target[200];
	struct tar_writer out = { .write = to_full_disk, .context = disk };
	memset(name, 'n', sizeof name);
	memset(target, 't', sizeof target);
	name[sizeof name - 1] = target[sizeof target - 1] = '\0';
	const struct tar_member members[] = { { .kind = TAR_FILE, .name = "a/file", .size = sizeof content, .mode = 0644 },
		{ .kind = TAR_LINK, .name = name, .target = target, .mode = 0777 } };
	for (unsigned i = 0; i < 2; i++)
		if (tar_add(&out, &members[i], err) < 0 || tar_write(&out, content, members[i].size, err) < 0)
			return -1;
	return tar_finish(&out, err);
}

TEST("an archive whose disk is full after any write is an error, and nothing is written after it")
{
	struct full_disk enough = { .left = 1000 };
	struct error err = { 0 };
	EXPECT_INT(write_archive(&enough, &err), 0);
	EXPECT(enough.written > 8);
	for (unsigned left = 0; left < enough.written; left++) {
		struct full_disk disk = { .left = left };
		err = (struct error){ 0 };
		EXPECT(write_archive(&disk, &err) < 0);
		EXPECT_STR(err.text, "full");
		EXPECT_INT(disk.written, left + 1);
	}
}

TEST("a member has exactly the bytes that it claims")
{
	struct full_disk disk = { .left = 1000 };
	struct tar_writer out = { .write = to_full_disk, .context = &disk };
	const struct tar_member member = { .kind = TAR_FILE, .name = "a", .size = 3, .mode = 0644 };
	struct error err = { 0 };
	EXPECT_INT(tar_add(&out, &member, &err), 0);
	EXPECT_INT(tar_write(&out, "ab", 2, &err), 0);
	EXPECT(tar_write(&out, "cd", 2, &err) < 0);
	EXPECT_STR(err.text, "more content than the member claims");
	EXPECT_INT(tar_write(&out, "c", 1, &err), 0);
	EXPECT(tar_write(&out, "d", 1, &err) < 0);
	EXPECT_INT(tar_write(&out, "d", 0, &err), 0);
}
