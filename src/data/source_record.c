/* Records that affect the container itself: their byte order, the data after them, and their additions to the header. */
#include "base/str.h"
#include "data/source_internal.h"

#define U64_BYTES sizeof(uint64_t)
#define BUILD_ID_FIELD_BYTES 24 /* 20 of the id, its length, padding */
#define CPU_ENTRIES_LIMIT ((size_t)16 << 20)

bool record_make_native(struct record *record, const struct evlist *evlist)
{
	uint32_t event = evlist_event_of_swapped(evlist, record);
	const struct evsel *evsel = event == UINT32_MAX ? NULL : &evlist->events.items[event];
	const struct sample_layout *layout = !evsel ? NULL : evsel->recorded ? evsel->recorded : &evsel->layout;
	if (record_swap(record->type, record->misc, (uint8_t *)record->body, record->body_len, layout) < 0)
		return false;
	/* callers that store only the body find the header in the 8 bytes before it */
	uint8_t *head = (uint8_t *)record->body - RECORD_HEADER_BYTES;
	uint16_t size = (uint16_t)(record->body_len + RECORD_HEADER_BYTES);
	memcpy(head, &record->type, sizeof record->type);
	memcpy(head + 4, &record->misc, sizeof record->misc);
	memcpy(head + 6, &size, sizeof size);
	return true;
}

bool record_payload_size(const struct record *record, uint64_t *size)
{
	*size = 0;
	if (record->type == RECORD_AUXTRACE) {
		if (record->body_len < U64_BYTES)
			return false;
		*size = load_u64(record->body);
	} else if (record->type == RECORD_HEADER_TRACING_DATA) {
		if (record->body_len < sizeof(uint32_t))
			return false;
		*size = load_u32(record->body);
	}
	return true;
}

/* Records that a recorder writes before its first side-band. */
static bool is_head(uint32_t type)
{
	static const uint32_t types[] = { RECORD_HEADER_ATTR, RECORD_HEADER_TRACING_DATA, RECORD_HEADER_BUILD_ID, RECORD_HEADER_FEATURE,
		RECORD_EVENT_UPDATE, RECORD_TIME_CONV, RECORD_THREAD_MAP, RECORD_CPU_MAP, RECORD_ID_INDEX };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i] == type)
			return true;
	return false;
}

int records_find_trace(const uint8_t *bytes, size_t len, bool swapped, size_t *want)
{
	const size_t limit = (size_t)1 << 20;
	struct record record = { 0 };
	uint64_t payload;
	for (size_t at = 0; at < limit;) {
		*want = at + RECORD_HEADER_BYTES;
		if (len < *want)
			return -1;
		uint32_t size = record_take_header(&record, bytes + at, swapped);
		if (record.type == RECORD_AUXTRACE_INFO || !is_head(record.type) || size < RECORD_HEADER_BYTES)
			return record.type == RECORD_AUXTRACE_INFO;
		*want = at + size;
		if (len < *want)
			return -1;
		record.body = bytes + at + RECORD_HEADER_BYTES;
		if (!record_payload_size(&record, &payload))
			return 0;
		payload = swapped ? __builtin_bswap32((uint32_t)payload) : payload; /* of TRACING_DATA: the record is not made native */
		if (payload > limit)
			return 0;
		at += size + payload;
	}
	return 0;
}

static void take_identity(struct build_id_entry *entry, struct cursor c)
{
	const uint8_t *mark;
	if (cursor_left(&c) < BUILD_ID_IDENTITY_BYTES)
		return;
	take(&c, cursor_left(&c) - BUILD_ID_IDENTITY_BYTES);
	mark = take(&c, BUILD_ID_IDENTITY_MARK_BYTES);
	if (memcmp(mark, BUILD_ID_IDENTITY_MARK, BUILD_ID_IDENTITY_MARK_BYTES) != 0)
		return;
	entry->one_of_many = true;
	entry->maj = take_u32(&c);
	entry->min = take_u32(&c);
	entry->ino = take_u64(&c);
	entry->ino_generation = take_u64(&c);
}

