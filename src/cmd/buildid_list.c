#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record_text.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "image/image.h"
#include "os/kernel.h"
#include "session/session.h"

extern const struct command command_buildid_list;

struct buildid_list_options {
	const char *input;
	bool with_hits, force, kernel, kernel_maps;
	int verbose;
};

static const struct option buildid_list_table[] = {
	OPT_BOOL('H', "with-hits", struct buildid_list_options, with_hits, "only what samples lie in"),
	OPT_STRING('i', "input", struct buildid_list_options, input, "file", "the recording, or an ELF file, to read (perf.data)"),
	OPT_BOOL('f', "force", struct buildid_list_options, force, "do not ask whose file it is"),
	OPT_BOOL('k', "kernel", struct buildid_list_options, kernel, "the build-id of the running kernel"),
	OPT_BOOL('m', "kernel-maps", struct buildid_list_options, kernel_maps,
		"build-ids and addresses of the running kernel and its modules"),
	OPT_INCR('v', "verbose", struct buildid_list_options, verbose, "tell more"),
	OPT_END(),
};

static const char *const buildid_list_usage[] = { "perf buildid-list [<options>]", NULL };

enum { ID_BYTES = 20, ID_DIGITS = 2 * ID_BYTES };

static void print_id(struct writer *out, const uint8_t *id, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		writer_printf(out, "%02x", id[i]);
}

static int list_kernel(struct cli *cli)
{
	uint8_t id[ID_BYTES];
	unsigned len = kernel_build_id(id);
	if (len != ID_BYTES)
		return 1;
	print_id(cli->out, id, len);
	writer_putc(cli->out, '\n');
	return 0;
}

static void print_map(struct writer *out, const uint8_t *id, unsigned len, uint64_t start, uint64_t end, const char *name)
{
	print_id(out, id, len);
	writer_printf(out, " %16" PRIx64 " %16" PRIx64 " ", start, end);
	plain_text(out, name, strlen(name));
	writer_putc(out, '\n');
}

static int module_compare(const void *a, const void *b)
{
	const struct kernel_module *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

static void print_module(struct writer *out, const struct kernel_module *module)
{
	uint8_t id[ID_BYTES];
	CLEANUP_STR struct str name = { 0 };
	unsigned len = kernel_module_build_id(module->name, id);
	str_printf(&name, "[%s]", module->name);
	print_map(out, id, len, module->start, module->start + module->size, module->path ? module->path : name.text);
}

/* The kernel and its modules in order of address. */
static int list_kernel_maps(struct cli *cli)
{
	struct kernel_text text = { 0 };
	struct kernel_modules modules = { 0 };
	uint8_t id[ID_BYTES];
	kernel_text(&text, NULL);
	kernel_modules(&modules, NULL);
	if (modules.list.count)
		qsort(modules.list.items, modules.list.count, sizeof *modules.list.items, module_compare);
	size_t i = 0;
	for (; i < modules.list.count && modules.list.items[i].start < text.start; i++)
		print_module(cli->out, &modules.list.items[i]);
	uint64_t end = text.end ? text.end : i < modules.list.count ? modules.list.items[i].start : UINT64_MAX;
	print_map(cli->out, id, kernel_build_id(id), text.start, end, "[kernel.kallsyms]");
	for (; i < modules.list.count; i++)
		print_module(cli->out, &modules.list.items[i]);
	kernel_modules_fini(&modules);
	return 0;
}

/* One line of the list. */
struct row {
	int32_t machine; /* guests after the host */
	const char *name;
	const uint8_t *id;
	unsigned len;
	size_t place;    /* where it stood: the last of equal ones counts */
};

static int row_compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;
	int order = left->machine < right->machine ? -1 : left->machine > right->machine;
	if (!order)
		order = strcmp(left->name, right->name);
	if (!order)
		order = left->place < right->place ? -1 : left->place > right->place;
	return order;
}

struct rows {
	VEC(struct row) list;
};

static void rows_print(struct rows *rows, bool once, struct writer *out)
{
	if (rows->list.count)
		qsort(rows->list.items, rows->list.count, sizeof *rows->list.items, row_compare);
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct row *row = &rows->list.items[i], *next = i + 1 < rows->list.count ? row + 1 : NULL;
		if (once && next && next->machine == row->machine && strcmp(next->name, row->name) == 0)
			continue;
		print_id(out, row->id, row->len);
		writer_pad(out, ' ', row->len < ID_BYTES ? ID_DIGITS - 2 * row->len : 0);
		writer_putc(out, ' ');
		plain_text(out, row->name, strlen(row->name));
		writer_putc(out, '\n');
	}
	vec_fini(&rows->list);
}

