#include "syscalls/layouts.h"

#include <string.h>

#include "syscalls/call.h"
#include "syscalls/text.h"
#include "syscalls/words.h"

enum { FIELDS_MAX = 14 };

/* kind: u, d: a number; x: a pointer; n: printed as an argument of the kind `form`; N: an array of one such;
 * {: a structure of `size` bytes, up to the }. */
struct layout_field {
	const char *name, *type;
	uint8_t offset, size;
	char kind;
	uint16_t form;
};

struct layout {
	const char *name;      /* after a '=' one that is no "struct" */
	uint8_t size;
	const char *writers;   /* calls that read it through a pointer that is not const */
	bool counted;
	struct layout_field fields[FIELDS_MAX];
};

#define BITS(id) (ARGUMENT_BITS + BITS_##id)
#define WORD(id) (ARGUMENT_WORD + WORDS_##id)
#define FLAGS(id) (ARGUMENT_FLAGS + WORDS_##id)
#define U64(name, offset) { name, "__u64", offset, 8, 'u', 0 }
#define U32(name, offset) { name, "__u32", offset, 4, 'u', 0 }
#define NUMBER(name, type, offset, size) { name, type, offset, size, 'd', 0 }
#define NAMED(name, type, offset, size, form) { name, type, offset, size, 'n', form }
#define BEGIN(name, type, offset, size) { name, type, offset, size, '{', 0 }
#define END { NULL, NULL, 0, 0, '}', 0 }
#define TIME(name, offset)                                                                                             \
	BEGIN(name, "struct __kernel_timespec", offset, 16), NUMBER("tv_sec", "__kernel_time64_t", offset, 8),           \
	NUMBER("tv_nsec", "long long int", (offset) + 8, 8), END
#define MODES                                                                                                          \
	NAMED("c_iflag", "tcflag_t", 0, 4, FLAGS(INPUT_MODES)), NAMED("c_oflag", "tcflag_t", 4, 4, BITS(OUTPUT_MODES)),   \
	NAMED("c_cflag", "tcflag_t", 8, 4, BITS(CONTROL_MODES)), NAMED("c_lflag", "tcflag_t", 12, 4, FLAGS(LOCAL_MODES))
#define SIGNALS(offset) { "sig", "long unsigned int[1]", offset, 8, 'N', ARGUMENT_SIGNAL_SET }

