#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record_text.h"
#include "base/str.h"
#include "cmd/build_id_rows.h"
#include "cmd/command.h"
#include "image/image.h"
#include "os/kernel.h"

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

enum { EXIT_OPEN = 255, ID_BYTES = ELF_BUILD_ID_MAX };

static int list_kernel(struct cli *cli)
{
	uint8_t id[ID_BYTES];
	unsigned len = kernel_build_id(id);
	if (len != ID_BYTES)
		return 1;
	build_id_print(cli->out, id, len);
	writer_putc(cli->out, '\n');
	return 0;
}

static void print_map(struct writer *out, const uint8_t *id, unsigned len, uint64_t start, uint64_t end, const char *name)
{
	build_id_print(out, id, len);
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

static void rows_print(const struct build_id_rows *rows, struct writer *out)
{
	for (size_t i = 0; i < rows->list.count; i++)
		build_id_row_print(&rows->list.items[i], out);
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
		build_id_print(cli->out, id, len);
		writer_putc(cli->out, '\n');
		return 0;
	}
	struct build_id_rows rows = { 0 };
	struct error err = { 0 };
	int status = build_id_rows_read(&rows, path, options->force, options->with_hits, &err);
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	rows_print(&rows, cli->out);
	build_id_rows_fini(&rows);
	return status < 0 ? EXIT_OPEN : 0;
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
