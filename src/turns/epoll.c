#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "turns/exchange.h"

enum { EVENTS_AT_ONCE = 256 };

/* A message is smaller than any channel's buffer, which is empty when an end sends: one write takes it whole. */
static int send_message(void *context, uint32_t pair, unsigned end, struct error *err)
{
	const struct exchange *exchange = context;
	const struct channel *channel = &exchange->pairs[pair].channel;
	uint32_t bytes = exchange->run->plan->bytes;
	ssize_t n = write(channel->ends[end].out, channel_message(channel), bytes);
	if (n == (ssize_t)bytes)
		return 0;
	return n < 0 ? error_system(err, "cannot write to a %s", turn_way_name(channel->way))
		: error_set(err, ERROR_SYSTEM, "a %s takes only a part of a message", turn_way_name(channel->way));
}

static int watch(const struct exchange *exchange, int epoll, struct error *err)
{
	for (uint32_t i = 0; i < exchange->run->plan->pairs; i++) {
		for (unsigned end = 0; end < 2; end++) {
			struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)i << 1 | end };
			if (epoll_ctl(epoll, EPOLL_CTL_ADD, exchange->pairs[i].channel.ends[end].in, &event) < 0)
				return error_system(err, "cannot wait for a %s", turn_way_name(exchange->run->plan->way));
		}
	}
	return 0;
}

static int take(struct exchange *exchange, uint32_t pair, unsigned end, struct error *err)
{
	char message[TURNS_BYTES_MAX];
	ssize_t n = read(exchange->pairs[pair].channel.ends[end].in, message, exchange_missing(exchange, pair, end));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return error_system(err, "cannot read from a %s", turn_way_name(exchange->run->plan->way));
	return exchange_received(exchange, pair, end, (uint32_t)n, err);
}

static int loop(struct exchange *exchange, int epoll, struct error *err)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	while (exchange->unfinished) {
		int n = epoll_wait(epoll, events, EVENTS_AT_ONCE, -1);
		if (n < 0 && errno != EINTR)
			return error_system(err, "epoll_wait");
		for (int i = 0; i < n; i++) {
			if (take(exchange, (uint32_t)(events[i].data.u64 >> 1), events[i].data.u64 & 1, err) < 0)
				return -1;
		}
	}
	return 0;
}

int turns_epoll(struct turns_run *run, struct error *err)
{
	struct exchange exchange = { .send = send_message };
	exchange.context = &exchange;
	int status = exchange_open(&exchange, run, err), epoll = epoll_create1(EPOLL_CLOEXEC);
	if (status == 0 && epoll < 0)
		status = error_system(err, "epoll_create1");
	if (status == 0)
		status = watch(&exchange, epoll, err);
	if (status == 0)
		status = exchange_begin(&exchange, err);
	if (status == 0)
		status = loop(&exchange, epoll, err);
	if (epoll >= 0)
		close(epoll);
	exchange_close(&exchange);
	return status;
}
