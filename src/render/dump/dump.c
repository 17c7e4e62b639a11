#include "render/dump/dump.h"

#include <inttypes.h>

#include "render/dump/dump_sample.h"
#include "decode/intel_bts/bts.h"
#include "decode/intel_pt/info.h"
#include "render/dump/intel_bts_text.h"
#include "render/dump/intel_pt_text.h"
#include "render/dump/record_text.h"
#include "arch/registers.h"
#include "data/evsel_name.h"

/* Side-band without a time cannot be ordered. The events of a stream are not known at this point. */
static bool lacks_sample_id_all(const struct source *source)
{
	const struct evlist *evlist = &source->header.evlist;
	return !source->header.pipe && evlist->events.count && !attr_flag(&evlist->events.items[0].attr, ATTR_SAMPLE_ID_ALL);
}

void dump_init(struct dump *dump, const struct session *session, enum dump_tool tool, struct writer *out)
{
	const struct source *source = session->source;
	const char *machine = header_string(&source->header, FEATURE_ARCH);
	*dump = (struct dump){ .out = out, .tool = tool };
	dump->branch_counters = branch_counter_limits(&source->header);
	dump->isa = machine ? isa_of_machine(machine) : ISA_UNKNOWN;
	dump->no_sample_id_all = lacks_sample_id_all(source);
}

void dump_warn(const struct source *source, struct writer *out)
{
	if (lacks_sample_id_all(source))
		writer_puts(out, "WARNING: No sample_id_all support, falling back to unordered processing\n");
}

void dump_fini(struct dump *dump)
{
	sample_reads_fini(&dump->reads);
}

static char *write_hex_byte(char *p, uint8_t byte)
{
	*p++ = "0123456789abcdef"[byte >> 4];
	*p++ = "0123456789abcdef"[byte & 15];
	return p;
}

enum { BYTES_PER_LINE = 16, HEADER_SIZE = 8 };

/* ".  0010:  6d af 0a 00 …  m..." */
static void dump_line(struct writer *out, const uint8_t *bytes, size_t count, uint32_t at)
{
	char *line = writer_room(out, 128), *p = line;
	*p++ = '.';
	*p++ = ' ';
	*p++ = ' ';
	p = write_hex_byte(p, (uint8_t)(at >> 8));
	p = write_hex_byte(p, (uint8_t)at);
	*p++ = ':';
	*p++ = ' ';
	for (size_t i = 0; i < BYTES_PER_LINE; i++) {
		*p++ = ' ';
		if (i < count) {
			p = write_hex_byte(p, bytes[i]);
		} else {
			*p++ = ' ';
			*p++ = ' ';
		}
	}
	*p++ = ' ';
	*p++ = ' ';
	for (size_t i = 0; i < BYTES_PER_LINE; i++)
		*p++ = i >= count ? ' ' : bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : '.';
	*p++ = '\n';
	writer_advance(out, (size_t)(p - line));
}

static void dump_bytes(struct writer *out, const struct record *record)
{
	uint8_t first[BYTES_PER_LINE];
	uint32_t size = record->body_len + HEADER_SIZE;
	uint16_t short_size = (uint16_t)size;
	writer_printf(out, ".\n. ... raw event: size %" PRIu32 " bytes\n", size);
	memcpy(first, &record->type, 4);
	memcpy(first + 4, &record->misc, 2);
	memcpy(first + 6, &short_size, 2);
	size_t head = record->body_len < 8 ? record->body_len : 8;
	if (head)
		memcpy(first + HEADER_SIZE, record->body, head);
	dump_line(out, first, HEADER_SIZE + head, 0);
	for (uint32_t at = BYTES_PER_LINE; at < size; at += BYTES_PER_LINE) {
		uint32_t left = size - at;
		dump_line(out, record->body + at - HEADER_SIZE, left < BYTES_PER_LINE ? left : BYTES_PER_LINE, at);
	}
	writer_putc(out, '\n');
}

/* The sample types of all events that were known when this record was read. */
static void refresh_events(struct dump *dump, const struct resolved *r)
{
	const struct source *source = r->session->source;
	const struct evlist *evlist = &source->header.evlist;
	size_t known = source->header.pipe ? dump->attrs_seen : evlist->events.count;
	if (known > evlist->events.count)
		known = evlist->events.count;
	for (; dump->events_known < known; dump->events_known++) {
		const struct attr *attr = &evlist->events.items[dump->events_known].attr;
		if (dump->events_known == 0)
			dump->sample_id_all = attr_flag(attr, ATTR_SAMPLE_ID_ALL);
		dump->has_cpu |= (attr->sample_type & SAMPLE_CPU) != 0;
		dump->has_time |= (attr->sample_type & SAMPLE_TIME) != 0;
	}
}

