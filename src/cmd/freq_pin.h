/* Clocks that are pinned and restored. What is restored is stored in a folder that only root can write, while the pinning process holds
 * a lock: if that process dies, the next start finds the settings without the lock. Prints nothing. */
#pragma once
#include <stdbool.h>

#include "os/cpufreq.h"

struct freq_pin {
	int root;                         /* descriptor of CPUFREQ_ROOT; -1: closed */
	int folder, lock;
	bool stored;
	struct cpufreq_settings before;
};

enum freq_found { FREQ_NOTHING, FREQ_RESTORED, FREQ_BUSY };

/* Opens the store, and restores what a pinning process that died has left. FREQ_BUSY: another process pins the clock; nothing is open. < 0:
 * it failed. */
int freq_pin_open(struct freq_pin *pin, struct error *err);
/* Stores the current values of these files, and writes the new ones. *refused: the number of the setting that the driver refused; then
 * everything is restored. */
int freq_pin_set(struct freq_pin *pin, const struct cpufreq_settings *settings, size_t *refused, struct error *err);
/* Restores what was set. */
int freq_pin_restore(struct freq_pin *pin, struct error *err);
void freq_pin_close(struct freq_pin *pin);
