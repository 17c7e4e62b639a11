#include "syscalls/special.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#ifndef SOL_UDP
#define SOL_UDP 17
#endif
#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

#define V const struct call_values *values

static void named(struct writer *out, V, const char *prefix, const char *name)
{
	writer_puts(out, values->prefixes ? prefix : "");
	writer_puts(out, name);
}

static void arch_prctl_print(struct writer *out, V, uint64_t value)
{
	size_t length;
	bool second = words_find(WORDS_ARCH_PRCTL_2, value, &length) != NULL;
	if (second || words_find(WORDS_ARCH_PRCTL_1, value, &length))
		word_print(out, second ? WORDS_ARCH_PRCTL_2 : WORDS_ARCH_PRCTL_1, value, values->prefixes);
	else
		hex_print(out, (uint32_t)value);
}

static void open_flags_print(struct writer *out, V, uint32_t flags)
{
	static const struct {
		const char *name;
		uint32_t value;
	} rows[] = {
		{ "RDWR", O_RDWR }, { "APPEND", O_APPEND }, { "ASYNC", O_ASYNC }, { "CLOEXEC", O_CLOEXEC }, { "CREAT", O_CREAT },
		{ "DIRECT", O_DIRECT }, { "DIRECTORY", O_DIRECTORY }, { "EXCL", O_EXCL },
#ifdef __x86_64__
		{ "LARGEFILE", 0100000 },
#endif
		{ "NOFOLLOW", O_NOFOLLOW }, { "TMPFILE", O_TMPFILE & ~O_DIRECTORY }, { "NOATIME", O_NOATIME }, { "NOCTTY", O_NOCTTY },
		{ "NONBLOCK", O_NONBLOCK }, { "PATH", O_PATH }, { "SYNC", O_SYNC }, { "DSYNC", O_DSYNC }, { "TRUNC", O_TRUNC },
		{ "WRONLY", O_WRONLY },
	};
	bool first = true;
	if ((flags & O_ACCMODE) == O_RDONLY) {
		named(out, values, "O_", "RDONLY");
		first = false;
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].value || (flags & rows[i].value) != rows[i].value)
			continue;
		writer_puts(out, first ? "" : "|");
		named(out, values, "O_", rows[i].name);
		flags &= ~rows[i].value;
		first = false;
	}
	if (flags) {
		writer_puts(out, first ? "" : "|");
		hex_print(out, flags);
	}
}

static void faccessat2_print(struct writer *out, V, uint64_t value)
{
	if (value & AT_EACCESS) { /* the same bit as AT_REMOVEDIR */
		named(out, values, "AT_", "EACCESS");
		value &= ~(uint64_t)AT_EACCESS;
		if (!value)
			return;
		writer_putc(out, '|');
	}
	flags_print(out, WORDS_FS_AT_FLAGS, (uint32_t)value, values->prefixes);
}

static void fcntl_print(struct writer *out, V, uint64_t value)
{
	size_t length;
	bool linux_own = words_find(WORDS_FCNTL_LINUX, value, &length) != NULL;
	word_print(out, linux_own ? WORDS_FCNTL_LINUX : WORDS_FCNTL_CMD, value, values->prefixes);
}

static void descriptor_flags_print(struct writer *out, V, uint64_t value)
{
	if (value & FD_CLOEXEC)
		named(out, values, "FD_", "CLOEXEC");
	else
		signed_print(out, (int64_t)value);
}

static void signal_print(struct writer *out, V, uint64_t value)
{
	size_t length;
	if (words_find(WORDS_SIGNAL, (uint32_t)value, &length))
		word_print(out, WORDS_SIGNAL, value, values->prefixes);
	else
		hex_print(out, (uint32_t)value);
}

/* A set of which most signals are members is printed as "~" and those that are none. */
static void signal_set_print(struct writer *out, V, uint64_t set)
{
	enum { NAMED = 0x7fffffff };
	bool most = __builtin_popcountll(set) > 32;
	uint64_t shown = most ? ~set : set;
	writer_puts(out, most ? "~" : "");
	if (shown & NAMED || !shown)
		flags_print(out, WORDS_SIGNAL, shown & NAMED, values->prefixes);
	if (shown & ~(uint64_t)NAMED) {
		writer_puts(out, shown & NAMED ? "|" : "");
		hex_print(out, shown & ~(uint64_t)NAMED);
	}
}

