#include "symbol/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "symbol/demangle_plain.h"

/* A mangled name of a few bytes can expand without limit. */
#define DEMANGLED_LIMIT ((size_t)64 << 10)
/* Longer names are not demangled. */
#define MANGLED_LIMIT ((size_t)16 << 10)

struct unfolding {
	struct str *text;
	jmp_buf stop;
};

static void unfolding_add(const char *text, size_t len, void *opaque)
{
	struct unfolding *u = opaque;
	if (len > DEMANGLED_LIMIT - u->text->len)
		longjmp(u->stop, 1);
	if (len)
		str_add(u->text, text, len);
}

/* A name of Rust that begins as one of C++ is nested, its first word has a length, and it ends with "17h" and a hash. */
static bool may_be_rust(const char *mangled)
{
	if (mangled[0] != '_' || mangled[1] != 'Z')
		return true;
	return mangled[2] == 'N' && isdigit((unsigned char)mangled[3]) && strstr(mangled + 4, "17h");
}

static bool unfold(const char *mangled, int options, struct str *out)
{
	struct unfolding u = { .text = out };
	str_clear(out);
	if (setjmp(u.stop))
		return false;
	if (may_be_rust(mangled) && rust_demangle_callback(mangled, options, unfolding_add, &u))
		return true;
	if (!(options & DMGL_PARAMS) && demangle_plain(mangled, DEMANGLED_LIMIT, out))
		return true;
	str_clear(out);
	return cplus_demangle_v3_callback(mangled, options, unfolding_add, &u) != 0;
}

/* Matches "::h" and 16 hex digits of which 5 to 15 are distinct: the hash at the end of legacy Rust paths. */
static bool rust_hash(const char *text)
{
	unsigned seen = 0;
	if (strncmp(text, "::h", 3) != 0)
		return false;
	for (text += 3; *text; text++) {
		if (!isxdigit((unsigned char)*text) || isupper((unsigned char)*text))
			return false;
		seen |= 1u << ((*text <= '9' ? *text - '0' : *text - 'a' + 10) & 15);
	}
	int distinct = __builtin_popcount(seen);
	return distinct >= 5 && distinct <= 15;
}

static const struct {
	const char *escape;
	char plain;
} rust_escapes[] = {
	{ "$C$", ',' }, { "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' }, { "$GT$", '>' }, { "$LP$", '(' },
	{ "$RP$", ')' }, { "$u20$", ' ' }, { "$u27$", '\'' }, { "$u5b$", '[' }, { "$u5d$", ']' }, { "$u7e$", '~' },
};

/* Decodes one character of a legacy Rust path: returns the number of bytes it takes, 0 if invalid. */
static size_t rust_take(const char *in, bool starts, char *out, size_t *written)
{
	*written = 0;
	if (starts && in[0] == '_' && in[1] == '$')
		return 1;
	for (size_t i = 0; *in == '$' && i < sizeof rust_escapes / sizeof *rust_escapes; i++) {
		size_t len = strlen(rust_escapes[i].escape);
		if (strncmp(in, rust_escapes[i].escape, len) == 0) {
			out[(*written)++] = rust_escapes[i].plain;
			return len;
		}
	}
	if (*in == '.' && in[1] == '.') {
		memcpy(out, "::", *written = 2);
		return in[2] == '.' ? 0 : 2;
	}
	if (!isalnum((unsigned char)*in) && *in != '_' && *in != ':' && *in != '.')
		return 0;
	out[(*written)++] = *in == '.' ? '-' : *in;
	return 1;
}

/* libiberty does not demangle legacy Rust names with a suffix that begins with another character than a dot: the hash and the escapes
 * remain. Removes them in place. */
static void rust_unescape(char *text)
{
	size_t len = strlen(text), out = 0;
	if (len <= 19 || !rust_hash(text + len - 19))
		return;
	char *plain = memory_alloc(len + 1);
	for (size_t i = 0; i < len - 19;) {
		size_t written, taken = rust_take(text + i, i == 0 || text[i - 1] == ':', plain + out, &written);
		if (!taken) {
			free(plain);
			return;
		}
		i += taken;
		out += written;
	}
	memcpy(text, plain, out);
	text[out] = '\0';
	free(plain);
}

static int hex_nibble(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* OCaml: "camlStdlib__list__map$27_85": "__" is a dot, $xx a byte. */
static char *ocaml_demangle(const char *name)
{
	if (strncmp(name, "caml", 4) != 0 || !isupper((unsigned char)name[4]))
		return NULL;
	char *out = memory_string(name + 4), *to = out;
	for (const char *p = name + 4; *p; to++) {
		if (p[0] == '_' && p[1] == '_') {
			*to = '.';
			p += 2;
		} else if (p[0] == '$' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])) {
			*to = (char)(hex_nibble(p[1]) << 4 | hex_nibble(p[2]));
			p += 3;
		} else {
			*to = *p++;
		}
	}
	*to = '\0';
	return out;
}

static const char *java_type(char c)
{
	switch (c) {
	case 'B': return "byte";
	case 'C': return "char";
	case 'D': return "double";
	case 'F': return "float";
	case 'I': return "int";
	case 'J': return "long";
	case 'S': return "short";
	case 'Z': return "boolean";
	case 'V': return "void";
	default: return NULL;
	}
}

/* Parses one parameter of a method descriptor (JVM specification 4.3.3); NULL if invalid. */
static const char *java_parameter(const char *p, struct str *out)
{
	unsigned arrays = 0;
	for (; *p == '['; p++)
		arrays++;
	if (arrays > 255)
		return NULL;
	if (*p == 'L') {
		for (p++; *p && *p != ';' && *p != ')'; p++)
			str_putc(out, *p == '/' ? '.' : *p);
		if (*p++ != ';')
			return NULL;
	} else {
		const char *type = java_type(*p++);
		if (!type)
			return NULL;
		str_puts(out, type);
	}
	while (arrays--)
		str_puts(out, "[]");
	return p;
}

