#include "record/write/build_ids.h"

#include <stdlib.h>
#include <string.h>

#include "abi/off_cpu.h"
#include "base/hash.h"
#include "data/source.h"
#include "image/image.h"
#include "image/search.h"
#include "model/model.h"
#include "os/file.h"
#include "os/kernel.h"
#include "record/acquire/record_out.h"

/* A side-band record, stored to be sorted by time. */
struct sideband_record {
	uint64_t time, place;
	struct record record;
};

enum {
	SEEN_SLOTS = 1 << 16,       /* of the table of pages that were looked up, (address space, page): a collision only costs time */
	PAGE_SHIFT = 12,
	HISTORY_BYTES = 1 << 23,    /* by which the model may grow, beside its own size, before a new generation */
	KERNEL_PAGES = 64,          /* of the table of the kernel's pages that were looked up in the present state of the model */
	RESTARTS_MAX = 64,          /* of the model, for samples far back in time; each costs a pass over the side-band */
};

struct marking {
	struct recording_facts *facts;
	struct source *source;
	struct model model, before; /* … and its previous generation */
	uint64_t renewed, renewed_before; /* when this generation began, and the previous one */
	size_t generation_bytes;
	size_t next;                /* index of the first side-band record that is not applied yet */
	unsigned restarts;
	VEC(struct sideband_record) sideband;
	struct arena arena;
	bool timed;                 /* samples have times; otherwise records are ordered by their place in the file */
	uint64_t *seen;             /* SEEN_SLOTS hashes */
	uint64_t kernel_pages[KERNEL_PAGES];
	size_t kernel_next;         /* `next` of that state */
	VEC(bool) hit;              /* by module */
};

static bool is_sideband(uint32_t type)
{
	static const uint32_t types = 1u << RECORD_MMAP | 1u << RECORD_MMAP2 | 1u << RECORD_COMM | 1u << RECORD_FORK | 1u << RECORD_EXIT |
		1u << RECORD_KSYMBOL;
	return type < 32 && types >> type & 1;
}

static const struct evsel *evsel_of(const struct source *source, const struct record *record)
{
	uint32_t event = evlist_event_of(&source->header.evlist, record);
	return event < source->header.evlist.events.count ? &source->header.evlist.events.items[event] : NULL;
}

static void add_sideband(struct marking *m, const struct record *record, uint64_t place)
{
	const struct evsel *evsel = evsel_of(m->source, record);
	struct sample trailer = { .time = UINT64_MAX };
	struct sideband_record *stored = vec_add(&m->sideband);
	stored->record = *record;
	stored->record.body = arena_copy(&m->arena, record->body, record->body_len);
	stored->place = place;
	if (evsel)
		sample_decode_trailer(&trailer, &evsel->layout, record);
	stored->time = trailer.time != UINT64_MAX ? trailer.time : 0;
}

static void count_lost(struct recording_facts *facts, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	take_u64(&c);
	facts->lost_events += take_u64(&c);
	facts->lost_chunks++;
}

static void count_trace(struct recording_facts *facts, const struct record *record)
{
	enum { TRUNCATED = 1, PARTIAL = 4, COLLISION = 8 }; /* PERF_AUX_FLAG_*; OVERWRITE (2) is how a snapshot is recorded */
	struct cursor c = cursor_of(record->body, record->body_len, false);
	take(&c, 16);
	facts->trace_pieces++;
	facts->cut_traces += (take_u64(&c) & (TRUNCATED | PARTIAL | COLLISION)) != 0;
}

static void count_sample(struct marking *m, const struct record *record)
{
	struct recording_facts *facts = m->facts;
	const struct evsel *evsel = evsel_of(m->source, record);
	facts->samples++;
	if (!evsel || evsel->layout.time_at < 0 || (size_t)evsel->layout.time_at * 8 + 8 > record->body_len)
		return;
	uint64_t time = load_u64(record->body + (size_t)evsel->layout.time_at * 8);
	m->timed = true;
	if (time == OFF_CPU_SUM_TIME)
		return; /* not a time of the recording */
	if (facts->first_time == 0 || time < facts->first_time)
		facts->first_time = time;
	if (time > facts->last_time)
		facts->last_time = time;
}

static int first_pass(struct marking *m, bool samples, struct error *err)
{
	struct record record;
	int status;
	for (uint64_t place = 1; (status = source_next(m->source, &record, err)) > 0; place++) {
		if (is_sideband(record.type))
			add_sideband(m, &record, place);
		else if (record.type == RECORD_SAMPLE && samples)
			count_sample(m, &record);
		else if (record.type == RECORD_LOST)
			count_lost(m->facts, &record);
		else if (record.type == RECORD_AUX)
			count_trace(m->facts, &record);
		source_release(m->source, source_mark(m->source));
	}
	return status;
}

