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
	d->in_slots = d->slots_guessed = false;
	if (d->goal != PT_GOAL_PSB)
		d->goal = PT_GOAL_PACKET;
	d->block_index = PT_NO_BLOCK;
}

static void end_at(struct pt_decoder *d, uint64_t ip)
{
	d->ended_at = ip;
	d->ended_before = false;
}

/* At least so many instructions were executed in code that was not followed. */
static uint32_t count_lost(struct pt_decoder *d)
{
	uint64_t lost = d->lost;
	d->lost = 0;
	d->at_fup = false;
	return lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX;
}

static int fail(struct pt_decoder *d, enum pt_error error, struct pt_event *event)
{
	uint64_t rest = d->goal == PT_GOAL_TARGET ? !d->at_fup : d->bit_count;
	walk_pass_time(d);
	d->exact_cycles = d->cycles;
	*event = (struct pt_event){ .kind = PT_EVENT_ERROR, .error = error, .from = d->ip_known ? d->ip : 0, .has_ip = d->ip_known,
		.extra = count_lost(d) };
	d->lost = rest;
	bool in_guest = error == PT_ERROR_NO_CODE && d->non_root; /* nothing is wrong with packets of a guest whose code is not known */
	if (!in_guest) {
		d->return_count = 0;
		d->calls_lost = true;
	}
	if (error != PT_ERROR_OVERFLOW && !in_guest)
		d->address.known = false;
	d->overflowed = error == PT_ERROR_OVERFLOW;
	end_at(d, 0);
	lose_flow(d);
	return DELIVER;
}

static bool take_address(struct pt_decoder *d, uint64_t *ip)
{
	return pt_address_take(&d->address, &d->packet, ip);
}

/* Behind a gap, decoding begins anew with the next PSB. */
static int no_packet(struct pt_decoder *d, enum pt_read read)
{
	if (read == PT_READ_END)
		return END;
	lose_flow(d);
	packets_pass_gap(d);
	return GO_ON;
}

static struct pt_event *wait_for_fup(struct pt_decoder *d, enum pt_event_kind kind)
{
	static struct pt_event none;
	if (d->waiting_count == sizeof d->waiting / sizeof *d->waiting)
		return &none; /* a hostile trace */
	struct pt_event *event = &d->waiting[d->waiting_count++];
	*event = (struct pt_event){ .kind = kind, .payload = d->packet.payload, .extra = d->packet.extra, .apart = d->packet.flag };
	return event;
}

/* PWRE: the FUP behind it is that of an MWAIT packet; the processor enters a power state of its own accord, too. */
static bool waits_with_mwait(const struct pt_decoder *d)
{
	return d->waiting_count && d->waiting[d->waiting_count - 1].kind == PT_EVENT_MWAIT;
}

/* An event that the packet describes alone, or that the next FUP completes. */
static int simple_event(struct pt_decoder *d, enum pt_event_kind kind, bool waits, struct pt_event *event)
{
	if (waits) {
		wait_for_fup(d, kind);
		return GO_ON;
	}
	walk_pass_time(d);
	d->ended_missed |= d->ended_before && !d->ip_known;
	*event = (struct pt_event){ .kind = kind, .payload = d->packet.payload, .extra = d->packet.extra,
		.from = d->ip_known ? d->ip : d->ended_at, .has_ip = d->ip_known, .in_transaction = d->transaction };
	return DELIVER;
}

static int block_packet(struct pt_decoder *d, struct pt_event *event)
{
	const struct pt_packet *packet = &d->packet;
	switch (packet->type) {
	case PT_PACKET_BBP:
		for (unsigned i = 0; i < PT_BLOCKS && d->in_block == PT_BLOCK_NONE; i++)
			d->blocks[i].present = 0;
		d->in_block = packet->flag ? PT_BLOCK_4 : PT_BLOCK_8;
		d->block_type = (unsigned)packet->payload;
		return GO_ON;
	case PT_PACKET_BIP:
		if (d->block_type >= PT_BLOCKS)
			return GO_ON;
		d->blocks[d->block_type].present |= 1u << packet->extra;
		d->blocks[d->block_type].values[packet->extra] = packet->payload;
		return GO_ON;
	default:
		d->in_block = PT_BLOCK_NONE;
		return simple_event(d, PT_EVENT_BLOCK, packet->flag, event);
	}
}

static void change_root(struct pt_decoder *d)
{
	if (d->non_root != d->next_non_root)
		d->forgotten = true; /* other code at the same addresses */
	d->non_root = d->next_non_root;
}

