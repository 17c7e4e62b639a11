#include "syscalls/argument.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "syscalls/layouts.h"
#include "syscalls/special.h"
#include "syscalls/words.h"

enum { ELEMENTS_SHOWN = 8, BUFFER_SHOWN = 32, SOCKADDR_SHOWN = 128, TIMESPEC_BYTES = 16, IOCTL_BYTES = 44 };

struct bit {
	const char *name;
	uint32_t value;
};

/* Names in perf's order; '=' is before a name that has another prefix. zero: for no bit at all; NULL: a number. */
struct bits {
	const char *prefix, *separator, *zero;
	struct bit bits[32];
};

static const struct bits bit_tables[BITS_COUNT] = {
	[BITS_ACCESS] = { "", "", "F", { { "R", 4 }, { "W", 2 }, { "X", 1 } } },
	[BITS_CONTROL_MODES] = { "", "|", NULL, { { "B230400", 010003 }, { "B115200", 010002 }, { "B57600", 010001 }, { "BOTHER", 010000 },
		{ "B38400", 017 }, { "B19200", 016 }, { "B9600", 015 }, { "B4800", 014 }, { "B2400", 013 }, { "B1800", 012 }, { "B1200", 011 },
		{ "B600", 010 }, { "B300", 7 }, { "B200", 6 }, { "B150", 5 }, { "B134", 4 }, { "B110", 3 }, { "B75", 2 }, { "B50", 1 },
		{ "CS8", 060 }, { "CS7", 040 }, { "CS6", 020 }, { "CSTOPB", 0100 }, { "CREAD", 0200 }, { "PARENB", 0400 }, { "PARODD", 01000 },
		{ "HUPCL", 02000 }, { "CLOCAL", 04000 }, { "ADDRB", 04000000000 }, { "CMSPAR", 010000000000 }, { "CRTSCTS", 020000000000 } } },
	[BITS_EPOLL] = { "EPOLL_", "|", NULL, { { "CLOEXEC", O_CLOEXEC } } },
	[BITS_EVENTFD] = { "EFD_", "|", "NONE", { { "SEMAPHORE", 1 }, { "CLOEXEC", O_CLOEXEC }, { "NONBLOCK", O_NONBLOCK } } },
	[BITS_FLOCK] = { "LOCK_", "|", "NONE", { { "SH", 1 }, { "EX", 2 }, { "NB", 4 }, { "UN", 8 }, { "MAND", 32 }, { "RW", 192 },
		{ "READ", 64 }, { "WRITE", 128 } } },
	[BITS_FUTEX2] = { "FUTEX2_", "|", NULL, { { "SIZE_U64", 3 }, { "SIZE_U32", 2 }, { "SIZE_U16", 1 }, { "NUMA", 4 }, { "MPOL", 8 },
		{ "PRIVATE", 128 } } },
	[BITS_GETRANDOM] = { "GRND_", "|", "", { { "RANDOM", 2 }, { "NONBLOCK", 1 }, { "INSECURE", 4 } } },
	[BITS_INOTIFY] = { "IN_", "|", NULL, { { "CLOEXEC", O_CLOEXEC }, { "NONBLOCK", O_NONBLOCK } } },
	[BITS_MEMFD] = { "MFD_", "|", NULL, { { "CLOEXEC", 1 }, { "ALLOW_SEALING", 2 }, { "HUGETLB", 4 }, { "NOEXEC_SEAL", 8 }, { "EXEC", 16 } } },
	[BITS_MODE] = { "S_", "|", "", { { "IALLUGO", 07777 }, { "IRWXUGO", 0777 }, { "IRUGO", 0444 }, { "IWUGO", 0222 }, { "IXUGO", 0111 },
		{ "IFMT", S_IFMT }, { "IFSOCK", S_IFSOCK }, { "IFLNK", S_IFLNK }, { "IFREG", S_IFREG }, { "IFBLK", S_IFBLK },
		{ "IFDIR", S_IFDIR }, { "IFCHR", S_IFCHR }, { "IFIFO", S_IFIFO }, { "ISUID", S_ISUID }, { "ISGID", S_ISGID },
		{ "ISVTX", S_ISVTX }, { "IRWXU", S_IRWXU }, { "IRUSR", S_IRUSR }, { "IWUSR", S_IWUSR }, { "IXUSR", S_IXUSR },
		{ "IRWXG", S_IRWXG }, { "IRGRP", S_IRGRP }, { "IWGRP", S_IWGRP }, { "IXGRP", S_IXGRP }, { "IRWXO", S_IRWXO },
		{ "IROTH", S_IROTH }, { "IWOTH", S_IWOTH }, { "IXOTH", S_IXOTH } } },
	[BITS_MESSAGE] = { "MSG_", "|", "NONE", { { "OOB", 1 }, { "PEEK", 2 }, { "DONTROUTE", 4 }, { "CTRUNC", 8 }, { "PROBE", 0x10 },
		{ "TRUNC", 0x20 }, { "DONTWAIT", 0x40 }, { "EOR", 0x80 }, { "WAITALL", 0x100 }, { "FIN", 0x200 }, { "SYN", 0x400 },
		{ "CONFIRM", 0x800 }, { "RST", 0x1000 }, { "ERRQUEUE", 0x2000 }, { "NOSIGNAL", 0x4000 }, { "MORE", 0x8000 },
		{ "WAITFORONE", 0x10000 }, { "BATCH", 0x40000 }, { "SOCK_DEVMEM", 0x2000000 }, { "ZEROCOPY", 0x4000000 },
		{ "SPLICE_PAGES", 0x8000000 }, { "FASTOPEN", 0x20000000 }, { "CMSG_CLOEXEC", 0x40000000 } } },
	[BITS_MESSAGE_QUEUE] = { "MSG_", "|", NULL, { { "=IPC_NOWAIT", 04000 }, { "NOERROR", 010000 }, { "EXCEPT", 020000 },
		{ "COPY", 040000 } } },
	[BITS_MODULE] = { "O_", "|", NULL, { { "NONBLOCK", O_NONBLOCK }, { "TRUNC", O_TRUNC } } },
	[BITS_MSYNC] = { "MS_", "|", NULL, { { "ASYNC", 1 }, { "INVALIDATE", 2 }, { "SYNC", 4 } } },
	[BITS_OUTPUT_MODES] = { "", "|", NULL, { { "OPOST", 1 }, { "OLCUC", 2 }, { "ONLCR", 4 }, { "OCRNL", 010 }, { "ONOCR", 020 },
		{ "ONLRET", 040 }, { "OFILL", 0100 }, { "OFDEL", 0200 }, { "NL1", 0400 }, { "CR3", 03000 }, { "CR2", 02000 }, { "CR1", 01000 },
		{ "TAB3", 014000 }, { "TAB2", 010000 }, { "TAB1", 04000 }, { "BS1", 020000 }, { "VT1", 040000 }, { "FF1", 0100000 } } },
	[BITS_PERF] = { "PERF_FLAG_", "|", "", { { "FD_NO_GROUP", 1 }, { "FD_OUTPUT", 2 }, { "PID_CGROUP", 4 }, { "FD_CLOEXEC", 8 } } },
	[BITS_PIDFD] = { "PIDFD_", "|", NULL, { { "NONBLOCK", O_NONBLOCK }, { "THREAD", O_EXCL } } },
	[BITS_PIPE] = { "O_", "|", "", { { "CLOEXEC", O_CLOEXEC }, { "NONBLOCK", O_NONBLOCK }, { "DIRECT", O_DIRECT } } },
	[BITS_SECCOMP] = { "SECCOMP_FILTER_FLAG_", "|", "", { { "TSYNC", 1 }, { "LOG", 2 }, { "SPEC_ALLOW", 4 }, { "NEW_LISTENER", 8 },
		{ "TSYNC_ESRCH", 16 }, { "WAIT_KILLABLE_RECV", 32 } } },
	[BITS_SEMAPHORE] = { "SEM_", "|", NULL, { { "=IPC_NOWAIT", 04000 }, { "UNDO", 010000 } } },
	[BITS_SIGNALFD] = { "SFD_", "|", NULL, { { "CLOEXEC", O_CLOEXEC }, { "NONBLOCK", O_NONBLOCK } } },
	[BITS_SOCKET] = { "SOCK_", "|", NULL, { { "CLOEXEC", O_CLOEXEC }, { "NONBLOCK", O_NONBLOCK } } },
	[BITS_TIMER] = { "TIMER_", "|", NULL, { { "ABSTIME", 1 } } },
	[BITS_TIMERFD] = { "TFD_", "|", NULL, { { "CLOEXEC", O_CLOEXEC }, { "NONBLOCK", O_NONBLOCK } } },
	[BITS_TIMERFD_TIME] = { "TFD_TIMER_", "|", NULL, { { "ABSTIME", 1 }, { "CANCEL_ON_SET", 2 } } },
	[BITS_UMOUNT] = { "MNT_", "|", NULL, { { "FORCE", 1 }, { "DETACH", 2 }, { "EXPIRE", 4 }, { "=UMOUNT_NOFOLLOW", 8 } } },
	[BITS_USERFAULT] = { "O_", "|", NULL, { { "NONBLOCK", O_NONBLOCK }, { "CLOEXEC", O_CLOEXEC }, { "=UFFD_USER_MODE_ONLY", 1 } } },
	[BITS_WAIT] = { "W", "|", "", { { "NOHANG", 1 }, { "UNTRACED", 2 }, { "EXITED", 4 }, { "CONTINUED", 8 }, { "NOWAIT", 0x1000000 },
		{ "=__WNOTHREAD", 0x20000000 }, { "=__WALL", 0x40000000 }, { "=__WCLONE", 0x80000000 } } },
};

