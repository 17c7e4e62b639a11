#include <string.h>

#include "decode/intel_pt/trace_test.h"

static struct pt_event next(void)
{
	struct pt_event event = { .kind = 255 };
	if (pt_decoder_next(&decoder, &event) <= 0)
		event.kind = 255;
	return event;
}

static void expect_branch(uint64_t from, uint64_t to)
{
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_BRANCH);
	EXPECT_INT(event.from, from);
	EXPECT_INT(event.to, to);
}

TEST("a bit decides each conditional jump; only taken ones are branches")
{
	/* 1000: jz 1004; nop; nop; 1004: jz 1000 */
	OPEN("\x74\x02\x90\x90\x74\xfa", BEGIN "\x1a"); /* N T T: the stop bit, then 0 1 1 → 1 101 0 */
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	expect_branch(0x1000, 0x1004);
	EXPECT_INT(decoder.instructions, 1);
	EXPECT_INT(next().kind, PT_EVENT_ERROR); /* not taken at 1004: the code ends at 1006 */
	EXPECT_INT(decoder.instructions, 2);
}

TEST("an indirect jump needs an address, a syscall without one ends the trace")
{
	/* 1000: jmp *%rax; 1002: syscall */
	OPEN("\xff\xe0\x0f\x05", BEGIN "\x2d\x02\x10" "\x01");
	next();
	expect_branch(0x1000, 0x1002);
	struct pt_event event = next();
	EXPECT_INT(event.branch, INSTRUCTION_SYSCALL);
	EXPECT(event.ends && !event.async);
	EXPECT_INT(event.from, 0x1002);
	EXPECT_INT(event.to, 0);
	EXPECT(!decoder.tracing);
	EXPECT_INT(next().kind, 255);
}

TEST("a return whose target is compressed goes behind its call")
{
	/* 1000: call 1006; 1005: ret; 1006: ret */
	OPEN("\xe8\x01\0\0\0\xc3\xc3", BEGIN "\x06");
	next();
	expect_branch(0x1000, 0x1006);
	expect_branch(0x1006, 0x1005);
}

TEST("a return is not compressed where no call precedes it: its address is deferred")
{
	OPEN("\xc3\x74\xfe", BEGIN "\x06\x2d\x01\x10");
	next();
	expect_branch(0x1000, 0x1001);
	expect_branch(0x1001, 0x1001);
	OPEN("\xc3", BEGIN "\x06\x06");
	next();
	EXPECT_INT(next().error, PT_ERROR_MISMATCH);
}

TEST("a compressed return whose call was in code that is not known is an error, and branches there are counted")
{
	/* 1000: call *%rax; 1002: ret; 0x3000 is not mapped */
	OPEN("\xff\xd0\xc3", BEGIN "\x2d\x00\x30" "\x0e" "\x6d\x02\x10\0\0\0\0" "\x06" "\x06" BEGIN);
	next();
	expect_branch(0x1000, 0x3000);
	EXPECT_INT(next().error, PT_ERROR_NO_CODE);
	struct pt_event event = next();
	EXPECT_INT(event.to, 0x1002);
	EXPECT_INT(event.extra, 3); /* two bits, and the branch to 0x1002 */
	event = next();
	EXPECT_INT(event.error, PT_ERROR_MISMATCH);
	EXPECT(event.lacks_call);
	EXPECT_INT(event.extra, 0);
	event = next();
	EXPECT_INT(event.kind, PT_EVENT_PSB);
	EXPECT_INT(event.extra, 2);
}

TEST("behind code that is not known, a return with the bit 0 is not compressed")
{
	OPEN("\xff\xd0\xc3\x74\xfe", BEGIN "\x2d\x00\x30" "\x06" "\x6d\x02\x10\0\0\0\0" "\x04" "\x2d\x03\x10");
	next();
	expect_branch(0x1000, 0x3000);
	EXPECT_INT(next().error, PT_ERROR_NO_CODE);
	EXPECT_INT(next().to, 0x1002);
	expect_branch(0x1002, 0x1003);
}

TEST("a target behind a FUP in code that is not known may be an interrupt's, and counts as no instruction")
{
	OPEN("\xff\xd0\xc3", PSB "\x7d\x00\x30\0\0\0\0" PSBEND "\x06" "\x7d\x08\x30\0\0\0\0" "\x6d\x00\x10\0\0\0\0" BEGIN);
	next();
	EXPECT_INT(next().error, PT_ERROR_NO_CODE);
	EXPECT_INT(next().extra, 1);
	EXPECT_INT(next().error, PT_ERROR_NO_CODE);
	EXPECT_INT(next().extra, 0);
}

