#include "render/dump/record_text.h"

#include <inttypes.h>

#include "base/bytes.h"

struct text {
	const struct record *record;
	struct cursor c;
	uint64_t id;
	struct writer *out;
};

/* "%#x" in printf's words: no prefix before 0. */
static void add_hex(struct writer *out, uint64_t value)
{
	if (value)
		writer_add(out, "0x", 2);
	writer_hex(out, value, 0);
}

/* The rest of the body is a string that ends with it or at a NUL. */
static void add_rest(struct text *t)
{
	size_t len;
	const char *rest = take_string(&t->c, cursor_left(&t->c), &len);
	writer_name(t->out, rest, len);
}

static void add_pid_tid(struct text *t)
{
	uint32_t pid = take_u32(&t->c), tid = take_u32(&t->c);
	writer_printf(t->out, " %d/%d", (int)pid, (int)tid);
}

static void add_range(struct text *t)
{
	uint64_t start = take_u64(&t->c), len = take_u64(&t->c), pgoff = take_u64(&t->c);
	writer_puts(t->out, ": [");
	add_hex(t->out, start);
	writer_putc(t->out, '(');
	add_hex(t->out, len);
	writer_puts(t->out, ") @ ");
	add_hex(t->out, pgoff);
}

static void text_mmap(struct text *t)
{
	add_pid_tid(t);
	add_range(t);
	writer_puts(t->out, t->record->misc & RECORD_MISC_MMAP_DATA ? "]: r " : "]: x ");
	add_rest(t);
	writer_putc(t->out, '\n');
}

enum { PROT_READ_BIT = 1, PROT_WRITE_BIT = 2, PROT_EXEC_BIT = 4, MAP_SHARED_BIT = 1, BUILD_ID_MAX = 20 };

static void add_build_id(struct text *t)
{
	uint8_t size = take_u8(&t->c);
	take(&t->c, 3);
	const uint8_t *id = take(&t->c, BUILD_ID_MAX);
	writer_puts(t->out, " <");
	for (unsigned i = 0; id && i < size && i < BUILD_ID_MAX; i++)
		writer_printf(t->out, "%02x", id[i]);
	writer_putc(t->out, '>');
}

static void text_mmap2(struct text *t)
{
	add_pid_tid(t);
	add_range(t);
	if (t->record->misc & RECORD_MISC_MMAP_BUILD_ID) {
		add_build_id(t);
	} else {
		uint32_t maj = take_u32(&t->c), min = take_u32(&t->c);
		uint64_t ino = take_u64(&t->c), generation = take_u64(&t->c);
		writer_printf(t->out, " %02" PRIx32 ":%02" PRIx32 " %" PRIu64 " %" PRIu64, maj, min, ino, generation);
	}
	uint32_t prot = take_u32(&t->c), flags = take_u32(&t->c);
	writer_printf(t->out, "]: %c%c%c%c ", prot & PROT_READ_BIT ? 'r' : '-', prot & PROT_WRITE_BIT ? 'w' : '-',
		prot & PROT_EXEC_BIT ? 'x' : '-', flags & MAP_SHARED_BIT ? 's' : 'p');
	add_rest(t);
	writer_putc(t->out, '\n');
}

static void text_comm(struct text *t)
{
	uint32_t pid = take_u32(&t->c), tid = take_u32(&t->c);
	writer_puts(t->out, t->record->misc & RECORD_MISC_COMM_EXEC ? " exec: " : ": ");
	add_rest(t);
	writer_printf(t->out, ":%d/%d\n", (int)pid, (int)tid);
}

static void text_task(struct text *t)
{
	uint32_t pid = take_u32(&t->c), ppid = take_u32(&t->c), tid = take_u32(&t->c), ptid = take_u32(&t->c);
	writer_printf(t->out, "(%d:%d):(%d:%d)\n", (int)pid, (int)tid, (int)ppid, (int)ptid);
}

static void text_lost_samples(struct text *t)
{
	uint64_t lost = take_u64(&t->c);
	writer_printf(t->out, ": id:%" PRIu64 ": lost samples :%" PRIu64 "%s\n", t->id, lost,
		t->record->misc & RECORD_MISC_LOST_SAMPLES_BPF ? " (BPF)" : "");
}