static void fcntl_value_print(struct writer *out, V, uint64_t value)
{
	switch ((int)values->values[1]) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return signed_print(out, (int32_t)value);
	case F_SETFD:
		return descriptor_flags_print(out, values, value);
	case F_SETFL:
		return open_flags_print(out, values, (uint32_t)value);
	case F_SETOWN:
		return process_print(out, values, (int)value);
	case F_SETLEASE:
		return word_print(out, WORDS_LEASE, value, values->prefixes);
	case F_NOTIFY:
		return flags_print(out, WORDS_DNOTIFY, (uint32_t)value, values->prefixes);
	case F_SETSIG:
		return signal_print(out, values, value);
	case F_ADD_SEALS:
		return flags_print(out, WORDS_SEAL, (uint32_t)value, values->prefixes);
	case F_SETLK:
	case F_SETLKW:
	case F_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
	case F_OFD_GETLK:
	case F_GETOWN_EX:
	case F_SETOWN_EX:
	case F_GET_RW_HINT:
	case F_SET_RW_HINT:
	case F_GET_FILE_RW_HINT:
	case F_SET_FILE_RW_HINT:
		return hex_print(out, value);
	}
	signed_print(out, (int64_t)value);
}

static void fsmount_print(struct writer *out, V, uint64_t value)
{
	const uint64_t atime = 0x70; /* MOUNT_ATTR__ATIME; 0 of it is RELATIME */
	if (value & ~atime)
		flags_print(out, WORDS_FSMOUNT_ATTR, value, values->prefixes);
	if (!(value & atime)) {
		writer_puts(out, value & ~atime ? "|" : "");
		named(out, values, "MOUNT_ATTR_", "RELATIME");
	} else if (!(value & ~atime)) {
		flags_print(out, WORDS_FSMOUNT_ATTR, value, values->prefixes);
	}
}

enum { M_TIMEOUT = 1 << 3, M_SECOND = 1 << 4, M_BITS = 1 << 5 };

/* Commands of futex, and the arguments that they do not use. */
static const struct futex_row {
	const char *name;
	uint8_t masked;
} futex_rows[] = {
	{ "WAIT", M_BITS | M_SECOND }, { "WAKE", M_BITS | M_SECOND | M_TIMEOUT }, { "FD", M_BITS | M_SECOND | M_TIMEOUT },
	{ "REQUEUE", M_BITS | M_TIMEOUT }, { "CMP_REQUEUE", M_TIMEOUT }, { "WAKE_OP", 0 }, { "LOCK_PI", M_BITS | M_SECOND | M_TIMEOUT },
	{ "UNLOCK_PI", M_BITS | M_SECOND | M_TIMEOUT }, { "TRYLOCK_PI", M_BITS | M_SECOND }, { "WAIT_BITSET", M_SECOND },
	{ "WAKE_BITSET", M_SECOND }, { "WAIT_REQUEUE_PI", 0 }, { "CMP_REQUEUE_PI", M_TIMEOUT }, { "LOCK_PI2", M_BITS | M_SECOND },
};

static const struct futex_row *futex_row(uint64_t op)
{
	size_t command = op & FUTEX_CMD_MASK;
	return command < sizeof futex_rows / sizeof *futex_rows ? &futex_rows[command] : NULL;
}

static void futex_print(struct writer *out, V, uint64_t value)
{
	const struct futex_row *row = futex_row(value);
	if (row)
		named(out, values, "FUTEX_", row->name);
	else
		hex_print(out, value & (uint32_t)FUTEX_CMD_MASK);
	if (value & FUTEX_PRIVATE_FLAG)
		named(out, values, values->prefixes ? "|FUTEX_" : "", values->prefixes ? "PRIVATE_FLAG" : "|PRIVATE_FLAG");
	if (value & FUTEX_CLOCK_REALTIME)
		named(out, values, values->prefixes ? "|FUTEX_" : "", values->prefixes ? "CLOCK_REALTIME" : "|CLOCK_REALTIME");
}

