/* One opened recording, for every command that shows samples: the source and its session, the kernel's files that came with it, names of
 * JIT-compiled code, progress, symbols, and the messages at the end. Knows no sink.
 *
 * Order of calls: input_open, input_symbols (before the run, after everything that can refuse the options), input_run, input_end,
 * input_close. The struct must not move after input_open. */
#pragma once
#include "base/options.h"
#include "cmd/code_files.h"
#include "cmd/command.h"
#include "cmd/jit.h"
#include "cmd/kernel_files.h"
#include "cmd/memory_option.h"
#include "cmd/piped_trace.h"
#include "cmd/progress.h"
#include "cmd/trace_log.h"
#include "session/losses.h"
#include "symbol/symbol.h"
#include "tracepoint/tracepoint.h"

struct input_options {
	const char *memory;             /* a size that limits the memory of the command; NULL: a share of the machine's */
	const char *path;               /* NULL: stdin if it is a pipe, otherwise perf.data */
	struct symbols_options symbols; /* symfs, vmlinux, kallsyms, no_vmlinux, demangle_kernel, short_names */
	int verbose;
	bool force, demangle, jit, join_stacks, guess;
};

/* The rows of these options. S is the command's struct, F its struct input_options. VERB: what the command does with the recording; DIR:
 * its name for the argument of --symfs; MORE: what follows "print more" at -v. All are string literals. Where an abbreviation
 * is ambiguous, the place of the rows in the table decides which two options the message names. */
#define INPUT_OPTIONS(S, F, VERB, DIR, MORE)                                                                            \
	OPT_STRING('i', "input", S, F.path, "file", "the recording to " VERB " (perf.data; - is stdin)"),                    \
	OPT_BOOL('f', "force", S, F.force, "read a recording of another user, too"),                                                   \
	OPT_INCR('v', "verbose", S, F.verbose, "print more" MORE),                                                            \
	OPT_STRING(0, "symfs", S, F.symbols.symfs, DIR, "look for programs and libraries under this folder"),                \
	OPT_STRING('k', "vmlinux", S, F.symbols.vmlinux, "file", "the kernel's symbols are in this vmlinux"),                \
	OPT_STRING(0, "kallsyms", S, F.symbols.kallsyms, "file", "the kernel's symbols are in this kallsyms")
/* And those on names and stacks. */
#define INPUT_NAME_OPTIONS(S, F)                                                                                        \
	OPT_BOOL(0, "demangle", S, F.demangle, "show C++, Rust and D names as in the source (on)"),                          \
	OPT_BOOL(0, "demangle-kernel", S, F.symbols.demangle_kernel, "the kernel's too"),                                    \
	OPTION_ROW(BOOL, 0, "short-names", S, F.symbols.short_names, "without the arguments of templates and generics",      \
		.flags = OPTION_OWN),                                                                                        \
	OPTION_ROW(BOOL, 0, "jit", S, F.jit, "names of JIT-compiled code from its compiler's dump (on)", .flags = OPTION_OWN), \
	OPT_MEMORY(S, F.memory),                                                                                             \
	OPTION_ROW(BOOL, 0, "join-stacks", S, F.join_stacks, "complete cut stacks by earlier ones of the thread",            \
		.flags = OPTION_OWN),                                                                                        \
	OPTION_ROW(BOOL, 0, "guess", S, F.guess,                                                                             \
		"follow stacks through code without call frame information by frame pointer (on)", .flags = OPTION_OWN)

void input_defaults(struct input_options *options);
/* Whether the kernel's files that the options name can be read. */
int input_check(const struct input_options *options, struct error *err);

enum input_remarks { REMARKS_NONE, REMARKS_GUESSED, REMARKS_ALL };

/* The demands of a command on an input, in addition to the user's options. */
struct input_use {
	bool header_only;
	bool keep_exited;            /* threads that exited are needed to the end */
	bool stitch;                 /* --stitch-lbr */
	bool no_progress, no_jit;
	unsigned threads;            /* that process samples; 0: one for each CPU */
	enum guests guests;          /* whose samples of virtual machines are */
	const struct itrace *itrace; /* which samples to make of a hardware trace; NULL: it is not decoded */
	enum input_remarks remarks;  /* which remarks on unwound stacks follow the run */
};

struct input {
	struct cli *cli;
	const struct input_options *options;
	const char *path;            /* as it was opened */
	struct piped_trace piped;
	struct session session;      /* session.source is NULL before input_open and after its failure */
	struct symbols *symbols;     /* NULL before input_symbols */
	struct tracepoints *tracepoints; /* NULL before input_tracepoints */
	struct kernel_files kernel_files;
	struct code_files code;
	struct losses losses;        /* after input_run */
	struct trace_log trace_log;  /* of --itrace=d */
	bool same_machine;           /* recorded on this machine */
	enum input_remarks remarks;
	struct progress progress;
	struct browse_screen *screen;   /* shows the progress, and opens when input_run begins; NULL: none */
	uint64_t screen_done, screen_total; /* what it knows of this recording */
	void (*pause)(void *context);   /* set before input_read: called instead of browse_screen_pause; NULL: that */
	void *pause_context;
	bool (*stop)(void *context);    /* set before input_read: whether the reading may end early; NULL: not */
	void *stop_context;
	struct source_ops ending;       /* of the source while it is read, if it may end early … */
	const struct source_ops *whole; /* … and its own */
	struct jit_names jit;
	VEC(struct recorded_perf_map) perf_maps; /* of the header; their texts are the source's */
};

/* cli and options are borrowed. After a failure input_close is still needed. */
int input_open(struct input *input, struct cli *cli, const struct input_options *options, const struct input_use *use,
	struct error *err);
void input_symbols(struct input *input);
/* Opens the formats of tracepoints that were read so far, once. */
void input_tracepoints(struct input *input);
/* Old recordings give tracepoints by number alone: names their events. */
void input_name_events(struct input *input);
/* Decodes only the part of a hardware trace that passes the filter. */
struct time_filter;
void input_window(struct input *input, const struct time_filter *filter);
/* session_run, then the remarks on it. The screen of a command that browses opens, and previews are made; reading ends when the user has
 * left it. */
void input_run(struct input *input, const struct sink *sink);
/* The two halves: several inputs may be read at a time, each by one thread. */
void input_read(struct input *input, const struct sink *sink);
void input_remark(struct input *input);
/* Reports losses and, with `files`, the symbol files that were refused; returns the exit code. quiet: damage alone. Nothing, if the user
 * has left the screen before the recording was read. */
int input_end(struct input *input, bool quiet, bool files);
void input_close(struct input *input);