static void bits_print(struct writer *out, enum bits_id id, uint32_t value, bool prefixes)
{
	const struct bits *bits = &bit_tables[id];
	bool first = true;
	if (value == 0)
		return writer_puts(out, bits->zero ? bits->zero : "0");
	for (size_t i = 0; i < sizeof bits->bits / sizeof *bits->bits && bits->bits[i].name; i++) {
		if ((value & bits->bits[i].value) != bits->bits[i].value)
			continue;
		writer_puts(out, first ? "" : bits->separator);
		bool other = *bits->bits[i].name == '=';
		writer_puts(out, prefixes && !other ? bits->prefix : "");
		writer_puts(out, bits->bits[i].name + other);
		value &= ~bits->bits[i].value;
		first = false;
	}
	if (value) {
		writer_puts(out, first && id != BITS_ACCESS ? "" : "|");
		hex_print(out, value);
	}
}

static void name_print(struct writer *out, enum words_id id, const char *name, size_t length, bool prefixes)
{
	writer_puts(out, prefixes ? words_prefix(id, name) : "");
	writer_add(out, name, length);
}

void word_print(struct writer *out, enum words_id id, uint64_t value, bool prefixes)
{
	size_t length;
	const char *name = words_find(id, (int32_t)value, &length);
	if (name)
		return name_print(out, id, name, length, prefixes);
	signed_print(out, (int32_t)value);
	if (prefixes)
		writer_printf(out, " /* %s??? */", words_prefix(id, NULL));
}

