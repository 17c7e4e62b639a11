#include "render/text/report_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/column/cells.h"
#include "base/memory.h"
#include "base/pool.h"
#include "data/evsel_name.h"
#include "render/text/chain_text.h"
#include "render/text/hierarchy_text.h"
#include "render/text/percent.h"
#include "render/text/row_text.h"

/* 1234 → "1K", 999 → "999 ". */
static void add_count(struct writer *out, uint64_t count)
{
	static const char units[] = { ' ', 'K', 'M', 'G' };
	unsigned unit = 0;
	while (count > 1000 && unit + 1 < sizeof units) {
		count /= 1000;
		unit++;
	}
	writer_printf(out, "%" PRIu64 "%c", count, units[unit]);
}

static const struct evsel *evsel_of(const struct profile *profile, uint32_t event)
{
	return &session_evlist(profile->session)->events.items[event];
}

/* "anon group { cycles, instructions }". */
static void add_group_name(const struct profile *profile, const struct hist *hist, struct str *out)
{
	char name[EVSEL_NAME_MAX];
	const struct evsel *leader = evsel_of(profile, hist->event);
	bool forced = profile->options.force_group && leader->group_members < 2;
	if (!forced)
		str_printf(out, "%s { ", leader->group_name ? leader->group_name : "anon group");
	bool first = true;
	for (uint32_t i = 0; i < hist->member_count; i++) {
		if (profile->options.skip_empty && !hist->members[i]->samples)
			continue;
		str_printf(out, "%s%s", first ? "" : ", ", evsel_name(evsel_of(profile, hist->members[i]->event), name, sizeof name));
		first = false;
	}
	if (!forced)
		str_puts(out, " }");
}

static void add_samples(const struct report_text *report, const struct hist *hist, struct writer *out)
{
	const struct profile *profile = report->profile;
	bool relative = profile->options.relative;
	uint64_t samples = 0, period = 0;
	char buffer[EVSEL_NAME_MAX];
	CLEANUP_STR struct str name = { 0 };
	struct hist *const only[] = { (struct hist *)hist };
	struct hist *const *members = hist->members ? hist->members : only;
	for (uint32_t i = 0; i < (hist->members ? hist->member_count : 1); i++) {
		samples += relative ? members[i]->shown_samples : members[i]->samples;
		period += relative ? members[i]->shown_period : members[i]->total_period;
	}
	if (hist->members)
		add_group_name(profile, hist, &name);
	else
		str_puts(&name, evsel_name(evsel_of(profile, hist->event), buffer, sizeof buffer));
	writer_puts(out, "# Samples: ");
	add_count(out, samples);
	enum { GROUP_NAME_MAX = 511 };
	bool forced = profile->options.force_group && hist->event == 0 && profile->folded.hist_count > 1 && !profile->folded.has_groups;
	bool several = hist->members || forced || evsel_of(profile, hist->event)->group_members > 1;
	if (hist->members && name.len > GROUP_NAME_MAX)
		name.text[GROUP_NAME_MAX] = '\0';
	writer_printf(out, " of event%s '%s'", several ? "s" : "", str_text(&name));
	if (report->time_slices)
		writer_printf(out, " (time slices: %s)", report->time_slices);
	if (report->show_reference && strstr(str_text(&name), "call-graph=no"))
		writer_puts(out, ", show reference callgraph");
	if (report->memory_order)
		writer_printf(out, "\n# Total weight : %" PRIu64 "\n# Sort order   : %s", period, report->memory_order);
	else
		writer_printf(out, "\n# Event count (approx.): %" PRIu64, period);
	if (profile->options.socket_filter >= 0)
		writer_printf(out, "\n# Processor Socket: %d", profile->options.socket_filter);
	writer_puts(out, "\n#\n");
}

static const struct column *field_at(const struct profile *profile, size_t i)
{
	const struct columns *columns = profile->options.columns;
	return &columns->all.items[columns->fields.items[i]];
}

static void add_headers(const struct profile *profile, const struct hist *hist, struct writer *out)
{
	const struct columns *columns = profile->options.columns;
	const char *separator = profile->options.separator;
	CLEANUP_STR struct str line = { 0 };
	bool first = true;
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = field_at(profile, i);
		if (column_skipped(column, hist))
			continue;
		if (!first)
			str_puts(&line, separator ? separator : "  ");
		first = false;
		header_text_add(profile, hist, column, &line);
	}
	writer_printf(out, "# %s\n", str_text(&line));
	if (separator)
		return;
	first = true;
	writer_puts(out, "# ");
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = field_at(profile, i);
		if (column_skipped(column, hist))
			continue;
		if (!first)
			writer_puts(out, "  ");
		first = false;
		writer_pad(out, '.', column_width(profile, hist, column));
	}
	writer_puts(out, "\n#\n");
}

enum {
	SLICE_LINES = 512,   /* a slice ends at about this many lines */
	SLICES = 2,          /* per worker, whose texts are in memory at the same time */
	SLICE_BYTES = 1 << 22, /* a longer text is written while it is made */
};

/* Consecutive entries, whose text one worker makes. */
struct rows_slice {
	size_t first, end;
	struct str text;
};

struct rows {
	const struct report_text *report;
	const struct hist *hist;
	size_t limit;        /* length of a row */
	struct rows_slice *slices;
};

