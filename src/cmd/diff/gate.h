/* Threads that read one recording each, and sometimes meet: one of them acts while the others rest. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned inside, resting;
	bool meets;
};

void gate_init(struct gate *gate);
/* Around the reading of a thread. */
void gate_enter(struct gate *gate);
void gate_leave(struct gate *gate);
/* Around a pause of the reading. While others meet, the thread rests in gate_lock. Between the two it may call gate_meet. */
void gate_lock(struct gate *gate);
void gate_unlock(struct gate *gate);
/* Calls act when all other threads inside rest; they go on afterwards. */
void gate_meet(struct gate *gate, void (*act)(void *context), void *context);
