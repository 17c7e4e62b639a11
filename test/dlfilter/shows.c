/* A filter that prints what it receives, drops samples by its arguments, and calls each function of the interface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/script/dlfilter_abi.h"

struct dlfilter_functions perf_dlfilter_fns;

static int events, all, lines;

static void show_location(const char *what, const struct dlfilter_location *l)
{
	if (!l) {
		printf(" %s none", what);
		return;
	}
	printf(" %s %s+%u %llx [%llx,%llx) b%u %s", what, l->sym ? l->sym : "-", l->symoff, (unsigned long long)l->addr,
		(unsigned long long)l->sym_start, (unsigned long long)l->sym_end, l->sym_binding, l->dso ? l->dso : "-");
	if (l->dso)
		printf(" %u id%u", l->is_64_bit, l->buildid_size);
	for (uint32_t i = 0; i < l->buildid_size; i++)
		printf("%02x", l->buildid[i]);
}

const char *filter_description(const char **long_description)
{
	*long_description = "all of it";
	return "shows samples";
}

int start(void **data, void *ctx)
{
	int count;
	char **words = perf_dlfilter_fns.args(ctx, &count);
	for (int i = 0; i < count; i++)
		printf("argument %s\n", words[i]);
	if (count && strcmp(words[0], "refuse") == 0)
		return -3;
	all = count && strcmp(words[0], "all") == 0;
	lines = count && strcmp(words[0], "lines") == 0;
	*data = &events;
	return 0;
}

int stop(void *data, void *ctx)
{
	(void)ctx;
	printf("%d events\n", *(int *)data);
	return 0;
}

int filter_event_early(void *data, const struct dlfilter_sample *s, void *ctx)
{
	(void)data;
	const struct dlfilter_location *ip = perf_dlfilter_fns.resolve_ip(ctx);
	printf("early %s of %s%s\n", s->event, ip ? ip->comm : "-", ip && ip->filtered ? " filtered" : "");
	return 0;
}

int filter_event(void *data, const struct dlfilter_sample *s, void *ctx)
{
	int number = ++*(int *)data;
	uint32_t line = 0, length = 0;
	printf("%u %d/%d cpu %d time %llu ip %llx addr %llx id %llu period %llu weight %llu flags %x mode %u misc %x raw %u", s->size, s->pid,
		s->tid, s->cpu, (unsigned long long)s->time, (unsigned long long)s->ip,
		(unsigned long long)(s->addr_correlates_sym ? s->addr : 0), /* of instructions, perf has a value that is not recorded */
		(unsigned long long)s->id, (unsigned long long)s->period, (unsigned long long)s->weight, s->flags, s->cpumode, s->misc, s->raw_size);
	printf(" ipc %llu/%llu source %llx corr %u chain %llu", (unsigned long long)s->insn_cnt, (unsigned long long)s->cyc_cnt,
		(unsigned long long)s->data_src, s->addr_correlates_sym, (unsigned long long)s->raw_callchain_nr);
	for (uint64_t i = 0; i < s->raw_callchain_nr; i++)
		printf(" %llx", (unsigned long long)s->raw_callchain[i]);
	printf(" branches %llu", (unsigned long long)s->brstack_nr);
	show_location("ip", perf_dlfilter_fns.resolve_ip(ctx));
	if (s->addr_correlates_sym)
		show_location("addr", perf_dlfilter_fns.resolve_addr(ctx));
	const uint32_t *attr = perf_dlfilter_fns.attr(ctx);
	printf(" attr %u %u", attr[0], attr[2]);
	const char *file = lines ? perf_dlfilter_fns.srcline(ctx, &line) : NULL;
	if (file)
		printf(" at %s:%u", file, line);
	const uint8_t *code = s->ip ? perf_dlfilter_fns.insn(ctx, &length) : NULL; /* perf has that of an earlier sample */
	for (uint32_t i = 0; code && i < length; i++)
		printf(" %02x", code[i]);
	uint8_t bytes[4];
	int32_t got = perf_dlfilter_fns.object_code(ctx, s->ip, bytes, sizeof bytes);
	printf(" code %d", got == sizeof bytes ? got : 0);
	printf("\n");
	if (number == 7 && all)
		return -5;
	return number % 3 == 0;
}
