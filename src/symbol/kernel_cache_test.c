#include "symbol/kernel_cache.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "unit.h"

static const char text[] = "ffffffff81000000 T _text\nffffffff81000010 t local\nffffffffc0000000 t ext4_one\t[ext4]\n";

struct place {
	char base[32], file[64];
	struct kallsyms k;
};

static void place_open(struct place *p)
{
	strcpy(p->base, "/tmp/kernel-cache-XXXXXX");
	EXPECT(mkdtemp(p->base) != NULL);
	snprintf(p->file, sizeof p->file, "%s/perfuse/%s", p->base, KERNEL_CACHE_NAME);
	kallsyms_parse(&p->k, memory_string(text), sizeof text - 1);
}

static void place_close(struct place *p)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", p->base);
	EXPECT_INT(system(command), 0);
	kallsyms_fini(&p->k);
}

static bool opens(const struct place *p, uint64_t state, enum error_kind *kind)
{
	struct kernel_cache cache;
	struct error err = { 0 };
	bool opened = kernel_cache_open(p->base, state, &cache, &err) == 0;
	if (opened) {
		struct arena names = { 0 };
		struct symbol symbol;
		EXPECT_INT(cache.list.kernel.count, 2);
		EXPECT_INT(packed_find(&cache.list.kernel, 0xffffffff81000011), 2);
		kernel_cache_get(&cache, &cache.list.kernel, 2, &symbol, &names);
		EXPECT_STR(symbol.name, "local");
		EXPECT(symbol.start == 0xffffffff81000010 && symbol.end == 0xffffffff81002000);
		arena_fini(&names);
	} else {
		EXPECT(cache.bytes.len == 0 && cache.list.kernel.count == 0 && cache.list.module_count == 0);
	}
	*kind = err.kind;
	kernel_cache_close(&cache);
	return opened;
}

TEST("a cached list is found in the same state of the kernel, and in no other")
{
	struct place p;
	enum error_kind kind;
	place_open(&p);
	EXPECT(!opens(&p, 5, &kind) && kind == ERROR_SYSTEM);
	EXPECT_INT(kernel_cache_save(p.base, 5, &p.k, NULL), 0);
	EXPECT(opens(&p, 5, &kind));
	EXPECT(!opens(&p, 6, &kind) && kind == ERROR_FORMAT);
	EXPECT_INT(kernel_cache_save(p.base, 6, &p.k, NULL), 0);
	EXPECT(opens(&p, 6, &kind));
	EXPECT(!opens(&p, 5, &kind));
	place_close(&p);
}

static size_t read_file(const char *path, char *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	size_t len = file ? fread(bytes, 1, room, file) : 0;
	EXPECT(file && len < room);
	if (file)
		fclose(file);
	return len;
}

static void write_file(const char *path, const char *bytes, size_t len)
{
	FILE *file = fopen(path, "wb");
	EXPECT(file && fwrite(bytes, 1, len, file) == len);
	if (file)
		fclose(file);
}

TEST("a cached list that is truncated, longer or changed in one byte is ignored")
{
	struct place p;
	enum error_kind kind;
	char bytes[1024];
	place_open(&p);
	EXPECT_INT(kernel_cache_save(p.base, 5, &p.k, NULL), 0);
	size_t len = read_file(p.file, bytes, sizeof bytes - 1);
	for (size_t cut = 0; cut < len; cut++) {
		write_file(p.file, bytes, cut);
		EXPECT(!opens(&p, 5, &kind) && kind == ERROR_FORMAT);
	}
	bytes[len] = 0;
	write_file(p.file, bytes, len + 1);
	EXPECT(!opens(&p, 5, &kind) && kind == ERROR_FORMAT);
	for (size_t at = 0; at < len; at++) {
		bytes[at] ^= 0x11;
		write_file(p.file, bytes, len);
		EXPECT(!opens(&p, 5, &kind) && kind == ERROR_FORMAT);
		bytes[at] ^= 0x11;
	}
	write_file(p.file, bytes, len);
	EXPECT(opens(&p, 5, &kind));
	place_close(&p);
}

TEST("a cached list that other users can write is not read, and the next one replaces it")
{
	struct place p;
	enum error_kind kind;
	place_open(&p);
	EXPECT_INT(kernel_cache_save(p.base, 5, &p.k, NULL), 0);
	EXPECT_INT(chmod(p.file, 0660), 0);
	EXPECT(!opens(&p, 5, &kind) && kind == ERROR_PERMISSION);
	EXPECT_INT(kernel_cache_save(p.base, 5, &p.k, NULL), 0);
	EXPECT(opens(&p, 5, &kind));
	place_close(&p);
}

TEST("a cached list of more than 256 MiB is refused by its size, and not read")
{
	struct place p;
	enum error_kind kind;
	struct kernel_cache cache;
	struct error err = { 0 };
	place_open(&p);
	EXPECT_INT(kernel_cache_save(p.base, 5, &p.k, NULL), 0);
	EXPECT_INT(truncate(p.file, (256 << 20) + 1), 0);
	EXPECT(!opens(&p, 5, &kind) && kind == ERROR_FORMAT);
	EXPECT(kernel_cache_open(p.base, 5, &cache, &err) < 0);
	EXPECT(strstr(err.text, " has 268435457 bytes"));
	place_close(&p);
}
