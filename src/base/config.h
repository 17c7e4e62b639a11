/* Settings in the ini form of perf's configuration files: "[section]" lines, "name = value" lines, comments after # or ;.
 *
 * A key is "section.name", the section and the name in lower case; a section may carry a "subsection" in quotes, which keeps
 * its case. What is read later wins. Knows no key: commands ask for what they know. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

enum config_from { CONFIG_SYSTEM, CONFIG_USER };

struct config_entry {
	const char *key, *value;
	enum config_from from;
};

/* A zeroed one is empty. Entries keep the order in which their keys came first. */
struct config {
	struct arena arena;
	VEC(struct config_entry) entries;
};

void config_fini(struct config *config);

/* Adds what the text says up to the first line that is none; *err names `path` and that line. */
int config_parse(struct config *config, enum config_from from, const char *path, const char *text, size_t length,
	struct error *err);
/* Adds a file. A missing file is an empty one; so is one that belongs to somebody else (ours and root's are read), with
 * *refused set where the caller should say so. */
int config_read(struct config *config, enum config_from from, const char *path, bool *refused, struct error *err);
/* Sets one key, as the line "key = value" would at the end. */
void config_set(struct config *config, enum config_from from, const char *key, const char *value);
/* Checks that "section.name" can be written to a file and read back. */
int config_check_key(const char *key, struct error *err);
/* Lower case for the section and the name, not for a subsection between them; in place. */
void config_key_lower(char *key);
/* Writes the entries of one origin back as a file. */
int config_write(const struct config *config, enum config_from from, const char *path, struct error *err);

/* The value, or NULL where the key is not set; also for a NULL config. */
const char *config_get(const struct config *config, const char *key);
/* The value, or `fallback` where the key is not set or is not of that type. */
bool config_bool(const struct config *config, const char *key, bool fallback);
int64_t config_int(const struct config *config, const char *key, int64_t fallback); /* with an optional k, m or g */
double config_double(const struct config *config, const char *key, double fallback);

/* "true", "yes", "on", any number but 0; "false", "no", "off", "0", "". -1: neither. */
int config_text_is_true(const char *text);
