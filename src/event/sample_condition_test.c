#include "event/sample_condition.h"

#include <string.h>

#include "abi/sample.h"
#include "base/str.h"
#include "unit.h"

static void print(const struct sample_condition *c, uint32_t index, struct str *out)
{
	static const char *const names[] = { "==", "!=", ">", ">=", "<", "<=", "&", "and", "or" };
	const struct condition_node *node = &c->nodes.items[index];
	if (node->operator < CONDITION_AND) {
		str_printf(out, "%s %s %llu", condition_term_name(node->term), names[node->operator], (unsigned long long)node->value);
		return;
	}
	str_puts(out, "(");
	print(c, node->left, out);
	str_printf(out, " %s ", names[node->operator]);
	print(c, node->right, out);
	str_puts(out, ")");
}

static void expect(const char *text, const char *want)
{
	struct sample_condition c;
	struct error err = { 0 };
	CLEANUP_STR struct str out = { 0 };
	if (sample_condition_parse(&c, text, &err) < 0)
		str_puts(&out, err.text);
	else
		print(&c, c.root, &out);
	EXPECT_STR(str_text(&out), want);
	sample_condition_fini(&c);
}

TEST("each operator compares a term with a number")
{
	expect("period > 1000", "period > 1000");
	expect("ip<0x10", "ip < 16");
	expect("tid==12", "tid == 12");
	expect("pid != 1", "pid != 1");
	expect("cpu >= 2", "cpu >= 2");
	expect("addr<=18446744073709551615", "addr <= 18446744073709551615");
	expect(" txn & 3 ", "txn & 3");
	expect("mem_op == load", "mem_op == 2");
	expect("mem_lvl == any_cache", "mem_lvlnum == 11");
	expect("ins_lat > 7", "weight2 > 7");
}

TEST("&& binds more closely than ||, a comma less closely than both, and parentheses group")
{
	expect("uid == 1 && gid == 2 || cpu == 3", "((uid == 1 and gid == 2) or cpu == 3)");
	expect("uid == 1 || gid == 2 && cpu == 3", "(uid == 1 or (gid == 2 and cpu == 3))");
	expect("uid == 1, gid == 2 || cpu == 3", "(uid == 1 and (gid == 2 or cpu == 3))");
	expect("(uid == 1 || gid == 2) && cpu == 3", "((uid == 1 or gid == 2) and cpu == 3)");
	expect("ip > 1 && ip < 5 && period & 1", "((ip > 1 and ip < 5) and period & 1)");
}

TEST("what is no condition is refused with its place")
{
	expect("", "--filter '': a term is expected at offset 0");
	expect("color == 1", "--filter 'color == 1': no term of samples has this name at offset 0");
	expect("period 1", "--filter 'period 1': an operator is expected at offset 7");
	expect("period && cpu", "--filter 'period && cpu': an operator is expected at offset 7");
	expect("period >", "--filter 'period >': a number is expected at offset 8");
	expect("period > 12z", "--filter 'period > 12z': the number is invalid at offset 9");
	expect("period > 99999999999999999999", "--filter 'period > 99999999999999999999': the number is invalid at offset 9");
	expect("period > 1 cpu", "--filter 'period > 1 cpu': the end, a comma, && or || is expected at offset 11");
	expect("(period > 1", "--filter '(period > 1': a closing parenthesis is expected at offset 11");
	expect("period > 1 ||", "--filter 'period > 1 ||': a term is expected at offset 13");
}

TEST("conditions of endless depth or length are refused")
{
	CLEANUP_STR struct str deep = { 0 }, many = { 0 };
	struct sample_condition c;
	for (int i = 0; i < 100000; i++)
		str_puts(&deep, "(");
	for (int i = 0; i < 10000; i++)
		str_puts(&many, "cpu == 1,");
	EXPECT(sample_condition_parse(&c, str_text(&deep), NULL) < 0);
	sample_condition_fini(&c);
	EXPECT(sample_condition_parse(&c, str_text(&many), NULL) < 0);
	sample_condition_fini(&c);
}

static void expect_check(const char *text, uint64_t sample_type, const char *want)
{
	const struct attr attr = { .sample_type = sample_type };
	struct sample_condition c;
	struct error err = { 0 };
	EXPECT_INT(sample_condition_parse(&c, text, &err), 0);
	EXPECT_INT(sample_condition_check(&c, &attr, "cycles", &err), *want ? -1 : 0);
	if (*want && !strstr(err.text, want))
		unit_fail(__FILE__, __LINE__, "%s: %s does not contain %s", text, err.text, want);
	sample_condition_fini(&c);
}

TEST("each term needs its field in the samples, wherever it is in the condition")
{
	expect_check("cpu > 0", SAMPLE_IP, "PERF_SAMPLE_CPU");
	expect_check("cpu > 0", SAMPLE_IP | SAMPLE_CPU, "");
	expect_check("ip > 0 || code_pgsz > 4096", SAMPLE_IP, "PERF_SAMPLE_CODE_PAGE_SIZE");
	expect_check("ip > 0, cpu > 0 || cgroup == 5", SAMPLE_IP | SAMPLE_CPU, "PERF_SAMPLE_CGROUP");
	expect_check("mem_hops == hops0", SAMPLE_IP, "PERF_SAMPLE_DATA_SRC");
	expect_check("mem_op == load", SAMPLE_DATA_SRC, "");
	expect_check("id == 5", SAMPLE_IDENTIFIER, "");
	expect_check("weight2 == 5", SAMPLE_WEIGHT, "PERF_SAMPLE_WEIGHT_STRUCT");
	expect_check("uid == 0 && gid == 0", 0, "");
}
