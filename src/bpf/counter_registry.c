#include "bpf/counter_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "os/bpf.h"
#include "os/counter.h"

enum { ENTRIES = 4096, TRIES = 8, OTHERS = 077 };

/* The attribute of shared counters, or the number of a process. The value is the id of a map. */
struct entry {
	uint32_t kind, sign;
	uint8_t attr[ATTR_SIZE_VER9];
};
enum { ENTRY_ATTR = 1, ENTRY_SIGN };

static const char registry_name[] = "perfuse_attrs", counters_name[] = "perfuse_events", sign_name[] = "perfuse_user";

static void text_of(const struct place *place, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d/%s", place->folder, place->name);
}

/* A map by its id, if it is of this kind and has this name: ids are used again. -1: there is no such map. */
static int map_by_id(uint32_t id, uint32_t type, const char *name)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info;
	int fd = bpf_map_get_fd_by_id(id);
	if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.type == type && strcmp(info.name, name) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool map_id(int fd, uint32_t *id)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info;
	bool read = bpf_obj_get_info_by_fd(fd, &info, &size) == 0;
	*id = info.id;
	return read;
}

static bool entry_lives(const struct entry *entry, uint32_t id)
{
	bool counters = entry->kind == ENTRY_ATTR;
	CLEANUP_FD int fd = map_by_id(id, counters ? BPF_MAP_TYPE_PERF_EVENT_ARRAY : BPF_MAP_TYPE_ARRAY, counters ? counters_name : sign_name);
	return fd >= 0;
}

/* Removes entries whose map is gone. Returns whether a process uses the registry. */
static bool prune(int map)
{
	struct entry entry, next, *previous = NULL;
	bool used = false;
	for (unsigned i = 0; i < 2 * ENTRIES && bpf_map_get_next_key(map, previous, &next) == 0; i++) {
		uint32_t id = 0;
		bool lives = bpf_map_lookup_elem(map, &next, &id) == 0 && entry_lives(&next, id);
		used |= lives && next.kind == ENTRY_SIGN;
		if (lives) {
			entry = next;
			previous = &entry;
		} else if (bpf_map_delete_elem(map, &next) < 0) {
			break;
		}
	}
	return used;
}

static int check_folder(const struct place *place, const char *path, struct error *err)
{
	struct stat folder;
	char text[32];
	snprintf(text, sizeof text, "/proc/self/fd/%d", place->folder);
	if (!bpf_has_file_system(text)) {
		error_set(err, ERROR_UNSUPPORTED, "%s is not in a BPF file system", path);
		return error_hint(err, "mount -t bpf bpf /sys/fs/bpf");
	}
	if (fstat(place->folder, &folder) < 0)
		return error_system(err, "cannot check %s", path);
	if (status_is_private(&folder) || ((folder.st_mode & S_ISVTX) && (folder.st_uid == 0 || folder.st_uid == geteuid())))
		return 0;
	return error_set(err, ERROR_PERMISSION, "the folder of %s can be changed by other users", path);
}

static int check_map(const struct counter_registry *r, const char *path, struct error *err)
{
	struct stat file;
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info;
	if (fstatat(r->place.folder, r->place.name, &file, AT_SYMLINK_NOFOLLOW) < 0)
		return error_system(err, "cannot check %s", path);
	if (!S_ISREG(file.st_mode) || file.st_uid != geteuid() || (file.st_mode & OTHERS))
		return error_set(err, ERROR_PERMISSION, "%s is not used: it belongs to another user, or others can change it", path);
	if (bpf_obj_get_info_by_fd(r->map, &info, &size) < 0 || info.type != BPF_MAP_TYPE_HASH || info.key_size != sizeof(struct entry) ||
	    info.value_size != sizeof(uint32_t) || strcmp(info.name, registry_name) != 0)
		return error_set(err, ERROR_FORMAT, "%s is not a map of shared counters", path);
	return 0;
}

/* Opens the pinned map, or pins a new one. Returns 1 if another process did this first. */
static int open_map(struct counter_registry *r, const char *path, struct error *err)
{
	char text[300];
	text_of(&r->place, text, sizeof text);
	r->map = bpf_obj_get(text);
	if (r->map >= 0)
		return check_map(r, path, err);
	if (errno != ENOENT)
		return error_system(err, "%s is not a map of shared counters", path);
	r->map = bpf_map_create(BPF_MAP_TYPE_HASH, registry_name, sizeof(struct entry), sizeof(uint32_t), ENTRIES, NULL);
	if (r->map < 0) {
		error_system(err, "cannot create a BPF map");
		return error_hint(err, "it needs CAP_BPF and CAP_PERFMON, or root");
	}
	if (bpf_obj_pin(r->map, text) == 0) /* with mode 0600 at most */
		return 0;
	return errno == EEXIST ? 1 : error_system(err, "cannot pin a BPF map at %s", path);
}

