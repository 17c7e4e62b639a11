/* Any bytes as a file on this machine: opened as a module's file, its debug file, package and split unit at once. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/debug.h"
#include "image/kcore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], bytes[64];
	int fd = memfd_create("image", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct module module = { .kind = MODULE_FILE, .name = path, .long_name = path, .short_name = path, .pid = -1 };
	struct image_options options = { 0 };
	struct image_trail trail = { 0 };
	struct image_debug debug;
	struct image image, inner;
	if (image_open(&image, -1, path, NULL, NULL) == 0) {
		if (image_open_debugdata(&inner, &image, NULL) == 0)
			image_close(&inner);
		kcore_read(&image, 0xffffffff81000000, bytes, sizeof bytes);
		image_close(&image);
	}
	if (image_debug_open(&debug, &module, &options, &trail, NULL) == 0) {
		image_debug_split(&debug, "/", path + 1, 0x0807060504030201);
		image_debug_close(&debug);
	}
	image_trail_fini(&trail);
	close(fd);
	return 0;
}
