#include "image/search.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "elf/module_layout.h"
#include "image/checksum.h"
#include "image/debuginfod.h"
#include "image/file.h"
#include "image/kernel_folder.h"
#include "image/mapped_file.h"
#include "image/recorded_process.h"
#include "os/file.h"
#include "os/place.h"

/* The kinds of modules for which a candidate is tried. */
enum { FOR_FILE = 1, FOR_VDSO = 2, FOR_KMODULE = 4, FOR_KERNEL = 8, FOR_ALL = 15 };

typedef bool candidate_path(const struct image_search *s, char *path);

static const char *symfs_of(const struct image_search *s)
{
	return s->options->symfs ? s->options->symfs : "";
}

/* Paths below --symfs are seen from there. */
static int symfs_root(const struct image_search *s)
{
	return *symfs_of(s) ? s->root : -1;
}

/* The name of the module's file; a name that is not a path does not start with a slash. */
static const char *name_of(const struct image_search *s)
{
	return *s->listed ? s->listed : s->module->long_name;
}

bool path_format(char *path, const char *format, ...)
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

static int cache_root(const struct image_search *s)
{
	return *symfs_of(s) ? s->root : s->cache_root;
}

static bool path_cache(const struct image_search *s, char *path, const char *leaf)
{
	const char *folder = *symfs_of(s) ? "/.debug" : "";
	bool absent = !*symfs_of(s) && !s->options->buildid_dir;
	if (absent || !s->build_id_len || !buildid_cache_path(folder, s->build_id, s->build_id_len, "", path, IMAGE_PATH_MAX))
		return false;
	/* older versions stored the file itself as the entry */
	path[strlen(path) - 1] = '\0';
	if (cache_root(s) >= 0 && rooted_exists(cache_root(s), path))
		return true;
	return buildid_cache_path(folder, s->build_id, s->build_id_len, leaf, path, IMAGE_PATH_MAX);
}