TEST("the bit of a compressed return is 1")
{
	OPEN("\xe8\x01\0\0\0\x90\xc3", BEGIN "\x04");
	next();
	expect_branch(0x1000, 0x1006);
	EXPECT_INT(next().error, PT_ERROR_MISMATCH);
}

TEST("a change of the interrupt flag has an address of its own, and is no interrupt")
{
	/* nop; sti; jmp *%rax */
	OPEN("\x90\xfb\xff\xe0", BEGIN "\x99\x05" "\x3d\x01\x10" "\x2d\x00\x10");
	next();
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_IFLAG);
	EXPECT_INT(event.from, 0x1001);
	EXPECT_INT(event.payload, 1);
	expect_branch(0x1002, 0x1000);
}

TEST("a packet that is cut ends where the next piece begins anew")
{
	OPEN("\xff\xe0", BEGIN "\x2d\x00");
	pieces[1] = (struct pt_piece){ .bytes = { (const uint8_t *)BEGIN "\x2d\x00\x10", 28 }, .follows = true };
	decoder.piece_count = 2;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	expect_branch(0x1000, 0x1000);
}

TEST("a call of the next instruction leaves no return address")
{
	/* 1000: call 1005; 1005: ret */
	OPEN("\xe8\0\0\0\0\xc3", BEGIN "\x2d\x00\x10");
	next();
	expect_branch(0x1000, 0x1005);
	EXPECT_INT(decoder.return_count, 0);
	expect_branch(0x1005, 0x1000);
}

TEST("an interrupt leaves before the instruction at its address, and counts the ones before it")
{
	/* five nops; FUP 1003, TIP 1000 */
	OPEN("\x90\x90\x90\x90\x90", BEGIN "\x3d\x03\x10" "\x2d\x00\x10");
	next();
	struct pt_event event = next();
	EXPECT(event.async && !event.ends);
	EXPECT_INT(event.from, 0x1003);
	EXPECT_INT(event.to, 0x1000);
	EXPECT_INT(decoder.instructions, 3);
}

TEST("a deferred address follows the bits that are left")
{
	/* 1000: jz 1002; 1002: jmp *%rax; 1004: jz 1004 */
	OPEN("\x74\x00\xff\xe0\x74\xfe", BEGIN "\x0e" "\x2d\x04\x10"); /* T T, then the TIP of the jump between them */
	next();
	expect_branch(0x1000, 0x1002);
	expect_branch(0x1002, 0x1004);
	expect_branch(0x1004, 0x1004);
}

TEST("the instruction count stops within a block, and the branch at its end follows")
{
	/* nop; nop; jmp *%rax */
	OPEN("\x90\x90\xff\xe0", BEGIN "\x2d\x00\x10");
	decoder.stop_at = 2;
	next();
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_INSTRUCTION);
	EXPECT_INT(event.from, 0x1001);
	decoder.stop_at = 3;
	event = next();
	EXPECT_INT(event.kind, PT_EVENT_INSTRUCTION);
	EXPECT_INT(event.from, 0x1002);
	decoder.stop_at = UINT64_MAX;
	expect_branch(0x1002, 0x1000);
	EXPECT_INT(decoder.instructions, 3);
}

TEST("an overflow is an error; the next FUP is where execution continues")
{
	OPEN("\x90\xff\xe0", BEGIN "\x02\xf3" "\x7d\x01\x10\0\0\0\0" "\x2d\x00\x10");
	next();
	EXPECT_INT(next().error, PT_ERROR_OVERFLOW);
	expect_branch(0, 0x1001);
	struct pt_event event = next();
	EXPECT(!event.async);
	EXPECT_INT(event.from, 0x1001);
}

TEST("a jump to itself without a packet ends")
{
	OPEN("\xeb\xfe", BEGIN "\x2d\x00\x10");
	next();
	for (unsigned i = 0; i < 100; i++)
		expect_branch(0x1000, 0x1000);
	EXPECT_INT(next().error, PT_ERROR_LOOP);
}

TEST("a packet crosses from a piece to the next that follows on it")
{
	static const char packets[] = BEGIN "\x2d\x00\x10";
	OPEN("\xff\xe0", BEGIN "\x2d\x00\x10");
	for (size_t cut = 1; cut < sizeof packets - 1; cut++) {
		static const struct pt_config config = { .return_compression = true, .locate = locate };
		pieces[0] = (struct pt_piece){ .bytes = { (const uint8_t *)packets, cut } };
		pieces[1] = (struct pt_piece){ .bytes = { (const uint8_t *)packets + cut, sizeof packets - 1 - cut }, .follows = true };
		pt_decoder_init(&decoder, &config, pieces, 2);
		EXPECT_INT(next().kind, PT_EVENT_PSB);
		expect_branch(0x1000, 0x1000);
		EXPECT_INT(next().kind, 255);
	}
}

