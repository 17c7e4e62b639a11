#include "decode/intel_pt/decoder.h"

#include "decode/intel_pt/packets.h"
#include "decode/intel_pt/walk.h"

/* Results of a step: *event is filled; nothing to deliver yet; the pieces end. */
enum { DELIVER = 1, GO_ON = 0, END = -1 };

void pt_decoder_init(struct pt_decoder *d, const struct pt_config *config, const struct pt_piece *pieces, size_t count)
{
	*d = (struct pt_decoder){ .config = *config, .pieces = pieces, .piece_count = count, .stop_at = UINT64_MAX, .mode = 64,
		.block_index = PT_NO_BLOCK };
	pt_clock_init(&d->clock, &config->clock);
	if (count)
		d->clock.near = pieces[0].near;
}

void pt_decoder_forget(struct pt_decoder *d)
{
	d->forgotten = true;
}

static void lose_flow(struct pt_decoder *d)
{
	d->ip_known = d->async = d->aborts = d->delivering = false;
	d->transaction = false;
	d->bit_count = d->waiting_count = 0;
	d->in_slots = false;
	d->goal = PT_GOAL_PACKET;
	d->block_index = PT_NO_BLOCK;
}

static int fail(struct pt_decoder *d, enum pt_error error, struct pt_event *event)
{
	walk_pass_time(d);
	*event = (struct pt_event){ .kind = PT_EVENT_ERROR, .error = error, .from = d->ip_known ? d->ip : 0, .has_ip = d->ip_known };
	if (error != PT_ERROR_NO_CODE)
		d->return_count = 0;
	if (error != PT_ERROR_OVERFLOW)
		d->have_last_ip = false;
	d->overflowed = error == PT_ERROR_OVERFLOW;
	lose_flow(d);
	return DELIVER;
}

/* Looks ahead to the next timed packet for the rate of cycles. */
static void measure_rate(struct pt_decoder *d)
{
	struct pt_measure measure;
	struct pt_place place = d->place;
	struct pt_packet packet;
	enum pt_block block = d->in_block;
	pt_measure_begin(&measure, &d->clock);
	/* packets must begin where those that are decoded begin: then no packet is read twice for the next measure */
	while (packets_read(d, &place, block, &packet) == PT_READ_PACKET && pt_measure_packet(&measure, &d->clock, &packet)) {
		if (packet.type == PT_PACKET_BBP)
			block = packet.flag ? PT_BLOCK_4 : PT_BLOCK_8;
		else if (packet.type == PT_PACKET_BEP || packet.type == PT_PACKET_PSB)
			block = PT_BLOCK_NONE;
	}
}

static void base_cycles(struct pt_decoder *d)
{
	d->base_cycles = d->traced_cycles;
	d->base_time = d->clock.time;
}

/* The time since tracing was switched on, in cycles at the frequency of the last CBR packet. */
static void estimate_cycles(struct pt_decoder *d)
{
	uint32_t ratio = d->clock.bus_ratio, nominal = d->clock.config.non_turbo_ratio;
	if (!ratio || !nominal || d->clock.have_cycles || !d->tracing || !d->base_time)
		return;
	d->traced_cycles = d->base_cycles + (uint64_t)((double)(d->clock.time - d->base_time) * ratio / nominal);
	d->cycles_counted = true;
}

/* Reads the next packet and applies its time. */
static enum pt_read read_packet(struct pt_decoder *d)
{
	d->position = d->place.position;
	enum pt_read read = packets_read(d, &d->place, d->in_block, &d->packet);
	if (read == PT_READ_PACKET && pt_clock_packet(&d->clock, &d->packet))
		measure_rate(d);
	if (read == PT_READ_PACKET && d->packet.type == PT_PACKET_CYC && d->tracing) {
		d->cycles_counted = true;
		d->traced_cycles += d->packet.payload;
	}
	if (read == PT_READ_PACKET && d->packet.type == PT_PACKET_MTC)
		estimate_cycles(d);
	if (read == PT_READ_PACKET && d->packet.type == PT_PACKET_CBR)
		base_cycles(d);
	if (read == PT_READ_PACKET &&
		(d->packet.type == PT_PACKET_CYC || d->packet.type == PT_PACKET_MTC || d->packet.type == PT_PACKET_TSC))
		d->instructions_at_time = d->instructions;
	return read;
}

