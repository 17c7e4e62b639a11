/* The step that adds the recording of a virtual machine (--guest-data): its records come before the first record of the host's side-band
 * that is newer, those without a time before FINISHED_INIT. */
#include "record/acquire/record_out.h"
#include "record/write/build_ids.h"
#include "rewrite/state.h"

struct guest_step {
	struct guest_data *data;
	struct rewrite *rewrite;
	struct time_conv clock;      /* of the host */
	size_t next;                 /* entry */
	bool ready;                  /* the ids are announced */
};

static bool has_guest(const struct rewrite_options *options)
{
	return options->guest;
}

static void *open_step(struct rewrite *r)
{
	struct guest_step *s = memory_zero(1, sizeof *s);
	s->data = &r->guest;
	s->rewrite = r;
	return s;
}

/* The machine and the virtual CPU of each new id. */
static void announce(struct guest_step *s)
{
	enum { ENTRY_SIZE = 32, MACHINE_SIZE = 16, MOST = (RECORD_SIZE_MAX - 16) / (ENTRY_SIZE + MACHINE_SIZE) };
	struct writer *out = &s->rewrite->out.made;
	const struct guest_id *ids = s->data->ids.items;
	for (size_t done = 0, count; done < s->data->ids.count; done += count) {
		count = s->data->ids.count - done < MOST ? s->data->ids.count - done : MOST;
		size_t at = record_open(out, RECORD_ID_INDEX, 0);
		out_u64(out, count);
		for (size_t i = done; i < done + count; i++) {
			uint32_t vcpu = ids[i].vcpu;
			int32_t tid = vcpu < s->data->vcpus.count ? s->data->vcpus.items[vcpu].tid : 0;
			out_u64(out, ids[i].host);
			out_u64(out, 0);
			out_u64(out, UINT64_MAX); /* for the host, an event of a thread */
			out_u64(out, (uint64_t)(int64_t)tid);
		}
		for (size_t i = done; i < done + count; i++) {
			out_u64(out, (uint64_t)s->data->options->machine);
			out_u64(out, ids[i].vcpu);
		}
		record_close(out, at, 0);
	}
	new_recording_add_made(&s->rewrite->out);
}

/* The record as one of the host's recording: its mode is a guest's, its trailer has the new id, the host's time and CPU. */
static int add_record(struct guest_step *s, const struct entry *entry, const struct evsel *from, struct sample *sample, struct error *err)
{
	struct record record = entry_record(entry);
	uint64_t id = sample->id && sample->id != UINT64_MAX ? sample->id : s->data->ids.items[0].guest;
	const struct guest_id *known = guest_data_id(s->data, id);
	size_t trailer = from->layout.trailer_count * sizeof(uint64_t);
	struct writer *out = &s->rewrite->out.made;
	if (!known || trailer > record.body_len || (record.body_len - trailer) % 8)
		return error_set(err, ERROR_FORMAT, "the guest's recording has a record of an unknown event at %#llx",
			(unsigned long long)record.offset);
	uint32_t event = idmap_get(&s->rewrite->source->header.evlist.by_id, known->host);
	sample->id = sample->stream_id = known->host;
	if (sample->cpu != UINT32_MAX && sample->cpu >= s->data->vcpus.count)
		return error_set(err, ERROR_FORMAT, "the guest has a CPU %u, which no thread of process %d runs", sample->cpu,
			s->data->options->machine);
	if (sample->cpu != UINT32_MAX)
		sample->cpu = s->data->vcpus.items[sample->cpu].cpu;
	bool user = record_cpumode(&record) & RECORD_MISC_USER;
	uint16_t misc = (uint16_t)((record.misc & ~RECORD_MISC_CPUMODE_MASK) | (user ? RECORD_MISC_GUEST_USER : RECORD_MISC_GUEST_KERNEL));
	size_t at = record_open(out, record.type, misc);
	writer_add(out, record.body, record.body_len - trailer);
	record_close_with(out, at, &s->rewrite->source->header.evlist.events.items[event].attr, sample);
	if (out->len - at > RECORD_SIZE_MAX)
		return error_set(err, ERROR_FORMAT, "a record of the guest at %#llx has no room for its id", (unsigned long long)record.offset);
	return 0;
}

/* What the guest has until a time of the host's in ns. */
static int advance(struct guest_step *s, uint64_t until, struct error *err)
{
	const struct evlist *evlist = &s->data->source->header.evlist;
	int result = 0;
	for (; s->next < s->data->entries.count && result == 0; s->next++) {
		const struct entry *entry = &s->data->entries.items[s->next];
		struct record record = entry_record(entry);
		uint32_t event = evlist_event_of(evlist, &record);
		struct sample sample;
		if (event == UINT32_MAX)
			return error_set(err, ERROR_FORMAT, "the guest's recording has a record of an unknown event at %#llx",
				(unsigned long long)record.offset);
		const struct evsel *from = &evlist->events.items[event];
		sample_decode_trailer(&sample, &from->layout, &record);
		sample.time = guest_data_time(s->data, &s->clock, sample.time);
		if (sample.time > until)
			break;
		result = add_record(s, entry, from, &sample, err);
		new_recording_add_made(&s->rewrite->out);
	}
	return result;
}

static enum fate tool_record(void *state, const struct record *record)
{
	struct guest_step *s = state;
	struct error *failure = &s->rewrite->failure;
	if (record->type == RECORD_TIME_CONV)
		time_conv_read(&s->clock, record);
	if (record->type == RECORD_FINISHED_INIT && !s->ready) {
		announce(s);
		s->ready = true;
		advance(s, 0, failure);
	}
	if (record->type == RECORD_FINISHED_ROUND && s->ready && failure->kind == ERROR_NONE)
		advance(s, s->rewrite->order.delivered_time, failure);
	return FATE_WRITE;
}

/* Where the virtual CPU of a thread runs. */
static void note_switch(struct guest_step *s, const struct item *item)
{
	if (item->record.misc & RECORD_MISC_SWITCH_OUT || item->sample.pid != s->data->options->machine)
		return;
	for (size_t i = 0; i < s->data->vcpus.count; i++)
		if (s->data->vcpus.items[i].tid == item->sample.tid)
			s->data->vcpus.items[i].cpu = item->sample.cpu;
}

static int before(void *state, struct rewrite *r, struct item *item, struct error *err)
{
	struct guest_step *s = state;
	(void)r;
	switch (item->record.type) {
	case RECORD_SWITCH: case RECORD_SWITCH_CPU_WIDE:
		note_switch(s, item);
		break;
	case RECORD_MMAP: case RECORD_MMAP2: case RECORD_COMM: case RECORD_FORK: case RECORD_EXIT: case RECORD_LOST: case RECORD_KSYMBOL:
	case RECORD_TEXT_POKE:
		break;
	default:
		return FATE_WRITE;
	}
	if (!s->ready || item->sample.time == UINT64_MAX)
		return FATE_WRITE;
	return advance(s, item->sample.time, err) < 0 ? -1 : FATE_WRITE;
}

static void end(void *state, struct rewrite *r)
{
	struct guest_step *s = state;
	if (s->ready && r->failure.kind == ERROR_NONE)
		advance(s, UINT64_MAX, &r->failure);
}

const struct step step_guest = { .wanted = has_guest, .open = open_step, .tool_record = tool_record, .before = before, .end = end,
	.close = free };
