/* PCIe root ports of x86 servers: the PMU uncore_iio_N counts the traffic of one port on each die, whose domain and bus its file dieM has.
 * Knows no event and no counter. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define ROOT_PORTS_FOLDER "/sys/bus/event_source/devices"

struct root_port {
	uint32_t pmu, die;        /* uncore_iio_PMU, diePMU */
	uint32_t domain, bus;
};

struct root_ports {
	VEC(struct root_port) list; /* by PMU, then die */
};

/* The list is empty if this machine has no such PMU, or its kernel does not list ports. */
void root_ports_read(struct root_ports *ports, const char *folder);
void root_ports_fini(struct root_ports *ports);
/* "DOMAIN:BUS" of at most length bytes, hexadecimal; false: not of that form. */
bool root_port_parse(const char *text, size_t length, uint32_t *domain, uint32_t *bus);
/* NULL: no such port. */
struct root_port *root_ports_find(const struct root_ports *ports, uint32_t domain, uint32_t bus);
