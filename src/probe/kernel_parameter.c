#include "probe/kernel_parameter.h"

#include <string.h>

#if defined(__x86_64__)
enum { REGISTER_PARAMETERS = 6 };
#elif defined(__aarch64__)
enum { REGISTER_PARAMETERS = 8 };
#else
enum { REGISTER_PARAMETERS = 5 };
#endif

enum { STEPS_MAX = 32 };

/* A value: the register, or memory at the last offset, each relative to the pointer that the one before finds. */
struct value {
	uint32_t type, number;
	bool returned;                /* the value at a return, instead of the parameter of that number */
	struct btf_field member;      /* the last one; without a name: not a member */
	int64_t offsets[STEPS_MAX];
	unsigned count;
};

struct parameter_context {
	const struct btf_types *types;
	const struct btf_type *prototype;
	const char *function;
	const struct probe_argument *argument;
	struct arena *arena;
	struct error *err;
};

static const char *keep(const struct parameter_context *c, const struct str *text)
{
	return arena_string(c->arena, str_text(text), text->len);
}

static int refuse(const struct parameter_context *c, const char *format, const char *name)
{
	error_set(c->err, ERROR_USAGE, format, name);
	return -1;
}

static int refuse_name(const struct parameter_context *c)
{
	CLEANUP_STR struct str list = { 0 };
	struct btf_field field;
	for (uint32_t i = 0; btf_type_field(c->prototype, i, &field); i++)
		str_printf(&list, "%s%s", list.len ? ", " : "", field.name);
	error_set(c->err, ERROR_USAGE, "%s has no parameter %s", c->function, c->argument->variable);
	return list.len ? error_hint(c->err, "It has: %s", list.text) : -1;
}

static bool is_structure(const struct btf_type *type)
{
	return type->kind == BTF_STRUCT || type->kind == BTF_UNION;
}

/* The register of a parameter. A structure passed by value may take two registers, or none: those behind it are unknown. */
static bool in_register(const struct parameter_context *c, uint32_t index)
{
	struct btf_field field;
	struct btf_type type;
	uint64_t size;
	for (uint32_t i = 0; i <= index && i < REGISTER_PARAMETERS; i++)
		if (!btf_type_field(c->prototype, i, &field) || !btf_types_real(c->types, field.type, &type) || is_structure(&type) ||
		    type.kind == BTF_FLOAT || !btf_types_size(c->types, field.type, &size) || size > 8)
			return false;
	return index < REGISTER_PARAMETERS;
}

static int follow_pointer(const struct parameter_context *c, struct value *v, const struct btf_type *pointer, const char *owner)
{
	if (v->count == STEPS_MAX)
		return refuse(c, "%s is behind too many pointers.", owner);
	v->offsets[v->count++] = 0;
	v->type = pointer->size;
	return 0;
}

static int follow_member(const struct parameter_context *c, struct value *v, const struct probe_field *field, const char *owner)
{
	struct btf_type type;
	if (!btf_types_real(c->types, v->type, &type))
		return refuse(c, "Failed to get the type of %s.", owner);
	if (type.kind == BTF_POINTER && !field->pointer)
		return refuse(c, "Semantic error: %s must be referred by '->'", field->name);
	if (type.kind != BTF_POINTER && field->pointer)
		return refuse(c, "Semantic error: %s must be referred by '.'", field->name);
	if (type.kind == BTF_POINTER && (follow_pointer(c, v, &type, owner) < 0 || !btf_types_real(c->types, v->type, &type)))
		return *c->err->text ? -1 : refuse(c, "%s points to no data structure.", owner);
	if (!is_structure(&type) || !v->count)
		return refuse(c, "%s is not a data structure nor a union.", owner);
	if (!btf_types_member(c->types, &type, field->name, &v->member)) {
		error_set(c->err, ERROR_USAGE, "%s(type:%s) has no member %s.", owner, type.name, field->name);
		return -1;
	}
	v->offsets[v->count - 1] += v->member.offset_bits / 8;
	v->type = v->member.type;
	return 0;
}

static int follow_element(const struct parameter_context *c, struct value *v, const struct probe_field *field, const char *owner)
{
	struct btf_type type;
	uint64_t size;
	uint32_t element, length;
	int64_t offset;
	if (!btf_types_real(c->types, v->type, &type) || (type.kind != BTF_POINTER && type.kind != BTF_ARRAY))
		return refuse(c, "Semantic error: %s is not a pointer nor array.", owner);
	if (type.kind == BTF_POINTER && follow_pointer(c, v, &type, owner) < 0)
		return -1;
	if (btf_type_element(&type, &element, &length))
		v->type = element;
	if (!v->count || !btf_types_size(c->types, v->type, &size) || __builtin_mul_overflow((int64_t)size, (int64_t)field->index, &offset))
		return refuse(c, "Failed to get the type of %s.", owner);
	v->offsets[v->count - 1] += offset;
	v->member = (struct btf_field){ 0 };
	return 0;
}

static const char *value_text(const struct parameter_context *c, const struct value *v)
{
	CLEANUP_STR struct str text = { 0 };
	for (unsigned i = v->count; i-- > 0;)
		str_printf(&text, "%s%+lld(", c->argument->user ? "+u" : "", (long long)v->offsets[i]);
	if (v->returned)
		str_puts(&text, "$retval");
	else
		str_printf(&text, "$arg%u", v->number + 1);
	for (unsigned i = v->count; i-- > 0;)
		str_putc(&text, ')');
	return keep(c, &text);
}

