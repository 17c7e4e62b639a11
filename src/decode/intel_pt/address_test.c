/* What the address of a FUP belongs to: an interrupt, from which a branch leads, or another packet. */
#include "decode/intel_pt/trace_test.h"

static struct pt_event next(unsigned kind)
{
	struct pt_event event = { .kind = 255 };
	pt_decoder_next(&decoder, &event);
	EXPECT_INT(event.kind, kind);
	return event;
}

static void expect_branch(uint64_t from, uint64_t to, bool async)
{
	struct pt_event event = next(PT_EVENT_BRANCH);
	EXPECT_INT(event.from, from);
	EXPECT_INT(event.to, to);
	EXPECT_INT(event.async, async);
}

/* Opens a trace behind its PSB. */
#define OPEN_BEHIND_PSB(instructions, packets)                                                     \
	do {                                                                                       \
		OPEN(instructions, packets);                                                       \
		next(PT_EVENT_PSB);                                                                \
	} while (0)

TEST("an interrupt event whose packet has no address is the branch that follows; one with an address is none")
{
	/* nop; iret */
	OPEN_BEHIND_PSB("\x90\x48\xcf", BEGIN "\x02\x13\x01\x0e" "\x3d\x01\x10" "\x2d\x00\x10" "\x02\x13\x82\x00" "\x3d\x01\x10" "\x2d\x00\x10");
	EXPECT_INT(next(PT_EVENT_INTERRUPT).from, 0x1001);
	expect_branch(0x1001, 0x1000, true);
	EXPECT_INT(decoder.instructions, 1);
	EXPECT_INT(next(PT_EVENT_INTERRUPT).from, 0x1001);
	expect_branch(0x1001, 0x1000, false);
	EXPECT_INT(decoder.instructions, 3);
}

TEST("an address behind a packet of the mode is that of the interrupt flag, also if it is what it was")
{
	OPEN_BEHIND_PSB("\x90\xfb\xff\xe0", BEGIN "\x99\x01" "\x59\x05" "\x3d\x01\x10" "\x2d\x00\x10");
	EXPECT_INT(next(PT_EVENT_IFLAG).from, 0x1001);
	expect_branch(0x1002, 0x1000, false);
}

TEST("a power state that no MWAIT instruction requests has no address")
{
	OPEN_BEHIND_PSB("\x90\xff\xe0", BEGIN "\x02\x22\x80\x10" "\x3d\x01\x10" "\x2d\x00\x10"
		"\x02\xc2\x20\0\0\0\0\0\0\0" "\x02\x22\0\x10" "\x3d\x01\x10" "\x2d\x00\x10");
	next(PT_EVENT_PWRE);
	expect_branch(0x1001, 0x1000, true);
	EXPECT_INT(next(PT_EVENT_MWAIT).from, 0x1001);
	EXPECT_INT(next(PT_EVENT_PWRE).from, 0x1001);
	expect_branch(0x1001, 0x1000, false);
}

TEST("the address of a trigger is no interrupt")
{
	OPEN_BEHIND_PSB("\x90\xff\xe0", BEGIN "\xd9\x80\x01" "\x3d\x01\x10" "\x2d\x00\x10");
	EXPECT_INT(next(PT_EVENT_TRIGGER).from, 0x1001);
	expect_branch(0x1001, 0x1000, false);
}

TEST("behind an overflow, PSB+ may precede the address at which execution continues")
{
	OPEN_BEHIND_PSB("\x90\xff\xe0", BEGIN "\x02\xf3" BEGIN AT_1000 "\x2d\x00\x10");
	EXPECT_INT(next(PT_EVENT_ERROR).error, PT_ERROR_OVERFLOW);
	next(PT_EVENT_PSB);
	expect_branch(0x1001, 0x1000, false);
}

TEST("far calls and returns leave the addresses of near calls as they are")
{
	/* 1000: call 1007; jmp *%rax; 1007: lcall *(%rsp); nop; nop; ret; 100d: lret */
	OPEN_BEHIND_PSB("\xe8\x02\0\0\0\xff\xe0\x48\xff\x1c\x24\x90\xc3\x48\xcb", BEGIN "\x2d\x0d\x10" "\x2d\x0b\x10" "\x06" "\x2d\x00\x10");
	expect_branch(0x1000, 0x1007, false);
	expect_branch(0x1007, 0x100d, false);
	expect_branch(0x100d, 0x100b, false);
	expect_branch(0x100c, 0x1005, false);
	expect_branch(0x1005, 0x1000, false);
}

TEST("a far return without its call takes no address of a near call")
{
	/* 1000: call 1007; jmp *%rax; 1007: lret; ret */
	OPEN_BEHIND_PSB("\xe8\x02\0\0\0\xff\xe0\x48\xcb\xc3", BEGIN "\x2d\x09\x10" "\x06" "\x2d\x00\x10");
	expect_branch(0x1000, 0x1007, false);
	expect_branch(0x1007, 0x1009, false);
	expect_branch(0x1009, 0x1005, false);
}

TEST("a written value has an address where its packet says so")
{
	OPEN_BEHIND_PSB("\xf3\x0f\xae\xe0\xff\xe0", BEGIN "\x02\x92\5\0\0\0" "\x3d\x00\x10" "\x02\x12\6\0\0\0" "\x2d\x00\x10");
	struct pt_event event = next(PT_EVENT_PTWRITE);
	EXPECT_INT(event.apart, 1);
	EXPECT_INT(event.payload, 5);
	event = next(PT_EVENT_PTWRITE);
	EXPECT_INT(event.apart, 0);
	EXPECT_INT(event.from, 0x1000);
	expect_branch(0x1004, 0x1000, false);
}
