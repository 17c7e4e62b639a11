#include "symbol/demangle_plain.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { SUBSTITUTIONS_MAX = 128, DEPTH_MAX = 64 };

/* A part of the text that later parts of the name repeat. */
struct piece {
	uint32_t start, len;
};

struct parser {
	const char *at;
	struct str *out;
	size_t limit;
	unsigned depth, count;
	struct piece last;            /* the last name of a scope: constructors repeat it */
	struct piece pieces[SUBSTITUTIONS_MAX];
};

static bool add(struct parser *p, const char *text, size_t len)
{
	if (len > p->limit - p->out->len)
		return false;
	str_add(p->out, text, len);
	return true;
}

/* Copies a part of the text to its end; growing moves the text. */
static bool repeat(struct parser *p, struct piece piece)
{
	if (piece.len > p->limit - p->out->len)
		return false;
	str_reserve(p->out, piece.len);
	return add(p, p->out->text + piece.start, piece.len);
}

static struct piece piece_from(const struct parser *p, size_t start)
{
	return (struct piece){ (uint32_t)start, (uint32_t)(p->out->len - start) };
}

static bool remember(struct parser *p, size_t start)
{
	if (p->count == SUBSTITUTIONS_MAX)
		return false;
	p->pieces[p->count++] = piece_from(p, start);
	return true;
}

static bool read_type(struct parser *p);

/* <source-name>, of which the first digit is next. */
static bool read_source_name(struct parser *p)
{
	static const char unnamed[] = "_GLOBAL_";
	size_t len = 0, start = p->out->len;
	if (*p->at == '0')
		return false;
	for (; isdigit((unsigned char)*p->at); p->at++)
		if ((len = len * 10 + (size_t)(*p->at - '0')) > p->limit)
			return false;
	if (strnlen(p->at, len) < len)
		return false;
	bool own = len >= sizeof unnamed - 1 && !memcmp(p->at, unnamed, sizeof unnamed - 1);
	bool done = own ? len == 12 && !memcmp(p->at, "_GLOBAL__N_1", len) && add(p, "(anonymous namespace)", 21) : add(p, p->at, len);
	p->last = piece_from(p, start);
	p->at += len;
	return done;
}

/* <expr-primary> of numbers and truth values, after its 'L'. */
static bool read_literal(struct parser *p)
{
	static const struct {
		char type;
		const char *suffix;
	} kinds[] = { { 'i', "" }, { 'j', "u" }, { 'l', "l" }, { 'm', "ul" }, { 'x', "ll" }, { 'y', "ull" } };
	char type = *p->at++;
	if (type == 'b') {
		bool value = *p->at == '1';
		if ((*p->at != '0' && !value) || p->at[1] != 'E')
			return false;
		p->at += 2;
		return value ? add(p, "true", 4) : add(p, "false", 5);
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i].type != type)
			continue;
		bool negative = *p->at == 'n';
		const char *digits = p->at + negative;
		size_t len = strspn(digits, "0123456789");
		if (!len || digits[len] != 'E' || (negative && !add(p, "-", 1)))
			return false;
		p->at = digits + len + 1;
		return add(p, digits, len) && add(p, kinds[i].suffix, strlen(kinds[i].suffix));
	}
	return false;
}

/* One or more <template-arg> up to their 'E', which is taken. */
static bool read_arguments(struct parser *p)
{
	bool first = true;
	if (++p->depth > DEPTH_MAX || *p->at == 'E')
		return false;
	for (; *p->at != 'E'; first = false) {
		if (!first && !add(p, ", ", 2))
			return false;
		bool literal = *p->at == 'L', pack = *p->at == 'J';
		p->at += literal || pack;
		if (!(literal ? read_literal(p) : pack ? read_arguments(p) : read_type(p)))
			return false;
	}
	p->at++;
	p->depth--;
	return true;
}

/* <template-args>, whose 'I' is next, after the name from which the text begins at `start`. */
static bool read_template(struct parser *p)
{
	struct piece last = p->last;
	p->at++;
	if (p->out->text[p->out->len - 1] == '<' && !add(p, " ", 1))
		return false;
	if (!add(p, "<", 1) || !read_arguments(p))
		return false;
	p->last = last;
	return p->out->text[p->out->len - 1] == '>' ? add(p, " >", 2) : add(p, ">", 1);
}

