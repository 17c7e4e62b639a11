#include "turns/plan.h"

#include <string.h>

static const char *const way_names[TURN_WAYS] = { "yield", "sleep", "futex", "pipe", "eventfd", "socketpair", "socket" };
static const char *const model_names[TURN_MODELS] = { "threads", "epoll", "io_uring", "coroutines" };

const char *turn_way_name(enum turn_way way)
{
	return way_names[way];
}

const char *turn_model_name(enum turn_model model)
{
	return model_names[model];
}

static int named(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -1;
}

int turn_way_named(const char *name)
{
	return named(way_names, TURN_WAYS, name);
}

int turn_model_named(const char *name)
{
	return named(model_names, TURN_MODELS, name);
}

bool turn_way_has_pairs(enum turn_way way)
{
	return way != TURN_YIELD && way != TURN_SLEEP;
}

int turns_check(const struct turns_plan *plan, struct error *err)
{
	const char *way = turn_way_name(plan->way), *model = turn_model_name(plan->model);
	bool descriptors = turn_way_has_pairs(plan->way) && plan->way != TURN_FUTEX;
	bool yields = plan->way == TURN_YIELD && plan->model == TURN_COROUTINES;
	if (plan->model != TURN_THREADS && !turn_way_has_pairs(plan->way) && !yields)
		return error_set(err, ERROR_USAGE, "the model %s exchanges messages, and %s has none", model, way);
	if ((plan->model == TURN_EPOLL || plan->model == TURN_URING) && !descriptors)
		return error_set(err, ERROR_USAGE, "%s cannot wait for a %s, which has no descriptor", model, way);
	if (plan->pairs < 1 || plan->pairs > TURNS_PAIRS_MAX)
		return error_set(err, ERROR_USAGE, "there can be 1 to %d pairs, and not %u", TURNS_PAIRS_MAX, plan->pairs);
	if (plan->bytes < 1 || plan->bytes > TURNS_BYTES_MAX)
		return error_set(err, ERROR_USAGE, "a message can have 1 to %d bytes, and not %u", TURNS_BYTES_MAX, plan->bytes);
	if (plan->way == TURN_EVENTFD && plan->bytes != sizeof(uint64_t))
		return error_set(err, ERROR_USAGE, "a message of an eventfd has 8 bytes, and not %u", plan->bytes);
	if (plan->set_bytes && !plan->stride)
		return error_set(err, ERROR_USAGE, "the distance of touched bytes cannot be 0");
	uint64_t ends = (uint64_t)plan->pairs * (turn_way_has_pairs(plan->way) ? 2 : 1);
	if (plan->set_bytes > (UINT64_C(1) << 40) / ends)
		return error_set(err, ERROR_LIMIT, "the memory of %llu ends would be larger than 1 TB", (unsigned long long)ends);
	return 0;
}
