#include "export/synthesized.h"

#include <string.h>

/* Numbers (config) of these events. */
enum { PTWRITE, MWAIT, PWRE, EXSTOP, PWRX, CBR };

bool event_is_synthesized(const struct attr *attr)
{
	return attr->type == 0x80000000u;
}

static struct value real(double number)
{
	return (struct value){ .kind = VALUE_REAL, .real = number };
}

/* The ratio of the bus clock, the frequency in kHz, and the share of the highest frequency without turbo. */
static void add_frequency(struct database *database, uint64_t sample, const uint8_t *raw)
{
	uint32_t head, khz;
	memcpy(&head, raw, sizeof head);
	memcpy(&khz, raw + 4, sizeof khz);
	unsigned ratio = head & 0xff, most = head >> 16 & 0xff;
	double percent = most ? (ratio * 1000.0 / most + 5) / 10 : 0;
	const struct value values[] = { value_of(sample), value_of(ratio), real((khz + UINT64_C(500)) / 1000.0), real(percent) };
	database_add(database, TABLE_CBR, values);
}

void synthesized_add(struct database *database, uint64_t sample, uint64_t number, const uint8_t *raw, size_t size)
{
	uint32_t head;
	uint64_t payload = 0;
	if (size < sizeof head || (size < SYNTHESIZED_BYTES && number != EXSTOP))
		return;
	memcpy(&head, raw, sizeof head);
	if (size >= SYNTHESIZED_BYTES)
		memcpy(&payload, raw + sizeof head, sizeof payload);
	struct value values[4] = { value_of(sample) };
	switch (number) {
	case PTWRITE:
		values[1] = value_of(payload);
		values[2] = value_of(head & 1);
		database_add(database, TABLE_PTWRITE, values);
		return;
	case MWAIT:
		values[1] = value_of(payload & 0xff);
		values[2] = value_of(payload >> 32 & 3);
		database_add(database, TABLE_MWAIT, values);
		return;
	case PWRE:
		values[1] = value_of(payload >> 12 & 0xf);
		values[2] = value_of(payload >> 8 & 0xf);
		values[3] = value_of(payload >> 7 & 1);
		database_add(database, TABLE_PWRE, values);
		return;
	case EXSTOP:
		values[1] = value_of(head & 1);
		database_add(database, TABLE_EXSTOP, values);
		return;
	case PWRX:
		values[1] = value_of(payload & 0xf);
		values[2] = value_of(payload >> 4 & 0xf);
		values[3] = value_of(payload >> 8 & 0xf);
		database_add(database, TABLE_PWRX, values);
		return;
	case CBR:
		add_frequency(database, sample, raw);
		return;
	default:
		return;
	}
}
