#include "image/kcore.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "image/file.h"
#include "image/search.h"
#include "os/checked.h"
#include "os/file.h"

#define KALLSYMS_LIMIT ((size_t)512 << 20)
#define CODE_LIMIT ((uint64_t)4 << 30) /* for text and modules together */

enum { PAGE = 4096, SEGMENTS_MAX = 512, PIECES_MAX = 64, CHUNK = 1 << 20 };

struct range {
	uint64_t start, end;
};

/* The code ranges of the address space. */
struct code {
	struct range text, modules;
};

/* One part of kcore that is copied. */
struct piece {
	uint64_t address, size, from; /* from: its offset in the file */
};

struct pieces {
	struct piece list[PIECES_MAX];
	size_t count;
	Elf64_Ehdr header;
};

static void range_add(struct range *range, uint64_t start, uint64_t end)
{
	range->start = range->end == 0 || start < range->start ? start : range->start;
	range->end = end > range->end ? end : range->end;
}

/* "ADDRESS TYPE NAME[\t[MODULE]]" */
static void code_of_symbol(struct code *code, const char *line)
{
	char *at;
	uint64_t address = strtoull(line, &at, 16);
	if (!address || at[0] != ' ' || !at[1] || at[2] != ' ')
		return;
	const char *name = at + 3;
	size_t len = strcspn(name, "\t");
	if (name[len] && strcmp(name + len, "\t[bpf]") != 0 && strncmp(name + len, "\t[__builtin__", 13) != 0)
		range_add(&code->modules, address, address + PAGE);
	else if (len == 6 && (strncmp(name, "_stext", 6) == 0 || strncmp(name, "_etext", 6) == 0))
		range_add(&code->text, address, address);
}

/* "NAME SIZE USERS BY STATE ADDRESS" */
static void code_of_module(struct code *code, const char *line)
{
	unsigned long long size, address;
	if (sscanf(line, "%*s %llu %*s %*s %*s %llx", &size, &address) == 2 && address && size < CODE_LIMIT)
		range_add(&code->modules, address, address + size);
}

static int each_line(const char *folder, const char *name, void (*line)(struct code *, const char *), struct code *code,
	struct error *err)
{
	char path[PATH_MAX], *text, *at, *rest;
	size_t len;
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", folder);
	if (rooted_read(-1, path, KALLSYMS_LIMIT, &text, &len, err) < 0)
		return -1;
	rest = text = memory_resize(text, len + 1, 1);
	text[len] = '\0';
	while ((at = strsep(&rest, "\n")))
		line(code, at);
	free(text);
	return 0;
}

static int code_find(const char *folder, struct code *code, struct error *err)
{
	*code = (struct code){ 0 };
	if (each_line(folder, "kallsyms", code_of_symbol, code, err) < 0)
		return -1;
	each_line(folder, "modules", code_of_module, code, NULL);
	if (code->text.end <= code->text.start)
		return error_set(err, ERROR_PERMISSION, "the kernel's list of symbols does not contain the address of its text: "
			"as root, sysctl kernel.kptr_restrict=0");
	struct range *ranges[] = { &code->text, &code->modules };
	for (unsigned i = 0; i < 2; i++) {
		ranges[i]->start &= ~(uint64_t)(PAGE - 1);
		ranges[i]->end = (ranges[i]->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	}
	return 0;
}

static void piece_add(struct pieces *pieces, const Elf64_Phdr *load, const struct range *range)
{
	uint64_t end = load->p_vaddr + load->p_filesz;
	uint64_t from = range->start > load->p_vaddr ? range->start : load->p_vaddr, to = range->end < end ? range->end : end;
	if (load->p_type != PT_LOAD || end < load->p_vaddr || from >= to || pieces->count == PIECES_MAX)
		return;
	pieces->list[pieces->count++] = (struct piece){ from, to - from, load->p_offset + (from - load->p_vaddr) };
}

static int pieces_find(int fd, const struct code *code, struct pieces *pieces, struct error *err)
{
	Elf64_Ehdr *h = &pieces->header;
	pieces->count = 0;
	if (pread(fd, h, sizeof *h, 0) != sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum > SEGMENTS_MAX)
		return error_set(err, ERROR_FORMAT, "kcore is not a 64-bit core file of this machine");
	uint64_t total = 0;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr load;
		if (pread(fd, &load, sizeof load, (off_t)(h->e_phoff + i * sizeof load)) != sizeof load)
			return error_set(err, ERROR_FORMAT, "the program headers of kcore are truncated");
		piece_add(pieces, &load, &code->text);
		piece_add(pieces, &load, &code->modules);
	}
	for (size_t i = 0; i < pieces->count; i++)
		total += pieces->list[i].size < CODE_LIMIT ? pieces->list[i].size : CODE_LIMIT;
	if (!pieces->count || total >= CODE_LIMIT)
		return error_set(err, ERROR_FORMAT, "kcore does not contain the kernel's code");
	return 0;
}

