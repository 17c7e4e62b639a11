#include "decode/intel_pt/segment.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOPS = 50, HEAD = 4, PAGE = 0x1000, SEEN_MAX = 8192, AHEAD = 3 };

static struct pt_code code;

/* The code repeats from page to page, so that addresses of any page exist; below 4 GB, where 32-bit code can be, too. */
static bool locate(void *context, uint64_t ip, struct pt_range *range)
{
	(void)context;
	uint64_t page = ip & ~(uint64_t)(PAGE - 1);
	if (page == 2 * PAGE || page >> 32)
		return false;
	*range = (struct pt_range){ .start = page, .end = page + PAGE, .base = page, .code = page ? &code : NULL };
	return true;
}

/* An event, or a call. */
struct seen {
	uint64_t kind, from, to, payload, extra, time, cycles, instructions;
};

/* Either all that the trace has is stored, or what its parts have is compared with it. */
struct decoding {
	struct pt_decoder decoder;
	struct pt_segment *segment; /* of calls; NULL: the decoder's */
	struct seen *seen;
	size_t count;
	bool compares;
};

static void see(struct decoding *run, const struct seen *seen)
{
	if (run->count == SEEN_MAX)
		return;
	if (!run->compares)
		run->seen[run->count] = *seen;
	else if (memcmp(&run->seen[run->count], seen, sizeof *seen) != 0)
		abort();
	run->count++;
}

static void see_event(struct decoding *run, const struct pt_event *event, const struct pt_moment *moment, uint64_t instructions)
{
	see(run, &(struct seen){ event->kind, event->from, event->to, event->payload, event->extra, moment->time, moment->cycles, instructions });
}

static void see_call(struct decoding *run, bool is_return, uint64_t from, uint64_t to, uint64_t time)
{
	see(run, &(struct seen){ is_return ? 101 : 100, from, to, 0, 0, time, 0, 0 });
}

static void note_call(void *context, bool is_return, uint64_t from, uint64_t to, unsigned size)
{
	struct decoding *run = context;
	if (run->segment)
		pt_segment_call(run->segment, is_return, from, to, size);
	else
		see_call(run, is_return, from, to, run->decoder.time);
}

static bool next_event(struct decoding *run, struct pt_event *event)
{
	if (run->count == SEEN_MAX || pt_decoder_next(&run->decoder, event) <= 0)
		return false;
	const struct pt_moment moment = pt_moment_of(&run->decoder);
	see_event(run, event, &moment, run->decoder.instructions);
	return true;
}

/* Delivers what a segment has, if it is what follows the decoder. */
static bool take_segment(struct decoding *run, const struct pt_segment *segment)
{
	if (!pt_segment_fits(segment, &run->decoder))
		return false;
	size_t call = 0;
	for (size_t i = 0; i <= segment->steps.count; i++) {
		const struct pt_step *step = i < segment->steps.count ? &segment->steps.items[i] : NULL;
		for (; call < (step ? step->calls : segment->calls.count); call++) {
			const struct pt_call *c = &segment->calls.items[call];
			see_call(run, c->is_return, c->from, c->to, c->time);
		}
		if (!step || !pt_segment_has(segment, i, &run->decoder))
			continue;
		const struct pt_moment moment = pt_segment_moment(segment, step, &run->decoder);
		see_event(run, &step->event, &moment, run->decoder.instructions + step->instructions);
	}
	pt_segment_pass(segment, &run->decoder);
	return true;
}

/* At a synchronization point: the next ones begin segments. False: the trace ends. */
static bool decode_ahead(struct decoding *run, uint64_t bytes)
{
	static struct pt_segment segments[AHEAD];
	struct pt_place from = run->decoder.place, next;
	size_t count = 0, taken = 0;
	for (bool more = true; more && count < AHEAD; from = next, count++) {
		struct pt_segment *segment = &segments[count];
		pt_segment_init(segment, &run->decoder, count == 0);
		segment->steps_max = SEEN_MAX;
		segment->bytes_max = SIZE_MAX;
		segment->from = segment->warm = from;
		if (count && !pt_segment_cut(&run->decoder, from.position > 2 * bytes ? from.position - 2 * bytes : 0, &segment->warm))
			break;
		more = pt_segment_cut(&run->decoder, from.position + bytes, &next);
		segment->until = more ? next.position : UINT64_MAX;
		run->segment = segment;
		pt_segment_decode(segment, &run->decoder.config);
	}
	run->segment = NULL;
	bool ended = false;
	while (taken < count && !ended && take_segment(run, &segments[taken]))
		ended = segments[taken++].ended;
	for (size_t i = 0; i < AHEAD; i++)
		pt_segment_fini(&segments[i]);
	return !ended;
}

static void decode(struct decoding *run, uint64_t bytes)
{
	bool more = true;
	for (struct pt_event event; more && next_event(run, &event);)
		if (bytes && event.kind == PT_EVENT_PSB)
			more = decode_ahead(run, bytes);
}

/* Four bytes of options and sizes, code, then the packets in two pieces. Whatever they are, segments that fit have what the trace has. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < HEAD)
		return 0;
	uint8_t options = data[0];
	size_t code_len = data[1] < size - HEAD ? data[1] : size - HEAD, rest = size - HEAD - code_len, first = data[2] < rest ? data[2] : rest;
	const uint8_t *packets = data + HEAD + code_len;
	const struct pt_piece pieces[2] = { { .bytes = { packets, first }, .near = 0x1234567890 },
		{ .bytes = { packets + first, rest - first }, .follows = options & 0x10 } };
	struct decoding *run = calloc(1, sizeof *run);
	struct seen *seen = calloc(SEEN_MAX, sizeof *seen);
	if (!run || !seen)
		abort();
	code = (struct pt_code){ .bytes = data + HEAD, .size = code_len, .blocks_max = 64 };
	for (unsigned pass = 0; pass < 2; pass++) {
		const struct pt_config config = { .return_compression = options & 1, .paging = true, .locate = locate, .loop_max = LOOPS, .context = run,
			.call = note_call, .clock = { .mtc_shift = data[3] & 15, .ctc_numerator = data[3] >> 4 ? 308 : 0,
			.ctc_denominator = 2, .non_turbo_ratio = data[3] >> 5 } };
		*run = (struct decoding){ .seen = seen, .compares = pass == 1 };
		pt_decoder_init(&run->decoder, &config, pieces, 2);
		run->decoder.errors_only = options & 0x20;
		run->decoder.calls_only = !run->decoder.errors_only && options & 0x40;
		run->decoder.pause = UINT64_MAX;
		if (options & 0x80)
			run->decoder.tick_period = 1 << 14;
		else if (options & 2)
			run->decoder.stop_at = run->decoder.stop_every = 1;
		decode(run, pass ? 1 + data[3] : 0);
	}
	free(seen);
	free(run);
	pt_code_fini(&code);
	return 0;
}
