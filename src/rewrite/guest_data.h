/* The recording of a virtual machine, as `inject --guest-data` adds it to its host's: the side-band of its processes with the host's times,
 * under new ids. The host's kernel sees a virtual CPU as a thread of the process that runs the machine, whose name is "CPU n/KVM". Source:
 * perf-inject(1); perf.data-file-format.txt, ID_INDEX. Knows nothing of the new recording. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/time_conv.h"
#include "base/hash.h"
#include "base/vec.h"
#include "data/source.h"
#include "session/order.h"

struct budget;

struct guest_options {
	const char *path;            /* of its recording */
	int32_t machine;             /* process that runs it */
	uint64_t time_offset;        /* its clock is that of the host, times the scale, plus the offset */
	double time_scale;           /* > 0 */
};

struct guest_id {
	uint64_t guest, host;        /* the id in its recording, and the new one */
	uint32_t vcpu;
};

struct guest_vcpu {
	int32_t tid;                 /* host's thread; 0: none */
	uint32_t cpu;                /* of the host, where it ran last; 0 before that, as in perf */
};

struct guest_data {
	const struct guest_options *options;
	struct source *source;
	struct budget *budget;       /* NULL: no limit; borrowed */
	size_t taken;
	struct time_conv clock;      /* of the guest */
	struct idmap cpu_of_id;      /* guest's id → its virtual CPU */
	struct idmap by_id;          /* guest's id → index in ids */
	VEC(struct guest_id) ids;
	VEC(struct guest_vcpu) vcpus;
	struct order order;
	VEC(struct entry) entries;   /* what is added, in order of the guest's time; those without a time first */
	bool full;
	size_t first_event;          /* of the host's events, the first that is the guest's */
};

/* Reads the guest's recording, finds the threads of virtual CPUs in that of the host, and adds the guest's events to the host's. */
int guest_data_open(struct guest_data *data, const struct guest_options *options, struct source *host, bool force, struct budget *budget,
	struct error *err);
void guest_data_close(struct guest_data *data);
/* The host's time of a guest's; 0 remains 0. */
uint64_t guest_data_time(const struct guest_data *data, const struct time_conv *host, uint64_t time);
/* NULL: unknown. */
const struct guest_id *guest_data_id(const struct guest_data *data, uint64_t id);
