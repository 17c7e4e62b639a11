/* From argv to a subcommand: what stands before its name, the configuration, the pager, the exit code. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/str.h"
#include "cmd/commands.h"
#include "cmd/cut_files.h"
#include "cmd/environment.h"
#include "cmd/page.h"
#include "cmd/servers.h"
#include "os/memory.h"

enum { EXIT_USAGE = 129 };

/* What files of others make grow may take so much of the memory. */
enum { BUDGET_SHARE = 2 };

static int usage_error(const struct cli *cli, const char *format, const char *what)
{
	char text[256];
	snprintf(text, sizeof text, format, what);
	cli_warn(cli, "%s\n\n Usage: %s " PROGRAM_USAGE, text, cli->program);
	return EXIT_USAGE;
}

/* The words before the subcommand. */
struct opening {
	struct cli *cli;
	const char **argv; /* what is left */
	const char *word;  /* the subcommand's name in the place of an option: "version" for --version */
	const char *debug;
	int code;          /* >= 0: all is said, exit with it */
};

static int take_exec_path(struct opening *o, const char *value)
{
	if (value)
		setenv("PERF_EXEC_PATH", value, 1);
	else {
		CLEANUP_STR struct str path = { 0 };
		environment_exec_path(&path);
		writer_printf(o->cli->out, "%s\n", str_text(&path));
		o->code = 0;
	}
	return 0;
}

static int take_html_path(struct opening *o, const char *value)
{
	writer_printf(o->cli->out, "%s\n", PERFUSE_DOC_PATH);
	o->code = 0;
	return 0;
}

static int take_pager(struct opening *o, const char *value)
{
	o->cli->use_pager = 1;
	return 0;
}

static int take_no_pager(struct opening *o, const char *value)
{
	o->cli->use_pager = 0;
	return 0;
}

static int take_buildid_dir(struct opening *o, const char *value)
{
	o->cli->buildid_dir = value;
	setenv("PERF_BUILDID_DIR", value, 1);
	return 0;
}

static int take_debugfs_dir(struct opening *o, const char *value)
{
	setenv("PERF_DEBUGFS_DIR", value, 1);
	return 0;
}

static int take_debug(struct opening *o, const char *value)
{
	static const char *const known[] = { "verbose", "ordered-events", "stderr", "data-convert", "perf-event-open", "kmaps",
		"type-profile" };
	size_t length = strcspn(value, "=");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strlen(known[i]) != length || strncmp(known[i], value, length) != 0)
			continue;
		if (i == 0)
			o->cli->verbose = value[length] ? atoi(value + length + 1) : 1;
		return 0;
	}
	o->code = usage_error(o->cli, "Unknown option name '%s'", value);
	return 0;
}

static int take_debug_file(struct opening *o, const char *value)
{
	int fd = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	dup2(fd, STDERR_FILENO);
	close(fd);
	return 0;
}

static int take_list_commands(struct opening *o, const char *value)
{
	for (size_t i = 0; i < commands_count(); i++)
		writer_printf(o->cli->out, "%s ", commands_at(i)->name);
	writer_putc(o->cli->out, '\n');
	o->code = 0;
	return 0;
}

static int take_list_options(struct opening *o, const char *value);

/* What may stand before the subcommand. `missing`: takes a value, and this is the complaint where there is none. */
static const struct lead {
	const char *name, *also, *missing;
	int (*take)(struct opening *o, const char *value);
} leads[] = {
	{ "--help", "-h", NULL, NULL },
	{ "--version", "-v", NULL, NULL },
	{ "--exec-path", NULL, NULL, take_exec_path },
	{ "--html-path", NULL, NULL, take_html_path },
	{ "--paginate", "-p", NULL, take_pager },
	{ "--no-pager", NULL, NULL, take_no_pager },
	{ "--debugfs-dir", NULL, "No directory given for --debugfs-dir.", take_debugfs_dir },
	{ "--buildid-dir", NULL, "No directory given for --buildid-dir.", take_buildid_dir },
	{ "--list-cmds", NULL, NULL, take_list_commands },
	{ "--list-opts", NULL, NULL, take_list_options },
	{ "--debug", NULL, "No variable specified for --debug.", take_debug },
	{ "--debug-file", NULL, "No path given for --debug-file.", take_debug_file },
};

