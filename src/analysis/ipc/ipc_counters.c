#include "analysis/ipc/ipc_counters.h"

#include <stdlib.h>
#include <string.h>

#include "data/evsel_name.h"

/* "cycles" of "cycles:u", "cpu_core/cycles/u". */
static bool is_event(const char *event, const char *name)
{
	const char *slash = strchr(event, '/');
	const char *from = slash ? slash + 1 : event;
	size_t len = strcspn(from, slash ? "/,:" : ":");
	return len == strlen(name) && strncmp(from, name, len) == 0;
}

int ipc_roles_parse(struct ipc_roles *roles, const char *given, struct str *text, struct error *err)
{
	*roles = (struct ipc_roles){ 0 };
	if (!given)
		return 0;
	str_puts(text, given);
	char *comma = text->len ? strchr(text->text, ',') : NULL;
	if (!comma || comma == text->text || !comma[1])
		return error_set(err, ERROR_USAGE, "--counters takes two events such as cycles:u,instructions:u, not '%s'", given);
	*comma = '\0';
	*roles = (struct ipc_roles){ text->text, comma + 1 };
	return 0;
}

enum ipc_role ipc_role_of(const struct ipc_roles *roles, const char *event)
{
	if (roles->cycles ? strcmp(event, roles->cycles) == 0 : is_event(event, "cycles") || is_event(event, "cpu-cycles"))
		return IPC_ROLE_CYCLES;
	if (roles->instructions ? strcmp(event, roles->instructions) == 0 : is_event(event, "instructions"))
		return IPC_ROLE_INSTRUCTIONS;
	return IPC_ROLE_NONE;
}

static enum ipc_role role_of_id(const struct ipc_groups *groups, const struct evlist *evlist, uint64_t id)
{
	char buffer[EVSEL_NAME_MAX];
	uint32_t event = idmap_get(&evlist->by_id, id);
	return event < evlist->events.count ?
		ipc_role_of(&groups->roles, evsel_name(&evlist->events.items[event], buffer, sizeof buffer)) : IPC_ROLE_NONE;
}

void ipc_groups_take(struct ipc_groups *groups, const struct resolved *r, struct ipc_track *track)
{
	struct read_values read;
	uint64_t id = 0;
	size_t used;
	bool has_cycles = false, has_instructions = false, added;
	struct ipc_group_value now = { .ns = r->sample->present & SAMPLE_TIME ? r->sample->time : 0 };
	if (sample_read_decode(&read, r->evsel->attr.read_format, r->sample->read, r->sample->read_len, &used) < 0)
		return;
	for (uint64_t i = 0; i < read.count; i++) {
		struct read_value value = sample_read_at(&read, i);
		enum ipc_role role = role_of_id(groups, session_evlist(r->session), value.id);
		if (role == IPC_ROLE_CYCLES && !has_cycles) {
			id = value.id;
			now.cycles = value.value;
			has_cycles = true;
		} else if (role == IPC_ROLE_INSTRUCTIONS && !has_instructions) {
			now.instructions = value.value;
			has_instructions = true;
		}
	}
	if (!has_cycles || !has_instructions)
		return;
	uint32_t index = idmap_add(&groups->known, id, (uint32_t)groups->values.count, &added);
	if (added) { /* a counter begins at 0: on each CPU that the thread moves to */
		uint64_t since = track->ranges.count ? track->ranges.items[track->ranges.count - 1].to_ns : now.ns;
		vec_push(&groups->values, ((struct ipc_group_value){ .ns = since }));
	}
	uint64_t last_ns = track->ranges.count ? track->ranges.items[track->ranges.count - 1].to_ns : 0;
	struct ipc_group_value *before = &groups->values.items[index];
	if (now.cycles == before->cycles)
		return; /* its instructions belong to the next range */
	if (now.cycles > before->cycles && now.instructions >= before->instructions)
		ipc_track_add(track, now.cycles - before->cycles, now.instructions - before->instructions,
			before->ns > last_ns ? before->ns : last_ns, now.ns, false);
	*before = now;
}

void ipc_groups_fini(struct ipc_groups *groups)
{
	idmap_fini(&groups->known);
	vec_fini(&groups->values);
}
