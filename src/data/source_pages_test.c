#include "data/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "data/test_recording.h"
#include "data/time_index.h"
#include "unit.h"

/* Writes count samples with times and addresses counted from 0 to folder/file. */
static struct source *long_file(const char *folder, bool swap, uint64_t count)
{
	struct recording *r = recording_new(swap);
	struct source *source = NULL;
	char path[64];
	begin_file(r, 1);
	put_at(r, 48, count * 40, 8);
	write_file(folder, "file", r->bytes, r->len);
	snprintf(path, sizeof path, "%s/file", folder);
	FILE *file = fopen(path, "a");
	for (uint64_t i = 0; i < count; i++) {
		r->len = 0;
		put_sample(r, 10, i, i);
		fwrite(r->bytes, r->len, 1, file);
	}
	fclose(file);
	EXPECT(source_open(&source, path, NULL, NULL) == 0);
	free(r);
	return source;
}

TEST("a large file is mapped, its pages are dropped, and its bytes stay the same, also of records that wait")
{
	static const char *const names[] = { "file", NULL };
	char folder[] = "/tmp/source_test.XXXXXX";
	enum { COUNT = 1 << 20, WAITING = 1 << 17 };
	const uint8_t **bodies = malloc(WAITING * sizeof *bodies);
	EXPECT(mkdtemp(folder) != NULL);
	for (int swap = 0; swap < 2; swap++) {
		struct source *source = long_file(folder, swap, COUNT);
		struct record record;
		uint64_t seen = 0, sum = 0, first = source_mark(source);
		while (source_next(source, &record, NULL) == 1) {
			sum += load_u64(record.body + 8);
			if (seen < WAITING)
				bodies[seen] = record.body;
			if (++seen % 1000 == 0)
				source_release(source, seen < WAITING ? first : source_mark(source));
			for (size_t i = 0; seen == WAITING && i < WAITING; i++)
				EXPECT(load_u64(bodies[i] + 8) == i);
		}
		EXPECT_INT(seen, COUNT);
		EXPECT_INT(sum, (uint64_t)COUNT * (COUNT - 1) / 2);
		source_close(source);
	}
	free(bodies);
	remove_folder(folder, names);
}

static long resident_file_kb(void)
{
	char line[128];
	long kb = -1;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status))
		sscanf(line, "RssFile: %ld", &kb);
	if (status)
		fclose(status);
	return kb;
}

/* Reads all records of the file, releases each 1000 of them at once or none, and returns how much of the file was in memory at most, in
 * kB. */
static long most_resident(struct source *source, uint64_t count, bool releases)
{
	struct record record;
	uint64_t seen = 0;
	long before = resident_file_kb(), most = 0;
	while (source_next(source, &record, NULL) == 1) {
		EXPECT(load_u64(record.body + 8) == seen);
		if (++seen % 1000)
			continue;
		if (releases)
			source_release(source, source_mark(source));
		long kb = resident_file_kb() - before;
		most = kb > most ? kb : most;
	}
	EXPECT_INT(seen, count);
	return most;
}

TEST("few pages of a large file are in memory, also where another thread maps them before they are read")
{
	enum { COUNT = 1 << 21, MOST_KB = 44 << 10 };
	static const char *const names[] = { "file", NULL };
	char folder[] = "/tmp/source_test.XXXXXX";
	EXPECT(mkdtemp(folder) != NULL);
	for (unsigned way = 0; way < 6; way++) {
		struct source *source = long_file(folder, false, COUNT);
		source->roomy = way & 1;
		source->passing = way & 4;
		EXPECT(most_resident(source, COUNT, way & 2) < MOST_KB);
		source_close(source);
	}
	remove_folder(folder, names);
}

static uint64_t faults_of_reading(const uint8_t *bytes, size_t size)
{
	struct rusage before, after;
	uint64_t sum = 0;
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < size; i += 4096)
		sum += *(const volatile uint8_t *)(bytes + i);
	getrusage(RUSAGE_SELF, &after);
	EXPECT(sum != 1);
	return (uint64_t)(after.ru_minflt - before.ru_minflt);
}

