#include "symbol/symbol.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <lzma.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_maker.h"
#include "model/jit.h"
#include "unit.h"

static const uint8_t id_one[20] = { 0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
static const uint8_t id_two[20] = { 0x12, 0x34, 9 };
#define HEX_ONE "ab/cd0102030405060708090a0b0c0d0e0f101112"
/* Offset of the first function of the files below: after the header, three program headers and .fill. */
#define TEXT_OFFSET 0x1000
#define FILL (TEXT_OFFSET - 240)

/* A folder for one test, and its files. */
struct place {
	char root[64];
	char path[4][PATH_MAX];
	unsigned used;
	struct module modules_of[4];
	struct modules modules;
	struct symbols *symbols;
};

static void place_open(struct place *p)
{
	*p = (struct place){ .root = "/tmp/symbol-test-XXXXXX" };
	EXPECT(mkdtemp(p->root) != NULL);
}

static void place_close(struct place *p)
{
	symbols_free(p->symbols);
	vec_fini(&p->modules.list);
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", p->root);
	EXPECT_INT(system(command), 0);
}

/* Writes a file below the folder, and creates the folders on its path. */
static const char *place_write(struct place *p, const char *name, const void *data, size_t len)
{
	char *path = p->path[p->used++ % 4];
	strcpy(path, p->root);
	strcat(strcat(path, "/"), name);
	for (char *slash = path + strlen(p->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *file = fopen(path, "wb");
	EXPECT(file && fwrite(data, 1, len, file) == len);
	if (file)
		fclose(file);
	return path;
}

/* Makes an ELF file with one function of that name at TEXT_OFFSET; in .symtab, .dynsym or .gnu_debugdata. */
static uint8_t *file_with(const char *function, const char *table, const uint8_t *id, const char *debuglink, size_t *len)
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_section(&m, ".fill", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, FILL);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, NULL, 0x100);
	maker_section(&m, ".bss", SHT_NOBITS, SHF_ALLOC, 0x501000, NULL, 0x10);
	if (id)
		maker_build_id(&m, id, 20);
	if (debuglink) {
		unsigned link = maker_section(&m, ".gnu_debuglink", SHT_PROGBITS, 0, 0, debuglink, strlen(debuglink) + 1);
		maker_append(&m, link, "\0\0\0\0\0\0", 6);
	}
	bool dynamic = strcmp(table, ".dynsym") == 0;
	unsigned tab = maker_symtab(&m, table, dynamic ? ".dynstr" : ".strtab", dynamic ? SHT_DYNSYM : SHT_SYMTAB);
	if (function)
		maker_symbol(&m, tab, function, 0x401000, 0x20, STB_GLOBAL, STT_FUNC, text);
	return maker_finish(&m, len);
}

static const char *place_elf(struct place *p, const char *name, const char *function, const char *table, const uint8_t *id,
	const char *debuglink)
{
	size_t len;
	uint8_t *file = file_with(function, table, id, debuglink, &len);
	const char *path = place_write(p, name, file, len);
	free(file);
	return path;
}

static struct module *place_module(struct place *p, enum module_kind kind, const char *name, const uint8_t *id)
{
	struct module *module = &p->modules_of[p->modules.list.count];
	const char *slash = strrchr(name, '/');
	*module = (struct module){ .id = (uint32_t)p->modules.list.count, .kind = kind, .name = name, .long_name = name,
		.short_name = slash ? slash + 1 : name, .pid = -1 };
	if (id) {
		memcpy(module->build_id, id, 20);
		module->build_id_len = 20;
	}
	vec_push(&p->modules.list, module);
	return module;
}

static const char *shown(struct place *p, const struct module *module, uint64_t offset)
{
	uint32_t id = symbols_lookup(p->symbols, module, offset);
	return id ? symbols_name(p->symbols, module, id) : "";
}

TEST("a file's own symbols are found and demangled; the info names their source")
{
	struct place p;
	place_open(&p);
	const char *path = place_elf(&p, "prog", "_ZN3foo3barEv", ".symtab", id_one, NULL);
	struct module *module = place_module(&p, MODULE_FILE, path, id_one);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_INT(symbols_info(p.symbols, module).state, SYMTAB_NOT_TRIED);
	EXPECT_STR(shown(&p, module, TEXT_OFFSET + 5), "foo::bar");
	EXPECT_STR(shown(&p, module, TEXT_OFFSET + 0x20), "");
	uint32_t id = symbols_lookup(p.symbols, module, TEXT_OFFSET);
	uint64_t start, end;
	EXPECT_STR(symbols_get(p.symbols, module, id)->name, "_ZN3foo3barEv");
	EXPECT(symbols_name(p.symbols, module, id) == symbols_name(p.symbols, module, id));
	EXPECT(symbols_extent(p.symbols, module, &start, &end) && start == TEXT_OFFSET && end == symbols_get(p.symbols, module, id)->end);
	struct symtab_info info = symbols_info(p.symbols, module);
	EXPECT_INT(info.state, SYMTAB_LOADED);
	EXPECT_INT(info.origin, 'd');
	EXPECT_STR(info.path, path);
	place_close(&p);
}

TEST("a file with another build-id, or without one, is not used")
{
	struct place p;
	place_open(&p);
	struct module *other = place_module(&p, MODULE_FILE, place_elf(&p, "a", "f", ".symtab", id_two, NULL), id_one);
	struct module *none = place_module(&p, MODULE_FILE, place_elf(&p, "b", "f", ".symtab", NULL, NULL), id_one);
	struct module *unknown = place_module(&p, MODULE_FILE, place_elf(&p, "c", "f", ".symtab", id_two, NULL), NULL);
	struct module *absent = place_module(&p, MODULE_FILE, "/nowhere/at/all", id_one);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, other, TEXT_OFFSET), "");
	EXPECT_INT(symbols_info(p.symbols, other).state, SYMTAB_MISMATCH);
	EXPECT_STR(shown(&p, none, TEXT_OFFSET), "");
	EXPECT_INT(symbols_info(p.symbols, none).state, SYMTAB_MISMATCH);
	EXPECT_STR(shown(&p, unknown, TEXT_OFFSET), "f");
	EXPECT_STR(shown(&p, absent, TEXT_OFFSET), "");
	EXPECT_INT(symbols_info(p.symbols, absent).state, SYMTAB_MISSING);
	place_close(&p);
}

