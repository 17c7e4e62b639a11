#include "event/sample_condition.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sample.h"
#include "os/cgroup.h"

enum { DEPTH_MAX = 32, NODES_MAX = 127 };

static const struct {
	const char *name;
	enum condition_term term;
} terms[] = {
	{ "ip", CONDITION_IP }, { "id", CONDITION_ID }, { "tid", CONDITION_TID }, { "pid", CONDITION_PID }, { "cpu", CONDITION_CPU },
	{ "time", CONDITION_TIME }, { "addr", CONDITION_ADDR }, { "period", CONDITION_PERIOD }, { "txn", CONDITION_TXN },
	{ "weight1", CONDITION_WEIGHT1 }, { "weight2", CONDITION_WEIGHT2 }, { "weight3", CONDITION_WEIGHT3 },
	{ "phys_addr", CONDITION_PHYS_ADDR }, { "code_pgsz", CONDITION_CODE_PGSZ }, { "data_pgsz", CONDITION_DATA_PGSZ },
	{ "mem_op", CONDITION_MEM_OP }, { "mem_lvlnum", CONDITION_MEM_LVLNUM }, { "mem_snoop", CONDITION_MEM_SNOOP },
	{ "mem_remote", CONDITION_MEM_REMOTE }, { "mem_lock", CONDITION_MEM_LOCK }, { "mem_dtlb", CONDITION_MEM_DTLB },
	{ "mem_blk", CONDITION_MEM_BLK }, { "mem_hops", CONDITION_MEM_HOPS }, { "uid", CONDITION_UID }, { "gid", CONDITION_GID },
	{ "cgroup", CONDITION_CGROUP },
	/* other names */
	{ "weight", CONDITION_WEIGHT1 }, { "ins_lat", CONDITION_WEIGHT2 }, { "p_stage_cyc", CONDITION_WEIGHT3 },
	{ "retire_lat", CONDITION_WEIGHT3 }, { "mem_lvl", CONDITION_MEM_LVLNUM },
};

/* The field of a sample that a term compares: its bits (any of them), the name of the last one, and the option that adds it. Terms without
 * a row are no field. */
