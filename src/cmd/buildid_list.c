#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/dump/record_text.h"
#include "base/str.h"
#include "cmd/build_id_rows.h"
#include "cmd/format_option.h"
#include "cmd/loss_summary.h"
#include "image/image.h"
#include "os/kernel.h"

extern const struct command command_buildid_list;

struct buildid_list_options {
	const char *input;
	const struct format *format;
	bool with_hits, force, kernel, kernel_maps;
	int verbose;
};

static const struct option buildid_list_table[] = {
	OPT_BOOL('H', "with-hits", struct buildid_list_options, with_hits, "only files that samples hit"),
	OPT_STRING('i', "input", struct buildid_list_options, input, "file", "the recording, or an ELF file, to read (perf.data)"),
	OPT_BOOL('f', "force", struct buildid_list_options, force, "read a recording of another user, too"),
	OPT_BOOL('k', "kernel", struct buildid_list_options, kernel, "the build-id of the running kernel"),
	OPT_BOOL('m', "kernel-maps", struct buildid_list_options, kernel_maps,
		"build-ids and addresses of the running kernel and its modules"),
	OPT_INCR('v', "verbose", struct buildid_list_options, verbose, "print more"),
	OPT_FORMAT(struct buildid_list_options, format),
	OPT_END(),
};

static const char *const buildid_list_usage[] = { "perf buildid-list [<options>]", NULL };

enum { ID_BYTES = ELF_BUILD_ID_MAX };

enum { RESULTS_VERSION = 1 };

/* The form of the text: an id alone, an id with addresses and a name, or an id with a name. */
enum line_form { LINE_ID, LINE_MAP, LINE_MODULE };

struct listed {
	struct build_id_row row;
	uint64_t start, end;
};

/* The rows of the list, for all formats. */
struct listing {
	enum line_form form;
	VEC(struct listed) list;
	struct arena arena;
};

static void listing_add(struct listing *listing, const uint8_t *id, unsigned len, uint64_t start, uint64_t end, const char *name)
{
	struct listed listed = { .row = { .machine = -1, .len = (uint8_t)len }, .start = start, .end = end };
	listed.row.name = arena_string(&listing->arena, name, strlen(name));
	memcpy(listed.row.id, id, len);
	vec_push(&listing->list, listed);
}

/* false: the running kernel has no build-id. */
static bool list_kernel(struct listing *listing)
{
	uint8_t id[ID_BYTES];
	unsigned len = kernel_build_id(id);
	listing->form = LINE_ID;
	if (len != ID_BYTES)
		return false;
	listing_add(listing, id, len, 0, 0, "[kernel.kallsyms]");
	return true;
}

