/* Opens the file that a living process has mapped, even if its path was deleted or replaced, or never existed (memfd). Sources:
 * proc_pid_map_files(5), which root may open; proc_pid_exe(5). Knows no file format. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The identity of a file in its mappings (of MMAP2 records); ino 0: unknown. */
struct mapped_identity {
	uint32_t maj, min;
	uint64_t ino, generation;   /* generation distinguishes files that had the same inode; 0: unknown */
};

/* Returns the descriptor, or < 0: the process has ended, does not map the file any more, or denies access. Never opens another file. */
int mapped_file_open(int32_t pid, const struct mapped_identity *identity);
/* The same for a mapping at known addresses. */
int mapped_file_open_at(int32_t pid, uint64_t start, uint64_t end, const struct mapped_identity *identity);
/* Returns 1 if fd surely is the file, -1 if it surely is not, 0 if unknown: some file systems report different devices in mappings and in
 * stat. */
int mapped_file_is(int fd, const struct mapped_identity *identity);
/* Returns whether the process maps the file now. */
bool mapped_file_mapped(int32_t pid, const struct mapped_identity *identity);
/* Opens path as seen from root (-1: ours) if it still is the file, otherwise as mapped_file_open. */
int mapped_file_or_path(int root, const char *path, int32_t pid, const struct mapped_identity *identity);
