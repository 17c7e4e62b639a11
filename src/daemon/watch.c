#include "daemon/watch.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

int watch_open(struct watch *watch, const char *const *paths, size_t count, struct error *err)
{
	*watch = (struct watch){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
	if (watch->fd < 0)
		return error_system(err, "failed: inotify_init");
	for (size_t i = 0; i < count && i < WATCH_FILES_MAX; i++) {
		char folder[PATH_MAX];
		const char *slash = paths[i] ? strrchr(paths[i], '/') : NULL;
		int length = slash == paths[i] ? 1 : (int)(slash - paths[i]);
		if (!slash || snprintf(folder, sizeof folder, "%.*s", length, paths[i]) >= (int)sizeof folder)
			continue;
		watch->files[i].folder = inotify_add_watch(watch->fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO);
		watch->files[i].name = watch->files[i].folder < 0 ? NULL : slash + 1;
	}
	return 0;
}

static bool is_watched(const struct watch *watch, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW)
		return true;
	for (size_t i = 0; event->len && i < WATCH_FILES_MAX; i++) {
		if (watch->files[i].name && watch->files[i].folder == event->wd && !strcmp(watch->files[i].name, event->name))
			return true;
	}
	return false;
}

bool watch_changed(struct watch *watch)
{
	char bytes[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool changed = false;
	for (ssize_t n; (n = read(watch->fd, bytes, sizeof bytes)) > 0;) {
		const struct inotify_event *event;
		for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof *event + event->len)) {
			event = (const struct inotify_event *)(bytes + at);
			changed |= is_watched(watch, event);
		}
	}
	return changed;
}

void watch_close(struct watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}
