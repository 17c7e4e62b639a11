#include "image/search.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "elf/module_layout.h"
#include "image/debuginfod.h"
#include "image/file.h"
#include "image/kernel_folder.h"
#include "image/mapped_file.h"
#include "os/file.h"

/* Which modules a way of looking is for. */
enum { FOR_FILE = 1, FOR_VDSO = 2, FOR_KMODULE = 4, FOR_KERNEL = 8, FOR_ALL = 15 };

typedef bool candidate_path(const struct image_search *s, char *path);

static const char *symfs_of(const struct image_search *s)
{
	return s->options->symfs ? s->options->symfs : "";
}

/* What stands under --symfs is seen from there. */
static int symfs_root(const struct image_search *s)
{
	return *symfs_of(s) ? s->root : -1;
}

/* The path of the module's file; what is none starts without a slash. */
static const char *name_of(const struct image_search *s)
{
	return *s->listed ? s->listed : s->module->long_name;
}

static bool path_format(char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool path_format(char *path, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(path, IMAGE_PATH_MAX, format, args);
	va_end(args);
	return n > 0 && n < IMAGE_PATH_MAX;
}

/* Length of the folder part of the module's path, without the slash. */
static int folder_len(const struct image_search *s)
{
	const char *slash = strrchr(s->module->long_name, '/');
	return (int)(slash - s->module->long_name);
}

static bool path_debuglink_beside(const struct image_search *s, char *path)
{
	return *s->debuglink &&
	       path_format(path, "%.*s/%s", folder_len(s), s->module->long_name, s->debuglink);
}

static bool path_debuglink_below(const struct image_search *s, char *path)
{
	return *s->debuglink &&
	       path_format(path, "%.*s/.debug/%s", folder_len(s), s->module->long_name, s->debuglink);
}

static bool path_debuglink_global(const struct image_search *s, char *path)
{
	return *s->debuglink && path_format(path, "/usr/lib/debug%.*s/%s", folder_len(s), s->module->long_name, s->debuglink);
}

static bool path_cache(const struct image_search *s, char *path, const char *leaf)
{
	if (!*s->cache || !s->build_id_len || !buildid_cache_path(s->cache, s->build_id, s->build_id_len, "", path, IMAGE_PATH_MAX))
		return false;
	/* once the entry was the file itself */
	path[strlen(path) - 1] = '\0';
	if (rooted_exists(symfs_root(s), path))
		return true;
	return buildid_cache_path(s->cache, s->build_id, s->build_id_len, leaf, path, IMAGE_PATH_MAX);
}

static bool path_cache_file(const struct image_search *s, char *path)
{
	/* who names a vmlinux wants no other */
	if (s->module->kind == MODULE_KERNEL && s->options->vmlinux && !s->options->no_vmlinux)
		return false;
	return path_cache(s, path, s->module->kind == MODULE_VDSO ? "vdso" : "elf");
}

static bool path_cache_debug(const struct image_search *s, char *path)
{
	return s->module->kind != MODULE_VDSO && path_cache(s, path, "debug");
}

static bool path_fedora(const struct image_search *s, char *path)
{
	return path_format(path, "/usr/lib/debug%s.debug", s->module->long_name);
}

static bool path_ubuntu(const struct image_search *s, char *path)
{
	return path_format(path, "/usr/lib/debug%s", s->module->long_name);
}

static bool path_buildid_debug(const struct image_search *s, char *path)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(s->build_id, s->build_id_len, hex);
	return s->build_id_len > 1 && path_format(path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
}

static bool path_itself(const struct image_search *s, char *path)
{
	return !s->replaced && path_format(path, "%s", name_of(s));
}

static bool path_openembedded(const struct image_search *s, char *path)
{
	return path_format(path, "%.*s/.debug%s", folder_len(s), s->module->long_name, s->module->long_name + folder_len(s));
}

/* A kernel module's debug file is named like it, without what it is packed in. */
static bool path_module(const struct image_search *s, char *path, const char *before, const char *behind)
{
	static const char *const packings[] = { ".gz", ".xz", ".zst" };
	const char *name = name_of(s);
	size_t len = strlen(name);
	for (unsigned i = 0; i < sizeof packings / sizeof *packings; i++) {
		size_t n = strlen(packings[i]);
		if (len > n && strcmp(name + len - n, packings[i]) == 0) {
			len -= n;
			break;
		}
	}
	return *name == '/' && path_format(path, "%s%.*s%s", before, (int)len, name, behind);
}

static bool path_module_debian(const struct image_search *s, char *path)
{
	return path_module(s, path, "/usr/lib/debug", "");
}

static bool path_module_fedora(const struct image_search *s, char *path)
{
	return path_module(s, path, "/usr/lib/debug", ".debug");
}

/* Where /lib is a link to /usr/lib, either may have been recorded. */
static bool path_module_usr(const struct image_search *s, char *path)
{
	return strncmp(name_of(s), "/lib/", 5) == 0 && path_module(s, path, "/usr/lib/debug/usr", ".debug");
}

static bool path_ubuntu_mixed(const struct image_search *s, char *path)
{
	return strncmp(s->module->long_name, "/usr/lib/", 9) == 0 &&
	       path_format(path, "/usr/lib/debug%s", s->module->long_name + 4);
}

/* A whole path is this machine's, with --symfs too. */
static bool vmlinux_is_below(const struct image_search *s)
{
	return *symfs_of(s) && s->options->vmlinux && *s->options->vmlinux != '/';
}

static bool path_vmlinux_named(const struct image_search *s, char *path)
{
	const char *name = s->options->vmlinux;
	return name && !s->options->no_vmlinux && !vmlinux_is_below(s) && path_format(path, "%s", name);
}

static bool path_vmlinux_named_below(const struct image_search *s, char *path)
{
	return vmlinux_is_below(s) && !s->options->no_vmlinux && path_format(path, "/%s", s->options->vmlinux);
}

/* Of the recorded machine, or this one; NULL where none is known. */
static const char *release_of(const struct image_search *s, struct utsname *uts)
{
	const char *release = s->options->osrelease;
	if (!release && !*symfs_of(s) && uname(uts) == 0)
		release = uts->release;
	/* a release is part of a path here */
	return release && *release && !strchr(release, '/') ? release : NULL;
}

/* Where nobody named one. A file of the current folder counts only where the build-id can tell whether it is the one. */
static bool path_vmlinux(const struct image_search *s, char *path, const char *format)
{
	struct utsname uts;
	const char *release = release_of(s, &uts);
	if (s->options->vmlinux || s->options->no_vmlinux || !release)
		return false;
	char folder[IMAGE_PATH_MAX];
	snprintf(folder, sizeof folder, "%s", format);
	char *mark = strchr(folder, '%');
	*mark = '\0';
	return path_format(path, "%s%s%s", folder, release, mark + 1);
}

static bool path_vmlinux_here(const struct image_search *s, char *path)
{
	if (s->options->vmlinux || s->options->no_vmlinux || (!*symfs_of(s) && !s->build_id_len))
		return false;
	return path_format(path, "%svmlinux", *symfs_of(s) ? "/" : "");
}

static bool path_vmlinux_boot(const struct image_search *s, char *path)
{
	return !s->options->vmlinux && !s->options->no_vmlinux && path_format(path, "/boot/vmlinux");
}

static bool path_vmlinux_boot_release(const struct image_search *s, char *path)
{
	return path_vmlinux(s, path, "/boot/vmlinux-%");
}

static bool path_vmlinux_debug_boot(const struct image_search *s, char *path)
{
	return path_vmlinux(s, path, "/usr/lib/debug/boot/vmlinux-%");
}

static bool path_vmlinux_build(const struct image_search *s, char *path)
{
	return path_vmlinux(s, path, "/lib/modules/%/build/vmlinux");
}

static bool path_vmlinux_debug(const struct image_search *s, char *path)
{
	return path_vmlinux(s, path, "/usr/lib/debug/lib/modules/%/vmlinux");
}

static bool path_vmlinux_debug_boot2(const struct image_search *s, char *path)
{
	return path_vmlinux(s, path, "/usr/lib/debug/boot/vmlinux-%.debug");
}

static bool path_own_vdso(const struct image_search *s, char *path)
{
	return !*symfs_of(s) && strcmp(s->module->short_name, "[vdso]") == 0 && path_format(path, "[vdso]");
}

/* Only with a build-id can a server be asked. What it has is noted by the path it is kept under. */
static bool path_from_server(const struct image_search *s, enum debuginfod_file what, char *path)
{
	struct error err = { 0 };
	if (s->offline || s->build_id_len < 2)
		return false;
	if (debuginfod_fetch(what, s->build_id, s->build_id_len, path, IMAGE_PATH_MAX, &err) == 0)
		return true;
	image_trail_note(s->trail, "", what == DEBUGINFOD_EXECUTABLE ? "executable from debuginfod" : "debug file from debuginfod", 0,
		image_finding_of(&err));
	return false;
}

static bool path_server_debug(const struct image_search *s, char *path)
{
	return path_from_server(s, DEBUGINFOD_DEBUGINFO, path);
}

static bool path_server_file(const struct image_search *s, char *path)
{
	return !s->runs && path_from_server(s, DEBUGINFOD_EXECUTABLE, path);
}

/* Whose path it is: the recorded process's, ours (SYMFS's, where that is given), or ours whatever is given. */
enum place { ITS, OURS, MACHINE };

/* In the order of perf, then what it does not ask. */
static const struct candidate {
	char origin;
	uint8_t modules;
	enum place place;
	candidate_path *path;
} candidates[] = {
	{ 'v', FOR_KERNEL, MACHINE, path_vmlinux_named },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_named_below },
	{ 'l', FOR_FILE, ITS, path_debuglink_beside },
	{ 'l', FOR_FILE, ITS, path_debuglink_below },
	{ 'l', FOR_FILE, ITS, path_debuglink_global },
	{ 'B', FOR_ALL, OURS, path_cache_file },
	{ 'D', FOR_FILE | FOR_KMODULE, OURS, path_cache_debug },
	{ 'f', FOR_FILE, ITS, path_fedora },
	{ 'u', FOR_FILE, ITS, path_ubuntu },
	{ 'b', FOR_FILE | FOR_VDSO, ITS, path_buildid_debug },
	{ 'd', FOR_VDSO, OURS, path_own_vdso },
	{ 'd', FOR_FILE, ITS, path_itself },
	{ 'K', FOR_KMODULE, OURS, path_itself },
	{ 'u', FOR_KMODULE, OURS, path_module_debian },
	{ 'f', FOR_KMODULE, OURS, path_module_fedora },
	{ 'f', FOR_KMODULE, OURS, path_module_usr },
	{ 'b', FOR_KMODULE, OURS, path_buildid_debug },
	{ 'o', FOR_FILE, ITS, path_openembedded },
	{ 'x', FOR_FILE, ITS, path_ubuntu_mixed },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_here },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_boot },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_boot_release },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_debug_boot },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_build },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_debug },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_debug_boot2 },
	{ 'B', FOR_FILE, MACHINE, path_server_file },
	{ 'D', FOR_FILE | FOR_KMODULE | FOR_KERNEL, MACHINE, path_server_debug },
};