static bool path_cache_file(const struct image_search *s, char *path)
{
	/* a vmlinux given by the user excludes all others */
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

/* A kernel module's debug file has its name without the suffix of the compression. */
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

/* If /lib is a link to /usr/lib, either path may have been recorded. */
static bool path_module_usr(const struct image_search *s, char *path)
{
	return strncmp(name_of(s), "/lib/", 5) == 0 && path_module(s, path, "/usr/lib/debug/usr", ".debug");
}

static bool path_ubuntu_mixed(const struct image_search *s, char *path)
{
	return strncmp(s->module->long_name, "/usr/lib/", 9) == 0 &&
	       path_format(path, "/usr/lib/debug%s", s->module->long_name + 4);
}

/* An absolute path is this machine's, with --symfs, too. */
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

/* The release of the recorded machine, or of this one; NULL if unknown. */
static const char *release_of(const struct image_search *s, struct utsname *uts)
{
	const char *release = s->options->osrelease;
	if (!release && !*symfs_of(s) && uname(uts) == 0)
		release = uts->release;
	/* the release becomes part of a path */
	return release && *release && !strchr(release, '/') ? release : NULL;
}

/* Used if the user gave no vmlinux. A file of the current folder is used only if the build-id can confirm it. */
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

/* Servers are asked only by build-id. The trail records the path of the downloaded file. */
static bool path_from_server(const struct image_search *s, enum debuginfod_file what, char *path)
{
	struct error err = { 0 };
	if (s->offline || s->build_id_len < 2)
		return false;
	if (debuginfod_fetch(s->options->debuginfod, what, s->build_id, s->build_id_len, path, IMAGE_PATH_MAX, &err) == 0)
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

/* The root of a path: the recorded process's, ours (SYMFS if given), ours regardless of SYMFS, or the build-id cache. */
enum seen_from { ITS, OURS, MACHINE, CACHE };

/* In perf's order, followed by sources that perf does not use. */
static const struct candidate {
	char origin;
	uint8_t modules;
	enum seen_from place;
	candidate_path *path;
} candidates[] = {
	{ 'v', FOR_KERNEL, MACHINE, path_vmlinux_named },
	{ 'v', FOR_KERNEL, OURS, path_vmlinux_named_below },
	{ 'l', FOR_FILE, ITS, path_debuglink_beside },
	{ 'l', FOR_FILE, ITS, path_debuglink_below },
	{ 'l', FOR_FILE, ITS, path_debuglink_global },
	{ 'B', FOR_ALL, CACHE, path_cache_file },
	{ 'D', FOR_FILE | FOR_KMODULE, CACHE, path_cache_debug },
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

/* A relative name is one in the current folder, as in perf. Another folder may have another file of that name: a recorded build-id has to
 * confirm it. */
static bool names_file(const struct module *module)
{
	const char *name = module->long_name;
	return *name == '/' || (*name != '[' && strchr(name, '/') && module->build_id_len);
}

static unsigned module_class(const struct module *module)
{
	switch (module->kind) {
	case MODULE_FILE:
		return names_file(module) ? FOR_FILE : 0;
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

/* A process sees other files if its root differs, or its mounts below the same root. */
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

/* Without a build-id, the inode shows whether the file was replaced. It is compared only on the recorded machine, and not if the user gives
 * a folder of files. */
static bool search_open_unnamed(struct image_search *s, const struct mapped_identity *identity)
{
	const char *path = s->module->long_name;
	CLEANUP_FD int fd = rooted_open(s->root, path, NULL);
	s->refused = fd >= 0 && mapped_file_is(fd, identity) < 0;
	return fd >= 0 && !s->refused && image_open_descriptor(&s->itself, fd, path, s->options->budget, NULL) == 0;
}

static struct mapped_identity identity_of(const struct module *module)
{
	return (struct mapped_identity){ .maj = module->maj, .min = module->min, .ino = module->ino, .generation = module->ino_generation };
}

/* Opens the file at the module's path, or the mapped file. */
static bool search_open_itself(struct image_search *s)
{
	const struct module *module = s->module;
	const struct mapped_identity identity = identity_of(module);
	if (s->options->same_machine && !s->recorded && module->ino && !*symfs_of(s))
		return search_open_unnamed(s, &identity);
	if (!s->options->living || !module->ino)
		return image_open(&s->itself, s->root, module->long_name, s->options->budget, NULL) == 0;
	CLEANUP_FD int fd = mapped_file_or_path(s->root, module->long_name, module->pid, &identity);
	s->replaced = fd < 0 && rooted_exists(s->root, module->long_name);
	return fd >= 0 && image_open_descriptor(&s->itself, fd, module->long_name, s->options->budget, NULL) == 0;
}

/* Reads the build-id and the debug link of the file itself. */
static void search_ask_itself(struct image_search *s)
{
	char path[IMAGE_PATH_MAX];
	if (!path_itself(s, path) || !search_open_itself(s))
		return;
	elf_debuglink(&s->itself.elf, s->debuglink, sizeof s->debuglink, &s->debuglink_crc);
	if (!s->recorded)
		s->build_id_len = elf_build_id(&s->itself.elf, s->build_id);
}

/* For a module that the recording identifies only by name: the file is confirmed by its build-id, or by the recorded release. */
static void search_list(struct image_search *s)
{
	struct utsname uts;
	const char *release = release_of(s, &uts);
	bool sure = s->recorded || s->options->osrelease;
	if (*s->module->long_name == '/' || !release || !sure ||
	    !kernel_folder_module(symfs_root(s), release, s->module->short_name, s->listed, sizeof s->listed))
		*s->listed = '\0';
}

static void search_open(struct image_search *s, const struct module *module, const struct image_options *options)
{
	*s = (struct image_search){ .module = module, .options = options, .root = -1, .cache_root = -1 };
	s->offline = !options->debuginfod || *symfs_of(s);
	s->build_id_len = module->build_id_len < ELF_BUILD_ID_MAX ? module->build_id_len : ELF_BUILD_ID_MAX;
	memcpy(s->build_id, module->build_id, s->build_id_len);
	s->recorded = s->build_id_len != 0;
	if (*symfs_of(s)) {
		s->root = root_open(symfs_of(s));
		if (!path_format(s->root_name, "%s", symfs_of(s)) || s->root < 0) {
			s->step = sizeof candidates / sizeof *candidates;
			return;
		}
	}
	if (module_class(module) == FOR_KMODULE && !module->guest)
		search_list(s);
	if (module_class(module) != FOR_FILE)
		return;
	const struct mapped_identity identity = identity_of(module);
	const int64_t until_s = options->living ? RECORDED_NOW : options->processes_until;
	if (!*symfs_of(s))
		s->root = process_root(recorded_process(module->pid, until_s, &identity));
	if (s->root >= 0 && !*symfs_of(s))
		path_format(s->root_name, "/proc/%d/root", module->pid);
	search_ask_itself(s);
}

void image_search_init(struct image_search *s, const struct module *module, const struct image_options *options)
{
	search_open(s, module, options);
	/* the cache is opened only for modules that it may contain */
	if (!*symfs_of(s) && options->buildid_dir && s->build_id_len)
		s->cache_root = buildid_cache_root(options->buildid_dir, NULL);
}

void image_search_fini(struct image_search *s)
{
	if (s->root >= 0)
		close(s->root);
	if (s->cache_root >= 0)
		close(s->cache_root);
	s->root = s->cache_root = -1;
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
	/* the trail shows why the cache was not opened */
	if (c->place == CACHE && cache_root(s) < 0)
		return buildid_cache_root(s->options->buildid_dir, err) < 0 ? -1 : error_set(err, ERROR_SYSTEM, "%s was not there", path);
	int root = c->place == MACHINE ? -1 : c->place == CACHE ? cache_root(s) : c->place == OURS ? symfs_root(s) : s->root;
	return image_open(image, root, path, s->options->budget, err);
}

static const char *candidate_root(const struct image_search *s, const struct candidate *c)
{
	if (c->place == CACHE && !*symfs_of(s))
		return s->options->buildid_dir;
	return c->place == MACHINE || (c->place == OURS && !*symfs_of(s)) ? "" : s->root_name;
}

/* Limit on bytes of files that are read completely to compare the checksum of a debug link. */
#define CHECKED_LIMIT ((uint64_t)16 << 30)

static bool link_matches(struct image_search *s, const struct image *image)
{
	struct budget *budget = s->options->budget;
	uint64_t checked = budget ? atomic_load(&budget->checked) : 0, left = checked < CHECKED_LIMIT ? CHECKED_LIMIT - checked : 0;
	uint64_t before = left;
	uint32_t checksum;
	CLEANUP_FD int fd = rooted_open(s->root, image->path, NULL);
	bool whole = fd >= 0 && file_checksum(fd, &left, &checksum);
	if (budget)
		atomic_fetch_add(&budget->checked, before - left);
	if (!whole)
		budget_refuse(budget);
	return whole && checksum == s->debuglink_crc;
}

/* Compares the build-id with the recorded one; without any build-id, the checksum with the debug link's. */
static bool search_matches(struct image_search *s, const struct candidate *c, const struct image *image)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = elf_build_id(&image->elf, id);
	image_trail_build(s->trail, id, len);
	if (s->build_id_len)
		return build_id_equal(s->build_id, s->build_id_len, id, len);
	return c->origin != 'l' || link_matches(s, image);
}

/* Opens one candidate and checks it. */
static bool search_try(struct image_search *s, const struct candidate *c, const char *path, struct image *image)
{
	struct error err = { 0 };
	if (candidate_open(s, c, path, image, &err) < 0) {
		enum image_finding finding = image_finding_of(&err);
		image_trail_note(s->trail, candidate_root(s, c), path, c->origin, finding);
		/* what was mapped as data may be a file of any format; what had a build-id was an ELF file */
		s->damaged += finding == IMAGE_DAMAGED || (finding == IMAGE_NOT_ELF && s->build_id_len);
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
	if (c->place == CACHE && !*symfs_of(s))
		image->root_len = 0; /* its other parts are not in the cache's folders */
	s->runs |= image_runs(image);
	return true;
}

/* Used if the process's root has no file: the pid may belong to another process now. Only a build-id or the inode confirms a file of our
 * root. */
static bool search_again(struct image_search *s)
{
	if (s->root < 0 || *symfs_of(s) || s->runs || (!s->recorded && !s->refused) || s->ours)
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
	if (s->refused) {
		image_trail_note(s->trail, s->root_name, s->module->long_name, 'd', IMAGE_OTHER_BUILD);
		s->mismatched++;
		return false;
	}
	while (s->step < sizeof candidates / sizeof *candidates) {
		const struct candidate *c = &candidates[s->step++];
		bool named = c->path != path_itself || class == FOR_FILE || *name_of(s) == '/';
		bool tried = s->ours && c->place != ITS; /* already tried before: it does not depend on the process's root */
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

void build_id_hex(const uint8_t *id, uint8_t len, char text[static 2 * ELF_BUILD_ID_MAX + 1])
{
	for (uint8_t i = 0; i < len; i++) {
		text[2 * i] = "0123456789abcdef"[id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	text[2 * len] = '\0';
}

int buildid_cache_root(const char *dir, struct error *err)
{
	/* an ordinary user may read a cache that another user shares; for root, its content affects what root is shown */
	return private_folder_open(dir, geteuid() == 0 ? 0 : FOLDER_ANYBODYS, err);
}

bool buildid_cache_path(const char *dir, const uint8_t *id, uint8_t len, const char *leaf, char *path, size_t size)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(id, len, hex);
	int n = snprintf(path, size, "%s/.build-id/%.2s/%s/%s", dir, hex, len ? hex + 2 : "", leaf);
	return n > 0 && (size_t)n < size;
}
