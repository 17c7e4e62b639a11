// Known call paths in code without frame pointers: chains [plain|threads|fork|dlopen PLUGIN|deep N|gone|replaced BY|memory] MS, or
// chains faults PLUGIN PAGES: that many page faults, below functions of the plug-in
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

extern "C" {
volatile unsigned long sink;
static std::chrono::steady_clock::time_point deadline;

static bool is_over()
{
	return std::chrono::steady_clock::now() >= deadline;
}

KEEP void leaf(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink = sink * 2862933555777941757ul + i;
	asm volatile("" ::: "memory");
}

KEEP void middle(unsigned rounds)
{
	volatile char room[200];
	memset((char *)room, (int)rounds, sizeof room);
	leaf(rounds);
	sink += (unsigned long)room[7];
}

KEEP void outer()
{
	while (!is_over()) {
		middle(20000);
		asm volatile("" ::: "memory");
	}
	sink++;
}

KEEP void recurse(unsigned depth)
{
	volatile char room[150];
	room[depth % sizeof room] = (char)depth;
	middle(1500);
	if (depth)
		recurse(depth - 1);
	sink += (unsigned long)room[3];
	asm volatile("" ::: "memory");
}
}

struct Worker {
	virtual ~Worker() = default;
	KEEP virtual void run() { outer(); sink++; }
};

static int in_threads()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 3; i++)
		threads.emplace_back([] { Worker worker; worker.run(); sink++; });
	for (auto &thread : threads)
		thread.join();
	return 0;
}

static int in_child(char *self)
{
	pid_t pid = fork();
	if (pid == 0) {
		execl(self, self, "plain", "300", (char *)NULL);
		_exit(1);
	}
	outer();
	int status;
	waitpid(pid, &status, 0);
	return status;
}

static int in_plugin(const char *path)
{
	leaf(1000000);
	void *plugin = dlopen(path, RTLD_NOW);
	auto call = plugin ? (void (*)(void (*)(unsigned)))dlsym(plugin, "plugin_call") : nullptr;
	while (call && !is_over())
		call(middle);
	return call ? 0 : 1;
}

static unsigned pages;

extern "C" KEEP void touch(unsigned)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *room = (char *)mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		_exit(1);
	madvise(room, pages * page, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < pages; i++)
		*(volatile char *)(room + i * page) = 1;
	sink++;
}

// Copies of its stack are large.
KEEP static int faults_in_plugin(const char *path, unsigned count)
{
	char room[50 << 10];
	memset(room, 1, sizeof room);
	void *plugin = dlopen(path, RTLD_NOW);
	auto call = plugin ? (void (*)(void (*)(unsigned)))dlsym(plugin, "plugin_call") : nullptr;
	pages = count;
	if (call)
		call(touch);
	__asm__ volatile("" : : "r"(room) : "memory");
	return call ? 0 : 1;
}

// Runs a copy of this program that is in no folder.
static int in_memory(char *self, char *ms)
{
	char plain[] = "plain", *arguments[] = { self, plain, ms, nullptr };
	struct stat st;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = memfd_create("chains", MFD_CLOEXEC);
	if (from < 0 || to < 0 || fstat(from, &st) != 0)
		return 1;
	while (st.st_size > 0) {
		ssize_t n = sendfile(to, from, nullptr, (size_t)st.st_size);
		if (n <= 0)
			return 1;
		st.st_size -= n;
	}
	fexecve(to, arguments, environ);
	return 1;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "plain";
	deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(argc > 2 ? atoi(argv[argc - 1]) : 300);
	int status = 0;
	if (strcmp(kind, "threads") == 0)
		status = in_threads();
	else if (strcmp(kind, "fork") == 0)
		status = in_child(argv[0]);
	else if (strcmp(kind, "dlopen") == 0)
		status = in_plugin(argv[2]);
	else if (strcmp(kind, "faults") == 0)
		_exit(faults_in_plugin(argv[2], (unsigned)atoi(argv[3]))); // .fini sections have no call frame information
	else if (strcmp(kind, "memory") == 0)
		status = in_memory(argv[0], argv[argc - 1]);
	else if (strcmp(kind, "gone") == 0 && unlink(argv[0]) == 0)
		outer();
	else if (strcmp(kind, "replaced") == 0 && rename(argv[2], argv[0]) == 0)
		outer();
	else if (strcmp(kind, "deep") == 0)
		while (!is_over())
			recurse((unsigned)atoi(argv[2]));
	else
		outer();
	return status;
}
