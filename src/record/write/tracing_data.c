/* Makes TRACING_DATA: the formats of tracepoint samples, in the layout of trace-cmd's files (trace-cmd.dat.v6(5)). */
#include <string.h>

#include "os/file.h"
#include "os/machine.h"
#include "os/tracefs.h"
#include "record/acquire/record_out.h"
#include "record/write/features.h"

/* A file of tracefs with its size before it; an unreadable one is empty. */
static void out_file(struct writer *out, const char *name, bool wide)
{
	CLEANUP_STR struct str text = { 0 };
	tracefs_read(name, &text, NULL);
	if (wide)
		out_u64(out, text.len);
	else
		out_u32(out, (uint32_t)text.len);
	writer_add(out, str_text(&text), text.len);
}

static void out_name(struct writer *out, const char *name)
{
	writer_add(out, name, strlen(name) + 1);
}

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The first tracepoint of its system, or (with names) of its name. */
static bool is_first(const struct events *events, size_t index, bool names)
{
	const struct event *event = &events->list.items[index];
	for (size_t i = 0; i < index; i++) {
		const struct event *other = &events->list.items[i];
		if (other->system && same(other->system, event->system) && (!names || same(other->tracepoint, event->tracepoint)))
			return false;
	}
	return true;
}

static void out_formats(struct writer *out, const struct events *events, const char *system)
{
	uint32_t count = 0;
	size_t at = out->len;
	out_u32(out, 0);
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		CLEANUP_STR struct str name = { 0 };
		if (!event->system || !same(event->system, system) || !is_first(events, i, true))
			continue;
		str_printf(&name, "events/%s/%s/format", event->system, event->tracepoint);
		out_file(out, name.text, true);
		count++;
	}
	memcpy(out->buffer + at, &count, sizeof count);
}

int tracing_data_make(struct writer *out, const struct events *events, struct error *err)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	uint32_t systems = 0;
	if (!tracefs_path())
		return error_set(err, ERROR_UNSUPPORTED, "tracefs is not mounted");
	for (size_t i = 0; i < events->list.count; i++)
		systems += events->list.items[i].system && is_first(events, i, false);
	writer_add(out, magic, sizeof magic);
	out_name(out, "0.6");
	writer_putc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	writer_putc(out, sizeof(long));
	out_u32(out, (uint32_t)machine_page_size());
	out_name(out, "header_page");
	out_file(out, "events/header_page", true);
	out_name(out, "header_event");
	out_file(out, "events/header_event", true);
	out_u32(out, 0); /* formats of ftrace itself: not recorded */
	out_u32(out, systems);
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		if (!event->system || !is_first(events, i, false))
			continue;
		out_name(out, event->system);
		out_formats(out, events, event->system);
	}
	out_u32(out, 0); /* kallsyms: readers of a recording have other sources */
	out_file(out, "printk_formats", false);
	out_file(out, "saved_cmdlines", true);
	return 0;
}
