#include "model/injected.h"

#include "unit.h"

TEST("ids of virtual machines have a machine and a CPU; threads of two machines and of the host do not share an id")
{
	const uint64_t words[] = { 3, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 100, 2, 0, 5, 200, 1 };
	struct record record = { .type = RECORD_ID_INDEX, .body = (const uint8_t *)words, .body_len = sizeof words };
	struct injected injected = { 0 };
	EXPECT(!injected_get(&injected, 7));
	injected_read(&injected, &record);
	const struct injected_id *first = injected_get(&injected, 7), *second = injected_get(&injected, 9);
	EXPECT(first && first->machine == 100 && first->vcpu == 2);
	EXPECT(second && second->machine == 200 && second->vcpu == 1);
	EXPECT(!injected_get(&injected, 8));
	EXPECT(injected_tid(first, 5) != injected_tid(second, 5) && injected_tid(first, 5) < 0);
	EXPECT(injected_tid(first, 0) != injected_tid(first, 5));
	injected_fini(&injected);
	record.body_len -= 8;
	injected_read(&injected, &record);
	EXPECT(!injected_get(&injected, 7));
	injected_fini(&injected);
}
