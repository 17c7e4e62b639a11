#include "rewrite/added_record.h"

#include "record/acquire/record_out.h"

enum { ID_HAS_SIZE = 1 << 15 }; /* misc of HEADER_BUILD_ID: the id's size follows it */

/* The size of a build-id: a byte, and three that are 0. */
static void add_size(struct writer *out, uint8_t len)
{
	const uint8_t bytes[4] = { len };
	writer_add(out, bytes, sizeof bytes);
}

static bool end_record(struct writer *out, size_t at, const struct evsel *evsel, const struct sample *sample)
{
	if (evsel)
		record_close_with(out, at, &evsel->attr, sample);
	else
		record_close(out, at, 0);
	if (out->len - at <= RECORD_SIZE_MAX)
		return true;
	out->len = at;
	return false;
}

bool added_mapping_write(const struct added_mapping *m, const struct evsel *evsel, const struct sample *sample, struct writer *out)
{
	size_t at = record_open(out, RECORD_MMAP2, (uint16_t)(m->cpumode | (m->build_id ? RECORD_MISC_MMAP_BUILD_ID : 0)));
	out_u32(out, (uint32_t)m->pid);
	out_u32(out, (uint32_t)m->tid);
	out_u64(out, m->start);
	out_u64(out, m->len);
	out_u64(out, m->pgoff);
	if (m->build_id) {
		add_size(out, m->build_id_len);
		writer_add(out, m->build_id, BUILD_ID_ROOM);
	} else {
		out_u32(out, m->maj);
		out_u32(out, m->min);
		out_u64(out, m->ino);
		out_u64(out, m->ino_generation);
	}
	out_u32(out, m->prot);
	out_u32(out, m->flags);
	if (m->folder) {
		writer_puts(out, m->folder);
		writer_putc(out, '/');
	}
	writer_add(out, m->path, strlen(m->path) + 1);
	return end_record(out, at, evsel, sample);
}

bool added_build_id_write(const char *path, const uint8_t id[static BUILD_ID_ROOM], uint8_t len, unsigned cpumode,
	const struct evsel *evsel, const struct sample *sample, struct writer *out)
{
	size_t at = record_open(out, RECORD_HEADER_BUILD_ID, (uint16_t)(cpumode | ID_HAS_SIZE));
	out_u32(out, (uint32_t)-1); /* this machine, no guest */
	writer_add(out, id, BUILD_ID_ROOM);
	add_size(out, len);
	writer_add(out, path, strlen(path) + 1);
	return end_record(out, at, evsel, sample);
}
