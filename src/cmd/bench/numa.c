/* perf's collection `numa`: processes with threads that read and write memory which all of them, those of a process or one thread has. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/bench/bench.h"
#include "cmd/bench/numa.h"
#include "os/process.h"
#include "os/topology.h"

enum { TASKS_MAX = 65536, BOUND_MAX = 4096, NODES_MAX = 1024, POLL_US = 1000, MB = 1 << 20 };

/* Of one thread; in memory that all processes share. */
struct task {
	_Atomic int node;
	uint64_t ns, bytes;
};

struct shared {
	_Atomic unsigned ready, ended;
	_Atomic bool go, stop, failed;
	struct task tasks[];
};

struct numa {
	const struct numa_options *options;
	struct shared *shared;
	size_t shared_size;
	unsigned tasks, cpus, nodes;
	uint64_t global_bytes, process_bytes, locked_bytes, thread_bytes;
	uint64_t *global;
	int cpu_of[BOUND_MAX], node_of[BOUND_MAX];
	size_t cpu_count, node_count;     /* of those lists */
	pid_t measurer;                   /* this process */
	pid_t *pids;
};

struct process {
	struct numa *numa;
	uint64_t *memory;
	pthread_mutex_t lock;             /* of the part of --mb_proc_locked */
};

struct worker {
	struct process *process;
	pthread_t thread;
	unsigned index;                   /* among all tasks */
};

static uint64_t bytes_of(const char *text, struct error *err)
{
	char *end;
	double mb = strtod(text, &end);
	if (end == text || *end || !(mb >= 0 && mb < 0x1p30)) {
		error_set(err, ERROR_USAGE, "'%s' is not a number of MB", text);
		return 0;
	}
	return (uint64_t)(mb * MB) & ~(uint64_t)7;
}

/* "0,2,5-7": for one task after the other. */
static size_t numbers_of(const char *text, int *list, int limit, const char *what, struct error *err)
{
	size_t count = 0;
	for (const char *at = text; at && *at;) {
		char *end;
		long first = strtol(at, &end, 10), last = first;
		bool bad = end == at;
		if (*end == '-') {
			at = end + 1;
			last = strtol(at, &end, 10);
			bad |= end == at;
		}
		if (bad || first < 0 || last < first || (*end && *end != ',')) {
			error_set(err, ERROR_USAGE, "'%s' is not a list of numbers such as 0,2-3", text);
			return 0;
		}
		if (last >= limit) {
			error_set(err, ERROR_USAGE, "there is no %s %ld: this machine has %d", what, last, limit);
			return 0;
		}
		for (; first <= last && count < BOUND_MAX; first++)
			list[count++] = (int)first;
		at = *end ? end + 1 : end;
	}
	return count;
}

static int plan(struct numa *n, struct error *err)
{
	const struct numa_options *o = n->options;
	struct topology topology;
	topology_read(&topology);
	n->cpus = (unsigned)topology.cpus.count;
	n->nodes = topology.nodes.count ? (unsigned)topology.nodes.count : 1;
	topology_fini(&topology);
	err->text[0] = '\0';
	if (!o->processes || !o->threads || o->processes > TASKS_MAX / o->threads)
		return error_set(err, ERROR_USAGE, "-p and -t take numbers whose product is 1 to %d", TASKS_MAX);
	n->tasks = o->processes * o->threads;
	n->global_bytes = bytes_of(o->global_mb, err);
	n->process_bytes = bytes_of(o->process_mb, err);
	n->locked_bytes = bytes_of(o->locked_mb, err);
	n->thread_bytes = bytes_of(o->thread_mb, err);
	if (!err->text[0])
		n->cpu_count = numbers_of(o->cpus, n->cpu_of, (int)n->cpus, "CPU", err);
	if (!err->text[0])
		n->node_count = numbers_of(o->nodes, n->node_of, (int)n->nodes, "node", err);
	if (!err->text[0] && n->locked_bytes > n->process_bytes)
		error_set(err, ERROR_USAGE, "-L is a part of the memory of -P, and must not be larger");
	return err->text[0] ? -1 : 0;
}

