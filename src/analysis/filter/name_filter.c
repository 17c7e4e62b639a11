#include "analysis/filter/name_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

struct name_list {
	struct strtab names;
	VEC(int64_t) numbers;
};

static int name_list_read_file(struct name_list *list, const char *path, struct error *err)
{
	FILE *file = fopen(path, "r");
	if (!file)
		return error_system(err, "%s", path);
	char *line = NULL;
	size_t capacity = 0;
	while (getline(&line, &capacity, file) > 0) {
		size_t kept = strcspn(line, "\n");
		if (kept)
			strtab_add(&list->names, line, kept);
	}
	free(line);
	fclose(file);
	return 0;
}

int name_list_open(struct name_list **out, const char *text, struct error *err)
{
	static const char scheme[] = "file://";
	struct name_list *list = memory_zero(1, sizeof *list);
	*out = list;
	for (const char *word = text, *end; word; word = end) {
		end = strchr(word, ',');
		size_t len = end ? (size_t)(end++ - word) : strlen(word);
		if (strncmp(word, scheme, sizeof scheme - 1) == 0) {
			CLEANUP_STR struct str path = { 0 };
			str_add(&path, word + sizeof scheme - 1, len - (sizeof scheme - 1));
			if (name_list_read_file(list, str_text(&path), err) < 0)
				return -1;
		} else if (len) {
			strtab_add(&list->names, word, len);
		}
	}
	return 0;
}

int number_list_open(struct name_list **out, const char *text, struct error *err)
{
	struct name_list *list = memory_zero(1, sizeof *list);
	*out = list;
	for (const char *word = text; *word;) {
		char *end;
		long long number = strtoll(word, &end, 0);
		if (end == word || (*end && *end != ','))
			return error_set(err, ERROR_USAGE, "'%s' is not a list of numbers", text);
		vec_push(&list->numbers, number);
		word = *end ? end + 1 : end;
	}
	return 0;
}

void name_list_close(struct name_list *list)
{
	if (!list)
		return;
	strtab_fini(&list->names);
	vec_fini(&list->numbers);
	free(list);
}

bool name_list_has(const struct name_list *list, const char *name)
{
	return strtab_find(&list->names, name, strlen(name)) != UINT32_MAX;
}

bool number_list_has(const struct name_list *list, int64_t number)
{
	for (size_t i = 0; i < list->numbers.count; i++)
		if (list->numbers.items[i] == number)
			return true;
	return false;
}

bool number_list_covers(const struct name_list *list, uint64_t number, uint64_t range)
{
	for (size_t i = 0; i < list->numbers.count; i++)
		if (number - (uint64_t)list->numbers.items[i] < range)
			return true;
	return false;
}

const char *name_list_single(const struct name_list *list)
{
	return list && list->names.count == 1 ? strtab_text(&list->names, 0) : NULL;
}

void name_list_split_addresses(struct name_list *list)
{
	struct strtab names = { 0 };
	for (uint32_t i = 0; i < list->names.count; i++) {
		const char *name = strtab_text(&list->names, i);
		char *end;
		unsigned long long address = strtoull(name, &end, 16);
		if (end != name && !*end)
			vec_push(&list->numbers, (int64_t)address);
		else
			strtab_add(&names, name, strlen(name));
	}
	strtab_fini(&list->names);
	list->names = names;
}