static void text_aux(struct text *t)
{
	uint64_t offset = take_u64(&t->c), size = take_u64(&t->c), flags = take_u64(&t->c);
	writer_puts(t->out, " offset: ");
	add_hex(t->out, offset);
	writer_puts(t->out, " size: ");
	add_hex(t->out, size);
	writer_puts(t->out, " flags: ");
	add_hex(t->out, flags);
	writer_printf(t->out, " [%s%s%s]\n", flags & 1 ? "T" : "", flags & 2 ? "O" : "", flags & 4 ? "P" : "");
}

static const char *switch_word(const struct record *record)
{
	if (!(record->misc & RECORD_MISC_SWITCH_OUT))
		return "IN         ";
	return record->misc & RECORD_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt" : "OUT        ";
}

static void text_switch(struct text *t)
{
	writer_printf(t->out, " %s\n", switch_word(t->record));
}

static void text_switch_cpu_wide(struct text *t)
{
	uint32_t pid = take_u32(&t->c), tid = take_u32(&t->c);
	writer_printf(t->out, " %s  %s pid/tid: %5d/%-5d\n", switch_word(t->record),
		t->record->misc & RECORD_MISC_SWITCH_OUT ? "next" : "prev", (int)pid, (int)tid);
}

static void text_namespaces(struct text *t)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	add_pid_tid(t);
	uint64_t count = take_u64(&t->c);
	if (count > cursor_left(&t->c) / 16)
		count = cursor_left(&t->c) / 16;
	writer_printf(t->out, " - nr_namespaces: %" PRIu64 "\n\t\t[", count);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t dev = take_u64(&t->c), ino = take_u64(&t->c);
		if (i && i % 4 == 0)
			writer_puts(t->out, "\n\t\t ");
		writer_printf(t->out, "%" PRIu64 "/%s: %" PRIu64 "/%#" PRIx64 "%s", i,
			i < sizeof names / sizeof *names ? names[i] : "UNKNOWN", dev, ino, i + 1 < count ? ", " : "]\n");
	}
}

static void add_poke(struct text *t, const char *label, size_t len)
{
	const uint8_t *bytes = take(&t->c, len);
	for (size_t i = 0; bytes && i < len; i++) {
		if (i % 16 == 0)
			writer_printf(t->out, "            %s bytes:", label);
		writer_printf(t->out, " %02x%s", bytes[i], i % 16 == 15 || i + 1 == len ? "\n" : "");
	}
}

static void text_text_poke(struct text *t)
{
	uint64_t address = take_u64(&t->c);
	uint16_t old_len = take_u16(&t->c), new_len = take_u16(&t->c);
	writer_printf(t->out, " %" PRIx64 "  old len %u new len %u\n", address, old_len, new_len);
	add_poke(t, "Old", old_len);
	add_poke(t, "New", new_len);
}

static void text_id_index(struct text *t)
{
	enum { ENTRY_SIZE = 32, ENTRY2_SIZE = 16 };
	uint64_t count = take_u64(&t->c);
	size_t left = cursor_left(&t->c);
	if (count > left / ENTRY_SIZE) {
		writer_printf(t->out, "Too big: nr %" PRIu64 " max_nr %zu\n", count, left / ENTRY_SIZE);
		return;
	}
	bool guests = left >= count * (ENTRY_SIZE + ENTRY2_SIZE);
	struct cursor second = t->c;
	take(&second, (size_t)count * ENTRY_SIZE);
	writer_printf(t->out, " nr: %" PRIu64 "\n", count);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t id = take_u64(&t->c), idx = take_u64(&t->c), cpu = take_u64(&t->c), tid = take_u64(&t->c);
		writer_printf(t->out, " ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64 "  tid: %" PRId64, id, idx,
			(int64_t)cpu, (int64_t)tid);
		if (guests && count) {
			uint64_t machine = take_u64(&second), vcpu = take_u64(&second);
			writer_printf(t->out, "  machine_pid: %" PRId64 "  vcpu: %" PRIu64, (int64_t)machine, vcpu);
		}
		writer_putc(t->out, '\n');
	}
}

