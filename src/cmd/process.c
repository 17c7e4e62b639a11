#include "cmd/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/environment.h"
#include "cmd/servers.h"
#include "os/file_signals.h"
#include "os/memory.h"

/* Memory for the content of foreign files: this part of the memory that the process may take. */
enum { BUDGET_SHARE = 2 };

static size_t content_memory(void)
{
	size_t share = memory_allowed() / BUDGET_SHARE;
	return share ? share : 1;
}

/* If a standard descriptor is closed, the next file that is opened would get its number. */
static void open_standard_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDWR);
	if (fd >= 0)
		close(fd);
}

/* In a signal handler: no allocation, no stdio. */
static void on_bus_error(__attribute__((unused)) int number, siginfo_t *info, __attribute__((unused)) void *context)
{
	static const char message[] = " was cut short while it was read: the data after its new end is missing.\n";
	char text[TRUNCATED_PATH_SIZE + sizeof message];
	if (!truncated_replace(info, text))
		return;
	strcat(text, message);
	ssize_t n = write(STDERR_FILENO, text, strlen(text));
	(void)n;
}

/* After every command. */
static void report_refused(const struct cli *cli)
{
	uint64_t refused = atomic_load(&cli->budget->refused);
	if (refused)
		cli_warn(cli, "%llu parts of debug information, symbol tables or call frame information are left out: the limit for all of them is "
			"%zu MiB of memory. 'perfuse --memory SIZE COMMAND' sets another limit.", (unsigned long long)refused, budget_limit(cli->budget) >> 20);
	uint64_t hurried = atomic_load(&cli->budget->hurried);
	if (hurried)
		cli_warn(cli, "%llu times the records that wait to be sorted reached their limit of memory (%zu MiB): they are not in the order of their "
			"times. 'perfuse --memory SIZE COMMAND' sets another limit.", (unsigned long long)hurried, budget_limit(cli->budget) >> 20);
}

static int flush_output(struct cli *cli, int code)
{
	struct error err = { 0 };
	report_refused(cli);
	if (writer_flush(cli->out, &err) < 0 && err.sys != EPIPE) {
		cli_complain(cli, &err);
		code = EXIT_ERROR;
	}
	cli_pager_end(cli);
	return code & 0xff;
}

int process_run(int argc, char **argv)
{
	struct writer out;
	struct config config = { 0 };
	const char *subcommand = NULL;
	struct budget budget = { .measure = content_memory };
	struct debuginfod servers = { 0 };
	struct cli cli = { .out = &out, .config = &config, .budget = &budget, .use_pager = -1, .servers = &servers };
	open_standard_descriptors();
	if (memory_addresses_limited())
		memory_share();
	truncated_catch(on_bus_error);
	file_limit_catch();
	writer_open(&out, STDOUT_FILENO, 256 * 1024);
	cli.program = program_name(argc > 0 ? argv[0] : "perfuse", &subcommand);
	cli.tty_out = isatty(STDOUT_FILENO);
	cli.tty_err = isatty(STDERR_FILENO);
	out.terminal = cli.tty_out; /* through a pager, too */
	if (environment_is_set_id()) {
		cli_warn(&cli, "%s does not run with another user's or group's rights (set-user-ID): whoever starts it could write any file with "
			"them.\nFile capabilities let users record: setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep FILE", cli.program);
		return EXIT_ERROR;
	}
	environment_config(&cli, &config);
	cli.buildid_dir = environment_buildid_dir(&config);
	cli.user_cache_dir = environment_user_cache_dir(&config);
	int code = command_line_run(&cli, subcommand, (const char **)argv + (argc > 0));
	servers_report(&cli);
	code = flush_output(&cli, code);
	free(servers.cache);
	config_fini(&config);
	writer_fini(&out);
	return code;
}