/* What a letter after 'S' stands for; the last word begins at `name`. */
static const struct abbreviation {
	char letter;
	uint8_t name;
	const char *text;
} abbreviations[] = {
	{ 't', 0, "std" }, { 'a', 5, "std::allocator" }, { 'b', 5, "std::basic_string" }, { 's', 0, "std::string" }, { 'i', 0, "std::istream" },
	{ 'o', 0, "std::ostream" }, { 'd', 0, "std::iostream" },
};

/* <substitution>, whose 'S' is next. *standard: it is "std" alone. */
static bool read_substitution(struct parser *p, bool *standard)
{
	char c = p->at[1];
	size_t index = 0, start = p->out->len;
	*standard = c == 't';
	for (size_t i = 0; i < sizeof abbreviations / sizeof *abbreviations; i++) {
		const struct abbreviation *a = &abbreviations[i];
		if (a->letter != c)
			continue;
		p->at += 2;
		p->last = (struct piece){ 0 };
		if (!add(p, a->text, strlen(a->text)))
			return false;
		if (a->name)
			p->last = piece_from(p, start + a->name);
		return true;
	}
	for (p->at++; *p->at != '_'; p->at++) {
		if (!isdigit((unsigned char)*p->at) && !(*p->at >= 'A' && *p->at <= 'Z'))
			return false;
		index = index * 36 + (size_t)(isdigit((unsigned char)*p->at) ? *p->at - '0' : *p->at - 'A' + 10) + (p->at[1] == '_');
		if (index > SUBSTITUTIONS_MAX)
			return false;
	}
	p->at++;
	p->last = (struct piece){ 0 };
	return index < p->count && repeat(p, p->pieces[index]);
}

/* <ctor-dtor-name> of whole objects and of their bases. */
static bool read_constructor(struct parser *p)
{
	bool destructor = *p->at == 'D';
	if (!p->last.len || p->at[1] < (destructor ? '0' : '1') || p->at[1] > '2')
		return false;
	p->at += 2;
	return (!destructor || add(p, "~", 1)) && repeat(p, p->last);
}

static bool read_operator(struct parser *p)
{
	static const char names[][8] = { "pl+", "mi-", "ml*", "dv/", "rm%", "eo^", "an&", "or|", "co~", "aS=", "pL+=", "mI-=", "mL*=", "dV/=",
		"rM%=", "eO^=", "aN&=", "oR|=", "ls<<", "rs>>", "lS<<=", "rS>>=", "eq==", "ne!=", "lt<", "gt>", "le<=", "ge>=", "nt!", "aa&&",
		"oo||", "pp++", "mm--", "cm,", "pm->*", "pt->", "cl()", "ix[]", "ss<=>" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i][0] == p->at[0] && names[i][1] == p->at[1]) {
			p->at += 2;
			return add(p, "operator", 8) && add(p, names[i] + 2, strlen(names[i] + 2));
		}
	return false;
}

/* The types of parameters up to the 'E' after them, which is taken: "(int, char)". */
static bool read_parameters(struct parser *p)
{
	if (!add(p, "(", 1))
		return false;
	if (p->at[0] == 'v' && p->at[1] == 'E')
		p->at++;
	else if (*p->at == 'E')
		return false;
	for (bool first = true; *p->at != 'E'; first = false)
		if ((!first && !add(p, ", ", 2)) || !read_type(p))
			return false;
	p->at++;
	return add(p, ")", 1);
}

/* <closure-type-name>, whose 'U' is next. */
static bool read_lambda(struct parser *p)
{
	uint32_t number = 1;
	if (p->at[1] != 'l' || !add(p, "{lambda", 7))
		return false;
	p->at += 2;
	if (!read_parameters(p))
		return false;
	for (bool first = true; isdigit((unsigned char)*p->at); p->at++, first = false) {
		if (number > UINT16_MAX)
			return false;
		number = (first ? 0 : (number - 2) * 10) + (uint32_t)(*p->at - '0') + 2;
	}
	if (*p->at++ != '_')
		return false;
	str_printf(p->out, "#%u}", number);
	return true;
}

