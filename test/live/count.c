/* Counts the samples of a command by thread and function while it runs: rings → source → session → sink, without a file.
 *
 *   live_count COMMAND [ARGUMENT…]      prints THREAD<tab>FUNCTION<tab>SAMPLES; "lost" and how many samples found no room; "during" and
 *                                       how many were counted while the command ran
 *
 * Exit code 3: the events cannot be opened here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/source.h"
#include "session/session.h"
#include "symbol/symbol.h"

struct count {
	char thread[16], function[64];
	uint64_t samples;
};

struct counts {
	struct symbols *symbols;
	const struct acquisition *acquisition;
	VEC(struct count) list;
	uint64_t during;         /* counted while the measurement ran */
};

static void count_sample(struct counts *counts, const char *thread, const char *function)
{
	for (size_t i = 0; i < counts->list.count; i++) {
		struct count *count = &counts->list.items[i];
		if (strcmp(count->thread, thread) == 0 && strcmp(count->function, function) == 0) {
			count->samples++;
			return;
		}
	}
	struct count *count = vec_add(&counts->list);
	snprintf(count->thread, sizeof count->thread, "%s", thread);
	snprintf(count->function, sizeof count->function, "%s", function);
	count->samples = 1;
}

static void count_resolved(void *context, const struct resolved *r, size_t slice)
{
	struct counts *counts = context;
	const struct location *location = resolved_ip(r);
	const struct module *module = location && location->module != MODULE_ID_NONE ?
		modules_get(&r->session->model.modules, location->module) : NULL;
	uint32_t symbol = module ? symbols_lookup(counts->symbols, module, location->offset) : 0;
	char buffer[16];
	(void)slice;
	count_sample(counts, resolved_comm(r, buffer, sizeof buffer), symbol ? symbols_name(counts->symbols, module, symbol) : "-");
}

static void batch_end(void *context, struct session *session, size_t slices)
{
	struct counts *counts = context;
	(void)session;
	(void)slices;
	if (!acquisition_ended(counts->acquisition)) {
		counts->during = 0;
		for (size_t i = 0; i < counts->list.count; i++)
			counts->during += counts->list.items[i].samples;
	}
}

static int count_live(struct counts *counts, struct acquisition *acquisition, struct error *err)
{
	const struct sink sink = { .context = counts, .record = count_resolved, .batch_end = batch_end, .serial = true };
	const struct session_options options = { .threads = 1 };
	struct source *source;
	struct session session;
	source_open_live(&source, acquisition);
	if (session_open(&session, source, &options, err) < 0)
		return -1;
	counts->symbols = symbols_new(&session.model.modules, &(struct symbols_options){ .same_machine = true });
	int status = session_run(&session, &sink, err);
	symbols_free(counts->symbols);
	session_close(&session);
	return status;
}

int main(int argc, char **argv)
{
	struct events events = { 0 };
	struct event_error wrong;
	struct error err = { 0 };
	struct acquisition *acquisition;
	struct counts counts = { 0 };
	if (argc < 2 || events_parse(&events, "cpu-clock:u", &wrong) < 0)
		return 2;
	const struct acquisition_options options = {
		.measurement = {
			.sampling = { .freq = 1000 }, .target = { .command = true }, .events = &events, .command = (const char *const *)argv + 1,
		},
	};
	if (acquisition_open(&acquisition, &options, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return err.kind == ERROR_PERMISSION || err.kind == ERROR_UNSUPPORTED || err.kind == ERROR_SYSTEM ? 3 : 1;
	}
	counts.acquisition = acquisition;
	int status = count_live(&counts, acquisition, &err);
	for (size_t i = 0; i < counts.list.count; i++)
		printf("%s\t%s\t%llu\n", counts.list.items[i].thread, counts.list.items[i].function,
			(unsigned long long)counts.list.items[i].samples);
	printf("lost\t%llu\nduring\t%llu\n", (unsigned long long)acquisition_counts(acquisition)->lost_samples,
		(unsigned long long)counts.during);
	if (status < 0)
		fprintf(stderr, "%s\n", err.text);
	acquisition_close(acquisition);
	events_fini(&events);
	vec_fini(&counts.list);
	return status < 0;
}
