#include "os/kernel_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "os/file.h"

enum { NAME_SPACE = 4096, FIRST_PAGE = 4096, BOOT_ID = 36, FILE_LIMIT = 16 << 20, WORDS_MAX = 8 };

static uint64_t add_file(uint64_t state, const char *root, const char *path)
{
	char name[NAME_SPACE];
	CLEANUP_STR struct str text = { 0 };
	snprintf(name, sizeof name, "%s%s", root, path);
	int failed = file_read(name, &text, FILE_LIMIT, NULL);
	return hash_bytes_from(state + (failed < 0), str_text(&text), text.len);
}

/* Hashes the lines "NAME SIZE USES USERS STATE ADDRESS FLAGS" without the users. The state differs while a module is loaded or unloaded. */
static uint64_t add_modules(uint64_t state, const char *root)
{
	char name[NAME_SPACE];
	CLEANUP_STR struct str text = { 0 };
	snprintf(name, sizeof name, "%s/proc/modules", root);
	if (file_read(name, &text, FILE_LIMIT, NULL) < 0)
		return hash_u64(state);
	char *rest = text.text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		char *word;
		for (unsigned i = 0; i < WORDS_MAX && (word = strsep(&line, " ")); i++)
			if (i != 2 && i != 3)
				state = hash_bytes_from(state, word, strlen(word));
	}
	return state;
}

/* A module that is loaded again with the same name, size and address has another inode in sysfs. */
static uint64_t add_loads(uint64_t state, const char *root)
{
	char name[NAME_SPACE];
	snprintf(name, sizeof name, "%s/sys/module", root);
	DIR *dir = opendir(name);
	uint64_t sum = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			sum += hash_bytes_from(entry->d_ino, entry->d_name, strlen(entry->d_name));
	if (dir)
		closedir(dir);
	return hash_pair(state, sum);
}

/* The kernel formats the file as it is read: unread parts cost nothing. */
static uint64_t add_first_page(uint64_t state, const char *root)
{
	char name[NAME_SPACE], page[FIRST_PAGE];
	snprintf(name, sizeof name, "%s/proc/kallsyms", root);
	CLEANUP_FD int fd = open(name, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;
	while (fd >= 0 && len < sizeof page && (n = read(fd, page + len, sizeof page - len)) != 0) {
		if (n < 0 && errno != EINTR)
			return 0;
		len += n > 0 ? (size_t)n : 0;
	}
	return len ? hash_bytes_from(state, page, len) : 0;
}

static uint64_t state_of(const char *root, bool modules)
{
	char name[NAME_SPACE], boot[2 * BOOT_ID];
	snprintf(name, sizeof name, "%s/proc/sys/kernel/random/boot_id", root);
	if (!file_line(name, boot, sizeof boot) || strlen(boot) != BOOT_ID)
		return 0;
	uint64_t state = hash_bytes(boot, BOOT_ID);
	state = add_file(state, root, "/sys/kernel/notes");
	if (modules)
		state = add_loads(add_modules(state, root), root);
	return add_first_page(state, root);
}

uint64_t kernel_state(const char *root)
{
	return state_of(root, true);
}

uint64_t kernel_boot_state(const char *root)
{
	return state_of(root, false);
}