/* The address of a packet, which holds the lower bytes that differ from the last one. False: it holds none. */
static bool take_address(struct pt_decoder *d, uint64_t *ip)
{
	const struct pt_packet *packet = &d->packet;
	*ip = 0;
	if (!d->have_last_ip && packet->bits != 3 && packet->bits != 6)
		return false;
	switch (packet->bits) {
	case 1:
		d->last_ip = (d->last_ip & ~0xffffull) | packet->payload;
		break;
	case 2:
		d->last_ip = (d->last_ip & ~0xffffffffull) | packet->payload;
		break;
	case 3:
		d->last_ip = (uint64_t)((int64_t)(packet->payload << 16) >> 16);
		break;
	case 4:
		d->last_ip = (d->last_ip & ~0xffffffffffffull) | packet->payload;
		break;
	case 6:
		d->last_ip = packet->payload;
		break;
	default:
		return false;
	}
	d->have_last_ip = true;
	*ip = d->last_ip;
	return true;
}

static struct pt_event *wait_for_fup(struct pt_decoder *d, enum pt_event_kind kind)
{
	static struct pt_event none;
	if (d->waiting_count == sizeof d->waiting / sizeof *d->waiting)
		return &none; /* a hostile trace */
	struct pt_event *event = &d->waiting[d->waiting_count++];
	*event = (struct pt_event){ .kind = kind, .payload = d->packet.payload, .extra = d->packet.extra };
	return event;
}

/* An event that the packet describes alone, or that the next FUP completes. */
static int simple_event(struct pt_decoder *d, enum pt_event_kind kind, bool waits, struct pt_event *event)
{
	if (waits) {
		wait_for_fup(d, kind);
		return GO_ON;
	}
	walk_pass_time(d);
	*event = (struct pt_event){ .kind = kind, .payload = d->packet.payload, .extra = d->packet.extra, .from = d->ip_known ? d->ip : 0,
		.has_ip = d->ip_known, .in_transaction = d->transaction };
	return DELIVER;
}

static int block_packet(struct pt_decoder *d, struct pt_event *event)
{
	const struct pt_packet *packet = &d->packet;
	switch (packet->type) {
	case PT_PACKET_BBP:
		d->in_block = packet->flag ? PT_BLOCK_4 : PT_BLOCK_8;
		d->block = (struct pt_block_items){ .type = (uint32_t)packet->payload };
		return GO_ON;
	case PT_PACKET_BIP:
		d->block.present |= 1ull << packet->extra;
		d->block.values[packet->extra] = packet->payload;
		d->block.count++;
		return GO_ON;
	default:
		d->in_block = PT_BLOCK_NONE;
		return simple_event(d, PT_EVENT_BLOCK, packet->flag, event);
	}
}

static void apply_mode(struct pt_decoder *d)
{
	d->interrupts_on ^= d->interrupts_change;
	d->interrupts_change = false;
	d->mode_changed = d->pending_mode && d->pending_mode != d->mode;
	if (d->pending_mode)
		d->mode = d->pending_mode;
	d->pending_mode = 0;
}

static int begin(struct pt_decoder *d, uint64_t ip, struct pt_event *event)
{
	base_cycles(d);
	walk_pass_time(d);
	apply_mode(d);
	d->tracing = true;
	d->async = d->overflowed = false;
	d->goal = PT_GOAL_PACKET;
	*event = (struct pt_event){ .kind = PT_EVENT_BRANCH, .begins = true, .to = ip, .in_transaction = d->transaction,
		.timed = d->cycles_counted };
	d->cycles_counted = false;
	walk_to(d, ip);
	return DELIVER;
}

static void end_tracing(struct pt_decoder *d)
{
	lose_flow(d);
	d->tracing = false;
}

/* A branch that an interrupt, an exception or an abort made, away from d->ip. */
static int async_branch(struct pt_decoder *d, bool has_target, uint64_t target, bool ends, struct pt_event *event)
{
	walk_pass_time(d);
	*event = (struct pt_event){ .kind = PT_EVENT_BRANCH, .async = true, .ends = ends, .aborts = d->aborts,
		.in_transaction = d->transaction, .from = d->ip, .to = has_target ? target : 0, .timed = d->cycles_counted };
	d->cycles_counted = false;
	if (ends || !has_target) {
		end_tracing(d);
		d->tracing = !ends;
		return DELIVER;
	}
	apply_mode(d);
	d->async = d->aborts = false;
	walk_to(d, target);
	return DELIVER;
}