static int write_sign(const struct counter_registry *r)
{
	const struct entry entry = { .kind = ENTRY_SIGN, .sign = r->sign_id };
	int status = bpf_map_update_elem(r->map, &entry, &r->sign_id, BPF_ANY);
	if (status < 0 && errno == E2BIG) {
		prune(r->map);
		status = bpf_map_update_elem(r->map, &entry, &r->sign_id, BPF_ANY);
	}
	return status;
}

/* Whether the map is pinned: the last user may have removed it meanwhile. */
static bool is_pinned(const struct counter_registry *r)
{
	char text[300];
	uint32_t id = 0;
	text_of(&r->place, text, sizeof text);
	CLEANUP_FD int fd = bpf_obj_get(text);
	return fd >= 0 && map_id(fd, &id) && id == r->id;
}

int counter_registry_open(struct counter_registry *r, const char *path, struct error *err)
{
	*r = (struct counter_registry){ .place.folder = -1, .map = -1, .sign = -1 };
	if (!path)
		return 0;
	if (place_find(&r->place, path, err) < 0 || check_folder(&r->place, path, err) < 0)
		return -1;
	r->sign = bpf_map_create(BPF_MAP_TYPE_ARRAY, sign_name, sizeof(uint32_t), sizeof(uint32_t), 1, NULL);
	if (r->sign < 0 || !map_id(r->sign, &r->sign_id)) {
		error_system(err, "cannot create a BPF map");
		return error_hint(err, "it needs CAP_BPF and CAP_PERFMON, or root");
	}
	for (int i = 0; i < TRIES; i++) {
		int status = open_map(r, path, err);
		if (status < 0)
			return -1;
		if (status == 0 && (!map_id(r->map, &r->id) || write_sign(r) < 0))
			return error_system(err, "cannot write to %s", path);
		if (status == 0 && is_pinned(r))
			return 0;
		close(r->map);
		r->map = -1;
	}
	return error_set(err, ERROR_LIMIT, "%s is not a map of shared counters, or other processes replace it all the time", path);
}

/* A map with a counter for each of the CPUs; -errno. CPUs that went offline have none. */
static int open_counters(const struct attr *attr, const struct cpus *cpus)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_PRESERVE_ELEMS);
	int map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, counters_name, sizeof(uint32_t), sizeof(uint32_t), cpus_possible_count(),
		&options);
	int status = map < 0 ? -errno : 0;
	size_t opened = 0;
	for (size_t i = 0; i < cpus->list.count && status == 0; i++) {
		int32_t cpu = cpus->list.items[i];
		CLEANUP_FD int fd = counter_open(attr, -1, cpu, -1, 0);
		if (fd == -ENODEV)
			continue;
		opened++;
		if (fd < 0)
			status = fd;
		else if (bpf_map_update_elem(map, &cpu, &fd, BPF_ANY) < 0)
			status = -errno;
	}
	if (status == 0 && !opened)
		status = -ENODEV;
	if (status < 0 && map >= 0)
		close(map);
	return status < 0 ? status : map;
}

static int add_entry(struct counter_registry *r, const struct entry *entry, int counters)
{
	uint32_t id;
	int status = map_id(counters, &id) ? bpf_map_update_elem(r->map, entry, &id, BPF_NOEXIST) : -1;
	if (status < 0 && errno == E2BIG) {
		prune(r->map);
		status = bpf_map_update_elem(r->map, entry, &id, BPF_NOEXIST);
	}
	return status < 0 ? -errno : 0;
}

int counter_registry_counters(struct counter_registry *r, const struct attr *attr, const struct cpus *cpus)
{
	struct entry entry = { .kind = ENTRY_ATTR };
	uint32_t id;
	if (r->map < 0)
		return open_counters(attr, cpus);
	attr_encode(attr, entry.attr);
	for (int i = 0; i < TRIES; i++) {
		bool found = bpf_map_lookup_elem(r->map, &entry, &id) == 0;
		int counters = found ? map_by_id(id, BPF_MAP_TYPE_PERF_EVENT_ARRAY, counters_name) : -1;
		if (counters >= 0)
			return counters;
		if (found)
			bpf_map_delete_elem(r->map, &entry);
		counters = open_counters(attr, cpus);
		int status = counters < 0 ? counters : add_entry(r, &entry, counters);
		if (counters < 0 || status == 0)
			return counters;
		close(counters);
		if (status != -EEXIST)
			return status;
	}
	return -EAGAIN;
}

void counter_registry_close(struct counter_registry *r)
{
	char text[300];
	if (r->sign >= 0)
		close(r->sign);
	if (r->map >= 0 && !prune(r->map) && is_pinned(r)) {
		text_of(&r->place, text, sizeof text);
		unlink(text);
	}
	if (r->map >= 0)
		close(r->map);
	place_close(&r->place);
	*r = (struct counter_registry){ .place.folder = -1, .map = -1, .sign = -1 };
}
