/* The traffic of PCIe root ports: what `iostat` and `stat --iostat` share. */
#pragma once
#include "cmd/command.h"

struct iostat_request {
	const char *ports;        /* "list"; ports separated by commas; NULL: all */
	const char *separator;    /* NULL: text */
	unsigned interval_ms;     /* 0: once, at the end */
	const char *const *argv;  /* the command; NULL: until a signal */
};

/* Whether this machine has root ports that can be counted. */
bool iostat_is_supported(void);
/* Returns the exit code. usage: of the command that is printed after a wrong request. */
int iostat_run_request(struct cli *cli, const struct command *usage, const struct iostat_request *request);