TEST("a file of another format is no damaged ELF file, unless the recording has a build-id of it")
{
	static const char cut[20] = "\177ELF\2\1";
	struct place p;
	place_open(&p);
	struct module *text = place_module(&p, MODULE_FILE, place_write(&p, "text", "#!/bin/sh\n", 10), NULL);
	struct module *replaced = place_module(&p, MODULE_FILE, place_write(&p, "replaced", "#!/bin/sh\n", 10), id_one);
	struct module *damaged = place_module(&p, MODULE_FILE, place_write(&p, "damaged", cut, 20), NULL);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, text, 0), "");
	EXPECT_STR(shown(&p, replaced, 0), "");
	EXPECT_STR(shown(&p, damaged, 0), "");
	EXPECT_INT(symbols_info(p.symbols, text).state, SYMTAB_MISSING);
	EXPECT_INT(symbols_info(p.symbols, replaced).state, SYMTAB_DAMAGED);
	EXPECT_INT(symbols_info(p.symbols, damaged).state, SYMTAB_DAMAGED);
	place_close(&p);
}

TEST("a file that is not ELF, a pipe or a folder yields no names only for its own module")
{
	struct place p;
	place_open(&p);
	struct module *text = place_module(&p, MODULE_FILE, place_write(&p, "text", "#!/bin/sh\n", 10), NULL);
	char fifo[PATH_MAX];
	snprintf(fifo, sizeof fifo, "%s/fifo", p.root);
	EXPECT_INT(mkfifo(fifo, 0600), 0);
	struct module *pipe = place_module(&p, MODULE_FILE, fifo, NULL), *folder = place_module(&p, MODULE_FILE, p.root, NULL);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, text, 0), "");
	EXPECT_STR(shown(&p, pipe, 0), "");
	EXPECT_STR(shown(&p, folder, 0), "");
	place_close(&p);
}

TEST("with symfs all files are opened below it")
{
	struct place p;
	place_open(&p);
	char symfs[PATH_MAX], name[PATH_MAX];
	const char *path = place_elf(&p, "prog", "outside", ".symtab", id_one, NULL);
	snprintf(name, sizeof name, "fs%s", path);
	place_elf(&p, name, "inside", ".symtab", id_one, NULL);
	snprintf(symfs, sizeof symfs, "%s/fs", p.root);
	struct module *module = place_module(&p, MODULE_FILE, path, id_one);
	struct module *kernel = place_module(&p, MODULE_KERNEL, "[kernel.kallsyms]", NULL);
	struct module *vdso = place_module(&p, MODULE_VDSO, "[vdso]", NULL);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ .symfs = symfs });
	EXPECT_STR(shown(&p, module, TEXT_OFFSET), "inside");
	symbols_load(p.symbols, kernel);
	symbols_load(p.symbols, vdso);
	EXPECT_INT(symbols_info(p.symbols, kernel).state, SYMTAB_MISSING);
	EXPECT_INT(symbols_info(p.symbols, vdso).state, SYMTAB_MISSING);
	place_close(&p);
}

