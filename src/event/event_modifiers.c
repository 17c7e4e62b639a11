#include "event/event_modifiers.h"

#include <stddef.h>
#include <string.h>

#include "event/event.h"

enum { PRECISE_MAX = 3 };

static const struct {
	char letter;
	size_t offset;
	const char *twice; /* the error for a repeated modifier */
} letters[] = {
	{ 'u', offsetof(struct event_modifiers, user), "Duplicate modifier 'u' (user)" },
	{ 'k', offsetof(struct event_modifiers, kernel), "Duplicate modifier 'k' (kernel)" },
	{ 'h', offsetof(struct event_modifiers, hypervisor), "Duplicate modifier 'h' (hypervisor)" },
	{ 'H', offsetof(struct event_modifiers, host), "Duplicate modifier 'H' (host)" },
	{ 'G', offsetof(struct event_modifiers, guest), "Duplicate modifier 'G' (guest)" },
	{ 'I', offsetof(struct event_modifiers, idle), "Duplicate modifier 'I' (non-idle)" },
	{ 'S', offsetof(struct event_modifiers, sample_read), "Duplicate modifier 'S' (sample_read)" },
	{ 'P', offsetof(struct event_modifiers, precise_max), "Duplicate modifier 'P' (precise_max)" },
	{ 'D', offsetof(struct event_modifiers, pinned), "Duplicate modifier 'D' (pinned)" },
	{ 'e', offsetof(struct event_modifiers, exclusive), "Duplicate modifier 'e' (exclusive)" },
	{ 'W', offsetof(struct event_modifiers, weak), "Duplicate modifier 'W' (weak)" },
	{ 'b', offsetof(struct event_modifiers, bpf), "Duplicate modifier 'b' (bpf)" },
	{ 'R', offsetof(struct event_modifiers, retire_latency), "Duplicate modifier 'R' (retire_lat)" },
};

int event_modifiers_parse(const char *text, size_t length, struct event_modifiers *modifiers, size_t *wrong, const char **what)
{
	for (*wrong = 0; *wrong < length; (*wrong)++) {
		char c = text[*wrong];
		size_t i = 0;
		if (c == 'p') {
			if (++modifiers->precise <= PRECISE_MAX)
				continue;
			*what = "Maximum precise value is 3";
			return -1;
		}
		while (i < sizeof letters / sizeof letters[0] && letters[i].letter != c)
			i++;
		if (i == sizeof letters / sizeof letters[0]) {
			*what = "Unrecognized input";
			return -1;
		}
		bool *given = (bool *)((char *)modifiers + letters[i].offset);
		if (*given) {
			*what = letters[i].twice;
			return -1;
		}
		*given = true;
	}
	return 0;
}

static void flag_set(struct attr *attr, enum attr_flag flag, bool on)
{
	attr->flags &= ~((uint64_t)1 << flag);
	attr->flags |= (uint64_t)on << flag;
}

/* A modifier for one side excludes the sides without a modifier: u excludes kernel and hypervisor, H excludes the guest. */
static void apply_sides(const struct event_modifiers *m, struct event *event, bool group)
{
	struct attr *attr = &event->attr;
	bool user = group && attr_flag(attr, ATTR_EXCLUDE_USER), kernel = group && attr_flag(attr, ATTR_EXCLUDE_KERNEL);
	bool hypervisor = group && attr_flag(attr, ATTR_EXCLUDE_HV);
	bool host = group && attr_flag(attr, ATTR_EXCLUDE_HOST), guest = group && attr_flag(attr, ATTR_EXCLUDE_GUEST);
	bool side_known = user || kernel || hypervisor, gh_known = group && event->exclude_gh;

	if (m->precise)
		guest = true;
	if ((m->user || m->kernel || m->hypervisor) && !side_known)
		user = kernel = hypervisor = true;
	if (m->user && !gh_known)
		guest = true;
	if ((m->guest || m->host) && !gh_known)
		guest = host = gh_known = true;
	flag_set(attr, ATTR_EXCLUDE_USER, user && !m->user);
	flag_set(attr, ATTR_EXCLUDE_KERNEL, kernel && !m->kernel);
	flag_set(attr, ATTR_EXCLUDE_HV, hypervisor && !m->hypervisor);
	flag_set(attr, ATTR_EXCLUDE_HOST, host && !m->host);
	flag_set(attr, ATTR_EXCLUDE_GUEST, guest && !m->guest);
	event->exclude_gh = gh_known;
}

int event_modifiers_apply(const struct event_modifiers *m, struct event *event, bool group, bool leader)
{
	struct attr *attr = &event->attr;
	apply_sides(m, event, group);
	unsigned precise = attr_precise_ip(attr) + m->precise;
	if (precise > PRECISE_MAX)
		return -1;
	attr->flags = (attr->flags & ~((uint64_t)3 << ATTR_PRECISE_IP)) | (uint64_t)precise << ATTR_PRECISE_IP;
	if (m->idle)
		flag_set(attr, ATTR_EXCLUDE_IDLE, true);
	if (m->pinned && (!group || leader))
		flag_set(attr, ATTR_PINNED, true);
	if (m->exclusive && (!group || leader))
		flag_set(attr, ATTR_EXCLUSIVE, true);
	event->precise_max |= m->precise_max;
	event->sample_read |= m->sample_read;
	event->weak |= m->weak;
	event->bpf_counter |= m->bpf;
	event->retire_latency |= m->retire_latency;
	return 0;
}