void header_add_build_id(struct header *header, uint16_t misc, const uint8_t *body, size_t len, bool swap)
{
	struct cursor c = cursor_of(body, len, swap);
	int32_t pid = (int32_t)take_u32(&c);
	const uint8_t *id = take(&c, BUILD_ID_FIELD_BYTES);
	struct cursor behind = c;
	size_t room = cursor_left(&c), name_len;
	const char *name = take_string(&c, room, &name_len);
	if (!id) {
		header->bad_build_ids++;
		return;
	}
	struct build_id_entry *entry = vec_add(&header->build_ids);
	entry->misc = misc;
	entry->pid = pid;
	entry->id.len = sizeof entry->id.bytes;
	if (misc & RECORD_MISC_EXT_RESERVED && id[sizeof entry->id.bytes] <= sizeof entry->id.bytes)
		entry->id.len = id[sizeof entry->id.bytes];
	memcpy(entry->id.bytes, id, entry->id.len);
	entry->filename = arena_string(&header->arena, name, name_len);
	take(&behind, name_len < room ? name_len + 1 : room);
	take_identity(entry, behind);
}

/* The first recorders wrote no pid: the kernel's name then seems to lack its first four bytes. */
static bool build_ids_lack_pid(struct span records, bool swap)
{
	static const char shifted[] = "nel.kallsyms]";
	struct record record;
	while (records.len >= RECORD_HEADER_BYTES) {
		uint32_t size = record_take_header(&record, records.data, swap);
		if (size < RECORD_HEADER_BYTES || size > records.len)
			break;
		size_t name_at = sizeof(uint32_t) + BUILD_ID_FIELD_BYTES;
		if (record.body_len >= name_at + sizeof shifted && memcmp(record.body + name_at, shifted, sizeof shifted) == 0)
			return true;
		records = (struct span){ records.data + size, records.len - size };
	}
	return false;
}

void header_add_build_ids(struct header *header, struct span records)
{
	struct record record;
	bool no_pid = build_ids_lack_pid(records, header->swapped);
	while (records.len >= RECORD_HEADER_BYTES) {
		uint32_t size = record_take_header(&record, records.data, header->swapped);
		if (size < RECORD_HEADER_BYTES || size > records.len)
			break;
		if (no_pid && record.body_len >= BUILD_ID_FIELD_BYTES) {
			/* the four bytes before the id serve as the pid, which is the host's */
			header_add_build_id(header, record.misc, record.body - sizeof(uint32_t),
					    record.body_len + sizeof(uint32_t), header->swapped);
			header->build_ids.items[header->build_ids.count - 1].pid = -1;
		} else {
			header_add_build_id(header, record.misc, record.body, record.body_len, header->swapped);
		}
		records = (struct span){ records.data + size, records.len - size };
	}
	header->bad_build_ids += records.len > 0;
}

static bool apply_attr(struct header *header, const struct record *record)
{
	struct attr attr;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	take_u32(&c);
	uint32_t size = take_u32(&c);
	size = size ? size : ATTR_SIZE_VER0;
	if (size > record->body_len || attr_decode(&attr, record->body, size, false, NULL) < 0)
		return false;
	size_t count = (record->body_len - size) / U64_BYTES;
	if (!header_event_fits(header, count))
		return true;
	uint64_t *ids = memory_alloc(count * U64_BYTES + 1);
	memcpy(ids, record->body + size, count * U64_BYTES);
	evlist_add(&header->evlist, &attr, ids, count, NULL);
	free(ids);
	return (record->body_len - size) % U64_BYTES == 0;
}

static void cpu_list_add(struct cpu_list *list, size_t limit, int32_t cpu)
{
	if (list->count < limit)
		list->cpus[list->count++] = cpu;
}

enum cpu_map_type { CPU_MAP_LIST = 0, CPU_MAP_MASK = 1, CPU_MAP_RANGE = 2 };

/* The maximal number of entries of a map, given its size in bytes. */
static size_t cpu_map_most(struct cursor c)
{
	uint16_t type = take_u16(&c);
	if (type == CPU_MAP_RANGE)
		return UINT16_MAX + 2;
	return type == CPU_MAP_MASK ? cursor_left(&c) * 8 : cursor_left(&c) / 2;
}

