#include "bpf/sample_filter.h"

#include <unistd.h>

#include "base/str.h"
#include "os/counter.h"
#include "unit.h"

#include <errno.h>

/* Runs the instructions of a filter as the kernel does, for a sample of these values. */
struct sample_values {
	uint64_t ip, period, addr, pid_tid, gid_uid, time;
	uint32_t cpu;
	uint64_t cgroup;
};

static unsigned to_of(struct bpf_instruction i)
{
	return HOST_IS_BIG_ENDIAN ? i.registers >> 4 : i.registers & 15;
}

static unsigned from_of(struct bpf_instruction i)
{
	return HOST_IS_BIG_ENDIAN ? i.registers & 15 : i.registers >> 4;
}

static bool jumps(uint8_t code, uint64_t left, uint64_t right)
{
	switch (code & 0xf0) {
	case 0x10: return left == right;
	case 0x50: return left != right;
	case 0x20: return left > right;
	case 0x30: return left >= right;
	case 0xa0: return left < right;
	case 0xb0: return left <= right;
	case 0x40: return left & right;
	default: return true;
	}
}

static uint64_t helper(const struct sample_values *v, int number)
{
	switch (number) {
	case 5: return v->time;
	case 8: return (uint64_t)0xdead << 32 | v->cpu; /* the upper half is undefined */
	case 14: return v->pid_tid;
	case 15: return v->gid_uid;
	case 80: return v->cgroup;
	default: return 0; /* no element of the map: nothing is counted */
	}
}

/* The sample's data of the kernel: as if each field were at 1000 + 8 * its number. */
enum { DATA = 0x5000, CONVERT = 4711 };

static uint64_t field(int offset)
{
	switch ((offset - 1000) / 8) {
	case FIELD_ID: return 7;
	case FIELD_TIME: return 61;
	case FIELD_WEIGHT: return (uint64_t)9 << 48 | (uint64_t)500 << 32 | 80000;
	case FIELD_TXN: return 0x21;
	case FIELD_PHYS_ADDR: return (uint64_t)1 << 63 | 5;
	/* a store that missed the dtlb, to L3, remote, locked; snoop: miss, and snoopx: fwd; blocked by data; hops 2 */
	case FIELD_DATA_SRC: return 4 | (uint64_t)8 << 19 | 2 << 24 | (uint64_t)4 << 26 | (uint64_t)3 << 33 | (uint64_t)1 << 37 |
		(uint64_t)1 << 38 | (uint64_t)2 << 40 | (uint64_t)3 << 43 | (uint64_t)0x3fff << 5;
	case FIELD_DATA_PGSZ: return 4096;
	case FIELD_CODE_PGSZ: return 1 << 21;
	default: return 0;
	}
}

static struct sample_fields all_fields(void)
{
	struct sample_fields fields = { .convert = CONVERT, .data_at = 24 };
	for (int i = 0; i < FIELD_COUNT; i++)
		fields.at[i] = (int16_t)(1000 + 8 * i);
	return fields;
}

static uint64_t load(const struct sample_values *v, int offset)
{
	if (offset == 24)
		return DATA;
	if (offset >= 1000)
		return field(offset);
	return offset < 150 ? v->ip : offset == 168 ? v->period : v->addr;
}

/* The interpreter: returns r0. */
static uint64_t run(const struct bpf_instructions *code, const struct sample_values *v)
{
	uint64_t r[11] = { 0 };
	for (size_t at = 0, steps = 0; at < code->list.count && steps < 1000; at++, steps++) {
		struct bpf_instruction i = code->list.items[at];
		unsigned to = to_of(i), from = from_of(i);
		switch (i.code) {
		case 0x79: r[to] = load(v, i.offset); break;
		case 0x18: r[to] = (uint32_t)i.immediate | (uint64_t)(uint32_t)code->list.items[++at].immediate << 32; break;
		case 0xb7: r[to] = (uint64_t)(int64_t)i.immediate; break;
		case 0xbf: r[to] = r[from]; break;
		case 0xbc: r[to] = (uint32_t)r[from]; break;
		case 0x07: r[to] += (uint64_t)(int64_t)i.immediate; break;
		case 0x77: r[to] >>= i.immediate; break;
		case 0x67: r[to] <<= i.immediate; break;
		case 0x0f: r[to] += r[from]; break;
		case 0x62: case 0xdb: break;
		case 0x85: r[0] = from == 2 && i.immediate == CONVERT ? 0x4000 : helper(v, i.immediate); break;
		case 0x95: return r[0];
		case 0x05: at += (size_t)(int64_t)i.offset; break;
		default: at += jumps(i.code, r[to], i.code & 8 ? r[from] : (uint64_t)i.immediate) ? (size_t)(int64_t)i.offset : 0;
		}
	}
	unit_fail(__FILE__, __LINE__, "the program does not end");
	return 2;
}

static const struct sample_values some = {
	.ip = 0xffffffff81000010, .period = 1000, .addr = 77, .pid_tid = (uint64_t)40 << 32 | 41, .gid_uid = (uint64_t)50 << 32 | 51,
	.time = 60, .cpu = 3, .cgroup = (uint64_t)7 << 32,
};

static void expect(const char *text, bool kept)
{
#if defined(__x86_64__)
	struct sample_condition condition;
	struct bpf_instructions code = { 0 };
	EXPECT_INT(sample_condition_parse(&condition, text, NULL), 0);
	struct sample_fields fields = all_fields();
	EXPECT_INT(sample_filter_make(&condition, &fields, true, 5, &code, NULL), 0);
	if (run(&code, &some) != kept)
		unit_fail(__FILE__, __LINE__, "%s: expected %d", text, kept);
	vec_fini(&code.list);
	sample_condition_fini(&condition);
#else /* the interpreter knows where x86 has its registers */
	(void)run, (void)all_fields, (void)some, (void)text, (void)kept;
#endif
}