static int target_packet(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	bool has_ip = take_address(d, &ip), ends = d->packet.type == PT_PACKET_TIP_PGD;
	if (!d->ip_known) {
		d->tracing = !ends;
		return ends || !has_ip ? GO_ON : begin(d, ip, event);
	}
	if (d->async)
		return async_branch(d, has_ip, ip, ends, event);
	d->target = ip;
	d->has_target = has_ip;
	d->goal = ends ? PT_GOAL_END : PT_GOAL_TARGET;
	return GO_ON;
}

static void deliver_waiting(struct pt_decoder *d, uint64_t ip, bool has_ip, bool branches)
{
	walk_pass_time(d);
	for (unsigned i = 0; i < d->waiting_count; i++) {
		struct pt_event *event = &d->waiting[i];
		event->from = ip;
		event->has_ip = has_ip;
		if (event->kind == PT_EVENT_TSX) {
			d->transaction = event->payload & 1;
			d->aborts = event->payload & 2;
			d->async |= d->aborts && branches;
		}
		d->async |= event->kind == PT_EVENT_INTERRUPT && branches;
		event->in_transaction = d->transaction;
	}
	d->waiting_next = 0;
	d->delivering = d->waiting_count;
}

static int fup_packet(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	bool has_ip = take_address(d, &ip);
	if (d->interrupts_change && !d->waiting_count) { /* by CLI, STI, POPF */
		d->interrupts_change = false;
		d->interrupts_on = !d->interrupts_on;
		d->packet.payload = d->interrupts_on;
		wait_for_fup(d, PT_EVENT_IFLAG);
	}
	if (!has_ip || !d->ip_known) {
		/* at an address without code, an interrupt cannot be distinguished from a branch */
		bool async = has_ip && !d->overflowed && walk_knows(d, ip), waits = d->waiting_count;
		int result = has_ip ? begin(d, ip, event) : GO_ON;
		if (waits)
			deliver_waiting(d, ip, has_ip, async);
		else
			d->async = async;
		return result;
	}
	d->target = ip;
	d->goal = PT_GOAL_IP;
	return GO_ON;
}

/* PSB+: the state of the processor, for a decoder that begins here. */
static int psb_packets(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t start = d->position, ip = 0;
	bool traced = false, transaction = d->transaction;
	unsigned mode = d->mode;
	d->last_ip = 0;
	d->have_last_ip = true;
	d->return_count = 0;
	d->in_block = PT_BLOCK_NONE;
	for (;;) {
		if (read_packet(d) != PT_READ_PACKET)
			return END;
		switch (d->packet.type) {
		case PT_PACKET_PSBEND:
			walk_pass_time(d);
			d->tracing = traced;
			d->mode = mode;
			d->transaction = transaction;
			*event = (struct pt_event){ .kind = PT_EVENT_PSB, .payload = start, .from = d->begun ? 0 : ip,
				.has_ip = traced && !d->begun };
			d->begun = true;
			if (!traced)
				lose_flow(d);
			else if (!d->ip_known)
				walk_to(d, ip);
			return DELIVER;
		case PT_PACKET_FUP:
			traced = take_address(d, &ip);
			break;
		case PT_PACKET_MODE_EXEC:
			mode = (unsigned)d->packet.payload;
			d->interrupts_on = d->packet.flag;
			d->interrupts_change = false;
			break;
		case PT_PACKET_MODE_TSX:
			transaction = d->packet.payload & 1;
			break;
		case PT_PACKET_PIP:
			d->non_root = d->packet.flag;
			break;
		case PT_PACKET_OVF:
			return fail(d, PT_ERROR_OVERFLOW, event);
		case PT_PACKET_TNT: case PT_PACKET_TIP: case PT_PACKET_TIP_PGE: case PT_PACKET_TIP_PGD: case PT_PACKET_BAD: case PT_PACKET_PSB:
			d->synced = false;
			return fail(d, PT_ERROR_BAD_PACKET, event);
		}
	}
}

static int mode_packet(struct pt_decoder *d)
{
	if (d->packet.type == PT_PACKET_MODE_EXEC) {
		d->pending_mode = (unsigned)d->packet.payload;
		d->interrupts_change = d->interrupts_on != d->packet.flag;
	} else if (d->tracing) {
		wait_for_fup(d, PT_EVENT_TSX);
	} else {
		d->transaction = d->packet.payload & 1;
	}
	return GO_ON;
}

