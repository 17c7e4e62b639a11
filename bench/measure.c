/* Runs a command on given CPUs with stdout to a file and tells its wall time, CPU time and peak memory. A program of its own, and
 * small: a child starts with its parent's peak, so a parent as large as an interpreter would hide what `version` takes.
 * usage: measure CPUS OUTPUT COMMAND...   CPUS: "0" or "0,1". Prints: wall_s cpu_s rss_kib status. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void child(char **argv)
{
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	for (char *p = argv[1]; *p; p += *p == ',')
		CPU_SET((int)strtol(p, &p, 10), &cpus);
	int out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600), none = open("/dev/null", O_RDWR);
	if (out < 0 || none < 0 || sched_setaffinity(0, sizeof cpus, &cpus) < 0)
		_exit(126);
	dup2(none, 0);
	dup2(out, 1);
	dup2(none, 2);
	execvp(argv[3], argv + 3);
	_exit(127);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	double begin = now();
	pid_t pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0)
		child(argv);
	int status;
	struct rusage use;
	if (wait4(pid, &status, 0, &use) < 0)
		return 2;
	printf("%.6f %.6f %ld %d\n", now() - begin, seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_maxrss,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
