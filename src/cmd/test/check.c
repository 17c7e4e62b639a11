#include "cmd/test/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "event/event.h"
#include "image/image.h"
#include "os/counter.h"
#include "os/file.h"
#include "os/permission.h"
#include "symbol/load_elf.h"

enum { WORDS_MAX = 32, OUTPUT_MAX = 64 << 20 };

static const struct check checks[] = {
	{ "Permission to measure kernel and other users' code", check_permissions },
	{ "Software events count", check_software },
	{ "Hardware events count", check_hardware },
	{ "Branch records", check_branches },
	{ "Tracepoints count", check_tracepoint },
	{ "Filters of tracepoints", check_filter },
	{ "Uprobes count calls", check_uprobe },
	{ "Breakpoints count accesses", check_breakpoint },
	{ "BPF programs load", check_bpf },
	{ "Kernel addresses in /proc/kallsyms", check_kernel_symbols },
	{ "Symbols of this program", check_own_symbols },
	{ "Samples of a command", check_samples },
	{ "Samples of threads", check_threads },
	{ "Call chains by frame pointers", check_frame_pointers },
	{ "Call chains from copies of the stack", check_stack_copies },
	{ "Call chains unwound while recording", check_unwound },
	{ "Build-ids in a recording", check_build_ids },
	{ "A recording is read, rewritten and read again", check_round_trip },
};

size_t checks_count(void)
{
	return sizeof checks / sizeof *checks;
}

const struct check *checks_at(size_t i)
{
	return &checks[i];
}

void check_log(const char *format, ...)
{
	CLEANUP_STR struct str line = { 0 };
	va_list args;
	va_start(args, format);
	str_vprintf_line(&line, format, args);
	va_end(args);
	str_putc(&line, '\n');
	file_write(STDERR_FILENO, line.text, line.len);
}

static enum verdict end(struct check_run *run, enum verdict verdict, const char *format, va_list args)
{
	CLEANUP_STR struct str text = { 0 };
	str_vprintf_line(&text, format, args);
	text_copy(run->why, CHECK_WHY_SIZE, text.text, text.len);
	check_log("%s", text.text);
	return verdict;
}

enum verdict check_skip(struct check_run *run, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	enum verdict verdict = end(run, CHECK_SKIP, format, args);
	va_end(args);
	return verdict;
}

enum verdict check_failed(struct check_run *run, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	enum verdict verdict = end(run, CHECK_FAILED, format, args);
	va_end(args);
	return verdict;
}

int check_counter(const char *event)
{
	struct events events = { 0 };
	struct event_error wrong = { 0 };
	int fd = -ENOENT;
	if (events_parse(&events, event, &wrong) == 0)
		fd = counter_open(&events.list.items[0].attr, 0, -1, -1, 0);
	else
		check_log("%s: %s", event, wrong.what);
	events_fini(&events);
	return fd;
}

enum verdict check_refused(struct check_run *run, int error, const char *absent)
{
	struct permission permission;
	permission_read(&permission);
	if (error == -EACCES || error == -EPERM)
		return check_skip(run, "no permission: kernel.perf_event_paranoid is %d", permission.paranoid);
	if (error == -ENOSYS)
		return check_skip(run, "this kernel has no perf_event_open");
	if (absent && (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV || error == -EINVAL))
		return check_skip(run, "%s", absent);
	return check_failed(run, "perf_event_open: %s", strerror(-error));
}

/* In the child. */
static void become(const char *self, const char **words, int output)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("PERF_CONFIG", "/dev/null", 1);
	dup2(output, STDOUT_FILENO);
	execv(self, (char *const *)words);
	_exit(EXIT_NOT_STARTED);
}

static void read_all(int fd, struct str *out)
{
	const size_t piece = 65536;
	ssize_t n = 1;
	while (n > 0 && out->len < OUTPUT_MAX) {
		str_reserve(out, piece);
		n = read(fd, out->text + out->len, piece);
		out->len += n > 0 ? (size_t)n : 0;
		out->text[out->len] = '\0';
	}
}

int check_program(struct check_run *run, struct str *out, ...)
{
	const char *words[WORDS_MAX] = { run->self };
	size_t count = 1;
	int ends[2], status;
	va_list args;
	va_start(args, out);
	for (const char *word; count < WORDS_MAX - 1 && (word = va_arg(args, const char *)); count++)
		words[count] = word;
	va_end(args);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	pid_t child = fork();
	if (!child)
		become(run->self, words, ends[1]);
	close(ends[1]);
	if (child > 0)
		read_all(ends[0], out);
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	check_log("%s %s: exit code %d", run->cli->program, words[1], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int check_symbols(const char *path, bool list, struct error *err)
{
	struct image image;
	struct symbol_table table = { 0 };
	struct arena names = { 0 };
	const struct demangler plain = { 0 };
	CLEANUP_STR struct str text = { 0 };
	if (image_open(&image, -1, path, NULL, err) < 0)
		return -1;
	const struct elf_load_request request = { .symbols = &image.elf, .runtime = &image.elf, .dynamic = &image.elf, .use = ELF_USE_FILE,
		.demangler = &plain, .names = &names };
	/* the names of the dynamic symbol table alone are not those of functions inside */
	if (elf_has_symtab(&image.elf))
		load_elf(&request, &table);
	int count = (int)table.count;
	for (uint32_t i = 0; list && i < table.count; i++) {
		const struct symbol *symbol = &table.symbols[i];
		str_printf(&text, " %llx-%llx %c ", (unsigned long long)symbol->start, (unsigned long long)symbol->end, "lgw"[symbol->binding % 3]);
		size_t at = text.len;
		str_puts(&text, symbol->name);
		text_make_printable(text.text + at);
		str_putc(&text, '\n');
	}
	file_write(STDERR_FILENO, str_text(&text), text.len);
	table_fini(&table);
	arena_fini(&names);
	image_close(&image);
	return count;
}
