#include "cmd/loss_summary.h"

#include "base/budget.h"
#include "base/str.h"
#include "data/header.h"

typedef unsigned long long number;

static void print_features(const struct cli *cli, const char *path, uint64_t features)
{
	CLEANUP_STR struct str names = { 0 };
	unsigned count = 0;
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		if (features >> i & 1 && feature_name(i))
			str_printf(&names, "%s%s", count++ ? ", " : "", feature_name(i));
	if (count)
		cli_warn(cli, "%s: %u header feature%s missing or damaged: %s.", path, count, count == 1 ? " is" : "s are", str_text(&names));
}

static void print_samples(const struct cli *cli, const char *path, const struct losses *l)
{
	number all = l->samples + l->bad_samples + l->unknown_ids;
	if (l->bad_samples)
		cli_warn(cli, "%s: %llu of %llu samples are damaged and left out: their bytes contradict their event.", path,
			(number)l->bad_samples, all);
	if (l->unknown_ids)
		cli_warn(cli, "%s: %llu of %llu samples are left out: they belong to no event of the recording.", path,
			(number)l->unknown_ids, all);
}

static void print_records(const struct cli *cli, const char *path, const struct losses *l)
{
	CLEANUP_STR struct str place = { 0 };
	if (l->bad_type)
		str_printf(&place, "; %s at offset 0x%llx: %s (%u)", l->bad_records == 1 ? "it is" : "one is", (number)l->bad_offset,
			record_type_name(l->bad_type), l->bad_type);
	cli_warn(cli, "%s: %llu record%s damaged and left out: the bytes contradict the type%s.", path, (number)l->bad_records,
		l->bad_records == 1 ? " is" : "s are", str_text(&place));
}

static void print_damage(const struct cli *cli, const char *path, const struct losses *l)
{
	if (l->stop.kind != ERROR_NONE)
		cli_complain(cli, &l->stop);
	if (l->unfinished)
		cli_warn(cli, "%s: the recorder did not finish the file: its header gives no size of the data. The records were read to the end of "
			"the file; build-ids and other header features are missing.", path);
	print_samples(cli, path, l);
	if (l->bad_records)
		print_records(cli, path, l);
	if (l->bad_attrs)
		cli_warn(cli, "%s: the descriptions of the events are damaged in %llu place%s.", path, (number)l->bad_attrs,
			l->bad_attrs == 1 ? "" : "s");
	if (l->bad_build_ids)
		cli_warn(cli, "%s: the table of build-ids is damaged in %llu place%s: rows are missing.", path, (number)l->bad_build_ids,
			l->bad_build_ids == 1 ? "" : "s");
	print_features(cli, path, l->features);
}

static void add_count(struct str *text, number count, const char *what)
{
	if (count)
		str_printf(text, "%s%llu %s", text->len ? ", " : "", count, what);
}

#define OTHER_LIMIT "'perfuse --memory SIZE COMMAND' sets another limit"

/* What exceeds the limit of memory. */
static void print_limits(const struct cli *cli, const char *path, const struct losses *l)
{
	size_t limit = cli->budget ? budget_limit(cli->budget) >> 20 : 0;
	if (l->left_out_maps)
		cli_warn(cli, "%s: %llu mapping%s left out, as the history of all others reached a quarter of the limit of memory, %zu MiB: samples "
			"there have no names, or those of an earlier mapping. " OTHER_LIMIT ".", path, (number)l->left_out_maps,
			l->left_out_maps == 1 ? " is" : "s are", limit);
	if (l->left_out_events)
		cli_warn(cli, "%s: %llu events are left out, with %llu samples: memory reached its limit of %zu MiB. " OTHER_LIMIT ".", path,
			(number)l->left_out_events, (number)l->left_out_event_samples, limit);
	if (l->left_out_samples)
		cli_warn(cli, "%s: the last %llu of %llu samples are left out: memory reached its limit of %zu MiB. " OTHER_LIMIT ", and --time selects "
			"a part of the recording.", path, (number)l->left_out_samples, (number)(l->samples + l->left_out_samples), limit);
	if (l->unchanged)
		cli_warn(cli, "%s: the last %llu records are written unchanged: memory reached its limit of %zu MiB. " OTHER_LIMIT ".", path,
			(number)l->unchanged, limit);
	if (l->left_out_chains)
		cli_warn(cli, "%s: the call chains of %llu row%s are left out: memory reached its limit of %zu MiB. " OTHER_LIMIT "; --max-stack, and a "
			"higher percentage of -g, need less.", path, (number)l->left_out_chains, l->left_out_chains == 1 ? "" : "s", limit);
}

