#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/profile/results.h"
#include "cmd/top/listed_code.h"
#include "cmd/top/top.h"
#include "data/evsel_name.h"
#include "render/text/top_text.h"

enum { ROWS_DEFAULT = 25, COLUMNS_DEFAULT = 80, SIZE_MAX_SANE = 10000, HEADER_ROWS = 5 };

static unsigned size_of(const char *variable, unsigned otherwise)
{
	const char *text = secure_getenv(variable);
	long value = text ? strtol(text, NULL, 10) : 0;
	return value > 0 && value < SIZE_MAX_SANE ? (unsigned)value : otherwise;
}

struct top_screen top_screen_now(const struct cli *cli)
{
	struct winsize size = { 0 };
	const char *term = secure_getenv("TERM");
	bool dumb = term && strcmp(term, "dumb") == 0;
	struct top_screen screen = { .rows = ROWS_DEFAULT, .columns = COLUMNS_DEFAULT, .colour = cli->tty_out && !dumb, .clears = !dumb };
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		screen.rows = size.ws_row;
		screen.columns = size.ws_col;
	} else {
		screen.rows = size_of("LINES", screen.rows);
		screen.columns = size_of("COLUMNS", screen.columns);
	}
	return screen;
}

size_t top_screen_entries(const struct top_screen *screen, const struct top_options *options)
{
	if (options->entries > 0)
		return (size_t)options->entries;
	return screen->rows > HEADER_ROWS ? screen->rows - HEADER_ROWS : 1;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const struct hist *shown_hist(const struct top *top)
{
	const struct folded *folded = &top->profile.folded;
	if (top->event >= folded->hist_count)
		return NULL;
	const struct hist *hist = &folded->hists[top->event];
	return &folded->hists[hist->leader];
}

/* Without those that only provide side-band. */
static size_t user_events(const struct top *top)
{
	size_t count = 0;
	for (size_t i = 0; i < top->events.list.count; i++)
		count += !top->events.list.items[i].follower;
	return count;
}

static void print_heading(const struct top *top, const struct top_screen *screen, double seconds, uint64_t lost)
{
	const struct evlist *evlist = session_evlist(&top->live.session);
	const struct top_counts *counts = &top->counts;
	char name[EVSEL_NAME_MAX] = "";
	struct top_heading heading = {
		.samples_per_second = seconds > 0 ? (double)counts->samples / seconds : 0,
		.kernel_percent = percent(counts->kernel_samples, counts->samples), .exact_percent = percent(counts->exact_samples, counts->samples),
		.lost = lost - top->lost, .lost_before = top->lost, .target = str_text(&top->target), .event = name,
	};
	if (top->event < evlist->events.count) {
		const struct evsel *evsel = &evlist->events.items[top->event];
		heading.event = evsel_name(evsel, name, sizeof name);
		heading.rate = user_events(top) == 1 ? evsel->attr.sample_period : 0;
		heading.frequency = attr_flag(&evsel->attr, ATTR_FREQ);
	}
	top_heading_print(&heading, screen->columns > 1 ? screen->columns - 1 : 1, top->cli->out);
}

static void warn_losses(const struct top *top, uint64_t lost)
{
	if (lost > top->lost)
		writer_printf(top->cli->out, "WARNING: %llu samples were lost because the rings were full: larger rings (-m) or fewer samples "
			"(-F, -c) help.\n", (unsigned long long)(lost - top->lost));
}

static void print_results(const struct top *top, uint64_t lost)
{
	struct profile_results results;
	profile_results_init(&results, &top->profile, lost);
	top->options->format->print(&results.results, top->cli->out);
	profile_results_fini(&results);
}

void top_screen_print(struct top *top, double seconds)
{
	struct top_screen screen = top_screen_now(top->cli);
	struct writer *out = top->cli->out;
	uint64_t lost = live_session_lost(&top->live);
	if (format_is_table(top->options->format)) {
		print_results(top, lost);
		return;
	}
	if (screen.clears)
		writer_add_styled(out, "\033[H\033[2J", 7);
	writer_putc(out, '\n');
	print_heading(top, &screen, seconds, lost);
	warn_losses(top, lost);
	top->lost = lost;
	if (top->listed) {
		listed_code_print(top->listed, top_screen_entries(&screen, top->options), out);
		return;
	}
	const struct top_table table = {
		.profile = &top->profile, .hist = shown_hist(top), .rows = top_screen_entries(&screen, top->options), .width = screen.columns,
		.min_percent = (float)top->options->percent_limit, .colour = screen.colour,
		.min_count = top->options->count_filter_given && top->options->count_filter > 0 ? (uint64_t)top->options->count_filter : 0,
	};
	top_table_print(&table, out);
}

void top_screen_menu(const struct top *top, struct str *text)
{
	const struct top_options *o = top->options;
	struct top_screen screen = top_screen_now(top->cli);
	str_puts(text, "\nMapped keys:\n");
	str_printf(text, "\t[d]     seconds between two tables.      \t(%d)\n", o->delay_s);
	str_printf(text, "\t[e]     number of rows.                  \t(%zu)\n", top_screen_entries(&screen, o));
	if (session_evlist(&top->live.session)->events.count > 1)
		str_printf(text, "\t[E]     event whose table is shown.      \t(%u)\n", top->event);
	str_printf(text, "\t[f]     rows have more samples than this.\t(%d)\n", o->count_filter_given ? o->count_filter : 0);
	str_printf(text, "\t[F]     least share of a row.            \t(%.0f%%)\n", o->percent_limit);
	str_printf(text, "\t[K]     hide code of the kernel.         \t(%s)\n", o->hide_kernel ? "yes" : "no");
	str_puts(text, "\t[s]     show the code of a function.      \n\t[S]     stop showing code.\n");
	str_printf(text, "\t[U]     hide code of programs.           \t(%s)\n", o->hide_user ? "yes" : "no");
	str_printf(text, "\t[z]     forget the samples of each table.\t(%d)\n", o->zero);
	str_puts(text, "\t[qQ]    quit.\n\nEnter selection, or unmapped key to continue: ");
}
