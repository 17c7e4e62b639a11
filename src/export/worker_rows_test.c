#include "export/exporter_state.h"
#include "unit.h"

TEST("the address of a sample is a place where page faults or branches of a trace are sampled")
{
	static const struct {
		struct attr attr;
		bool place;
	} rows[] = {
		{ { .type = ATTR_SOFTWARE, .config = 2, .sample_type = SAMPLE_ADDR }, true },
		{ { .type = ATTR_SOFTWARE, .config = 5, .sample_type = SAMPLE_ADDR }, true },
		{ { .type = ATTR_SOFTWARE, .config = 6, .sample_type = SAMPLE_ADDR }, true },
		{ { .type = ATTR_SOFTWARE, .config = 2, .sample_type = SAMPLE_IP }, false },
		{ { .type = ATTR_SOFTWARE, .config = 0, .sample_type = SAMPLE_ADDR }, false },
		{ { .type = ATTR_SOFTWARE, .config = 4, .sample_type = SAMPLE_ADDR, .sample_period = 1 }, false },
		{ { .type = ATTR_SOFTWARE, .config = ATTR_SOFTWARE, .sample_type = SAMPLE_ADDR }, false },
		{ { .type = ATTR_HARDWARE, .config = 4, .sample_type = SAMPLE_ADDR, .sample_period = 1 }, true },
		{ { .type = ATTR_HARDWARE, .config = 4, .sample_type = SAMPLE_IP, .sample_period = 1 }, false },
		{ { .type = ATTR_HARDWARE, .config = 4, .sample_type = SAMPLE_ADDR, .sample_period = 2 }, false },
		{ { .type = ATTR_HARDWARE, .config = 2, .sample_type = SAMPLE_ADDR, .sample_period = 1 }, false },
		{ { .type = ATTR_RAW, .config = 0x1cd, .sample_type = SAMPLE_ADDR, .sample_period = 1 }, false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (has_addr_place(&rows[i].attr) != rows[i].place)
			unit_fail(__FILE__, __LINE__, "row %zu", i);
}
