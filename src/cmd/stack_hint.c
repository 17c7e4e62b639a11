#include "cmd/stack_hint.h"

/* A whole chain is longer: even main() is called by two functions of libc and _start. Some are short in any program. */
void stack_hint(const struct cli *cli, bool verbose, uint64_t chains, uint64_t short_chains)
{
	enum { CHAINS_MIN = 100, PERCENT_MIN = 25 };
	uint64_t percent = chains ? short_chains * 100 / chains : 0;
	if (!cli->tty_err && !verbose)
		return;
	if (chains >= CHAINS_MIN && percent >= PERCENT_MIN)
		cli_warn(cli, "Hint: %llu%% of the user stacks end after one or two frames, as in programs without frame pointers: "
			"'perf record --call-graph unwind' follows them.", (unsigned long long)percent);
}

void joined_remark(const struct cli *cli, uint64_t chains, uint64_t joined)
{
	if (joined && joined <= chains)
		cli_warn(cli, "%llu of %llu stacks (%.1f%%) were deeper than their copy: the recorder joined them to earlier ones of their thread.",
			(unsigned long long)joined, (unsigned long long)chains, 100 * (double)joined / (double)chains);
	else if (joined)
		cli_warn(cli, "%llu stacks were deeper than their copy: the recorder joined them to earlier ones of their thread.",
			(unsigned long long)joined);
}

void stitching_warn(const struct cli *cli, const struct header *header)
{
	for (size_t i = 0; i < header->evlist.events.count; i++)
		if (header->evlist.events.items[i].attr.branch_sample_type & BRANCH_CALL_STACK)
			return;
	if (!header->pipe)
		cli_warn(cli, "the recording has no callchains from branch records (--call-graph lbr): --stitch-lbr does nothing");
}