TEST("a piece that does not follow begins at its PSB")
{
	OPEN("\xff\xe0", BEGIN "\x2d\x00");
	pieces[1] = (struct pt_piece){ .bytes = { (const uint8_t *)"\x10" BEGIN "\x2d\x00\x10", 29 } };
	decoder.piece_count = 2;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	expect_branch(0x1000, 0x1000);
}

TEST("TSC, TMA, MTC and CYC packets give the time")
{
	static const struct pt_clock_config config = { .mtc_shift = 3, .ctc_numerator = 308, .ctc_denominator = 2, .non_turbo_ratio = 37 };
	struct pt_clock clock;
	struct pt_packet packet;
	pt_clock_init(&clock, &config);
	clock.near = 0xa15a04d0000;
	packet = (struct pt_packet){ .type = PT_PACKET_TSC, .payload = 0xa15a04d50d3 };
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0xa15a04d50d3);
	packet = (struct pt_packet){ .type = PT_PACKET_TMA, .payload = 0xd051, .extra = 0x19 };
	pt_clock_packet(&clock, &packet);
	packet = (struct pt_packet){ .type = PT_PACKET_CYC, .payload = 10 };
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0xa15a04d50d3); /* the frequency is unknown */
	packet = (struct pt_packet){ .type = PT_PACKET_MTC, .payload = 0x0b };
	EXPECT(pt_clock_packet(&clock, &packet)); /* cycles are counted from here */
	/* tick 0xd051 - 1 is the multiple of 8 before TSC - 0x19; 0x0b follows 0x0a */
	EXPECT_INT(clock.time, 0xa15a04d50d3 - 0x19 - 154 + 8 * 154);
	packet = (struct pt_packet){ .type = PT_PACKET_CBR, .payload = 74 };
	pt_clock_packet(&clock, &packet);
	packet = (struct pt_packet){ .type = PT_PACKET_CYC, .payload = 100 };
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0xa15a04d50d3 - 0x19 - 154 + 8 * 154 + 50);
}

TEST("the upper bits of a TSC are those of the nearest time, and time does not go back")
{
	static const struct pt_clock_config config = { 0 };
	struct pt_clock clock;
	struct pt_packet packet = { .type = PT_PACKET_TSC, .payload = 0xfffffffffffff0 };
	pt_clock_init(&clock, &config);
	clock.near = 0x12fffffffffff000;
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0x12fffffffffffff0);
	packet.payload = 5; /* it wrapped */
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0x1300000000000005);
	packet.payload = 3;
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0x1300000000000005);
}

TEST("straight code is followed as far as direct branches in a row")
{
	enum { PTWRITES = 101 };
	static char instructions[PTWRITES * 4 + 2];
	for (size_t i = 0; i < PTWRITES; i++)
		memcpy(instructions + i * 4, "\xf3\x0f\xae\xe0", 4); /* ptwrite %eax: each ends a block */
	memcpy(instructions + sizeof instructions - 2, "\x74\xfe", 2); /* jz to itself */
	OPEN("", BEGIN "\x06");
	code = (struct pt_code){ .bytes = (const uint8_t *)instructions, .size = sizeof instructions };
	next();
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_ERROR);
	EXPECT_INT(event.error, PT_ERROR_LOOP);
	OPEN("", BEGIN "\x06");
	code = (struct pt_code){ .bytes = (const uint8_t *)instructions + 4, .size = sizeof instructions - 4 };
	next();
	expect_branch(0x1000 + (PTWRITES - 1) * 4, 0x1000 + (PTWRITES - 1) * 4);
}

TEST("the rate of cycles is measured beyond a block of items, whose bytes are no packets")
{
	static const struct pt_clock_config config = { .ctc_numerator = 100, .ctc_denominator = 1 };
	OPEN("", PSB "\x19\x00\x10\0\0\0\0\0" "\x02\x73\0\0\0\0\0" PSBEND "\x53\x59\x01" /* cycles, MTC 1: the measure begins */
		"\x02\x63\0" "\x04SSSSSSSS" "\x02\x33" /* 'S' alone is 10 cycles */
		"\x53\x59\x02");
	pt_clock_init(&decoder.clock, &config);
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	EXPECT_INT(next().kind, PT_EVENT_BLOCK);
	EXPECT(decoder.clock.rate == 10); /* 100 ticks, 10 cycles */
}

