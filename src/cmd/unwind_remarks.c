#include "cmd/unwind_remarks.h"

#include <inttypes.h>

void guess_remark(const struct cli *cli, const struct session *session)
{
	const struct unwind_tally *t = &session->counters.unwind;
	if (t->guessed_stacks)
		cli_warn(cli, "%" PRIu64 " of %" PRIu64 " stacks are guessed in part (%" PRIu64 " frames), by frame pointers of code without call "
			"frame information: --no-guess ends them there.", t->guessed_stacks, t->stacks, t->guessed_frames);
}

void unwind_remarks(const struct cli *cli, const struct session *session)
{
	const struct unwind_tally *t = &session->counters.unwind;
	uint64_t cut = t->ends[UNWIND_CUT] - t->joined;
	uint64_t lost = t->ends[UNWIND_NO_MAP] + t->ends[UNWIND_NO_RULE] + t->ends[UNWIND_BAD_RULE];
	if (cut)
		cli_warn(cli, "%" PRIu64 " of %" PRIu64 " stacks are cut: they are larger than their copies. Record with "
			"--call-graph dwarf,SIZE to copy more (up to 65528 bytes)%s.", cut, t->stacks,
			session->stack_memory ? "" : ", or complete them by others with --join-stacks");
	if (t->ends[UNWIND_SWITCHED])
		cli_warn(cli, "%" PRIu64 " of %" PRIu64 " stacks end where another stack continues, as those of signal handlers with a separate stack: "
			"only one stack is copied with a sample.", t->ends[UNWIND_SWITCHED], t->stacks);
	if (t->joined)
		cli_warn(cli, "%" PRIu64 " of %" PRIu64 " stacks were cut, and continue like an earlier one of their thread.", t->joined, t->stacks);
	if (lost)
		cli_warn(cli, "%" PRIu64 " of %" PRIu64 " stacks end early: in code whose file is absent or has no call frame information.",
			lost, t->stacks);
	guess_remark(cli, session);
}