static int compare_times(const void *a, const void *b)
{
	const struct sideband_record *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Empties the model, except for its modules, to apply the side-band again. */
static void restart(struct marking *m)
{
	struct modules modules = m->model.modules;
	m->model.modules = (struct modules){ 0 };
	model_fini(&m->model);
	model_fini_history(&m->before);
	m->before = (struct model){ 0 };
	model_init(&m->model);
	m->model.modules = modules;
	m->next = 0;
	m->renewed = m->renewed_before = 0;
	m->generation_bytes = 0;
	memset(m->seen, 0, SEEN_SLOTS * sizeof *m->seen);
}

static void renew(struct marking *m, uint64_t time)
{
	model_fini_history(&m->before);
	model_renew(&m->model, time, NULL, NULL, &m->before);
	m->renewed_before = m->renewed;
	m->renewed = time;
	m->generation_bytes = m->model.arena.bytes;
	memset(m->seen, 0, SEEN_SLOTS * sizeof *m->seen); /* the addresses of freed roots may be used again */
}

/* Applies the side-band up to a time, which is the clock of the model; samples are looked up as of their own time. */
static void advance_time(struct marking *m, uint64_t time)
{
	if (time < m->renewed_before && m->restarts < RESTARTS_MAX) {
		m->restarts++;
		restart(m);
	}
	for (; m->next < m->sideband.count; m->next++) {
		const struct sideband_record *stored = &m->sideband.items[m->next];
		if (m->timed && stored->time > time)
			break;
		if (m->timed && m->model.arena.bytes > 2 * m->generation_bytes + HISTORY_BYTES)
			renew(m, stored->time);
		const struct sample trailer = { .time = stored->time };
		model_apply(&m->model, &stored->record, &trailer, m->timed ? stored->time : stored->place);
	}
	while (m->hit.count < m->model.modules.list.count)
		vec_push(&m->hit, false);
}

static void order_sideband(struct marking *m, bool all)
{
	if (m->timed && m->sideband.count)
		qsort(m->sideband.items, m->sideband.count, sizeof m->sideband.items[0], compare_times);
	/* places are no times: an exit may precede samples of another ring that are older */
	m->model.keep_exited = !m->timed;
	if (all || !m->timed)
		advance_time(m, UINT64_MAX);
}

static bool seen(struct marking *m, const struct map_node *root, uint64_t address)
{
	uint64_t hash = hash_pair((uint64_t)(uintptr_t)root, address >> PAGE_SHIFT) | 1;
	uint64_t *slot = &m->seen[hash >> 1 & (SEEN_SLOTS - 1)];
	if (*slot == hash)
		return true;
	*slot = hash;
	return false;
}

static void mark(struct marking *m, const struct map_node *root, uint64_t address)
{
	if (!root || seen(m, root, address))
		return;
	const struct map *map = map_find(root, address);
	if (map && map->module < m->hit.count)
		m->hit.items[map->module] = true;
}

static void mark_chain(struct marking *m, const struct sample *sample, const struct map_node *user, const struct map_node *kernel,
	bool in_kernel)
{
	for (uint64_t i = 0; i < sample->callchain_count; i++) {
		uint64_t address = sample_chain_at(sample, i);
		if (address >= CONTEXT_MAX)
			in_kernel = address == CONTEXT_KERNEL;
		else
			mark(m, in_kernel ? kernel : user, address);
	}
}

static void count_chain(struct recording_facts *facts, const struct evsel *evsel, const struct sample *sample)
{
	enum { SHORT = 2 };
	size_t frames = attr_chains_by_frame_pointer(&evsel->attr) ? sample_user_frames(sample) : 0;
	facts->user_chains += frames > 0;
	facts->short_chains += frames > 0 && frames <= SHORT;
}

/* Whether the sample has one address alone, of the kernel, in a page that was looked up before as of the same records: as most of a storm
 * of tracepoints. Reads it without decoding. */
static bool is_repeated(struct marking *m, const struct sample_layout *layout, const struct record *record)
{
	uint64_t type = layout->sample_type;
	size_t ip_at = type & SAMPLE_IDENTIFIER ? 1 : 0;
	uint64_t time = record_time_from_front(record, layout->time_at);
	if (!m->timed || record_cpumode(record) != RECORD_MISC_KERNEL || (type & (SAMPLE_IP | SAMPLE_CALLCHAIN)) != SAMPLE_IP ||
	    time == UINT64_MAX || time < m->renewed || (ip_at + 1) * 8 > record->body_len)
		return false;
	if (m->kernel_next != m->next)
		memset(m->kernel_pages, 0, sizeof m->kernel_pages);
	m->kernel_next = m->next;
	if ((m->next && time < m->sideband.items[m->next - 1].time) || (m->next < m->sideband.count && time >= m->sideband.items[m->next].time))
		return false;
	uint64_t page = load_u64(record->body + ip_at * 8) >> PAGE_SHIFT, *slot = &m->kernel_pages[page % KERNEL_PAGES];
	bool repeated = *slot == page;
	*slot = page;
	return repeated;
}

static void mark_sample(struct marking *m, const struct record *record, uint64_t place)
{
	struct sample sample;
	const struct evsel *evsel = evsel_of(m->source, record);
	if (evsel && is_repeated(m, &evsel->layout, record))
		return;
	if (!evsel || sample_decode(&sample, &evsel->layout, record, NULL) < 0)
		return;
	uint64_t clock = m->timed ? sample.time : place;
	bool in_kernel = record_cpumode(record) == RECORD_MISC_KERNEL;
	if (m->timed)
		advance_time(m, clock);
	const struct model *model = clock < m->renewed ? &m->before : &m->model;
	if (clock < m->renewed_before)
		clock = m->renewed_before;
	const struct map_node *kernel = model_kernel_root(model, clock), *user = NULL;
	if (!in_kernel || sample.callchain_count)
		user = model_root(model, (int32_t)sample.pid, model_thread(model, (int32_t)sample.tid, clock), clock);
	mark(m, in_kernel ? kernel : user, sample.ip);
	count_chain(m->facts, evsel, &sample);
	if (sample.callchain_count)
		mark_chain(m, &sample, user, kernel, in_kernel);
}

static int second_pass(struct marking *m, struct error *err)
{
	struct record record;
	int status;
	for (uint64_t place = 1; (status = source_next(m->source, &record, err)) > 0; place++) {
		if (record.type == RECORD_SAMPLE)
			mark_sample(m, &record, place);
		source_release(m->source, source_mark(m->source));
	}
	return status;
}

static uint8_t vdso_build_id(uint8_t id[static ELF_BUILD_ID_MAX])
{
	struct image image = { 0 };
	uint8_t length = 0;
	if (image_open_vdso(&image, NULL) == 0)
		length = elf_build_id(&image.elf, id);
	image_close(&image);
	return length;
}

/* "/lib/modules/…/ext4.ko.xz" and "[ext4]" are the module "ext4". */
static unsigned module_build_id(const char *path, uint8_t id[20])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char word[128];
	size_t length = *name == '[' ? strcspn(++name, "]") : strcspn(name, ".");
	if (length >= sizeof word)
		return 0;
	for (size_t i = 0; i < length; i++)
		word[i] = name[i] == '-' ? '_' : name[i];
	word[length] = '\0';
	return kernel_module_build_id(word, id);
}