static void futex_bits_print(struct writer *out, V, uint64_t value)
{
	if ((uint32_t)value == FUTEX_BITSET_MATCH_ANY)
		named(out, values, "FUTEX_BITSET_", "MATCH_ANY");
	else
		hex_print(out, (uint32_t)value);
}

/* Commands of ioctl by their type; the names of a table have its own prefix always. */
static void ioctl_print(struct writer *out, V, uint64_t value)
{
	static const struct {
		uint8_t type;
		enum words_id words;
	} rows[] = {
		{ '!', WORDS_IOCTL_SECCOMP }, { '$', WORDS_IOCTL_PERF }, { 'A', WORDS_IOCTL_PCM }, { 'L', WORDS_IOCTL_LOOP },
		{ 'T', WORDS_IOCTL_TTY }, { 'U', WORDS_IOCTL_CTL }, { 'f', WORDS_IOCTL_FILE }, { 'p', WORDS_IOCTL_CLOCK },
		{ 0x12, WORDS_IOCTL_BLOCK }, { 0x89, WORDS_IOCTL_SOCKET }, { 0x94, WORDS_IOCTL_CLONE }, { 0xaa, WORDS_IOCTL_USERFAULT },
		{ 0xae, WORDS_IOCTL_KVM }, { 0xaf, WORDS_IOCTL_VHOST }, { 0xb7, WORDS_IOCTL_NAMESPACE },
	};
	unsigned command = (unsigned)value, direction = _IOC_DIR(command), type = _IOC_TYPE(command), number = _IOC_NR(command);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].type != type)
			continue;
		size_t length;
		enum words_id words = type == 0xaf && direction & _IOC_READ ? WORDS_IOCTL_VHOST_READ : rows[i].words;
		if (words_find(words, number, &length))
			return word_print(out, words, number, true);
		return writer_printf(out, "(%#x, %#x, %#x)", type, number, direction);
	}
	size_t length;
	if (type == 0 && words_find(WORDS_IOCTL_MAP, command, &length))
		return word_print(out, WORDS_IOCTL_MAP, command, true);
	writer_putc(out, '(');
	if (direction == _IOC_NONE)
		named(out, values, "_IOC_", "NONE");
	if (direction & _IOC_READ)
		named(out, values, "_IOC_", "READ");
	if (direction & _IOC_WRITE) {
		writer_puts(out, direction & _IOC_READ ? "|" : "");
		named(out, values, "_IOC_", "WRITE");
	}
	writer_printf(out, ", %#x, %#x, %#x)", type, number, _IOC_SIZE(command));
}

static void madvise_print(struct writer *out, V, uint64_t value)
{
	size_t length;
	if (words_find(WORDS_MADVISE, (uint32_t)value, &length))
		word_print(out, WORDS_MADVISE, value, true);
	else
		hex_print(out, (uint32_t)value);
}

static void prot_print(struct writer *out, V, uint64_t value)
{
	if (value)
		flags_print(out, WORDS_MMAP_PROT, value, values->prefixes);
	else
		named(out, values, "PROT_", "NONE");
}

static void sched_print(struct writer *out, V, uint64_t value)
{
	uint32_t policy = value & 0xff, flags = (uint32_t)value & ~0xffu;
	size_t length;
	if (words_find(WORDS_SCHED_POLICY, policy, &length))
		word_print(out, WORDS_SCHED_POLICY, policy, values->prefixes);
	else
		hex_print(out, policy);
	if (flags & SCHED_RESET_ON_FORK) {
		writer_putc(out, '|');
		named(out, values, "SCHED_", "RESET_ON_FORK");
		flags &= ~(uint32_t)SCHED_RESET_ON_FORK;
	}
	if (flags) {
		writer_putc(out, '|');
		hex_print(out, flags);
	}
}

