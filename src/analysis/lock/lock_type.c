#include "analysis/lock/lock_type.h"

#include <stdbool.h>
#include <string.h>

enum { SPIN = 1, READ = 2, WRITE = 4, RT = 8, PERCPU = 16, MUTEX = 32, ALL = 127 };

static const struct lock_type {
	uint32_t flags;
	const char *text, *name;
} types[] = {
	{ 0, "semaphore", "semaphore" },
	{ SPIN, "spinlock", "spinlock" },
	{ SPIN | READ, "rwlock:R", "rwlock" },
	{ SPIN | WRITE, "rwlock:W", "rwlock" },
	{ READ, "rwsem:R", "rwsem" },
	{ WRITE, "rwsem:W", "rwsem" },
	{ RT, "rt-mutex", "rt-mutex" },
	{ RT | READ, "rwlock-rt:R", "rwlock-rt" },
	{ RT | WRITE, "rwlock-rt:W", "rwlock-rt" },
	{ PERCPU | READ, "pcpu-sem:R", "percpu-rwsem" },
	{ PERCPU | WRITE, "pcpu-sem:W", "percpu-rwsem" },
	{ MUTEX, "mutex", "mutex" },
	{ MUTEX | SPIN, "mutex", "mutex" },
	{ MUTEX | SPIN, "mutex:spin", "mutex-spin" }, /* a filter alone: a mutex whose waiter spins */
};

enum { TYPES = sizeof types / sizeof *types };

static const struct lock_type *find(uint32_t flags)
{
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].flags == (flags & ALL))
			return &types[i];
	return NULL;
}

const char *lock_type_text(uint32_t flags)
{
	const struct lock_type *type = find(flags);
	return type ? type->text : "unknown";
}

const char *lock_type_name(uint32_t flags)
{
	const struct lock_type *type = find(flags);
	return type ? type->name : "unknown";
}

/* A text denotes one kind of access; a name denotes all. */
static int add(struct lock_flags *flags, const char *word, size_t len, struct error *err)
{
	bool whole = memchr(word, ':', len), found = false;
	for (size_t i = 0; i < TYPES && !(whole && found); i++) {
		const char *text = whole ? types[i].text : types[i].name;
		if (strlen(text) == len && memcmp(text, word, len) == 0) {
			vec_push(&flags->list, types[i].flags);
			found = true;
		}
	}
	return found ? 0 : error_set(err, ERROR_USAGE, "Unknown lock %s: %.*s", whole ? "flags name" : "name", (int)len, word);
}

int lock_types_parse(struct lock_flags *flags, const char *text, struct error *err)
{
	for (text += strspn(text, ", "); *text; text += strspn(text, ", ")) {
		size_t len = strcspn(text, ", ");
		if (add(flags, text, len, err) < 0)
			return -1;
		text += len;
	}
	return 0;
}
