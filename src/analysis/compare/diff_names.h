/* What rows of different recordings are matched by: the texts and numbers of their sort columns, without the ids of one recording. */
#pragma once
#include "analysis/entry/entry.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/tuple.h"

struct diff_names {
	const struct columns *columns;
	const struct column *left_out;  /* NULL: all sort columns count */
	struct strtab texts;
	struct tuples names;
	uint64_t *words;
	struct str scratch;
};

void diff_names_init(struct diff_names *names, const struct columns *columns, const struct column *left_out);
void diff_names_fini(struct diff_names *names);

/* The number of the entry's name, from 0. */
uint32_t diff_names_add(struct diff_names *names, const struct profile *profile, const struct entry *entry);
uint32_t diff_names_count(const struct diff_names *names);
/* By sort column: the text in that name, NULL if absent; valid as long as *names. The list is in the arena. */
const char **diff_names_texts(const struct diff_names *names, uint32_t name, struct arena *arena);

/* Whether the column orders rows by its text. */
bool diff_names_textual(const struct column *column);
/* … and distinguishes more than that. */
bool diff_names_more(const struct column *column);
