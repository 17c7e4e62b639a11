/* Lists of names or numbers that pass a filter: --comms, --dsos, --symbols, --pid, --tid. Independent of what they name. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct name_list;

/* Parses "a,b,c"; an element "file:///path" adds each line of that file. Fails with ERROR_SYSTEM if the file is unreadable; *list is then
 * valid, too, and must be closed. */
int name_list_open(struct name_list **list, const char *text, struct error *err);
/* Parses "1,2,3" (decimal, octal or hexadecimal). Fails with ERROR_USAGE; *list must be closed in any case. */
int number_list_open(struct name_list **list, const char *text, struct error *err);
void name_list_close(struct name_list *list); /* NULL is allowed */

bool name_list_has(const struct name_list *list, const char *name);
bool number_list_has(const struct name_list *list, int64_t number);
/* Whether number is in [n, n + range) for a number n of the list. */
bool number_list_covers(const struct name_list *list, uint64_t number, uint64_t range);
/* Returns the name if the list has exactly one; otherwise NULL. */
const char *name_list_single(const struct name_list *list);
/* Moves the names that are hexadecimal numbers to the numbers of the list. */
void name_list_split_addresses(struct name_list *list);
