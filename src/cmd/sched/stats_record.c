#include "cmd/sched/stats_record.h"

#include "os/process.h"
#include "record/acquire/record_out.h"
#include "record/write/features.h"
#include "record/write/output.h"

static void add_rows(struct writer *out, const struct schedstat *stat, const struct cpus *cpus)
{
	for (size_t i = 0; i < stat->lines.count; i++) {
		const struct schedstat_row *row = &stat->lines.items[i].row;
		uint8_t body[SCHEDSTAT_BODY_MAX];
		if (cpus->list.count && !cpus_has(cpus, (int32_t)row->cpu))
			continue;
		size_t at = record_open(out, row->domain == SCHEDSTAT_NO_DOMAIN ? RECORD_SCHEDSTAT_CPU : RECORD_SCHEDSTAT_DOMAIN, 0);
		writer_add(out, body, schedstat_encode(row, body));
		record_close(out, at, 0);
	}
}

static uint32_t domains_of(const struct schedstat *stat, size_t at)
{
	uint32_t count = 0;
	while (at + count + 1 < stat->lines.count && stat->lines.items[at + count + 1].mask)
		count++;
	return count;
}

/* The body of CPU_DOMAIN_INFO: data/feature.h describes it. */
static void make_domains(struct writer *out, const struct schedstat *stat)
{
	uint32_t most = 0;
	for (size_t i = 0; i < stat->lines.count; i++)
		if (!stat->lines.items[i].mask && domains_of(stat, i) > most)
			most = domains_of(stat, i);
	out_u32(out, stat->version);
	out_u32(out, most);
	for (size_t i = 0; i < stat->lines.count; i++) {
		const struct schedstat_line *line = &stat->lines.items[i];
		CLEANUP_STR struct str list = { 0 };
		if (!line->mask) {
			out_u32(out, line->row.cpu);
			out_u32(out, domains_of(stat, i));
			continue;
		}
		out_u32(out, (uint32_t)line->row.domain);
		if (line->name)
			out_feature_text(out, line->name);
		out_feature_text(out, line->mask);
		schedstat_cpus(line->mask, &list);
		out_feature_text(out, str_text(&list));
	}
}

static int finish(struct data_writer *writer, const struct evlist *evlist, const struct schedstat *stat, const char *program,
	struct error *err)
{
	struct features features;
	struct events events = { 0 };
	struct process_words words = { 0 };
	struct writer domains;
	const struct bpf_programs none = { 0 };
	process_words_read(&words, program);
	const struct feature_facts facts = { .version = "perfuse " PERFUSE_VERSION, .command = words.list.items, .events = &events,
		.evlist = evlist, .programs = &none };
	features_make(&features, &facts);
	struct feature_bodies bodies = features_bodies(&features);
	writer_open(&domains, -1, 0);
	make_domains(&domains, stat);
	feature_set(&bodies, FEATURE_CPU_DOMAIN_INFO, (struct span){ (const uint8_t *)domains.buffer, domains.len });
	int status = data_writer_finish(writer, evlist, &bodies, err);
	writer_fini(&domains);
	features_fini(&features);
	process_words_fini(&words);
	events_fini(&events);
	return status;
}

int stats_record_write(const char *path, const struct schedstat moments[2], const struct cpus *cpus, const char *program,
	struct error *err)
{
	enum { SOFTWARE_DUMMY = 9 };
	const struct attr attr = { .type = ATTR_SOFTWARE, .config = SOFTWARE_DUMMY, .size = ATTR_SIZE_VER8, .sample_type = SAMPLE_IDENTIFIER };
	struct output output = { .fd = -1, .at = -1, .inside = -1 };
	struct evlist evlist = { 0 };
	struct data_writer writer;
	struct writer made;
	if (output_open(&output, path, err) < 0)
		return -1;
	evlist_add(&evlist, &attr, NULL, 0, "dummy");
	writer_open(&made, -1, 0);
	for (int i = 0; i < 2; i++)
		add_rows(&made, &moments[i], cpus);
	int status = data_writer_open(&writer, output.fd, output.pipe, &evlist, err);
	data_writer_add(&writer, made.buffer, made.len);
	if (status == 0)
		status = finish(&writer, &evlist, &moments[0], program, err);
	data_writer_fini(&writer);
	writer_fini(&made);
	evlist_fini(&evlist);
	if (status == 0)
		return output_close(&output, err);
	output_discard(&output);
	return status;
}
