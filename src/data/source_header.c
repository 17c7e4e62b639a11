/* The header of a file: its sections, events and features. */
#include <string.h>

#include "base/str.h"
#include "data/perf_maps.h"
#include "data/source_internal.h"

#define MAGIC_BYTES 8
#define FILE_HEADER_BYTES 104
#define FILE_HEADER_V1_BYTES 72 /* as first published: without features */
#define SECTION_BYTES 16

struct section {
	uint64_t offset, size;
};

int container_detect(const uint8_t *bytes, uint64_t len, bool *swapped, bool *v1, const char *path, struct error *err)
{
	static const char v1_magic[MAGIC_BYTES + 1] = "PERFFILE";
	uint64_t native;
	*swapped = *v1 = false;
	if (len < STREAM_HEADER_BYTES)
		return error_set(err, ERROR_FORMAT, "%s: %llu bytes are too few for a recording's header", path,
				 (unsigned long long)len);
	memcpy(&native, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "2ELIFREP" : "PERFILE2", sizeof native);
	uint64_t magic = load_u64(bytes), size = load_u64(bytes + MAGIC_BYTES);
	if (memcmp(bytes, v1_magic, MAGIC_BYTES) == 0) {
		/* this magic is equal in both byte orders; the size after it is not */
		*v1 = true;
		*swapped = size > UINT32_MAX;
	} else if (magic == __builtin_bswap64(native)) {
		*swapped = true;
	} else if (magic != native) {
		return error_set(err, ERROR_FORMAT, "%s: not a perf.data file: it starts with neither PERFILE2 nor PERFFILE",
				 path);
	}
	size = *swapped ? __builtin_bswap64(size) : size;
	return size == STREAM_HEADER_BYTES ? CONTAINER_STREAM : CONTAINER_FILE;
}

static bool section_within(struct section section, uint64_t size)
{
	return section.offset <= size && section.size <= size - section.offset;
}

static struct span section_span(const struct backing *file, struct section section)
{
	if (!section_within(section, file->size))
		return (struct span){ 0 };
	return (struct span){ file->bytes + section.offset, section.size };
}

static struct section take_section(struct cursor *c)
{
	struct section section = { .offset = take_u64(c) };
	section.size = take_u64(c);
	return section;
}

bool header_event_fits(struct header *header, size_t ids)
{
	enum { EVENT_BYTES = 2048, ID_BYTES = 64 }; /* with the tables of those who analyse it */
	size_t bytes = EVENT_BYTES + ids * ID_BYTES;
	if (!header->event_memory)
		return true;
	if (header->left_out_events || bytes > header->event_memory - header->event_bytes) {
		header->left_out_events++;
		return false;
	}
	header->event_bytes += bytes;
	return true;
}

static int read_attr(struct header *header, const struct backing *file, struct span entry, uint64_t *ids_left, const char *path,
		     struct error *err)
{
	struct attr attr;
	uint64_t room = entry.len - SECTION_BYTES;
	struct cursor c = cursor_of(entry.data, entry.len, header->swapped);
	c.at = 4;
	uint32_t size = take_u32(&c);
	size = size ? size : ATTR_SIZE_VER0;
	header->bad_attrs += size > room || size < ATTR_SIZE_VER0;
	if (size < room && size >= ATTR_SIZE_VER0)
		room = size;
	if (attr_decode(&attr, entry.data, room, header->swapped, err) < 0)
		return -1;
	c.at = room;
	struct section where = take_section(&c);
	struct span ids = section_span(file, where);
	/* overlapping sections could claim any multiple of the file's size */
	if (!ids.data || ids.len / sizeof(uint64_t) > *ids_left)
		return error_set(err, ERROR_FORMAT,
				 "%s: the ids of event %zu are said to be %llu bytes at offset %llu, beyond the file", path,
				 header->evlist.events.count, (unsigned long long)where.size, (unsigned long long)where.offset);
	size_t count = ids.len / sizeof(uint64_t);
	*ids_left -= count;
	if (!header_event_fits(header, count))
		return 0;
	uint64_t *native = memory_alloc(count * sizeof *native + 1);
	c = cursor_of(ids.data, ids.len, header->swapped);
	for (size_t i = 0; i < count; i++)
		native[i] = take_u64(&c);
	evlist_add(&header->evlist, &attr, native, count, NULL);
	free(native);
	return 0;
}

static int read_attrs(struct header *header, const struct backing *file, struct section where, const char *path, struct error *err)
{
	struct span all = section_span(file, where);
	uint64_t stride = header->attr_size, ids_left = file->size / sizeof(uint64_t);
	if (!all.data)
		return error_set(err, ERROR_FORMAT,
				 "%s: the events are said to be %llu bytes at offset %llu, beyond the file's %llu", path,
				 (unsigned long long)where.size, (unsigned long long)where.offset, (unsigned long long)file->size);
	if (!all.len)
		return 0;
	if (stride < ATTR_SIZE_VER0 + SECTION_BYTES)
		return error_set(err, ERROR_FORMAT,
				 "%s: the header claims %llu bytes an event at offset 16, %d at least were expected", path,
				 (unsigned long long)stride, ATTR_SIZE_VER0 + SECTION_BYTES);
	for (uint64_t at = 0; stride <= all.len - at; at += stride)
		if (read_attr(header, file, (struct span){ all.data + at, stride }, &ids_left, path, err) < 0)
			return -1;
	header->bad_attrs += all.len % stride != 0;
	return 0;
}

