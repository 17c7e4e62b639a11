#include "cmd/test/selection.h"

#include <stdlib.h>
#include <string.h>

bool selection_has(int argc, const char **argv, size_t number, const char *name)
{
	for (int i = 0; i < argc; i++) {
		char *end;
		unsigned long wanted = strtoul(argv[i], &end, 10);
		if (end != argv[i] && !*end ? wanted == number : strcasestr(name, argv[i]) != NULL)
			return true;
	}
	return argc == 0;
}

bool selection_skips(const char *list, size_t number)
{
	while (list && *list) {
		if (strtoul(list, NULL, 10) == number)
			return true;
		list = strchr(list, ',');
		list += list != NULL;
	}
	return false;
}

bool selection_is_list(const char *list)
{
	return strspn(list, "0123456789,") == strlen(list);
}
