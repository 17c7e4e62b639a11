/* For tests of the decoder: code of a few bytes at 0x1000, and a trace of it, both as texts. Each test program has its own. */
#pragma once
#include "decode/intel_pt/decoder.h"
#include "unit.h"

static struct pt_code code;

static bool locate(void *context, uint64_t ip, struct pt_range *range)
{
	(void)context;
	*range = (struct pt_range){ .start = 0x1000, .end = 0x2000, .base = 0x1000, .code = &code };
	return ip >= 0x1000 && ip < 0x2000;
}

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PSBEND "\x02\x23"
#define AT_1000 "\x7d\x00\x10\0\0\0\0" /* FUP */
#define BEGIN PSB AT_1000 PSBEND

static struct pt_decoder decoder;
static struct pt_piece pieces[4];

static void open_trace(const char *instructions, size_t code_len, const char *packets, size_t len)
{
	static const struct pt_config config = { .return_compression = true, .locate = locate, .loop_max = 100 };
	pt_code_fini(&code);
	code = (struct pt_code){ .bytes = (const uint8_t *)instructions, .size = code_len };
	pieces[0] = (struct pt_piece){ .bytes = { (const uint8_t *)packets, len } };
	pt_decoder_init(&decoder, &config, pieces, 1);
}
#define OPEN(instructions, packets) open_trace(instructions, sizeof(instructions) - 1, packets, sizeof(packets) - 1)