/* <unqualified-name> with its <abi-tag>s. */
static bool read_word(struct parser *p)
{
	bool internal = *p->at == 'L', done;
	if (*p->at == 'U')
		return read_lambda(p) && *p->at != 'B';
	p->at += internal;
	if (isdigit((unsigned char)*p->at))
		done = read_source_name(p) && !(internal && *p->at == '_');
	else
		done = !internal && (*p->at == 'C' || *p->at == 'D' ? read_constructor(p) : read_operator(p));
	struct piece last = p->last;
	while (done && *p->at == 'B') {
		p->at++;
		done = add(p, "[abi:", 5) && isdigit((unsigned char)*p->at) && read_source_name(p) && add(p, "]", 1);
	}
	p->last = last;
	return done;
}

/* <nested-name> after 'N', with its 'E'. */
static bool read_nested(struct parser *p)
{
	size_t start = p->out->len;
	bool empty = true, repeated = false, arguments = false;
	if (*p->at == 'r') /* a qualifier, not an operator */
		return false;
	for (; *p->at != 'E'; empty = false) {
		if (*p->at == 'S') {
			/* std::string is another text where a constructor follows */
			if (!empty || !read_substitution(p, &repeated) || *p->at == 'E' || (*p->at == 'C' && !p->last.len) ||
				(*p->at == 'D' && !p->last.len))
				return false;
			continue;
		}
		if (*p->at == 'I') {
			if (empty || arguments || !read_template(p))
				return false;
			arguments = true;
		} else {
			if ((!empty && !add(p, "::", 2)) || !read_word(p))
				return false;
			arguments = false;
		}
		if (*p->at != 'E' && !remember(p, start))
			return false;
	}
	p->at++;
	return !empty;
}

/* <unscoped-name> or a substitution, with template arguments. type: the whole is one that later parts can repeat. */
static bool read_unscoped(struct parser *p, bool type)
{
	size_t start = p->out->len;
	bool fresh = true, standard = false;
	if (*p->at == 'S') {
		if (!read_substitution(p, &standard))
			return false;
		fresh = standard;
		if (standard && !add(p, "::", 2))
			return false;
	}
	if (fresh && ((!isdigit((unsigned char)*p->at) && (type || *p->at == 'C' || *p->at == 'D')) || !read_word(p)))
		return false;
	if (fresh && (type || *p->at == 'I') && !remember(p, start))
		return false;
	if (*p->at != 'I')
		return fresh || type;
	return read_template(p) && (!type || remember(p, start));
}

/* <local-name> after 'Z'. whole: it is the whole name, of which the text has no qualifiers. */
static bool read_local(struct parser *p, bool whole)
{
	bool nested = *p->at == 'N', constant = nested && p->at[1] == 'K';
	p->at += nested + constant;
	if (!(nested ? read_nested(p) : read_unscoped(p, false)))
		return false;
	/* instances of templates have their result's type before their parameters */
	if (p->out->text[p->out->len - 1] == '>' || !read_parameters(p) || (constant && !add(p, " const", 6)) || !add(p, "::", 2))
		return false;
	nested = *p->at == 'N';
	if (nested)
		p->at += whole && p->at[1] == 'K' ? 2 : 1;
	if (!(nested ? read_nested(p) : *p->at != 'C' && *p->at != 'D' && read_word(p)) || *p->at == 'I')
		return false;
	if (*p->at != '_')
		return true;
	/* <discriminator>; lambdas have a number of their own */
	bool numbered = p->out->text[p->out->len - 1] != '}' && isdigit((unsigned char)p->at[1]) && !isdigit((unsigned char)p->at[2]);
	p->at += 2;
	return numbered;
}

static bool read_function_type(struct parser *p)
{
	p->at++;
	return *p->at != 'Y' && read_type(p) && p->out->text[p->out->len - 1] != ')' && add(p, " ", 1) && read_parameters(p);
}

