/* The recordings of test/golden/data, in both byte orders: what is read of them, where their features become unreadable when they are cut,
 * and what is left of a file that is cut. All of it is stored, see stored.h. */
#include "data/evsel_name.h"
#include "data/feature.h"
#include "data/source_internal.h"
#include "stored.h"

#define DATA "test/golden/data/"

static const char *const names[] = {
	"branches", "built", "calls", "chains", "counts", "deferred", "events", "formats", "heads", "intervals", "kinds", "later", "lines",
	"locks", "memory", "reads", "records", "sched", "sideband", "stacks", "stats15", "stats16", "stats17", "timed", "power",
};

static bool read_recording(const char *name, bool other_order, struct str *bytes)
{
	char path[96];
	snprintf(path, sizeof path, DATA "%s%s.data", other_order ? "big-endian/" : "", name);
	stored_read(path, bytes);
	return bytes->len;
}

static uint64_t mixed(uint64_t hash, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		hash = (hash ^ (value >> 8 * i & 0xff)) * 0x100000001b3;
	return hash;
}

static uint64_t words_mixed(uint64_t hash, const uint8_t *words, uint64_t count)
{
	for (uint64_t i = 0; words && i < count; i++)
		hash = mixed(hash, load_u64(words + 8 * i));
	return hash;
}

/* All that a sample has, as one number: bytes that have no order of their own are left out. */
static uint64_t sample_mixed(const struct sample *s, const struct sample_layout *layout)
{
	const uint64_t words[] = { s->ip, s->time, s->addr, s->id, s->stream_id, s->period, s->pid, s->tid, s->cpu, s->ins_lat, s->p_stage_cyc,
		s->present, s->callchain_count, s->raw_size, s->branch_count, s->branch_hw_index, s->regs_user_abi, s->regs_intr_abi,
		s->stack_user_size, s->aux_size, s->read_len };
	uint64_t hash = 0xcbf29ce484222325;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		hash = mixed(hash, words[i]);
	hash = words_mixed(hash, s->callchain, s->callchain_count);
	for (uint64_t i = 0; i < s->branch_count; i++)
		hash = words_mixed(hash, s->branches + 24 * i, 2);
	hash = words_mixed(hash, s->regs_user, layout->regs_user_count);
	hash = words_mixed(hash, s->regs_intr, layout->regs_intr_count);
	return words_mixed(hash, s->read, s->read_len / 8);
}

static void add_trailer(struct str *to, const struct sample_layout *layout, const struct record *record)
{
	struct sample sample = { 0 };
	sample_decode_trailer(&sample, layout, record);
	str_printf(to, " t%llu %u %u cpu %u id %llu", (unsigned long long)sample.time, sample.pid, sample.tid, sample.cpu,
		(unsigned long long)sample.id);
}

static void add_record(struct str *to, const struct source *source, const struct record *record)
{
	const struct evlist *evlist = &source->header.evlist;
	uint32_t event = evlist_event_of(evlist, record);
	const char *name = record_type_name(record->type);
	struct sample sample = { 0 };
	struct error err = { 0 };
	str_printf(to, "%s %u", name ? name : "?", record->body_len);
	if (record->type < RECORD_USER_TYPE_START && event < evlist->events.count) {
		const struct sample_layout *layout = &evlist->events.items[event].layout;
		str_printf(to, " %u", event);
		if (record->type != RECORD_SAMPLE)
			add_trailer(to, layout, record);
		else if (sample_decode(&sample, layout, record, &err) == 0)
			str_printf(to, " %llx", (unsigned long long)sample_mixed(&sample, layout));
		else
			str_printf(to, " ! %s", err.text);
	}
	str_putc(to, '\n');
}

