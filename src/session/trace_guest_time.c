#include "session/trace_guest_time.h"

#include "data/source.h"
#include "session/trace_internal.h"

struct pass {
	struct trace *trace;
	const struct trace_queue *queue;
	const struct trace_guest_times *wanted;
	bool outside;            /* a piece is in no file that could be changed */
};

static void change_byte(struct pass *pass, const uint8_t *byte, uint8_t value)
{
	uint64_t offset;
	if (source_file_offset(pass->trace->source, byte, &offset))
		pass->wanted->change(pass->wanted->context, offset, value);
	else
		pass->outside = true;
}

static void on_change(void *context, size_t piece, size_t at, uint8_t value)
{
	struct pass *pass = context;
	change_byte(pass, pass->queue->pieces.items[piece].bytes.data + at, value);
}

static void on_remark(void *context, enum pt_guest_remark remark, uint64_t vmcs, uint64_t ticks)
{
	const struct pass *pass = context;
	pass->wanted->remark(pass->wanted->context, remark, vmcs, ticks);
}

/* Snapshots would not be found to overlap once times differ. */
static void clear_repeated(struct pass *pass)
{
	for (size_t i = 0; i < pass->queue->pieces.count; i++) {
		const struct pt_piece *piece = &pass->queue->pieces.items[i];
		for (size_t k = piece->repeated; k; k--)
			if (*(piece->bytes.data - k))
				change_byte(pass, piece->bytes.data - k, 0);
	}
}

int trace_correct_guests(struct trace *trace, struct pt_guest_times *times, const struct trace_guest_times *wanted, struct error *err)
{
	struct pass pass = { .trace = trace, .wanted = wanted };
	if (trace->bts || trace->timeless)
		return error_set(err, ERROR_USAGE, "the trace has no times that could be corrected");
	if (!trace->has_mtc || !trace->config.clock.ctc_denominator)
		return error_set(err, ERROR_USAGE, "the trace has no MTC packets, by which the times of guests are found: record with intel_pt/mtc/");
	times->change = on_change;
	times->remark = on_remark;
	times->context = &pass;
	times->from = pt_info_ticks(&trace->info, trace->start_ns);
	for (size_t i = 0; i < trace->queues.count; i++) {
		const struct trace_queue *queue = pass.queue = trace->queues.items[i];
		clear_repeated(&pass);
		pt_guest_times_run(times, &trace->config, queue->pieces.items, queue->pieces.count);
	}
	return pass.outside ? error_set(err, ERROR_USAGE, "only a trace in one file can be corrected") : 0;
}
