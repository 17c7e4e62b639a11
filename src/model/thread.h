/* The lives of threads. Internal to model/. */
#pragma once
#include "model/model.h"

struct thread *model_thread_of(const struct model *model, uint32_t id);
/* The thread alive now under tid, made (with its process's leader where that is another) where there is none. */
uint32_t thread_now(struct model *model, int32_t pid, int32_t tid, uint64_t clock);
/* The thread alive now under tid, or THREAD_NONE. */
uint32_t thread_alive(const struct model *model, int32_t tid);
void thread_end(struct model *model, uint32_t thread, uint64_t clock);
void thread_set_comm(struct model *model, uint32_t thread, uint32_t comm, bool exec, uint64_t time, uint64_t clock);
/* Puts a living thread of an earlier generation in. */
void thread_restate(struct model *model, struct thread *thread);
