/* Event texts come from users and configuration files: any bytes must give events, or an error with an offset in the text. */
#include <stdlib.h>
#include <string.h>

#include "event/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	struct events events = { 0 };
	struct event_error err;
	struct writer out;
	writer_open(&out, -1, 0);
	if (events_parse(&events, text, &err) < 0) {
		if (err.at > strlen(text))
			abort();
		event_error_print(&err, &out);
	}
	for (size_t i = 0; i < events.list.count; i++) {
		struct str name = { 0 };
		if (!events.list.items[i].name || events.list.items[i].leader >= events.list.count)
			abort();
		event_name_of(&events.list.items[i].attr, &name);
		str_fini(&name);
	}
	writer_fini(&out);
	events_fini(&events);
	free(text);
	return 0;
}
