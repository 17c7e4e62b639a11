#include "decode/intel_pt/decoder.h"
#include "decode/intel_pt/guest_time.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOPS = 50, HEAD = 4, PAGE = 0x1000, SPAN = 1024 };

static struct pt_code code;

/* The code repeats from page to page, so that addresses of any page exist. */
static bool locate(void *context, uint64_t ip, struct pt_range *range)
{
	(void)context;
	uint64_t page = ip & ~(uint64_t)(PAGE - 1);
	*range = (struct pt_range){ .start = page, .end = page + PAGE, .base = page, .code = page ? &code : NULL };
	return page != 2 * PAGE;
}

static void count_call(void *context, bool is_return, uint64_t from, uint64_t to, unsigned size)
{
	(void)context;
	(void)is_return;
	(void)from;
	(void)to;
	(void)size;
}

static void check_change(void *context, size_t piece, size_t at, uint8_t value)
{
	const struct pt_piece *pieces = context;
	(void)value;
	if (piece > 1 || at >= pieces[piece].bytes.len)
		abort();
}

/* Four bytes of options and sizes, code, then the packets in two pieces. Whatever they are, the work for a packet is bounded: it executes
 * at most a block for each direct branch or piece of straight code. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < HEAD)
		return 0;
	uint8_t options = data[0];
	size_t code_len = data[1] < size - HEAD ? data[1] : size - HEAD, rest = size - HEAD - code_len, first = data[2] < rest ? data[2] : rest;
	const uint8_t *packets = data + HEAD + code_len;
	struct pt_config config = { .return_compression = options & 1, .interrupts = options & 2, .paging = options & 2,
		.quick = options >> 2 & 3, .locate = locate, .loop_max = LOOPS,
		.clock = { .mtc_shift = data[3] & 15, .ctc_numerator = data[3] >> 4 ? 308 : 0, .ctc_denominator = 2,
			.non_turbo_ratio = data[3] >> 5 } };
	const struct pt_piece pieces[2] = { { .bytes = { packets, first }, .near = 0x1234567890 },
		{ .bytes = { packets + first, rest - first }, .follows = options & 0x10 } };
	code = (struct pt_code){ .bytes = data + HEAD, .size = code_len, .blocks_max = 64 };
	struct pt_guest_times times = { .usual = data[3], .change = check_change, .context = (void *)(uintptr_t)pieces };
	pt_guest_times_run(&times, &config, pieces, 2);
	pt_guest_times_fini(&times);
	struct pt_decoder *decoder = malloc(sizeof *decoder);
	if (!decoder)
		abort();
	pt_decoder_init(decoder, &config, pieces, 2);
	decoder->errors_only = options & 0x20;
	decoder->calls_only = !decoder->errors_only && data[3] & 1;
	decoder->config.call = data[3] & 2 ? count_call : NULL;
	decoder->pause = options & 0x40 ? 0x1234567890 : UINT64_MAX;
	if (options & 0x80)
		decoder->tick_period = 100;
	else
		decoder->stop_at = 7;
	uint64_t events = 0, most = (size + 1) * 64 * (LOOPS + 2) * 64;
	for (struct pt_event event; pt_decoder_next(decoder, &event) > 0; events++) {
		if (event.kind == PT_EVENT_INSTRUCTION && !decoder->tick_period)
			decoder->stop_at = decoder->instructions + 1 + data[3];
		if (events > most || decoder->return_count > PT_RETURNS || decoder->waiting_count > 8)
			abort();
		if (events % 97 == 96)
			pt_decoder_forget(decoder);
	}
	if (decoder->instructions > most * SPAN)
		abort();
	free(decoder);
	pt_code_fini(&code);
	return 0;
}