static int module_compare(const void *a, const void *b)
{
	const struct kernel_module *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

static void list_module(struct listing *listing, const struct kernel_module *module)
{
	uint8_t id[ID_BYTES];
	CLEANUP_STR struct str name = { 0 };
	unsigned len = kernel_module_build_id(module->name, id);
	str_printf(&name, "[%s]", module->name);
	listing_add(listing, id, len, module->start, module->start + module->size, module->path ? module->path : name.text);
}

/* The kernel and its modules in order of address. */
static void list_kernel_maps(struct listing *listing)
{
	struct kernel_text text = { 0 };
	struct kernel_modules modules = { 0 };
	uint8_t id[ID_BYTES];
	listing->form = LINE_MAP;
	kernel_text(&text, NULL);
	kernel_modules(&modules, NULL);
	if (modules.list.count)
		qsort(modules.list.items, modules.list.count, sizeof *modules.list.items, module_compare);
	size_t i = 0;
	for (; i < modules.list.count && modules.list.items[i].start < text.start; i++)
		list_module(listing, &modules.list.items[i]);
	uint64_t end = text.end ? text.end : i < modules.list.count ? modules.list.items[i].start : UINT64_MAX;
	unsigned len = kernel_build_id(id);
	listing_add(listing, id, len, text.start, end, "[kernel.kallsyms]");
	for (; i < modules.list.count; i++)
		list_module(listing, &modules.list.items[i]);
	kernel_modules_fini(&modules);
}

static void list_recording(struct listing *listing, const struct build_id_rows *rows)
{
	listing->form = LINE_MODULE;
	for (size_t i = 0; i < rows->list.count; i++)
		vec_push(&listing->list, ((struct listed){ .row = rows->list.items[i] }));
}

static void print_line(const struct listing *listing, const struct listed *listed, struct writer *out)
{
	if (listing->form == LINE_MODULE) {
		build_id_row_print(&listed->row, out);
		return;
	}
	build_id_print(out, listed->row.id, listed->row.len);
	if (listing->form == LINE_MAP) {
		writer_printf(out, " %16" PRIx64 " %16" PRIx64 " ", listed->start, listed->end);
		writer_name(out, listed->row.name, strlen(listed->row.name));
	}
	writer_putc(out, '\n');
}

enum { COLUMN_BUILD_ID, COLUMN_NAME, COLUMN_GUEST, COLUMN_START, COLUMN_END };

static const struct table_column columns[] = {
	[COLUMN_BUILD_ID] = { "build_id", "Build-id", NULL, CELL_TEXT },
	[COLUMN_NAME] = { "name", "Name", NULL, CELL_TEXT },
	[COLUMN_GUEST] = { "guest", "Guest", NULL, CELL_NUMBER },
	[COLUMN_START] = { "start", "Start", NULL, CELL_ADDRESS },
	[COLUMN_END] = { "end", "End", NULL, CELL_ADDRESS },
};

static size_t listed_count(void *context, uint64_t parent)
{
	const struct listing *listing = context;
	return parent == TABLE_TOP ? listing->list.count : 0;
}

static struct cell listed_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct listing *listing = context;
	const struct listed *listed = &listing->list.items[row - 1];
	switch (column) {
	case COLUMN_BUILD_ID:
		for (unsigned i = 0; i < listed->row.len; i++)
			str_printf(scratch, "%02x", listed->row.id[i]);
		return cell_text(listed->row.len ? str_text(scratch) : NULL);
	case COLUMN_NAME:
		return cell_text(listed->row.name);
	case COLUMN_GUEST:
		return listed->row.machine < 0 ? cell_text(NULL) : cell_number(listed->row.machine);
	default:
		return (struct cell){ .kind = CELL_ADDRESS, .count = column == COLUMN_START ? listed->start : listed->end };
	}
}

static void listing_print(struct listing *listing, const struct format *format, struct writer *out)
{
	struct table table = { .name = "build_ids", .columns = columns, .column_count = COLUMN_START, .context = listing,
		.row_count = listed_count, .row = table_row_in_order, .cell = listed_cell };
	const struct results results = { .schema = "perfuse.buildid-list", .version = RESULTS_VERSION, .tables = &table, .table_count = 1 };
	if (listing->form == LINE_MAP)
		table.column_count = COLUMN_END + 1;
	if (format_is_table(format)) {
		format->print(&results, out);
		return;
	}
	for (size_t i = 0; i < listing->list.count; i++)
		print_line(listing, &listing->list.items[i], out);
}

/* Returns the exit code. */
static int list_file(struct cli *cli, const struct buildid_list_options *options, struct listing *listing)
{
	const char *path = options->input ? options->input : "perf.data";
	uint8_t id[ELF_BUILD_ID_MAX];
	unsigned len = image_build_id_of_path(path, id);
	if (len == ID_BYTES) {
		listing->form = LINE_ID;
		listing_add(listing, id, len, 0, 0, path);
		listing_print(listing, options->format, cli->out);
		return 0;
	}
	struct build_id_rows rows = { 0 };
	struct error err = { 0 };
	if (build_id_rows_read(&rows, path, options->force, options->with_hits, cli->budget, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	list_recording(listing, &rows);
	listing_print(listing, options->format, cli->out);
	int code = loss_summary_print(cli, path, &rows.losses, false);
	build_id_rows_fini(&rows);
	return code;
}

static int buildid_list_run(struct cli *cli, void *arg, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct buildid_list_options *options = arg;
	struct listing listing = { 0 };
	int code = 0;
	cli_pager(cli, &command_buildid_list);
	if (options->kernel || options->kernel_maps) {
		if (options->kernel)
			code = list_kernel(&listing) ? 0 : EXIT_NO;
		else
			list_kernel_maps(&listing);
		listing_print(&listing, options->format, cli->out);
	} else {
		code = list_file(cli, options, &listing);
	}
	vec_fini(&listing.list);
	arena_fini(&listing.arena);
	return code;
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
