#include "cmd/feature.h"

#include <string.h>
#include <strings.h>

const struct feature features[] = {
	{ "aio", "HAVE_AIO_SUPPORT", true },
	{ "bpf", "HAVE_LIBBPF_SUPPORT", true },
	{ "bpf_skeletons", "HAVE_BPF_SKEL", true },
	{ "debuginfod", "HAVE_DEBUGINFOD_SUPPORT", true },
	{ "dwarf", "HAVE_DWARF_SUPPORT", true },
	{ "dwarf_getlocations", "HAVE_DWARF_GETLOCATIONS_SUPPORT", false },
	{ "dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", true },
	{ "auxtrace", "HAVE_AUXTRACE_SUPPORT", true },
	{ "libaudit", "HAVE_LIBAUDIT_SUPPORT", false },
	{ "libbfd", "HAVE_LIBBFD_SUPPORT", true },
	{ "libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", true },
	{ "libcrypto", "HAVE_LIBCRYPTO_SUPPORT", false },
	{ "libdw-dwarf-unwind", "HAVE_DWARF_SUPPORT", true },
	{ "libelf", "HAVE_LIBELF_SUPPORT", true },
	{ "libnuma", "HAVE_LIBNUMA_SUPPORT", false },
	{ "libopencsd", "HAVE_CSTRACE_SUPPORT", false },
	{ "libperl", "HAVE_LIBPERL_SUPPORT", false },
	{ "libpfm4", "HAVE_LIBPFM", true },
	{ "libpython", "HAVE_LIBPYTHON_SUPPORT", false },
	{ "libslang", "HAVE_SLANG_SUPPORT", true },
	{ "libtraceevent", "HAVE_LIBTRACEEVENT", true },
	{ "libunwind", "HAVE_LIBUNWIND_SUPPORT", true },
	{ "lzma", "HAVE_LZMA_SUPPORT", true },
	{ "numa_num_possible_cpus", "HAVE_LIBNUMA_SUPPORT", false },
	{ "syscall_table", "HAVE_SYSCALL_TABLE_SUPPORT", true },
	{ "zlib", "HAVE_ZLIB_SUPPORT", true },
	{ "zstd", "HAVE_ZSTD_SUPPORT", true },
	{ NULL, NULL, false },
};

static bool is_word(const char *word, const char *text, size_t length)
{
	return !strncasecmp(word, text, length) && strlen(word) == length;
}

const struct feature *feature_find(const char *name, size_t length)
{
	for (const struct feature *feature = features; feature->name; feature++) {
		if (is_word(feature->name, name, length) || is_word(feature->macro, name, length))
			return feature;
	}
	return NULL;
}

void feature_write(const struct feature *feature, struct writer *out)
{
	writer_printf(out, "%22s: [ %-3s ]  # %s\n", feature->name, feature->built_in ? "on" : "OFF", feature->macro);
}