static void socket_type_print(struct writer *out, V, uint64_t value)
{
	uint32_t type = value & 0xf, flags = (uint32_t)value & ~0xfu;
	size_t length;
	if (words_find(WORDS_SOCKET_TYPE, type, &length))
		word_print(out, WORDS_SOCKET_TYPE, type, values->prefixes);
	else
		hex_print(out, type);
	if (flags & SOCK_CLOEXEC)
		writer_puts(out, "|CLOEXEC");
	if (flags & SOCK_NONBLOCK)
		writer_puts(out, "|NONBLOCK");
	flags &= ~(uint32_t)(SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (flags) {
		writer_putc(out, '|');
		hex_print(out, flags);
	}
}

static void sync_range_print(struct writer *out, V, uint64_t value)
{
	if ((value & 7) == 7) {
		named(out, values, "SYNC_FILE_RANGE_", "WRITE_AND_WAIT");
		value &= ~7ull;
		if (!value)
			return;
		writer_putc(out, '|');
	}
	flags_print(out, WORDS_SYNC_FILE_RANGE, value, values->prefixes);
}

static void ipc_print(struct writer *out, V, uint64_t value)
{
	static const struct {
		const char *prefix, *name;
		uint32_t bit;
	} rows[] = { { "IPC_", "CREAT", 01000 }, { "IPC_", "EXCL", 02000 }, { "SHM_", "HUGETLB", 04000 }, { "SHM_", "NORESERVE", 010000 } };
	bool shared_memory = strcmp(values->call->name, "shmget") == 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!(value & rows[i].bit) || (*rows[i].prefix == 'S' && !shared_memory))
			continue;
		named(out, values, rows[i].prefix, rows[i].name);
		writer_putc(out, '|');
		value &= ~(uint64_t)rows[i].bit;
	}
	writer_printf(out, "%#o", (unsigned)value);
}

static void keyring_print(struct writer *out, V, uint64_t value)
{
	size_t length;
	if (words_find(WORDS_KEY_SPEC, (int32_t)value, &length))
		word_print(out, WORDS_KEY_SPEC, value, values->prefixes);
	else
		signed_print(out, (int32_t)value);
}

static void memory_policy_print(struct writer *out, V, uint64_t value)
{
	static const char *const flags[] = { "NUMA_BALANCING", "RELATIVE_NODES", "STATIC_NODES" };
	uint64_t rest = value & ~0xffffull;
	word_print(out, WORDS_MPOL, value & 0x1fff, values->prefixes);
	for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
		if (value >> (13 + i) & 1) {
			writer_putc(out, '|');
			named(out, values, "MPOL_F_", flags[i]);
		}
	}
	if (rest) {
		writer_putc(out, '|');
		hex_print(out, rest);
	}
}

static void open_tree_print(struct writer *out, V, uint64_t value)
{
	uint64_t rest = value & ~(uint64_t)(1 | O_CLOEXEC);
	if (value & 1)
		named(out, values, "OPEN_TREE_", "CLONE");
	if (value & O_CLOEXEC) {
		writer_puts(out, value & 1 ? "|" : "");
		named(out, values, "OPEN_TREE_", "CLOEXEC");
	}
	if (rest) {
		writer_puts(out, rest != value ? "|" : "");
		flags_print(out, WORDS_FS_AT_FLAGS, rest, values->prefixes);
	}
}

static void personality_print(struct writer *out, V, uint64_t value)
{
	static const char *const flags[] = { "UNAME26", "ADDR_NO_RANDOMIZE", "FDPIC_FUNCPTRS", "MMAP_PAGE_ZERO", "ADDR_COMPAT_LAYOUT",
		"READ_IMPLIES_EXEC", "ADDR_LIMIT_32BIT", "SHORT_INODE", "WHOLE_SECONDS", "STICKY_TIMEOUTS", "ADDR_LIMIT_3GB" };
	uint32_t persona = value & 0xff, rest = value & 0x1ff00;
	size_t length;
	if ((uint32_t)value == UINT32_MAX)
		return hex_print(out, UINT32_MAX); /* only asks */
	if (words_find(WORDS_PERSONA, persona, &length))
		word_print(out, WORDS_PERSONA, persona, values->prefixes);
	else
		hex_print(out, persona);
	for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
		if (value >> (17 + i) & 1) {
			writer_putc(out, '|');
			writer_puts(out, flags[i]);
		}
	}
	if (rest) {
		writer_putc(out, '|');
		hex_print(out, rest);
	}
}

