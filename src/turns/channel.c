#include "turns/channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ends[i] reads what pairs[i] yields, and writes to the other one. */
static int open_pipes(struct channel *channel, int flags)
{
	for (unsigned i = 0; i < 2; i++) {
		int pipes[2];
		if (pipe2(pipes, O_CLOEXEC | flags) < 0)
			return -1;
		channel->ends[i].in = pipes[0];
		channel->ends[1 - i].out = pipes[1];
	}
	return 0;
}

static int open_eventfds(struct channel *channel, int flags)
{
	for (unsigned i = 0; i < 2; i++) {
		int fd = eventfd(0, EFD_CLOEXEC | (flags ? EFD_NONBLOCK : 0));
		if (fd < 0)
			return -1;
		channel->ends[i].in = fd;
		channel->ends[1 - i].out = fd;
	}
	return 0;
}

static void set_socket(struct channel *channel, unsigned end, int fd)
{
	channel->ends[end].in = channel->ends[end].out = fd;
}

static int open_socketpair(struct channel *channel, int flags)
{
	int sockets[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (flags ? SOCK_NONBLOCK : 0), 0, sockets) < 0)
		return -1;
	set_socket(channel, 0, sockets[0]);
	set_socket(channel, 1, sockets[1]);
	return 0;
}

/* Accepts only the connection that this process made: the port of the accepted peer is that of the connecting socket. */
static int accept_own(int listener, int client, int flags)
{
	struct sockaddr_in own, peer;
	socklen_t size = sizeof own;
	if (getsockname(client, (struct sockaddr *)&own, &size) < 0)
		return -1;
	for (;;) {
		size = sizeof peer;
		int fd = accept4(listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | flags);
		if (fd < 0 || (peer.sin_port == own.sin_port && peer.sin_addr.s_addr == own.sin_addr.s_addr))
			return fd;
		close(fd);
	}
}

static int open_tcp(struct channel *channel, int flags)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof address;
	int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	set_socket(channel, 0, client);
	int status = listener < 0 || client < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 4) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &size) < 0 || connect(client, (struct sockaddr *)&address, size) < 0 ? -1 : 0;
	if (status == 0) {
		int server = accept_own(listener, client, flags ? SOCK_NONBLOCK : 0);
		set_socket(channel, 1, server);
		status = server < 0 || setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 ||
			setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 ||
			(flags && fcntl(client, F_SETFL, O_NONBLOCK) < 0) ? -1 : 0;
	}
	int error = errno;
	if (listener >= 0)
		close(listener);
	errno = error;
	return status;
}

int channel_open(struct channel *channel, enum turn_way way, bool nonblocking, struct error *err)
{
	int flags = nonblocking ? O_NONBLOCK : 0, status = 0;
	*channel = (struct channel){ .way = way };
	for (unsigned i = 0; i < 2; i++)
		channel->ends[i] = (struct channel_end){ .in = -1, .out = -1, .turn = &channel->turn, .number = i };
	if (way == TURN_PIPE)
		status = open_pipes(channel, flags);
	else if (way == TURN_EVENTFD)
		status = open_eventfds(channel, flags);
	else if (way == TURN_SOCKETPAIR)
		status = open_socketpair(channel, flags);
	else if (way == TURN_SOCKET)
		status = open_tcp(channel, flags);
	if (status == 0)
		return 0;
	error_system(err, "cannot open a %s", turn_way_name(way));
	if (errno == EMFILE)
		error_hint(err, "a pair needs up to 4 descriptors: ulimit -n raises their number");
	channel_close(channel);
	return -1;
}

void channel_close(struct channel *channel)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct channel_end *end = &channel->ends[i];
		if (end->in >= 0)
			close(end->in);
		/* the descriptors of pipes are distinct; an eventfd's and a socket's were closed as `in` */
		if (end->out >= 0 && channel->way == TURN_PIPE)
			close(end->out);
	}
	channel->ends[0].in = channel->ends[0].out = channel->ends[1].in = channel->ends[1].out = -1;
}

static long futex(uint32_t *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

const void *channel_message(const struct channel *channel)
{
	static const char zeros[TURNS_BYTES_MAX];
	static const uint64_t one = 1;
	return channel->way == TURN_EVENTFD ? (const void *)&one : zeros;
}

bool channel_send(const struct channel *channel, unsigned number, uint32_t bytes)
{
	const char *message = channel_message(channel);
	const struct channel_end *end = &channel->ends[number];
	if (channel->way == TURN_FUTEX) {
		__atomic_store_n(end->turn, 1 - end->number, __ATOMIC_RELEASE);
		return futex(end->turn, FUTEX_WAKE, 1) >= 0;
	}
	for (uint32_t sent = 0; sent < bytes;) {
		ssize_t n = write(end->out, message + sent, bytes - sent);
		if (n < 0 && errno != EINTR)
			return false;
		sent += n > 0 ? (uint32_t)n : 0;
	}
	return true;
}

bool channel_receive(const struct channel *channel, unsigned number, char *message, uint32_t bytes)
{
	const struct channel_end *end = &channel->ends[number];
	if (channel->way == TURN_FUTEX) {
		while (__atomic_load_n(end->turn, __ATOMIC_ACQUIRE) != end->number) {
			if (futex(end->turn, FUTEX_WAIT, 1 - end->number) < 0 && errno != EAGAIN && errno != EINTR)
				return false;
		}
		return true;
	}
	for (uint32_t got = 0; got < bytes;) {
		ssize_t n = read(end->in, message + got, bytes - got);
		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		got += n > 0 ? (uint32_t)n : 0;
	}
	return true;
}