TEST("the blocks of a record stay until the next record; without branches, its address begins no flow")
{
	OPEN("", PSB PSBEND "\x02\x63\x04" "\x04" "AAAAAAAA" "\x02\x63\x01" "\x14" "BBBBBBBB" "\x02\xb3" AT_1000
		"\x02\x63\x84" "\x0c" "CCCC" "\x02\x63\x1f" "\x04" "DDDDDDDD" "\x02\x33");
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_BLOCK);
	EXPECT(event.has_ip && !decoder.ip_known);
	EXPECT_INT(event.from, 0x1000);
	EXPECT_INT(decoder.blocks[PT_BLOCKS_BASIC].present, 1);
	EXPECT_INT(decoder.blocks[PT_BLOCKS_BASIC].values[0], 0x4141414141414141);
	EXPECT_INT(decoder.blocks[PT_BLOCKS_REGISTERS].present, 1 << 2);
	EXPECT_INT(decoder.blocks[PT_BLOCKS_REGISTERS].values[2], 0x4242424242424242);
	event = next();
	EXPECT_INT(event.kind, PT_EVENT_BLOCK);
	EXPECT(!event.has_ip);
	EXPECT_INT(decoder.blocks[PT_BLOCKS_BASIC].present, 1 << 1);
	EXPECT_INT(decoder.blocks[PT_BLOCKS_BASIC].values[1], 0x43434343);
	EXPECT_INT(decoder.blocks[PT_BLOCKS_REGISTERS].present, 0);
	EXPECT_INT(next().kind, 255);
}

TEST("an instruction that is asked for again is that of the offset and the mode")
{
	static const uint8_t bytes[PT_CODE_KNOWN + 2] = { 0x48, 0x89, 0xd8, [PT_CODE_KNOWN] = 0xeb, 0x10 };
	struct pt_code known = { .bytes = bytes, .size = sizeof bytes };
	for (unsigned i = 0; i < 2; i++) {
		struct instruction instruction = { 0 };
		EXPECT(pt_code_known(&known, 0, 64, &instruction));
		EXPECT_INT(instruction.size, 3);
		EXPECT(pt_code_known(&known, 0, 32, &instruction));
		EXPECT_INT(instruction.size, 1);
		for (unsigned j = 0; j < 2; j++) {
			EXPECT(pt_code_known(&known, PT_CODE_KNOWN, 64, &instruction));
			EXPECT_INT(instruction.kind, INSTRUCTION_JUMP);
			EXPECT_INT(instruction.displacement, 0x10);
		}
		EXPECT(!pt_code_known(&known, PT_CODE_KNOWN + 1, 64, &instruction));
		EXPECT(!pt_code_known(&known, sizeof bytes, 64, &instruction));
	}
	pt_code_fini(&known);
}

TEST("blocks of code are dropped at their limit, and counted for several codes")
{
	static const uint8_t returns[4] = { 0xc3, 0xc3, 0xc3, 0xc3 };
	size_t total = 0;
	struct pt_code one = { .bytes = returns, .size = 4, .blocks_max = 2, .blocks_total = &total }, other = one;
	pt_code_block(&one, 0, 64);
	pt_code_block(&one, 1, 64);
	pt_code_block(&other, 0, 64);
	EXPECT_INT(pt_code_block(&one, 1, 64), 1);
	EXPECT_INT(total, 3);
	EXPECT_INT(one.generation, 0);
	EXPECT_INT(pt_code_block(&one, 2, 64), 0);
	EXPECT_INT(one.generation, 1);
	EXPECT_INT(total, 2);
	pt_code_drop(&one);
	EXPECT_INT(one.generation, 2);
	pt_code_fini(&other);
	EXPECT_INT(total, 0);
}

TEST("code before the address in PSB+ is executed before the PSB")
{
	/* 1000: jmp 1002; 1002: nop; 1003: jmp *%rax */
	OPEN("\xeb\x00\x90\xff\xe0", BEGIN PSB "\x7d\x03\x10\0\0\0\0" PSBEND "\x2d\x00\x10");
	next();
	expect_branch(0x1000, 0x1002);
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_PSB);
	EXPECT_INT(event.from, 0x1003);
	EXPECT_INT(decoder.instructions, 2);
	expect_branch(0x1003, 0x1000);
}

