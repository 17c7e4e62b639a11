#include "rewrite/known_ids.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "image/file.h"

enum { FILE_BYTES_MAX = 64 << 20 };

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static void add_pair(struct known_ids *known, const char *pair)
{
	struct known_id id = { 0 };
	pair += strspn(pair, " \t");
	size_t digits = strspn(pair, "0123456789abcdefABCDEF");
	if (pair[digits] != ' ' || digits % 2 || digits > 2 * KNOWN_ID_SIZE)
		return;
	for (size_t i = 0; i < digits / 2; i++)
		id.bytes[i] = (uint8_t)(digit(pair[2 * i]) << 4 | digit(pair[2 * i + 1]));
	id.len = (uint8_t)(digits / 2);
	pair += digits;
	pair += strspn(pair, " \t");
	id.path = arena_string(&known->arena, pair, strlen(pair));
	vec_push(&known->list, id);
}

void known_ids_read(struct known_ids *known, const char *text)
{
	static const char scheme[] = "file://";
	char *copy, *state = NULL;
	size_t len = strlen(text);
	bool file = strncmp(text, scheme, sizeof scheme - 1) == 0;
	if (!file)
		copy = memory_string(text);
	else if (rooted_read(-1, text + sizeof scheme - 1, FILE_BYTES_MAX, &copy, &len, NULL) == 0)
		copy = memory_resize(copy, len + 1, 1);
	else
		return;
	copy[len] = '\0';
	for (char *pair = strtok_r(copy, file ? "\n" : ",", &state); pair; pair = strtok_r(NULL, file ? "\n" : ",", &state))
		add_pair(known, pair);
	free(copy);
}

const struct known_id *known_ids_find(const struct known_ids *known, const char *path)
{
	for (size_t i = 0; i < known->list.count; i++)
		if (strcmp(known->list.items[i].path, path) == 0)
			return &known->list.items[i];
	return NULL;
}

void known_ids_fini(struct known_ids *known)
{
	vec_fini(&known->list);
	arena_fini(&known->arena);
}