static void text_auxtrace_error(struct text *t)
{
	uint32_t type = take_u32(&t->c), code = take_u32(&t->c), cpu = take_u32(&t->c), pid = take_u32(&t->c);
	uint32_t tid = take_u32(&t->c), format = take_u32(&t->c);
	uint64_t ip = take_u64(&t->c);
	writer_printf(t->out, " %s error type %" PRIu32, type == 1 ? "instruction trace" : "unknown", type);
	/* The first form of the record has its text where later ones have the time. */
	uint64_t time = format ? take_u64(&t->c) : 0;
	if (time)
		writer_printf(t->out, " time %" PRIu64 ".%09" PRIu64, time / 1000000000, time % 1000000000);
	else
		writer_puts(t->out, " time 0");
	size_t len;
	const char *message = take_string(&t->c, cursor_left(&t->c) < 64 ? cursor_left(&t->c) : 64, &len);
	uint32_t machine = format >= 2 ? take_u32(&t->c) : 0, vcpu = format >= 2 ? take_u32(&t->c) : 0;
	if (machine)
		writer_printf(t->out, " machine_pid %d vcpu %d", (int)machine, (int)vcpu);
	writer_printf(t->out, " cpu %d pid %d tid %d ip ", (int)cpu, (int)pid, (int)tid);
	add_hex(t->out, ip);
	writer_printf(t->out, " code %" PRIu32 ": ", code);
	writer_name(t->out, message, len);
	writer_putc(t->out, '\n');
}

static void text_thread_map(struct text *t)
{
	enum { ENTRY_SIZE = 24 };
	uint64_t count = take_u64(&t->c);
	if (count > cursor_left(&t->c) / ENTRY_SIZE)
		count = cursor_left(&t->c) / ENTRY_SIZE;
	writer_printf(t->out, " nr: %" PRIu64 " thread%s: ", count, count > 1 ? "s" : "");
	for (uint64_t i = 0; i < count; i++) {
		uint64_t pid = take_u64(&t->c);
		take(&t->c, ENTRY_SIZE - 8);
		writer_printf(t->out, "%s%d", i ? ", " : "", (int)pid);
	}
	writer_putc(t->out, '\n');
}

/* Collects CPUs one by one in rising order and writes ranges. */
struct cpu_ranges {
	struct writer *out;
	long first, last; /* of the range that is still open */
	bool open, any;
};

static void ranges_close(struct cpu_ranges *ranges)
{
	if (!ranges->open)
		return;
	writer_printf(ranges->out, "%s%ld", ranges->any ? "," : "", ranges->first);
	if (ranges->last != ranges->first)
		writer_printf(ranges->out, "-%ld", ranges->last);
	ranges->any = true;
	ranges->open = false;
}

static void ranges_add(struct cpu_ranges *ranges, long cpu)
{
	if (ranges->open && cpu != ranges->last + 1)
		ranges_close(ranges);
	if (!ranges->open)
		ranges->first = cpu;
	ranges->last = cpu;
	ranges->open = true;
}

enum { CPUS_LISTED = 0, CPUS_MASK = 1, CPUS_RANGE = 2 };

static void ranges_add_mask(struct cpu_ranges *ranges, struct cursor *c)
{
	uint16_t count = take_u16(c), word_bytes = take_u16(c);
	if (word_bytes == 8)
		take(c, 4);
	for (unsigned i = 0; i < count; i++) {
		uint64_t word = word_bytes == 8 ? take_u64(c) : take_u32(c);
		for (unsigned bit = 0; word; bit++, word >>= 1)
			if (word & 1)
				ranges_add(ranges, (long)i * word_bytes * 8 + bit);
	}
}