/* What the recording's own table says. */
static void list_table(struct cli *cli, const struct header *header)
{
	struct rows rows = { 0 };
	for (size_t i = 0; i < header->build_ids.count; i++) {
		const struct build_id_entry *entry = &header->build_ids.items[i];
		vec_push(&rows.list, ((struct row){ .machine = entry->pid > 0 ? entry->pid : -1, .name = entry->filename,
			.id = entry->id.bytes, .len = entry->id.len, .place = i }));
	}
	rows_print(&rows, true, cli->out);
}

/* Which modules samples lie in, by module id; workers only ever set. */
struct hits {
	uint8_t *modules;
	size_t count;
};

static void hits_batch_begin(void *context, struct session *session, __attribute__((unused)) size_t slices)
{
	struct hits *hits = context;
	size_t count = session->model.modules.list.count;
	if (count <= hits->count)
		return;
	hits->modules = memory_resize(hits->modules, count, 1);
	memset(hits->modules + hits->count, 0, count - hits->count);
	hits->count = count;
}

static void hits_record(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct hits *hits = context;
	const struct location *ip = resolved_ip(r);
	if (ip && ip->module < hits->count)
		__atomic_store_n(&hits->modules[ip->module], 1, __ATOMIC_RELAXED);
}

static void list_hits(struct cli *cli, const struct session *session, const struct hits *hits)
{
	struct rows rows = { 0 };
	for (size_t i = 0; i < hits->count; i++) {
		const struct module *module = session->model.modules.list.items[i];
		if (hits->modules[i])
			vec_push(&rows.list, ((struct row){ .machine = -1, .name = module->long_name, .id = module->build_id,
				.len = module->build_id_len, .place = i }));
	}
	rows_print(&rows, false, cli->out);
}

/* Takes source over. */
static int list_sampled(struct cli *cli, struct source *source)
{
	struct session session;
	struct session_options session_options = { 0 };
	struct hits hits = { 0 };
	struct error err = { 0 };
	if (session_open(&session, source, &session_options, &err) < 0)
		return cli_complain(cli, &err);
	struct sink sink = { .context = &hits, .batch_begin = hits_batch_begin, .record = hits_record };
	bool failed = session_run(&session, &sink, &err) < 0;
	if (failed)
		cli_complain(cli, &err);
	/* What no round had released when the recording broke off does not count in perf. */
	if (!failed || session.counters.by_type[RECORD_FINISHED_ROUND])
		list_hits(cli, &session, &hits);
	free(hits.modules);
	session_close(&session);
	return 0;
}

static int buildid_list_run(struct cli *cli, void *arg, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct buildid_list_options *options = arg;
	const char *path = options->input ? options->input : "perf.data";
	cli_pager(cli, &command_buildid_list);
	if (options->kernel)
		return list_kernel(cli);
	if (options->kernel_maps)
		return list_kernel_maps(cli);
	uint8_t id[ELF_BUILD_ID_MAX];
	unsigned len = image_build_id_of_path(path, id);
	if (len == ID_BYTES) {
		print_id(cli->out, id, len);
		writer_putc(cli->out, '\n');
		return 0;
	}
	struct source *source;
	struct source_options source_options = { .force = options->force };
	struct error err = { 0 };
	if (source_open(&source, path, &source_options, &err) < 0) {
		cli_complain(cli, &err);
		return 255;
	}
	/* A trace is not decoded for this: then everything counts as hit. */
	const struct header *header = &source->header;
	bool table = !header->pipe && header_has(header, FEATURE_BUILD_ID);
	if (!table || (options->with_hits && !header_has(header, FEATURE_AUXTRACE)))
		return list_sampled(cli, source);
	list_table(cli, header);
	source_close(source);
	return 0;
}

const struct command command_buildid_list = {
	.name = "buildid-list",
	.summary = "list the build-ids that a recording names",
	.usage = buildid_list_usage,
	.options = buildid_list_table,
	.options_size = sizeof(struct buildid_list_options),
	.run = buildid_list_run,
	.pages = true,
};
