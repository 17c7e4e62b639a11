#include "daemon/request.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

int request_ask(int socket, const struct request *request, struct str *answer, struct error *err)
{
	if (send(socket, request, sizeof *request, MSG_NOSIGNAL) != (ssize_t)sizeof *request)
		return error_system(err, "failed: write");
	for (;;) {
		char piece[4096];
		ssize_t n = recv(socket, piece, sizeof piece, 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_system(err, "failed: read the answer of the daemon");
		if (answer->len + (size_t)n > ANSWER_BYTES_MAX)
			return error_set(err, ERROR_LIMIT, "failed: the answer of the daemon has more than %d bytes", ANSWER_BYTES_MAX);
		str_add(answer, piece, (size_t)n);
	}
}

/* Waits until the socket is ready for `events`; false: not until end_ms. */
static bool wait_ready(int socket, short events, int64_t end_ms)
{
	struct pollfd fd = { .fd = socket, .events = events };
	for (;;) {
		int64_t left = end_ms - now_ms();
		int ready = left > 0 ? poll(&fd, 1, (int)left) : 0;
		if (ready >= 0 || errno != EINTR)
			return ready > 0;
	}
}

bool request_take(int socket, unsigned wait_ms, struct request *request)
{
	int64_t end_ms = now_ms() + wait_ms;
	size_t have = 0;
	while (have < sizeof *request && wait_ready(socket, POLLIN, end_ms)) {
		ssize_t n = recv(socket, (char *)request + have, sizeof *request - have, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			return false;
		have += n > 0 ? (size_t)n : 0;
	}
	return have == sizeof *request && request->magic == REQUEST_MAGIC && request->command > 0 && request->command < REQUEST_COUNT &&
		memchr(request->session, '\0', sizeof request->session);
}

void request_answer(int socket, unsigned wait_ms, const struct str *answer)
{
	int64_t end_ms = now_ms() + wait_ms;
	size_t sent = 0;
	while (sent < answer->len && wait_ready(socket, POLLOUT, end_ms)) {
		ssize_t n = send(socket, answer->text + sent, answer->len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;
		sent += n > 0 ? (size_t)n : 0;
	}
}