static void use_cpu(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void bind_task(const struct numa *n, unsigned index)
{
	unsigned long mask[NODES_MAX / (8 * sizeof(long))] = { 0 };
	if (index < n->cpu_count)
		use_cpu(n->cpu_of[index]);
	if (index >= n->node_count || n->node_of[index] >= NODES_MAX)
		return;
	unsigned node = (unsigned)n->node_of[index], bits = 8 * sizeof(long);
	mask[node / bits] = 1ul << node % bits;
	syscall(SYS_set_mempolicy, MPOL_BIND, mask, (unsigned long)NODES_MAX);
}

/* Anonymous memory with its first contents; NULL: there is not enough. */
static uint64_t *allocate(const struct numa *n, uint64_t bytes, int sharing)
{
	const struct numa_options *o = n->options;
	cpu_set_t before;
	uint64_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (o->huge_pages)
		madvise(memory, bytes, o->huge_pages > 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	sched_getaffinity(0, sizeof before, &before);
	if (o->init_first_cpu)
		use_cpu(0);
	if (o->init_zero || o->init_random)
		memset(memory, 0, bytes);
	for (uint64_t i = 0, random = 1; o->init_random && i < bytes / 8; i++)
		memory[i] = random = random * 6364136223846793005u + 1442695040888963407u;
	if (o->init_first_cpu)
		sched_setaffinity(0, sizeof before, &before);
	return memory;
}

static inline uint64_t touch(uint64_t *word, bool reads, bool writes, uint64_t sum)
{
	volatile uint64_t *at = word;
	if (reads)
		sum += *at;
	if (writes)
		*at = sum + 1;
	return sum;
}

static void walk(const struct numa_options *o, uint64_t *memory, uint64_t words, uint64_t first, bool back)
{
	bool reads = o->reads || !o->writes, writes = o->writes || !o->reads;
	uint64_t sum = 0, random = first + 1;
	if (o->random) {
		for (uint64_t i = 0; i < words; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			sum = touch(&memory[random % words], reads, writes, sum);
		}
	} else if (back) {
		for (uint64_t i = words; i-- > 0;)
			sum = touch(&memory[i], reads, writes, sum);
	} else {
		for (uint64_t i = first; i < words; i++)
			sum = touch(&memory[i], reads, writes, sum);
		for (uint64_t i = 0; i < first; i++)
			sum = touch(&memory[i], reads, writes, sum);
	}
}

/* Each word once, from a place of the task's own on; or as many words at random. Returns the bytes. */
static uint64_t access_memory(const struct worker *w, uint64_t *memory, uint64_t bytes, bool back)
{
	const struct numa *n = w->process->numa;
	if (n->options->zero && bytes) {
		memset(memory, 0, bytes);
		__asm__ volatile("" : : "r"(memory) : "memory");
	} else {
		walk(n->options, memory, bytes / 8, bytes / 8 / n->tasks * w->index, back);
	}
	return bytes;
}

static uint64_t access_all(struct worker *w, uint64_t *own, bool back)
{
	struct process *p = w->process;
	const struct numa *n = p->numa;
	uint64_t bytes = access_memory(w, n->global, n->global_bytes, back);
	bytes += access_memory(w, p->memory, n->process_bytes, back);
	if (n->locked_bytes) {
		pthread_mutex_lock(&p->lock);
		bytes += access_memory(w, p->memory, n->locked_bytes, back);
		pthread_mutex_unlock(&p->lock);
	}
	return bytes + access_memory(w, own, n->thread_bytes, back);
}

static void *work(void *context)
{
	struct worker *w = context;
	const struct numa *n = w->process->numa;
	const struct numa_options *o = n->options;
	struct task *task = &n->shared->tasks[w->index];
	bind_task(n, w->index);
	uint64_t *own = n->thread_bytes ? allocate(n, n->thread_bytes, MAP_PRIVATE) : NULL;
	if (n->thread_bytes && !own)
		atomic_store(&n->shared->failed, true);
	atomic_fetch_add(&n->shared->ready, 1);
	while (!atomic_load(&n->shared->go))
		usleep(POLL_US);
	uint64_t begin = now_ns(), limit = (uint64_t)o->seconds * 1000000000;
	for (int loop = 0; (o->loops < 0 || loop < o->loops) && !atomic_load(&n->shared->stop); loop++) {
		unsigned node = 0;
		task->bytes += access_all(w, own, o->backwards && loop % 2);
		syscall(SYS_getcpu, NULL, &node, NULL);
		atomic_store(&task->node, (int)node);
		if (limit && now_ns() - begin >= limit)
			atomic_store(&n->shared->stop, true);
		if (o->sleep_us)
			usleep(o->sleep_us);
	}
	task->ns = now_ns() - begin;
	atomic_fetch_add(&n->shared->ended, 1);
	return NULL;
}

/* A child: does not return. */
static void run_process(struct numa *n, unsigned number)
{
	unsigned threads = n->options->threads, started = 0;
	struct process process = { .numa = n, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct worker *workers = memory_zero(threads, sizeof *workers);
	if (!process_ends_with(n->measurer, SIGKILL))
		_exit(1);
	bind_task(n, number * threads);
	if (n->process_bytes && !(process.memory = allocate(n, n->process_bytes, MAP_PRIVATE)))
		_exit(1);
	for (; started < threads; started++) {
		workers[started] = (struct worker){ .process = &process, .index = number * threads + started };
		if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0)
			_exit(1);
	}
	while (started > 0)
		pthread_join(workers[--started].thread, NULL);
	_exit(0);
}

static int too_little(struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "there is not enough memory, or not enough threads, for these tasks");
}

/* Whether a process failed. Its id, which another process may get, is forgotten. */
static bool lost_process(const struct numa *n)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG);
	for (unsigned i = 0; pid > 0 && i < n->options->processes; i++)
		if (n->pids[i] == pid)
			n->pids[i] = 0;
	return pid > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

