/* The effect of each option of `record`: what a recording with it has, and the same recording without it does not (+), or the reverse (-):
 * words of the events' attributes, header features, types of records, what was printed. Commands run in a child, in an empty folder. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/test_words.h"
#include "data/source.h"
#include "data/time_index.h"
#include "os/counter.h"
#include "unit.h"

/* Words, in the order in which they were found, each once. */
struct facts {
	VEC(char *) list;
	size_t outer; /* those that are not of the file */
};

/* base: of both recordings; NULL: page faults of user code. PID is a process that sleeps. command: NULL: true. */
struct effect {
	const char *base, *options, *command, *want;
};

static void facts_add(struct facts *facts, const char *text, size_t len)
{
	char *word = strndup(text, len);
	for (size_t i = 0; i < facts->list.count; i++)
		if (strcmp(facts->list.items[i], word) == 0) {
			free(word);
			return;
		}
	vec_push(&facts->list, word);
}

static void facts_fini(struct facts *facts)
{
	for (size_t i = 0; i < facts->list.count; i++)
		free(facts->list.items[i]);
	vec_fini(&facts->list);
	*facts = (struct facts){ 0 };
}

__attribute__((format(printf, 2, 3))) static void fact(struct facts *facts, const char *format, ...)
{
	CLEANUP_STR struct str text = { 0 };
	va_list args;
	va_start(args, format);
	str_vprintf(&text, format, args);
	va_end(args);
	facts_add(facts, str_text(&text), text.len);
}