static int take_list_options(struct opening *o, const char *value)
{
	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
		writer_printf(o->cli->out, "%s ", leads[i].name);
	writer_putc(o->cli->out, '\n');
	o->code = 0;
	return 0;
}

static const struct lead *find_lead(const char *word)
{
	size_t length = strcspn(word, "=");
	for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
		bool may_attach = leads[i].missing || leads[i].take == take_exec_path;
		if (!strcmp(word, leads[i].name) || (leads[i].also && !strcmp(word, leads[i].also)))
			return &leads[i];
		if (may_attach && word[length] && strlen(leads[i].name) == length && !strncmp(word, leads[i].name, length))
			return &leads[i];
	}
	return NULL;
}

/* Takes one word (and its value) from the front. */
static void take_lead(struct opening *o)
{
	const char *word = *o->argv++, *equals = strchr(word, '=');
	const struct lead *lead = find_lead(word);
	if (!lead && !strcmp(word, "-vv")) {
		o->word = word;
		return;
	}
	if (!lead) {
		o->code = usage_error(o->cli, "Unknown option: %s", word);
		return;
	}
	if (!lead->take) {
		o->word = lead->name + 2;
		return;
	}
	const char *value = equals ? equals + 1 : NULL;
	if (lead->missing && !value)
		value = *o->argv ? *o->argv++ : NULL;
	if (lead->missing && !value)
		o->code = usage_error(o->cli, "%s", lead->missing);
	else if (lead->take(o, value) < 0)
		o->code = usage_error(o->cli, "cannot write to %s", value);
}

static int count_words(const char **argv)
{
	int n = 0;
	while (argv[n])
		n++;
	return n;
}

/* Words within two edits of what was typed, the nearest alone. */
static void suggest(const struct cli *cli, const char *word)
{
	const unsigned far = 3;
	unsigned best = far;
	CLEANUP_STR struct str text = { 0 };
	for (size_t i = 0; i < commands_count(); i++) {
		unsigned distance = word_distance(word, commands_at(i)->name);
		best = distance < best ? distance : best;
	}
	unsigned found = 0;
	for (size_t i = 0; best < far && i < commands_count(); i++) {
		if (word_distance(word, commands_at(i)->name) == best) {
			str_printf(&text, "\n\t%s", commands_at(i)->name);
			found++;
		}
	}
	cli_warn(cli, "%s: '%s' is not a %s-command. See '%s --help'.", cli->program, word, cli->program, cli->program);
	if (found) {
		cli_warn(cli, "\nDid you mean %s?", found == 1 ? "this" : "one of these");
		cli_warn(cli, "%s", str_text(&text) + 1);
	}
}

static int run_word(struct cli *cli, const char *word, const char **argv)
{
	const struct command *command = commands_find(word);
	if (command && argv[0] && !strcmp(argv[0], "--help"))
		return page_show(cli, word);
	if (command)
		return command_run(cli, command, count_words(argv), argv);
	environment_exec_external(word, argv);
	if (commands_awaited(word))
		cli_warn(cli, "%s: perf's command '%s' is not part of perfuse yet. See '%s --help'.", cli->program, word, cli->program);
	else
		suggest(cli, word);
	return 1;
}

static int run_opening(struct opening *o)
{
	static const char *no_words[] = { NULL };
	const char *build_options[] = { "--build-options", NULL };
	while (o->code < 0 && !o->word && *o->argv && (*o->argv)[0] == '-')
		take_lead(o);
	if (o->code >= 0)
		return o->code;
	if (o->word && !strcmp(o->word, "-vv"))
		return run_word(o->cli, "version", build_options);
	if (o->word)
		return run_word(o->cli, o->word, !strcmp(o->word, "help") ? o->argv : no_words);
	if (*o->argv)
		return run_word(o->cli, o->argv[0], o->argv + 1);
	run_word(o->cli, "help", no_words);
	return 1;
}

