#include "cmd/script/dlfilter.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/data_source.h"
#include "arch/x86/instruction.h"
#include "cmd/environment.h"
#include "cmd/input.h"
#include "cmd/script/dlfilter_abi.h"
#include "data/evsel_name.h"
#include "os/place.h"
#include "session/resolved.h"
#include "session/trace.h"
#include "symbol/lines.h"

enum { TEXT_BYTES = 1 << 16, FILTERS_MAX = 4096 };

_Static_assert(sizeof(void *) != 8 || sizeof(struct dlfilter_sample) == 208, "layout of perf-dlfilter(1)");
_Static_assert(sizeof(struct dlfilter_functions) == 128 * sizeof(void *), "layout of perf-dlfilter(1)");

struct dlfilter {
	void *object;
	dlfilter_start *start;
	dlfilter_stop *stop;
	dlfilter_event *event, *early;
	const char *name;
	char **arguments;
	int argument_count;
	struct input *input;
	void *data;                  /* the filter's own */
	const struct resolved *r;    /* of the current call; NULL: no sample */
	bool dropped;
	struct dlfilter_location ip, addr;
	char comm[COMM_TEXT], event_name[EVSEL_NAME_MAX];
	bool reads_code;             /* the recording is of x86 */
	uint8_t instruction[INSTRUCTION_SIZE_MAX];
	_Alignas(8) uint8_t attr[ATTR_SIZE_VER9];
	VEC(uint64_t) words;         /* aligned copies of the call chain and the branches */
	char text[TEXT_BYTES];       /* of stdio */
};

/* What stdio has of the filter's text becomes part of the output. */
static void take_text(const struct dlfilter *filter, struct writer *out)
{
	size_t pending = __fpending(stdout);
	if (!pending)
		return;
	writer_add(out, filter->text, pending < TEXT_BYTES ? pending : TEXT_BYTES);
	__fpurge(stdout);
}

static const struct module *module_of(const struct dlfilter *filter, const struct location *location)
{
	return location->module == MODULE_ID_NONE ? NULL : modules_get(&filter->input->session.model.modules, location->module);
}

static bool is_64bit(const struct dlfilter *filter, const struct module *module, uint64_t offset)
{
	bool is64 = true;
	uint8_t byte;
	code_files_read(&filter->input->code, module, offset, &byte, sizeof byte, &is64);
	return is64;
}

static void fill_location(const struct dlfilter *filter, const struct location *location, struct dlfilter_location *out)
{
	const struct module *module = module_of(filter, location);
	*out = (struct dlfilter_location){ .size = sizeof *out, .addr = location->offset, .is_kernel_ip = location->address >> 63 };
	if (!module)
		return;
	out->dso = filter->input->options->verbose ? module->long_name : module->name;
	out->is_64_bit = is_64bit(filter, module, location->offset);
	out->buildid_size = module->build_id_len;
	out->buildid = module->build_id;
	uint32_t id = symbols_lookup(filter->input->symbols, module, location->offset);
	if (!id)
		return;
	const struct symbol *symbol = symbols_get(filter->input->symbols, module, id);
	out->sym = symbols_name(filter->input->symbols, module, id);
	out->symoff = (uint32_t)(location->offset - symbol->start);
	out->sym_start = symbol->start;
	out->sym_end = symbol->end;
	out->sym_binding = symbol->binding;
}

static const struct dlfilter_location *resolve_ip(void *ctx)
{
	struct dlfilter *filter = ctx;
	if (!filter->r)
		return NULL;
	fill_location(filter, resolved_ip(filter->r), &filter->ip);
	filter->ip.comm = resolved_comm(filter->r, filter->comm, sizeof filter->comm);
	filter->ip.filtered = filter->dropped;
	return &filter->ip;
}

/* Whether the address of a sample may be that of code. */
static bool has_code_address(const struct resolved *r)
{
	enum { PAGE_FAULTS = 2, PAGE_FAULTS_MIN = 5, PAGE_FAULTS_MAJ = 6 };
	const struct attr *attr = &r->evsel->attr;
	return attr_is_branch_trace(attr) || (attr->type == ATTR_SOFTWARE && (attr->config == PAGE_FAULTS ||
		attr->config == PAGE_FAULTS_MIN || attr->config == PAGE_FAULTS_MAJ));
}

