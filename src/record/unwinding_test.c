#include "record/unwinding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/evlist.h"
#include "os/machine.h"
#include "record/acquire/configure.h"
#include "record/acquire/record_out.h"
#include "record/user_registers.h"
#include "unit.h"

enum { RING_BYTES = 1 << 16, PAGE = 4096, DATA_HEAD = 1024 /* of the control page: perf_event_open(2) */, STACK_BYTES = 256,
	SAMPLE_BODY = 12 * 8 + STACK_BYTES };

#define KERNEL_ADDRESS 0xffffffff81000010u

/* One event, one ring without a kernel behind it, and the mappings of this program. */
struct made {
	struct events events;
	struct counters counters;
	struct writer existing;
	struct unwinding *unwinding;
	struct writer out;
	uint64_t head;
};

/* x86-64's bits of the stack pointer and of the program counter, or AArch64's. */
static uint64_t made_registers(bool arm)
{
	return arm ? 1ull << 31 | 1ull << 32 : 1ull << 7 | 1ull << 8;
}

static enum unwind_arch own_arch(void)
{
	struct machine_names names;
	machine_names(&names);
	return user_registers_arch(names.arch);
}

static bool unwinds_here(void)
{
	if (own_arch() == UNWIND_X86_64 || own_arch() == UNWIND_AARCH64)
		return true;
	unit_skip("registers are made for x86-64 and AArch64");
	return false;
}

/* A mapping record of this program's code. */
static void add_own_code(struct writer *out)
{
	char line[4096], name[4096];
	FILE *file = fopen("/proc/self/maps", "r");
	while (file && fgets(line, sizeof line, file)) {
		uint64_t start, end, offset;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start, &end, &offset, name) != 4 ||
		    (uintptr_t)own_arch < start || (uintptr_t)own_arch >= end)
			continue;
		size_t at = record_open(out, RECORD_MMAP, RECORD_MISC_USER);
		out_u64(out, (uint64_t)getpid() << 32 | (uint32_t)getpid());
		out_u64(out, start);
		out_u64(out, end - start);
		out_u64(out, offset);
		writer_add(out, name, strlen(name) + 1);
		for (size_t i = strlen(name) + 1; i % 8; i++)
			writer_add(out, "", 1);
		record_close(out, at, 0);
	}
	if (file)
		fclose(file);
}

static void made_open(struct made *m, bool keeps_registers, size_t aside_bytes)
{
	*m = (struct made){ 0 };
	struct event event = { .unwind = true, .keeps_registers = keeps_registers, .name = "clock", .attr = {
		.sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER | SAMPLE_WEIGHT,
		.sample_regs_user = made_registers(own_arch() == UNWIND_AARCH64), .sample_stack_user = STACK_BYTES } };
	struct ring ring = { .size = RING_BYTES, .cpu = -1, .fd = -1, .base = calloc(1, RING_BYTES + PAGE) };
	ring.data = (uint8_t *)ring.base + PAGE;
	vec_push(&m->events.list, event);
	vec_push(&m->counters.rings, ring);
	writer_open(&m->existing, -1, 0);
	writer_open(&m->out, -1, 0);
	const struct unwinding_options options = { .threads = 1, .by_ring = keeps_registers, .aside_bytes = aside_bytes };
	m->unwinding = unwinding_new(&m->events, &m->counters, &options);
	add_own_code(&m->existing);
	unwinding_existing(m->unwinding, (struct span){ (const uint8_t *)m->existing.buffer, m->existing.len });
}

static void made_close(struct made *m)
{
	unwinding_free(m->unwinding);
	free(m->counters.rings.items[0].base);
	vec_fini(&m->counters.rings);
	vec_fini(&m->events.list);
	writer_fini(&m->existing);
	writer_fini(&m->out);
}

/* A sample of a system call that this program's code made. */
static void add_sample(struct made *m, uint64_t time)
{
	struct writer record;
	struct ring *ring = &m->counters.rings.items[0];
	writer_open(&record, -1, 0);
	size_t at = record_open(&record, RECORD_SAMPLE, RECORD_MISC_KERNEL);
	out_u64(&record, KERNEL_ADDRESS);
	out_u64(&record, (uint64_t)getpid() << 32 | (uint32_t)getpid());
	out_u64(&record, time);
	out_u64(&record, 2);
	out_u64(&record, CONTEXT_KERNEL);
	out_u64(&record, KERNEL_ADDRESS);
	out_u64(&record, 2); /* registers of 64 bits */
	out_u64(&record, 0x7ffc00000000);
	out_u64(&record, (uintptr_t)own_arch + 4);
	out_u64(&record, STACK_BYTES);
	for (unsigned i = 0; i < STACK_BYTES / 8; i++)
		out_u64(&record, i + 1);
	out_u64(&record, STACK_BYTES);
	out_u64(&record, 77); /* weight */
	record_close(&record, at, 0);
	memcpy(ring->data + m->head, record.buffer, record.len);
	m->head += record.len;
	memcpy((uint8_t *)ring->base + DATA_HEAD, &m->head, sizeof m->head);
	EXPECT_INT(record.len - 8, SAMPLE_BODY);
	writer_fini(&record);
}

