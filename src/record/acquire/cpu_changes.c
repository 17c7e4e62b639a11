#include "record/acquire/cpu_changes.h"

#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/cpu_uevents.h"

void cpu_changes_open(struct cpu_changes *changes)
{
	*changes = (struct cpu_changes){ .fd = cpu_uevents_open(), .start_ns = now_ns() };
}

void cpu_changes_close(struct cpu_changes *changes)
{
	if (changes->fd >= 0)
		close(changes->fd);
	changes->fd = -1;
	cpus_fini(&changes->gone);
	cpus_fini(&changes->missing);
}

void cpu_changes_add(struct cpu_changes *changes, int32_t cpu, bool online, uint64_t after_ns)
{
	if (online ? !changes->known || cpus_has(changes->known, cpu) : !changes->recorded || !cpus_has(changes->recorded, cpu))
		return;
	struct cpus *list = online ? &changes->missing : &changes->gone;
	if (!list->list.count)
		*(online ? &changes->missing_ns : &changes->gone_ns) = after_ns;
	cpus_add(list, cpu);
}

void cpu_changes_read(struct cpu_changes *changes)
{
	struct cpu_uevent event;
	while (cpu_uevents_next(changes->fd, &event))
		cpu_changes_add(changes, event.cpu, event.online, now_ns() - changes->start_ns);
}

void cpu_changes_end(struct cpu_changes *changes, const struct cpus *online)
{
	if (changes->fd >= 0)
		cpu_changes_read(changes);
	for (size_t i = 0; changes->recorded && i < changes->recorded->list.count; i++)
		if (!cpus_has(online, changes->recorded->list.items[i]))
			cpu_changes_add(changes, changes->recorded->list.items[i], false, 0);
	for (size_t i = 0; i < online->list.count; i++)
		cpu_changes_add(changes, online->list.items[i], true, 0);
}

static void sentence(const struct cpus *cpus, uint64_t first_ns, const char *what, const char *outcome, struct str *out)
{
	bool one = cpus->list.count == 1;
	if (!cpus->list.count)
		return;
	str_printf(out, "CPU%s ", one ? "" : "s");
	cpus_text(cpus, out);
	str_printf(out, " %s", what);
	if (first_ns)
		str_printf(out, " %s%.1f s after the start", one ? "" : "(the first ", (double)first_ns / 1e9);
	else
		str_printf(out, " while recording");
	str_printf(out, "%s: %s\n", first_ns && !one ? ")" : "", outcome);
}

void cpu_changes_text(const struct cpu_changes *changes, struct str *out)
{
	sentence(&changes->gone, changes->gone_ns, "went offline", "not recorded from then on, even if online again", out);
	sentence(&changes->missing, changes->missing_ns, "came online", "missing from the recording", out);
}