static int wait_ready(const struct numa *n, unsigned count, struct error *err)
{
	while (atomic_load(&n->shared->ready) < count) {
		if (lost_process(n))
			return too_little(err);
		usleep(POLL_US);
	}
	return atomic_load(&n->shared->failed) ? too_little(err) : 0;
}

static int start(struct numa *n, struct error *err)
{
	const struct numa_options *o = n->options;
	for (unsigned i = 0; i < o->processes; i++) {
		n->pids[i] = fork();
		if (n->pids[i] == 0)
			run_process(n, i);
		if (n->pids[i] < 0)
			return error_system(err, "cannot start %u processes", o->processes);
		if (o->serialized && wait_ready(n, (i + 1) * o->threads, err) < 0)
			return -1;
	}
	return wait_ready(n, n->tasks, err);
}

/* Whether the threads of each process are on one node. */
static bool is_converged(const struct numa *n)
{
	unsigned threads = n->options->threads;
	for (unsigned i = 0; i < n->tasks; i++) {
		int node = atomic_load(&n->shared->tasks[i].node);
		if (node < 0 || node != atomic_load(&n->shared->tasks[i - i % threads].node))
			return false;
	}
	return true;
}

/* Until all tasks have ended; returns the time of convergence in ns, 0: none. */
static uint64_t wait_end(const struct numa *n, struct error *err)
{
	uint64_t begin = now_ns(), converged = 0;
	while (atomic_load(&n->shared->ended) < n->tasks) {
		usleep(POLL_US);
		if (!converged && (n->options->convergence || n->options->until_convergence) && is_converged(n)) {
			converged = now_ns() - begin;
			if (n->options->until_convergence)
				atomic_store(&n->shared->stop, true);
		}
		if (lost_process(n) && atomic_load(&n->shared->ended) < n->tasks) {
			error_set(err, ERROR_SYSTEM, "a process of the benchmark was ended");
			break;
		}
	}
	return converged;
}

static void print_result(const struct cli *cli, const struct numa_options *o, double value, const char *unit, const char *name,
	const char *words)
{
	if (o->quiet || o->details)
		writer_printf(cli->out, " %14.3f %s\n", value, words);
	else
		writer_printf(cli->out, " %-30s %15.3f, %-15s %s\n", "main,", value, unit, name);
}

static void print_results(const struct cli *cli, const struct numa *n, uint64_t converged_ns)
{
	double longest = 0, shortest = INFINITY, sum = 0, bytes = 0;
	for (unsigned i = 0; i < n->tasks; i++) {
		double seconds = (double)n->shared->tasks[i].ns / 1e9;
		longest = seconds > longest ? seconds : longest;
		shortest = seconds < shortest ? seconds : shortest;
		sum += seconds;
		bytes += (double)n->shared->tasks[i].bytes;
	}
	const double own = bytes / n->tasks;
	const struct {
		double value;
		const char *unit, *name, *words;
	} rows[] = {
		{ longest, "secs,", "runtime-max/thread", "secs slowest (max) thread-runtime" },
		{ shortest, "secs,", "runtime-min/thread", "secs fastest (min) thread-runtime" },
		{ sum / n->tasks, "secs,", "runtime-avg/thread", "secs average thread-runtime" },
		{ longest > 0 ? 50 * (longest - shortest) / longest : 0, "%,", "spread-runtime/thread", "% difference between max/avg runtime" },
		{ own / 1e9, "GB,", "data/thread", "GB data processed, per thread" },
		{ bytes / 1e9, "GB,", "data-total", "GB data processed, total" },
		{ own > 0 ? longest * 1e9 / own : 0, "nsecs,", "runtime/byte/thread", "nsecs/byte/thread runtime" },
		{ longest > 0 ? own / 1e9 / longest : 0, "GB/sec,", "thread-speed", "GB/sec/thread speed" },
		{ longest > 0 ? bytes / 1e9 / longest : 0, "GB/sec,", "total-speed", "GB/sec total speed" },
	};
	if (n->options->until_convergence && converged_ns)
		print_result(cli, n->options, (double)converged_ns / 1e9, "secs,", "NUMA-convergence-latency", "secs latency to NUMA-converge");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		print_result(cli, n->options, rows[i].value, rows[i].unit, rows[i].name, rows[i].words);
}