bool cpu_map_text(const uint8_t *bytes, size_t len, struct writer *out)
{
	struct cursor c = cursor_of(bytes, len, false);
	struct cpu_ranges ranges = { .out = out };
	uint16_t type = take_u16(&c);
	if (type == CPUS_LISTED) {
		uint16_t count = take_u16(&c);
		for (unsigned i = 0; i < count && cursor_left(&c) >= 2; i++)
			ranges_add(&ranges, (int16_t)take_u16(&c));
	} else if (type == CPUS_MASK) {
		ranges_add_mask(&ranges, &c);
	} else if (type == CPUS_RANGE) {
		bool any = take_u8(&c);
		take_u8(&c);
		uint16_t first = take_u16(&c), last = take_u16(&c);
		if (any)
			ranges_add(&ranges, -1);
		for (long cpu = first; cpu <= last; cpu++)
			ranges_add(&ranges, cpu);
	} else {
		return false;
	}
	ranges_close(&ranges);
	return true;
}

static void add_cpu_map(struct text *t, const char *failure)
{
	size_t left = cursor_left(&t->c);
	const uint8_t *bytes = take(&t->c, left);
	if (!cpu_map_text(bytes, left, t->out))
		writer_puts(t->out, failure);
	writer_putc(t->out, '\n');
}

static void text_cpu_map(struct text *t)
{
	writer_puts(t->out, ": ");
	add_cpu_map(t, "failed to get cpumap from event");
}

static void text_event_update(struct text *t)
{
	enum { UPDATE_UNIT = 0, UPDATE_SCALE = 1, UPDATE_NAME = 2, UPDATE_CPUS = 3 };
	uint64_t type = take_u64(&t->c), id = take_u64(&t->c);
	writer_printf(t->out, "\n... id:    %" PRIu64 "\n", id);
	if (type == UPDATE_SCALE) {
		uint64_t bits = take_u64(&t->c);
		double scale;
		memcpy(&scale, &bits, sizeof scale);
		writer_printf(t->out, "... scale: %f\n", scale);
	} else if (type == UPDATE_UNIT || type == UPDATE_NAME) {
		writer_puts(t->out, type == UPDATE_UNIT ? "... unit:  " : "... name:  ");
		add_rest(t);
		writer_putc(t->out, '\n');
	} else if (type == UPDATE_CPUS) {
		writer_puts(t->out, "... ");
		add_cpu_map(t, "failed to get cpus");
	} else {
		writer_puts(t->out, "... unknown type\n");
	}
}

static void text_time_conv(struct text *t)
{
	uint64_t shift = take_u64(&t->c), mult = take_u64(&t->c), zero = take_u64(&t->c);
	/* "Muliplier" is how perf spells it. */
	writer_printf(t->out, "\n... Time Shift      %" PRIu64 "\n... Time Muliplier  %" PRIu64 "\n", shift, mult);
	writer_printf(t->out, "... Time Zero       %" PRIu64 "\n", zero);
	if (cursor_left(&t->c) < 8)
		return;
	uint64_t cycles = take_u64(&t->c), mask = take_u64(&t->c);
	unsigned cap_zero = take_u8(&t->c), cap_short = take_u8(&t->c);
	writer_printf(t->out, "... Time Cycles     %" PRIu64 "\n... Time Mask       %#" PRIx64 "\n", cycles, mask);
	writer_printf(t->out, "... Cap Time Zero   %u\n... Cap Time Short  %u\n", cap_zero, cap_short);
}

static void text_stat_config(struct text *t)
{
	enum { TERM_AGGREGATION = 0, TERM_INTERVAL = 1, TERM_SCALE = 2, TERM_COUNT = 4 };
	uint64_t values[TERM_COUNT] = { 0 };
	uint64_t count = take_u64(&t->c);
	for (uint64_t i = 0; i < count && cursor_left(&t->c) >= 16; i++) {
		uint64_t tag = take_u64(&t->c), value = take_u64(&t->c);
		if (tag < TERM_COUNT)
			values[tag] = value;
	}
	writer_printf(t->out, "\n... aggr_mode %d\n... scale     %d\n... interval  %u\n", (int)values[TERM_AGGREGATION],
		(int)values[TERM_SCALE], (unsigned)values[TERM_INTERVAL]);
}

