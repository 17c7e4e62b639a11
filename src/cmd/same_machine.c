#include "cmd/same_machine.h"

#include <string.h>
#include <sys/utsname.h>

#include "image/recorded_process.h"

bool recorded_here(const struct header *header)
{
	struct utsname uts;
	const char *host = header_string(header, FEATURE_HOSTNAME);
	return host && *host && uname(&uts) == 0 && strcmp(host, uts.nodename) == 0;
}

int64_t recorded_until(const struct header *header)
{
	return !recorded_here(header) ? 0 : header->pipe ? RECORDED_NOW : header->captured;
}