static void reboot_print(struct writer *out, V, uint64_t value)
{
	static const struct {
		const char *name;
		uint32_t value;
	} rows[] = { { "RESTART", 0x01234567 }, { "HALT", 0xcdef0123 }, { "CAD_ON", 0x89abcdef }, { "CAD_OFF", 0 },
		{ "POWER_OFF", 0x4321fedc }, { "RESTART2", 0xa1b2c3d4 }, { "SW_SUSPEND", 0xd000fce2 }, { "KEXEC", 0x45584543 } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].value == (uint32_t)value)
			return named(out, values, "LINUX_REBOOT_CMD_", rows[i].name);
	hex_print(out, (uint32_t)value);
}

/* The names of a level's options; the level is the argument before. */
static void socket_option_print(struct writer *out, V, uint64_t value)
{
	static const struct {
		uint16_t level;
		enum words_id words;
	} rows[] = { { SOL_SOCKET, WORDS_SO }, { SOL_IP, WORDS_IP }, { SOL_TCP, WORDS_TCP }, { SOL_UDP, WORDS_UDP }, { SOL_IPV6, WORDS_IPV6 },
		{ SOL_PACKET, WORDS_PACKET }, { SOL_NETLINK, WORDS_NETLINK } };
	size_t length;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].level == values->values[1] && words_find(rows[i].words, (int32_t)value, &length))
			return word_print(out, rows[i].words, value, values->prefixes);
	signed_print(out, (int32_t)value);
}

/* "QCMD(GETQUOTA, USRQUOTA)": a command and what it is about (linux/quota.h). */
static void quota_print(struct writer *out, V, uint64_t value)
{
	uint32_t command = (uint32_t)value >> 8, of = value & 0xff;
	size_t length;
	bool xfs = words_find(WORDS_QUOTA_XFS, command, &length) != NULL;
	if (!xfs && !words_find(WORDS_QUOTA, command, &length))
		return hex_print(out, (uint32_t)value);
	writer_puts(out, "QCMD(");
	word_print(out, xfs ? WORDS_QUOTA_XFS : WORDS_QUOTA, command, values->prefixes);
	writer_puts(out, ", ");
	word_print(out, WORDS_QUOTA_OF, of, values->prefixes);
	writer_putc(out, ')');
}

/* "IOPRIO_PRIO_VALUE(BE, 4)": a class and a level (linux/ioprio.h). */
static void ioprio_print(struct writer *out, V, uint64_t value)
{
	enum { CLASS_SHIFT = 13 };
	uint32_t class = (uint32_t)value >> CLASS_SHIFT;
	size_t length;
	if (!words_find(WORDS_IOPRIO_CLASS, class, &length))
		return hex_print(out, (uint32_t)value);
	writer_puts(out, "IOPRIO_PRIO_VALUE(");
	word_print(out, WORDS_IOPRIO_CLASS, class, values->prefixes);
	writer_printf(out, ", %u)", (uint32_t)value & ((1u << CLASS_SHIFT) - 1));
}

static void prctl_print(struct writer *out, V, uint64_t value)
{
	if ((int)value == PR_SET_VMA)
		named(out, values, "PR_", "SET_VMA");
	else if ((int)value == PR_SET_PTRACER)
		named(out, values, "PR_", "SET_PTRACER");
	else
		word_print(out, WORDS_PRCTL, value, values->prefixes);
}

static void prctl_second_print(struct writer *out, V, uint64_t value)
{
	switch ((int)values->values[0]) {
	case PR_SET_MM:
		return word_print(out, WORDS_PRCTL_SET_MM, value, values->prefixes);
	case PR_SET_PDEATHSIG:
		return signal_print(out, values, value);
	case PR_CAPBSET_READ:
	case PR_CAPBSET_DROP:
		return word_print(out, WORDS_CAPABILITY, value, values->prefixes);
	case PR_SET_SECUREBITS:
		return flags_print(out, WORDS_SECUREBITS, value, values->prefixes);
	case PR_SET_NAME:
		return hex_print(out, value);
	}
	signed_print(out, (int64_t)value);
}

static void protocol_print(struct writer *out, V, uint64_t value)
{
	if (values->values[0] == AF_INET || values->values[0] == AF_INET6)
		word_print(out, WORDS_IPPROTO, value, values->prefixes);
	else if (values->values[0] == AF_NETLINK)
		word_print(out, WORDS_NETLINK_PROTOCOL, value, values->prefixes);
	else
		signed_print(out, (int32_t)value);
}

