/* One record: type, two bytes of misc, body. */
#include <stdlib.h>

#include "render/dump/record_text.h"
#include "analysis/task/tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3 || size > UINT16_MAX)
		return 0;
	/* A separate copy: bodies are aligned, and ASan detects reads beyond their end. */
	uint8_t *body = malloc(size - 3 + 1);
	memcpy(body, data + 3, size - 3);
	struct record record = { .type = data[0], .misc = (uint16_t)(data[1] | data[2] << 8), .body = body };
	record.body_len = (uint32_t)size - 3;
	struct writer out;
	struct tasks tasks;
	writer_open(&out, -1, 0);
	record_text(&record, 7, &out);
	tasks_init(&tasks, true);
	tasks_apply(&tasks, &record);
	tasks_arrange(&tasks);
	tasks_fini(&tasks);
	writer_fini(&out);
	free(body);
	return 0;
}
