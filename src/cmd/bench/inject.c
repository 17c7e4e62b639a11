/* `internals inject-build-id`: how long `inject` takes to add build-ids to a recording that arrives through a pipe: libraries of this
 * machine, in the order of a fixed sequence, each with samples. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/attr.h"
#include "abi/record.h"
#include "analysis/stat/stat_table.h"
#include "cmd/bench/bench.h"
#include "cmd/own_program.h"
#include "os/file.h"

enum { USUAL = 100, LIBRARIES_MAX = 4096, MAPPINGS_MAX = 1 << 16, SAMPLES_MAX = 1 << 16, PATH_SIZE = 512, FIRST_PID = 1000 };
enum { MAPPING_STEP = 1 << 24, MAPPING_SIZE = 1 << 20, EVENT_ID = 99 };

struct libraries {
	char folder[PATH_SIZE];
	struct names names;
};

static int find_folder(struct dl_phdr_info *object, __attribute__((unused)) size_t size, void *context)
{
	char *folder = context;
	const char *slash = strrchr(object->dlpi_name, '/');
	if (!slash || !strstr(slash, "/libc.") || slash - object->dlpi_name >= PATH_SIZE)
		return 0;
	memcpy(folder, object->dlpi_name, (size_t)(slash - object->dlpi_name));
	folder[slash - object->dlpi_name] = '\0';
	return 1;
}

/* The shared libraries beside the C library. */
static int libraries_find(struct libraries *libraries, struct error *err)
{
	*libraries = (struct libraries){ 0 };
	if (!dl_iterate_phdr(find_folder, libraries->folder))
		return error_set(err, ERROR_UNSUPPORTED, "this program has no C library as a file: there are no libraries to map");
	if (folder_names(libraries->folder, &libraries->names, err) < 0)
		return -1;
	size_t count = 0;
	for (size_t i = 0; i < libraries->names.list.count; i++) {
		const char *name = libraries->names.list.items[i];
		bool wanted = strstr(name, ".so") && count < LIBRARIES_MAX;
		libraries->names.list.items[i] = libraries->names.list.items[count];
		libraries->names.list.items[count] = name;
		count += wanted;
	}
	libraries->names.list.count = count;
	names_sort(&libraries->names);
	return count ? 0 : error_set(err, ERROR_UNSUPPORTED, "%s has no libraries", libraries->folder);
}

static void add_u32(struct writer *out, uint32_t value)
{
	writer_add(out, &value, sizeof value);
}

static void add_u64(struct writer *out, uint64_t value)
{
	writer_add(out, &value, sizeof value);
}

static void add_head(struct writer *out, uint32_t type, uint16_t misc, size_t body)
{
	const uint16_t words[] = { misc, (uint16_t)(8 + body) };
	add_u32(out, type);
	writer_add(out, words, sizeof words);
}

static void add_ids(struct writer *out, uint32_t pid, uint64_t time)
{
	add_u32(out, pid);
	add_u32(out, pid);
	if (time)
		add_u64(out, time);
}

/* Padded to whole words of 8 bytes, with at least one zero. */
static void add_name(struct writer *out, const char *name)
{
	static const char zeros[8];
	size_t len = strlen(name);
	writer_add(out, name, len);
	writer_add(out, zeros, 8 - len % 8);
}

static void add_header(struct writer *out)
{
	const struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME,
		.flags = 1ull << ATTR_SAMPLE_ID_ALL | 1ull << ATTR_MMAP | 1ull << ATTR_COMM };
	uint8_t bytes[ATTR_SIZE_VER9];
	size_t size = attr_encode(&attr, bytes);
	writer_add(out, "PERFILE2", 8);
	add_u64(out, 16);
	add_head(out, RECORD_HEADER_ATTR, 0, size + 8);
	writer_add(out, bytes, size);
	add_u64(out, EVENT_ID);
}

