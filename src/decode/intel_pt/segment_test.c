#include "decode/intel_pt/segment.h"
#include "unit.h"

#include <string.h>

/* 1000: jz 1000; 1002: call 1007; 1007: nop; 1008: jmp *%rax */
static const char instructions[] = "\x74\xfe\xe8\0\0\0\0\x90\xff\xe0";
static struct pt_code code;

static bool locate(void *context, uint64_t ip, struct pt_range *range)
{
	(void)context;
	*range = (struct pt_range){ .start = 0x1000, .end = 0x2000, .base = 0x1000, .code = &code };
	return ip >= 0x1000 && ip < 0x2000;
}

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define TSC(low, high) "\x19" low high "\0\0\0\0\0"
#define TMA "\x02\x73\0\0\0\0\0"
#define CBR "\x02\x03\x08\0"
#define MTC(ctc) "\x59" ctc
#define CYC(count) count /* count << 3 | 3 */
#define AT_1000 "\x7d\x00\x10\0\0\0\0"
#define PSBEND "\x02\x23"
#define POINT(low, high) PSB TSC(low, high) TMA CBR AT_1000 PSBEND
#define ROUND "\x1a" "\x2d\x00\x10" /* N T T: 1000, 1008 (by the call); jmp 1000 … */

enum { EVENTS_MAX = 64 };
static struct seen {
	struct pt_event event;
	struct pt_moment moment;
	uint64_t instructions;
} whole[EVENTS_MAX], parts[EVENTS_MAX];

static struct pt_piece piece;
static struct pt_decoder decoder;
static const struct pt_config config = { .return_compression = true, .locate = locate,
	.clock = { .mtc_shift = 3, .ctc_numerator = 2, .ctc_denominator = 1, .non_turbo_ratio = 8 } };

static void open_trace(const char *packets, size_t len)
{
	pt_code_fini(&code);
	code = (struct pt_code){ .bytes = (const uint8_t *)instructions, .size = sizeof instructions - 1 };
	piece = (struct pt_piece){ .bytes = { (const uint8_t *)packets, len } };
	pt_decoder_init(&decoder, &config, &piece, 1);
}

static size_t decode_whole(void)
{
	size_t count = 0;
	for (struct pt_event event; count < EVENTS_MAX && pt_decoder_next(&decoder, &event) > 0;)
		whole[count++] = (struct seen){ event, pt_moment_of(&decoder), decoder.instructions };
	return count;
}

static void take_steps(struct pt_segment *segment, size_t *count)
{
	for (size_t i = 0; i < segment->steps.count && *count < EVENTS_MAX; i++) {
		const struct pt_step *step = &segment->steps.items[i];
		parts[(*count)++] = (struct seen){ step->event, pt_segment_moment(segment, step, &decoder),
			decoder.instructions + step->instructions };
	}
	pt_segment_pass(segment, &decoder);
}

/* From the second synchronization point on, segments of one each, which are decoded before the first is joined. */
static size_t decode_parts(size_t points, bool *fit)
{
	static struct pt_segment segments[4];
	size_t count = 0;
	for (struct pt_event event = { 0 }; !(event.kind == PT_EVENT_PSB && event.payload) && pt_decoder_next(&decoder, &event) > 0;)
		parts[count++] = (struct seen){ event, pt_moment_of(&decoder), decoder.instructions };
	struct pt_place at = decoder.place, next;
	for (size_t i = 0; i < points; i++, at = next) {
		struct pt_segment *segment = &segments[i];
		pt_segment_init(segment, &decoder, i == 0);
		segment->steps_max = segment->bytes_max = SIZE_MAX;
		segment->from = at;
		pt_segment_cut(&decoder, 0, &segment->warm);
		segment->until = pt_segment_cut(&decoder, at.position + 1, &next) ? next.position : UINT64_MAX;
	}
	for (size_t i = points; i-- > 0;)
		pt_segment_decode(&segments[i], &config);
	*fit = true;
	for (size_t i = 0; i < points; i++) {
		*fit = *fit && pt_segment_fits(&segments[i], &decoder);
		EXPECT(segments[i].ended == (i + 1 == points));
		take_steps(&segments[i], &count);
		pt_segment_fini(&segments[i]);
	}
	memset(segments, 0, sizeof segments);
	return count;
}

