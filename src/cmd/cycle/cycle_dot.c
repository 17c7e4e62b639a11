#include "cmd/cycle/cycle_dot.h"

#include <string.h>

void dot_text(struct writer *out, const char *text)
{
	writer_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			writer_putc(out, '\\');
		writer_putc(out, (unsigned char)*text < ' ' ? '?' : *text);
	}
	writer_putc(out, '"');
}

/* An edge between two functions: the sum of the branches between them. */
struct link {
	uint32_t from, to;
	uint64_t count;
	bool on_cycle;
	uint8_t kind;
};

typedef VEC(struct link) links;

static struct link *link_of(links *list, struct idmap *known, uint32_t from, uint32_t to)
{
	bool added;
	uint32_t index = idmap_add(known, (uint64_t)from << 32 | to, (uint32_t)list->count, &added);
	if (added)
		vec_push(list, ((struct link){ .from = from, .to = to }));
	return &list->items[index];
}

static void put_function(const struct cycle_result *result, uint32_t function, struct writer *out)
{
	dot_text(out, function ? strtab_text(&result->graph->names, function) : "[unknown]");
}

static void add_links(const struct cycle_result *result, links *list, struct idmap *known)
{
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	for (size_t i = 0; i < result->edges.count; i++) {
		const struct flow_edge *edge = &result->graph->edges.items[result->edges.items[i]];
		bool inside = edge->from.function == edge->to.function && edge->kind != FLOW_CALL && edge->kind != FLOW_SYSCALL;
		if (inside || !edge->from.function)
			continue;
		struct link *link = link_of(list, known, edge->from.function, edge->to.function);
		link->count += edge->count;
		link->kind = edge->kind;
		for (size_t n = 0; cycle && n < cycle->count; n++)
			link->on_cycle |= cycle->edges[n] == result->edges.items[i];
	}
}

void cycle_dot_write(const struct cycle_result *result, struct writer *out)
{
	links list = { 0 };
	struct idmap known = { 0 };
	add_links(result, &list, &known);
	writer_puts(out, "digraph flow {\n\tnode [shape=box, fontname=\"sans-serif\", fontsize=11];\n"
		"\tedge [fontname=\"sans-serif\", fontsize=10];\n");
	for (size_t i = 0; i < list.count; i++) {
		const struct link *link = &list.items[i];
		writer_putc(out, '\t');
		put_function(result, link->from, out);
		writer_puts(out, " -> ");
		put_function(result, link->to, out);
		writer_printf(out, " [label=\"%llu\"", (unsigned long long)link->count);
		writer_puts(out, link->on_cycle ? ", color=\"#c62828\", penwidth=2.5" : "");
		writer_puts(out, link->kind == FLOW_SYSCALL ? ", style=dashed];\n" : "];\n");
	}
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].on_cycle) {
			writer_putc(out, '\t');
			put_function(result, list.items[i].from, out);
			writer_puts(out, " [color=\"#c62828\", penwidth=2];\n");
		}
	writer_puts(out, "}\n");
	vec_fini(&list);
	idmap_fini(&known);
}
