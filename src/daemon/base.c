#include "daemon/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/checked.h"
#include "os/file.h"
#include "os/place.h"

enum {
	BACKLOG = 8,
	CLIENT_WAIT_S = 10,       /* until a daemon that is busy answers */
};

static const char control_name[] = "control";

int base_open(const char *path, struct error *err)
{
	struct stat st;
	if (stat(path, &st) != 0) {
		if (errno == EACCES)
			return error_set(err, ERROR_PERMISSION, "failed: permission denied for '%s' base", path);
		if (errno == ENOENT) /* perf's words */
			return error_set(err, ERROR_SYSTEM, "failed: base '%s' does not exists", path);
		return error_system(err, "failed: can't access base '%s'", path);
	}
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ERROR_USAGE, "failed: base '%s' is not directory", path);
	return private_folder_open(path, 0, err);
}

int base_lock(int base, const char *path, struct error *err)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char owner[16] = "";
	int fd = openat(base, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0640);
	if (fd < 0)
		return error_system(err, "failed: %s/lock", path);
	/* a lock of the open file, unlike a process's, is inherited by the daemon; it excludes perf's, too */
	if (fcntl(fd, F_OFD_SETLK, &whole) == 0)
		return fd;
	if (errno == EAGAIN || errno == EACCES) {
		if (pread(fd, owner, sizeof owner - 1, 0) < 0)
			owner[0] = '\0';
		owner[strspn(owner, "0123456789")] = '\0';
		error_set(err, ERROR_USAGE, "failed: another perf daemon (pid %s) owns %s", owner, path);
	} else {
		error_system(err, "failed: lock %s/lock", path);
	}
	close(fd);
	return -1;
}

int base_lock_owner(int lock, struct error *err)
{
	char text[16];
	int length = snprintf(text, sizeof text, "%d", (int)getpid());
	if (ftruncate(lock, 0) != 0 || pwrite(lock, text, (size_t)length, 0) != length)
		return error_system(err, "failed: write lock");
	return 0;
}

int base_output(int folder, struct error *err)
{
	int fd = openat(folder, "output", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);
	return fd < 0 ? error_system(err, "failed: open output") : fd;
}

static int make_fifo(int folder, const char *name, struct error *err)
{
	if ((unlinkat(folder, name, 0) != 0 && errno != ENOENT) || mkfifoat(folder, name, 0600) != 0)
		return error_system(err, "failed: create %s fifo", name);
	return 0;
}

/* Whether others than its owner can create entries in it. */
static bool is_closed(int folder)
{
	struct stat st;
	return fstat(folder, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int base_session(int base, const char *name, struct error *err)
{
	int folder = checked_make(base, name, 0755, err);
	if (folder < 0)
		return -1;
	if (!is_closed(folder))
		error_set(err, ERROR_PERMISSION, "failed: the folder %s belongs to another user, or others can write it", name);
	else if (make_fifo(folder, control_name, err) == 0 && make_fifo(folder, "ack", err) == 0)
		return folder;
	close(folder);
	return -1;
}

/* A path through the descriptor of the base: sun_path is too short for long ones, and no link is followed. */
static void base_address(int base, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s", base, control_name);
}

int base_listen(int base, struct error *err)
{
	struct sockaddr_un address;
	base_address(base, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_system(err, "failed: socket");
	if (unlinkat(base, control_name, 0) != 0 && errno != ENOENT) {
		error_system(err, "failed: unlink control");
		close(fd);
		return -1;
	}
	mode_t before = umask(0177);
	int bound = bind(fd, (struct sockaddr *)&address, sizeof address);
	umask(before);
	if (bound == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error_system(err, "failed: bind");
	close(fd);
	return -1;
}

bool base_peer_is_own(int socket)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof peer &&
		(peer.uid == geteuid() || peer.uid == 0);
}

int base_connect(int base, struct error *err)
{
	struct sockaddr_un address;
	struct timeval wait = { .tv_sec = CLIENT_WAIT_S };
	base_address(base, &address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_system(err, "failed: socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) != 0) {
		error_system(err, "failed: socket");
	} else if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		bool absent = errno == ENOENT || errno == ECONNREFUSED;
		error_system(err, "failed: connect");
		if (absent)
			error_hint(err, "No daemon runs in this base folder. Start it with 'perf daemon start'.");
	} else if (!base_peer_is_own(fd)) {
		error_set(err, ERROR_PERMISSION, "failed: the process that listens there is of another user");
	} else {
		return fd;
	}
	close(fd);
	return -1;
}