static const struct dlfilter_location *resolve_addr(void *ctx)
{
	struct dlfilter *filter = ctx;
	if (!filter->r || !has_code_address(filter->r))
		return NULL;
	fill_location(filter, resolved_locate_any(filter->r, filter->r->sample->addr), &filter->addr);
	return &filter->addr;
}

static char **get_arguments(void *ctx, int *count)
{
	struct dlfilter *filter = ctx;
	*count = filter->argument_count;
	return filter->arguments;
}

static int32_t resolve_address(void *ctx, uint64_t address, struct dlfilter_location *location)
{
	struct dlfilter *filter = ctx;
	struct dlfilter_location found;
	uint32_t size = location->size;
	if (!filter->r || size < offsetof(struct dlfilter_location, filtered))
		return -1;
	fill_location(filter, resolved_locate_any(filter->r, address), &found);
	found.size = size < sizeof found ? size : (uint32_t)sizeof found;
	memcpy(location, &found, found.size);
	return 0;
}

static int32_t object_code(void *ctx, uint64_t ip, void *buffer, uint32_t length)
{
	struct dlfilter *filter = ctx;
	bool is64;
	if (!filter->r)
		return -1;
	const struct location *location = resolved_locate_any(filter->r, ip);
	const struct module *module = module_of(filter, location);
	if (!module)
		return -1;
	size_t got = code_files_read(&filter->input->code, module, location->offset, buffer, length < INT32_MAX ? length : INT32_MAX, &is64);
	return got ? (int32_t)got : -1;
}

/* That of the trace, or the one at the sample's address, of x86. */
static const uint8_t *get_instruction(void *ctx, uint32_t *length)
{
	struct dlfilter *filter = ctx;
	const struct trace_note *note = filter->r ? trace_note_of(filter->r) : NULL;
	struct instruction found;
	bool is64;
	if (note && note->has_instruction) {
		*length = note->instruction_size;
		return note->instruction;
	}
	const struct location *location = filter->r && filter->reads_code ? resolved_ip(filter->r) : NULL;
	const struct module *module = location ? module_of(filter, location) : NULL;
	if (!module)
		return NULL;
	size_t got = code_files_read(&filter->input->code, module, location->offset, filter->instruction, INSTRUCTION_SIZE_MAX, &is64);
	if (!got || !instruction_decode(filter->instruction, got, is64 ? 64 : 32, &found))
		return NULL;
	*length = found.size;
	return filter->instruction;
}

static const char *get_line(void *ctx, uint32_t *number)
{
	struct dlfilter *filter = ctx;
	struct source_line line;
	const struct location *location = filter->r ? resolved_ip(filter->r) : NULL;
	const struct module *module = location ? module_of(filter, location) : NULL;
	if (!module || !lines_place(filter->input->symbols, module, location->offset, false, &line))
		return NULL;
	*number = line.line;
	return line.file;
}

static const void *get_attr(void *ctx)
{
	struct dlfilter *filter = ctx;
	if (!filter->r)
		return NULL;
	memset(filter->attr, 0, sizeof filter->attr);
	attr_encode(&filter->r->evsel->attr, filter->attr);
	return filter->attr;
}

static void fill_parts(struct dlfilter *filter, struct dlfilter_sample *out)
{
	enum { BRANCH_WORDS = sizeof(struct branch_entry) / sizeof(uint64_t) };
	const struct sample *sample = filter->r->sample;
	size_t chain = sample->callchain_count, branches = sample->branch_count * BRANCH_WORDS;
	vec_clear(&filter->words);
	vec_reserve(&filter->words, chain + branches);
	if (chain) {
		memcpy(filter->words.items, sample->callchain, chain * sizeof(uint64_t));
		out->raw_callchain = filter->words.items;
		out->raw_callchain_nr = chain;
	}
	if (branches) {
		memcpy(filter->words.items + chain, sample->branches, branches * sizeof(uint64_t));
		out->brstack = filter->words.items + chain;
		out->brstack_nr = sample->branch_count;
	}
	if (sample->present & SAMPLE_RAW) {
		out->raw_size = sample->raw_size;
		out->raw_data = sample->raw;
	}
}

