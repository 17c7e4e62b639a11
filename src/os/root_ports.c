#include "os/root_ports.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/file.h"

enum {
	PORTS_MAX = 4096,
	BUS_MAX = 0xff,
};

bool root_port_parse(const char *text, size_t length, uint32_t *domain, uint32_t *bus)
{
	char copy[32], *end;
	if (length >= sizeof copy)
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (!isxdigit((unsigned char)copy[0]))
		return false;
	unsigned long first = strtoul(copy, &end, 16);
	if (*end != ':' || !isxdigit((unsigned char)end[1]) || first > UINT32_MAX)
		return false;
	unsigned long second = strtoul(end + 1, &end, 16);
	if (*end || second > BUS_MAX)
		return false;
	*domain = (uint32_t)first;
	*bus = (uint32_t)second;
	return true;
}

static void read_pmu(struct root_ports *ports, const char *folder, const char *name, uint32_t pmu)
{
	CLEANUP_NAMES struct names names = { 0 };
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || folder_names(path, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.list.count && ports->list.count < PORTS_MAX; i++) {
		struct root_port port = { .pmu = pmu };
		char file[PATH_MAX], line[64], end;
		if (sscanf(names.list.items[i], "die%4u%c", &port.die, &end) == 1 &&
		    snprintf(file, sizeof file, "%s/%s", path, names.list.items[i]) < (int)sizeof file && file_line(file, line, sizeof line) &&
		    root_port_parse(line, strlen(line), &port.domain, &port.bus))
			vec_push(&ports->list, port);
	}
}

static int port_compare(const void *a, const void *b)
{
	const struct root_port *left = a, *right = b;
	if (left->pmu != right->pmu)
		return left->pmu < right->pmu ? -1 : 1;
	return left->die < right->die ? -1 : left->die > right->die;
}

void root_ports_read(struct root_ports *ports, const char *folder)
{
	CLEANUP_NAMES struct names names = { 0 };
	if (folder_names(folder, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.list.count; i++) {
		uint32_t pmu;
		char end;
		if (sscanf(names.list.items[i], "uncore_iio_%4u%c", &pmu, &end) == 1)
			read_pmu(ports, folder, names.list.items[i], pmu);
	}
	if (ports->list.count)
		qsort(ports->list.items, ports->list.count, sizeof *ports->list.items, port_compare);
}

void root_ports_fini(struct root_ports *ports)
{
	vec_fini(&ports->list);
}

struct root_port *root_ports_find(const struct root_ports *ports, uint32_t domain, uint32_t bus)
{
	for (size_t i = 0; i < ports->list.count; i++) {
		if (ports->list.items[i].domain == domain && ports->list.items[i].bus == bus)
			return &ports->list.items[i];
	}
	return NULL;
}
