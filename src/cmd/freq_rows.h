/* The frequency policies of the machine as rows of a table. */
#pragma once
#include "os/cpufreq.h"
#include "render/format/format.h"

/* Frequencies in MHz, aligned in columns. */
void freq_rows_print(const struct cpufreq *cpufreq, struct writer *out);
void freq_rows_table(const struct cpufreq *cpufreq, const struct format *format, struct writer *out);