void flags_print(struct writer *out, enum words_id id, uint64_t value, bool prefixes)
{
	bool first = true;
	size_t length;
	const char *name;
	if (value == 0 && (name = words_find(id, 0, &length)))
		return name_print(out, id, name, length, prefixes);
	if (value == 0)
		return writer_putc(out, '0');
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(value >> bit & 1))
			continue;
		writer_puts(out, first ? "" : "|");
		first = false;
		if ((name = words_find(id, bit + 1, &length)))
			name_print(out, id, name, length, prefixes);
		else
			hex_print(out, 1ull << bit);
	}
}

void descriptor_print(struct writer *out, const struct call_values *values, int fd)
{
	signed_print(out, fd);
	const char *name = fd >= 0 && values->file_name ? values->file_name(values->context, fd) : NULL;
	if (!name)
		return;
	writer_putc(out, '<');
	control_print(out, name);
	writer_putc(out, '>');
}

void process_print(struct writer *out, const struct call_values *values, int pid)
{
	signed_print(out, pid);
	const char *comm = values->comm ? values->comm(values->context, pid) : NULL;
	if (!comm)
		return;
	writer_add(out, " (", 2);
	control_print(out, comm);
	writer_putc(out, ')');
}

/* Bytes as characters, those that are no printable ASCII as \ and their decimal number: perf's form. */
static void buffer_print(struct writer *out, const struct argument_bytes *bytes)
{
	for (size_t i = 0; i < bytes->size; i++) {
		if (bytes->bytes[i] >= ' ' && bytes->bytes[i] < 0x7f) {
			writer_putc(out, (char)bytes->bytes[i]);
		} else {
			writer_putc(out, '\\');
			writer_decimal(out, bytes->bytes[i], 0);
		}
	}
}