static void dump_time(struct dump *dump, const struct resolved *r)
{
	bool own = r->record->type >= RECORD_USER_TYPE_START;
	refresh_events(dump, r);
	if (r->record->type != RECORD_SAMPLE && !dump->sample_id_all) {
		writer_puts(dump->out, "-1 -1 ");
		return;
	}
	if (dump->has_cpu)
		writer_printf(dump->out, "%" PRIu32 " ", own ? 0 : r->sample->cpu);
	if (dump->has_time)
		writer_printf(dump->out, "%" PRIu64 " ", own ? 0 : r->sample->time);
}

static void dump_read(struct dump *dump, const struct resolved *r)
{
	struct cursor c = cursor_of(r->record->body, r->record->body_len, false);
	uint32_t pid = take_u32(&c), tid = take_u32(&c);
	uint64_t value = take_u64(&c);
	char buffer[EVSEL_NAME_MAX];
	const char *name = r->evsel ? evsel_name(r->evsel, buffer, sizeof buffer) : "unknown";
	writer_printf(dump->out, ": %d %d ", (int)pid, (int)tid);
	writer_name(dump->out, name, strlen(name));
	writer_printf(dump->out, " %" PRIu64 "\n", value);
	if (!r->evsel)
		return;
	static const struct {
		uint64_t bit;
		const char *label;
	} fields[] = {
		{ READ_TOTAL_TIME_ENABLED, "time enabled" }, { READ_TOTAL_TIME_RUNNING, "time running" }, { READ_ID, "id          " },
		{ READ_LOST, "lost        " },
	};
	/* The record has room for all of them, regardless of the format. */
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		uint64_t number = take_u64(&c);
		if (r->evsel->attr.read_format & fields[i].bit)
			writer_printf(dump->out, "... %s : %" PRIu64 "\n", fields[i].label, number);
	}
}

/* "  PMU Type            6" */
static void info_row(struct writer *out, int width, const char *label, char format, uint64_t value)
{
	writer_printf(out, "  %-*s", width, label);
	if (format == 'x')
		writer_printf(out, "%#" PRIx64 "\n", value);
	else if (format == 'd')
		writer_printf(out, "%" PRId64 "\n", (int64_t)value);
	else
		writer_printf(out, "%" PRIu64 "\n", value);
}

static void dump_intel_bts_info(struct writer *out, struct cursor *c)
{
	static const char *const labels[] = { "PMU Type", "Time Shift", "Time Muliplier", "Time Zero", "Cap Time Zero", "Snapshot mode" };
	for (size_t i = 0; i < sizeof labels / sizeof *labels && cursor_left(c) >= 8; i++)
		info_row(out, 19, labels[i], i == 1 || i == 2 || i == 3 ? 'u' : 'd', take_u64(c));
}

/* The order is that of the record. */
static void dump_intel_pt_info(struct writer *out, struct cursor *c)
{
	static const struct {
		const char *label;
		char format;
	} rows[] = {
		{ "PMU Type", 'd' }, { "Time Shift", 'u' }, { "Time Muliplier", 'u' }, { "Time Zero", 'u' }, { "Cap Time Zero", 'd' },
		{ "TSC bit", 'x' }, { "NoRETComp bit", 'x' }, { "Have sched_switch", 'd' }, { "Snapshot mode", 'd' },
		{ "Per-cpu maps", 'd' }, { "MTC bit", 'x' }, { "MTC freq bits", 'x' }, { "TSC:CTC numerator", 'u' },
		{ "TSC:CTC denominator", 'u' }, { "CYC bit", 'x' }, { "Max non-turbo ratio", 'u' }, { "Filter string len.", 'u' },
	};
	uint64_t value = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (cursor_left(c) < 8)
			return;
		value = take_u64(c);
		info_row(out, 20, rows[i].label, rows[i].format, value);
	}
	size_t len, room = value < cursor_left(c) ? ((size_t)value + 7) / 8 * 8 : cursor_left(c);
	const char *filter = take_string(c, room < cursor_left(c) ? room : cursor_left(c), &len);
	writer_puts(out, "  Filter string       ");
	writer_name(out, filter, len);
	writer_putc(out, '\n');
	if (cursor_left(c) >= 8)
		writer_printf(out, "  Cap Event Trace     %" PRId64 "\n", (int64_t)take_u64(c));
}

static void dump_auxtrace_info(struct dump *dump, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint32_t type = take_u32(&c);
	take_u32(&c);
	dump->trace_type = type;
	if (type == TRACE_INTEL_PT)
		dump_intel_pt_info(dump->out, &c);
	else if (type == TRACE_INTEL_BTS)
		dump_intel_bts_info(dump->out, &c);
}

/* The bytes that follow an AUXTRACE record. */
static void dump_packets(struct dump *dump, const struct resolved *r)
{
	struct cursor c = cursor_of(r->record->body, r->record->body_len, false);
	uint64_t size = take_u64(&c);
	const uint8_t *bytes = source_payload(r->session->source, r->record, size);
	if (bytes)
		(dump->trace_type == TRACE_INTEL_PT ? intel_pt_text : intel_bts_text)((struct span){ bytes, (size_t)size }, dump->out);
}

