#include "decode/intel_pt/packets.h"
#include "decode/intel_pt/walk.h"

enum { WAITING_MAX = sizeof((struct pt_decoder *)0)->waiting / sizeof *((struct pt_decoder *)0)->waiting };

static struct pt_event instruction(const struct pt_decoder *d, uint64_t ip)
{
	return (struct pt_event){ .kind = PT_EVENT_INSTRUCTION, .from = ip, .has_ip = true, .in_transaction = d->transaction };
}

void quick_instruction(struct pt_decoder *d, uint64_t ip)
{
	if (d->waiting_count < WAITING_MAX)
		d->waiting[d->waiting_count++] = instruction(d, ip);
	d->waiting_next = 0;
	d->delivering = true;
}

static enum quick deliver(struct pt_decoder *d, const struct pt_event *made, struct pt_event *event)
{
	walk_pass_time(d);
	*event = *made;
	event->timed = walk_is_timed(d);
	return QUICK_DELIVER;
}

struct pt_event quick_left(const struct pt_decoder *d, uint64_t ip)
{
	struct pt_event event = instruction(d, ip);
	struct pt_place place = d->place;
	struct pt_address address = d->address;
	struct pt_packet packet;
	while (d->async && packets_read(d, &place, PT_BLOCK_NONE, &packet) == PT_READ_PACKET) {
		if (is_time_packet(packet.type) || packet.type == PT_PACKET_PIP || packet.type == PT_PACKET_MODE_EXEC)
			continue;
		event.async = packet.type == PT_PACKET_TIP && pt_address_take(&address, &packet, &event.to);
		event.aborts = event.async && d->aborts;
		break;
	}
	return event;
}

static enum quick target(struct pt_decoder *d, uint64_t ip, struct pt_event *event)
{
	uint64_t from = d->ip;
	bool async = d->async, aborts = d->aborts;
	d->tracing = true;
	d->async = d->aborts = false;
	walk_to(d, ip);
	if (!async)
		return deliver(d, &(struct pt_event){ .kind = PT_EVENT_INSTRUCTION, .from = ip, .has_ip = true }, event);
	quick_instruction(d, ip);
	return deliver(d, &(struct pt_event){ .kind = PT_EVENT_BRANCH, .async = true, .aborts = aborts, .guest = d->non_root,
		.in_transaction = d->transaction, .from = from, .to = ip }, event);
}

static enum quick end(struct pt_decoder *d, bool has_ip, uint64_t ip, struct pt_event *event)
{
	uint64_t from = d->async ? d->ip : 0;
	bool async = d->async;
	d->ended_at = has_ip ? ip : d->ip;
	d->tracing = d->async = d->ip_known = false;
	if (!has_ip && !async)
		return QUICK_GO_ON;
	return deliver(d, &(struct pt_event){ .kind = PT_EVENT_BRANCH, .async = async, .ends = true, .guest = d->non_root, .from = from,
		.to = ip }, event);
}

enum quick quick_packet(struct pt_decoder *d, struct pt_event *event)
{
	uint64_t ip;
	if (d->config.quick > 1 && d->packet.type != PT_PACKET_PSB) { /* from PSB to PSB */
		d->synced = false;
		return QUICK_GO_ON;
	}
	switch (d->packet.type) {
	case PT_PACKET_TNT:
		return QUICK_GO_ON;
	case PT_PACKET_TIP:
		return pt_address_take(&d->address, &d->packet, &ip) ? target(d, ip, event) : QUICK_GO_ON;
	case PT_PACKET_TIP_PGD: {
		bool has_ip = pt_address_take(&d->address, &d->packet, &ip);
		return end(d, has_ip, ip, event);
	}
	case PT_PACKET_FUP:
		if (d->waiting_count || !d->tracing || !pt_address_take(&d->address, &d->packet, &ip))
			return QUICK_NOT;
		d->overflowed = false;
		d->async = true;
		walk_to(d, ip);
		*event = quick_left(d, ip);
		return deliver(d, event, event);
	default:
		return QUICK_NOT;
	}
}