static void inet_print(struct writer *out, const struct argument_bytes *bytes)
{
	struct sockaddr_in address = { 0 };
	struct sockaddr_in6 address6 = { 0 };
	char text[INET6_ADDRSTRLEN] = "";
	sa_family_t family;
	memcpy(&family, bytes->bytes, sizeof family);
	if (family == AF_INET && bytes->size >= sizeof address) {
		memcpy(&address, bytes->bytes, sizeof address);
		inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
		writer_printf(out, ", port: %d, addr: %s", ntohs(address.sin_port), text);
	} else if (family == AF_INET6 && bytes->size >= sizeof address6 - sizeof address6.sin6_scope_id) {
		memcpy(&address6, bytes->bytes, bytes->size < sizeof address6 ? bytes->size : sizeof address6);
		inet_ntop(AF_INET6, &address6.sin6_addr, text, sizeof text);
		writer_printf(out, ", port: %d, addr: %s", ntohs(address6.sin6_port), text);
		if (address6.sin6_flowinfo)
			writer_printf(out, ", flowinfo: %u", ntohl(address6.sin6_flowinfo));
		if (address6.sin6_scope_id)
			writer_printf(out, ", scope_id: %u", address6.sin6_scope_id);
	}
}

/* Numbers of other families, by their places (linux/netlink.h, linux/if_packet.h, linux/vm_sockets.h). */
static void numbers_print(struct writer *out, const struct argument_bytes *bytes)
{
	uint32_t words[3];
	uint16_t halves[2];
	if (bytes->size < sizeof words)
		return;
	memcpy(words, bytes->bytes, sizeof words);
	memcpy(halves, bytes->bytes, sizeof halves);
	if (halves[0] == AF_NETLINK)
		writer_printf(out, ", pid: %u, groups: %#x", words[1], words[2]);
	else if (halves[0] == AF_PACKET)
		writer_printf(out, ", protocol: %#06x, ifindex: %d", ntohs(halves[1]), (int)words[1]);
	else if (halves[0] == AF_VSOCK)
		writer_printf(out, ", cid: %u, port: %u", words[2], words[1]);
}

static void sockaddr_print(struct writer *out, const struct argument_bytes *bytes, bool prefixes)
{
	sa_family_t family;
	memcpy(&family, bytes->bytes, sizeof family);
	writer_puts(out, "{ .family: ");
	word_print(out, WORDS_FAMILY, family, prefixes);
	if (family == AF_UNIX && bytes->size > sizeof family) {
		const uint8_t *path = bytes->bytes + sizeof family;
		size_t size = bytes->size - sizeof family, length = *path ? strnlen((const char *)path, size) : size;
		writer_puts(out, ", path: ");
		for (size_t i = 0; i < length; i++)
			if (path[i] >= ' ' && path[i] != 0x7f)
				writer_putc(out, (char)path[i]);
			else if (i == 0 && path[i] == 0)
				writer_putc(out, '@'); /* an abstract name */
			else
				octal_print(out, path[i]);
	} else {
		inet_print(out, bytes);
		numbers_print(out, bytes);
	}
	writer_puts(out, " }");
}

static void timespec_print(struct writer *out, const struct argument_bytes *bytes)
{
	int64_t parts[2];
	memcpy(parts, bytes->bytes, sizeof parts);
	writer_puts(out, "{ .tv_sec: ");
	signed_print(out, parts[0]);
	writer_puts(out, ", .tv_nsec: ");
	signed_print(out, parts[1]);
	writer_puts(out, " }");
}

