/* Values shared by the symbol tables and their callers: a symbol, the options of a look-up, the result of loading. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct debuginfod;

struct symbol {
	uint64_t start, end;   /* in the module's offsets; end exclusive */
	const char *name;      /* as stored, never NULL; symbols_name demangles on demand */
	uint8_t binding;       /* STB_*: 0 local, 1 global, 2 weak */
	uint8_t type;          /* STT_* */
	uint8_t flags;         /* used by the loader … */
	uint32_t order;        /* … also used by the loader */
};

/* The text of a perf map that was stored with the recording. */
struct recorded_perf_map {
	int32_t pid;
	const void *text;      /* borrowed */
	size_t len;
};

/* Where the kernels of virtual machines have their symbols. */
struct guest_files {
	const char *mount;           /* the folder that has the root of each, named by the process that runs it; NULL: none */
	const char *vmlinux, *kallsyms; /* of a machine whose process is unknown; NULL: none */
};

struct symbols_options {
	const char *symfs;           /* "" or NULL: not set */
	const char *vmlinux;         /* --vmlinux */
	const char *kallsyms;        /* --kallsyms */
	struct guest_files guests;
	const char *buildid_dir;     /* the build-id cache */
	const char *kernel_cache_dir; /* cache of lists between runs, "$HOME/.cache"; NULL: none */
	const char *osrelease;       /* of the recorded machine, for paths of vmlinux; NULL: of this machine */
	struct budget *budget;       /* limit for tables and debug information; borrowed; NULL: no limit */
	bool aliases;                /* all names of an address are retained */
	bool unsearched;             /* tables are only listed: where symbols overlap, look-ups may find another one */
	bool no_demangle;
	bool short_names;            /* replace the arguments of templates and generics */
	bool demangle_kernel;        /* demangle names of vmlinux and of module files, too */
	bool no_vmlinux;             /* --ignore-vmlinux */
	struct debuginfod *debuginfod; /* servers for files that are not found locally; NULL: none */
	bool same_machine;           /* the recording is of this one */
	const struct recorded_perf_map *perf_maps; /* they precede files; of one process, the last; borrowed */
	size_t perf_map_count;
	bool force;                  /* perf maps of other users are read */
	int64_t processes_until;     /* as in image_options */
	bool no_kernel_lookup;       /* nothing of the running machine's kernel */
	int verbose;                 /* > 0: C++ parameters are shown */
};

enum symtab_state {
	SYMTAB_NOT_TRIED,
	SYMTAB_LOADED,
	SYMTAB_MISSING,      /* no file, or none with symbols */
	SYMTAB_MISMATCH,     /* a file was there, of another build-id */
	SYMTAB_DAMAGED,      /* a file was there, but not as the ELF file that it has to be */
	SYMTAB_FOREIGN,      /* a perf map was there, which another user can have made */
	SYMTAB_HIDDEN,       /* the kernel does not show its addresses to this user */
};

/* The result of loading, the source (its path, or ""), and perf's letter for -v ('k', 'd', 'B', …). */
struct symtab_info {
	enum symtab_state state;
	const char *path;
	char origin;         /* '!': no source */
	uint32_t root_len;   /* length of the --symfs prefix of path */
	uint64_t text_at;    /* of a kernel module's file: the offset of its .text */
	uint32_t count;
};
/* Ids of inlined functions; their symbol has the extent of the function that contains them. */
#define SYMBOL_INLINED 0x80000000u
static inline bool symbol_is_inlined(uint32_t id)
{
	return id & SYMBOL_INLINED;
}