static int string_value(const struct parameter_context *c, struct value *v, const char *name)
{
	struct btf_type type, of;
	uint32_t element, length;
	if (!btf_types_real(c->types, v->type, &type) || (type.kind != BTF_POINTER && type.kind != BTF_ARRAY))
		return refuse(c, "Failed to cast into string: %s is not a pointer nor array.", name);
	bool array = btf_type_element(&type, &element, &length);
	if (!btf_types_real(c->types, array ? element : type.size, &of) || of.kind != BTF_INT || of.size != 1)
		return refuse(c, "Failed to cast into string: %s is not (unsigned) char *.", name);
	return array ? 0 : follow_pointer(c, v, &type, name);
}

/* The kernel's name of the type, as for variables of debug information: sN, xN, or bits of a unit. */
static int value_type(const struct parameter_context *c, struct value *v, const char *name, const char **result)
{
	const char *cast = c->argument->type;
	struct btf_type type;
	uint64_t size;
	CLEANUP_STR struct str text = { 0 };
	bool string = cast && (!strcmp(cast, "string") || !strcmp(cast, "ustring")), prefix = cast && strchr("xsu", *cast) && !cast[1];
	*result = cast;
	if (string)
		return string_value(c, v, name);
	if (cast && !prefix)
		return 0;
	*result = NULL;
	if (!btf_types_real(c->types, v->type, &type))
		return refuse(c, "Failed to get a type information of %s.", name);
	if (v->member.bits) {
		uint32_t unit = type.size * 8, shift = unit ? v->member.offset_bits % unit : 0;
		if (!unit || unit > 64 || shift + v->member.bits > unit)
			return refuse(c, "Failed to get a type information of %s.", name);
		v->offsets[v->count - 1] += (int64_t)((v->member.offset_bits - shift) / 8) - v->member.offset_bits / 8;
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			shift = unit - shift - v->member.bits; /* the kernel counts from the lowest bit */
		str_printf(&text, "b%u@%u/%u", v->member.bits, shift, unit);
	} else if (type.kind == BTF_ARRAY || is_structure(&type) || !btf_types_size(c->types, v->type, &size) || !size) {
		return 0;
	} else {
		str_printf(&text, "%c%llu", prefix ? *cast : btf_type_is_signed(&type) ? 's' : 'x', (unsigned long long)(size > 8 ? 8 : size) * 8);
	}
	*result = keep(c, &text);
	return 0;
}

/* name: of the parameter; of a returned value without members, the kernel gives one. */
static int fetch_value(const struct parameter_context *c, struct value *v, const char *name, struct probe_fetches *fetches)
{
	struct probe_fetch fetch = { .name = c->argument->name };
	const char *given = v->returned ? NULL : name;
	for (size_t i = 0; i < c->argument->fields.count; i++) {
		const struct probe_field *field = &c->argument->fields.items[i];
		if ((field->name ? follow_member : follow_element)(c, v, field, name) < 0)
			return -1;
		name = field->name ? field->name : name;
		given = field->name ? field->name : given;
	}
	if (value_type(c, v, name, &fetch.type) < 0)
		return -1;
	fetch.value = value_text(c, v);
	fetch.name = fetch.name ? fetch.name : given;
	fetch.name = fetch.name ? arena_string(c->arena, fetch.name, strlen(fetch.name)) : NULL;
	fetch.type = fetch.type ? arena_string(c->arena, fetch.type, strlen(fetch.type)) : NULL;
	vec_push(&fetches->list, fetch);
	return 0;
}

static int fetch_parameter(const struct parameter_context *c, uint32_t index, const struct btf_field *parameter,
	struct probe_fetches *fetches)
{
	struct value v = { .type = parameter->type, .number = index };
	if (!in_register(c, index))
		return refuse(c, "The place of the parameter %s is not known without debug information.", parameter->name);
	return fetch_value(c, &v, parameter->name, fetches);
}

int probe_returned_fetch(const struct btf_types *types, const struct btf_type *prototype, const char *function,
	const struct probe_argument *argument, struct arena *arena, struct probe_fetches *fetches, struct error *err)
{
	const struct parameter_context c = { .types = types, .prototype = prototype, .function = function, .argument = argument, .arena = arena,
		.err = err };
	struct value v = { .type = prototype->size, .returned = true };
	struct btf_type type;
	*err->text = '\0';
	if (!btf_types_real(types, v.type, &type) || type.kind == BTF_VOID)
		return refuse(&c, "%s returns no value.", function);
	if (is_structure(&type) || type.kind == BTF_FLOAT)
		return refuse(&c, "The place of the value that %s returns is not known without debug information.", function);
	return fetch_value(&c, &v, argument->variable, fetches);
}

int probe_parameter_fetch(const struct btf_types *types, const struct btf_type *prototype, const char *function,
	const struct probe_argument *argument, struct arena *arena, struct probe_fetches *fetches, struct error *err)
{
	const struct parameter_context c = { .types = types, .prototype = prototype, .function = function, .argument = argument, .arena = arena,
		.err = err };
	struct btf_field field;
	bool all = !strcmp(argument->variable, "$params") || !strcmp(argument->variable, "$vars");
	*err->text = '\0';
	for (uint32_t i = 0; btf_type_field(prototype, i, &field); i++) {
		if (all ? !*field.name || !in_register(&c, i) : strcmp(field.name, argument->variable) != 0)
			continue;
		if (fetch_parameter(&c, i, &field, fetches) < 0)
			return -1;
		if (!all)
			return 0;
	}
	return all ? 0 : refuse_name(&c);
}
