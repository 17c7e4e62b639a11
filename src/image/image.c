#include "image/image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/budget.h"
#include "base/mapping.h"
#include "base/memory.h"
#include "base/writer.h"
#include "elf/inflate.h"
#include "elf/pe_image.h"
#include "image/file.h"

#define VDSO_LIMIT ((size_t)1 << 20)
#define NOTES_LIMIT ((size_t)1 << 20)
#define PE_TABLES_LIMIT ((size_t)64 << 20) /* of the symbols and names of a program of Windows */

/* Only files named like a compressed kernel module are inflated: other compressed files are not images. */
static bool path_is_packed_module(const char *path)
{
	static const char *const endings[] = { ".ko.gz", ".ko.xz", ".ko.zst" };
	size_t len = strlen(path);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(endings[i]);
		if (len > n && strcmp(path + len - n, endings[i]) == 0)
			return true;
	}
	return false;
}

static bool image_take(struct image *image, size_t bytes, struct error *err)
{
	if (!budget_take(image->budget, bytes)) {
		error_set(err, ERROR_LIMIT, "the memory limit leaves no room for %zu bytes of a file", bytes);
		return false;
	}
	image->taken += bytes;
	return true;
}

static int image_inflate(struct image *image, enum compression kind, struct span in, uint8_t **out, size_t *size, struct error *err)
{
	size_t left = budget_left(image->budget);
	if (inflate_all(kind, in, left, out, size, err) < 0) {
		if (left < INFLATE_LIMIT)
			budget_refuse(image->budget);
		return -1;
	}
	if (image_take(image, *size, err))
		return 0;
	free(*out);
	return -1;
}

static int image_unpack(struct image *image, const char *path, struct span *bytes, struct error *err)
{
	enum compression kind = compression_of(image->mapping);
	*bytes = image->mapping;
	if (kind == COMPRESSION_NONE || !path_is_packed_module(path))
		return 0;
	uint8_t *out;
	size_t size;
	if (image_inflate(image, kind, image->mapping, &out, &size, err) < 0)
		return -1;
	rooted_unmap(&image->mapping);
	image->owned = out;
	*bytes = (struct span){ out, size };
	return 0;
}

/* A program of Windows becomes an ELF file: its pages stay those of the file. */
static int image_convert(struct image *image, struct span *bytes, struct error *err)
{
	struct pe_elf made;
	size_t left = budget_left(image->budget), size = bytes->len;
	int result = pe_to_elf(*bytes, mapping_end(size), left < PE_TABLES_LIMIT ? left : PE_TABLES_LIMIT, &made, err);
	if (result == 0 && !image_take(image, made.tables.len, err))
		result = -1;
	void *data = NULL;
	if (result == 0)
		data = mapping_extend((void *)bytes->data, &size, made.head, made.head_size, made.tables.buffer, made.tables.len);
	if (result == 0 && !data)
		result = error_system(err, "cannot map more memory");
	if (data) {
		image->mapping = (struct span){ 0 };
		*bytes = image->extended = (struct span){ data, size };
	}
	writer_fini(&made.tables);
	return result;
}

/* Parses the mapped file as an image. */
static int image_read(struct image *image, const char *path, struct error *err)
{
	struct span bytes;
	if (image_unpack(image, path, &bytes, err) < 0 || (!image->owned && pe_is(bytes) && image_convert(image, &bytes, err) < 0) ||
	    elf_open(&image->elf, bytes, err) < 0 ||
	    !image_take(image, image->elf.section_count * sizeof *image->elf.sections, err)) {
		image_close(image);
		return -1;
	}
	image->path = memory_string(path);
	return 0;
}

int image_open(struct image *image, int root, const char *path, struct budget *budget, struct error *err)
{
	*image = (struct image){ .budget = budget };
	return rooted_map(root, path, &image->mapping, err) < 0 ? -1 : image_read(image, path, err);
}

int image_open_descriptor(struct image *image, int fd, const char *path, struct budget *budget, struct error *err)
{
	*image = (struct image){ .budget = budget };
	return descriptor_map(fd, path, &image->mapping, err) < 0 ? -1 : image_read(image, path, err);
}

