#include "cmd/stack_hint.h"

/* A complete chain is longer: even main() is called by two functions of libc and _start. Any program has some short ones. */
void stack_hint(const struct cli *cli, bool verbose, uint64_t chains, uint64_t short_chains)
{
	enum { CHAINS_MIN = 100, PERCENT_MIN = 25 };
	uint64_t percent = chains ? short_chains * 100 / chains : 0;
	if (!cli->tty_err && !verbose)
		return;
	if (chains >= CHAINS_MIN && percent >= PERCENT_MIN)
		cli_warn(cli, "Hint: %llu%% of the user stacks end after one or two frames, as in programs without frame pointers: "
			"'perf record --call-graph unwind' follows them.", (unsigned long long)percent);
}

static void joined_line(const struct cli *cli, const struct profile *profile, const struct joined_function *function, uint64_t chains)
{
	CLEANUP_STR struct str name = { 0 };
	CLEANUP_STR struct str share = { 0 };
	if (function->symbol)
		str_puts(&name, profile_symbol_name(profile, function->module, function->symbol));
	else
		str_printf(&name, "%#llx", (unsigned long long)function->address);
	if (function->module != MODULE_ID_NONE)
		str_printf(&name, " in %s", profile_module_name(profile, function->module));
	if (function->samples <= chains)
		str_printf(&share, " (%.1f%%)", 100 * (double)function->samples / (double)chains);
	cli_warn(cli, "  %s: %llu stacks%s", str_text(&name), (unsigned long long)function->samples, str_text(&share));
}

void joined_remark(const struct cli *cli, const struct profile *profile, uint64_t chains)
{
	enum { FUNCTIONS_SHOWN = 10 };
	const struct joined_functions *functions = &profile->joined;
	uint64_t joined = functions->samples;
	if (joined && joined <= chains)
		cli_warn(cli, "%llu of %llu stacks (%.1f%%) were deeper than their copy: the recorder joined them to earlier ones of their thread.",
			(unsigned long long)joined, (unsigned long long)chains, 100 * (double)joined / (double)chains);
	else if (joined)
		cli_warn(cli, "%llu stacks were deeper than their copy: the recorder joined them to earlier ones of their thread.",
			(unsigned long long)joined);
	if (functions->count)
		cli_warn(cli, "Callers from earlier stacks, which were not recorded with their sample:");
	for (size_t i = 0; i < functions->count && i < FUNCTIONS_SHOWN; i++)
		joined_line(cli, profile, &functions->items[i], chains);
	if (functions->count > FUNCTIONS_SHOWN)
		cli_warn(cli, "  and %zu more functions ('perf report --format=json' lists all)", functions->count - FUNCTIONS_SHOWN);
}

void stitching_warn(const struct cli *cli, const struct header *header)
{
	for (size_t i = 0; i < header->evlist.events.count; i++)
		if (header->evlist.events.items[i].attr.branch_sample_type & BRANCH_CALL_STACK)
			return;
	if (!header->pipe)
		cli_warn(cli, "the recording has no callchains from branch records (--call-graph lbr): --stitch-lbr does nothing");
}
