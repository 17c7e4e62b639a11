#include "base/budget.h"

bool budget_take(struct budget *budget, size_t bytes)
{
	if (!budget)
		return true;
	size_t before = atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed);
	if (before <= budget->limit && bytes <= budget->limit - before)
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

size_t budget_left(const struct budget *budget)
{
	size_t used = budget ? atomic_load_explicit(&budget->used, memory_order_relaxed) : 0;
	return !budget ? SIZE_MAX : used < budget->limit ? budget->limit - used : 0;
}

void budget_hurry(struct budget *budget)
{
	if (budget)
		atomic_fetch_add_explicit(&budget->hurried, 1, memory_order_relaxed);
}