static const struct layout layouts[] = {
	{ "rlimit64", 16, "", false, { U64("rlim_cur", 0), U64("rlim_max", 8) } },
	{ "rlimit", 16, "setrlimit", false,
		{ { "rlim_cur", "__kernel_ulong_t", 0, 8, 'u', 0 }, { "rlim_max", "__kernel_ulong_t", 8, 8, 'u', 0 } } },
	{ "rseq", 32, "rseq", true, { U32("cpu_id_start", 0), U32("cpu_id", 4), U64("rseq_cs", 8), U32("flags", 16), U32("node_id", 20),
		U32("mm_cid", 24) } },
	{ "robust_list_head", 24, "set_robust_list", true, { BEGIN("list", "struct robust_list", 0, 8),
		{ "next", "struct robust_list *", 0, 8, 'x', 0 }, END, NUMBER("futex_offset", "long int", 8, 8),
		{ "list_op_pending", "struct robust_list *", 16, 8, 'x', 0 } } },
	{ "sigaction", 32, "", false, { { "sa_handler", "__sighandler_t", 0, 8, 'x', 0 },
		NAMED("sa_flags", "long unsigned int", 8, 8, FLAGS(SIGACTION)), { "sa_restorer", "__sigrestore_t", 16, 8, 'x', 0 },
		BEGIN("sa_mask", "sigset_t", 24, 8), SIGNALS(24), END } },
	{ "=sigset_t", 8, "", false, { SIGNALS(0) } },
	{ "sigaltstack", 24, "", false, { { "ss_sp", "void *", 0, 8, 'x', 0 }, NAMED("ss_flags", "int", 8, 4, FLAGS(SIGALTSTACK)),
		{ "ss_size", "__kernel_size_t", 16, 8, 'u', 0 } } },
	{ "sigevent", 64, "", false, { { "sigev_value", "sigval_t", 0, 8, 'x', 0 }, NAMED("sigev_signo", "int", 8, 4, ARGUMENT_SIGNAL),
		NAMED("sigev_notify", "int", 12, 4, WORD(SIGEVENT)), NUMBER("_tid", "int", 16, 4) } },
	{ "__kernel_itimerspec", 32, "", false, { TIME("it_interval", 0), TIME("it_value", 16) } },
	{ "__kernel_timespec", 16, "", false, { NUMBER("tv_sec", "__kernel_time64_t", 0, 8), NUMBER("tv_nsec", "long long int", 8, 8) } },
	{ "open_how", 24, "openat2", true, { NAMED("flags", "__u64", 0, 8, ARGUMENT_OPEN), NAMED("mode", "__u64", 8, 8, BITS(MODE)),
		NAMED("resolve", "__u64", 16, 8, FLAGS(RESOLVE)) } },
	{ "clone_args", 88, "clone3", true, { NAMED("flags", "__u64", 0, 8, FLAGS(CLONE_FLAGS)), U64("pidfd", 8), U64("child_tid", 16),
		U64("parent_tid", 24), NAMED("exit_signal", "__u64", 32, 8, ARGUMENT_SIGNAL), U64("stack", 40), U64("stack_size", 48),
		U64("tls", 56), U64("set_tid", 64), U64("set_tid_size", 72), U64("cgroup", 80) } },
	{ "sched_attr", 56, "sched_setattr", false, { U32("size", 0), NAMED("sched_policy", "__u32", 4, 4, WORD(SCHED_POLICY)),
		NAMED("sched_flags", "__u64", 8, 8, FLAGS(SCHED_FLAGS)), NUMBER("sched_nice", "__s32", 16, 4), U32("sched_priority", 20),
		U64("sched_runtime", 24), U64("sched_deadline", 32), U64("sched_period", 40), U32("sched_util_min", 48),
		U32("sched_util_max", 52) } },
	{ "sched_param", 4, "sched_setparam sched_setscheduler", false, { NUMBER("sched_priority", "int", 0, 4) } },
#ifdef __x86_64__ /* packed there alone */
	{ "epoll_event", 12, "epoll_ctl", false, { NAMED("events", "__poll_t", 0, 4, FLAGS(EPOLL_EVENT)), U64("data", 4) } },
#else
	{ "epoll_event", 16, "epoll_ctl", false, { NAMED("events", "__poll_t", 0, 4, FLAGS(EPOLL_EVENT)), U64("data", 8) } },
#endif
	{ "pollfd", 8, "", false, { NUMBER("fd", "int", 0, 4), NAMED("events", "short int", 4, 2, FLAGS(POLL_EVENT)),
		NAMED("revents", "short int", 6, 2, FLAGS(POLL_EVENT)) } },
	{ "sembuf", 6, "", false, { { "sem_num", "short unsigned int", 0, 2, 'u', 0 }, NUMBER("sem_op", "short int", 2, 2),
		NAMED("sem_flg", "short int", 4, 2, BITS(SEMAPHORE)) } },
	{ "futex_waitv", 24, "", false, { U64("val", 0), U64("uaddr", 8), NAMED("flags", "__u32", 16, 4, BITS(FUTEX2)), U32("__reserved", 20) } },
	{ "mount_attr", 32, "", false, { NAMED("attr_set", "__u64", 0, 8, FLAGS(FSMOUNT_ATTR)),
		NAMED("attr_clr", "__u64", 8, 8, FLAGS(FSMOUNT_ATTR)), NAMED("propagation", "__u64", 16, 8, FLAGS(MOUNT_FLAGS)),
		U64("userns_fd", 24) } },
	{ "io_uring_params", 40, "", false, { U32("sq_entries", 0), U32("cq_entries", 4), NAMED("flags", "__u32", 8, 4, FLAGS(URING_SETUP)),
		U32("sq_thread_cpu", 12), U32("sq_thread_idle", 16), U32("features", 20), U32("wq_fd", 24) } },
	{ "landlock_ruleset_attr", 24, "", true, { NAMED("handled_access_fs", "__u64", 0, 8, FLAGS(LANDLOCK_FS)),
		NAMED("handled_access_net", "__u64", 8, 8, FLAGS(LANDLOCK_NET)), NAMED("scoped", "__u64", 16, 8, FLAGS(LANDLOCK_SCOPE)) } },
	{ "termios", 36, "", false, { MODES, { "c_line", "cc_t", 16, 1, 'u', 0 } } },
	{ "termios2", 44, "", false, { MODES, { "c_line", "cc_t", 16, 1, 'u', 0 }, { "c_ispeed", "speed_t", 36, 4, 'u', 0 },
		{ "c_ospeed", "speed_t", 40, 4, 'u', 0 } } },
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

uint8_t layout_named(const char *name, size_t length)
{
	for (size_t i = 0; sizeof(long) == 8 && i < sizeof layouts / sizeof *layouts; i++) {
		const char *own = layouts[i].name + (*layouts[i].name == '=');
		if (strncmp(own, name, length) == 0 && !own[length])
			return (uint8_t)(i + 1);
	}
	return 0;
}

bool layout_same_in_32_bits(uint8_t layout, const char *call)
{
	const char *name = layouts[layout - 1].name;
	size_t length = strlen(call);
	if (strncmp(name, "__kernel_", 9) == 0) /* older calls have 32-bit times */
		return length > 2 && strcmp(call + length - 2, "64") == 0;
	return has_word("rlimit64 rseq open_how clone_args sched_attr sched_param epoll_event", name);
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

/* Of 1, 2, 4 or 8 bytes, of which `kind` says whether they have a sign. */
static uint64_t value_of(const struct layout_field *field, const uint8_t *bytes)
{
	uint64_t value = 0;
	uint32_t word;
	uint16_t half;
	memcpy(&value, bytes, field->size == sizeof value ? sizeof value : 0);
	memcpy(&word, bytes, field->size == sizeof word ? sizeof word : 0);
	memcpy(&half, bytes, field->size == sizeof half ? sizeof half : 0);
	switch (field->size) {
	case sizeof word: return field->kind == 'd' ? (uint64_t)(int64_t)(int32_t)word : word;
	case sizeof half: return field->kind == 'd' ? (uint64_t)(int64_t)(int16_t)half : half;
	case 1: return *bytes;
	}
	return value;
}

static void value_print(struct writer *out, const struct layout_field *field, const uint8_t *bytes, const struct layout_forms *forms)
{
	uint64_t value = value_of(field, bytes);
	bool array = field->kind == 'N';
	writer_puts(out, array ? "[" : "");
	if (field->form)
		forms->print(out, field->form, value, forms->prefixes);
	else if (field->kind == 'x')
		hex_print(out, value);
	else if (field->kind == 'd')
		signed_print(out, (int64_t)value);
	else
		writer_decimal(out, value, 0);
	writer_puts(out, array ? ",]," : ",");
}

void layout_print(struct writer *out, uint8_t layout, const uint8_t *bytes, size_t size, const struct layout_forms *forms)
{
	const struct layout *of = &layouts[layout - 1];
	bool structure = *of->name != '=';
	if (!forms->unnamed)
		writer_printf(out, "(%s%s)", structure ? "struct " : "", of->name + !structure);
	writer_putc(out, '{');
	for (const struct layout_field *field = of->fields; field < of->fields + FIELDS_MAX && field->kind; field++) {
		bool shown = field->kind != '}' && (size_t)field->offset + field->size <= size && !is_zero(bytes + field->offset, field->size);
		if (field->kind == '}') {
			writer_puts(out, "},");
		} else if (shown) {
			if (!forms->unnamed)
				writer_printf(out, ".%s = (%s)", field->name, field->type);
			if (field->kind == '{')
				writer_putc(out, '{');
			else
				value_print(out, field, bytes + field->offset, forms);
		} else if (field->kind == '{') {
			while (field->kind != '}')
				field++;
		}
	}
	writer_putc(out, '}');
}