/* The lowest byte is the signal that the parent gets. */
static void clone_flags_print(struct writer *out, V, uint64_t value)
{
	uint64_t flags = value & ~0xffull;
	size_t length;
	if (flags || !(value & 0xff))
		flags_print(out, WORDS_CLONE_FLAGS, flags, values->prefixes);
	if (!(value & 0xff))
		return;
	writer_puts(out, flags ? "|" : "");
	if (words_find(WORDS_SIGNAL, value & 0xff, &length))
		word_print(out, WORDS_SIGNAL, value & 0xff, true);
	else
		hex_print(out, value & 0xff);
}

/* The two bits of SHARED and PRIVATE together have another name; the size of huge pages is a power of two. */
static void mmap_flags_print(struct writer *out, V, uint64_t value)
{
	enum { TYPE = 3, HUGE_SHIFT = 26, HUGE_MASK = 0x3f };
	uint64_t huge = value & MAP_HUGETLB ? value >> HUGE_SHIFT & HUGE_MASK : 0, rest = value & ~(huge << HUGE_SHIFT);
	bool validate = (value & TYPE) == TYPE;
	if (validate) {
		named(out, values, "MAP_", "SHARED_VALIDATE");
		rest &= ~(uint64_t)TYPE;
		writer_puts(out, rest ? "|" : "");
	}
	if (rest || !validate)
		flags_print(out, WORDS_MMAP_FLAGS, rest, values->prefixes);
	if (huge) {
		writer_printf(out, "|%u<<", (unsigned)huge);
		named(out, values, "MAP_", "HUGE_SHIFT");
	}
}

void special_print(struct writer *out, const struct call_values *values, unsigned index)
{
	uint64_t value = values->values[index];
	switch (values->call->arguments[index].kind) {
	case ARGUMENT_ARCH_PRCTL: return arch_prctl_print(out, values, value);
	case ARGUMENT_CLONE: return clone_flags_print(out, values, value);
	case ARGUMENT_FACCESSAT2: return faccessat2_print(out, values, value);
	case ARGUMENT_FCNTL: return fcntl_print(out, values, value);
	case ARGUMENT_FCNTL_VALUE: return fcntl_value_print(out, values, value);
	case ARGUMENT_FSMOUNT: return fsmount_print(out, values, value);
	case ARGUMENT_FUTEX: return futex_print(out, values, value);
	case ARGUMENT_FUTEX_BITS: return futex_bits_print(out, values, value);
	case ARGUMENT_IOCTL: return ioctl_print(out, values, value);
	case ARGUMENT_IPC: return ipc_print(out, values, value);
	case ARGUMENT_KEYRING: return keyring_print(out, values, value);
	case ARGUMENT_MEMORY_POLICY: return memory_policy_print(out, values, value);
	case ARGUMENT_OPEN_TREE: return open_tree_print(out, values, value);
	case ARGUMENT_PERSONALITY: return personality_print(out, values, (uint32_t)value);
	case ARGUMENT_QUOTA: return quota_print(out, values, value);
	case ARGUMENT_IOPRIO: return ioprio_print(out, values, value);
	case ARGUMENT_REBOOT: return reboot_print(out, values, value);
	case ARGUMENT_SOCKET_OPTION: return socket_option_print(out, values, value);
	case ARGUMENT_KCMP: return word_print(out, WORDS_KCMP_TYPE, value, values->prefixes);
	case ARGUMENT_MADVISE: return madvise_print(out, values, value);
	case ARGUMENT_MMAP: return mmap_flags_print(out, values, value);
	case ARGUMENT_MOUNT: return flags_print(out, WORDS_MOUNT_FLAGS, mount_flags_of(value), values->prefixes);
	case ARGUMENT_MREMAP: return flags_print(out, WORDS_MREMAP_FLAGS, value, values->prefixes);
	case ARGUMENT_OPEN: return open_flags_print(out, values, (uint32_t)value);
	case ARGUMENT_PRCTL: return prctl_print(out, values, value);
	case ARGUMENT_PRCTL_2: return prctl_second_print(out, values, value);
	case ARGUMENT_PRCTL_3: return values->values[0] == PR_SET_MM ? hex_print(out, value) : signed_print(out, (int64_t)value);
	case ARGUMENT_PROT: return prot_print(out, values, value);
	case ARGUMENT_PROTOCOL: return protocol_print(out, values, value);
	case ARGUMENT_SCHED: return sched_print(out, values, value);
	case ARGUMENT_SIGNAL: return signal_print(out, values, value);
	case ARGUMENT_SIGNAL_SET: return signal_set_print(out, values, value);
	case ARGUMENT_SOCKET_LEVEL:
		return value == SOL_SOCKET ? named(out, values, "SOL_", "SOCKET") : word_print(out, WORDS_SOCKET_LEVEL, value, values->prefixes);
	case ARGUMENT_SOCKET_TYPE: return socket_type_print(out, values, value);
	case ARGUMENT_SYNC_RANGE: return sync_range_print(out, values, value);
	}
	signed_print(out, (int64_t)value);
}

