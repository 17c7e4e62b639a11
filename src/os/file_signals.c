#include "os/file_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"

/* What truncated_replace calls runs in a signal handler: no allocation, no stdio. */

/* One line of /proc/self/maps: "start-end perms offset device inode   path". */
struct mapping {
	uintptr_t start, end;
	char perms[5], path[TRUNCATED_PATH_SIZE];
};

static const char *take_hex(const char *at, uintptr_t *value)
{
	*value = 0;
	for (;; at++) {
		unsigned digit = *at >= '0' && *at <= '9' ? (unsigned)(*at - '0') : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10 : 16;
		if (digit > 15)
			return at;
		*value = *value << 4 | digit;
	}
}

static bool line_read(const char *line, struct mapping *m)
{
	const char *at = take_hex(line, &m->start);
	at = take_hex(at + (*at == '-'), &m->end);
	if (*at != ' ' || strlen(at) < 6)
		return false;
	memcpy(m->perms, at + 1, 4);
	m->perms[4] = '\0';
	const char *path = strchr(at, '/');
	memccpy(m->path, path ? path : "", '\0', sizeof m->path);
	return true;
}

/* The mapping that holds address. */
static bool mapping_find(uintptr_t address, struct mapping *m)
{
	char line[TRUNCATED_PATH_SIZE], chunk[1024];
	size_t len = 0;
	ssize_t n;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = false;
	while (fd >= 0 && !found && (n = read(fd, chunk, sizeof chunk)) > 0) {
		for (ssize_t i = 0; i < n && !found; i++) {
			if (chunk[i] != '\n') {
				line[len] = chunk[i];
				len += len < sizeof line - 1;
				continue;
			}
			line[len] = '\0';
			len = 0;
			found = line_read(line, m) && address >= m->start && address < m->end;
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

bool truncated_replace(const siginfo_t *info, char path[static TRUNCATED_PATH_SIZE])
{
	struct mapping m;
	int saved = errno;
	uintptr_t page = (uintptr_t)info->si_addr & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	bool found = info->si_code == BUS_ADRERR && mapping_find(page, &m);
	bool ours = found && m.perms[0] == 'r' && m.perms[2] == '-' && m.perms[3] == 'p';
	/* the page is anonymous memory if another thread has replaced it meanwhile */
	bool replaced = ours && !m.path[0], replace = ours && !replaced;
	if (replace) {
		int protection = PROT_READ | (m.perms[1] == 'w' ? PROT_WRITE : 0);
		int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
		replaced = mmap((void *)page, m.end - page, protection, flags, -1, 0) != MAP_FAILED;
		text_make_printable(m.path);
		memccpy(path, m.path, '\0', TRUNCATED_PATH_SIZE);
	}
	if (!replaced)
		signal(SIGBUS, SIG_DFL);
	errno = saved;
	return replace;
}

void truncated_catch(void (*on_bus_error)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

static void on_file_limit(__attribute__((unused)) int number)
{
}

void file_limit_catch(void)
{
	struct sigaction action = { .sa_handler = on_file_limit, .sa_flags = SA_RESTART }, before;
	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}