TEST("each term is compared with its value, without sign and at full width")
{
	expect("ip == 0xffffffff81000010", true);
	expect("ip == 0x81000010", false);
	expect("ip > 0x7fffffffffffffff", true);
	expect("period > 999", true);
	expect("period > 1000", false);
	expect("period >= 1000", true);
	expect("period < 1000", false);
	expect("period <= 1000", true);
	expect("addr == 77", true);
	expect("addr != 77", false);
	expect("addr & 8", true);
	expect("addr & 2", false);
	expect("pid == 40", true);
	expect("tid == 41", true);
	expect("gid == 50", true);
	expect("uid == 51", true);
	expect("cpu == 3", true);
	expect("time == 61", true);
	expect("cgroup == 30064771072", true);
}

TEST("terms of the sample's data are its bits")
{
	expect("id == 7", true);
	expect("phys_addr == 0x8000000000000005", true);
	expect("txn & 1", true);
	expect("txn & 2", false);
	expect("data_pgsz == 4096", true);
	expect("code_pgsz == 2097152", true);
	expect("weight1 == 80000", true);
	expect("weight == 80000", true);
	expect("weight2 == 500", true);
	expect("ins_lat == 500", true);
	expect("weight3 == 9", true);
	expect("mem_op == store", true);
	expect("mem_op & load", false);
	expect("mem_lvl == l3", true);
	expect("mem_snoop & miss", true);
	expect("mem_snoop & fwd", true);
	expect("mem_snoop == 40", true);
	expect("mem_snoop & peer", false);
	expect("mem_remote == remote", true);
	expect("mem_lock == locked", true);
	expect("mem_dtlb == any_miss", true);
	expect("mem_blk == by_data", true);
	expect("mem_hops == hops2", true);
}

TEST("conjunctions and alternatives jump to the right end, in any nesting")
{
	expect("cpu == 3 && period == 1", false);
	expect("cpu == 3 && period == 1000", true);
	expect("cpu == 1 || period == 1", false);
	expect("cpu == 1 || period == 1000", true);
	expect("cpu == 3 || period == 1", true);
	expect("(cpu == 1 || cpu == 3) && (tid == 1 || tid == 41)", true);
	expect("(cpu == 1 || cpu == 3) && (tid == 1 || tid == 4)", false);
	expect("cpu == 1 && tid == 41 || uid == 51 && gid == 50", true);
	expect("cpu == 3, tid == 1 || uid == 51", true);
	expect("cpu == 1, tid == 1 || uid == 51", false);
}

TEST("without the kernel's type information, terms that cannot be read are refused by name")
{
	static const char *const texts[] = { "phys_addr == 1", "mem_op == load", "weight1 > 3", "txn & 1", "id == 7", "time > 1" };
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct sample_condition condition;
		struct bpf_instructions code = { 0 };
		struct error err = { 0 };
		EXPECT_INT(sample_condition_parse(&condition, texts[i], NULL), 0);
		EXPECT(sample_filter_make(&condition, &(struct sample_fields){ 0 }, false, 5, &code, &err) < 0);
		EXPECT_INT(err.kind, ERROR_UNSUPPORTED);
		EXPECT(strstr(err.text, condition_term_name(condition.nodes.items[0].term)) != NULL);
		vec_fini(&code.list);
		sample_condition_fini(&condition);
	}
}

TEST("a condition has at most 64 comparisons")
{
	for (int count = 63; count <= 65; count++) {
		struct sample_condition condition;
		struct bpf_instructions code = { 0 };
		struct error err = { 0 };
		CLEANUP_STR struct str text = { 0 };
		const struct sample_fields fields = { 0 };
		for (int i = 0; i < count; i++)
			str_printf(&text, "%scpu == %d", i ? " || " : "", i);
		EXPECT_INT(sample_condition_parse(&condition, str_text(&text), &err), count > 64 ? -1 : 0);
		EXPECT((count > 64) == (strstr(err.text, "the condition has too many parts") != NULL));
		if (count <= 64)
			EXPECT_INT(sample_filter_make(&condition, &fields, true, 5, &code, NULL), 0);
		vec_fini(&code.list);
		sample_condition_fini(&condition);
	}
}

TEST("the kernel accepts the program, and counts what it drops")
{
	const struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1000000, .sample_type = SAMPLE_IP,
		.flags = (uint64_t)1 << ATTR_EXCLUDE_KERNEL };
	struct sample_filter filter;
	struct sample_condition condition;
	struct error err = { 0 };
	EXPECT_INT(sample_condition_parse(&condition, "period > 5000000000 || (uid == 12345 && ip < 0x10)", NULL), 0);
	int status = sample_filter_open(&filter, &condition, false, &err);
	sample_condition_fini(&condition);
	if (status < 0) {
		if (err.kind == ERROR_PERMISSION)
			unit_skip("this user may not load BPF programs; root may");
		else if (err.kind == ERROR_UNSUPPORTED)
			unit_skip("the places of registers are unknown on this architecture");
		else if (err.sys == ENOSYS)
			unit_skip("the emulator has no bpf(2); native builds run it");
		else
			unit_fail(__FILE__, __LINE__, "%s", err.text);
		return;
	}
	int fd = counter_open(&attr, 0, -1, -1, 0);
	EXPECT(fd >= 0);
	EXPECT_INT(counter_set_bpf(fd, filter.program), 0);
	for (volatile long i = 0; i < 100000000 && (i % 1000000 || sample_filter_dropped(&filter) < 5); i++)
		;
	EXPECT(sample_filter_dropped(&filter) >= 5);
	counter_close(fd);
	sample_filter_close(&filter);
}
