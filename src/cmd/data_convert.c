#include "cmd/data_convert.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "cmd/exit_code.h"
#include "data/feature.h"
#include "os/written_file.h"

enum { FIELD_BYTES = 4096 };

struct convert {
	struct input input;
	struct sample_filter filter;
	struct written_file file;
	struct writer *out;
	uint64_t samples;
	bool cpus;                   /* an event records its CPU */
};

/* Begins a line of the document: a comma after the previous item unless this is the first, and the indentation. */
static void begin_line(struct writer *out, unsigned depth, bool first)
{
	writer_puts(out, first ? "\n" : ",\n");
	while (depth--)
		writer_putc(out, '\t');
}

static void put_key(struct writer *out, unsigned depth, const char *key, bool first)
{
	begin_line(out, depth, first);
	json_text(out, key);
	writer_puts(out, ": ");
}

static void put_text(struct writer *out, unsigned depth, const char *key, const char *text, bool first)
{
	put_key(out, depth, key, first);
	json_text(out, text);
}

static void put_number(struct writer *out, unsigned depth, const char *key, uint64_t number, bool first)
{
	put_key(out, depth, key, first);
	writer_printf(out, "%" PRIu64, number);
}

/* What the recording lacks has no key. */
static void put_feature(struct writer *out, const char *key, const struct header *header, enum feature feature)
{
	const char *text = header_string(header, feature);
	if (text)
		put_text(out, 2, key, text, false);
}

static void put_clock(struct writer *out, const struct header *header)
{
	struct feature_clock clock;
	if (!header_has(header, FEATURE_CLOCK_DATA) || feature_clock(header, &clock) < 0)
		return;
	put_number(out, 2, "clockid", clock.clockid, false);
	put_number(out, 2, "clock-time", clock.clock_ns, false);
	put_number(out, 2, "real-time", clock.wall_ns, false);
}

static void put_command_line(struct writer *out, const struct header *header, struct arena *arena)
{
	struct feature_strings words;
	if (!header_has(header, FEATURE_CMDLINE) || feature_cmdline(header, arena, &words) < 0)
		return;
	put_key(out, 2, "cmdline", false);
	writer_putc(out, '[');
	for (uint32_t i = 0; i < words.count; i++) {
		begin_line(out, 3, i == 0);
		json_text(out, words.items[i]);
	}
	writer_puts(out, "\n\t\t]");
}

static void put_header(struct convert *convert)
{
	static const struct {
		const char *key;
		enum feature feature;
	} texts[] = {
		{ "hostname", FEATURE_HOSTNAME }, { "os-release", FEATURE_OSRELEASE }, { "arch", FEATURE_ARCH }, { "cpu-desc", FEATURE_CPUDESC },
		{ "cpuid", FEATURE_CPUID },
	};
	const struct header *header = &convert->input.session.source->header;
	struct writer *out = convert->out;
	struct feature_cpus cpus = { 0 };
	struct arena arena = { 0 };
	struct tm captured;
	char moment[32] = "";
	if (gmtime_r(&header->captured, &captured))
		strftime(moment, sizeof moment, "%Y-%m-%dT%H:%M:%SZ", &captured);
	put_number(out, 2, "header-version", header->v1 ? 0 : 1, true);
	put_text(out, 2, "captured-on", moment, false);
	put_number(out, 2, "data-offset", header->data_offset, false);
	put_number(out, 2, "data-size", header->data_size, false);
	put_number(out, 2, "feat-offset", header->feature_offset, false);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		put_feature(out, texts[i].key, header, texts[i].feature);
	feature_cpus(header, &cpus);
	put_number(out, 2, "nrcpus-online", cpus.online, false);
	put_number(out, 2, "nrcpus-avail", cpus.available, false);
	put_clock(out, header);
	put_feature(out, "perf-version", header, FEATURE_VERSION);
	put_command_line(out, header, &arena);
	arena_fini(&arena);
}

static void put_frame(struct convert *convert, const struct location *location, bool first)
{
	struct writer *out = convert->out;
	begin_line(out, 4, first);
	writer_putc(out, '{');
	put_key(out, 5, "ip", true);
	writer_printf(out, "\"0x%" PRIx64 "\"", location->address);
	const struct modules *modules = &convert->input.session.model.modules;
	const struct module *module = location->module == MODULE_ID_NONE ? NULL : modules_get(modules, location->module);
	uint32_t symbol = module ? symbols_lookup(convert->input.symbols, module, location->offset) : 0;
	if (symbol) {
		put_text(out, 5, "symbol", symbols_name(convert->input.symbols, module, symbol), false);
		put_text(out, 5, "dso", module->short_name, false);
	}
	begin_line(out, 4, true);
	writer_putc(out, '}');
}

