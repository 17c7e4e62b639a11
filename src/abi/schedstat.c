#include "abi/schedstat.h"

#include <string.h>

#include "base/bytes.h"

unsigned schedstat_values(uint16_t version, bool domain)
{
	enum { BALANCES = 3, REST = 12, COUNTERS_15 = 8, COUNTERS_17 = 11 };
	if (version < SCHEDSTAT_VERSION_MIN || version > SCHEDSTAT_VERSION_MAX)
		return 0;
	return !domain ? SCHEDSTAT_CPU_VALUES : BALANCES * (version >= 17 ? COUNTERS_17 : COUNTERS_15) + REST;
}

bool schedstat_decode(struct schedstat_row *row, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	bool domain = record->type == RECORD_SCHEDSTAT_DOMAIN;
	if (!domain && record->type != RECORD_SCHEDSTAT_CPU)
		return false;
	*row = (struct schedstat_row){ .timestamp = take_u64(&c), .cpu = take_u32(&c), .version = take_u16(&c) };
	uint16_t number = take_u16(&c);
	row->domain = domain ? number : SCHEDSTAT_NO_DOMAIN;
	unsigned count = schedstat_values(row->version, domain);
	for (unsigned i = 0; i < count; i++)
		row->values[i] = schedstat_is_wide(row, i) ? take_u64(&c) : take_u32(&c);
	return count && !c.short_read;
}

size_t schedstat_encode(const struct schedstat_row *row, uint8_t body[static SCHEDSTAT_BODY_MAX])
{
	bool domain = row->domain != SCHEDSTAT_NO_DOMAIN;
	uint16_t number = domain ? (uint16_t)row->domain : 0;
	size_t at = 16;
	memcpy(body, &row->timestamp, 8);
	memcpy(body + 8, &row->cpu, 4);
	memcpy(body + 12, &row->version, 2);
	memcpy(body + 14, &number, 2);
	for (unsigned i = 0; i < schedstat_values(row->version, domain); i++) {
		uint32_t narrow = (uint32_t)row->values[i];
		bool wide = schedstat_is_wide(row, i);
		memcpy(body + at, wide ? (const void *)&row->values[i] : &narrow, wide ? 8 : 4);
		at += wide ? 8 : 4;
	}
	return at;
}
