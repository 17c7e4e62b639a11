#include "cmd/export_run.h"

#include <string.h>

#include "cmd/exit_code.h"
#include "export/exporter.h"
#include "os/unnamed_file.h"

enum { OUT_BYTES = 1 << 16 };

struct export {
	struct cli *cli;
	const struct export_request *request;
	struct input input;
	struct unnamed_file file;
	struct writer out;         /* SQL text in a file */
	struct database *database;
	struct exporter *exporter;
};

void export_defaults(struct export_request *request)
{
	input_defaults(&request->input);
	itrace_default(&request->itrace, true);
}

int export_words(struct schema *schema, int count, const char *const *words, struct error *err)
{
	for (int i = 0; i < count; i++) {
		if (i == 0 && strcmp(words[i], "branches") == 0)
			schema->branches = true;
		else if (i > 0 && strcmp(words[i], "calls") == 0)
			schema->calls = true;
		else if (i > 0 && strcmp(words[i], "callchains") == 0)
			schema->callchains = true;
		else if ((i > 0 || strcmp(words[i], "all") != 0) && strcmp(words[i], "pyside-version-1") != 0)
			return error_set(err, ERROR_USAGE, i ? "'%s' is not calls or callchains" : "'%s' is not all or branches", words[i]);
	}
	return 0;
}

static bool to_stdout(const struct export_request *request)
{
	return !request->path || strcmp(request->path, "-") == 0;
}

static int open_database(struct export *export, struct error *err)
{
	const struct export_request *request = export->request;
	bool text = request->schema.dialect == DIALECT_POSTGRESQL;
	if (!(text && to_stdout(request)) && unnamed_open(&export->file, request->path, err) < 0)
		return -1;
	if (text) {
		struct writer *out = export->cli->out;
		if (!to_stdout(request)) {
			out = &export->out;
			writer_open(out, export->file.fd, OUT_BYTES);
		}
		export->database = database_postgresql(out, &request->schema);
	} else {
		export->database = database_sqlite(export->file.fd, &request->schema, err);
	}
	return export->database ? 0 : -1;
}

static int export_open(struct export *export, struct error *err)
{
	const struct export_request *request = export->request;
	if (input_open(&export->input, export->cli, &request->input,
			&(struct input_use){ .itrace = &request->itrace, .remarks = REMARKS_GUESSED }, err) < 0)
		return -1;
	input_name_events(&export->input);
	if (open_database(export, err) < 0)
		return -1;
	input_symbols(&export->input);
	export->exporter = exporter_new(export->database, &export->input.session, export->input.symbols);
	return 0;
}

static void export_close(struct export *export)
{
	exporter_free(export->exporter);
	database_close(export->database);
	writer_fini(&export->out);
	unnamed_drop(&export->file);
	input_close(&export->input);
}

/* The file gets its name only if all rows that can be read are in it. */
static int finish(struct export *export, struct error *err)
{
	exporter_end(export->exporter);
	int status = database_end(export->database, err);
	database_close(export->database);
	export->database = NULL;
	if (status == 0 && export->file.fd >= 0)
		status = unnamed_keep(&export->file, err);
	return status;
}

int export_run(struct cli *cli, struct export_request *request)
{
	struct error err = { 0 };
	struct export export = { .cli = cli, .request = request, .file = { .fd = -1, .folder = -1, .fresh = { .fd = -1, .folder = -1 } } };
	int code = EXIT_FAILED;
	if (export_open(&export, &err) == 0) {
		struct sink sink = exporter_sink(export.exporter);
		input_run(&export.input, &sink);
		int status = finish(&export, &err);
		int damaged = input_end(&export.input, false, true);
		code = status < 0 ? EXIT_ERROR : damaged;
	}
	if (err.kind != ERROR_NONE && !cli->out->failed) /* the end of the program complains about stdout */
		cli_complain(cli, &err);
	export_close(&export);
	return code;
}
