/* Self-checks of permissions, of the kernel's symbols and BPF, and of this program's symbols. */
#include <errno.h>

#include "cmd/test/check.h"
#include "os/bpf.h"
#include "os/kernel.h"
#include "os/permission.h"

enum verdict check_permissions(struct check_run *run)
{
	struct permission permission;
	permission_read(&permission);
	check_log("kernel.perf_event_paranoid is %d; CAP_PERFMON: %s", permission.paranoid, permission.perfmon ? "yes" : "no");
	if (permission.perfmon || permission.paranoid < 0)
		return CHECK_OK;
	return check_skip(run, "kernel.perf_event_paranoid is %d: %s", permission.paranoid,
		permission.paranoid >= 2 ? "only the own user code is measured" : permission.paranoid == 1 ?
		"no measurement of whole CPUs" : "no tracepoints");
}

enum verdict check_kernel_symbols(struct check_run *run)
{
	struct kernel_text text = { 0 };
	struct error err = { 0 };
	char command[96];
	if (permission_hides_kernel()) {
		permission_show_kernel(command, sizeof command);
		return check_skip(run, "the kernel hides them; root shows them by: %s", command);
	}
	if (kernel_text(&text, &err) < 0)
		return check_failed(run, "%s", err.text);
	check_log("%s is at %llx", text.symbol, (unsigned long long)text.start);
	return text.start ? CHECK_OK : check_failed(run, "neither _text nor _stext is listed");
}

enum verdict check_bpf(struct check_run *run)
{
	struct error err = { 0 };
	if (bpf_program_load(&err) == 0)
		return CHECK_OK;
	if (err.kind == ERROR_PERMISSION || err.sys == ENOSYS)
		return check_skip(run, "%s", err.text);
	return check_failed(run, "%s", err.text);
}

enum verdict check_own_symbols(struct check_run *run)
{
	struct error err = { 0 };
	const char *path = run->dso ? run->dso : run->self;
	int count = check_symbols(path, run->verbose > 1, &err);
	if (count < 0)
		return check_failed(run, "%s", err.text);
	check_log("%s: %d symbols", path, count);
	return count ? CHECK_OK : check_skip(run, "the file is stripped");
}
