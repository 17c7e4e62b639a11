#include "image/debug.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "dwarf/dwarf.h"
#include "image/debuginfod.h"
#include "image/file.h"
#include "os/file.h"

/* DWARF 5, 7.5.1: the unit type of .dwo files. */
enum { UNIT_SPLIT_COMPILE = 5, DWARF64_ESCAPE = 0xffffffffu };

static bool has_section(const struct elf *elf, const char *name)
{
	const struct elf_section *section = elf_section(elf, name);
	return section && section->type != SHT_NOBITS && section->size;
}

static bool has_debug_info(const struct elf *elf)
{
	return has_section(elf, ".debug_info") || has_section(elf, ".zdebug_info");
}

static const char *symfs_of(const struct image_debug *d)
{
	return d->options->symfs ? d->options->symfs : "";
}

/* The path as seen from the root. */
static const char *path_seen(const struct image *image)
{
	return image->path + image->root_len;
}

static int folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (int)(slash - path) : 0;
}

static const struct image *debug_image(const struct image_debug *d)
{
	return d->separate.path ? &d->separate : &d->executable;
}

/* Opens one more part and notes it. prefix: what root is called. */
static bool part_open_from(struct image_debug *d, int root, const char *prefix, const char *path, struct image *image)
{
	struct error err = { 0 };
	if (image_open(image, root, path, d->options->budget, &err) < 0) {
		image_trail_note(d->trail, prefix, path, 0, image_finding_of(&err));
		return false;
	}
	image_trail_note(d->trail, prefix, path, 0, IMAGE_USED);
	image_set_root(image, prefix);
	return true;
}

static bool part_open(struct image_debug *d, int root, const char *path, struct image *image)
{
	return part_open_from(d, root, root >= 0 ? d->root_name : "", path, image);
}

static bool alternate_matches(struct image_debug *d, struct span id)
{
	uint8_t found[ELF_BUILD_ID_MAX];
	uint8_t len = elf_build_id(&d->alternate.elf, found);
	image_trail_build(d->trail, found, len);
	if (len == id.len && memcmp(found, id.data, len) == 0)
		return true;
	image_trail_mark(d->trail, IMAGE_OTHER_BUILD);
	image_close(&d->alternate);
	return false;
}

static bool alternate_try(struct image_debug *d, int root, const char *path, struct span id)
{
	return part_open(d, root, path, &d->alternate) && alternate_matches(d, id);
}

/* In the build-id cache. */
static bool alternate_cached(struct image_debug *d, struct span id)
{
	static const char *const leaves[] = { "elf", "debug" };
	bool symfs = *symfs_of(d);
	char path[IMAGE_PATH_MAX];
	CLEANUP_FD int own = !symfs && d->options->buildid_dir ? buildid_cache_root(d->options->buildid_dir, NULL) : -1;
	int root = symfs ? d->root : own;
	for (unsigned i = 0; root >= 0 && i < 2; i++)
		if (buildid_cache_path(symfs ? "/.debug" : "", id.data, (uint8_t)id.len, leaves[i], path, sizeof path) &&
		    part_open_from(d, root, symfs ? d->root_name : d->options->buildid_dir, path, &d->alternate) && alternate_matches(d, id))
			return true;
	return false;
}

/* The part of the path after the common folder of dwz files. */
static const char *after_dwz(const char *name)
{
	const char *at = strstr(name, ".dwz/");
	return at && (at == name || at[-1] == '/') ? at + 5 : NULL;
}

