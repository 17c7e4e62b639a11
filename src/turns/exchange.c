#include "turns/exchange.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"

int exchange_open(struct exchange *exchange, struct turns_run *run, struct error *err)
{
	uint32_t count = run->plan->pairs;
	exchange->run = run;
	exchange->opened = 0;
	exchange->unfinished = run->plan->rounds ? count : 0;
	exchange->pairs = memory_zero(count, sizeof *exchange->pairs);
	for (uint32_t i = 0; i < count; i++) {
		struct exchange_pair *pair = &exchange->pairs[i];
		pair->rounds = run->plan->rounds;
		if (run->plan->model != TURN_COROUTINES && channel_open(&pair->channel, run->plan->way, true, err) < 0)
			return -1;
		work_init(&pair->work[0], run->plan, run->rate);
		work_init(&pair->work[1], run->plan, run->rate);
		exchange->opened++;
	}
	run->result->turns = 2 * run->plan->rounds * count;
	return 0;
}

void exchange_close(struct exchange *exchange)
{
	for (uint32_t i = 0; i < exchange->opened; i++) {
		struct exchange_pair *pair = &exchange->pairs[i];
		work_fini(&pair->work[0]);
		work_fini(&pair->work[1]);
		if (exchange->run->plan->model != TURN_COROUTINES)
			channel_close(&pair->channel);
	}
	free(exchange->pairs);
	exchange->pairs = NULL;
}

static int ask(struct exchange *exchange, uint32_t number, struct error *err)
{
	struct exchange_pair *pair = &exchange->pairs[number];
	work_do(&pair->work[0]);
	pair->began_ns = now_ns();
	return exchange->send(exchange->context, number, 0, err);
}

int exchange_begin(struct exchange *exchange, struct error *err)
{
	exchange->run->began_ns = now_ns();
	for (uint32_t i = 0; i < exchange->run->plan->pairs && exchange->unfinished; i++) {
		if (ask(exchange, i, err) < 0)
			return -1;
	}
	return 0;
}

uint32_t exchange_missing(const struct exchange *exchange, uint32_t pair, unsigned end)
{
	return exchange->run->plan->bytes - exchange->pairs[pair].got[end];
}

int exchange_received(struct exchange *exchange, uint32_t number, unsigned end, uint32_t bytes, struct error *err)
{
	struct exchange_pair *pair = &exchange->pairs[number];
	pair->got[end] += bytes;
	if (exchange_missing(exchange, number, end))
		return 0;
	pair->got[end] = 0;
	if (end == 1) {
		work_do(&pair->work[1]);
		return exchange->send(exchange->context, number, 1, err);
	}
	latency_add(&exchange->run->result->latency, now_ns() - pair->began_ns);
	if (--pair->rounds)
		return ask(exchange, number, err);
	exchange->unfinished--;
	return 0;
}