enum ending {
	ENDING_NONE,          /* the tool handles it without output */
	ENDING_TEXT,          /* its text */
	ENDING_NEWLINE,
	ENDING_UNHANDLED,     /* ": unhandled!" alone, or after the text */
	ENDING_TEXT_UNHANDLED,
};

/* How each tool handles a record, by type; other types have their text. */
static enum ending ending_of(const struct dump *dump, uint32_t type)
{
	bool report = dump->tool == DUMP_REPORT;
	switch (type) {
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
		return report ? ENDING_UNHANDLED : ENDING_NONE;
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_HEADER_BUILD_ID:
	case RECORD_HEADER_FEATURE:
		return ENDING_NONE;
	case RECORD_FINISHED_ROUND:
		return dump->unordered ? ENDING_UNHANDLED : ENDING_NEWLINE;
	case RECORD_FINISHED_INIT:
		return ENDING_UNHANDLED;
	case RECORD_AUXTRACE_ERROR:
		return report ? ENDING_UNHANDLED : ENDING_TEXT;
	case RECORD_TIME_CONV:
		return ENDING_TEXT_UNHANDLED;
	case RECORD_THREAD_MAP:
	case RECORD_CPU_MAP:
		return report ? ENDING_TEXT_UNHANDLED : ENDING_TEXT;
	case RECORD_STAT_CONFIG:
	case RECORD_STAT:
	case RECORD_STAT_ROUND:
		return report ? ENDING_TEXT_UNHANDLED : ENDING_NONE;
	default:
		return ENDING_TEXT;
	}
}

static void dump_text(struct dump *dump, const struct resolved *r)
{
	const struct record *record = r->record;
	enum ending ending = ending_of(dump, record->type);
	if (ending == ENDING_TEXT || ending == ENDING_TEXT_UNHANDLED)
		record_text(record, r->sample->id, dump->out);
	if (ending == ENDING_NEWLINE)
		writer_putc(dump->out, '\n');
	if (ending == ENDING_UNHANDLED || ending == ENDING_TEXT_UNHANDLED)
		writer_puts(dump->out, ": unhandled!\n");
	if (record->type == RECORD_AUXTRACE_INFO)
		dump_auxtrace_info(dump, record);
	if (record->type == RECORD_AUXTRACE && (dump->trace_type == TRACE_INTEL_PT || dump->trace_type == TRACE_INTEL_BTS))
		dump_packets(dump, r);
}

void dump_record(struct dump *dump, const struct resolved *r)
{
	const struct record *record = r->record;
	struct writer *out = dump->out;
	const struct source *source = r->session->source;
	const char *name = record_type_name(record->type);
	const char *path = source->header.pipe ? "pipe" : source_record_path(source, record);
	/* The records inside a compressed record are dumped separately. */
	if (record->type == RECORD_COMPRESSED || record->type == RECORD_COMPRESSED2)
		return;
	writer_printf(out, "\n%#" PRIx64 "@%s [%#" PRIx32 "]: event: %" PRIu32 "\n", record->offset, path,
		record->body_len + HEADER_SIZE, record->type);
	dump_bytes(out, record);
	dump_time(dump, r);
	writer_printf(out, "%#" PRIx64 " [%#" PRIx32 "]: PERF_RECORD_%s", record->offset, record->body_len + HEADER_SIZE,
		name ? name : "UNKNOWN");
	if (record->type == RECORD_HEADER_ATTR)
		dump->attrs_seen++;
	if (record->type == RECORD_READ)
		dump_read(dump, r);
	else if (record->type != RECORD_SAMPLE)
		dump_text(dump, r);
	else if (r->evsel)
		dump_sample(dump, r);
	if (record->type == RECORD_READ && dump->tool == DUMP_SCRIPT)
		writer_puts(out, ": unhandled!\n");
}

struct place {
	struct dump *dump;
	const struct resolved *r;
};

void dump_part_place(struct dump *dump, const struct resolved *r)
{
	struct writer *out = dump->out;
	char buffer[32];
	const char *comm = resolved_comm(r, buffer, sizeof buffer);
	const struct location *ip = resolved_ip(r);
	const char *dso = record_cpumode(r->record) == RECORD_MISC_HYPERVISOR ? "[hypervisor]" : "<not found>";
	if (ip && ip->module != MODULE_ID_NONE)
		dso = r->session->model.modules.list.items[ip->module]->long_name;
	writer_puts(out, " ... thread: ");
	writer_name(out, comm, strlen(comm));
	writer_printf(out, ":%d\n ...... dso: ", r->tid);
	writer_name(out, dso, strlen(dso));
	writer_putc(out, '\n');
}

static void dump_place(void *context, const struct sample_part *part)
{
	const struct place *place = context;
	dump_part_place(place->dump, place->r);
}

void dump_sample_place(struct dump *dump, const struct resolved *r)
{
	struct place place = { .dump = dump, .r = r };
	if (r->evsel)
		sample_reads_each(&dump->reads, session_evlist(r->session), r->event, r->sample, dump_place, &place);
}