TEST("the build-id cache has the file of the recording if the path has another one now")
{
	struct place p;
	place_open(&p);
	char cache[PATH_MAX];
	place_elf(&p, "cache/.build-id/" HEX_ONE "/elf", "cached", ".symtab", id_one, NULL);
	snprintf(cache, sizeof cache, "%s/cache", p.root);
	struct module *module = place_module(&p, MODULE_FILE, place_elf(&p, "prog", "new", ".symtab", id_two, NULL), id_one);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ .buildid_dir = cache });
	EXPECT_STR(shown(&p, module, TEXT_OFFSET), "cached");
	EXPECT_INT(symbols_info(p.symbols, module).origin, 'B');
	place_close(&p);
}

TEST("a stripped file has the names of its linked debug file, and otherwise exported names")
{
	struct place p;
	place_open(&p);
	const char *linked = place_elf(&p, "linked", "exported", ".dynsym", id_one, "linked.debug");
	place_elf(&p, ".debug/linked.debug", "from_debug", ".symtab", id_one, NULL);
	struct module *with = place_module(&p, MODULE_FILE, linked, id_one);
	const char *bare = place_elf(&p, "bare", "exported", ".dynsym", id_one, "no.debug");
	struct module *without = place_module(&p, MODULE_FILE, bare, id_one);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, with, TEXT_OFFSET), "from_debug");
	EXPECT_INT(symbols_info(p.symbols, with).origin, 'l');
	EXPECT_STR(shown(&p, without, TEXT_OFFSET), "exported");
	place_close(&p);
}

TEST("the names of a small file stay as they were when it was read")
{
	struct place p;
	place_open(&p);
	const char *path = place_elf(&p, "prog", "small", ".symtab", id_one, NULL);
	struct module *module = place_module(&p, MODULE_FILE, path, id_one);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	symbols_load(p.symbols, module);
	EXPECT_INT(truncate(path, 0), 0);
	EXPECT_STR(shown(&p, module, TEXT_OFFSET), "small");
	place_close(&p);
}

TEST("names in .gnu_debugdata are used in addition to the exported ones")
{
	struct place p;
	place_open(&p);
	size_t inner_len, packed_len = 0, len;
	uint8_t *inner = file_with("hidden_function", ".symtab", NULL, NULL, &inner_len), packed[16384];
	lzma_ret done = lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, inner, inner_len, packed, &packed_len, sizeof packed);
	EXPECT_INT(done, LZMA_OK);
	free(inner);
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	maker_section(&m, ".fill", SHT_PROGBITS, SHF_ALLOC, 0x1000, NULL, FILL);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, NULL, 0x100);
	maker_section(&m, ".bss", SHT_NOBITS, SHF_ALLOC, 0x501000, NULL, 0x10);
	maker_section(&m, ".gnu_debugdata", SHT_PROGBITS, 0, 0, packed, packed_len);
	unsigned tab = maker_symtab(&m, ".dynsym", ".dynstr", SHT_DYNSYM);
	maker_symbol(&m, tab, "exported", 0x401040, 0x20, STB_GLOBAL, STT_FUNC, text);
	uint8_t *file = maker_finish(&m, &len);
	struct module *module = place_module(&p, MODULE_FILE, place_write(&p, "prog", file, len), NULL);
	free(file);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, module, TEXT_OFFSET), "hidden_function");
	EXPECT_STR(shown(&p, module, TEXT_OFFSET + 0x40), "exported");
	place_close(&p);
}