static void apply_mode(struct pt_decoder *d)
{
	d->interrupts_on ^= d->interrupts_change;
	d->interrupts_toggled = d->interrupts_change;
	d->interrupts_change = false;
	change_root(d);
	d->mode_changed = d->pending_mode && d->pending_mode != d->mode;
	if (d->pending_mode)
		d->mode = d->pending_mode;
	d->pending_mode = 0;
}

static int begin(struct pt_decoder *d, uint64_t ip, struct pt_event *event)
{
	packets_base_cycles(d);
	walk_pass_time(d);
	apply_mode(d);
	d->tracing = true;
	d->async = d->overflowed = false;
	d->goal = PT_GOAL_PACKET;
	*event = (struct pt_event){ .kind = PT_EVENT_BRANCH, .begins = true, .to = ip, .guest = d->non_root, .in_transaction = d->transaction,
		.timed = walk_is_timed(d), .extra = count_lost(d) };
	walk_to(d, ip);
	if (d->config.quick)
		quick_instruction(d, ip);
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
		.guest = d->non_root, .leaves_guest = d->non_root && !d->next_non_root, .crosses = d->non_root != d->next_non_root,
		.in_transaction = d->transaction, .from = d->ip, .to = has_target ? target : 0, .timed = walk_is_timed(d) };
	if (ends || !has_target) {
		end_at(d, has_target ? target : event->from);
		end_tracing(d);
		d->tracing = !ends;
		return DELIVER;
	}
	apply_mode(d);
	d->async = d->aborts = false;
	walk_to(d, target);
	return DELIVER;
}

/* Whether the target is the host's behind an exit of a virtual machine whose code is not known: no instruction leads to it. */
static bool exits_unknown(struct pt_decoder *d)
{
	return d->non_root && !d->next_non_root && !d->config.quick && !walk_knows(d, d->ip);
}

static int target_packet(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	bool has_ip = take_address(d, &ip), ends = d->packet.type == PT_PACKET_TIP_PGD;
	if (!d->ip_known) {
		d->tracing = !ends;
		d->lost += !ends;
		return ends || !has_ip ? GO_ON : begin(d, ip, event);
	}
	if (d->async)
		return async_branch(d, has_ip, ip, ends, event);
	if (has_ip && !ends && exits_unknown(d))
		return begin(d, ip, event);
	d->overflowed = false;
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
		d->async |= event->kind == PT_EVENT_INTERRUPT && !event->apart && branches;
		event->in_transaction = d->transaction;
	}
	d->waiting_next = 0;
	d->delivering = d->waiting_count;
}

