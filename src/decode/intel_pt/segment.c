#include "decode/intel_pt/segment.h"

#include <string.h>

#include "decode/intel_pt/packets.h"
#include "decode/intel_pt/walk.h"

bool pt_segment_cut(const struct pt_decoder *d, uint64_t position, struct pt_place *place)
{
	*place = packets_place(d, position);
	return packets_find_psb(d, place);
}

uint64_t pt_segment_time(const struct pt_decoder *d, struct pt_place place)
{
	return packets_psb_time(d, place);
}

/* A segment and the decoder in front of it have different code. */
static void forget_code(struct pt_decoder *d)
{
	pt_decoder_forget(d);
	d->block_index = PT_NO_BLOCK;
	d->range = (struct pt_range){ 0 };
}

void pt_segment_init(struct pt_segment *s, const struct pt_decoder *d, bool exact)
{
	vec_clear(&s->steps);
	vec_clear(&s->calls);
	vec_clear(&s->moments);
	s->failed = s->ended = false;
	s->exact = exact;
	s->decoder = *d;
	forget_code(&s->decoder);
}

/* The fields on which later events depend, except for counts, which are relative. Code is looked up anew behind a PSB, and ended_at is
 * taken from the decoder in front where it is needed. */
static void state_of(const struct pt_decoder *d, uint64_t *state)
{
	const struct pt_clock *clock = &d->clock;
	uint64_t rate;
	memcpy(&rate, &clock->rate, sizeof rate);
	const uint64_t words[] = {
		d->place.piece, d->place.at, d->place.position, clock->time, clock->tsc, clock->near, clock->ctc.known,
		clock->ctc.align, clock->ctc.last_mtc, clock->ctc.time, clock->ctc.ticks, clock->have_cycles, clock->have_cycles ?
		clock->cycle_time : 0, clock->have_cycles ? clock->cycle_count : 0, clock->bus_ratio, rate, clock->last_type, d->time,
		d->mode, d->tracing, d->next_non_root, d->non_root, d->interrupts_on, d->interrupts_change, d->interrupt_data_count,
		d->pending_mode, d->in_block, d->address.known, d->address.last, d->synced, d->overflowed, d->ip_known, d->ip_known ?
		d->ip : 0, d->goal, d->async, d->transaction, d->aborts, d->ratio_seen, d->waiting_count, d->delivering,
		d->return_count, d->instructions - d->instructions_at_time, d->cycles_counted, clock->have_cycles ? 0 : d->base_time,
		clock->have_cycles ? 0 : d->base_cycles - d->traced_cycles, d->tick_period ?
		d->last_slot : d->stop_at == UINT64_MAX ? 0 : d->stop_at - d->instructions,
	};
	_Static_assert(sizeof words <= PT_STATE_WORDS * sizeof *state, "room for all words");
	memset(state, 0, PT_STATE_WORDS * sizeof *state);
	memcpy(state, words, sizeof words);
}

bool pt_segment_fits(const struct pt_segment *s, const struct pt_decoder *d)
{
	uint64_t state[PT_STATE_WORDS];
	state_of(d, state);
	bool slots = d->in_slots == s->in_slots || (s->in_slots && !s->exact && !s->slots_matter) || !d->tick_period;
	return !s->failed && slots && memcmp(state, s->state, sizeof state) == 0;
}

/* Reads the packets up to the segment's PSB for time and cycles. False: the PSB is not reached. */
static bool warm_up(struct pt_segment *s)
{
	struct pt_decoder *d = &s->decoder;
	d->place = s->warm;
	d->clock.near = d->pieces[s->warm.piece].near;
	while (d->place.position < s->from.position) {
		if (!pt_decoder_skip(d))
			return false;
	}
	packets_pass_slot(d);
	return d->place.position == s->from.position;
}

/* A decoder that knows what packets in front of the PSB show, and otherwise what the decoder knew from which it is a copy. */
static void begin_anew(struct pt_segment *s)
{
	struct pt_decoder *d = &s->decoder;
	uint64_t base_time = d->base_time, period = d->tick_period, every = d->stop_every;
	uint64_t stop_at = d->stop_at == UINT64_MAX ? UINT64_MAX : 1;
	uint32_t ratio = d->clock.bus_ratio, ratio_seen = d->ratio_seen;
	bool have_cycles = d->clock.have_cycles;
	bool errors_only = d->errors_only, calls_only = d->calls_only, tracing = d->tracing, interrupts_on = d->interrupts_on;
	unsigned mode = d->mode;
	struct pt_config config = d->config;
	pt_decoder_init(d, &config, d->pieces, d->piece_count);
	d->clock.bus_ratio = ratio;
	d->clock.have_cycles = have_cycles;
	d->ratio_seen = ratio_seen;
	d->base_time = base_time;
	d->tick_period = period;
	d->stop_at = stop_at;
	d->stop_every = every;
	d->errors_only = errors_only;
	d->calls_only = calls_only;
	d->tracing = tracing;
	d->interrupts_on = interrupts_on;
	d->mode = mode;
}

