#include "probe/cached.h"

#include <string.h>

void cached_probes_read(struct cached_probes *probes, const char *text)
{
	size_t len;
	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		bool begins = *text == '#' || *text == '%';
		if (begins)
			vec_push(&probes->list, ((struct cached_probe){ .definition = arena_string(&probes->arena, text + 1, len - 1),
				.is_static = *text == '%' }));
		else if (len && probes->list.count)
			vec_push(&probes->list.items[probes->list.count - 1].lines, arena_string(&probes->arena, text, len));
	}
}

struct cached_probe *cached_probes_set(struct cached_probes *probes, const char *definition, bool is_static)
{
	for (size_t i = 0; i < probes->list.count; i++)
		if (probes->list.items[i].is_static == is_static && !strcmp(probes->list.items[i].definition, definition)) {
			vec_clear(&probes->list.items[i].lines);
			return &probes->list.items[i];
		}
	struct cached_probe *probe = vec_add(&probes->list);
	probe->definition = arena_string(&probes->arena, definition, strlen(definition));
	probe->is_static = is_static;
	return probe;
}

void cached_probes_add_line(struct cached_probes *probes, struct cached_probe *probe, const char *line)
{
	vec_push(&probe->lines, arena_string(&probes->arena, line, strlen(line)));
}

void cached_probes_remove(struct cached_probes *probes, size_t index)
{
	vec_fini(&probes->list.items[index].lines);
	probes->list.count--;
	memmove(probes->list.items + index, probes->list.items + index + 1, (probes->list.count - index) * sizeof *probes->list.items);
}

void cached_probes_text(const struct cached_probes *probes, struct str *to)
{
	for (size_t i = 0; i < probes->list.count; i++) {
		const struct cached_probe *probe = &probes->list.items[i];
		str_printf(to, "%c%s\n", probe->is_static ? '%' : '#', probe->definition);
		for (size_t k = 0; k < probe->lines.count; k++)
			str_printf(to, "%s\n", probe->lines.items[k]);
	}
}

void cached_probe_name(const struct cached_probe *probe, struct str *to)
{
	size_t name = strcspn(probe->definition, "= "), group = strcspn(probe->definition, ":");
	bool named = probe->definition[name] == '=' && group < name;
	str_add(to, probe->definition, named ? name : strlen(probe->definition));
}

void cached_probes_fini(struct cached_probes *probes)
{
	for (size_t i = 0; i < probes->list.count; i++)
		vec_fini(&probes->list.items[i].lines);
	vec_fini(&probes->list);
	arena_fini(&probes->arena);
	*probes = (struct cached_probes){ 0 };
}
