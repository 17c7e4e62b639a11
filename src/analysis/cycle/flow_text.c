#include "analysis/cycle/flow_text.h"

#include <stdlib.h>

enum { ENTRIES_MAX = 1024, WORD_MAX = 4096, FIELDS_MIN = 6 };

struct entry {
	struct flow_place from, to;
	uint64_t cycles;
	bool timed;
	bool unnamed; /* an end is "[unknown]", which may be any place */
};

/* "0x7f12", "main+0x1c", "main". */
static bool read_place(struct flow_graph *graph, const char *text, size_t len, struct flow_place *place)
{
	char word[WORD_MAX], *end;
	if (!len || len >= sizeof word)
		return false;
	memcpy(word, text, len);
	word[len] = '\0';
	*place = (struct flow_place){ 0 };
	if (strncmp(word, "0x", 2) == 0) {
		place->address = strtoull(word, &end, 16);
		return *end == '\0';
	}
	char *plus = strrchr(word, '+');
	if (plus && strncmp(plus, "+0x", 3) == 0) {
		place->offset = (uint32_t)strtoul(plus + 1, &end, 16);
		if (*end)
			return false;
		*plus = '\0';
	}
	place->function = strtab_add_line(&graph->names, word, strlen(word));
	place->address = (uint64_t)place->function << 32 | place->offset;
	return place->function != 0;
}

static bool is_unnamed(const char *text, size_t len)
{
	static const char word[] = "[unknown]";
	return len == sizeof word - 1 && !memcmp(text, word, len);
}

static bool read_entry(struct flow_graph *graph, const char *word, size_t len, struct entry *entry)
{
	const char *fields[FIELDS_MIN];
	size_t lengths[FIELDS_MIN], count = 0;
	for (const char *at = word, *end = word + len; count < FIELDS_MIN && at <= end; count++) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		fields[count] = at;
		lengths[count] = (size_t)((slash ? slash : end) - at);
		at += lengths[count] + 1;
	}
	if (count < FIELDS_MIN)
		return false;
	char *stop;
	char cycles[24] = "";
	memcpy(cycles, fields[5], lengths[5] < sizeof cycles ? lengths[5] : sizeof cycles - 1);
	entry->cycles = strtoull(cycles, &stop, 10);
	entry->timed = stop != cycles;
	entry->unnamed = is_unnamed(fields[0], lengths[0]) || is_unnamed(fields[1], lengths[1]);
	return read_place(graph, fields[0], lengths[0], &entry->from) && read_place(graph, fields[1], lengths[1], &entry->to);
}

/* A symbol that is entered at its start is called. What has no name has no start. */
static uint8_t kind_of(const struct entry *entry)
{
	bool from_kernel = entry->from.address >> 63, to_kernel = entry->to.address >> 63;
	if (from_kernel != to_kernel)
		return to_kernel ? FLOW_SYSCALL : FLOW_RESUME;
	return entry->to.function && !entry->to.offset && !entry->unnamed ? FLOW_CALL : FLOW_JUMP;
}

/* Places without names are not distinguished, so that no path leads through them. */
static void add_stack(struct flow_graph *graph, const struct entry *entries, size_t count)
{
	uint32_t before = FLOW_NONE;
	uint64_t cycles = 0;
	for (size_t i = count; i-- > 0;) {
		bool added;
		uint32_t edge = flow_graph_edge(graph, entries[i].from.address, entries[i].to.address, &added);
		if (added) {
			graph->edges.items[edge].from = entries[i].from;
			graph->edges.items[edge].to = entries[i].to;
			graph->edges.items[edge].kind = kind_of(&entries[i]);
		}
		flow_graph_add(graph, edge, entries[i].unnamed ? FLOW_NONE : before);
		if (entries[i].timed)
			flow_graph_add_cycles(graph, edge, (double)entries[i].cycles);
		cycles += entries[i].cycles;
		before = entries[i].unnamed ? FLOW_NONE : edge;
	}
	if (count)
		flow_graph_add_stack(graph, count, cycles);
}

size_t flow_text_line(struct flow_graph *graph, const char *line, size_t len, uint64_t *bad)
{
	struct entry entries[ENTRIES_MAX];
	size_t count = 0;
	for (size_t at = 0, word; at < len && count < ENTRIES_MAX; at += word) {
		while (at < len && (line[at] == ' ' || line[at] == '\t' || line[at] == '\n' || line[at] == '\r'))
			at++;
		word = 0;
		while (at + word < len && line[at + word] != ' ' && line[at + word] != '\t' && line[at + word] != '\n' && line[at + word] != '\r')
			word++;
		if (!memchr(line + at, '/', word))
			continue;
		if (read_entry(graph, line + at, word, &entries[count])) {
			count++;
			continue;
		}
		++*bad;
		break;
	}
	add_stack(graph, entries, count);
	return count;
}