static void expect_same(const char *packets, size_t len)
{
	bool fit;
	open_trace(packets, len);
	size_t count = decode_whole();
	open_trace(packets, len);
	EXPECT_INT(decode_parts(3, &fit), count);
	EXPECT(fit);
	for (size_t i = 0; i < count; i++) {
		const struct seen *a = &whole[i], *b = &parts[i];
		EXPECT_INT(b->event.kind, a->event.kind);
		EXPECT_INT(b->event.from, a->event.from);
		EXPECT_INT(b->event.to, a->event.to);
		EXPECT_INT(b->event.payload, a->event.payload);
		EXPECT_INT(b->event.timed, a->event.timed);
		EXPECT_INT(b->instructions, a->instructions);
		EXPECT_INT(b->moment.time, a->moment.time);
		EXPECT_INT(b->moment.cycles, a->moment.cycles);
		EXPECT_INT(b->moment.exact_cycles, a->moment.exact_cycles);
		EXPECT_INT(b->moment.instructions_at_time, a->moment.instructions_at_time);
		EXPECT_INT(b->moment.bus_ratio, a->moment.bus_ratio);
	}
}

TEST("segments have the events, times and cycles of the trace that is decoded at once: with CYC packets")
{
	static const char packets[] = POINT("\0", "\x10") CYC("\x2b") ROUND CYC("\x1b") MTC("\x01") ROUND
		POINT("\x40", "\x10") CYC("\x33") ROUND MTC("\x05") CYC("\x0b") ROUND CYC("\x1b") MTC("\x06") ROUND
		POINT("\0", "\x11") ROUND CYC("\x23") ROUND
		POINT("\x80", "\x11") CYC("\x2b") ROUND MTC("\x02") ROUND;
	expect_same(packets, sizeof packets - 1);
}

TEST("segments have the events, times and cycles of the trace that is decoded at once: by MTC packets")
{
	static const char packets[] = POINT("\0", "\x10") ROUND MTC("\x01") ROUND
		POINT("\x40", "\x10") ROUND MTC("\x03") ROUND
		POINT("\0", "\x11") ROUND MTC("\x01") "\x01" /* PGD */ "\x71\x00\x10\0\0\0\0" /* PGE */ ROUND MTC("\x02") ROUND
		POINT("\x80", "\x11") ROUND MTC("\x02") ROUND;
	expect_same(packets, sizeof packets - 1);
}

TEST("a segment does not fit a decoder that has arrived elsewhere or at another time")
{
	static const char packets[] = POINT("\0", "\x10") ROUND POINT("\x40", "\x10") ROUND POINT("\0", "\x11") ROUND;
	struct pt_segment segment = { .steps_max = SIZE_MAX, .bytes_max = SIZE_MAX, .until = UINT64_MAX };
	struct pt_event event;
	open_trace(packets, sizeof packets - 1);
	EXPECT(pt_decoder_next(&decoder, &event) > 0);
	pt_segment_init(&segment, &decoder, false);
	EXPECT(pt_segment_cut(&decoder, decoder.place.position, &segment.from));
	pt_segment_decode(&segment, &config);
	EXPECT(!pt_segment_fits(&segment, &decoder));
	do
		EXPECT(pt_decoder_next(&decoder, &event) > 0);
	while (event.kind != PT_EVENT_PSB);
	EXPECT(pt_segment_fits(&segment, &decoder));
	decoder.clock.time++;
	EXPECT(!pt_segment_fits(&segment, &decoder));
	decoder.clock.time--;
	decoder.ip++;
	EXPECT(!pt_segment_fits(&segment, &decoder));
	pt_segment_fini(&segment);
}

TEST("a segment of too many steps fails")
{
	static const char packets[] = POINT("\0", "\x10") ROUND ROUND;
	struct pt_segment segment = { .until = UINT64_MAX };
	struct pt_event event;
	for (size_t most = 0; most < 9; most++) {
		open_trace(packets, sizeof packets - 1);
		EXPECT(pt_decoder_next(&decoder, &event) > 0);
		pt_segment_init(&segment, &decoder, true);
		segment.from = decoder.place;
		segment.steps_max = most;
		segment.bytes_max = SIZE_MAX;
		pt_segment_decode(&segment, &config);
		EXPECT_INT(pt_segment_fits(&segment, &decoder), most >= segment.steps.count);
		EXPECT(segment.steps.count <= most + 1);
	}
	EXPECT(segment.ended);
	pt_segment_fini(&segment);
}