static void add_least(struct str *text, uint64_t instructions)
{
	if (instructions)
		str_printf(text, "; at least %llu instruction%s lost", (number)instructions, instructions == 1 ? " is" : "s are");
}

/* Gaps of a hardware trace, by cause, and the modules with most of them. */
static void print_trace(const struct cli *cli, const char *path, const struct losses *l)
{
	enum { MODULES_SHOWN = 5 };
	const struct trace_losses *t = &l->trace;
	CLEANUP_STR struct str causes = { 0 };
	add_count(&causes, t->missing, "by missing code");
	add_count(&causes, t->mismatches, "by code that contradicts the trace");
	add_count(&causes, t->overflows, "by overflows of the processor's buffer");
	add_count(&causes, t->bad_packets, "by damaged packets");
	add_count(&causes, t->loops, "by endless loops in the code");
	if (t->cut_stacks)
		cli_warn(cli, "%s: %llu call chains of the decoded trace lack their outermost frames: they are deeper than a record. Functions that "
			"another one leaves by longjmp add to the depth.", path, (number)t->cut_stacks);
	if (!causes.len)
		return;
	add_least(&causes, t->instructions);
	cli_warn(cli, "%s: the decoded trace has gaps: %s.", path, str_text(&causes));
	for (size_t i = 0; i < t->gap_count && i < MODULES_SHOWN; i++) {
		const struct trace_gaps *gaps = &t->gaps[i];
		const char *name = gaps->module == MODULE_ID_NONE ? "no mapping" :
			modules_get(&l->session->model.modules, gaps->module)->long_name;
		const char *cause = !gaps->mismatches ? "no code" : gaps->missing ? "no or other code" : "code of another build?";
		CLEANUP_STR struct str least = { 0 };
		add_least(&least, gaps->instructions);
		cli_warn(cli, "  %s: %llu from %#llx to %#llx%s (%s)", name, (number)(gaps->missing + gaps->mismatches), (number)gaps->first,
			(number)gaps->last, str_text(&least), cause);
	}
	if (t->gap_count > MODULES_SHOWN)
		cli_warn(cli, "  %zu more modules", t->gap_count - MODULES_SHOWN);
}

static void print_remarks(const struct cli *cli, const char *path, const struct losses *l)
{
	if (l->unknown_types)
		cli_warn(cli, "%s: %llu record%s skipped, of a type that is not known: a newer kernel or recorder may have written %s.", path,
			(number)l->unknown_types, l->unknown_types == 1 ? " is" : "s are", l->unknown_types == 1 ? "it" : "them");
	print_limits(cli, path, l);
	if (l->lost_samples)
		cli_warn(cli, "%s: the kernel lost %llu samples while it recorded: its buffers were full.", path, (number)l->lost_samples);
	if (l->lost_events)
		cli_warn(cli, "%s: the kernel lost %llu records while it recorded: its buffers were full.", path, (number)l->lost_events);
	if (l->lost_traces)
		cli_warn(cli, "%s: the hardware trace is not whole in %llu places.", path, (number)l->lost_traces);
	print_trace(cli, path, l);
}

int loss_summary_print(const struct cli *cli, const char *path, const struct losses *losses, bool quiet)
{
	print_damage(cli, path, losses);
	if (!quiet)
		print_remarks(cli, path, losses);
	return losses_are_damage(losses) ? EXIT_DAMAGED : 0;
}

int loss_summary_refused(const struct cli *cli, const char *path, uint64_t refused)
{
	if (refused)
		cli_warn(cli, "%s: %llu scheduler event%s damaged and left out: no machine has such a CPU or thread.", path, (number)refused,
			refused == 1 ? " is" : "s are");
	return refused ? EXIT_DAMAGED : 0;
}