/* The recorded chain without its markers, or the sample's own address. */
static void put_chain(struct convert *convert, const struct resolved *r)
{
	bool first = true;
	put_key(convert->out, 3, "callchain", false);
	writer_putc(convert->out, '[');
	if (r->sample->present & SAMPLE_CALLCHAIN) {
		struct chain chain = resolved_chain_part(r, CHAIN_INNERMOST_FIRST, 0, r->sample->callchain_count, r->sample->callchain_count);
		for (size_t i = 0; i < chain.count; i++) {
			if (chain.frames[i]->address >= CONTEXT_MAX)
				continue;
			put_frame(convert, chain.frames[i], first);
			first = false;
		}
	} else if (r->sample->present & SAMPLE_IP) {
		put_frame(convert, resolved_ip(r), true);
	}
	begin_line(convert->out, 3, true);
	writer_putc(convert->out, ']');
}

static void put_fields(struct convert *convert, const struct resolved *r)
{
	const struct tracepoint_field *field;
	struct writer text;
	input_tracepoints(&convert->input);
	writer_open(&text, -1, FIELD_BYTES);
	for (unsigned i = 0; (field = tracepoints_field_at(convert->input.tracepoints, r->evsel->attr.config, i)); i++) {
		text.len = 0;
		tracepoint_field_print(field, r->sample->raw, r->sample->raw_size, &text);
		put_key(convert->out, 3, tracepoint_field_name(field), false);
		json_text_of(convert->out, text.buffer, text.len);
	}
	writer_fini(&text);
}

static void put_sample(void *context, const struct resolved *r, size_t slice)
{
	struct convert *convert = context;
	struct writer *out = convert->out;
	const struct sample *sample = r->sample;
	char unnamed[16];
	(void)slice;
	if (r->record->type != RECORD_SAMPLE || time_filter_drops(&convert->filter.time, sample->time))
		return;
	begin_line(out, 2, convert->samples++ == 0);
	writer_putc(out, '{');
	put_number(out, 3, "timestamp", sample->present & SAMPLE_TIME ? sample->time : UINT64_MAX, true);
	put_key(out, 3, "pid", false);
	writer_printf(out, "%" PRId32, r->pid);
	put_key(out, 3, "tid", false);
	writer_printf(out, "%" PRId32, r->tid);
	if (convert->cpus) {
		put_key(out, 3, "cpu", false);
		writer_printf(out, "%" PRId32, sample->present & SAMPLE_CPU ? (int32_t)sample->cpu : -1);
	}
	put_text(out, 3, "comm", resolved_comm(r, unnamed, sizeof unnamed), false);
	put_chain(convert, r);
	if (r->evsel->attr.type == ATTR_TRACEPOINT && sample->raw)
		put_fields(convert, r);
	begin_line(out, 2, true);
	writer_putc(out, '}');
}

static bool records_cpus(const struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].attr.sample_type & SAMPLE_CPU)
			return true;
	return false;
}

static int check_request(const struct convert_request *request, struct error *err)
{
	struct stat existing;
	if (!request->path)
		return error_set(err, ERROR_USAGE, "You must specify --to-json.");
	if (request->all)
		return error_set(err, ERROR_UNSUPPORTED, "--all is currently unsupported for JSON output.");
	if (!request->input.force && lstat(request->path, &existing) == 0)
		return error_set(err, ERROR_USAGE, "Output file exists. Use --force to overwrite it.");
	return input_check(&request->input, err);
}

/* The document, whole but for its last line. */
static void put_document(struct convert *convert)
{
	struct writer *out = convert->out;
	struct sink sink = { .context = convert, .record = put_sample, .serial = true };
	writer_puts(out, "{\n\t\"linux-perf-json-version\": 1,\n\t\"headers\": {");
	put_header(convert);
	writer_puts(out, "\n\t},\n\t\"samples\": [");
	input_run(&convert->input, &sink);
	writer_puts(out, "\n\t]\n}\n");
}

int convert_run(struct cli *cli, struct convert_request *request)
{
	struct error err = { 0 };
	struct convert convert = { 0 };
	bool opened = false;
	int code = EXIT_FAILED;
	if (check_request(request, &err) == 0 &&
	    input_open(&convert.input, cli, &request->input, &(struct input_use){ .remarks = REMARKS_NONE }, &err) == 0) {
		input_name_events(&convert.input);
		const struct header *header = &convert.input.session.source->header;
		opened = filter_open_time(&convert.filter, &request->filter, header, false, &err) == 0 &&
			written_open(&convert.file, request->path, &err) == 0;
	}
	if (opened) {
		convert.out = &convert.file.out;
		convert.cpus = records_cpus(session_evlist(&convert.input.session));
		input_symbols(&convert.input);
		input_window(&convert.input, &convert.filter.time);
		put_document(&convert);
		int status = written_keep(&convert.file, request->path, &err);
		int damaged = input_end(&convert.input, false, true);
		code = status < 0 ? EXIT_FAILED : damaged;
		if (status == 0)
			cli_warn(cli, "[ perf data convert: Converted '%s' into JSON data '%s' ]\n"
				"[ perf data convert: Converted and wrote %.3f MB (%" PRIu64 " samples) ]", convert.input.path, request->path,
				(double)convert.file.out.written / 1024 / 1024, convert.samples);
		written_drop(&convert.file);
	}
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	sample_filter_fini(&convert.filter);
	input_close(&convert.input);
	return code;
}
