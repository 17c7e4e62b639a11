#include "cmd/build_id_rows.h"

#include <stdlib.h>

#include "data/test_recording.h"
#include "image/test_folder.h"

/* A row of the build-id table; seed: the first byte of the id. */
static void put_row(struct recording *r, int32_t pid, char seed, const char *name)
{
	char id[24] = { seed }, padded[16] = { 0 };
	size_t at = begin_record(r, RECORD_HEADER_BUILD_ID, RECORD_MISC_USER);
	put(r, (uint32_t)pid, 4);
	put_bytes(r, id, sizeof id);
	snprintf(padded, sizeof padded, "%s", name);
	put_bytes(r, padded, sizeof padded);
	end_record(r, at);
}

/* One that is true of one file of that name alone, as `perfuse record` writes it: the name, then the file's numbers. */
static void put_row_of_file(struct recording *r, char seed, const char *name, uint64_t ino)
{
	char id[24] = { seed }, padded[16] = { 0 };
	size_t at = begin_record(r, RECORD_HEADER_BUILD_ID, RECORD_MISC_USER);
	put(r, (uint32_t)-1, 4);
	put_bytes(r, id, sizeof id);
	snprintf(padded, sizeof padded, "%s", name);
	put_bytes(r, padded, sizeof padded);
	put_bytes(r, BUILD_ID_IDENTITY_MARK, BUILD_ID_IDENTITY_MARK_BYTES);
	put(r, 8, 4);
	put(r, 1, 4);
	put(r, ino, 8);
	put(r, 0, 8);
	end_record(r, at);
}

static const char *write_rows(struct folder *f, void (*rows)(struct recording *r))
{
	struct recording *r = recording_new(false);
	begin_file(r, 1);
	size_t data = r->len;
	put_sample(r, 10, 0x1000, 1);
	end_data(r, data);
	size_t table = begin_features(r, 1u << FEATURE_BUILD_ID), at = r->len;
	rows(r);
	end_feature(r, &table, at);
	const char *path = folder_write(f, "perf.data", r->bytes, r->len);
	free(r);
	return path;
}

static void expect_rows(void (*put_rows)(struct recording *r), size_t count, const char *const *want)
{
	struct folder f;
	struct build_id_rows rows;
	struct error err = { 0 };
	folder_open(&f);
	EXPECT_INT(build_id_rows_read(&rows, write_rows(&f, put_rows), true, false, NULL, &err), 0);
	EXPECT_INT(rows.list.count, count);
	for (size_t i = 0; i < count && i < rows.list.count; i++) {
		const struct build_id_row *row = &rows.list.items[i];
		char text[64];
		snprintf(text, sizeof text, "%d %c %s", row->machine, row->id[0], row->name);
		EXPECT_STR(text, want[i]);
		EXPECT_INT(row->len, 20);
	}
	EXPECT(!losses_are_damage(&rows.losses));
	build_id_rows_fini(&rows);
	folder_close(&f);
}

static void put_plain(struct recording *r)
{
	put_row(r, 7, 'a', "/bin/a");
	put_row(r, -1, 'b', "/bin/b");
	put_row(r, -1, 'x', "/bin/a");
	put_row(r, 0, 'y', "/bin/c");
	put_row(r, -1, 'z', "/bin/a");
	put_row(r, 6, 'g', "/bin/b");
}

TEST("rows are in order of machine and name, and of equal names the last row counts")
{
	expect_rows(put_plain, 5, (const char *const[]){ "-1 z /bin/a", "-1 b /bin/b", "-1 y /bin/c", "6 g /bin/b", "7 a /bin/a" });
}

static void put_builds(struct recording *r)
{
	put_row_of_file(r, 'p', "/bin/a", 1);
	put_row_of_file(r, 'q', "/bin/a", 2);
	put_row_of_file(r, 'q', "/bin/a", 3);
	put_row(r, -1, 'r', "/bin/b");
	put_row_of_file(r, 's', "/bin/b", 4);
}

