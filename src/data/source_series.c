/* Several recordings of the same events, one after the other, as one source: the files of record --switch-output. The header is that of the
 * first file, with the build-ids, ids and times of all. */
#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "data/feature.h"
#include "data/source_internal.h"

enum { STAMP_DIGITS = 14 }; /* record --switch-output names files perf.data.YYYYMMDDhhmmss and hundredths */

struct series_source {
	struct source base;
	VEC(struct source *) files;
	VEC(uint64_t) starts;        /* mark of the first record of each file that was begun */
	size_t current, released;    /* the file being read; number of files that are completely released */
	struct source_counters done; /* of the files before the current one */
	uint64_t bad_updates;        /* records whose body does not match the events of all files */
	struct error damage;         /* of the first file that ended prematurely: the others are read, too */
	char *path;
};

static void count_all(struct series_source *series)
{
	const struct source_counters *now = &series->files.items[series->current]->counters;
	struct source_counters *sum = &series->base.counters;
	sum->bytes_read = series->done.bytes_read + now->bytes_read;
	sum->bad_records = series->done.bad_records + now->bad_records + series->bad_updates;
	sum->unknown_types = series->done.unknown_types + now->unknown_types;
}

/* Moves to the next file; false: the last one ended. */
static bool begin_next(struct series_source *series)
{
	series->done = (struct source_counters){ .bytes_read = series->base.counters.bytes_read,
		.bad_records = series->base.counters.bad_records - series->bad_updates, .unknown_types = series->base.counters.unknown_types };
	if (series->current + 1 == series->files.count)
		return false;
	series->current++;
	vec_push(&series->starts, series->base.mark);
	series->base.part++;
	return true;
}

static int series_next(struct source *source, struct record *record, struct error *err)
{
	struct series_source *series = (struct series_source *)source;
	struct error damage = { 0 };
	for (;;) {
		struct source *file = series->files.items[series->current];
		int result = source_next(file, record, &damage);
		source->mark = series->starts.items[series->current] + file->mark;
		if (result > 0 && record->type >= RECORD_USER_TYPE_START)
			series->bad_updates += !header_apply_record(&source->header, record, false);
		count_all(series);
		if (result > 0)
			return 1;
		if (result < 0 && series->damage.kind == ERROR_NONE)
			series->damage = damage;
		if (!begin_next(series))
			break;
	}
	if (series->damage.kind == ERROR_NONE)
		return 0;
	if (err)
		*err = series->damage;
	series->damage.kind = ERROR_NONE;
	return -1;
}

static void series_release(struct source *source, uint64_t mark)
{
	struct series_source *series = (struct series_source *)source;
	for (size_t i = series->released; i <= series->current && mark > series->starts.items[i]; i++) {
		struct source *file = series->files.items[i];
		uint64_t own = mark - series->starts.items[i];
		bool all = i < series->current && own >= file->mark;
		file->used = source->used;
		source_release(file, all ? file->mark : own);
		series->released += all;
	}
}

static void series_close(struct source *source)
{
	struct series_source *series = (struct series_source *)source;
	header_fini(&source->header);
	for (size_t i = 0; i < series->files.count; i++)
		source_close(series->files.items[i]);
	vec_fini(&series->files);
	vec_fini(&series->starts);
	free(series->path);
	free(series);
}

static void series_set_window(struct source *source, uint64_t from_ns, uint64_t until_ns)
{
	struct series_source *series = (struct series_source *)source;
	for (size_t i = 0; i < series->files.count; i++)
		source_set_window(series->files.items[i], from_ns, until_ns);
}

static const struct source_ops series_ops = { series_next, series_release, series_close, series_set_window };

static bool same_event(const struct attr *a, const struct attr *b)
{
	return a->type == b->type && a->config == b->config && a->sample_type == b->sample_type && a->read_format == b->read_format &&
		a->branch_sample_type == b->branch_sample_type && a->sample_regs_user == b->sample_regs_user &&
		a->sample_regs_intr == b->sample_regs_intr && a->sample_period == b->sample_period &&
		attr_flag(a, ATTR_SAMPLE_ID_ALL) == attr_flag(b, ATTR_SAMPLE_ID_ALL);
}

/* Adds the ids of an event of another file, unless they are known; false: another event has one of them. */
static bool add_ids(struct evlist *evlist, uint32_t event, const struct evsel *evsel)
{
	for (size_t i = 0; i < evsel->id_count; i++) {
		uint32_t known = idmap_get(&evlist->by_id, evsel->ids[i]);
		if (known == IDMAP_NONE)
			evlist_add_ids(evlist, event, &evsel->ids[i], 1);
		else if (known != event)
			return false;
	}
	return true;
}

static int check_file(const struct source *file, struct error *err)
{
	const struct header *header = &file->header;
	if (header->pipe || header->swapped || header->v1)
		return error_set(err, ERROR_UNSUPPORTED, "%s: a recording of this form cannot be read together with others: %s", file->path,
			header->pipe ? "it is a stream" : header->swapped ? "it has the other byte order" : "it is of 2009");
	if (header_has(header, FEATURE_AUXTRACE))
		return error_set(err, ERROR_UNSUPPORTED, "%s: recordings with hardware traces cannot be read together with others", file->path);
	return 0;
}