static const char kallsyms[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000100 T kernel_function\n"
	"ffffffffc0000000 t module_function\t[ext4]\n";

TEST("kernel and modules share one list, moved to the recorded kernel's address")
{
	struct place p;
	place_open(&p);
	const char *list = place_write(&p, "list", kallsyms, strlen(kallsyms));
	struct module *kernel = place_module(&p, MODULE_KERNEL, "[kernel.kallsyms]", id_one);
	struct module *ext4 = place_module(&p, MODULE_KMODULE, "[ext4]", NULL);
	kernel->relocation = 0xffffffff82000000;
	kernel->relocation_symbol = "_text";
	ext4->start = 0xffffffffc0000000;
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ .kallsyms = list });
	EXPECT_STR(shown(&p, ext4, 0x10), "module_function");
	EXPECT_STR(shown(&p, kernel, 0xffffffff82000105), "kernel_function");
	EXPECT_INT(symbols_info(p.symbols, kernel).origin, 'k');
	place_close(&p);
}

TEST("for a kernel with another build-id only the list in the cache is used")
{
	struct place p;
	place_open(&p);
	char cache[PATH_MAX];
	place_write(&p, "cache/.build-id/" HEX_ONE "/kallsyms", kallsyms, strlen(kallsyms));
	snprintf(cache, sizeof cache, "%s/cache", p.root);
	struct module *kernel = place_module(&p, MODULE_KERNEL, "[kernel.kallsyms]", id_one);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ .buildid_dir = cache });
	EXPECT_STR(shown(&p, kernel, 0xffffffff81000101), "kernel_function");
	symbols_free(p.symbols);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, kernel, 0xffffffff81000101), "");
	EXPECT(symbols_info(p.symbols, kernel).state != SYMTAB_LOADED);
	place_close(&p);
}

/* Addresses of code of the running kernel, all over its list; 0: it hides them. */
static size_t kernel_addresses(uint64_t *addresses, size_t most)
{
	enum { DISTANCE = 997 };
	char line[256], type;
	uint64_t address;
	size_t count = 0, code = 0;
	FILE *file = fopen("/proc/kallsyms", "re");
	while (file && count < most && fgets(line, sizeof line, file))
		if (sscanf(line, "%" SCNx64 " %c", &address, &type) == 2 && (type == 't' || type == 'T') && !strchr(line, '[') && address &&
		    code++ % DISTANCE == 0)
			addresses[count++] = address;
	if (file)
		fclose(file);
	return count;
}

TEST("names of the running kernel are the same from its list and from the cached one")
{
	enum { MOST = 200 };
	uint64_t addresses[MOST];
	struct place p;
	struct str names[2] = { 0 };
	uint64_t start[2] = { 0 }, end[2] = { 0 };
	size_t count = kernel_addresses(addresses, MOST);
	place_open(&p);
	struct module *kernel = place_module(&p, MODULE_KERNEL, "[kernel.kallsyms]", NULL);
	for (unsigned round = 0; round < 2 && count; round++) {
		p.symbols = symbols_new(&p.modules, &(struct symbols_options){ .kernel_cache_dir = p.root, .no_vmlinux = true });
		for (size_t i = 0; i < count; i++)
			for (unsigned k = 0; k < 2; k++) /* the second time, it is one of those found recently */
				str_printf(&names[round], "%s ", shown(&p, kernel, addresses[i] + k));
		EXPECT(symbols_extent(p.symbols, kernel, &start[round], &end[round]));
		symbols_free(p.symbols);
	}
	p.symbols = NULL;
	if (!count)
		unit_skip("the kernel hides its addresses from this user");
	EXPECT_STR(str_text(&names[1]), str_text(&names[0]));
	EXPECT(names[0].len >= 4 * count);
	EXPECT(start[0] == start[1] && end[0] == end[1] && start[0] <= end[0]);
	str_fini(&names[0]);
	str_fini(&names[1]);
	place_close(&p);
}

TEST("perf maps, single symbols and modules without code are supported")
{
	struct place p;
	place_open(&p);
	static const char map[] = "7f0000001000 20 jitted \x1b[31m\n";
	struct module *anon = place_module(&p, MODULE_ANON, place_write(&p, "perf-1.map", map, sizeof map - 1), NULL);
	struct module *bpf = place_module(&p, MODULE_KSYMBOL, "bpf_prog_1234", NULL);
	struct module *heap = place_module(&p, MODULE_NONE, "[heap]", NULL);
	bpf->size = 0x40;
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, anon, 0x7f0000001010), "jitted \x1b[31m");
	EXPECT_STR(shown(&p, bpf, 0x3f), "bpf_prog_1234");
	EXPECT_STR(shown(&p, bpf, 0x40), "");
	EXPECT_STR(shown(&p, heap, 0x10), "");
	place_close(&p);
}