TEST("builds that had one name have a row each, equal ones and rows of any file of the name have not")
{
	expect_rows(put_builds, 3, (const char *const[]){ "-1 p /bin/a", "-1 q /bin/a", "-1 s /bin/b" });
}

static void end_with_id(struct recording *r, size_t at, uint64_t time)
{
	put(r, 100, 4);
	put(r, 101, 4);
	put(r, time, 8);
	put(r, 10, 8);
	end_record(r, at);
}

/* The kernel's text, and a BPF program behind it. */
static void put_kernel(struct recording *r)
{
	size_t at = begin_record(r, RECORD_MMAP, RECORD_MISC_KERNEL);
	put(r, (uint32_t)-1, 4);
	put(r, 0, 4);
	put(r, 0xffffffff81000000, 8);
	put(r, 0x1000000, 8);
	put(r, 0xffffffff81000000, 8);
	put_bytes(r, "[kernel.kallsyms]_text\0", 24);
	end_with_id(r, at, 1);
	at = begin_record(r, RECORD_KSYMBOL, 0);
	put(r, 0xffffffffc0001000, 8);
	put(r, 0x100, 4);
	put(r, 1, 2);
	put(r, 0, 2);
	put_bytes(r, "bpf_prog_x\0\0\0\0\0", 16);
	end_with_id(r, at, 2);
}

static void put_kernel_sample(struct recording *r, uint64_t ip, uint64_t time)
{
	size_t at = r->len;
	put_sample(r, 10, ip, time);
	put_at(r, at + 4, RECORD_MISC_KERNEL, 2);
}

TEST("modules with samples are listed; a BPF program is not a file")
{
	struct folder f;
	struct build_id_rows rows;
	struct error err = { 0 };
	folder_open(&f);
	struct recording *r = recording_new(false);
	begin_file(r, 1);
	size_t data = r->len;
	put_kernel(r);
	put_kernel_sample(r, 0xffffffff81000010, 3);
	put_kernel_sample(r, 0xffffffffc0001010, 4);
	end_data(r, data);
	begin_features(r, 0);
	EXPECT_INT(build_id_rows_read(&rows, folder_write(&f, "perf.data", r->bytes, r->len), true, true, NULL, &err), 0);
	EXPECT_INT(rows.list.count, 1);
	EXPECT_STR(rows.list.items[0].name, "[kernel.kallsyms]");
	build_id_rows_fini(&rows);
	free(r);
	folder_close(&f);
}

TEST("a recording that cannot be opened leaves no rows, one that ends early leaves those before")
{
	struct folder f;
	struct build_id_rows rows;
	struct error err = { 0 };
	folder_open(&f);
	EXPECT(build_id_rows_read(&rows, folder_path(&f, "absent"), true, false, NULL, &err) < 0);
	EXPECT(err.text[0] && !rows.list.count);
	build_id_rows_fini(&rows);
	struct recording *r = recording_new(false);
	make_stream(r);
	const char *path = folder_write(&f, "perf.data", r->bytes, r->len - 4);
	EXPECT_INT(build_id_rows_read(&rows, path, true, false, NULL, &err), 0);
	EXPECT(losses_are_damage(&rows.losses));
	build_id_rows_fini(&rows);
	free(r);
	folder_close(&f);
}

TEST("a row is printed with its id padded to 20 bytes, and a name without line ends")
{
	struct writer out;
	writer_open(&out, -1, 0);
	build_id_row_print(&(struct build_id_row){ .name = "/a", .id = "\x01\xff", .len = 2 }, &out);
	struct build_id_row full = { .name = "b\nc", .len = 20 };
	for (uint8_t i = 0; i < 20; i++)
		full.id[i] = 10 + i;
	build_id_row_print(&full, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "01ff                                     /a\n0a0b0c0d0e0f101112131415161718191a1b1c1d b?c\n");
	writer_fini(&out);
}
