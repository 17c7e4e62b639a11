#include "probe/event.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void probe_event_fini(struct probe_event *event)
{
	vec_fini(&event->fetches);
	*event = (struct probe_event){ 0 };
}

static void place_text(const struct probe_event *e, struct str *to)
{
	if (e->user) {
		str_printf(to, "%s:0x%llx", e->path, (unsigned long long)e->address);
		if (e->semaphore)
			str_printf(to, "(0x%llx)", (unsigned long long)e->semaphore);
		return;
	}
	if (e->path)
		str_printf(to, "%s:", e->path);
	if (e->symbol)
		str_printf(to, "%s+%llu", e->symbol, (unsigned long long)e->offset);
	else
		str_printf(to, "0x%llx", (unsigned long long)e->address);
}

void probe_event_text(const struct probe_event *e, struct str *to)
{
	str_printf(to, "%c:%s/%s ", e->returns ? 'r' : 'p', e->group, e->event);
	place_text(e, to);
	for (size_t i = 0; i < e->fetches.count; i++) {
		const struct probe_fetch *f = &e->fetches.items[i];
		str_putc(to, ' ');
		if (f->name)
			str_printf(to, "%s=", f->name);
		str_puts(to, f->value);
		if (f->type)
			str_printf(to, ":%s", f->type);
	}
}

static bool read_head(struct probe_event *e, char *word)
{
	char *colon = strchr(word, ':'), *slash = colon ? strchr(colon, '/') : NULL;
	if (!slash || (*word != 'p' && *word != 'r'))
		return false;
	*slash = '\0';
	e->returns = *word == 'r';
	e->group = colon + 1;
	e->event = slash + 1;
	return *e->group && *e->event;
}

/* "PATH:0xADDRESS(0xSEMAPHORE)", "MODULE:SYMBOL+OFFSET" or "SYMBOL+OFFSET". */
static bool read_place(struct probe_event *e, char *word)
{
	char *colon = strrchr(word, ':'), *at = word;
	if (colon) {
		*colon = '\0';
		e->path = word;
		e->user = *word == '/';
		at = colon + 1;
	}
	if (*at == '0') {
		e->address = strtoull(at, &at, 0);
		e->semaphore = *at == '(' ? strtoull(at + 1, NULL, 0) : 0;
		return true;
	}
	char *plus = strrchr(at, '+');
	if (plus) {
		*plus = '\0';
		e->offset = strtoull(plus + 1, NULL, 0);
	}
	e->symbol = at;
	return *at;
}

bool probe_event_read(struct probe_event *e, const char *line, struct arena *arena)
{
	*e = (struct probe_event){ 0 };
	char *copy = arena_string(arena, line, strcspn(line, "\n")), *next = copy;
	char *head = strsep(&next, " "), *place = next ? strsep(&next, " ") : NULL;
	if (!place || !read_head(e, head) || !read_place(e, place))
		return false;
	for (char *word; (word = strsep(&next, " "));) {
		if (!*word)
			continue;
		char *equal = strchr(word, '=');
		if (equal)
			*equal = '\0';
		vec_push(&e->fetches, ((struct probe_fetch){ .name = word, .value = equal ? equal + 1 : word }));
	}
	return true;
}

void probe_event_name(const char *function, bool returns, char name[static PROBE_NAME_MAX])
{
	enum { SUFFIX = 10 };
	function += *function == '.';
	size_t len = strcspn(function, ".@(<"), n = 0;
	if (!len)
		len = strlen(function);
	for (size_t i = 0; i < len && n < PROBE_NAME_MAX - SUFFIX; i++) {
		bool valid = isalnum((unsigned char)function[i]) || function[i] == '_';
		if (!n && isdigit((unsigned char)function[i]))
			name[n++] = '_';
		/* "::" becomes one underscore */
		if (valid || (n && name[n - 1] != '_'))
			name[n++] = valid ? function[i] : '_';
	}
	if (!n)
		name[n++] = '_';
	strcpy(name + n, returns ? "__return" : "");
}

void probe_group_name(const char *path, char name[static PROBE_NAME_MAX])
{
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	size_t n = 0;
	while (isalnum((unsigned char)base[n]) || base[n] == '_')
		n++;
	snprintf(name, PROBE_NAME_MAX, "probe_%.*s", n > PROBE_NAME_MAX - 8 ? (int)PROBE_NAME_MAX - 8 : (int)n, base);
}