TEST("code of a JIT compiler has the names of its dump, and addresses between its functions have none")
{
	struct place p;
	place_open(&p);
	struct module *dump = place_module(&p, MODULE_FILE, "/tmp/jit-1.dump", NULL);
	struct jit *jit = modules_make_jit(&p.modules, dump->id);
	jit_add_code(jit, 0x100, 0x20, "JS:*add \x1b[31m");
	jit_add_code(jit, 0x180, 0x20, "_ZN3foo3barEv");
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	EXPECT_STR(shown(&p, dump, 0x11f), "JS:*add \x1b[31m");
	EXPECT_STR(shown(&p, dump, 0x120), "");
	EXPECT_STR(shown(&p, dump, 0x180), "foo::bar");
	jit_free(jit);
	place_close(&p);
}

TEST("the vdso of this process is found if no other source exists")
{
	struct place p;
	place_open(&p);
	struct module *vdso = place_module(&p, MODULE_VDSO, "[vdso]", NULL);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	symbols_load(p.symbols, vdso);
	if (symbols_info(p.symbols, vdso).state == SYMTAB_MISSING)
		unit_skip("this process has no vdso");
	else
		EXPECT(symbols_info(p.symbols, vdso).count > 0);
	place_close(&p);
}

static void *look_up_often(void *context)
{
	struct place *p = context;
	for (unsigned i = 0; i < 2000; i++)
		for (uint32_t k = 0; k < 3; k++)
			if (strcmp(shown(p, &p->modules_of[k], TEXT_OFFSET), k == 2 ? "" : "foo::bar") != 0)
				return p;
	return NULL;
}

TEST("threads may look up the same modules at once")
{
	struct place p;
	place_open(&p);
	place_module(&p, MODULE_FILE, place_elf(&p, "a", "_ZN3foo3barEv", ".symtab", id_one, NULL), id_one);
	place_module(&p, MODULE_FILE, place_elf(&p, "b", "_ZN3foo3barEv", ".symtab", id_one, NULL), id_one);
	place_module(&p, MODULE_FILE, "/nowhere", id_one);
	p.symbols = symbols_new(&p.modules, &(struct symbols_options){ 0 });
	pthread_t threads[4];
	for (unsigned i = 0; i < 4; i++)
		EXPECT_INT(pthread_create(&threads[i], NULL, look_up_often, &p), 0);
	for (unsigned i = 0; i < 4; i++) {
		void *wrong = NULL;
		pthread_join(threads[i], &wrong);
		EXPECT(wrong == NULL);
	}
	place_close(&p);
}

#define HEX_WHOLE "abcd0102030405060708090a0b0c0d0e0f101112"
#define ZEROS "0000000000000000 T _text\n0000000000000000 T kernel_function\n"

/* Where the kernel's names come from: the file with the list, the options, and what is found. at: of the function; 0: nothing. */
static const struct {
	const char *file, *text;
	bool option, cache, symfs, other_release, guest, no_id, verbose;
	int32_t pid;
	const char *mark;
	uint64_t moved, at;
	enum symtab_state state;
	char origin;
} kernel_rows[] = {
	{ "list", kallsyms, .option = true, .at = 0xffffffff81000100, .state = SYMTAB_LOADED, .origin = 'k' },
	{ "list", kallsyms, .option = true, .mark = "_text", .moved = 0xffffffff80000000, .at = 0xffffffff80000100, .state = SYMTAB_LOADED,
		.origin = 'k' },
	{ "list", kallsyms, .option = true, .mark = "_stext", .moved = 0xffffffff80000000, .state = SYMTAB_DAMAGED, .origin = '!' },
	{ "list", ZEROS, .option = true, .mark = "_text", .moved = 0xffffffff80000000, .state = SYMTAB_HIDDEN, .origin = '!' },
	{ "list", ZEROS, .option = true, .state = SYMTAB_LOADED, .origin = 'k' },
	{ "list", "", .option = true, .state = SYMTAB_HIDDEN, .origin = 'k' },
	{ "other", kallsyms, .option = true, .state = SYMTAB_MISSING, .origin = '!' },
	{ "c/.build-id/" HEX_ONE "/kallsyms", kallsyms, .cache = true, .at = 0xffffffff81000100, .state = SYMTAB_LOADED, .origin = 'k' },
	{ "c/[kernel.kallsyms]/" HEX_WHOLE "/kallsyms", kallsyms, .cache = true, .verbose = true, .at = 0xffffffff81000100,
		.state = SYMTAB_LOADED, .origin = 'k' },
	{ "c/[kernel.kallsyms]/" HEX_WHOLE, kallsyms, .cache = true, .at = 0xffffffff81000100, .state = SYMTAB_LOADED, .origin = 'k' },
	{ "c/[kernel.kallsyms]/" HEX_WHOLE "/kallsyms", kallsyms, .cache = true, .symfs = true, .state = SYMTAB_MISSING, .origin = '!' },
	{ "list", kallsyms, .other_release = true, .no_id = true, .verbose = true, .state = SYMTAB_MISMATCH, .origin = '!' },
	{ "list", kallsyms, .option = true, .guest = true, .at = 0xffffffff81000100, .state = SYMTAB_LOADED, .origin = 'k' },
	{ "list", kallsyms, .option = true, .guest = true, .mark = "_text", .moved = 0x10000, .at = 0x10100,
		.state = SYMTAB_LOADED, .origin = 'k' },
	{ "list", kallsyms, .option = true, .guest = true, .pid = 12, .state = SYMTAB_MISSING, .origin = '!' },
	{ "m/12/proc/kallsyms", kallsyms, .guest = true, .pid = 12, .verbose = true, .at = 0xffffffff81000100,
		.state = SYMTAB_LOADED, .origin = 'k' },
	{ "m/13/proc/kallsyms", kallsyms, .guest = true, .pid = 12, .state = SYMTAB_MISSING, .origin = '!' },
};

