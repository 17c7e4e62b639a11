#include "os/file_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/test_child.h"

static char replaced_path[TRUNCATED_PATH_SIZE];
static volatile int replaced_count;

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	replaced_count += truncated_replace(info, replaced_path);
}

/* A file of `pages` pages of 'x'. */
static int make_file(char *path, size_t pages, size_t page)
{
	int fd = mkstemp(path);
	char *bytes = malloc(page);
	memset(bytes, 'x', page);
	for (size_t i = 0; i < pages; i++)
		EXPECT(write(fd, bytes, page) == (ssize_t)page);
	free(bytes);
	return fd;
}

TEST("pages of a mapped file that is truncated read as zeros, all of them after one signal, and the file is named")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator ends a program at SIGBUS; native builds run it");
		return;
	}
	enum { PAGES = 4 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[] = "/tmp/file-signals-\t\xc2\x9b\xe2\x80\xae-XXXXXX";
	int fd = make_file(path, PAGES, page);
	volatile char *bytes = mmap(NULL, PAGES * page, PROT_READ, MAP_PRIVATE, fd, 0);
	EXPECT(bytes != MAP_FAILED);
	truncated_catch(on_bus_error);
	replaced_count = 0;
	EXPECT_INT(bytes[PAGES * page - 1], 'x');
	EXPECT(ftruncate(fd, (off_t)page) == 0);
	errno = 77;
	EXPECT_INT(bytes[page], 0);
	EXPECT_INT(errno, 77);
	EXPECT_INT(bytes[PAGES * page - 1], 0);
	EXPECT_INT(bytes[page - 1], 'x');
	EXPECT_INT(replaced_count, 1);
	EXPECT(strncmp(replaced_path, "/tmp/file-signals-\?\?\?\?\?\?-", 25) == 0); /* neither C0, C1 nor marks of direction */
	EXPECT_STR(replaced_path + 25, path + 25);
	EXPECT(ftruncate(fd, 0) == 0);
	EXPECT_INT(bytes[0], 0);
	EXPECT_INT(replaced_count, 2);
	munmap((void *)bytes, PAGES * page);
	close(fd);
	unlink(path);
}

TEST("a page of a shared mapping is not replaced: the program ends")
{
	if (kernel_is_emulated()) {
		unit_skip("the emulator ends a program at SIGBUS; native builds run it");
		return;
	}
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char path[] = "/tmp/file-signals-XXXXXX";
	int status = 0, fd = make_file(path, 1, page);
	pid_t pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
		truncated_catch(on_bus_error);
		volatile char *bytes = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
		_exit(bytes[page]);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	close(fd);
	unlink(path);
}

TEST("a write beyond the limit of the file size fails, and does not end the program")
{
	char path[] = "/tmp/file-signals-XXXXXX";
	int status = 0, fd = mkstemp(path);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_DFL);
		file_limit_catch();
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ .rlim_cur = 2, .rlim_max = 2 });
		bool partly = write(fd, "abc", 3) == 2;
		_exit(partly && write(fd, "c", 1) < 0 && errno == EFBIG ? 0 : 1);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(fd);
	unlink(path);
}

TEST("a limit signal that the parent ignores stays ignored")
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		struct sigaction after;
		signal(SIGXFSZ, SIG_IGN);
		file_limit_catch();
		_exit(sigaction(SIGXFSZ, NULL, &after) == 0 && after.sa_handler == SIG_IGN ? 0 : 1);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