static struct mapped_identity identity_of(const struct module *module)
{
	return (struct mapped_identity){ .maj = module->maj, .min = module->min, .ino = module->ino, .generation = module->ino_generation };
}

/* Of the file that the path is for the process that mapped it, or that it has mapped, while it lives. */
static uint8_t file_build_id(const struct module *module, uint8_t id[static ELF_BUILD_ID_MAX])
{
	CLEANUP_FD int root = process_root(module->pid);
	const struct mapped_identity identity = identity_of(module);
	CLEANUP_FD int fd = mapped_file_or_path(root, module->long_name, module->pid, &identity);
	struct image image;
	if (fd < 0 || image_open_descriptor(&image, fd, module->long_name, NULL, NULL) < 0)
		return 0;
	uint8_t length = elf_build_id(&image.elf, id);
	image_close(&image);
	return length;
}

bool hit_module_of(struct hit_module *out, const struct module *module)
{
	struct hit_module hit = { .path = module->long_name, .pid = -1 };
	memcpy(hit.build_id, module->build_id, sizeof hit.build_id);
	hit.build_id_len = module->build_id_len;
	switch (module->kind) {
	case MODULE_FILE:
		hit.kind = HIT_FILE;
		hit.pid = module->pid;
		hit.identity = identity_of(module);
		if (!hit.build_id_len)
			hit.build_id_len = file_build_id(module, hit.build_id);
		break;
	case MODULE_VDSO:
		hit.kind = HIT_VDSO;
		if (!hit.build_id_len)
			hit.build_id_len = vdso_build_id(hit.build_id);
		break;
	case MODULE_KERNEL:
		hit.kind = HIT_KERNEL;
		hit.path = "[kernel.kallsyms]";
		if (!hit.build_id_len)
			hit.build_id_len = (uint8_t)kernel_build_id(hit.build_id);
		break;
	case MODULE_KMODULE:
		hit.kind = HIT_KERNEL_MODULE;
		if (!hit.build_id_len)
			hit.build_id_len = (uint8_t)module_build_id(module->long_name, hit.build_id);
		break;
	default:
		return false;
	}
	*out = hit;
	return hit.build_id_len;
}

