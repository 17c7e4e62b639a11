/* Percentages as perf prints them, in colour on a terminal. */
#pragma once
#include <stdbool.h>

#include "base/str.h"

/* printf's "%*.2f%%"; colour: red from 5 on, green above 0.5. */
void percent_add(struct str *out, const char *before, int width, double percent, bool colour);

/* The escape sequence that begins its colour; "": none. */
const char *percent_colour(double percent);
