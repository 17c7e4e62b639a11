#include "record/acquire/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/place.h"

static int bad_text(struct error *err)
{
	return error_set(err, ERROR_OPTION, "--control is fd:NUMBER[,NUMBER] or fifo:PATH[,PATH]");
}

static int parse_number(const char **text, int *fd, struct error *err)
{
	char *end;
	errno = 0;
	long number = strtol(*text, &end, 0);
	if (end == *text || errno || number < 0 || number > INT_MAX)
		return bad_text(err);
	*fd = (int)number;
	*text = end;
	return 0;
}

static int open_numbers(struct control *control, const char *text, struct error *err)
{
	if (parse_number(&text, &control->fd, err) < 0)
		return -1;
	if (*text == ',') {
		text++;
		if (parse_number(&text, &control->acknowledge, err) < 0)
			return -1;
	}
	return *text ? bad_text(err) : 0;
}

/* The user of a folder may replace a FIFO by another file, or by a link to one of root: the answers would be written into it. */
static int open_place(const struct place *place)
{
	struct stat st;
	int fd = openat(place->folder, place->name, O_RDWR | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* Both directions, so that the other end may be closed and opened again. */
static int open_fifo(const char *text, size_t len, int *fd, struct error *err)
{
	char path[PATH_MAX];
	struct place place;
	struct error why = { 0 };
	if (len >= sizeof path)
		return bad_text(err);
	memcpy(path, text, len);
	path[len] = '\0';
	if (place_find(&place, path, &why) < 0)
		return why.kind == ERROR_PERMISSION ? error_set(err, ERROR_OPTION, "%s", why.text) :
			error_set(err, ERROR_OPTION, "Failed to open '%s'", path);
	if (place.kind == PLACE_PIPE)
		*fd = open_place(&place);
	place_close(&place);
	if (*fd < 0 && (place.kind == PLACE_FILE || place.kind == PLACE_FOLDER || place.kind == PLACE_DEVICE))
		return error_set(err, ERROR_OPTION, "--control: %s is not a FIFO", path);
	return *fd < 0 ? error_set(err, ERROR_OPTION, "Failed to open '%s'", path) : 0;
}

static int open_fifos(struct control *control, const char *text, struct error *err)
{
	size_t len = strcspn(text, ",");
	if (!len)
		return bad_text(err);
	control->ours = true;
	if (open_fifo(text, len, &control->fd, err) < 0)
		return -1;
	text += len + (text[len] == ',');
	return *text ? open_fifo(text, strlen(text), &control->acknowledge, err) : 0;
}

int control_open(struct control *control, const char *text, struct error *err)
{
	*control = (struct control){ .fd = -1, .acknowledge = -1 };
	if (strncmp(text, "fd:", 3) == 0)
		return open_numbers(control, text + 3, err);
	return strncmp(text, "fifo:", 5) == 0 ? open_fifos(control, text + 5, err) : bad_text(err);
}

void control_close(struct control *control)
{
	if (control->ours && control->fd >= 0)
		close(control->fd);
	if (control->ours && control->acknowledge >= 0)
		close(control->acknowledge);
	*control = (struct control){ .fd = -1, .acknowledge = -1 };
}

int control_read(int fd, struct control_line *line, void (*each)(void *context, const char *line), void *context)
{
	char bytes[256];
	ssize_t n = read(fd, bytes, sizeof bytes);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		return -1;
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] != '\n' && bytes[i] != '\0') {
			if (line->len < sizeof line->text - 1)
				line->text[line->len++] = bytes[i];
			continue;
		}
		line->text[line->len] = '\0';
		if (line->len)
			each(context, line->text);
		line->len = 0;
	}
	return 0;
}

bool control_is(const char *line, const char *word, const char **rest)
{
	size_t len = strlen(word);
	if (strncmp(line, word, len) != 0 || (line[len] && line[len] != ' '))
		return false;
	*rest = line + len + (line[len] == ' ');
	return true;
}

void control_acknowledge(int fd)
{
	static const char answer[] = "ack\n"; /* with its NUL: readers of perf's answers expect five bytes */
	struct pollfd answered = { .fd = fd, .events = POLLOUT };
	/* a sender that reads no answers must not block the measurement */
	if (poll(&answered, 1, 0) == 1 && answered.revents & POLLOUT) {
		ssize_t n = write(fd, answer, sizeof answer);
		(void)n;
	}
}
