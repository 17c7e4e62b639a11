/* JSON files of events are foreign: any bytes give events and metrics, or remarks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vendor/vendor_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct vendor v = { .read = true };
	snprintf(path, sizeof path, "/tmp/vendor-fuzz-%d.json", (int)getpid());
	FILE *file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		abort();
	vendor_file_read(&v, path, &(struct vendor_origin){ .topic = "fuzz" });
	for (size_t i = 0; i < v.events.count; i++)
		if (!v.events.items[i].name || !v.events.items[i].unit || !v.events.items[i].terms ||
		    !vendor_find(&v, v.events.items[i].name, NULL))
			abort();
	for (size_t i = 0; i < v.metrics.count; i++)
		if (!v.metrics.items[i].name || !v.metrics.items[i].expression)
			abort();
	vendor_fini(&v);
	remove(path);
	return 0;
}
