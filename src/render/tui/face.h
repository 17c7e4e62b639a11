/* A cell as the browser shows it, and its order in a sorted column. Texts are printable: controls and writing directions become '?'. */
#pragma once
#include "analysis/table/cell.h"
#include "base/str.h"

void face_add(const struct cell *cell, struct str *out);
/* < 0: a precedes b in ascending order; absent values precede all others. */
int face_compare(const struct cell *a, const struct cell *b);
/* 1234567 as "1.2M", 999 as "999". */
void face_add_short(uint64_t count, struct str *out);