/* "Ljava/lang/String;hashCode()I" → "java.lang.String.hashCode()"; the return type is dropped. */
static char *java_demangle(const char *name)
{
	const char *end = strrchr(name, ')'), *p = strchr(name, 'L');
	const char *semicolon = p ? strchr(p, ';') : NULL;
	const char *open = semicolon ? strchr(semicolon, '(') : NULL;
	if (!end || !open || open > end || memchr(name, '/', (size_t)(p - name)))
		return NULL;
	struct str out = { 0 };
	str_add(&out, name, (size_t)(p - name));
	for (p++; p < semicolon; p++)
		str_putc(&out, *p == '/' ? '.' : *p);
	if (isalpha((unsigned char)semicolon[1]))
		str_putc(&out, '.');
	str_add(&out, semicolon + 1, (size_t)(open - semicolon));
	for (p = open + 1; p < end;) {
		if (p != open + 1)
			str_puts(&out, ", ");
		p = java_parameter(p, &out);
		if (!p || p > end) {
			str_fini(&out);
			return NULL;
		}
	}
	str_putc(&out, ')');
	return out.text;
}

/* Retains leading dots and dollars and the part from '@' on (a version, "@plt") around the demangled middle. Changes name meanwhile. */
static bool cxx_demangle(const struct demangler *demangler, char *name, struct str *out)
{
	char *start = name + strspn(name, ".$");
	if (*start != '_')
		return false;
	char *end = strchrnul(start, '@'), first = *end;
	*end = '\0';
	bool done = unfold(start, demangler->params ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS, out);
	*end = first;
	if (!done || !out->len)
		return false;
	if (start != name || first) {
		size_t before = (size_t)(start - name);
		str_puts(out, end);
		str_add(out, name, before);
		memmove(out->text + before, out->text, out->len - before);
		memcpy(out->text, name, before);
		return true;
	}
	rust_unescape(out->text);
	out->len = strlen(out->text);
	return true;
}

/* Each back reference may repeat the whole name before it: with more of them a name could expand without limit. */
#define D_BACK_REFERENCES_MAX 12

/* Always with parameters: they are part of the path of functions nested in a function. */
static char *d_demangle(const char *name)
{
	unsigned references = 0;
	if (name[0] != '_' || name[1] != 'D' || !isdigit((unsigned char)name[2]))
		return NULL;
	for (const char *p = name; (p = strchr(p, 'Q')); p++)
		references++;
	return references <= D_BACK_REFERENCES_MAX ? dlang_demangle(name, DMGL_NO_OPTS) : NULL;
}

static bool ends_with_operator(const char *name, size_t len)
{
	static const char word[] = "operator";
	size_t size = sizeof word - 1;
	while (len && name[len - 1] == '<')
		len--;
	return len >= size && memcmp(name + len - size, word, size) == 0;
}

/* Returns whether '<' at `at` opens arguments: after a name or Rust's "::", not as part of an operator. */
static bool opens_arguments(const char *name, size_t at)
{
	char before = at ? name[at - 1] : '\0';
	return (isalnum((unsigned char)before) || before == '_' || before == ':') && !ends_with_operator(name, at);
}

/* The offset after the '>' that closes the '<' at `at`; 0: not closed. */
static size_t arguments_end(const char *name, size_t at)
{
	size_t depth = 0;
	for (; name[at]; at++) {
		bool arrow = name[at] == '>' && name[at - 1] == '-';
		if (name[at] == '<' && !ends_with_operator(name, at))
			depth++;
		else if (name[at] == '>' && !arrow && !ends_with_operator(name, at) && --depth == 0)
			return at + 1;
	}
	return 0;
}

void name_shorten(char *name)
{
	size_t out = 0;
	for (size_t at = 0; name[at];) {
		size_t end = name[at] == '<' && opens_arguments(name, at) ? arguments_end(name, at) : 0;
		if (end > at + 4) {
			memcpy(name + out, "<..>", 4);
			out += 4;
			at = end;
		} else {
			name[out++] = name[at++];
		}
	}
	name[out] = '\0';
}

/* Takes a malloc'ed text. */
static bool take_text(struct str *out, char *text)
{
	if (!text)
		return false;
	str_clear(out);
	str_puts(out, text);
	free(text);
	return true;
}

static bool demangle(const struct demangler *demangler, char *name, struct str *out)
{
	switch (*name) {
	case '_':
	case '.':
	case '$':
		if (take_text(out, d_demangle(name)) || cxx_demangle(demangler, name, out))
			return true;
		break;
	case 'c':
		if (take_text(out, ocaml_demangle(name)))
			return true;
		break;
	default:
		break;
	}
	return take_text(out, java_demangle(name));
}

/* The code above and the libraries read the name several times: they read a copy, as the name's file may change meanwhile. */
bool name_demangle_into(const struct demangler *demangler, const char *name, struct str *out)
{
	char copy[MANGLED_LIMIT];
	if (demangler->off || !*name || text_copy(copy, sizeof copy, name, sizeof copy) == sizeof copy - 1)
		return false;
	return demangle(demangler, copy, out);
}

char *name_demangle(const struct demangler *demangler, const char *name)
{
	struct str text = { 0 };
	if (name_demangle_into(demangler, name, &text))
		return text.text;
	str_fini(&text);
	return NULL;
}
