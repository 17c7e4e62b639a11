/* perf's collection `mem`: copying and filling memory by several functions. */
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/bench/bench.h"
#include "cmd/sampling.h"

/* Copies from `from`, or fills with a byte. */
struct routine {
	const char *name, *text;
	void (*run)(void *to, const void *from, size_t size);
};

/* Not inlined, so that the compiler sees neither size nor result. */
static __attribute__((noinline)) void copy_default(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
}

static __attribute__((noinline)) void fill_default(void *to, __attribute__((unused)) const void *from, size_t size)
{
	memset(to, (int)size, size);
}

#ifdef __x86_64__
static void copy_movsq(void *to, const void *from, size_t size)
{
	size_t words = size / 8, rest = size % 8;
	__asm__ volatile("rep movsq\n\tmov %3, %%rcx\n\trep movsb" : "+D"(to), "+S"(from), "+c"(words) : "r"(rest) : "memory");
}

static void fill_stosq(void *to, __attribute__((unused)) const void *from, size_t size)
{
	size_t words = size / 8, rest = size % 8;
	__asm__ volatile("rep stosq\n\tmov %2, %%rcx\n\trep stosb" : "+D"(to), "+c"(words) : "r"(rest), "a"(0) : "memory");
}
#endif

static const struct routine copies[] = {
	{ "default", "memcpy() of the C library", copy_default },
#ifdef __x86_64__
	{ "x86-64-movsq", "the instruction rep movsq", copy_movsq },
#endif
	{ NULL, NULL, NULL },
};
static const struct routine fills[] = {
	{ "default", "memset() of the C library", fill_default },
#ifdef __x86_64__
	{ "x86-64-stosq", "the instruction rep stosq", fill_stosq },
#endif
	{ NULL, NULL, NULL },
};

static void measure(const struct cli *cli, const struct bench_options *options, const struct routine *routine, char *memory, size_t size)
{
	routine->run(memory, memory + size, size); /* touches the pages */
	uint64_t begin = now_ns();
	for (unsigned i = 0; i < options->loops; i++)
		routine->run(memory, memory + size, size);
	uint64_t ns = now_ns() - begin;
	double rate = (double)size * options->loops / ((double)(ns ? ns : 1) / 1e9);
	writer_printf(cli->out, "# function '%s' (%s)\n", routine->name, routine->text);
	if (bench_is_simple(options))
		writer_printf(cli->out, "%f\n", rate);
	else
		writer_printf(cli->out, "# Copying %s bytes ...\n\n %14f GB/sec\n", options->size, rate / (1 << 30));
}

static int list_routines(const struct cli *cli, const struct routine *routines)
{
	writer_puts(cli->out, "Available functions:\n");
	for (; routines->name; routines++)
		writer_printf(cli->out, "\t%s ... %s\n", routines->name, routines->text);
	return 0;
}

/* As size_parse, with an optional B after the unit. */
static bool parse_bytes(const char *text, uint64_t *size)
{
	char copy[32];
	size_t length = strlen(text);
	bool plain;
	if (length >= sizeof copy)
		return false;
	memcpy(copy, text, length + 1);
	if (length > 1 && (copy[length - 1] == 'B' || copy[length - 1] == 'b'))
		copy[length - 1] = '\0';
	return size_parse(copy, size, &plain) && *size && *size <= SIZE_MAX / 4;
}

static int run_routines(struct cli *cli, const struct bench_options *options, const struct routine *routines, const struct command *command)
{
	struct error err = { 0 };
	uint64_t size;
	bool all = !strcmp(options->function, "all"), found = false;
	if (!strcmp(options->function, "help"))
		return list_routines(cli, routines);
	if (!parse_bytes(options->size, &size))
		error_set(&err, ERROR_USAGE, "'%s' is not a size of memory", options->size);
	for (const struct routine *r = routines; r->name; r++)
		found |= all || !strcmp(r->name, options->function);
	if (!found)
		error_set(&err, ERROR_USAGE, "there is no function '%s'; -f help lists them", options->function);
	if (err.text[0])
		return cli_usage(cli, command, &err);
	char *memory = calloc(2, size);
	if (!memory) {
		error_system(&err, "%s of memory cannot be allocated twice", options->size);
		return cli_complain(cli, &err);
	}
	for (const struct routine *r = routines; r->name; r++)
		if (all || !strcmp(r->name, options->function))
			measure(cli, options, r, memory, size);
	free(memory);
	return 0;
}

static int memcpy_run(struct cli *cli, void *options, int argc, const char **argv);
static int memset_run(struct cli *cli, void *options, int argc, const char **argv);

static const struct option mem_table[] = {
	OPT_STRING('s', "size", struct bench_options, size, "1MB", "size of the memory, with B, KB, MB or GB"),
	OPT_STRING('f', "function", struct bench_options, function, "all", "the function to run; all: each; help: lists them"),
	OPT_UINT('l', "nr_loops", struct bench_options, loops, "how often the function runs (default: 1)"),
	OPT_END(),
};
static const char *const mem_usage[] = { "perf bench mem {memcpy|memset|find_bit|all} [<options>]", NULL };

static const struct command command_memcpy = {
	.name = "memcpy", .summary = "functions that copy memory", .usage = mem_usage, .options = mem_table,
	.options_size = sizeof(struct bench_options), .run = memcpy_run,
};
static const struct command command_memset = {
	.name = "memset", .summary = "functions that fill memory", .usage = mem_usage, .options = mem_table,
	.options_size = sizeof(struct bench_options), .run = memset_run,
};
static const struct command *const list[] = { &command_memcpy, &command_memset, &bench_find_bit, NULL };
static const char *const words[] = { "memcpy", "memset", "find_bit", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int memcpy_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run_routines(cli, options, copies, &command_memcpy);
}

static int memset_run(struct cli *cli, void *options, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	return run_routines(cli, options, fills, &command_memset);
}

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return bench_collection_run(cli, "mem", list, options, argc, argv);
}

const struct command command_bench_mem = {
	.name = "mem", .summary = "copying and filling memory", .usage = mem_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
