#include "cmd/guest_times.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/vec.h"
#include "data/source.h"
#include "session/trace.h"
#include "session/trace_guest_time.h"

/* Neighbouring bytes of the recording that change. */
struct change {
	uint64_t at;
	uint8_t count, bytes[7];
};

struct found {
	uint64_t vmcs, ticks;
};

struct correction {
	VEC(struct change) changes;
	VEC(struct found) printed;   /* the first FOUND_MAX offsets */
	struct budget *budget;
	size_t taken;                /* bytes of the budget */
	bool collects;               /* false: a dry run */
	bool full;                   /* there was no room for all changes */
};

enum { FOUND_MAX = 1024, TAKE_CHANGES = 4096 };

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

static bool take_number(const char **text, uint64_t *value)
{
	char *end;
	errno = 0;
	*value = strtoull(*text, &end, 0);
	bool taken = end != *text && !errno && **text != '-';
	*text = end;
	return taken;
}

/* An offset, and the VMCSs that have it: without them, all others. times: NULL if the text is only checked. */
static bool take_offset(const char **text, struct pt_guest_times *times)
{
	uint64_t ticks, vmcs;
	if (!take_number(text, &ticks))
		return false;
	*text = skip_blanks(*text);
	if (**text != ':') {
		if (times)
			times->usual = ticks;
		return true;
	}
	do {
		*text = skip_blanks(*text + 1);
		if (!take_number(text, &vmcs) || !vmcs)
			return false;
		if (times)
			pt_guest_times_of(times, vmcs, ticks);
		*text = skip_blanks(*text);
	} while (**text == ',');
	return true;
}

static bool take_offsets(const char *text, struct pt_guest_times *times)
{
	for (text = skip_blanks(text); *text; text = skip_blanks(text))
		if (!take_offset(&text, times))
			return false;
	return true;
}

int guest_times_parse(struct guest_times_options *options, const char *text, struct error *err)
{
	static const char dry_run[] = "dry-run";
	*options = (struct guest_times_options){ .wanted = true };
	const char *rest = skip_blanks(text ? text : "");
	size_t word = strcspn(rest, " \t");
	options->dry_run = word == sizeof dry_run - 1 && memcmp(rest, dry_run, word) == 0;
	options->text = rest + (options->dry_run ? word : 0);
	return take_offsets(options->text, NULL) ? 0 :
		error_set(err, ERROR_USAGE, "'%s' is no list of TSC offsets: [dry-run] [OFFSET[:VMCS[,VMCS]...]]...", text);
}

/* Nothing is written before all is read: a run that ends early changes nothing. */
static void on_change(void *context, uint64_t offset, uint8_t value)
{
	struct correction *c = context;
	struct change *last = c->changes.count ? &c->changes.items[c->changes.count - 1] : NULL;
	if (!c->collects || c->full)
		return;
	if (!last || offset != last->at + last->count || last->count == sizeof last->bytes) {
		if (c->changes.count % TAKE_CHANGES == 0 && !budget_take(c->budget, TAKE_CHANGES * sizeof *last))
			c->full = true;
		else if (c->changes.count % TAKE_CHANGES == 0)
			c->taken += TAKE_CHANGES * sizeof *last;
		if (c->full)
			return;
		vec_push(&c->changes, ((struct change){ .at = offset }));
		last = &c->changes.items[c->changes.count - 1];
	}
	last->bytes[last->count++] = value;
}

static bool was_printed(struct correction *c, uint64_t vmcs, uint64_t ticks)
{
	for (size_t i = 0; i < c->printed.count; i++)
		if (c->printed.items[i].vmcs == vmcs && c->printed.items[i].ticks == ticks)
			return true;
	if (c->printed.count < FOUND_MAX)
		vec_push(&c->printed, ((struct found){ vmcs, ticks }));
	return false;
}

/* In the words of perf, which its manual tells users to copy offsets from. */
static void on_remark(void *context, enum pt_guest_remark remark, uint64_t vmcs, uint64_t ticks)
{
	static const char *const words[] = {
		[PT_GUEST_NO_VMCS] = "ERROR: Unknown VMCS", [PT_GUEST_NO_TMA] = "ERROR: TSC without TMA",
		[PT_GUEST_FIRST] = "ERROR: First TSC, unknown TSC Offset", [PT_GUEST_RANGE] = "Timestamp out of range",
	};
	if (remark == PT_GUEST_OFFSET && was_printed(context, vmcs, ticks))
		return;
	if (remark == PT_GUEST_OFFSET)
		fprintf(stderr, "VMCS: 0x%" PRIx64 "  TSC Offset 0x%" PRIx64 "\n", vmcs, ticks);
	else if (remark == PT_GUEST_NO_OFFSET)
		fprintf(stderr, "ERROR: Unknown TSC Offset for VMCS 0x%" PRIx64 "\n", vmcs);
	else
		fprintf(stderr, "%s\n", words[remark]);
}

/* The recording that was read, and no other file that has its name meanwhile. */
static int open_recording(const char *path, const struct source *source, struct error *err)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return error_system(err, "cannot change '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_dev == source->device && st.st_ino == source->inode)
		return fd;
	close(fd);
	return error_set(err, ERROR_PERMISSION, "'%s' is not changed: it is not the file that was read, or has several names", path);
}

static int correct(struct correction *c, const struct guest_times_options *options, struct source *source, struct error *err)
{
	struct pt_guest_times times = { .usual = 0 };
	const struct trace_guest_times wanted = { .change = on_change, .remark = on_remark, .context = c };
	struct trace *trace = trace_open(source, &(struct trace_options){ .code = NULL }, NULL);
	int result = trace ? 0 : error_set(err, ERROR_USAGE, "the recording has no trace of Intel PT in a file");
	if (options->text)
		take_offsets(options->text, &times);
	if (result == 0)
		result = trace_correct_guests(trace, &times, &wanted, err);
	trace_free(trace);
	pt_guest_times_fini(&times);
	return result;
}

static int write_changes(const struct correction *c, int fd, const char *path, struct error *err)
{
	for (size_t i = 0; i < c->changes.count; i++) {
		const struct change *change = &c->changes.items[i];
		errno = EIO;         /* of a write that is short */
		if (pwrite(fd, change->bytes, change->count, (off_t)change->at) != change->count)
			return error_system(err, "cannot write '%s'", path);
	}
	return fsync(fd) == 0 ? 0 : error_system(err, "cannot write '%s'", path);
}

/* Signals wait until all is written. */
static int write_together(const struct correction *c, int fd, const char *path, struct error *err)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	int result = write_changes(c, fd, path, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}

int guest_times_correct(const struct guest_times_options *options, struct source *source, const char *path, bool force,
	struct budget *budget, struct error *err)
{
	struct correction c = { .budget = budget, .collects = !options->dry_run };
	int fd = -1;
	if (!options->dry_run && !force)
		return error_set(err, ERROR_USAGE, "the recording itself would be changed: that needs --force");
	if (!options->dry_run && (fd = open_recording(path, source, err)) < 0)
		return -1;
	int result = correct(&c, options, source, err);
	if (result == 0 && c.full)
		result = error_set(err, ERROR_UNSUPPORTED, "the changes of '%s' need more memory than its limit: nothing was changed", path);
	if (result == 0 && fd >= 0)
		result = write_together(&c, fd, path, err);
	budget_give(budget, c.taken);
	vec_fini(&c.changes);
	vec_fini(&c.printed);
	if (fd >= 0)
		close(fd);
	return result;
}
