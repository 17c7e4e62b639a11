/* Describes all variables of all functions of any ELF file with debug information, as `probe -V` and a definition with `$vars`, arrays and
 * members do: types may form cycles or be nested deeply, locations may be anything. */
#include "probe/variable.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "dwarf/die.h"
#include "dwarf/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES_MAX = 8, VARIABLES_MAX = 32 };

struct fuzzed {
	struct probe_target *target;
	const struct probe_place *place;
	struct arena *arena;
	unsigned variables;
};

static void fetch(const struct fuzzed *f, const char *name, const char *form)
{
	struct probe_spec spec;
	struct probe_fetch value;
	struct error err;
	CLEANUP_STR struct str text = { 0 };
	str_printf(&text, "main %s%s", name, form);
	if (probe_spec_parse(&spec, str_text(&text), &err) == 0)
		for (size_t i = 0; i < spec.arguments.count; i++)
			probe_variable_fetch(f->target, f->place, &spec.arguments.items[i], f->arena, &value, &err);
	probe_spec_fini(&spec);
}

static bool see_variable(void *context, const struct dwarf_die *variable, bool valued)
{
	static const char *const forms[] = { "", "->a", ".a.b", "[1]", "[0]->next->next->next", ":string", ":x64" };
	struct fuzzed *f = context;
	const char *name = dwarf_die_name(variable);
	CLEANUP_STR struct str type = { 0 };
	dwarf_type_name(variable, &type);
	for (size_t i = 0; name && valued && i < sizeof forms / sizeof *forms; i++)
		fetch(f, name, forms[i]);
	return ++f->variables >= VARIABLES_MAX;
}

static void see_target(struct probe_target *target)
{
	struct probe_spec spec;
	struct probe_places places = { 0 };
	struct error err;
	CLEANUP_STR struct str remarks = { 0 };
	const struct probe_search search = { .remarks = &remarks, .max = PLACES_MAX };
	if (probe_target_debug(target) && probe_spec_parse(&spec, "*", &err) == 0) {
		probe_places_find(target, &spec, &search, &places, &err);
		for (size_t i = 0; i < places.list.count; i++) {
			struct arena arena = { 0 };
			struct fuzzed f = { .target = target, .place = &places.list.items[i], .arena = &arena };
			probe_variables_walk(target, f.place, true, true, see_variable, &f);
			arena_fini(&arena);
		}
		vec_fini(&places.list);
		probe_spec_fini(&spec);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/perfuse-variable-fuzz-XXXXXX";
	struct probe_target target;
	struct error err;
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	const struct probe_target_options options = { .buildid_dir = "", .no_demangle = true };
	if (probe_target_open(&target, path, &options, &err) == 0)
		see_target(&target);
	probe_target_close(&target);
	unlink(path);
	close(fd);
	return 0;
}
