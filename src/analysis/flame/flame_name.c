#include "analysis/flame/flame_name.h"

#include <string.h>

static bool has_name_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *module_last_component(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool module_is_jit(const struct module *module)
{
	return module->kind == MODULE_ANON || module->kind == MODULE_JIT ||
		(module->kind == MODULE_FILE && has_name_prefix(module_last_component(module->name), "jitted-"));
}

static bool module_is_kernel(const struct module *module)
{
	return module->kind == MODULE_KERNEL || module->kind == MODULE_KMODULE || module->kind == MODULE_KSYMBOL;
}

enum flame_kind flame_kind_of(const struct module *module)
{
	return module_is_kernel(module) ? FLAME_KERNEL : module_is_jit(module) ? FLAME_JIT : FLAME_USER;
}

static void append_bracketed(struct str *text, const char *name, bool again)
{
	if (*name == '[' && !again)
		str_puts(text, name);
	else
		str_printf(text, "[%s]", name);
}

void flame_full_name(struct str *text, const struct module *module, const char *symbol)
{
	if (symbol)
		str_puts(text, symbol);
	else
		append_bracketed(text, module ? module_last_component(module->name) : "unknown", false);
}

/* Returns the length up to the arguments. Go methods ("pkg.(*Type).Name") have no arguments. */
static size_t length_without_arguments(const char *symbol)
{
	const char *dot = strstr(symbol, ".(");
	if (dot && strstr(dot + 2, ")."))
		return strlen(symbol);
	for (const char *p = symbol; (p = strchr(p, '(')); p++)
		if (!has_name_prefix(p, "(anonymous namespace)"))
			return (size_t)(p - symbol);
	return strlen(symbol);
}

void flame_fold_name(struct str *text, const struct module *module, const char *symbol)
{
	size_t begin = text->len;
	if (!symbol) {
		append_bracketed(text, module ? module_last_component(module->name) : "unknown", true);
	} else {
		if (*symbol == 'L' && module && module_is_jit(module) && strchr(symbol, '/'))
			symbol++; /* the type letter of a Java class */
		size_t len = length_without_arguments(symbol);
		str_add(text, symbol, len ? len : strlen(symbol));
	}
	size_t to = begin;
	for (size_t from = begin; from < text->len; from++) {
		char c = text->text[from];
		if (c != '"' && c != '\'')
			text->text[to++] = c == ';' ? ':' : c;
	}
	if (text->text) {
		text->len = to;
		text->text[to] = '\0';
	}
}

const char *flame_mark(enum flame_kind kind)
{
	static const char *const marks[FLAME_KIND_COUNT] = { [FLAME_KERNEL] = "_[k]", [FLAME_JIT] = "_[j]", [FLAME_INLINE] = "_[i]" };
	return marks[kind] ? marks[kind] : "";
}

void flame_fold_task(struct str *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (text->text[i] == ' ' || text->text[i] == ';')
			text->text[i] = text->text[i] == ' ' ? '_' : ':';
}
