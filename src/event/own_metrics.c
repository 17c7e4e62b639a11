#include "event/own_metrics.h"

#include <stddef.h>

/* A share of another event, and a number of events per thousand instructions. */
#define SHARE(word, part, whole, group, text) \
	{ .name = (word), .expression = part " / " whole, .groups = (group), .scale_unit = "100%", .description = (text) }
#define PER_KILO(word, event, group, text) \
	{ .name = (word), .expression = "1e3 * " event " / instructions", .groups = (group), .scale_unit = "1per_kilo_instr", \
	  .description = (text) }
#define PER_SECOND(word, event, group, text) \
	{ .name = (word), .expression = event " / duration_time", .groups = (group), .scale_unit = "1per_sec", .description = (text) }
#define TOPDOWN(word, event, limit, text) \
	{ .name = (word), .expression = event " / slots", .groups = "TopdownL1", .scale_unit = "100%", .threshold = word " > " limit, \
	  .description = (text) }
/* Names and expressions of newer versions of perf, which count seconds by the clock of the task or, where CPUs are measured, of the CPUs:
 * page_fault_rate counts those that pass. */
#define BUSY_NS "(cpu\\-clock if #target_cpu else task\\-clock)"
#define PER_BUSY_SECOND(word, event, unit, text) \
	{ .name = (word), .expression = "1e9 * " event " / " BUSY_NS, .groups = "software", .scale_unit = "1" unit "/sec", .description = (text) }
#define L1D "L1\\-dcache\\-load"
#define IMC_BYTES(direction) "64 * uncore_imc@cas_count_" direction "@"

const struct metric own_metrics[] = {
	{ .name = "branch_frequency", .expression = "1e3 * branches / " BUSY_NS, .groups = "branch", .scale_unit = "1M/sec",
	  .description = "Branches per second while the CPUs were busy" },
	SHARE("branch_miss_rate", "branch\\-misses", "branches", "branch", "Share of branches that were predicted wrongly"),
	PER_KILO("branch_mpki", "branch\\-misses", "branch", "Wrongly predicted branches per thousand instructions"),
	SHARE("cache_miss_rate", "cache\\-misses", "cache\\-references", "cache", "Share of accesses to the last cache that missed"),
	PER_KILO("cache_mpki", "cache\\-misses", "cache", "Misses of the last cache per thousand instructions"),
	{ .name = "cpus_utilized", .expression = "task\\-clock / 1e9 / duration_time", .groups = "summary",
	  .description = "CPUs that were busy on average" },
	PER_BUSY_SECOND("cs_per_second", "context\\-switches", "cs", "Context switches per second of CPU time"),
	{ .name = "cycles_frequency", .expression = "cycles / " BUSY_NS, .groups = "summary", .scale_unit = "1GHz",
	  .description = "Frequency of the clock while the CPUs were busy" },
	{ .name = "cycles_per_instr", .expression = "cycles / instructions", .groups = "summary", .description = "Cycles per instruction" },
	SHARE("dtlb_miss_rate", "dTLB\\-load\\-misses", "dTLB\\-loads", "tlb", "Share of loads whose address the data TLB missed"),
	PER_KILO("dtlb_mpki", "dTLB\\-load\\-misses", "tlb", "Misses of the data TLB per thousand instructions"),
	{ .name = "ghz", .expression = "cycles / task\\-clock", .groups = "summary", .scale_unit = "1GHz",
	  .description = "Frequency of the clock while the CPUs were busy" },
	{ .name = "insn_per_cycle", .expression = "instructions / cycles", .groups = "summary", .scale_unit = "1instructions",
	  .description = "Instructions per cycle" },
	{ .name = "ipc", .expression = "instructions / cycles", .groups = "summary", .description = "Instructions per cycle" },
	SHARE("itlb_miss_rate", "iTLB\\-load\\-misses", "iTLB\\-loads", "tlb", "Share of instruction addresses that the TLB missed"),
	PER_KILO("itlb_mpki", "iTLB\\-load\\-misses", "tlb", "Misses of the instruction TLB per thousand instructions"),
	SHARE("l1d_miss_rate", L1D "\\-misses", L1D "s", "cache", "Share of loads that missed the first data cache"),
	PER_KILO("l1d_mpki", L1D "\\-misses", "cache", "Misses of the first data cache per thousand instructions"),
	{ .name = "memory_bandwidth", .expression = "(" IMC_BYTES("read") " + " IMC_BYTES("write") ") / 1e6 / duration_time",
	  .groups = "memory", .scale_unit = "1MB/s", .description = "Bytes read from and written to memory per second" },
	PER_BUSY_SECOND("migrations_per_second", "cpu\\-migrations", "migrations", "Moves to another CPU per second of CPU time"),
	PER_SECOND("page_fault_rate", "page\\-faults", "software", "Page faults per second"),
	PER_BUSY_SECOND("page_faults_per_second", "page\\-faults", "faults", "Page faults per second of CPU time"),
	PER_SECOND("switch_rate", "context\\-switches", "software", "Context switches per second"),
	TOPDOWN("topdown_backend_bound", "topdown\\-be\\-bound", "0.2", "Share of slots that waited for the back end of the pipeline"),
	TOPDOWN("topdown_bad_speculation", "topdown\\-bad\\-spec", "0.15", "Share of slots used for instructions that did not retire"),
	TOPDOWN("topdown_frontend_bound", "topdown\\-fe\\-bound", "0.15", "Share of slots that the front end of the pipeline left empty"),
	TOPDOWN("topdown_retiring", "topdown\\-retiring", "0.7", "Share of slots used for instructions that retired"),
	{ 0 },
};
