#include "tracepoint/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/str.h"

#define FILE_MAX 65536

struct live {
	char *root;           /* ".../tracing/events" */
	struct strtab paths;  /* "system/event" */
	struct idmap by_id;   /* event id → id in paths */
};

static char *read_tracefs_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : memory_alloc(FILE_MAX + 1);
	ssize_t got = 1;

	for (*len = 0; text && got > 0 && *len < FILE_MAX; *len += got > 0 ? (size_t)got : 0)
		got = read(fd, text + *len, FILE_MAX - *len);
	if (fd >= 0)
		close(fd);
	if (text)
		text[*len] = '\0';
	return text;
}

static void index_system(struct live *live, const char *system)
{
	char path[4096];
	struct dirent *entry;
	size_t len;

	snprintf(path, sizeof path, "%s/%s", live->root, system);
	DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s/%s/id", live->root, system, entry->d_name);
		char *text = read_tracefs_file(path, &len);
		if (!text)
			continue;
		int used = snprintf(path, sizeof path, "%s/%s", system, entry->d_name);
		idmap_set(&live->by_id, strtoull(text, NULL, 10), strtab_add(&live->paths, path, (size_t)used));
		free(text);
	}
	if (dir)
		closedir(dir);
}

int live_open(struct live **out, struct error *err)
{
	static const char *const roots[] = { "/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events" };
	struct dirent *entry;
	DIR *dir = NULL;
	size_t i;

	for (i = 0; i < sizeof roots / sizeof *roots && !dir; i++)
		dir = opendir(roots[i]);
	if (!dir) {
		error_system(err, "cannot read %s", roots[0]);
		return error_hint(err, errno == EACCES ? "run as root, or make tracefs readable" :
			"mount it: mount -t tracefs none /sys/kernel/tracing");
	}
	struct live *live = memory_zero(1, sizeof *live);
	live->root = memory_string(roots[i - 1]);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			index_system(live, entry->d_name);
	closedir(dir);
	*out = live;
	return 0;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	free(live->root);
	strtab_fini(&live->paths);
	idmap_fini(&live->by_id);
	free(live);
}

int live_read(struct live *live, uint64_t id, struct live_format *format)
{
	uint32_t at = idmap_get(&live->by_id, id);
	char path[4096];

	if (at == IDMAP_NONE)
		return -1;
	const char *name = strtab_text(&live->paths, at);
	snprintf(path, sizeof path, "%s/%s/format", live->root, name);
	format->text = read_tracefs_file(path, &format->len);
	if (!format->text)
		return -1;
	format->system = memory_string(name);
	format->system[strcspn(name, "/")] = '\0';
	return 0;
}

void live_format_fini(struct live_format *format)
{
	free(format->system);
	free(format->text);
}
