/* Lists of --comms, --dsos, --symbols, --pid, --tid: which names or numbers pass. Knows not what they name. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct name_list;

/* "a,b,c"; "file:///path" takes one name a line. */
int name_list_open(struct name_list **list, const char *text, struct error *err);
/* "1,2,3". */
int number_list_open(struct name_list **list, const char *text, struct error *err);
void name_list_close(struct name_list *list); /* NULL is fine */

bool name_list_has(const struct name_list *list, const char *name);
bool number_list_has(const struct name_list *list, int64_t number);
/* Whether number lies within `range` from one of the list. */
bool number_list_covers(const struct name_list *list, uint64_t number, uint64_t range);
/* The only name; NULL where there are more. */
const char *name_list_single(const struct name_list *list);
/* Moves the names that are hexadecimal numbers to where number_list_has finds them. */
void name_list_split_addresses(struct name_list *list);
