#include "cmd/input.h"

#include "cmd/test_cli.h"
#include "data/test_recording.h"
#include "image/test_folder.h"

struct counted {
	size_t samples;
};

static void count_sample(void *context, const struct resolved *r, size_t slice)
{
	struct counted *counted = context;
	counted->samples++;
}

/* Runs over a recording of `missing` bytes less than a whole one; returns the exit code. */
static int run(struct test_cli *t, const char *path, const struct recording *r, size_t missing, struct counted *counted)
{
	struct input input;
	struct error err = { 0 };
	struct input_options options = { .path = path, .force = true };
	struct folder f;
	folder_open(&f);
	if (r)
		options.path = folder_write(&f, "perf.data", r->bytes, r->len - missing);
	input_defaults(&options);
	*counted = (struct counted){ 0 };
	int code = 256;
	if (input_open(&input, &t->cli, &options, &(struct input_use){ .remarks = REMARKS_ALL }, &err) == 0) {
		const struct sink sink = { .context = counted, .record = count_sample, .serial = true };
		EXPECT_STR(input.path, options.path);
		input_symbols(&input);
		input_run(&input, &sink);
		code = input_end(&input, false, false);
	} else {
		EXPECT(err.text[0]);
	}
	input_close(&input);
	folder_close(&f);
	return code;
}

TEST("an input delivers the samples of a whole recording and exits with 0")
{
	struct test_cli t;
	struct counted counted;
	struct recording *r = recording_new(false);
	test_cli_open(&t);
	make_file(r);
	EXPECT_INT(run(&t, NULL, r, 0, &counted), 0);
	EXPECT_INT(counted.samples, 3);
	make_stream(r);
	EXPECT_INT(run(&t, NULL, r, 0, &counted), 0);
	EXPECT_INT(counted.samples, 3);
	EXPECT_STR(test_cli_messages(&t), "");
	free(r);
	test_cli_close(&t);
}

TEST("an input that ends early delivers the samples before, reports it, and exits with 255")
{
	struct test_cli t;
	struct counted counted;
	struct recording *r = recording_new(false);
	test_cli_open(&t);
	make_stream(r);
	EXPECT_INT(run(&t, NULL, r, 1, &counted), 255);
	EXPECT_INT(counted.samples, 2);
	EXPECT(test_cli_messages(&t)[0] != '\0');
	free(r);
	test_cli_close(&t);
}

TEST("an input that cannot be opened has an error, and can be closed")
{
	struct test_cli t;
	struct counted counted;
	test_cli_open(&t);
	EXPECT_INT(run(&t, "/nonexistent/perf.data", NULL, 0, &counted), 256);
	EXPECT_STR(test_cli_messages(&t), "");
	test_cli_close(&t);
}

TEST("without a path, an input is what is piped in, otherwise perf.data")
{
	struct test_cli t;
	struct input input;
	struct error err = { 0 };
	struct input_options options = { 0 };
	struct recording *r = recording_new(false);
	int pipe_fd[2], stdin_before = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);
	test_cli_open(&t);
	make_stream(r);
	EXPECT(pipe(pipe_fd) == 0 && write(pipe_fd[1], r->bytes, r->len) == (ssize_t)r->len);
	close(pipe_fd[1]);
	dup2(pipe_fd[0], STDIN_FILENO);
	EXPECT_INT(input_open(&input, &t.cli, &options, &(struct input_use){ 0 }, &err), 0);
	EXPECT_STR(input.path, "-");
	input_close(&input);
	dup2(null, STDIN_FILENO);
	input_open(&input, &t.cli, &options, &(struct input_use){ .header_only = true }, &err); /* fails where no such file is */
	EXPECT_STR(input.path, "perf.data");
	input_close(&input);
	dup2(stdin_before, STDIN_FILENO);
	close(stdin_before);
	close(pipe_fd[0]);
	close(null);
	free(r);
	test_cli_close(&t);
}

TEST("names, compiled code and guesses are on by default, the other options are off")
{
	struct input_options options = { 0 };
	input_defaults(&options);
	EXPECT(options.demangle && options.jit && options.guess);
	EXPECT(!options.join_stacks && !options.force && !options.verbose && !options.path);
	struct error err = { 0 };
	EXPECT_INT(input_check(&options, &err), 0);
	options.symbols.vmlinux = "/nonexistent/vmlinux";
	EXPECT(input_check(&options, &err) < 0);
}