/* The name we were called by: "perf" for perf, else our own; what follows "perf-" or "perfuse-" is a subcommand. */
static const char *program_name(const char *called, const char **subcommand)
{
	const char *slash = strrchr(called, '/'), *name = slash ? slash + 1 : called;
	*subcommand = NULL;
	if (!strncmp(name, "perf-", 5) && name[5])
		*subcommand = name + 5;
	else if (!strncmp(name, "perfuse-", 8) && name[8])
		*subcommand = name + 8;
	else if (!strcmp(name, "trace"))
		*subcommand = name;
	if (*subcommand && !commands_find(*subcommand) && !commands_awaited(*subcommand))
		*subcommand = NULL; /* a copy under another name, such as perfuse-old */
	return !strncmp(name, "perfuse", 7) || strncmp(name, "perf", 4) != 0 ? "perfuse" : "perf";
}

/* Where a standard descriptor is closed, the next file opened would be taken for it. */
static void open_standard_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDWR);
	if (fd >= 0)
		close(fd);
}

static void on_file_limit(__attribute__((unused)) int number)
{
}

/* A file beyond the limit of the process (ulimit -f) is a failed write, which is reported, not the end of the program. A handler, unlike
 * an ignored signal, does not reach the programs that record starts. */
static void file_limit_guard(void)
{
	struct sigaction action = { .sa_handler = on_file_limit, .sa_flags = SA_RESTART }, before;
	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

/* Whatever the command was, once. */
static void tell_refused(const struct cli *cli)
{
	uint64_t refused = atomic_load(&cli->budget->refused);
	if (refused)
		cli_warn(cli, "%llu parts of debug information, symbol tables or call frame information are left out: all of them may take %zu MiB of "
			"memory.", (unsigned long long)refused, cli->budget->limit >> 20);
	uint64_t hurried = atomic_load(&cli->budget->hurried);
	if (hurried)
		cli_warn(cli, "%llu times the records that wait for their turn took all the memory they may (%zu MiB): they are not in the order of "
			"their times.", (unsigned long long)hurried, cli->budget->limit >> 20);
}

static int finish(struct cli *cli, int code)
{
	struct error err = { 0 };
	tell_refused(cli);
	if (writer_flush(cli->out, &err) < 0 && err.sys != EPIPE) {
		cli_complain(cli, &err);
		code = 1;
	}
	cli_pager_end(cli);
	return code & 0xff;
}

int main(int argc, char **argv)
{
	struct writer out;
	struct config config = { 0 };
	const char *subcommand = NULL;
	struct budget budget = { .limit = memory_allowed() / BUDGET_SHARE };
	struct debuginfod servers = { 0 };
	struct cli cli = { .out = &out, .config = &config, .budget = &budget, .use_pager = -1, .servers = &servers };
	open_standard_descriptors();
	cut_files_guard();
	file_limit_guard();
	writer_open(&out, STDOUT_FILENO, 256 * 1024);
	cli.program = program_name(argc > 0 ? argv[0] : "perfuse", &subcommand);
	cli.tty_out = isatty(STDOUT_FILENO);
	cli.tty_err = isatty(STDERR_FILENO);
	out.terminal = cli.tty_out; /* through a pager, too */
	if (environment_is_set_id()) {
		cli_warn(&cli, "%s does not run with another user's or group's rights (set-user-ID): whoever starts it could write any file with "
			"them.\nFile capabilities let users record: setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep FILE", cli.program);
		return 1;
	}
	struct opening opening = { .cli = &cli, .argv = (const char **)argv + (argc > 0), .code = -1 };
	environment_config(&cli, &config);
	cli.buildid_dir = environment_buildid_dir(&config);
	cli.kept_dir = environment_kept_dir(&config);
	int code = subcommand ? run_word(&cli, subcommand, opening.argv) : run_opening(&opening);
	servers_report(&cli);
	code = finish(&cli, code);
	free(servers.cache);
	config_fini(&config);
	writer_fini(&out);
	return code;
}
