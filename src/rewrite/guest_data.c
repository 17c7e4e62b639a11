#include "rewrite/guest_data.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/whole.h"

enum { VCPUS_MAX = 1 << 16, TAKE_ENTRIES = 4096, KSYMBOL_OUT_OF_LINE = 2 };

void guest_data_close(struct guest_data *data)
{
	budget_give(data->budget, data->taken);
	source_close(data->source);
	idmap_fini(&data->cpu_of_id);
	idmap_fini(&data->by_id);
	vec_fini(&data->ids);
	vec_fini(&data->vcpus);
	vec_fini(&data->entries);
	order_fini(&data->order);
	*data = (struct guest_data){ 0 };
}

const struct guest_id *guest_data_id(const struct guest_data *data, uint64_t id)
{
	uint32_t index = idmap_get(&data->by_id, id);
	return index == IDMAP_NONE ? NULL : &data->ids.items[index];
}

uint64_t guest_data_time(const struct guest_data *data, const struct time_conv *host, uint64_t time)
{
	if (!time)
		return 0;
	uint64_t ticks = (data->clock.known ? time_conv_ticks(&data->clock, time) : time) - data->options->time_offset;
	if (data->options->time_scale != 1)
		ticks = whole_below((double)ticks / data->options->time_scale);
	return host->known ? time_conv_time(host, ticks) : ticks;
}

static void add_entry(void *context, const struct entry *entry)
{
	struct guest_data *data = context;
	if (data->entries.count % TAKE_ENTRIES == 0) {
		data->full |= !budget_take(data->budget, TAKE_ENTRIES * sizeof *entry);
		data->taken += data->full ? 0 : TAKE_ENTRIES * sizeof *entry;
	}
	if (!data->full)
		vec_push(&data->entries, *entry);
}

/* Which virtual CPU an id counts on. */
static void read_id_index(struct guest_data *data, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	for (uint64_t count = take_u64(&c); count && !c.short_read; count--) {
		uint64_t id = take_u64(&c);
		take_u64(&c);
		int64_t cpu = (int64_t)take_u64(&c);
		take_u64(&c);
		if (!c.short_read && cpu >= 0 && cpu < VCPUS_MAX)
			idmap_set(&data->cpu_of_id, id, (uint32_t)cpu);
	}
}

static bool is_wanted(const struct record *record)
{
	switch (record->type) {
	case RECORD_MMAP: case RECORD_MMAP2: case RECORD_COMM: case RECORD_FORK: case RECORD_EXIT: case RECORD_LOST: case RECORD_SWITCH:
	case RECORD_SWITCH_CPU_WIDE: case RECORD_TEXT_POKE:
		return true;
	case RECORD_KSYMBOL: { /* not of BPF programs, whose code is not in the recording of the host */
		struct cursor c = cursor_of(record->body, record->body_len, false);
		take(&c, 12);
		return take_u16(&c) == KSYMBOL_OUT_OF_LINE && !c.short_read;
	}
	default:
		return false;
	}
}

static void read_record(struct guest_data *data, const struct record *record, uint64_t mark)
{
	switch (record->type) {
	case RECORD_ID_INDEX:
		read_id_index(data, record);
		return;
	case RECORD_TIME_CONV:
		time_conv_read(&data->clock, record);
		return;
	case RECORD_FINISHED_ROUND:
		order_flush(&data->order, false, add_entry, data);
		return;
	default:
		break;
	}
	if (!is_wanted(record))
		return;
	struct entry entry = { .time = evlist_time_of(&data->source->header.evlist, record), .offset = record->offset, .body = record->body };
	if (!entry.time || entry.time == UINT64_MAX)
		add_entry(data, &entry);
	else
		order_add(&data->order, &entry, mark);
}

static int read_guest(struct guest_data *data, bool force, struct error *err)
{
	struct source_options options = { .force = force };
	struct record record;
	int more;
	if (source_open(&data->source, data->options->path, &options, err) < 0)
		return -1;
	if (data->source->header.swapped)
		return error_set(err, ERROR_UNSUPPORTED, "recordings of the other byte order are not supported yet");
	uint64_t mark = source_mark(data->source);
	while ((more = source_next(data->source, &record, err)) > 0) {
		read_record(data, &record, mark);
		mark = source_mark(data->source);
	}
	order_flush(&data->order, true, add_entry, data);
	if (more == 0 && data->full)
		return error_set(err, ERROR_UNSUPPORTED, "the guest's recording needs more memory than its limit");
	return more;
}