static bool read_builtin(struct parser *p)
{
	static const char *const names['z' - 'a' + 1] = { ['v' - 'a'] = "void", ['w' - 'a'] = "wchar_t", ['b' - 'a'] = "bool",
		['c' - 'a'] = "char", ['a' - 'a'] = "signed char", ['h' - 'a'] = "unsigned char", ['s' - 'a'] = "short",
		['t' - 'a'] = "unsigned short", ['i' - 'a'] = "int", ['j' - 'a'] = "unsigned int", ['l' - 'a'] = "long",
		['m' - 'a'] = "unsigned long", ['x' - 'a'] = "long long", ['y' - 'a'] = "unsigned long long", ['n' - 'a'] = "__int128",
		['o' - 'a'] = "unsigned __int128", ['f' - 'a'] = "float", ['d' - 'a'] = "double", ['e' - 'a'] = "long double" };
	const char *name = *p->at >= 'a' && *p->at <= 'z' ? names[*p->at - 'a'] : NULL;
	p->at++;
	return name && add(p, name, strlen(name));
}

/* A type that another one modifies, of which the letter is next. */
static bool read_modified(struct parser *p)
{
	static const struct {
		char letter;
		const char *suffix;
	} kinds[] = { { 'P', "*" }, { 'R', "&" }, { 'O', "&&" }, { 'K', " const" } };
	size_t start = p->out->len, i = 0;
	while (kinds[i].letter != *p->at)
		i++;
	p->at++;
	if (*p->at == 'V' || !read_type(p))
		return false;
	/* references to references are one, and so are constants that are constant; what modifies a function is inside of its text */
	const char *suffix = kinds[i].suffix, *end = p->out->text + p->out->len - 1;
	if (*end == ')' || (*suffix == '&' && *end == '&') || (*suffix == ' ' && end[0] == 't' && end[-1] == 's'))
		return false;
	return add(p, suffix, strlen(suffix)) && remember(p, start);
}

static bool read_type(struct parser *p)
{
	size_t start = p->out->len;
	bool done;
	if (++p->depth > DEPTH_MAX)
		return false;
	switch (*p->at) {
	case 'P':
	case 'R':
	case 'O':
	case 'K':
		done = read_modified(p);
		break;
	case 'N':
		p->at++;
		done = *p->at != 'K' && read_nested(p) && remember(p, start);
		break;
	case 'S':
		done = read_unscoped(p, true);
		break;
	case 'F':
		done = read_function_type(p) && remember(p, start);
		break;
	case 'Z':
		p->at++;
		done = read_local(p, false) && remember(p, start);
		break;
	default:
		done = isdigit((unsigned char)*p->at) ? read_unscoped(p, true) : read_builtin(p);
		break;
	}
	p->depth--;
	return done;
}

/* <special-name> of data that belongs to a class or a variable. */
static bool read_special(struct parser *p)
{
	static const struct {
		char name[3];
		const char *text;
	} kinds[] = { { "TV", "vtable for " }, { "TT", "VTT for " }, { "TI", "typeinfo for " }, { "TS", "typeinfo name for " },
		{ "GV", "guard variable for " } };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strncmp(p->at, kinds[i].name, 2) != 0)
			continue;
		bool variable = *p->at == 'G';
		p->at += 2;
		if (!add(p, kinds[i].text, strlen(kinds[i].text)))
			return false;
		if (!variable)
			return read_type(p);
		bool local = *p->at == 'Z', nested = *p->at == 'N';
		p->at += local || nested;
		return local ? read_local(p, false) : nested ? *p->at != 'K' && read_nested(p) : read_unscoped(p, false);
	}
	return false;
}

bool demangle_plain(const char *mangled, size_t limit, struct str *out)
{
	struct parser p = { .at = mangled + 2, .out = out, .limit = limit };
	str_clear(out);
	if (mangled[0] != '_' || mangled[1] != 'Z')
		return false;
	switch (*p.at) {
	case 'N':
		p.at += p.at[1] == 'K' ? 2 : 1;
		return read_nested(&p);
	case 'Z':
		p.at++;
		return read_local(&p, true);
	case 'T':
	case 'G':
		return read_special(&p);
	default:
		return read_unscoped(&p, false);
	}
}