void image_close(struct image *image)
{
	budget_give(image->budget, image->taken);
	elf_close(&image->elf);
	rooted_unmap(&image->mapping);
	rooted_unmap(&image->extended);
	free(image->owned);
	free(image->path);
	*image = (struct image){ 0 };
}

bool image_runs(const struct image *image)
{
	return image->origin && strchr("BdKmv", image->origin);
}

void image_set_root(struct image *image, const char *root)
{
	size_t root_len = strlen(root), len = strlen(image->path);
	if (!root_len)
		return;
	char *whole = memory_alloc(root_len + len + 1);
	memcpy(whole, root, root_len);
	memcpy(whole + root_len, image->path, len + 1);
	free(image->path);
	image->path = whole;
	image->root_len = (uint32_t)root_len;
}

static int image_adopt(struct image *image, void *owned, size_t size, const char *path, struct error *err)
{
	image->owned = owned;
	if (elf_open(&image->elf, (struct span){ owned, size }, err) < 0) {
		image_close(image);
		return -1;
	}
	image->path = memory_string(path);
	return 0;
}

int image_open_debugdata(struct image *image, const struct image *of, struct error *err)
{
	*image = (struct image){ .budget = of->budget };
	struct span packed = elf_section_bytes(&of->elf, elf_section(&of->elf, ".gnu_debugdata"));
	uint8_t *out;
	size_t size;
	if (compression_of(packed) != COMPRESSION_XZ)
		return error_set(err, ERROR_FORMAT, "no .gnu_debugdata");
	if (image_inflate(image, COMPRESSION_XZ, packed, &out, &size, err) < 0)
		return -1;
	return image_adopt(image, out, size, of->path, err);
}

/* Size of the mapping that starts at address; 0: absent. */
static size_t own_mapping_size(uint64_t address)
{
	char *text, *line;
	size_t len;
	unsigned long long start, end, size = 0;
	if (rooted_read(-1, "/proc/self/maps", (size_t)64 << 20, &text, &len, NULL) < 0)
		return 0;
	text = memory_resize(text, len + 1, 1);
	text[len] = '\0';
	char *rest = text;
	while (!size && (line = strsep(&rest, "\n")))
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start == address)
			size = end - start;
	free(text);
	return (size_t)size;
}

int image_open_vdso(struct image *image, struct error *err)
{
	*image = (struct image){ 0 };
	uint64_t address = getauxval(AT_SYSINFO_EHDR);
	size_t size = address ? own_mapping_size(address) : 0;
	if (!size || size > VDSO_LIMIT)
		return error_set(err, ERROR_UNSUPPORTED, "this process has no vdso");
	void *copy = memcpy(memory_alloc(size), (const void *)(uintptr_t)address, size);
	return image_adopt(image, copy, size, "[vdso]", err);
}

bool build_id_equal(const uint8_t *recorded, uint8_t recorded_len, const uint8_t *id, uint8_t len)
{
	if (!len || recorded_len < len || memcmp(recorded, id, len) != 0)
		return false;
	if (recorded_len == len)
		return true;
	uint8_t rest = 0;
	for (uint8_t i = len; i < recorded_len; i++)
		rest |= recorded[i];
	return recorded_len == ELF_BUILD_ID_MAX && rest == 0;
}

uint8_t image_build_id_of_path(const char *path, uint8_t id[static ELF_BUILD_ID_MAX])
{
	struct image image;
	if (image_open(&image, -1, path, NULL, NULL) < 0)
		return 0;
	uint8_t len = elf_build_id(&image.elf, id);
	image_close(&image);
	return len;
}

uint8_t image_kernel_build_id(const char *notes_path, uint8_t id[static ELF_BUILD_ID_MAX])
{
	char *text;
	size_t len;
	if (rooted_read(-1, notes_path, NOTES_LIMIT, &text, &len, NULL) < 0)
		return 0;
	uint8_t id_len = elf_notes_build_id((struct span){ (uint8_t *)text, len }, false, id);
	free(text);
	return id_len;
}
