/* Events that decoders of hardware traces add to recordings: payloads of Intel PT's packets. Source of the layouts:
 * tools/perf/util/event.h, "perf_synth_intel_*". */
#include <ctype.h>

#include "script/internal.h"

enum synth_event {
	SYNTH_PTWRITE, SYNTH_MWAIT, SYNTH_PWRE, SYNTH_EXSTOP, SYNTH_PWRX, SYNTH_CBR, SYNTH_PSB, SYNTH_EVT, SYNTH_IFLAG_CHANGE,
};

enum { SYNTH_WIDTH = 34, EVD_BYTES = 16 };

static unsigned bits(uint64_t word, unsigned from, unsigned count)
{
	return (unsigned)(word >> from & ((UINT64_C(1) << count) - 1));
}

/* The payload if it is printable text, padded with NULs; otherwise "". */
static const char *payload_text(uint64_t payload, char text[static 9])
{
	size_t len = 0;

	memcpy(text, &payload, 8);
	text[8] = '\0';
	while (len < 8 && text[len] && isascii((unsigned char)text[len]) && isprint((unsigned char)text[len]))
		len++;
	for (size_t i = len; i < 8; i++)
		if (text[i])
			return "";
	return text;
}

static void print_cbr(struct writer *out, uint32_t flags, uint32_t frequency)
{
	unsigned ratio = bits(flags, 0, 8), nominal = bits(flags, 16, 8);

	writer_printf(out, " cbr: %2u freq: %4u MHz ", ratio, (frequency + 500) / 1000);
	if (nominal)
		writer_printf(out, "(%3u%%) ", (5 + 1000 * ratio / nominal) / 10);
}

/* An event packet, and the data packets that came with it. */
static void print_event_packet(struct writer *out, uint32_t head, struct cursor *c)
{
	static const char *const events[32] = {
		[1] = "INTR", "IRET", "SMI", "RSM", "SIPI", "INIT", "VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN", [12] = "UINTR", "UIRET",
	};
	static const char *const data[64] = { "PFA", "VMXQ", "VMXR" };
	unsigned type = bits(head, 0, 5), count = bits(head, 16, 16);

	if (events[type])
		writer_printf(out, " cfe: %s", events[type]);
	else
		writer_printf(out, " cfe: %u", type);
	writer_printf(out, " IP: %u vector: %u", bits(head, 7, 1), bits(head, 8, 8));
	for (unsigned i = 0; i < count && cursor_left(c) >= EVD_BYTES; i++) {
		unsigned kind = (unsigned)take_u64(c) & 0x3f;
		uint64_t payload = take_u64(c);
		if (data[kind])
			writer_printf(out, " %s: %#llx", data[kind], (unsigned long long)payload);
		else
			writer_printf(out, " EVD_%u: %#llx", kind, (unsigned long long)payload);
	}
}

static void print_payload(struct writer *out, uint64_t config, uint32_t head, uint64_t payload, struct cursor *rest)
{
	char text[9];

	switch (config) {
	case SYNTH_PTWRITE:
		writer_printf(out, " IP: %u payload: %#llx %s ", bits(head, 0, 1), (unsigned long long)payload,
			payload_text(payload, text));
		break;
	case SYNTH_MWAIT:
		writer_printf(out, " hints: %#x extensions: %#x ", bits(payload, 0, 8), bits(payload, 32, 2));
		break;
	case SYNTH_PWRE:
		writer_printf(out, " hw: %u cstate: %u sub-cstate: %u ", bits(payload, 7, 1), bits(payload, 12, 4), bits(payload, 8, 4));
		break;
	case SYNTH_EXSTOP:
		writer_printf(out, " IP: %u ", bits(head, 0, 1));
		break;
	case SYNTH_PWRX:
		writer_printf(out, " deepest cstate: %u last cstate: %u wake reason: %#x ", bits(payload, 0, 4), bits(payload, 4, 4),
			bits(payload, 8, 4));
		break;
	case SYNTH_CBR:
		print_cbr(out, head, (uint32_t)payload);
		break;
	case SYNTH_PSB:
		writer_printf(out, " psb offs: %#llx", (unsigned long long)payload);
		break;
	case SYNTH_EVT:
		print_event_packet(out, head, rest);
		break;
	case SYNTH_IFLAG_CHANGE:
		writer_printf(out, " IFLAG: %d->%d %s branch", !bits(head, 0, 1), bits(head, 0, 1), bits(head, 1, 1) ? "via" : "non");
		break;
	}
}

void print_synth(const struct listing_line *line, const struct field_row *row)
{
	const struct sample *sample = line->r->sample;
	uint64_t config = line->r->evsel->attr.config;
	struct cursor c = cursor_of(sample->raw, sample->raw ? sample->raw_size : 0, false);
	uint32_t head = take_u32(&c);
	struct cursor rest = c;
	uint64_t payload = take_u64(&c);
	bool short_form = config == SYNTH_EXSTOP || config == SYNTH_EVT;
	struct writer *out = line->out;

	if (short_form ? rest.short_read : c.short_read)
		return;
	size_t start = out->len;
	print_payload(out, config, head, payload, &rest);
	size_t len = out->len - start;
	if (len && len < SYNTH_WIDTH)
		writer_pad(out, ' ', SYNTH_WIDTH - len);
}

struct cell synth_cell(const struct listing_line *line)
{
	return listing_printed_cell(line, print_synth);
}
