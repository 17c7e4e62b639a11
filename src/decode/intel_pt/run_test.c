#include "decode/intel_pt/decoder.h"
#include "unit.h"

#include <string.h>

/* Random code and packets, decoded twice: with all branches, one by one, and without those that are not needed. */
enum { CODE_LEN = 192, USER_LEN = 160, TRACE_LEN = 1500, SEEN_MAX = 1 << 14, ROUNDS = 1500, BASE = 0x1000 };

static struct seen {
	uint8_t kind, error, branch, is_call;
	bool timed, async, begins, ends;
	uint64_t from, to, instructions, time, cycles, exact_cycles;
} seen[2][SEEN_MAX];
static size_t seen_count[2];

static struct pt_code code;
static struct pt_decoder decoder;
static unsigned current;     /* of `seen` */
static uint64_t state;
static bool in_kernel;       /* has code, and then all of it has 64 bits */

static unsigned chance(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

/* Two mappings of one module: the kernel's has all of it. */
static bool locate(void *context, uint64_t ip, struct pt_range *range)
{
	uint64_t base = ip >> 63 ? 0xffff800000001000u : BASE, end = base + (ip >> 63 ? CODE_LEN : USER_LEN);
	(void)context;
	*range = (struct pt_range){ .start = base, .end = end, .base = base, .code = &code };
	return ip >= base && ip < end;
}

static void add(const struct seen *one)
{
	if (seen_count[current] < SEEN_MAX)
		seen[current][seen_count[current]++] = *one;
}

static void pass_call(void *context, bool is_return, uint64_t from, uint64_t to, unsigned size)
{
	(void)context;
	(void)size;
	add(&(struct seen){ .kind = PT_EVENT_BRANCH, .is_call = true, .branch = is_return, .from = from, .to = to, .time = decoder.time });
}

static void note(const struct pt_event *event, bool calls)
{
	bool plain = event->kind == PT_EVENT_BRANCH && !event->begins && !event->ends && !event->async && event->to;
	bool is_return = event->branch == INSTRUCTION_RETURN;
	if (plain && calls && (is_return || event->branch == INSTRUCTION_CALL || event->branch == INSTRUCTION_CALL_INDIRECT))
		pass_call(NULL, is_return, event->from, event->to, event->size);
	bool jump = event->branch == INSTRUCTION_JUMP_INDIRECT || event->branch == INSTRUCTION_CALL_INDIRECT;
	if (plain && !(jump && event->from >> 63 && !(event->to >> 63)))
		return;
	add(&(struct seen){ .kind = event->kind, .error = event->error, .branch = event->branch, .timed = event->timed, .async = event->async,
		.begins = event->begins, .ends = event->ends, .from = event->from, .to = event->to, .instructions = decoder.instructions,
		.time = decoder.time, .cycles = decoder.cycles, .exact_cycles = decoder.exact_cycles });
}

static size_t put_low(uint8_t *bytes, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	return size;
}

static void fill_code(uint8_t *bytes)
{
	static const uint8_t first[] = { 0x74, 0x75, 0x7c, 0xeb, 0xc3, 0xe8, 0xff, 0x90, 0x74, 0x75, 0x48, 0xcb };
	for (size_t at = 0; at < CODE_LEN;) {
		uint8_t one[5] = { first[chance(sizeof first)] }, size = 1;
		if (one[0] >> 4 == 7 || one[0] == 0xeb) {
			one[1] = (uint8_t)(chance(64) - 32);
			size = 2;
		} else if (one[0] == 0xe8) {
			int32_t displacement = chance(4) ? (int32_t)chance(96) - 48 : 0;
			size = (uint8_t)(1 + put_low(one + 1, (uint32_t)displacement, 4));
		} else if (one[0] == 0xff) {
			one[1] = chance(2) ? 0xe0 : 0xd0;
			size = 2;
		} else if (one[0] == 0x48) {
			one[1] = 0x90;
			size = 2;
		}
		for (size_t i = 0; i < size && at < CODE_LEN; i++)
			bytes[at++] = one[i];
	}
}

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define POINT PSB "\x19\x00\x10\0\0\0\0\0" "\x02\x73\0\0\0\0\0" "\x02\x03\x08\0" "\x7d\x00\x10\0\0\0\0" "\x02\x23"

static size_t fill_trace(uint8_t *bytes)
{
	size_t len = 0;
	uint8_t ctc = 0;
	while (len + 64 < TRACE_LEN) {
		unsigned kind = chance(40);
		uint64_t to = BASE + chance(CODE_LEN);
		if (!len || kind == 0) {
			memcpy(bytes + len, POINT, sizeof POINT - 1);
			len += sizeof POINT - 1;
		} else if (kind < 4) {
			bytes[len++] = 0x59;
			bytes[len++] = ctc += (uint8_t)chance(3);
		} else if (kind < 16) {
			bytes[len++] = (uint8_t)(chance(32) << 3 | 3);
		} else if (kind < 22) {
			bytes[len++] = (uint8_t)(0x2d - (kind == 16 ? 0x20 : 0)); /* without an address, or with its lower 16 bits */
			len += kind == 16 ? 0 : put_low(bytes + len, to, 2);
		} else if (kind == 22) {
			to |= in_kernel && chance(2) ? 0xffff800000000000u : 0;
			bytes[len++] = chance(4) ? 0x6d : 0x7d;
			len += put_low(bytes + len, to, 6);
		} else if (kind == 23 && !in_kernel) {
			bytes[len++] = 0x99; /* MODE.Exec: 64 or 32 bits */
			bytes[len++] = (uint8_t)(1 + chance(2));
		} else {
			bytes[len++] = (uint8_t)(4 + 2 * chance(126));
		}
	}
	return len;
}

static void decode(const struct pt_piece *piece, unsigned which, bool calls, uint64_t tick_period, uint64_t stop_at)
{
	const struct pt_config config = { .return_compression = true, .locate = locate, .call = pass_call, .loop_max = 6,
		.clock = { .mtc_shift = 3, .ctc_numerator = 200, .ctc_denominator = 1, .non_turbo_ratio = 8 } };
	current = which;
	seen_count[which] = 0;
	pt_decoder_init(&decoder, &config, piece, 1);
	decoder.errors_only = !calls;
	decoder.calls_only = calls;
	decoder.pause = which ? UINT64_MAX : 0;
	decoder.tick_period = tick_period;
	decoder.stop_at = decoder.stop_every = stop_at;
	for (struct pt_event event; pt_decoder_next(&decoder, &event) > 0;)
		note(&event, calls);
}

static void compare(const struct pt_piece *piece, bool calls, uint64_t tick_period, uint64_t stop_at)
{
	uint64_t ends[2][6] = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		decode(piece, i, calls, tick_period, stop_at);
		const uint64_t end[] = { decoder.instructions, decoder.clock.time, decoder.traced_cycles, decoder.ip_known ? decoder.ip : 0,
			decoder.return_count, decoder.address.last };
		memcpy(ends[i], end, sizeof end);
		pt_code_fini(&code);
	}
	EXPECT_INT(seen_count[1], seen_count[0]);
	for (size_t i = 0; i < seen_count[0] && i < seen_count[1]; i++)
		EXPECT(memcmp(&seen[0][i], &seen[1][i], sizeof seen[0][i]) == 0);
	for (unsigned i = 0; i < 6; i++)
		EXPECT_INT(ends[1][i], ends[0][i]);
}

TEST("what is not delivered is executed as what is: random code and packets")
{
	static uint8_t instructions[CODE_LEN], packets[TRACE_LEN];
	state = 1;
	memset(seen, 0, sizeof seen);
	for (unsigned round = 0; round < ROUNDS; round++) {
		in_kernel = chance(2);
		fill_code(instructions);
		const struct pt_piece piece = { .bytes = { packets, fill_trace(packets) } };
		code = (struct pt_code){ .bytes = instructions, .size = CODE_LEN };
		compare(&piece, round & 1, round % 3 == 2 ? 20 << round % 4 : 0, round % 3 == 1 ? 97 : UINT64_MAX);
	}
}