/* Adds the lines of an entry to the text. */
static void add_entry(const struct rows *rows, const struct entry *entry, struct writer *spill, struct str *text)
{
	const struct report_text *report = rows->report;
	const struct profile *profile = report->profile;
	struct chain_text chain = { .profile = profile, .hist = rows->hist, .colour = report->colour, .out = text, .spill = spill };
	size_t start = text->len;
	chain.skip_first = row_text_shows_frame(profile);
	chain.most = spill ? 0 : SLICE_BYTES;
	row_text_add(profile, rows->hist, entry, report->colour, text);
	if (text->len - start > rows->limit)
		text->len = start + rows->limit;
	str_putc(text, '\n');
	if (profile->options.use_chains)
		chain_text_add(&chain, entry);
}

static void make_slice(const struct rows *rows, struct rows_slice *at, struct writer *spill)
{
	const struct profile *profile = rows->report->profile;
	str_clear(&at->text);
	for (size_t i = at->first; i < at->end && (spill || at->text.len <= SLICE_BYTES); i++) {
		const struct entry *entry = rows->hist->entries[i];
		entries_fetch_ahead(profile, rows->hist->entries, i, at->end);
		if (!entry->filtered && hist_percent(profile, rows->hist, entry) >= profile->options.min_percent)
			add_entry(rows, entry, spill, &at->text);
	}
}

static void add_slice(void *context, size_t slice, unsigned worker)
{
	const struct rows *rows = context;
	make_slice(rows, &rows->slices[slice], NULL);
}

/* The end of the slice that begins at this entry. */
static size_t slice_end(const struct hist *hist, size_t first)
{
	size_t lines = 0, end = first;
	while (end < hist->count && lines < SLICE_LINES) {
		const struct chain_tree *chain = hist->entries[end++]->chain;
		lines += 1 + (chain ? chain->count : 0);
	}
	return end;
}

static bool rows_are_shared(const struct profile *profile)
{
	return columns_are_shared(profile->options.columns) && (!profile->options.use_chains || profile->options.chain.key == CHAIN_FUNCTION);
}

static void add_hist(const struct report_text *report, const struct hist *hist, struct writer *out)
{
	struct pool *pool = report->profile->session->pool;
	size_t most = rows_are_shared(report->profile) ? (size_t)pool_workers(pool) * SLICES : 1, count;
	if (!report->quiet)
		add_headers(report->profile, hist, out);
	struct rows rows = { .report = report, .hist = hist, .limit = row_text_limit(report->profile, hist, report->colour) };
	rows.slices = memory_zero(most, sizeof *rows.slices);
	for (size_t next = 0; next < hist->count;) {
		for (count = 0; count < most && next < hist->count; count++) {
			rows.slices[count].first = next;
			next = rows.slices[count].end = slice_end(hist, next);
		}
		pool_run(pool, count, add_slice, &rows);
		for (size_t i = 0; i < count; i++) {
			if (rows.slices[i].text.len > SLICE_BYTES)
				make_slice(&rows, &rows.slices[i], out);
			report_line_add(out, str_text(&rows.slices[i].text), rows.slices[i].text.len, report->colour);
		}
	}
	for (size_t i = 0; i < most; i++)
		str_fini(&rows.slices[i].text);
	free(rows.slices);
}

void report_text_print(const struct report_text *report, struct writer *out)
{
	const struct profile *profile = report->profile;
	if (!report->quiet)
		writer_printf(out, "#\n# Total Lost Samples: %" PRIu64 "\n#\n", report->lost_samples);
	for (size_t i = 0; i < profile->folded.hist_count; i++) {
		const struct hist *hist = &profile->folded.hists[i];
		if (!hist_is_reported(profile, hist))
			continue;
		if (!report->quiet)
			add_samples(report, hist, out);
		if (report->body) {
			report->body(report->body_context, hist, out);
			continue;
		}
		if (profile->options.hierarchy)
			hierarchy_text_print(report, hist, out);
		else
			add_hist(report, hist, out);
		writer_puts(out, "\n\n");
	}
	if (!report->quiet)
		writer_printf(out, "#\n# (%s)\n#\n", report->tip);
}

static const char *const types[16] = {
	"N/A", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR",
	"NO_TX", "",
};
static const char *const new_types[16] = {
	"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
};

const char *branch_type_word(unsigned type, bool extended)
{
	const char *word = type < 16 ? (extended ? new_types : types)[type] : NULL;
	return word ? word : "";
}

void branch_text_print(const struct branch_counts *counts, struct writer *out)
{
	const struct { const char *name; uint64_t count; } first[] = {
		{ "COND_FWD", counts->forward }, { "COND_BWD", counts->backward }, { "CROSS_4K", counts->cross_4k }, { "CROSS_2M", counts->cross_2m },
	};
	uint64_t total = 0;
	for (unsigned i = 0; i < 16; i++)
		total += counts->types[i];
	if (!total)
		return;
	writer_puts(out, "\n#\n# Branch Statistics:\n#");
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (first[i].count)
			writer_printf(out, "\n%8s: %5.1f%%", first[i].name, 100.0 * (double)first[i].count / (double)total);
	for (unsigned i = 0; i < 16; i++)
		if (counts->types[i])
			writer_printf(out, "\n%8s: %5.1f%%", types[i], 100.0 * (double)counts->types[i] / (double)total);
	for (unsigned i = 0; i < 16; i++)
		if (counts->new_types[i] && new_types[i])
			writer_printf(out, "\n%8s: %5.1f%%", new_types[i], 100.0 * (double)counts->new_types[i] / (double)total);
}
