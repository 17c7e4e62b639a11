#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "image/file.h"
#include "os/kernel.h"
#include "os/permission.h"
#include "symbol/kallsyms.h"

extern const struct command command_kallsyms;

struct kallsyms_options {
	int verbose;
};

static const struct option kallsyms_table[] = {
	OPT_INCR('v', "verbose", struct kallsyms_options, verbose, "print more messages"),
	OPT_END(),
};

static const char *const kallsyms_usage[] = { "perf kallsyms [<options>] symbol_name", NULL };

/* The symbol of one name; its addresses are relative to the start of its module. */
struct answer {
	struct symbol symbol;
	const struct kernel_module *module; /* NULL: the kernel */
	bool found;
};

/* The requested names and their symbols. */
struct wanted {
	struct strtab names;
	VEC(struct answer) answers; /* by id in names */
};

static void wanted_open(struct wanted *wanted, int argc, const char **argv)
{
	for (int i = 0; i < argc; i++) {
		uint32_t id = strtab_add(&wanted->names, argv[i], strlen(argv[i]));
		while (wanted->answers.count <= id)
			vec_add(&wanted->answers);
	}
}

static void wanted_close(struct wanted *wanted)
{
	strtab_fini(&wanted->names);
	vec_fini(&wanted->answers);
}

/* The first symbol of each name counts. */
static void wanted_offer(struct wanted *wanted, const struct symbol *symbol, const struct kernel_module *module)
{
	uint32_t id = strtab_find(&wanted->names, symbol->name, strlen(symbol->name));
	if (id == UINT32_MAX || wanted->answers.items[id].found)
		return;
	wanted->answers.items[id] = (struct answer){ .symbol = *symbol, .module = module, .found = true };
}

static void look_up_module(struct wanted *wanted, const struct kallsyms *k, const struct kernel_module *module)
{
	CLEANUP_STR struct str name = { 0 };
	struct symbol_table table = { 0 };
	str_printf(&name, "[%s]", module->name);
	kallsyms_module(k, name.text, module->start, &table);
	/* a module's data may lie outside the range that its address and size state */
	for (uint32_t i = 0; i < table.count; i++)
		if (table.symbols[i].start < module->size)
			wanted_offer(wanted, &table.symbols[i], module);
	table_fini(&table);
}

static int module_compare(const void *a, const void *b)
{
	const struct kernel_module *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

/* Searches the mapped part of the kernel and the loaded modules in order of address: on some machines modules lie below the kernel. */
static void look_up(struct wanted *wanted, const struct kallsyms *k, const struct kernel_modules *modules)
{
	struct kernel_text text = { 0 };
	size_t at = 0;
	kernel_text(&text, NULL);
	if (modules->list.count)
		qsort(modules->list.items, modules->list.count, sizeof *modules->list.items, module_compare);
	for (; at < modules->list.count && modules->list.items[at].start < text.start; at++)
		look_up_module(wanted, k, &modules->list.items[at]);
	for (uint32_t i = 0; i < k->kernel.count; i++) {
		const struct symbol *symbol = &k->kernel.symbols[i];
		if (symbol->start >= text.start && (!text.end || symbol->start < text.end))
			wanted_offer(wanted, symbol, NULL);
	}
	for (; at < modules->list.count; at++)
		look_up_module(wanted, k, &modules->list.items[at]);
}

static void print(struct writer *out, const struct wanted *wanted, const char *name)
{
	const struct answer *answer = &wanted->answers.items[strtab_find(&wanted->names, name, strlen(name))];
	const struct kernel_module *module = answer->module;
	uint64_t start = answer->symbol.start, end = answer->symbol.end, base = module ? module->start : 0;
	if (!answer->found) {
		writer_name(out, name, strlen(name));
		writer_puts(out, ": not found\n");
		return;
	}
	writer_printf(out, "%s: ", name);
	if (module)
		writer_printf(out, "[%s] %s%s%s", module->name, module->path ? "" : "[", module->path ? module->path : module->name,
			module->path ? "" : "]");
	else
		writer_puts(out, "[kernel] [kernel.kallsyms]");
	writer_printf(out, " %#" PRIx64 "-%#" PRIx64 " (%#" PRIx64 "-%#" PRIx64 ")\n", base + start, base + end, start, end);
}

static int kallsyms_run(struct cli *cli, __attribute__((unused)) void *options, int argc, const char **argv)
{
	struct kallsyms k = { 0 };
	struct kernel_modules modules = { 0 };
	struct wanted wanted = { 0 };
	struct error err = { 0 };
	char *text;
	size_t len;
	if (argc < 1)
		return cli_usage(cli, &command_kallsyms, NULL);
	if (rooted_read(-1, "/proc/kallsyms", (size_t)512 << 20, &text, &len, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_FAILED;
	}
	kallsyms_parse(&k, memory_resize(text, len + 1, 1), len);
	kernel_modules(&modules, NULL);
	if (k.hidden) {
		error_set(&err, ERROR_PERMISSION, "the kernel hides its addresses from this user");
		char command[96];
		permission_show_kernel(command, sizeof command);
		error_hint(&err, "As root: %s", command);
		cli_complain(cli, &err);
	}
	wanted_open(&wanted, argc, argv);
	look_up(&wanted, &k, &modules);
	for (int i = 0; i < argc; i++)
		print(cli->out, &wanted, argv[i]);
	wanted_close(&wanted);
	kernel_modules_fini(&modules);
	kallsyms_fini(&k);
	return 0;
}

const struct command command_kallsyms = {
	.name = "kallsyms",
	.summary = "look kernel symbols up by name",
	.usage = kallsyms_usage,
	.options = kallsyms_table,
	.options_size = sizeof(struct kallsyms_options),
	.run = kallsyms_run,
};