/* The time of the last sample of all is that of the last file. */
static void add_times(struct header *header, const struct header *other)
{
	struct feature_sample_time mine, others;
	if (feature_sample_time(header, &mine) < 0 || feature_sample_time(other, &others) < 0)
		return;
	uint64_t times[2] = { mine.first_ns < others.first_ns ? mine.first_ns : others.first_ns,
		mine.last_ns > others.last_ns ? mine.last_ns : others.last_ns };
	header->feature_data[FEATURE_SAMPLE_TIME] = (struct span){ arena_copy(&header->arena, times, sizeof times), sizeof times };
}

static int join_header(struct header *header, const struct source *file, const char *first, struct error *err)
{
	const struct header *other = &file->header;
	if (check_file(file, err) < 0)
		return -1;
	bool same = header->evlist.events.count == other->evlist.events.count;
	for (uint32_t i = 0; same && i < header->evlist.events.count; i++)
		same = same_event(&header->evlist.events.items[i].attr, &other->evlist.events.items[i].attr) &&
			add_ids(&header->evlist, i, &other->evlist.events.items[i]);
	if (!same)
		return error_set(err, ERROR_UNSUPPORTED, "%s: its events differ from those of %s: only recordings of the same events can be read "
			"together", file->path, first);
	for (size_t i = 0; i < other->build_ids.count; i++)
		vec_push(&header->build_ids, other->build_ids.items[i]);
	add_times(header, other);
	header->interrupted |= other->interrupted;
	header->compressed |= other->compressed;
	header->left_out_events += other->left_out_events;
	header->bad_attrs += other->bad_attrs;
	header->bad_build_ids += other->bad_build_ids;
	header->captured = other->captured;
	return 0;
}

/* The header of the first file becomes that of the series: its reader needs none, as it is neither a stream nor swapped. */
static int join_headers(struct series_source *series, struct error *err)
{
	struct source *first = series->files.items[0];
	if (check_file(first, err) < 0)
		return -1;
	series->base.header = first->header;
	first->header = (struct header){ .data_offset = first->header.data_offset, .data_size = first->header.data_size };
	for (size_t i = 1; i < series->files.count; i++)
		if (join_header(&series->base.header, series->files.items[i], first->path, err) < 0)
			return -1;
	for (size_t i = 0; i < series->files.count; i++)
		series->base.counters.bytes_total += series->files.items[i]->counters.bytes_total;
	return 0;
}

int source_open_series(struct source **source, const struct source_paths *paths, const struct source_options *options, struct error *err)
{
	struct series_source *series = memory_zero(1, sizeof *series);
	series->base.ops = &series_ops;
	series->base.path = series->path = memory_string(paths->items[0]);
	vec_push(&series->starts, 0);
	int result = 0;
	for (size_t i = 0; i < paths->count && result == 0; i++) {
		struct source *file = NULL;
		result = source_open(&file, paths->items[i], &(struct source_options){ .force = options->force, .header_only = options->header_only,
			.event_memory = options->event_memory, .member = true }, err);
		if (result < 0)
			break;
		file->member = true;
		vec_push(&series->files, file);
	}
	if (result == 0)
		result = join_headers(series, err);
	if (result < 0) {
		series_close(&series->base);
		return -1;
	}
	*source = &series->base;
	return 0;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Matches a name that ends in a point and at least STAMP_DIGITS digits. */
static bool has_stamp(const char *name)
{
	const char *point = strrchr(name, '.');
	size_t digits = point ? strspn(point + 1, "0123456789") : 0;
	return digits >= STAMP_DIGITS && !point[1 + digits];
}

static void list_folder(struct source_paths *paths, const char *folder)
{
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		CLEANUP_STR struct str path = { 0 };
		if (!has_stamp(entry->d_name))
			continue;
		str_printf(&path, "%s/%s", folder, entry->d_name);
		vec_push(paths, memory_string(str_text(&path)));
	}
	if (dir)
		closedir(dir);
}

static void list_pattern(struct source_paths *paths, const char *pattern)
{
	glob_t found;
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		vec_push(paths, memory_string(found.gl_pathv[i]));
	globfree(&found);
}

void source_paths_find(struct source_paths *paths, const char *path)
{
	CLEANUP_STR struct str data = { 0 };
	struct stat st;
	str_printf(&data, "%s/data", path);
	*paths = (struct source_paths){ 0 };
	if (strcmp(path, "-") == 0)
		return;
	if (stat(path, &st) != 0)
		list_pattern(paths, path);
	else if (S_ISDIR(st.st_mode) && stat(str_text(&data), &st) != 0)
		list_folder(paths, path);
	if (paths->count)
		qsort(paths->items, paths->count, sizeof *paths->items, compare_paths);
}

void source_paths_fini(struct source_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	vec_fini(paths);
}
