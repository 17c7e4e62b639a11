#include "decode/intel_pt/guest_time.h"

#include <string.h>

#include "unit.h"

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PSBEND "\x02\x23"
#define TMA_0 "\x02\x73\0\0\0\0\0"
#define HOST "\x02\x43\0\0\0\0\0\0"
#define GUEST "\x02\x43\1\0\0\0\0\0"
#define VMCS_5 "\x02\xc8\5\0\0\0\0"
#define FUP "\x7d\x00\x10\0\0\0\0"
#define AT_1000 "\x19\x00\x10\0\0\0\0\0" /* TSC packets */
#define AT_3000 "\x19\x00\x30\0\0\0\0\0"
#define AT_7000 "\x19\x00\x70\0\0\0\0\0"
/* The host's TSC is 0x1000 at the start and, one tick of the crystal (8 of an MTC packet) later, 0x2000. */
#define START PSB AT_1000 TMA_0 HOST VMCS_5 FUP PSBEND
#define TICK "\x59\1"
#define TMA_8 "\x02\x73\x08\0\0\0\0"

struct seen {
	uint8_t bytes[256];
	size_t pieces[2];            /* where each begins in bytes */
	unsigned changes, remarks;
	enum pt_guest_remark remark;
	uint64_t vmcs, ticks;
};

static void on_change(void *context, size_t piece, size_t at, uint8_t value)
{
	struct seen *seen = context;
	seen->bytes[seen->pieces[piece] + at] = value;
	seen->changes++;
}

static void on_remark(void *context, enum pt_guest_remark remark, uint64_t vmcs, uint64_t ticks)
{
	struct seen *seen = context;
	seen->remark = remark;
	seen->remarks++;
	seen->vmcs = vmcs;
	seen->ticks = ticks;
}

static struct seen correct(const char *packets, size_t len, size_t cut, uint64_t usual)
{
	static const struct pt_config config = { .clock = { .mtc_shift = 3, .ctc_numerator = 0x200, .ctc_denominator = 1 } };
	struct seen seen = { .pieces = { 0, cut }, .remark = -1u };
	memcpy(seen.bytes, packets, len);
	const struct pt_piece pieces[2] = { { .bytes = { (const uint8_t *)packets, cut }, .near = 0x100000 },
		{ .bytes = { (const uint8_t *)packets + cut, len - cut }, .near = 0x100000, .follows = true } };
	struct pt_guest_times times = { .usual = usual, .change = on_change, .remark = on_remark, .context = &seen };
	pt_guest_times_run(&times, &config, pieces, 2);
	pt_guest_times_fini(&times);
	return seen;
}
#define CORRECTED(text, cut, usual) correct(text, sizeof(text) - 1, cut, usual)
#define EXPECT_BYTES(seen, text) EXPECT(memcmp((seen).bytes, text, sizeof(text) - 1) == 0)

TEST("the offset of a guest's time is found where its PSB+ lies, by the ticks of the crystal, and taken away from its packets")
{
	static const char found[] = START TICK PSB "\x19\x00\x20\0\0\0\0\0" TMA_8 GUEST VMCS_5 FUP PSBEND;
	size_t len = sizeof found - 1;
	for (size_t cut = 0; cut <= len; cut++) {
		struct seen seen = CORRECTED(START TICK PSB AT_7000 TMA_8 GUEST VMCS_5 FUP PSBEND, cut, 0);
		EXPECT_INT(seen.changes, 7);
		EXPECT_BYTES(seen, found);
		EXPECT_INT(seen.remark, PT_GUEST_OFFSET);
		EXPECT_INT(seen.vmcs, 5);
		EXPECT_INT(seen.ticks, 0x5000);
	}
}

TEST("the host's packets are not changed, and a guest's not without a counter of the crystal")
{
	EXPECT_INT(CORRECTED(START TICK PSB AT_3000 TMA_8 HOST VMCS_5 FUP PSBEND, 9, 0x5000).changes, 0);
	struct seen seen = CORRECTED(START TICK PSB AT_7000 GUEST VMCS_5 FUP PSBEND PSB AT_7000 GUEST VMCS_5 FUP PSBEND, 9, 0x5000);
	EXPECT_INT(seen.changes, 0);
	EXPECT_INT(seen.remark, PT_GUEST_NO_TMA);
	EXPECT_INT(seen.remarks, 1); /* however many there are */
}

TEST("the first packet of a trace that begins in a guest is corrected by an offset that the user knows")
{
	struct seen seen = CORRECTED(PSB AT_7000 TMA_0 GUEST VMCS_5 FUP PSBEND, 9, 0x4000);
	EXPECT_BYTES(seen, PSB AT_3000 TMA_0 GUEST VMCS_5 FUP PSBEND);
	seen = CORRECTED(PSB AT_7000 TMA_0 GUEST VMCS_5 FUP PSBEND, 9, 0);
	EXPECT_INT(seen.changes, 0);
	EXPECT_INT(seen.remark, PT_GUEST_FIRST);
}