static int state_packet(struct pt_decoder *d, struct pt_event *event)
{
	switch (d->packet.type) {
	case PT_PACKET_PIP:
		d->non_root = d->packet.flag;
		return GO_ON;
	case PT_PACKET_OVF:
		return fail(d, PT_ERROR_OVERFLOW, event);
	case PT_PACKET_TRACE_STOP:
		end_tracing(d);
		return GO_ON;
	case PT_PACKET_BAD:
		d->synced = false;
		return fail(d, PT_ERROR_BAD_PACKET, event);
	case PT_PACKET_PTWRITE:
		return simple_event(d, PT_EVENT_PTWRITE, d->packet.flag, event);
	case PT_PACKET_EXSTOP:
		return simple_event(d, PT_EVENT_EXSTOP, d->packet.flag, event);
	case PT_PACKET_MWAIT:
		return simple_event(d, PT_EVENT_MWAIT, true, event);
	case PT_PACKET_PWRE:
		return simple_event(d, PT_EVENT_PWRE, true, event);
	case PT_PACKET_PWRX:
		return simple_event(d, PT_EVENT_PWRX, false, event);
	case PT_PACKET_CFE:
		return simple_event(d, PT_EVENT_INTERRUPT, d->packet.flag, event);
	case PT_PACKET_BBP: case PT_PACKET_BIP: case PT_PACKET_BEP:
		return block_packet(d, event);
	default:
		return GO_ON; /* time, padding, and what is of no use */
	}
}

static int take_packet(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	switch (d->packet.type) {
	case PT_PACKET_TNT:
		d->async = false;
		if (d->ip_known) {
			d->bits = d->packet.payload;
			d->bit_count = d->packet.bits;
			d->goal = d->bit_count ? PT_GOAL_BITS : PT_GOAL_PACKET;
		}
		return GO_ON;
	case PT_PACKET_TIP:
	case PT_PACKET_TIP_PGD:
		return target_packet(d, event);
	case PT_PACKET_TIP_PGE:
		return take_address(d, &ip) ? begin(d, ip, event) : GO_ON;
	case PT_PACKET_FUP:
		return fup_packet(d, event);
	case PT_PACKET_PSB:
		return psb_packets(d, event);
	case PT_PACKET_MODE_EXEC:
	case PT_PACKET_MODE_TSX:
		return mode_packet(d);
	default:
		return state_packet(d, event);
	}
}

static int packet_step(struct pt_decoder *d, struct pt_event *event)
{
	d->loops = 0;
	switch (read_packet(d)) {
	case PT_READ_PACKET:
		return take_packet(d, event);
	case PT_READ_GAP:
		if (packets_skip_gap(d, &d->place))
			d->clock.near = d->pieces[d->place.piece].near;
		lose_flow(d);
		d->synced = false;
		return GO_ON;
	default:
		return END;
	}
}

/* The branch at which walk ended, with a target from the trace. */
static void fill_branch(struct pt_decoder *d, uint64_t to, struct pt_event *event)
{
	const struct pt_block_code *block = walk_branch(d);
	walk_pass_time(d);
	*event = (struct pt_event){ .kind = PT_EVENT_BRANCH, .branch = block->kind, .size = block->last_size, .from = walk_last(d), .to = to,
		.in_transaction = d->transaction, .timed = d->cycles_counted };
}

static void follow_calls(struct pt_decoder *d)
{
	uint64_t ip;
	uint8_t kind = walk_branch(d)->kind;
	if (kind == INSTRUCTION_CALL_INDIRECT || kind == INSTRUCTION_FAR_CALL)
		walk_push(d, d->ip);
	if (kind == INSTRUCTION_RETURN || kind == INSTRUCTION_FAR_RETURN)
		walk_pop(d, &ip);
}

static int indirect_branch(struct pt_decoder *d, bool has_target, uint64_t target, struct pt_event *event)
{
	fill_branch(d, has_target ? target : 0, event);
	d->cycles_counted = false;
	if (!has_target) {
		lose_flow(d);
		return DELIVER;
	}
	follow_calls(d);
	apply_mode(d);
	walk_target(d, target);
	return d->errors_only ? GO_ON : DELIVER;
}

