#include "cmd/freq_pin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "os/checked.h"
#include "os/file.h"
#include "os/private_file.h"

enum { STORED_BYTES_MAX = 1 << 24 };

static const char store[] = "/run", stored_name[] = "frequency", lock_name[] = "frequency.lock";

/* Writes the stored settings, then removes their file. */
static int restore_stored(struct freq_pin *pin, const struct cpufreq_settings *settings, struct error *err)
{
	size_t refused;
	if (cpufreq_settings_write(settings, pin->root, &refused, err) < 0)
		return -1;
	if (unlinkat(pin->folder, stored_name, 0) != 0)
		return error_system(err, "%s/perfuse/%s", store, stored_name);
	pin->stored = false;
	return 0;
}

/* 1: restored; 0: nothing was stored. */
static int restore_left(struct freq_pin *pin, struct error *err)
{
	struct cpufreq_settings settings = { 0 };
	CLEANUP_STR struct str text = { 0 };
	char path[64];
	size_t size;
	if (faccessat(pin->folder, stored_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
		return 0;
	CLEANUP_FD int fd = private_file_open(pin->folder, stored_name, &size, err);
	if (fd < 0)
		return -1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int result = file_read(path, &text, STORED_BYTES_MAX, err);
	if (result == 0)
		result = cpufreq_settings_parse(&settings, str_text(&text), err);
	if (result == 0)
		result = restore_stored(pin, &settings, err);
	cpufreq_settings_fini(&settings);
	return result < 0 ? -1 : 1;
}

static int open_all(struct freq_pin *pin, struct error *err)
{
	pin->root = open(CPUFREQ_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (pin->root < 0)
		return error_system(err, "%s", CPUFREQ_ROOT);
	pin->folder = private_folder(store, true, err);
	if (pin->folder < 0)
		return -1;
	pin->lock = openat(pin->folder, lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (pin->lock < 0)
		return error_system(err, "%s/perfuse/%s", store, lock_name);
	if (flock(pin->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? FREQ_BUSY : error_system(err, "%s/perfuse/%s", store, lock_name);
}

int freq_pin_open(struct freq_pin *pin, struct error *err)
{
	*pin = (struct freq_pin){ .root = -1, .folder = -1, .lock = -1 };
	int result = open_all(pin, err);
	if (result == FREQ_NOTHING) {
		int left = restore_left(pin, err);
		result = left > 0 ? FREQ_RESTORED : left;
	}
	if (result < 0 || result == FREQ_BUSY)
		freq_pin_close(pin);
	return result;
}

int freq_pin_set(struct freq_pin *pin, const struct cpufreq_settings *settings, size_t *refused, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	struct error ignored;
	*refused = 0;
	if (cpufreq_settings_read(settings, pin->root, &pin->before, err) < 0)
		return -1;
	cpufreq_settings_text(&pin->before, &text);
	if (private_file_write(pin->folder, stored_name, str_text(&text), text.len, err) < 0)
		return -1;
	pin->stored = true;
	if (cpufreq_settings_write(settings, pin->root, refused, err) == 0)
		return 0;
	freq_pin_restore(pin, &ignored);
	return -1;
}

int freq_pin_restore(struct freq_pin *pin, struct error *err)
{
	return pin->stored ? restore_stored(pin, &pin->before, err) : 0;
}

void freq_pin_close(struct freq_pin *pin)
{
	int *fds[] = { &pin->root, &pin->folder, &pin->lock };
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	cpufreq_settings_fini(&pin->before);
}