static void expect_kernel(size_t i)
{
	struct place p;
	char list[PATH_MAX], cache[PATH_MAX], mount[PATH_MAX];
	place_open(&p);
	place_write(&p, kernel_rows[i].file, kernel_rows[i].text, strlen(kernel_rows[i].text));
	snprintf(list, sizeof list, "%s/list", p.root);
	snprintf(cache, sizeof cache, "%s/c", p.root);
	snprintf(mount, sizeof mount, "%s/m", p.root);
	struct symbols_options options = { .kallsyms = kernel_rows[i].option && !kernel_rows[i].guest ? list : NULL,
		.buildid_dir = kernel_rows[i].cache ? cache : NULL, .symfs = kernel_rows[i].symfs ? p.root : NULL,
		.osrelease = kernel_rows[i].other_release ? "0.1-other" : NULL, .verbose = kernel_rows[i].verbose };
	options.guests.kallsyms = kernel_rows[i].option && kernel_rows[i].guest ? list : NULL;
	options.guests.mount = mount;
	struct module *kernel = place_module(&p, MODULE_KERNEL, "[kernel.kallsyms]", kernel_rows[i].no_id ? NULL : id_one);
	struct module *ext4 = place_module(&p, MODULE_KMODULE, "[ext4]", NULL);
	kernel->guest = ext4->guest = kernel_rows[i].guest;
	kernel->pid = ext4->pid = kernel_rows[i].guest ? kernel_rows[i].pid : -1;
	kernel->relocation_symbol = kernel_rows[i].mark;
	kernel->relocation = kernel_rows[i].moved;
	ext4->start = 0xffffffffc0000000;
	p.symbols = symbols_new(&p.modules, &options);
	uint64_t at = kernel_rows[i].at ? kernel_rows[i].at : 0xffffffff81000100;
	EXPECT_STR(shown(&p, kernel, at), kernel_rows[i].at ? "kernel_function" : "");
	struct symtab_info info = symbols_info(p.symbols, kernel);
	if (kernel_rows[i].at) {
		EXPECT_STR(shown(&p, kernel, at - 0x100), "_text");
		EXPECT_STR(shown(&p, kernel, at - 0x101), "");
		EXPECT_STR(shown(&p, ext4, 0), "module_function");
		EXPECT_STR(info.path, p.path[0]);
		EXPECT_INT(symbols_info(p.symbols, ext4).state, SYMTAB_LOADED);
	} else {
		EXPECT_STR(shown(&p, ext4, 0), "");
	}
	if (info.state != kernel_rows[i].state || info.origin != kernel_rows[i].origin)
		unit_fail(__FILE__, __LINE__, "row %zu: state %d, origin %c", i, (int)info.state, info.origin);
	EXPECT((symbols_trail(p.symbols, kernel) != NULL) == kernel_rows[i].verbose);
	place_close(&p);
}

TEST("the kernel's list is searched in each place, moved by its mark, and else it is said why there are no names")
{
	for (size_t i = 0; i < sizeof kernel_rows / sizeof *kernel_rows; i++)
		expect_kernel(i);
}