/* Samples of traces have neither misc nor data_src, as in perf. */
static void fill_sample(struct dlfilter *filter, struct dlfilter_sample *out)
{
	const struct resolved *r = filter->r;
	const struct sample *s = r->sample;
	const struct trace_note *note = trace_note_of(r);
	*out = (struct dlfilter_sample){ .size = sizeof *out, .ins_lat = s->ins_lat, .p_stage_cyc = s->p_stage_cyc, .ip = s->ip,
		.pid = (int32_t)s->pid, .tid = (int32_t)s->tid, .time = s->time, .addr = s->addr, .id = s->id, .stream_id = s->stream_id,
		.period = s->period, .weight = s->weight, .transaction = s->transaction, .insn_cnt = note ? note->instructions : 0,
		.cyc_cnt = note ? note->cycles : 0, .cpu = (int32_t)s->cpu, .flags = note ? note->flags : 0,
		.data_src = note ? 0 : s->present & SAMPLE_DATA_SRC ? s->data_src : DATA_SOURCE_NONE, .phys_addr = s->phys_addr,
		.data_page_size = s->data_page_size, .code_page_size = s->code_page_size, .cgroup = s->cgroup,
		.cpumode = (uint8_t)record_cpumode(r->record), .addr_correlates_sym = has_code_address(r), .misc = note ? 0 : r->record->misc,
		.event = evsel_name(r->evsel, filter->event_name, sizeof filter->event_name) };
	fill_parts(filter, out);
}

int dlfilter_sample(void *context, const struct resolved *r, bool early, bool dropped, struct writer *out, struct error *err)
{
	struct dlfilter *filter = context;
	struct dlfilter_sample sample;
	dlfilter_event *call = early ? filter->early : filter->event;
	if (!call)
		return 0;
	filter->r = r;
	filter->dropped = dropped;
	fill_sample(filter, &sample);
	int result = call(filter->data, &sample, filter);
	filter->r = NULL;
	take_text(filter, out);
	return result < 0 ? error_set(err, ERROR_USAGE, "the filter %s failed: it returned %d", filter->name, result) : result;
}

/* A filter is code: if another user may have changed it, it is not run. */
static int check_owner(int fd, const char *path, bool force, struct error *err)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return error_system(err, "cannot read the filter %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_USAGE, "the filter %s is not a file", path);
	if (force || status_is_private(&st))
		return 0;
	error_set(err, ERROR_PERMISSION, "another user can change the filter %s", path);
	return error_hint(err, "-f runs it all the same");
}

/* The file that was checked is the one that is loaded. */
static int load_file(void **object, const char *path, bool force, struct error *err)
{
	char name[32];
	struct error refused = { 0 };
	int fd = force ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : place_read(path, O_RDONLY | O_NONBLOCK, &refused);
	if (fd < 0 && refused.kind == ERROR_PERMISSION && !refused.sys) {
		*err = refused;
		return error_hint(err, "-f runs it all the same");
	}
	errno = refused.sys ? refused.sys : errno;
	if (fd < 0)
		return error_system(err, "cannot open the filter %s", path);
	int result = check_owner(fd, path, force, err);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (!result && !(*object = dlopen(name, RTLD_NOW)))
		result = error_set(err, ERROR_FORMAT, "the filter %s cannot be loaded: %s", path, dlerror());
	close(fd);
	return result;
}

static void filters_folder(struct str *path)
{
	environment_exec_path(path);
	str_puts(path, "/dlfilters");
}

/* A filter would have the program's rights, which its user has not. */
static int check_rights(struct error *err)
{
	return environment_is_foreign() ? error_set(err, ERROR_PERMISSION, "filters do not run in a program with rights of its own") : 0;
}

static int load(void **object, const struct dlfilter_options *options, struct error *err)
{
	struct str path CLEANUP_STR = { 0 };
	if (check_rights(err) < 0)
		return -1;
	if (strchr(options->path, '/') || access(options->path, R_OK) == 0)
		return load_file(object, options->path, options->force, err);
	filters_folder(&path);
	str_puts(&path, "/");
	str_puts(&path, options->path);
	if (access(str_text(&path), R_OK) == 0)
		return load_file(object, str_text(&path), options->force, err);
	*object = dlopen(options->path, RTLD_NOW);
	return *object ? 0 : error_set(err, ERROR_USAGE, "there is no filter %s: %s", options->path, dlerror());
}