static void text_stat_round(struct text *t)
{
	uint64_t type = take_u64(&t->c), time = take_u64(&t->c);
	writer_printf(t->out, "\n... time %" PRIu64 ", type %s\n", time, type == 1 ? "FINAL" : "INTERVAL");
}

/* How a type is printed: its fields in order by a format, or by a function. In a format, %d and %u are a decimal number, %x a hexadecimal
 * one with 0x if it is not 0, %h one without, %s the rest of the body. */
static const struct {
	const char *format;
	void (*print)(struct text *t);
} texts[RECORD_TYPE_MAX] = {
	[RECORD_MMAP] = { .print = text_mmap },
	[RECORD_LOST] = { ": id:%u: lost:%u\n" },
	[RECORD_COMM] = { .print = text_comm },
	[RECORD_EXIT] = { .print = text_task },
	[RECORD_FORK] = { .print = text_task },
	[RECORD_MMAP2] = { .print = text_mmap2 },
	[RECORD_AUX] = { .print = text_aux },
	[RECORD_ITRACE_START] = { " pid: %u tid: %u\n" },
	[RECORD_LOST_SAMPLES] = { .print = text_lost_samples },
	[RECORD_SWITCH] = { .print = text_switch },
	[RECORD_SWITCH_CPU_WIDE] = { .print = text_switch_cpu_wide },
	[RECORD_NAMESPACES] = { .print = text_namespaces },
	[RECORD_KSYMBOL] = { " addr %h len %u type %u flags 0x%h name %s\n" },
	[RECORD_BPF_EVENT] = { " type %u, flags %u, id %u\n" },
	[RECORD_CGROUP] = { " cgroup: %u %s\n" },
	[RECORD_TEXT_POKE] = { .print = text_text_poke },
	[RECORD_AUX_OUTPUT_HW_ID] = { " hw_id: %x\n" },
	[RECORD_ID_INDEX] = { .print = text_id_index },
	[RECORD_AUXTRACE_INFO] = { " type: %u\n" },
	[RECORD_AUXTRACE] = { " size: %x  offset: %x  ref: %x  idx: %u  tid: %d  cpu: %d\n" },
	[RECORD_AUXTRACE_ERROR] = { .print = text_auxtrace_error },
	[RECORD_THREAD_MAP] = { .print = text_thread_map },
	[RECORD_CPU_MAP] = { .print = text_cpu_map },
	[RECORD_STAT_CONFIG] = { .print = text_stat_config },
	[RECORD_STAT] = { "\n... id %u, cpu %d, thread %d\n... value %u, enabled %u, running %u\n" },
	[RECORD_STAT_ROUND] = { .print = text_stat_round },
	[RECORD_EVENT_UPDATE] = { .print = text_event_update },
	[RECORD_TIME_CONV] = { .print = text_time_conv },
};

static uint64_t take_field(struct cursor *c, char width)
{
	return width == '8' ? take_u64(c) : width == '4' ? take_u32(c) : width == '2' ? take_u16(c) : 0;
}

static void text_by_format(struct text *t, const char *format)
{
	const char *layout = record_type_layout(t->record->type);
	for (; *format; format++) {
		if (*format != '%') {
			writer_putc(t->out, *format);
			continue;
		}
		if (*++format == 's') {
			add_rest(t);
			continue;
		}
		char width = layout && *layout ? *layout++ : '\0';
		uint64_t value = take_field(&t->c, width);
		if (*format == 'x')
			add_hex(t->out, value);
		else if (*format == 'h')
			writer_hex(t->out, value, 0);
		else if (*format == 'd')
			writer_printf(t->out, "%" PRId64, width == '4' ? (int32_t)value : (int64_t)value);
		else
			writer_decimal(t->out, value, 0);
	}
}

bool record_text(const struct record *record, uint64_t id, struct writer *out)
{
	if (record->type >= RECORD_TYPE_MAX || (!texts[record->type].format && !texts[record->type].print))
		return false;
	struct text t = { .record = record, .c = cursor_of(record->body, record->body_len, false), .id = id, .out = out };
	if (texts[record->type].print)
		texts[record->type].print(&t);
	else
		text_by_format(&t, texts[record->type].format);
	return true;
}