static void strings_print(struct writer *out, const struct argument_bytes *bytes)
{
	bool first = true;
	writer_putc(out, '[');
	for (size_t at = 0; at < bytes->size; first = false) {
		size_t left = bytes->size - at, length = strnlen((const char *)bytes->bytes + at, left);
		writer_puts(out, first ? "" : ", ");
		if (length == left) {
			writer_puts(out, "...");
			break;
		}
		string_print(out, bytes->bytes + at, length);
		at += length + 1;
	}
	writer_putc(out, ']');
}

/* The member of union bpf_attr that a command of bpf() reads, or a member of it (include/uapi/linux/bpf.h). */
static const char *bpf_member(uint64_t command)
{
	static const char *const members[] = { "map_type", "key", "key", "key", "key", "prog_type", "pathname", "pathname", "attach_bpf_fd",
		"attach_bpf_fd", "test", "next_id", "next_id", "next_id", "next_id", "info", "query", "raw_tracepoint", "btf_log_buf", "next_id",
		"task_fd_query", "key", "key", "next_id", "batch", "batch", "batch", "batch", "link_create", "link_update", "next_id", "next_id",
		"enable_stats", "iter_create", "link_detach", "prog_bind_map", "token_create", "prog_stream_read" };
	return command < sizeof members / sizeof *members ? members[command] : NULL;
}

/* A member of a structure as an argument of this kind. Numbers above 32 bits are names in lists of flags alone. */
static void member_print(struct writer *out, uint16_t kind, uint64_t value, bool prefixes)
{
	const struct call call = { .count = 1, .arguments[0].kind = kind };
	const struct call_values values = { .call = &call, .values = { value }, .prefixes = prefixes };
	if (value > UINT32_MAX && kind < ARGUMENT_FLAGS && kind != ARGUMENT_SIGNAL_SET)
		return hex_print(out, value);
	argument_print(out, &values, 0);
}

static void structure_print(struct writer *out, uint8_t layout, const uint8_t *bytes, size_t size, const struct call_values *values)
{
	layout_print(out, layout, bytes, size, &(struct layout_forms){ member_print, values->prefixes, values->unnamed });
}

/* The layout of what a command of ioctl reads; 0: unknown. */
static uint8_t ioctl_layout(uint64_t command)
{
	switch ((unsigned)command) {
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return layout_named("termios", 7);
	case _IOC(_IOC_WRITE, 'T', 0x2b, 44): /* TCSETS2, TCSETSW2, TCSETSF2 */
	case _IOC(_IOC_WRITE, 'T', 0x2c, 44):
	case _IOC(_IOC_WRITE, 'T', 0x2d, 44):
		return layout_named("termios2", 8);
	}
	return 0;
}

static bool element_print(struct writer *out, const struct call_values *values, unsigned index, const uint8_t *bytes, size_t size)
{
	const struct call_argument *argument = &values->call->arguments[index];
	const struct call_types *types = values->call->types;
	if (argument->kind == ARGUMENT_STRUCT)
		return structure_print(out, argument->layout, bytes, size, values), true;
	const char *member = strcmp(values->call->name, "bpf") == 0 ? bpf_member(values->values[0]) : NULL;
	const struct typed_bytes typed = { argument->typed_name, argument->typed_name_length, member, bytes, size, values->unnamed };
	return types && types->print(types->context, &typed, out);
}

/* One structure, or the elements of an array that were copied; false: their type is unknown. */
static bool typed_print(struct writer *out, const struct call_values *values, unsigned index)
{
	const struct call_argument *argument = &values->call->arguments[index];
	const struct argument_bytes *bytes = &values->bytes[index];
	bool array = argument->typed_count == TYPED_ELEMENTS;
	size_t element = array ? argument->typed_size : bytes->size, begin = out->len;
	if (!element)
		return false;
	writer_puts(out, array ? "[" : "");
	for (size_t at = 0; at + element <= bytes->size; at += element) {
		writer_puts(out, at ? ", " : "");
		if (!element_print(out, values, index, bytes->bytes + at, element))
			return out->len = begin, false;
	}
	if (array)
		writer_puts(out, index + 1 < CALL_ARGUMENTS && values->values[index + 1] > bytes->size / element ? ", ...]" : "]");
	return true;
}

