#include "model/injected.h"

#include "base/bytes.h"

enum { TID_BITS = 22 /* Linux has no larger thread ids */, MACHINES_MAX = 1 << (31 - TID_BITS), IDS_MAX = 1 << 20 };

void injected_fini(struct injected *injected)
{
	vec_fini(&injected->ids);
	idmap_fini(&injected->by_id);
	idmap_fini(&injected->machines);
	injected->machine_count = 0;
}

static void add(struct injected *injected, uint64_t id, int32_t machine, uint32_t vcpu)
{
	bool added;
	if (!machine || injected->ids.count >= IDS_MAX)
		return;
	uint32_t number = idmap_add(&injected->machines, (uint32_t)machine, injected->machine_count, &added);
	injected->machine_count += added;
	if (number >= MACHINES_MAX)
		return;
	idmap_set(&injected->by_id, id, (uint32_t)injected->ids.count);
	vec_push(&injected->ids, ((struct injected_id){ machine, vcpu, number }));
}

void injected_read(struct injected *injected, const struct record *record)
{
	enum { FIRST_SIZE = 32, SECOND_SIZE = 16 };
	struct cursor first = cursor_of(record->body, record->body_len, false);
	uint64_t count = take_u64(&first);
	if (first.short_read || count > cursor_left(&first) / (FIRST_SIZE + SECOND_SIZE))
		return;
	struct cursor second = first;
	take(&second, count * FIRST_SIZE);
	for (; count; count--) {
		uint64_t id = take_u64(&first);
		take(&first, FIRST_SIZE - sizeof id);
		int32_t machine = (int32_t)take_u64(&second);
		add(injected, id, machine, (uint32_t)take_u64(&second));
	}
}

int32_t injected_tid(const struct injected_id *id, int32_t tid)
{
	const uint32_t mask = (1u << TID_BITS) - 1;
	return (int32_t)(1u << 31 | id->number << TID_BITS | ((uint32_t)tid & mask));
}
