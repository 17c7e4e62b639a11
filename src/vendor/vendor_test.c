#include "vendor/vendor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/machine.h"
#include "unit.h"

struct folder {
	char path[40];
};

static void folder_open(struct folder *folder)
{
	strcpy(folder->path, "/tmp/vendor-test-XXXXXX");
	EXPECT(mkdtemp(folder->path) != NULL);
}

static void folder_add(const struct folder *folder, const char *name, const char *text)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder->path, name);
	for (char *slash = path + strlen(folder->path) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	EXPECT(file && fputs(text, file) >= 0);
	if (file)
		fclose(file);
}

static void folder_close(struct folder *folder)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", folder->path);
	EXPECT_INT(system(command), 0);
}

/* Reads the folder with one file of this text. */
static void read_text(struct vendor *v, struct folder *folder, const char *text)
{
	folder_open(folder);
	folder_add(folder, "floating-point.json", text);
	v->path = folder->path;
	vendor_read(v);
}

static void expect_terms(const char *members, const char *terms)
{
	struct folder folder;
	struct vendor v = { 0 };
	char text[1024];
	snprintf(text, sizeof text, "[{\"EventName\":\"X.Y\",%s}]", members);
	read_text(&v, &folder, text);
	EXPECT_INT(v.events.count, 1);
	if (v.events.count)
		EXPECT_STR(v.events.items[0].terms, terms);
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("members of an event become terms")
{
	expect_terms("\"EventCode\":\"0x3c\"", "event=0x3c");
	expect_terms("\"EventCode\":\"9\",\"UMask\":\"0x9\"", "event=9,umask=9");
	expect_terms("\"EventCode\":\"0x0A\",\"UMask\":\"10\"", "event=0xa,umask=10");
	expect_terms("\"EventCode\":\"0xB7,0xBB\",\"MSRIndex\":\"0x1a6,0x1a7\",\"MSRValue\":\"0x10001\"", "event=0xb7,offcore_rsp=0x10001");
	expect_terms("\"EventCode\":\"0xcd\",\"MSRIndex\":\"0x3F6\",\"MSRValue\":\"0x4\"", "event=0xcd,ldlat=0x4");
	expect_terms("\"EventCode\":\"0xc6\",\"MSRIndex\":\"0x3F7\",\"MSRValue\":\"0x11\",\"UMask\":\"0x1\"",
		"event=0xc6,umask=1,frontend=0x11");
	expect_terms("\"EventCode\":\"0x1\",\"MSRIndex\":\"0x00\",\"MSRValue\":\"0x00\",\"EdgeDetect\":\"0\",\"Invert\":\"0x0\"", "event=1");
	expect_terms("\"EventCode\":\"2\",\"UMask\":\"0x1\",\"SampleAfterValue\":\"200003\",\"Invert\":\"1\",\"CounterMask\":\"5\","
		"\"EdgeDetect\":1",
		"event=2,cmask=5,edge=1,inv=1,period=200003,umask=1");
	expect_terms("\"EventCode\":\"0x34\",\"UMask\":\"0x03\",\"UMaskExt\":\"0x1BC1\",\"ExtSel\":\"1\"", "event=0x134,umask=0x1bc103");
	expect_terms("\"ConfigCode\":\"0x80\",\"EventCode\":\"1\"", "config=0x80");
	expect_terms("\"EventCode\":\"1\",\"Filter\":\"config1=0x4043\"", "event=1,config1=0x4043");
	expect_terms("\"UMask\":\"0x2\"", "event=0,umask=2");
}

TEST("the fixed counters have their codes")
{
	struct folder folder;
	struct vendor v = { 0 };
	read_text(&v, &folder, "{\"Header\":{},\"Events\":[{\"EventName\":\"INST_RETIRED.ANY\",\"UMask\":\"0x01\",\"EventCode\":\"0x00\"}]}");
	const struct vendor_event *event = vendor_find(&v, "inst_retired.ANY", NULL);
	EXPECT(event != NULL);
	if (event) {
		EXPECT_STR(event->terms, "event=0xc0,period=2000003");
		EXPECT_STR(event->unit, "default_core");
		EXPECT_STR(event->topic, "floating point");
		EXPECT(vendor_find(&v, "inst_retired.any", event) == NULL);
	}
	EXPECT(vendor_find(&v, "inst_retired", NULL) == NULL);
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("descriptions have no full stop, and notes of precision and errata")
{
	struct folder folder;
	struct vendor v = { 0 };
	read_text(&v, &folder, "[{\"EventName\":\"a\",\"BriefDescription\":\"Loads. \",\"PublicDescription\":\"Long..\",\"Data_LA\":\"1\","
		"\"PEBS\":\"1\",\"Errata\":\"HSD1\",\"Unit\":\"CHA\",\"PerPkg\":\"1\",\"ScaleUnit\":\"64Bytes\",\"Deprecated\":\"1\"},"
		"{\"EventName\":\"A\",\"Unit\":\"iMC\"},{\"EventName\":\"a\",\"Unit\":\"CHA\"}]");
	EXPECT_INT(v.events.count, 2);
	if (v.events.count == 2) {
		const struct vendor_event *event = &v.events.items[0];
		EXPECT_STR(event->description, "Loads  Supports address when precise.  Spec update: HSD1 (Precise event)");
		EXPECT_STR(event->long_description, "Long.  Supports address when precise.  Spec update: HSD1 (Precise event)");
		EXPECT_STR(event->unit, "uncore_cha");
		EXPECT_STR(event->scale_unit, "64Bytes");
		EXPECT(event->per_package && event->deprecated);
		EXPECT(vendor_find(&v, "a", event) == &v.events.items[1]);
		EXPECT_STR(v.events.items[1].unit, "uncore_imc");
	}
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("texts neither break a line nor reach a terminal as commands")
{
	struct folder folder;
	struct vendor v = { 0 };
	read_text(&v, &folder, "[{\"EventName\":\"A\\nB\\u001b[2J\",\"BriefDescription\":\"x\\u009by\\tz\"},"
		"{\"MetricName\":\"m\\r\",\"MetricExpr\":\"1\\n+ 2\"}]");
	EXPECT_INT(v.events.count, 1);
	if (v.events.count) {
		EXPECT_STR(v.events.items[0].name, "a b [2j");
		EXPECT_STR(v.events.items[0].description, "x??y z");
	}
	EXPECT_INT(v.metrics.count, 1);
	if (v.metrics.count) {
		EXPECT_STR(v.metrics.items[0].name, "m ");
		EXPECT_STR(v.metrics.items[0].expression, "1 + 2");
	}
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("metrics are read with their groups and their constraint")
{
	struct folder folder;
	struct vendor v = { 0 };
	folder_open(&folder);
	folder_add(&folder, "x-metrics.json", "[{\"MetricName\":\"ipc\",\"MetricExpr\":\"a / b\",\"MetricGroup\":\"G;H\",\"ScaleUnit\":\"1x\","
		"\"MetricThreshold\":\"ipc > 2\",\"MetricConstraint\":\"NO_GROUP_EVENTS_NMI\"},{\"MetricName\":\"IPC\",\"MetricExpr\":\"1\"},"
		"{\"MetricName\":\"none\"},{\"MetricName\":\"other\",\"Formula\":\"a / b\"}]");
	folder_add(&folder, "metricgroups.json", "{\"G\":\"good\"}");
	v.path = folder.path;
	EXPECT(vendor_metric(&v, "nothing") == NULL);
	EXPECT_INT(v.metrics.count, 1);
	const struct metric *metric = vendor_metric(&v, "Ipc");
	EXPECT(metric && strcmp(metric->expression, "a / b") == 0 && strcmp(metric->threshold, "ipc > 2") == 0);
	EXPECT(metric && metric->constraint == METRIC_NOT_GROUPED_WITH_WATCHDOG);
	EXPECT_INT(v.groups.count, 1);
	EXPECT_INT(v.remarks.count, 1);
	EXPECT(v.remarks.count && strstr(v.remarks.items[0], "/x-metrics.json: the metric none has no MetricExpr of 1 to 65535 bytes"));
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("of a folder for many processors the files of this one are read")
{
	struct folder folder;
	struct vendor v = { .cpu = "GenuineIntel-6-8F-8" };
	folder_open(&folder);
	folder_add(&folder, "mapfile.csv", "Family-model,Version,Filename,EventType\nGenuineIntel-6-8[EF],v1,here,core\n"
		"GenuineIntel-6-8,v1,other,core\n"
		"GenuineIntel-6-8F-[01],v1,other,core\nGenuineIntel-6-8F,v2,/P/events/p.json,uncore\nGenuineIntel-6-8F,v2,../x,core\n");
	folder_add(&folder, "common.json", "[{\"EventName\":\"std\",\"EventCode\":\"0x11\",\"BriefDescription\":\"Standard\"}]");
	folder_add(&folder, "here/cache.json", "[{\"ArchStdEvent\":\"STD\"},{\"ArchStdEvent\":\"no\"}]");
	folder_add(&folder, "other/cache.json", "[{\"EventName\":\"wrong\"}]");
	folder_add(&folder, "P/events/p.json", "{\"Events\":[{\"EventName\":\"u\",\"Unit\":\"CHA\",\"EventCode\":\"1\"}]}");
	v.path = folder.path;
	const struct vendor_event *event = vendor_find(&v, "std", NULL);
	EXPECT(event && strcmp(event->terms, "event=0x11") == 0 && strcmp(event->description, "Standard") == 0);
	EXPECT(event && strcmp(event->topic, "cache") == 0);
	EXPECT(vendor_find(&v, "u", NULL) != NULL);
	EXPECT(vendor_find(&v, "wrong", NULL) == NULL);
	EXPECT_INT(v.events.count, 2);
	EXPECT_INT(v.remarks.count, 2);
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("the processor is that of the environment, else that of the machine, if it is known")
{
	char cpu[128] = "", id[128];
	unsetenv("PERF_CPUID");
	EXPECT_INT(vendor_cpu(cpu, sizeof cpu), machine_processor_id(id, sizeof id));
	EXPECT(!*cpu || (strchr(cpu, ',') == NULL && strncmp(cpu, id, strcspn(cpu, "-")) == 0));
	setenv("PERF_CPUID", "Vendor-6-1", 1);
	EXPECT(vendor_cpu(cpu, sizeof cpu));
	EXPECT_STR(cpu, "Vendor-6-1");
	unsetenv("PERF_CPUID");
}

TEST("patterns match the whole id, with or without the stepping")
{
	EXPECT(vendor_cpu_matches("GenuineIntel-6-55-[01234]", "GenuineIntel-6-55-4"));
	EXPECT(!vendor_cpu_matches("GenuineIntel-6-55-[01234]", "GenuineIntel-6-55-5"));
	EXPECT(vendor_cpu_matches("GenuineIntel-6-55", "GenuineIntel-6-55-4"));
	EXPECT(!vendor_cpu_matches("GenuineIntel-6", "GenuineIntel-6-55-4"));
	EXPECT(vendor_cpu_matches("AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]])", "AuthenticAMD-25-41-2"));
	EXPECT(vendor_cpu_matches("0x00000000410fd490", "0x00000000411fd491"));
	EXPECT(!vendor_cpu_matches("0x00000000410fd4a0", "0x00000000410fd490"));
	EXPECT(!vendor_cpu_matches("((a{1,255}){1,255}){1,255}", "a"));
	EXPECT(!vendor_cpu_matches("(", "("));
}

static void expect_remark(const char *text, const char *end)
{
	struct folder folder;
	struct vendor v = { 0 };
	read_text(&v, &folder, text);
	EXPECT_INT(v.remarks.count, 1);
	const char *colon = v.remarks.count ? strstr(v.remarks.items[0], ".json: ") : NULL;
	EXPECT_STR(colon ? colon + 7 : "", end);
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("each damaged file or entry is a remark")
{
	char deep[4200];
	memset(deep, '[', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	expect_remark(deep, "line 1, column 2049: maximum parsing depth reached near '['");
	expect_remark("", "line 1, column 0: '[' or '{' expected near end of file");
	expect_remark("[{\"EventName\":\"a\"}", "line 1, column 18: ']' expected near end of file");
	expect_remark("{\"a\":1}", "neither a list of events nor an object with \"Events\" or \"Metrics\"");
	expect_remark("[1]", "an entry is not an object");
	expect_remark("[{\"EventName\":\"A\",\"UMask\":\"many\"}]", "UMask of the event a is not a number");
	expect_remark("[{\"EventName\":\"A\",\"EventCode\":\"0xffffffffffffffff1\"}]", "EventCode of the event a is not a number");
}

TEST("a list of processors that is no regular file is a remark, and is not waited for")
{
	struct folder folder;
	struct vendor v = { 0 };
	char path[128];
	folder_open(&folder);
	snprintf(path, sizeof path, "%s/mapfile.csv", folder.path);
	EXPECT_INT(mkfifo(path, 0600), 0);
	v.path = folder.path;
	alarm(20);
	vendor_read(&v);
	alarm(0);
	EXPECT(v.remarks.count == 1 && strstr(v.remarks.items[0], "cannot be read"));
	vendor_fini(&v);
	EXPECT_INT(unlink(path), 0);
	folder_close(&folder);
}

TEST("remarks are limited, and all are counted")
{
	struct folder folder;
	struct vendor v = { 0 };
	read_text(&v, &folder, "[1,2,3,4,5,6,7,8,9,{\"EventName\":\"a\"}]");
	EXPECT_INT(v.remarks.count, VENDOR_REMARKS_MAX);
	EXPECT_INT(v.refused, 9);
	EXPECT_INT(v.events.count, 1);
	vendor_fini(&v);
	folder_close(&folder);
}

TEST("very many names that begin alike, and standard events, cost no search of all")
{
	enum { PREFIX = 300, STANDARD = VENDOR_STANDARD_MAX + 10, ENTRY_MAX = 32 };
	struct folder folder;
	struct vendor v = { 0 };
	char prefix[PREFIX + 1], text[2 * PREFIX + 100];
	memset(prefix, 'a', PREFIX);
	prefix[PREFIX] = '\0';
	snprintf(text, sizeof text, "[{\"EventName\":\"%s1\"},{\"EventName\":\"%s2\"}]", prefix, prefix);
	read_text(&v, &folder, text);
	EXPECT_INT(v.events.count, 2);
	EXPECT_INT(v.events.items[0].next, VENDOR_NO_EVENT);
	vendor_fini(&v);
	folder_close(&folder);

	static char many[STANDARD * ENTRY_MAX];
	size_t len = 0;
	for (int i = 0; i < STANDARD; i++)
		len += (size_t)snprintf(many + len, sizeof many - len, "%s{\"EventName\":\"E%d\"}", i ? "," : "[", i);
	snprintf(many + len, sizeof many - len, "]");
	folder_open(&folder);
	folder_add(&folder, "mapfile.csv", "Family-model,Version,Filename,EventType\n");
	folder_add(&folder, "common.json", many);
	v = (struct vendor){ .path = folder.path };
	vendor_read(&v);
	EXPECT_INT(v.standard_events.count, VENDOR_STANDARD_MAX);
	EXPECT_INT(v.remarks.count, 1);
	vendor_fini(&v);
	folder_close(&folder);
}