static void cpu_map_decode(struct cpu_list *list, size_t limit, struct cursor c)
{
	uint16_t type = take_u16(&c);
	if (type == CPU_MAP_RANGE) {
		uint8_t any = take_u8(&c);
		take_u8(&c);
		uint16_t first = take_u16(&c), last = take_u16(&c);
		if (any)
			cpu_list_add(list, limit, -1);
		for (uint32_t cpu = first; cpu <= last && !c.short_read; cpu++)
			cpu_list_add(list, limit, (int32_t)cpu);
		return;
	}
	uint16_t count = take_u16(&c);
	if (type == CPU_MAP_LIST) {
		for (; count && cursor_left(&c) >= 2; count--)
			cpu_list_add(list, limit, (int16_t)take_u16(&c));
		return;
	}
	uint16_t width = take_u16(&c);
	if (type != CPU_MAP_MASK || (width != 4 && width != 8))
		return;
	if (width == 8)
		take_u32(&c);
	for (uint32_t word = 0; word < count && cursor_left(&c) >= width; word++) {
		uint64_t bits = width == 8 ? take_u64(&c) : take_u32(&c);
		for (unsigned bit = 0; bit < width * 8u; bit++)
			if (bits >> bit & 1)
				cpu_list_add(list, limit, (int32_t)(word * width * 8 + bit));
	}
}

static void apply_cpus(struct evlist *evlist, struct evsel *evsel, struct cursor c)
{
	size_t most = cpu_map_most(c);
	if (evsel->cpus || most > CPU_ENTRIES_LIMIT - evlist->cpu_entries)
		return;
	int32_t *cpus = memory_alloc(most * sizeof *cpus + 1);
	struct cpu_list list = { .cpus = cpus };
	cpu_map_decode(&list, most, c);
	list.cpus = arena_copy(&evlist->arena, cpus, list.count * sizeof *cpus);
	free(cpus);
	evlist->cpu_entries += list.count;
	evsel->cpus = arena_copy(&evlist->arena, &list, sizeof list);
}

enum event_update_type { EVENT_UPDATE_UNIT, EVENT_UPDATE_SCALE, EVENT_UPDATE_NAME, EVENT_UPDATE_CPUS };

static bool apply_event_update(struct header *header, const struct record *record)
{
	struct evlist *evlist = &header->evlist;
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint64_t type = take_u64(&c), id = take_u64(&c);
	uint32_t event = evlist->events.count == 1 || !id ? 0 : idmap_get(&evlist->by_id, id);
	if (c.short_read || event >= evlist->events.count)
		return false;
	struct evsel *evsel = &evlist->events.items[event];
	size_t room = cursor_left(&c), len;
	if (type == EVENT_UPDATE_CPUS) {
		apply_cpus(evlist, evsel, c);
		return true;
	}
	if (type == EVENT_UPDATE_SCALE) {
		uint64_t bits = take_u64(&c);
		if (!c.short_read)
			memcpy(&evsel->scale, &bits, sizeof bits);
		return !c.short_read;
	}
	const char *text = take_string(&c, room, &len);
	if (type == EVENT_UPDATE_UNIT)
		evsel->unit = text_one_line(&evlist->arena, text, len);
	if (type == EVENT_UPDATE_NAME) {
		evsel->name = text_one_line(&evlist->arena, text, len);
		evlist->renamed++;
	}
	return true;
}

static bool apply_feature(struct header *header, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint64_t feature = take_u64(&c);
	bool end = feature == FEATURE_END && !cursor_left(&c);
	if (c.short_read || end || feature >= FEATURE_COUNT)
		return !c.short_read; /* a newer recorder has more fields */
	header->features[feature / 64] |= (uint64_t)1 << (feature % 64);
	header->feature_data[feature].data = arena_copy(&header->arena, record->body + c.at, cursor_left(&c));
	header->feature_data[feature].len = cursor_left(&c);
	if (feature == FEATURE_COMPRESSED)
		header->compressed = true;
	if (feature == FEATURE_BUILD_ID)
		header_add_build_ids(header, header->feature_data[feature]);
	if (feature == FEATURE_EVENT_DESC)
		header_read_event_names(header);
	if (feature == FEATURE_GROUP_DESC)
		header_read_groups(header);
	return true;
}

