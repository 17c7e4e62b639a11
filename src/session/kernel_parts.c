#include "session/kernel_parts.h"

#define KERNEL_PARTS_MAX 128u

void session_place_kernel(struct session *session, size_t *seen, uint64_t clock)
{
	struct kernel_part parts[KERNEL_PARTS_MAX];
	const struct modules *modules = &session->model.modules;
	for (size_t *i = seen; *i < modules->list.count; ++*i) {
		const struct module *kernel = modules->list.items[*i];
		if (!kernel || kernel->kind != MODULE_KERNEL || kernel->guest)
			continue;
		size_t count = session->kernel_parts(session->kernel_beyond_context, kernel, parts, KERNEL_PARTS_MAX);
		model_place_kernel(&session->model, kernel, parts, count, clock);
		session->kernel_parts = NULL;
		return;
	}
}
