#include "cmd/report/tips.h"

#include "base/clock.h"

static const char *const tips[] = {
	"Tip: perf report --no-children sorts by the samples in each function itself",
	"Tip: shorter with less detail: perf report -s comm,dso",
	"Tip: perf report --percent-limit 1 leaves small rows out",
	"Tip: perf report --sort +cpu adds a column to the default ones",
	"Tip: perf report -g caller shows call chains from the outermost caller on",
	"Tip: perf report --time 10%/2 looks at the second tenth of the recording",
	"Tip: perf script shows the samples one by one",
	"Tip: perf report --header shows how, when and where the recording was made",
	"Tip: perf report -H shows rows as a tree",
	"Tip: perf record -e cycles:u counts user code only",
	"Tip: perf record --call-graph unwind records callers, also those of programs without frame pointers",
	"Tip: perf flamegraph draws the recording's stacks, where it has any",
};

const char *report_tip(void)
{
	return tips[now_ns() / 1000 % (sizeof tips / sizeof *tips)];
}