static unsigned module_class(const struct module *module)
{
	switch (module->kind) {
	case MODULE_FILE:
		return *module->long_name == '/' ? FOR_FILE : 0;
	case MODULE_VDSO:
		return FOR_VDSO;
	case MODULE_KMODULE:
		return FOR_KMODULE;
	case MODULE_KERNEL:
		return FOR_KERNEL;
	default:
		return 0;
	}
}

static bool same_place(const char *path, const char *other)
{
	struct stat a, b;
	return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* It sees other files where it has another root, or other mounts below the same. */
int process_root(int32_t pid)
{
	char root[64], mounts[64];
	if (pid <= 0)
		return -1;
	snprintf(root, sizeof root, "/proc/%d/root/", pid);
	snprintf(mounts, sizeof mounts, "/proc/%d/ns/mnt", pid);
	if (same_place(root, "/") && (same_place(mounts, "/proc/self/ns/mnt") || access(mounts, F_OK) != 0))
		return -1;
	return root_open(root);
}

/* The file under the module's path, or the one that was mapped. */
static bool search_open_itself(struct image_search *s)
{
	const struct module *module = s->module;
	if (!s->options->living || !module->ino)
		return image_open(&s->itself, s->root, module->long_name, NULL) == 0;
	struct mapped_identity identity = { .maj = module->maj, .min = module->min, .ino = module->ino,
		.generation = module->ino_generation };
	CLEANUP_FD int fd = mapped_file_or_path(s->root, module->long_name, module->pid, &identity);
	s->replaced = fd < 0 && rooted_exists(s->root, module->long_name);
	return fd >= 0 && image_open_descriptor(&s->itself, fd, module->long_name, NULL) == 0;
}

/* Which file this is, by what it says itself. */
static void search_ask_itself(struct image_search *s)
{
	char path[IMAGE_PATH_MAX];
	if (!path_itself(s, path) || !search_open_itself(s))
		return;
	const char *link = elf_debuglink(&s->itself.elf, &s->debuglink_crc);
	if (link && strlen(link) < sizeof s->debuglink)
		strcpy(s->debuglink, link);
	if (!s->recorded)
		s->build_id_len = elf_build_id(&s->itself.elf, s->build_id);
}

/* A module that the recording calls by its name alone. Its build-id tells whether the file is the one, or the release that was
 * recorded. */
static void search_list(struct image_search *s)
{
	struct utsname uts;
	const char *release = release_of(s, &uts);
	bool sure = s->recorded || s->options->osrelease;
	if (*s->module->long_name == '/' || !release || !sure ||
	    !kernel_folder_module(symfs_root(s), release, s->module->short_name, s->listed, sizeof s->listed))
		*s->listed = '\0';
}

void image_search_init(struct image_search *s, const struct module *module, const struct image_options *options)
{
	*s = (struct image_search){ .module = module, .options = options, .root = -1 };
	s->offline = !options->debuginfod || *symfs_of(s);
	s->build_id_len = module->build_id_len < ELF_BUILD_ID_MAX ? module->build_id_len : ELF_BUILD_ID_MAX;
	memcpy(s->build_id, module->build_id, s->build_id_len);
	s->recorded = s->build_id_len != 0;
	if (*symfs_of(s)) {
		strcpy(s->cache, "/.debug");
		s->root = root_open(symfs_of(s));
		if (!path_format(s->root_name, "%s", symfs_of(s)) || s->root < 0) {
			s->step = sizeof candidates / sizeof *candidates;
			return;
		}
	} else if (!options->buildid_dir || !path_format(s->cache, "%s", options->buildid_dir)) {
		*s->cache = '\0';
	}
	if (module_class(module) == FOR_KMODULE && !module->guest)
		search_list(s);
	if (module_class(module) != FOR_FILE)
		return;
	if (!*symfs_of(s))
		s->root = process_root(module->pid);
	if (s->root >= 0 && !*symfs_of(s))
		path_format(s->root_name, "/proc/%d/root", module->pid);
	search_ask_itself(s);
}

void image_search_fini(struct image_search *s)
{
	if (s->root >= 0)
		close(s->root);
	s->root = -1;
	image_close(&s->itself);
}

static int candidate_open(struct image_search *s, const struct candidate *c, const char *path, struct image *image,
	struct error *err)
{
	if (c->path == path_own_vdso)
		return image_open_vdso(image, err);
	if (c->path == path_itself && s->itself.path) {
		*image = s->itself;
		s->itself = (struct image){ 0 };
		return 0;
	}
	int root = c->place == MACHINE ? -1 : c->place == OURS ? symfs_root(s) : s->root;
	return image_open(image, root, path, err);
}

static const char *candidate_root(const struct image_search *s, const struct candidate *c)
{
	return c->place == MACHINE || (c->place == OURS && !*symfs_of(s)) ? "" : s->root_name;
}

/* Whether it is the build that was recorded; without any build-id, whether it is the one that the link meant. */
static bool search_matches(struct image_search *s, const struct candidate *c, const struct image *image)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = elf_build_id(&image->elf, id);
	image_trail_build(s->trail, id, len);
	if (s->build_id_len)
		return build_id_equal(s->build_id, s->build_id_len, id, len);
	return c->origin != 'l' || crc32_z(0, image->elf.bytes.data, image->elf.bytes.len) == s->debuglink_crc;
}

