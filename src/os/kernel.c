#include "os/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "os/file.h"
#include "os/kernel_state.h"
#include "os/private_file.h"

enum { KALLSYMS_CHUNK = 64 * 1024 };

/* Parses a line "address type name[\t[module]]"; returns true if no further line is needed. */
static bool text_line(struct kernel_text *text, const char *line, const char *end)
{
	if (end - line < 20 || line[16] != ' ')
		return false;
	const char *name = line + 19;
	size_t length = (size_t)(end - name);
	if (memchr(name, '\t', length))
		return true; /* modules follow the kernel */
	bool is_text = length == 5 && memcmp(name, "_text", 5) == 0;
	bool is_stext = length == 6 && memcmp(name, "_stext", 6) == 0;
	bool is_etext = length == 6 && memcmp(name, "_etext", 6) == 0;
	bool is_edata = length == 6 && memcmp(name, "_edata", 6) == 0;
	if (!is_text && !is_stext && !is_etext && !is_edata)
		return false;
	uint64_t address = strtoull(line, NULL, 16);
	if (is_etext || is_edata) {
		text->end = address;
	} else if (address && (is_text || !text->symbol[0])) {
		memcpy(text->symbol, name, length);
		text->symbol[length] = '\0';
		text->start = address;
	}
	return text->symbol[0] && is_edata;
}

int kernel_text(struct kernel_text *text, struct error *err)
{
	*text = (struct kernel_text){ 0 };
	CLEANUP_FD int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_system(err, "cannot open /proc/kallsyms");
	CLEANUP_FREE char *buffer = memory_alloc(KALLSYMS_CHUNK + 1);
	size_t len = 0;
	for (;;) {
		ssize_t n = read(fd, buffer + len, KALLSYMS_CHUNK - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(err, "cannot read /proc/kallsyms");
		if (n == 0)
			return 0;
		len += (size_t)n;
		buffer[len] = '\0';
		char *line = buffer;
		for (char *newline; (newline = memchr(line, '\n', (size_t)(buffer + len - line))); line = newline + 1) {
			/* the required names end in "xt" or similar, those of modules in a bracket: other lines are skipped */
			bool likely = newline[-1] == ']' || (newline[-1] == 't' && newline[-2] == 'x') || (newline[-1] == 'a' && newline[-2] == 't');
			if (newline - line >= 20 && likely && text_line(text, line, newline))
				return 0;
		}
		len -= (size_t)(line - buffer);
		memmove(buffer, line, len);
		if (len == KALLSYMS_CHUNK)
			return error_set(err, ERROR_FORMAT, "a line of /proc/kallsyms is too long");
	}
}

#define CACHE_NAME "kernel-text"

/* The file: the state of the boot, the first symbol, its address, the end. */
static bool cache_read(int folder, uint64_t state, struct kernel_text *text)
{
	char line[128];
	size_t size;
	unsigned long long found, start, end;
	CLEANUP_FD int fd = private_file_open(folder, CACHE_NAME, &size, NULL);
	ssize_t length = fd < 0 || size >= sizeof line ? -1 : read(fd, line, sizeof line - 1);
	if (length <= 0)
		return false;
	line[length] = '\0';
	*text = (struct kernel_text){ 0 };
	if (sscanf(line, "%llx %15s %llx %llx", &found, text->symbol, &start, &end) != 4 || found != state)
		return false;
	text->start = start;
	text->end = end;
	return strcmp(text->symbol, "_text") == 0 || strcmp(text->symbol, "_stext") == 0;
}

int kernel_text_cached(const char *base, struct kernel_text *text, struct error *err)
{
	uint64_t state = base ? kernel_boot_state("") : 0;
	CLEANUP_FD int folder = state ? private_folder(base, true, NULL) : -1;
	if (folder >= 0 && cache_read(folder, state, text))
		return 0;
	int status = kernel_text(text, err);
	if (status < 0 || folder < 0 || !text->symbol[0])
		return status;
	char line[128];
	int length = snprintf(line, sizeof line, "%llx %s %llx %llx\n", (unsigned long long)state, text->symbol,
		(unsigned long long)text->start, (unsigned long long)text->end);
	private_file_write(folder, CACHE_NAME, line, (size_t)length, NULL);
	return 0;
}

/* "name size refs users state 0xaddress" */
static void parse_module(struct kernel_modules *modules, const char *line)
{
	char name[128], users[4096], state[32];
	unsigned long long size, start;
	long refs;
	if (sscanf(line, "%127s %llu %ld %4095s %31s %llx", name, &size, &refs, users, state, &start) != 6 || start == 0)
		return;
	struct kernel_module *module = vec_add(&modules->list);
	module->name = arena_string(&modules->arena, name, strlen(name));
	module->start = start;
	module->size = size;
}

/* Module names have '_' where file names may have '-'. */
static bool same_module(const char *name, const char *file, size_t length)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (name[i] != (file[i] == '-' ? '_' : file[i]))
			return false;
	return true;
}

