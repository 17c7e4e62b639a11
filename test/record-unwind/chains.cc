// Known call paths in code without frame pointers: chains [plain|threads|fork|dlopen PLUGIN|deep N] MS
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
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
	else if (strcmp(kind, "deep") == 0)
		while (!is_over())
			recurse((unsigned)atoi(argv[2]));
	else
		outer();
	return status;
}
