/* Self-checks that record a workload with this program and look for its functions in what the other commands read. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/check.h"
#include "image/image.h"
#include "os/counter.h"

static const char seconds[] = "0.3";
enum { SAMPLES_LEAST = 10 };

/* Records a workload to `file` in the folder, whose path is stored; NULL options end the list. Any verdict but CHECK_OK is final. */
static enum verdict record(struct check_run *run, char path[static PATH_MAX], const char *workload, const char *option)
{
	CLEANUP_STR struct str out = { 0 };
	int fd = check_counter("cpu-clock:u");
	if (fd < 0)
		return check_refused(run, fd, NULL);
	counter_close(fd);
	snprintf(path, PATH_MAX, "%s/perf.data", run->folder);
	int code = option ?
		check_program(run, &out, "record", "-e", "cpu-clock:u", "-o", path, option, "--", run->self, "test", "-w", workload, seconds, NULL) :
		check_program(run, &out, "record", "-e", "cpu-clock:u", "-o", path, "--", run->self, "test", "-w", workload, seconds, NULL);
	return code == 0 ? CHECK_OK : check_failed(run, "record ends with %d", code);
}

static enum verdict script(struct check_run *run, const char *path, const char *fields, struct str *out)
{
	int code = check_program(run, out, "script", "-i", path, "-F", fields, NULL);
	return code == 0 ? CHECK_OK : check_failed(run, "script ends with %d", code);
}

/* How often the last words of consecutive lines are these names. */
static size_t count_names(char *text, const char *const *names, size_t count)
{
	size_t found = 0, at = 0;
	char *rest = text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		while (*line && line[strlen(line) - 1] == ' ')
			line[strlen(line) - 1] = '\0';
		const char *last = line + strlen(line);
		while (last > line && last[-1] != ' ' && last[-1] != '\t')
			last--;
		at = !strcmp(last, names[at]) ? at + 1 : !strcmp(last, names[0]);
		if (at == count) {
			found++;
			at = 0;
		}
	}
	return found;
}

/* Names are expected only if this program has symbols. */
static bool is_stripped(const struct check_run *run)
{
	return check_symbols(run->self, false, NULL) <= 0;
}

static enum verdict expect_names(struct check_run *run, const char *workload, const char *option, const char *const *names, size_t count)
{
	char path[PATH_MAX];
	CLEANUP_STR struct str out = { 0 };
	if (is_stripped(run))
		return check_skip(run, "this program is stripped: its functions have no names");
	enum verdict verdict = record(run, path, workload, option);
	if (verdict == CHECK_OK)
		verdict = script(run, path, "ip,sym", &out);
	if (verdict != CHECK_OK)
		return verdict;
	size_t found = out.text ? count_names(out.text, names, count) : 0;
	check_log("%zu samples have the expected names", found);
	return found >= SAMPLES_LEAST ? CHECK_OK : check_failed(run, "%zu samples have the expected functions", found);
}

enum verdict check_samples(struct check_run *run)
{
	static const char *const names[] = { "noploop" };
	return expect_names(run, "noploop", NULL, names, 1);
}

enum verdict check_frame_pointers(struct check_run *run)
{
	static const char *const names[] = { "leaf", "parent", "leafloop" };
	return expect_names(run, "leafloop", "--call-graph=fp", names, 3);
}

enum verdict check_stack_copies(struct check_run *run)
{
	static const char *const names[] = { "leaf", "parent", "leafloop" };
	return expect_names(run, "leafloop", "--call-graph=dwarf", names, 3);
}

enum verdict check_unwound(struct check_run *run)
{
	static const char *const names[] = { "leaf", "parent", "leafloop" };
	return expect_names(run, "leafloop", "--call-graph=unwind", names, 3);
}

/* Two different numbers are in the lines of `script -F tid`. */
enum verdict check_threads(struct check_run *run)
{
	char path[PATH_MAX];
	CLEANUP_STR struct str out = { 0 };
	long first = 0;
	enum verdict verdict = record(run, path, "thloop", NULL);
	if (verdict == CHECK_OK)
		verdict = script(run, path, "tid", &out);
	if (verdict != CHECK_OK)
		return verdict;
	char *rest = out.text;
	for (char *line; (line = strsep(&rest, "\n"));) {
		long tid = strtol(line, NULL, 10);
		if (tid && first && tid != first)
			return CHECK_OK;
		first = tid ? tid : first;
	}
	return check_failed(run, "two threads run, and samples have %d of them", first != 0);
}

enum verdict check_build_ids(struct check_run *run)
{
	char path[PATH_MAX];
	uint8_t id[ELF_BUILD_ID_MAX];
	CLEANUP_STR struct str out = { 0 }, text = { 0 };
	uint8_t length = image_build_id_of_path(run->self, id);
	if (!length)
		return check_skip(run, "this program is linked without a build-id");
	for (uint8_t i = 0; i < length; i++)
		str_printf(&text, "%02x", id[i]);
	enum verdict verdict = record(run, path, "noploop", NULL);
	if (verdict != CHECK_OK)
		return verdict;
	int code = check_program(run, &out, "buildid-list", "-i", path, NULL);
	if (code != 0)
		return check_failed(run, "buildid-list ends with %d", code);
	return strstr(str_text(&out), text.text) ? CHECK_OK : check_failed(run, "the build-id of %s is not in the recording", run->self);
}

enum verdict check_round_trip(struct check_run *run)
{
	char path[PATH_MAX], again[PATH_MAX];
	static const char fields[] = "comm,tid,time,event,ip,sym,dso";
	CLEANUP_STR struct str out = { 0 }, before = { 0 }, after = { 0 };
	enum verdict verdict = record(run, path, "leafloop", "--call-graph=fp");
	snprintf(again, sizeof again, "%s/again.data", run->folder);
	if (verdict == CHECK_OK)
		verdict = script(run, path, fields, &before);
	if (verdict != CHECK_OK)
		return verdict;
	int code = check_program(run, &out, "inject", "-i", path, "-o", again, NULL);
	if (code != 0)
		return check_failed(run, "inject ends with %d", code);
	verdict = script(run, again, fields, &after);
	if (verdict != CHECK_OK)
		return verdict;
	if (!before.len)
		return check_failed(run, "the recording has no samples");
	return !strcmp(before.text, str_text(&after)) ? CHECK_OK : check_failed(run, "the rewritten recording differs");
}