static int fup_packet(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	bool has_ip = take_address(d, &ip);
	if (has_ip && !d->ip_known && !d->tracing && d->waiting_count) { /* branches are not traced */
		deliver_waiting(d, ip, true, false);
		return GO_ON;
	}
	if (has_ip && d->config.quick && d->tracing && d->waiting_count) { /* without a walk to it */
		walk_to(d, ip);
		d->overflowed = false;
		deliver_waiting(d, ip, true, true);
		*event = quick_left(d, ip);
		event->timed = walk_is_timed(d);
		for (unsigned i = 0; i < d->waiting_count; i++) {
			d->waiting[i].async = event->async;
			d->waiting[i].aborts = event->aborts;
			d->waiting[i].to = event->to;
		}
		return DELIVER;
	}
	if (!has_ip || !d->ip_known) {
		/* at an address without code, an interrupt cannot be distinguished from a branch */
		bool async = has_ip && !d->overflowed && walk_knows(d, ip), waits = d->waiting_count;
		int result = has_ip ? begin(d, ip, event) : GO_ON;
		d->at_fup = true;
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

/* The address in PSB+, at which the packets after PSB+ begin: execution continues to it first. False: none is ahead, or tracing begins
 * anew behind it. */
static bool find_psb_address(const struct pt_decoder *d, uint64_t *ip)
{
	enum { PACKETS_BEHIND = 6 }; /* as many as perf reads */
	struct pt_place place = d->place;
	struct pt_packet packet;
	struct pt_address address = { .known = true };
	bool found = false;
	for (unsigned behind = 0; behind <= PACKETS_BEHIND && packets_read(d, &place, PT_BLOCK_NONE, &packet) == PT_READ_PACKET;) {
		switch (packet.type) {
		case PT_PACKET_FUP:
			if (found || !pt_address_take(&address, &packet, ip))
				return found;
			found = true;
			break;
		case PT_PACKET_PSBEND:
			behind = 1;
			break;
		case PT_PACKET_TIP_PGE:
			return false;
		case PT_PACKET_TNT: case PT_PACKET_TIP: case PT_PACKET_TIP_PGD: case PT_PACKET_OVF: case PT_PACKET_BAD: case PT_PACKET_PSB:
		case PT_PACKET_TRACE_STOP:
			return found && behind;
		default:
			behind += behind && packet.type != PT_PACKET_PAD;
			break;
		}
		if (behind && !found)
			return false;
	}
	return found;
}

/* PSB+: the state of the processor, for a decoder that begins here. */
static int psb_packets(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t start = d->position, ip = 0;
	d->goal = PT_GOAL_PACKET;
	bool traced = false, transaction = d->transaction;
	bool follows = d->ip_known || d->found; /* after a loss, perf does not show the address */
	unsigned mode = d->mode;
	d->address = (struct pt_address){ .known = true };
	d->return_count = 0;
	d->calls_lost = false;
	d->in_block = PT_BLOCK_NONE;
	d->found = false;
	for (;;) {
		d->in_psb = true;
		enum pt_read read = packets_next(d);
		d->in_psb = false;
		if (read != PT_READ_PACKET)
			return no_packet(d, read);
		switch (d->packet.type) {
		case PT_PACKET_PSBEND:
			walk_pass_time(d);
			d->tracing = traced;
			d->mode = mode;
			d->transaction = transaction;
			*event = (struct pt_event){ .kind = PT_EVENT_PSB, .payload = start, .from = follows ? ip : 0, .has_ip = traced && follows,
				.timed = walk_is_timed(d), .extra = count_lost(d) };
			if (!traced)
				lose_flow(d);
			else if (!d->ip_known || d->ip == ip)
				walk_to(d, ip); /* its block begins here, too, whatever precedes */
			if (traced && d->config.quick) {
				walk_to(d, ip);
				quick_instruction(d, ip);
				d->waiting[d->waiting_count - 1].timed = event->timed;
			}
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
			d->next_non_root = d->packet.flag;
			change_root(d);
			break;
		case PT_PACKET_CBR:
			d->ratio_seen = (uint32_t)d->packet.payload;
			break;
		case PT_PACKET_OVF:
			return fail(d, PT_ERROR_OVERFLOW, event);
		case PT_PACKET_TNT: case PT_PACKET_TIP: case PT_PACKET_TIP_PGE: case PT_PACKET_TIP_PGD: case PT_PACKET_BAD: case PT_PACKET_PSB:
			d->synced = false;
			return fail(d, PT_ERROR_BAD_PACKET, event);
		}
	}
}

static int psb(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	if (d->config.quick || !d->ip_known || !find_psb_address(d, &ip) || ip == d->ip)
		return psb_packets(d, event);
	d->target = ip;
	d->goal = PT_GOAL_PSB;
	return GO_ON;
}

/* Whether the next packet that is not of time is a FUP. */
static bool fup_follows(const struct pt_decoder *d)
{
	struct pt_place place = d->place;
	struct pt_packet packet;
	while (packets_read(d, &place, PT_BLOCK_NONE, &packet) == PT_READ_PACKET)
		if (!is_time_packet(packet.type))
			return packet.type == PT_PACKET_FUP;
	return false;
}

static int mode_packet(struct pt_decoder *d)
{
	if (d->packet.type == PT_PACKET_MODE_EXEC && fup_follows(d)) { /* by CLI, STI, POPF: also of a flag whose change was lost */
		d->interrupts_change = false;
		d->interrupts_on = d->packet.flag;
		d->packet.payload = d->interrupts_on;
		wait_for_fup(d, PT_EVENT_IFLAG);
	} else if (d->packet.type == PT_PACKET_MODE_EXEC) {
		d->pending_mode = (unsigned)d->packet.payload;
		d->interrupts_change = d->interrupts_on != d->packet.flag;
	} else if (d->tracing) {
		wait_for_fup(d, PT_EVENT_TSX);
	} else {
		d->transaction = d->packet.payload & 1;
	}
	return GO_ON;
}

static int interrupt_data(struct pt_decoder *d)
{
	if (d->interrupt_data_used)
		d->interrupt_data_count = 0;
	d->interrupt_data_used = false;
	if (d->interrupt_data_count < PT_INTERRUPT_DATA_MAX)
		d->interrupt_data[d->interrupt_data_count++] =
			(struct pt_interrupt_data){ .type = (uint8_t)d->packet.extra, .payload = d->packet.payload };
	return GO_ON;
}

static int ratio_event(struct pt_decoder *d, struct pt_event *event)
{
	if (d->packet.payload == d->ratio_seen)
		return GO_ON;
	d->ratio_seen = (uint32_t)d->packet.payload;
	int result = simple_event(d, PT_EVENT_CBR, false, event);
	event->timed = walk_is_timed(d);
	return result;
}

/* PIP: of the next branch, which may be an entry to a guest or an exit from it, or of a move to CR3. */
static int paging_packet(struct pt_decoder *d, struct pt_event *event)
{
	d->next_non_root = d->packet.flag;
	if (!d->ip_known)
		change_root(d);
	bool exact = d->config.paging && d->cycles_counted && d->goal == PT_GOAL_PACKET && !d->async && !d->waiting_count;
	uint64_t ip;
	uint32_t count = exact && d->ip_known && !d->config.quick ? walk_to_paging(d, &ip) : 0;
	if (!count)
		return GO_ON;
	*event = (struct pt_event){ .kind = PT_EVENT_PAGING, .from = ip, .has_ip = true, .timed = true, .extra = count,
		.payload = d->traced_cycles - d->cycles, .to = d->clock.time };
	return DELIVER;
}

static int state_packet(struct pt_decoder *d, struct pt_event *event)
{
	switch (d->packet.type) {
	case PT_PACKET_PIP:
		return paging_packet(d, event);
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
		return simple_event(d, PT_EVENT_PWRE, waits_with_mwait(d), event);
	case PT_PACKET_PWRX:
		return simple_event(d, PT_EVENT_PWRX, false, event);
	case PT_PACKET_CFE:
		return simple_event(d, PT_EVENT_INTERRUPT, d->packet.flag || d->tracing, event);
	case PT_PACKET_TRIGGER:
		return simple_event(d, PT_EVENT_TRIGGER, d->packet.flag, event);
	case PT_PACKET_EVD:
		return interrupt_data(d);
	case PT_PACKET_CBR:
		return ratio_event(d, event);
	case PT_PACKET_BBP: case PT_PACKET_BIP: case PT_PACKET_BEP:
		return block_packet(d, event);
	default:
		return GO_ON; /* time, padding, and what is of no use */
	}
}

static int take_packet(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	if (d->config.quick) {
		enum quick quick = quick_packet(d, event);
		if (quick != QUICK_NOT)
			return quick == QUICK_DELIVER ? DELIVER : GO_ON;
	}
	switch (d->packet.type) {
	case PT_PACKET_TNT:
		d->async = d->overflowed = false;
		if (d->ip_known) {
			d->bits = d->packet.payload;
			d->bit_count = d->packet.bits;
			d->goal = d->bit_count ? PT_GOAL_BITS : PT_GOAL_PACKET;
		} else {
			d->lost += d->packet.bits;
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
		return psb(d, event);
	case PT_PACKET_MODE_EXEC:
	case PT_PACKET_MODE_TSX:
		return mode_packet(d);
	default:
		return state_packet(d, event);
	}
}

static int packet_step(struct pt_decoder *d, struct pt_event *event)
{
	run_packets(d);
	if (d->goal != PT_GOAL_PACKET)
		return GO_ON;
	d->loops = 0;
	enum pt_read read = packets_next(d);
	return read == PT_READ_PACKET ? take_packet(d, event) : no_packet(d, read);
}

/* The branch at which walk ended, with a target from the trace. */
static void fill_branch(struct pt_decoder *d, uint64_t to, struct pt_event *event)
{
	const struct pt_block_code *block = walk_branch(d);
	walk_pass_time(d);
	*event = (struct pt_event){ .kind = PT_EVENT_BRANCH, .branch = block->kind, .size = block->last_size, .from = walk_last(d), .to = to,
		.guest = d->non_root, .in_transaction = d->transaction, .timed = walk_is_timed(d) };
}

/* Returns are compressed by near calls alone. */
static void follow_calls(struct pt_decoder *d)
{
	uint64_t ip;
	uint8_t kind = walk_branch(d)->kind;
	if (kind == INSTRUCTION_CALL_INDIRECT)
		walk_push(d, d->ip);
	if (kind == INSTRUCTION_RETURN)
		walk_pop(d, &ip);
}

/* Its time is estimated by the number of instructions. */
static bool leaves_kernel(const struct pt_event *event)
{
	return event->from >> 63 && !(event->to >> 63);
}

/* Whether the branch, whose time is known, need not be delivered. */
static bool is_silent(const struct pt_decoder *d, bool jump)
{
	return (d->errors_only || (d->calls_only && jump)) && d->time < d->pause;
}

static int indirect_branch(struct pt_decoder *d, bool has_target, uint64_t target, struct pt_event *event)
{
	fill_branch(d, has_target ? target : 0, event);
	if (!has_target) {
		lose_flow(d);
		return DELIVER;
	}
	follow_calls(d);
	event->crosses = d->non_root != d->next_non_root;
	apply_mode(d);
	walk_target(d, target);
	if (leaves_kernel(event))
		return DELIVER;
	return is_silent(d, event->branch == INSTRUCTION_JUMP_INDIRECT) || walk_passes_call(d, event) ? GO_ON : DELIVER;
}

/* The trace holds the target behind the bits that are left. */
static int deferred_target(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	do {
		enum pt_read read = packets_next(d);
		if (read != PT_READ_PACKET)
			return no_packet(d, read);
	} while (is_time_packet(d->packet.type));
	if (d->packet.type != PT_PACKET_TIP || !take_address(d, &ip))
		return fail(d, PT_ERROR_MISMATCH, event);
	return indirect_branch(d, true, ip, event);
}

static bool take_bit(struct pt_decoder *d)
{
	bool bit = d->bits >> --d->bit_count & 1;
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
		if (!take_bit(d)) {
			walk_pass_time(d);
			d->cycles_counted = false;
			walk_next(d);
			return GO_ON;
		}
		fill_branch(d, 0, event);
		walk_take(d);
		event->to = d->ip;
		return is_silent(d, true) ? GO_ON : DELIVER;
	}
	if (kind != INSTRUCTION_RETURN || !d->config.return_compression)
		return deferred_target(d, event);
	if (!d->return_count) {
		bool compressed = d->calls_lost && d->bits >> (d->bit_count - 1) & 1;
		int result = compressed ? fail(d, PT_ERROR_MISMATCH, event) : deferred_target(d, event);
		event->lacks_call = compressed;
		return result;
	}
	fill_branch(d, 0, event);
	if (!take_bit(d) || !walk_pop(d, &ip))
		return fail(d, PT_ERROR_MISMATCH, event);
	event->to = ip;
	d->mode_changed = false;
	walk_target(d, ip);
	return is_silent(d, false) || walk_passes_call(d, event) ? GO_ON : DELIVER;
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
	end_at(d, d->has_target ? d->target : event->from);
	follow_calls(d);
	end_tracing(d);
	return DELIVER;
}

static int walk_step(struct pt_decoder *d, struct pt_event *event)
{
	if (d->goal == PT_GOAL_PSB && !d->ip_known) /* the walk to it failed */
		return psb_packets(d, event);
	if (d->goal == PT_GOAL_BITS && (d->errors_only || d->calls_only) && d->clock.time < d->pause && run_code(d))
		return GO_ON;
	switch (walk(d, event)) {
	case WALK_EVENT:
		return DELIVER;
	case WALK_NO_CODE:
		return fail(d, PT_ERROR_NO_CODE, event);
	case WALK_LOOP:
		return fail(d, PT_ERROR_LOOP, event);
	case WALK_AT_IP:
		if (d->goal == PT_GOAL_PSB)
			return psb_packets(d, event);
		d->goal = PT_GOAL_PACKET;
		if (d->waiting_count)
			deliver_waiting(d, d->ip, true, true);
		else
			d->async = !d->overflowed; /* otherwise PSB+ between the overflow and its FUP had the address, too */
		d->overflowed = false;
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

static int next_event(struct pt_decoder *d, struct pt_event *event)
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
			d->synced = d->found = true;
		}
		int result = d->goal == PT_GOAL_PACKET ? packet_step(d, event) : walk_step(d, event);
		if (result != GO_ON)
			return result == DELIVER;
	}
}

int pt_decoder_next(struct pt_decoder *d, struct pt_event *event)
{
	if (next_event(d, event) <= 0)
		return 0;
	if (event->kind != PT_EVENT_BRANCH)
		event->guest = d->non_root;
	if (event->kind == PT_EVENT_INTERRUPT) {
		if (d->interrupt_data_used)
			d->interrupt_data_count = 0;
		d->interrupt_data_used = true;
	}
	if (d->config.interrupts) {
		event->interrupts_toggled = d->interrupts_toggled || event->kind == PT_EVENT_IFLAG;
		event->interrupts_off = event->interrupts_toggled == d->interrupts_on;
		d->interrupts_toggled = false;
	}
	return 1;
}