TEST("an address in PSB+ that is not reached is an error, and decoding continues there")
{
	OPEN("\x74\xfe\xff\xe0", BEGIN PSB "\x7d\x02\x10\0\0\0\0" PSBEND "\x2d\x00\x10"); /* 1000: jz 1000 needs a bit */
	next();
	EXPECT_INT(next().error, PT_ERROR_MISMATCH);
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_PSB);
	EXPECT_INT(event.payload, 25);
	EXPECT_INT(event.from, 0);
	expect_branch(0x1002, 0x1000);
}

TEST("a PSB behind which tracing begins anew does not continue the code before it")
{
	OPEN("\x74\xfe\xff\xe0", BEGIN PSB "\x7d\x02\x10\0\0\0\0" PSBEND "\x71\x02\x10\0\0\0\0" "\x2d\x00\x10");
	next();
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	EXPECT(next().begins);
	expect_branch(0x1002, 0x1000);
}

TEST("another ratio of the core's frequency is an event; in PSB+ it is not")
{
	OPEN("\xff\xe0", PSB "\x02\x03\x20\0" AT_1000 PSBEND "\x02\x03\x20\0" "\x02\x03\x21\0" "\x2d\x00\x10" "\x01" "\x02\x03\x22\0");
	next();
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_CBR);
	EXPECT_INT(event.payload, 0x21);
	EXPECT_INT(event.from, 0x1000);
	expect_branch(0x1000, 0x1000);
	expect_branch(0x1000, 0);
	EXPECT_INT(next().from, 0x1000); /* where tracing ended */
}

TEST("where branches are not needed, those from the time of the pause on are delivered")
{
	static const struct pt_clock_config config = { .ctc_numerator = 100, .ctc_denominator = 1 };
	OPEN("\xff\xe0", PSB "\x19\x00\x10\0\0\0\0\0" "\x02\x73\0\0\0\0\0" AT_1000 PSBEND
		"\x2d\x00\x10" "\x59\x01" "\x2d\x00\x10" "\x59\x02" "\x2d\x00\x10");
	pt_clock_init(&decoder.clock, &config);
	decoder.errors_only = true;
	decoder.pause = 0x1000 + 200;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	expect_branch(0x1000, 0x1000);
	EXPECT_INT(decoder.time, 0x1000 + 200);
	EXPECT_INT(next().kind, 255);
}

TEST("cycles of code that is not traced are not counted, but the branch behind them is timed")
{
	OPEN("\xff\xe0", BEGIN "\x53" "\x01" "\x53" "\x71\x00\x10\0\0\0\0" "\x2d\x00\x10");
	next();
	EXPECT(next().timed);
	EXPECT_INT(decoder.exact_cycles, 10);
	struct pt_event event = next();
	EXPECT(event.begins && event.timed);
	EXPECT_INT(decoder.exact_cycles, 10);
	EXPECT(!next().timed);
}

TEST("a change of frequency begins a new count of cycles, whose sum with the time is rounded")
{
	static const struct pt_clock_config config = { .non_turbo_ratio = 37 };
	struct pt_clock clock;
	struct pt_packet packet = { .type = PT_PACKET_TSC, .payload = 0xa15a055a410 };
	pt_clock_init(&clock, &config);
	clock.near = 0xa15a055a410;
	pt_clock_packet(&clock, &packet);
	packet = (struct pt_packet){ .type = PT_PACKET_CBR, .payload = 37 };
	pt_clock_packet(&clock, &packet);
	packet = (struct pt_packet){ .type = PT_PACKET_CYC, .payload = 100 };
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0xa15a055a410 + 100);
	packet = (struct pt_packet){ .type = PT_PACKET_CBR, .payload = 74 };
	pt_clock_packet(&clock, &packet);
	packet = (struct pt_packet){ .type = PT_PACKET_CYC, .payload = 100 };
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0xa15a055a410 + 150);
	clock.cycle_time = 0xa15a055a410;
	clock.cycle_count = 0;
	clock.rate = 0.78722;
	packet.payload = 47; /* 36.9993 ticks: the sum has 9 bits of a fraction */
	clock.time = clock.cycle_time;
	pt_clock_packet(&clock, &packet);
	EXPECT_INT(clock.time, 0xa15a055a410 + 37);
}

TEST("without code, addresses in packets are instructions, and an interrupt is a branch between two of them")
{
	OPEN("", BEGIN "\x1a" "\x2d\x05\x10" "\x3d\x07\x10" "\x2d\x09\x10" "\x01");
	decoder.config.quick = 1;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	static const uint64_t instructions[] = { 0x1000, 0x1005, 0x1007 };
	for (size_t i = 0; i < 3; i++) {
		struct pt_event event = next();
		EXPECT_INT(event.kind, PT_EVENT_INSTRUCTION);
		EXPECT_INT(event.from, instructions[i]);
	}
	expect_branch(0x1007, 0x1009);
	EXPECT_INT(next().from, 0x1009);
	EXPECT_INT(next().kind, 255);
	EXPECT(!decoder.tracing);
}

