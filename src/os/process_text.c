#include "os/process_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long status_number(const char *text, const char *label, long missing)
{
	const char *at = strstr(text, label);
	return at ? strtol(at + strlen(label), NULL, 10) : missing;
}

void process_status_parse(const char *text, struct process_status *status)
{
	*status = (struct process_status){ 0 };
	if (strncmp(text, "Name:\t", 6) == 0) {
		size_t length = strcspn(text + 6, "\n");
		if (length >= sizeof status->comm)
			length = sizeof status->comm - 1;
		memcpy(status->comm, text + 6, length);
	}
	/* labels are searched after the name, which may contain any character but a newline */
	const char *rest = strchr(text, '\n');
	rest = rest ? rest : "";
	status->tgid = (pid_t)status_number(rest, "\nTgid:", -1);
	status->ppid = (pid_t)status_number(rest, "\nPPid:", -1);
	status->uid = (uid_t)status_number(rest, "\nUid:", -1);
	status->threads = status_number(rest, "\nThreads:", -1);
	status->switches = (uint64_t)status_number(rest, "\nvoluntary_ctxt_switches:", 0) +
		(uint64_t)status_number(rest, "\nnonvoluntary_ctxt_switches:", 0);
	status->kernel = !strstr(rest, "\nVmPeak:") && !strstr(rest, "\nThreads:\t0");
}

/* As in the status file, and truncated as process_status_parse truncates it. */
static void escape_name(const char *name, size_t length, char to[static PROCESS_COMM_SIZE])
{
	size_t at = 0;
	for (size_t i = 0; i < length && at < PROCESS_COMM_SIZE - 1; i++) {
		bool escaped = name[i] == '\n' || name[i] == '\\';
		if (escaped)
			to[at++] = '\\';
		if (at < PROCESS_COMM_SIZE - 1)
			to[at++] = name[i] == '\n' ? 'n' : name[i];
	}
	to[at] = '\0';
}

void process_stat_parse(const char *text, struct process_status *status)
{
	enum { PARENT = 4, THREADS = 20, MEMORY = 23 }; /* numbers of fields; the state is the third */
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	unsigned long long fields[MEMORY + 1] = { 0 };
	*status = (struct process_status){ .tgid = -1, .uid = (uid_t)-1 };
	if (!name || !end || end < name || end[1] != ' ' || !end[2])
		return;
	char *at = (char *)(uintptr_t)end + 3;
	for (int field = PARENT; field <= MEMORY; field++) {
		const char *before = at;
		fields[field] = strtoull(before, &at, 10);
		if (at == before)
			return;
	}
	escape_name(name + 1, (size_t)(end - name - 1), status->comm);
	status->tgid = (pid_t)strtol(text, NULL, 10);
	status->ppid = (pid_t)fields[PARENT];
	status->threads = (long)fields[THREADS];
	status->kernel = !fields[MEMORY] && status->threads;
}

static bool take_hex(const char **at, uint64_t *value, char end)
{
	uint64_t v = 0;
	const char *p = *at;
	for (;; p++) {
		unsigned digit;
		if (*p >= '0' && *p <= '9')
			digit = (unsigned)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			digit = (unsigned)(*p - 'a' + 10);
		else
			break;
		v = v << 4 | digit;
	}
	if (p == *at || *p != end)
		return false;
	*at = p + 1;
	*value = v;
	return true;
}

/* "start-end rwxp pgoff maj:min ino   path" */
bool process_map_parse(const char *line, struct process_map *map)
{
	const char *at = line;
	uint64_t maj, min;
	if (!take_hex(&at, &map->start, '-') || !take_hex(&at, &map->end, ' ') || strnlen(at, 5) < 5)
		return false;
	map->prot = (at[0] == 'r' ? PROT_READ : 0) | (at[1] == 'w' ? PROT_WRITE : 0) | (at[2] == 'x' ? PROT_EXEC : 0);
	map->flags = at[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	at += 5;
	if (!take_hex(&at, &map->pgoff, ' ') || !take_hex(&at, &maj, ':') || !take_hex(&at, &min, ' '))
		return false;
	map->maj = (uint32_t)maj;
	map->min = (uint32_t)min;
	char *end;
	map->ino = strtoull(at, &end, 10);
	while (*end == ' ')
		end++;
	map->path = end;
	return map->end > map->start;
}
