/* Settings in the ini format of perf's configuration files (perf-config(1)): "[section]" lines, "name = value" lines, comments after # or
 * ;.
 *
 * A key is "section.name", both in lower case; a section may have a "subsection" in quotes, whose case is retained. A later value replaces
 * an earlier one. Knows no key: commands ask for the keys that they know. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct writer;

enum config_from { CONFIG_SYSTEM, CONFIG_USER };

struct config_entry {
	const char *key, *value;
	enum config_from from;
};

/* A zeroed config is empty. Entries are in the order in which their keys first occurred. */
struct config {
	struct arena arena;
	VEC(struct config_entry) entries;
};

void config_fini(struct config *config);

/* Adds the settings of the text up to the first invalid line; *err names `path` and the number of that line. */
int config_parse(struct config *config, enum config_from from, const char *path, const char *text, size_t length,
	struct error *err);
/* Adds a file. A missing file counts as empty, as does what is no regular file, and a file that other users can choose or change: it
 * belongs to one, every user can write it, or, if this user is root, it is the target of another user's link or in another user's folder.
 * Then *refused is the reason, for the message "File PATH REASON, ignoring it.", otherwise NULL. refused may be NULL. */
int config_read(struct config *config, enum config_from from, const char *path, const char **refused, struct error *err);
/* Sets one key, as a line "key = value" at the end of a file does. */
void config_set(struct config *config, enum config_from from, const char *key, const char *value);
/* Checks that "section.name" can be written to a file and read back. */
int config_check_key(const char *key, struct error *err);
/* Converts the section and the name to lower case, not the subsection between them; in place. */
void config_key_lower(char *key);
/* Writes the entries of one origin in the file format. */
void config_write(const struct config *config, enum config_from from, struct writer *out);

/* The value; NULL if the key is not set or config is NULL. */
const char *config_get(const struct config *config, const char *key);
/* The value; `fallback` if the key is not set or its value has another type. */
bool config_bool(const struct config *config, const char *key, bool fallback);
int64_t config_int(const struct config *config, const char *key, int64_t fallback); /* with an optional suffix k, m or g */
double config_double(const struct config *config, const char *key, double fallback);

/* 1 for "true", "yes", "on" and any number but 0; 0 for "false", "no", "off", "0" and ""; -1 for other texts. */
int config_text_is_true(const char *text);