TEST("without code, an address after the end of tracing begins it anew")
{
	/* TIP.PGD, TIP, FUP and TIP */
	OPEN("", BEGIN "\x01" "\x2d\x05\x10" "\x3d\x07\x10" "\x2d\x09\x10");
	decoder.config.quick = 1;
	next();
	EXPECT_INT(next().from, 0x1000);
	EXPECT_INT(next().from, 0x1005);
	struct pt_event event = next();
	EXPECT(event.kind == PT_EVENT_INSTRUCTION && event.from == 0x1007);
	expect_branch(0x1007, 0x1009);
	EXPECT_INT(next().from, 0x1009);
	EXPECT_INT(next().kind, 255);
}

TEST("without code, transactions begin and are aborted at the addresses in packets")
{
	/* MODE.TSX: in a transaction; FUP; MODE.TSX: aborted; FUP, TIP */
	OPEN("", BEGIN "\x99\x21" "\x3d\x07\x10" "\x99\x22" "\x3d\x09\x10" "\x2d\x05\x10");
	decoder.config.quick = 1;
	next();
	EXPECT_INT(next().from, 0x1000);
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_INSTRUCTION);
	EXPECT_INT(event.from, 0x1007);
	EXPECT(event.in_transaction && !event.async);
	event = next();
	EXPECT_INT(event.kind, PT_EVENT_TSX);
	EXPECT(event.in_transaction && !event.aborts && event.from == 0x1007);
	event = next();
	EXPECT_INT(event.kind, PT_EVENT_INSTRUCTION);
	EXPECT(event.aborts && event.from == 0x1009 && event.to == 0x1005);
	event = next();
	EXPECT_INT(event.kind, PT_EVENT_TSX);
	EXPECT(event.aborts && event.from == 0x1009);
	event = next();
	EXPECT_INT(event.kind, PT_EVENT_BRANCH);
	EXPECT(event.aborts && event.from == 0x1009 && event.to == 0x1005);
	EXPECT_INT(next().from, 0x1005);
	EXPECT_INT(next().kind, 255);
}

TEST("quicker still, only the addresses in PSB+ are instructions")
{
	OPEN("", BEGIN "\x2d\x05\x10" "\x2d\x06\x10" PSB "\x7d\x08\x10\0\0\0\0" PSBEND);
	decoder.config.quick = 2;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	EXPECT_INT(next().from, 0x1000);
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	EXPECT_INT(next().from, 0x1008);
	EXPECT_INT(next().kind, 255);
}

TEST("data packets belong to the interrupt event that follows them, and the interrupt flag to each event")
{
	/* EVD type 1: 5; CFE 1, vector 14, with an address; MODE: flag on; TIP: flag off */
	OPEN("\xff\xe0", BEGIN "\x02\x53\x01\5\0\0\0\0\0\0\0" "\x02\x13\x81\x0e" "\x3d\x00\x10" "\x99\x05" "\x2d\x00\x10"
		"\x02\x13\x82\0" "\x3d\x00\x10");
	decoder.config.interrupts = true;
	next();
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_INTERRUPT);
	EXPECT_INT(event.extra, 14);
	EXPECT(event.interrupts_off && !event.interrupts_toggled);
	EXPECT_INT(decoder.interrupt_data_count, 1);
	EXPECT_INT(decoder.interrupt_data[0].type, 1);
	EXPECT_INT(decoder.interrupt_data[0].payload, 5);
	event = next();
	EXPECT(event.interrupts_off && event.interrupts_toggled);
	event = next();
	EXPECT_INT(event.payload, 2);
	EXPECT(!event.interrupts_off && !event.interrupts_toggled);
	EXPECT_INT(decoder.interrupt_data_count, 0);
}

static unsigned located;

/* Two pages with the same code. */
static bool locate_pages(void *context, uint64_t ip, struct pt_range *range)
{
	(void)context;
	located++;
	uint64_t page = ip & ~0xfffull;
	*range = (struct pt_range){ .start = page, .end = page + 0x1000, .base = page, .code = &code };
	return true;
}