/* modules.dep lists all files: one read instead of walking thousands of folders. */
static void find_paths(struct kernel_modules *modules)
{
	struct utsname uts;
	if (uname(&uts) != 0)
		return;
	char folder[256], path[512];
	snprintf(folder, sizeof folder, "/lib/modules/%s", uts.release);
	snprintf(path, sizeof path, "%s/modules.dep", folder);
	CLEANUP_STR struct str text = { 0 };
	if (file_read(path, &text, 64 << 20, NULL) < 0)
		return;
	for (char *line = text.text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		size_t length = strcspn(line, ":");
		line[length] = '\0';
		const char *slash = strrchr(line, '/');
		const char *file = slash ? slash + 1 : line;
		size_t stem = strcspn(file, ".");
		for (size_t i = 0; i < modules->list.count; i++) {
			struct kernel_module *module = &modules->list.items[i];
			if (module->path || !same_module(module->name, file, stem))
				continue;
			int n = snprintf(path, sizeof path, "%s/%s", folder, line);
			if (n > 0 && (size_t)n < sizeof path)
				module->path = arena_string(&modules->arena, path, (size_t)n);
		}
	}
}

int kernel_modules(struct kernel_modules *modules, struct error *err)
{
	CLEANUP_STR struct str text = { 0 };
	if (!file_exists("/proc/modules"))
		return 0;
	if (file_read("/proc/modules", &text, 16 << 20, err) < 0)
		return -1;
	for (char *line = text.text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		parse_module(modules, line);
	}
	if (modules->list.count)
		find_paths(modules);
	return 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct kernel_module *left = *(struct kernel_module *const *)a, *right = *(struct kernel_module *const *)b;
	return (left->start > right->start) - (left->start < right->start);
}

void kernel_modules_cut(struct kernel_modules *modules)
{
	size_t count = modules->list.count;
	CLEANUP_FREE struct kernel_module **sorted = memory_alloc((count + 1) * sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &modules->list.items[i];
	qsort(sorted, count, sizeof *sorted, compare_starts);
	for (size_t i = 1; i < count; i++) {
		uint64_t room = sorted[i]->start - sorted[i - 1]->start;
		if (room && sorted[i - 1]->size > room)
			sorted[i - 1]->size = room;
	}
}

void kernel_modules_fini(struct kernel_modules *modules)
{
	vec_fini(&modules->list);
	arena_fini(&modules->arena);
}

/* ELF notes: namesz descsz type name desc, each part padded to 4. */
static unsigned note_build_id(const char *path, uint8_t id[20])
{
	CLEANUP_STR struct str text = { 0 };
	if (file_read(path, &text, 1 << 20, NULL) < 0)
		return 0;
	struct cursor c = cursor_of(text.text, text.len, false);
	while (cursor_left(&c) >= 12) {
		uint32_t name_size = take_u32(&c), size = take_u32(&c), type = take_u32(&c);
		const uint8_t *name = take(&c, ((size_t)name_size + 3) & ~(size_t)3);
		const uint8_t *bytes = take(&c, ((size_t)size + 3) & ~(size_t)3);
		if (c.short_read)
			return 0;
		if (type != 3 || name_size != 4 || memcmp(name, "GNU", 4) != 0)
			continue;
		unsigned length = size < 20 ? size : 20;
		memcpy(id, bytes, length);
		return length;
	}
	return 0;
}

unsigned kernel_build_id(uint8_t id[20])
{
	return note_build_id("/sys/kernel/notes", id);
}

unsigned kernel_module_build_id(const char *name, uint8_t id[20])
{
	char path[256];
	snprintf(path, sizeof path, "/sys/module/%s/notes/.note.gnu.build-id", name);
	return note_build_id(path, id);
}