/* An argument whose bytes may have been copied. */
static void pointed_print(struct writer *out, const struct call_values *values, unsigned index)
{
	const struct argument_bytes *bytes = &values->bytes[index];
	unsigned kind = values->call->arguments[index].kind;
	if (bytes->bytes && kind == ARGUMENT_FILENAME)
		string_print(out, bytes->bytes, bytes->size);
	else if (bytes->bytes && kind == ARGUMENT_STRINGS)
		strings_print(out, bytes);
	else if (bytes->bytes && kind == ARGUMENT_BUFFER)
		buffer_print(out, bytes);
	else if (bytes->bytes && kind == ARGUMENT_SOCKADDR && bytes->size >= sizeof(sa_family_t))
		sockaddr_print(out, bytes, values->prefixes);
	else if (bytes->bytes && kind == ARGUMENT_TIMESPEC && bytes->size >= TIMESPEC_BYTES)
		timespec_print(out, bytes);
	else if (bytes->bytes && kind == ARGUMENT_IOCTL_VALUE && ioctl_layout(values->values[1]))
		structure_print(out, ioctl_layout(values->values[1]), bytes->bytes, bytes->size, values);
	else if (!values->values[index] && (kind == ARGUMENT_TYPED || kind == ARGUMENT_STRUCT))
		writer_puts(out, "NULL");
	else if (!bytes->bytes || (kind != ARGUMENT_TYPED && kind != ARGUMENT_STRUCT) || !typed_print(out, values, index))
		hex_print(out, values->values[index]);
}

void argument_print(struct writer *out, const struct call_values *values, unsigned index)
{
	unsigned kind = values->call->arguments[index].kind;
	uint64_t value = values->values[index];
	switch (kind) {
	case ARGUMENT_LONG:
		return signed_print(out, (int64_t)value);
	case ARGUMENT_INT:
		return signed_print(out, (int32_t)value);
	case ARGUMENT_HEX:
		return hex_print(out, value);
	case ARGUMENT_POINTER:
		return value ? hex_print(out, value) : writer_puts(out, "NULL");
	case ARGUMENT_FD:
	case ARGUMENT_FD_CLOSED:
		return descriptor_print(out, values, (int)value);
	case ARGUMENT_FD_AT:
		if ((int)value == AT_FDCWD)
			return writer_puts(out, values->prefixes ? "AT_FDCWD" : "CWD");
		return descriptor_print(out, values, (int)value);
	case ARGUMENT_PID:
		return process_print(out, values, (int)value);
	case ARGUMENT_FILENAME:
	case ARGUMENT_STRINGS:
	case ARGUMENT_BUFFER:
	case ARGUMENT_SOCKADDR:
	case ARGUMENT_TIMESPEC:
	case ARGUMENT_STRUCT:
	case ARGUMENT_TYPED:
	case ARGUMENT_IOCTL_VALUE:
		return pointed_print(out, values, index);
	}
	if (kind >= ARGUMENT_FLAGS)
		flags_print(out, kind - ARGUMENT_FLAGS, value, values->prefixes);
	else if (kind >= ARGUMENT_WORD)
		word_print(out, kind - ARGUMENT_WORD, value, values->prefixes);
	else if (kind >= ARGUMENT_BITS)
		bits_print(out, kind - ARGUMENT_BITS, (uint32_t)value, values->prefixes);
	else
		special_print(out, values, index);
}

void arguments_print(struct writer *out, const struct call_values *values)
{
	const struct call *call = values->call;
	uint8_t masked = special_masked(values);
	bool first = true;
	for (unsigned i = 0; i < call->count; i++) {
		uint8_t kind = call->arguments[i].kind;
		bool zero_shown = kind == ARGUMENT_PROT || kind == ARGUMENT_FCNTL;
		uint64_t value = kind == ARGUMENT_MOUNT ? mount_flags_of(values->values[i]) : values->values[i];
		if (masked >> i & 1 || (value == 0 && !values->zeros && !zero_shown))
			continue;
		if (!first)
			writer_add(out, ", ", 2);
		first = false;
		if (!values->unnamed) {
			writer_add(out, call->arguments[i].name, call->arguments[i].name_length);
			writer_add(out, ": ", 2);
		}
		argument_print(out, values, i);
		if (kind == ARGUMENT_FD_CLOSED && values->file_closed)
			values->file_closed(values->context, (int)values->values[i]);
	}
}

