/* The self-checks: each asks the real kernel, or runs this program, and answers whether that works here. A check runs in a child process
 * with a folder of its own; what it writes to stderr is its log. */
#pragma once
#include <limits.h>
#include <stddef.h>

#include "base/str.h"
#include "cmd/command.h"

enum verdict { CHECK_OK, CHECK_SKIP, CHECK_FAILED };

struct check_run {
	struct cli *cli;
	const char *dso;       /* --dso; NULL: this program */
	const char *self;      /* the path of this program */
	const char *folder;    /* an empty folder for files; removed afterwards */
	int verbose;
	char *why;             /* the reason of a result other than CHECK_OK; CHECK_WHY_SIZE bytes */
};

enum { CHECK_WHY_SIZE = 256 };

struct check {
	const char *name;
	enum verdict (*run)(struct check_run *run);
};

size_t checks_count(void);
const struct check *checks_at(size_t i);

/* Appends a line to the log. */
void check_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Both store the reason and return their verdict. */
enum verdict check_skip(struct check_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
enum verdict check_failed(struct check_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Opens a counter for this process, by the event's text. Returns a descriptor or -errno. */
int check_counter(const char *event);
/* The verdict for a counter that check_counter or counter_open refused with `error` (< 0). absent: the reason if the machine lacks the
 * event; NULL: every machine has it. */
enum verdict check_refused(struct check_run *run, int error, const char *absent);
/* Runs this program with the words up to NULL, without configuration; appends its stdout to *out. Returns its exit code, -1 if it did not
 * end by itself. */
int check_program(struct check_run *run, struct str *out, ...) __attribute__((sentinel));
/* The number of named functions of this program; 0: it is stripped. Each is printed to the log if `list` is set. < 0: *err. */
int check_symbols(const char *path, bool list, struct error *err);

/* count_checks.c */
enum verdict check_software(struct check_run *run);
enum verdict check_hardware(struct check_run *run);
enum verdict check_branches(struct check_run *run);
enum verdict check_tracepoint(struct check_run *run);
enum verdict check_filter(struct check_run *run);
enum verdict check_uprobe(struct check_run *run);
enum verdict check_breakpoint(struct check_run *run);
/* machine_checks.c */
enum verdict check_permissions(struct check_run *run);
enum verdict check_kernel_symbols(struct check_run *run);
enum verdict check_bpf(struct check_run *run);
enum verdict check_own_symbols(struct check_run *run);
/* record_checks.c */
enum verdict check_samples(struct check_run *run);
enum verdict check_threads(struct check_run *run);
enum verdict check_frame_pointers(struct check_run *run);
enum verdict check_stack_copies(struct check_run *run);
enum verdict check_unwound(struct check_run *run);
enum verdict check_build_ids(struct check_run *run);
enum verdict check_round_trip(struct check_run *run);
