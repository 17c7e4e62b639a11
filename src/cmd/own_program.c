#include "cmd/own_program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <unistd.h>

static void add_stream(posix_spawn_file_actions_t *actions, int fd, int stream, int flags)
{
	if (fd < 0)
		posix_spawn_file_actions_addopen(actions, stream, "/dev/null", flags, 0);
	else
		posix_spawn_file_actions_adddup2(actions, fd, stream);
}

int own_program_start(const char *const *words, int input, int output, pid_t *pid, struct error *err)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	add_stream(&actions, input, STDIN_FILENO, O_RDONLY);
	add_stream(&actions, output, STDOUT_FILENO, O_WRONLY);
	int code = posix_spawn(pid, "/proc/self/exe", &actions, NULL, (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (!code)
		return 0;
	errno = code;
	return error_system(err, "cannot start %s", words[0]);
}