static void add_header(struct str *to, const struct header *h)
{
	str_printf(to, "%s%s%s%s attr %llu events %u build-ids %zu\n", h->pipe ? "pipe" : "file", h->v1 ? " v1" : "",
		h->interrupted ? " interrupted" : "", h->compressed ? " compressed" : "", h->attr_size, (unsigned)h->evlist.events.count,
		h->build_ids.count);
	for (size_t i = 0; i < h->evlist.events.count; i++) {
		const struct evsel *e = &h->evlist.events.items[i];
		char name[64];
		str_printf(to, "event %s type %u config %llx period %llu fields %llx read %llx flags %llx ids %zu\n", evsel_name(e, name, sizeof name),
			e->attr.type, (unsigned long long)e->attr.config, (unsigned long long)e->attr.sample_period,
			(unsigned long long)e->attr.sample_type, (unsigned long long)e->attr.read_format, (unsigned long long)e->attr.flags,
			(size_t)e->id_count);
	}
	for (size_t i = 0; i < h->build_ids.count; i++) {
		const struct build_id_entry *b = &h->build_ids.items[i];
		str_printf(to, "build-id %s %u %02x%02x misc %u pid %d%s\n", b->filename, b->id.len, b->id.bytes[0], b->id.bytes[19], b->misc, b->pid,
			b->one_of_many ? " of many" : "");
	}
}

/* The lengths from which on a feature is readable, or is no longer. */
static void add_cuts(struct str *to, struct header *header)
{
	for (unsigned feature = 0; feature < FEATURE_COUNT; feature++) {
		struct span whole = header->feature_data[feature];
		const uint64_t bit = (uint64_t)1 << feature;
		if (!whole.data || !header_has(header, feature))
			continue;
		str_printf(to, "feature %s:", feature_name(feature) ? feature_name(feature) : "?");
		for (size_t len = 0, readable = 2; len <= whole.len; len++) {
			header->feature_data[feature].len = len;
			bool now = !(features_damaged(header) & bit);
			if (now != readable)
				str_printf(to, " %s%zu", now ? "+" : "-", len);
			readable = now;
		}
		header->feature_data[feature] = whole;
		str_putc(to, '\n');
	}
}

static int add_records(struct str *to, struct source *source, struct error *err)
{
	struct record record;
	int result;
	while ((result = source_next(source, &record, err)) == 1)
		add_record(to, source, &record);
	return result;
}

static void add_recording(struct str *to, const char *name, bool other_order)
{
	CLEANUP_STR struct str bytes = { 0 };
	struct source *source = NULL;
	struct error err = { 0 };
	if (!read_recording(name, other_order, &bytes))
		return;
	str_printf(to, "== %s\n", name);
	int result = source_open_memory(&source, bytes.text, bytes.len, &err);
	if (result == 0) {
		add_header(to, &source->header);
		EXPECT_INT(source->header.swapped, other_order != HOST_IS_BIG_ENDIAN);
		add_cuts(to, &source->header);
		result = add_records(to, source, &err);
	}
	str_printf(to, "%d%s%s\n", result, err.text[0] ? " " : "", err.text);
	source_close(source);
}

TEST("recordings in both byte orders have the same events, features and records, as stored")
{
	CLEANUP_STR struct str got = { 0 };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		CLEANUP_STR struct str other = { 0 };
		size_t before = got.len;
		add_recording(&got, names[i], false);
		add_recording(&other, names[i], true);
		if (strcmp(str_text(&got) + before, str_text(&other)) != 0) {
			const char *a = str_text(&got) + before, *b = str_text(&other);
			for (; *a && *a == *b; a++, b++)
				;
			unit_fail(__FILE__, __LINE__, "%s: \"%.80s\", in the other order \"%.80s\"", names[i], a, b);
		}
	}
	stored_compare("test/data/recordings", &got);
}

TEST("a file that is cut anywhere yields the records before the cut, and says what is missing")
{
	static const char *const cut[] = { "heads", "records", "reads", "sideband", "stats15" };
	CLEANUP_STR struct str got = { 0 };
	for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
		CLEANUP_STR struct str bytes = { 0 };
		if (!read_recording(cut[i], false, &bytes))
			continue;
		for (size_t len = 0; len < bytes.len; len += len < 128 ? 8 : 41) {
			CLEANUP_STR struct str records = { 0 };
			struct source *source = NULL;
			struct error err = { 0 };
			int result = source_open_memory(&source, bytes.text, len, &err);
			unsigned count = 0;
			if (result == 0)
				result = add_records(&records, source, &err);
			for (const char *at = str_text(&records); *at; at++)
				count += *at == '\n';
			str_printf(&got, "%s to %zu: %u, %d %s", cut[i], len, count, result, err.text);
			str_printf(&got, " features %llx\n", source ? (unsigned long long)features_damaged(&source->header) : 0ull);
			source_close(source);
		}
	}
	stored_compare("test/data/cut", &got);
}