struct field {
	uint64_t bits;
	const char *name, *option;
};
static const struct field fields[] = {
	[CONDITION_IP] = { SAMPLE_IP, "PERF_SAMPLE_IP", NULL },
	[CONDITION_ID] = { SAMPLE_IDENTIFIER | SAMPLE_ID, "PERF_SAMPLE_ID", "--sample-identifier" },
	[CONDITION_TID] = { SAMPLE_TID, "PERF_SAMPLE_TID", NULL },
	[CONDITION_PID] = { SAMPLE_TID, "PERF_SAMPLE_TID", NULL },
	[CONDITION_CPU] = { SAMPLE_CPU, "PERF_SAMPLE_CPU", "--sample-cpu" },
	[CONDITION_TIME] = { SAMPLE_TIME, "PERF_SAMPLE_TIME", "-T" },
	[CONDITION_ADDR] = { SAMPLE_ADDR, "PERF_SAMPLE_ADDR", "-d" },
	[CONDITION_PERIOD] = { SAMPLE_PERIOD, "PERF_SAMPLE_PERIOD", "--period" },
	[CONDITION_TXN] = { SAMPLE_TRANSACTION, "PERF_SAMPLE_TRANSACTION", "--transaction" },
	[CONDITION_WEIGHT1] = { SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT", "-W" },
	[CONDITION_WEIGHT2] = { SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W" },
	[CONDITION_WEIGHT3] = { SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT", "-W" },
	[CONDITION_PHYS_ADDR] = { SAMPLE_PHYS_ADDR, "PERF_SAMPLE_PHYS_ADDR", "--phys-data" },
	[CONDITION_CODE_PGSZ] = { SAMPLE_CODE_PAGE_SIZE, "PERF_SAMPLE_CODE_PAGE_SIZE", "--code-page-size" },
	[CONDITION_DATA_PGSZ] = { SAMPLE_DATA_PAGE_SIZE, "PERF_SAMPLE_DATA_PAGE_SIZE", "--data-page-size" },
	[CONDITION_MEM_OP ... CONDITION_MEM_HOPS] = { SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC", "-d" },
	[CONDITION_CGROUP] = { SAMPLE_CGROUP, "PERF_SAMPLE_CGROUP", "--all-cgroups" },
};

/* Values of the mem_ terms: those of union perf_mem_data_src in perf_event_open(2); of mem_snoop, mem_snoopx above mem_snoop. */
static const struct {
	const char *name;
	uint64_t value;
} values[] = {
	{ "na", 1 }, { "load", 2 }, { "store", 4 }, { "pfetch", 8 }, { "exec", 16 },
	{ "l1", 1 }, { "l2", 2 }, { "l3", 3 }, { "l4", 4 }, { "cxl", 9 }, { "io", 10 }, { "any_cache", 11 }, { "lfb", 12 }, { "ram", 13 },
	{ "pmem", 14 }, { "none", 2 }, { "hit", 4 }, { "miss", 8 }, { "hitm", 16 }, { "fwd", 32 }, { "peer", 64 }, { "remote", 1 },
	{ "locked", 2 }, { "l1_hit", 10 }, { "l1_miss", 12 }, { "l2_hit", 18 }, { "l2_miss", 20 }, { "any_hit", 2 }, { "any_miss", 4 },
	{ "walk", 32 }, { "os", 64 }, { "fault", 64 }, { "by_data", 2 }, { "by_addr", 4 }, { "hops0", 1 }, { "hops1", 2 }, { "hops2", 3 },
	{ "hops3", 4 },
};

/* Longer ones first. */
static const struct {
	const char *text;
	enum condition_operator operator;
} operators[] = {
	{ "==", CONDITION_EQUAL }, { "!=", CONDITION_NOT_EQUAL }, { ">=", CONDITION_GREATER_EQUAL }, { "<=", CONDITION_LESS_EQUAL },
	{ ">", CONDITION_GREATER }, { "<", CONDITION_LESS }, { "&", CONDITION_BITS },
};

struct parser {
	struct sample_condition *out;
	const char *text, *at;
	struct error *err;
	unsigned depth;
};

const char *condition_term_name(enum condition_term term)
{
	for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
		if (terms[i].term == term)
			return terms[i].name;
	return "?";
}

static int fail(const struct parser *p, const char *what)
{
	error_set(p->err, ERROR_USAGE, "--filter '%.200s': %s at offset %zu", p->text, what, (size_t)(p->at - p->text));
	return error_hint(p->err, "a condition is a term of the sample, an operator and a number: period > 1000 && ip < 0x7fff0000");
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
}

static bool take_text(struct parser *p, const char *text)
{
	size_t length = strlen(text);
	skip_blanks(p);
	if (strncmp(p->at, text, length) != 0)
		return false;
	p->at += length;
	return true;
}

static size_t word_length(const char *at)
{
	size_t length = 0;
	while (isalnum((unsigned char)at[length]) || at[length] == '_')
		length++;
	return length;
}

static int take_term(struct parser *p, enum condition_term *term)
{
	skip_blanks(p);
	size_t length = word_length(p->at);
	for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
		if (strlen(terms[i].name) != length || memcmp(terms[i].name, p->at, length) != 0)
			continue;
		*term = terms[i].term;
		p->at += length;
		return 0;
	}
	return fail(p, length ? "no term of samples has this name" : "a term is expected");
}

static int take_operator(struct parser *p, enum condition_operator *operator)
{
	skip_blanks(p);
	if (strncmp(p->at, "&&", 2) == 0)
		return fail(p, "an operator is expected");
	for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
		if (!take_text(p, operators[i].text))
			continue;
		*operator = operators[i].operator;
		return 0;
	}
	return fail(p, "an operator is expected");
}

static int take_cgroup(struct parser *p, uint64_t *id)
{
	size_t length = strcspn(p->at, " \t\n,)|&");
	char path[PATH_MAX];
	if (length >= sizeof path)
		return fail(p, "the path is too long");
	memcpy(path, p->at, length);
	path[length] = '\0';
	p->at += length;
	return cgroup_id(path, id, p->err);
}

static int take_value(struct parser *p, enum condition_term term, uint64_t *value)
{
	skip_blanks(p);
	if (term == CONDITION_CGROUP && *p->at == '/')
		return take_cgroup(p, value);
	size_t length = word_length(p->at);
	char *end;
	if (isdigit((unsigned char)*p->at)) {
		bool hex = p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X');
		errno = 0;
		*value = strtoull(p->at, &end, hex ? 16 : 10);
		if (errno || end != p->at + length)
			return fail(p, "the number is invalid");
		p->at = end;
		return 0;
	}
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		if (strlen(values[i].name) != length || memcmp(values[i].name, p->at, length) != 0)
			continue;
		*value = values[i].value;
		p->at += length;
		return 0;
	}
	return fail(p, "a number is expected");
}

static int add_node(struct parser *p, struct condition_node node, uint32_t *index)
{
	if (p->out->nodes.count >= NODES_MAX)
		return fail(p, "the condition has too many parts");
	*index = (uint32_t)p->out->nodes.count;
	vec_push(&p->out->nodes, node);
	return 0;
}

static int take_list(struct parser *p, uint32_t *index);

static int take_comparison(struct parser *p, uint32_t *index)
{
	struct condition_node node = { 0 };
	if (take_text(p, "(")) {
		if (++p->depth > DEPTH_MAX)
			return fail(p, "too many parentheses");
		if (take_list(p, index) < 0)
			return -1;
		p->depth--;
		return take_text(p, ")") ? 0 : fail(p, "a closing parenthesis is expected");
	}
	if (take_term(p, &node.term) < 0 || take_operator(p, &node.operator) < 0 || take_value(p, node.term, &node.value) < 0)
		return -1;
	return add_node(p, node, index);
}

/* One or more parts of a kind, joined from left to right. */
static int take_joined(struct parser *p, int (*part)(struct parser *, uint32_t *), const char *word, enum condition_operator operator,
	uint32_t *index)
{
	if (part(p, index) < 0)
		return -1;
	while (take_text(p, word)) {
		struct condition_node node = { .operator = operator, .left = *index };
		if (part(p, &node.right) < 0 || add_node(p, node, index) < 0)
			return -1;
	}
	return 0;
}

static int take_conjunction(struct parser *p, uint32_t *index)
{
	return take_joined(p, take_comparison, "&&", CONDITION_AND, index);
}

static int take_alternatives(struct parser *p, uint32_t *index)
{
	return take_joined(p, take_conjunction, "||", CONDITION_OR, index);
}

static int take_list(struct parser *p, uint32_t *index)
{
	return take_joined(p, take_alternatives, ",", CONDITION_AND, index);
}

int sample_condition_parse(struct sample_condition *condition, const char *text, struct error *err)
{
	struct parser p = { .out = condition, .text = text, .at = text, .err = err };
	*condition = (struct sample_condition){ 0 };
	if (take_list(&p, &condition->root) < 0)
		return -1;
	skip_blanks(&p);
	return *p.at ? fail(&p, "the end, a comma, && or || is expected") : 0;
}

int sample_condition_check(const struct sample_condition *condition, const struct attr *attr, const char *event, struct error *err)
{
	for (size_t i = 0; i < condition->nodes.count; i++) {
		const struct condition_node *node = &condition->nodes.items[i];
		const struct field *field = &fields[node->term];
		if (node->operator >= CONDITION_AND || node->term >= sizeof fields / sizeof fields[0] || !field->bits || attr->sample_type & field->bits)
			continue;
		error_set(err, ERROR_USAGE, "--filter: samples of %s do not have the field %s (%s)", event, condition_term_name(node->term),
			field->name);
		return field->option ? error_hint(err, "%s adds it", field->option) : -1;
	}
	return 0;
}

void sample_condition_fini(struct sample_condition *condition)
{
	vec_fini(&condition->nodes);
}
