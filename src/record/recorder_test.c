/* Recordings whose course is steered by events alone: by commands, by what the recorder says, by signals of the command. */
#include "record/recorder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "data/source.h"
#include "unit.h"

/* One recording into an empty folder. */
struct course {
	struct events events;
	struct record_options options;
	struct recording recording;
	struct error err;
	struct str said;                    /* the lines, with '|' after each */
	const char *at;                     /* when a line that begins so is said for the nth time, the text is written to the descriptor */
	unsigned nth;
	const char *text;
	int to;
	int control[2], acknowledge[2];
	char folder[32], path[64];
	struct {
		uint64_t samples, lost, lost_bpf;
		unsigned files;
	} found;
};

static void say(void *context, const char *line)
{
	struct course *c = context;
	str_printf(&c->said, "%s|", line);
	if (c->at && strncmp(line, c->at, strlen(c->at)) == 0 && !--c->nth)
		EXPECT_INT(write(c->to, c->text, strlen(c->text)), strlen(c->text));
}

static void course_open(struct course *c, const char *events, const char *const *command)
{
	static const char *const words[] = { "test", NULL };
	*c = (struct course){ .folder = "/tmp/perfuse-course-XXXXXX", .control = { -1, -1 }, .acknowledge = { -1, -1 } };
	EXPECT(mkdtemp(c->folder) != NULL);
	EXPECT(pipe2(c->control, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(c->acknowledge, O_CLOEXEC | O_NONBLOCK) == 0);
	snprintf(c->path, sizeof c->path, "%s/perf.data", c->folder);
	c->options = (struct record_options){
		.sampling = { .period = 1, .rate_given = true }, .target.command = command != NULL, .events = &c->events, .command = command,
		.whole_command = words, .version = "test", .output = c->path, .flush_bytes = 1, .map_timeout_ms = 500, .pages = 16,
		.control = c->control[0], .acknowledge = c->acknowledge[1], .say = say, .say_context = c,
	};
	EXPECT(events_parse(&c->events, events, NULL) == 0);
}

static void read_file(struct course *c, const char *path)
{
	struct source *source = NULL;
	struct record record;
	if (source_open(&source, path, &(struct source_options){ 0 }, &c->err) < 0) {
		unit_fail(__FILE__, __LINE__, "%s", c->err.text);
		return;
	}
	c->found.files++;
	EXPECT(!source->header.interrupted);
	while (source_next(source, &record, NULL) > 0) {
		uint64_t lost = 0;
		c->found.samples += record.type == RECORD_SAMPLE;
		if (record.type != RECORD_LOST_SAMPLES)
			continue;
		memcpy(&lost, record.body, sizeof lost);
		*(record.misc & RECORD_MISC_LOST_SAMPLES_BPF ? &c->found.lost_bpf : &c->found.lost) += lost;
	}
	source_close(source);
}

static size_t descriptors(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (folder && readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Also: what it opens is closed. */
static int record_it(struct course *c)
{
	size_t before = descriptors();
	int status = record_run(&c->recording, &c->options, &c->err);
	EXPECT_INT(descriptors(), before);
	return status;
}

/* Records, and counts what all files have. False: this user may not open such events here. */
static bool course_run(struct course *c)
{
	int status = record_it(c);
	if (status < 0 && c->recording.refused) {
		unit_skip("this user may not open events here");
		return false;
	}
	if (status < 0) {
		unit_fail(__FILE__, __LINE__, "%s", c->err.text);
		return false;
	}
	DIR *folder = opendir(c->folder);
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.') {
			char path[320];
			snprintf(path, sizeof path, "%s/%s", c->folder, entry->d_name);
			read_file(c, path);
		}
	closedir(folder);
	return true;
}

static void course_close(struct course *c)
{
	char line[64];
	recording_fini(&c->recording);
	events_fini(&c->events);
	str_fini(&c->said);
	for (int i = 0; i < 2; i++) {
		close(c->control[i]);
		close(c->acknowledge[i]);
	}
	snprintf(line, sizeof line, "rm -rf '%s'", c->folder);
	EXPECT_INT(system(line), 0);
}

static void command_write(struct course *c, const char *text)
{
	EXPECT_INT(write(c->control[1], text, strlen(text)), strlen(text));
}

static const char *const long_command[] = { "sleep", "60", NULL };

TEST("each command of --control is answered, and says what it does; stop ends the recording and its command")
{
	struct course c;
	char answers[256];
	course_open(&c, "{page-faults:u,dummy:u},dummy/period=7/u", long_command);
	command_write(&c, "disable\nevlist\nevlist -F\nevlist -g\nevlist -x\nenable page-faults:u\nenable nosuch\ndisable page-faults:u\n"
		"enable\nping\nnosuch\nsnapshot\nstop\n");
	if (course_run(&c)) {
		EXPECT_STR(str_text(&c.said), "Events disabled|page-faults:u|dummy:u|dummy/period=7/u|page-faults:u: sample_period=1|"
			"dummy:u: sample_period=1|dummy/period=7/u: sample_period=7|{page-faults:u,dummy:u}|dummy/period=7/u|"
			"Event page-faults:u enabled|failed: can't find 'nosuch' event|Event page-faults:u disabled|Events enabled|");
		/* each is "ack\n" with its end, as perf writes it; not to what is unknown */
		EXPECT_INT(read(c.acknowledge[0], answers, sizeof answers), 11 * sizeof "ack\n");
		EXPECT(c.recording.has_status && WIFSIGNALED(c.recording.status));
		EXPECT_INT(c.recording.signal, 0);
	}
	course_close(&c);
}

TEST("events are enabled after the delay, and in each range of time alone")
{
	static const struct record_window windows[] = { { 1, 2 }, { 3, 5 } };
	struct course c;
	course_open(&c, "page-faults:u", long_command);
	c.options.sampling.delay_ms = 1;
	c.at = "Events enabled";
	c.nth = 1;
	c.text = "stop\n";
	c.to = c.control[1];
	if (course_run(&c))
		EXPECT_STR(str_text(&c.said), "Events disabled|Events enabled|");
	course_close(&c);
	course_open(&c, "page-faults:u", long_command);
	c.options.sampling.delay_ms = 1;
	c.options.windows = windows;
	c.options.window_count = 2;
	c.at = "Events disabled";
	c.nth = 3;
	c.text = "stop\n";
	c.to = c.control[1];
	if (course_run(&c))
		EXPECT_STR(str_text(&c.said), "Events disabled|Events enabled|Events disabled|Events enabled|Events disabled|");
	course_close(&c);
}

TEST("a recording of a process ends when the process does")
{
	struct course c;
	int ends[2];
	char pid[16], byte;
	EXPECT(pipe2(ends, O_CLOEXEC) == 0);
	pid_t child = fork();
	if (child == 0)
		_exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
	snprintf(pid, sizeof pid, "%d", child);
	course_open(&c, "page-faults:u", NULL);
	c.options.target.pids = pid;
	c.options.sampling.delay_ms = 1;
	c.at = "Events enabled";
	c.nth = 1;
	c.text = "x";
	c.to = ends[1];
	if (course_run(&c)) {
		EXPECT(!c.recording.has_status && !c.recording.signal);
		EXPECT_INT(c.found.files, 1);
	}
	course_close(&c);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

TEST("a signal of the command begins a new file; the last files remain")
{
	static const char *const command[] = { "sh", "-c", "kill -USR2 $PPID", NULL };
	for (unsigned files = 0; files < 2; files++) {
		struct course c;
		course_open(&c, "page-faults:u", command);
		c.options.switching.on_signal = true;
		c.options.switching.files = files;
		c.options.time_in_name = true;
		if (course_run(&c)) {
			EXPECT_INT(c.found.files, files ? 1 : 2);
			EXPECT(strncmp(c.recording.dumped, c.path, strlen(c.path)) == 0);
			EXPECT(files || c.found.samples > 10);
		}
		course_close(&c);
	}
}

TEST("fewer bytes than --mmap-flush stay in their ring until the end: a file that ends before has none of them")
{
	static const char *const command[] = { "sh", "-c", "kill -USR2 $PPID; exec sleep 60", NULL };
	for (int flushes = 0; flushes < 2; flushes++) {
		struct course c;
		course_open(&c, "page-faults:u", command);
		c.options.switching.on_signal = true;
		c.options.flush_bytes = flushes ? 1 : 1 << 30;
		c.at = "[ perf record: Dump ";
		c.nth = 1;
		c.text = "stop\n";
		c.to = c.control[1];
		if (course_run(&c)) {
			uint64_t all = c.found.samples;
			EXPECT_INT(c.found.files, 2);
			c.found.samples = 0;
			read_file(&c, c.path); /* the last one */
			EXPECT(flushes ? c.found.samples < all : c.found.samples == all);
		}
		course_close(&c);
	}
}

TEST("a recording ends at its largest size, which the result has")
{
	static const char *const command[] = { "sh", "-c", "while :; do /bin/true; done", NULL };
	enum { LIMIT = 20000 };
	struct course c;
	course_open(&c, "page-faults:u", command);
	c.options.size_limit = LIMIT;
	if (course_run(&c)) {
		EXPECT(c.recording.limit_reached >= LIMIT && c.recording.limit_reached <= c.recording.bytes);
		EXPECT(c.recording.has_status && WIFSIGNALED(c.recording.status));
	}
	course_close(&c);
}

TEST("samples that do not meet the condition of their event are dropped and counted, in the file as well, on CPUs and of a thread")
{
	static const char *const command[] = { "true", NULL };
	for (int alone = 0; alone < 2; alone++) {
		struct course c;
		course_open(&c, "page-faults:u,page-faults/name=all/u", command);
		c.events.list.items[0].condition = "ip == 0";
		c.options.target.per_thread = alone;
		int status = record_it(&c);
		if (status < 0 && (c.recording.refused || c.err.kind == ERROR_PERMISSION || c.err.kind == ERROR_UNSUPPORTED)) {
			unit_skip("needs root, and a kernel whose samples BPF programs can filter");
		} else if (status < 0) {
			unit_fail(__FILE__, __LINE__, "%s", c.err.text);
		} else {
			read_file(&c, c.path);
			EXPECT(c.found.samples > 10);
			EXPECT_INT(c.recording.filtered_samples, c.found.samples);
			EXPECT_INT(c.found.lost_bpf, c.found.samples);
			EXPECT_INT(c.found.lost, 0);
		}
		course_close(&c);
	}
}
