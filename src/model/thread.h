/* Threads over time. Internal to model/. */
#pragma once
#include "model/model.h"

struct thread *model_thread_of(const struct model *model, uint32_t id);
/* Returns the living thread with this tid; creates it, and the leader of its process, if it does not exist. */
uint32_t thread_now(struct model *model, int32_t pid, int32_t tid, uint64_t clock);
/* Returns the living thread with this tid, or THREAD_NONE. */
uint32_t thread_alive(const struct model *model, int32_t tid);
void thread_end(struct model *model, uint32_t thread, uint64_t clock);
void thread_set_comm(struct model *model, uint32_t thread, uint32_t comm, bool exec, uint64_t time, uint64_t clock);
/* Adds a living thread of the previous generation. */
void thread_restate(struct model *model, struct thread *thread);