/* Tries the stored path, the folders of dwz files, the build-id, and the build-id cache. */
static void alternate_open(struct image_debug *d)
{
	const char *name, *seen = path_seen(debug_image(d));
	char path[IMAGE_PATH_MAX], hex[2 * ELF_BUILD_ID_MAX + 1];
	struct span id;
	if (!dwarf_alternate(d->debug, &name, &id) || id.len < 2 || id.len > ELF_BUILD_ID_MAX)
		return;
	if (*name == '/' ? path_format(path, "%s", name) : path_format(path, "%.*s/%s", folder_len(seen), seen, name))
		if (alternate_try(d, d->root, path, id))
			return;
	const char *tail = after_dwz(name);
	if (tail && path_format(path, "/usr/lib/debug/.dwz/%s", tail) && alternate_try(d, d->root, path, id))
		return;
	build_id_hex(id.data, (uint8_t)id.len, hex);
	if (path_format(path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) && alternate_try(d, d->root, path, id))
		return;
	if (alternate_cached(d, id))
		return;
	if (d->options->debuginfod && !*symfs_of(d) &&
	    debuginfod_fetch(d->options->debuginfod, DEBUGINFOD_DEBUGINFO, id.data, (uint8_t)id.len, path, sizeof path, NULL) == 0)
		alternate_try(d, -1, path, id);
}

static bool package_try(struct image_debug *d, const char *path)
{
	if (!part_open(d, d->root, path, &d->package))
		return false;
	if (has_section(&d->package.elf, ".debug_info.dwo"))
		return true;
	image_trail_mark(d->trail, IMAGE_UNUSED);
	image_close(&d->package);
	return false;
}

static void package_open(struct image_debug *d)
{
	const char *seen = path_seen(debug_image(d)), *name = d->module->long_name;
	char path[IMAGE_PATH_MAX];
	if (!has_section(d->debug, ".debug_addr") && !has_section(d->debug, ".zdebug_addr"))
		return;
	if (path_format(path, "%s.dwp", seen) && package_try(d, path))
		return;
	if (*name != '/')
		return;
	if (strcmp(name, seen) != 0 && path_format(path, "%s.dwp", name) && package_try(d, path))
		return;
	if (path_format(path, "/usr/lib/debug%s.dwp", name))
		package_try(d, path);
}

/* Chooses the first file that runs and the first with debug information; often the same. */
static void images_choose(struct image_debug *d, struct image_search *search)
{
	struct image image;
	while (!(d->debug && d->executable.path) && image_search_next(search, &image)) {
		bool runs = image_runs(&image) && !d->executable.path, debug = !d->debug && has_debug_info(&image.elf);
		if (!runs && !debug) {
			image_close(&image);
			continue;
		}
		struct image *kept = runs ? &d->executable : &d->separate;
		*kept = image;
		if (debug) {
			d->debug = &kept->elf;
			image_trail_mark(d->trail, IMAGE_USED);
		}
	}
}

int image_debug_open(struct image_debug *d, const struct module *module, const struct image_options *options,
	struct image_trail *trail, struct error *err)
{
	*d = (struct image_debug){ .module = module, .options = options, .trail = trail, .root = -1 };
	pthread_mutex_init(&d->lock, NULL);
	struct image_search search;
	image_search_init(&search, module, options);
	search.trail = trail;
	images_choose(d, &search);
	d->root = search.root;
	d->root_name = memory_string(search.root_name);
	search.root = -1;
	image_search_fini(&search);
	if (!d->debug) {
		bool there = d->executable.path != NULL;
		image_debug_close(d);
		return error_set(err, ERROR_UNSUPPORTED, there ? "%s has no debug information" : "no file for %s", module->long_name);
	}
	alternate_open(d);
	package_open(d);
	return 0;
}

void image_debug_release(const struct image_debug *d)
{
	const struct image *images[] = { &d->executable, &d->separate, &d->alternate, &d->package };
	for (size_t i = 0; i < sizeof images / sizeof *images; i++)
		rooted_release(images[i]->mapping);
}

void image_debug_close(struct image_debug *d)
{
	if (!d->module)
		return;
	for (size_t i = 0; i < d->splits.count; i++) {
		image_close(d->splits.items[i]);
		free(d->splits.items[i]);
	}
	vec_fini(&d->splits);
	image_close(&d->executable);
	image_close(&d->separate);
	image_close(&d->alternate);
	image_close(&d->package);
	if (d->root >= 0)
		close(d->root);
	free(d->root_name);
	pthread_mutex_destroy(&d->lock);
	*d = (struct image_debug){ 0 };
}