/* Opens one candidate and checks it. */
static bool search_try(struct image_search *s, const struct candidate *c, const char *path, struct image *image)
{
	struct error err = { 0 };
	if (candidate_open(s, c, path, image, &err) < 0) {
		enum image_finding finding = image_finding_of(&err);
		image_trail_note(s->trail, candidate_root(s, c), path, c->origin, finding);
		s->damaged += finding == IMAGE_DAMAGED;
		return false;
	}
	image_trail_note(s->trail, candidate_root(s, c), path, c->origin, IMAGE_UNUSED);
	if (!search_matches(s, c, image)) {
		image_trail_mark(s->trail, IMAGE_OTHER_BUILD);
		s->mismatched++;
		image_close(image);
		return false;
	}
	if (s->module->kind == MODULE_KMODULE)
		module_layout(&image->elf);
	image->origin = c->origin == 'K' && image->owned ? 'm' : s->module->kind == MODULE_KERNEL ? 'v' : c->origin;
	image_set_root(image, candidate_root(s, c));
	s->runs |= image_runs(image);
	return true;
}

/* Where the process's root has nothing: it may be another one of that number. Only a build-id tells whether ours is right. */
static bool search_again(struct image_search *s)
{
	if (s->root < 0 || *symfs_of(s) || s->runs || !s->recorded || s->ours)
		return false;
	close(s->root);
	s->root = -1;
	*s->root_name = '\0';
	s->ours = true;
	s->step = 0;
	image_close(&s->itself);
	search_ask_itself(s);
	return true;
}