static int find_functions(struct dlfilter *filter, struct error *err)
{
	static const struct dlfilter_functions functions = { .resolve_ip = resolve_ip, .resolve_addr = resolve_addr, .args = get_arguments,
		.resolve_address = resolve_address, .insn = get_instruction, .srcline = get_line, .attr = get_attr, .object_code = object_code };
	struct dlfilter_functions *own = dlsym(filter->object, "perf_dlfilter_fns");
	*(void **)&filter->start = dlsym(filter->object, "start");
	*(void **)&filter->stop = dlsym(filter->object, "stop");
	*(void **)&filter->event = dlsym(filter->object, "filter_event");
	*(void **)&filter->early = dlsym(filter->object, "filter_event_early");
	if (!filter->event && !filter->early)
		return error_set(err, ERROR_USAGE, "%s is not a filter: it defines neither filter_event nor filter_event_early", filter->name);
	if (own)
		*own = functions;
	return 0;
}

int dlfilter_open(struct dlfilter **out, const struct dlfilter_options *options, struct input *input, struct writer *writer,
	struct error *err)
{
	struct dlfilter *filter = *out = memory_zero(1, sizeof *filter);
	filter->input = input;
	filter->reads_code = options->isa == ISA_X86;
	filter->name = options->path;
	filter->arguments = options->arguments.items;
	filter->argument_count = (int)options->arguments.count;
	if (load(&filter->object, options, err) < 0 || find_functions(filter, err) < 0)
		return -1;
	fflush(stdout);
	setvbuf(stdout, filter->text, _IOFBF, sizeof filter->text);
	int result = filter->start ? filter->start(&filter->data, filter) : 0;
	take_text(filter, writer);
	if (result)
		filter->stop = NULL;
	return result ? error_set(err, ERROR_USAGE, "the filter %s does not start: it returned %d", filter->name, result) : 0;
}

int dlfilter_end(struct dlfilter *filter, struct writer *out, struct error *err)
{
	int result = filter->stop ? filter->stop(filter->data, filter) : 0;
	filter->stop = NULL;
	take_text(filter, out);
	return result ? error_set(err, ERROR_USAGE, "the filter %s failed at its end: it returned %d", filter->name, result) : 0;
}

void dlfilter_close(struct dlfilter *filter)
{
	if (!filter)
		return;
	if (filter->stop)
		filter->stop(filter->data, filter);
	fflush(stdout);
	setvbuf(stdout, NULL, _IONBF, 0); /* not the buffer that is freed */
	if (filter->object)
		dlclose(filter->object);
	vec_fini(&filter->words);
	free(filter);
}

static void list_one(struct cli *cli, const char *folder, const char *name, bool verbose, bool force)
{
	struct str path CLEANUP_STR = { 0 };
	struct error err = { 0 };
	void *object = NULL;
	str_puts(&path, folder);
	str_puts(&path, "/");
	str_puts(&path, name);
	if (load_file(&object, str_text(&path), force, &err) < 0) {
		cli_warn(cli, "%s", err.text);
		return;
	}
	const char *more = NULL;
	dlfilter_description *describe;
	*(void **)&describe = dlsym(object, "filter_description");
	bool filters = dlsym(object, "filter_event") || dlsym(object, "filter_event_early");
	const char *text = describe ? describe(&more) : "";
	if (filters)
		writer_printf(cli->out, "  %-36s %s\n", name, text ? text : "");
	if (filters && verbose && more)
		writer_printf(cli->out, "%s\n", more);
	dlclose(object);
}

static int is_object(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return len > 3 && strcmp(entry->d_name + len - 3, ".so") == 0;
}

static void list_folder(struct cli *cli, const char *folder, bool verbose, bool force)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_object, alphasort);
	for (int i = 0; i < count; i++) {
		if (i < FILTERS_MAX)
			list_one(cli, folder, entries[i]->d_name, verbose, force);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

int dlfilter_list(struct cli *cli, bool verbose, bool force, struct error *err)
{
	struct str path CLEANUP_STR = { 0 };
	if (check_rights(err) < 0)
		return -1;
	writer_puts(cli->out, "List of available dlfilters:\n");
	list_folder(cli, ".", verbose, force);
	filters_folder(&path);
	list_folder(cli, str_text(&path), verbose, force);
	return 0;
}
