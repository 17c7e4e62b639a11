#include "cmd/diff/dump.h"

#include "render/dump/dump.h"

static void dump_one(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	dump_record(context, r);
	if (r->record->type == RECORD_SAMPLE)
		dump_sample_place(context, r);
}

int diff_dump(struct cli *cli, const struct input_options *options, struct error *err)
{
	struct input input;
	const struct input_use use = { .no_jit = true, .no_progress = true, .remarks = REMARKS_NONE };
	int result = input_open(&input, cli, options, &use, err);
	if (result >= 0) {
		struct dump dump;
		input_symbols(&input);
		dump_warn(input.session.source, cli->out);
		dump_init(&dump, &input.session, DUMP_REPORT, cli->out);
		dump.unordered = dump.no_sample_id_all;
		const struct sink sink = { .context = &dump, .record = dump_one, .want_records = true, .serial = true, .unordered = dump.unordered };
		input_read(&input, &sink);
		dump_fini(&dump);
	}
	input_close(&input);
	return result;
}
