#include "os/cpufreq.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "unit.h"

struct tree {
	char path[32];
	int fd;
};

static void tree_begin(struct tree *t)
{
	strcpy(t->path, "/tmp/cpufreq-test-XXXXXX");
	EXPECT(mkdtemp(t->path) != NULL);
	t->fd = open(t->path, O_PATH | O_DIRECTORY);
}

static void tree_end(struct tree *t)
{
	char command[64];
	close(t->fd);
	snprintf(command, sizeof command, "rm -rf '%s'", t->path);
	EXPECT_INT(system(command), 0);
}

static void put(const struct tree *t, const char *name, const char *value)
{
	char command[256];
	snprintf(command, sizeof command, "f='%s/%s'; mkdir -p \"${f%%/*}\" && echo '%s' >\"$f\"", t->path, name, value);
	EXPECT_INT(system(command), 0);
}

static const char *get(const struct tree *t, const char *name, char value[64])
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", t->path, name);
	EXPECT(file_line(path, value, 64));
	return value;
}

TEST("policies are read in order of their numbers, with what their driver has")
{
	struct tree t;
	struct cpufreq cpufreq = { 0 };
	tree_begin(&t);
	cpufreq_read(&cpufreq, t.path);
	EXPECT_INT(cpufreq.policies.count, 0);
	put(&t, "cpufreq/policy10/scaling_driver", "acpi-cpufreq");
	put(&t, "cpufreq/policy2/affected_cpus", "2 3 4 7");
	put(&t, "cpufreq/policy2/scaling_driver", "intel_pstate");
	put(&t, "cpufreq/policy2/scaling_governor", "powersave");
	put(&t, "cpufreq/policy2/energy_performance_preference", "balance_performance");
	put(&t, "cpufreq/policy2/scaling_min_freq", "800000");
	put(&t, "cpufreq/policy2/scaling_max_freq", "3600000");
	put(&t, "cpufreq/policy2/scaling_cur_freq", "1200000");
	put(&t, "cpufreq/policy2/cpuinfo_min_freq", "400000");
	put(&t, "cpufreq/policy2/cpuinfo_max_freq", "4700000");
	put(&t, "cpufreq/policy2/base_frequency", "2400000");
	put(&t, "cpufreq/policyx/scaling_driver", "no policy");
	put(&t, "cpu10/acpi_cppc/nominal_freq", "2100");
	cpufreq_read(&cpufreq, t.path);
	EXPECT_INT(cpufreq.policies.count, 2);
	const struct cpufreq_policy *p = &cpufreq.policies.items[0];
	EXPECT_INT(p->number, 2);
	EXPECT_STR(p->cpus, "2-4,7");
	EXPECT_STR(p->driver, "intel_pstate");
	EXPECT_STR(p->preference, "balance_performance");
	EXPECT(p->min_khz == 800000 && p->max_khz == 3600000 && p->current_khz == 1200000);
	EXPECT(p->low_khz == 400000 && p->high_khz == 4700000 && p->base_khz == 2400000);
	EXPECT(p->boost_file == NULL);
	EXPECT_STR(cpufreq_governed_by(p), "the processor, by load");
	EXPECT_STR(cpufreq_remedy("intel_pstate"), "intel_pstate=passive");
	EXPECT_STR(cpufreq_remedy("intel_pstate_epp"), "intel_pstate=passive");
	EXPECT_STR(cpufreq_remedy("amd-pstate-epp"), "amd_pstate=passive");
	EXPECT_STR(cpufreq_remedy("acpi-cpufreq"), "intel_pstate=passive or amd_pstate=passive");
	EXPECT(!cpufreq_remedy("cppc_cpufreq"));
	p = &cpufreq.policies.items[1];
	EXPECT_INT(p->number, 10);
	EXPECT_STR(p->cpus, "");
	EXPECT(p->preference == NULL && p->min_khz == 0);
	EXPECT_INT(p->base_khz, 2100000);
	cpufreq_fini(&cpufreq);
	tree_end(&t);
}

TEST("boost is switched by the policy's file, intel_pstate's or that of all")
{
	static const struct { const char *file, *value; bool boost; } cases[] = {
		{ "cpufreq/boost", "1", true }, { "cpufreq/boost", "0", false }, { "intel_pstate/no_turbo", "1", false },
		{ "intel_pstate/no_turbo", "0", true }, { "cpufreq/policy0/boost", "0", false }, { "cpufreq/policy0/boost", "1", true },
	};
	struct tree t;
	tree_begin(&t);
	put(&t, "cpufreq/policy0/scaling_driver", "x");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cpufreq cpufreq = { 0 };
		put(&t, cases[i].file, cases[i].value);
		cpufreq_read(&cpufreq, t.path);
		EXPECT_STR(cpufreq.policies.items[0].boost_file, cases[i].file);
		EXPECT_INT(cpufreq.policies.items[0].boost, cases[i].boost);
		cpufreq_fini(&cpufreq);
	}
	tree_end(&t);
}

