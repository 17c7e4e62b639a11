#include "syscalls/layouts.h"

#include <string.h>

#include "syscalls/text.h"

enum { FIELDS_MAX = 14 };

/* kind: u, d: a number; x: a pointer; a: an array of one number; {: a structure of `size` bytes, up to the }. */
struct layout_field {
	const char *name, *type;
	uint8_t offset, size;
	char kind;
};

struct layout {
	const char *name;
	uint8_t size;
	const char *writers;   /* calls that read it through a pointer that is not const */
	bool counted;
	struct layout_field fields[FIELDS_MAX];
};

#define U64(name, offset) { name, "__u64", offset, 8, 'u' }
#define U32(name, offset) { name, "__u32", offset, 4, 'u' }
#define TIME(name, offset)                                                                                             \
	{ name, "struct __kernel_timespec", offset, 16, '{' }, { "tv_sec", "__kernel_time64_t", offset, 8, 'd' },       \
	{ "tv_nsec", "long long int", (offset) + 8, 8, 'd' }, { NULL, NULL, 0, 0, '}' }

static const struct layout layouts[] = {
	{ "rlimit64", 16, "", false, { U64("rlim_cur", 0), U64("rlim_max", 8) } },
	{ "rlimit", 16, "setrlimit", false, { { "rlim_cur", "__kernel_ulong_t", 0, 8, 'u' }, { "rlim_max", "__kernel_ulong_t", 8, 8, 'u' } } },
	{ "rseq", 32, "rseq", true, { U32("cpu_id_start", 0), U32("cpu_id", 4), U64("rseq_cs", 8), U32("flags", 16), U32("node_id", 20),
		U32("mm_cid", 24) } },
	{ "robust_list_head", 24, "set_robust_list", true, { { "list", "struct robust_list", 0, 8, '{' },
		{ "next", "struct robust_list *", 0, 8, 'x' }, { NULL, NULL, 0, 0, '}' }, { "futex_offset", "long int", 8, 8, 'd' },
		{ "list_op_pending", "struct robust_list *", 16, 8, 'x' } } },
	{ "sigaction", 32, "", false, { { "sa_handler", "__sighandler_t", 0, 8, 'x' }, { "sa_flags", "long unsigned int", 8, 8, 'u' },
		{ "sa_restorer", "__sigrestore_t", 16, 8, 'x' }, { "sa_mask", "sigset_t", 24, 8, '{' }, { "sig", "long unsigned int[1]", 24, 8, 'a' },
		{ NULL, NULL, 0, 0, '}' } } },
	{ "sigaltstack", 24, "", false, { { "ss_sp", "void *", 0, 8, 'x' }, { "ss_flags", "int", 8, 4, 'd' },
		{ "ss_size", "__kernel_size_t", 16, 8, 'u' } } },
	{ "__kernel_itimerspec", 32, "", false, { TIME("it_interval", 0), TIME("it_value", 16) } },
	{ "__kernel_timespec", 16, "", false, { { "tv_sec", "__kernel_time64_t", 0, 8, 'd' }, { "tv_nsec", "long long int", 8, 8, 'd' } } },
	{ "open_how", 24, "openat2", true, { U64("flags", 0), U64("mode", 8), U64("resolve", 16) } },
	{ "clone_args", 88, "clone3", true, { U64("flags", 0), U64("pidfd", 8), U64("child_tid", 16), U64("parent_tid", 24),
		U64("exit_signal", 32), U64("stack", 40), U64("stack_size", 48), U64("tls", 56), U64("set_tid", 64),
		U64("set_tid_size", 72), U64("cgroup", 80) } },
	{ "sched_attr", 56, "sched_setattr", false, { U32("size", 0), U32("sched_policy", 4), U64("sched_flags", 8),
		{ "sched_nice", "__s32", 16, 4, 'd' }, U32("sched_priority", 20), U64("sched_runtime", 24), U64("sched_deadline", 32),
		U64("sched_period", 40), U32("sched_util_min", 48), U32("sched_util_max", 52) } },
	{ "sched_param", 4, "sched_setparam sched_setscheduler", false, { { "sched_priority", "int", 0, 4, 'd' } } },
#ifdef __x86_64__ /* packed there alone */
	{ "epoll_event", 12, "epoll_ctl", false, { { "events", "__poll_t", 0, 4, 'u' }, U64("data", 4) } },
#else
	{ "epoll_event", 16, "epoll_ctl", false, { { "events", "__poll_t", 0, 4, 'u' }, U64("data", 8) } },
#endif
};

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += length)
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

uint8_t layout_of(const char *call, const char *type, size_t length)
{
	const char *name = memmem(type, length, "struct ", 7);
	if (sizeof(long) != 8 || !name || length < 2 || type[length - 1] != '*' || type[length - 2] != ' ')
		return 0;
	name += 7;
	size_t bytes = (size_t)(type + length - 2 - name);
	bool constant = strncmp(type, "const ", 6) == 0;
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (strlen(layouts[i].name) == bytes && memcmp(layouts[i].name, name, bytes) == 0)
			return constant || has_word(layouts[i].writers, call) ? (uint8_t)(i + 1) : 0;
	return 0;
}

uint8_t layout_size(uint8_t layout, bool *counted)
{
	*counted = layouts[layout - 1].counted;
	return layouts[layout - 1].size;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static void value_print(struct writer *out, const struct layout_field *field, const uint8_t *bytes)
{
	uint64_t value = 0;
	uint32_t half;
	memcpy(&half, bytes, sizeof half);
	if (field->size == sizeof value)
		memcpy(&value, bytes, sizeof value);
	else
		value = field->kind == 'd' ? (uint64_t)(int64_t)(int32_t)half : half;
	if (field->kind == 'a')
		writer_putc(out, '[');
	if (field->kind == 'x')
		hex_print(out, value);
	else if (field->kind == 'd')
		signed_print(out, (int64_t)value);
	else
		writer_decimal(out, value, 0);
	writer_puts(out, field->kind == 'a' ? ",]," : ",");
}

void layout_print(struct writer *out, uint8_t layout, const uint8_t *bytes, size_t size)
{
	const struct layout *of = &layouts[layout - 1];
	writer_printf(out, "(struct %s){", of->name);
	for (const struct layout_field *field = of->fields; field < of->fields + FIELDS_MAX && field->kind; field++) {
		bool shown = field->kind != '}' && (size_t)field->offset + field->size <= size && !is_zero(bytes + field->offset, field->size);
		if (field->kind == '}') {
			writer_puts(out, "},");
		} else if (shown) {
			writer_printf(out, ".%s = (%s)", field->name, field->type);
			if (field->kind == '{')
				writer_putc(out, '{');
			else
				value_print(out, field, bytes + field->offset);
		} else if (field->kind == '{') {
			while (field->kind != '}')
				field++;
		}
	}
	writer_putc(out, '}');
}
