/* Parses the words and masks of --threads. */
#include <string.h>

#include "os/topology.h"
#include "record/write/ring_readers.h"

void reader_groups_fini(struct reader_groups *groups)
{
	for (size_t i = 0; i < groups->list.count; i++) {
		cpus_fini(&groups->list.items[i].rings);
		cpus_fini(&groups->list.items[i].affinity);
	}
	vec_fini(&groups->list);
}

/* A reader for the rings of these CPUs, which runs on the CPUs of `affinity`. */
static int add_group(struct reader_groups *groups, const char *rings, const char *affinity, struct error *err)
{
	struct reader_group *group = vec_add(&groups->list);
	return cpus_parse(&group->rings, rings, err) < 0 || cpus_parse(&group->affinity, affinity, err) < 0 ? -1 : 0;
}

static int add_each_cpu(struct reader_groups *groups, struct error *err)
{
	struct cpus online = { 0 };
	int status = cpus_online(&online, err);
	for (size_t i = 0; i < online.list.count && status >= 0; i++) {
		struct reader_group *group = vec_add(&groups->list);
		cpus_add(&group->rings, online.list.items[i]);
		cpus_add(&group->affinity, online.list.items[i]);
	}
	cpus_fini(&online);
	return status;
}

static int add_lists(struct reader_groups *groups, const struct topology_lists *lists, struct error *err)
{
	int status = 0;
	for (size_t i = 0; i < lists->list.count && status == 0; i++)
		status = add_group(groups, lists->list.items[i], lists->list.items[i], err);
	return status;
}

static int add_nodes(struct reader_groups *groups, const struct topology *topology, struct error *err)
{
	int status = 0;
	for (size_t i = 0; i < topology->nodes.count && status == 0; i++)
		if (topology->nodes.items[i].cpus && *topology->nodes.items[i].cpus)
			status = add_group(groups, topology->nodes.items[i].cpus, topology->nodes.items[i].cpus, err);
	return status;
}

/* "0-3/0:4-7/4" */
static int add_masks(struct reader_groups *groups, const char *text, struct error *err)
{
	static const char wrong[] = "--threads takes cpu, core, package, numa, or CPUS/CPUS[:CPUS/CPUS...] (rings/where they are read)";
	for (const char *at = text; *at;) {
		char rings[256], affinity[256];
		size_t length = strcspn(at, ":"), slash = strcspn(at, "/:");
		if (slash == 0 || slash + 1 >= length || slash >= sizeof rings || length - slash > sizeof affinity)
			return error_set(err, ERROR_USAGE, "%s", wrong);
		memcpy(rings, at, slash);
		rings[slash] = '\0';
		memcpy(affinity, at + slash + 1, length - slash - 1);
		affinity[length - slash - 1] = '\0';
		if (add_group(groups, rings, affinity, NULL) < 0)
			return error_set(err, ERROR_USAGE, "%s", wrong);
		at += length + (at[length] == ':');
	}
	return 0;
}

int reader_groups_parse(struct reader_groups *groups, const char *text, struct error *err)
{
	struct topology topology;
	int status;
	if (!text || !*text || strcmp(text, "cpu") == 0)
		return add_each_cpu(groups, err);
	topology_read(&topology);
	if (strcmp(text, "core") == 0)
		status = add_lists(groups, &topology.cores, err);
	else if (strcmp(text, "package") == 0)
		status = add_lists(groups, &topology.packages, err);
	else if (strcmp(text, "numa") == 0)
		status = add_nodes(groups, &topology, err);
	else
		status = add_masks(groups, text, err);
	topology_fini(&topology);
	/* the machine does not provide its topology */
	return status == 0 && !groups->list.count ? add_each_cpu(groups, err) : status;
}