static bool is_quiet(const struct numa_options *o)
{
	return o->quiet && !o->details;
}

static void print_list(const struct cli *cli, const char *what, const int *list, size_t count)
{
	if (count)
		writer_printf(cli->out, "# binding tasks to %s:\n#  ", what);
	for (size_t i = 0; i < count; i++)
		writer_printf(cli->out, "%s %d", i ? "," : "", list[i]);
	writer_puts(cli->out, count ? "\n" : "");
}

static void print_plan(const struct cli *cli, const struct numa *n)
{
	static const char *const kinds[] = { "global  shared", "process shared", "thread  local " };
	const uint64_t bytes[] = { n->global_bytes, n->process_bytes, n->thread_bytes };
	if (is_quiet(n->options))
		return;
	writer_puts(cli->out, "#\n");
	print_list(cli, "CPUs", n->cpu_of, n->cpu_count);
	print_list(cli, "NODEs", n->node_of, n->node_count);
	writer_printf(cli->out, "#\n\n ###\n # %u %s will execute (on %u nodes, %u CPUs):\n", n->tasks, n->tasks == 1 ? "task" : "tasks", n->nodes,
		n->cpus);
	for (int i = 0; i < 3; i++)
		writer_printf(cli->out, " # %10dx %5llu" "MB %s mem operations\n", n->options->loops, (unsigned long long)(bytes[i] / MB), kinds[i]);
	writer_puts(cli->out, " ###\n\n ###\n #\n");
	writer_flush(cli->out, NULL);
}

static int measure(struct cli *cli, struct numa *n, struct error *err)
{
	uint64_t begin = now_ns();
	for (unsigned i = 0; i < n->tasks; i++)
		atomic_store(&n->shared->tasks[i].node, -1);
	if (n->global_bytes && !(n->global = allocate(n, n->global_bytes, MAP_SHARED))) {
		n->global = NULL;
		return too_little(err);
	}
	writer_puts(cli->out, "\n # Running main, \"perfuse bench numa numa-mem");
	for (int i = 0; i < n->options->word_count; i++) {
		writer_putc(cli->out, ' ');
		writer_name(cli->out, n->options->words[i], strlen(n->options->words[i]));
	}
	writer_puts(cli->out, "\"\n");
	print_plan(cli, n);
	if (start(n, err) < 0)
		return -1;
	if (!is_quiet(n->options))
		writer_printf(cli->out, " # Startup synchronization: ... threads initialized in %.6f seconds.\n #\n", (double)(now_ns() - begin) / 1e9);
	for (unsigned i = 0; n->options->details && i < n->options->processes; i++)
		writer_printf(cli->out, " # process %2u: PID %d\n", i, (int)n->pids[i]);
	writer_flush(cli->out, NULL);
	atomic_store(&n->shared->go, true);
	err->text[0] = '\0';
	uint64_t converged = wait_end(n, err);
	if (err->text[0])
		return -1;
	if (n->options->convergence)
		writer_printf(cli->out, converged ? " # (%6.1fs converged)\n" : " # (not converged)\n", (double)converged / 1e9);
	writer_puts(cli->out, is_quiet(n->options) ? "" : "\n ###\n\n");
	print_results(cli, n, converged);
	return 0;
}

static void end(struct numa *n)
{
	for (unsigned i = 0; n->pids && i < n->options->processes; i++) {
		if (n->pids[i] <= 0)
			continue;
		kill(n->pids[i], SIGKILL);
		waitpid(n->pids[i], NULL, 0);
	}
	free(n->pids);
	if (n->shared)
		munmap(n->shared, n->shared_size);
	if (n->global)
		munmap(n->global, n->global_bytes);
}

int numa_run(struct cli *cli, const struct numa_options *options, struct error *err)
{
	struct numa n = { .options = options, .measurer = getpid() };
	if (plan(&n, err) < 0)
		return -1;
	n.shared_size = sizeof *n.shared + n.tasks * sizeof n.shared->tasks[0];
	n.pids = memory_zero(options->processes, sizeof *n.pids);
	n.shared = mmap(NULL, n.shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (n.shared == MAP_FAILED)
		n.shared = NULL;
	int status = n.shared ? measure(cli, &n, err) : too_little(err);
	end(&n);
	return status;
}
