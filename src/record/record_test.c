#include <dirent.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/source.h"
#include "record/acquire/record_out.h"
#include "record/acquire/synthesize.h"
#include "record/recorder.h"
#include "record/write/build_ids.h"
#include "record/write/compress.h"
#include "unit.h"

static struct target_options asked(void)
{
	return (struct target_options){ 0 };
}

/* The number of threads of this process: an emulator adds some. */
static size_t threads_here(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/task");
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

TEST("of options that exclude each other, one is used, and a sentence says so")
{
	struct target target;
	struct target_options options = asked();
	const char *warning;
	char self[16];
	snprintf(self, sizeof self, "%d", getpid());
	options.pids = self;
	options.all_cpus = true;
	EXPECT(target_open(&target, &options, &warning, NULL) == 0);
	EXPECT_STR(warning, "PID/TID switch overriding SYSTEM");
	EXPECT(target.attached && !target.system_wide);
	EXPECT_INT(target.threads.count, threads_here());
	EXPECT_INT(target.threads.items[0].tid, getpid());
	target_close(&target);
}

TEST("of each pair of options that exclude each other, the first of threads, user, CPUs and system is used")
{
	enum { PID = 1, TID = 2, UID = 4, CPUS = 8, SYSTEM = 16, PER_THREAD = 32 };
	enum { ATTACHED = 1, FROM_TIDS = 2, WIDE = 4, THREADS_ALONE = 8 };
	static const struct {
		int given;
		const char *warning;
		int state;
	} rows[] = {
		{ PID, NULL, ATTACHED }, { TID, NULL, ATTACHED | FROM_TIDS }, { UID, NULL, ATTACHED }, { CPUS, NULL, WIDE }, { SYSTEM, NULL, WIDE },
		{ PID | PER_THREAD, NULL, ATTACHED | THREADS_ALONE }, { PID | TID, "PID/TID switch overriding TID", ATTACHED },
		{ PID | UID, "PID/TID switch overriding UID", ATTACHED }, { TID | UID, "PID/TID switch overriding UID", ATTACHED | FROM_TIDS },
		{ TID | SYSTEM, "PID/TID switch overriding SYSTEM", ATTACHED | FROM_TIDS }, { PID | CPUS, "PID/TID switch overriding CPU", ATTACHED },
		{ UID | CPUS, "UID switch overriding CPU", ATTACHED }, { UID | SYSTEM, "UID switch overriding SYSTEM", ATTACHED },
		{ SYSTEM | PER_THREAD, "SYSTEM/CPU switch overriding PER-THREAD", WIDE },
		{ CPUS | PER_THREAD, "SYSTEM/CPU switch overriding PER-THREAD", WIDE },
	};
	char self[16], user[16];
	snprintf(self, sizeof self, "%d", getpid());
	snprintf(user, sizeof user, "%u", getuid());
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct target target;
		int given = rows[i].given;
		const char *warning = NULL;
		struct target_options options = { .pids = given & PID ? self : NULL, .tids = given & TID ? self : NULL, .uid = given & UID ? user : NULL,
			.cpus = given & CPUS ? "0" : NULL, .all_cpus = given & SYSTEM, .per_thread = given & PER_THREAD };
		EXPECT_INT(target_open(&target, &options, &warning, NULL), 0);
		EXPECT_STR(warning ? warning : "none", rows[i].warning ? rows[i].warning : "none");
		EXPECT_INT((target.attached ? ATTACHED : 0) | (target.from_tids ? FROM_TIDS : 0) | (target.system_wide ? WIDE : 0) |
				   (target.per_thread ? THREADS_ALONE : 0), rows[i].state);
		target_close(&target);
	}
}

TEST("by default, the target is the whole system, or the command if there is one")
{
	struct target target;
	struct target_options options = asked();
	const char *warning;
	EXPECT(target_open(&target, &options, &warning, NULL) == 0);
	EXPECT(target.system_wide && !warning);
	target_close(&target);
	options.command = true;
	EXPECT(target_open(&target, &options, &warning, NULL) == 0);
	EXPECT(target.command && !target.system_wide);
	target_set_command(&target, 7);
	EXPECT_INT(target.threads.items[0].tid, 7);
	target_close(&target);
}

TEST("a process that does not exist is refused")
{
	struct target target;
	struct target_options options = asked();
	const char *warning;
	static const char *const bad[] = { "999999999999", "1,x", "abc", "1073741823" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		options.pids = bad[i];
		EXPECT(target_open(&target, &options, &warning, NULL) < 0);
		target_close(&target);
	}
}

static size_t count_records(const struct writer *out, uint32_t type)
{
	size_t count = 0;
	for (size_t at = 0; at + 8 <= out->len;) {
		uint32_t found;
		uint16_t size;
		memcpy(&found, out->buffer + at, sizeof found);
		memcpy(&size, out->buffer + at + 6, sizeof size);
		EXPECT(size >= 8 && size % 8 == 0);
		if (size < 8)
			return 0;
		count += found == type;
		at += size;
	}
	return count;
}

TEST("this process is synthesized with its name and its executable mappings")
{
	struct writer out;
	writer_open(&out, -1, 0);
	struct synthesis synthesis = { .out = &out, .trailer = 16, .map_timeout_ms = 1000 };
	synthesize_process(&synthesis, getpid(), true, NULL);
	EXPECT_INT(count_records(&out, RECORD_COMM), threads_here());
	EXPECT_INT(count_records(&out, RECORD_FORK), threads_here());
	size_t executable = count_records(&out, RECORD_MMAP2);
	EXPECT(executable >= 2);
	out.len = 0;
	synthesis.data_maps = true;
	synthesize_process(&synthesis, getpid(), false, NULL);
	EXPECT(count_records(&out, RECORD_MMAP2) > executable);
	writer_fini(&out);
}

