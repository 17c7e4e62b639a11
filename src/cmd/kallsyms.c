#include <inttypes.h>
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
	OPT_INCR('v', "verbose", struct kallsyms_options, verbose, "tell more"),
	OPT_END(),
};

static const char *const kallsyms_usage[] = { "perf kallsyms [<options>] symbol_name", NULL };

/* What was asked for, and what was found of it. */
struct wanted {
	struct strtab names;
	VEC(const struct symbol *) found; /* by id in names */
	VEC(const char *) modules;        /* likewise: "[ext4]"; NULL: the kernel */
};

static void wanted_open(struct wanted *wanted, int argc, const char **argv)
{
	for (int i = 0; i < argc; i++) {
		uint32_t id = strtab_add(&wanted->names, argv[i], strlen(argv[i]));
		while (wanted->found.count <= id) {
			vec_push(&wanted->found, NULL);
			vec_push(&wanted->modules, NULL);
		}
	}
}

static void wanted_close(struct wanted *wanted)
{
	strtab_fini(&wanted->names);
	vec_fini(&wanted->found);
	vec_fini(&wanted->modules);
}

/* The first of a name counts. */
static void wanted_offer(struct wanted *wanted, const struct symbol *symbol, const char *module)
{
	uint32_t id = strtab_find(&wanted->names, symbol->name, strlen(symbol->name));
	if (id == UINT32_MAX || wanted->found.items[id])
		return;
	wanted->found.items[id] = symbol;
	wanted->modules.items[id] = module;
}

/* "[ext4]" → its row; NULL where no such module is loaded ("[bpf]", "[__builtin__ftrace]"). */
static const struct kernel_module *module_find(const struct kernel_modules *modules, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < modules->list.count; i++) {
		const struct kernel_module *module = &modules->list.items[i];
		if (strlen(module->name) + 2 == len && strncmp(module->name, name + 1, len - 2) == 0)
			return module;
	}
	return NULL;
}

/* Only what lies in the kernel as it is mapped, and in loaded modules. */
static void look_up(struct wanted *wanted, const struct kallsyms *k, const struct kernel_modules *modules)
{
	struct kernel_text text = { 0 };
	kernel_text(&text, NULL);
	for (uint32_t i = 0; i < k->kernel.count; i++) {
		const struct symbol *symbol = &k->kernel.symbols[i];
		if (symbol->start >= text.start && (!text.end || symbol->start < text.end))
			wanted_offer(wanted, symbol, NULL);
	}
	for (uint32_t i = 0; modules->list.count && i < k->in_modules_count; i++) {
		const struct symbol *symbol = &k->in_modules[i];
		const char *module = symbol->name + strlen(symbol->name) + 1;
		if (module_find(modules, module))
			wanted_offer(wanted, symbol, module);
	}
}

static void print(struct writer *out, const struct wanted *wanted, const struct kernel_modules *modules, const char *name)
{
	uint32_t id = strtab_find(&wanted->names, name, strlen(name));
	const struct symbol *s = wanted->found.items[id];
	if (!s) {
		writer_printf(out, "%s: not found\n", name);
		return;
	}
	const char *module = wanted->modules.items[id], *path = "[kernel.kallsyms]";
	uint64_t base = 0;
	if (module) {
		const struct kernel_module *row = module_find(modules, module);
		path = row->path ? row->path : module;
		base = row->start;
	}
	writer_printf(out, "%s: %s %s %#" PRIx64 "-%#" PRIx64 " (%#" PRIx64 "-%#" PRIx64 ")\n", s->name, module ? module : "[kernel]",
		path, s->start, s->end, s->start - base, s->end - base);
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
		return 255;
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
		print(cli->out, &wanted, &modules, argv[i]);
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
