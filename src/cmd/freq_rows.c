#include "cmd/freq_rows.h"

#include <stdio.h>
#include <string.h>

enum { RESULTS_VERSION = 1 };

enum { FREQ_POLICY, FREQ_CPUS, FREQ_DRIVER, FREQ_GOVERNOR, FREQ_BY, FREQ_MIN, FREQ_MAX, FREQ_CURRENT, FREQ_LOW, FREQ_HIGH, FREQ_BASE,
	FREQ_BOOST, FREQ_PREFERENCE, FREQ_COLUMNS };

static const struct table_column columns[FREQ_COLUMNS] = {
	[FREQ_POLICY] = { "policy", "Policy", NULL, CELL_NUMBER },
	[FREQ_CPUS] = { "cpus", "CPUs", NULL, CELL_TEXT },
	[FREQ_DRIVER] = { "driver", "Driver", NULL, CELL_TEXT },
	[FREQ_GOVERNOR] = { "governor", "Governor", NULL, CELL_TEXT },
	[FREQ_BY] = { "governed_by", "Clock set by", NULL, CELL_TEXT },
	[FREQ_MIN] = { "min", "Min", "kHz", CELL_COUNT },
	[FREQ_MAX] = { "max", "Max", "kHz", CELL_COUNT },
	[FREQ_CURRENT] = { "current", "Current", "kHz", CELL_COUNT },
	[FREQ_LOW] = { "lowest", "Lowest", "kHz", CELL_COUNT },
	[FREQ_HIGH] = { "highest", "Highest", "kHz", CELL_COUNT },
	[FREQ_BASE] = { "base", "Base", "kHz", CELL_COUNT },
	[FREQ_BOOST] = { "boost", "Boost", NULL, CELL_FLAG },
	[FREQ_PREFERENCE] = { "preference", "Preference", NULL, CELL_TEXT },
};

static size_t row_count(void *context, uint64_t parent)
{
	const struct cpufreq *cpufreq = context;
	return parent == TABLE_TOP ? cpufreq->policies.count : 0;
}

static struct cell khz_cell(int64_t khz)
{
	return khz ? cell_count((uint64_t)khz) : cell_absent();
}

static struct cell text_cell(const char *text)
{
	return cell_text(text && *text ? text : NULL);
}

static struct cell policy_cell(void *context, uint64_t row, size_t column, __attribute__((unused)) struct str *scratch)
{
	const struct cpufreq *cpufreq = context;
	const struct cpufreq_policy *policy = &cpufreq->policies.items[row - 1];
	switch (column) {
	case FREQ_POLICY:
		return cell_number(policy->number);
	case FREQ_CPUS:
		return text_cell(policy->cpus);
	case FREQ_DRIVER:
		return text_cell(policy->driver);
	case FREQ_GOVERNOR:
		return text_cell(policy->governor);
	case FREQ_BY:
		return text_cell(cpufreq_governed_by(policy));
	case FREQ_BOOST:
		return policy->boost_file ? cell_flag(policy->boost) : cell_absent();
	case FREQ_PREFERENCE:
		return text_cell(policy->preference);
	default: {
		const int64_t khz[] = { policy->min_khz, policy->max_khz, policy->current_khz, policy->low_khz, policy->high_khz,
			policy->base_khz };
		return khz_cell(khz[column - FREQ_MIN]);
	}
	}
}

static void cell_text_of(const struct cell *cell, struct str *to)
{
	if (cell->kind == CELL_TEXT)
		str_puts(to, cell->text);
	else if (cell->kind == CELL_NUMBER)
		str_printf(to, "%lld", (long long)cell->number);
	else if (cell->kind == CELL_FLAG)
		str_puts(to, cell->flag ? "on" : "off");
	else if (cell->kind == CELL_COUNT)
		str_printf(to, "%llu", (unsigned long long)((cell->count + 500) / 1000));
	else
		str_puts(to, "-");
}

static bool is_number(size_t column)
{
	return columns[column].kind == CELL_COUNT || columns[column].kind == CELL_NUMBER;
}

/* A row of the text; row 0: the headings. widths: raised to what it needs, if out is NULL. */
static void text_row(const struct cpufreq *cpufreq, uint64_t row, size_t widths[FREQ_COLUMNS], struct writer *out)
{
	CLEANUP_STR struct str text = { 0 };
	for (size_t i = 0; i < FREQ_COLUMNS; i++) {
		str_clear(&text);
		if (row) {
			struct cell cell = policy_cell((void *)(uintptr_t)cpufreq, row, i, NULL);
			cell_text_of(&cell, &text);
		} else {
			str_puts(&text, columns[i].title);
		}
		size_t pad = widths[i] > text.len ? widths[i] - text.len : 0;
		if (!out) {
			widths[i] += text.len - (widths[i] - pad);
			continue;
		}
		writer_pad(out, ' ', (i ? 2 : 0) + (is_number(i) ? pad : 0));
		writer_puts(out, str_text(&text));
		writer_pad(out, ' ', is_number(i) || i + 1 == FREQ_COLUMNS ? 0 : pad);
	}
	if (out)
		writer_putc(out, '\n');
}

void freq_rows_print(const struct cpufreq *cpufreq, struct writer *out)
{
	size_t widths[FREQ_COLUMNS] = { 0 };
	for (uint64_t row = 0; row <= cpufreq->policies.count; row++)
		text_row(cpufreq, row, widths, NULL);
	writer_puts(out, "# Frequencies in MHz\n");
	for (uint64_t row = 0; row <= cpufreq->policies.count; row++)
		text_row(cpufreq, row, widths, out);
}

void freq_rows_table(const struct cpufreq *cpufreq, const struct format *format, struct writer *out)
{
	const struct table table = { .name = "policies", .columns = columns, .column_count = FREQ_COLUMNS,
		.context = (void *)(uintptr_t)cpufreq, .row_count = row_count, .row = table_row_in_order, .cell = policy_cell };
	const struct results results = { .schema = "perfuse.freq", .version = RESULTS_VERSION, .tables = &table, .table_count = 1 };
	format->print(&results, out);
}