TEST("a range that was left recently is not located again, unless the address space changed")
{
	OPEN("\xff\xe0", BEGIN "\x2d\x00\x20" "\x2d\x00\x10" "\x2d\x00\x20" "\x2d\x00\x10" "\x2d\x00\x20");
	decoder.config.locate = locate_pages;
	located = 0;
	next();
	expect_branch(0x1000, 0x2000);
	expect_branch(0x2000, 0x1000);
	expect_branch(0x1000, 0x2000);
	EXPECT_INT(located, 2);
	pt_decoder_forget(&decoder);
	expect_branch(0x2000, 0x1000);
	expect_branch(0x1000, 0x2000);
	EXPECT_INT(located, 4);
}

TEST("bits are followed without events to the instruction at which the count stops")
{
	/* 1000: jz 1000; 1002: nop; jmp 1000 */
	OPEN("\x74\xfe\x90\xeb\xfb", BEGIN "\xb6" "\xb6" "\x06"); /* 0 1 1 0 1 1, twice; 1 */
	decoder.errors_only = true;
	decoder.pause = UINT64_MAX;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	decoder.stop_at = 7;
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_INSTRUCTION);
	EXPECT_INT(event.from, 0x1002);
	decoder.stop_at = UINT64_MAX;
	EXPECT_INT(next().kind, 255);
	EXPECT_INT(decoder.instructions, 13 + 2 * 4);
	EXPECT_INT(decoder.ip, 0x1000);
}

TEST("a piece that ends with a packet is not continued by one that does not follow")
{
	OPEN("\xff\xe0", PSB);
	pieces[1] = (struct pt_piece){ .bytes = { (const uint8_t *)"\x23" BEGIN, 26 } };
	decoder.piece_count = 2;
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_PSB);
	EXPECT_INT(event.payload, 17);
	EXPECT_INT(next().kind, 255);
}

TEST("a window begins at the last PSB that is older, in any piece")
{
	enum { PIECES = 4 };
	char bytes[PIECES][2 * 26];
	struct pt_piece many[PIECES] = { 0 };
	OPEN("", "");
	for (size_t i = 0; i < 2 * PIECES; i++) {
		char *at = bytes[i / 2] + i % 2 * 26;
		memcpy(at, PSB "\x19\0\0\0\0\0\0\0" PSBEND, 26);
		at[18] = (char)(i + 1); /* times 0x100, 0x200 … */
		many[i / 2] = (struct pt_piece){ .bytes = { (const uint8_t *)bytes[i / 2], 52 }, .near = 1 };
	}
	for (uint64_t time = 0x80; time < 0x900; time += 0x80) {
		static const struct pt_config config = { .locate = locate };
		pt_decoder_init(&decoder, &config, many, PIECES);
		pt_decoder_seek(&decoder, time);
		struct pt_event event = next();
		EXPECT_INT(event.kind, PT_EVENT_PSB);
		uint64_t older = (time - 1) / 0x100;
		EXPECT_INT(event.payload, 26 * (older ? older - 1 : 0));
		EXPECT_INT(decoder.time, older ? older * 0x100 : 0x100);
	}
}

static bool locate_host(void *context, uint64_t ip, struct pt_range *range)
{
	return !decoder.non_root && locate(context, ip, range);
}

TEST("a PIP packet applies to the code behind the next branch: a guest's code is not the host's")
{
	/* vmresume; jmp *%rax */
	OPEN("\x0f\x01\xc3\xff\xe0", BEGIN "\x02\x43\x01\0\0\0\0\0" "\x2d\x03\x10" "\x3d\x04\x10"
		"\x02\x43\x00\0\0\0\0\0" "\x2d\x03\x10" "\x2d\x00\x10");
	decoder.config.locate = locate_host;
	next();
	struct pt_event event = next();
	EXPECT_INT(event.branch, INSTRUCTION_VM_ENTRY);
	EXPECT_INT(event.to, 0x1003);
	EXPECT(!event.guest && event.crosses && decoder.non_root);
	EXPECT_INT(next().error, PT_ERROR_NO_CODE);
	event = next(); /* the host goes on behind the exit, at an address that is not whole */
	EXPECT_INT(event.kind, PT_EVENT_BRANCH);
	EXPECT_INT(event.to, 0x1003);
	EXPECT(!event.guest && !decoder.non_root);
}

#define CYC_5 "\x2b"
#define PIP "\x02\x43\x00\0\0\0\0\0"

static void expect_paging(uint64_t ip, uint32_t instructions, uint64_t cycles)
{
	struct pt_event event = next();
	EXPECT_INT(event.kind, PT_EVENT_PAGING);
	EXPECT_INT(event.from, ip);
	EXPECT_INT(event.extra, instructions);
	EXPECT_INT(decoder.cycles + event.payload, cycles);
}