static void run(struct made *m)
{
	EXPECT(unwinding_begin(m->unwinding, true, NULL) >= 0);
	while (unwinding_step(m->unwinding, &m->out))
		;
	EXPECT(!unwinding_waits(m->unwinding));
}

struct written {
	struct evlist evlist;
	unsigned data;               /* mappings of data that precede it */
	size_t at;
	struct record record;
	struct sample sample;
};

/* The next sample, by the attributes in the file. */
static bool next(struct made *m, struct written *w)
{
	const struct attr attr = configure_written(&m->events.list.items[0]);
	if (!w->evlist.events.count)
		evlist_add(&w->evlist, &attr, NULL, 0, "clock");
	if (m->out.len - w->at < 8)
		return false;
	const uint8_t *bytes = (const uint8_t *)m->out.buffer + w->at;
	uint16_t size, misc;
	for (; load_u32(bytes) == RECORD_MMAP2; bytes += size, w->at += size) {
		memcpy(&misc, bytes + 4, sizeof misc);
		memcpy(&size, bytes + 6, sizeof size);
		w->data += misc == (RECORD_MISC_USER | RECORD_MISC_MMAP_DATA);
	}
	memcpy(&misc, bytes + 4, sizeof misc);
	memcpy(&size, bytes + 6, sizeof size);
	w->record = (struct record){ .type = load_u32(bytes), .misc = misc, .body = bytes + 8, .body_len = size - 8u };
	w->at += size;
	EXPECT_INT(w->record.type, RECORD_SAMPLE);
	EXPECT_INT(sample_decode(&w->sample, &w->evlist.events.items[0].layout, &w->record, NULL), 0);
	EXPECT_INT(w->sample.weight, 77);
	EXPECT(w->sample.callchain_count >= 2 && sample_chain_at(&w->sample, 1) == KERNEL_ADDRESS);
	return true;
}

static bool is_copy(const struct written *w)
{
	const struct sample *s = &w->sample;
	if (s->stack_user_size != STACK_BYTES || !s->regs_user || s->callchain_count != 2)
		return false;
	return load_u64(s->regs_user + 8) == (uintptr_t)own_arch + 4 && load_u64(s->stack_user + STACK_BYTES - 8) == STACK_BYTES / 8;
}

static bool is_chain(const struct written *w, bool registers)
{
	const struct sample *s = &w->sample;
	return s->stack_user_size == 0 && (s->regs_user != NULL) == registers && s->callchain_count >= 4 &&
		sample_chain_at(s, 2) == CONTEXT_USER && sample_chain_at(s, 3) == (uintptr_t)own_arch + 4;
}

struct found {
	unsigned copies, chains, others;
	bool copies_first;
};

static struct found read_all(struct made *m)
{
	struct written w = { 0 };
	struct found found = { 0 };
	while (next(m, &w)) {
		bool copy = is_copy(&w), chain = is_chain(&w, m->events.list.items[0].keeps_registers);
		EXPECT(!copy || w.data);
		found.copies_first |= copy && !found.chains;
		found.copies += copy;
		found.chains += chain;
		found.others += !copy && !chain;
	}
	evlist_fini(&w.evlist);
	return found;
}

TEST("samples that find no room to wait for call frame information are written unchanged, the others with call chains")
{
	for (unsigned keeps = 0; keeps < 2 && unwinds_here(); keeps++) {
		struct made m;
		made_open(&m, keeps, 2 * SAMPLE_BODY + 8);
		for (unsigned i = 0; i < 5; i++)
			add_sample(&m, 100 + i);
		run(&m);
		struct found found = read_all(&m);
		const struct unwinding_counts *counts = unwinding_counts(m.unwinding);
		EXPECT(found.copies == 3 && found.chains == 2 && !found.others && found.copies_first);
		EXPECT(counts->copied == 3 && counts->stacks == 2 && !counts->damaged);
		/* the call frame information is read: no sample waits */
		for (unsigned i = 0; i < 5; i++)
			add_sample(&m, 200 + i);
		run(&m);
		found = read_all(&m);
		EXPECT(found.copies == 3 && found.chains == 7 && !found.others);
		EXPECT(counts->copied == 3 && counts->stacks == 7);
		made_close(&m);
	}
}

TEST("with enough room, all samples wait for call frame information, and none is written unchanged")
{
	struct made m;
	if (!unwinds_here())
		return;
	made_open(&m, false, 0);
	for (unsigned i = 0; i < 50; i++)
		add_sample(&m, 100 + i);
	run(&m);
	struct found found = read_all(&m);
	EXPECT(found.chains == 50 && !found.copies && !found.others);
	EXPECT_INT(unwinding_counts(m.unwinding)->copied, 0);
	made_close(&m);
}