/* The bits were written as machine words of 8 or 4 bytes, which matters only if they are swapped. */
static void read_feature_bits(struct header *header, const uint8_t *bytes)
{
	uint64_t wide[4], narrow[4];
	for (int i = 0; i < 4; i++) {
		wide[i] = load_u64(bytes + i * 8);
		if (header->swapped)
			wide[i] = __builtin_bswap64(wide[i]);
		narrow[i] = wide[i] >> 32 | wide[i] << 32;
	}
	bool use_narrow = header->swapped && !(wide[0] >> FEATURE_HOSTNAME & 1) && narrow[0] >> FEATURE_HOSTNAME & 1;
	memcpy(header->features, use_narrow ? narrow : wide, sizeof header->features);
}

static size_t feature_bits_count(const struct header *header)
{
	size_t count = 0;
	for (int i = 0; i < 4; i++)
		count += (size_t)__builtin_popcountll(header->features[i]);
	return count;
}

/* A killed recorder leaves the data size 0; in a recording without data the features follow directly. */
static bool features_follow(const struct header *header, const struct backing *file)
{
	uint64_t table = feature_bits_count(header) * SECTION_BYTES;
	struct section where = { header->data_offset, table };
	struct span bytes = section_span(file, where);
	if (!table)
		return header->data_offset == file->size;
	if (!bytes.data)
		return false;
	struct cursor c = cursor_of(bytes.data, bytes.len, header->swapped);
	struct section first = take_section(&c);
	return first.offset == header->data_offset + table && section_within(first, file->size);
}

/* Behind the last feature. */
static void read_perf_maps(struct header *header, const struct backing *file, uint64_t at)
{
	enum { HEAD_BYTES = 16 };
	struct span head = section_span(file, (struct section){ at, HEAD_BYTES });
	if (!head.data || memcmp(head.data, PERF_MAPS_MAGIC, strlen(PERF_MAPS_MAGIC)) != 0)
		return;
	struct cursor c = cursor_of(head.data + strlen(PERF_MAPS_MAGIC), sizeof(uint64_t), header->swapped);
	struct span body = section_span(file, (struct section){ at + HEAD_BYTES, take_u64(&c) });
	if (!body.data)
		return;
	header->feature_data[FEATURE_PERF_MAPS] = body;
	header->features[FEATURE_PERF_MAPS / 64] |= (uint64_t)1 << FEATURE_PERF_MAPS % 64;
}

static void read_features(struct header *header, const struct backing *file)
{
	struct section where = { header->feature_offset, feature_bits_count(header) * SECTION_BYTES };
	struct span table = section_span(file, where);
	/* an announced feature that is absent remains announced: its data is NULL */
	if (!table.data || !table.len || header->interrupted)
		return;
	struct cursor c = cursor_of(table.data, table.len, header->swapped);
	uint64_t end = 0;
	for (unsigned bit = 0; bit < 256; bit++) {
		if (!(header->features[bit / 64] >> (bit % 64) & 1))
			continue;
		struct section section = take_section(&c);
		if (section_within(section, file->size) && section.offset + section.size > end)
			end = section.offset + section.size;
		if (bit < FEATURE_COUNT && bit != FEATURE_PERF_MAPS)
			header->feature_data[bit] = section_span(file, section);
	}
	header->features[FEATURE_PERF_MAPS / 64] &= ~((uint64_t)1 << FEATURE_PERF_MAPS % 64);
	read_perf_maps(header, file, end);
}

/* EVENT_DESC: count, size of an attribute; each: attribute, number of ids, name, ids. Events are identified by position. */
void header_read_event_names(struct header *header)
{
	struct span body = header->feature_data[FEATURE_EVENT_DESC];
	struct evlist *evlist = &header->evlist;
	struct cursor c = cursor_of(body.data, body.len, header->swapped);
	uint32_t count = take_u32(&c), attr_size = take_u32(&c);
	for (uint32_t i = 0; i < count && i < evlist->events.count; i++) {
		take(&c, attr_size);
		uint32_t ids = take_u32(&c), room = take_u32(&c);
		size_t len;
		const char *name = take_string(&c, room, &len);
		take(&c, (size_t)ids * sizeof(uint64_t));
		if (!name)
			return;
		if (!evlist->events.items[i].name)
			evlist->events.items[i].name = text_one_line(&evlist->arena, name, len);
		if (c.short_read)
			return;
	}
}

