#include "turns/turns.h"

#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "turns/models.h"

static int (*const models[TURN_MODELS])(struct turns_run *, struct error *) = {
	turns_threads, turns_epoll, turns_uring, turns_coroutines,
};

static uint64_t time_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

int turns_run(const struct turns_plan *plan, const struct turns_meter *meter, struct turns_result *result, struct error *err)
{
	struct rusage before, after;
	if (turns_check(plan, err) < 0)
		return -1;
	memset(result, 0, sizeof *result);
	struct turns_run run = { .plan = plan, .result = result, .rate = { 0 } };
	if (plan->work_ns)
		run.rate = work_calibrate();
	if (meter)
		meter->begin(meter->context);
	getrusage(RUSAGE_SELF, &before);
	int status = models[plan->model](&run, err);
	result->wall_ns = now_ns() - run.began_ns;
	getrusage(RUSAGE_SELF, &after);
	if (meter)
		meter->end(meter->context);
	if (status < 0)
		return -1;
	result->user_ns = time_ns(after.ru_utime) - time_ns(before.ru_utime);
	result->system_ns = time_ns(after.ru_stime) - time_ns(before.ru_stime);
	result->voluntary = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
	result->involuntary = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
	result->minor_faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
	result->major_faults = (uint64_t)(after.ru_majflt - before.ru_majflt);
	return 0;
}
