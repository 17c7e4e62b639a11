#include "analysis/table/cell_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int add_real(double real, enum cell_form form, char text[CELL_VALUE_MAX])
{
	if (form == CELL_FORM_DATA)
		return snprintf(text, CELL_VALUE_MAX, "%.17g", real);
	if (fabs(real) >= 1e15)
		return snprintf(text, CELL_VALUE_MAX, "%.6g", real);
	return snprintf(text, CELL_VALUE_MAX, form == CELL_FORM_SCREEN ? "%.2f" : "%.4f", real);
}

size_t cell_value_text(const struct cell *cell, enum cell_form form, char text[CELL_VALUE_MAX])
{
	int length = 0;
	switch (cell->kind) {
	case CELL_TIME:
		if (form == CELL_FORM_SCREEN)
			length = snprintf(text, CELL_VALUE_MAX, "%" PRIu64 ".%06" PRIu64, cell->count / 1000000000, cell->count % 1000000000 / 1000);
		else
			length = snprintf(text, CELL_VALUE_MAX, "%" PRIu64, cell->count);
		break;
	case CELL_COUNT:
	case CELL_BYTES:
		length = snprintf(text, CELL_VALUE_MAX, "%" PRIu64, cell->count);
		break;
	case CELL_NUMBER:
		length = snprintf(text, CELL_VALUE_MAX, "%" PRId64, cell->number);
		break;
	case CELL_REAL:
		length = add_real(cell->real, form, text);
		break;
	case CELL_SHARE:
		if (form == CELL_FORM_DATA)
			length = add_real(cell_fraction(cell), form, text);
		else
			length = snprintf(text, CELL_VALUE_MAX, "%.2f%%", 100 * cell_fraction(cell));
		break;
	case CELL_ADDRESS:
		length = snprintf(text, CELL_VALUE_MAX, "0x%" PRIx64, cell->count);
		break;
	case CELL_FLAG:
		length = snprintf(text, CELL_VALUE_MAX, "%s", form == CELL_FORM_DATA ? cell->flag ? "1" : "0" : cell->flag ? "yes" : "no");
		break;
	case CELL_FILE_ID:
		length = snprintf(text, CELL_VALUE_MAX, "%" PRIu64 ":%" PRIu64, cell->file_id.device, cell->file_id.inode);
		break;
	default:
		break;
	}
	return (size_t)length;
}

bool cell_is_number(enum cell_kind kind)
{
	switch (kind) {
	case CELL_COUNT:
	case CELL_NUMBER:
	case CELL_REAL:
	case CELL_SHARE:
	case CELL_BYTES:
	case CELL_TIME:
		return true;
	default:
		return false;
	}
}