TEST("more ids than one record holds become several records")
{
	struct counters counters = { 0 };
	struct writer out;
	writer_open(&out, -1, 0);
	for (int i = 0; i < 5000; i++)
		vec_push(&counters.list, ((struct counter){ .fd = i, .id = (uint64_t)i }));
	struct synthesis synthesis = { .out = &out };
	synthesize_id_index(&synthesis, &counters);
	EXPECT_INT(count_records(&out, RECORD_ID_INDEX), 3);
	vec_fini(&counters.list);
	writer_fini(&out);
}

TEST("compressed bytes are divided into records of at most 64 KiB")
{
	struct compressor compressor;
	struct writer out;
	uint8_t *noise = malloc(300000);
	uint64_t random = 1;
	for (size_t i = 0; i < 300000; i++)
		noise[i] = (uint8_t)((random = random * 6364136223846793005u + 1) >> 56);
	writer_open(&out, -1, 0);
	EXPECT(compressor_open(&compressor, 3, NULL) == 0);
	EXPECT(compressor_add(&compressor, (struct span){ noise, 300000 }, &out, NULL) == 0);
	EXPECT_INT(compressor.in, 300000);
	EXPECT_INT(compressor.out, out.len);
	for (size_t at = 0; at < out.len;) {
		uint16_t size;
		memcpy(&size, out.buffer + at + 6, sizeof size);
		EXPECT(size > 8);
		at += size > 8 ? size : out.len;
	}
	compressor_close(&compressor);
	writer_fini(&out);
	free(noise);
}

/* Records a command; false if this user may not open events here. */
static bool record_command(const char *path, const char *const *command, const char *events_text, struct recording *recording,
	int compression)
{
	struct events events = { 0 };
	struct error err = { 0 };
	static const char *const words[] = { "test", NULL };
	struct record_options options = {
		.sampling = { .freq = 0, .period = 1, .rate_given = true }, .target.command = true, .events = &events, .command = command,
		.whole_command = words, .version = "test", .output = path, .flush_bytes = 1, .map_timeout_ms = 500,
		.control = -1, .acknowledge = -1, .compression = compression,
	};
	EXPECT(events_parse(&events, events_text, NULL) == 0);
	int status = record_run(recording, &options, &err);
	events_fini(&events);
	if (status < 0 && recording->refused)
		return false;
	if (status < 0)
		unit_fail(__FILE__, __LINE__, "%s", err.text);
	return status == 0;
}

static void check_recording(const char *path, uint64_t samples)
{
	struct source *source = NULL;
	struct source_options options = { 0 };
	struct record record;
	uint64_t found = 0, execs = 0;
	EXPECT(source_open(&source, path, &options, NULL) == 0);
	if (!source)
		return;
	while (source_next(source, &record, NULL) > 0) {
		found += record.type == RECORD_SAMPLE;
		execs += record.type == RECORD_COMM && record.misc & RECORD_MISC_COMM_EXEC;
	}
	EXPECT_INT(found, samples);
	EXPECT_INT(execs, 1);
	EXPECT(!source->header.interrupted);
	EXPECT(header_has(&source->header, FEATURE_BUILD_ID) && source->header.build_ids.count > 0);
	source_close(source);
}

static void round_trip(int compression)
{
	char folder[] = "/tmp/perfuse-record-test-XXXXXX", path[64];
	struct recording recording;
	static const char *const command[] = { "sh", "-c", "exit 3", NULL };
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/perf.data", folder);
	if (record_command(path, command, "page-faults:u", &recording, compression)) {
		EXPECT(recording.samples > 10);
		EXPECT(recording.has_status && WIFEXITED(recording.status) && WEXITSTATUS(recording.status) == 3);
		EXPECT_INT(recording.lost_samples, 0);
		check_recording(path, recording.samples);
		unlink(path);
	} else {
		unit_skip("this user may not open events here");
	}
	recording_fini(&recording);
	rmdir(folder);
}

TEST("a command is recorded, its samples are counted and its exit code comes back")
{
	round_trip(0);
}

TEST("a compressed recording has the same records")
{
	round_trip(1);
}

TEST("after a command that cannot be executed there is no new recording, and the older one is in its place")
{
	char folder[] = "/tmp/perfuse-record-test-XXXXXX", path[64], old[80];
	struct recording recording;
	struct events events = { 0 };
	struct error err = { 0 };
	static const char *const command[] = { "./no-such-program", NULL };
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/perf.data", folder);
	snprintf(old, sizeof old, "%s.old", path);
	FILE *file = fopen(path, "w");
	fputs("older", file);
	fclose(file);
	struct record_options options = {
		.sampling = { .freq = 100 }, .target.command = true, .events = &events, .command = command, .whole_command = command,
		.version = "test", .output = path, .control = -1, .acknowledge = -1,
	};
	EXPECT(record_run(&recording, &options, &err) < 0);
	EXPECT(access(path, F_OK) == 0 && access(old, F_OK) != 0);
	recording_fini(&recording);
	events_fini(&events);
	unlink(path);
	rmdir(folder);
}
