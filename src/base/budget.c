#include "base/budget.h"

size_t budget_limit(struct budget *budget)
{
	size_t limit = atomic_load_explicit(&budget->limit, memory_order_relaxed);
	if (!limit && budget->measure) {
		limit = budget->measure();
		atomic_store_explicit(&budget->limit, limit, memory_order_relaxed);
	}
	return limit;
}

bool budget_take(struct budget *budget, size_t bytes)
{
	if (!budget)
		return true;
	size_t limit = budget_limit(budget), before = atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
	if (before <= limit && bytes <= limit - before)
		return true;
	budget_give(budget, bytes);
	budget_refuse(budget);
	return false;
}

void budget_refuse(struct budget *budget)
{
	if (budget)
		atomic_fetch_add_explicit(&budget->refused, 1, memory_order_relaxed);
}

void budget_give(struct budget *budget, size_t bytes)
{
	if (budget)
		atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

size_t budget_left(struct budget *budget)
{
	if (!budget)
		return SIZE_MAX;
	size_t limit = budget_limit(budget), used = atomic_load_explicit(&budget->used, memory_order_relaxed);
	return used < limit ? limit - used : 0;
}

void budget_hurry(struct budget *budget)
{
	if (budget)
		atomic_fetch_add_explicit(&budget->hurried, 1, memory_order_relaxed);
}