/* If one event of a group counts branches, the samples of all its events have the counters, whatever their attributes say. */
static void share_branch_counters(struct evsel *events, uint32_t count)
{
	uint64_t counters = 0;
	for (uint32_t i = 0; i < count; i++)
		counters |= events[i].attr.branch_sample_type & BRANCH_COUNTERS;
	for (uint32_t i = 0; i < count; i++)
		events[i].layout.branch_sample_type |= counters;
}

/* GROUP_DESC: count; each: name, index of the leader, number of members. */
void header_read_groups(struct header *header)
{
	struct span body = header->feature_data[FEATURE_GROUP_DESC];
	struct evlist *evlist = &header->evlist;
	struct cursor c = cursor_of(body.data, body.len, header->swapped);
	uint32_t count = take_u32(&c), next = 0;
	for (uint32_t i = 0; i < count && !c.short_read; i++) {
		size_t len;
		uint32_t room = take_u32(&c);
		const char *name = take_string(&c, room, &len);
		uint32_t leader = take_u32(&c), members = take_u32(&c);
		if (c.short_read || leader >= evlist->events.count || !members || members > evlist->events.count - leader)
			return;
		if (leader < next)
			return;
		next = leader + members;
		struct evsel *events = evlist->events.items;
		events[leader].group_members = members;
		if (len && !(len == 12 && memcmp(name, "{anon_group}", len) == 0))
			events[leader].group_name = text_one_line(&evlist->arena, name, len);
		for (uint32_t m = 1; m < members; m++) {
			events[leader + m].leader = leader;
			events[leader + m].group_members = 0;
		}
		share_branch_counters(events + leader, members);
	}
}

#define EVENT_TYPE_BYTES 72 /* u64 config, char name[64] */

/* The table of event types of old files: adds only the names of tracepoints to the attributes. */
static void read_event_types(struct header *header, struct span table)
{
	struct evlist *evlist = &header->evlist;
	struct cursor c = cursor_of(table.data, table.len, header->swapped);
	if (header_has(header, FEATURE_TRACING_DATA) || evlist->events.count > table.len / sizeof(uint64_t))
		return;
	while (cursor_left(&c) >= EVENT_TYPE_BYTES) {
		uint64_t config = take_u64(&c);
		size_t len;
		const char *name = take_string(&c, EVENT_TYPE_BYTES - sizeof config, &len);
		for (size_t i = 0; i < evlist->events.count && len; i++) {
			struct evsel *evsel = &evlist->events.items[i];
			if (evsel->attr.type == ATTR_TRACEPOINT && evsel->attr.config == config && !evsel->name)
				evsel->name = text_one_line(&evlist->arena, name, len);
		}
	}
}

static int read_data_section(struct header *header, const struct backing *file, struct section data, const char *path,
			     struct error *err)
{
	if (data.offset > file->size)
		return error_set(err, ERROR_FORMAT, "%s: the data is said to start at offset %llu, beyond the file's %llu bytes",
				 path, (unsigned long long)data.offset, (unsigned long long)file->size);
	header->data_offset = data.offset;
	header->data_size = data.size;
	if (!data.size && !features_follow(header, file)) {
		header->interrupted = true;
		header->data_size = file->size - data.offset;
	}
	if (__builtin_add_overflow(data.offset, header->data_size, &header->feature_offset))
		header->feature_offset = UINT64_MAX;
	return 0;
}

int header_read_file(struct header *header, const struct backing *file, const char *path, struct error *err)
{
	if (file->size < FILE_HEADER_V1_BYTES)
		return error_set(err, ERROR_FORMAT, "%s: the file ends at offset %llu, inside its header of %d bytes", path,
				 (unsigned long long)file->size, FILE_HEADER_BYTES);
	struct cursor c = cursor_of(file->bytes, file->size, header->swapped);
	take(&c, MAGIC_BYTES);
	uint64_t size = take_u64(&c);
	header->attr_size = take_u64(&c);
	header->file_size = file->size;
	struct section attrs = take_section(&c), data = take_section(&c), event_types = take_section(&c);
	if (size != FILE_HEADER_V1_BYTES && (size < FILE_HEADER_BYTES || size > file->size))
		return error_set(err, ERROR_FORMAT, "%s: the header at offset 8 claims a size of %llu bytes, %d were expected",
				 path, (unsigned long long)size, FILE_HEADER_BYTES);
	if (size >= FILE_HEADER_BYTES)
		read_feature_bits(header, take(&c, sizeof header->features));
	if (read_attrs(header, file, attrs, path, err) < 0 || read_data_section(header, file, data, path, err) < 0)
		return -1;
	header->bad_attrs += !header->evlist.events.count && header->data_size;
	read_features(header, file);
	header->compressed = header_has(header, FEATURE_COMPRESSED);
	header_read_event_names(header);
	header_read_groups(header);
	read_event_types(header, section_span(file, event_types));
	header_add_build_ids(header, header->feature_data[FEATURE_BUILD_ID]);
	return 0;
}