/* Runs a command line in a child and in this folder; its exit code, or -1. */
static int run(const char *folder, const char *text, struct str *out, struct str *err)
{
	int out_fd = memfd_create("out", MFD_CLOEXEC), err_fd = memfd_create("err", MFD_CLOEXEC), status = -1;
	char *line = memory_string(text), *words[WORDS_MAX];
	int count = words_split(line, words);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		words_environment(folder);
		setenv("PATH", "/usr/bin:/bin", 1);
		if (dup2(out_fd, STDOUT_FILENO) < 0 || dup2(err_fd, STDERR_FILENO) < 0 || chdir(folder) < 0)
			_exit(99);
		words_run(count, words);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	words_read(out_fd, out);
	words_read(err_fd, err);
	close(out_fd);
	close(err_fd);
	free(line);
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* "name: type: 1 (software), size: 136, …" of each event; not the size, which a newer kernel changes. */
static void add_attributes(struct facts *facts, const char *folder)
{
	CLEANUP_STR struct str out = { 0 };
	CLEANUP_STR struct str err = { 0 };
	EXPECT_INT(run(folder, "evlist -v -i x.data", &out, &err), 0);
	for (const char *at = str_text(&out); *at;) {
		size_t len = strcspn(at, ",\n");
		if (*at != '#')
			facts_add(facts, at, len);
		at += len;
		at += strspn(at, ", \n");
	}
}

/* timed: when samples come, or if, depends on the time that the command takes. */
static void add_bodies(struct facts *facts, const struct header *header, bool timed)
{
	uint64_t times[2]; /* of the first and the last sample */
	uint32_t words[5]; /* version, type, level, ratio, bytes of a ring */
	const struct span *body = &header->feature_data[FEATURE_SAMPLE_TIME];
	if (body->len >= sizeof times && !timed) {
		memcpy(times, body->data, sizeof times);
		if (times[0] && times[0] < times[1])
			fact(facts, "times of samples");
	}
	body = &header->feature_data[FEATURE_COMPRESSED];
	if (body->len < sizeof words)
		return;
	memcpy(words, body->data, sizeof words);
	fact(facts, "level %u", words[2]);
	fact(facts, "%ld pages a ring", (long)words[4] / sysconf(_SC_PAGESIZE) - 1);
}

/* Without samples, what the command maps has a build-id only if that was asked for. */
static void add_build_ids(struct facts *facts, const struct header *header, bool samples, const char *command)
{
	for (size_t i = 0; i < header->build_ids.count && !samples; i++) {
		const char *base = strrchr(header->build_ids.items[i].filename, '/');
		if (base && strcmp(base + 1, command) == 0)
			fact(facts, "build-id of the command");
	}
	fact(facts, "%s build-ids", header->build_ids.count ? "has" : "no");
}

/* Types of records whose number the rest of the machine decides, or the time. */
static bool is_of_others(uint32_t type, bool timed)
{
	return type == RECORD_KSYMBOL || type == RECORD_BPF_EVENT || type == RECORD_TEXT_POKE || type == RECORD_FINISHED_ROUND ||
	       type == RECORD_MMAP || type == RECORD_FORK || type == RECORD_EXIT || (timed && type == RECORD_SAMPLE);
}

/* Types of records; of a command that starts others, how many processes end. */
static void add_records(struct facts *facts, const char *path, const char *command)
{
	struct source *source = NULL;
	struct record record;
	struct error err = { 0 };
	unsigned ended = 0;
	bool samples = false;
	if (source_open(&source, path, &(struct source_options){ 0 }, &err) < 0) {
		unit_fail(__FILE__, __LINE__, "%s", err.text);
		return;
	}
	for (unsigned i = FEATURE_TRACING_DATA; i < FEATURE_COUNT; i++)
		if (header_has(&source->header, (enum feature)i) && i != FEATURE_BPF_PROG_INFO && i != FEATURE_BPF_BTF)
			fact(facts, "feature %s", feature_name(i));
	bool timed = attr_flag(&source->header.evlist.events.items[0].attr, ATTR_FREQ);
	add_bodies(facts, &source->header, timed);
	while (source_next(source, &record, NULL) > 0) {
		if (!is_of_others(record.type, timed))
			fact(facts, "%s", record_type_name(record.type));
		ended += record.type == RECORD_EXIT;
		samples |= record.type == RECORD_SAMPLE;
		if (record.type == RECORD_MMAP2 && record.misc & RECORD_MISC_MMAP_BUILD_ID)
			fact(facts, "mappings with build-ids");
	}
	add_build_ids(facts, &source->header, samples, command);
	if (strchr(command, ';'))
		fact(facts, "%u processes end", ended);
	source_close(source);
}

static void add_index(struct facts *facts, const char *path)
{
	CLEANUP_STR struct str bytes = { 0 };
	struct time_index index = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t at = 0, size = 0;
	words_read(fd, &bytes);
	close(fd);
	if (bytes.len < 64)
		return;
	memcpy(&at, bytes.text + 40, sizeof at);     /* perf.data-file-format.txt, "struct perf_header": data */
	memcpy(&size, bytes.text + 48, sizeof size);
	if (time_index_read(&index, (struct span){ (const uint8_t *)bytes.text, bytes.len }, at, at + size))
		fact(facts, "has index");
	time_index_fini(&index);
}

/* The names in the folder, numbers as N. */
static void add_names(struct facts *facts, const char *folder)
{
	DIR *names = opendir(folder);
	for (struct dirent *entry; names && (entry = readdir(names));) {
		CLEANUP_STR struct str name = { 0 };
		for (const char *c = entry->d_name; *c; c++)
			if (!isdigit((unsigned char)*c))
				str_putc(&name, *c);
			else if (!isdigit((unsigned char)c[1]))
				str_putc(&name, 'N');
		if (strspn(str_text(&name), ".") != name.len)
			fact(facts, "file %s", str_text(&name));
	}
	if (names)
		closedir(names);
}

static void clear(const char *folder)
{
	char line[128];
	snprintf(line, sizeof line, "rm -rf '%s'/* '%s'/.debug", folder, folder);
	EXPECT_INT(system(line), 0);
}

/* Records a command; false if it fails. */
static bool record(struct facts *facts, const char *folder, const char *options, const char *command, pid_t process)
{
	CLEANUP_STR struct str line = { 0 };
	CLEANUP_STR struct str out = { 0 };
	CLEANUP_STR struct str err = { 0 };
	char path[128];
	const char *pid = strstr(options, "PID");
	clear(folder);
	if (pid)
		str_printf(&line, "record -o x.data %.*s%d%s -- %s", (int)(pid - options), options, (int)process, pid + 3, command);
	else
		str_printf(&line, "record -o x.data %s -- %s", options, command);
	int code = run(folder, str_text(&line), &out, &err);
	fact(facts, "exit %d", code);
	fact(facts, "%s", err.len ? "says something" : "says nothing");
	add_names(facts, folder);
	facts->outer = facts->list.count;
	snprintf(path, sizeof path, "%s/x.data", folder);
	if (access(path, R_OK) == 0) {
		add_attributes(facts, folder);
		add_records(facts, path, command);
		add_index(facts, path);
	}
	return code == 0;
}

/* If the second recording has no file, what the first one's has is not listed. */
static void add_missing(const struct facts *of, const struct facts *in, char sign, struct str *to)
{
	for (size_t i = 0; i < (in->list.count == in->outer ? of->outer : of->list.count); i++) {
		bool found = false;
		for (size_t k = 0; k < in->list.count && !found; k++)
			found = strcmp(of->list.items[i], in->list.items[k]) == 0;
		if (!found)
			str_printf(to, "%s%c%s", to->len ? "; " : "", sign, of->list.items[i]);
	}
}

static pid_t sleeping(void)
{
	pid_t child = fork();
	if (child == 0) {
		for (;;)
			pause();
	}
	return child;
}

/* before: of the row above, which is used again if it has the same base. */
static void check_row(const struct effect *row, bool again, struct facts *before, const char *folder, pid_t process)
{
	const char *base = row->base ? row->base : "-e page-faults:u -c 1", *command = row->command ? row->command : "true";
	CLEANUP_STR struct str with = { 0 };
	CLEANUP_STR struct str got = { 0 };
	struct facts after = { 0 };
	if (!again) {
		facts_fini(before);
		if (!record(before, folder, base, command, process))
			unit_fail(__FILE__, __LINE__, "record %s -- %s fails", base, command);
	}
	str_printf(&with, "%s %s", base, row->options);
	record(&after, folder, str_text(&with), command, process);
	add_missing(&after, before, '+', &got);
	add_missing(before, &after, '-', &got);
	if (strcmp(str_text(&got), row->want) != 0)
		unit_fail(__FILE__, __LINE__, "%s %s: expected \"%s\", got \"%s\"", base, row->options, row->want, str_text(&got));
	facts_fini(&after);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* What each recording has, whatever the machine is. */
static void check_usual(const struct facts *facts)
{
	static const char *const usual[] = { "exit 0", "file x.data", "feature HOSTNAME", "feature OSRELEASE", "feature VERSION", "feature ARCH",
		"feature NRCPUS", "feature TOTAL_MEM", "feature CMDLINE", "feature EVENT_DESC", "ID_INDEX", "THREAD_MAP", "CPU_MAP", "COMM", "MMAP2",
		"FINISHED_INIT" };
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		bool found = false;
		for (size_t k = 0; k < facts->list.count && !found; k++)
			found = strcmp(facts->list.items[k], usual[i]) == 0;
		if (!found)
			unit_fail(__FILE__, __LINE__, "a usual recording lacks: %s", usual[i]);
	}
}

static bool may_count_cpus(void)
{
	enum { DUMMY = 9 };
	const struct attr attr = { .type = ATTR_SOFTWARE, .config = DUMMY };
	int fd = geteuid() == 0 ? counter_open(&attr, -1, 0, -1, 0) : -1;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void check(const struct effect *rows, size_t count)
{
	char folder[] = "/tmp/perfuse-record-XXXXXX", line[64];
	struct facts before = { 0 };
	EXPECT(mkdtemp(folder));
	pid_t process = sleeping();
	if (!may_count_cpus()) {
		unit_skip("needs root, and the kernel's events");
	} else {
		record(&before, folder, "-a -e dummy:u", "true", process);
		check_usual(&before);
		for (size_t i = 0; i < count; i++) {
			bool again = i && is_same(rows[i].base, rows[i - 1].base) && is_same(rows[i].command, rows[i - 1].command);
			check_row(&rows[i], again, &before, folder, process);
		}
	}
	facts_fini(&before);
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
	snprintf(line, sizeof line, "rm -rf '%s'", folder);
	EXPECT_INT(system(line), 0);
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof *(rows))

TEST("record: each option for samples changes the attributes of the events")
{
	static const struct effect rows[] = {
		{ NULL, "-d", NULL, "+sample_type: IP|TID|TIME|ADDR|DATA_SRC; +mmap_data: 1; -sample_type: IP|TID|TIME" },
		{ NULL, "--data-mmap", NULL, "+mmap_data: 1" },
		{ NULL, "--sample-mem-info", NULL, "+sample_type: IP|TID|TIME|DATA_SRC; -sample_type: IP|TID|TIME" },
		{ NULL, "-P", NULL, "+sample_type: IP|TID|TIME|PERIOD; -sample_type: IP|TID|TIME" },
		{ NULL, "--no-timestamp", NULL, "+sample_type: IP|TID; -sample_type: IP|TID|TIME; -times of samples" },
		{ NULL, "-R", NULL, "+sample_type: IP|TID|TIME|CPU|RAW; -sample_type: IP|TID|TIME" },
		{ NULL, "-W", NULL, "+sample_type: IP|TID|TIME|WEIGHT_STRUCT; -sample_type: IP|TID|TIME" },
		{ NULL, "-s", NULL, "+read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|LOST; +inherit_stat: 1; -read_format: ID|LOST" },
		{ NULL, "-n", NULL, "-{ sample_period; -sample_freq }: 1; -times of samples; -SAMPLE" },
		{ NULL, "-g", NULL, "+sample_type: IP|TID|TIME|CALLCHAIN; -sample_type: IP|TID|TIME" },
		{ NULL, "--call-graph fp,5", NULL, "+sample_type: IP|TID|TIME|CALLCHAIN; +sample_max_stack: 5; -sample_type: IP|TID|TIME" },
		{ NULL, "--sample-cpu", NULL, "+sample_type: IP|TID|TIME|CPU; -sample_type: IP|TID|TIME" },
		{ NULL, "--sample-identifier", NULL, "+sample_type: IP|TID|TIME|IDENTIFIER; -sample_type: IP|TID|TIME" },
		{ NULL, "--phys-data", NULL, "+sample_type: IP|TID|TIME|PHYS_ADDR; -sample_type: IP|TID|TIME" },
		{ NULL, "--data-page-size", NULL, "+sample_type: IP|TID|TIME|DATA_PAGE_SIZE; -sample_type: IP|TID|TIME" },
		{ NULL, "--code-page-size", NULL, "+sample_type: IP|TID|TIME|CODE_PAGE_SIZE; -sample_type: IP|TID|TIME" },
		{ NULL, "-k monotonic", NULL, "+use_clockid: 1; +clockid: 1; +feature CLOCKID; +feature CLOCK_DATA" },
		{ NULL, "--no-buffering", NULL, "+{ wakeup_events; +wakeup_watermark }: 1" },
		{ NULL, "--overwrite", NULL, "+write_backward: 1" },
		{ NULL, "-c 3", NULL, "+sample_freq }: 3; -sample_freq }: 1" },
		{ NULL, "--per-thread", NULL, "+sample_type: IP|TID; -sample_type: IP|TID|TIME; -inherit: 1; -times of samples" },
		{ "-e page-faults:u -c 1 --per-thread", "-T", NULL, "+sample_type: IP|TID|TIME; +times of samples; -sample_type: IP|TID" },
		{ "-g -e page-faults -c 1", "--user-callchains", NULL, "+exclude_callchain_kernel: 1" },
		{ "-g -e page-faults -c 1", "--kernel-callchains", NULL, "+exclude_callchain_user: 1" },
		{ "-e page-faults -c 1", "--all-user", NULL, "+exclude_kernel: 1" },
		{ "-e page-faults -c 1", "--all-kernel", NULL, "+exclude_user: 1" },
		{ "-e {page-faults:u,dummy:u}:S -c 1", "--running-time", NULL,
			"+read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP|LOST; -read_format: ID|GROUP|LOST" },
		{ "-e task-clock:u", "-F 99", NULL, "+sample_freq }: 99; -sample_freq }: 4000" },
	};
	CHECK(rows);
}

TEST("record: each option for registers changes the attributes of the events")
{
	static const struct effect rows[] = {
		{ NULL, "-I", NULL, "+sample_type: IP|TID|TIME|REGS_INTR; +sample_regs_intr: 0xff0fff; -sample_type: IP|TID|TIME" },
		{ NULL, "--intr-regs=ip", NULL, "+sample_type: IP|TID|TIME|REGS_INTR; +sample_regs_intr: 0x100; -sample_type: IP|TID|TIME" },
		{ NULL, "--user-regs=ip,sp", NULL, "+sample_type: IP|TID|TIME|REGS_USER; +sample_regs_user: 0x180; -sample_type: IP|TID|TIME" },
		{ NULL, "--call-graph dwarf,1024", NULL, "+sample_type: IP|TID|TIME|ADDR|CALLCHAIN|REGS_USER|STACK_USER|DATA_SRC; +mmap_data: 1; "
			"+exclude_callchain_user: 1; +sample_regs_user: 0xff0fff; +sample_stack_user: 1024; -sample_type: IP|TID|TIME" },
		{ NULL, "--call-graph unwind", NULL, "+sample_type: IP|TID|TIME|CALLCHAIN|REGS_USER|STACK_USER; +sample_regs_user: 0xff0fff; "
			"+sample_stack_user: 8192; -sample_type: IP|TID|TIME" },
	};
	struct utsname machine;
	if (uname(&machine) != 0 || strcmp(machine.machine, "x86_64") != 0)
		unit_skip("the registers are those of x86_64, where it runs");
	else
		CHECK(rows);
}

TEST("record: each option for what is recorded changes targets, processes and records")
{
	static const struct effect rows[] = {
		{ NULL, "-D -1", NULL, "+sample_type: IP|TID|TIME|ID; +dummy:u: type: 1 (software); +config: 0x9 (PERF_COUNT_SW_DUMMY); "
			"-sample_type: IP|TID|TIME; -times of samples; -SAMPLE" },
		{ NULL, "--namespaces", NULL, "+namespaces: 1; +NAMESPACES" },
		{ NULL, "--all-cgroups", NULL, "+sample_type: IP|TID|TIME|CGROUP; +cgroup: 1; +CGROUP; -sample_type: IP|TID|TIME" },
		{ NULL, "--no-bpf-event", NULL, "-bpf_event: 1" },
		{ NULL, "--switch-events", "sleep 0.01", "+context_switch: 1; +SWITCH" },
		{ NULL, "-i", "sh -c '/bin/true;/bin/true'", "+1 processes end; -inherit: 1; -3 processes end" },
		{ "-e dummy:u", "-a", NULL, "+sample_type: IP|TID|TIME|CPU|PERIOD; "
			"-sample_type: IP|TID|TIME|PERIOD; -disabled: 1; -enable_on_exec: 1" },
		{ "-e dummy:u", "-C 0", NULL, "+sample_type: IP|TID|TIME|CPU|PERIOD; "
			"-sample_type: IP|TID|TIME|PERIOD; -disabled: 1; -enable_on_exec: 1" },
		{ "-e dummy:u", "-p PID", NULL, "-enable_on_exec: 1" },
		{ "-e dummy:u", "-t PID", NULL, "-inherit: 1; -enable_on_exec: 1" },
		{ "-e dummy:u -t PID", "--inherit", NULL, "+inherit: 1" },
		{ "-e dummy:u -p PID", "--synth=no", NULL, "+no build-ids; -file .debug; -COMM; -MMAP2; -has build-ids" },
		{ "-e dummy:u -p PID", "--synth=task", NULL, "+no build-ids; -file .debug; -MMAP2; -has build-ids" },
		{ "-e dummy:u -p PID", "--synth=cgroup", NULL, "+no build-ids; -file .debug; -COMM; -MMAP2; -has build-ids" },
		{ "-e dummy:u -p PID", "--synth=mmap", NULL, "" },
		{ "-e dummy:u -p PID --synth=no", "--synth=all", NULL, "+file .debug; +COMM; +MMAP2; +has build-ids; -no build-ids" },
	};
	CHECK(rows);
}

TEST("record: each option for the file changes its header, its records or its names")
{
	static const struct effect rows[] = {
		{ NULL, "-B", NULL, "+no build-ids; -file .debug; -feature BUILD_ID; -times of samples; -has build-ids" },
		{ NULL, "-N", NULL, "-file .debug" },
		{ NULL, "--buildid-mmap", NULL, "+build_id: 1; +mappings with build-ids; +no build-ids; -file .debug; -feature BUILD_ID; "
			"-times of samples; -has build-ids" },
		{ NULL, "--timestamp-filename", NULL, "+file x.data.N; -file x.data" },
		{ NULL, "--switch-output=1M", NULL, "+file x.data.N; -file .debug; -file x.data" },
		{ NULL, "-z", NULL, "+feature COMPRESSED; +level 1; +128 pages a ring; +COMPRESSED" },
		{ NULL, "--index", NULL, "+has index" },
		{ NULL, "--threads", NULL, "+feature DIR_FORMAT" },
		{ NULL, "-q", NULL, "+says nothing; -says something" },
		{ NULL, "-o y.data", NULL, "+file y.data; -file x.data" },
		{ NULL, "--dry-run", NULL, "+says nothing; -says something; -file .debug; -file x.data" },
		{ NULL, "--vmlinux nosuch", NULL, "+exit 234; -exit 0; -file .debug; -file x.data" },
		{ NULL, "--aio", NULL, "" }, /* without effect, as the manual page says; so is the next one */
		{ NULL, "--num-thread-synthesize 2", NULL, "" },
		{ "-e dummy:u", "--buildid-all", NULL, "+build-id of the command" },
		{ "-e page-faults:u", "-F 1000000000 --strict-freq", NULL, "+exit 234; -exit 0; -file .debug; -file x.data" },
		{ "--buildid-all -e page-faults:u -c 1", "--timestamp-boundary", NULL, "+times of samples" },
		{ "-e page-faults:u -c 1 -z", "-z9", NULL, "+level 9; -level 1" },
		{ "-e page-faults:u -c 1 -z", "-m 4", NULL, "+4 pages a ring; -128 pages a ring" },
		{ "-e page-faults:u -c 1 -z", "-m 64K", NULL, "+16 pages a ring; -128 pages a ring" },
	};
	CHECK(rows);
}