static int note_vcpu(struct guest_data *data, const struct record *record, struct error *err)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	int32_t pid = (int32_t)take_u32(&c), tid = (int32_t)take_u32(&c);
	const char *name = (const char *)c.data + c.at;
	unsigned number;
	if (c.short_read || pid != data->options->machine || !memchr(name, '\0', cursor_left(&c)) || sscanf(name, "CPU %u/KVM", &number) != 1)
		return 0;
	if (number >= VCPUS_MAX)
		return error_set(err, ERROR_FORMAT, "the host's recording has a virtual CPU of the number %u", number);
	while (data->vcpus.count <= number)
		vec_push(&data->vcpus, (struct guest_vcpu){ 0 });
	struct guest_vcpu *vcpu = &data->vcpus.items[number];
	if (vcpu->tid && vcpu->tid != tid)
		return error_set(err, ERROR_FORMAT, "the threads %d and %d both run the virtual CPU %u of process %d", vcpu->tid, tid, number, pid);
	vcpu->tid = tid;
	return 0;
}

/* The host's recording is read twice: the first event of a guest needs all virtual CPUs. */
static int find_vcpus(struct guest_data *data, const struct source *host, bool force, struct error *err)
{
	struct source_options options = { .force = force };
	struct source *source;
	struct record record;
	bool ready = false;
	if (!host->inode)
		return error_set(err, ERROR_USAGE, "--guest-data reads the recording twice: it needs a file (-i)");
	if (source_open(&source, host->path, &options, err) < 0)
		return -1;
	int result = 0;
	while (result == 0 && source_next(source, &record, NULL) > 0) {
		ready |= record.type == RECORD_FINISHED_INIT;
		if (record.type == RECORD_COMM)
			result = note_vcpu(data, &record, err);
		source_release(source, source_mark(source));
	}
	source_close(source);
	if (result == 0 && !ready)
		return error_set(err, ERROR_FORMAT, "the host's recording has no FINISHED_INIT record, behind which the guest's belong: "
			"perf before 5.19 made it");
	if (result == 0 && !data->vcpus.count)
		return error_set(err, ERROR_USAGE, "process %d has no threads of virtual CPUs ('CPU 0/KVM'): QEMU names them with "
			"'-name NAME,debug-threads=on'", data->options->machine);
	return result;
}

static uint64_t highest_id(const struct evlist *evlist)
{
	uint64_t highest = 1;
	for (size_t i = 0; i < evlist->events.count; i++)
		for (size_t k = 0; k < evlist->events.items[i].id_count; k++)
			if (evlist->events.items[i].ids[k] > highest)
				highest = evlist->events.items[i].ids[k];
	return highest;
}

static uint64_t next_id(const struct evlist *host, uint64_t id)
{
	do
		id++;
	while (!id || idmap_get(&host->by_id, id) != IDMAP_NONE);
	return id;
}

/* The events of the guest become events of the host's recording, one id for each virtual CPU. */
static int add_event(struct guest_data *data, const struct evsel *evsel, struct evlist *host, uint64_t *id, struct error *err)
{
	VEC(uint64_t) ids = { 0 };
	bool whole = attr_flag(&evsel->attr, ATTR_SAMPLE_ID_ALL);
	for (size_t i = 0; i < evsel->id_count && whole; i++) {
		uint32_t vcpu = idmap_get(&data->cpu_of_id, evsel->ids[i]);
		whole = vcpu != IDMAP_NONE;
		*id = next_id(host, *id);
		idmap_set(&data->by_id, evsel->ids[i], (uint32_t)data->ids.count);
		vec_push(&data->ids, ((struct guest_id){ evsel->ids[i], *id, vcpu }));
		vec_push(&ids, *id);
	}
	struct attr attr = evsel->attr;
	attr.sample_type |= SAMPLE_IDENTIFIER;
	attr.flags |= 1ull << ATTR_EXCLUDE_HOST;
	attr.flags &= ~(1ull << ATTR_EXCLUDE_GUEST);
	if (whole)
		evlist_add(host, &attr, ids.items, ids.count, NULL);
	vec_fini(&ids);
	return whole ? 0 : error_set(err, ERROR_USAGE, "the guest's recording has events of threads, not of CPUs: record it with -a");
}

static int add_events(struct guest_data *data, struct evlist *host, struct error *err)
{
	const struct evlist *guest = &data->source->header.evlist;
	uint64_t id = highest_id(host);
	int result = 0;
	data->first_event = host->events.count;
	for (size_t i = 0; i < host->events.count; i++)
		if (!(host->events.items[i].attr.sample_type & SAMPLE_IDENTIFIER))
			return error_set(err, ERROR_USAGE, "the host's recording has an event whose samples have no id: record it with -a");
	for (size_t i = 0; i < guest->events.count && result == 0; i++)
		result = add_event(data, &guest->events.items[i], host, &id, err);
	if (result < 0 || data->ids.count)
		return result;
	return error_set(err, ERROR_USAGE, "the guest's recording has no ids of events: record it with -a");
}

int guest_data_open(struct guest_data *data, const struct guest_options *options, struct source *host, bool force, struct budget *budget,
	struct error *err)
{
	data->options = options;
	data->budget = budget;
	if (find_vcpus(data, host, force, err) < 0 || read_guest(data, force, err) < 0)
		return -1;
	return add_events(data, &host->header.evlist, err);
}
