/* The request of a client to a daemon, and the answer: one request of fixed size, then text until the connection ends. Both sides limit
 * sizes and times. Knows no session and no meaning of a command. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum request_command { REQUEST_LIST = 1, REQUEST_SIGNAL, REQUEST_PING, REQUEST_STOP, REQUEST_COUNT };

enum {
	REQUEST_MAGIC = 0x50464431,
	REQUEST_NAME_SIZE = 80,
	ANSWER_BYTES_MAX = 1 << 20,
};

struct request {
	uint32_t magic;
	uint32_t command;               /* enum request_command */
	uint8_t separator;              /* of the fields of a list; 0: perf's text */
	uint8_t verbose;
	char session[REQUEST_NAME_SIZE]; /* NUL-terminated; "": all */
};

/* Client: sends a request and appends the answer. */
int request_ask(int socket, const struct request *request, struct str *answer, struct error *err);
/* Daemon: takes the request of a connection, waiting wait_ms at most. false: it is late, incomplete or invalid. */
bool request_take(int socket, unsigned wait_ms, struct request *request);
/* Daemon: sends the answer, waiting wait_ms at most for a client that does not read. */
void request_answer(int socket, unsigned wait_ms, const struct str *answer);
