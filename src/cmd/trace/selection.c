#include <fnmatch.h>
#include <string.h>

#include "cmd/trace/options.h"

/* perf installs these two groups, with these members. */
static const struct group {
	const char *name, *members;
} groups[] = {
	{ "file",
		"access chmod creat execve faccessat getcwd lstat mkdir open openat quotactl read readlink rename rmdir stat statfs symlink unlink "
		"write" },
	{ "string",
		"access acct add_key chdir chmod chown chroot creat delete_module execve execveat faccessat fchmodat fchownat fgetxattr "
		"finit_module fremovexattr fsetxattr futimesat getxattr inotify_add_watch lchown lgetxattr link linkat listxattr llistxattr "
		"lremovexattr lsetxattr lstat memfd_create mkdir mkdirat mknod mknodat mq_open mq_timedsend mq_unlink name_to_handle_at newfstatat "
		"open openat pivot_root pwrite64 quotactl readlink readlinkat removexattr rename renameat renameat2 request_key rmdir setxattr "
		"stat statfs statx swapoff swapon symlink symlinkat truncate unlink unlinkat utimensat" },
};

/* Other names of calls: of the kernel's functions, and older ones. */
static const struct alias {
	const char *alias, *name;
} aliases[] = {
	{ "newfstat", "fstat" }, { "newlstat", "lstat" }, { "newstat", "stat" }, { "newuname", "uname" }, { "umount", "umount2" },
	{ "fstatat", "newfstatat" }, { "pread", "pread64" }, { "pwrite", "pwrite64" }, { "sendfile64", "sendfile" },
};

static const char *name_of(const char *word)
{
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strcmp(aliases[i].alias, word) == 0)
			return aliases[i].name;
	return word;
}

static const struct group *group_of(const char *word)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (strcmp(groups[i].name, word) == 0)
			return &groups[i];
	return NULL;
}

static bool is_member(const struct group *group, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = group->members; (at = strstr(at, name)); at += length)
		if ((at == group->members || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

/* Whether the word chooses the call of this name. A name of a call is no group: "file" is not, but "sync" is a call. */
static bool chooses(const char *word, const char *name, enum syscalls table)
{
	const char *exact = name_of(word);
	const struct group *group = syscall_number(table, word) < 0 ? group_of(word) : NULL;
	return strcmp(exact, name) == 0 || fnmatch(word, name, 0) == 0 || (group && is_member(group, name));
}

bool call_word(const char *word, enum syscalls table)
{
	char name[SYSCALL_NAME_SIZE];
	for (int number = 0; number < SYSCALL_NUMBERS; number++)
		if (syscall_name(table, number, name) && chooses(word, name, table))
			return true;
	return false;
}

static bool is_selected(const struct trace_command *options, const char *name, enum syscalls table)
{
	for (size_t i = 0; i < options->selected.count; i++)
		if (chooses(options->selected.items[i], name, table))
			return !options->all_but_selected;
	return options->all_but_selected;
}

void call_selection_make(struct call_selection *selection, const struct trace_command *options, const enum syscalls tables[2])
{
	*selection = (struct call_selection){ .all = options->selected.count == 0 };
	for (int table = 0; table < 2; table++) {
		char name[SYSCALL_NAME_SIZE];
		for (int number = 0; number < SYSCALL_NUMBERS; number++)
			selection->shown[table][number] = syscall_name(tables[table], number, name) &&
				(selection->all || is_selected(options, name, tables[table]));
	}
}