/* A build-id that was read during the recording has priority over that of the file that the path is now. */
static bool identify(struct hit_module *hit, const struct module *module, struct build_reader *builds)
{
	const struct mapped_identity identity = identity_of(module);
	struct module known = *module;
	int len = module->kind == MODULE_FILE && !module->build_id_len ?
		build_reader_get(builds, module->long_name, &identity, known.build_id) : -1;
	if (len == 0)
		return false;
	if (len > 0)
		known.build_id_len = (uint8_t)len;
	return hit_module_of(hit, &known);
}

static void add_module(struct marking *m, const struct module *module, struct build_reader *builds)
{
	struct recording_facts *facts = m->facts;
	struct hit_module hit;
	if (!identify(&hit, module, builds))
		return;
	hit.one_of_many = module->kind == MODULE_FILE && module->ino && modules_share_name(&m->model.modules, module->id);
	hit.path = arena_string(&facts->arena, hit.path, strlen(hit.path));
	vec_push(&facts->modules, hit);
}

static int open_again(struct marking *m, const char *path, struct error *err)
{
	static const struct source_options options = { .force = true };
	source_close(m->source);
	m->source = NULL;
	return source_open(&m->source, path, &options, err);
}

int recording_facts(struct recording_facts *facts, const char *path, const struct build_ids_options *options, struct error *err)
{
	struct marking m = { .facts = facts };
	*facts = (struct recording_facts){ 0 };
	model_init(&m.model);
	m.seen = memory_zero(SEEN_SLOTS, sizeof *m.seen);
	int status = open_again(&m, path, err);
	if (status == 0)
		status = first_pass(&m, !options->all, err);
	if (status == 0)
		order_sideband(&m, options->all);
	if (status == 0 && !options->all && (status = open_again(&m, path, err)) == 0)
		status = second_pass(&m, err);
	if (status == 0)
		advance_time(&m, UINT64_MAX); /* the side-band after the last sample */
	for (size_t i = 0; status == 0 && i < m.model.modules.list.count; i++)
		/* the vdso is listed if it was mapped, as in perf: no file has its build-id later */
		if (m.hit.items[i] || options->all || m.model.modules.list.items[i]->kind == MODULE_VDSO)
			add_module(&m, m.model.modules.list.items[i], options->builds);
	source_close(m.source);
	vec_fini(&m.sideband);
	arena_fini(&m.arena);
	model_fini_history(&m.before);
	model_fini(&m.model);
	free(m.seen);
	vec_fini(&m.hit);
	return status;
}

void recording_facts_fini(struct recording_facts *facts)
{
	vec_fini(&facts->modules);
	arena_fini(&facts->arena);
}

/* Distinguishes files of one path; after the path, where other readers ignore it (data/header.h). */
static void add_identity(const struct mapped_identity *identity, struct writer *out)
{
	writer_add(out, BUILD_ID_IDENTITY_MARK, BUILD_ID_IDENTITY_MARK_BYTES);
	out_u32(out, identity->maj);
	out_u32(out, identity->min);
	out_u64(out, identity->ino);
	out_u64(out, identity->generation);
}

/* Entries have the form of records: type 0, the processor mode, and a bit that the size of the build-id is present. */
void build_ids_body(const struct recording_facts *facts, struct writer *out)
{
	enum { ID_ROOM = 24, SIZE_PRESENT = 1 << 15 };
	for (size_t i = 0; i < facts->modules.count; i++) {
		const struct hit_module *hit = &facts->modules.items[i];
		bool kernel = hit->kind == HIT_KERNEL || hit->kind == HIT_KERNEL_MODULE;
		uint8_t id[ID_ROOM] = { 0 };
		memcpy(id, hit->build_id, hit->build_id_len);
		id[20] = hit->build_id_len;
		if (strlen(hit->path) + (hit->one_of_many ? BUILD_ID_IDENTITY_BYTES + 8 : 0) > 4096)
			continue;
		size_t at = out->len;
		out_u32(out, 0);
		unsigned mode = hit->machine ? (kernel ? RECORD_MISC_GUEST_KERNEL : RECORD_MISC_GUEST_USER) :
			kernel ? RECORD_MISC_KERNEL : RECORD_MISC_USER;
		out_u16(out, (uint16_t)(mode | SIZE_PRESENT));
		out_u16(out, 0);
		out_u32(out, hit->machine ? (uint32_t)hit->machine : (uint32_t)-1);
		writer_add(out, id, sizeof id);
		out_string(out, hit->path);
		if (hit->one_of_many)
			add_identity(&hit->identity, out);
		uint16_t size = (uint16_t)(out->len - at);
		memcpy(out->buffer + at + 6, &size, sizeof size);
	}
}
