#include "cmd/diff/gate.h"

void gate_init(struct gate *gate)
{
	*gate = (struct gate){ .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
}

/* Under the lock. */
static void wait_for_others(struct gate *gate)
{
	while (gate->meets)
		pthread_cond_wait(&gate->changed, &gate->lock);
}

void gate_enter(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	wait_for_others(gate);
	gate->inside++;
	pthread_mutex_unlock(&gate->lock);
}

void gate_leave(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->inside--;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

void gate_lock(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->resting++;
	pthread_cond_broadcast(&gate->changed);
	wait_for_others(gate);
	gate->resting--;
}

void gate_unlock(struct gate *gate)
{
	pthread_mutex_unlock(&gate->lock);
}

void gate_meet(struct gate *gate, void (*act)(void *context), void *context)
{
	gate->meets = true;
	while (gate->resting + 1 < gate->inside)
		pthread_cond_wait(&gate->changed, &gate->lock);
	act(context);
	gate->meets = false;
	pthread_cond_broadcast(&gate->changed);
}