bool header_apply_record(struct header *header, const struct record *record, bool attrs)
{
	switch (record->type) {
	case RECORD_HEADER_ATTR:
		header->bad_attrs += attrs && !apply_attr(header, record);
		return true;
	case RECORD_EVENT_UPDATE:
		return apply_event_update(header, record);
	case RECORD_HEADER_FEATURE:
		return apply_feature(header, record);
	case RECORD_HEADER_BUILD_ID:
		header_add_build_id(header, record->misc, record->body, record->body_len, false);
		return true;
	default:
		return true;
	}
}

void source_note_type(struct source *source, uint32_t type)
{
	if (record_type_name(type))
		return;
	if (record_type_may_be(type))
		source->counters.unknown_types++;
	else
		source->counters.bad_records++;
}

void source_note_record(struct source *source, const struct record *record)
{
	source_note_type(source, record->type);
	if (!source->member && !header_apply_record(&source->header, record, source->header.pipe))
		source->counters.bad_records++;
}

int source_bad_size(const char *path, uint64_t offset, uint32_t size, uint64_t left, struct error *err)
{
	if (size < RECORD_HEADER_BYTES)
		return error_set(err, ERROR_FORMAT, "%s: the record at offset %llu claims %u bytes, %d at least were expected",
				 path, (unsigned long long)offset, size, RECORD_HEADER_BYTES);
	return error_set(err, ERROR_FORMAT, "%s: the record at offset %llu claims %u bytes, but only %llu are left",
			 path, (unsigned long long)offset, size, (unsigned long long)left);
}

int inflater_begin(struct inflater *inflater, const struct record *record, uint64_t offset, const char *path, struct error *err)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint64_t size = record->type == RECORD_COMPRESSED2 ? take_u64(&c) : record->body_len;
	if (c.short_read || size > cursor_left(&c))
		return error_set(err, ERROR_FORMAT, "%s: the compressed record at offset %llu claims more than its %u bytes", path,
				 (unsigned long long)offset, record->body_len);
	return inflater_feed(inflater, record->body + c.at, size, offset, err);
}

int inflater_end(const struct inflater *inflater, const char *path, struct error *err)
{
	size_t left = chain_left(&inflater->chain);
	if (!left)
		return 0;
	return error_set(err, ERROR_FORMAT, "%s: what the compressed record at offset %llu holds is cut, %zu bytes into a record", path,
			 (unsigned long long)inflater->offset, left);
}

int inflater_next(struct inflater *inflater, struct source *source, const char *path, struct record *record, struct error *err)
{
	bool swapped = source->header.swapped;
	for (;;) {
		size_t left = chain_left(&inflater->chain);
		if (inflater->skip && left) {
			size_t n = left < inflater->skip ? left : (size_t)inflater->skip;
			chain_take(&inflater->chain, n, source->mark);
			inflater->skip -= n;
			continue;
		}
		uint32_t size = UINT32_MAX;
		if (left >= RECORD_HEADER_BYTES)
			size = record_take_header(record, chain_at(&inflater->chain), swapped);
		if (size < RECORD_HEADER_BYTES)
			return source_bad_size(path, inflater->offset, size, left, err);
		if (size > left) {
			int more = inflater_more(inflater, path, err);
			if (more <= 0)
				return more;
			continue;
		}
		source->mark += size;
		chain_take(&inflater->chain, size, source->mark);
		record->offset = inflater->offset - source_lead(source);
		if (swapped && !record_make_native(record, &source->header.evlist)) {
			source->counters.bad_records++;
			continue;
		}
		if (record->type >= RECORD_USER_TYPE_START) {
			record_payload_size(record, &inflater->skip);
			source_note_record(source, record);
		} else if (!record_type_is_kernels(record->type)) {
			source_note_type(source, record->type);
		}
		return 1;
	}
}
