/* Probe points of programs: lines "%GROUP:NAME=…" of the files `probes` in the build-id cache (perf-buildid-cache(1), perf-probe(1)). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cmd/environment.h"
#include "cmd/list/list.h"
#include "image/cache.h"
#include "os/file.h"

enum { PROBES_MAX = 1 << 20, NAMES_MAX = 1 << 16 };

struct probe {
	const char *name;              /* "sdt_python:line" */
	const struct cache_entry *of;
	char id[2 * ELF_BUILD_ID_MAX + 1];
};

struct probes {
	VEC(struct probe) list;
	struct cache_list cache;
	struct arena arena;
};

static void add_lines(struct probes *p, const struct cache_entry *of, const char *text)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n"), name = strcspn(text, "=\n");
		if (text[0] == '%' && text[name] == '=' && memchr(text, ':', name) && p->list.count < NAMES_MAX) {
			struct probe *probe = vec_add(&p->list);
			char *copy = arena_string(&p->arena, text + 1, name - 1);
			text_make_printable(copy);
			probe->name = copy;
			probe->of = of;
			for (uint8_t i = 0; i < of->id_len; i++)
				snprintf(probe->id + 2 * i, 3, "%02x", of->id[i]);
		}
		text += length + (text[length] == '\n');
	}
}

static void read_probes(struct probes *p, int cache, const struct cache_entry *of)
{
	char path[PATH_MAX + 16], folder[PATH_MAX];
	char buffer[1 << 12];
	CLEANUP_STR struct str text = { 0 };
	if (!cache_find(cache, of->id, of->id_len, folder, NULL))
		return;
	snprintf(path, sizeof path, "%s/probes", folder);
	CLEANUP_FD int fd = openat(cache, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	for (ssize_t n; fd >= 0 && text.len < PROBES_MAX && (n = read(fd, buffer, sizeof buffer)) > 0;)
		str_add(&text, buffer, (size_t)n);
	add_lines(p, of, text.text);
}

static int compare(const void *a, const void *b)
{
	const struct probe *left = a, *right = b;
	int order = strcmp(left->name, right->name);
	return order ? order : strcmp(left->id, right->id);
}

static bool same_name(const struct probes *p, size_t a, size_t b)
{
	return a < p->list.count && b < p->list.count && strcmp(p->list.items[a].name, p->list.items[b].name) == 0;
}

/* The program follows a name that several programs have. */
static void print_probe(struct listing *l, const struct probes *p, size_t index)
{
	const struct probe *probe = &p->list.items[index];
	CLEANUP_STR struct str name = { 0 };
	str_puts(&name, probe->name);
	if (same_name(p, index, index + 1) || (index > 0 && same_name(p, index, index - 1))) {
		str_printf(&name, "@%s(%.12s)", probe->of->path, probe->id);
		text_make_printable(name.text);
	}
	const struct catalogue_event event = { .kind = CATALOGUE_TRACEPOINT, .name = name.text, .type_text = "SDT event" };
	list_print_event(l, &event);
}

void list_print_probes(const struct cli *cli, struct listing *l)
{
	struct probes p = { 0 };
	struct error err;
	CLEANUP_FD int cache = cli->buildid_dir ? cache_open(cli->buildid_dir, CACHE_READ, &err) : -1;
	if (cache < 0 || cache_list_having(cache, "probes", &p.cache, &err) < 0)
		return;
	for (size_t i = 0; i < p.cache.entries.count; i++)
		read_probes(&p, cache, &p.cache.entries.items[i]);
	if (p.list.count)
		qsort(p.list.items, p.list.count, sizeof p.list.items[0], compare);
	for (size_t i = 0; i < p.list.count; i++)
		if (i == 0 || compare(&p.list.items[i - 1], &p.list.items[i]) != 0)
			print_probe(l, &p, i);
	vec_fini(&p.list);
	cache_list_fini(&p.cache);
	arena_fini(&p.arena);
}