/* The trace holds the target behind the bits that are left. */
static int deferred_target(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	do {
		if (read_packet(d) != PT_READ_PACKET)
			return END;
	} while (d->packet.type == PT_PACKET_CYC || d->packet.type == PT_PACKET_MTC || d->packet.type == PT_PACKET_PAD ||
		d->packet.type == PT_PACKET_TSC || d->packet.type == PT_PACKET_TMA || d->packet.type == PT_PACKET_CBR);
	if (d->packet.type != PT_PACKET_TIP || !take_address(d, &ip))
		return fail(d, PT_ERROR_MISMATCH, event);
	return indirect_branch(d, true, ip, event);
}

static bool take_bit(struct pt_decoder *d)
{
	bool bit = d->bits >> --d->bit_count & 1;
	d->cycles_counted = false; /* cycles are those up to the first bit */
	if (!d->bit_count)
		d->goal = PT_GOAL_PACKET;
	return bit;
}

static int bits_branch(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	uint8_t kind = walk_branch(d)->kind;
	d->loops = 0;
	if (kind == INSTRUCTION_CONDITIONAL) {
		fill_branch(d, 0, event);
		if (!take_bit(d)) {
			walk_next(d);
			return GO_ON;
		}
		walk_take(d);
		event->to = d->ip;
		return d->errors_only ? GO_ON : DELIVER;
	}
	if (kind != INSTRUCTION_RETURN || !d->config.return_compression || !d->return_count)
		return deferred_target(d, event);
	fill_branch(d, 0, event);
	if (!take_bit(d) || !walk_pop(d, &ip))
		return fail(d, PT_ERROR_MISMATCH, event);
	event->to = ip;
	d->mode_changed = false;
	walk_target(d, ip);
	return d->errors_only ? GO_ON : DELIVER;
}

static int end_branch(struct pt_decoder *d, struct pt_event *event)
{
	const struct pt_block_code *block = walk_branch(d);
	if (block->kind == INSTRUCTION_CONDITIONAL) {
		uint64_t taken = d->ip + (uint64_t)(int64_t)block->displacement;
		if (!d->has_target || (d->target != taken && d->target != d->ip))
			return fail(d, PT_ERROR_MISMATCH, event);
	}
	fill_branch(d, d->has_target ? d->target : 0, event);
	event->ends = true;
	d->cycles_counted = false;
	follow_calls(d);
	end_tracing(d);
	return DELIVER;
}

static int walk_step(struct pt_decoder *d, struct pt_event *event)
{
	switch (walk(d, event)) {
	case WALK_EVENT:
		return DELIVER;
	case WALK_NO_CODE:
		return fail(d, PT_ERROR_NO_CODE, event);
	case WALK_LOOP:
		return fail(d, PT_ERROR_LOOP, event);
	case WALK_AT_IP:
		d->goal = PT_GOAL_PACKET;
		if (d->waiting_count)
			deliver_waiting(d, d->ip, true, true);
		else
			d->async = true;
		return GO_ON;
	case WALK_BRANCH:
	case WALK_GO_ON:
		break;
	}
	switch (d->goal) {
	case PT_GOAL_BITS:
		return bits_branch(d, event);
	case PT_GOAL_TARGET:
		if (walk_branch(d)->kind == INSTRUCTION_CONDITIONAL)
			return fail(d, PT_ERROR_MISMATCH, event);
		d->goal = PT_GOAL_PACKET;
		return indirect_branch(d, d->has_target, d->target, event);
	case PT_GOAL_END:
		return end_branch(d, event);
	default:
		return fail(d, PT_ERROR_MISMATCH, event); /* the address of a FUP was not reached */
	}
}

int pt_decoder_next(struct pt_decoder *d, struct pt_event *event)
{
	for (;;) {
		if (d->delivering) {
			*event = d->waiting[d->waiting_next++];
			if (d->waiting_next == d->waiting_count) {
				d->delivering = false;
				d->waiting_count = 0;
			}
			return 1;
		}
		if (!d->synced) {
			if (!packets_find_psb(d, &d->place))
				return 0;
			d->synced = true;
		}
		int result = d->goal == PT_GOAL_PACKET ? packet_step(d, event) : walk_step(d, event);
		if (result != GO_ON)
			return result == DELIVER;
	}
}