/* Returns whether a section of a .dwo may have the unit: DWARF 5 stores its id in the header; older versions in the unit's attributes,
 * which the DWARF reader compares. */
static bool split_section_matches(const struct elf *elf, const struct elf_section *section, uint64_t id)
{
	struct span s = elf_section_bytes(elf, section);
	struct cursor c = cursor_of(s.data, s.len, elf->swap);
	while (cursor_left(&c) >= 4) {
		uint64_t len = take_u32(&c);
		bool wide = len == DWARF64_ESCAPE;
		if (wide)
			len = take_u64(&c);
		if (len > cursor_left(&c))
			break;
		struct cursor unit = { .data = c.data + c.at, .len = (size_t)len, .swap = c.swap };
		take(&c, (size_t)len);
		if (take_u16(&unit) != 5)
			return true;
		uint8_t kind = take_u8(&unit);
		take(&unit, wide ? 9 : 5);
		if (kind == UNIT_SPLIT_COMPILE)
			return take_u64(&unit) == id;
	}
	return s.len == 0; /* compressed */
}

/* Each type unit may be in a section of the same name (COMDAT). */
static bool split_matches(const struct elf *elf, uint64_t id)
{
	for (const struct elf_section *s = elf_section(elf, ".debug_info.dwo"); s; s = elf_section_next(elf, s))
		if (split_section_matches(elf, s, id))
			return true;
	return false;
}

static const struct elf *split_try(struct image_debug *d, const char *path, uint64_t id)
{
	struct image image;
	if (!part_open(d, d->root, path, &image))
		return NULL;
	bool right = elf_section(&image.elf, ".debug_info.dwo") != NULL;
	if (!right || !split_matches(&image.elf, id)) {
		image_trail_mark(d->trail, right ? IMAGE_OTHER_BUILD : IMAGE_UNUSED);
		image_close(&image);
		return NULL;
	}
	struct image *kept = memory_alloc(sizeof *kept);
	*kept = image;
	vec_push(&d->splits, kept);
	return &kept->elf;
}

/* Tries the stored path, then the folder of the file that refers to it and that of the file that runs. */
static const struct elf *split_find(struct image_debug *d, const char *directory, const char *name, uint64_t id)
{
	char path[IMAGE_PATH_MAX];
	const struct elf *elf = NULL;
	const char *slash = strrchr(name, '/'), *leaf = slash ? slash + 1 : name;
	const char *beside[] = { path_seen(debug_image(d)), d->module->long_name };
	if (*name == '/' ? path_format(path, "%s", name) : *directory == '/' && path_format(path, "%s/%s", directory, name))
		elf = split_try(d, path, id);
	for (unsigned i = 0; !elf && i < 2; i++) {
		if (*beside[i] != '/' || (i && strcmp(beside[0], beside[1]) == 0))
			continue;
		if (*name != '/' && leaf != name && path_format(path, "%.*s/%s", folder_len(beside[i]), beside[i], name))
			elf = split_try(d, path, id);
		if (!elf && path_format(path, "%.*s/%s", folder_len(beside[i]), beside[i], leaf))
			elf = split_try(d, path, id);
	}
	return elf;
}

const struct elf *image_debug_split(void *context, const char *directory, const char *name, uint64_t id)
{
	struct image_debug *d = context;
	const struct elf *elf = NULL;
	pthread_mutex_lock(&d->lock);
	if (name && *name && d->splits.count < IMAGE_SPLITS_MAX)
		elf = split_find(d, directory ? directory : "", name, id);
	d->splits_missing += elf == NULL;
	pthread_mutex_unlock(&d->lock);
	return elf;
}
