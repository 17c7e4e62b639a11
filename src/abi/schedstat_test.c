#include "abi/schedstat.h"

#include "unit.h"

static struct schedstat_row row_of(uint16_t version, int32_t domain)
{
	struct schedstat_row row = { .timestamp = 0x1234567890ULL, .cpu = 3, .domain = domain, .version = version };
	for (unsigned i = 0; i < schedstat_values(version, domain != SCHEDSTAT_NO_DOMAIN); i++)
		row.values[i] = 100 + i;
	return row;
}

static struct record record_of(const struct schedstat_row *row, uint8_t *body)
{
	return (struct record){ .type = row->domain == SCHEDSTAT_NO_DOMAIN ? RECORD_SCHEDSTAT_CPU : RECORD_SCHEDSTAT_DOMAIN,
		.body = body, .body_len = (uint32_t)schedstat_encode(row, body) };
}

TEST("each version has its number of counters")
{
	EXPECT_INT(schedstat_values(14, true), 0);
	EXPECT_INT(schedstat_values(15, true), 36);
	EXPECT_INT(schedstat_values(16, true), 36);
	EXPECT_INT(schedstat_values(17, true), SCHEDSTAT_VALUES_MAX);
	EXPECT_INT(schedstat_values(18, true), 0);
	EXPECT_INT(schedstat_values(15, false), SCHEDSTAT_CPU_VALUES);
}

TEST("a row survives its record, and a record that is one byte short is refused")
{
	static const int32_t domains[] = { SCHEDSTAT_NO_DOMAIN, 2 };
	for (uint16_t version = 15; version <= 17; version++) {
		for (size_t d = 0; d < 2; d++) {
			uint8_t body[SCHEDSTAT_BODY_MAX];
			struct schedstat_row row = row_of(version, domains[d]), back;
			struct record record = record_of(&row, body);
			EXPECT(schedstat_decode(&back, &record));
			EXPECT(memcmp(&row, &back, sizeof row) == 0);
			record.body_len--;
			EXPECT(!schedstat_decode(&back, &record));
		}
	}
}

TEST("the first six counters of a CPU have 32 bits, the last three 64")
{
	uint8_t body[SCHEDSTAT_BODY_MAX];
	struct schedstat_row row = row_of(15, SCHEDSTAT_NO_DOMAIN), back;
	row.values[5] = 0x100000007ULL;
	row.values[6] = 0x100000008ULL;
	struct record record = record_of(&row, body);
	EXPECT_INT(record.body_len, SCHEDSTAT_CPU_BODY);
	EXPECT(schedstat_decode(&back, &record));
	EXPECT_INT(back.values[5], 7);
	EXPECT(back.values[6] == 0x100000008ULL);
}

TEST("records of other types and versions are refused")
{
	uint8_t body[SCHEDSTAT_BODY_MAX] = { 0 };
	struct schedstat_row row = row_of(15, 0), back;
	struct record record = record_of(&row, body);
	record.type = RECORD_STAT;
	EXPECT(!schedstat_decode(&back, &record));
	record.type = RECORD_SCHEDSTAT_DOMAIN;
	body[12] = 18;
	EXPECT(!schedstat_decode(&back, &record));
}
