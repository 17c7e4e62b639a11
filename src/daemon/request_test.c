#include "daemon/request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { SHORT_MS = 50 };

/* Whether the daemon takes these bytes as a request. */
static bool is_taken(const void *bytes, size_t size)
{
	int ends[2];
	struct request taken = { 0 };
	EXPECT_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	EXPECT(send(ends[0], bytes, size, 0) == (ssize_t)size);
	bool result = request_take(ends[1], SHORT_MS, &taken);
	EXPECT(!result || !memcmp(&taken, bytes, sizeof taken));
	close(ends[0]);
	close(ends[1]);
	return result;
}

TEST("a request is taken only if it is complete and valid")
{
	struct request good = { .magic = REQUEST_MAGIC, .command = REQUEST_PING, .session = "a" }, bad = good;
	EXPECT(is_taken(&good, sizeof good));
	EXPECT(!is_taken(&good, sizeof good - 1));
	bad.magic++;
	EXPECT(!is_taken(&bad, sizeof bad));
	bad = good;
	bad.command = REQUEST_COUNT;
	EXPECT(!is_taken(&bad, sizeof bad));
	bad.command = 0;
	EXPECT(!is_taken(&bad, sizeof bad));
	bad.command = REQUEST_COUNT - 1;
	EXPECT(is_taken(&bad, sizeof bad));
	memset(bad.session, 'x', sizeof bad.session);
	EXPECT(!is_taken(&bad, sizeof bad));
	bad.session[sizeof bad.session - 1] = '\0';
	EXPECT(is_taken(&bad, sizeof bad));
}

/* The number of bytes that the client has of an answer of this size; -1: it refused the answer. */
static long long asked(size_t bytes)
{
	int ends[2];
	struct request request = { .magic = REQUEST_MAGIC, .command = REQUEST_LIST };
	CLEANUP_STR struct str answer = { 0 };
	struct error err = { 0 };
	EXPECT_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct request taken;
		CLEANUP_STR struct str text = { 0 };
		close(ends[0]);
		str_reserve(&text, bytes);
		memset(text.text, 'a', bytes);
		text.len = bytes;
		if (request_take(ends[1], 10000, &taken))
			request_answer(ends[1], 10000, &text);
		_exit(0);
	}
	close(ends[1]);
	int result = request_ask(ends[0], &request, &answer, &err);
	close(ends[0]);
	waitpid(pid, NULL, 0);
	EXPECT(result == 0 || err.kind == ERROR_LIMIT);
	return result == 0 ? (long long)answer.len : -1;
}

TEST("an answer has at most its limit of bytes")
{
	EXPECT_INT(asked(0), 0);
	EXPECT_INT(asked(5), 5);
	EXPECT_INT(asked(ANSWER_BYTES_MAX), ANSWER_BYTES_MAX);
	EXPECT_INT(asked(ANSWER_BYTES_MAX + 1), -1);
}

TEST("a client that does not read does not hold the daemon")
{
	int ends[2];
	CLEANUP_STR struct str text = { 0 };
	struct timeval before, after;
	EXPECT_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	str_reserve(&text, ANSWER_BYTES_MAX);
	memset(text.text, 'a', ANSWER_BYTES_MAX);
	text.len = ANSWER_BYTES_MAX;
	gettimeofday(&before, NULL);
	request_answer(ends[1], SHORT_MS, &text);
	gettimeofday(&after, NULL);
	EXPECT(after.tv_sec - before.tv_sec < 5);
	close(ends[0]);
	request_answer(ends[1], SHORT_MS, &text); /* the client is gone: no SIGPIPE */
	close(ends[1]);
}
