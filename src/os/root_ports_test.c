#include "os/root_ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static bool parses(const char *text, uint32_t *domain, uint32_t *bus)
{
	return root_port_parse(text, strlen(text), domain, bus);
}

TEST("a root port is a domain and a bus in hexadecimal")
{
	uint32_t domain = 0, bus = 0;
	EXPECT(parses("0000:3a", &domain, &bus) && domain == 0 && bus == 0x3a);
	EXPECT(parses("1f:ff", &domain, &bus) && domain == 0x1f && bus == 0xff);
	EXPECT(parses("ffffffff:0", &domain, &bus) && domain == UINT32_MAX && bus == 0);
	static const char *const bad[] = { "", ":", "0:", ":0", "0:100", "0:0x", "x:0", "100000000:0", "-1:0", "0:-1", "0: 1", "0:0:0",
		"0000000000000000000000000000000:0" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		EXPECT(!parses(bad[i], &domain, &bus));
	EXPECT(root_port_parse("0:1,0:2", 3, &domain, &bus) && bus == 1);
}

TEST("ports are read in order of PMUs and dies")
{
	char folder[] = "/tmp/root-ports-test-XXXXXX", command[512];
	struct root_ports ports = { 0 };
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(command, sizeof command, "cd %s && mkdir uncore_iio_10 uncore_iio_2 uncore_iio_x uncore_iio_free && "
		"echo 0000:80 >uncore_iio_2/die1 && "
		"echo 0000:00 >uncore_iio_2/die0 && echo 0000:17 >uncore_iio_10/die0 && echo bad >uncore_iio_10/die1 && "
		"echo 0:1 >uncore_iio_10/die && echo 0:2 >uncore_iio_x/die0", folder);
	EXPECT_INT(system(command), 0);
	root_ports_read(&ports, folder);
	EXPECT_INT(ports.list.count, 3);
	static const struct root_port expected[] = { { 2, 0, 0, 0 }, { 2, 1, 0, 0x80 }, { 10, 0, 0, 0x17 } };
	for (size_t i = 0; i < 3 && i < ports.list.count; i++) {
		const struct root_port *got = &ports.list.items[i], *want = &expected[i];
		EXPECT(got->pmu == want->pmu && got->die == want->die && got->domain == want->domain && got->bus == want->bus);
	}
	EXPECT(root_ports_find(&ports, 0, 0x17) == &ports.list.items[2]);
	EXPECT(root_ports_find(&ports, 1, 0x17) == NULL);
	root_ports_fini(&ports);
	snprintf(command, sizeof command, "rm -rf %s", folder);
	EXPECT_INT(system(command), 0);
}
