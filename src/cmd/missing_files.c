#include "cmd/missing_files.h"

#include "base/str.h"
#include "image/search.h"
#include "os/permission.h"

/* More are counted, not named. */
enum { NAMED_MAX = 3 };

static void report_try(const struct cli *cli, const struct image_try *try)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(try->build_id, try->build_id_len, hex);
	if (try->finding == IMAGE_OTHER_BUILD)
		cli_warn(cli, "  %s: %s (%s)", try->path, image_finding_text(try->finding), try->build_id_len ? hex : "no build-id");
	else
		cli_warn(cli, "  %s: %s", try->path, image_finding_text(try->finding));
}

static void report_trail(const struct cli *cli, const struct symbols *symbols, const struct module *module)
{
	const struct image_trail *trail = symbols_trail(symbols, module);
	if (!trail)
		return;
	struct symtab_info info = symbols_info(symbols, module);
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	build_id_hex(module->build_id, module->build_id_len, hex);
	cli_warn(cli, "%s%s%s%s: %u symbols; looked in", module->long_name, *hex ? " (" : "", hex, *hex ? ")" : "", info.count);
	for (size_t i = 0; i < trail->tries.count; i++)
		report_try(cli, &trail->tries.items[i]);
	trail = symbols_trail_of_lines(symbols, module);
	if (trail)
		cli_warn(cli, " source lines; looked in");
	for (size_t i = 0; trail && i < trail->tries.count; i++)
		report_try(cli, &trail->tries.items[i]);
}

/* One line for all modules in that state. */
static void report_state(const struct cli *cli, const struct symbols *symbols, const struct modules *modules,
	enum symtab_state state, const char *what)
{
	CLEANUP_STR struct str names = { 0 };
	unsigned count = 0;
	for (size_t i = 0; i < modules->list.count; i++) {
		const struct module *module = modules->list.items[i];
		if (symbols_info(symbols, module).state != state)
			continue;
		if (++count <= NAMED_MAX)
			str_printf(&names, "%s%s", count > 1 ? ", " : "", module->long_name);
	}
	if (count > NAMED_MAX)
		str_printf(&names, " and %u more", count - NAMED_MAX);
	if (count)
		cli_warn(cli, "No symbols for %s: %s (-v shows where they were looked for).", str_text(&names), what);
}

static void report_hidden(const struct cli *cli, const struct symbols *symbols, const struct modules *modules)
{
	for (size_t i = 0; i < modules->list.count; i++) {
		if (symbols_info(symbols, modules->list.items[i]).state != SYMTAB_HIDDEN)
			continue;
		char command[96];
		permission_show_kernel(command, sizeof command);
		cli_warn(cli, "No symbols of the kernel: it hides its addresses from this user. As root, '%s' shows them; or name a list with "
			"--kallsyms, or a --vmlinux.", command);
		return;
	}
}

/* Kernel code was recorded, but not the kernel's address. */
static bool was_hidden(const struct session *session)
{
	const struct evlist *evlist = session_evlist(session);
	const struct modules *modules = &session->model.modules;
	bool kernel = false;
	for (size_t i = 0; i < evlist->events.count; i++)
		kernel |= !attr_flag(&evlist->events.items[i].attr, ATTR_EXCLUDE_KERNEL);
	for (size_t i = 0; i < modules->list.count; i++)
		kernel &= modules->list.items[i]->kind != MODULE_KERNEL;
	return kernel && session->counters.samples;
}

void missing_files_report(const struct cli *cli, const struct symbols *symbols, const struct session *session, int verbose)
{
	if (!symbols)
		return;
	const struct modules *modules = &session->model.modules;
	for (size_t i = 0; verbose > 0 && i < modules->list.count; i++)
		report_trail(cli, symbols, modules->list.items[i]);
	report_state(cli, symbols, modules, SYMTAB_MISMATCH, "the file is of another build than the recorded one");
	report_state(cli, symbols, modules, SYMTAB_DAMAGED, "the file is no valid ELF file or symbol list");
	report_state(cli, symbols, modules, SYMTAB_FOREIGN, "the perf map is not a regular file of the process's user or root; -f reads "
		"another user's");
	report_hidden(cli, symbols, modules);
	if (was_hidden(session))
		cli_warn(cli, "No symbols of the kernel: the recording lacks its address. If it hides its addresses, 'sysctl "
			"kernel.kptr_restrict=0' as root shows them to the next recording (for users also kernel.perf_event_paranoid=1).");
}