TEST("pages of records that are used in the order of the file stay in memory until they are released")
{
	enum { COUNT = 1 << 20, PART = 2 << 20, STAYING = 3 << 20 };
	static const char *const names[] = { "file", NULL };
	char folder[] = "/tmp/source_test.XXXXXX";
	EXPECT(mkdtemp(folder) != NULL);
	struct source *source = long_file(folder, 0, COUNT);
	struct record record;
	uint64_t first = source_mark(source);
	const uint8_t *bytes = NULL;
	while (source_next(source, &record, NULL) == 1)
		bytes = bytes ? bytes : record.body;
	const uint8_t *part = bytes + PART;
	faults_of_reading(part, PART);
	source_release_used(source, first + PART, PART); /* the records before are used, and those of the part will be */
	EXPECT_INT(faults_of_reading(part, PART), 0);
	source_release_used(source, first + PART, STAYING);
	EXPECT_INT(faults_of_reading(part, PART), 0);
	source_release_used(source, first + PART, 1); /* too much was used behind the part, which still waits */
	EXPECT(faults_of_reading(part, PART) > 0);
	source_close(source);
	remove_folder(folder, names);
}

/* Whether the kernel reads nothing ahead where this file is mapped; -1: the map does not list the file. */
static int reads_places(const char *path)
{
	char line[512];
	int result = -1;
	bool inside = false;
	FILE *maps = fopen("/proc/self/smaps", "r");
	while (maps && fgets(line, sizeof line, maps)) {
		if (strstr(line, path))
			inside = true;
		if (inside && strncmp(line, "VmFlags:", 8) == 0) {
			result = strstr(line, " rr") != NULL;
			break;
		}
	}
	if (maps)
		fclose(maps);
	return result;
}

/* Whether reads_places answers: an emulator shows its own list of maps. */
static bool shows_advice(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	bool shown = map != MAP_FAILED && madvise(map, 4096, MADV_RANDOM) == 0 && reads_places(path) == 1;
	if (map != MAP_FAILED)
		munmap(map, 4096);
	close(fd);
	return shown;
}

TEST("of a file with an index, only the pages of a range of time are read ahead")
{
	enum { COUNT = 1 << 18, FROM = 100000, UNTIL = 100100, RECORD_SIZE = 40 };
	static const char *const names[] = { "file", NULL };
	char folder[] = "/tmp/source_test.XXXXXX", path[64];
	struct time_index index = { 0 };
	struct record record;
	uint64_t seen = 0, wanted = 0;
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/file", folder);
	struct source *source = long_file(folder, false, COUNT);
	for (uint64_t i = 0; i < COUNT; i++)
		time_index_add(&index, source->header.data_offset + i * RECORD_SIZE, RECORD_SIZE, true, i);
	source_close(source);
	int fd = open(path, O_RDWR | O_APPEND);
	EXPECT(fd >= 0 && time_index_append(&index, fd, NULL) == 0);
	close(fd);
	time_index_fini(&index);
	bool shown = shows_advice(path);
	EXPECT(source_open(&source, path, NULL, NULL) == 0);
	if (shown)
		EXPECT_INT(reads_places(path), 0);
	source_set_window(source, FROM, UNTIL);
	if (shown)
		EXPECT_INT(reads_places(path), 1);
	for (; source_next(source, &record, NULL) == 1; seen++)
		wanted += load_u64(record.body + 8) >= FROM && load_u64(record.body + 8) <= UNTIL;
	EXPECT_INT(wanted, UNTIL - FROM + 1);
	EXPECT(seen < COUNT / 2);
	source_close(source);
	remove_folder(folder, names);
}

TEST("a second reader of a file in memory uses its bytes, but not those of a mapped or swapped one, or of another file")
{
	static const struct {
		uint64_t count;
		bool swap, other, shared;
	} cases[] = { { 10, false, false, true }, { 10, true, false, false }, { 10, false, true, false }, { 1 << 18, false, false, false } };
	static const char *const names[] = { "file", "other", NULL };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char folder[] = "/tmp/source_test.XXXXXX", path[64], other[64];
		EXPECT(mkdtemp(folder) != NULL);
		struct source *first = long_file(folder, cases[i].swap, cases[i].count), *second = NULL, *again = NULL;
		snprintf(path, sizeof path, "%s/file", folder);
		snprintf(other, sizeof other, "%s/other", folder);
		if (cases[i].other) {
			EXPECT(rename(path, other) == 0);
			again = long_file(folder, false, cases[i].count);
		}
		EXPECT(source_open(&second, path, &(struct source_options){ .same = first }, NULL) == 0);
		struct record a, b;
		EXPECT(source_next(first, &a, NULL) == 1 && source_next(second, &b, NULL) == 1);
		EXPECT((a.body == b.body) == cases[i].shared);
		EXPECT_INT(load_u64(b.body + 8), 0);
		source_close(second);
		EXPECT(source_next(first, &a, NULL) == 1);
		EXPECT_INT(load_u64(a.body + 8), 1);
		source_close(again);
		source_close(first);
		remove_folder(folder, names);
	}
}