static bool search_step(struct image_search *s, struct image *image)
{
	char path[IMAGE_PATH_MAX];
	unsigned class = module_class(s->module);
	while (s->step < sizeof candidates / sizeof *candidates) {
		const struct candidate *c = &candidates[s->step++];
		bool named = c->path != path_itself || *name_of(s) == '/';
		bool tried = s->ours && c->place != ITS; /* what is ours whatever the root, before */
		if (!(c->modules & class) || tried || !named || s->module->guest || !c->path(s, path))
			continue;
		if (search_try(s, c, path, image))
			return true;
	}
	return false;
}

bool image_search_next(struct image_search *s, struct image *image)
{
	return search_step(s, image) || (search_again(s) && search_step(s, image));
}

int image_find(const struct module *module, const struct image_options *options, struct image *image, struct error *err)
{
	struct image_search search;
	bool found;
	image_search_init(&search, module, options);
	while ((found = image_search_next(&search, image)) && !image_runs(image))
		image_close(image);
	image_search_fini(&search);
	if (!found)
		return error_set(err, ERROR_UNSUPPORTED, search.mismatched ? "%s has changed since it was recorded" : "no file for %s",
			module->long_name);
	return 0;
}

/* The pid by which the process knows itself, which its perf map is named by. */
static int32_t inner_pid(int32_t pid)
{
	char path[64], *text, *at;
	size_t len;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (rooted_read(-1, path, 1 << 16, &text, &len, NULL) < 0)
		return pid;
	text = memory_resize(text, len + 1, 1);
	text[len] = '\0';
	at = strstr(text, "\nNStgid:");
	size_t line = at ? strcspn(at + 1, "\n") : 0;
	while (line && at[line] >= '0' && at[line] <= '9')
		line--;
	int32_t inner = line ? atoi(at + line + 1) : 0;
	free(text);
	return inner > 0 ? inner : pid;
}

int image_read_perf_map(const struct module *module, size_t limit, char **text, size_t *len, struct error *err)
{
	int root = process_root(module->pid);
	if (root >= 0) {
		char path[64];
		snprintf(path, sizeof path, "/tmp/perf-%d.map", inner_pid(module->pid));
		int result = rooted_read(root, path, limit, text, len, NULL);
		close(root);
		if (result == 0)
			return 0;
	}
	return rooted_read(-1, module->name, limit, text, len, err);
}

void build_id_hex(const uint8_t *id, uint8_t len, char text[static 2 * ELF_BUILD_ID_MAX + 1])
{
	for (uint8_t i = 0; i < len; i++) {
		text[2 * i] = "0123456789abcdef"[id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	text[2 * len] = '\0';
}

bool buildid_cache_path(const char *dir, const uint8_t *id, uint8_t len, const char *leaf, char *path, size_t size)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(id, len, hex);
	int n = snprintf(path, size, "%s/.build-id/%.2s/%s/%s", dir, hex, len ? hex + 2 : "", leaf);
	return n > 0 && (size_t)n < size;
}