static uint8_t prctl_masked(uint64_t option)
{
	const uint8_t all_but_second = 0x3c, all = 0x3e;
	switch (option) {
	case PR_GET_DUMPABLE:
	case PR_GET_SECUREBITS:
	case PR_GET_PDEATHSIG:
		return all;
	case PR_SET_DUMPABLE:
	case PR_SET_NAME:
	case PR_GET_CHILD_SUBREAPER:
	case PR_SET_CHILD_SUBREAPER:
	case PR_SET_SECUREBITS:
	case PR_SET_PDEATHSIG:
		return all_but_second;
	case PR_SET_MM:
		return 0x38;
	}
	return 0;
}

static uint8_t fcntl_masked(uint64_t command)
{
	switch (command) {
	case F_GETFL:
	case F_GETFD:
	case F_GETOWN:
	case F_GETLEASE:
	case F_GET_SEALS:
	case F_GETSIG:
		return 1 << 2;
	}
	return 0;
}

static uint8_t masked_by(V, unsigned index)
{
	uint64_t value = values->values[index];
	const struct futex_row *row;
	switch (values->call->arguments[index].kind) {
	case ARGUMENT_CLONE:
		return (value & CLONE_PARENT_SETTID ? 0 : 1 << 2) | (value & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID) ? 0 : 1 << 3) |
			(value & CLONE_SETTLS ? 0 : 1 << 4);
	case ARGUMENT_FCNTL:
		return fcntl_masked(value);
	case ARGUMENT_FUTEX:
		row = futex_row(value);
		return row ? row->masked : 0;
	case ARGUMENT_KCMP:
		return value ? 1 << 3 | 1 << 4 : 0;
	case ARGUMENT_MMAP:
		return value & MAP_ANONYMOUS ? 1 << 4 | 1 << 5 : 0;
	case ARGUMENT_MREMAP:
		return value & MREMAP_FIXED ? 0 : 1 << 4;
	case ARGUMENT_OPEN:
		return value & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? 0 : (uint8_t)(1 << (index + 1));
	case ARGUMENT_PRCTL:
		return prctl_masked(value);
	}
	return 0;
}

uint8_t special_masked(const struct call_values *values)
{
	uint8_t masked = 0;
	for (unsigned i = 0; i < values->call->count; i++)
		if (values->call->arguments[i].kind >= ARGUMENT_ARCH_PRCTL)
			masked |= masked_by(values, i);
	return masked;
}

bool special_result(struct writer *out, const struct call_values *values, int64_t result)
{
	if (values->call->count < 2 || values->call->arguments[1].kind != ARGUMENT_FCNTL)
		return false;
	switch ((int)values->values[1]) {
	case F_GETFL:
		return open_flags_print(out, values, (uint32_t)result), true;
	case F_GETFD:
		return descriptor_flags_print(out, values, (uint64_t)result), true;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return descriptor_print(out, values, (int)result), true;
	case F_GETOWN:
		return process_print(out, values, (int)result), true;
	case F_GETLEASE:
		return word_print(out, WORDS_LEASE, (uint64_t)result, values->prefixes), true;
	}
	return false;
}

uint64_t mount_flags_of(uint64_t value)
{
	return (value & 0xffff0000) == 0xc0ed0000 ? value & ~0xffff0000ull : value;
}