/* Counts begin at 0. */
static void begin_counts(struct pt_decoder *d)
{
	d->instructions_at_time -= d->instructions;
	d->stop_at -= d->stop_at == UINT64_MAX ? 0 : d->instructions;
	d->instructions = 0;
	d->base_cycles -= d->traced_cycles;
	d->traced_cycles = d->cycles = 0;
	d->exact_cycles = PT_EXACT_BEFORE;
	d->clock.cycles = 0;
	d->ended_before = true;
	d->ended_missed = false;
	d->lost = 0;
}

static bool same_moment(const struct pt_moment *a, const struct pt_moment *b)
{
	return a->time == b->time && a->cycles == b->cycles && a->exact_cycles == b->exact_cycles && a->base == b->base &&
		a->code == b->code && a->instructions_at_time == b->instructions_at_time && a->bus_ratio == b->bus_ratio &&
		a->mode == b->mode && a->have_cycles == b->have_cycles;
}

/* The first instruction at which a guess changes, and behind which it does not matter. */
static void note_slot(struct pt_segment *s, const struct pt_event *event)
{
	s->decoder.slots_guessed = false;
	s->slot_step = s->steps.count;
	/* it would be another instruction; or a branch, which would be timed instead */
	s->slots_matter = !s->decoder.slot_changes || event->branch != INSTRUCTION_OTHER;
}

static void add_step(struct pt_segment *s, const struct pt_event *event)
{
	const struct pt_moment moment = pt_moment_of(&s->decoder);
	if (s->decoder.slots_guessed && event->kind == PT_EVENT_INSTRUCTION)
		note_slot(s, event);
	if (!s->moments.count || !same_moment(&moment, &s->moments.items[s->moments.count - 1]))
		vec_push(&s->moments, moment);
	vec_push(&s->steps, ((struct pt_step){ .event = *event, .instructions = (uint32_t)s->decoder.instructions,
		.moment = (uint32_t)s->moments.count - 1, .calls = (uint32_t)s->calls.count }));
}

void pt_segment_call(struct pt_segment *s, bool is_return, uint64_t from, uint64_t to, unsigned size)
{
	vec_push(&s->calls, ((struct pt_call){ .from = from, .to = to, .time = s->decoder.time, .size = (uint8_t)size,
		.is_return = is_return }));
}

/* Delivers the PSB with which the segment begins. */
static bool begin(struct pt_segment *s)
{
	struct pt_decoder *d = &s->decoder;
	struct pt_event event;
	if (s->exact)
		return true;
	begin_anew(s);
	if (!warm_up(s))
		return false;
	d->instructions_at_time = d->instructions = 0;
	d->cycles_counted = false;
	if (pt_decoder_next(d, &event) <= 0 || event.kind != PT_EVENT_PSB || event.payload != s->from.position)
		return false;
	return true;
}

void pt_segment_decode(struct pt_segment *s, const struct pt_config *config)
{
	struct pt_decoder *d = &s->decoder;
	struct pt_event event = { 0 };
	d->config = *config;
	if (!begin(s)) {
		s->failed = true;
		return;
	}
	state_of(d, s->state);
	begin_counts(d);
	s->in_slots = d->in_slots;
	s->slot_step = SIZE_MAX;
	s->slots_stay = s->slots_matter = false;
	d->slots_guessed = d->in_slots && !s->exact;
	bool have_cycles = d->clock.have_cycles;
	d->pause = UINT64_MAX;
	do {
		if (pt_decoder_next(d, &event) <= 0) {
			s->ended = true;
			break;
		}
		add_step(s, &event);
		/* what an event of an interrupt has in addition is not stored; a first CYC packet counts from an unknown time */
		s->failed = d->clock.have_cycles != have_cycles || s->steps.count + s->calls.count > s->steps_max ||
			d->place.position - s->from.position > s->bytes_max ||
			d->instructions > UINT32_MAX || event.kind == PT_EVENT_INTERRUPT || d->ended_missed;
	} while (!s->failed && (event.kind != PT_EVENT_PSB || event.payload < s->until));
	s->slots_stay = d->slots_guessed;
	d->slots_guessed = false;
}

void pt_segment_pass(const struct pt_segment *s, struct pt_decoder *d)
{
	const struct pt_decoder before = *d;
	*d = s->decoder;
	d->config = before.config;
	d->pause = before.pause;
	if (s->slots_stay)
		d->in_slots = before.in_slots;
	d->instructions += before.instructions;
	d->instructions_at_time += before.instructions;
	d->stop_at += d->stop_at == UINT64_MAX ? 0 : before.instructions;
	d->traced_cycles += before.traced_cycles;
	d->base_cycles += before.traced_cycles;
	d->cycles += before.traced_cycles;
	d->exact_cycles = d->exact_cycles == PT_EXACT_BEFORE ? before.exact_cycles : d->exact_cycles + before.traced_cycles;
	d->clock.cycles += before.clock.cycles;
	if (d->ended_before)
		d->ended_at = before.ended_at;
	d->ended_before = false;
	forget_code(d);
}

void pt_segment_fini(struct pt_segment *s)
{
	vec_fini(&s->steps);
	vec_fini(&s->calls);
	vec_fini(&s->moments);
}
