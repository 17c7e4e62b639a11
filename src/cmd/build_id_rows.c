#include "cmd/build_id_rows.h"

#include <stdlib.h>
#include <string.h>

#include "render/dump/record_text.h"
#include "base/memory.h"
#include "session/session.h"

void build_id_print(struct writer *out, const uint8_t *id, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		writer_printf(out, "%02x", id[i]);
}

void build_id_row_print(const struct build_id_row *row, struct writer *out)
{
	build_id_print(out, row->id, row->len);
	writer_pad(out, ' ', 2u * (ELF_BUILD_ID_MAX - row->len));
	writer_putc(out, ' ');
	writer_name(out, row->name, strlen(row->name));
	writer_putc(out, '\n');
}

static int row_compare(const void *a, const void *b)
{
	const struct build_id_row *left = a, *right = b;
	int order = left->machine < right->machine ? -1 : left->machine > right->machine;
	if (!order)
		order = strcmp(left->name, right->name);
	if (!order)
		order = left->place < right->place ? -1 : left->place > right->place;
	return order;
}

static void rows_add(struct build_id_rows *rows, int32_t machine, const char *name, const uint8_t *id, unsigned len,
	size_t place)
{
	struct build_id_row row = { .machine = machine, .name = arena_string(&rows->arena, name, strlen(name)), .place = place };
	row.len = len < ELF_BUILD_ID_MAX ? (uint8_t)len : ELF_BUILD_ID_MAX;
	memcpy(row.id, id, row.len);
	vec_push(&rows->list, row);
}

/* Rows of two builds that had one path. */
static bool are_builds(const struct build_id_row *row, const struct build_id_row *next)
{
	return row->one_of_many && next->one_of_many && (row->len != next->len || memcmp(row->id, next->id, row->len) != 0);
}

/* once: of several rows with one name the last alone, unless they are different builds. */
static void rows_sort(struct build_id_rows *rows, bool once)
{
	size_t count = 0;
	if (rows->list.count)
		qsort(rows->list.items, rows->list.count, sizeof *rows->list.items, row_compare);
	for (size_t i = 0; i < rows->list.count; i++) {
		const struct build_id_row *row = &rows->list.items[i], *next = i + 1 < rows->list.count ? row + 1 : NULL;
		if (!once || !next || next->machine != row->machine || strcmp(next->name, row->name) != 0 || are_builds(row, next))
			rows->list.items[count++] = *row;
	}
	rows->list.count = count;
}

/* The recording's table of build-ids. */
static void rows_of_table(struct build_id_rows *rows, const struct header *header)
{
	for (size_t i = 0; i < header->build_ids.count; i++) {
		const struct build_id_entry *entry = &header->build_ids.items[i];
		rows_add(rows, entry->pid > 0 ? entry->pid : -1, entry->filename, entry->id.bytes, entry->id.len, i);
		rows->list.items[rows->list.count - 1].one_of_many = entry->one_of_many;
	}
	rows_sort(rows, true);
}

/* Which modules samples lie in, by module id; workers only set bytes. */
struct hits {
	uint8_t *modules;
	size_t count;
};

static void hits_batch_begin(void *context, struct session *session, __attribute__((unused)) size_t slices)
{
	struct hits *hits = context;
	size_t count = session->model.modules.list.count;
	if (count <= hits->count)
		return;
	hits->modules = memory_resize(hits->modules, count, 1);
	memset(hits->modules + hits->count, 0, count - hits->count);
	hits->count = count;
}

static void hits_record(void *context, const struct resolved *r, __attribute__((unused)) size_t slice)
{
	struct hits *hits = context;
	const struct location *ip = resolved_ip(r);
	if (ip && ip->module < hits->count)
		__atomic_store_n(&hits->modules[ip->module], 1, __ATOMIC_RELAXED);
}

static void rows_of_hits(struct build_id_rows *rows, const struct session *session, const struct hits *hits)
{
	for (size_t i = 0; i < hits->count; i++) {
		const struct module *module = session->model.modules.list.items[i];
		if (hits->modules[i] && module->kind != MODULE_KSYMBOL) /* not a file: perf lists none, either */
			rows_add(rows, -1, module->long_name, module->build_id, module->build_id_len, i);
	}
	rows_sort(rows, false);
}

/* Takes ownership of source. */
static int read_samples(struct build_id_rows *rows, struct source *source, struct budget *budget, struct error *err)
{
	struct session session;
	struct session_options session_options = { .budget = budget };
	struct hits hits = { 0 };
	if (session_open(&session, source, &session_options, err) < 0)
		return -1;
	struct sink sink = { .context = &hits, .batch_begin = hits_batch_begin, .record = hits_record };
	session_run(&session, &sink, NULL);
	rows_of_hits(rows, &session, &hits);
	free(hits.modules);
	losses_of_session(&rows->losses, &session);
	session_close(&session);
	return 0;
}

int build_id_rows_read(struct build_id_rows *rows, const char *path, bool force, bool hits, struct budget *budget, struct error *err)
{
	struct source *source;
	struct source_options options = { .force = force, .event_memory = source_event_memory(budget) };
	*rows = (struct build_id_rows){ 0 };
	if (source_open(&source, path, &options, err) < 0)
		return -1;
	/* Traces are not decoded for this: the samples in them could hit any module of the table. */
	const struct header *header = &source->header;
	bool table = !header->pipe && header->feature_data[FEATURE_BUILD_ID].data;
	if (!table || (hits && !header_has(header, FEATURE_AUXTRACE)))
		return read_samples(rows, source, budget, err);
	rows_of_table(rows, header);
	losses_of_source(&rows->losses, source, NULL);
	source_close(source);
	return 0;
}

void build_id_rows_fini(struct build_id_rows *rows)
{
	vec_fini(&rows->list);
	arena_fini(&rows->arena);
}