TEST("with paging, a PIP packet with cycles shows when the next move to CR3 is executed, and the branches behind it stay the same")
{
	/* 1000: swapgs; mov %cr3,%rax; 1006: mov %rax,%cr3; 1009: jmp *%rax */
	OPEN("\x0f\x01\xf8\x0f\x20\xd8\x0f\x22\xd8\xff\xe0", BEGIN CYC_5 PIP CYC_5 "\x2d\x00\x10" CYC_5 PIP "\x2d\x00\x10");
	decoder.config.paging = true;
	next();
	expect_paging(0x1006, 3, 5);
	EXPECT_INT(decoder.instructions, 0);
	for (uint64_t turn = 1; turn <= 2; turn++) {
		struct pt_event event = next();
		EXPECT_INT(event.kind, PT_EVENT_BRANCH);
		EXPECT_INT(event.from, 0x1009);
		EXPECT(event.timed);
		EXPECT_INT(decoder.instructions, 4 * turn);
		EXPECT_INT(decoder.exact_cycles, 5 + 5 * turn);
		if (turn == 1)
			expect_paging(0x1006, 3, 15);
	}
	EXPECT_INT(next().kind, 255);
}

TEST("the move to CR3 is found behind direct branches, but not behind those that a packet decides, and not without cycles")
{
	/* 1000: call 1006; 1005: nop; 1006: nop; mov %rax,%cr3; 100a: jmp *%rax */
	OPEN("\xe8\x01\0\0\0\x90\x90\x0f\x22\xd8\xff\xe0", BEGIN CYC_5 PIP "\x2d\x00\x10" PIP "\x2d\x00\x10");
	decoder.config.paging = true;
	next();
	expect_paging(0x1007, 3, 5);
	for (int turn = 0; turn < 2; turn++) {
		expect_branch(0x1000, 0x1006);
		expect_branch(0x100a, 0x1000);
	}
	/* 1000: jz 1002; 1002: mov %rax,%cr3 */
	OPEN("\x74\x00\x0f\x22\xd8", BEGIN CYC_5 PIP "\x06");
	decoder.config.paging = true;
	next();
	expect_branch(0x1000, 0x1002);
	/* as by default */
	OPEN("\x0f\x22\xd8\xff\xe0", BEGIN CYC_5 PIP "\x2d\x00\x10");
	next();
	expect_branch(0x1003, 0x1000);
}

TEST("with calls_only, jumps are followed without events, calls and returns are events")
{
	/* 1000: jz 1004; 1002: nop; nop; 1004: call 100b; 1009: jmp 1000; 100b: ret */
	OPEN("\x74\x02\x90\x90\xe8\x02\0\0\0\xeb\xf5\xc3", BEGIN "\x1e" "\x1e"); /* 1 1 1, twice: taken, returns, taken … */
	decoder.config.return_compression = true;
	decoder.calls_only = true;
	decoder.pause = UINT64_MAX;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	for (int i = 0; i < 3; i++) {
		struct pt_event event = next();
		EXPECT_INT(event.kind, PT_EVENT_BRANCH);
		EXPECT_INT(event.branch, INSTRUCTION_CALL);
		EXPECT_INT(event.from, 0x1004);
		EXPECT_INT(event.to, 0x100b);
		if (i == 2)
			break;
		event = next();
		EXPECT_INT(event.branch, INSTRUCTION_RETURN);
		EXPECT_INT(event.to, 0x1009);
	}
}

static struct { unsigned calls, returns; uint64_t from, to; } passed;

static void pass_call(void *context, bool is_return, uint64_t from, uint64_t to, unsigned size)
{
	(void)context;
	passed.calls += !is_return;
	passed.returns += is_return;
	passed.from = from;
	passed.to = to;
	EXPECT_INT(size, is_return ? 1 : 5);
}

TEST("with calls_only and a receiver, calls and returns are passed to it in order, before the pause")
{
	/* 1000: jz 1004; 1002: nop; nop; 1004: call 100b; 1009: jmp 1000; 100b: ret */
	OPEN("\x74\x02\x90\x90\xe8\x02\0\0\0\xeb\xf5\xc3", BEGIN "\x1e" "\x1e" "\x1e" "\x06");
	decoder.config.return_compression = true;
	decoder.config.call = pass_call;
	decoder.calls_only = true;
	decoder.pause = UINT64_MAX;
	passed.calls = passed.returns = 0;
	EXPECT_INT(next().kind, PT_EVENT_PSB);
	EXPECT_INT(next().kind, 255);
	EXPECT_INT(passed.calls, 5);
	EXPECT_INT(passed.returns, 5);
	EXPECT_INT(passed.from, 0x100b);
	EXPECT_INT(passed.to, 0x1009);
}