TEST("settings are written, read back, and a value that the driver changes is reported")
{
	struct tree t;
	struct cpufreq_settings settings = { 0 }, current = { 0 };
	struct error err = { 0 };
	size_t refused = 99;
	char value[64];
	tree_begin(&t);
	put(&t, "cpufreq/policy0/scaling_min_freq", "800000");
	put(&t, "cpufreq/policy0/scaling_max_freq", "3600000");
	cpufreq_settings_add(&settings, "cpufreq/policy0/scaling_min_freq", "2000000");
	cpufreq_settings_add(&settings, "cpufreq/policy0/scaling_max_freq", "2000001");
	EXPECT_INT(cpufreq_settings_read(&settings, t.fd, &current, &err), 0);
	EXPECT_STR(current.list.items[0].value, "800000");
	EXPECT_STR(current.list.items[1].value, "3600000");
	EXPECT_INT(cpufreq_settings_write(&settings, t.fd, &refused, &err), 0);
	EXPECT_STR(get(&t, "cpufreq/policy0/scaling_min_freq", value), "2000000");
	EXPECT_STR(get(&t, "cpufreq/policy0/scaling_max_freq", value), "2000001");
	/* a file that the driver does not have */
	cpufreq_settings_add(&settings, "cpufreq/policy0/none", "1");
	EXPECT_INT(cpufreq_settings_write(&settings, t.fd, &refused, &err), -1);
	EXPECT_INT(refused, 2);
	cpufreq_settings_fini(&settings);
	cpufreq_settings_add(&settings, "cpufreq/policy0/scaling_max_freq", "2000001\n5"); /* of which a file has the first line */
	EXPECT_INT(cpufreq_settings_write(&settings, t.fd, &refused, &err), -1);
	EXPECT_STR(err.text, "cpufreq/policy0/scaling_max_freq is 2000001 after 2000001?5 was written");
	cpufreq_settings_fini(&settings);
	cpufreq_settings_fini(&current);
	tree_end(&t);
}

TEST("stored settings are read back, and nothing else is accepted")
{
	struct cpufreq_settings settings = { 0 }, again = { 0 };
	CLEANUP_STR struct str text = { 0 };
	cpufreq_settings_add(&settings, "intel_pstate/no_turbo", "1");
	cpufreq_settings_add(&settings, "cpufreq/policy12/scaling_min_freq", "800000");
	cpufreq_settings_text(&settings, &text);
	EXPECT_STR(str_text(&text), "intel_pstate/no_turbo=1\ncpufreq/policy12/scaling_min_freq=800000\n");
	EXPECT_INT(cpufreq_settings_parse(&again, str_text(&text), NULL), 0);
	EXPECT_INT(again.list.count, 2);
	EXPECT_STR(again.list.items[1].path, "cpufreq/policy12/scaling_min_freq");
	EXPECT_STR(again.list.items[1].value, "800000");
	cpufreq_settings_fini(&settings);
	cpufreq_settings_fini(&again);
	static const char *const bad[] = { "x", "cpufreq/boost=", "cpufreq/boost=-1", "cpufreq/boost=1 ", "../boost=1",
		"cpufreq/policy0/../boost=1", "cpufreq/policy0/scaling_governor=1",
	 "cpufreq/policy0/scaling_min_freq/x=1", "online=0", "cpufreq/policy/boost=1" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		EXPECT_INT(cpufreq_settings_parse(&again, bad[i], NULL), -1);
		EXPECT_INT(again.list.count, 0);
	}
}

static const char *absence(const char *cpuinfo, const char *cmdline, const char *vendor, char out[512])
{
	CLEANUP_STR struct str why = { 0 }, hint = { 0 };
	cpufreq_absence(cpuinfo, cmdline, vendor, &why, &hint);
	snprintf(out, 512, "%s | %s", str_text(&why), str_text(&hint));
	return out;
}

TEST("a machine without a driver is explained by its hypervisor, its kernel parameters, its processor")
{
	char out[512];
	EXPECT(strstr(absence("flags : fpu hypervisor lahf_lm\n", "", "", out), "virtual machine"));
	EXPECT(strstr(absence("processor : 0\n", "", "QEMU\n", out), "virtual machine"));
	EXPECT(!strstr(absence("flags : nohypervisor\n", "", "Dell", out), "virtual machine"));
	EXPECT(strstr(absence("vendor_id : GenuineIntel\n", "quiet intel_pstate=disable ro\n", "Dell", out), "intel_pstate=disable disables it"));
	EXPECT(strstr(absence("vendor_id : GenuineIntel\n", "xintel_pstate=disable\n", "Dell", out), "boot with intel_pstate=passive"));
	EXPECT(strstr(absence("vendor_id : AuthenticAMD\n", "", "Dell", out), "amd_pstate=passive"));
	EXPECT(strstr(absence("", "", "", out), "cppc_cpufreq"));
}