static int write_at(int fd, const void *bytes, size_t size, uint64_t at, struct error *err)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_system(err, "cannot write the copy of kcore");
		done += (size_t)n;
	}
	return 0;
}

/* A page that cannot be read becomes a hole. */
static int piece_copy(int in, int out, const struct piece *piece, uint64_t to, struct error *err)
{
	CLEANUP_FREE char *chunk = memory_alloc(CHUNK);
	for (uint64_t at = 0; at < piece->size;) {
		size_t want = piece->size - at < CHUNK ? (size_t)(piece->size - at) : CHUNK;
		ssize_t n = pread(in, chunk, want, (off_t)(piece->from + at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			at += want < PAGE ? want : PAGE;
			continue;
		}
		if (write_at(out, chunk, (size_t)n, to + at, err) < 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

static int pieces_write(int in, int out, const struct pieces *pieces, struct error *err)
{
	Elf64_Ehdr header = pieces->header;
	uint64_t to = PAGE;
	header.e_type = ET_CORE;
	header.e_phoff = sizeof header;
	header.e_phnum = (uint16_t)pieces->count;
	header.e_shoff = 0;
	header.e_shentsize = header.e_shnum = header.e_shstrndx = 0;
	if (write_at(out, &header, sizeof header, 0, err) < 0)
		return -1;
	for (size_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->list[i];
		Elf64_Phdr load = { .p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_offset = to, .p_vaddr = piece->address,
			.p_filesz = piece->size, .p_memsz = piece->size, .p_align = PAGE };
		if (write_at(out, &load, sizeof load, sizeof header + i * sizeof load, err) < 0 || piece_copy(in, out, piece, to, err) < 0)
			return -1;
		to += piece->size;
	}
	return ftruncate(out, (off_t)to) == 0 ? 0 : error_system(err, "cannot write the copy of kcore");
}

/* Only root may read the kernel's memory and addresses. */
static int create(int folder, const char *name, struct error *err)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR);
	return fd < 0 ? error_system(err, "cannot create %s", name) : fd;
}

static int list_copy(const char *from, int to, const char *name, struct error *err)
{
	char path[PATH_MAX], *text;
	size_t len;
	if ((size_t)snprintf(path, sizeof path, "%s/%s", from, name) >= sizeof path)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", from);
	if (rooted_read(-1, path, KALLSYMS_LIMIT, &text, &len, err) < 0)
		return -1;
	CLEANUP_FD int out = create(to, name, err);
	int status = out < 0 ? -1 : write_at(out, text, len, 0, err);
	free(text);
	return status;
}

int kcore_copy(const char *from, int to, struct error *err)
{
	char path[PATH_MAX];
	struct code code;
	struct pieces pieces;
	if ((size_t)snprintf(path, sizeof path, "%s/kcore", from) >= sizeof path)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", from);
	CLEANUP_FD int in = rooted_open(-1, path, err);
	if (in < 0 || code_find(from, &code, err) < 0 || pieces_find(in, &code, &pieces, err) < 0)
		return -1;
	CLEANUP_FD int out = create(to, "kcore", err);
	if (out < 0 || pieces_write(in, out, &pieces, err) < 0 || list_copy(from, to, "kallsyms", err) < 0)
		return -1;
	return list_copy(from, to, "modules", err);
}

size_t kcore_read(const struct image *kcore, uint64_t address, void *out, size_t size)
{
	const struct elf *elf = &kcore->elf;
	const struct elf_load *load = elf->type == ET_CORE ? elf_load_at(elf, address) : NULL;
	if (!load)
		return 0;
	uint64_t into = address - load->vaddr, left = load->file_size > into ? load->file_size - into : 0;
	if (load->offset > elf->bytes.len || into > elf->bytes.len - load->offset)
		return 0;
	uint64_t at = load->offset + into;
	left = left < elf->bytes.len - at ? left : elf->bytes.len - at;
	size = size < left ? size : (size_t)left;
	memcpy(out, elf->bytes.data + at, size);
	return size;
}

static bool same_text(int folder, const char *other, const char *name)
{
	char path[PATH_MAX], *text[2] = { 0 };
	size_t len[2];
	bool same = (size_t)snprintf(path, PATH_MAX, "%s/%s", other, name) < PATH_MAX &&
		rooted_read(folder, name, KALLSYMS_LIMIT, &text[0], &len[0], NULL) == 0 &&
		rooted_read(-1, path, KALLSYMS_LIMIT, &text[1], &len[1], NULL) == 0 && len[0] == len[1] &&
		memcmp(text[0], text[1], len[0]) == 0;
	free(text[0]);
	free(text[1]);
	return same;
}

/* Searches the copies below `builds` of the cache for one with the current modules and symbols. */
static bool same_exists(int cache, const char *builds, const char *from, char *found, size_t size)
{
	CLEANUP_NAMES struct names names = { 0 };
	if (checked_names(cache, builds, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.list.count; i++) {
		if ((size_t)snprintf(found, size, "%s/%s", builds, names.list.items[i]) >= size)
			continue;
		CLEANUP_FD int folder = checked_open(cache, found, O_PATH | O_DIRECTORY, NULL);
		if (folder >= 0 && same_text(folder, from, "modules") && same_text(folder, from, "kallsyms"))
			return true;
	}
	return false;
}

int kcore_cache_add(int cache, const char *kcore, bool force, char *folder, size_t size, struct error *err)
{
	char from[PATH_MAX], notes[PATH_MAX], builds[64 + 2 * ELF_BUILD_ID_MAX], hex[2 * ELF_BUILD_ID_MAX + 1], stamp[32];
	uint8_t id[ELF_BUILD_ID_MAX];
	const char *slash = strrchr(kcore, '/');
	struct timeval now;
	struct tm local;
	if (!slash || strcmp(slash, "/kcore") != 0 || (size_t)(slash - kcore) >= sizeof from)
		return error_set(err, ERROR_USAGE, "%s: the path of a kcore ends with /kcore", kcore);
	snprintf(from, sizeof from, "%.*s", (int)(slash - kcore), kcore);
	if ((size_t)snprintf(notes, sizeof notes, "%s/../sys/kernel/notes", from) >= sizeof notes)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", kcore);
	uint8_t len = image_kernel_build_id(notes, id);
	if (!len)
		return error_set(err, ERROR_UNSUPPORTED, "no build-id of the kernel in %s", notes);
	build_id_hex(id, len, hex);
	gettimeofday(&now, NULL);
	if (!localtime_r(&now.tv_sec, &local) || !strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &local))
		return error_set(err, ERROR_SYSTEM, "cannot read the clock");
	snprintf(builds, sizeof builds, "[kernel.kcore]/%s", hex);
	if (!force && same_exists(cache, builds, from, folder, size))
		return 0;
	if ((size_t)snprintf(folder, size, "%s/%s%02u", builds, stamp, (unsigned)(now.tv_usec / 10000)) >= size)
		return error_set(err, ERROR_LIMIT, "%s: the path is too long", folder);
	CLEANUP_FD int to = checked_make(cache, folder, 0755, err);
	if (to < 0)
		return -1;
	if (kcore_copy(from, to, err) < 0) {
		checked_remove(cache, folder, NULL);
		return -1;
	}
	return 1;
}