const char *error_name(int error, size_t *length)
{
	return error > 0 ? words_find(WORDS_ERROR, error, length) : NULL;
}

/* Errors that no program sees: a signal interrupted the call, and the kernel may begin it again (include/linux/errno.h). */
static const char *restart_text(int64_t error)
{
	static const char *const texts[] = { "Interrupted; begins again if SA_RESTART is set", "Interrupted; begins again",
		"Interrupted; begins again if no handler runs", NULL, "Interrupted; the rest of the time follows" };
	return error >= 512 && error < 512 + (int64_t)(sizeof texts / sizeof *texts) ? texts[error - 512] : NULL;
}

static void error_print(struct writer *out, int64_t result)
{
	size_t length = 0;
	const char *name = result >= -INT32_MAX ? error_name((int)-result, &length) : NULL;
	char text[128];
	writer_add(out, "-1 ", 3);
	if (name)
		writer_add(out, name, length);
	else
		writer_decimal(out, 0 - (uint64_t)result, 0);
	writer_add(out, " (", 2);
	writer_puts(out, restart_text((int64_t)(0 - (uint64_t)result)) ?: strerror_r((int)(0 - (uint64_t)result), text, sizeof text));
	writer_putc(out, ')');
}

void result_print(struct writer *out, const struct call_values *values, int64_t result)
{
	unsigned flags = values->call->flags;
	if (result < 0 && (result >= -4095 || !(flags & CALL_HEX)))
		return error_print(out, result);
	if (result == 0 && flags & CALL_TIMEOUT)
		return writer_puts(out, "0 (Timeout)");
	if (special_result(out, values, result))
		return;
	if (flags & CALL_HEX)
		return hex_print(out, (uint64_t)result);
	if (flags & CALL_PID && result > 0)
		return process_print(out, values, (int)result);
	signed_print(out, result);
}

enum argument_copy argument_copy_of(const struct call_argument *argument, uint8_t *size)
{
	bool counted;
	switch (argument->kind) {
	case ARGUMENT_FILENAME:
		return ARGUMENT_COPY_STRING;
	case ARGUMENT_STRINGS:
		return ARGUMENT_COPY_STRINGS;
	case ARGUMENT_BUFFER:
		return *size = BUFFER_SHOWN, ARGUMENT_COPY_COUNTED;
	case ARGUMENT_SOCKADDR:
		return *size = SOCKADDR_SHOWN, ARGUMENT_COPY_COUNTED;
	case ARGUMENT_TIMESPEC:
		return *size = TIMESPEC_BYTES, ARGUMENT_COPY_FIXED;
	case ARGUMENT_TYPED:
		*size = (uint8_t)(argument->typed_size * (argument->typed_count == TYPED_ELEMENTS ? ELEMENTS_SHOWN : 1));
		return argument->typed_count == TYPED_ELEMENTS ? ARGUMENT_COPY_ELEMENTS
			: argument->typed_count == TYPED_BYTES ? ARGUMENT_COPY_COUNTED : ARGUMENT_COPY_FIXED;
	case ARGUMENT_IOCTL_VALUE:
		return *size = IOCTL_BYTES, ARGUMENT_COPY_FIXED;
	case ARGUMENT_STRUCT:
		if (argument->typed_count == TYPED_ELEMENTS)
			return *size = (uint8_t)(argument->typed_size * ELEMENTS_SHOWN), ARGUMENT_COPY_ELEMENTS;
		*size = layout_size(argument->layout, &counted);
		return counted ? ARGUMENT_COPY_COUNTED : ARGUMENT_COPY_FIXED;
	}
	return ARGUMENT_COPY_NONE;
}