/* A task with a name, a library and its samples. */
static void add_task(struct writer *out, const struct libraries *libraries, unsigned index, unsigned samples)
{
	/* the same mixture in each run: a large odd factor visits all libraries */
	const char *name = libraries->names.list.items[(uint64_t)index * 2654435761u % libraries->names.list.count];
	char path[2 * PATH_SIZE];
	uint32_t pid = FIRST_PID + index;
	uint64_t start = (uint64_t)MAPPING_STEP * (index + 1), time = 1 + (uint64_t)index * (samples + 2);
	snprintf(path, sizeof path, "%s/%s", libraries->folder, name);
	add_head(out, RECORD_COMM, 0, 8 + 8 + 16);
	add_ids(out, pid, 0);
	add_name(out, "bench");
	add_ids(out, pid, time);
	add_head(out, RECORD_MMAP2, RECORD_MISC_USER, 64 + strlen(path) / 8 * 8 + 8 + 16);
	add_ids(out, pid, 0);
	add_u64(out, start);
	add_u64(out, MAPPING_SIZE);
	for (unsigned i = 0; i < 4; i++)
		add_u64(out, 0); /* offset in the file, and its numbers */
	add_u32(out, PROT_READ | PROT_EXEC);
	add_u32(out, MAP_PRIVATE);
	add_name(out, path);
	add_ids(out, pid, time + 1);
	for (unsigned i = 0; i < samples; i++) {
		add_head(out, RECORD_SAMPLE, RECORD_MISC_USER, 24);
		add_u64(out, start + 16 * (uint64_t)i % MAPPING_SIZE);
		add_ids(out, pid, time + 2 + i);
	}
}

/* Runs `inject` with a pipe as its input and no output. */
static int start_inject(const char *option, int *input, pid_t *pid, struct error *err)
{
	const char *const words[] = { "perfuse", "--buildid-dir", "/dev/null", "inject", option, NULL };
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_system(err, "cannot make a pipe");
	int status = own_program_start(words, ends[0], -1, pid, err);
	close(ends[0]);
	*input = ends[1];
	if (status < 0)
		close(ends[1]);
	return status;
}

/* One execution; how long it took, and its peak of memory. */
static int inject_once(const char *option, const struct writer *recording, struct stat_spread *ms, struct stat_spread *kb,
	struct error *err)
{
	struct writer out;
	struct rusage usage;
	int input = -1, status;
	pid_t pid;
	uint64_t begin = now_ns();
	if (start_inject(option, &input, &pid, err) < 0)
		return -1;
	writer_open(&out, input, 0);
	writer_add(&out, recording->buffer, recording->len);
	int written = writer_flush(&out, err);
	writer_fini(&out);
	close(input);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return error_system(err, "cannot wait for inject");
	if (status || written < 0)
		return error_set(err, ERROR_SYSTEM, "inject failed");
	stat_spread_add(ms, (double)(now_ns() - begin) / 1e6);
	stat_spread_add(kb, (double)usage.ru_maxrss);
	return 0;
}

static int measure(struct cli *cli, const struct bench_options *options, bool all, const struct writer *recording, struct error *err)
{
	uint64_t times = options->iterations ? options->iterations : USUAL;
	double events = (double)options->mappings * (options->samples + 2.0);
	const char *what = all ? "build-id-all" : "build-id";
	struct stat_spread ms = { 0 }, kb = { 0 };
	for (uint64_t i = 0; i < times; i++) {
		if (options->verbose)
			cli_warn(cli, "Iteration #%llu", (unsigned long long)i + 1);
		if (inject_once(all ? "--buildid-all" : "-b", recording, &ms, &kb, err) < 0)
			return -1;
	}
	writer_printf(cli->out, "  Average %s injection took: %.3f msec (+- %.3f msec)\n", what, ms.mean, stat_spread_error(&ms));
	writer_printf(cli->out, "  Average time per event: %.3f usec (+- %.3f usec)\n", ms.mean * 1e3 / events,
		stat_spread_error(&ms) * 1e3 / events);
	writer_printf(cli->out, "  Average memory usage: %.0f KB (+- %.0f KB)\n", kb.mean, stat_spread_error(&kb));
	return 0;
}

int bench_inject_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	const struct bench_options *options = filled;
	struct error err = { 0 };
	struct libraries libraries = { 0 };
	struct writer recording;
	if (!options->mappings || options->mappings > MAPPINGS_MAX || !options->samples || options->samples > SAMPLES_MAX) {
		error_set(&err, ERROR_USAGE, "-m takes 1 to %d mappings, -n 1 to %d samples", MAPPINGS_MAX, SAMPLES_MAX);
		return cli_usage(cli, &command_bench_internals, &err);
	}
	writer_open(&recording, -1, 0);
	int status = libraries_find(&libraries, &err);
	if (status == 0)
		add_header(&recording);
	for (unsigned i = 0; status == 0 && i < options->mappings; i++)
		add_task(&recording, &libraries, i, options->samples);
	for (int all = 0; all < 2 && status == 0; all++)
		status = measure(cli, options, all, &recording, &err);
	writer_fini(&recording);
	names_fini(&libraries.names);
	return status < 0 ? cli_complain(cli, &err), EXIT_FAILED : 0;
}
