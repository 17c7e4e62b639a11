/* Where the kernel has the values of a sample that a program of a perf event may read beyond its context: struct perf_sample_data, by the
 * kernel's type information. Linux 6.3 and later fill it before such programs run. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum sample_field {
	FIELD_NONE, FIELD_ID, FIELD_TIME, FIELD_WEIGHT, FIELD_TXN, FIELD_PHYS_ADDR, FIELD_DATA_SRC, FIELD_DATA_PGSZ, FIELD_CODE_PGSZ, FIELD_COUNT
};

struct sample_fields {
	int32_t convert;         /* id of the kernel's function that returns the kernel's context for a program's context; 0: absent */
	int16_t data_at;         /* offset of the pointer to the sample's data in that context */
	int16_t at[FIELD_COUNT]; /* offsets in the data; -1: absent */
};

/* Reads the type information of the running kernel. All fields are absent if it has none, or is older. */
void sample_fields_read(struct sample_fields *fields);
